//! From three-address code to machine code for a target that is described as data.

pub mod alloc;
pub mod cfg;
pub mod cost;
pub mod emit;
pub mod error;
pub mod isa;
pub mod mach;
pub mod select;
pub mod sim;

pub use error::{Error, Resource};
pub use isa::Target;
