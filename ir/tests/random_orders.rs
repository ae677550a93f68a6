//! Random programs through every pass, alone and in random orders: the function stays valid and
//! computes the same bits before and after each pass.

use bumpalo::Bump;
use ir::cost::Indexed;
use ir::env::{Env, Outputs};
use ir::eval::same_bits;
use ir::func::Function;
use ir::pass::{Driver, FunctionPass, Observer, PassCtx};
use ir::tac::Program;
use ir::tac::inline::{MAX_INLINED_INSTS, inline};
use ir::testing::gen_env::GenEnv;
use ir::testing::generate::{GenOptions, generate};
use ir::testing::rng::Rng;
use ir::types::{FpLevel, Stage};
use ir::{interp, passes, ssa};

/// Runs the function after each pass and compares with the program.
struct Judge {
    envs: Vec<[GenEnv; 4]>,
    expected: Vec<[Outputs; 4]>,
    before: String,
}

fn run_quad(func: &Function<'_>, envs: &[GenEnv; 4]) -> [Outputs; 4] {
    let quad = [0, 1, 2, 3].map(|p| &envs[p] as &dyn Env);
    interp::run_quad(func, quad, Default::default()).unwrap()
}

impl Judge {
    fn new(seed: u64, program: &Program, tame: bool, func: &Function<'_>) -> Judge {
        let envs: Vec<[GenEnv; 4]> = (0..2)
            .map(|i| {
                let env = GenEnv::new(seed * 1000 + i, program, tame);
                [0, 1, 2, 3].map(|p| env.neighbour(program, p))
            })
            .collect();
        let expected = envs.iter().map(|e| run_quad(func, e)).collect();
        Judge { envs, expected, before: String::new() }
    }
}

impl Observer for Judge {
    fn before(&mut self, _: usize, _: &str, func: &Function<'_>) {
        self.before = ir::text::print(func);
    }

    fn after(&mut self, _: usize, pass: &str, func: &Function<'_>, _: bool) -> Result<(), String> {
        for (envs, expected) in self.envs.iter().zip(&self.expected) {
            let found = run_quad(func, envs);
            for (expected, found) in expected.iter().zip(&found) {
                if let Some(difference) = expected.first_difference(found, same_bits) {
                    let after = ir::text::print(func);
                    return Err(format!("{pass}: {difference}\nbefore:\n{}\nafter:\n{after}", self.before));
                }
            }
        }
        Ok(())
    }
}

fn options(seed: u64) -> GenOptions {
    GenOptions {
        stage: if seed.is_multiple_of(3) { Stage::Vertex } else { Stage::Fragment },
        // Derivatives and implicit lookups differ in flow that is not uniform, which flattening makes.
        derivatives: seed.is_multiple_of(2),
        functions: (seed % 4) as u32,
        statements: 4 + (seed % 17) as u32,
        ..GenOptions::default()
    }
}

/// Returns how many of the passes changed something.
fn check(seed: u64, names: &[&'static str], ctx: &PassCtx) -> usize {
    let options = options(seed);
    let program = generate(seed, &options).program;
    let inlined = inline(&program, MAX_INLINED_INSTS).unwrap();
    let arena = Bump::new();
    let mut func = ssa::build(&inlined, &arena).unwrap();
    let mut judge = Judge::new(seed, &program, options.tame, &func);
    let list: Vec<&dyn FunctionPass> = names.iter().map(|n| passes::find(n).unwrap() as &dyn FunctionPass).collect();
    match Driver::judged(&mut judge).run(&mut func, &list, ctx) {
        Ok(report) => report.runs.iter().filter(|r| r.changed).count(),
        Err(error) => panic!("seed {seed} passes {names:?}: {error}\nbefore:\n{}", judge.before),
    }
}

fn strict() -> PassCtx {
    PassCtx { fp: FpLevel::Strict, ..PassCtx::default() }
}

#[test]
fn each_pass_alone() {
    for pass in passes::ALL {
        let mut ctx = strict();
        if pass.name == "lower-indexing" {
            // it has work where the target cannot index
            ctx.costs.indexed = Indexed { uniforms: false, inputs: false, locals: false };
        }
        let mut changed = 0;
        for seed in 0..40 {
            changed += check(seed, &[pass.name], &ctx);
            check(seed + 1000, &["lower-types", pass.name, pass.name], &ctx);
        }
        // A pass that never finds work is not tested.
        let rare = ["scalarize-aggregates", "propagate-copies", "lower-indexing"];
        // Generated programs have no computed index of a sampler; `tests/dynamic_indexing.rs` has. What
        // rounds otherwise never happens at this level; `reassociate_products.rs` judges it. Ways out of loops
        // only go where there are no branches; `random_passes.rs` has such a target.
        let never = ["expand-sampler-indices", "reassociate-products", "flatten-exits"].contains(&pass.name);
        let enough = if never {
            0
        } else if rare.contains(&pass.name) {
            1
        } else {
            10
        };
        assert!(changed >= enough, "{} changed {changed} of 40", pass.name);
    }
}

#[test]
fn passes_in_random_order() {
    for seed in 0..250 {
        let mut rng = Rng::new(seed);
        let names: Vec<&str> = (0..12).map(|_| rng.pick(passes::ALL).name).collect();
        let mut ctx = strict();
        ctx.costs.has_branches = seed % 4 != 0;
        ctx.options.fuse_mad.kept_products = seed % 3 == 0;
        ctx.options.unroll.max_insts = if seed % 2 == 0 { 4096 } else { 300 };
        check(seed + 5000, &names, &ctx);
    }
}

#[test]
fn the_classic_pipeline() {
    let names = [
        "scalarize-aggregates",
        "sccp",
        "simplify-branches",
        "unroll",
        "scalarize-aggregates",
        "sccp",
        "propagate-copies",
        "flatten-ifs",
        "lower-types",
        "sccp",
        "propagate-copies",
        "eliminate-common-subexpressions",
        "hoist-invariants",
        "fuse-mad",
        "merge-vectors",
        "propagate-copies",
        "eliminate-dead-code",
        "simplify-branches",
    ];
    for seed in 0..100 {
        check(seed + 9000, &names, &strict());
    }
}
