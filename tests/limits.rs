//! Every bound of `eggshade limits` is real: an input that is fine by default ends, with the bound
//! lowered by `--limit`, in an error with the bound's code, name, value and way to raise it.

use eggshade::backend::emit::vec4_parse;
use eggshade::backend::limits::Limits as MachineLimits;
use eggshade::backend::sim::machine::{self, Lanes, Lookup, Outside, SimError};
use eggshade::ir::limits::{Bound, Limits};
use eggshade::ir::text;
use eggshade::limits;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How an input reaches the stage with the bound.
enum How {
    /// A file of that ending to a subcommand.
    Run(&'static [&'static str], &'static str),
    /// By the library, since no command reads it; gives the error.
    Library(fn() -> String),
    /// Meeting the bound is no error.
    Silent,
}
use How::{Library, Run, Silent};

const COMPILE: &[&str] = &["compile", "--pipeline", "none"];

/// The input for a bound, the value that it is too much for, and the way.
fn case(name: &str) -> (usize, How, &'static str) {
    let glsl = Run(COMPILE, "frag");
    match name {
        "nesting" => (3, glsl, "void main() { float a = ((((1.0)))); }"),
        "expression-height" => (3, glsl, "void main() { float a = 1.0; a = a + a + a + a + a; }"),
        "source" => (10, glsl, "void main() { }"),
        "tokens" => (5, glsl, "void main() { }"),
        "identifier" => (4, glsl, "float abcde; void main() { }"),
        "macro-expansion" => (5, glsl, "#define A 1.0 + 2.0 + 3.0 + 4.0\nvoid main() { float a = A; }"),
        "macro-nesting" => (1, glsl, "#define A B\n#define B 1.0\nvoid main() { float a = A; }"),
        "macro-parameters" => (1, glsl, "#define A(x, y) x\nvoid main() { }"),
        "conditional-nesting" => (1, glsl, "#if 1\n#if 1\n#endif\n#endif\nvoid main() { }"),
        "include-nesting" => (1, Run(&["compile", "-I", "."], "frag"), "#include \"a.h\"\nvoid main() { }"),
        "errors" => (1, glsl, "void main() { a; }"),
        "type-nesting" => (1, glsl, "struct A { float x; }; struct B { A a; }; void main() { }"),
        "array-registers" => (4, glsl, "float a[5]; void main() { }"),
        "variable-registers" => (4, glsl, "float a[3]; float b[3]; void main() { }"),
        "overloads" => (1, glsl, "void f(int a) { } void f(float a) { } void main() { }"),
        "parameters" => (1, glsl, "void f(int a, int b) { } void main() { }"),
        "constant-lanes" => (7, glsl, "const vec4 a = vec4(1.0); const vec4 b = vec4(2.0); void main() { }"),
        "ir-text" => (10, Run(COMPILE, "tac"), "stage frag\nfunc main() {\n}\n"),
        "instructions" => (1, glsl, "uniform vec4 u; void main() { gl_FragColor = u; gl_FragColor.x = u.y; }"),
        "program-registers" => (1, glsl, "uniform vec4 u; void main() { gl_FragColor = u; }"),
        "flow-nesting" => {
            (1, glsl, "uniform float u; void main() { if (u > 0.0) { if (u > 1.0) { gl_FragColor.x = u; } } }")
        }
        "inlined-instructions" => {
            (1, glsl, "uniform vec4 u; void main() { gl_FragColor = u * u; gl_FragColor.x = u.y; }")
        }
        "ssa-instructions" => (1, glsl, "uniform vec4 u; void main() { gl_FragColor = u * u; }"),
        "block-parameters" => (
            1,
            glsl,
            "uniform float u; void main() { float a = 0.0, b = 0.0; if (u > 0.0) { a = 1.0; b = u; } gl_FragColor = vec4(a, b, a, b); }",
        ),
        "lookups" => (1, glsl, "uniform float u; void main() { float a = u, b = a * u; gl_FragColor = vec4(b); }"),
        "ssa-numbers" => (2, Library(ssa_numbers), ""),
        "assembly-instructions" => (1, Run(&["asm"], "asm"), "MOV o0, c0\nEND\n"),
        "assembly-errors" => (1, Run(&["asm"], "asm"), "WHAT\nWHAT\n"),
        "steps" => (1, Run(&["run"], "frag"), "uniform vec4 u; void main() { gl_FragColor = u * u; }"),
        "calls" => (1, Library(calls), ""),
        "pass-rounds" | "unroll-turns" | "unroll-instructions" | "egraph-nodes" => (1, Silent, ""),
        other => panic!("no input for the bound {other}"),
    }
}

fn ssa_numbers() -> String {
    let source = "function frag {\nblock0:\n  v9: float = const float(1.0)\n  return\n}\n";
    let arena = bumpalo::Bump::new();
    let limits = Limits { numbers: 2, ..Limits::default() };
    let error = text::parse_within(&arena, source, Default::default(), &limits).unwrap_err();
    assert!(text::parse(&arena, source, Default::default()).is_ok());
    format!("{error}\n{}", error.notes.join("\n"))
}

/// A machine with nothing around it.
struct Nothing;

impl Outside for Nothing {
    fn input(&self, _: usize, _: &str, _: u32) -> Lanes {
        [0.0; 4]
    }

    fn uniform(&self, _: &str, _: u32) -> Lanes {
        [0.0; 4]
    }

    fn texture(&self, _: &Lookup<'_>) -> Lanes {
        [0.0; 4]
    }
}

fn calls() -> String {
    let limits = MachineLimits { calls: 1, ..MachineLimits::default() };
    let program = vec4_parse::parse(Default::default(), "CAL 0\nEND\n").unwrap();
    let result = machine::run(&program, &Nothing, [true; 4], Default::default(), limits.run());
    assert_eq!(result, Err(SimError::Calls(1)));
    let error = limits.error("calls", Default::default(), "calls");
    format!("{error}\n{}", error.notes.join("\n"))
}

/// A folder of this test's own.
fn folder() -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("limits");
    std::fs::create_dir_all(&path).unwrap();
    std::fs::write(path.join("a.h"), "#include \"b.h\"\n").unwrap();
    std::fs::write(path.join("b.h"), "\n").unwrap();
    path
}

fn eggshade(arguments: &[&str], limit: Option<&str>) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_eggshade"));
    command.current_dir(folder()).args(arguments);
    if let Some(limit) = limit {
        command.args(["--limit", limit]);
    }
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn check(bound: &Bound) {
    let Bound { name, code, .. } = bound;
    let (value, how, text) = case(name);
    let error = match how {
        Run(arguments, ending) => {
            let file = format!("{name}.{ending}");
            std::fs::write(folder().join(&file), text).unwrap();
            let arguments: Vec<&str> = arguments.iter().copied().chain([file.as_str(), "-o", "out"]).collect();
            let arguments = if arguments[0] == "run" { &arguments[..arguments.len() - 2] } else { &arguments[..] };
            // Two of the inputs are wrong anyway, but another way.
            let (exit, error) = eggshade(arguments, None);
            assert!(exit == Some(0) || (name.ends_with("errors") && !error.contains(code)), "{name}: {error}");
            let (exit, error) = eggshade(arguments, Some(&format!("{name}={value}")));
            assert_eq!(exit, Some(1), "{name}: {error}");
            error
        }
        Library(run) => run(),
        Silent => return assert_eq!(*code, "", "{name}"),
    };
    assert!(error.contains(&format!("error[{code}]")), "{name}: {error}");
    assert!(error.contains(&format!("the bound `{name}` is {value} ")), "{name}: {error}");
    let raise = error.contains(&format!("`--limit {name}=N` raises it, up to {}", bound.max));
    assert!(raise || error.contains("it cannot be raised"), "{name}: {error}");
}

#[test]
fn every_bound_has_an_error_that_names_it() {
    limits::table().for_each(check);
}

/// Bounds on nesting are there for the stack: at their greatest value the deepest input still ends.
#[test]
fn no_greatest_value_overflows_the_stack() {
    let deep = |n: usize, open: &str, middle: &str, close: &str| open.repeat(n) + middle + &close.repeat(n);
    let cases = [
        format!("void main() {{ float a = 1.0; a = {}; }}", deep(5_000, "(", "a", ")")),
        format!("void main() {{ float a = 1.0; a = {}a; }}", "a + ".repeat(5_000)),
        format!("void main() {{ float a = 1.0; a = {}; }}", deep(900, "sin(", "a", ")")),
        format!("void main() {{ float a = 1.0; {} }}", deep(900, "if (a > 0.0) {", "a = 2.0;", "}")),
        format!("void main() {{ float a = 1.0; {} gl_FragColor = vec4(a); }}", "a = -a + a * a;".repeat(1_900)),
        format!(
            "uniform float u; void main() {{ float a = u; a = {}a; gl_FragColor = vec4(a); }}",
            "a + ".repeat(1_990)
        ),
        format!("#if {}\n#endif\nvoid main() {{ }}", deep(5_000, "(", "1", ")")),
        (1..1_500)
            .fold("struct S0 { float x; };".to_owned(), |text, i| format!("{text} struct S{i} {{ S{} s; }};", i - 1))
            + " uniform S900 s; void main() { }",
        (1..1_500).fold("#define A0 1.0\n".to_owned(), |text, i| format!("{text}#define A{i} A{}\n", i - 1))
            + "void main() { float a = A900; a = A1400; }",
    ];
    let most: Vec<String> = limits::table()
        .filter(|b| ["levels", "calls"].contains(&b.unit))
        .flat_map(|b| ["--limit".to_owned(), format!("{}={}", b.name, b.max)])
        .collect();
    for (i, text) in cases.iter().enumerate() {
        let file = format!("deep{i}.frag");
        std::fs::write(folder().join(&file), text).unwrap();
        let mut arguments = vec!["compile", file.as_str(), "--pipeline", "paper", "--emit", "json", "-o", "out"];
        arguments.extend(most.iter().map(String::as_str));
        let (exit, error) = eggshade(&arguments, None);
        assert!(matches!(exit, Some(0 | 1)), "case {i}: {exit:?} {error}");
    }
}

#[test]
fn a_wrong_name_gets_a_hint() {
    let (exit, error) = eggshade(&["compile", "x.frag"], Some("nestin=3"));
    assert!(exit == Some(2) && error.contains("did you mean `nesting`?"), "{error}");
}
