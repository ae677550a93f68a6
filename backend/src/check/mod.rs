//! A judge of program texts: reads a text as the target's assembler would, and counts and checks what
//! that assembler may not. Written apart from the emitters, which it shares no code with; the numbers
//! are those of the target's table.

mod arb;
mod arb_read;
mod d3d9;
mod d3d9_read;
mod d3d9_rules;

use crate::error::Error;
use crate::isa::{Assembly, Target};
use std::fmt;

/// Something wrong with a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// Line of the statement, from 1; 0 for the whole program.
    pub line: u32,
    /// One sentence without a full stop.
    pub text: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.text),
            line => write!(f, "line {line}: {}", self.text),
        }
    }
}

/// What a program uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Usage {
    /// Instructions, the end not counted.
    pub instructions: u32,
    /// Arithmetic ones.
    pub alu: u32,
    /// Texture ones, `KIL` included.
    pub tex: u32,
    /// Texture indirections.
    pub indirections: u32,
    /// Temporaries declared.
    pub temporaries: u32,
    /// Parameters: locals, environment, state and literals.
    pub parameters: u32,
    /// Attributes read.
    pub attributes: u32,
    /// Address registers declared.
    pub addresses: u32,
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} instructions ({} arithmetic, {} texture), {} texture indirections, {} temporaries, {} parameters, \
             {} attributes, {} address registers",
            self.instructions,
            self.alu,
            self.tex,
            self.indirections,
            self.temporaries,
            self.parameters,
            self.attributes,
            self.addresses
        )
    }
}

/// Checks a text against a target.
///
/// # Errors
/// [`Error::Target`] when the target's text form has no checker. The inner error is the findings in
/// order of the text, at least one.
pub fn check(text: &str, target: &Target) -> Result<Result<Usage, Vec<Finding>>, Error> {
    match target.assembly {
        Assembly::ArbProgram => Ok(arb::check(text, target)),
        Assembly::D3d9 => Ok(d3d9::check(text, target)),
        Assembly::Vec4 => Err(Error::Target(format!("`{}` has no text checker: its assembler checks", target.name))),
    }
}
