//! eggshade: GLSL to machine code of vec4 machines, front end and back end together.

pub mod diagnostics;
pub mod record;
pub mod render;
pub mod world;

pub use {backend, frontend, ir};
