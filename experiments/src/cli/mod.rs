//! The command line of `eggshade-lab`. Exit code 0: done; 1: the input is wrong, a threshold is
//! broken, or the compiler itself failed on a shader; 2: the command line is wrong.

mod args;
mod judge;
mod tests;

use crate::ablate::{self, Arm};
use crate::job::Job;
use crate::judge::JudgeTask;
use crate::oracle::{Driver, Mesa, OracleError};
use crate::output::{note, print, write_whole};
use crate::pool::{self, PoolOptions};
use crate::row::{METRICS, Outcome, Row, read_csv, to_csv};
use crate::run::{self, Variant};
use crate::verdict::{self, Verdict};
use crate::{compare, compiler_test, corpus, counts, files, fuzz, measure, peers, shader_test, worker};
use args::{
    AblateArgs, Cli, Command, CompareArgs, CorpusArgs, CountsArgs, FuzzSeedsArgs, PeersArgs, PoolArgs, RunArgs,
    ShaderTestArgs,
};
use clap::Parser;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Why a command did not do its work.
#[derive(Debug)]
enum Failure {
    /// Exit code 1.
    Input(String),
    /// Exit code 2.
    Usage(String),
}

/// A message without a kind is about the input.
impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure::Input(message)
    }
}

/// Whether all is well (exit code 0) or a threshold is broken (1).
type Done = Result<bool, Failure>;

/// Reads the command line and does what it says.
pub fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Run(args) => run_command(&args),
        Command::Compare(args) => compare_command(&args),
        Command::Ablate(args) => ablate_command(&args),
        Command::Corpus(args) => corpus_command(&args),
        Command::Peers(args) => peers_command(&args),
        Command::Counts(args) => counts_command(&args),
        Command::ShaderTest(args) => shader_test_command(&args),
        Command::CompilerTest(args) => tests::run(&args, 0.0, compiler_test::run_text),
        Command::FuzzSeeds(args) => fuzz_seeds_command(&args),
        Command::Judge(args) => judge::run(&args),
        Command::Worker => worker::serve::<Job>().map(|()| true).map_err(Failure::Input),
        Command::JudgeWorker => worker::serve::<JudgeTask>().map(|()| true).map_err(Failure::Input),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(Failure::Input(message)) => {
            note(&format!("error: {message}"));
            ExitCode::from(1)
        }
        Err(Failure::Usage(message)) => {
            note(&format!("error: {message}"));
            ExitCode::from(2)
        }
    }
}

fn pool_options(args: &PoolArgs) -> Result<PoolOptions, Failure> {
    let here = PoolOptions::here()?;
    Ok(PoolOptions {
        workers: args.jobs.map_or(here.workers, usize::from),
        timeout: Duration::from_secs(args.timeout.into()),
        memory: args.memory,
        ..here
    })
}

/// A line a status, and whether no compile ended in a fault.
fn account(rows: &[Row]) -> bool {
    let mut parts = Vec::new();
    for outcome in Outcome::ALL {
        let count = rows.iter().filter(|r| r.status == outcome).count();
        if count > 0 {
            parts.push(format!("{count} {outcome}"));
        }
    }
    note(&format!("{} compiles: {}", rows.len(), parts.join(", ")));
    for row in rows.iter().filter(|r| r.status.is_fault()) {
        note(&format!("{} {} {}: {}: {}", row.file, row.target, row.pipeline, row.status, row.reason));
    }
    !rows.iter().any(|r| r.status.is_fault())
}

fn run_command(args: &RunArgs) -> Done {
    let files = files::collect(&args.paths)?;
    let mut variants = Vec::new();
    for pipeline in &args.pipeline {
        let full = measure::parts(pipeline, &args.without).map_err(Failure::Usage)?;
        variants.push(Variant { pipeline: pipeline.clone(), without: args.without.clone() });
        if args.leave_one_out {
            for part in full {
                let without = args.without.iter().cloned().chain([part]).collect();
                variants.push(Variant { pipeline: pipeline.clone(), without });
            }
        }
    }
    for target in &args.target {
        measure::check_target(target).map_err(Failure::Usage)?;
    }
    let jobs = run::jobs(&files, &args.target, &variants, args.repeat);
    let rows = pool::run(&pool_options(&args.pool)?, &jobs)?;
    write_whole(&args.out, &to_csv(&rows)?)?;
    Ok(account(&rows))
}

fn compare_command(args: &CompareArgs) -> Done {
    if !METRICS.contains(&args.metric.as_str()) {
        return Err(Failure::Usage(format!("no column `{}`; there are {}", args.metric, METRICS.join(", "))));
    }
    let (before, after) = (read_csv(&args.before)?, read_csv(&args.after)?);
    let comparison = compare::compare(&before, &after, &args.metric)?;
    print(&comparison.text(args.unchanged))?;
    Ok(!args.fail_above.is_some_and(|ratio| comparison.breaks(ratio)))
}

fn ablate_command(args: &AblateArgs) -> Done {
    let files = files::collect(&args.paths)?;
    measure::check_target(&args.target).map_err(Failure::Usage)?;
    let parts = measure::parts(&args.pipeline, &[]).map_err(Failure::Usage)?;
    let mut variants = vec![Variant { pipeline: args.pipeline.clone(), without: Vec::new() }];
    let mut titles = vec![format!("{}, full", args.pipeline)];
    for part in parts {
        titles.push(measure::without_title(&part));
        variants.push(Variant { pipeline: args.pipeline.clone(), without: vec![part] });
    }
    for other in &args.beside {
        measure::parts(other, &[]).map_err(Failure::Usage)?;
        titles.push(format!("pipeline {other}"));
        variants.push(Variant { pipeline: other.clone(), without: Vec::new() });
    }
    let jobs = run::jobs(&files, std::slice::from_ref(&args.target), &variants, 1);
    let rows = pool::run(&pool_options(&args.pool)?, &jobs)?;
    // Jobs go by shader, then variant: the first shader's jobs name the arms as the rows do.
    let names = jobs.iter().take(variants.len()).map(Job::pipeline_name);
    let arms: Vec<Arm> = titles.into_iter().zip(names).map(|(title, pipeline)| Arm { title, pipeline }).collect();
    let table = ablate::ablate(&arms, &rows)?;
    let text = ablate::markdown(&table);
    print(&text)?;
    if let Some(out) = &args.out {
        let csv = out.extension().is_some_and(|e| e == "csv");
        write_whole(out, &if csv { to_csv(&table)? } else { text.into_bytes() })?;
    }
    if let Some(out) = &args.rows {
        write_whole(out, &to_csv(&rows)?)?;
    }
    Ok(account(&rows))
}

/// What a corpus' manifest lists of the families asked for, and where the shaders are.
fn open_corpus(folder: &Path, manifest: &Path, only: &[String]) -> Result<(corpus::Manifest, PathBuf), Failure> {
    let told = |e: std::io::Error| format!("cannot read {}: {e}", manifest.display());
    let text = std::fs::read_to_string(manifest).map_err(told)?;
    let manifest = corpus::read_manifest(&text, only)?;
    if manifest.entries.is_empty() {
        return Err(Failure::Input("the manifest lists no shader of these families".to_owned()));
    }
    let inner = folder.join("shaders");
    Ok((manifest, if inner.is_dir() { inner } else { folder.to_owned() }))
}

fn corpus_command(args: &CorpusArgs) -> Done {
    measure::check_target(&args.target).map_err(Failure::Usage)?;
    measure::parts(&args.pipeline, &[]).map_err(Failure::Usage)?;
    let (manifest, folder) = open_corpus(&args.folder, &args.manifest, &args.only)?;
    let known = args.known.as_deref().map(tests::read_known).transpose()?;
    let jobs = corpus::jobs(&manifest.entries, &folder, &args.target, &args.pipeline);
    let rows = pool::run(&pool_options(&args.pool)?, &jobs)?;
    let joined = corpus::join(&manifest.entries, &rows);
    print(&corpus::report(&manifest, &joined, args.examples.into()))?;
    if let Some(out) = &args.out {
        write_whole(out, &to_csv(&joined)?)?;
    }
    let sound = account(&rows);
    let as_known = known.is_none_or(|known| tests::as_known(&known, &corpus::verdicts(&joined)));
    let all = corpus::shares(&joined).into_iter().find(|(name, _)| name == "all").map(|(_, s)| s.compiles());
    Ok(sound && as_known && all.unwrap_or(0.0) >= args.require)
}

fn peers_command(args: &PeersArgs) -> Done {
    let files = files::collect(&args.paths)?;
    measure::check_target(&args.target).map_err(Failure::Usage)?;
    measure::parts(&args.pipeline, &[]).map_err(Failure::Usage)?;
    let Some((vertex, fragment)) = args.cgc_target.split_once('/') else {
        return Err(Failure::Usage("--cgc-target is VERTEX/FRAGMENT, for instance arbvp1/arbfp1".to_owned()));
    };
    let mut theirs = Vec::new();
    for (stage, profile) in [("vert", vertex), ("frag", fragment)] {
        let of_stage = files.iter().filter(|f| f.stage == stage).map(|f| f.path.display().to_string());
        theirs.extend(peers::run_cgc(&args.script, profile, &of_stage.collect::<Vec<_>>())?);
    }
    let variant = Variant { pipeline: args.pipeline.clone(), without: Vec::new() };
    let jobs = run::jobs(&files, std::slice::from_ref(&args.target), &[variant], args.repeat);
    // Alone on the machine, as the peer was.
    let rows = pool::run(&PoolOptions { workers: 1, ..pool_options(&args.pool)? }, &jobs)?;
    let table = peers::report(&peers::beside(&rows, &theirs), &args.cgc_target);
    print(&table)?;
    if let Some(out) = &args.out {
        write_whole(out, table.as_bytes())?;
    }
    Ok(account(&rows))
}

fn counts_command(args: &CountsArgs) -> Done {
    let files = files::collect(&args.paths)?;
    measure::parts(&args.pipeline, &[]).map_err(Failure::Usage)?;
    let pairs: Vec<counts::Pair> =
        args.target.iter().map(|t| counts::Pair::parse(t)).collect::<Result<_, _>>().map_err(Failure::Usage)?;
    let mut table: Vec<(String, Vec<counts::Cell>)> =
        files.iter().map(|f| (f.path.display().to_string(), Vec::new())).collect();
    let variant = Variant { pipeline: args.pipeline.clone(), without: Vec::new() };
    for pair in &pairs {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for stage in ["vert", "frag"] {
            let Some(target) = pair.of(stage) else { continue };
            measure::check_target(target).map_err(Failure::Usage)?;
            let of_stage: Vec<_> = files.iter().filter(|f| f.stage == stage).cloned().collect();
            let jobs = run::jobs(&of_stage, &[target.to_owned()], std::slice::from_ref(&variant), 1);
            ours.extend(pool::run(&pool_options(&args.pool)?, &jobs)?);
            let profile = counts::CGC_PROFILES.iter().find(|p| target.split(':').next() == Some(**p));
            if let (Some(script), Some(profile)) = (&args.script, profile) {
                let paths: Vec<String> = of_stage.iter().map(|f| f.path.display().to_string()).collect();
                theirs.extend(peers::run_cgc(script, profile, &paths)?);
            }
        }
        for (file, cells) in &mut table {
            cells.push(counts::Cell {
                ours: ours.iter().find(|r| r.file == *file).cloned(),
                peer: theirs.iter().find(|p| p.file == *file).cloned(),
            });
        }
    }
    let text = counts::report(&pairs, &table);
    print(&text)?;
    if let Some(out) = &args.out {
        write_whole(out, text.as_bytes())?;
    }
    Ok(true)
}

thread_local! {
    /// A context a thread.
    static MESA: Result<Mesa, OracleError> = Mesa::open(Driver::Softpipe);
}

fn shader_test_command(args: &ShaderTestArgs) -> Done {
    if !args.mesa {
        return tests::run(&args.tests, args.require, |_, text, options| shader_test::run_text(text, options));
    }
    tests::run(&args.tests, args.require, |_, text, options| {
        MESA.with(|mesa| match mesa {
            Ok(mesa) => shader_test::run_in_mesa(text, options, mesa),
            Err(e) => verdict::Outcome::new(Verdict::Fail, e.to_string()),
        })
    })
}

fn fuzz_seeds_command(args: &FuzzSeedsArgs) -> Done {
    for target in fuzz::TARGETS {
        let folder = args.out.join(target.name);
        std::fs::create_dir_all(&folder).map_err(|e| format!("cannot make {}: {e}", folder.display()))?;
        let seeds = fuzz::seeds::seeds(target, &args.checkout)?;
        for (i, seed) in seeds.iter().enumerate() {
            write_whole(&folder.join(format!("seed-{i:04}")), seed)?;
        }
        note(&format!("{}: {} seeds", target.name, seeds.len()));
    }
    Ok(true)
}
