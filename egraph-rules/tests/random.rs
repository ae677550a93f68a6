//! Random SSA through the whole stage. At level strict the outputs must be the same bits, whatever
//! is extracted: by cost with packing and improvement, by the tree, or by chance; and with any rule
//! group off.

use bumpalo::Bump;
use egraph_rules::plan::Method;
use egraph_rules::rules::Group;
use egraph_rules::{Options, optimize};
use ir::cost::CostTable;
use ir::env::Outputs;
use ir::eval::same_bits;
use ir::func::Function;
use ir::interp::{InterpOptions, run};
use ir::pass::{Driver, FunctionPass, PassCtx};
use ir::tac::{FuncDecl, Program};
use ir::testing::gen_env::GenEnv;
use ir::testing::gen_ssa::generate_ssa;
use ir::types::FpLevel;
use ir::verify::verify;

fn envs(func: &Function<'_>, seed: u64) -> Vec<GenEnv> {
    let mut funcs = cranelift_entity::PrimaryMap::new();
    let main = funcs.push(FuncDecl { name: "main".to_string(), params: Vec::new(), body: Vec::new(), line: 0 });
    let shell = Program { stage: func.stage, version: 110, vars: func.vars.clone(), funcs, main };
    (0..3).map(|i| GenEnv::new(seed.wrapping_mul(31).wrapping_add(i), &shell, false)).collect()
}

fn outputs(func: &Function<'_>, envs: &[GenEnv]) -> Vec<Outputs> {
    envs.iter().map(|env| run(func, env, InterpOptions::default()).expect("generated loops end")).collect()
}

/// Optimizes one random function and compares. Returns slots before and after.
fn check(seed: u64, size: u32, options: &Options) -> (u64, u64) {
    let arena = Bump::new();
    let mut func = generate_ssa(&arena, seed, size);
    let lower = ir::passes::ALL.iter().find(|p| p.name == "lower-types").expect("the pass exists");
    let ctx = PassCtx { fp: FpLevel::Strict, ..PassCtx::default() };
    Driver::new().run(&mut func, &[lower as &dyn FunctionPass], &ctx).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    let envs = envs(&func, seed);
    let expected = outputs(&func, &envs);
    let before = ir::text::print(&func);
    let report = optimize(&mut func, &CostTable::default(), options).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    let after = ir::text::print(&func);
    if let Err(errors) = verify(&func) {
        panic!("seed {seed}: {}\nbefore:\n{before}after:\n{after}", errors[0]);
    }
    for (a, b) in expected.iter().zip(outputs(&func, &envs)) {
        if let Some(difference) = a.first_difference(&b, same_bits) {
            panic!("seed {seed}: {difference}\nbefore:\n{before}after:\n{after}");
        }
    }
    (report.plan[0].planned.slots, report.plan[1].planned.slots)
}

fn strict() -> Options {
    Options { level: FpLevel::Strict, ..Options::default() }
}

#[test]
fn the_default_plan_changes_no_bit() {
    let (mut before, mut after) = (0, 0);
    for seed in 0..300 {
        let (a, b) = check(seed, 60, &strict());
        before += a;
        after += b;
    }
    assert!(after < before, "{after} slots, {before} before");
}

#[test]
fn any_legal_choice_changes_no_bit() {
    for seed in 0..400 {
        check(seed, 40, &Options { extract: Method::Chaos(seed), ..strict() });
    }
}

#[test]
fn every_group_can_be_left_out() {
    for group in Group::ALL {
        let groups: Vec<Group> = Group::ALL.into_iter().filter(|&g| g != group).collect();
        for seed in 500..530 {
            check(seed, 40, &Options { groups: groups.clone(), ..strict() });
            check(seed, 40, &Options { groups: groups.clone(), extract: Method::Chaos(seed), ..strict() });
        }
    }
}

#[test]
fn large_functions_stay_in_bounds() {
    for seed in 900..904 {
        check(seed, 600, &strict());
    }
}
