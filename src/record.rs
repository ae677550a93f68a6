//! One compile of one shader as a row of numbers: what `--emit json` prints and the laboratory
//! collects.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How a compile ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// There is machine code.
    #[default]
    Ok,
    /// The shader is not legal GLSL, or exceeds a bound of the front end.
    Rejected,
    /// The target has too few registers, constants or slots.
    DoesNotFit,
    /// The shader asks for something that the target cannot do.
    Unsupported,
    /// A fault of the compiler.
    Internal,
}

/// The numbers of one compile. Counts are 0 unless the status is [`Status::Ok`].
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Record {
    /// As given on the command line.
    pub file: String,
    /// How it ended.
    pub status: Status,
    /// `vert` or `frag`.
    pub stage: String,
    /// The target's name.
    pub target: String,
    /// The pipeline's name, with what was left out.
    pub pipeline: String,
    /// What the target's own assembler would count: `END` and declarations left out.
    pub instructions: u32,
    /// Issue slots.
    pub slots: u32,
    /// Arithmetic instructions.
    pub alu: u32,
    /// Texture instructions.
    pub tex: u32,
    /// Control flow instructions.
    pub flow: u32,
    /// Static estimate of cycles, each branch taken once.
    pub cycles: u32,
    /// Clocks a vertex for each way to issue that the target's table knows.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub clocks: BTreeMap<String, u32>,
    /// Temporary registers.
    pub temps: u32,
    /// No allocation of the same code can use fewer.
    pub temps_bound: u32,
    /// Constant registers: uniforms and literals.
    pub constants: u32,
    /// Input registers.
    pub inputs: u32,
    /// Output registers.
    pub outputs: u32,
    /// Uniform registers among the constants.
    pub uniforms: u32,
    /// Sampler registers.
    pub samplers: u32,
    /// Microseconds of the compile without reading the file; the least when repeated.
    pub micros: u64,
    /// E-graph nodes at the end, 0 without the stage.
    pub egraph_nodes: u32,
    /// E-graph classes at the end.
    pub egraph_classes: u32,
    /// Why saturation stopped: `saturated`, `nodes`, `iterations`; empty without the stage.
    pub egraph_stop: String,
    /// The assembly text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub assembly: String,
    /// Messages, in the JSON form of [`crate::diagnostics::to_json`].
    #[serde(default)]
    pub diagnostics: Vec<serde_json::Value>,
}
