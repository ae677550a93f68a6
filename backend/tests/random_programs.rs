//! 2,000 random programs, spread over the built-in pipelines, the targets and the levels `strict` and `glsl`: the
//! interpreter after every pass and the simulator of the decoded binary agree with the TAC
//! interpreter, bit for bit at `strict`, within the bound at `glsl`.
//!
//! With `EGGSHADE_RANDOM_ALL=1` every pipeline gets all of them at both levels.

#![allow(clippy::print_stdout)] // the figures of a run

mod common;
mod stable;

use backend::emit::vec4_bits;
use backend::{CompileOptions, Error, Pipeline, Target, compile_observed};
use common::simulate;
use ir::Function;
use ir::env::{Env, Outputs};
use ir::eval::{EvalCfg, same_bits};
use ir::pass::Observer;
use ir::tac;
use ir::testing::gen_env::GenEnv;
use ir::testing::generate::{GenOptions, generate};
use ir::types::{FpLevel, Stage};
use std::collections::BTreeMap;

/// How many, unless `EGGSHADE_RANDOM_PROGRAMS` says otherwise.
const PROGRAMS: u64 = 2_000;
/// Those of this build: `egraph-exact` needs a feature.
const PIPELINES: [&str; 4] = ["none", "paper", "egraph", "egraph-saturate"];
const INPUTS: u64 = 2;

fn stage(seed: u64) -> Stage {
    if seed.is_multiple_of(3) { Stage::Vertex } else { Stage::Fragment }
}

/// Targets without control flow, for either stage.
const VERTEX: [&str; 5] = ["arbvp1", "vs_2_0", "vs_1_1", "vs_3_0", "vs_1_0"];
const FRAGMENT: [&str; 3] = ["arbfp1", "ps_2_0", "ps_3_0"];

/// The target of a seed: two programs in eight are for a machine without control flow.
fn target_name(seed: u64) -> &'static str {
    let pick = |names: &[&'static str]| names[(seed / 24 % names.len() as u64) as usize];
    match (seed / 3 % 8, stage(seed)) {
        (3 | 7, Stage::Vertex) => pick(&VERTEX),
        (3 | 7, Stage::Fragment) => pick(&FRAGMENT),
        _ => "vec4",
    }
}

fn options(seed: u64, pipeline: &Pipeline, target: &Target) -> GenOptions {
    GenOptions {
        stage: stage(seed),
        // Only what is reconditioned can be held to a bound; bits can be compared always, where choices
        // are instructions.
        tame: pipeline.fp != FpLevel::Strict || seed.is_multiple_of(5) || !target.flow,
        derivatives: target.flow && seed.is_multiple_of(2),
        functions: (seed % 4) as u32,
        statements: 4 + (seed % if pipeline.egraph.saturate { 3 } else { 17 }) as u32,
        ..GenOptions::default()
    }
}

/// One set of inputs with what must come out.
struct Case {
    quad: [GenEnv; 4],
    expected: [Outputs; 4],
}

impl Case {
    fn envs(&self) -> [&dyn Env; 4] {
        self.quad.each_ref().map(|e| e as &dyn Env)
    }
}

/// Runs the function after every pass.
struct Judge<'c> {
    cases: &'c [Case],
    level: FpLevel,
    cfg: EvalCfg,
}

impl Judge<'_> {
    fn compare(&self, case: &Case, got: &[Outputs; 4]) -> Result<(), String> {
        for (expected, got) in case.expected.iter().zip(got) {
            let difference = match self.level {
                FpLevel::Strict => expected.first_difference(got, same_bits),
                _ => stable::difference(expected, got),
            };
            difference.map_or(Ok(()), Err)?;
        }
        Ok(())
    }
}

impl Observer for Judge<'_> {
    fn after(&mut self, _: usize, _: &str, func: &Function<'_>, changed: bool) -> Result<(), String> {
        if !changed {
            return Ok(());
        }
        for case in self.cases {
            let options = ir::interp::InterpOptions { cfg: self.cfg, ..Default::default() };
            let got = ir::interp::run_quad(func, case.envs(), options).map_err(|e| e.to_string())?;
            self.compare(case, &got)?;
        }
        Ok(())
    }
}

#[derive(Default)]
struct Tally {
    /// Seconds by pipeline, to see what the test's time goes to.
    seconds: BTreeMap<&'static str, f64>,
    programs: u64,
    too_large: u64,
    /// Loops that do not end for certain, on machines without flow.
    unsupported: u64,
    /// Compiled for a machine without flow.
    straight: u64,
    lanes: u64,
    excluded: u64,
    moved: u64,
    failures: Vec<String>,
}

fn judge(seed: u64, pipeline: &Pipeline, target: &Target, tally: &mut Tally) -> Result<(), String> {
    let gen_options = options(seed, pipeline, target);
    let program = generate(seed, &gen_options).program;
    let cfg = target.eval();
    let mut cases = Vec::new();
    for i in 0..INPUTS {
        let env = GenEnv::new(seed * 1000 + i, &program, gen_options.tame);
        let quad = [0, 1, 2, 3].map(|p| env.neighbour(&program, p));
        let envs = quad.each_ref().map(|e| e as &dyn Env);
        let expected = match pipeline.fp {
            FpLevel::Strict => tac::interp::run_quad(&program, envs, Default::default()).unwrap(),
            _ => {
                let (expected, lanes) = stable::reference(&program, envs, cfg);
                tally.lanes += lanes.all;
                tally.excluded += lanes.excluded;
                tally.moved += lanes.moved;
                expected
            }
        };
        cases.push(Case { quad, expected });
    }
    let mut judge = Judge { cases: &cases, level: pipeline.fp, cfg };
    let compile_options = CompileOptions { check: true, ..CompileOptions::default() };
    let fail = |what: String| {
        format!("seed {seed}, {} at {}: {what}\n{}", pipeline.name, pipeline.fp, tac::text::print(&program))
    };
    let compiled = match compile_observed(&program, target, pipeline, &compile_options, &mut judge) {
        Ok(compiled) => compiled,
        Err(Error::DoesNotFit { .. }) => {
            tally.too_large += 1;
            return Ok(());
        }
        Err(Error::Unsupported { .. }) if !target.flow => {
            tally.unsupported += 1;
            return Ok(());
        }
        Err(error) => return Err(fail(error.to_string())),
    };
    if !target.flow {
        tally.straight += 1;
    }
    let bytes = vec4_bits::encode(&compiled.program).map_err(&fail)?;
    let decoded = vec4_bits::decode(&bytes).map_err(&fail)?;
    for case in &cases {
        let got = simulate(&decoded, &program, case.envs(), cfg);
        judge.compare(case, &got).map_err(|e| fail(format!("simulator: {e}\n{}", compiled.program)))?;
    }
    Ok(())
}

/// The pipelines and levels that a seed is for. Saturation to the end is costly: it gets one in
/// twenty, the default half of the rest.
fn runs(seed: u64) -> Vec<(&'static str, FpLevel)> {
    if std::env::var_os("EGGSHADE_RANDOM_ALL").is_some_and(|v| v == "1") {
        return PIPELINES.iter().flat_map(|&p| [FpLevel::Strict, FpLevel::Glsl].map(|l| (p, l))).collect();
    }
    let level = if seed.is_multiple_of(2) { FpLevel::Strict } else { FpLevel::Glsl };
    let pipeline = match seed / 2 % 20 {
        0 => "egraph-saturate",
        n if n % 4 == 1 => "none",
        n if n % 4 == 3 => "paper",
        _ => "egraph",
    };
    vec![(pipeline, level)]
}

fn judge_seeds(seeds: impl Iterator<Item = u64>) -> Tally {
    let names = ["vec4"].into_iter().chain(VERTEX).chain(FRAGMENT);
    let targets: Vec<Target> = names.map(|name| Target::builtin(name).unwrap()).collect();
    let mut tally = Tally::default();
    for seed in seeds {
        for (name, fp) in runs(seed) {
            let pipeline = Pipeline { fp, ..Pipeline::builtin(name).unwrap() };
            tally.programs += 1;
            let target = targets.iter().find(|t| t.name == target_name(seed)).unwrap();
            let start = std::time::Instant::now();
            if let Err(failure) = judge(seed, &pipeline, target, &mut tally) {
                tally.failures.push(failure);
            }
            *tally.seconds.entry(name).or_default() += start.elapsed().as_secs_f64();
        }
    }
    tally
}

#[test]
fn every_pipeline_computes_what_the_program_says() {
    let wanted = std::env::var("EGGSHADE_RANDOM_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(PROGRAMS);
    // Two threads for two halves: the machine that this must be quick on has two cores.
    let halves = [0, 1].map(|half| {
        let seeds = (0..wanted).filter(move |seed| seed / 40 % 2 == half);
        std::thread::spawn(move || judge_seeds(seeds))
    });
    let mut all = Tally::default();
    for half in halves {
        let tally = half.join().unwrap();
        all.programs += tally.programs;
        all.too_large += tally.too_large;
        all.unsupported += tally.unsupported;
        all.straight += tally.straight;
        all.lanes += tally.lanes;
        all.excluded += tally.excluded;
        all.moved += tally.moved;
        all.failures.extend(tally.failures);
        tally.seconds.into_iter().for_each(|(name, s)| *all.seconds.entry(name).or_default() += s);
    }
    println!(
        "{} compiles, {} did not fit; of {} lanes at glsl, jitter of 1 ulp moved {}, {} too far: left out",
        all.programs, all.too_large, all.lanes, all.moved, all.excluded
    );
    println!("{} as straight code, {} not possible as such", all.straight, all.unsupported);
    println!("seconds with their judges: {:.0?}", all.seconds);
    if let Some(shortest) = all.failures.iter().min_by_key(|f| f.len()) {
        panic!("{} failures, the shortest: {shortest}", all.failures.len());
    }
    assert!(all.straight * 40 > all.programs, "too few for the targets without flow");
    assert!(all.too_large * 5 < all.programs, "too few fitted");
    assert!(all.excluded * 5 < all.lanes, "too little was stable");
    assert!(all.moved > 0, "the jitter does nothing, so it can exclude nothing");
}
