//! One job compiled in this process: the worker's half of the laboratory.

use crate::job::Job;
use crate::row::{Outcome, Row};
use crate::worker::Task;
use eggshade::Options;
use eggshade::backend::{Pipeline, Target};
use eggshade::frontend::ast::Version;
use eggshade::ir::types::Stage;
use eggshade::record::Record;
use std::collections::BTreeMap;

impl Task for Job {
    type Row = Row;
    type State = Compiler;
    const WORKER: &'static str = "worker";

    fn open() -> Compiler {
        Compiler::default()
    }

    fn answer(&self, compiler: &mut Compiler) -> Row {
        compiler.measure(self)
    }

    fn failed(&self, status: Outcome, reason: String) -> Row {
        Row::failed(self, status, reason)
    }
}

/// Reads a shader. People's files have old encodings in their comments: what is no UTF-8 is read
/// byte by byte as Latin-1.
///
/// # Errors
/// What the system says.
pub fn read_source(path: &str) -> Result<String, String> {
    let bytes = std::fs::read(path).map_err(|e| format!("cannot read {path}: {e}"))?;
    Ok(String::from_utf8(bytes).unwrap_or_else(|e| e.as_bytes().iter().map(|&b| char::from(b)).collect()))
}

/// Compiles jobs. Targets and pipelines are read once.
#[derive(Debug, Default)]
pub struct Compiler {
    targets: BTreeMap<String, Target>,
    pipelines: BTreeMap<(String, Vec<String>), Pipeline>,
}

impl Compiler {
    /// Compiles one.
    pub fn measure(&mut self, job: &Job) -> Row {
        // Of a target or a pipeline only one that changed since the command checked it.
        self.record(job)
            .map_or_else(|e| Row::failed(job, Outcome::Unreadable, e), |record| Row::from_record(job, &record))
    }

    fn record(&mut self, job: &Job) -> Result<Record, String> {
        let source = read_source(&job.path)?;
        let options = self.options(job)?;
        let read = |paths: &[String]| paths.iter().map(|p| read_source(p)).collect::<Result<Vec<String>, _>>();
        let (units, library) = (read(&job.units)?, read(&job.library)?);
        if job.part {
            return Ok(eggshade::record_of_unit(&job.path, &source, &options, job.repeat));
        }
        let first = (job.path.as_str(), source.as_str());
        let units: Vec<_> = std::iter::once(first).chain(named(&job.units, &units)).collect();
        let library: Vec<_> = named(&job.library, &library).collect();
        Ok(eggshade::record_of_units(&units, &library, &options, job.repeat))
    }

    fn options(&mut self, job: &Job) -> Result<Options, String> {
        if !self.targets.contains_key(&job.target) {
            self.targets.insert(job.target.clone(), eggshade::resolve_target(&job.target)?);
        }
        let key = (job.pipeline.clone(), job.without.clone());
        if !self.pipelines.contains_key(&key) {
            self.pipelines.insert(key.clone(), pipeline(&job.pipeline, &job.without)?);
        }
        let mut options = Options::new(self.targets[&job.target].clone(), self.pipelines[&key].clone());
        options.stage = Some(if job.stage == "vert" { Stage::Vertex } else { Stage::Fragment });
        if job.es {
            options.default_version = Version::Es100;
        }
        options.back.check = job.check;
        Ok(options)
    }
}

fn named<'t>(paths: &'t [String], texts: &'t [String]) -> impl Iterator<Item = (&'t str, &'t str)> {
    paths.iter().map(String::as_str).zip(texts.iter().map(String::as_str))
}

/// A pipeline without some of its parts.
fn pipeline(name: &str, without: &[String]) -> Result<Pipeline, String> {
    let full = eggshade::resolve_pipeline(name)?;
    without.iter().try_fold(full, |p, part| p.without(part)).map_err(|e| e.to_string())
}

/// What can be left out of a pipeline that already lacks `without`.
///
/// # Errors
/// When there is no such pipeline, nothing of it to leave out, or it needs what this build has not.
pub fn parts(name: &str, without: &[String]) -> Result<Vec<String>, String> {
    let pipeline = pipeline(name, without)?;
    let parts = pipeline.parts();
    // Some options show only in use (an extractor that is a feature of the build).
    let options = Options::new(eggshade::resolve_target("vec4")?, pipeline);
    match eggshade::compile("probe.vert", "void main() { gl_Position = gl_Vertex; }", &options) {
        Ok(_) => Ok(parts),
        Err(failure) => Err(failure.diagnostics.first().map_or(String::new(), |d| d.message.clone())),
    }
}

/// Whether there is such a target.
///
/// # Errors
/// What is wrong with it.
pub fn check_target(name: &str) -> Result<(), String> {
    eggshade::resolve_target(name).map(|_| ())
}

/// A line's title in the ablation.
pub fn without_title(part: &str) -> String {
    match part {
        "extract" => "extraction by tree cost".to_owned(),
        "pack" => "without packing (pack)".to_owned(),
        "coalesce" => "without coalescing".to_owned(),
        part => format!("without {part}"),
    }
}
