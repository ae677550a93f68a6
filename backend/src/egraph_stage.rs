//! The e-graph stage as a row of a pipeline.

use crate::error::Error;
use crate::pipeline::EgraphOptions;

/// The rule groups that exist.
pub const GROUPS: [&str; 7] = ["arith", "mad", "dot", "swizzle", "pack", "select", "math"];

/// Checks the names in the options.
pub fn check(options: &EgraphOptions) -> Result<(), Error> {
    if let Some(group) = options.groups.iter().find(|g| !GROUPS.contains(&g.as_str())) {
        return Err(Error::Pipeline(format!("egraph.groups: no group `{group}`; there are {}", GROUPS.join(", "))));
    }
    match options.extract.as_str() {
        "tree" | "dag-greedy" | "exact" => Ok(()),
        other => Err(Error::Pipeline(format!("egraph.extract = \"{other}\": tree, dag-greedy or exact"))),
    }
}
