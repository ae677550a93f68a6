//! Facts about a function, one a file. Each is computed from the function as it is and not kept
//! with it; a pass that changes what a fact is about computes it anew.

mod cfg;
mod domtree;
mod loops;
mod uses;

pub use cfg::Cfg;
pub use domtree::{DomTree, def_blocks};
pub use loops::Loops;
pub use uses::{Use, Uses};
