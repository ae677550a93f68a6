//! The whole compiler: what compiles at `strict` computes what the three-address code says.

use super::{check_diagnostics, limits, text, variant};
use eggshade::backend::{Pipeline, Target};
use eggshade::ir::diag::SourceMap;
use eggshade::ir::env::Env;
use eggshade::ir::eval::same_bits;
use eggshade::ir::tac::{self, interp};
use eggshade::ir::testing::gen_env::GenEnv;
use eggshade::ir::types::{FpLevel, Stage};
use eggshade::record::Status;
use eggshade::{Options, backend};
use std::sync::LazyLock;

/// Larger programs are left out: how time grows with size is asked elsewhere.
const MAX_INSTS: usize = 300;

static TARGET: LazyLock<Target> = LazyLock::new(|| Target::builtin("vec4").expect("it is built in"));

static PIPELINES: LazyLock<Vec<Pipeline>> = LazyLock::new(|| {
    let small = |name| {
        let mut pipeline = Pipeline::builtin(name).expect("it is built in");
        pipeline.fp = FpLevel::Strict;
        pipeline.egraph.max_nodes = Some(2_000);
        pipeline.unroll.max_insts = Some(MAX_INSTS);
        pipeline
    };
    ["egraph", "paper", "none"].map(small).to_vec()
});

/// The options of a variant: stage and pipeline.
pub(super) fn options(variant: usize) -> Options {
    let mut options = Options::new(TARGET.clone(), PIPELINES[variant / 2 % PIPELINES.len()].clone());
    options.stage = Some([Stage::Fragment, Stage::Vertex][variant % 2]);
    options.limits = limits();
    options.back.check = true;
    options
}

/// The first byte chooses stage and pipeline.
pub fn compile(data: &[u8]) {
    let (variant, data) = variant(data);
    let text = text(data);
    let options = options(variant);
    let mut sources = SourceMap::new();
    let file = sources.add("a.glsl", text.as_ref());
    let program = match eggshade::to_tac("a.glsl", file, &mut sources, &options) {
        Ok((program, _)) => program,
        Err(found) => {
            assert!(eggshade::has_errors(&found));
            return check_diagnostics(&sources, &found);
        }
    };
    judge(&program, &options);
}

/// Compiles a program and compares what it computes on a few inputs.
pub(super) fn judge(program: &tac::Program, options: &Options) {
    if tac::inline::inline(program, MAX_INSTS).is_err() {
        return;
    }
    let compiled = match backend::compile(program, &options.target, &options.pipeline, &options.back) {
        Ok(compiled) => compiled,
        Err(error) => {
            assert!(eggshade::status_of(&error) != Status::Internal, "{error}\n{}", tac::text::print(program));
            return;
        }
    };
    let cfg = options.target.eval();
    let how = interp::InterpOptions { cfg, max_steps: 20_000, defined: true, ..Default::default() };
    for seed in 0..2 {
        let env = GenEnv::new(seed, program, seed == 0);
        let neighbours = [0, 1, 2, 3].map(|p| env.neighbour(program, p));
        let quad = [0, 1, 2, 3].map(|p| &neighbours[p] as &dyn Env);
        // A loop that does not end says nothing, nor does what the language leaves undefined.
        let Ok(expected) = interp::run_quad(program, quad, how) else { return };
        let got = match backend::sim::bridge::run_quad(&compiled.program, program, quad, cfg) {
            Ok(got) => got,
            Err(error) => panic!("{error}\n{}\n{}", tac::text::print(program), compiled.program),
        };
        for (expected, got) in expected.iter().zip(&got) {
            if let Some(difference) = expected.first_difference(got, same_bits) {
                panic!("{difference}\n{}\n{}", tac::text::print(program), compiled.program);
            }
        }
    }
}
