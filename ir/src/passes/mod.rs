//! One pass a file; the list of all.

use crate::pass::Pass;

/// All passes over SSA, by name. A pass's name is its file's name with dashes.
pub const ALL: &[Pass] = &[];

/// The pass of a name.
pub fn find(name: &str) -> Option<&'static Pass> {
    ALL.iter().find(|p| p.name == name)
}
