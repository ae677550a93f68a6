//! Runs a compiled program on the simulator with the inputs of an `ir` environment.

use backend::mach::Program;
use backend::sim::bridge;
use ir::env::{Env, Outputs};
use ir::eval::EvalCfg;
use ir::tac;

/// The outputs of a quad, by the variables of `source`.
pub fn simulate(program: &Program, source: &tac::Program, envs: [&dyn Env; 4], cfg: EvalCfg) -> [Outputs; 4] {
    bridge::run_quad(program, source, envs, cfg).unwrap_or_else(|e| panic!("{e}\n{program}"))
}
