//! Small shaders in SSA text with the slots that the stage must reach: what people write, and the
//! reason why each rule group is there. Values are checked against the interpreter too.

#![allow(clippy::print_stderr)] // SHOW=1 prints what a failing count needs to be understood

use bumpalo::Bump;
use egraph_rules::rules::Group;
use egraph_rules::{Options, Report, optimize};
use ir::cost::CostTable;
use ir::diag::FileId;
use ir::env::{Env, TexRequest};
use ir::interp::{InterpOptions, run};
use ir::{Var, text, verify};

/// Inputs of normal size that differ by place and lane.
struct Places;

fn place(kind: u32, var: Var, elem: u32) -> [f32; 4] {
    [0, 1, 2, 3].map(|lane| {
        let n = (kind * 31 + var.as_u32() * 17 + elem * 7 + lane * 3 + 5) % 23;
        0.25 + n as f32 * 0.125 - if n.is_multiple_of(3) { 2.0 } else { 0.0 }
    })
}

impl Env for Places {
    fn input(&self, var: Var, elem: u32) -> [f32; 4] {
        place(0, var, elem)
    }

    fn uniform(&self, var: Var, elem: u32) -> [f32; 4] {
        place(1, var, elem)
    }

    fn texture(&self, request: &TexRequest) -> [f32; 4] {
        request.coords.map(|c| (c * 0.37).fract().abs())
    }
}

fn optimized(source: &str, options: &Options) -> (Report, String) {
    let arena = Bump::new();
    let mut func = text::parse(&arena, source, FileId(0)).unwrap_or_else(|e| panic!("{}", e.message));
    verify::verify(&func).unwrap_or_else(|e| panic!("{e:?}"));
    let before = run(&func, &Places, InterpOptions::default()).unwrap();
    let start = std::time::Instant::now();
    let report = optimize(&mut func, &CostTable::default(), options).unwrap();
    if std::env::var_os("SHOW").is_some() {
        eprintln!("{:?}", start.elapsed());
    }
    verify::verify(&func).unwrap_or_else(|e| panic!("{e:?}\n{}", text::print(&func)));
    let after = run(&func, &Places, InterpOptions::default()).unwrap();
    let near = |a: f32, b: f32| a == b || (a - b).abs() <= 1e-4 * a.abs().max(1.0);
    if let Some(difference) = before.first_difference(&after, near) {
        panic!("{difference}\n{}", text::print(&func));
    }
    (report, text::print(&func))
}

/// Slots of the plan, without pinned instructions.
fn slots(source: &str) -> u64 {
    let (report, printed) = optimized(source, &Options::default());
    assert!(report.kept.is_none());
    let (again, text) = optimized(source, &Options::default());
    assert_eq!((again.nodes, &text), (report.nodes, &printed), "two runs differ");
    if std::env::var_os("SHOW").is_some() {
        eprintln!("{printed}\n{:?}", report.plan);
        for rule in report.rules.iter().filter(|r| r.nodes > 20) {
            eprintln!("{rule:?}");
        }
        eprintln!("{:?} {}", report.phases, report.classes);
    }
    report.plan[1].planned.slots
}

const TRANSFORM: &str = r#"
function vert {
  var0 = attribute vec4 "v"
  var1 = uniform vec4[4] "m" cols 4 type "mat4"
  var2 = output vec4 "gl_Position"
block0:
  v0: vec4 = input var0[0]
  v1: vec4 = uniform var1[0]
  v2: vec4 = uniform var1[1]
  v3: vec4 = uniform var1[2]
  v4: vec4 = uniform var1[3]
  v5: vec4 = swz v0.xxxx
  v6: vec4 = swz v0.yyyy
  v7: vec4 = swz v0.zzzz
  v8: vec4 = swz v0.wwww
  v9: vec4 = mul v1, v5
  v10: vec4 = mul v2, v6
  v11: vec4 = mul v3, v7
  v12: vec4 = mul v4, v8
  v13: vec4 = add v9, v10
  v14: vec4 = add v13, v11
  v15: vec4 = add v14, v12
  store_output var2[0].xyzw, v15
  return
}
"#;

#[test]
fn a_matrix_times_a_vector_is_a_product_and_three_mads() {
    assert_eq!(slots(TRANSFORM), 4);
}

#[test]
fn without_the_mad_group_no_mad_is_made() {
    let options =
        Options { groups: Group::ALL.into_iter().filter(|&g| g != Group::Mad).collect(), ..Options::default() };
    let (report, printed) = optimized(TRANSFORM, &options);
    assert!(!printed.contains("mad"), "{printed}");
    assert!(report.plan[1].planned.slots > 4);
}

#[test]
fn a_cross_product_is_two_instructions() {
    let source = r#"
function vert {
  var0 = attribute vec3 "a"
  var1 = attribute vec3 "b"
  var2 = output vec3 "c"
block0:
  v0: vec3 = input var0[0]
  v1: vec3 = input var1[0]
  v2: vec3 = swz v0.yzx
  v3: vec3 = swz v1.zxy
  v4: vec3 = mul v2, v3
  v5: vec3 = swz v0.zxy
  v6: vec3 = swz v1.yzx
  v7: vec3 = mul v5, v6
  v8: vec3 = neg v7
  v9: vec3 = add v4, v8
  store_output var2[0].xyz, v9
  return
}
"#;
    assert_eq!(slots(source), 2);
}

/// `05_phong_pixel.frag` of the kernels, as inlined and lowered, without its texture.
#[test]
fn the_dot_product_comes_before_the_scaling() {
    let source = r#"
function frag {
  var0 = varying vec3 "normal"
  var1 = varying vec3 "eye"
  var2 = uniform vec3 "light_pos"
  var3 = uniform vec4 "ambient"
  var4 = uniform vec4 "diffuse"
  var5 = uniform vec4 "specular"
  var6 = uniform float "shininess"
  var7 = output vec4 "gl_FragColor"
  var8 = varying vec4 "tex"
block0:
  v0: vec3 = input var0[0]
  v1: float = dp3 v0, v0
  v2: float = rsq v1
  v3: vec3 = swz v2.xxx
  v4: vec3 = mul v0, v3
  v5: vec3 = uniform var2[0]
  v6: vec3 = input var1[0]
  v7: vec3 = neg v6
  v8: vec3 = add v5, v7
  v9: float = dp3 v8, v8
  v10: float = rsq v9
  v11: vec3 = swz v10.xxx
  v12: vec3 = mul v8, v11
  v13: float = dp3 v7, v7
  v14: float = rsq v13
  v15: vec3 = swz v14.xxx
  v16: vec3 = mul v7, v15
  v17: vec3 = neg v12
  v18: float = dp3 v4, v17
  v19: float = const float(2.0)
  v20: float = mul v18, v19
  v21: vec3 = swz v20.xxx
  v22: vec3 = mul v21, v4
  v23: vec3 = neg v22
  v24: vec3 = add v17, v23
  v25: float = dp3 v4, v12
  v26: float = const float(0.0)
  v27: float = max v25, v26
  v28: float = dp3 v24, v16
  v29: float = max v28, v26
  v30: vec4 = uniform var3[0]
  v31: vec4 = uniform var4[0]
  v32: vec4 = uniform var5[0]
  v33: float = uniform var6[0]
  v34: vec4 = swz v27.xxxx
  v35: vec4 = mul v31, v34
  v36: vec4 = add v30, v35
  v37: vec4 = input var8[0]
  v38: vec4 = mul v37, v36
  v39: float = lg2 v29
  v40: float = mul v33, v39
  v41: float = ex2 v40
  v42: vec4 = swz v41.xxxx
  v43: vec4 = mul v32, v42
  v44: vec4 = add v38, v43
  store_output var7[0].xyzw, v44
  return
}
"#;
    // Cg takes 22 with the texture lookup that is left out here.
    assert!(slots(source) <= 21, "{}", slots(source));
}

#[test]
fn four_lights_take_four_dot_products_and_one_maximum() {
    let mut source = String::from(
        r#"
function frag {
  var0 = varying vec3 "normal"
  var1 = uniform vec3[4] "dir"
  var2 = uniform vec4[4] "color"
  var3 = uniform vec4 "ambient"
  var4 = output vec4 "gl_FragColor"
block0:
  v0: vec3 = input var0[0]
  v1: float = dp3 v0, v0
  v2: float = rsq v1
  v3: vec3 = swz v2.xxx
  v4: vec3 = mul v0, v3
  v5: float = const float(0.0)
  v10: vec4 = uniform var3[0]
"#,
    );
    for i in 0..4 {
        let v = 11 + i * 7;
        let sum = if i == 0 { 10 } else { v - 1 };
        source += &format!(
            "  v{}: vec3 = uniform var1[{i}]\n  v{}: float = dp3 v4, v{v}\n  v{}: float = max v{}, v5\n  \
             v{}: vec4 = uniform var2[{i}]\n  v{}: vec4 = swz v{}.xxxx\n  v{}: vec4 = mul v{}, v{}\n  \
             v{}: vec4 = add v{sum}, v{}\n",
            v,
            v + 1,
            v + 2,
            v + 1,
            v + 3,
            v + 4,
            v + 2,
            v + 5,
            v + 3,
            v + 4,
            v + 6,
            v + 5,
        );
    }
    source += "  store_output var4[0].xyzw, v38\n  return\n}\n";
    assert!(slots(&source) <= 12, "{}", slots(&source));
}

/// `06_scalar_pack.frag`.
#[test]
fn scalar_work_is_packed() {
    let mut source = String::from(
        r#"
function frag {
  var0 = varying vec4 "a"
  var1 = varying vec4 "b"
  var2 = uniform float "ka"
  var3 = uniform float "kb"
  var4 = uniform float "kc"
  var5 = uniform float "kd"
  var6 = output vec4 "gl_FragColor"
block0:
  v0: vec4 = input var0[0]
  v1: vec4 = input var1[0]
"#,
    );
    for (i, (a, b)) in [("x", "y"), ("y", "z"), ("z", "w"), ("w", "x")].into_iter().enumerate() {
        let v = 2 + i * 5;
        source += &format!(
            "  v{v}: float = swz v0.{a}\n  v{}: float = swz v1.{b}\n  v{}: float = mul v{v}, v{}\n  \
             v{}: float = uniform var{}[0]\n  v{}: float = add v{}, v{}\n",
            v + 1,
            v + 2,
            v + 1,
            v + 3,
            2 + i,
            v + 4,
            v + 2,
            v + 3,
        );
    }
    // p, q, r, s are v6, v11, v16, v21.
    source += r#"
  v22: float = swz v1.x
  v23: float = swz v1.y
  v24: float = swz v1.z
  v25: float = mul v6, v6
  v26: float = add v25, v22
  v27: float = mul v11, v11
  v28: float = add v27, v23
  v29: float = mul v16, v16
  v30: float = add v29, v24
  v31: float = add v26, v28
  v32: float = mul v30, v21
  v33: float = neg v30
  v34: float = add v26, v33
  v35: vec4 = cat v31, v32, v34, v21
  store_output var6[0].xyzw, v35
  return
}
"#;
    assert!(slots(&source) <= 9, "{}", slots(&source));
}

#[test]
fn interpolation_is_two_slots_and_a_clamp_rides_along() {
    let source = r#"
function frag {
  var0 = varying vec4 "a"
  var1 = varying vec4 "b"
  var2 = uniform float "t"
  var3 = output vec4 "gl_FragColor"
block0:
  v0: vec4 = input var0[0]
  v1: vec4 = input var1[0]
  v2: float = uniform var2[0]
  v3: float = const float(1.0)
  v4: float = neg v2
  v5: float = add v3, v4
  v6: vec4 = swz v5.xxxx
  v7: vec4 = mul v0, v6
  v8: vec4 = swz v2.xxxx
  v9: vec4 = mul v1, v8
  v10: vec4 = add v7, v9
  v11: vec4 = const vec4(0.0, 0.0, 0.0, 0.0)
  v12: vec4 = const vec4(1.0, 1.0, 1.0, 1.0)
  v13: vec4 = max v10, v11
  v14: vec4 = min v13, v12
  store_output var3[0].xyzw, v14
  return
}
"#;
    assert_eq!(slots(source), 2);
}

#[test]
fn a_choice_between_values_is_a_compare_and_a_cmp() {
    let source = r#"
function frag {
  var0 = varying vec4 "v"
  var1 = uniform float "limit"
  var2 = uniform vec4 "low"
  var3 = uniform vec4 "high"
  var4 = output vec4 "gl_FragColor"
block0:
  v0: vec4 = input var0[0]
  v1: float = swz v0.x
  v2: float = uniform var1[0]
  v3: float = slt v2, v1
  v4: vec4 = uniform var2[0]
  v5: vec4 = uniform var3[0]
  v6: vec4 = mul v0, v5
  v7: vec4 = add v0, v4
  v8: float = neg v3
  v9: vec4 = swz v8.xxxx
  v10: vec4 = cmp v9, v6, v7
  store_output var4[0].xyzw, v10
  return
}
"#;
    assert_eq!(slots(source), 4);
}

#[test]
fn a_known_w_is_folded_into_the_matrix_product() {
    let source = r#"
function vert {
  var0 = attribute vec4 "v"
  var1 = uniform vec4[4] "m" cols 4 type "mat4"
  var2 = output vec4 "gl_Position"
block0:
  v0: vec4 = input var0[0]
  v1: vec3 = mul v10, v11
  v20: float = const float(1.0)
  v21: vec4 = cat v1, v20
  v2: vec4 = uniform var1[0]
  v3: vec4 = uniform var1[1]
  v4: vec4 = uniform var1[2]
  v5: vec4 = uniform var1[3]
  v6: vec4 = swz v21.xxxx
  v7: vec4 = swz v21.yyyy
  v8: vec4 = swz v21.zzzz
  v9: vec4 = swz v21.wwww
  v12: vec4 = mul v2, v6
  v13: vec4 = mul v3, v7
  v14: vec4 = mul v4, v8
  v15: vec4 = mul v5, v9
  v16: vec4 = add v12, v13
  v17: vec4 = add v16, v14
  v18: vec4 = add v17, v15
  store_output var2[0].xyzw, v18
  return
}
"#
    .replace(
        "  v1: vec3 = mul v10, v11\n",
        "  v10: vec3 = swz v0.xyz\n  v11: vec3 = swz v0.yzw\n  v1: vec3 = mul v10, v11\n",
    );
    // One product for the point, three MADs, and no gather of the 1.
    assert_eq!(slots(&source), 4);
}

#[test]
fn powers_and_squares_need_no_logarithm() {
    let source = r#"
function frag {
  var0 = varying float "x"
  var1 = output float "gl_FragDepth"
block0:
  v0: float = input var0[0]
  v1: float = abs v0
  v2: float = lg2 v1
  v3: float = const float(4.0)
  v4: float = mul v3, v2
  v5: float = ex2 v4
  store_output var1[0].x, v5
  return
}
"#;
    assert_eq!(slots(source), 2);
}
