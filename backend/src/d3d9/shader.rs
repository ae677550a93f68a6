//! A shader and its instructions. Everything is public and plain; constructors cover what lowering
//! needs most.

use super::constant::Constant;
use super::declare::{Dcl, Def};
use super::opcode::Opcode;
use super::register::{Reg, Rel};
use ir::types::{Stage, WriteMask};
use smallvec::SmallVec;
use std::fmt;

/// Which assembler reads the shader: stage and version. Minor 1 of model 2 is `2_x`, 255 the software
/// version `2_sw`, `3_sw`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Version {
    /// Vertex or pixel.
    pub stage: Stage,
    /// Model.
    pub major: u8,
    /// Version in the model.
    pub minor: u8,
}

impl Version {
    /// All that there are.
    pub const ALL: &'static [Version] = &[
        Version::vs(1, 0),
        Version::vs(1, 1),
        Version::vs(2, 0),
        Version::vs(2, 1),
        Version::vs(2, 255),
        Version::vs(3, 0),
        Version::vs(3, 255),
        Version::ps(1, 0),
        Version::ps(1, 1),
        Version::ps(1, 2),
        Version::ps(1, 3),
        Version::ps(1, 4),
        Version::ps(2, 0),
        Version::ps(2, 1),
        Version::ps(2, 255),
        Version::ps(3, 0),
        Version::ps(3, 255),
    ];

    /// A vertex shader's.
    pub const fn vs(major: u8, minor: u8) -> Version {
        Version { stage: Stage::Vertex, major, minor }
    }

    /// A pixel shader's.
    pub const fn ps(major: u8, minor: u8) -> Version {
        Version { stage: Stage::Fragment, major, minor }
    }

    /// Whether it is older than another of its stage.
    pub const fn is_before(self, major: u8, minor: u8) -> bool {
        self.major < major || (self.major == major && self.minor < minor)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stage = if self.stage == Stage::Vertex { "vs" } else { "ps" };
        match (self.major, self.minor) {
            (major, 255) => write!(f, "{stage}_{major}_sw"),
            (2, 1) => write!(f, "{stage}_2_x"),
            (major, minor) => write!(f, "{stage}_{major}_{minor}"),
        }
    }
}

/// What is done to a source after its swizzle.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Modifier {
    /// Nothing.
    None,
    /// `-r`
    Neg,
    /// `r_bias`: minus a half.
    Bias,
    /// `-r_bias`
    NegBias,
    /// `r_bx2`: from 0..1 to -1..1.
    Sign,
    /// `-r_bx2`
    NegSign,
    /// `1-r`
    Complement,
    /// `r_x2`
    Double,
    /// `-r_x2`
    NegDouble,
    /// `r_dz`: by lane z.
    DivideZ,
    /// `r_dw`: by lane w.
    DivideW,
    /// `r_abs`
    Abs,
    /// `-r_abs`
    NegAbs,
    /// `!b`
    Not,
}

impl Modifier {
    /// All of them, by number in the token stream.
    pub const ALL: &'static [Modifier] = &[
        Modifier::None,
        Modifier::Neg,
        Modifier::Bias,
        Modifier::NegBias,
        Modifier::Sign,
        Modifier::NegSign,
        Modifier::Complement,
        Modifier::Double,
        Modifier::NegDouble,
        Modifier::DivideZ,
        Modifier::DivideW,
        Modifier::Abs,
        Modifier::NegAbs,
        Modifier::Not,
    ];

    /// What the assembler writes before and behind the register.
    pub const fn around(self) -> (&'static str, &'static str) {
        match self {
            Modifier::None => ("", ""),
            Modifier::Neg => ("-", ""),
            Modifier::Bias => ("", "_bias"),
            Modifier::NegBias => ("-", "_bias"),
            Modifier::Sign => ("", "_bx2"),
            Modifier::NegSign => ("-", "_bx2"),
            Modifier::Complement => ("1-", ""),
            Modifier::Double => ("", "_x2"),
            Modifier::NegDouble => ("-", "_x2"),
            Modifier::DivideZ => ("", "_dz"),
            Modifier::DivideW => ("", "_dw"),
            Modifier::Abs => ("", "_abs"),
            Modifier::NegAbs => ("-", "_abs"),
            Modifier::Not => ("!", ""),
        }
    }
}

/// A source operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Src {
    /// What is read.
    pub reg: Reg,
    /// Added to its number.
    pub rel: Option<Rel>,
    /// The lane picked for each of four places.
    pub swizzle: [u8; 4],
    /// Done to it then.
    pub modifier: Modifier,
}

impl Src {
    /// All four lanes of a register.
    pub const fn new(reg: Reg) -> Src {
        Src { reg, rel: None, swizzle: [0, 1, 2, 3], modifier: Modifier::None }
    }

    /// One lane in all places.
    pub const fn lane(reg: Reg, lane: u8) -> Src {
        Src { reg, rel: None, swizzle: [lane; 4], modifier: Modifier::None }
    }

    /// Another swizzle.
    pub const fn with_swizzle(self, swizzle: [u8; 4]) -> Src {
        Src { swizzle, ..self }
    }

    /// The other sign.
    ///
    /// # Panics
    /// When the modifier has no negation (`1-r`, `_dz`, `_dw`, `!`).
    #[must_use]
    pub fn negated(self) -> Src {
        let modifier = match self.modifier {
            Modifier::None => Modifier::Neg,
            Modifier::Neg => Modifier::None,
            Modifier::Bias => Modifier::NegBias,
            Modifier::NegBias => Modifier::Bias,
            Modifier::Sign => Modifier::NegSign,
            Modifier::NegSign => Modifier::Sign,
            Modifier::Double => Modifier::NegDouble,
            Modifier::NegDouble => Modifier::Double,
            Modifier::Abs => Modifier::NegAbs,
            Modifier::NegAbs => Modifier::Abs,
            other => panic!("{other:?} has no negation"),
        };
        Src { modifier, ..self }
    }
}

/// A destination operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Dst {
    /// What is written.
    pub reg: Reg,
    /// Added to its number (outputs of vs_3_0 only).
    pub rel: Option<Rel>,
    /// The lanes written.
    pub mask: WriteMask,
    /// `_sat`: clamped to 0..1.
    pub saturate: bool,
    /// `_pp`: less precision will do.
    pub partial: bool,
    /// `_centroid`: interpolated inside the triangle.
    pub centroid: bool,
    /// Power of two that the result is multiplied by before saturation: `_x2` is 1, `_d8` is -3.
    pub shift: i8,
}

impl Dst {
    /// Some lanes of a register.
    pub const fn new(reg: Reg, mask: WriteMask) -> Dst {
        Dst { reg, rel: None, mask, saturate: false, partial: false, centroid: false, shift: 0 }
    }

    /// The result clamped to 0..1.
    #[must_use]
    pub const fn saturated(self) -> Dst {
        Dst { saturate: true, ..self }
    }
}

/// How two numbers are compared.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Comparison {
    /// `gt`
    Greater,
    /// `eq`
    Equal,
    /// `ge`
    GreaterEqual,
    /// `lt`
    Less,
    /// `ne`
    NotEqual,
    /// `le`
    LessEqual,
}

impl Comparison {
    /// All of them; the number in the token stream is the position plus 1.
    pub const ALL: &'static [Comparison] = &[
        Comparison::Greater,
        Comparison::Equal,
        Comparison::GreaterEqual,
        Comparison::Less,
        Comparison::NotEqual,
        Comparison::LessEqual,
    ];

    /// The assembler's word.
    pub const fn word(self) -> &'static str {
        match self {
            Comparison::Greater => "gt",
            Comparison::Equal => "eq",
            Comparison::GreaterEqual => "ge",
            Comparison::Less => "lt",
            Comparison::NotEqual => "ne",
            Comparison::LessEqual => "le",
        }
    }
}

/// What an opcode needs to know beside its number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Control {
    /// Nothing.
    None,
    /// `if_lt` and its kin.
    Compare(Comparison),
    /// `texldp`: coordinates by w.
    Project,
    /// `texldb`: level plus w.
    Bias,
}

/// The predicate that an instruction runs under: `(p0)`, `(!p0.x)`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Predicate {
    /// The predicate register.
    pub reg: Reg,
    /// Lane for each lane written.
    pub swizzle: [u8; 4],
    /// Runs where it is false.
    pub not: bool,
}

/// An instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inst {
    /// Opcode.
    pub op: Opcode,
    /// Its variant.
    pub control: Control,
    /// Destination, where the opcode has one.
    pub dst: Option<Dst>,
    /// Sources in the order of the assembler.
    pub srcs: SmallVec<[Src; 4]>,
    /// Runs only where this holds.
    pub predicate: Option<Predicate>,
    /// `+`: in the slot of the instruction before (pixel shaders of model 1).
    pub coissue: bool,
}

impl Inst {
    /// An instruction with a destination.
    pub fn new(op: Opcode, dst: Dst, srcs: &[Src]) -> Inst {
        Inst { dst: Some(dst), ..Inst::flow(op, srcs) }
    }

    /// An instruction without one.
    pub fn flow(op: Opcode, srcs: &[Src]) -> Inst {
        let srcs = SmallVec::from_slice(srcs);
        Inst { op, control: Control::None, dst: None, srcs, predicate: None, coissue: false }
    }

    /// With another control.
    #[must_use]
    pub fn with_control(self, control: Control) -> Inst {
        Inst { control, ..self }
    }
}

/// A shader.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shader {
    /// Stage and version.
    pub version: Version,
    /// Declarations.
    pub dcls: Vec<Dcl>,
    /// Constants in the code.
    pub defs: Vec<Def>,
    /// The code.
    pub insts: Vec<Inst>,
    /// The constant table; none is written when it is empty.
    pub constants: Vec<Constant>,
}

impl Shader {
    /// A shader without code.
    pub const fn new(version: Version) -> Shader {
        Shader { version, dcls: Vec::new(), defs: Vec::new(), insts: Vec::new(), constants: Vec::new() }
    }
}
