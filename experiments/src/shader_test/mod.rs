//! piglit's `.shader_test` files on the simulator.
//!
//! ```text
//! text -> parse -> Script -> link -> programs -> commands -> frame -> probes -> pass, fail or skip
//! ```
//!
//! Every file gives exactly one [`Outcome`]: a malformed file fails with its line, a requirement
//! that is not met or a command that is not known is skipped with its name, and a fault of the
//! compiler is a failure, never the end of the run. Work is bounded by the file's size, the number
//! of simulated instructions, and the sizes of windows, textures and vertex data.

mod command;
mod draw;
mod exec;
mod images;
pub mod known;
mod parse;
mod require;

use eggshade::Options;
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use serde::Serialize;
use std::fmt;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// Longest file that is read, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// Stack of a thread: deep programs recurse in the front end up to its bounds.
const STACK: usize = 64 << 20;

/// How a test ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// All as the test wants.
    Pass,
    /// Not so, or the file is malformed.
    Fail,
    /// It needs what is not there.
    Skip,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Pass => "pass",
            Verdict::Fail => "fail",
            Verdict::Skip => "skip",
        })
    }
}

/// A verdict and why.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Outcome {
    /// How it ended.
    pub result: Verdict,
    /// Empty for a pass.
    pub reason: String,
}

impl Outcome {
    fn new(result: Verdict, reason: String) -> Outcome {
        Outcome { result, reason }
    }
}

/// A file's outcome.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Report {
    /// As given.
    pub file: String,
    /// How it ended.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// Runs a test's text.
pub fn run_text(text: &str, options: &Options) -> Outcome {
    match parse::parse(text) {
        Ok(script) => exec::run(&script, options, exec::MAX_STEPS),
        Err(reason) => Outcome::new(Verdict::Fail, reason),
    }
}

/// Runs a file.
pub fn run_file(path: &Path, options: &Options) -> Outcome {
    let text = match read(path) {
        Ok(text) => text,
        Err(reason) => return Outcome::new(Verdict::Fail, reason),
    };
    // One fault of the compiler must not take the other files' results away.
    catch_unwind(AssertUnwindSafe(|| run_text(&text, options))).unwrap_or_else(|payload| {
        let told = payload.downcast_ref::<String>().map(String::as_str).or(payload.downcast_ref::<&str>().copied());
        Outcome::new(Verdict::Fail, format!("internal error: {}", told.unwrap_or("a panic")))
    })
}

fn read(path: &Path) -> Result<String, String> {
    let told = |e: std::io::Error| format!("cannot read: {e}");
    let mut bytes = Vec::new();
    std::fs::File::open(path).map_err(told)?.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(told)?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(format!("the file is longer than {MAX_FILE} bytes"));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Runs files, several at once; the reports are in the order of the files.
///
/// # Errors
/// When no threads can be started.
pub fn run_files(files: &[PathBuf], options: &Options, jobs: Option<usize>) -> Result<Vec<Report>, String> {
    let pool = rayon::ThreadPoolBuilder::new().stack_size(STACK).num_threads(jobs.unwrap_or(0));
    let pool = pool.build().map_err(|e| format!("cannot start threads: {e}"))?;
    // indicatif draws nothing when standard error is no terminal.
    let bar = ProgressBar::new(files.len() as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} {elapsed} (left {eta})") {
        bar.set_style(style);
    }
    let run = |path: &PathBuf| {
        let outcome = run_file(path, options);
        bar.inc(1);
        Report { file: path.display().to_string(), outcome }
    };
    let reports = pool.install(|| files.par_iter().map(run).collect());
    bar.finish_and_clear();
    Ok(reports)
}

#[cfg(test)]
mod tests;
