//! `targets`: the list with the profiles of each, or one table as TOML.

use super::{Outcome, Stop, output};
use eggshade::backend::Target;

/// Runs the command.
pub fn run(name: Option<&str>) -> Outcome {
    let text = match name {
        Some(name) => Target::text(name).map_err(|e| Stop::usage(e.to_string()))?.to_owned(),
        None => list()?,
    };
    output::write(None, text.as_bytes()).map_err(Stop::input)
}

fn list() -> Result<String, Stop> {
    let mut text = String::new();
    for name in Target::names() {
        text += &format!("{name}\n");
        let profiles = Target::text(name).and_then(Target::profiles).map_err(|e| Stop::usage(e.to_string()))?;
        profiles.iter().for_each(|part| text += &format!("{name}:{part}\n"));
    }
    Ok(text)
}
