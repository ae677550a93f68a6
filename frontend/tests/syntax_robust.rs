//! Texts that nobody would write: cut off, spliced, with tokens and characters changed. The front
//! end must come back with a tree and diagnostics, whatever it is given.

use frontend::Options;
use ir::diag::SourceMap;

/// A small generator of numbers (xorshift), so that every run sees the same texts.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }

    fn pick<'t>(&mut self, list: &[&'t str]) -> &'t str {
        list[self.below(list.len())]
    }
}

const SEEDS: [&str; 4] = [
    "#version 120\n#define F(x, y) ((x) * y + F)\n#if defined(F) && __LINE__ > 1\nuniform mat4 m; varying vec2 t[2];\n\
     #else\n#error no\n#endif\nstruct S { float a, b[3]; } s;\nfloat f(in float a, out vec3 b) { b = vec3(a); return F(a, 2.0); }\n\
     void main() { for (int i = 0; i < 4; ++i) { if (t[0].x > 0.5) continue; else break; } gl_Position = m * gl_Vertex; }\n",
    "precision mediump float; // es\n#ifdef GL_ES\n#define A B \\\n C\n#endif\nuniform sampler2D u; varying lowp vec4 v;\n\
     void main() { gl_FragColor = texture2D(u, v.xy) * (v.a == 0.0 ? vec4(0) : v); discard; }\n",
    "#version 120\nfloat[2] a = float[](1.0, .5e-3); /* c */ invariant varying vec3 n;\nvoid main() { do { a[1] += a.length() - -1.0; }\
     while (a[0] < 1e3 && !(true ^^ false)); while (bool b = a[0] > 0.0) { a[0]--; ; } return; }\n",
    "#extension GL_ARB_texture_rectangle : enable\n#line 7 2\n#pragma optimize(off)\n#define G() 0x1F\n#undef G\n#elif 1\n#endif\nconst ivec2 k = ivec2(017, G());",
];

const PIECES: [&str; 48] = [
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ";",
    ",",
    ".",
    "?",
    ":",
    "=",
    "+",
    "-",
    "++",
    "%",
    "~",
    "<<=",
    "^^",
    "#",
    "##",
    "\n#",
    "\n",
    "\\\n",
    "/*",
    "*/",
    "//",
    "\"",
    "'",
    "\u{e9}",
    "\0",
    "struct",
    "if",
    "else",
    "for(",
    "float",
    "vec2(",
    "S",
    "F(",
    "main",
    "\n#if ",
    "\n#endif\n",
    "\n#define F(x) F(F(x))\n",
    "\n#define A A F\n",
    "1.0e",
    "0x",
    "defined",
    "double",
];

fn run(text: &str) -> String {
    let mut sources = SourceMap::new();
    let file = sources.add("random", text);
    let arena = bumpalo::Bump::new();
    let parsed = frontend::parse(&arena, &mut sources, file, &Options::default());
    for found in &parsed.diagnostics {
        let (start, end) = (found.span().lo, found.span().hi);
        assert!(
            start <= end && end as usize <= text.len(),
            "{found} has span {start}..{end} of {} in\n{text}",
            text.len()
        );
        sources.line_col(found.span());
    }
    let errors = parsed.has_errors();
    let dump = frontend::dump::dump_ast(&parsed.unit, &sources);
    frontend::dump::dump_tokens(&parsed.tokens, &sources, true);
    assert!(errors || !dump.lines().any(|line| line.trim() == "error"), "a wrong tree without an error:\n{text}");
    if !errors {
        // What is right can be printed and read again.
        let (preprocessed, _) = frontend::preprocess(&arena, &mut sources, file, &Options::default());
        let printed = frontend::preprocess::print_text(&preprocessed, &sources);
        let again = sources.add("printed", printed.as_str());
        let (second, _) = frontend::preprocess(&arena, &mut sources, again, &Options::default());
        let words =
            |tokens: &[frontend::lexer::Token<'_>]| tokens.iter().map(|t| t.text.to_string()).collect::<Vec<_>>();
        assert_eq!(words(&preprocessed.tokens), words(&second.tokens), "{text}\n{printed}");
    }
    dump
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[test]
fn every_beginning_of_a_text_is_survived() {
    for seed in SEEDS {
        for at in 0..=seed.len() {
            run(&seed[..floor(seed, at)]);
            run(&seed[floor(seed, at)..]);
        }
    }
}

#[test]
fn changed_texts_are_survived_and_repeatable() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for turn in 0..6000 {
        let mut text = SEEDS[turn % SEEDS.len()].to_string();
        for _ in 0..1 + random.below(6) {
            let at = floor(&text, random.below(text.len() + 1));
            let end = floor(&text, (at + random.below(12)).min(text.len()));
            match random.below(4) {
                0 => text.insert_str(at, random.pick(&PIECES)),
                1 => text.replace_range(at..end, random.pick(&PIECES)),
                2 => text.replace_range(at..end, ""),
                _ => {
                    let piece = text[at..end].repeat(1 + random.below(3));
                    let to = floor(&text, random.below(text.len() + 1));
                    text.insert_str(to, &piece);
                }
            }
        }
        let first = run(&text);
        if turn % 100 == 0 {
            assert_eq!(first, run(&text), "two runs differ on\n{text}");
        }
    }
}

#[test]
fn piles_of_pieces_are_survived() {
    let mut random = Random(42);
    for _ in 0..3000 {
        let text: String = (0..random.below(60)).map(|_| random.pick(&PIECES)).collect();
        run(&text);
    }
}
