//! Output forms of a finished machine program, each with its reader beside it.

pub mod arb;
pub mod vec4_bits;
pub mod vec4_parse;
pub mod vec4_text;

#[cfg(test)]
mod tests;

use crate::error::Error;
use crate::isa::{Assembly, Target};
use crate::mach::{Inst, Program, Src};
use crate::reflect::Reflection;

/// The program as the target's own assembler reads it.
///
/// # Errors
/// [`Error::Unsupported`] when the form has no word for something that the program uses.
pub fn text(program: &Program, target: &Target) -> Result<String, Error> {
    match target.assembly {
        Assembly::Vec4 | Assembly::D3d9 => Ok(vec4_text::print(program)),
        Assembly::ArbProgram => arb::print(program, target),
    }
}

/// One operand with coordinates and bias or level, when both are in one register.
fn join_level(inst: &mut Inst) -> Option<()> {
    let level = inst.srcs.pop()?;
    let coordinates = inst.srcs.first_mut()?;
    let plain = |s: &Src| !s.neg && !s.abs && s.rel.is_none();
    coordinates.swizzle[3] = level.swizzle[0];
    (coordinates.reg == level.reg && plain(coordinates) && plain(&level)).then_some(())
}

/// Adds the target's own names to a description of the program.
pub fn name_bindings(reflection: &mut Reflection, program: &Program, target: &Target) {
    match target.assembly {
        Assembly::Vec4 | Assembly::D3d9 => {} // the registers are the names
        Assembly::ArbProgram => arb::name_bindings(reflection, program),
    }
}
