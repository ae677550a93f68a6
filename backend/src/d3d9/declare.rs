//! Declarations of inputs, outputs and samplers, and constants in the code.

use super::register::{Reg, RegType};
use super::shader::Dst;
use ir::types::WriteMask;

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
