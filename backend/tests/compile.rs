//! Three-address code in, machine code out, without any source language: the paper's examples.

mod common;

use backend::{CompileOptions, Compiled, Error, Pipeline, Resource, Target, compile};
use ir::diag::FileId;
use ir::env::Env;
use ir::eval::same_bits;
use ir::tac;
use ir::testing::gen_env::GenEnv;

/// `gl_Position = my_TransformMatrix * my_Vertex`, as vector products and sums by column.
const TRANSFORM: &str = "\
stage vert
version 110
entry main

attribute vec4 my_Vertex
uniform vec4 my_TransformMatrix[4] cols 4 as \"mat4\"
output vec4 gl_Position
temp vec4 t1
temp vec4 t2
temp vec4 t3
temp vec4 t4

func main() {
  MUL t1.xyzw, my_TransformMatrix[0].xyzw, my_Vertex.xxxx ; line 5
  MUL t2.xyzw, my_TransformMatrix[1].xyzw, my_Vertex.yyyy ; line 5
  ADD t3.xyzw, t1.xyzw, t2.xyzw
  MUL t1.xyzw, my_TransformMatrix[2].xyzw, my_Vertex.zzzz
  ADD t4.xyzw, t3.xyzw, t1.xyzw
  MUL t1.xyzw, my_TransformMatrix[3].xyzw, my_Vertex.wwww
  ADD gl_Position.xyzw, t4.xyzw, t1.xyzw
}
";

fn parse(text: &str) -> tac::Program {
    tac::text::parse(FileId::default(), text).unwrap_or_else(|e| panic!("{e}"))
}

fn build(text: &str, pipeline: &str) -> Compiled {
    let options = CompileOptions { check: true, ..CompileOptions::default() };
    let target = Target::builtin("vec4").unwrap();
    compile(&parse(text), &target, &Pipeline::builtin(pipeline).unwrap(), &options).unwrap_or_else(|e| panic!("{e}"))
}

fn words(compiled: &Compiled) -> Vec<&'static str> {
    compiled.program.insts.iter().map(|i| i.op.mnemonic()).collect()
}

#[test]
fn the_paper_s_example_is_four_instructions_and_one_temporary() {
    for pipeline in ["paper", "egraph"] {
        let compiled = build(TRANSFORM, pipeline);
        assert_eq!(words(&compiled), ["MUL", "MAD", "MAD", "MAD", "END"], "{pipeline}\n{}", compiled.program);
        let counts = compiled.statistics.counts;
        assert_eq!((counts.instructions, counts.slots, counts.temps), (4, 4, 1), "{pipeline}");
        assert_eq!((counts.uniforms, counts.constants, counts.inputs, counts.outputs), (4, 4, 1, 1), "{pipeline}");
    }
}

#[test]
fn without_reuse_each_value_has_a_temporary_of_its_own() {
    let options = CompileOptions { reuse_registers: false, check: true, ..CompileOptions::default() };
    let target = Target::builtin("vec4").unwrap();
    let pipeline = Pipeline::builtin("paper").unwrap();
    let compiled = compile(&parse(TRANSFORM), &target, &pipeline, &options).unwrap();
    assert_eq!(compiled.statistics.counts.temps, 3, "{}", compiled.program);
}

#[test]
fn it_runs() {
    let source = parse(TRANSFORM);
    for pipeline in ["none", "paper", "egraph"] {
        let compiled = build(TRANSFORM, pipeline);
        for seed in 0..20 {
            let env = GenEnv::new(seed, &source, true);
            let quad: [&dyn Env; 4] = [&env; 4];
            let expected = tac::interp::run_quad(&source, quad, Default::default()).unwrap();
            let got = common::simulate(&compiled.program, &source, quad, Default::default());
            let close = |a: f32, b: f32| match pipeline {
                "egraph" => (a - b).abs() <= 1e-4 * a.abs().max(1.0),
                _ => same_bits(a, b),
            };
            assert_eq!(expected[0].first_difference(&got[0], close), None, "{pipeline}, seed {seed}");
        }
    }
}

#[test]
fn a_kept_product_is_not_fused_by_the_paper_s_rule() {
    let kept = TRANSFORM
        .replace("output vec4 gl_Position", "output vec4 gl_Position\nvarying vec4 kept")
        .replace("  ADD t3", "  MOV kept.xyzw, t2.xyzw\n  ADD t3");
    let compiled = build(&kept, "paper");
    let mads = words(&compiled).iter().filter(|w| **w == "MAD").count();
    // the second product is kept: its sum takes the first one instead
    assert!(mads <= 3, "{}", compiled.program);
    assert_eq!(compiled.statistics.counts.instructions, 5, "{}", compiled.program);
}

#[test]
fn two_half_vector_sums_become_one() {
    let halves = "\
stage vert
version 110
entry main

attribute vec4 a
attribute vec4 b
output vec4 gl_Position
temp vec2 p
temp vec2 q

func main() {
  ADD p.xy, a.xy, b.xy
  ADD q.xy, a.zw, b.zw
  MOV gl_Position.xy, p.xy
  MOV gl_Position.zw, q.xy
}
";
    for pipeline in ["paper", "egraph"] {
        assert_eq!(words(&build(halves, pipeline)), ["ADD", "END"], "{pipeline}");
        // the second sum needs the first: they stay apart, and the first, which is read again, is
        // copied to the output, which cannot be read
        let chained = halves.replace("a.zw, b.zw", "p.xy, b.zw");
        let compiled = build(&chained, pipeline);
        assert_eq!(words(&compiled).iter().filter(|w| **w == "ADD").count(), 2, "{pipeline}\n{}", compiled.program);
        assert_eq!(compiled.statistics.counts.instructions, 3, "{pipeline}\n{}", compiled.program);
    }
}

#[test]
fn what_does_not_fit_says_what_and_by_how_much() {
    let wide = TRANSFORM
        .replace("my_TransformMatrix[4]", "my_TransformMatrix[300]")
        .replace("  ADD gl_Position.xyzw, t4.xyzw, t1.xyzw", "  ARR\n");
    let body: String =
        (0..300).map(|i| format!("  ADD gl_Position.xyzw, gl_Position.xyzw, my_TransformMatrix[{i}].xyzw\n")).collect();
    let wide = wide.replace("  ARR\n", &body).replace(" cols 4 as \"mat4\"", "");
    let target = Target::builtin("vec4").unwrap();
    let result =
        compile(&parse(&wide), &target, &Pipeline::builtin("none").unwrap(), &CompileOptions::default()).map(|_| ());
    let Err(error) = result else { panic!("300 constants fit") };
    assert!(matches!(error, Error::DoesNotFit { what: Resource::Constants, need: 300, limit: 256, .. }), "{error:?}");
}

#[test]
fn exact_extraction_needs_its_feature_and_says_so() {
    let target = Target::builtin("vec4").unwrap();
    let pipeline = Pipeline::builtin("egraph-exact").unwrap();
    let result = compile(&parse(TRANSFORM), &target, &pipeline, &CompileOptions::default()).map(|_| ());
    assert!(matches!(&result, Err(Error::Pipeline(text)) if text.contains("exact")), "{result:?}");
}

#[test]
fn reflection_names_every_register() {
    let compiled = build(TRANSFORM, "egraph");
    let r = &compiled.reflection;
    assert_eq!((r.inputs[0].name.as_str(), r.inputs[0].register.as_str()), ("my_Vertex", "v0"));
    assert_eq!((r.outputs[0].semantic.as_str(), r.outputs[0].register.as_str()), ("position", "o0"));
    let registers: Vec<&str> = r.uniforms[0].registers.iter().map(|u| u.register.as_str()).collect();
    assert_eq!((r.uniforms[0].r#type.as_str(), registers), ("mat4", vec!["c0", "c1", "c2", "c3"]));
}

#[test]
fn two_compiles_give_the_same() {
    for pipeline in ["none", "paper", "egraph"] {
        assert_eq!(build(TRANSFORM, pipeline).program, build(TRANSFORM, pipeline).program);
    }
}
