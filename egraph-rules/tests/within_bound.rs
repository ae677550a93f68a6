//! Random programs at level glsl: results stay within the documented bound of the interpreter's,
//! nothing finite becomes NaN, whatever is extracted and whichever rule groups are on. Compared is
//! where the reference itself is stable when each operation is off by its last bit.

use bumpalo::Bump;
use egraph_rules::plan::Method;
use egraph_rules::rules::Group;
use egraph_rules::saturate::Limits;
use egraph_rules::{Options, optimize};
use ir::cost::CostTable;
use ir::env::{Env, Outputs};
use ir::eval::EvalCfg;
use ir::pass::{Driver, FunctionPass, PassCtx};
use ir::tac::inline::{MAX_INLINED_INSTS, inline};
use ir::tac::{self, Program};
use ir::testing::gen_env::GenEnv;
use ir::testing::generate::{GenOptions, generate};
use ir::types::{FpLevel, Stage};
use ir::{interp, ssa, text, verify};

fn program(seed: u64) -> Program {
    let stage = if seed.is_multiple_of(2) { Stage::Vertex } else { Stage::Fragment };
    let options =
        GenOptions { stage, tame: true, statements: 6 + (seed % 13) as u32, functions: 1, ..GenOptions::default() };
    inline(&generate(seed, &options).program, MAX_INLINED_INSTS).unwrap_or_else(|e| panic!("seed {seed}: {e}"))
}

fn reference(program: &Program, env: &dyn Env, jitter: Option<u64>) -> Outputs {
    tac::interp::run(program, env, tac::interp::InterpOptions { jitter, ..Default::default() }).expect("programs end")
}

/// Compares one program; returns how many lanes were stable enough to compare.
fn check(seed: u64, options: &Options) -> usize {
    let program = program(seed);
    let arena = Bump::new();
    let mut func = ssa::build(&program, &arena).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    let lower = ir::passes::ALL.iter().find(|p| p.name == "lower-types").expect("the pass exists");
    let ctx = PassCtx { fp: FpLevel::Glsl, ..PassCtx::default() };
    Driver::new().run(&mut func, &[lower as &dyn FunctionPass], &ctx).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    let before = text::print(&func);
    optimize(&mut func, &CostTable::default(), options).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    if let Err(errors) = verify::verify(&func) {
        panic!("seed {seed}: {}\nbefore:\n{before}after:\n{}", errors[0], text::print(&func));
    }
    let mut compared = 0;
    for i in 0..2 {
        let env = GenEnv::new(seed * 1000 + i, &program, true);
        let expected = reference(&program, &env, None);
        let shaken: Vec<Outputs> = (1..=4).map(|j| reference(&program, &env, Some(j))).collect();
        let got = interp::run(&func, &env, interp::InterpOptions { cfg: options.eval, ..Default::default() })
            .expect("optimized programs end");
        if shaken.iter().any(|s| s.discarded != expected.discarded) || expected.discarded {
            continue;
        }
        for (&(var, elem), lanes) in &expected.lanes {
            for (lane, value) in lanes.iter().enumerate() {
                let Some(value) = *value else { continue };
                let size = value.abs().max(1.0);
                let near = |o: &Outputs, bound: f32| {
                    o.get(var, elem, lane as u8).is_some_and(|x| (x - value).abs() <= bound * size)
                };
                if !value.is_finite() || !shaken.iter().all(|s| near(s, 5e-6)) {
                    continue;
                }
                compared += 1;
                assert!(
                    near(&got, 1e-4),
                    "seed {seed}: {var}[{elem}] lane {lane}: {value} and {:?}\nbefore:\n{before}after:\n{}",
                    got.get(var, elem, lane as u8),
                    text::print(&func)
                );
            }
        }
    }
    compared
}

#[test]
fn the_default_stays_within_the_bound() {
    let compared: usize = (0..160).map(|seed| check(seed, &Options::default())).sum();
    assert!(compared > 900, "only {compared} lanes were stable");
}

#[test]
fn any_legal_choice_stays_within_the_bound() {
    for seed in 250..340 {
        check(seed, &Options { extract: Method::Chaos(seed), ..Options::default() });
    }
}

#[test]
fn every_group_alone_and_left_out() {
    for (i, group) in Group::ALL.into_iter().enumerate() {
        let rest = Group::ALL.into_iter().filter(|&g| g != group).collect();
        for seed in (400 + i as u64 * 20)..(412 + i as u64 * 20) {
            check(seed, &Options { groups: vec![group], ..Options::default() });
            check(seed, &Options { groups: Vec::clone(&rest), ..Options::default() });
        }
    }
}

#[test]
fn saturation_and_other_arithmetics_stay_within_the_bound() {
    for seed in 600..620 {
        let limits = Limits { saturate_nodes: 3_000, ..Limits::default() };
        check(seed, &Options { saturate: true, limits, ..Options::default() });
        let eval = EvalCfg { zero_wins: true, fused_mad: true };
        check(seed, &Options { eval, ..Options::default() });
    }
}
