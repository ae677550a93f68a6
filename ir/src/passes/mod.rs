//! One pass a file; the list of all.

mod eliminate_common_subexpressions;
mod eliminate_dead_code;
mod propagate_copies;
mod sccp;
mod simplify_branches;

use crate::pass::{Keeps, Pass};

/// All passes over SSA, by name. A pass's name is its file's name with dashes.
#[rustfmt::skip]
pub const ALL: &[Pass] = &[
    Pass { name: "eliminate-common-subexpressions", run: eliminate_common_subexpressions::run, keeps: Keeps::CONTROL_FLOW },
    Pass { name: "eliminate-dead-code", run: eliminate_dead_code::run, keeps: Keeps::CONTROL_FLOW },
    Pass { name: "propagate-copies", run: propagate_copies::run, keeps: Keeps::CONTROL_FLOW },
    Pass { name: "sccp", run: sccp::run, keeps: Keeps::NOTHING },
    Pass { name: "simplify-branches", run: simplify_branches::run, keeps: Keeps::NOTHING },
];

/// The pass of a name.
pub fn find(name: &str) -> Option<&'static Pass> {
    ALL.iter().find(|p| p.name == name)
}
