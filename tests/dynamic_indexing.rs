//! Indices that are known only when the shader runs, for everything that has elements: each storage
//! read, written, changed and passed to a function, with each form of index, under each pipeline. The machine
//! code must compute what the three-address code says.

mod common;

use common::{assert_runs, build, options};
use eggshade::backend::mach::Opcode;
use std::fmt::Write;

/// Something with elements.
struct Storage {
    name: &'static str,
    stage: &'static str,
    /// Declarations outside functions, and statements that fill it.
    globals: &'static str,
    fill: &'static str,
    /// The element, `$` for the index.
    elem: &'static str,
    /// The element's type and how many there are.
    ty: &'static str,
    len: u32,
    writable: bool,
    /// Further values that show what was written, added up; elements themselves are always shown.
    shown: &'static str,
}

const fn read(
    name: &'static str,
    stage: &'static str,
    globals: &'static str,
    elem: &'static str,
    ty: &'static str,
    len: u32,
) -> Storage {
    Storage { name, stage, globals, fill: "", elem, ty, len, writable: false, shown: "" }
}

const fn both(
    name: &'static str,
    globals: &'static str,
    fill: &'static str,
    elem: &'static str,
    ty: &'static str,
    len: u32,
) -> Storage {
    Storage { name, stage: "frag", globals, fill, elem, ty, len, writable: true, shown: "" }
}

const fn vertex(
    name: &'static str,
    globals: &'static str,
    fill: &'static str,
    elem: &'static str,
    ty: &'static str,
    len: u32,
) -> Storage {
    Storage { name, stage: "vert", globals, fill, elem, ty, len, writable: true, shown: "" }
}

const STRUCT: &str = "struct S { float x; vec3 y[2]; mat2 m; }; S a[3]; struct T { S s[2]; float f[3]; }; T t;";
const FILL_STRUCT: &str = "for (int n = 0; n < 3; n++) { float f = float(n); a[n].x = f; a[n].y[0] = vec3(f, 2.0, 3.0) * p.x; \
    a[n].y[1] = vec3(4.0, f, p.y); a[n].m = mat2(p.x, f, 5.0, p.z); t.f[n] = f * p.w; } t.s[0] = a[1]; t.s[1] = a[2];";
const FILL_ARRAY: &str = "vec4 a[4]; a[0] = p; a[1] = p.yzwx; a[2] = p * 2.0; a[3] = p + 1.0;";

const STORAGES: &[Storage] = &[
    read("uniform array", "frag", "uniform vec4 a[4];", "a[$]", "vec4", 4),
    read("uniform float array", "vert", "uniform float a[3];", "a[$]", "float", 3),
    read("uniform int array", "frag", "uniform int a[3];", "float(a[$])", "float", 3),
    read("uniform matrix", "vert", "uniform mat4 a;", "a[$]", "vec4", 4),
    read("uniform matrix row", "frag", "uniform mat3 a;", "a[1][$]", "float", 3),
    read("uniform matrix array", "vert", "uniform mat3 a[2];", "a[$]", "mat3", 2),
    read("uniform matrix array column", "vert", "uniform mat3 a[2];", "a[$][below3]", "vec3", 2),
    read("uniform matrix array lane", "frag", "uniform mat2x3 a[2];", "a[$][below2][below3]", "float", 2),
    read("uniform vector", "frag", "uniform vec4 a;", "a[$]", "float", 4),
    read("uniform structs", "frag", "struct L { vec3 c; float k[2]; mat2 m; }; uniform L a[3];", "a[$].c", "vec3", 3),
    read(
        "uniform structs, inner",
        "frag",
        "struct L { vec3 c; float k[2]; mat2 m; }; uniform L a[3];",
        "a[$].k[below2]",
        "float",
        3,
    ),
    read(
        "uniform structs, matrix",
        "vert",
        "struct L { vec3 c; float k[2]; mat2 m; }; uniform L a[3];",
        "a[$].m[below2][below2]",
        "float",
        3,
    ),
    read("state array", "vert", "", "gl_LightSource[$].diffuse", "vec4", 4),
    read("state matrices", "vert", "", "gl_TextureMatrix[$][below4]", "vec4", 4),
    read("attribute matrix", "vert", "attribute mat4 a;", "a[$]", "vec4", 4),
    read("attribute vector", "vert", "attribute vec4 a;", "a[$]", "float", 4),
    read("varying array", "frag", "varying vec3 a[4];", "a[$]", "vec3", 4),
    read("varying matrix", "frag", "varying mat2 a;", "a[$]", "vec2", 2),
    read("texture coordinates", "frag", "varying vec4 gl_TexCoord[3];", "gl_TexCoord[$]", "vec4", 3),
    read("fragment coordinate", "frag", "", "gl_FragCoord[$]", "float", 4),
    read(
        "constant array",
        "frag",
        "const vec3 a[3] = vec3[3](vec3(1.0), vec3(0.5, 2.0, 3.0), vec3(-1.0));",
        "a[$]",
        "vec3",
        3,
    ),
    read("constant vector", "frag", "const vec4 a = vec4(1.0, -2.0, 3.0, 0.5);", "a[$]", "float", 4),
    read("constructed array", "frag", "", "float[3](p.x, p.y, 2.0)[$]", "float", 3),
    read("result of a function", "frag", "vec4 f() { return p * 2.0; }", "f()[$]", "float", 4),
    read("array from a function", "frag", "vec2[2] f() { return vec2[2](p.xy, p.zw); }", "f()[$]", "vec2", 2),
    read("swizzled vector", "frag", "", "p.wzx[$]", "float", 3),
    read("samplers", "frag", "uniform sampler2D a[3];", "texture2D(a[$], p.xy)", "vec4", 3),
    read("samplers with a bias", "frag", "uniform sampler2D a[3];", "texture2D(a[$], p.xy, p.z)", "vec4", 3),
    read("samplers with a level", "vert", "uniform sampler2D a[2];", "texture2DLod(a[$], p.xy, 1.0)", "vec4", 2),
    read(
        "samplers in structs",
        "frag",
        "struct L { sampler2D s; vec2 at; }; uniform L a[2];",
        "texture2D(a[$].s, a[$].at)",
        "vec4",
        2,
    ),
    read(
        "samplers of a parameter",
        "frag",
        "uniform sampler2D a[2]; vec4 f(sampler2D s) { return texture2D(s, p.xy); }",
        "f(a[$])",
        "vec4",
        2,
    ),
    both("local array", "", FILL_ARRAY, "a[$]", "vec4", 4),
    both("local array lane", "", FILL_ARRAY, "a[$][below4]", "float", 4),
    both("local array swizzle", "", FILL_ARRAY, "a[$].zx", "vec2", 4),
    both("local float array", "", "float a[3]; a[0] = p.x; a[1] = p.y; a[2] = 2.0;", "a[$]", "float", 3),
    both("local int array", "", "int a[3]; a[0] = 3; a[1] = below4; a[2] = 1;", "a[$]", "int", 3),
    both("local matrix", "", "mat3 a = mat3(p.xyz, p.yzw, p.zwx);", "a[$]", "vec3", 3),
    both("local matrix lane", "", "mat2 a = mat2(p);", "a[$][below2]", "float", 2),
    both("local matrix array", "", "mat2 a[2]; a[0] = mat2(p); a[1] = mat2(p.wzyx);", "a[$]", "mat2", 2),
    both("local vector", "", "vec4 a = p;", "a[$]", "float", 4),
    both("local swizzle", "", "vec4 a = p;", "a.wyx[$]", "float", 3),
    both("local int vector", "", "ivec3 a = ivec3(1, below4, 2);", "a[$]", "int", 3),
    both("global array", "vec2 a[3];", "a[0] = p.xy; a[1] = p.zw; a[2] = p.xx;", "a[$]", "vec2", 3),
    both("structs", STRUCT, FILL_STRUCT, "a[$].x", "float", 3),
    both("structs, inner array", STRUCT, FILL_STRUCT, "a[$].y[below2]", "vec3", 3),
    both("structs, inner array lane", STRUCT, FILL_STRUCT, "a[$].y[below2][below3]", "float", 3),
    both("structs, matrix", STRUCT, FILL_STRUCT, "a[$].m[below2]", "vec2", 3),
    both("structs in structs", STRUCT, FILL_STRUCT, "t.s[$].y[below2]", "vec3", 2),
    both("array in a struct", STRUCT, FILL_STRUCT, "t.f[$]", "float", 3),
    vertex(
        "written varying array",
        "varying vec3 a[3];",
        "a[0] = p.xyz; a[1] = p.yzw; a[2] = p.zwx;",
        "a[$]",
        "vec3",
        3,
    ),
    vertex("written varying matrix", "varying mat3 a;", "a = mat3(p.xyz, p.yzw, p.zwx);", "a[$]", "vec3", 3),
    vertex("written varying vector", "varying vec4 a;", "a = p;", "a[$]", "float", 4),
    vertex(
        "written texture coordinates",
        "varying vec4 gl_TexCoord[3];",
        "gl_TexCoord[0] = p; gl_TexCoord[1] = p.wzyx; gl_TexCoord[2] = p + p;",
        "gl_TexCoord[$]",
        "vec4",
        3,
    ),
    Storage {
        name: "fragment data",
        stage: "frag",
        globals: "",
        fill: "for (int n = 0; n < gl_MaxDrawBuffers; n++) gl_FragData[n] = p * float(n);",
        elem: "gl_FragData[$]",
        ty: "vec4",
        len: 4,
        writable: true,
        shown: "FRAGDATA",
    },
];

/// Forms of an index below `n`: the text, and the loop around its use.
fn indices(n: u32) -> Vec<(String, String)> {
    vec![
        (format!("below{n}"), String::new()),
        (format!("(below2 + 1) * {} / 2", n - 1), String::new()),
        (format!("int(float(below{n}))"), String::new()),
        ("k".into(), format!("for (int k = 0; k < {n}; k++) ")),
        ("k".into(), format!("for (int k = 0; k <= below{n}; k++) ")),
    ]
}

/// What is done with the element. `E` is the element, `T` its type.
const READS: &[&str] = &["r += E;", "r += twice(E);"];
const WRITES: &[&str] = &["E = T(3);", "E += T(2);", "E++;", "r += E++;", "set(E);", "change(E);", "E = twice(E);"];

fn source(storage: &Storage, action: &str, (index, around): &(String, String)) -> String {
    let ty = storage.ty;
    let elem = storage.elem.replace('$', index);
    let action = action.replace('T', ty).replace('E', &elem);
    let mut text = String::from("#version 120\nuniform int below2, below3, below4; ");
    let p = if storage.stage == "vert" { "attribute" } else { "varying" };
    let _ = writeln!(text, "{p} vec4 p;\n{}", storage.globals);
    let _ = writeln!(text, "{ty} twice({ty} x) {{ return x + x; }}");
    let _ = writeln!(text, "void set(out {ty} x) {{ x = {ty}(7); }}");
    let _ = writeln!(text, "void change(inout {ty} x) {{ x = x * {ty}(2) + {ty}(1); }}");
    let _ = writeln!(text, "void main() {{\n{ty} r = {ty}(0);\n{}\n{around}{{ {action} }}", storage.fill);
    if storage.writable {
        for i in 0..storage.len {
            let _ = writeln!(text, "r = r * {ty}(3) + {};", storage.elem.replace('$', &i.to_string()));
        }
    }
    let lanes = match ty {
        "vec4" => "r",
        "vec3" => "vec4(r, 1.0)",
        "vec2" => "vec4(r, 1.0, 0.0)",
        "mat2" => "vec4(r)",
        "mat3" => "vec4(r[0] + r[1] * 2.0 + r[2] * 3.0, 1.0)",
        _ => "vec4(float(r))",
    };
    let out = match (storage.stage, storage.shown) {
        ("vert", _) => "gl_Position",
        (_, "FRAGDATA") => "gl_FragData[0]",
        _ => "gl_FragColor",
    };
    let _ = writeln!(text, "{out} = {lanes};\n}}");
    text
}

fn check(pipeline: &str) {
    let options = options(pipeline);
    let mut count = 0;
    for storage in STORAGES {
        let writes = if storage.writable { WRITES } else { &[] };
        for action in READS.iter().chain(writes) {
            for index in indices(storage.len) {
                let text = source(storage, action, &index);
                let name = format!("{}.{}", storage.name, storage.stage);
                let run = || assert_runs(&build(&name, &text, &options), &options);
                if std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err() {
                    panic!("{pipeline}, {name}:\n{text}");
                }
                count += 1;
            }
        }
    }
    assert!(count >= 1000, "{count} shaders");
}

#[test]
fn without_optimization() {
    check("none");
}

#[test]
fn by_the_classic_passes() {
    check("paper");
}

#[test]
fn by_the_egraph() {
    check("egraph");
}

/// A loop that is unrolled leaves each sampler's own read and nothing to choose from.
#[test]
fn constant_indices_of_samplers_cost_one_read_each() {
    let text = "uniform sampler2D s[3]; varying vec2 uv; void main() { vec4 c = vec4(0.0); \
        for (int i = 0; i < 3; i++) c += texture2D(s[i], uv); gl_FragColor = c; }";
    for pipeline in ["paper", "egraph"] {
        let built = build("samplers.frag", text, &options(pipeline));
        assert_eq!(built.compiled.statistics.counts.tex, 3, "{}", built.compiled.program);
        assert!(!common::opcodes(&built).contains(&Opcode::Cmp), "{}", built.compiled.program);
    }
}
