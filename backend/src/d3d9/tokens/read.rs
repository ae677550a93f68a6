//! Words as a shader. Every word is looked at: what the form leaves open must be 0.

use super::super::ctab;
use super::super::{
    Control, Dcl, DclKind, Def, Dst, Inst, Modifier, Opcode, Predicate, Reg, RegType, Rel, SamplerKind, Shader, Src,
    Usage, Version,
};
use super::{
    COISSUE, COMMENT, CONST_FILES, DCL, DEF, DEFB, DEFI, END, MAX_COMMENT, NUMBERS, OPERAND, PREDICATED, RELATIVE,
    ReadError, control_bits, file_of, is_plain, swizzle_of, version_of,
};
use crate::limits::Limits;
use ir::types::{Stage, WriteMask};
use smallvec::SmallVec;

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
    fn rel(&mut self, word: u32, of: Reg) -> Read<Option<Rel>> {
        if word & RELATIVE == 0 {
            return Ok(None);
        }
        if !of.kind.is_indexed() {
            return self.error(self.at - 1, format!("an address of {of}"));
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
            inst.dst = Some(Dst { rel: self.rel(word, dst.reg)?, ..dst });
        }
        if predicated {
            inst.predicate = Some(self.predicate()?);
        }
        let mut srcs = SmallVec::new();
        for _ in 0..wanted.srcs {
            let word = self.next("a source")?;
            let src = self.src_of(word)?;
            srcs.push(Src { rel: self.rel(word, src.reg)?, ..src });
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
