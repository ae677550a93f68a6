//! Registers and the files that they are in.

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

    /// Whether a register may be named by an address: those with names have no number to add to.
    pub const fn is_indexed(self) -> bool {
        self.names().is_empty()
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
