//! Runs emitted machine code: registers, quads, textures, triangles.
pub mod raster;
pub mod texture;
