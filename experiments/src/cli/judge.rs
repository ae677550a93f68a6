//! `judge`: the corpus through an executor of real code.

use super::args::{JudgeArgs, MessageFormat};
use super::{Done, Failure, open_corpus, pool_options, tests};
use crate::judge::{self, Ending, report};
use crate::output::{note, print};
use crate::{measure, pool};

/// Runs the command.
pub fn run(args: &JudgeArgs) -> Done {
    let target = match &args.target_part {
        Some(part) => format!("{}:{part}", args.consumer.target()),
        None => args.consumer.target().to_owned(),
    };
    measure::check_target(&target).map_err(Failure::Usage)?;
    measure::parts(&args.pipeline, &[]).map_err(Failure::Usage)?;
    let known = args.known.as_deref().map(tests::read_known).transpose()?;
    let (manifest, folder) = open_corpus(&args.folder, &args.manifest, &args.only)?;
    let tasks = judge::tasks(&manifest.entries, &folder, args.consumer, &target, &args.pipeline);
    let rows = pool::run_tasks(&pool_options(&args.pool)?, &tasks)?;
    let mut text = String::new();
    match args.message_format {
        MessageFormat::Json => {
            for row in &rows {
                text.push_str(&serde_json::to_string(row).map_err(|e| e.to_string())?);
                text.push('\n');
            }
        }
        MessageFormat::Human => {
            for row in rows.iter().filter(|r| r.ending != Ending::Equal) {
                text.push_str(&format!("{} {}: {}\n", row.ending, row.id, row.reason));
            }
            text.push('\n');
            text.push_str(&report::report(&rows, args.examples.into()));
        }
    }
    print(&text)?;
    let share = report::share(&rows);
    let equal = rows.iter().filter(|r| r.ending == Ending::Equal).count();
    note(&format!("{} shaders: {equal} equal, {:.2} % of those that fit", rows.len(), 100.0 * share));
    let as_known = known.is_none_or(|known| tests::as_known(&known, &report::verdicts(&rows)));
    Ok(as_known && share >= args.require)
}
