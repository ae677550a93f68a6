//! Lookups and `KIL`: where their operands must be together, and what they may write.

use super::Legalizer;
use crate::error::Error;
use crate::mach::{Dst, File, Inst, Opcode, Src, TexInfo};
use ir::types::{TexDim, WriteMask};

impl Legalizer<'_> {
    /// Gathers the coordinates and, in lane w, the bias or level of a lookup in one register.
    pub(super) fn level_beside_coordinates(&mut self, inst: &mut Inst) -> Result<(), Error> {
        let reg = self.program.make_virtual(4);
        let (coordinates, level) = (inst.srcs[0], inst.srcs[1]);
        for (src, mask) in [(coordinates, inst.places_read(0)), (level.swizzled([0; 4]), WriteMask::lane(3))] {
            self.split(Inst::new(Opcode::Mov, Dst::new(reg, mask), &[src], inst.line))?;
        }
        inst.srcs[0] = Src::new(reg);
        inst.srcs[1] = Src { swizzle: [3; 4], ..Src::new(reg) };
        Ok(())
    }

    /// Gives a lookup in one dimension a second coordinate that is defined. Of an input all lanes are.
    pub(super) fn second_coordinate(&mut self, inst: &mut Inst) -> Result<(), Error> {
        let one = |t: TexInfo| t.dim == TexDim::D1 && !t.shadow;
        if !inst.tex.is_some_and(one) || inst.srcs[0].reg.file == File::Input {
            return Ok(());
        }
        let (src, read) = (inst.srcs[0], inst.places_read(0));
        let reg = self.program.make_virtual(4);
        let spread = Src { swizzle: [src.swizzle[0], src.swizzle[0], src.swizzle[2], src.swizzle[3]], ..src };
        self.split(Inst::new(Opcode::Mov, Dst::new(reg, WriteMask(read.0 | 0b10)), &[spread], inst.line))?;
        inst.srcs[0] = Src::new(reg);
        Ok(())
    }

    /// The copies that follow a lookup which may not write what it should: an output, or only some lanes.
    /// Where nothing has been written before, all lanes are written in place.
    pub(super) fn result_of_lookup(&mut self, inst: &mut Inst) -> Option<Inst> {
        let dst = inst.dst.filter(|_| inst.op.is_texture())?;
        let o = &self.target.operands;
        let is_output = dst.reg.file == File::Output;
        let refused = is_output && (!o.tex_to_output || (!o.tex_to_depth && self.depth == Some(dst.reg.index)));
        let in_part = o.tex_whole && dst.mask != WriteMask::ALL;
        if in_part && dst.reg.file == File::Virtual && !self.written.contains(&dst.reg) {
            self.program.virtuals[dst.reg.index as usize] = 4;
            inst.dst = Some(Dst { mask: WriteMask::ALL, ..dst });
            return None;
        }
        if !refused && !in_part {
            return None;
        }
        let copy = self.through_register(inst, false);
        if let Some(new) = inst.dst.as_mut().filter(|_| o.tex_whole) {
            new.mask = WriteMask::ALL;
            self.program.virtuals[new.reg.index as usize] = 4;
        }
        copy
    }

    /// Where fewer than four lanes are looked at, the smallest of the others joins them.
    pub(super) fn lanes_of_kil(&mut self, inst: &mut Inst) -> Result<(), Error> {
        let seen = self.target.operands.kil_lanes;
        let places = inst.srcs[0].swizzle;
        let (kept, others) = places.split_at(usize::from(seen.clamp(1, 4)));
        if others.iter().any(|l| !kept.contains(l)) {
            let (src, last) = (inst.srcs[0], seen - 1);
            let reg = self.program.make_virtual(seen);
            self.split(Inst::new(Opcode::Mov, Dst::new(reg, WriteMask::first(seen)), &[src], inst.line))?;
            let own = Src { swizzle: [last; 4], ..Src::new(reg) };
            for place in seen..4 {
                let other = src.swizzled([place; 4]);
                self.split(Inst::new(Opcode::Min, Dst::new(reg, WriteMask::lane(last)), &[own, other], inst.line))?;
            }
            inst.srcs[0] = Src::new(reg);
        }
        // what is not looked at says nothing of its own
        let swizzle = &mut inst.srcs[0].swizzle;
        (usize::from(seen)..4).for_each(|place| swizzle[place] = swizzle[usize::from(seen) - 1]);
        Ok(())
    }
}
