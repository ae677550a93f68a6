//! What can go wrong between three-address code and machine code.

use std::fmt;

/// Something that a target has only so much of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum Resource {
    /// Temporary registers.
    Temps,
    /// Constant registers (uniforms and literals).
    Constants,
    /// Input registers.
    Inputs,
    /// Output registers.
    Outputs,
    /// Sampler registers.
    Samplers,
    /// Instruction slots.
    Slots,
    /// Arithmetic instructions.
    AluInstructions,
    /// Texture instructions.
    TexInstructions,
    /// Lookups with coordinates from lookups.
    Indirections,
    /// Lookups whose coordinates or place come from lookups.
    Dependence,
    /// Sets of texture coordinates, which carry the varyings.
    Coordinates,
    /// Nested blocks of control flow.
    Nesting,
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Resource::Temps => "temporaries",
            Resource::Constants => "constants",
            Resource::Inputs => "inputs",
            Resource::Outputs => "outputs",
            Resource::Samplers => "samplers",
            Resource::Slots => "slots",
            Resource::AluInstructions => "arithmetic instructions",
            Resource::TexInstructions => "texture instructions",
            Resource::Indirections => "texture indirections",
            Resource::Dependence => "orders of dependent lookups",
            Resource::Coordinates => "texture coordinates (varyings)",
            Resource::Nesting => "levels of nested control flow",
        })
    }
}

/// Why there is no machine code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// The caller's TAC breaks a rule of `ir::tac`.
    InvalidTac(String),
    /// A pipeline names an unknown pass or option.
    Pipeline(String),
    /// A target's table is not well formed.
    Target(String),
    /// The program needs more of something than the target has.
    DoesNotFit {
        /// Of what.
        what: Resource,
        /// How much it needs (at least).
        need: u32,
        /// How much there is.
        limit: u32,
        /// Source line where most is needed, or of the declaration that is too much; 0 when unknown.
        line: u32,
        /// What is known beyond the numbers: the place, what lives there, the lower bound. May be empty.
        detail: String,
    },
    /// The target cannot do it at all.
    Unsupported {
        /// What.
        what: String,
        /// Source line, 0 when unknown.
        line: u32,
    },
    /// The program exceeds a bound of the compiler.
    Bound(ir::limits::Exceeded),
    /// A stage broke its own contract: a bug in this compiler.
    Internal(String),
}

impl Error {
    /// The source line that the error is about, 0 when unknown.
    pub fn line(&self) -> u32 {
        match self {
            Error::DoesNotFit { line, .. } | Error::Unsupported { line, .. } => *line,
            _ => 0,
        }
    }

    /// What is known beyond the message; may be empty.
    pub fn detail(&self) -> &str {
        match self {
            Error::DoesNotFit { detail, .. } => detail,
            _ => "",
        }
    }

    /// The `status` word of the JSON report (design section 8).
    pub fn status(&self) -> &'static str {
        match self {
            Error::DoesNotFit { .. } => "does-not-fit",
            Error::Unsupported { .. } => "unsupported",
            _ => "rejected",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::InvalidTac(text) => write!(f, "invalid three-address code: {text}"),
            Error::Pipeline(text) => write!(f, "pipeline: {text}"),
            Error::Target(text) => write!(f, "target: {text}"),
            Error::DoesNotFit { what, need, limit, .. } => {
                write!(f, "does not fit: needs {need} {what}, the target has {limit}")
            }
            Error::Unsupported { what, .. } => write!(f, "unsupported by the target: {what}"),
            Error::Bound(bound) => write!(f, "the shader is too large for the compiler; {bound}"),
            Error::Internal(text) => write!(f, "internal error: {text}"),
        }
    }
}

impl std::error::Error for Error {}
