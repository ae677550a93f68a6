//! `shader-test` and `compiler-test`: files, a judge, what is told and the exit code.

use super::args::{MessageFormat, TestArgs};
use super::{Done, Failure};
use crate::known::{self, Known};
use crate::output::{note, print};
use crate::verdict::{self, Outcome, Verdict};
use eggshade::Options;
use std::path::Path;

/// Runs the command with the judge of its files: asked with a file's path and text. At least the share
/// `require` of those that were not skipped must pass.
pub fn run(args: &TestArgs, require: f64, judge: impl Fn(&Path, &str, &Options) -> Outcome + Sync) -> Done {
    let target = eggshade::resolve_target(&args.target).map_err(Failure::Usage)?;
    let mut pipeline = eggshade::resolve_pipeline(&args.pipeline).map_err(Failure::Usage)?;
    if let Some(fp) = args.fp {
        pipeline.fp = fp;
    }
    if let Some(inline) = args.inline {
        pipeline.inline = inline;
    }
    let mut options = Options::new(target, pipeline);
    args.limit.iter().for_each(|setting| setting.apply(&mut options));
    let known = args.known.as_deref().map(read_known).transpose()?;
    let judge = |path: &Path, text: &str| judge(path, text, &options);
    let reports = verdict::run_files(&args.files, args.jobs.map(usize::from), judge)?;
    let mut text = String::new();
    for report in &reports {
        let outcome = &report.outcome;
        match args.message_format {
            MessageFormat::Json => {
                text.push_str(&serde_json::to_string(report).map_err(|e| e.to_string())?);
                text.push('\n');
            }
            MessageFormat::Human if outcome.result == Verdict::Pass => {}
            MessageFormat::Human => text.push_str(&format!("{} {}: {}\n", outcome.result, report.file, outcome.reason)),
        }
    }
    print(&text)?;
    let count = |verdict| reports.iter().filter(|r| r.outcome.result == verdict).count();
    let passed = count(Verdict::Pass);
    note(&format!(
        "{} tests: {passed} pass, {} fail, {} skip",
        reports.len(),
        count(Verdict::Fail),
        count(Verdict::Skip)
    ));
    let judged = (reports.len() - count(Verdict::Skip)).max(1);
    let enough = passed as f64 >= require * judged as f64;
    match known {
        Some(known) => Ok(as_known(&known, &reports) && enough),
        None if require > 0.0 => Ok(enough),
        // What was skipped was not shown to work.
        None => Ok(passed == reports.len()),
    }
}

/// Reads a list of what is known not to pass.
pub fn read_known(path: &Path) -> Result<Vec<Known>, Failure> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    Ok(known::parse(&text).map_err(|e| format!("{}: {e}", path.display()))?)
}

/// Whether the reports are as the list says; where they are not is told.
pub fn as_known(known: &[Known], reports: &[verdict::Report]) -> bool {
    let surprises = known::surprises(known, reports);
    surprises.iter().for_each(|s| note(s));
    surprises.is_empty()
}
