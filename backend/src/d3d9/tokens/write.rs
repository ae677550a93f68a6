//! A shader as words, and whether a part of one has a place among them.

use super::super::ctab;
use super::super::{
    Dcl, DclKind, Def, Dst, Inst, Modifier, Opcode, Predicate, Reg, RegType, Rel, SamplerKind, Shader, Src, Usage,
    Version,
};
use super::{
    COISSUE, COMMENT, CONST_FILES, DCL, DEF, DEFB, DEFI, END, MAX_COMMENT, NUMBERS, OPERAND, PREDICATED, RELATIVE,
    control_bits, file_of, is_plain, number_of, position, swizzle_bits, version_of, version_token,
};
use ir::types::{Stage, WriteMask};

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
    fn addressed(&mut self, word: u32, (reg, rel): (Reg, Option<Rel>), behind: Option<u32>) -> Result<(), String> {
        let Some(rel) = rel else {
            self.out.push(word);
            self.out.extend(behind);
            return Ok(());
        };
        if !reg.kind.is_indexed() {
            return Err(format!("an address of {reg}"));
        }
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
                w.addressed(word, (dst.reg, dst.rel), predicate)?;
            }
            inst.srcs.iter().try_for_each(|src| {
                let word = w.src_word(src)?;
                w.addressed(word, (src.reg, src.rel), None)
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
