//! Data of a shader. Everything is public and plain; constructors cover what lowering needs most.

use super::opcode::Opcode;
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

/// A register file. Which of them share a number in the token stream is not seen here.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum RegType {
    /// `r`
    Temp,
    /// `v`: attributes, colours, and in ps_3_0 all that is interpolated.
    Input,
    /// `c`: floats.
    Const,
    /// `a`: the address register of vertex shaders.
    Address,
    /// `t`: texture coordinates of pixel shaders before model 3.
    Texture,
    /// `oPos`, `oFog`, `oPts`, by number.
    Rasterizer,
    /// `oD`: colours out.
    ColorOut,
    /// `oT`: texture coordinates out.
    TexCoordOut,
    /// `o`: what vs_3_0 gives out.
    Output,
    /// `i`: integers.
    ConstInt,
    /// `oC`: what a pixel shader draws.
    Target,
    /// `oDepth`
    Depth,
    /// `s`
    Sampler,
    /// `b`: booleans.
    ConstBool,
    /// `aL`: the counter of `loop`.
    Loop,
    /// `vPos` and `vFace`, by number.
    Misc,
    /// `l`
    Label,
    /// `p`
    Predicate,
}

impl RegType {
    /// All of them.
    pub const ALL: &'static [RegType] = &[
        RegType::Temp,
        RegType::Input,
        RegType::Const,
        RegType::Address,
        RegType::Texture,
        RegType::Rasterizer,
        RegType::ColorOut,
        RegType::TexCoordOut,
        RegType::Output,
        RegType::ConstInt,
        RegType::Target,
        RegType::Depth,
        RegType::Sampler,
        RegType::ConstBool,
        RegType::Loop,
        RegType::Misc,
        RegType::Label,
        RegType::Predicate,
    ];

    /// The word before the number; empty for files whose registers have names.
    pub const fn prefix(self) -> &'static str {
        match self {
            RegType::Temp => "r",
            RegType::Input => "v",
            RegType::Const => "c",
            RegType::Address => "a",
            RegType::Texture => "t",
            RegType::ColorOut => "oD",
            RegType::TexCoordOut => "oT",
            RegType::Output => "o",
            RegType::ConstInt => "i",
            RegType::Target => "oC",
            RegType::Sampler => "s",
            RegType::ConstBool => "b",
            RegType::Label => "l",
            RegType::Predicate => "p",
            RegType::Rasterizer | RegType::Depth | RegType::Loop | RegType::Misc => "",
        }
    }

    /// The names of registers that have one, by number.
    pub const fn names(self) -> &'static [&'static str] {
        match self {
            RegType::Rasterizer => &["oPos", "oFog", "oPts"],
            RegType::Depth => &["oDepth"],
            RegType::Loop => &["aL"],
            RegType::Misc => &["vPos", "vFace"],
            _ => &[],
        }
    }
}

/// A register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Reg {
    /// Its file.
    pub kind: RegType,
    /// Its number; the constant part when the operand is relative.
    pub index: u32,
}

impl Reg {
    /// A register of a file.
    pub const fn new(kind: RegType, index: u32) -> Reg {
        Reg { kind, index }
    }

    /// Whether a file whose registers have names has this one.
    pub const fn exists(self) -> bool {
        !self.kind.prefix().is_empty() || (self.index as usize) < self.kind.names().len()
    }

    /// `oPos`
    pub const POSITION: Reg = Reg::new(RegType::Rasterizer, 0);
    /// `oFog`
    pub const FOG: Reg = Reg::new(RegType::Rasterizer, 1);
    /// `oPts`
    pub const POINT_SIZE: Reg = Reg::new(RegType::Rasterizer, 2);
    /// `oDepth`
    pub const DEPTH: Reg = Reg::new(RegType::Depth, 0);
    /// `vPos`
    pub const PIXEL_POSITION: Reg = Reg::new(RegType::Misc, 0);
    /// `vFace`
    pub const FACE: Reg = Reg::new(RegType::Misc, 1);
    /// `a0`
    pub const A0: Reg = Reg::new(RegType::Address, 0);
    /// `aL`
    pub const LOOP: Reg = Reg::new(RegType::Loop, 0);
    /// `p0`
    pub const P0: Reg = Reg::new(RegType::Predicate, 0);
}

/// Relative addressing: what is added to a register's number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Rel {
    /// `a0` or `aL`.
    pub reg: Reg,
    /// Its lane (0 for `aL`).
    pub lane: u8,
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

/// What an input or output is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Usage {
    /// `position`
    Position,
    /// `blendweight`
    BlendWeight,
    /// `blendindices`
    BlendIndices,
    /// `normal`
    Normal,
    /// `psize`
    PointSize,
    /// `texcoord`
    TexCoord,
    /// `tangent`
    Tangent,
    /// `binormal`
    Binormal,
    /// `tessfactor`
    TessFactor,
    /// `positiont`: already transformed.
    PositionT,
    /// `color`
    Color,
    /// `fog`
    Fog,
    /// `depth`
    Depth,
    /// `sample`
    Sample,
}

impl Usage {
    /// All of them, by number in the token stream.
    pub const ALL: &'static [Usage] = &[
        Usage::Position,
        Usage::BlendWeight,
        Usage::BlendIndices,
        Usage::Normal,
        Usage::PointSize,
        Usage::TexCoord,
        Usage::Tangent,
        Usage::Binormal,
        Usage::TessFactor,
        Usage::PositionT,
        Usage::Color,
        Usage::Fog,
        Usage::Depth,
        Usage::Sample,
    ];

    /// The assembler's word.
    pub const fn word(self) -> &'static str {
        match self {
            Usage::Position => "position",
            Usage::BlendWeight => "blendweight",
            Usage::BlendIndices => "blendindices",
            Usage::Normal => "normal",
            Usage::PointSize => "psize",
            Usage::TexCoord => "texcoord",
            Usage::Tangent => "tangent",
            Usage::Binormal => "binormal",
            Usage::TessFactor => "tessfactor",
            Usage::PositionT => "positiont",
            Usage::Color => "color",
            Usage::Fog => "fog",
            Usage::Depth => "depth",
            Usage::Sample => "sample",
        }
    }
}

/// The shape of a sampler's texture.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum SamplerKind {
    /// `1d`
    D1,
    /// `2d`
    D2,
    /// `cube`
    Cube,
    /// `volume`
    Volume,
}

impl SamplerKind {
    /// All of them; the number in the token stream is the position plus 1.
    pub const ALL: &'static [SamplerKind] = &[SamplerKind::D1, SamplerKind::D2, SamplerKind::Cube, SamplerKind::Volume];

    /// The assembler's word.
    pub const fn word(self) -> &'static str {
        match self {
            SamplerKind::D1 => "1d",
            SamplerKind::D2 => "2d",
            SamplerKind::Cube => "cube",
            SamplerKind::Volume => "volume",
        }
    }
}

/// What a declaration says.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DclKind {
    /// `dcl t0`, `dcl vPos.xy`: the register alone.
    Plain,
    /// `dcl_texcoord1 v0`
    Usage(Usage, u8),
    /// `dcl_2d s0`
    Sampler(SamplerKind),
}

/// A declaration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dcl {
    /// What it says.
    pub kind: DclKind,
    /// The register and the lanes in use; only mask, `_pp` and `_centroid` count.
    pub dst: Dst,
}

impl Dcl {
    /// All lanes of an input or output with a usage. The index is at most 15.
    pub const fn usage(usage: Usage, index: u8, reg: Reg) -> Dcl {
        Dcl { kind: DclKind::Usage(usage, index), dst: Dst::new(reg, WriteMask::ALL) }
    }

    /// Some lanes of a register without a usage.
    pub const fn plain(reg: Reg, mask: WriteMask) -> Dcl {
        Dcl { kind: DclKind::Plain, dst: Dst::new(reg, mask) }
    }

    /// Sampler `index`.
    pub const fn sampler(kind: SamplerKind, index: u32) -> Dcl {
        let reg = Reg::new(RegType::Sampler, index);
        Dcl { kind: DclKind::Sampler(kind), dst: Dst::new(reg, WriteMask::ALL) }
    }
}

/// A constant in the code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Def {
    /// `def`: bits of four floats.
    Float {
        /// Register of file `c`.
        index: u32,
        /// The lanes.
        bits: [u32; 4],
    },
    /// `defi`
    Int {
        /// Register of file `i`.
        index: u32,
        /// Count, start and step of a loop, and a lane that is not used.
        lanes: [i32; 4],
    },
    /// `defb`
    Bool {
        /// Register of file `b`.
        index: u32,
        /// Its value.
        value: bool,
    },
}

impl Def {
    /// Four floats by their bits.
    pub const fn float(index: u32, bits: [u32; 4]) -> Def {
        Def::Float { index, bits }
    }
}

/// The registers that an entry of the constant table is in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum RegisterSet {
    /// `b`
    Bool,
    /// `i`
    Int,
    /// `c`
    Float,
    /// `s`
    Sampler,
}

impl RegisterSet {
    /// All of them, by number.
    pub const ALL: &'static [RegisterSet] =
        &[RegisterSet::Bool, RegisterSet::Int, RegisterSet::Float, RegisterSet::Sampler];

    /// The letter of its registers.
    pub const fn letter(self) -> char {
        match self {
            RegisterSet::Bool => 'b',
            RegisterSet::Int => 'i',
            RegisterSet::Float => 'c',
            RegisterSet::Sampler => 's',
        }
    }
}

/// The shape of an entry of the constant table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Class {
    /// One lane.
    Scalar,
    /// Up to four lanes.
    Vector,
    /// A register a row.
    RowMatrix,
    /// A register a column.
    ColumnMatrix,
    /// A sampler or the like.
    Object,
    /// A structure.
    Struct,
}

impl Class {
    /// All of them, by number.
    pub const ALL: &'static [Class] =
        &[Class::Scalar, Class::Vector, Class::RowMatrix, Class::ColumnMatrix, Class::Object, Class::Struct];
}

/// What a lane of an entry of the constant table is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum ScalarKind {
    /// Nothing (structures).
    Void,
    /// `bool`
    Bool,
    /// `int`
    Int,
    /// `float`
    Float,
    /// A sampler of unknown shape.
    Sampler,
    /// `sampler1D`
    Sampler1D,
    /// `sampler2D`
    Sampler2D,
    /// `sampler3D`
    Sampler3D,
    /// `samplerCUBE`
    SamplerCube,
}

impl ScalarKind {
    /// All of them.
    pub const ALL: &'static [ScalarKind] = &[
        ScalarKind::Void,
        ScalarKind::Bool,
        ScalarKind::Int,
        ScalarKind::Float,
        ScalarKind::Sampler,
        ScalarKind::Sampler1D,
        ScalarKind::Sampler2D,
        ScalarKind::Sampler3D,
        ScalarKind::SamplerCube,
    ];
}

/// An entry of the constant table: a uniform or sampler and its registers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Constant {
    /// The name in the source.
    pub name: String,
    /// Which registers.
    pub set: RegisterSet,
    /// The first one.
    pub index: u16,
    /// How many.
    pub count: u16,
    /// Shape of an element.
    pub class: Class,
    /// Lanes of an element.
    pub kind: ScalarKind,
    /// Rows of an element; 1 but for matrices.
    pub rows: u16,
    /// Lanes of a row.
    pub columns: u16,
    /// Elements of an array, 1 for what is none.
    pub elements: u16,
}

impl Constant {
    /// `elements` vectors of `lanes` floats from register `index` on.
    pub fn vectors(name: &str, index: u16, lanes: u16, elements: u16) -> Constant {
        let class = if lanes == 1 { Class::Scalar } else { Class::Vector };
        Constant {
            name: name.to_owned(),
            set: RegisterSet::Float,
            index,
            count: elements,
            class,
            kind: ScalarKind::Float,
            rows: 1,
            columns: lanes,
            elements,
        }
    }

    /// `elements` matrices, each column a register.
    pub fn matrices(name: &str, index: u16, [rows, columns]: [u16; 2], elements: u16) -> Constant {
        let count = columns.saturating_mul(elements);
        Constant { class: Class::ColumnMatrix, rows, columns, count, ..Constant::vectors(name, index, rows, elements) }
    }

    /// A sampler.
    pub fn sampler(name: &str, index: u16, kind: SamplerKind) -> Constant {
        let kind = match kind {
            SamplerKind::D1 => ScalarKind::Sampler1D,
            SamplerKind::D2 => ScalarKind::Sampler2D,
            SamplerKind::Cube => ScalarKind::SamplerCube,
            SamplerKind::Volume => ScalarKind::Sampler3D,
        };
        let set = RegisterSet::Sampler;
        Constant { class: Class::Object, kind, set, ..Constant::vectors(name, index, 1, 1) }
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
