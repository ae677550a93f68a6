//! From three-address code to machine code for a target that is described as data.

pub mod emit;
pub mod mach;
pub mod sim;
