//! The text form of SSA: [`print()`] writes it, [`parse()`] reads it back with the same entity
//! numbers, so that `print(parse(print(f))) == print(f)`.
//!
//! ```text
//! function frag {
//!   var0 = uniform vec4[2] "lights"
//!   var1 = output vec4 "gl_FragColor"
//!
//! block0:
//!   v0: vec4 = uniform var0[1] @3
//!   v1: float = swz v0.x
//!   v2: bool = slt v1, v1
//!   branch v2, block1, block2(v0), merge block2
//! block1:
//!   v3: vec4 = const vec4(1.0, -0.0, inf, nan)
//!   jump block2(v3)
//! block2(v4: vec4):
//!   store_output var1[0].xyzw, v4
//!   return
//! }
//! ```
//!
//! A block that heads a loop says `block3(v7: int) loop block9:`, block9 being the block after the
//! loop. `@3` is a source line. `;` starts a comment.

mod lex;
mod parse;
mod print;

pub use lex::unescape;
pub use parse::{parse, parse_within};
pub use print::{inst_text, literal_text, print};
