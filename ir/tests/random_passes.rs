//! Runs random SSA before and after every pass: the outputs must be the same bits. A failure prints
//! the seed, the pass and both functions.

use bumpalo::Bump;
use ir::env::{Env, Outputs};
use ir::eval::same_bits;
use ir::func::Function;
use ir::interp::{InterpOptions, run, run_quad};
use ir::pass::{Driver, FunctionPass, Observer, PassCtx, PassReport, passes_by_name};
use ir::tac::inline::{MAX_INLINED_INSTS, inline};
use ir::tac::{FuncDecl, Program};
use ir::testing::gen_env::GenEnv;
use ir::testing::gen_ssa::generate_ssa;
use ir::testing::generate::{GenOptions, generate};
use ir::testing::rng::Rng;
use ir::types::{FpLevel, Stage};

/// A program with the function's variables and no code, for what makes inputs from one.
fn shell(func: &Function<'_>) -> Program {
    let mut funcs = cranelift_entity::PrimaryMap::new();
    let main = funcs.push(FuncDecl { name: "main".to_string(), params: Vec::new(), body: Vec::new(), line: 0 });
    Program { stage: func.stage, version: 110, vars: func.vars.clone(), funcs, main }
}

/// Compares the outputs around each pass.
struct Judge {
    shell: Program,
    envs: Vec<GenEnv>,
    text: String,
    expected: Vec<Outputs>,
}

impl Judge {
    fn new(func: &Function<'_>, seed: u64) -> Judge {
        let shell = shell(func);
        let envs = (0..3).map(|i| GenEnv::new(seed.wrapping_mul(31).wrapping_add(i), &shell, false)).collect();
        Judge { shell, envs, text: String::new(), expected: Vec::new() }
    }

    fn outputs(&self, func: &Function<'_>) -> Vec<Outputs> {
        let options = InterpOptions::default();
        let alone = self.envs.iter().map(|env| run(func, env, options).expect("generated loops end"));
        let mut all: Vec<Outputs> = alone.collect();
        if func.stage == Stage::Fragment {
            let quad: Vec<GenEnv> = (0..4).map(|p| self.envs[0].neighbour(&self.shell, p)).collect();
            let envs = [&quad[0] as &dyn Env, &quad[1], &quad[2], &quad[3]];
            all.extend(run_quad(func, envs, options).expect("generated loops end"));
        }
        all
    }
}

impl Observer for Judge {
    fn before(&mut self, index: usize, _: &str, func: &Function<'_>) {
        self.text = ir::text::print(func);
        if index == 0 {
            self.expected = self.outputs(func);
        }
    }

    fn after(&mut self, _: usize, pass: &str, func: &Function<'_>, _: bool) -> Result<(), String> {
        for (run, (a, b)) in self.expected.iter().zip(self.outputs(func)).enumerate() {
            if let Some(difference) = a.first_difference(&b, same_bits) {
                let after = ir::text::print(func);
                return Err(format!("{pass}, run {run}: {difference}\nbefore:\n{}after:\n{after}", self.text));
            }
        }
        Ok(())
    }
}

fn check(seed: u64, passes: &[&dyn FunctionPass]) -> bool {
    let arena = Bump::new();
    check_func(seed, generate_ssa(&arena, seed, 60), passes)
}

/// The same on SSA that construction makes of a random program.
fn check_built(seed: u64, passes: &[&dyn FunctionPass]) -> bool {
    let stage = if seed.is_multiple_of(3) { Stage::Vertex } else { Stage::Fragment };
    let options = GenOptions { stage, derivatives: seed.is_multiple_of(2), ..GenOptions::default() };
    let program = generate(seed, &options).program;
    let inlined = inline(&program, MAX_INLINED_INSTS).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    let arena = Bump::new();
    let func = ir::ssa::build(&inlined, &arena).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    check_func(seed, func, passes)
}

fn check_func(seed: u64, mut func: Function<'_>, passes: &[&dyn FunctionPass]) -> bool {
    let ctx = PassCtx { fp: FpLevel::Strict, ..PassCtx::default() };
    check_with(seed, &mut func, passes, &ctx).runs.iter().any(|r| r.changed)
}

fn check_with(seed: u64, func: &mut Function<'_>, passes: &[&dyn FunctionPass], ctx: &PassCtx) -> PassReport {
    let mut judge = Judge::new(func, seed);
    Driver::judged(&mut judge).run(func, passes, ctx).unwrap_or_else(|error| panic!("seed {seed}: {error}"))
}

#[test]
fn exits_become_straight_code() {
    let mut ctx = PassCtx { fp: FpLevel::Strict, ..PassCtx::default() };
    ctx.costs.has_branches = false;
    ctx.options.unroll.exits = true;
    let names = ["sccp", "unroll", "scalarize-aggregates", "flatten-ifs", "flatten-exits"];
    let passes = passes_by_name(names).unwrap();
    let passes: Vec<&dyn FunctionPass> = passes.into_iter().map(|p| p as &dyn FunctionPass).collect();
    let (mut straight, mut changed) = (0, 0);
    for seed in 50_000..50_600 {
        let arena = Bump::new();
        let mut func = generate_ssa(&arena, seed, 60);
        let report = check_with(seed, &mut func, &passes, &ctx);
        changed += usize::from(report.runs.iter().any(|r| r.changed && r.name == "flatten-exits"));
        straight += usize::from(func.layout.len() == 1);
    }
    assert!(changed > 30 && straight > 300, "{changed} of {straight} straight ones had exits");
}

#[test]
fn every_pass_alone() {
    for pass in ir::passes::ALL {
        let changed = (0..400).filter(|&seed| check(seed, &[pass as &dyn FunctionPass])).count();
        assert_worked(pass.name, changed);
    }
}

/// A pass that never finds anything to do would make this test empty.
fn assert_worked(pass: &str, changed: usize) {
    // A sum of a product that nothing else reads is rare here; built functions have many.
    // Built functions have no computed index of a sampler; `tests/dynamic_indexing.rs` has.
    let enough = match pass {
        // This target indexes everything; `random_orders.rs` has one that does not.
        "expand-sampler-indices" | "lower-indexing" => 0,
        // Rounds otherwise, so never at this level; `reassociate_products.rs` judges it.
        "reassociate-products" => 0,
        // This target has branches; `exits_become_straight_code` has none.
        "flatten-exits" => 0,
        "fuse-mad" => 1,
        _ => 10,
    };
    assert!(changed >= enough, "`{pass}` changed {changed} of 400 random functions");
}

#[test]
fn passes_in_any_order() {
    for seed in 10_000..10_400 {
        let mut rng = Rng::new(seed);
        let passes: Vec<&dyn FunctionPass> = (0..6).map(|_| rng.pick(ir::passes::ALL) as &dyn FunctionPass).collect();
        check(seed, &passes);
    }
}

#[test]
fn every_pass_alone_on_built_functions() {
    for pass in ir::passes::ALL {
        for seed in 20_000..20_080 {
            check_built(seed, &[pass as &dyn FunctionPass]);
        }
    }
}

#[test]
fn passes_in_any_order_on_built_functions() {
    for seed in 30_000..30_200 {
        let mut rng = Rng::new(seed);
        let passes: Vec<&dyn FunctionPass> = (0..6).map(|_| rng.pick(ir::passes::ALL) as &dyn FunctionPass).collect();
        check_built(seed, &passes);
    }
}

#[test]
fn the_text_form_comes_back() {
    for seed in 0..200 {
        let arena = Bump::new();
        let func = generate_ssa(&arena, seed, 80);
        let text = ir::text::print(&func);
        let again = ir::text::parse(&arena, &text, Default::default())
            .unwrap_or_else(|d| panic!("seed {seed}: {}\n{text}", d.message));
        assert_eq!(text, ir::text::print(&again), "seed {seed}");
        ir::verify::verify(&again).unwrap_or_else(|e| panic!("seed {seed}: {}\n{text}", e[0]));
        let program = inline(&generate(seed, &GenOptions::default()).program, MAX_INLINED_INSTS).unwrap();
        let text = ir::text::print(&ir::ssa::build(&program, &arena).unwrap());
        let again = ir::text::parse(&arena, &text, Default::default())
            .unwrap_or_else(|d| panic!("seed {seed}: {}\n{text}", d.message));
        assert_eq!(text, ir::text::print(&again), "seed {seed}");
    }
}

#[test]
fn generated_functions_are_worth_running() {
    let (mut branches, mut loops, mut discards) = (0, 0, 0);
    for seed in 0..200 {
        let arena = Bump::new();
        let func = generate_ssa(&arena, seed, 60);
        let outputs = Judge::new(&func, seed).outputs(&func);
        discards += usize::from(outputs[0].discarded);
        branches += usize::from(func.layout.len() > 5);
        loops += usize::from(func.layout.iter().any(|&b| func.blocks[b].loop_merge.is_some()));
    }
    assert!(branches > 100 && loops > 50 && discards < 60, "{branches} {loops} {discards}");
}

#[test]
fn passes_come_to_rest() {
    for pass in ir::passes::ALL {
        for seed in 40_000..40_100 {
            let arena = Bump::new();
            let mut func = generate_ssa(&arena, seed, 60);
            let ctx = PassCtx { fp: FpLevel::Strict, ..PassCtx::default() };
            let mut turns = 0;
            while (pass.run)(&mut func, &ctx).unwrap() {
                turns += 1;
                assert!(
                    turns <= 4,
                    "{} goes on after {turns} turns on seed {seed}:\n{}",
                    pass.name,
                    ir::text::print(&func)
                );
            }
        }
    }
}
