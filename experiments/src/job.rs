//! One compile to make: what travels to a worker as a line of JSON.

use serde::{Deserialize, Serialize};

/// What to compile, and how.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Job {
    /// The file to read.
    pub path: String,
    /// What the row calls it.
    pub name: String,
    /// `vert` or `frag`.
    pub stage: String,
    /// A built-in target's name or a TOML file.
    pub target: String,
    /// A built-in pipeline's name or a TOML file.
    pub pipeline: String,
    /// Rows, rule groups and features left out of the pipeline.
    #[serde(default)]
    pub without: Vec<String>,
    /// Compile so often; the least time counts.
    #[serde(default = "one")]
    pub repeat: u32,
    /// A text without `#version` is GLSL ES 1.00.
    #[serde(default)]
    pub es: bool,
    /// Verify the IR after each pass and check the allocation.
    #[serde(default)]
    pub check: bool,
    /// Further sources of the stage.
    #[serde(default)]
    pub units: Vec<String>,
    /// Sources that are linked in when they define functions that are called and not defined.
    #[serde(default)]
    pub library: Vec<String>,
    /// `main` and bodies may be missing: then there is no code.
    #[serde(default)]
    pub part: bool,
}

fn one() -> u32 {
    1
}

impl Job {
    /// The pipeline's name with what is left out, as the rows give it.
    pub fn pipeline_name(&self) -> String {
        let mut name = self.pipeline.clone();
        for row in &self.without {
            name.push('-');
            name.push_str(row);
        }
        name
    }
}

/// The stage that a file's ending tells.
pub fn stage_of(path: &std::path::Path) -> Option<&'static str> {
    match path.extension()?.to_str()? {
        "vert" | "vs" | "vsh" => Some("vert"),
        "frag" | "fs" | "fsh" => Some("frag"),
        _ => None,
    }
}
