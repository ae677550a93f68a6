//! Machine programs: what selection makes, allocation rewrites, and emitters and simulator read.
//!
//! An instruction has one destination (register, write mask, saturate) and up to three sources
//! (register, four-lane swizzle, absolute value, then negation). Written lane `l` of a lane-wise
//! opcode reads `swizzle[l]` of each source; reductions read `swizzle[0..n]`, scalar opcodes
//! `swizzle[0]`, and both write their one result to every written lane. Entries of a swizzle that
//! nothing reads hold the last lane that is read, so that equal operands compare equal.
//!
//! Invariants: before allocation temporaries are `Virtual` (and `Local` for indexable arrays);
//! after it neither file occurs. Control flow is structured and balanced.

use crate::calls::{CallSite, Ports};
use ir::types::{LANE_NAMES, Stage, TexDim, WriteMask};
use smallvec::SmallVec;
use std::fmt;

/// How an opcode reads its sources and writes its destination.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// Lane `l` of the result from lane `l` of the swizzled sources.
    Lanewise,
    /// The first so many lanes of both sources; result in every written lane.
    Reduce(u8),
    /// The first lane of each source; result in every written lane.
    Scalar,
    /// Lane-wise into the address register.
    Address,
    /// Coordinates in the first source, bias or level in lane x of the second; four lanes result.
    Texture,
    /// Control flow and `KIL`.
    Flow,
}

macro_rules! opcodes {
    ($(($name:ident, $text:literal, $srcs:literal, $kind:expr, $op:expr, $doc:literal),)*) => {
        /// A machine opcode.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        pub enum Opcode { $(#[doc = $doc] $name,)* }

        impl Opcode {
            /// All opcodes in table order; the position is the number in the binary form.
            pub const ALL: &'static [Opcode] = &[$(Opcode::$name,)*];

            /// The assembly word.
            pub const fn mnemonic(self) -> &'static str {
                match self { $(Opcode::$name => $text,)* }
            }

            /// Number of sources.
            pub const fn srcs(self) -> usize {
                match self { $(Opcode::$name => $srcs,)* }
            }

            /// How it reads and writes.
            pub const fn kind(self) -> Kind {
                match self { $(Opcode::$name => $kind,)* }
            }

            /// The IR operation that says what it computes (`ir::eval`); none for flow, address
            /// and lookups that only the simulator defines.
            pub const fn meaning(self) -> Option<ir::Op> {
                match self { $(Opcode::$name => $op,)* }
            }
        }
    };
}

opcodes! {
    (Mov, "MOV", 1, Kind::Lanewise, Some(ir::Op::Mov), "Copies."),
    (Add, "ADD", 2, Kind::Lanewise, Some(ir::Op::Add), "Sum."),
    (Mul, "MUL", 2, Kind::Lanewise, Some(ir::Op::Mul), "Product."),
    (Mad, "MAD", 3, Kind::Lanewise, Some(ir::Op::Mad), "Product plus third source."),
    (Min, "MIN", 2, Kind::Lanewise, Some(ir::Op::Min), "Smaller."),
    (Max, "MAX", 2, Kind::Lanewise, Some(ir::Op::Max), "Larger."),
    (Slt, "SLT", 2, Kind::Lanewise, Some(ir::Op::Slt), "1 where less."),
    (Sge, "SGE", 2, Kind::Lanewise, Some(ir::Op::Sge), "1 where greater or equal."),
    (Seq, "SEQ", 2, Kind::Lanewise, Some(ir::Op::Seq), "1 where equal."),
    (Sne, "SNE", 2, Kind::Lanewise, Some(ir::Op::Sne), "1 where not equal."),
    (Frc, "FRC", 1, Kind::Lanewise, Some(ir::Op::Frc), "Fraction."),
    (Flr, "FLR", 1, Kind::Lanewise, Some(ir::Op::Flr), "Floor."),
    (Cmp, "CMP", 3, Kind::Lanewise, Some(ir::Op::Cmp), "Second where first is below 0, else third."),
    (Lrp, "LRP", 3, Kind::Lanewise, None, "First * (second - third) + third, where a target has it."),
    (Dp2, "DP2", 2, Kind::Reduce(2), Some(ir::Op::Dp2), "Dot product of two lanes."),
    (Dp3, "DP3", 2, Kind::Reduce(3), Some(ir::Op::Dp3), "Dot product of three lanes."),
    (Dp4, "DP4", 2, Kind::Reduce(4), Some(ir::Op::Dp4), "Dot product of four lanes."),
    (Rcp, "RCP", 1, Kind::Scalar, Some(ir::Op::Rcp), "Reciprocal."),
    (Rsq, "RSQ", 1, Kind::Scalar, Some(ir::Op::Rsq), "Reciprocal square root of the absolute value."),
    (Ex2, "EX2", 1, Kind::Scalar, Some(ir::Op::Ex2), "Power of two."),
    (Lg2, "LG2", 1, Kind::Scalar, Some(ir::Op::Lg2), "Logarithm to base two."),
    (Sin, "SIN", 1, Kind::Scalar, Some(ir::Op::Sin), "Sine."),
    (Cos, "COS", 1, Kind::Scalar, Some(ir::Op::Cos), "Cosine."),
    (Ddx, "DDX", 1, Kind::Lanewise, Some(ir::Op::Ddx), "Difference along x in the quad."),
    (Ddy, "DDY", 1, Kind::Lanewise, Some(ir::Op::Ddy), "Difference along y in the quad."),
    (Arl, "ARL", 1, Kind::Address, None, "Floor into the address register."),
    (Tex, "TEX", 1, Kind::Texture, Some(ir::Op::Tex), "Lookup."),
    (Txp, "TXP", 1, Kind::Texture, Some(ir::Op::Txp), "Lookup at xyz / w."),
    (Txb, "TXB", 2, Kind::Texture, Some(ir::Op::Txb), "Lookup with level bias."),
    (Txl, "TXL", 2, Kind::Texture, Some(ir::Op::Txl), "Lookup at a level."),
    (If, "IF", 1, Kind::Flow, None, "Runs the part up to `ELSE` or `ENDIF` when lane x is not 0."),
    (Else, "ELSE", 0, Kind::Flow, None, "The other part."),
    (EndIf, "ENDIF", 0, Kind::Flow, None, "Ends `IF`."),
    (Loop, "LOOP", 0, Kind::Flow, None, "Starts an endless loop."),
    (EndLoop, "ENDLOOP", 0, Kind::Flow, None, "Next turn."),
    (Brk, "BRK", 0, Kind::Flow, None, "Leaves the innermost loop."),
    (Cont, "CONT", 0, Kind::Flow, None, "Next turn of the innermost loop."),
    (Cal, "CAL", 0, Kind::Flow, None, "Runs the subroutine at `target`."),
    (Ret, "RET", 0, Kind::Flow, None, "Leaves the subroutine, or the program."),
    (Kil, "KIL", 1, Kind::Flow, Some(ir::Op::Kil), "Ends the fragment when any of four lanes is below 0."),
    (End, "END", 0, Kind::Flow, None, "Ends the program."),
    (Abs, "ABS", 1, Kind::Lanewise, Some(ir::Op::Abs), "Absolute value, where a source cannot carry it."),
    (Pow, "POW", 2, Kind::Scalar, Some(ir::Op::Pow), "First to the power of the second."),
    (Cge, "CGE", 3, Kind::Lanewise, None, "Second where first is 0 or above, else third."),
}

impl Opcode {
    /// The opcode of an assembly word (upper case).
    pub fn parse(text: &str) -> Option<Opcode> {
        Opcode::ALL.iter().copied().find(|op| op.mnemonic() == text)
    }

    /// Whether it reads a texture.
    pub const fn is_texture(self) -> bool {
        matches!(self.kind(), Kind::Texture)
    }

    /// Whether it steers control flow (`KIL` does not: it only ends the fragment).
    pub const fn is_flow(self) -> bool {
        matches!(self.kind(), Kind::Flow) && !matches!(self, Opcode::Kil)
    }
}

/// The register files.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum File {
    /// `r`: temporaries.
    Temp,
    /// `v`: inputs of the stage.
    Input,
    /// `o`: outputs of the stage.
    Output,
    /// `c`: uniforms and literals.
    Const,
    /// `a`: the address register.
    Addr,
    /// `s`: samplers (never a source; named by [`TexInfo`]).
    Sampler,
    /// A value of 1 to 4 lanes before allocation.
    Virtual,
    /// An element of an indexable array before allocation, all arrays in one row.
    Local,
}

impl File {
    /// The letter of the text form.
    pub const fn letter(self) -> &'static str {
        match self {
            File::Temp => "r",
            File::Input => "v",
            File::Output => "o",
            File::Const => "c",
            File::Addr => "a",
            File::Sampler => "s",
            File::Virtual => "%",
            File::Local => "m",
        }
    }
}

/// A register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Reg {
    /// Its file.
    pub file: File,
    /// Its number; the constant part when the operand is relative.
    pub index: u32,
}

impl Reg {
    /// A register of a file.
    pub const fn new(file: File, index: u32) -> Reg {
        Reg { file, index }
    }
}

/// Relative addressing: the register's number plus a lane of `a0`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Rel {
    /// The lane of `a0`.
    pub lane: u8,
}

/// A source operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Src {
    /// What is read.
    pub reg: Reg,
    /// Added to its number.
    pub rel: Option<Rel>,
    /// Lane picked for each of four places.
    pub swizzle: [u8; 4],
    /// Negated, after `abs`.
    pub neg: bool,
    /// Absolute value.
    pub abs: bool,
}

impl Src {
    /// All four lanes of a register.
    pub const fn new(reg: Reg) -> Src {
        Src { reg, rel: None, swizzle: [0, 1, 2, 3], neg: false, abs: false }
    }

    /// The lanes of this operand in another order.
    pub fn swizzled(self, by: [u8; 4]) -> Src {
        Src { swizzle: by.map(|l| self.swizzle[l as usize]), ..self }
    }
}

/// A destination operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Dst {
    /// What is written.
    pub reg: Reg,
    /// Added to its number.
    pub rel: Option<Rel>,
    /// The lanes written.
    pub mask: WriteMask,
    /// The result is clamped to 0..1 first.
    pub saturate: bool,
}

impl Dst {
    /// Some lanes of a register.
    pub const fn new(reg: Reg, mask: WriteMask) -> Dst {
        Dst { reg, rel: None, mask, saturate: false }
    }
}

/// What a lookup reads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TexInfo {
    /// Sampler register.
    pub sampler: u32,
    /// Shape.
    pub dim: TexDim,
    /// Compares with lane z of the coordinates.
    pub shadow: bool,
}

impl TexInfo {
    /// How many lanes of the coordinates the opcode reads.
    pub fn coords(self, op: Opcode) -> u8 {
        match op {
            Opcode::Txp => 4,
            _ if self.shadow => 3,
            _ => self.dim.coords(),
        }
    }
}

/// An instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inst {
    /// Opcode.
    pub op: Opcode,
    /// Destination; none for flow.
    pub dst: Option<Dst>,
    /// As many as the opcode has.
    pub srcs: SmallVec<[Src; 3]>,
    /// Lookups only.
    pub tex: Option<TexInfo>,
    /// `CAL` only: the instruction that it goes to.
    pub target: Option<u32>,
    /// Source line, 0 when none.
    pub line: u32,
}

impl Inst {
    /// An instruction with a destination.
    pub fn new(op: Opcode, dst: Dst, srcs: &[Src], line: u32) -> Inst {
        Inst { op, dst: Some(dst), srcs: SmallVec::from_slice(srcs), tex: None, target: None, line }
    }

    /// An instruction without one.
    pub fn flow(op: Opcode, srcs: &[Src], line: u32) -> Inst {
        Inst { op, dst: None, srcs: SmallVec::from_slice(srcs), tex: None, target: None, line }
    }

    /// The places of source `n`'s swizzle that the instruction reads, as a mask.
    pub fn places_read(&self, n: usize) -> WriteMask {
        match self.op.kind() {
            Kind::Lanewise | Kind::Address => self.dst.map_or(WriteMask::ALL, |d| d.mask),
            Kind::Reduce(lanes) => WriteMask::first(lanes),
            Kind::Scalar => WriteMask::first(1),
            Kind::Texture if n == 0 => match self.tex {
                // the lane between coordinate and reference of a 1D shadow lookup is not read
                Some(t) if t.shadow && t.dim == TexDim::D1 && self.op != Opcode::Txp => WriteMask(0b101),
                Some(t) => WriteMask::first(t.coords(self.op)),
                None => WriteMask::ALL,
            },
            Kind::Texture => WriteMask::first(1),
            Kind::Flow if self.op == Opcode::Kil => WriteMask::ALL,
            Kind::Flow => WriteMask::first(1),
        }
    }

    /// The lanes of source `n`'s register that the instruction reads.
    pub fn lanes_read(&self, n: usize) -> WriteMask {
        let src = &self.srcs[n];
        WriteMask(self.places_read(n).lanes().fold(0, |m, l| m | 1 << src.swizzle[l as usize]))
    }

    /// Sets the places of all swizzles that nothing reads to the last place that is read before
    /// them (or the first that is read), so that equal operands are equal.
    pub fn normalize(&mut self) {
        for n in 0..self.srcs.len() {
            let read = self.places_read(n);
            let src = &mut self.srcs[n];
            let mut last = read.lanes().next().map_or(0, |l| src.swizzle[l as usize]);
            for place in 0..4 {
                if read.has(place) {
                    last = src.swizzle[place as usize];
                } else {
                    src.swizzle[place as usize] = last;
                }
            }
        }
    }

    /// Whether it copies lanes and does nothing else to them.
    pub fn is_copy(&self) -> bool {
        self.op == Opcode::Mov
            && self.dst.is_some_and(|d| !d.saturate && d.rel.is_none())
            && !self.srcs[0].neg
            && !self.srcs[0].abs
            && self.srcs[0].rel.is_none()
    }
}

/// What a constant register holds when the shader runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Constant {
    /// Element `elem` of a uniform, its lanes from x on.
    Uniform {
        /// The uniform's name.
        name: String,
        /// Element (array element or matrix column).
        elem: u32,
    },
    /// Bits of four lanes; the first `used` are in use.
    Literal {
        /// The lanes.
        bits: [u32; 4],
        /// How many the program needs.
        used: u8,
    },
}

/// An input or output register and what it is to the outside.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Binding {
    /// Register number.
    pub reg: u32,
    /// The variable's name.
    pub name: String,
    /// Element of it.
    pub elem: u32,
    /// Lanes that the variable has.
    pub lanes: u8,
    /// The outside's word: `position`, `color0`, `texcoord3`, ... or `generic`.
    pub semantic: String,
}

/// A sampler register.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SamplerBinding {
    /// Register number.
    pub reg: u32,
    /// The sampler's name.
    pub name: String,
    /// Element of it.
    pub elem: u32,
    /// Shape.
    pub dim: TexDim,
    /// Compares.
    pub shadow: bool,
}

/// A machine program.
#[derive(Clone, PartialEq, Debug)]
pub struct Program {
    /// Vertex or fragment.
    pub stage: Stage,
    /// The target's name.
    pub target: String,
    /// The code. The last instruction is `END`.
    pub insts: Vec<Inst>,
    /// By register number: all uniforms, then literals.
    pub constants: Vec<Constant>,
    /// By register number.
    pub inputs: Vec<Binding>,
    /// By register number.
    pub outputs: Vec<Binding>,
    /// By register number.
    pub samplers: Vec<SamplerBinding>,
    /// Width of each virtual register; empty after allocation.
    pub virtuals: Vec<u8>,
    /// Registers of indexable arrays; 0 after allocation.
    pub locals: u32,
    /// First `Local` register and length of each indexable array; empty after allocation.
    pub arrays: Vec<(u32, u32)>,
    /// Temporaries in use, after allocation.
    pub temps: u32,
    /// What `CAL` instructions pass; empty once linked.
    pub calls: Vec<CallSite>,
    /// Loops that the code is called in, beside its own.
    pub loops: u32,
    /// What callers pass; none for `main`, and once linked.
    pub ports: Option<Ports>,
}

impl Program {
    /// A program without code.
    pub fn new(stage: Stage, target: &str) -> Program {
        Program {
            stage,
            target: target.to_owned(),
            insts: Vec::new(),
            constants: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            samplers: Vec::new(),
            virtuals: Vec::new(),
            locals: 0,
            arrays: Vec::new(),
            temps: 0,
            calls: Vec::new(),
            loops: 0,
            ports: None,
        }
    }

    /// Numbers the virtual registers in order of appearance and forgets those that do not appear.
    pub fn renumber_virtuals(&mut self) {
        let mut number = vec![None; self.virtuals.len()];
        let mut widths = Vec::new();
        let old = std::mem::take(&mut self.virtuals);
        let mut name = |reg: &mut Reg| {
            if reg.file == File::Virtual {
                reg.index = *number[reg.index as usize].get_or_insert_with(|| {
                    widths.push(old[reg.index as usize]);
                    widths.len() as u32 - 1
                });
            }
        };
        for inst in &mut self.insts {
            inst.srcs.iter_mut().for_each(|s| name(&mut s.reg));
            inst.dst.iter_mut().for_each(|d| name(&mut d.reg));
            if let (Opcode::Cal, Some(site)) = (inst.op, inst.target) {
                let site = &mut self.calls[site as usize];
                site.args.iter_mut().flatten().for_each(|(reg, _)| name(reg));
                site.results.iter_mut().for_each(&mut name);
            }
        }
        if let Some(ports) = &mut self.ports {
            ports.params.iter_mut().flatten().for_each(|(reg, _)| name(reg));
            ports.results.iter_mut().for_each(&mut name);
        }
        self.virtuals = widths;
    }

    /// A new virtual register of `width` lanes.
    pub fn make_virtual(&mut self, width: u8) -> Reg {
        self.virtuals.push(width);
        Reg::new(File::Virtual, self.virtuals.len() as u32 - 1)
    }
}

fn write_reg(f: &mut fmt::Formatter<'_>, reg: Reg, rel: Option<Rel>) -> fmt::Result {
    match rel {
        None => write!(f, "{}{}", reg.file.letter(), reg.index),
        Some(rel) => write!(f, "{}[a0.{} + {}]", reg.file.letter(), LANE_NAMES[rel.lane as usize & 3], reg.index),
    }
}

impl fmt::Display for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_reg(f, *self, None)
    }
}

impl fmt::Display for Src {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.neg {
            f.write_str("-")?;
        }
        if self.abs {
            f.write_str("|")?;
        }
        write_reg(f, self.reg, self.rel)?;
        if self.swizzle != [0, 1, 2, 3] {
            f.write_str(".")?;
            let one = self.swizzle.iter().all(|&l| l == self.swizzle[0]);
            for &lane in &self.swizzle[..if one { 1 } else { 4 }] {
                write!(f, "{}", LANE_NAMES[lane as usize & 3])?;
            }
        }
        if self.abs {
            f.write_str("|")?;
        }
        Ok(())
    }
}

impl fmt::Display for Dst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_reg(f, self.reg, self.rel)?;
        if self.mask != WriteMask::ALL { write!(f, ".{}", self.mask) } else { Ok(()) }
    }
}

impl fmt::Display for Inst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.op.mnemonic())?;
        let mut comma = " ";
        if let Some(dst) = self.dst {
            write!(f, "{}{comma}{dst}", if dst.saturate { "_SAT" } else { "" })?;
            comma = ", ";
        }
        for src in &self.srcs {
            write!(f, "{comma}{src}")?;
            comma = ", ";
        }
        if let Some(tex) = self.tex {
            write!(f, "{comma}s{}, {}{}", tex.sampler, if tex.shadow { "SHADOW" } else { "" }, tex.dim)?;
        }
        if let Some(target) = self.target {
            write!(f, " {target}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "# {} {}", self.target, self.stage)?;
        for b in &self.inputs {
            writeln!(f, "# v{} = {}[{}] ({})", b.reg, b.name, b.elem, b.semantic)?;
        }
        for b in &self.outputs {
            writeln!(f, "# o{} = {}[{}] ({})", b.reg, b.name, b.elem, b.semantic)?;
        }
        for (i, c) in self.constants.iter().enumerate() {
            match c {
                Constant::Uniform { name, elem } => writeln!(f, "# c{i} = {name}[{elem}]")?,
                Constant::Literal { bits, used } => {
                    let lanes: Vec<f32> = bits[..*used as usize].iter().map(|&b| f32::from_bits(b)).collect();
                    writeln!(f, "# c{i} = {lanes:?}")?;
                }
            }
        }
        for s in &self.samplers {
            writeln!(f, "# s{} = {}[{}] {}{}", s.reg, s.name, s.elem, if s.shadow { "SHADOW" } else { "" }, s.dim)?;
        }
        let mut depth = 0usize;
        for inst in &self.insts {
            if matches!(inst.op, Opcode::Else | Opcode::EndIf | Opcode::EndLoop) {
                depth = depth.saturating_sub(1);
            }
            writeln!(f, "{:indent$}{inst}", "", indent = depth.min(40) * 2)?;
            if matches!(inst.op, Opcode::If | Opcode::Else | Opcode::Loop) {
                depth += 1;
            }
        }
        Ok(())
    }
}
