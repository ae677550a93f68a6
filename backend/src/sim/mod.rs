//! Runs emitted machine code: registers, quads, textures, triangles.
//!
//! The simulator takes a machine program as the binary's decoder gives it and shares with the
//! interpreters only `ir::eval`, the one table of what an opcode computes.

pub mod bridge;
pub mod machine;
pub mod raster;
pub mod texture;

#[cfg(test)]
mod tests;
