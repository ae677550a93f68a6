//! Every built-in function, run and compared with the same function in double precision.

mod common;

use common::{output, program, run_program};
use frontend::ast::Version::{Es100, Glsl110, Glsl120};
use ir::types::Stage;

/// `f` of the globals `x`, `y`, `z` (vec4) for each row.
#[track_caller]
fn check(call: &str, rows: &[[[f64; 4]; 3]], tolerance: f64, reference: impl Fn(&[[f64; 4]; 3]) -> [f64; 4]) {
    let text = format!("uniform vec4 x, y, z; void main() {{ gl_FragColor = vec4({call}); }}");
    let program = program(Glsl120, Stage::Fragment, &text);
    for row in rows {
        let single = |v: [f64; 4]| v.map(|c| c as f32);
        let values = [("x", 0, single(row[0])), ("y", 0, single(row[1])), ("z", 0, single(row[2]))];
        let outputs = run_program(&program, &values);
        let got = output(&program, &outputs, "gl_FragColor", 0);
        // The reference sees what the shader sees.
        let seen = row.map(|v| v.map(|c| f64::from(c as f32)));
        let expected = reference(&seen);
        for (g, e) in got.iter().zip(expected) {
            let error = (f64::from(*g) - e).abs();
            assert!(error <= tolerance * e.abs().max(1.0), "{call} of {row:?}: {got:?}, expected {expected:?}");
        }
    }
}

/// A lane-wise function of one argument on a range.
#[track_caller]
fn unary(name: &str, low: f64, high: f64, tolerance: f64, f: impl Fn(f64) -> f64) {
    let at = |i: usize| low + (high - low) * i as f64 / 399.0;
    let rows: Vec<[[f64; 4]; 3]> =
        (0..100).map(|i| [[at(4 * i), at(4 * i + 1), at(4 * i + 2), at(4 * i + 3)], [0.0; 4], [0.0; 4]]).collect();
    check(&format!("{name}(x)"), &rows, tolerance, |r| r[0].map(&f));
    // The other widths give the same.
    check(&format!("{name}(x.x), {name}(x.yz), {name}(x.www).x"), &rows, tolerance, |r| r[0].map(&f));
}

#[test]
fn angles() {
    unary("radians", -400.0, 400.0, 1e-6, f64::to_radians);
    unary("degrees", -7.0, 7.0, 1e-6, f64::to_degrees);
    unary("sin", -7.0, 7.0, 1e-6, f64::sin);
    unary("cos", -7.0, 7.0, 1e-6, f64::cos);
    unary("tan", -1.4, 1.4, 2e-6, f64::tan);
    unary("asin", -1.0, 1.0, 2e-6, f64::asin);
    unary("acos", -1.0, 1.0, 2e-6, f64::acos);
    unary("atan", -30.0, 30.0, 4e-6, f64::atan);
}

#[test]
fn the_angle_of_a_point_in_all_quadrants() {
    let rows: Vec<[[f64; 4]; 3]> = (0..360)
        .map(|d| {
            let (s, c) = f64::from(d).to_radians().sin_cos();
            let r = 0.01 + f64::from(d) * 3.0;
            [[s * r, s, s * 1e-3, s * 1e6], [c * r, c, c * 1e-3, c * 1e6], [0.0; 4]]
        })
        .collect();
    // At the cut both ends are right.
    let close = |r: &[[f64; 4]; 3]| [0, 1, 2, 3].map(|i| f64::from((r[0][i] as f32).atan2(r[1][i] as f32)).cos());
    check("cos(atan(x, y))", &rows, 1e-5, close);
    let sine = |r: &[[f64; 4]; 3]| [0, 1, 2, 3].map(|i| r[0][i].atan2(r[1][i]).sin());
    check("sin(atan(x, y))", &rows, 1e-5, sine);
    check("atan(x, y)", &rows[1..179], 5e-6, |r| [0, 1, 2, 3].map(|i| r[0][i].atan2(r[1][i])));
    check("atan(x.x, y.x)", &[[[0.0; 4]; 3]], 0.0, |_| [0.0; 4]);
    check("atan(x.x, y.x)", &[[[1.0; 4], [0.0; 4], [0.0; 4]]], 2e-6, |_| [std::f64::consts::FRAC_PI_2; 4]);
}

#[test]
fn exponentials() {
    unary("exp", -10.0, 10.0, 1e-5, f64::exp);
    unary("log", 0.01, 100.0, 1e-6, f64::ln);
    unary("exp2", -10.0, 10.0, 1e-6, f64::exp2);
    unary("log2", 0.01, 100.0, 1e-6, f64::log2);
    unary("sqrt", 0.0, 100.0, 1e-6, f64::sqrt);
    unary("inversesqrt", 0.01, 100.0, 1e-6, |v| 1.0 / v.sqrt());
    let rows = [[[2.0, 0.5, 3.0, 9.0], [3.0, -2.0, 0.0, 0.5], [0.0; 4]]];
    check("pow(x, y)", &rows, 1e-6, |r| [0, 1, 2, 3].map(|i| r[0][i].powf(r[1][i])));
}

#[test]
fn common_functions() {
    unary("abs", -3.0, 3.0, 0.0, f64::abs);
    unary("sign", -3.0, 3.0, 0.0, |v| {
        if v > 0.0 {
            1.0
        } else if v < 0.0 {
            -1.0
        } else {
            0.0
        }
    });
    unary("floor", -3.3, 3.3, 0.0, f64::floor);
    unary("ceil", -3.3, 3.3, 0.0, f64::ceil);
    unary("fract", -3.3, 3.3, 1e-6, |v| v - v.floor());
    let rows = [
        [[5.5, -5.5, 0.25, 7.0], [2.0, 2.0, 0.5, -3.0], [0.5, 0.0, 1.0, 2.0]],
        [[-1.0, 2.0, 3.0, -4.0], [3.0, 1.0, 4.0, 1.0], [0.25, 0.75, 0.5, -1.0]],
    ];
    let lanes = |f: &dyn Fn(usize) -> f64| [0, 1, 2, 3].map(f);
    let modulo = |a: f64, b: f64| a - b * (a / b).floor();
    check("mod(x, y)", &rows, 1e-6, |r| lanes(&|i| modulo(r[0][i], r[1][i])));
    check("mod(x, 3.0)", &rows, 1e-6, |r| lanes(&|i| modulo(r[0][i], 3.0)));
    check("min(x, y)", &rows, 0.0, |r| lanes(&|i| r[0][i].min(r[1][i])));
    check("min(x, y.z)", &rows, 0.0, |r| lanes(&|i| r[0][i].min(r[1][2])));
    check("max(x, y)", &rows, 0.0, |r| lanes(&|i| r[0][i].max(r[1][i])));
    check("max(x, 0.5)", &rows, 0.0, |r| lanes(&|i| r[0][i].max(0.5)));
    check("clamp(x, -1.0, 2.0)", &rows, 0.0, |r| lanes(&|i| r[0][i].clamp(-1.0, 2.0)));
    check("clamp(x, vec4(-1.0), y)", &rows[1..], 0.0, |r| lanes(&|i| r[0][i].max(-1.0).min(r[1][i])));
    check("mix(x, y, z)", &rows, 1e-6, |r| lanes(&|i| r[0][i] * (1.0 - r[2][i]) + r[1][i] * r[2][i]));
    check("mix(x, y, z.x)", &rows, 1e-6, |r| lanes(&|i| r[0][i] * (1.0 - r[2][0]) + r[1][i] * r[2][0]));
    check("step(x, y)", &rows, 0.0, |r| lanes(&|i| f64::from(u8::from(r[1][i] >= r[0][i]))));
    check("step(0.25, x)", &rows, 0.0, |r| lanes(&|i| f64::from(u8::from(r[0][i] >= 0.25))));
    let smooth = |a: f64, b: f64, x: f64| {
        let t = ((x - a) / (b - a)).clamp(0.0, 1.0);
        t * t * (3.0 - 2.0 * t)
    };
    check("smoothstep(-2.0, 3.0, x)", &rows, 1e-6, |r| lanes(&|i| smooth(-2.0, 3.0, r[0][i])));
    check("smoothstep(vec4(-2.0), y + 2.0, x)", &rows[1..], 1e-6, |r| lanes(&|i| smooth(-2.0, r[1][i] + 2.0, r[0][i])));
}

fn dot(a: &[f64; 4], b: &[f64; 4], n: usize) -> f64 {
    (0..n).map(|i| a[i] * b[i]).sum()
}

#[test]
fn geometry() {
    let rows = [
        [[1.0, 2.0, -3.0, 0.5], [0.6, 0.0, 0.8, 0.25], [0.1, 0.2, 0.3, 0.4]],
        [[-1.0, 0.25, 3.0, 2.5], [0.0, 1.0, 0.0, 0.0], [0.3, -0.2, 0.1, 0.7]],
    ];
    check("length(x), length(x.xyz), length(x.xy), length(x.x)", &rows, 1e-6, |r| {
        [4, 3, 2, 1].map(|n| dot(&r[0], &r[0], n).sqrt())
    });
    check("distance(x, y), distance(x.xyz, y.xyz), distance(x.xy, y.xy), distance(x.x, y.x)", &rows, 1e-6, |r| {
        let d = [0, 1, 2, 3].map(|i| r[0][i] - r[1][i]);
        [4, 3, 2, 1].map(|n| dot(&d, &d, n).sqrt())
    });
    check("dot(x, y), dot(x.xyz, y.xyz), dot(x.xy, y.xy), dot(x.x, y.x)", &rows, 1e-6, |r| {
        [4, 3, 2, 1].map(|n| dot(&r[0], &r[1], n))
    });
    check("cross(x.xyz, y.xyz), 1.0", &rows, 1e-6, |r| {
        let (a, b) = (r[0], r[1]);
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0], 1.0]
    });
    check("normalize(x)", &rows, 1e-6, |r| r[0].map(|v| v / dot(&r[0], &r[0], 4).sqrt()));
    check("normalize(x.xy), normalize(x.z), 0.0", &rows, 1e-6, |r| {
        let n = dot(&r[0], &r[0], 2).sqrt();
        [r[0][0] / n, r[0][1] / n, r[0][2].signum(), 0.0]
    });
    check("faceforward(x, y, z)", &rows, 0.0, |r| r[0].map(|v| if dot(&r[2], &r[1], 4) < 0.0 { v } else { -v }));
    check("faceforward(x.xy, -y.xy, z.xy + 1.0), 0.0, 0.0", &rows, 0.0, |r| {
        let side = -(r[1][0] * (r[2][0] + 1.0) + r[1][1] * (r[2][1] + 1.0));
        [0, 1, 2, 3].map(|i| {
            if i > 1 {
                0.0
            } else if side < 0.0 {
                r[0][i]
            } else {
                -r[0][i]
            }
        })
    });
    check("reflect(x, y)", &rows, 1e-6, |r| [0, 1, 2, 3].map(|i| r[0][i] - 2.0 * dot(&r[0], &r[1], 4) * r[1][i]));
    for eta in [0.7, 1.5] {
        check(&format!("refract(z.xyz, y.xyz, {eta}), 0.0"), &rows, 1e-5, |r| {
            let d = dot(&r[1], &r[2], 3);
            let k = 1.0 - eta * eta * (1.0 - d * d);
            [0, 1, 2, 3].map(|i| match i {
                3 => 0.0,
                _ if k < 0.0 => 0.0,
                i => eta * r[2][i] - (eta * d + k.sqrt()) * r[1][i],
            })
        });
    }
}

#[test]
fn matrix_functions() {
    let rows = [[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [0.0; 4]]];
    check("matrixCompMult(mat2(x), mat2(y))", &rows, 0.0, |_| [5.0, 12.0, 21.0, 32.0]);
    check("transpose(mat2(x))", &rows, 0.0, |_| [1.0, 3.0, 2.0, 4.0]);
    check("outerProduct(x.xy, y.zw)", &rows, 0.0, |_| [7.0, 14.0, 8.0, 16.0]);
    check("outerProduct(x.xyz, y.zw)[1], 1.0", &rows, 0.0, |_| [8.0, 16.0, 24.0, 1.0]);
    check("transpose(mat2x3(x, y.xy))[1].xy, transpose(mat2x3(x, y.xy))[2]", &rows, 0.0, |_| [2.0, 5.0, 3.0, 6.0]);
}

#[test]
fn relations() {
    let rows = [[[1.0, 2.0, 3.0, 4.0], [2.0, 2.0, 1.0, 4.0], [0.0; 4]]];
    for (name, expected) in [
        ("lessThan", [1.0, 0.0, 0.0, 0.0]),
        ("lessThanEqual", [1.0, 1.0, 0.0, 1.0]),
        ("greaterThan", [0.0, 0.0, 1.0, 0.0]),
        ("greaterThanEqual", [0.0, 1.0, 1.0, 1.0]),
        ("equal", [0.0, 1.0, 0.0, 1.0]),
        ("notEqual", [1.0, 0.0, 1.0, 0.0]),
    ] {
        check(&format!("{name}(x, y)"), &rows, 0.0, |_| expected);
        check(&format!("{name}(ivec4(x), ivec4(y))"), &rows, 0.0, |_| expected);
    }
    check("any(bvec4(y - x)), any(bvec2(y.yw - x.yw)), all(bvec3(x)), all(bvec4(y - x))", &rows, 0.0, |_| {
        [1.0, 0.0, 1.0, 0.0]
    });
    check("not(bvec4(y - x))", &rows, 0.0, |_| [0.0, 1.0, 0.0, 1.0]);
    check("equal(bvec2(x.x, 0.0), bvec2(1.0, 1.0)), notEqual(bvec2(x.x, 0.0), bvec2(1.0, 1.0))", &rows, 0.0, |_| {
        [1.0, 0.0, 0.0, 1.0]
    });
}

#[test]
fn noise_is_zero() {
    check("noise1(x), noise2(y.xy), noise1(x.x)", &[[[1.5; 4], [2.5; 4], [0.0; 4]]], 0.0, |_| [0.0; 4]);
    check("noise4(x) + vec4(noise3(x.x), 0.0)", &[[[1.5; 4], [2.5; 4], [0.0; 4]]], 0.0, |_| [0.0; 4]);
}

#[test]
fn derivatives_see_the_quad() {
    use ir::env::Env;
    let text =
        "varying vec4 v; void main() { gl_FragColor = vec4(dFdx(v.x), dFdy(v.x), fwidth(v.y), fwidth(v.xy).x); }";
    let program = program(Glsl110, Stage::Fragment, text);
    let at = |x: f32, y: f32| [("v", 0, [3.0 * x - y, x * 2.0 + y * -5.0, 0.0, 0.0])];
    let values = [at(0.0, 0.0), at(1.0, 0.0), at(0.0, 1.0), at(1.0, 1.0)];
    let worlds = values.each_ref().map(|values| common::World { program: &program, values });
    let envs = worlds.each_ref().map(|w| w as &dyn Env);
    let outputs = ir::tac::interp::run_quad(&program, envs, Default::default()).unwrap();
    for one in &outputs {
        let [x, y, w, w2] = output(&program, one, "gl_FragColor", 0);
        assert_eq!((x.abs(), y.abs(), w, w2), (3.0, 1.0, 7.0, 4.0));
    }
}

/// Folded constants agree with the code.
#[test]
fn constants_agree_with_the_code() {
    let calls = [
        "sin(0.7)",
        "cos(0.7)",
        "tan(0.7)",
        "asin(0.3)",
        "acos(-0.3)",
        "atan(0.3, -0.9)",
        "atan(5.0)",
        "pow(2.5, 1.5)",
        "exp(1.5)",
        "log(2.5)",
        "exp2(1.5)",
        "log2(2.5)",
        "sqrt(2.0)",
        "inversesqrt(2.0)",
        "abs(-2.5)",
        "sign(-2.5)",
        "floor(-2.5)",
        "ceil(-2.5)",
        "fract(-2.3)",
        "mod(-2.3, 0.7)",
        "min(1.0, 2.0)",
        "max(1.0, 2.0)",
        "clamp(5.0, 1.0, 2.0)",
        "mix(1.0, 3.0, 0.25)",
        "step(1.0, 0.5)",
        "smoothstep(1.0, 3.0, 2.5)",
        "length(vec3(1.0, 2.0, 2.0))",
        "distance(vec2(1.0), vec2(4.0, 5.0))",
        "dot(vec2(1.0, 2.0), vec2(3.0, 4.0))",
        "cross(vec3(1.0, 2.0, 3.0), vec3(3.0, 1.0, 2.0)).y",
        "normalize(vec2(3.0, 4.0)).y",
        "faceforward(vec2(1.0), vec2(2.0), vec2(3.0)).x",
        "reflect(vec2(1.0, -1.0), vec2(0.0, 1.0)).y",
        "refract(vec2(0.6, -0.8), vec2(0.0, 1.0), 0.7).x",
        "radians(90.0)",
        "degrees(1.0)",
        "outerProduct(vec2(1.0, 2.0), vec3(3.0, 4.0, 5.0))[2].y",
        "transpose(mat2x3(1.0, 2.0, 3.0, 4.0, 5.0, 6.0))[2].y",
        "float(any(lessThan(vec2(1.0, 2.0), vec2(2.0, 1.0))))",
        "float(all(not(bvec2(true, false))))",
        "matrixCompMult(mat2(2.0), mat2(3.0))[1].y",
    ];
    for call in calls {
        let text =
            format!("#version 120\nconst float folded = {call};\nvoid main() {{ gl_FragColor = vec4(folded); }}");
        let folded = program(Glsl110, Stage::Fragment, &text);
        let outputs = run_program(&folded, &[]);
        let expected = output(&folded, &outputs, "gl_FragColor", 0)[0];
        // In 1.10 calls are not folded, so this is the code (without what only 1.20 has).
        if call.contains("outer") || call.contains("transpose") {
            continue;
        }
        let code = program(Glsl110, Stage::Fragment, &format!("void main() {{ gl_FragColor = vec4({call}); }}"));
        assert!(code.funcs[code.main].body.len() > 1, "{call} was folded in 1.10");
        let outputs = run_program(&code, &[]);
        let got = output(&code, &outputs, "gl_FragColor", 0)[0];
        assert!((got - expected).abs() <= 4e-6 * expected.abs().max(1.0), "{call}: {got}, folded {expected}");
    }
}

#[test]
fn extension_functions() {
    let es = "#extension GL_EXT_shader_texture_lod : enable\n#extension GL_OES_standard_derivatives : enable\n\
        precision mediump float; uniform sampler2D s; varying vec2 v;\n\
        void main() { gl_FragColor = texture2DLodEXT(s, v, 2.0) + vec4(dFdx(v), fwidth(v)); }";
    program(Es100, Stage::Fragment, es);
    let rect = "#extension GL_ARB_texture_rectangle : enable\n#extension GL_ARB_shader_texture_lod : enable\n\
        uniform sampler2DRect r; uniform sampler2D s; uniform sampler2DRectShadow q;\n\
        void main() { gl_FragColor = texture2DRect(r, vec2(3.0, 4.0)) + texture2DRectProj(r, vec3(2.0)) \
        + texture2DLod(s, vec2(0.5), 1.0) + shadow2DRect(q, vec3(1.0)); }";
    program(Glsl110, Stage::Fragment, rect);
}
