//! The text forms of tokens, preprocessed text and tree, and the places that they carry.
//! `UPDATE_EXPECT=1 cargo test -p frontend` rewrites the expected texts.

use expect_test::{Expect, expect};
use frontend::Options;
use frontend::ast::{ExtBehavior, Version};
use frontend::lexer::Tok;
use ir::diag::SourceMap;

fn ast(text: &str, wanted: Expect) {
    let mut sources = SourceMap::new();
    let file = sources.add("golden.vert", text);
    let arena = bumpalo::Bump::new();
    let parsed = frontend::parse(&arena, &mut sources, file, &Options::default());
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    wanted.assert_eq(&frontend::dump::dump_ast(&parsed.unit, &sources));
}

fn expression(text: &str, wanted: Expect) {
    let mut sources = SourceMap::new();
    let file = sources.add("golden.vert", format!("#version 120\nfloat a = {text};"));
    let arena = bumpalo::Bump::new();
    let parsed = frontend::parse(&arena, &mut sources, file, &Options::default());
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    let dump = frontend::dump::dump_ast(&parsed.unit, &sources);
    let inner: Vec<_> = dump.lines().skip(4).map(|line| line.get(8..).unwrap_or(line)).collect();
    wanted.assert_eq(&(inner.join("\n") + "\n"));
}

fn preprocessed(text: &str, wanted: Expect) {
    let mut sources = SourceMap::new();
    let file = sources.add("golden.vert", text);
    let arena = bumpalo::Bump::new();
    let (result, diagnostics) = frontend::preprocess(&arena, &mut sources, file, &Options::default());
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    wanted.assert_eq(&frontend::preprocess::print_text(&result, &sources));
}

const PAPER: &str = "attribute vec4 my_Vertex;\nuniform mat4 my_TransformMatrix;\nvoid main() {\n    \
     gl_Position = my_TransformMatrix * my_Vertex;\n}\n";

#[test]
fn tokens_of_the_papers_example() {
    let mut sources = SourceMap::new();
    let file = sources.add("paper.vert", PAPER);
    let arena = bumpalo::Bump::new();
    let parsed = frontend::parse(&arena, &mut sources, file, &Options::default());
    expect![[r#"
        1    keyword    attribute
        1    keyword    vec4
        1    identifier my_Vertex
        1    operator   ;
        2    keyword    uniform
        2    keyword    mat4
        2    identifier my_TransformMatrix
        2    operator   ;
        3    keyword    void
        3    identifier main
        3    operator   (
        3    operator   )
        3    operator   {
        4    identifier gl_Position
        4    operator   =
        4    identifier my_TransformMatrix
        4    operator   *
        4    identifier my_Vertex
        4    operator   ;
        5    operator   }
    "#]]
    .assert_eq(&frontend::dump::dump_tokens(&parsed.tokens, &sources, false));
    let blanks = frontend::dump::dump_tokens(&parsed.tokens[..4], &sources, true);
    expect![[r#"
        1    keyword    attribute
        1    blank
        1    keyword    vec4
        1    blank
        1    identifier my_Vertex
        1    operator   ;
    "#]]
    .assert_eq(&blanks);
}

#[test]
fn tree_of_the_papers_example() {
    ast(
        PAPER,
        expect![[r#"
        shader 110
          declare attribute vec4 @1
            name my_Vertex
          declare uniform mat4 @2
            name my_TransformMatrix
          function void main @3
            block @3
              expression @4
                assign =
                  variable gl_Position
                  binary *
                    variable my_TransformMatrix
                    variable my_Vertex
    "#]],
    );
}

#[test]
fn tree_of_declarations() {
    ast(
        "#version 120\n#extension GL_ARB_draw_buffers : enable\n#pragma STDGL invariant(all)\n\
         invariant centroid varying vec3 n, m[2];\nstruct S { float a[2], b; struct { int i; } c; } s = S(1.0);\n\
         const float[3] k = float[](1., .5, 1e1);\ninvariant gl_Position;\n\
         S f(const in float x, out mat2x3, inout S y[4], bvec2 z);\nuniform sampler2DShadow t;\n",
        expect![[r#"
            shader 120
              extension GL_ARB_draw_buffers Enable
              pragma InvariantAll
              declare invariant centroid varying vec3 @4
                name n
                name m
                  size
                    int 2
              declare struct S @5
                member float
                  name a
                    size
                      int 2
                  name b
                member struct
                  member int
                    name i
                  name c
                name s
                  init
                    construct S
                      float 1.0
              declare const float[n] @6
                type-size
                  int 3
                name k
                  init
                    construct float[]
                      type-size unsized
                      float 1.0
                      float 0.5
                      float 10.0
              invariant gl_Position @7
              prototype S f @8
                param const in float x
                param out mat2x3
                param inout S y
                  size
                    int 4
                param in bvec2 z
              declare uniform sampler2DShadow @9
                name t
        "#]],
    );
}

#[test]
fn tree_of_statements() {
    ast(
        "void main() {\n  ;\n  { int i = 0x1F, j = 017; }\n  if (true) discard; else return;\n\
         \x20 for (int i = 0; i < 3; i++) continue;\n  for (;;) { break; }\n  while (bool b = false) f();\n\
         \x20 do ; while (a);\n}\nint g() { return 1; }\n",
        expect![[r#"
            shader 110
              function void main @1
                block @1
                  empty @2
                  block @3
                    declare int @3
                      name i
                        init
                          int 31
                      name j
                        init
                          int 15
                  if @4
                    condition
                      bool true
                    discard @4
                    else
                    return @4
                  for @5
                    declare int @5
                      name i
                        init
                          int 0
                    condition
                      binary <
                        variable i
                        int 3
                    step
                      postfix ++
                        variable i
                    continue @5
                  for @6
                    empty @6
                    block @6
                      break @6
                  while @7
                    condition bool
                      name b
                        init
                          bool false
                    expression @7
                      call f
                  do @8
                    empty @8
                    condition
                      variable a
              function int g @10
                block @10
                  return @10
                    int 1
        "#]],
    );
}

#[test]
fn operators_bind_as_the_specification_says() {
    expression(
        "a || b ^^ c && d == e < f + g * -h",
        expect![[r#"
        binary ||
          variable a
          binary ^^
            variable b
            binary &&
              variable c
              binary ==
                variable d
                binary <
                  variable e
                  binary +
                    variable f
                    binary *
                      variable g
                      prefix -
                        variable h
    "#]],
    );
    expression(
        "a * b + c < d != e && f ^^ g || h",
        expect![[r#"
        binary ||
          binary ^^
            binary &&
              binary !=
                binary <
                  binary +
                    binary *
                      variable a
                      variable b
                    variable c
                  variable d
                variable e
              variable f
            variable g
          variable h
    "#]],
    );
    expression(
        "a - b - c / d / e",
        expect![[r#"
        binary -
          binary -
            variable a
            variable b
          binary /
            binary /
              variable c
              variable d
            variable e
    "#]],
    );
    expression(
        "a ? b : c ? d : e",
        expect![[r#"
        ternary
          variable a
          variable b
          ternary
            variable c
            variable d
            variable e
    "#]],
    );
    expression(
        "(a = b += c, d)",
        expect![[r#"
        comma
          assign =
            variable a
            assign +=
              variable b
              variable c
          variable d
    "#]],
    );
    expression(
        "-a.x[i]++ - --b",
        expect![[r#"
        binary -
          prefix -
            postfix ++
              index
                field x
                  variable a
                variable i
          prefix --
            variable b
    "#]],
    );
    expression(
        "!(a + b) * c",
        expect![[r#"
        binary *
          prefix !
            binary +
              variable a
              variable b
          variable c
    "#]],
    );
}

#[test]
fn postfix_forms() {
    expression(
        "f(vec2(a, b).yx, g(void), float[2](1.0, 2.0)[1]).z + c.length() + d[e].f[g]",
        expect![[r#"
        binary +
          binary +
            field z
              call f
                field yx
                  construct vec2
                    variable a
                    variable b
                call g
                index
                  construct float[n]
                    type-size
                      int 2
                    float 1.0
                    float 2.0
                  int 1
            method length
              variable c
          index
            field f
              index
                variable d
                variable e
            variable g
    "#]],
    );
}

#[test]
fn macros_expand_as_in_c() {
    preprocessed(
        "#define ONE 1\n#define PAIR(x, y) ((x) + (y))\n#define f(x) x * g\n#define g(x) (x)\n#define EMPTY\n\
         int a = PAIR(ONE, PAIR(2, (3, 4)));\nint b = f(2)(3);\nint c = PAIR (EMPTY, ) EMPTY;\nint d = PAIR;\n\
         int e = -EMPTY-1;\n#define SELF SELF + f\nint h = SELF;\n#undef ONE\nint i = ONE + __LINE__ + __VERSION__;\n",
        expect![[r#"
            int a = ((1) + (((2) + ((3, 4)))));
            int b = 2 * (3);
            int c = (() + ());
            int d = PAIR;
            int e = - -1;

            int h = SELF + f;

            int i = ONE + 14 + 110;
        "#]],
    );
}

#[test]
fn groups_and_lines_are_kept_readable() {
    preprocessed(
        "#version 120\n#extension GL_ARB_draw_buffers : require\n#pragma optimize(off)\n#if 0\nint a;\n#elif 1\n  int b; // b\n\
         #else\nint c;\n#endif\n\n\n\nint d,\n    e;\n",
        expect![[r#"
            #version 120
            #extension GL_ARB_draw_buffers : require
            #pragma optimize(off)
            int b;

            int d,
                e;
        "#]],
    );
}

#[test]
fn conditions_have_the_values_of_c() {
    for (condition, value) in [
        ("1 + 2 * 3", "7"),
        ("(1 + 2) * 3", "9"),
        ("10 - 4 - 3", "3"),
        ("-7 / 2", "0 - 3"),
        ("-7 % 3", "0 - 1"),
        ("1 << 4 | 3", "19"),
        ("-16 >> 2", "0 - 4"),
        ("6 & 3 ^ 1", "3"),
        ("~0", "0 - 1"),
        ("!0 + !5", "1"),
        ("1 < 2 == 2 > 1", "1"),
        ("3 >= 3 && 2 <= 1", "0"),
        ("1 != 1 || 2", "1"),
        ("0x1F + 010", "39"),
        ("- - + 5", "5"),
        ("ADD(2, N)", "5"),
        ("defined N + defined(ADD) + defined X", "2"),
        ("N == 3 && !defined(N) || defined N", "1"),
    ] {
        let text =
            format!("#define N 3\n#define ADD(a, b) a + b\n#if ({condition}) != ({value})\n#error differs\n#endif\n");
        let mut sources = SourceMap::new();
        let file = sources.add("condition", text);
        let arena = bumpalo::Bump::new();
        let found = frontend::parse(&arena, &mut sources, file, &Options::default()).diagnostics;
        assert!(found.is_empty(), "{condition}: {found:?}");
    }
}

#[test]
fn spans_point_into_the_original() {
    let text = "#define F(x) (x + y)\nfloat a = F(\n  b);\nfloat lo\\\nng = c;";
    let mut sources = SourceMap::new();
    let file = sources.add("spans", text);
    let arena = bumpalo::Bump::new();
    let parsed = frontend::parse(&arena, &mut sources, file, &Options::default());
    let at = |word: &str| {
        let token = parsed.tokens.iter().find(|t| t.text == word).unwrap();
        (sources.line_col(token.span), &text[token.span.lo as usize..token.span.hi as usize])
    };
    assert_eq!(at("y"), ((2, 11), "F"), "a token of a body has the place of the invocation");
    assert_eq!(at("b"), ((3, 3), "b"), "a token of an argument has its own");
    assert_eq!(at("long"), ((4, 7), "lo\\\nng"), "a joined token covers both parts");
    assert_eq!(at("c"), ((5, 6), "c"));
    let last = parsed.tokens.last().unwrap();
    assert_eq!((last.tok, last.span.lo as usize), (Tok::Eof, text.len()));
    let spans: Vec<_> = parsed.unit.items.iter().map(|i| &text[i.span.lo as usize..i.span.hi as usize]).collect();
    assert_eq!(spans, ["float a = F(\n  b);", "float lo\\\nng = c;"]);
}

#[test]
fn the_last_extension_line_counts() {
    let text = "#version 100\n#extension GL_OES_texture_3D : enable\n#extension GL_EXT_draw_buffers : require\n\
                #extension all : warn\n#extension GL_EXT_draw_buffers : disable\n";
    let mut sources = SourceMap::new();
    let file = sources.add("extensions", text);
    let arena = bumpalo::Bump::new();
    let parsed = frontend::parse(&arena, &mut sources, file, &Options::default());
    assert!(parsed.diagnostics.is_empty() && parsed.unit.version == Version::Es100);
    assert_eq!(parsed.unit.extension("GL_OES_texture_3D"), ExtBehavior::Warn);
    assert_eq!(parsed.unit.extension("GL_EXT_draw_buffers"), ExtBehavior::Disable);
    assert_eq!(parsed.unit.extensions.len(), 4);
}

#[test]
fn messages_say_what_was_expected() {
    let text = "float a\nvoid main() {\n  a = (b + ;\n  if (a { }\n  input = 2;\n}\n#if 1\n";
    let mut sources = SourceMap::new();
    let file = sources.add("messages", text);
    let arena = bumpalo::Bump::new();
    let found = frontend::parse(&arena, &mut sources, file, &Options::default()).diagnostics;
    let lines: Vec<_> = found
        .iter()
        .map(|d| {
            let (line, column) = sources.line_col(d.span());
            format!("{line}:{column}: {d}\n")
        })
        .collect();
    expect![[r#"
        7:1: error[unterminated-conditional]: this group has no `#endif`
        2:1: error[syntax-error]: expected `;` after the declaration, found keyword `void`
        3:12: error[syntax-error]: expected an expression, found `;`
        4:9: error[syntax-error]: expected `)` after the condition of `if`, found `{`
        5:3: error[reserved-word]: `input` is reserved and cannot be a name
    "#]]
    .assert_eq(&lines.concat());
}
