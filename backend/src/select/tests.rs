//! SSA text in, machine code over virtual registers out.

use super::{SelectOptions, select};
use crate::isa::Target;
use crate::mach::{Inst, Program};
use bumpalo::Bump;

fn run_with(text: &str, without: &[&str]) -> Program {
    let arena = Bump::new();
    let func = ir::text::parse(&arena, text, ir::diag::FileId(0)).unwrap_or_else(|e| panic!("{e:?}"));
    if let Err(errors) = ir::verify::verify(&func) {
        panic!("{}", errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"));
    }
    let options =
        SelectOptions { without: without.iter().map(|w| w.to_string()).collect(), ..SelectOptions::default() };
    select(func, &Target::builtin("vec4").unwrap(), &options).unwrap()
}

fn code(program: &Program) -> Vec<String> {
    program.insts.iter().map(Inst::to_string).collect()
}

fn run(text: &str) -> Vec<String> {
    code(&run_with(text, &[]))
}

fn count(code: &[String], word: &str) -> usize {
    code.iter().filter(|l| l.split(' ').next() == Some(word)).count()
}

const VERT: &str = "  var0 = attribute vec4 \"v\"\n  var1 = uniform vec4[4] \"m\"\n  var2 = output vec4 \"gl_Position\"\n  \
                    var3 = attribute vec4 \"w\"\n  var4 = uniform float \"k\"\n";

fn vert(body: &str) -> String {
    format!("function vert {{\n{VERT}\nblock0:\n{body}}}\n")
}

#[test]
fn matrix_times_vector_is_four_instructions() {
    let code = run(&vert(
        "  v0: vec4 = input var0[0]\n  v1: vec4 = uniform var1[0]\n  v2: vec4 = uniform var1[1]\n  v3: vec4 = uniform \
         var1[2]\n  v4: vec4 = uniform var1[3]\n  v5: vec4 = swz v0.xxxx\n  v6: vec4 = swz v0.yyyy\n  v7: vec4 = swz \
         v0.zzzz\n  v8: vec4 = swz v0.wwww\n  v9: vec4 = mul v1, v5\n  v10: vec4 = mad v2, v6, v9\n  v11: vec4 = mad \
         v3, v7, v10\n  v12: vec4 = mad v4, v8, v11\n  store_output var2[0].xyzw, v12\n  return\n",
    ));
    assert_eq!(
        code,
        ["MUL %0, c0, v0.x", "MAD %1, c1, v0.y, %0", "MAD %2, c2, v0.z, %1", "MAD o0, c3, v0.w, %2", "END"]
    );
}

#[test]
fn product_and_sum_become_mad_only_when_the_product_is_not_kept() {
    let fused = "  v0: vec4 = input var0[0]\n  v1: vec4 = input var3[0]\n  v2: vec4 = mul v0, v1\n  v3: vec4 = add v1, \
                 v2\n  store_output var2[0].xyzw, v3\n  return\n";
    assert_eq!(run(&vert(fused)), ["MAD o0, v0, v1, v1", "END"]);
    let plain = code(&run_with(&vert(fused), &["mad"]));
    assert_eq!(plain, ["MUL %0, v0, v1", "ADD o0, v1, %0", "END"]);
    let kept =
        fused.replace("  store_output", "  v4: vec4 = mul v3, v2\n  store_output").replace("xyzw, v3", "xyzw, v4");
    assert_eq!(run(&vert(&kept)), ["MUL %0, v0, v1", "ADD %1, v1, %0", "MUL o0, %1, %0", "END"]);
    let minus = "  v0: vec4 = input var0[0]\n  v1: vec4 = input var3[0]\n  v2: vec4 = mul v0, v1\n  v3: vec4 = neg v2\n  \
                 v4: vec4 = add v1, v3\n  v5: vec4 = sat v4\n  store_output var2[0].xyzw, v5\n  return\n";
    assert_eq!(run(&vert(minus)), ["MAD_SAT o0, -v0, v1, v1", "END"]);
}

#[test]
fn cross_product_is_two_instructions() {
    let code = run(&vert(
        "  v0: vec4 = input var0[0]\n  v1: vec4 = input var3[0]\n  v2: vec3 = swz v0.zxy\n  v3: vec3 = swz v1.yzx\n  \
         v4: vec3 = mul v2, v3\n  v5: vec3 = swz v0.yzx\n  v6: vec3 = swz v1.zxy\n  v7: vec3 = neg v4\n  v8: vec3 = mad \
         v5, v6, v7\n  v9: float = const float(1.0)\n  v10: vec4 = cat v8, v9\n  store_output var2[0].xyzw, v10\n  \
         return\n",
    ));
    assert_eq!(
        code,
        ["MUL %0.xyz, v0.zxyy, v1.yzxx", "MAD o0.xyz, v0.yzxx, v1.zxyy, -%0.xyzz", "MOV o0.w, c0.x", "END"]
    );
}

#[test]
fn parts_of_a_gather_are_computed_in_their_lanes() {
    let code = run(&vert(
        "  v0: vec4 = input var0[0]\n  v1: vec4 = input var3[0]\n  v2: float = dp4 v0, v1\n  v3: float = dp4 v0, v0\n  \
         v4: float = rcp v3\n  v5: float = uniform var4[0]\n  v6: vec4 = cat v2, v3, v4, v5\n  v7: vec4 = mul v6, v0\n  \
         store_output var2[0].xyzw, v7\n  return\n",
    ));
    assert_eq!(
        code,
        ["DP4 %0.x, v0, v1", "DP4 %0.y, v0, v0", "RCP %0.z, %0.y", "MOV %0.w, c0.x", "MUL o0, %0, v0", "END"]
    );
}

#[test]
fn a_part_that_is_read_again_stays_out_of_the_output() {
    let code = run(&vert(
        "  v0: vec4 = input var0[0]\n  v1: float = dp4 v0, v0\n  v2: float = rcp v1\n  v3: vec2 = cat v1, v2\n  v4: vec2 = \
         const vec2(1.0, 1.0)\n  v5: vec4 = cat v3, v4\n  store_output var2[0].xyzw, v5\n  return\n",
    ));
    assert_eq!(count(&code, "MOV"), 2, "{code:?}"); // the kept dot product and the two literals
    assert!(!code.iter().any(|l| l.contains(" o0.x,") && !l.starts_with("MOV")), "{code:?}");
}

#[test]
fn scalar_operations_take_one_issue_a_lane_and_modifiers_are_free() {
    let code = run(&vert(
        "  v0: vec4 = input var0[0]\n  v1: vec4 = abs v0\n  v2: vec4 = neg v1\n  v3: vec4 = ex2 v2\n  v4: vec4 = sat v3\n  \
         store_output var2[0].xyzw, v4\n  return\n",
    ));
    assert_eq!(
        code,
        ["EX2_SAT o0.x, -|v0.x|", "EX2_SAT o0.y, -|v0.y|", "EX2_SAT o0.z, -|v0.z|", "EX2_SAT o0.w, -|v0.w|", "END"]
    );
}

#[test]
fn undemanded_lanes_are_not_computed() {
    let code = run(&vert(
        "  v0: vec4 = input var0[0]\n  v1: vec4 = rcp v0\n  v2: float = swz v1.z\n  v3: vec4 = swz v1.zzzz\n  v4: vec4 = \
         mul v3, v0\n  store_output var2[0].xyzw, v4\n  return\n",
    ));
    assert_eq!(code, ["RCP %0.x, v0.z", "MUL o0, %0.x, v0", "END"]);
}

#[test]
fn literals_share_registers_and_lanes() {
    let program = run_with(
        &vert(
            "  v0: vec4 = input var0[0]\n  v1: vec4 = const vec4(1.0, 2.0, 1.0, 2.0)\n  v2: vec4 = const vec4(2.0, 2.0, 3.0, \
             4.0)\n  v3: vec4 = mul v0, v1\n  v4: vec4 = add v3, v2\n  store_output var2[0].xyzw, v4\n  return\n",
        ),
        &["mad"],
    );
    assert_eq!(program.constants.len(), 1);
    assert_eq!(code(&program)[..2], ["MUL %0, v0, c0.wxwx", "ADD o0, %0, c0.xxyz"]);
}

#[test]
fn relative_reads_share_address_lanes() {
    let code = run(&vert(
        "  v0: vec4 = input var0[0]\n  v1: float = swz v0.x\n  v2: vec4 = uniform_at var1[0], v1\n  v3: vec4 = uniform_at \
         var1[1], v1\n  v4: float = swz v0.y\n  v5: vec4 = uniform_at var1[2], v4\n  v6: vec4 = mad v2, v3, v5\n  \
         store_output var2[0].xyzw, v6\n  return\n",
    ));
    assert_eq!(code, ["ARL a0.xy, v0.xyyy", "MAD o0, c[a0.x + 0], c[a0.x + 1], c[a0.y + 2]", "END"]);
}

#[test]
fn branch_and_parameters() {
    let code = run(&format!(
        "function vert {{\n{VERT}\nblock0:\n  v0: vec4 = input var0[0]\n  v1: float = swz v0.x\n  v2: float = swz v0.y\n  v3: \
         float = slt v1, v2\n  branch v3, block1, block2, merge block3\nblock1:\n  v4: vec4 = add v0, v0\n  jump \
         block3(v4)\nblock2:\n  v5: vec4 = mul v0, v0\n  jump block3(v5)\nblock3(v6: vec4):\n  store_output \
         var2[0].xyzw, v6\n  return\n}}\n"
    ));
    assert_eq!(code, ["SLT %0.x, v0.x, v0.y", "IF %0.x", "ADD o0, v0, v0", "ELSE", "MUL o0, v0, v0", "ENDIF", "END"]);
}

#[test]
fn loop_swaps_its_parameters() {
    let code = run(&format!(
        "function vert {{\n{VERT}\nblock0:\n  v0: vec4 = input var0[0]\n  v1: vec4 = input var3[0]\n  v2: float = const \
         float(0.0)\n  jump block1(v2, v0, v1)\nblock1(v3: float, v4: vec4, v5: vec4) loop block4:\n  v6: float = uniform \
         var4[0]\n  v7: float = slt v3, v6\n  branch v7, block2, block3\nblock2:\n  v8: float = const float(1.0)\n  v9: \
         float = add v3, v8\n  jump block1(v9, v5, v4)\nblock3:\n  jump block4\nblock4:\n  v10: vec4 = mad v4, v4, v5\n  \
         store_output var2[0].xyzw, v10\n  return\n}}\n"
    ));
    let text = code.join("\n");
    assert_eq!(
        (count(&code, "LOOP"), count(&code, "BRK"), count(&code, "CONT"), count(&code, "ENDLOOP")),
        (1, 1, 0, 1)
    );
    // three moves in, one for the counter, three for the swap
    assert_eq!(count(&code, "MOV"), 7, "{text}");
}

#[test]
fn texture_result_goes_straight_to_the_output() {
    let frag = "function frag {\n  var0 = varying vec4 \"uv\"\n  var1 = sampler 2D vec4 \"t\"\n  var2 = output vec4 \
                \"gl_FragColor\"\n\nblock0:\n  v0: vec4 = input var0[0]\n  v1: vec2 = swz v0.zw\n  v2: vec4 = tex \
                var1[0] 2D, v1\n  store_output var2[0].xyzw, v2\n  return\n}\n";
    assert_eq!(run(frag), ["TEX o0, v0.zwww, s0, 2D", "END"]);
}

#[test]
fn lanes_of_one_gather_are_computed_together_when_their_operands_sit_together() {
    let halves = "  v0: vec4 = input var0[0]\n  v1: vec4 = input var3[0]\n  v2: vec2 = swz v0.xy\n  v3: vec2 = swz \
                  v1.xy\n  v4: vec2 = add v2, v3\n  v5: vec2 = swz v0.zw\n  v6: vec2 = swz v1.wz\n  v7: vec2 = add v5, \
                  v6\n  v8: vec4 = cat v4, v7\n  store_output var2[0].xyzw, v8\n  return\n";
    assert_eq!(run(&vert(halves)), ["ADD o0, v0, v1.xywz", "END"]);
    // another register, another opcode, or a result that the second one reads: they stay apart
    assert_eq!(count(&run(&vert(&halves.replace("swz v1.wz", "swz v0.wz"))), "ADD"), 2);
    assert_eq!(count(&run(&vert(&halves.replace("v7: vec2 = add", "v7: vec2 = mul"))), "ADD"), 1);
    assert_eq!(count(&run(&vert(&halves.replace("add v5, v6", "add v4, v6"))), "ADD"), 2);
}

#[test]
fn address_loads_from_one_register_become_one() {
    let code = run(&vert(
        "  v0: vec4 = input var0[0]\n  v1: float = swz v0.x\n  v2: vec4 = uniform_at var1[0], v1\n  v4: float = swz \
         v0.y\n  v5: vec4 = uniform_at var1[2], v4\n  v6: vec4 = mul v2, v5\n  store_output var2[0].xyzw, v6\n  \
         return\n",
    ));
    assert_eq!(code, ["ARL a0.xy, v0.xyyy", "MUL o0, c[a0.x + 0], c[a0.y + 2]", "END"]);
}
