//! Several texts for one stage, as OpenGL links them.

mod common;

use bumpalo::Bump;
use common::{output, run_program};
use frontend::{Compiled, Options};
use ir::diag::{Diagnostic, SourceMap};
use ir::types::Stage;

fn units(texts: &[&str]) -> Result<Compiled, Vec<Diagnostic>> {
    let arena = Bump::new();
    let mut sources = SourceMap::new();
    let files: Vec<_> = texts.iter().map(|t| sources.add("test", *t)).collect();
    let compiled = frontend::compile_units(&arena, &mut sources, &files, Stage::Fragment, &Options::default())?;
    let broken = ir::tac::verify::verify(&compiled.program);
    assert!(broken.is_empty(), "{}", broken[0]);
    Ok(compiled)
}

#[track_caller]
fn fails(texts: &[&str], code: &str) {
    let found = units(texts).unwrap_err();
    assert!(found.iter().any(|d| d.code == code), "{found:?}");
}

#[test]
fn functions_variables_and_structs_are_shared() {
    let main = "struct S { float x; vec2 y; }; float g = 1.0; uniform float u; varying float v[];\n\
        S make(float a); void change(inout S s);\n\
        void main() { S s = make(u); change(s); gl_FragColor = vec4(s.x, s.y, g + v[1]); }";
    let other = "struct S { float x; vec2 y; }; uniform float u; float g; varying float v[4];\n\
        float helper(float x) { return x * 10.0; }\n\
        S make(float a) { return S(helper(a), vec2(u)); }";
    let third = "struct S { float x; vec2 y; }; float g; float helper(float x);\n\
        void change(inout S s) { g += 2.0; s.y.x = helper(s.x); }";
    let compiled = units(&[main, other, third]).unwrap_or_else(|e| panic!("{e:?}"));
    let program = &compiled.program;
    let outputs = run_program(program, &[("u", 0, [0.5; 4]), ("v", 1, [7.0; 4])]);
    assert_eq!(output(program, &outputs, "gl_FragColor", 0), [5.0, 50.0, 0.5, 10.0]);
    assert!(program.vars.values().any(|v| v.name == "v" && v.elems == 4));
    // The order of the texts does not matter.
    assert!(units(&[third, other, main]).is_ok());
}

#[test]
fn names_of_one_text_are_unknown_in_another() {
    fails(&["void main() { f(); }", "void f() { }"], "undeclared-function");
    fails(&["void main() { gl_FragColor = vec4(g); }", "float g;"], "undeclared-name");
}

#[test]
fn what_does_not_match_is_an_error() {
    fails(&["uniform float u; void main() { }", "uniform vec2 u;"], "link-mismatch");
    fails(&["uniform float u; void main() { }", "varying float u;"], "link-mismatch");
    fails(&["float g = 1.0; void main() { }", "float g = 2.0;"], "link-mismatch");
    fails(&["float g; void main() { }", "float g = 1.0;", "float g = 2.0;"], "link-mismatch");
    let unequal = "uniform float u; float g = u;";
    fails(&[&format!("{unequal} void main() {{ }}"), unequal], "link-mismatch");
    fails(&["const float c = 1.0; void main() { }", "const float c = 2.0;"], "link-mismatch");
    assert!(
        units(&["const float c = 1.0; float g = 2.0; void main() { }", "const float c = 1.0; float g = 2.0;"]).is_ok()
    );
    fails(&["float f(); void main() { }", "int f() { return 1; }"], "mismatched-prototype");
    fails(&["void f() { } void main() { }", "void f() { }"], "redefined-function");
    fails(&["void f(); void main() { f(); }", "void g() { }"], "undefined-function");
    fails(&["void f(); void main() { f(); }", "void main(); void f() { main(); }"], "recursion");
    fails(&["void f() { }", "void g() { }"], "missing-main");
    fails(&["void main() { }", "#version 100\nprecision mediump float; float x;"], "version-mismatch");
}

#[test]
fn constants_of_several_texts_are_one() {
    let compiled = units(&[
        "const float c = 1.0; float f(); void main() { gl_FragColor = vec4(c, f(), 0.0, 0.0); }",
        "const float c = 1.0; float f() { return c * 2.0; }",
    ])
    .unwrap();
    let outputs = run_program(&compiled.program, &[]);
    assert_eq!(output(&compiled.program, &outputs, "gl_FragColor", 0), [1.0, 2.0, 0.0, 0.0]);
}

/// GLSL 1.20 section 3.3: texts of 1.10 and 1.20 may be linked; each keeps its own rules.
#[test]
fn desktop_versions_may_be_mixed() {
    let old = "float f(float x); void main() { gl_FragColor = vec4(f(2.0)); }";
    let new = "#version 120\nfloat f(float x) { float y = 3; return x * y; }";
    for texts in [[old, new], [new, old]] {
        let compiled = units(&texts).unwrap_or_else(|e| panic!("{e:?}"));
        assert_eq!(compiled.program.version, 120);
        let outputs = run_program(&compiled.program, &[]);
        assert_eq!(output(&compiled.program, &outputs, "gl_FragColor", 0), [6.0; 4]);
    }
    fails(&[new, "float y = 3; float f(float x); void main() { f(1.0); }"], "type-mismatch");
}
