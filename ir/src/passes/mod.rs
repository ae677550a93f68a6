//! One pass a file; the list of all.

mod eliminate_common_subexpressions;
mod eliminate_dead_code;
mod expand_sampler_indices;
mod flatten_exits;
mod flatten_ifs;
mod fuse_mad;
mod hoist_invariants;
mod lower_indexing;
mod lower_types;
mod merge_vectors;
mod propagate_copies;
mod reassociate_products;
mod scalarize_aggregates;
mod sccp;
mod simplify_branches;
mod unroll;

pub use expand_sampler_indices::is_needed as needs_expand_sampler_indices;

use crate::pass::{Keeps, Pass};

/// All passes over SSA, by name. A pass's name is its file's name with dashes.
#[rustfmt::skip]
pub const ALL: &[Pass] = &[
    Pass { name: "eliminate-common-subexpressions", run: eliminate_common_subexpressions::run, keeps: Keeps::CONTROL_FLOW },
    Pass { name: "eliminate-dead-code", run: eliminate_dead_code::run, keeps: Keeps::CONTROL_FLOW },
    Pass { name: "expand-sampler-indices", run: expand_sampler_indices::run, keeps: Keeps::CONTROL_FLOW },
    Pass { name: "flatten-exits", run: flatten_exits::run, keeps: Keeps::NOTHING },
    Pass { name: "flatten-ifs", run: flatten_ifs::run, keeps: Keeps::NOTHING },
    Pass { name: "fuse-mad", run: fuse_mad::run, keeps: Keeps::CONTROL_FLOW },
    Pass { name: "hoist-invariants", run: hoist_invariants::run, keeps: Keeps::CONTROL_FLOW },
    Pass { name: "lower-indexing", run: lower_indexing::run, keeps: Keeps::CONTROL_FLOW },
    Pass { name: "lower-types", run: lower_types::run, keeps: Keeps::CONTROL_FLOW },
    Pass { name: "merge-vectors", run: merge_vectors::run, keeps: Keeps::CONTROL_FLOW },
    Pass { name: "propagate-copies", run: propagate_copies::run, keeps: Keeps::CONTROL_FLOW },
    Pass { name: "reassociate-products", run: reassociate_products::run, keeps: Keeps::CONTROL_FLOW },
    Pass { name: "scalarize-aggregates", run: scalarize_aggregates::run, keeps: Keeps::CONTROL_FLOW },
    Pass { name: "sccp", run: sccp::run, keeps: Keeps::NOTHING },
    Pass { name: "simplify-branches", run: simplify_branches::run, keeps: Keeps::NOTHING },
    Pass { name: "unroll", run: unroll::run, keeps: Keeps::NOTHING },
];

/// The pass of a name.
pub fn find(name: &str) -> Option<&'static Pass> {
    ALL.iter().find(|p| p.name == name)
}
