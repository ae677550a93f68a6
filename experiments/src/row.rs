//! A row of a result table: one compile, with how it ended.

use crate::job::Job;
use eggshade::record::{Record, Status};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;

/// How a compile ended, with the ways that only an onlooker can tell.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// There is machine code.
    Ok,
    /// The shader is not legal GLSL, or exceeds a bound of the front end.
    Rejected,
    /// The target has too few registers, constants or slots.
    DoesNotFit,
    /// The shader asks for something that the target cannot do.
    Unsupported,
    /// The compiler reports a fault of its own.
    Internal,
    /// The compiler panicked.
    Panic,
    /// The process died: stack overflow, out of memory, abort.
    Crash,
    /// It took longer than the bound.
    Timeout,
    /// The file could not be read as text.
    Unreadable,
}

impl Outcome {
    /// All, in the order of reports.
    pub const ALL: [Outcome; 9] = [
        Outcome::Ok,
        Outcome::Rejected,
        Outcome::DoesNotFit,
        Outcome::Unsupported,
        Outcome::Internal,
        Outcome::Panic,
        Outcome::Crash,
        Outcome::Timeout,
        Outcome::Unreadable,
    ];

    /// Never right, whatever the input was.
    pub fn is_fault(self) -> bool {
        matches!(self, Outcome::Internal | Outcome::Panic | Outcome::Crash | Outcome::Timeout)
    }

    /// The word in tables.
    pub fn word(self) -> &'static str {
        match self {
            Outcome::Ok => "ok",
            Outcome::Rejected => "rejected",
            Outcome::DoesNotFit => "does-not-fit",
            Outcome::Unsupported => "unsupported",
            Outcome::Internal => "internal",
            Outcome::Panic => "panic",
            Outcome::Crash => "crash",
            Outcome::Timeout => "timeout",
            Outcome::Unreadable => "unreadable",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

impl From<Status> for Outcome {
    fn from(status: Status) -> Outcome {
        match status {
            Status::Ok => Outcome::Ok,
            Status::Rejected => Outcome::Rejected,
            Status::DoesNotFit => Outcome::DoesNotFit,
            Status::Unsupported => Outcome::Unsupported,
            Status::Internal => Outcome::Internal,
        }
    }
}

/// One compile. Counts are 0 unless the outcome is [`Outcome::Ok`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Row {
    /// The shader.
    pub file: String,
    /// `vert` or `frag`.
    pub stage: String,
    /// The target.
    pub target: String,
    /// The pipeline, with what was left out.
    pub pipeline: String,
    /// How it ended.
    pub status: Outcome,
    /// What the target's own assembler would count.
    pub instructions: u64,
    /// Issue slots.
    pub slots: u64,
    /// Arithmetic instructions.
    pub alu: u64,
    /// Texture instructions.
    pub tex: u64,
    /// Control flow instructions.
    pub flow: u64,
    /// Static estimate of cycles.
    pub cycles: u64,
    /// Temporary registers.
    pub temps: u64,
    /// A bound below which no allocation can go.
    pub temps_bound: u64,
    /// Constant registers.
    pub constants: u64,
    /// Input registers.
    pub inputs: u64,
    /// Output registers.
    pub outputs: u64,
    /// Uniform registers.
    pub uniforms: u64,
    /// Sampler registers.
    pub samplers: u64,
    /// Microseconds of the compile.
    pub micros: u64,
    /// E-graph nodes at the end.
    pub egraph_nodes: u64,
    /// E-graph classes at the end.
    pub egraph_classes: u64,
    /// Why saturation stopped.
    pub egraph_stop: String,
    /// The first error's code.
    pub code: String,
    /// The first error's message, or how the process died.
    pub reason: String,
}

/// Names of the columns that [`Row::metric`] knows.
pub const METRICS: [&str; 16] = [
    "instructions",
    "slots",
    "alu",
    "tex",
    "flow",
    "cycles",
    "temps",
    "temps_bound",
    "constants",
    "inputs",
    "outputs",
    "uniforms",
    "samplers",
    "micros",
    "egraph_nodes",
    "egraph_classes",
];

impl Row {
    /// A row without counts.
    pub fn failed(job: &Job, status: Outcome, reason: impl Into<String>) -> Row {
        Row {
            file: job.name.clone(),
            stage: job.stage.clone(),
            target: job.target.clone(),
            pipeline: job.pipeline_name(),
            status,
            instructions: 0,
            slots: 0,
            alu: 0,
            tex: 0,
            flow: 0,
            cycles: 0,
            temps: 0,
            temps_bound: 0,
            constants: 0,
            inputs: 0,
            outputs: 0,
            uniforms: 0,
            samplers: 0,
            micros: 0,
            egraph_nodes: 0,
            egraph_classes: 0,
            egraph_stop: String::new(),
            code: String::new(),
            reason: one_line(&reason.into()),
        }
    }

    /// What the compiler recorded, under the job's own names.
    pub fn from_record(job: &Job, record: &Record) -> Row {
        let text = |d: &serde_json::Value, key: &str| d[key].as_str().unwrap_or_default().to_owned();
        // Warnings come first in the text's order; the reason is the first error.
        let first = record.diagnostics.iter().find(|d| d["severity"] == "error").or(record.diagnostics.first());
        let told = if record.status == Status::Ok { None } else { first };
        Row {
            instructions: record.instructions.into(),
            slots: record.slots.into(),
            alu: record.alu.into(),
            tex: record.tex.into(),
            flow: record.flow.into(),
            cycles: record.cycles.into(),
            temps: record.temps.into(),
            temps_bound: record.temps_bound.into(),
            constants: record.constants.into(),
            inputs: record.inputs.into(),
            outputs: record.outputs.into(),
            uniforms: record.uniforms.into(),
            samplers: record.samplers.into(),
            micros: record.micros,
            egraph_nodes: record.egraph_nodes.into(),
            egraph_classes: record.egraph_classes.into(),
            egraph_stop: record.egraph_stop.clone(),
            code: told.map(|d| text(d, "code")).unwrap_or_default(),
            ..Row::failed(job, record.status.into(), told.map(|d| text(d, "message")).unwrap_or_default())
        }
    }

    /// The number of a column.
    pub fn metric(&self, name: &str) -> Option<u64> {
        Some(match name {
            "instructions" => self.instructions,
            "slots" => self.slots,
            "alu" => self.alu,
            "tex" => self.tex,
            "flow" => self.flow,
            "cycles" => self.cycles,
            "temps" => self.temps,
            "temps_bound" => self.temps_bound,
            "constants" => self.constants,
            "inputs" => self.inputs,
            "outputs" => self.outputs,
            "uniforms" => self.uniforms,
            "samplers" => self.samplers,
            "micros" => self.micros,
            "egraph_nodes" => self.egraph_nodes,
            "egraph_classes" => self.egraph_classes,
            _ => return None,
        })
    }
}

/// On one line, cut to a length that a table bears.
pub fn one_line(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    lines.join(" / ").chars().take(300).collect()
}

/// Rows as CSV text.
///
/// # Errors
/// When a row cannot be written as CSV.
pub fn to_csv<R: Serialize>(rows: &[R]) -> Result<Vec<u8>, String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row).map_err(|e| e.to_string())?;
    }
    writer.into_inner().map_err(|e| e.to_string())
}

/// Reads a table that [`to_csv`] wrote.
///
/// # Errors
/// With the file's name and the line.
pub fn read_csv(path: &Path) -> Result<Vec<Row>, String> {
    let told = |e: csv::Error| format!("{}: {e}", path.display());
    let mut reader = csv::Reader::from_path(path).map_err(told)?;
    reader.deserialize().map(|row| row.map_err(told)).collect()
}
