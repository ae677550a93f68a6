//! Packing on functions given as text: the number of slots of the plan, and that what is placed
//! verifies and computes, bit for bit, what the function computed before.

use bumpalo::Bump;
use egraph_rules::blocks::Blocks;
use egraph_rules::extract::graph::Graph;
use egraph_rules::from_egraph::place;
use egraph_rules::plan::{Method, PlanOptions, PlanReport, choose};
use egraph_rules::rules::pack::{PackMode, PackOptions, demand};
use egraph_rules::to_egraph::enter;
use ir::cost::CostTable;
use ir::diag::FileId;
use ir::env::{Env, Outputs, TexRequest};
use ir::eval::{EvalCfg, same_bits};
use ir::interp::{InterpOptions, run};
use ir::types::FpLevel;
use ir::verify::verify;
use ir::{Function, Var};

/// Inputs and uniforms that depend on variable, element and lane; some are special.
struct Numbers(u32);

impl Numbers {
    fn number(&self, a: u32, b: u32, c: u32) -> f32 {
        let mut h = self.0.wrapping_mul(0x9e37_79b9) ^ a.wrapping_mul(0x85eb_ca6b) ^ b.wrapping_mul(0xc2b2_ae35) ^ c;
        for _ in 0..2 {
            h ^= h >> 15;
            h = h.wrapping_mul(0x2c1b_3c6d);
            h ^= h >> 12;
        }
        match h % 23 {
            0 => 0.0,
            1 => -0.0,
            2 => f32::INFINITY,
            3 => f32::NAN,
            _ => (h % 4001) as f32 / 100.0 - 20.0,
        }
    }

    fn lanes(&self, var: Var, elem: u32) -> [f32; 4] {
        [0, 1, 2, 3].map(|lane| self.number(var.as_u32(), elem, lane))
    }
}

impl Env for Numbers {
    fn input(&self, var: Var, elem: u32) -> [f32; 4] {
        self.lanes(var, elem)
    }

    fn uniform(&self, var: Var, elem: u32) -> [f32; 4] {
        self.lanes(var, elem)
    }

    fn texture(&self, request: &TexRequest) -> [f32; 4] {
        request.coords.map(|c| if c.is_nan() { 0.5 } else { c.clamp(-3.0, 3.0) * 0.25 })
    }
}

fn outputs(func: &Function<'_>) -> Vec<Outputs> {
    (0..24).map(|seed| run(func, &Numbers(seed), InterpOptions::default()).expect("runs")).collect()
}

/// Optimizes without rules and compares before and after.
fn packed(text: &str, mode: PackMode, options: &PlanOptions) -> (PlanReport, String) {
    let bump = Bump::new();
    let mut func = ir::text::parse(&bump, text, FileId(0)).unwrap_or_else(|e| panic!("{e:?}"));
    assert_eq!(verify(&func).map_err(|e| e[0].to_string()), Ok(()));
    let before = outputs(&func);
    let mut entered = enter(&func, EvalCfg::default(), FpLevel::Strict, 0).expect("enters");
    demand(&mut entered.egraph, &PackOptions { mode, ..PackOptions::default() });
    let blocks = Blocks::new(&func);
    let mut graph = Graph::build(&entered.egraph, &func, &blocks, |v| entered.class_of[v]).expect("a legal graph");
    let costs = CostTable::default();
    let (choice, report) = choose(&mut graph, &func, &blocks, &costs, options, None).expect("a plan");
    place(&mut func, &blocks, &graph, &choice);
    let text = ir::text::print(&func);
    assert_eq!(verify(&func).map_err(|e| e[0].to_string()), Ok(()), "{text}");
    for (a, b) in before.iter().zip(outputs(&func)) {
        assert_eq!(a.first_difference(&b, same_bits), None, "{text}");
    }
    (report, text)
}

fn slots(text: &str, mode: PackMode) -> u64 {
    let seeds = if mode == PackMode::Seeds { PlanOptions::default().seeds } else { None };
    packed(text, mode, &PlanOptions { seeds, level: FpLevel::Strict, ..PlanOptions::default() }).0.planned.slots
}

/// mat4 * vec4, lane by lane as a front end without vectors would write it.
fn scalar_transform() -> String {
    let mut text = String::from(
        "function vert {\n  var0 = attribute vec4 \"v\"\n  var1 = uniform vec4[4] \"m\"\n  var2 = output vec4 \"gl_Position\"\n\nblock0:\n  v0: vec4 = input var0[0]\n",
    );
    for column in 0..4 {
        text += &format!("  v{}: vec4 = uniform var1[{column}]\n", 1 + column);
    }
    let mut next = 10;
    let mut rows = Vec::new();
    for (row, lane) in ["x", "y", "z", "w"].iter().enumerate() {
        let mut sum = 0;
        for (column, from) in ["x", "y", "z", "w"].iter().enumerate() {
            text += &format!("  v{next}: float = swz v{}.{lane}\n", 1 + column);
            text += &format!("  v{}: float = swz v0.{from}\n", next + 1);
            // Operand orders differ from row to row.
            let (a, b) = if row % 2 == 0 { (next, next + 1) } else { (next + 1, next) };
            if column == 0 {
                text += &format!("  v{}: float = mul v{a}, v{b}\n", next + 2);
            } else {
                text += &format!("  v{}: float = mad v{a}, v{b}, v{sum}\n", next + 2);
            }
            sum = next + 2;
            next += 3;
        }
        rows.push(format!("v{sum}"));
    }
    text + &format!("  v{next}: vec4 = cat {}\n  store_output var2[0].xyzw, v{next}\n  return\n}}\n", rows.join(", "))
}

#[test]
fn a_transform_in_scalar_form_takes_four_instructions() {
    assert_eq!(slots(&scalar_transform(), PackMode::Off), 16);
    assert_eq!(slots(&scalar_transform(), PackMode::Demand), 4);
    assert_eq!(slots(&scalar_transform(), PackMode::Seeds), 4);
}

/// Kernel 08 after unrolling: each light clamps its own dot product.
const LIGHTS: &str = r#"
function vert {
  var0 = attribute vec3 "n"
  var1 = uniform vec3[4] "dir"
  var2 = uniform vec4[4] "color"
  var3 = uniform vec4 "ambient"
  var4 = varying vec4 "c"

block0:
  v0: vec3 = input var0[0]
  v1: float = const float(0.0)
  v2: vec4 = uniform var3[0]
  v3: vec3 = uniform var1[0]
  v4: float = dp3 v0, v3
  v5: float = max v4, v1
  v6: vec4 = swz v5.xxxx
  v7: vec4 = uniform var2[0]
  v8: vec4 = mad v7, v6, v2
  v13: vec3 = uniform var1[1]
  v14: float = dp3 v0, v13
  v15: float = max v14, v1
  v16: vec4 = swz v15.xxxx
  v17: vec4 = uniform var2[1]
  v18: vec4 = mad v17, v16, v8
  v23: vec3 = uniform var1[2]
  v24: float = dp3 v0, v23
  v25: float = max v24, v1
  v26: vec4 = swz v25.xxxx
  v27: vec4 = uniform var2[2]
  v28: vec4 = mad v27, v26, v18
  v33: vec3 = uniform var1[3]
  v34: float = dp3 v0, v33
  v35: float = max v34, v1
  v36: vec4 = swz v35.xxxx
  v37: vec4 = uniform var2[3]
  v38: vec4 = mad v37, v36, v28
  store_output var4[0].xyzw, v38
  return
}
"#;

#[test]
fn four_clamps_become_one() {
    assert_eq!(slots(LIGHTS, PackMode::Off), 12);
    assert_eq!(slots(LIGHTS, PackMode::Demand), 12, "no gather joins the clamps");
    assert_eq!(slots(LIGHTS, PackMode::Seeds), 9, "four dot products, one clamp, four multiply-adds");
}

/// Kernel 06 with its multiply-adds formed.
const SCALARS: &str = r#"
function frag {
  var0 = varying vec4 "a"
  var1 = varying vec4 "b"
  var2 = uniform float[4] "k"
  var3 = output vec4 "gl_FragColor"

block0:
  v0: vec4 = input var0[0]
  v1: vec4 = input var1[0]
  v2: float = swz v0.x
  v3: float = swz v0.y
  v4: float = swz v0.z
  v5: float = swz v0.w
  v6: float = swz v1.x
  v7: float = swz v1.y
  v8: float = swz v1.z
  v9: float = swz v1.w
  v10: float = uniform var2[0]
  v11: float = uniform var2[1]
  v12: float = uniform var2[2]
  v13: float = uniform var2[3]
  v20: float = mad v2, v7, v10
  v21: float = mad v3, v8, v11
  v22: float = mad v4, v9, v12
  v23: float = mad v5, v6, v13
  v24: float = mad v20, v20, v6
  v25: float = mad v21, v21, v7
  v26: float = mad v22, v22, v8
  v27: float = add v24, v25
  v28: float = mul v26, v23
  v29: float = neg v26
  v30: float = add v24, v29
  v31: vec4 = cat v27, v28, v30, v23
  store_output var3[0].xyzw, v31
  return
}
"#;

#[test]
fn scalars_become_lanes() {
    assert_eq!(slots(SCALARS, PackMode::Off), 11);
    // Four MAD into the lanes of one register, one MAD, then a MAD for sum and difference, the
    // product, and a copy to the output.
    assert!(slots(SCALARS, PackMode::Seeds) <= 8, "{}", slots(SCALARS, PackMode::Seeds));
}

/// Branches and a loop: what is used on one side, after the merge, and unchanged in the loop.
const FLOW: &str = r#"
function frag {
  var0 = varying vec4 "a"
  var1 = uniform vec4 "u"
  var2 = output vec4 "gl_FragColor"
  var3 = sampler 2D float "s"

block0:
  v0: vec4 = input var0[0]
  v1: vec4 = uniform var1[0]
  v2: float = swz v0.x
  v3: float = swz v1.x
  v4: float = slt v2, v3
  v5: vec4 = mul v0, v1
  v6: float = const float(0.0)
  v7: vec4 = add v0, v1
  v40: vec2 = swz v0.xy
  v41: vec4 = tex var3[0] 2D, v40
  branch v4, block1, block2, merge block3

block1:
  v8: vec4 = add v5, v1
  v9: float = swz v8.y
  v10: float = rcp v9
  jump block3(v10, v8)

block2:
  v11: vec4 = max v7, v41
  v12: float = swz v11.w
  jump block3(v12, v11)

block3(v13: float, v14: vec4):
  jump block4(v6, v14)

block4(v15: float, v16: vec4) loop block8:
  v17: float = const float(3.0)
  v18: float = slt v15, v17
  branch v18, block5, block6, merge block7

block5:
  jump block7

block6:
  jump block8

block7:
  v19: vec4 = mul v7, v7
  v20: vec4 = mad v19, v16, v14
  v21: float = const float(1.0)
  v22: float = add v15, v21
  jump block4(v22, v20)

block8:
  v23: vec4 = swz v13.xxxx
  v24: vec4 = add v16, v23
  v25: float = swz v24.x
  v26: float = swz v7.y
  v27: vec4 = cat v25, v26, v13, v4
  store_output var2[0].xyzw, v27
  return
}
"#;

#[test]
fn values_go_where_they_are_used_and_out_of_loops() {
    let (_, after) = packed(FLOW, PackMode::Seeds, &PlanOptions { level: FpLevel::Strict, ..PlanOptions::default() });
    let block_of = |what: &str| {
        let at = after.find(what).unwrap_or_else(|| panic!("no {what} in {after}"));
        after[..at].lines().rev().find(|l| l.starts_with("block")).unwrap_or("").to_string()
    };
    assert!(block_of("rcp").starts_with("block1"), "{after}");
    assert!(block_of("max").starts_with("block2"), "{after}");
    assert!(!block_of(" mul ").starts_with("block7"), "the square leaves the loop: {after}");
}

#[test]
fn any_choice_is_correct() {
    for text in [scalar_transform().as_str(), LIGHTS, SCALARS, FLOW] {
        for seed in 0..40 {
            let options = PlanOptions {
                method: Method::Chaos(seed),
                improve: None,
                seeds: None,
                level: FpLevel::Strict,
                ..PlanOptions::default()
            };
            packed(text, PackMode::Demand, &options);
        }
    }
}

#[test]
fn the_same_input_gives_the_same_plan() {
    for text in [scalar_transform().as_str(), LIGHTS, SCALARS] {
        let run = || packed(text, PackMode::Seeds, &PlanOptions { level: FpLevel::Strict, ..PlanOptions::default() });
        assert_eq!(run(), run());
    }
}
