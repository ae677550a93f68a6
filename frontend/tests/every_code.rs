//! Each code of the front end has an example, and each example's note names the rule.
//!
//! `filetests/every_code.txt` shows them all as a user sees them. A code that the source text has and the
//! table lacks, a row without an example, or an example without its note fails the test.

use bumpalo::Bump;
use expect_test::expect_file;
use frontend::ast::Version::{self, Es100, Glsl110, Glsl120};
use frontend::codes::{self, CODES, Level, Rule};
use frontend::{IncludeResolver, Included, Limits, Options};
use ir::diag::{Diagnostic, Severity, SourceMap};
use ir::types::Stage::{self, Fragment, Vertex};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

/// Bounds small enough for an example.
const SMALL: Limits = Limits {
    nesting: 8,
    expr_height: 8,
    tokens: 60,
    expansion: 40,
    macro_depth: 4,
    macro_params: 3,
    conditional_depth: 2,
    include_depth: 2,
    identifier: 12,
    source_bytes: 400,
    errors: 3,
    type_depth: 64,
    type_regs: 65_536,
    registers: 65_536,
    overloads: 2,
    parameters: 3,
    constant_lanes: 7,
};

/// Code, language, stage, texts (several are linked).
type Case = (&'static str, Version, Stage, &'static [&'static str]);

/// With the bounds as they are.
const CASES: &[Case] = &[
    (
        "ambiguous-call",
        Glsl120,
        Vertex,
        &["float g(float a, int b); float g(int a, float b); float f() { return g(1, 1); }"],
    ),
    ("array-assignment", Glsl110, Vertex, &["void f() { float a[2]; float b[2]; a = b; }"]),
    ("array-of-arrays", Glsl120, Vertex, &["float[2] a[3];"]),
    ("array-too-large", Glsl110, Vertex, &["float a[100000];"]),
    ("attribute-in-fragment", Glsl110, Fragment, &["attribute vec4 a;"]),
    ("bad-array-size", Glsl110, Vertex, &["float a[0];"]),
    ("bad-attribute-type", Es100, Vertex, &["attribute vec4 a[2];"]),
    ("bad-condition", Glsl110, Vertex, &["#if 1 / 0\n#endif\n"]),
    ("bad-constructor", Glsl110, Vertex, &["vec3 f() { return vec3(1.0, 2.0); }"]),
    ("bad-define", Glsl110, Vertex, &["#define 3\n"]),
    ("bad-directive", Glsl110, Vertex, &["#ifdef\n#endif\n"]),
    ("bad-extension", Glsl110, Vertex, &["#extension GL_ARB_draw_buffers\n"]),
    ("bad-include", Glsl110, Vertex, &["#include nothing\n"]),
    ("bad-invariant", Glsl120, Vertex, &["uniform float u; invariant u;"]),
    ("bad-line", Glsl110, Vertex, &["#line here\n"]),
    ("bad-main", Glsl110, Vertex, &["int main() { return 1; }"]),
    ("bad-method", Glsl120, Vertex, &["int f(vec2 v) { return v.length(); }"]),
    ("bad-number", Glsl110, Vertex, &["int f() { return 3u; }"]),
    ("bad-operand", Glsl110, Vertex, &["bool f(bool b) { return -b; }"]),
    ("bad-operands", Glsl110, Vertex, &["float f(int n) { return n + 1.0; }"]),
    ("bad-pragma", Glsl110, Vertex, &["#pragma optimize(maybe)\n"]),
    ("bad-precision", Es100, Vertex, &["lowp bool b;"]),
    ("bad-qualifier", Glsl110, Vertex, &["struct S { uniform float x; };"]),
    ("bad-result", Glsl110, Vertex, &["sampler2D f();"]),
    ("bad-return", Glsl110, Vertex, &["float f() { return; }"]),
    ("bad-swizzle", Glsl110, Vertex, &["float f(vec2 v) { return v.z; }"]),
    ("bad-varying-type", Es100, Vertex, &["varying ivec2 v;"]),
    ("bad-version", Glsl110, Vertex, &["#version\n"]),
    ("both-color-outputs", Glsl110, Fragment, &["void f() { gl_FragColor = vec4(1.0); gl_FragData[0] = vec4(1.0); }"]),
    ("condition-not-bool", Glsl110, Vertex, &["void f(int n) { if (n) { } }"]),
    ("discard-in-vertex", Glsl110, Vertex, &["void f() { discard; }"]),
    ("doubled-qualifier", Glsl110, Vertex, &["uniform uniform float u;"]),
    ("duplicate-swizzle", Glsl110, Vertex, &["void f(vec4 v) { v.xx = vec2(1.0); }"]),
    ("empty-declaration", Glsl110, Vertex, &["float;"]),
    ("empty-struct", Glsl110, Vertex, &["struct S { };"]),
    ("error-directive", Glsl110, Vertex, &["#error not today\n"]),
    ("extra-tokens", Glsl110, Vertex, &["#ifdef A\n#endif A\n"]),
    ("float-suffix", Glsl110, Vertex, &["float f() { return 1.0f; }"]),
    ("illegal-character", Glsl110, Vertex, &["float f() { return 1.0 @ 2.0; }"]),
    ("implicit-return-conversion", Glsl120, Vertex, &["float f(int n) { return n; }"]),
    ("include-failed", Glsl110, Vertex, &["#include \"absent\"\n"]),
    (
        "index-limits",
        Es100,
        Fragment,
        &["uniform int n; uniform sampler2D s[2]; void f() { texture2D(s[n], vec2(0.0)); }"],
    ),
    ("index-not-int", Glsl110, Vertex, &["float f(mat3 m) { return m[1.0].x; }"]),
    ("index-out-of-range", Glsl110, Vertex, &["float a[3]; float f() { return a[3]; }"]),
    ("initializer-not-allowed", Glsl110, Vertex, &["attribute vec4 a = vec4(1.0);"]),
    ("initializer-not-constant", Glsl110, Vertex, &["uniform float u; const float c = u;"]),
    ("jump-outside-loop", Glsl110, Vertex, &["void f() { break; }"]),
    ("late-extension", Glsl110, Vertex, &["float x;\n#extension GL_ARB_draw_buffers : enable\n"]),
    ("late-version", Glsl110, Vertex, &["float x;\n#version 110\n"]),
    ("link-mismatch", Glsl110, Vertex, &["uniform float u;", "uniform vec2 u;"]),
    ("local-function", Glsl120, Vertex, &["void f() { float g(); }"]),
    ("loop-limits", Es100, Vertex, &["uniform int n; void f() { for (int i = 0; i < n; i++) { } }"]),
    ("macro-argument-count", Glsl110, Vertex, &["#define F(a, b) a\nfloat x = F(1.0);"]),
    ("macro-redefined", Glsl110, Vertex, &["#define A 1\n#define A 2\n"]),
    ("mismatched-prototype", Glsl110, Vertex, &["float f(); int f();"]),
    ("missing-main", Glsl110, Vertex, &["void f();"]),
    ("missing-precision", Es100, Fragment, &["varying vec2 v;"]),
    ("missing-return", Glsl110, Vertex, &["float f(float x) { if (x > 1.0) return x; }"]),
    ("needs-version-120", Glsl110, Vertex, &["void f() { float a[2] = b; }"]),
    ("nested-function", Glsl110, Vertex, &["void f() { void g() { } }"]),
    ("nested-struct", Es100, Vertex, &["struct S { struct T { float x; } t; };"]),
    ("no-matching-overload", Glsl110, Vertex, &["float f() { return mix(1.0, 2, true); }"]),
    ("no-stringification", Glsl110, Vertex, &["#define S(x) #x\n"]),
    ("no-such-field", Glsl110, Vertex, &["struct S { float near; }; float f(S s) { return s.neer; }"]),
    ("no-token-pasting", Glsl110, Vertex, &["#define P(x, y) x ## y\n"]),
    (
        "not-a-function",
        Glsl120,
        Vertex,
        &["float g(float x) { return x; } float f() { float g = 1.0; return g(1.0); }"],
    ),
    ("not-assignable", Glsl110, Vertex, &["void f() { 1.0 = 2.0; }"]),
    ("not-in-version", Glsl110, Vertex, &["float[2] a;"]),
    ("not-indexable", Glsl110, Vertex, &["float f(float x) { return x[0]; }"]),
    ("inexact-number", Glsl110, Vertex, &["int n = 2147483647;"]),
    ("number-too-large", Glsl110, Vertex, &["int n = 99999999999;"]),
    ("qualifier-not-global", Glsl110, Vertex, &["void f() { uniform float u; }"]),
    ("qualifier-order", Glsl120, Vertex, &["varying invariant vec2 v;"]),
    ("read-only", Glsl110, Vertex, &["uniform float u; void f() { u = 2.0; }"]),
    ("recursion", Glsl110, Vertex, &["float f(float x) { return f(x - 1.0); }"]),
    ("redeclared-name", Glsl110, Vertex, &["void f() { float x; float x; }"]),
    ("redefined-builtin", Es100, Vertex, &["float sin(float x) { return x; }"]),
    ("redefined-function", Glsl110, Vertex, &["float f() { return 1.0; } float f() { return 2.0; }"]),
    ("reserved-macro-name", Glsl110, Vertex, &["#define GL_MINE 1\n"]),
    ("reserved-name", Glsl110, Vertex, &["float gl_mine;"]),
    ("reserved-operator", Glsl110, Vertex, &["int f(int n) { return n % 2; }"]),
    ("reserved-word", Glsl110, Vertex, &["double d;"]),
    ("sampler-misuse", Glsl110, Vertex, &["void f() { sampler2D s; }"]),
    ("struct-in-header", Glsl110, Vertex, &["struct S { float x; } f();"]),
    ("syntax-error", Glsl110, Vertex, &["float x = ;"]),
    ("too-many-registers", Glsl110, Vertex, &["float a[30000]; float b[30000]; float c[30000];"]),
    ("type-mismatch", Glsl110, Vertex, &["void f() { float x = 1; }"]),
    ("undeclared-function", Glsl110, Vertex, &["float f() { return sine(1.0); }"]),
    ("undeclared-name", Glsl110, Vertex, &["void f() { gl_Positoin = vec4(1.0); }"]),
    ("undeclared-type", Glsl110, Vertex, &["struct Light { vec4 color; }; Ligth l;"]),
    ("undefined-function", Glsl110, Vertex, &["void g(); void main() { g(); }"]),
    ("undefined-macro", Glsl110, Vertex, &["#if SHADOWS\n#endif\n"]),
    ("uninitialized-const", Glsl110, Vertex, &["const float c;"]),
    ("unknown-directive", Glsl110, Vertex, &["#defnie A 1\n"]),
    ("unknown-extension", Glsl110, Vertex, &["#extension GL_ARB_draw_bufers : require\n"]),
    ("unknown-pragma", Glsl110, Vertex, &["#pragma optimise(on)\n"]),
    ("unmatched-conditional", Glsl110, Vertex, &["#endif\n"]),
    ("unsized-array", Glsl110, Vertex, &["float a[]; float f(int n) { return a[n]; }"]),
    ("unsupported-version", Glsl110, Vertex, &["#version 330\n"]),
    ("unterminated-comment", Glsl110, Vertex, &["/* open"]),
    ("unterminated-conditional", Glsl110, Vertex, &["#if 1\n"]),
    ("unterminated-macro-call", Glsl110, Vertex, &["#define F(a) a\nfloat x = F(1.0"]),
    ("version-mismatch", Glsl110, Vertex, &["#version 110\nfloat f();", "#version 100\nfloat g();"]),
    ("void-variable", Glsl110, Vertex, &["void v;"]),
];

/// With the bounds of [`SMALL`].
const BOUNDED: &[Case] = &[
    ("conditional-too-deep", Glsl110, Vertex, &["#if 1\n#if 1\n#if 1\n#endif\n#endif\n#endif\n"]),
    ("expression-too-deep", Glsl110, Vertex, &["float f(float a) { return a+a+a+a+a+a+a+a+a+a+a; }"]),
    ("identifier-too-long", Glsl110, Vertex, &["float abcdefghijklmnop;"]),
    ("include-too-deep", Glsl110, Vertex, &["#include \"again\"\n"]),
    ("macro-expansion-too-large", Glsl110, Vertex, &["#define A 1+1+1+1+1+1+1\n#define B A+A+A+A\nint x = B;"]),
    (
        "macro-nesting-too-deep",
        Glsl110,
        Vertex,
        &["#define A 1\n#define B A\n#define C B\n#define D C\n#define E D\n#define F E\nint x = F;"],
    ),
    ("nesting-too-deep", Es100, Vertex, &["float f() { return ((((((((((1.0)))))))))); }"]),
    ("source-too-large", Glsl110, Vertex, &[LONG]),
    ("too-many-constants", Glsl110, Vertex, &["const vec4 a = vec4(1.0), b = vec4(2.0);"]),
    ("too-many-errors", Glsl110, Vertex, &["void f() { a = 1; b = 1; c = 1; d = 1; }"]),
    ("too-many-macro-parameters", Glsl110, Vertex, &["#define F(a, b, c, d) a\n"]),
    ("too-many-overloads", Glsl110, Vertex, &["void f(int a); void f(float a); void f(bool a);"]),
    ("too-many-parameters", Glsl110, Vertex, &["void f(int a, int b, int c, int d);"]),
    ("too-many-tokens", Glsl110, Vertex, &[MANY]),
];

const LONG: &str = "// ....................................................................................................\n\
                    // ....................................................................................................\n\
                    // ....................................................................................................\n\
                    // ....................................................................................................\n";
const MANY: &str = ";;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;";

/// Codes whose example is too large or too slow to print, with the test that has it.
const ELSEWHERE: &[(&str, &str)] = &[("program-too-large", "lower_bounds.rs"), ("type-too-deep", "lower_bounds.rs")];

const INCLUDE: IncludeResolver<'static> = &|name, _| match name {
    "again" => Ok(Included { name: "again".into(), text: "#include \"again\"\n".into() }),
    _ => Err("there is no such text".into()),
};

/// The findings of a case, and its text form.
fn findings(case: &Case, limits: Limits) -> (Vec<Diagnostic>, String) {
    let (code, version, stage, texts) = *case;
    let arena = Bump::new();
    let mut sources = SourceMap::new();
    let files: Vec<_> = texts.iter().map(|text| sources.add("test", *text)).collect();
    let include = code.contains("include").then_some(INCLUDE);
    let options = Options { default_version: version, limits, include, ..Options::default() };
    let list = match frontend::compile_units(&arena, &mut sources, &files, stage, &options) {
        Ok(compiled) => compiled.warnings,
        Err(list) => list,
    };
    let mut out = format!("--- {} {stage}: {}\n", version.number(), texts.join("\n&\n").trim_end());
    for diagnostic in list.iter().filter(|d| d.code == code).take(1) {
        let (line, column) = sources.line_col(diagnostic.span());
        let _ = writeln!(out, "{line}:{column}: {diagnostic}");
        for label in &diagnostic.labels[1..] {
            let (line, column) = sources.line_col(label.span);
            let _ = writeln!(out, "  {line}:{column}: {}", label.text);
        }
        diagnostic.notes.iter().for_each(|note| {
            let _ = writeln!(out, "  note: {note}");
        });
    }
    (list, out)
}

/// The language's name at the start of a section note.
fn language(version: Version) -> &'static str {
    match version {
        Glsl110 => "GLSL 1.10 ",
        Glsl120 => "GLSL 1.20 ",
        Es100 => "GLSL ES 1.00 ",
    }
}

#[test]
fn every_code_has_an_example_that_cites_its_rule() {
    let mut golden = String::new();
    let mut shown = BTreeSet::new();
    let cases = CASES.iter().map(|c| (c, Limits::default())).chain(BOUNDED.iter().map(|c| (c, SMALL)));
    let mut faults = String::new();
    for (case, limits) in cases {
        let (list, text) = findings(case, limits);
        let Some(found) = list.iter().find(|d| d.code == case.0) else {
            let codes: Vec<_> = list.iter().map(|d| d.code).collect();
            let _ = writeln!(faults, "no {}, but {codes:?} in\n{text}", case.0);
            continue;
        };
        let row = codes::find(case.0).unwrap_or_else(|| panic!("`{}` has no row", case.0));
        let severity = if row.level == Level::Warning { Severity::Warning } else { Severity::Error };
        assert!(row.level == Level::Either || found.severity == severity, "{text}");
        let cites = |note: &String| match row.rule {
            Rule::Spec(_) => note.starts_with(language(case.1)) && note.contains(" section "),
            Rule::Bound(name) => note.contains(&format!("`{name}`")),
            Rule::Ours(why) => note == why,
        };
        if found.notes.iter().filter(|n| cites(n)).count() != 1 {
            let _ = writeln!(faults, "the rule is not cited once in\n{text}");
        }
        shown.insert(case.0);
        golden.push_str(&text);
    }
    assert!(faults.is_empty(), "{faults}");
    let missing: Vec<_> = CODES
        .iter()
        .map(|c| c.name)
        .filter(|name| !shown.contains(name) && !ELSEWHERE.iter().any(|e| e.0 == *name))
        .collect();
    assert!(missing.is_empty(), "no example for {missing:?}");
    expect_file!["filetests/every_code.txt"].assert_eq(&golden);
}

/// The same rule in the three languages, each cited in its own.
#[test]
fn the_note_is_of_the_language_of_the_text() {
    let notes: Vec<String> = [Glsl110, Glsl120, Es100]
        .into_iter()
        .map(|version| {
            let case: Case = ("initializer-not-constant", version, Vertex, &["uniform float u; const float c = u;"]);
            findings(&case, Limits::default()).0[0].notes.join("; ")
        })
        .collect();
    assert_eq!(notes, ["GLSL 1.10 section 4.3.3", "GLSL 1.20 section 4.3.3", "GLSL ES 1.00 section 5.10"]);
}

#[test]
fn the_table_is_sorted_and_complete() {
    assert!(CODES.windows(2).all(|w| w[0].name < w[1].name));
    let mut used = BTreeSet::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut used);
    let known: BTreeSet<String> = CODES.iter().map(|c| c.name.to_string()).collect();
    let lacking: Vec<_> = used.difference(&known).collect();
    assert!(lacking.is_empty(), "codes without a row: {lacking:?}");
    let unused: Vec<_> = known.difference(&used).collect();
    assert!(unused.is_empty(), "rows that nothing raises: {unused:?}");
}

/// Codes in the source texts: the first argument of what makes a finding.
fn collect(folder: &Path, used: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, used);
            continue;
        }
        if path.ends_with("codes.rs") || path.ends_with("dump.rs") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for maker in ["error(", "warning(", "fatal(", "stop(", "too_much("] {
            for (at, _) in text.match_indices(maker) {
                let of_bound = text[..at].ends_with("limits.") || maker == "too_much(";
                let rest = text[at + maker.len()..].trim_start();
                let Some((code, _)) = rest.strip_prefix('"').and_then(|r| r.split_once('"')) else { continue };
                let is_code = code.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
                if is_code && of_bound {
                    let mut bounds = Limits::TABLE.iter().chain(ir::limits::Limits::TABLE);
                    used.insert(bounds.find(|b| b.name == code).unwrap().code.to_string());
                } else if is_code {
                    used.insert(code.to_string());
                }
            }
        }
    }
}
