//! What the assembly of Direct3D 9 has in each version, as tables: opcodes with their operands and
//! slots, registers with their counts and ports. From Microsoft's shader reference ("Direct3D 9 asm",
//! one page an instruction and a register); ps_1_x is not in it.

use ir::types::Stage;

/// The versions that are checked; also the columns of the tables.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Version {
    /// vs_1_0 and vs_1_1.
    Vs1,
    /// vs_2_0
    Vs2,
    /// vs_3_0
    Vs3,
    /// ps_2_0
    Ps2,
    /// ps_3_0
    Ps3,
}

impl Version {
    /// The version of a text's first line.
    pub fn parse(word: &str) -> Option<Version> {
        Some(match word {
            "vs_1_0" | "vs_1_1" => Version::Vs1,
            "vs_2_0" => Version::Vs2,
            "vs_3_0" => Version::Vs3,
            "ps_2_0" => Version::Ps2,
            "ps_3_0" => Version::Ps3,
            _ => return None,
        })
    }

    /// Its stage.
    pub fn stage(self) -> Stage {
        if self < Version::Ps2 { Stage::Vertex } else { Stage::Fragment }
    }

    /// Shader model 3.
    pub fn is_3(self) -> bool {
        matches!(self, Version::Vs3 | Version::Ps3)
    }
}

/// What an opcode reads of its sources.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reads {
    /// The lanes that it writes.
    Lanes,
    /// These lanes of every source.
    Of(u8),
    /// The first three lanes, in place, and no others.
    Whole3,
    /// One lane, which the operand must name.
    One,
    /// Coordinates.
    Texture,
    /// A vector and so many rows of a matrix, of three or four lanes.
    Matrix(u8, u8),
    /// Nothing: control.
    Flow,
}

/// An opcode.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Its mnemonic.
    pub op: &'static str,
    /// Whether a destination stands first.
    pub dst: bool,
    /// Number of sources.
    pub srcs: usize,
    /// What it reads.
    pub reads: Reads,
    /// Slots in each version; 0 where it does not exist.
    slots: [u8; 5],
}

impl Rule {
    /// Slots, when the version has it.
    pub fn slots(&self, version: Version) -> Option<u32> {
        Some(u32::from(self.slots[version as usize])).filter(|&s| s > 0)
    }

    /// A lookup or a kill.
    pub fn is_texture(&self) -> bool {
        self.op.starts_with("tex")
    }
}

const fn rule(op: &'static str, srcs: usize, reads: Reads, slots: [u8; 5]) -> Rule {
    Rule { op, dst: true, srcs, reads, slots }
}

const fn control(op: &'static str, srcs: usize, slots: [u8; 5]) -> Rule {
    Rule { op, dst: false, srcs, reads: Reads::Flow, slots }
}

use Reads::{Lanes, Matrix, Of, One, Texture, Whole3};

/// Columns: vs_1, vs_2_0, vs_3_0, ps_2_0, ps_3_0. `if_lt` is `ifc` and `break_lt` is `breakc` here.
const RULES: &[Rule] = &[
    rule("mov", 1, Lanes, [1, 1, 1, 1, 1]),
    rule("mova", 1, Lanes, [0, 1, 1, 0, 0]),
    rule("add", 2, Lanes, [1, 1, 1, 1, 1]),
    rule("sub", 2, Lanes, [1, 1, 1, 1, 1]),
    rule("mul", 2, Lanes, [1, 1, 1, 1, 1]),
    rule("mad", 3, Lanes, [1, 1, 1, 1, 1]),
    rule("min", 2, Lanes, [1, 1, 1, 1, 1]),
    rule("max", 2, Lanes, [1, 1, 1, 1, 1]),
    rule("slt", 2, Lanes, [1, 1, 1, 0, 0]),
    rule("sge", 2, Lanes, [1, 1, 1, 0, 0]),
    rule("abs", 1, Lanes, [0, 1, 1, 1, 1]),
    rule("frc", 1, Lanes, [3, 1, 1, 1, 1]),
    rule("sgn", 3, Lanes, [0, 3, 3, 0, 0]),
    rule("lrp", 3, Lanes, [0, 2, 2, 2, 2]),
    rule("cmp", 3, Lanes, [0, 0, 0, 1, 1]),
    rule("dsx", 1, Lanes, [0, 0, 0, 0, 2]),
    rule("dsy", 1, Lanes, [0, 0, 0, 0, 2]),
    rule("dp3", 2, Of(7), [1, 1, 1, 1, 1]),
    rule("dp4", 2, Of(15), [1, 1, 1, 1, 1]),
    rule("dp2add", 3, Of(3), [0, 0, 0, 2, 2]),
    rule("lit", 1, Of(11), [1, 3, 3, 0, 0]),
    rule("dst", 2, Of(14), [1, 1, 1, 0, 0]),
    rule("crs", 2, Whole3, [0, 2, 2, 2, 2]),
    rule("nrm", 1, Whole3, [0, 3, 3, 3, 3]),
    rule("rcp", 1, One, [1, 1, 1, 1, 1]),
    rule("rsq", 1, One, [1, 1, 1, 1, 1]),
    rule("exp", 1, One, [10, 1, 1, 1, 1]),
    rule("log", 1, One, [10, 1, 1, 1, 1]),
    rule("expp", 1, One, [1, 1, 1, 0, 0]),
    rule("logp", 1, One, [1, 1, 1, 0, 0]),
    rule("pow", 2, One, [0, 3, 3, 3, 3]),
    rule("sincos", 1, One, [0, 8, 8, 8, 8]),
    rule("m4x4", 2, Matrix(4, 4), [4, 4, 4, 4, 4]),
    rule("m4x3", 2, Matrix(3, 4), [3, 3, 3, 3, 3]),
    rule("m3x4", 2, Matrix(4, 3), [4, 4, 4, 4, 4]),
    rule("m3x3", 2, Matrix(3, 3), [3, 3, 3, 3, 3]),
    rule("m3x2", 2, Matrix(2, 3), [2, 2, 2, 2, 2]),
    rule("setp", 2, Lanes, [0, 0, 1, 0, 1]),
    rule("texld", 2, Texture, [0, 0, 0, 1, 1]),
    rule("texldb", 2, Texture, [0, 0, 0, 1, 6]),
    rule("texldp", 2, Texture, [0, 0, 0, 1, 3]),
    rule("texldd", 4, Texture, [0, 0, 0, 0, 3]),
    rule("texldl", 2, Texture, [0, 0, 2, 0, 2]),
    Rule { op: "texkill", dst: false, srcs: 1, reads: Of(7), slots: [0, 0, 0, 1, 2] },
    control("nop", 0, [1, 1, 1, 1, 1]),
    control("if", 1, [0, 3, 3, 0, 3]),
    control("ifc", 2, [0, 0, 3, 0, 3]),
    control("else", 0, [0, 1, 1, 0, 1]),
    control("endif", 0, [0, 1, 1, 0, 1]),
    control("rep", 1, [0, 3, 3, 0, 3]),
    control("endrep", 0, [0, 2, 2, 0, 2]),
    control("loop", 2, [0, 3, 3, 0, 3]),
    control("endloop", 0, [0, 2, 2, 0, 2]),
    control("break", 0, [0, 0, 1, 0, 1]),
    control("breakc", 2, [0, 0, 3, 0, 3]),
    control("breakp", 1, [0, 0, 3, 0, 3]),
    control("call", 1, [0, 2, 2, 0, 2]),
    control("callnz", 2, [0, 3, 3, 0, 3]),
    control("ret", 0, [0, 1, 1, 0, 1]),
    control("label", 1, [0, 1, 1, 0, 1]),
];

/// The row of an opcode.
pub fn rule_of(op: &str) -> Option<&'static Rule> {
    RULES.iter().find(|r| r.op == op)
}

/// What a version lets a program do with a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// As a source of arithmetic.
    pub read: bool,
    /// As a destination.
    pub write: bool,
    /// How many there are; none for what the target's table says.
    pub count: Option<u32>,
    /// How many different ones an instruction may read.
    pub ports: u32,
}

/// What a version lets a program do with registers of a name; none when it has no such.
pub fn access(version: Version, reg: &str) -> Option<Access> {
    use Version::{Ps2, Ps3, Vs1, Vs2, Vs3};
    let vertex = version.stage() == Stage::Vertex;
    let source = |count, ports| Some(Access { read: true, write: false, count, ports });
    let result = |count| Some(Access { read: false, write: true, count: Some(count), ports: 0 });
    let other = |count| Some(Access { read: false, write: false, count: Some(count), ports: 0 });
    match (reg, version) {
        ("r", _) => Some(Access { read: true, write: true, count: None, ports: 3 }),
        ("c", _) => source(None, 1),
        ("v", Vs1 | Vs2 | Vs3) => source(Some(16), 1),
        ("v", Ps2) => source(Some(2), 1),
        ("v", Ps3) => source(Some(10), 1),
        ("t", Ps2) => source(Some(8), 1),
        ("vPos" | "vFace", Ps3) => source(Some(1), 1),
        ("a", _) if vertex => Some(Access { read: false, write: true, count: Some(1), ports: 0 }),
        ("oPos" | "oFog" | "oPts", Vs1 | Vs2) => result(1),
        ("oD", Vs1 | Vs2) => result(2),
        ("oT", Vs1 | Vs2) => result(8),
        ("o", Vs3) => result(12),
        ("oC", Ps2 | Ps3) => result(4),
        ("oDepth", Ps2 | Ps3) => result(1),
        ("p", Vs3 | Ps3) => Some(Access { read: false, write: true, count: Some(1), ports: 0 }),
        ("s", Ps2 | Ps3) => other(16),
        ("s", Vs3) => other(4),
        ("i" | "b", Vs2 | Vs3 | Ps3) => other(16),
        ("aL", Vs2 | Vs3 | Ps3) => other(1),
        ("l", Vs2) => other(16),
        ("l", Vs3 | Ps3) => other(2048),
        _ => None,
    }
}

/// The words of `dcl_*` that declare a sampler.
pub const SAMPLERS: [(&str, u8); 4] = [("1d", 1), ("2d", 2), ("cube", 3), ("volume", 3)];

/// The words of `dcl_*` that declare what a register carries.
pub const USAGES: [&str; 14] = [
    "position",
    "blendweight",
    "blendindices",
    "normal",
    "psize",
    "texcoord",
    "tangent",
    "binormal",
    "tessfactor",
    "positiont",
    "color",
    "fog",
    "depth",
    "sample",
];
