//! Output forms of a finished machine program, each with its reader beside it.

pub mod arb;
pub mod vec4_bits;
pub mod vec4_parse;
pub mod vec4_text;

#[cfg(test)]
mod tests;

use crate::error::Error;
use crate::isa::{Assembly, Target};
use crate::mach::Program;
use crate::reflect::Reflection;

/// The program as the target's own assembler reads it.
///
/// # Errors
/// [`Error::Unsupported`] when the form has no word for something that the program uses.
pub fn text(program: &Program, target: &Target) -> Result<String, Error> {
    match target.assembly {
        Assembly::Vec4 => Ok(vec4_text::print(program)),
        Assembly::ArbProgram => arb::print(program, target),
    }
}

/// Adds the target's own names to a description of the program.
pub fn name_bindings(reflection: &mut Reflection, program: &Program, target: &Target) {
    match target.assembly {
        Assembly::Vec4 => {} // the registers are the names
        Assembly::ArbProgram => arb::name_bindings(reflection, program),
    }
}
