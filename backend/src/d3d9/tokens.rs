//! The token stream: little-endian words, a version first, the end last.
//!
//! ```text
//! instruction  15:0 opcode  23:16 control  27:24 words that follow (0 in model 1)  28 predicated  30 co-issue
//! destination  10:0 number  12:11 and 30:28 file  13 relative  19:16 mask  23:20 modifiers  27:24 shift  31 = 1
//! source       10:0 number  12:11 and 30:28 file  13 relative  23:16 swizzle  27:24 modifier        31 = 1
//! usage        4:0 usage  19:16 index  30:27 shape of a sampler                                      31 = 1
//! comment      15:0 FFFE  30:16 words that follow
//! ```
//!
//! A relative operand has bit 13; from model 2 on a source word with `a0` or `aL` follows it. A
//! predicate is a source word right behind the destination.
//!
//! [`read`] and [`write`] are inverse on what they take: reading what was written gives the shader
//! again. Files that share a number are told apart by stage and version; one that the version does not
//! have is an error of the writer.

use super::ctab;
use super::opcode::Opcode;
use super::shader::{
    Comparison, Control, Dcl, DclKind, Def, Dst, Inst, Modifier, Predicate, Reg, RegType, Rel, SamplerKind, Shader,
    Src, Usage, Version,
};
use crate::limits::Limits;
use ir::types::{Stage, WriteMask};
use smallvec::SmallVec;
use std::fmt;

const END: u32 = 0x0000_ffff;
const COMMENT: u32 = 0xfffe;
const DEFB: u32 = 47;
const DEFI: u32 = 48;
const DEF: u32 = 81;
const DCL: u32 = 31;
/// Bit 31 of every word of an operand.
const OPERAND: u32 = 1 << 31;
const RELATIVE: u32 = 1 << 13;
const PREDICATED: u32 = 1 << 28;
const COISSUE: u32 = 1 << 30;
/// Registers that a number of 11 bits tells apart.
const NUMBERS: u32 = 2048;
/// Most words of a comment.
const MAX_COMMENT: usize = 0x7fff;
/// File numbers of `c` from 0, 2048, 4096 and 6144 on.
const CONST_FILES: [u32; 4] = [2, 11, 12, 13];

/// Why a token stream is none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadError {
    /// Offset of the word, the version being word 0.
    pub word: usize,
    /// What is wrong there.
    pub message: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "word {}: {}", self.word, self.message)
    }
}

impl std::error::Error for ReadError {}

/// Whether bytes start like a token stream of this form.
pub fn starts_shader(bytes: &[u8]) -> bool {
    bytes.first_chunk().is_some_and(|b| version_of(u32::from_le_bytes(*b)).is_some())
}

/// Words as bytes.
pub fn to_bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// Bytes as words.
///
/// # Errors
/// When the last word is cut off.
pub fn from_bytes(bytes: &[u8]) -> Result<Vec<u32>, ReadError> {
    let (words, rest) = bytes.as_chunks::<4>();
    if rest.is_empty() {
        Ok(words.iter().map(|b| u32::from_le_bytes(*b)).collect())
    } else {
        Err(ReadError { word: words.len(), message: "the last word is cut off".into() })
    }
}

fn version_token(version: Version) -> u32 {
    let stage = if version.stage == Stage::Vertex { 0xfffe_0000 } else { 0xffff_0000 };
    stage | u32::from(version.major) << 8 | u32::from(version.minor)
}

fn version_of(token: u32) -> Option<Version> {
    Version::ALL.iter().copied().find(|&v| version_token(v) == token)
}

/// The file of a number, or none when the version has no such file.
fn file_of(number: u32, version: Version) -> Option<RegType> {
    let vertex = version.stage == Stage::Vertex;
    Some(match number {
        0 => RegType::Temp,
        1 => RegType::Input,
        2 | 11 | 12 | 13 => RegType::Const,
        3 if vertex => RegType::Address,
        3 => RegType::Texture,
        4 => RegType::Rasterizer,
        5 => RegType::ColorOut,
        6 if vertex && version.major >= 3 => RegType::Output,
        6 if vertex => RegType::TexCoordOut,
        7 => RegType::ConstInt,
        8 => RegType::Target,
        9 => RegType::Depth,
        10 => RegType::Sampler,
        14 => RegType::ConstBool,
        15 => RegType::Loop,
        17 => RegType::Misc,
        18 => RegType::Label,
        19 => RegType::Predicate,
        _ => return None,
    })
}

/// The number of a file; `c` has more than one.
fn number_of(kind: RegType) -> u32 {
    match kind {
        RegType::Temp => 0,
        RegType::Input => 1,
        RegType::Const => 2,
        RegType::Address | RegType::Texture => 3,
        RegType::Rasterizer => 4,
        RegType::ColorOut => 5,
        RegType::TexCoordOut | RegType::Output => 6,
        RegType::ConstInt => 7,
        RegType::Target => 8,
        RegType::Depth => 9,
        RegType::Sampler => 10,
        RegType::ConstBool => 14,
        RegType::Loop => 15,
        RegType::Misc => 17,
        RegType::Label => 18,
        RegType::Predicate => 19,
    }
}

/// The swizzle as eight bits.
fn swizzle_bits(swizzle: [u8; 4]) -> u32 {
    (0..4).fold(0, |bits, n| bits | u32::from(swizzle[n] & 3) << (2 * n))
}

fn swizzle_of(bits: u32) -> [u8; 4] {
    [0, 2, 4, 6].map(|n| (bits >> n & 3) as u8)
}

fn control_bits(control: Control) -> u32 {
    match control {
        Control::None => 0,
        Control::Project => 1,
        Control::Bias => 2,
        Control::Compare(c) => position(Comparison::ALL, c) + 1,
    }
}

/// Where an item of a table stands.
pub(super) fn position<T: PartialEq>(all: &[T], item: T) -> u32 {
    all.iter().position(|x| *x == item).map_or(0, |n| n as u32)
}

/// The shader as words.
///
/// # Errors
/// When something has no place in the form: a register's number, a file that the version does not
/// have, a constant table of more than 32,767 words.
pub fn write(shader: &Shader) -> Result<Vec<u32>, String> {
    let mut writer = Writer { version: shader.version, out: vec![version_token(shader.version)] };
    if version_of(writer.out[0]).is_none() {
        return Err(format!("{} is no version of this form", shader.version));
    }
    if !shader.constants.is_empty() {
        let table = ctab::write(&shader.constants, version_token(shader.version))?;
        if table.len() > MAX_COMMENT {
            return Err(format!("a constant table of {} words, most are {MAX_COMMENT}", table.len()));
        }
        writer.out.push((table.len() as u32) << 16 | COMMENT);
        writer.out.extend(table);
    }
    for dcl in &shader.dcls {
        writer.dcl(dcl).map_err(|e| format!("`{dcl}`: {e}"))?;
    }
    for def in &shader.defs {
        writer.def(def).map_err(|e| format!("`{def}`: {e}"))?;
    }
    for inst in &shader.insts {
        let name = |e| format!("`{}`: {e}", inst.op.mnemonic(inst.control, shader.version));
        writer.inst(inst).map_err(name)?;
    }
    writer.out.push(END);
    Ok(writer.out)
}

/// Whether a declaration has a place in the form.
///
/// # Errors
/// Why not.
pub fn check_dcl(dcl: &Dcl, version: Version) -> Result<(), String> {
    Writer { version, out: Vec::new() }.dcl(dcl)
}

/// Whether a definition has a place in the form.
///
/// # Errors
/// Why not.
pub fn check_def(def: &Def, version: Version) -> Result<(), String> {
    Writer { version, out: Vec::new() }.def(def)
}

/// Whether an instruction has a place in the form.
///
/// # Errors
/// Why not.
pub fn check_inst(inst: &Inst, version: Version) -> Result<(), String> {
    Writer { version, out: Vec::new() }.inst(inst)
}

struct Writer {
    version: Version,
    out: Vec<u32>,
}

impl Writer {
    /// An instruction word for what `body` writes behind it.
    fn instruction(&mut self, word: u32, body: impl FnOnce(&mut Writer) -> Result<(), String>) -> Result<(), String> {
        let at = self.out.len();
        self.out.push(word);
        body(self)?;
        let length = self.out.len() - at - 1;
        if self.version.major >= 2 && word != Opcode::Phase.number() {
            self.out[at] |= (length as u32) << 24;
        }
        Ok(())
    }

    /// File and number of a register as they stand in an operand.
    fn register(&self, reg: Reg) -> Result<u32, String> {
        let (file, index) = match reg.kind {
            RegType::Const => {
                let part = CONST_FILES.get((reg.index / NUMBERS) as usize);
                (*part.ok_or_else(|| format!("{reg} is beyond c8191"))?, reg.index % NUMBERS)
            }
            kind => (number_of(kind), reg.index),
        };
        if file_of(file, self.version) != Some(reg.kind) {
            return Err(format!("{} has no register {reg}", self.version));
        }
        if !reg.exists() {
            return Err(format!("register {index} of a file with names"));
        }
        if index >= NUMBERS {
            return Err(format!("{reg} is beyond number {}", NUMBERS - 1));
        }
        Ok(OPERAND | index | (file & 7) << 28 | (file >> 3) << 11)
    }

    /// An operand's word and, where there is one, the word of its address.
    fn addressed(&mut self, word: u32, rel: Option<Rel>, behind: Option<u32>) -> Result<(), String> {
        let Some(rel) = rel else {
            self.out.push(word);
            self.out.extend(behind);
            return Ok(());
        };
        self.out.push(word | RELATIVE);
        if self.version.major < 2 {
            let plain = rel == Rel { reg: Reg::A0, lane: 0 } && self.version.stage == Stage::Vertex;
            return if plain { Ok(()) } else { Err(format!("an address other than a0.x in {}", self.version)) };
        }
        if ![Reg::A0, Reg::LOOP].contains(&rel.reg) {
            return Err(format!("an address in {}", rel.reg));
        }
        let swizzle = if rel.reg == Reg::LOOP { [0, 1, 2, 3] } else { [rel.lane; 4] };
        let address = self.register(rel.reg)? | swizzle_bits(swizzle) << 16;
        self.out.push(address);
        self.out.extend(behind);
        Ok(())
    }

    fn dst_word(&self, dst: &Dst) -> Result<u32, String> {
        if dst.mask.0 & 15 == 0 {
            return Err("writes no lane".into());
        }
        if !(-3..=3).contains(&dst.shift) {
            return Err(format!("a shift by {}", dst.shift));
        }
        let modifiers = u32::from(dst.saturate) | u32::from(dst.partial) << 1 | u32::from(dst.centroid) << 2;
        let shift = u32::from(dst.shift as u8 & 15);
        Ok(self.register(dst.reg)? | u32::from(dst.mask.0 & 15) << 16 | modifiers << 20 | shift << 24)
    }

    fn src_word(&self, src: &Src) -> Result<u32, String> {
        let modifier = position(Modifier::ALL, src.modifier);
        Ok(self.register(src.reg)? | swizzle_bits(src.swizzle) << 16 | modifier << 24)
    }

    fn dcl(&mut self, dcl: &Dcl) -> Result<(), String> {
        let sampler = dcl.dst.reg.kind == RegType::Sampler;
        let usage = match dcl.kind {
            DclKind::Plain if is_plain(dcl.dst.reg, self.version) => 0,
            DclKind::Sampler(kind) if sampler => (position(SamplerKind::ALL, kind) + 1) << 27,
            DclKind::Usage(_, index) if index > 15 => return Err("an index beyond 15".into()),
            DclKind::Usage(usage, index) if !sampler && !is_plain(dcl.dst.reg, self.version) => {
                position(Usage::ALL, usage) | u32::from(index) << 16
            }
            _ => return Err(format!("no such declaration of {} in {}", dcl.dst.reg, self.version)),
        };
        if dcl.dst.saturate || dcl.dst.shift != 0 || dcl.dst.rel.is_some() {
            return Err("a declaration with more than `_pp` and `_centroid`".into());
        }
        let word = self.dst_word(&dcl.dst)?;
        self.instruction(DCL, |w| {
            w.out.extend([OPERAND | usage, word]);
            Ok(())
        })
    }

    fn def(&mut self, def: &Def) -> Result<(), String> {
        let (opcode, kind, index) = match *def {
            Def::Float { index, .. } => (DEF, RegType::Const, index),
            Def::Int { index, .. } => (DEFI, RegType::ConstInt, index),
            Def::Bool { index, .. } => (DEFB, RegType::ConstBool, index),
        };
        let word = self.dst_word(&Dst::new(Reg::new(kind, index), WriteMask::ALL))?;
        self.instruction(opcode, |w| {
            w.out.push(word);
            match *def {
                Def::Float { bits, .. } => w.out.extend(bits),
                Def::Int { lanes, .. } => w.out.extend(lanes.map(i32::cast_unsigned)),
                Def::Bool { value, .. } => w.out.push(u32::from(value)),
            }
            Ok(())
        })
    }

    fn inst(&mut self, inst: &Inst) -> Result<(), String> {
        let wanted = inst.op.operands(self.version);
        if inst.dst.is_some() != wanted.dst || inst.srcs.len() != wanted.srcs {
            let (dst, srcs) = (usize::from(wanted.dst), wanted.srcs);
            return Err(format!("takes {dst} destinations and {srcs} sources in {}", self.version));
        }
        if !inst.op.controls().contains(&inst.control) {
            return Err("a control that the opcode has not".into());
        }
        if inst.predicate.is_some() && (self.version.major < 2 || !wanted.dst) {
            return Err("a predicate".into());
        }
        let predicate = inst.predicate.map(|p| self.predicate_word(&p)).transpose()?;
        let flags = if predicate.is_some() { PREDICATED } else { 0 } | if inst.coissue { COISSUE } else { 0 };
        self.instruction(inst.op.number() | control_bits(inst.control) << 16 | flags, |w| {
            if let Some(dst) = &inst.dst {
                let relative = dst.rel.is_some() && w.version.major < 2;
                let word = w.dst_word(dst)?;
                if relative {
                    return Err(format!("an address of a destination in {}", w.version));
                }
                w.addressed(word, dst.rel, predicate)?;
            }
            inst.srcs.iter().try_for_each(|src| {
                let word = w.src_word(src)?;
                w.addressed(word, src.rel, None)
            })
        })
    }

    fn predicate_word(&self, predicate: &Predicate) -> Result<u32, String> {
        if predicate.reg.kind != RegType::Predicate {
            return Err(format!("{} as predicate", predicate.reg));
        }
        let modifier = if predicate.not { Modifier::Not } else { Modifier::None };
        self.src_word(&Src { modifier, ..Src::new(predicate.reg).with_swizzle(predicate.swizzle) })
    }
}

/// Whether a register is declared without a usage.
fn is_plain(reg: Reg, version: Version) -> bool {
    let old = version.stage == Stage::Fragment && version.major < 3;
    reg.kind != RegType::Sampler && (old || reg.kind == RegType::Misc)
}

/// [`read_within`] with the default bounds.
///
/// # Errors
/// What is wrong, and at which word.
pub fn read(words: &[u32]) -> Result<Shader, ReadError> {
    read_within(words, &Limits::default())
}

/// The shader of a token stream.
///
/// # Errors
/// What is wrong, and at which word; also when it has more instructions than `assembly-instructions`
/// allows.
pub fn read_within(words: &[u32], limits: &Limits) -> Result<Shader, ReadError> {
    let mut reader = Reader { words, at: 0, version: Version::vs(1, 1) };
    let token = reader.next("the version")?;
    let Some(version) = version_of(token) else { return reader.error(0, format!("{token:08x} is no version")) };
    reader.version = version;
    let mut shader = Shader::new(version);
    loop {
        let at = reader.at;
        let token = reader.next("an instruction or the end")?;
        if token == END {
            break;
        }
        if token & 0xffff == COMMENT {
            reader.comment(token, &mut shader)?;
            continue;
        }
        reader.item(token, &mut shader)?;
        if shader.insts.len() + shader.dcls.len() + shader.defs.len() > limits.insts {
            return reader.error(at, format!("more than {} instructions (`assembly-instructions`)", limits.insts));
        }
    }
    if reader.at < words.len() { reader.error(reader.at, "something behind the end") } else { Ok(shader) }
}

struct Reader<'w> {
    words: &'w [u32],
    at: usize,
    version: Version,
}

type Read<T> = Result<T, ReadError>;

impl Reader<'_> {
    fn error<T>(&self, word: usize, message: impl Into<String>) -> Read<T> {
        Err(ReadError { word, message: message.into() })
    }

    fn next(&mut self, what: &str) -> Read<u32> {
        match self.words.get(self.at) {
            Some(&word) => {
                self.at += 1;
                Ok(word)
            }
            None => self.error(self.at, format!("the stream ends before {what}")),
        }
    }

    fn comment(&mut self, token: u32, shader: &mut Shader) -> Read<()> {
        let (start, length) = (self.at, (token >> 16) as usize);
        if length > MAX_COMMENT {
            return self.error(start - 1, "bit 31 of a comment is set");
        }
        let Some(words) = self.words.get(start..start + length) else {
            return self.error(start - 1, format!("a comment of {length} words in a shorter stream"));
        };
        self.at += length;
        if words.first() == Some(&ctab::MAGIC) && shader.constants.is_empty() {
            shader.constants =
                ctab::read(words).map_err(|(word, message)| ReadError { word: start + word, message })?;
        }
        Ok(())
    }

    /// A declaration, definition or instruction, and whether it has the length that it states.
    fn item(&mut self, token: u32, shader: &mut Shader) -> Read<()> {
        let at = self.at - 1;
        let (opcode, length) = (token & 0xffff, (token >> 24 & 15) as usize);
        if token & 0xa000_0000 != 0 {
            return self.error(at, format!("reserved bits in instruction {token:08x}"));
        }
        let declares = matches!(opcode, DCL | DEF | DEFI | DEFB);
        if declares && token & 0xf0ff_0000 != 0 {
            return self.error(at, format!("bits that no declaration has in {token:08x}"));
        }
        if declares && !shader.insts.is_empty() {
            return self.error(at, "a declaration behind the first instruction");
        }
        match opcode {
            DCL => shader.dcls.push(self.dcl()?),
            DEF | DEFI | DEFB => shader.defs.push(self.def(opcode)?),
            _ => shader.insts.push(self.inst(token)?),
        }
        let stated = if self.version.major >= 2 && opcode != Opcode::Phase.number() { self.at - at - 1 } else { 0 };
        if length == stated {
            Ok(())
        } else {
            self.error(at, format!("states {length} words, {stated} belong to it in {}", self.version))
        }
    }

    fn register(&self, word: u32) -> Read<Reg> {
        let at = self.at - 1;
        if word & OPERAND == 0 {
            return self.error(at, format!("{word:08x} is no operand: bit 31 is not set"));
        }
        if word & 0xc000 != 0 {
            return self.error(at, format!("reserved bits in operand {word:08x}"));
        }
        let number = word >> 28 & 7 | (word >> 11 & 3) << 3;
        let Some(kind) = file_of(number, self.version) else {
            return self.error(at, format!("{} has no register file {number}", self.version));
        };
        let part = CONST_FILES.iter().position(|&f| f == number).unwrap_or(0) as u32;
        let reg = Reg::new(kind, word % NUMBERS + part * NUMBERS);
        if reg.exists() { Ok(reg) } else { self.error(at, format!("register {} of file {number}", reg.index)) }
    }

    /// The address of a relative operand.
    fn rel(&mut self, word: u32) -> Read<Option<Rel>> {
        if word & RELATIVE == 0 {
            return Ok(None);
        }
        if self.version.major < 2 {
            return match self.version.stage {
                Stage::Vertex => Ok(Some(Rel { reg: Reg::A0, lane: 0 })),
                Stage::Fragment => self.error(self.at - 1, format!("an address in {}", self.version)),
            };
        }
        let word = self.next("the address of an operand")?;
        let (reg, swizzle) = (self.register(word)?, swizzle_of(word >> 16));
        let one = swizzle == [swizzle[0]; 4];
        match reg {
            Reg::A0 if one && word & 0x0f00_2000 == 0 => Ok(Some(Rel { reg, lane: swizzle[0] })),
            Reg::LOOP if word & 0x0f00_2000 == 0 => Ok(Some(Rel { reg, lane: 0 })),
            _ => self.error(self.at - 1, format!("{word:08x} is no address")),
        }
    }

    fn dst_of(&self, word: u32) -> Read<Dst> {
        let reg = self.register(word)?;
        let mask = WriteMask((word >> 16 & 15) as u8);
        let (modifiers, shift) = (word >> 20 & 15, ((word >> 24 & 15) as i8) << 4 >> 4);
        if mask.0 == 0 {
            return self.error(self.at - 1, "a destination without lanes");
        }
        if modifiers > 7 || !(-3..=3).contains(&shift) {
            return self.error(self.at - 1, format!("modifier {modifiers} and shift {shift} of a destination"));
        }
        let [saturate, partial, centroid] = [1, 2, 4].map(|bit| modifiers & bit != 0);
        Ok(Dst { reg, rel: None, mask, saturate, partial, centroid, shift })
    }

    fn src_of(&self, word: u32) -> Read<Src> {
        let reg = self.register(word)?;
        let number = (word >> 24 & 15) as usize;
        let Some(&modifier) = Modifier::ALL.get(number) else {
            return self.error(self.at - 1, format!("modifier {number} of a source"));
        };
        Ok(Src { reg, rel: None, swizzle: swizzle_of(word >> 16), modifier })
    }

    fn dcl(&mut self) -> Read<Dcl> {
        let usage = self.next("what is declared")?;
        let at = self.at - 1;
        let word = self.next("the declared register")?;
        let dst = self.dst_of(word)?;
        if dst.saturate || dst.shift != 0 || word & RELATIVE != 0 {
            return self.error(self.at - 1, "modifiers that no declaration has");
        }
        let table = |n: u32| n.checked_sub(1).and_then(|n| SamplerKind::ALL.get(n as usize)).copied();
        let kind = match dst.reg.kind {
            RegType::Sampler if usage & 0x87ff_ffff == OPERAND => table(usage >> 27 & 15).map(DclKind::Sampler),
            _ if is_plain(dst.reg, self.version) => (usage == OPERAND).then_some(DclKind::Plain),
            _ if usage & 0xfff0_ffe0 == OPERAND => {
                let usage_word = Usage::ALL.get((usage & 31) as usize);
                usage_word.map(|&u| DclKind::Usage(u, (usage >> 16 & 15) as u8))
            }
            _ => None,
        };
        match kind {
            Some(kind) => Ok(Dcl { kind, dst }),
            None => self.error(at, format!("{} is not declared with {usage:08x} in {}", dst.reg, self.version)),
        }
    }

    fn def(&mut self, opcode: u32) -> Read<Def> {
        let word = self.next("the defined register")?;
        let dst = self.dst_of(word)?;
        let kind = match opcode {
            DEF => RegType::Const,
            DEFI => RegType::ConstInt,
            _ => RegType::ConstBool,
        };
        if dst != Dst::new(Reg::new(kind, dst.reg.index), WriteMask::ALL) || word & RELATIVE != 0 {
            return self.error(self.at - 1, format!("a definition of {dst}"));
        }
        let index = dst.reg.index;
        if kind == RegType::ConstBool {
            let value = self.next("a boolean")?;
            return match value {
                0 | 1 => Ok(Def::Bool { index, value: value == 1 }),
                _ => self.error(self.at - 1, format!("{value:08x} as boolean")),
            };
        }
        let mut lanes = [0; 4];
        for lane in &mut lanes {
            *lane = self.next("the lanes of a constant")?;
        }
        Ok(match kind {
            RegType::Const => Def::Float { index, bits: lanes },
            _ => Def::Int { index, lanes: lanes.map(u32::cast_signed) },
        })
    }

    fn inst(&mut self, token: u32) -> Read<Inst> {
        let at = self.at - 1;
        let Some(op) = Opcode::from_number(token & 0xffff) else {
            return self.error(at, format!("{} is no opcode", token & 0xffff));
        };
        let bits = token >> 16 & 255;
        let Some(control) = op.controls().into_iter().find(|&c| control_bits(c) == bits) else {
            return self.error(at, format!("`{}` has no control {bits}", op.mnemonic(Control::None, self.version)));
        };
        let wanted = op.operands(self.version);
        let predicated = token & PREDICATED != 0;
        if predicated && (self.version.major < 2 || !wanted.dst) {
            return self.error(at, "a predicate where there can be none");
        }
        let mut inst = Inst { control, coissue: token & COISSUE != 0, ..Inst::flow(op, &[]) };
        if wanted.dst {
            let word = self.next("a destination")?;
            let dst = self.dst_of(word)?;
            if word & RELATIVE != 0 && self.version.major < 2 {
                return self.error(self.at - 1, format!("an address of a destination in {}", self.version));
            }
            inst.dst = Some(Dst { rel: self.rel(word)?, ..dst });
        }
        if predicated {
            inst.predicate = Some(self.predicate()?);
        }
        let mut srcs = SmallVec::new();
        for _ in 0..wanted.srcs {
            let word = self.next("a source")?;
            let src = self.src_of(word)?;
            srcs.push(Src { rel: self.rel(word)?, ..src });
        }
        Ok(Inst { srcs, ..inst })
    }

    fn predicate(&mut self) -> Read<Predicate> {
        let word = self.next("a predicate")?;
        let src = self.src_of(word)?;
        let modifier = matches!(src.modifier, Modifier::None | Modifier::Not);
        if src.reg.kind != RegType::Predicate || !modifier || word & RELATIVE != 0 {
            return self.error(self.at - 1, format!("{word:08x} is no predicate"));
        }
        Ok(Predicate { reg: src.reg, swizzle: src.swizzle, not: src.modifier == Modifier::Not })
    }
}
