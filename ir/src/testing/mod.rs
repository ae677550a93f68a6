//! Support for tests, here and in the crates above.

pub mod filetest;
pub mod gen_env;
pub mod gen_ssa;
pub mod generate;
pub mod rng;
