//! A shader of the corpus as a task for a worker process.

use super::arb::Arb;
use super::d3d9::D3d9;
use super::pair::{Judgement, not_compiled};
use super::{Ending, Executor, Row, judge_pair, partner};
use crate::corpus::{Entry, Kind};
use crate::measure::read_source;
use crate::oracle::mojo::Mojo;
use crate::oracle::{Driver, Mesa, OracleError};
use crate::row::{Outcome, one_line};
use crate::worker::Task;
use clap::ValueEnum;
use eggshade::Options;
use eggshade::frontend::ast::Version;
use eggshade::ir::types::Stage;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// What runs our code.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Consumer {
    /// ARB programs in Mesa.
    Arb,
    /// Direct3D 9 shaders in MojoShader's GLSL in Mesa.
    D3d9,
}

impl Consumer {
    /// The target of vertex shaders; its partner is that of fragment shaders.
    pub fn target(self) -> &'static str {
        match self {
            Consumer::Arb => "arbvp1",
            Consumer::D3d9 => "vs_2_0",
        }
    }

    fn executor(self) -> Result<Box<dyn Executor>, OracleError> {
        Ok(match self {
            Consumer::Arb => Box::new(Arb),
            Consumer::D3d9 => Box::new(D3d9::new(Mojo::open()?)),
        })
    }
}

/// One shader to judge.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct JudgeTask {
    /// Its name in the corpus.
    pub id: String,
    /// The program that it belongs to.
    pub family: String,
    /// `vert` or `frag`.
    pub stage: String,
    /// Its texts.
    pub sources: Vec<String>,
    /// Texts that are attached when they define what it calls.
    pub library: Vec<String>,
    /// A text without `#version` is GLSL ES 1.00.
    pub es: bool,
    /// What runs it.
    pub consumer: Consumer,
    /// The target of vertex shaders.
    pub target: String,
    /// The pipeline.
    pub pipeline: String,
}

/// The tasks of the shaders, and of the stages of several texts, that the reference accepts.
pub fn tasks(entries: &[Entry], folder: &Path, consumer: Consumer, target: &str, pipeline: &str) -> Vec<JudgeTask> {
    let wanted = |e: &&Entry| matches!(e.kind, Kind::Shader | Kind::Linked) && e.accepted == Some(true);
    let task = |e: &Entry| {
        let path = |id: &String| folder.join(format!("{id}.{}", e.stage)).display().to_string();
        JudgeTask {
            id: e.id.clone(),
            family: e.family.clone(),
            stage: e.stage.clone(),
            sources: e.sources.iter().map(path).collect(),
            library: e.library.iter().map(path).collect(),
            es: e.es,
            consumer,
            target: target.to_owned(),
            pipeline: pipeline.to_owned(),
        }
    };
    entries.iter().filter(wanted).map(task).collect()
}

impl Task for JudgeTask {
    type Row = Row;
    type State = Result<Mesa, OracleError>;
    const WORKER: &'static str = "judge-worker";

    fn open() -> Self::State {
        Mesa::open(Driver::Softpipe)
    }

    fn answer(&self, mesa: &mut Self::State) -> Row {
        let judgement = match mesa {
            Ok(mesa) => self.judge(mesa).unwrap_or_else(|e| stop(Ending::Fault, e)),
            Err(e) => stop(Ending::NoReference, e.to_string()),
        };
        self.row(judgement)
    }

    fn failed(&self, status: Outcome, reason: String) -> Row {
        self.row(stop(Ending::Fault, format!("{status}: {reason}")))
    }
}

fn stop(ending: Ending, reason: String) -> Judgement {
    super::Stop::new(ending, reason).into()
}

impl JudgeTask {
    fn row(&self, judgement: Judgement) -> Row {
        Row {
            id: self.id.clone(),
            family: self.family.clone(),
            stage: self.stage.clone(),
            ending: judgement.ending,
            reason: one_line(&judgement.reason),
            figures: judgement.figures,
        }
    }

    fn options(&self) -> Result<Options, String> {
        let target = eggshade::resolve_target(&self.target)?;
        let mut options = Options::new(target, eggshade::resolve_pipeline(&self.pipeline)?);
        options.back.check = true;
        if self.es {
            options.default_version = Version::Es100;
        }
        Ok(options)
    }

    fn judge(&self, mesa: &Mesa) -> Result<Judgement, String> {
        let options = self.options()?;
        let stage = if self.stage == "vert" { Stage::Vertex } else { Stage::Fragment };
        let own = Options { stage: Some(stage), ..options.for_stage(stage) };
        let (mut units, library) = (read(&self.sources)?, read(&self.library)?);
        for index in eggshade::attach(&borrowed(&units), &borrowed(&library), &own) {
            units.push(library[index].clone());
        }
        let executor = self.consumer.executor().map_err(|e| e.to_string())?;
        let judged = |units: &[(String, String)]| self.judge_units(mesa, &borrowed(units), &options, &own, &*executor);
        if stage == Stage::Fragment {
            return Ok(judged(&units));
        }
        // Where a picture does not show depths, or the square moves out of view, what is computed as
        // position is looked at as a varying.
        let as_varying = |(name, text): &(String, String)| (name.clone(), partner::position_as_varying(text, self.es));
        let moved: Vec<(String, String)> = units.iter().map(as_varying).collect();
        let [first, second] = if executor.shows_depth() { [&units, &moved] } else { [&moved, &units] };
        Ok(match judged(first) {
            Judgement { ending: Ending::NothingCompared | Ending::DoesNotFit, .. } => judged(second),
            judgement => judgement,
        })
    }

    fn judge_units(
        &self,
        mesa: &Mesa,
        units: &[(&str, &str)],
        options: &Options,
        own: &Options,
        executor: &dyn Executor,
    ) -> Judgement {
        let alone = match eggshade::compile_units(units, own) {
            Ok(built) => built,
            Err(failure) => return not_compiled(&failure).into(),
        };
        let partner = match partner::partner(&alone.tac, executor.shows_depth()) {
            Ok(partner) => partner,
            Err(varying) => return stop(Ending::NoReference, format!("no partner knows the varying {varying}")),
        };
        let partner = [("partner", partner.as_str())];
        let vertex = own.stage == Some(Stage::Vertex);
        let texts: [&[(&str, &str)]; 2] = if vertex { [units, &partner] } else { [&partner, units] };
        judge_pair(mesa, texts, options, executor)
    }
}

/// Paths with what their files say.
fn read(paths: &[String]) -> Result<Vec<(String, String)>, String> {
    paths.iter().map(|p| Ok((p.clone(), read_source(p)?))).collect()
}

fn borrowed(texts: &[(String, String)]) -> Vec<(&str, &str)> {
    texts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect()
}
