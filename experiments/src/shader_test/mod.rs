//! piglit's `.shader_test` files on the simulator, or as ARB programs in Mesa.
//!
//! ```text
//! text -> parse -> Script -> link -> programs -> commands -> screen -> probes -> pass, fail or skip
//! ```
//!
//! A malformed file fails with its line, a requirement that is not met or a command that is not known
//! is skipped with its name. Work is bounded by the file's size, the number of simulated
//! instructions, and the sizes of windows, textures and vertex data.

mod command;
mod draw;
mod exec;
mod images;
mod mesa;
mod parse;
pub(crate) mod require;
mod screen;
mod simulated;

use crate::oracle::Mesa;
use crate::verdict::{Outcome, Verdict};
use eggshade::Options;
use mesa::InMesa;
use simulated::Simulator;

/// Instructions of a quad that the simulator may execute for one file.
const MAX_STEPS: u64 = 100_000_000;

/// Runs a test's text.
pub fn run_text(text: &str, options: &Options) -> Outcome {
    run_text_within(text, options, MAX_STEPS)
}

/// Runs a test's text with a bound on the instructions that the simulator executes.
pub fn run_text_within(text: &str, options: &Options, steps: u64) -> Outcome {
    run_on(text, options, &Simulator { options, steps })
}

/// Runs a test's text with its shaders as ARB programs in Mesa.
pub fn run_in_mesa(text: &str, options: &Options, mesa: &Mesa) -> Outcome {
    run_on(text, options, &InMesa { mesa, options })
}

fn run_on(text: &str, options: &Options, executor: &dyn screen::Executor) -> Outcome {
    match parse::parse(text) {
        Ok(script) => exec::run(&script, options, executor),
        Err(reason) => Outcome::new(Verdict::Fail, reason),
    }
}

#[cfg(test)]
mod tests;
