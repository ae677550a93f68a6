//! Support for tests, here and in the crates above.

pub mod filetest;
