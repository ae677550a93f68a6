//! Outputs that only a `MOV` of a whole register may write: everything else writes a register that
//! stands for the output, and the copies are the last instructions.
//!
//! In and out: machine code over virtual registers. Holds: every output in use is written once.

use crate::isa::{OutputRule, Target};
use crate::mach::{Dst, File, Inst, Opcode, Program, Reg, Src};
use ir::types::WriteMask;
use std::collections::BTreeMap;

/// Makes it so, where the target asks for it.
pub(super) fn move_whole(program: &mut Program, target: &Target) {
    if target.operands.outputs != OutputRule::MovedWhole {
        return;
    }
    let mut homes: BTreeMap<u32, (Reg, u8)> = BTreeMap::new();
    let mut insts = std::mem::take(&mut program.insts);
    for dst in insts.iter_mut().filter_map(|i| i.dst.as_mut()).filter(|d| d.reg.file == File::Output) {
        let (reg, written) = homes.entry(dst.reg.index).or_insert_with(|| (program.make_virtual(1), 0));
        *written |= dst.mask.0;
        dst.reg = *reg;
    }
    let end = insts.pop_if(|i| i.op == Opcode::End);
    for (output, (reg, written)) in homes {
        let binding = program.outputs.iter().find(|b| b.reg == output);
        let lanes = WriteMask::first(binding.map_or(4, |b| b.lanes));
        // a lane that the shader leaves undefined is a lane that it defines
        let missing = WriteMask(lanes.0 & !written);
        let from = written.trailing_zeros().min(3) as u8;
        if missing.0 != 0 {
            let src = Src { swizzle: [from; 4], ..Src::new(reg) };
            insts.push(Inst::new(Opcode::Mov, Dst::new(reg, missing), &[src], 0));
        }
        program.virtuals[reg.index as usize] = lanes.lanes().last().map_or(1, |l| l + 1);
        let mut copy = Inst::new(Opcode::Mov, Dst::new(Reg::new(File::Output, output), lanes), &[Src::new(reg)], 0);
        copy.normalize();
        insts.push(copy);
    }
    insts.extend(end);
    program.insts = insts;
}
