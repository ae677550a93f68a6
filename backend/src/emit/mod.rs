//! Output forms of a finished machine program, each with its reader beside it.

pub mod vec4_bits;
pub mod vec4_parse;
pub mod vec4_text;

#[cfg(test)]
mod tests;
