//! Output forms of a finished machine program, each with its reader beside it.

pub mod arb;
pub mod d3d9;
pub mod d3d9_declaration;
mod d3d9_names;
pub mod vec4_bits;
pub mod vec4_parse;
pub mod vec4_text;

#[cfg(test)]
mod d3d9_tests;
#[cfg(test)]
mod tests;

use crate::d3d9::tokens;
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
        Assembly::Vec4 => Ok(vec4_text::print(program)),
        Assembly::D3d9 => d3d9::lower(program, target).map(|shader| crate::d3d9::text::print(&shader)),
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

/// The program as bytes: the token stream of Direct3D, with the types of the description in its constant
/// table, or the machine's own words.
///
/// # Errors
/// When something has no form.
pub fn binary(program: &Program, target: &Target, reflection: &Reflection) -> Result<Vec<u8>, String> {
    if target.assembly != Assembly::D3d9 {
        return vec4_bits::encode(program);
    }
    let mut shader = d3d9::lower(program, target).map_err(|e| e.to_string())?;
    d3d9::name_types(&mut shader, reflection);
    Ok(tokens::to_bytes(&tokens::write(&shader)?))
}

/// Adds the target's own names to a description of the program.
pub fn name_bindings(reflection: &mut Reflection, program: &Program, target: &Target) {
    match target.assembly {
        Assembly::D3d9 => d3d9::name_bindings(reflection, program, target),
        Assembly::Vec4 => {} // the registers are the names
        Assembly::ArbProgram => arb::name_bindings(reflection, program),
    }
}
