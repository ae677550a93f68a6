//! The one table of opcodes: name, word, number in the token stream, operands.

use super::shader::{Comparison, Control, Version};
use ir::types::Stage;

/// How many operands follow an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Operands {
    /// Whether the first is a destination.
    pub dst: bool,
    /// How many sources there are.
    pub srcs: usize,
}

const fn operands(dst: bool, srcs: usize) -> Operands {
    Operands { dst, srcs }
}

macro_rules! opcodes {
    ($(($name:ident, $text:literal, $number:literal, $dst:literal, $srcs:literal, $doc:literal),)*) => {
        /// An opcode. Declarations and definitions are no instructions here.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        pub enum Opcode { $(#[doc = $doc] $name,)* }

        impl Opcode {
            /// All of them, by number.
            pub const ALL: &'static [Opcode] = &[$(Opcode::$name,)*];

            /// The number in the token stream.
            pub const fn number(self) -> u32 {
                match self { $(Opcode::$name => $number,)* }
            }

            const fn word(self) -> &'static str {
                match self { $(Opcode::$name => $text,)* }
            }

            /// The operands in the newest version.
            const fn newest_operands(self) -> Operands {
                match self { $(Opcode::$name => operands($dst, $srcs),)* }
            }
        }
    };
}

opcodes! {
    (Nop, "nop", 0, false, 0, "Nothing."),
    (Mov, "mov", 1, true, 1, "Copies; into `a0` before vs_2_0."),
    (Add, "add", 2, true, 2, "Sum."),
    (Sub, "sub", 3, true, 2, "Difference."),
    (Mad, "mad", 4, true, 3, "Product plus third source."),
    (Mul, "mul", 5, true, 2, "Product."),
    (Rcp, "rcp", 6, true, 1, "Reciprocal."),
    (Rsq, "rsq", 7, true, 1, "Reciprocal square root of the absolute value."),
    (Dp3, "dp3", 8, true, 2, "Dot product of three lanes."),
    (Dp4, "dp4", 9, true, 2, "Dot product of four lanes."),
    (Min, "min", 10, true, 2, "Smaller."),
    (Max, "max", 11, true, 2, "Larger."),
    (Slt, "slt", 12, true, 2, "1 where less."),
    (Sge, "sge", 13, true, 2, "1 where greater or equal."),
    (Exp, "exp", 14, true, 1, "Power of two."),
    (Log, "log", 15, true, 1, "Logarithm to base two of the absolute value."),
    (Lit, "lit", 16, true, 1, "Lighting coefficients."),
    (Dst, "dst", 17, true, 2, "Distance vector."),
    (Lrp, "lrp", 18, true, 3, "From the third source to the second by the first."),
    (Frc, "frc", 19, true, 1, "Fraction."),
    (M4x4, "m4x4", 20, true, 2, "Four lanes by four rows."),
    (M4x3, "m4x3", 21, true, 2, "Four lanes by three rows."),
    (M3x4, "m3x4", 22, true, 2, "Three lanes by four rows."),
    (M3x3, "m3x3", 23, true, 2, "Three lanes by three rows."),
    (M3x2, "m3x2", 24, true, 2, "Three lanes by two rows."),
    (Call, "call", 25, false, 1, "Runs the subroutine of a label."),
    (Callnz, "callnz", 26, false, 2, "Runs it when a boolean or predicate is true."),
    (Loop, "loop", 27, false, 2, "Starts a loop that counts `aL`."),
    (Ret, "ret", 28, false, 0, "Leaves the subroutine, or the main part."),
    (EndLoop, "endloop", 29, false, 0, "Ends `loop`."),
    (Label, "label", 30, false, 1, "Starts a subroutine."),
    (Pow, "pow", 32, true, 2, "First to the power of the second."),
    (Crs, "crs", 33, true, 2, "Cross product."),
    (Sgn, "sgn", 34, true, 1, "Sign."),
    (Abs, "abs", 35, true, 1, "Absolute value."),
    (Nrm, "nrm", 36, true, 1, "Three lanes by their length."),
    (SinCos, "sincos", 37, true, 1, "Cosine in x, sine in y."),
    (Rep, "rep", 38, false, 1, "Starts a loop without a counter."),
    (EndRep, "endrep", 39, false, 0, "Ends `rep`."),
    (If, "if", 40, false, 1, "Runs a part when a boolean or predicate is true."),
    (Ifc, "if", 41, false, 2, "Runs a part when a comparison holds."),
    (Else, "else", 42, false, 0, "The other part."),
    (EndIf, "endif", 43, false, 0, "Ends `if`."),
    (Break, "break", 44, false, 0, "Leaves the innermost loop."),
    (Breakc, "break", 45, false, 2, "Leaves it when a comparison holds."),
    (Mova, "mova", 46, true, 1, "Rounds to nearest into `a0`."),
    (TexCoord, "texcoord", 64, true, 1, "Texture coordinates as colour; `texcrd` in ps_1_4."),
    (TexKill, "texkill", 65, true, 0, "Ends the pixel when a lane of the first three is below 0."),
    (Tex, "tex", 66, true, 2, "Lookup; `texld` from ps_1_4 on, `texldp` and `texldb` by its control."),
    (TexBem, "texbem", 67, true, 1, "Lookup at coordinates moved by a bump map."),
    (TexBeml, "texbeml", 68, true, 1, "The same with luminance."),
    (TexReg2Ar, "texreg2ar", 69, true, 1, "Lookup at alpha and red."),
    (TexReg2Gb, "texreg2gb", 70, true, 1, "Lookup at green and blue."),
    (TexM3x2Pad, "texm3x2pad", 71, true, 1, "First row of two."),
    (TexM3x2Tex, "texm3x2tex", 72, true, 1, "Last row of two and lookup."),
    (TexM3x3Pad, "texm3x3pad", 73, true, 1, "First or second row of three."),
    (TexM3x3Tex, "texm3x3tex", 74, true, 1, "Last row of three and lookup."),
    (TexM3x3Spec, "texm3x3spec", 76, true, 2, "Last row, reflection about a constant eye and lookup."),
    (TexM3x3VSpec, "texm3x3vspec", 77, true, 1, "Last row, reflection about an interpolated eye and lookup."),
    (Expp, "expp", 78, true, 1, "Power of two of less precision."),
    (Logp, "logp", 79, true, 1, "Logarithm of less precision."),
    (Cnd, "cnd", 80, true, 3, "Second where the first is above a half, else third."),
    (TexReg2Rgb, "texreg2rgb", 82, true, 1, "Lookup at red, green and blue."),
    (TexDp3Tex, "texdp3tex", 83, true, 1, "Dot product and lookup in one dimension."),
    (TexM3x2Depth, "texm3x2depth", 84, true, 1, "Last row of two as depth."),
    (TexDp3, "texdp3", 85, true, 1, "Dot product with texture coordinates."),
    (TexM3x3, "texm3x3", 86, true, 1, "Last row of three without a lookup."),
    (TexDepth, "texdepth", 87, true, 0, "Depth from red and green."),
    (Cmp, "cmp", 88, true, 3, "Second where the first is not below 0, else third."),
    (Bem, "bem", 89, true, 2, "Bump map transform."),
    (Dp2Add, "dp2add", 90, true, 3, "Dot product of two lanes plus third source."),
    (Dsx, "dsx", 91, true, 1, "Difference along x in the quad."),
    (Dsy, "dsy", 92, true, 1, "Difference along y in the quad."),
    (TexLdd, "texldd", 93, true, 4, "Lookup with derivatives."),
    (Setp, "setp", 94, true, 2, "A comparison into the predicate register."),
    (TexLdl, "texldl", 95, true, 2, "Lookup at the level in lane w."),
    (Breakp, "breakp", 96, false, 1, "Leaves the loop when the predicate is true."),
    (Phase, "phase", 0xfffd, false, 0, "Ends the first phase of ps_1_4."),
}

impl Opcode {
    /// The opcode of a number in the token stream.
    pub fn from_number(number: u32) -> Option<Opcode> {
        Opcode::ALL.binary_search_by_key(&number, |op| op.number()).ok().map(|at| Opcode::ALL[at])
    }

    /// The operands that follow in a version.
    pub fn operands(self, version: Version) -> Operands {
        let pixel_before = |major, minor| version.stage == Stage::Fragment && version.is_before(major, minor);
        match self {
            Opcode::SinCos | Opcode::Sgn if version.is_before(3, 0) => operands(true, 3),
            Opcode::TexCoord | Opcode::Tex if pixel_before(1, 4) => operands(true, 0),
            Opcode::Tex if pixel_before(2, 0) => operands(true, 1),
            _ => self.newest_operands(),
        }
    }

    /// The assembler's word without modifiers.
    pub fn mnemonic(self, control: Control, version: Version) -> String {
        let old = version.is_before(1, 4);
        let word = match (self, control) {
            (Opcode::Tex, Control::Project) => "texldp",
            (Opcode::Tex, Control::Bias) => "texldb",
            (Opcode::Tex, _) if !old => "texld",
            (Opcode::TexCoord, _) if !old => "texcrd",
            _ => self.word(),
        };
        match control {
            Control::Compare(comparison) => format!("{word}_{}", comparison.word()),
            _ => word.to_owned(),
        }
    }

    /// Whether its control is a comparison.
    pub const fn compares(self) -> bool {
        matches!(self, Opcode::Ifc | Opcode::Breakc | Opcode::Setp)
    }

    /// The controls that it may have.
    pub fn controls(self) -> Vec<Control> {
        match self {
            Opcode::Tex => vec![Control::None, Control::Project, Control::Bias],
            op if op.compares() => Comparison::ALL.iter().map(|&c| Control::Compare(c)).collect(),
            _ => vec![Control::None],
        }
    }
}
