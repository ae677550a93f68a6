//! The binary form of the `vec4` machine: 128 bits an instruction, in a small container.
//!
//! Instruction word (four 32-bit words, little-endian, word 0 first):
//!
//! | word | bits | field |
//! |---|---|---|
//! | 0 | 5:0 | opcode (position in [`Opcode::ALL`]) |
//! | 0 | 9:6 | write mask, x lowest |
//! | 0 | 10 | saturate |
//! | 0 | 13:11 | destination file: 0 none, 1 temporary, 2 output, 3 address |
//! | 0 | 21:14 | destination number |
//! | 0 | 22 | destination relative |
//! | 0 | 24:23 | lane of `a0` added to it |
//! | 0 | 28:25 | sampler |
//! | 0 | 31:29 | texture: 0 none, 1 1D, 2 2D, 3 3D, 4 cube, 5 rectangle |
//! | 1 to 3 | 7:0 | source number (word n: source n - 1) |
//! | | 10:8 | source file: 0 none, 1 temporary, 2 input, 3 constant |
//! | | 18:11 | swizzle, two bits a place, first place lowest |
//! | | 19 | negate |
//! | | 20 | absolute value (before negation) |
//! | | 21 | relative |
//! | | 23:22 | lane of `a0` added to the number |
//! | 1 | 24 | shadow comparison |
//! | 3 | 15:0 | of `CAL`, which has no sources: the instruction that it goes to |
//!
//! All other bits are 0. The container: `EGSH`, version 2 (u16), stage (u8: 0 vertex, 1 fragment), a
//! zero byte, the target's name, temporaries (u16), then counted tables (u16 count each): inputs, outputs, constants,
//! samplers; then the instruction count (u32) and the instructions. A name is a u16 length and
//! UTF-8. Line numbers are not kept.

use super::vec4_parse::MAX_REG;
use crate::mach::{Binding, Constant, Dst, File, Inst, Kind, Opcode, Program, Reg, Rel, SamplerBinding, Src, TexInfo};
use ir::types::{Stage, TexDim, WriteMask};
use smallvec::SmallVec;

const MAGIC: &[u8; 4] = b"EGSH";
const VERSION: u16 = 2;
const DIMS: [TexDim; 5] = [TexDim::D1, TexDim::D2, TexDim::D3, TexDim::Cube, TexDim::Rect];
const DST_FILES: [File; 3] = [File::Temp, File::Output, File::Addr];
const SRC_FILES: [File; 3] = [File::Temp, File::Input, File::Const];
/// Deepest nesting of `IF` and `LOOP`.
pub const MAX_NESTING: usize = 1024;

/// Checks that control flow is balanced, `END` is last and subroutine targets exist.
///
/// # Errors
/// What is wrong, naming the instruction by number.
pub fn check_structure(program: &Program) -> Result<(), String> {
    let mut open: Vec<Opcode> = Vec::new();
    for (i, inst) in program.insts.iter().enumerate() {
        let at = |text: &str| Err(format!("instruction {i} ({}): {text}", inst.op.mnemonic()));
        match inst.op {
            Opcode::If | Opcode::Loop if open.len() >= MAX_NESTING => {
                return at(&format!("nested deeper than {MAX_NESTING}"));
            }
            Opcode::If | Opcode::Loop => open.push(inst.op),
            Opcode::Else => match open.last_mut() {
                Some(top) if *top == Opcode::If => *top = Opcode::Else,
                _ => return at("without IF"),
            },
            Opcode::EndIf => match open.pop() {
                Some(Opcode::If | Opcode::Else) => {}
                _ => return at("without IF"),
            },
            Opcode::EndLoop => match open.pop() {
                Some(Opcode::Loop) => {}
                _ => return at("without LOOP"),
            },
            Opcode::Brk | Opcode::Cont if !open.contains(&Opcode::Loop) => return at("outside of a loop"),
            Opcode::End if !open.is_empty() => return at("inside of IF or LOOP"),
            Opcode::Cal if inst.target.is_none_or(|t| t as usize >= program.insts.len()) => {
                return at("goes outside of the program");
            }
            _ => {}
        }
    }
    match program.insts.last() {
        Some(last) if matches!(last.op, Opcode::End | Opcode::Ret) && open.is_empty() => Ok(()),
        Some(_) if !open.is_empty() => Err(format!("{} is never ended", open[open.len() - 1].mnemonic())),
        _ => Err("the last instruction must be END".into()),
    }
}

/// Encodes an allocated program.
///
/// # Errors
/// When something has no bits: a virtual register, a number above 255, a sampler above 15, a name
/// or table of more than 65,535.
pub fn encode(program: &Program) -> Result<Vec<u8>, String> {
    check_structure(program)?;
    let mut out = Vec::new();
    out.extend(MAGIC);
    out.extend(VERSION.to_le_bytes());
    out.extend([u8::from(program.stage == Stage::Fragment), 0]);
    check_word(&program.target)?;
    name(&mut out, &program.target)?;
    out.extend(half(program.temps as usize, "temporaries")?);
    for bindings in [&program.inputs, &program.outputs] {
        out.extend(half(bindings.len(), "bindings")?);
        for b in bindings {
            out.extend(half(b.reg as usize, "a register number")?);
            name(&mut out, &b.name)?;
            out.extend(b.elem.to_le_bytes());
            out.push(b.lanes);
            name(&mut out, &b.semantic)?;
        }
    }
    out.extend(half(program.constants.len(), "constants")?);
    for constant in &program.constants {
        match constant {
            Constant::Uniform { name: text, elem } => {
                out.push(0);
                name(&mut out, text)?;
                out.extend(elem.to_le_bytes());
            }
            Constant::Literal { bits, used } => {
                out.extend([1, *used]);
                out.extend(bits.iter().flat_map(|b| b.to_le_bytes()));
            }
        }
    }
    out.extend(half(program.samplers.len(), "samplers")?);
    for s in &program.samplers {
        out.extend(half(s.reg as usize, "a register number")?);
        name(&mut out, &s.name)?;
        out.extend(s.elem.to_le_bytes());
        out.extend([dim_number(s.dim) as u8, u8::from(s.shadow)]);
    }
    out.extend((program.insts.len() as u32).to_le_bytes());
    for (i, inst) in program.insts.iter().enumerate() {
        let words = encode_inst(inst).map_err(|e| format!("instruction {i} ({inst}): {e}"))?;
        out.extend(words.iter().flat_map(|w| w.to_le_bytes()));
    }
    Ok(out)
}

fn half(value: usize, what: &str) -> Result<[u8; 2], String> {
    u16::try_from(value).map(u16::to_le_bytes).map_err(|_| format!("{what}: {value} is more than 65535"))
}

/// Names are what the text form can print and read back: visible ASCII and blanks, no `#`, which
/// starts a comment there.
fn check_name(name: &str) -> Result<(), String> {
    match name.chars().find(|&c| c == '#' || !(c == ' ' || c.is_ascii_graphic())) {
        Some(c) => Err(format!("a name has {c:?} in it")),
        None => Ok(()),
    }
}

/// Targets and semantics stand without quotes in the text form.
fn check_word(text: &str) -> Result<(), String> {
    if text.is_empty() || text.contains(' ') { Err(format!("`{text}` is no word")) } else { Ok(()) }
}

fn name(out: &mut Vec<u8>, text: &str) -> Result<(), String> {
    check_name(text)?;
    out.extend(half(text.len(), "length of a name")?);
    out.extend(text.as_bytes());
    Ok(())
}

fn dim_number(dim: TexDim) -> u32 {
    DIMS.iter().position(|&d| d == dim).unwrap_or(0) as u32 + 1
}

fn number(reg: Reg) -> Result<u32, String> {
    if reg.index < 256 { Ok(reg.index) } else { Err(format!("register {reg}: number above 255")) }
}

fn file_number(files: &[File], reg: Reg) -> Result<u32, String> {
    let found = files.iter().position(|&f| f == reg.file);
    found.map(|n| n as u32 + 1).ok_or_else(|| format!("register {reg} cannot stand here"))
}

/// The four words of one instruction.
///
/// # Errors
/// When a field has no bits for its value.
pub fn encode_inst(inst: &Inst) -> Result<[u32; 4], String> {
    let mut words = [0u32; 4];
    words[0] = Opcode::ALL.iter().position(|&o| o == inst.op).unwrap_or(0) as u32;
    if let Some(dst) = inst.dst {
        words[0] |= u32::from(dst.mask.0 & 15) << 6 | u32::from(dst.saturate) << 10;
        words[0] |= file_number(&DST_FILES, dst.reg)? << 11 | number(dst.reg)? << 14;
        if let Some(rel) = dst.rel {
            words[0] |= 1 << 22 | u32::from(rel.lane & 3) << 23;
        }
    }
    if let Some(tex) = inst.tex {
        if tex.sampler > 15 {
            return Err(format!("sampler s{} is above s15", tex.sampler));
        }
        words[0] |= tex.sampler << 25 | dim_number(tex.dim) << 29;
        words[1] |= u32::from(tex.shadow) << 24;
    }
    for (word, src) in words[1..].iter_mut().zip(&inst.srcs) {
        *word |= number(src.reg)? | file_number(&SRC_FILES, src.reg)? << 8;
        for (place, &lane) in src.swizzle.iter().enumerate() {
            *word |= u32::from(lane & 3) << (11 + 2 * place);
        }
        *word |= u32::from(src.neg) << 19 | u32::from(src.abs) << 20;
        if let Some(rel) = src.rel {
            *word |= 1 << 21 | u32::from(rel.lane & 3) << 22;
        }
    }
    if let Some(target) = inst.target {
        let target = u16::try_from(target).map_err(|_| format!("target {target} is above 65535"))?;
        words[3] |= u32::from(target);
    }
    Ok(words)
}

/// Decodes a container.
///
/// # Errors
/// What is wrong, with the byte offset.
pub fn decode(bytes: &[u8]) -> Result<Program, String> {
    let mut r = Reader { bytes, at: 0 };
    if r.take(4)? != MAGIC {
        return Err("not a vec4 binary: the magic bytes are missing".into());
    }
    let version = r.u16()?;
    if version != VERSION {
        return Err(format!("version {version} is unknown"));
    }
    let stage = match r.u16()? {
        0 => Stage::Vertex,
        1 => Stage::Fragment,
        other => return Err(format!("stage {other} is unknown")),
    };
    let target = r.name()?;
    check_word(&target)?;
    let mut program = Program::new(stage, &target);
    program.temps = u32::from(r.u16()?);
    if program.temps > MAX_REG {
        return Err(format!("{} temporaries; at most {MAX_REG} can be named", program.temps));
    }
    program.inputs = r.bindings()?;
    program.outputs = r.bindings()?;
    for _ in 0..r.u16()? {
        program.constants.push(r.constant()?);
    }
    for _ in 0..r.u16()? {
        let (reg, name, elem) = (r.reg()?, r.name()?, r.elem()?);
        let (dim, shadow) = (r.dim()?, r.flag()?);
        program.samplers.push(SamplerBinding { reg, name, elem, dim, shadow });
    }
    let count = r.u32()? as usize;
    if count != (bytes.len() - r.at) / 16 || !(bytes.len() - r.at).is_multiple_of(16) {
        return Err(format!("{count} instructions do not fill the {} bytes left", bytes.len() - r.at));
    }
    for i in 0..count {
        let words = [r.u32()?, r.u32()?, r.u32()?, r.u32()?];
        let inst = decode_inst(words).map_err(|e| format!("instruction {i}: {e}"))?;
        program.insts.push(inst);
    }
    check_structure(&program)?;
    Ok(program)
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Result<&'a [u8], String> {
        let Some(part) = self.bytes.get(self.at..).and_then(|rest| rest.get(..n)) else {
            return Err(format!("the file ends at byte {} where {n} more are needed", self.bytes.len()));
        };
        self.at += n;
        Ok(part)
    }

    fn u8(&mut self) -> Result<u8, String> {
        Ok(self.take(1)?[0])
    }

    fn flag(&mut self) -> Result<bool, String> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(format!("{other} is neither 0 nor 1")),
        }
    }

    fn u16(&mut self) -> Result<u16, String> {
        let b = self.take(2)?;
        Ok(u16::from_le_bytes([b[0], b[1]]))
    }

    fn u32(&mut self) -> Result<u32, String> {
        let b = self.take(4)?;
        Ok(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    }

    /// An element's number.
    fn elem(&mut self) -> Result<u32, String> {
        let at = self.at;
        match self.u32()? {
            u32::MAX => Err(format!("the element number at byte {at} is too large")),
            elem => Ok(elem),
        }
    }

    fn name(&mut self) -> Result<String, String> {
        let len = usize::from(self.u16()?);
        let at = self.at;
        let name = String::from_utf8(self.take(len)?.to_vec());
        let name = name.map_err(|_| format!("the name at byte {at} is not UTF-8"))?;
        check_name(&name).map_err(|e| format!("at byte {at}: {e}"))?;
        Ok(name)
    }

    /// A register number; the text form has no larger ones.
    fn reg(&mut self) -> Result<u32, String> {
        let at = self.at;
        match u32::from(self.u16()?) {
            reg if reg < MAX_REG => Ok(reg),
            reg => Err(format!("register number {reg} at byte {at} is above {}", MAX_REG - 1)),
        }
    }

    fn dim(&mut self) -> Result<TexDim, String> {
        let number = usize::from(self.u8()?);
        DIMS.get(number.wrapping_sub(1)).copied().ok_or_else(|| format!("texture kind {number} is unknown"))
    }

    fn bindings(&mut self) -> Result<Vec<Binding>, String> {
        let count = self.u16()?;
        let mut bindings = Vec::new();
        for _ in 0..count {
            let (reg, name, elem) = (self.reg()?, self.name()?, self.elem()?);
            let (lanes, semantic) = (self.u8()?, self.name()?);
            check_word(&semantic)?;
            if lanes > 4 {
                return Err(format!("{lanes} lanes of `{name}`"));
            }
            bindings.push(Binding { reg, name, elem, lanes, semantic });
        }
        Ok(bindings)
    }

    fn constant(&mut self) -> Result<Constant, String> {
        match self.u8()? {
            0 => Ok(Constant::Uniform { name: self.name()?, elem: self.elem()? }),
            1 => {
                let used = self.u8()?;
                let bits = [self.u32()?, self.u32()?, self.u32()?, self.u32()?];
                match bits.get(usize::from(used)..) {
                    Some(unused) if used > 0 && unused.iter().all(|&b| b == 0) => Ok(Constant::Literal { bits, used }),
                    _ => Err(format!("a literal of {used} lanes, or with more in it than it has lanes")),
                }
            }
            kind => Err(format!("constant kind {kind} is unknown")),
        }
    }
}

/// One instruction of four words.
///
/// # Errors
/// When a field has a value without meaning, or a bit is set that must be 0.
pub fn decode_inst(words: [u32; 4]) -> Result<Inst, String> {
    let field = |word: usize, low: u32, bits: u32| words[word] >> low & ((1 << bits) - 1);
    let op = *Opcode::ALL.get(field(0, 0, 6) as usize).ok_or(format!("opcode {} is unknown", field(0, 0, 6)))?;
    let mut inst = Inst { op, dst: None, srcs: SmallVec::new(), tex: None, target: None, line: 0 };
    if op.kind() != Kind::Flow {
        let file = field(0, 11, 3) as usize;
        let file = *DST_FILES.get(file.wrapping_sub(1)).ok_or(format!("destination file {file} is unknown"))?;
        let mask = WriteMask(field(0, 6, 4) as u8);
        let is_address = op.kind() == Kind::Address;
        if mask.0 == 0 || is_address != (file == File::Addr) {
            return Err(format!("{} with a bad destination", op.mnemonic()));
        }
        let rel = (field(0, 22, 1) == 1).then_some(Rel { lane: field(0, 23, 2) as u8 });
        let reg = Reg::new(file, field(0, 14, 8));
        let saturate = field(0, 10, 1) == 1;
        if is_address && (reg.index != 0 || rel.is_some() || saturate) {
            return Err("the address register is a0, without saturation".into());
        }
        inst.dst = Some(Dst { reg, rel, mask, saturate });
    }
    if op.is_texture() {
        let dim = field(0, 29, 3) as usize;
        let dim = *DIMS.get(dim.wrapping_sub(1)).ok_or(format!("texture kind {dim} is unknown"))?;
        inst.tex = Some(TexInfo { sampler: field(0, 25, 4), dim, shadow: field(1, 24, 1) == 1 });
    }
    for word in 1..=op.srcs() {
        let file = field(word, 8, 3) as usize;
        let file = *SRC_FILES.get(file.wrapping_sub(1)).ok_or(format!("source file {file} is unknown"))?;
        let swizzle = [0, 1, 2, 3].map(|place| field(word, 11 + 2 * place, 2) as u8);
        let rel = (field(word, 21, 1) == 1).then_some(Rel { lane: field(word, 22, 2) as u8 });
        let reg = Reg::new(file, field(word, 0, 8));
        inst.srcs.push(Src { reg, rel, swizzle, neg: field(word, 19, 1) == 1, abs: field(word, 20, 1) == 1 });
    }
    if op == Opcode::Cal {
        inst.target = Some(field(3, 0, 16));
    }
    // What does not come back from the decoded form was in bits that must be 0.
    match encode_inst(&inst) {
        Ok(again) if again == words => Ok(inst),
        _ => Err("bits are set that must be 0".into()),
    }
}
