//! Texts that ask for too much end with an error that names the bound, in little time; random ones
//! end with a legal program or an error.

mod common;

use common::compile;
use frontend::ast::Version::{self, Es100, Glsl110, Glsl120};
use ir::types::Stage::{self, Fragment, Vertex};
use std::time::{Duration, Instant};

/// Far more than any of them needs, for a busy machine; without the bounds they would take hours.
const LONG: Duration = Duration::from_secs(60);

#[track_caller]
fn fails(version: Version, stage: Stage, text: &str, code: &str) {
    let start = Instant::now();
    match compile(version, stage, text) {
        Ok(compiled) => panic!("{} instructions", compiled.program.funcs.values().map(|f| f.body.len()).sum::<usize>()),
        Err(found) => assert!(found.iter().any(|d| d.code == code), "{:?}", found.first()),
    }
    assert!(start.elapsed() < LONG, "{:?}", start.elapsed());
}

#[test]
fn bounds_have_errors() {
    fails(Glsl110, Vertex, "float a[2147483647]; void main() { }", "array-too-large");
    fails(Glsl110, Vertex, "struct S { mat4 m[9000]; }; S s[2]; void main() { }", "array-too-large");
    fails(Glsl110, Vertex, "void main() { float a[60000]; { float b[60000]; } }", "too-many-registers");
    fails(Glsl110, Vertex, "float a[]; void main() { a[2000000000] = 1.0; }", "array-too-large");
    // Copies of a large array.
    let copies = format!(
        "#version 120\nfloat a[30000]; float f(float x[30000]) {{ return x[0]; }} void main() {{ float s = 0.0; {} }}",
        "s += f(a); ".repeat(2000)
    );
    fails(Glsl120, Vertex, &copies, "program-too-large");
    // `continue` repeats the step of each loop; nested in itself by statements it doubles nothing, but many do.
    let nested = format!(
        "void main() {{ for (int i = 0; i < 3; {}) {{ {} }} }}",
        "i++, ".repeat(200) + "i++",
        "if (i == 1) continue; ".repeat(9000)
    );
    fails(Glsl110, Vertex, &nested, "program-too-large");
    // A struct type that doubles its size at each level.
    let mut doubling = String::from("struct S0 { mat4 m; };\n");
    for i in 1..64 {
        doubling += &format!("struct S{i} {{ S{} a, b; }};\n", i - 1);
    }
    fails(Glsl110, Vertex, &(doubling + "uniform S63 s; void main() { }"), "array-too-large");
    let mut deep = String::from("struct S0 { float x; };\n");
    for i in 1..100 {
        deep += &format!("struct S{i} {{ S{} a; }};\n", i - 1);
    }
    fails(Glsl110, Vertex, &(deep + "void main() { }"), "type-too-deep");
}

#[test]
fn sampler_functions_do_not_explode() {
    // Each level calls the next twice with indices of its own.
    let mut text = String::from(
        "uniform sampler2D s[4]; uniform int n; vec4 f0(sampler2D t) { return texture2D(t, vec2(0.0)); }\n",
    );
    for i in 1..24 {
        text += &format!(
            "vec4 f{i}(sampler2D t[4]) {{ return f{0}({1}) + f{0}({1}); }}\n",
            i - 1,
            if i == 1 { "t[n]" } else { "t" }
        );
    }
    let start = Instant::now();
    let result = compile(Glsl110, Fragment, &(text + "void main() { gl_FragColor = f23(s); }"));
    assert!(result.is_ok() && start.elapsed() < LONG);
}

/// Work that grows with the square of these counts would take minutes.
#[test]
fn many_of_a_kind_take_linear_time() {
    let start = Instant::now();
    let compiles = |version, text: &str| match compile(version, Fragment, text) {
        Ok(_) => assert!(start.elapsed() < LONG, "{:?}", start.elapsed()),
        Err(found) => panic!("{:?}", found.first()),
    };
    let list = |n: usize, item: &dyn Fn(usize) -> String| (0..n).map(item).collect::<String>();
    let fields = list(20_000, &|i| format!("float f{i};"));
    compiles(
        Glsl110,
        &format!("struct S {{ {fields} }}; uniform S u; void main() {{ S s = u; gl_FragColor = vec4(s.f9); }}"),
    );
    let values = list(20_000, &|_| ", 1.0".to_string());
    compiles(
        Glsl120,
        &format!(
            "struct S {{ {fields} }}; uniform S u = S({}); void main() {{ gl_FragColor = vec4(u.f9); }}",
            &values[1..]
        ),
    );
    let functions = list(50_000, &|i| format!("float f{i}() {{ return 1.0; }}"));
    let calls = list(50_000, &|i| format!("f{i}();"));
    compiles(Glsl110, &format!("{functions} void main() {{ {calls} }}"));
    let calls = list(30_000, &|i| format!("f(s[{i}]);"));
    compiles(Glsl110, &format!("uniform sampler2D s[30000]; void f(sampler2D t) {{ }} void main() {{ {calls} }}"));
}

#[test]
fn deep_texts_fit_the_stack() {
    let run = || {
        let sum = "1.0 + ".repeat(400) + "x";
        compile(Glsl110, Vertex, &format!("void main() {{ float x = 0.0; x = {sum}; }}")).unwrap();
        let parens = "-(".repeat(100) + "x" + &")".repeat(100);
        compile(Glsl110, Vertex, &format!("void main() {{ float x = 0.0; x = {parens}; }}")).unwrap();
        let ifs = "if (x > 0.0) { ".repeat(100) + "x = 1.0;" + &" }".repeat(100);
        compile(Glsl110, Vertex, &format!("void main() {{ float x = 0.0; {ifs} }}")).unwrap();
        let calls = "f(".repeat(200) + "x" + &")".repeat(200);
        compile(
            Glsl110,
            Vertex,
            &format!("float f(float x) {{ return x; }} void main() {{ float x = {calls}; }}")
                .replace("x = f", "y = 0.0, x = 0.0; y = f"),
        )
        .unwrap();
        let chain: String = (1..3000).map(|i| format!("float f{i}() {{ return f{}(); }}\n", i - 1)).collect();
        compile(
            Glsl110,
            Vertex,
            &format!("float f0() {{ return 1.0; }}\n{chain} void main() {{ gl_Position = vec4(f2999()); }}"),
        )
        .unwrap();
    };
    // The stack of a plain thread.
    std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().unwrap();
}

#[test]
fn a_megabyte_on_one_line_takes_little_time() {
    let body = "x = x * 1.5 + sin(x);".repeat(45_000);
    let start = Instant::now();
    let result = compile(Glsl110, Vertex, &format!("void main() {{ float x = 1.0; {body} gl_Position = vec4(x); }}"));
    assert!(result.is_ok(), "{:?}", result.err());
    assert!(start.elapsed() < LONG, "{:?}", start.elapsed());
}

/// A text made wrong by chance, for one second.
#[test]
fn random_changes_never_break_the_compiler() {
    let seeds = [
        "struct S { vec3 v; float w[3]; }; uniform S u[2]; uniform sampler2D s; varying vec2 t; const int n = 3; float f(inout vec2 a, out float b) { b = a.x++; a *= 2.0; return b; } void main() { vec4 c = texture2D(s, t); for (int i = 0; i < n; i++) { if (c[i] > 0.5) continue; c.xy += u[i].v.zx * u[1].w[i]; } float q; c.w = f(c.xy, q); mat3 m = mat3(c.x); m[1][2] = q; gl_FragColor = c * dot(m * c.xyz, vec3(1.0)); discard; }",
        "#version 120\nattribute vec4 p; uniform mat4x3 m = mat4x3(1); float[2] g(int i) { return float[2](i, 2); } invariant varying vec3 o; void main() { float a[2] = g(3); a[1]++; o = m * p; bool b = a == g(1) && o.x > 1 || any(lessThan(o, vec3(2))); gl_Position = b ? p : p.wzyx + a.length(); do { o--; if (o.x < 0.) break; } while (true); }",
    ];
    let words = [
        "int", "vec3", "mat2", "(", ")", "[", "]", "{", "}", ";", "1", "2.5", ".x", "+", "=", "++", "?", ":", ",",
        "const", "uniform", "out", "a", "c", "void", "return",
    ];
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % n as u64) as usize
    };
    let start = Instant::now();
    let mut runs = 0;
    while start.elapsed() < Duration::from_secs(1) || runs < 200 {
        let seed = seeds[next(seeds.len())];
        let mut parts: Vec<&str> = seed.split_inclusive(|c: char| !c.is_alphanumeric()).collect();
        for _ in 0..1 + next(3) {
            let at = next(parts.len());
            match next(3) {
                0 => parts[at] = parts[next(parts.len())],
                1 => parts.insert(at, words[next(words.len())]),
                _ => parts[at] = words[next(words.len())],
            }
        }
        let version = [Glsl110, Glsl120, Es100][next(3)];
        let stage = [Vertex, Fragment][next(2)];
        let _ = compile(version, stage, &parts.concat());
        runs += 1;
    }
}
