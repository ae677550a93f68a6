//! The front end: GLSL text to tokens, syntax tree, typed tree and three-address code.
//!
//! ```text
//! text -> preprocess -> lexer's tokens -> parse -> ast
//! ```

pub mod ast;
pub mod limits;

pub use limits::Limits;
