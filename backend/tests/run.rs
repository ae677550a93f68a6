//! The allocators beside the default one on random programs: what the machine computes is what the
//! TAC interpreter says, bit for bit at `strict`. (`random_programs.rs` judges the pipelines.)

mod common;

use backend::{CompileOptions, Error, Pipeline, Target, compile_observed};
use common::simulate;
use ir::env::Env;
use ir::eval::same_bits;
use ir::func::Function;
use ir::pass::Observer;
use ir::tac;
use ir::testing::gen_env::GenEnv;
use ir::testing::generate::{GenOptions, generate};
use ir::types::{FpLevel, Stage};

fn options(seed: u64) -> GenOptions {
    let stage = if seed.is_multiple_of(3) { Stage::Vertex } else { Stage::Fragment };
    GenOptions {
        stage,
        tame: seed.is_multiple_of(5),
        derivatives: seed.is_multiple_of(2),
        functions: (seed % 4) as u32,
        statements: 4 + (seed % 17) as u32,
        ..GenOptions::default()
    }
}

/// The function before the pass that failed.
struct Last(String);

impl Observer for Last {
    fn before(&mut self, _: usize, pass: &str, func: &Function<'_>) {
        self.0 = format!("before {pass}:\n{}", ir::text::print(func));
    }
}

/// Compiles and compares; whether it fitted, or what went wrong.
fn judge(seed: u64, pipeline: &Pipeline, target: &Target) -> Result<bool, String> {
    let gen_options = options(seed);
    let program = generate(seed, &gen_options).program;
    let compile_options = CompileOptions { check: true, ..CompileOptions::default() };
    let mut last = Last(String::new());
    let compiled = match compile_observed(&program, target, pipeline, &compile_options, &mut last) {
        Ok(compiled) => compiled,
        Err(Error::DoesNotFit { .. }) => return Ok(false),
        Err(e) => return Err(format!("seed {seed}, {}: {e}\n{}", pipeline.name, last.0)),
    };
    for i in 0..2 {
        let env = GenEnv::new(seed * 1000 + i, &program, gen_options.tame);
        let neighbours = [0, 1, 2, 3].map(|p| env.neighbour(&program, p));
        let quad = [0, 1, 2, 3].map(|p| &neighbours[p] as &dyn Env);
        let expected = tac::interp::run_quad(&program, quad, Default::default()).unwrap();
        let got = simulate(&compiled.program, &program, quad, target.eval());
        for (position, expected) in expected.iter().enumerate() {
            if let Some(difference) = expected.first_difference(&got[position], same_bits) {
                return Err(format!(
                    "seed {seed}, {}: {difference}\n{}\n{}\n{}",
                    pipeline.name,
                    tac::text::print(&program),
                    compiled.unallocated,
                    compiled.program
                ));
            }
        }
    }
    Ok(true)
}

/// How many fitted; panics with the shortest failure.
fn count(seeds: std::ops::Range<u64>, pipeline: &Pipeline, target: &Target) -> u64 {
    let mut fitted = 0;
    let mut failures: Vec<String> = Vec::new();
    for seed in seeds {
        match judge(seed, pipeline, target) {
            Ok(fits) => fitted += u64::from(fits),
            Err(text) => failures.push(text),
        }
    }
    if let Some(shortest) = failures.iter().min_by_key(|f| f.len()) {
        panic!("{} failures, the shortest: {shortest}", failures.len());
    }
    fitted
}

#[test]
fn scan_and_no_coalescing_keep_every_bit() {
    let target = Target::builtin("vec4").unwrap();
    let mut pipeline = Pipeline { fp: FpLevel::Strict, ..Pipeline::builtin("paper").unwrap() };
    pipeline.regalloc.coalesce = false;
    let plain = count(440..480, &pipeline, &target);
    pipeline.regalloc.method = "scan".to_owned();
    let scan = count(440..480, &pipeline, &target);
    assert!(plain > 20 && scan > 5, "{plain} and {scan} fitted");
}
