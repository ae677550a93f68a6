//! From three-address code to machine code for a target that is described as data.
//!
//! [`compile`] is the whole road on one page and knows no source language: a caller with a front
//! end of its own hands in [`ir::tac::Program`].
//!
//! ```text
//! tac::inline -> ssa::build -> straight code where the target has no flow -> rows of the pipeline (passes, e-graph stage) -> select (pattern
//! table) -> schedule -> legalize -> alloc -> limits -> counts and reflection
//! ```

pub mod alloc;
pub mod calls;
pub mod cfg;
pub mod check;
mod compile;
pub mod cost;
pub mod d3d9;
pub mod egraph_stage;
pub mod emit;
pub mod error;
pub mod estimate;
pub mod isa;
pub mod issue;
pub mod legalize;
pub mod limits;
mod line;
pub mod mach;
pub mod phases;
pub mod pipeline;
pub mod reflect;
pub mod schedule;
pub mod select;
pub mod sim;
mod straighten;

pub use compile::{CompileOptions, Compiled, Statistics, compile, compile_observed};
pub use error::{Error, Resource};
pub use isa::Target;
pub use pipeline::Pipeline;
pub use reflect::Reflection;
