//! Makes instructions encodable: what a source may carry and pick, what a destination may be, how many
//! registers of a file one instruction may read.
//!
//! In: machine code over virtual registers. Out: the same, where every operand obeys the target's
//! table. A lane-wise instruction whose operands cannot all pick their lanes at once becomes several,
//! each for some of the lanes; any other operand that is not encodable is copied to a register first.
//! A target on which everything is allowed gets its program back unchanged.
//!
//! [`outputs`] moves results to outputs that only a `MOV` may write, [`ports`] copies what an instruction
//! may not read beside something else.

mod lookup;
mod outputs;
mod ports;
#[cfg(test)]
mod tests;

pub use ports::{Sharing, copies_for_ports};

use crate::error::Error;
use crate::isa::{SwizzleRule, Target, TexSources};
use crate::mach::{Dst, File, Inst, Kind, Opcode, Program, Reg, Src};
use ir::types::WriteMask;
use smallvec::SmallVec;
use std::collections::BTreeSet;

/// Legalizes in place.
///
/// # Errors
/// When an operand has no form on the target even in an instruction of its own.
pub fn legalize(program: &mut Program, target: &Target, sharing: Sharing) -> Result<(), Error> {
    outputs::move_whole(program, target);
    let insts = std::mem::take(&mut program.insts);
    let colors = colors(program);
    let depth = program.outputs.iter().find(|b| b.semantic == "depth").map(|b| b.reg);
    let out = Vec::with_capacity(insts.len());
    let mut legalizer = Legalizer { program, target, colors, depth, written: BTreeSet::new(), out };
    for inst in insts {
        legalizer.instruction(inst)?;
    }
    program.insts = legalizer.out;
    ports::copy_for_ports(program, target, sharing);
    Ok(())
}

/// The inputs that are colours.
fn colors(program: &Program) -> BTreeSet<u32> {
    program.inputs.iter().filter(|b| b.semantic.starts_with("color")).map(|b| b.reg).collect()
}

struct Legalizer<'p> {
    program: &'p mut Program,
    target: &'p Target,
    /// Inputs that are colours.
    colors: BTreeSet<u32>,
    /// The output that is the depth.
    depth: Option<u32>,
    /// Virtual registers with a lane that is written already.
    written: BTreeSet<Reg>,
    out: Vec<Inst>,
}

impl Legalizer<'_> {
    fn instruction(&mut self, mut inst: Inst) -> Result<(), Error> {
        if inst.op == Opcode::Kil {
            self.lanes_of_kil(&mut inst)?;
        }
        if !self.target.operands.tex_1d {
            self.second_coordinate(&mut inst)?;
        }
        if matches!(inst.op, Opcode::Txb | Opcode::Txl) && self.target.operands.bias_in_w {
            self.level_beside_coordinates(&mut inst)?;
        }
        let copy = self.result_of_lookup(&mut inst).or_else(|| self.saturated_output(&mut inst));
        for n in 0..inst.srcs.len() {
            let splits = inst.op.kind() == Kind::Lanewise && !reads_what_it_writes(&inst);
            if !self.is_legal(&inst, n, splits) {
                inst.srcs[n] = self.copy(&inst, n)?;
            }
        }
        self.with_allowed_mask(inst)?;
        copy.map_or(Ok(()), |copy| self.split(copy))
    }

    fn push(&mut self, mut inst: Inst) {
        self.written.extend(inst.dst.map(|d| d.reg).filter(|r| r.file == File::Virtual));
        inst.normalize();
        self.out.push(inst);
    }

    /// An instruction that saturates into an output that cannot be saturated goes through a register.
    fn saturated_output(&mut self, inst: &mut Inst) -> Option<Inst> {
        let saturates = |d: &Dst| d.saturate && d.reg.file == File::Output;
        if self.target.operands.saturate_outputs || !inst.dst.as_ref().is_some_and(saturates) {
            return None;
        }
        self.through_register(inst, true)
    }

    /// Gives the instruction a register of its own to write, and returns the copy to its destination.
    fn through_register(&mut self, inst: &mut Inst, saturate: bool) -> Option<Inst> {
        let dst = inst.dst?;
        let width = dst.mask.lanes().last().map_or(1, |l| l + 1);
        let reg = self.program.make_virtual(width);
        inst.dst = Some(Dst { reg, rel: None, saturate, ..dst });
        Some(Inst::new(Opcode::Mov, Dst { saturate: false, ..dst }, &[Src::new(reg)], inst.line))
    }

    /// An opcode that writes only certain lanes: as often as it takes, each time with a copy to where the
    /// result belongs.
    fn with_allowed_mask(&mut self, inst: Inst) -> Result<(), Error> {
        let masks = self.target.op(inst.op).map(|s| s.masks).unwrap_or_default();
        let Some(dst) = inst.dst.filter(|d| !masks.allows(d.mask)) else { return self.split(inst) };
        let mut left: SmallVec<[u8; 4]> = dst.mask.lanes().collect();
        let mut copies = Vec::new();
        while !left.is_empty() {
            let fitting = masks.iter().find(|m| m.0.count_ones() as usize >= left.len());
            let Some(mask) = fitting.or_else(|| masks.iter().last()) else { break };
            let reg = self.program.make_virtual(mask.lanes().last().map_or(1, |l| l + 1));
            let (mut part, mut copied) = (inst.clone(), [0; 4]);
            let mut lanes = WriteMask(0);
            for to in mask.lanes() {
                let Some(&from) = left.first() else { break };
                left.remove(0);
                lanes.0 |= 1 << from;
                copied[from as usize] = to;
                for (new, old) in part.srcs.iter_mut().zip(&inst.srcs) {
                    new.swizzle[to as usize] = old.swizzle[from as usize];
                }
            }
            part.dst = Some(Dst { reg, rel: None, mask, saturate: false });
            self.split(part)?;
            let src = Src { swizzle: copied, ..Src::new(reg) };
            copies.push(Inst::new(Opcode::Mov, Dst { mask: lanes, ..dst }, &[src], inst.line));
        }
        copies.into_iter().try_for_each(|copy| self.split(copy))
    }

    /// Pushes the instruction, in as many parts as its swizzles need when it is lane-wise.
    fn split(&mut self, inst: Inst) -> Result<(), Error> {
        let rule = self.target.operands.swizzle;
        let (Kind::Lanewise, Some(dst)) = (inst.op.kind(), inst.dst) else {
            self.push(inst);
            return Ok(());
        };
        let legal = |lanes: WriteMask| inst.srcs.iter().all(|s| rule.allows(s.swizzle, lanes));
        let mut left = dst.mask.0;
        while left != 0 {
            let mut part = 0;
            for lane in WriteMask(left).lanes() {
                if legal(WriteMask(part | 1 << lane)) {
                    part |= 1 << lane;
                }
            }
            if part == 0 {
                let what = format!("lane choice of an operand of {} on {}", inst.op.mnemonic(), self.target.name);
                return Err(Error::Unsupported { what, line: inst.line });
            }
            let mut copy = inst.clone();
            copy.dst = Some(Dst { mask: WriteMask(part), ..dst });
            self.push(copy);
            left &= !part;
        }
        Ok(())
    }

    /// The places of source `n` that the target's instruction reads.
    fn places_read(&self, inst: &Inst, n: usize) -> WriteMask {
        match inst.op {
            Opcode::Kil => WriteMask::first(self.target.operands.kil_lanes),
            _ => inst.places_read(n),
        }
    }

    /// Whether source `n` may stand as it is; lanes do not matter where the instruction is split by them.
    fn is_legal(&self, inst: &Inst, n: usize, splits: bool) -> bool {
        let src = &inst.srcs[n];
        let o = &self.target.operands;
        let read = self.places_read(inst, n);
        let (swizzle, modifiers, coordinate) = match inst.op {
            Opcode::Kil => {
                let swizzle = if o.kil_plain { SwizzleRule::Identity } else { o.swizzle };
                (swizzle, !o.kil_plain, o.kil_plain)
            }
            op if op.is_texture() && n == 0 => (o.tex_swizzle, o.tex_modifiers, true),
            _ => (o.swizzle, true, false),
        };
        let neg = !src.neg || (modifiers && o.neg);
        let abs = !src.abs || (modifiers && o.abs);
        neg && abs && (splits || swizzle.allows(src.swizzle, read)) && (!coordinate || self.is_coordinate(src))
    }

    /// Whether a lookup may take its coordinates from there.
    fn is_coordinate(&self, src: &Src) -> bool {
        match self.target.operands.tex_sources {
            TexSources::Any => true,
            _ if src.reg.file == File::Const => false,
            TexSources::Registers => true,
            TexSources::Coordinates => src.reg.file != File::Input || !self.colors.contains(&src.reg.index),
        }
    }

    /// Copies source `n` to a register of its own, lanes in place, and returns that.
    fn copy(&mut self, inst: &Inst, n: usize) -> Result<Src, Error> {
        let src = inst.srcs[n];
        let o = &self.target.operands;
        if (src.neg && !o.neg) || (src.abs && !o.abs) {
            let what = format!("sign of an operand of {} on {}", inst.op.mnemonic(), self.target.name);
            return Err(Error::Unsupported { what, line: inst.line });
        }
        let places = self.places_read(inst, n);
        let last = places.lanes().last().unwrap_or(0);
        let reg = self.program.make_virtual(last + 1);
        self.split(Inst::new(Opcode::Mov, Dst::new(reg, places), &[src], inst.line))?;
        Ok(Src { swizzle: [0, 1, 2, 3].map(|l: u8| l.min(last)), ..Src::new(reg) })
    }
}

/// Whether an instruction in parts would read what an earlier part has written.
fn reads_what_it_writes(inst: &Inst) -> bool {
    inst.dst.is_some_and(|d| inst.srcs.iter().any(|s| s.reg == d.reg || s.rel.is_some() && d.rel.is_some()))
}
