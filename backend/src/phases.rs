//! Lookups in few groups, for targets that bound how lookups depend on each other.
//!
//! In: straight machine code over virtual registers. Out: the same instructions; first all that need no
//! lookup, then the lookups among them, then what needs only those, and so on. So a lookup's result
//! takes the place of an older one only when that is of an earlier group, and the order of dependence is
//! at most the number of groups. Inside of a group the order stays.

use crate::mach::{Inst, Opcode, Program};
use crate::schedule;

/// Groups the lookups of a program without control flow; any other stays as it is.
pub fn group_lookups(program: &mut Program) {
    if program.insts.iter().any(|i| i.op.is_flow() && i.op != Opcode::End) {
        return;
    }
    let ends = program.insts.last().is_some_and(|i| i.op == Opcode::End);
    let code = program.insts.len() - usize::from(ends);
    let insts = &program.insts[..code];
    let mut phase = vec![0u32; code];
    for (at, succs) in schedule::dependences(program, 0..code).iter().enumerate() {
        for &succ in succs {
            let later = &insts[succ as usize];
            phase[succ as usize] = phase[succ as usize].max(phase[at] + u32::from(takes_lookup(&insts[at], later)));
        }
    }
    let is_lookup = |inst: &Inst| inst.op.is_texture() || inst.op == Opcode::Kil;
    let mut order: Vec<usize> = (0..code).collect();
    order.sort_by_key(|&at| (phase[at], is_lookup(&insts[at]))); // stable
    let grouped: Vec<Inst> = order.iter().map(|&at| insts[at].clone()).collect();
    program.insts[..code].clone_from_slice(&grouped);
}

/// Whether the later one reads what the earlier one looks up.
fn takes_lookup(earlier: &Inst, later: &Inst) -> bool {
    let reads = |d: crate::mach::Dst| later.srcs.iter().any(|s| s.reg == d.reg);
    earlier.op.is_texture() && earlier.dst.is_some_and(reads)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate;
    use crate::mach::{Dst, File, Reg, Src, TexInfo};
    use ir::types::{Stage, TexDim, WriteMask};

    #[test]
    fn lookups_that_need_nothing_come_first() {
        let mut program = Program::new(Stage::Fragment, "t");
        let reg = |n| Reg::new(File::Virtual, n);
        let tex = |to, from| {
            let mut inst = Inst::new(Opcode::Tex, Dst::new(reg(to), WriteMask::ALL), &[Src::new(from)], 0);
            inst.tex = Some(TexInfo { sampler: 0, dim: TexDim::D2, shadow: false });
            inst
        };
        let mul = |to, from| Inst::new(Opcode::Mul, Dst::new(reg(to), WriteMask::ALL), &[Src::new(reg(from)); 2], 0);
        let input = Reg::new(File::Input, 0);
        program.virtuals = vec![4; 6];
        // one register after the other, as an allocator would reuse them
        program.insts = vec![tex(0, input), mul(1, 0), tex(2, input), mul(3, 2), tex(4, reg(3)), mul(5, 4)];
        program.insts.push(Inst::flow(Opcode::End, &[], 0));
        group_lookups(&mut program);
        let order: Vec<String> = program.insts.iter().map(|i| i.op.mnemonic().to_owned()).collect();
        assert_eq!(order, ["TEX", "TEX", "MUL", "MUL", "TEX", "MUL", "END"]);
        assert_eq!(estimate::dependence(&program.insts), 1);
    }
}
