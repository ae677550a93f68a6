//! Every error and warning of the checker, with its place, text and notes.

mod common;

use bumpalo::Bump;
use expect_test::expect_file;
use frontend::Options;
use frontend::ast::Version::{self, Es100, Glsl110, Glsl120};
use ir::diag::{Severity, SourceMap};
use ir::types::Stage::{self, Fragment, Vertex};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Language, stage, text. A text without `main` gets one.
const CASES: &[(Version, Stage, &str)] = &[
    (Glsl110, Vertex, "void f() { undefined_name = 1.0; }"),
    (Glsl110, Vertex, "void f() { gl_Positoin = vec4(1.0); }"),
    (Glsl110, Vertex, "void f() { gl_FragColor = vec4(1.0); }"),
    (Glsl110, Vertex, "float f() { return sine(1.0); }"),
    (Glsl110, Vertex, "float f() { return dFdx(1.0); }"),
    (Glsl110, Fragment, "vec4 f(sampler2D s) { return texture2DLod(s, vec2(0.0), 1.0); }"),
    (Glsl110, Vertex, "mat2 f() { return transpose(mat2(1.0)); }"),
    (Glsl110, Vertex, "float f() { float g = 1.0; return g(1.0); }"),
    (Glsl120, Vertex, "float g(float x) { return x; } float f() { float g = 1.0; return g(1.0); }"),
    (Glsl110, Vertex, "float f() { return mix(1.0, 2, true); }"),
    (Glsl120, Vertex, "float g(float a, int b); float g(int a, float b); float f() { return g(1, 1); }"),
    (Glsl110, Vertex, "float f(int n) { return n; }"),
    (Glsl120, Vertex, "float f(int n) { return n; }"),
    (Glsl120, Vertex, "float f(bool n) { return n; }"),
    (Glsl110, Vertex, "float f() { return; }"),
    (Glsl110, Vertex, "void f() { return 1.0; }"),
    (Glsl110, Vertex, "float f(float x) { if (x > 1.0) return x; }"),
    (Glsl110, Vertex, "void f() { float x = 1; }"),
    (Glsl110, Vertex, "void f() { float x = true; }"),
    (Glsl110, Vertex, "void f() { float x; float x; }"),
    (Glsl120, Vertex, "float f; void f() { }"),
    (Glsl110, Vertex, "struct S { float x; }; float S;"),
    (Glsl110, Vertex, "struct S { float x; float x; };"),
    (Glsl110, Vertex, "struct S { float near; }; float f(S s) { return s.neer; }"),
    (Glsl110, Vertex, "float f(vec2 v) { return v.z; }"),
    (Glsl110, Vertex, "vec2 f(vec4 v) { return v.xg; }"),
    (Glsl110, Vertex, "vec4 f(vec4 v) { return v.xyzwx; }"),
    (Glsl110, Vertex, "float f(vec4 v) { return v.q1; }"),
    (Glsl110, Vertex, "float f(float v) { return v.x; }"),
    (Glsl110, Vertex, "void f(vec4 v) { v.xx = vec2(1.0); }"),
    (Glsl110, Vertex, "void f() { 1.0 = 2.0; }"),
    (Glsl110, Vertex, "uniform float u; void f() { u = 2.0; }"),
    (Glsl110, Vertex, "attribute vec4 a; void f() { a.x++; }"),
    (Glsl110, Fragment, "varying vec4 a; void f() { a.x = 1.0; }"),
    (Glsl110, Fragment, "void f() { gl_FragCoord.x = 1.0; }"),
    (Glsl110, Vertex, "void f(const float x) { x = 1.0; }"),
    (Glsl110, Vertex, "const float c = 1.0; void f() { c = 2.0; }"),
    (Glsl110, Vertex, "void g(out float x) { x = 1.0; } void f() { g(1.0); }"),
    (Glsl110, Vertex, "const float c;"),
    (Glsl110, Vertex, "uniform float u; const float c = u;"),
    (Glsl110, Vertex, "const float c = sin(1.0);"),
    (Glsl110, Vertex, "uniform float u = 1.0;"),
    (Glsl120, Vertex, "uniform float v; uniform float u = v;"),
    (Glsl110, Vertex, "attribute vec4 a = vec4(1.0);"),
    (Es100, Vertex, "uniform float u; float g = u;"),
    (Glsl110, Vertex, "attribute int a;"),
    (Glsl110, Vertex, "attribute vec4 a[2];"),
    (Glsl110, Fragment, "attribute vec4 a;"),
    (Glsl110, Vertex, "varying ivec2 v;"),
    (Glsl110, Vertex, "void f() { uniform float u; }"),
    (Glsl110, Vertex, "sampler2D s;"),
    (Glsl110, Vertex, "void f() { sampler2D s; }"),
    (Glsl110, Vertex, "uniform sampler2D s; void f() { s = s; }"),
    (Glsl110, Vertex, "void f(out sampler2D s) { }"),
    (Glsl110, Vertex, "sampler2D f() { }"),
    (Glsl110, Vertex, "void v;"),
    (Glsl110, Vertex, "void f(void x, float y) { }"),
    (Glsl110, Vertex, "float a[0];"),
    (Glsl110, Vertex, "float a[-3];"),
    (Glsl110, Vertex, "float a[2.0];"),
    (Glsl110, Vertex, "uniform int n; float a[n];"),
    (Glsl110, Vertex, "float a[100000];"),
    (Glsl110, Vertex, "float a[30000]; float b[30000]; float c[30000];"),
    (Glsl120, Vertex, "float[2] a[3];"),
    (Glsl110, Vertex, "float[2] a;"),
    (Glsl110, Vertex, "float a[]; float f(int n) { return a[n]; }"),
    (Glsl110, Vertex, "float a[]; float f() { return a[4]; } float a[3];"),
    (Glsl110, Vertex, "float a[3]; float f() { return a[3]; }"),
    (Glsl110, Vertex, "float f(vec3 v) { return v[-1]; }"),
    (Glsl110, Vertex, "float f(mat3 m) { return m[1.0].x; }"),
    (Glsl110, Vertex, "float f(float x) { return x[0]; }"),
    (Glsl110, Vertex, "void f() { gl_TexCoord[8] = vec4(1.0); }"),
    (Glsl110, Vertex, "void f() { float a[2]; float b[2]; a = b; }"),
    (Glsl110, Vertex, "void f() { float a[2] = float[2](1.0, 2.0); }"),
    (Glsl110, Vertex, "mat2x3 m;"),
    (Glsl110, Vertex, "void f(float a[2]) { int n = a.length(); }"),
    (Glsl120, Vertex, "void f(float a[2]) { int n = a.size(); }"),
    (Glsl110, Vertex, "vec3 f() { return vec3(1.0, 2.0); }"),
    (Glsl110, Vertex, "vec2 f() { return vec2(1.0, 2.0, 3.0); }"),
    (Glsl110, Vertex, "vec2 f() { return vec2(); }"),
    (Glsl110, Vertex, "mat3 f(mat2 m) { return mat3(m); }"),
    (Glsl120, Vertex, "mat3 f(mat2 m) { return mat3(m, 1.0, 1.0, 1.0, 1.0, 1.0); }"),
    (Glsl110, Vertex, "struct S { float x; }; void f() { S s = S(1.0, 2.0); }"),
    (Glsl110, Vertex, "struct S { float x; }; void f() { S s = S(vec2(2.0)); }"),
    (Glsl110, Vertex, "struct S { float x; }; vec2 f(S s) { return vec2(s); }"),
    (Glsl110, Vertex, "void f() { sampler2D(1); }"),
    (Glsl110, Vertex, "float f(int n) { return n + 1.0; }"),
    (Glsl120, Vertex, "vec3 f(vec2 v) { return v * vec3(1.0); }"),
    (Glsl110, Vertex, "bool f(vec2 v) { return v < v; }"),
    (Glsl110, Vertex, "bool f(bool b) { return -b; }"),
    (Glsl110, Vertex, "bool f(int b) { return b && true; }"),
    (Glsl110, Vertex, "void f(vec2 v) { v += vec3(1.0); }"),
    (Glsl110, Vertex, "void f(mat2 m, vec2 v) { v = v * mat3(1.0); }"),
    (Glsl110, Vertex, "float f(bool b) { return b ? 1.0 : 2; }"),
    (Glsl110, Vertex, "void f(int n) { if (n) { } }"),
    (Glsl110, Vertex, "void f(int n) { while (n) { } }"),
    (Glsl110, Vertex, "void f() { break; }"),
    (Glsl110, Vertex, "void f() { continue; }"),
    (Glsl110, Vertex, "void f() { discard; }"),
    (Glsl110, Vertex, "float f(float x) { return f(x - 1.0); }"),
    (Glsl110, Vertex, "void g(); void f() { g(); } void g() { f(); }"),
    (Glsl110, Vertex, "void g(); void main() { g(); }"),
    (Glsl110, Vertex, "float f() { return 1.0; } float f() { return 2.0; }"),
    (Glsl110, Vertex, "float f(); int f();"),
    (Glsl110, Vertex, "void f(out float x); void f(float x) { }"),
    (Glsl110, Vertex, "void f(const inout float x) { }"),
    (Glsl120, Vertex, "void f() { float g(); }"),
    (Glsl110, Vertex, "int main() { return 1; }"),
    (Glsl110, Vertex, "void main(int x) { }"),
    (Glsl110, Vertex, "float gl_mine;"),
    (Glsl110, Vertex, "float my__name;"),
    (Glsl110, Vertex, "uniform vec4 gl_Position;"),
    (Glsl120, Vertex, "uniform float u; invariant u;"),
    (Glsl120, Vertex, "void f() { invariant gl_Position; }"),
    (Glsl120, Vertex, "centroid uniform float u;"),
    (Es100, Fragment, "varying vec2 v;"),
    (Es100, Vertex, "float sin(float x) { return x; }"),
    (Es100, Vertex, "float a[];"),
    (Es100, Vertex, "struct S { struct T { float x; } t; };"),
    (Es100, Vertex, "lowp bool b;"),
    (Es100, Vertex, "precision mediump vec2;"),
    (Es100, Vertex, "float f(); float f();"),
    (Es100, Vertex, "highp float f(); mediump float f() { return 1.0; }"),
    (Glsl110, Fragment, "void f() { gl_FragColor = vec4(1.0); gl_FragData[0] = vec4(1.0); }"),
    (Glsl110, Fragment, "float x;"),
    (Glsl110, Vertex, "float f(float a[]) { return a[0]; }"),
    (Glsl110, Vertex, "void f(inout float a[2]) { }"),
    (Glsl110, Vertex, "const float a[2];"),
    (Glsl110, Vertex, "float;"),
];

/// The findings as text, and their codes.
fn findings(version: Version, stage: Stage, text: &str, codes: &mut BTreeSet<&'static str>) -> String {
    let no_main = text == "float x;";
    let text = if text.contains("main") || no_main { text.to_string() } else { format!("{text} void main() {{ }}") };
    let arena = Bump::new();
    let mut sources = SourceMap::new();
    let file = sources.add("test", text);
    let options = Options { default_version: version, ..Options::default() };
    let analyzed = frontend::analyze(&arena, &mut sources, file, stage, &options);
    let errors = analyzed.diagnostics.iter().any(|d| d.severity == Severity::Error);
    assert_eq!(analyzed.shader.is_none(), errors);
    let mut out = String::new();
    for diagnostic in &analyzed.diagnostics {
        codes.insert(diagnostic.code);
        let span = diagnostic.span();
        let at = &sources.file(span.file).text[span.lo as usize..span.hi as usize];
        let _ = writeln!(out, "  {diagnostic}\n    at `{at}`");
        for label in &diagnostic.labels[1..] {
            let at = &sources.file(span.file).text[label.span.lo as usize..label.span.hi as usize];
            let _ = writeln!(out, "    {}: `{at}`", label.text);
        }
        for note in &diagnostic.notes {
            let _ = writeln!(out, "    note: {note}");
        }
    }
    out
}

#[test]
fn every_finding_is_as_written() {
    let mut codes = BTreeSet::new();
    let mut out = String::new();
    for &(version, stage, text) in CASES {
        let found = findings(version, stage, text, &mut codes);
        assert!(!found.is_empty(), "nothing is wrong with: {text}");
        let _ = writeln!(out, "{} {stage}: {text}\n{found}", version.number());
    }
    assert!(codes.len() >= 50, "{} codes", codes.len());
    expect_file!["filetests/check_errors.txt"].assert_eq(&out);
}

#[test]
fn several_errors_in_one_run_up_to_the_bound() {
    let mut codes = BTreeSet::new();
    let found =
        findings(Glsl110, Vertex, "void f() { x = 1.0; float y = 1; z(); } float g(int n) { return n.x; }", &mut codes);
    assert_eq!(codes.len(), 4, "{found}");
    let many = format!("void f() {{ {} }}", "x = 1.0; ".repeat(100));
    let found = findings(Glsl110, Vertex, &many, &mut codes);
    assert_eq!(found.matches("error[").count(), 21, "{found}");
    assert!(codes.contains("too-many-errors"));
}

#[test]
fn one_mistake_gives_one_message() {
    let mut codes = BTreeSet::new();
    let text = "float f(vec4 v) { float x = nope + 1.0; x += nope2.x * 3.0; return x * v.x + sin(nope3)[1]; }";
    let found = findings(Glsl110, Vertex, text, &mut codes);
    assert_eq!(found.matches("error[").count(), 3, "{found}");
}

#[test]
fn legal_texts_pass_without_a_finding() {
    let legal = [
        (Glsl110, Fragment, "float f(float a[2]) { return a[0]; }"),
        (Glsl110, Vertex, "varying vec4 gl_TexCoord[3]; void f() { gl_TexCoord[2] = gl_Color; }"),
        (Glsl110, Vertex, "float a[]; float a[4]; float f(int n) { return a[n]; }"),
        (Glsl110, Vertex, "float f; float f() { return 1.0; } float g() { return f + f(); }"),
        (Glsl110, Vertex, "void f() { gl_LightSourceParameters l = gl_LightSource[0]; gl_Position = l.position; }"),
        (Glsl120, Vertex, "invariant gl_Position; invariant varying vec3 v; centroid varying vec2 w;"),
        (Glsl120, Vertex, "float f(int n) { float x = n; x += n; x = n * 2; vec2 v = ivec2(n); return n * 0.5 + x; }"),
        (Glsl120, Vertex, "struct S { float a[2]; }; bool f(S s, S t) { return s == t; }"),
        (
            Es100,
            Fragment,
            "precision mediump float; varying vec2 v; invariant varying vec3 w; void f() { lowp vec4 x = vec4(v, w); }",
        ),
        (Es100, Fragment, "precision mediump float; float f(); mediump float f() { return 1.0; }"),
        (Es100, Fragment, "varying mediump vec2 v; void f() { highp float x = v.x; int n = 3; }"),
        (Es100, Vertex, "void f(int x) { { int x = 3; } for (int i = 0; i < 3; i++) { int i = 4; } }"),
    ];
    for (version, stage, text) in legal {
        assert_eq!(findings(version, stage, text, &mut BTreeSet::new()), "", "{text}");
    }
}
