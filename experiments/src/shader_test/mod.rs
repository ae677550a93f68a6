//! piglit's `.shader_test` files on the simulator.
//!
//! ```text
//! text -> parse -> Script -> link -> programs -> commands -> frame -> probes -> pass, fail or skip
//! ```
//!
//! A malformed file fails with its line, a requirement that is not met or a command that is not known
//! is skipped with its name. Work is bounded by the file's size, the number of simulated
//! instructions, and the sizes of windows, textures and vertex data.

mod command;
mod draw;
mod exec;
mod images;
mod parse;
pub(crate) mod require;

use crate::verdict::{Outcome, Verdict};
use eggshade::Options;

/// Runs a test's text.
pub fn run_text(text: &str, options: &Options) -> Outcome {
    run_text_within(text, options, exec::MAX_STEPS)
}

/// Runs a test's text with a bound on the instructions that the simulator executes.
pub fn run_text_within(text: &str, options: &Options, steps: u64) -> Outcome {
    match parse::parse(text) {
        Ok(script) => exec::run(&script, options, steps),
        Err(reason) => Outcome::new(Verdict::Fail, reason),
    }
}

#[cfg(test)]
mod tests;
