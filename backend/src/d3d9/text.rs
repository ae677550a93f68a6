//! The assembler's text.
//!
//! ```text
//! vs_2_0
//! // c0..c3: float4x4 mvp
//! dcl_position v0
//! def c5, 0, 1, 2, 3
//! mad_sat r0.xyz, c0.x, v0, -r1
//! mova a0.x, r0.x
//! mov r0, c[a0.x + 5]
//! if_lt r0.x, c5.y
//! ```
//!
//! A float of `def` is a decimal number that reads back to the same bits; infinities and NaN, which
//! the assembler has no words for, are their bits as `0x...`. The constant table stands in comments.

use super::{
    Class, Constant, Dcl, DclKind, Def, Dst, Inst, Predicate, Reg, RegType, Rel, ScalarKind, Shader, Src, Usage,
};
use ir::types::{LANE_NAMES, WriteMask};
use std::fmt;

/// The whole shader.
pub fn print(shader: &Shader) -> String {
    shader.to_string()
}

impl fmt::Display for Shader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.version)?;
        self.constants.iter().try_for_each(|c| writeln!(f, "// {c}"))?;
        self.dcls.iter().try_for_each(|d| writeln!(f, "{d}"))?;
        self.defs.iter().try_for_each(|d| writeln!(f, "{d}"))?;
        self.insts.iter().try_for_each(|i| {
            write_inst(f, i, self)?;
            writeln!(f)
        })
    }
}

fn write_reg(f: &mut fmt::Formatter<'_>, reg: Reg, rel: Option<Rel>) -> fmt::Result {
    let prefix = reg.kind.prefix();
    match (rel, reg.kind.names().get(reg.index as usize)) {
        (None, Some(name)) => f.write_str(name),
        (None, None) => write!(f, "{prefix}{}", reg.index),
        (Some(rel), _) => {
            write!(f, "{prefix}[{}", rel.reg)?;
            if rel.reg.kind != RegType::Loop {
                write!(f, ".{}", LANE_NAMES[usize::from(rel.lane & 3)])?;
            }
            if reg.index != 0 { write!(f, " + {}]", reg.index) } else { f.write_str("]") }
        }
    }
}

impl fmt::Display for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_reg(f, *self, None)
    }
}

fn write_swizzle(f: &mut fmt::Formatter<'_>, swizzle: [u8; 4]) -> fmt::Result {
    if swizzle == [0, 1, 2, 3] {
        return Ok(());
    }
    f.write_str(".")?;
    let one = swizzle.iter().all(|&l| l == swizzle[0]);
    let lanes = &swizzle[..if one { 1 } else { 4 }];
    lanes.iter().try_for_each(|&l| write!(f, "{}", LANE_NAMES[usize::from(l & 3)]))
}

impl fmt::Display for Src {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (before, behind) = self.modifier.around();
        f.write_str(before)?;
        write_reg(f, self.reg, self.rel)?;
        f.write_str(behind)?;
        write_swizzle(f, self.swizzle)
    }
}

impl fmt::Display for Dst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_reg(f, self.reg, self.rel)?;
        if self.mask == WriteMask::ALL { Ok(()) } else { write!(f, ".{}", self.mask) }
    }
}

impl fmt::Display for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}{}", if self.not { "!" } else { "" }, self.reg)?;
        write_swizzle(f, self.swizzle)?;
        f.write_str(") ")
    }
}

/// The words behind an opcode that change its result, in the assembler's order.
fn write_result_modifiers(f: &mut fmt::Formatter<'_>, dst: &Dst) -> fmt::Result {
    match dst.shift {
        0 => Ok(()),
        n if n > 0 => write!(f, "_x{}", 1 << n.min(7)),
        n => write!(f, "_d{}", 1 << n.unsigned_abs().min(7)),
    }?;
    let words = [(dst.saturate, "_sat"), (dst.partial, "_pp"), (dst.centroid, "_centroid")];
    words.iter().filter(|w| w.0).try_for_each(|w| f.write_str(w.1))
}

fn write_inst(f: &mut fmt::Formatter<'_>, inst: &Inst, shader: &Shader) -> fmt::Result {
    if inst.coissue {
        f.write_str("+ ")?;
    }
    if let Some(predicate) = &inst.predicate {
        write!(f, "{predicate}")?;
    }
    f.write_str(&inst.op.mnemonic(inst.control, shader.version))?;
    let mut comma = " ";
    if let Some(dst) = &inst.dst {
        write_result_modifiers(f, dst)?;
        write!(f, "{comma}{dst}")?;
        comma = ", ";
    }
    for src in &inst.srcs {
        write!(f, "{comma}{src}")?;
        comma = ", ";
    }
    Ok(())
}

impl fmt::Display for Dcl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("dcl")?;
        match self.kind {
            DclKind::Plain => Ok(()),
            DclKind::Sampler(kind) => write!(f, "_{}", kind.word()),
            DclKind::Usage(usage @ (Usage::TexCoord | Usage::Color), index) => write!(f, "_{}{index}", usage.word()),
            DclKind::Usage(usage, 0) => write!(f, "_{}", usage.word()),
            DclKind::Usage(usage, index) => write!(f, "_{}{index}", usage.word()),
        }?;
        write_result_modifiers(f, &self.dst)?;
        write!(f, " {}", self.dst)
    }
}

/// A float that reads back to the same bits.
fn number(bits: u32) -> String {
    let value = f32::from_bits(bits);
    if !value.is_finite() {
        return format!("{bits:#010x}");
    }
    let text = format!("{value:?}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

impl fmt::Display for Def {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Def::Float { index, bits } => write!(f, "def c{index}, {}", bits.map(number).join(", ")),
            Def::Int { index, lanes } => write!(f, "defi i{index}, {}", lanes.map(|l| l.to_string()).join(", ")),
            Def::Bool { index, value } => write!(f, "defb b{index}, {value}"),
        }
    }
}

impl ScalarKind {
    /// The word of the shading language.
    pub const fn word(self) -> &'static str {
        match self {
            ScalarKind::Void => "struct",
            ScalarKind::Bool => "bool",
            ScalarKind::Int => "int",
            ScalarKind::Float => "float",
            ScalarKind::Sampler => "sampler",
            ScalarKind::Sampler1D => "sampler1D",
            ScalarKind::Sampler2D => "sampler2D",
            ScalarKind::Sampler3D => "sampler3D",
            ScalarKind::SamplerCube => "samplerCUBE",
        }
    }
}

/// `c0..c3: float4x4 mvp`
impl fmt::Display for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = self.set.letter();
        write!(f, "{letter}{}", self.index)?;
        if self.count > 1 {
            write!(f, "..{letter}{}", u32::from(self.index) + u32::from(self.count) - 1)?;
        }
        write!(f, ": {}", self.kind.word())?;
        match self.class {
            Class::Vector => write!(f, "{}", self.columns),
            Class::RowMatrix => write!(f, "{}x{} (rows)", self.rows, self.columns),
            Class::ColumnMatrix => write!(f, "{}x{}", self.rows, self.columns),
            Class::Scalar | Class::Object | Class::Struct => Ok(()),
        }?;
        write!(f, " {}", self.name)?;
        if self.elements > 1 { write!(f, "[{}]", self.elements) } else { Ok(()) }
    }
}
