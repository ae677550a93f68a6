//! Tests with a verdict: what a file's run ends with, and the run of many.
//!
//! In: files and what judges one. Out: exactly one [`Report`] a file, in the order of the files: a
//! file that cannot be read fails, and so does one on which the compiler panics.

use eggshade::Failure;
use eggshade::ir::diag::Severity;
use eggshade::record::Status;
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
    /// A verdict with its reason.
    pub fn new(result: Verdict, reason: String) -> Outcome {
        Outcome { result, reason }
    }

    /// As it must be.
    pub fn pass() -> Outcome {
        Outcome::new(Verdict::Pass, String::new())
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

/// Judges files, several at once.
///
/// # Errors
/// When no threads can be started.
pub fn run_files(
    files: &[PathBuf],
    jobs: Option<usize>,
    judge: impl Fn(&Path, &str) -> Outcome + Sync,
) -> Result<Vec<Report>, String> {
    let pool = rayon::ThreadPoolBuilder::new().stack_size(STACK).num_threads(jobs.unwrap_or(0));
    let pool = pool.build().map_err(|e| format!("cannot start threads: {e}"))?;
    // indicatif draws nothing when standard error is no terminal.
    let bar = ProgressBar::new(files.len() as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} {elapsed} (left {eta})") {
        bar.set_style(style);
    }
    let run = |path: &PathBuf| {
        let outcome = run_file(path, &judge);
        bar.inc(1);
        Report { file: path.display().to_string(), outcome }
    };
    let reports = pool.install(|| files.par_iter().map(run).collect());
    bar.finish_and_clear();
    Ok(reports)
}

fn run_file(path: &Path, judge: impl Fn(&Path, &str) -> Outcome) -> Outcome {
    let text = match read(path) {
        Ok(text) => text,
        Err(reason) => return Outcome::new(Verdict::Fail, reason),
    };
    // One fault of the compiler must not take the other files' results away.
    catch_unwind(AssertUnwindSafe(|| judge(path, &text))).unwrap_or_else(|payload| {
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

/// A failure's first error with its place.
pub fn first_error(failure: &Failure) -> String {
    let errors: Vec<_> = failure.diagnostics.iter().filter(|d| d.severity == Severity::Error).collect();
    let status = match failure.status {
        Status::DoesNotFit => "does not fit: ",
        Status::Unsupported => "unsupported: ",
        Status::Internal => "internal error: ",
        _ => "",
    };
    let Some(first) = errors.first() else { return "rejected without a reason".to_owned() };
    let place = first.labels.first().and_then(|l| {
        let files = failure.sources.files();
        let file = files.get(l.span.file.0 as usize)?;
        let line = file.text.get(..l.span.lo as usize)?.matches('\n').count() + 1;
        Some(format!("{}:{line}: ", file.name))
    });
    format!("{status}{}{}: {}", place.unwrap_or_default(), first.code, first.message)
}
