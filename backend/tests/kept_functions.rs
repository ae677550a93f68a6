//! Functions that stay called: random programs under `inline = "never"`, bit for bit at `strict`, and
//! the cases that calls are made of, one by one.

#![allow(clippy::print_stdout)] // the figures of a run

mod common;

use backend::emit::vec4_bits;
use backend::mach::Opcode;
use backend::{CompileOptions, Compiled, Error, Pipeline, Target, compile};
use common::simulate;
use ir::diag::FileId;
use ir::env::Env;
use ir::eval::same_bits;
use ir::tac::inline::Inline;
use ir::tac::{self, Program};
use ir::testing::gen_env::GenEnv;
use ir::testing::generate::{GenOptions, generate};
use ir::types::{FpLevel, Stage};

const PIPELINES: [&str; 3] = ["none", "paper", "egraph"];

fn never(name: &str) -> Pipeline {
    Pipeline { fp: FpLevel::Strict, inline: Inline::Never, ..Pipeline::builtin(name).unwrap() }
}

/// Compiles and compares the simulated binary with the TAC interpreter on a few quads.
fn judge(seed: u64, program: &Program, pipeline: &Pipeline) -> Result<Option<Compiled>, String> {
    let target = Target::builtin("vec4").unwrap();
    let options = CompileOptions { check: true, ..CompileOptions::default() };
    let fail = |what: String| format!("seed {seed}, {}: {what}\n{}", pipeline.name, tac::text::print(program));
    let compiled = match compile(program, &target, pipeline, &options) {
        Ok(compiled) => compiled,
        Err(Error::DoesNotFit { .. }) => return Ok(None),
        Err(error) => return Err(fail(error.to_string())),
    };
    let bytes = vec4_bits::encode(&compiled.program).map_err(&fail)?;
    let decoded = vec4_bits::decode(&bytes).map_err(&fail)?;
    for input in 0..3 {
        let env = GenEnv::new(seed * 1000 + input, program, false);
        let quad = [0, 1, 2, 3].map(|p| env.neighbour(program, p));
        let envs = quad.each_ref().map(|e| e as &dyn Env);
        let expected = tac::interp::run_quad(program, envs, Default::default()).unwrap();
        let got = simulate(&decoded, program, envs, target.eval());
        for (expected, got) in expected.iter().zip(&got) {
            if let Some(difference) = expected.first_difference(got, same_bits) {
                return Err(fail(format!("{difference}\n{}", compiled.program)));
            }
        }
    }
    Ok(Some(compiled))
}

fn calls(compiled: &Compiled) -> usize {
    compiled.program.insts.iter().filter(|i| i.op == Opcode::Cal).count()
}

#[test]
fn random_programs_compute_what_they_say() {
    let (mut runs, mut too_large, mut with_calls, mut nested) = (0, 0, 0, 0);
    let mut failures: Vec<String> = Vec::new();
    for seed in 0..500 {
        let options = GenOptions {
            stage: if seed % 3 == 0 { Stage::Vertex } else { Stage::Fragment },
            derivatives: seed % 2 == 0,
            dynamic_arrays: seed % 5 == 0,
            functions: 4,
            many_calls: true,
            statements: 4 + (seed % 9) as u32,
            ..GenOptions::default()
        };
        let program = generate(seed, &options).program;
        let mut pipeline = never(PIPELINES[seed as usize % PIPELINES.len()]);
        if seed % 7 == 0 {
            pipeline.regalloc.coalesce = false;
        }
        if seed % 11 == 1 {
            pipeline.regalloc.method = "scan".to_owned();
        }
        runs += 1;
        match judge(seed, &program, &pipeline) {
            Err(failure) => failures.push(failure),
            Ok(None) => too_large += 1,
            Ok(Some(compiled)) => {
                with_calls += usize::from(calls(&compiled) > 0);
                nested += usize::from(compiled.kept.iter().any(|k| k.insts.iter().any(|i| i.op == Opcode::Cal)));
            }
        }
    }
    if let Some(shortest) = failures.iter().min_by_key(|f| f.len()) {
        panic!("{} failures, the shortest: {shortest}", failures.len());
    }
    println!("{runs} programs, {too_large} did not fit, {with_calls} with calls, {nested} with calls in calls");
    assert!(too_large * 4 < runs && with_calls * 4 > runs && nested > 10, "too few calls");
}

/// One program text under every pipeline; returns the calls in the code of the last.
fn check(decls: &str, functions: &str) -> usize {
    let text = format!("stage frag\nuniform vec4 u\nvarying vec4 v\noutput vec4 o\n{decls}\n{functions}\n");
    let program = tac::text::parse(FileId::default(), &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(tac::verify::verify(&program), []);
    let mut found = 0;
    for name in PIPELINES {
        for seed in 0..4 {
            let compiled = judge(seed, &program, &never(name)).unwrap_or_else(|e| panic!("{e}"));
            found = calls(&compiled.expect("it is small"));
        }
    }
    found
}

#[test]
fn out_and_inout_parameters() {
    // the second parameter comes back as another value, the third is only given back
    let f = "func f(a, b, c) {\nADD b.xyzw, b.xyzw, a.xyzw\nMUL c.xy, b.xy, a.zw\n}\n\
        func main() {\nMOV a.xyzw, u.xyzw\nMOV b.xyzw, v.xyzw\nCAL f\nMOV o.xyzw, b.xyzw\nADD o.xy, o.xy, c.xy\n\
        MOV a.xyzw, b.wzyx\nMOV b.xyzw, o.xyzw\nCAL f\nADD o.zw, b.xy, c.xy\n}";
    assert_eq!(check("local vec4 a\nlocal vec4 b\nlocal vec2 c", f), 2);
}

#[test]
fn what_lives_across_a_call_survives() {
    let f = "func f(a) {\nMUL t.xyzw, a.xyzw, a.wzyx\nADD t2.xyzw, t.yzwx, a.xyzw\nMUL t.xyzw, t.xyzw, t2.xyzw\n\
        ADD a.xyzw, t.xyzw, t2.xyzw\n}\n\
        func main() {\nMUL k.xyzw, u.xyzw, v.xyzw\nADD l.xyzw, u.yxwz, v.xyzw\nMOV a.xyzw, v.xyzw\nCAL f\n\
        MUL k.xyzw, k.xyzw, a.xyzw\nCAL f\nADD o.xyzw, k.xyzw, l.xyzw\nADD o.xyzw, o.xyzw, a.xyzw\n}";
    assert_eq!(check("local vec4 a\nlocal vec4 k\nlocal vec4 l\ntemp vec4 t\ntemp vec4 t2", f), 2);
}

#[test]
fn globals_in_nested_calls() {
    let f = "func g() {\nADD n.x, n.x, u.x\n}\nfunc f() {\nCAL g\nMUL n.y, n.x, v.y\nCAL g\n}\n\
        func main() {\nMOV n.xy, v.xy\nCAL f\nMOV o.xy, n.xy\nCAL g\nMOV o.zw, n.xy\n}";
    assert_eq!(check("local vec2 n", f), 4);
}

#[test]
fn calls_in_loops_and_branches_with_early_returns() {
    let f = "func f() {\nMOV i.x, float(0)\nLOOP\nADD i.x, i.x, float(1)\nADD x.x, x.x, v.x\nSLT p.x, u.x, i.x\nIF p.x\nRET\n\
        ENDIF\nSLT p.x, float(3), i.x\nIF p.x\nBRK\nENDIF\nENDLOOP\nMUL x.x, x.x, float(0.5)\n}\n\
        func main() {\nMOV x.x, v.y\nMOV j.x, float(0)\nLOOP\nADD j.x, j.x, float(1)\nSLT p.x, v.z, j.x\nIF p.x\nCAL f\nELSE\n\
        ADD x.x, x.x, j.x\nENDIF\nSGE p.x, j.x, float(4)\nIF p.x\nBRK\nENDIF\nENDLOOP\nMOV o.xyzw, x.xxxx\n}";
    // `egraph` unrolls the loop
    assert_eq!(check("local float x\nlocal float i\nlocal float j\ntemp bool p", f), 4);
}

#[test]
fn outputs_lookups_and_discard_in_a_function() {
    let f = "func f() {\nADD t.xy, v.xy, o.xy\nTXL o.xyzw, t.xy, float(0), s, 2D\nADD t.x, v.x, float(0.5)\nKIL t.x\n}\n\
        func main() {\nMOV o.xyzw, u.xyzw\nCAL f\nADD o.x, o.x, u.y\nCAL f\n}";
    assert_eq!(check("sampler 2D float s\ntemp vec2 t", f), 2);
}

#[test]
fn implicit_lookups_see_their_neighbours_in_each_call() {
    let f = "func f() {\nTEX t.xyzw, x.xy, s, 2D\nADD o.xyzw, o.xyzw, t.xyzw\n}\n\
        func main() {\nMOV o.xyzw, u.xyzw\nMOV x.xy, v.xy\nCAL f\nMOV x.xy, v.wz\nCAL f\n}";
    assert_eq!(check("sampler 2D float s\nlocal vec2 x\ntemp vec4 t", f), 2);
}

#[test]
fn targets_without_calls_get_none() {
    let toml = include_str!("../targets/vec4.toml");
    let without: String = toml.lines().filter(|l| !l.starts_with("CAL ")).map(|l| format!("{l}\n")).collect();
    let target = Target::from_toml(&without).unwrap();
    let text = "stage frag\nuniform vec4 u\noutput vec4 o\nfunc f() {\nADD o.x, o.x, u.x\n}\n\
        func main() {\nMOV o.xyzw, u.xyzw\nCAL f\nCAL f\n}\n";
    let program = tac::text::parse(FileId::default(), text).unwrap();
    let compiled = compile(&program, &target, &never("egraph"), &CompileOptions::default()).unwrap();
    assert_eq!(calls(&compiled), 0);
}
