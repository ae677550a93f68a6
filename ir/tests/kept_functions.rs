//! Random programs whose functions stay called: SSA of the module computes what TAC says, bit for
//! bit, after construction and after every pass over every function.

use bumpalo::Bump;
use ir::env::{Env, Outputs};
use ir::eval::same_bits;
use ir::func::Module;
use ir::interp::{InterpOptions, run_module, run_module_quad};
use ir::limits::Limits;
use ir::pass::{Driver, PassCtx};
use ir::tac::inline::{Inline, inline_by};
use ir::tac::{Program, interp};
use ir::testing::gen_env::GenEnv;
use ir::testing::generate::{GenOptions, generate};
use ir::types::{FpLevel, Stage};

fn program(seed: u64) -> Program {
    let stage = if seed.is_multiple_of(3) { Stage::Vertex } else { Stage::Fragment };
    let options = GenOptions {
        stage,
        derivatives: seed.is_multiple_of(2),
        dynamic_arrays: seed.is_multiple_of(5),
        functions: 4,
        many_calls: true,
        ..GenOptions::default()
    };
    generate(seed, &options).program
}

fn verify(module: &Module<'_>, what: &str) {
    for func in &module.funcs {
        if let Err(errors) = ir::verify::verify(func) {
            panic!("{what}, {}: {}\n{}", func.name, errors[0], ir::text::print(func));
        }
    }
}

fn texts(module: &Module<'_>) -> String {
    module.funcs.iter().map(ir::text::print).collect()
}

/// The outputs of a program's inputs: three alone, one quad.
fn expected(program: &Program, envs: &[GenEnv]) -> Vec<Outputs> {
    let options = interp::InterpOptions::default();
    let mut all: Vec<Outputs> = envs.iter().map(|e| interp::run(program, e, options).unwrap()).collect();
    let quad = [0, 1, 2, 3].map(|p| envs[0].neighbour(program, p));
    all.extend(interp::run_quad(program, quad.each_ref().map(|e| e as &dyn Env), options).unwrap());
    all
}

fn found(module: &Module<'_>, program: &Program, envs: &[GenEnv]) -> Vec<Outputs> {
    let options = InterpOptions::default();
    let mut all: Vec<Outputs> = envs.iter().map(|e| run_module(module, e, options).unwrap()).collect();
    let quad = [0, 1, 2, 3].map(|p| envs[0].neighbour(program, p));
    all.extend(run_module_quad(module, quad.each_ref().map(|e| e as &dyn Env), options).unwrap());
    all
}

fn compare(seed: u64, what: &str, program: &Program, module: &Module<'_>, expected: &[Outputs], envs: &[GenEnv]) {
    for (run, (a, b)) in expected.iter().zip(found(module, program, envs)).enumerate() {
        if let Some(difference) = a.first_difference(&b, same_bits) {
            panic!(
                "seed {seed}, {what}, run {run}: {difference}\n{}\n{}",
                ir::tac::text::print(program),
                texts(module)
            );
        }
    }
}

#[test]
fn calls_compute_what_the_program_says_after_every_pass() {
    let mut calls = 0;
    let mut nested = 0;
    let limits = Limits::default();
    for seed in 0..400 {
        let program = program(seed);
        let inlined = inline_by(&program, Inline::Never, &limits).unwrap();
        let envs: Vec<GenEnv> = (0..3).map(|i| GenEnv::new(seed * 31 + i, &program, false)).collect();
        let expected = expected(&program, &envs);
        let arena = Bump::new();
        let mut module =
            ir::ssa::build_module(&inlined, &arena, &limits).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        calls += module.funcs.len() - 1;
        nested += module.funcs[1..].iter().filter(|f| !f.callees.is_empty()).count();
        verify(&module, &format!("seed {seed}, built"));
        compare(seed, "built", &program, &module, &expected, &envs);
        let ctx = PassCtx { fp: FpLevel::Strict, ..PassCtx::default() };
        for pass in ir::passes::ALL {
            for func in &mut module.funcs {
                Driver::new().run(func, &[pass], &ctx).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            }
            verify(&module, &format!("seed {seed}, {}", pass.name));
            compare(seed, pass.name, &program, &module, &expected, &envs);
        }
        for func in &module.funcs {
            let text = ir::text::print(func);
            let arena = Bump::new();
            let read = ir::text::parse(&arena, &text, Default::default()).unwrap_or_else(|e| panic!("{e}\n{text}"));
            assert_eq!(ir::text::print(&read), text);
        }
    }
    assert!(calls > 200 && nested > 30, "{calls} kept functions, {nested} of them with calls");
}
