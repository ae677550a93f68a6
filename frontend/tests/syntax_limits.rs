//! Every bound gives its own error, nothing below a bound is refused, and the default bounds
//! keep the parser and the dump within the stack of a thread (2 MiB).

use frontend::{Included, Limits, Options};
use ir::diag::{Diagnostic, Severity, SourceMap};

fn parse_with(text: &str, options: &Options<'_>) -> Vec<Diagnostic> {
    let mut sources = SourceMap::new();
    let file = sources.add("limits.frag", text);
    let arena = bumpalo::Bump::new();
    let parsed = frontend::parse(&arena, &mut sources, file, options);
    // The dump recurses over the whole tree, as later stages do.
    frontend::dump::dump_ast(&parsed.unit, &sources);
    parsed.diagnostics
}

fn errors(text: &str, limits: Limits) -> Vec<&'static str> {
    let options = Options { limits, ..Options::default() };
    let all = parse_with(text, &options);
    all.iter().filter(|d| d.severity == Severity::Error).map(|d| d.code).collect()
}

/// What a default run finds, in a thread with the stack that threads have by default.
fn errors_in_thread(text: String) -> Vec<&'static str> {
    let run = move || errors(&text, Limits::default());
    std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().unwrap()
}

/// `open` n times, `middle`, `close` n times.
fn nest(open: &str, middle: &str, close: &str, n: usize) -> String {
    format!("{}{middle}{}", open.repeat(n), close.repeat(n))
}

#[test]
fn nesting_up_to_the_bound_is_fine_and_beyond_is_an_error() {
    let in_main = |s: String| format!("void main() {{ {s} }}");
    type Shape = Box<dyn Fn(usize) -> String>;
    let shapes: [(&str, Shape); 12] = [
        ("parentheses", Box::new(move |n| in_main(format!("a = {};", nest("(", "1.0", ")", n))))),
        ("brackets", Box::new(move |n| in_main(format!("a = {};", nest("b[", "1", "]", n))))),
        ("calls", Box::new(move |n| in_main(format!("a = {};", nest("f(", "1.0", ")", n))))),
        ("constructors", Box::new(move |n| in_main(format!("a = {};", nest("vec2(1.0, ", "1.0", ")", n))))),
        ("mixed", Box::new(move |n| in_main(format!("a = {};", nest("-b*(c + ", "1.0", ")", n))))),
        ("then", Box::new(move |n| in_main(format!("a = {};", nest("b ? ", "1.0", " : 2.0", n))))),
        ("else", Box::new(move |n| in_main(format!("a = {};", nest("b ? 1.0 : ", "1.0", "", n))))),
        ("assignments", Box::new(move |n| in_main(nest("a = ", "1.0;", "", n)))),
        ("blocks", Box::new(move |n| in_main(nest("{", "a = 1.0;", "}", n)))),
        ("ifs", Box::new(move |n| in_main(nest("if (true) ", ";", "", n)))),
        ("else ifs", Box::new(move |n| in_main(nest("if (true) ; else ", ";", "", n)))),
        ("loops", Box::new(move |n| in_main(nest("for (;;) do while (true) ", ";", " while (true);", n / 3)))),
    ];
    for (name, shape) in shapes {
        assert_eq!(errors_in_thread(shape(240)), [""; 0], "{name}");
        let found = errors_in_thread(shape(100_000));
        assert_eq!(found, ["nesting-too-deep"], "{name}");
        // Cut off in the middle: whatever is reported, it must end well.
        let cut = shape(200);
        errors_in_thread(cut[..cut.len() / 2].to_string());
    }
    let structs = nest("struct {", "int a;", "} b;", 240);
    assert_eq!(errors_in_thread(structs), [""; 0]);
    assert_eq!(errors_in_thread("struct {".repeat(100_000)), ["nesting-too-deep"]);
}

#[test]
fn high_trees_without_nesting_are_bounded_too() {
    let shapes: [(&str, &str, &str); 7] = [
        ("a = a", " + a", ";"),
        ("a = a", " + a * a", ";"),
        ("a", ", a", ";"),
        ("a = a", "[0]", ";"),
        ("a = a", ".x", ";"),
        ("a", "++", ";"),
        ("a = ", "- ", "a;"),
    ];
    for (start, middle, end) in shapes {
        let text = |n: usize| format!("void main() {{ {start}{}{end} }}", middle.repeat(n));
        assert_eq!(errors_in_thread(text(450)), [""; 0], "{start}{middle}");
        assert_eq!(errors_in_thread(text(10_000)), ["expression-too-deep"], "{start}{middle}");
    }
    // Wide is not high.
    let wide = format!("void main() {{ f({}1); }}", "a + b, ".repeat(10_000));
    assert_eq!(errors_in_thread(wide), [""; 0]);
}

#[test]
fn each_bound_of_the_preprocessor_has_its_error() {
    let of = |change: fn(&mut Limits), text: &str| {
        let mut limits = Limits::default();
        change(&mut limits);
        errors(text, limits)
    };
    let none: [&str; 0] = [];
    assert_eq!(of(|l| l.tokens = 5, "float a;\n"), none);
    assert_eq!(of(|l| l.tokens = 4, "float a, b;\n"), ["too-many-tokens"]);
    assert_eq!(of(|l| l.identifier = 5, "float abcde;"), none);
    assert_eq!(of(|l| l.identifier = 5, "float abcdef;"), ["identifier-too-long"]);
    assert_eq!(of(|l| l.source_bytes = 8, "float a;"), none);
    assert_eq!(of(|l| l.source_bytes = 7, "float a;"), ["source-too-large"]);
    assert_eq!(of(|l| l.macro_params = 2, "#define F(a, b) a"), none);
    assert_eq!(of(|l| l.macro_params = 2, "#define F(a, b, c) a"), ["too-many-macro-parameters"]);
    assert_eq!(of(|l| l.conditional_depth = 2, "#if 1\n#if 1\n#endif\n#endif"), none);
    assert_eq!(of(|l| l.conditional_depth = 1, "#if 0\n#if 1\n#endif\n#endif"), ["conditional-too-deep"]);
    assert_eq!(of(|l| l.nesting = 9, "#if ((((1))))\n#endif"), none);
    assert_eq!(of(|l| l.nesting = 4, "#if ((((1))))\n#endif"), ["nesting-too-deep"]);
    assert_eq!(
        of(|l| l.errors = 2, "float 1;\nfloat 2;\nfloat 3;"),
        ["syntax-error", "syntax-error", "too-many-errors"]
    );
}

#[test]
fn expansion_is_bounded() {
    // Doubling thirty times, by bodies and by arguments.
    let mut text = String::from("#define A0 1.0 + 1.0\n#define F(x) x + x\n");
    for i in 1..=30 {
        text.push_str(&format!("#define A{i} A{0} + A{0}\n", i - 1));
    }
    assert_eq!(errors_in_thread(format!("{text}float a = A30;")), ["macro-expansion-too-large"]);
    let args = format!("{text}float a = {};", nest("F(", "1.0", ")", 30));
    assert_eq!(errors_in_thread(args), ["macro-expansion-too-large"]);
    let deep = format!("{text}float a = {};", nest("F(", "1.0", ")", 1_000));
    assert_eq!(errors_in_thread(deep), ["macro-nesting-too-deep"]);
    let condition = format!("#if {}\n#endif", nest("(", "1", ")", 100_000));
    assert_eq!(errors_in_thread(condition), ["nesting-too-deep"]);
    let fine = format!("#define G(x) (x)\nfloat a = {};", nest("G(", "1.0", ")", 150));
    assert_eq!(errors_in_thread(fine), [""; 0]);
    let chain: String = (1..=1000).map(|i| format!("#define B{i} B{}\n", i - 1)).collect();
    assert_eq!(errors_in_thread(format!("{chain}float a = B100;")), [""; 0]);
    assert_eq!(errors_in_thread(format!("{chain}float a = B1000;")), ["macro-nesting-too-deep"]);
}

#[test]
fn included_texts_are_found_by_the_caller_and_bounded() {
    let resolve = |name: &str, from: &str| match name {
        "self" => Ok(Included { name: "self".into(), text: "#include \"self\"\n".into() }),
        "math/lib.glsl" if from == "limits.frag" => Ok(Included {
            name: name.into(),
            text: "#include \"more\"\nfloat twice(float x) { return x * TWO; }\n".into(),
        }),
        "more" if from == "math/lib.glsl" => Ok(Included { name: name.into(), text: "#define TWO 2.0".into() }),
        "open" => Ok(Included { name: name.into(), text: "#if 1\n".into() }),
        "close" => Ok(Included { name: name.into(), text: "#endif\n".into() }),
        _ => Err("no such file".to_string()),
    };
    let options = Options { include: Some(&resolve), ..Options::default() };
    let codes = |text: &str| -> Vec<_> { parse_with(text, &options).iter().map(|d| d.code).collect() };
    assert_eq!(codes("#include \"math/lib.glsl\"\nvoid main() { twice(TWO); }"), [""; 0]);
    assert_eq!(codes("#include <math/lib.glsl>\n"), [""; 0]);
    assert_eq!(codes("#include \"self\"\n"), ["include-too-deep"]);
    assert_eq!(codes("#include \"unknown\"\nfloat a;"), ["include-failed"]);
    assert_eq!(codes("#include unknown\n"), ["bad-include"]);
    assert_eq!(codes("#include \"open\"\n"), ["unterminated-conditional"]);
    assert_eq!(codes("#if 1\n#include \"close\"\n#endif\n"), ["unmatched-conditional"]);
}

#[test]
fn definitions_of_the_caller_come_first() {
    let define = |name: &str, value: &str| (name.to_string(), value.to_string());
    let defines = vec![define("N", "4"), define("GL_foo", "1"), define("TWICE(x)", "(x + x)"), define("EMPTY", "")];
    let options = Options { defines, ..Options::default() };
    let text = "#version 120\n#if N != 4 || GL_foo != 1 || !defined EMPTY\n#error no\n#endif\nfloat a = TWICE(1.0);";
    assert_eq!(parse_with(text, &options), []);
    let options = Options { defines: vec![define("1", "4")], ..Options::default() };
    assert_eq!(parse_with("float a;", &options).len(), 1);
}

#[test]
fn large_texts_take_linear_time() {
    // One line of a megabyte each: anything quadratic would not end.
    let n = 100_000;
    assert_eq!(errors_in_thread("float a;".repeat(n)), [""; 0]);
    assert_eq!(errors_in_thread(format!("void main() {{ {} }}", "a = b;".repeat(n))), [""; 0]);
    assert_eq!(errors_in_thread(format!("#define F(x) x\n{}", "float F(a);".repeat(n / 2))), [""; 0]);
    assert_eq!(errors_in_thread(format!("float {}a;", "a, ".repeat(n))), [""; 0]);
    assert_eq!(errors_in_thread("/**/\\\n".repeat(n)), [""; 0]);
    assert_eq!(errors_in_thread("#if 1\n#endif\n".repeat(n)), [""; 0]);
    assert_eq!(errors_in_thread("@".repeat(n)).last(), Some(&"too-many-errors"));
    assert_eq!(errors_in_thread(format!("void main() {{ {}", "float[ if ".repeat(n))).last(), Some(&"too-many-errors"));
    assert_eq!(errors_in_thread(";".repeat(2_000_000)), ["too-many-tokens"]);
    assert_eq!(errors_in_thread(" ".repeat(5 << 20)), ["source-too-large"]);
}
