//! eggshade: GLSL to machine code of vec4 machines, front end and back end together.
//!
//! ```
//! use eggshade::{Options, resolve_pipeline, resolve_target};
//! let options = Options::new(resolve_target("vec4").unwrap(), resolve_pipeline("egraph").unwrap());
//! let source = "attribute vec4 v; uniform mat4 m; void main() { gl_Position = m * v; }";
//! let built = eggshade::compile("a.vert", source, &options).unwrap();
//! assert_eq!(built.compiled.statistics.counts.instructions, 4);
//! ```

pub mod diagnostics;
mod facade;
pub mod limits;
pub mod link;
pub mod link_reflection;
pub mod record;
mod recorder;
pub mod render;
mod units;
pub mod world;

pub use facade::{
    Built, Failure, Options, compile, has_errors, is_tac, resolve_pipeline, resolve_target, stage_of, status_of,
    to_tac, with_front_options,
};
pub use link::{LinkOptions, Linked, is_link_failure, link, link_units};
pub use recorder::{record_of, record_of_unit, record_of_units};
pub use units::{Unit, attach, check_unit, compile_units};
pub use {backend, frontend, ir};
