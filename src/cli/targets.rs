//! `targets`: the list, or one table as TOML.

use super::{Outcome, Stop, output};
use eggshade::backend::Target;

/// Runs the command.
pub fn run(name: Option<&str>) -> Outcome {
    let text = match name {
        Some(name) => Target::text(name).map_err(|e| Stop::usage(e.to_string()))?.to_owned(),
        None => Target::names().map(|n| format!("{n}\n")).collect(),
    };
    output::write(None, text.as_bytes()).map_err(Stop::input)
}
