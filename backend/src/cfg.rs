//! The basic blocks of structured machine code.

use crate::mach::{Inst, Opcode};
use smallvec::SmallVec;
use std::ops::Range;

/// A block: instructions that run one after the other, and where control may go next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BasicBlock {
    /// Positions in the program; a block that ends with flow includes that instruction.
    pub insts: Range<usize>,
    /// Blocks by number.
    pub succs: SmallVec<[u32; 2]>,
    /// How many loops it sits in.
    pub loop_depth: u32,
}

/// Cuts a program into blocks, in order. A `CAL` ends one, so that nothing moves over it. Unbalanced flow is cut as far as it goes.
pub fn blocks(insts: &[Inst]) -> Vec<BasicBlock> {
    let ends = |op: Opcode| {
        use Opcode::{Brk, Cal, Cont, Else, End, EndLoop, If, Ret};
        matches!(op, If | Else | EndLoop | Brk | Cont | Cal | Ret | End)
    };
    let starts = |op: Opcode| matches!(op, Opcode::Loop | Opcode::EndIf);
    let mut at: Vec<usize> = Vec::new();
    for (i, inst) in insts.iter().enumerate() {
        if i == 0 || starts(inst.op) || ends(insts[i - 1].op) {
            at.push(i);
        }
    }
    let mut block_of = vec![0u32; insts.len() + 1];
    for (b, &start) in at.iter().enumerate() {
        let end = at.get(b + 1).copied().unwrap_or(insts.len());
        block_of[start..end].fill(b as u32);
    }
    block_of[insts.len()] = at.len() as u32;
    let targets = targets(insts);
    let mut depth = 0u32;
    let mut out = Vec::with_capacity(at.len());
    for (b, &start) in at.iter().enumerate() {
        let end = at.get(b + 1).copied().unwrap_or(insts.len());
        if insts[start].op == Opcode::Loop {
            depth += 1;
        }
        let mut succs: SmallVec<[u32; 2]> = SmallVec::new();
        let mut add = |pos: usize| {
            if pos < insts.len() && !succs.contains(&block_of[pos]) {
                succs.push(block_of[pos]);
            }
        };
        let last = end - 1;
        match insts[last].op {
            Opcode::If => {
                add(end);
                add(targets[last]);
            }
            Opcode::Else | Opcode::EndLoop | Opcode::Brk | Opcode::Cont => add(targets[last]),
            Opcode::Ret | Opcode::End => {}
            _ => add(end),
        }
        out.push(BasicBlock { insts: start..end, succs, loop_depth: depth });
        if insts[last].op == Opcode::EndLoop {
            depth = depth.saturating_sub(1);
        }
    }
    out
}

/// For each flow instruction the position that it may jump to: IF past its ELSE, or to its ENDIF;
/// ELSE to its ENDIF; ENDLOOP and CONT to their LOOP; BRK past its ENDLOOP.
pub fn targets(insts: &[Inst]) -> Vec<usize> {
    let mut targets = vec![insts.len(); insts.len()];
    let mut ifs: Vec<usize> = Vec::new();
    let mut loops: Vec<(usize, Vec<usize>)> = Vec::new();
    for (i, inst) in insts.iter().enumerate() {
        match inst.op {
            Opcode::If => ifs.push(i),
            Opcode::Else => {
                if let Some(open) = ifs.last_mut() {
                    targets[*open] = i + 1;
                    *open = i;
                }
            }
            Opcode::EndIf => {
                if let Some(open) = ifs.pop() {
                    targets[open] = i;
                }
            }
            Opcode::Loop => loops.push((i, Vec::new())),
            Opcode::Cont => targets[i] = loops.last().map_or(insts.len(), |l| l.0),
            Opcode::Brk => {
                if let Some(open) = loops.last_mut() {
                    open.1.push(i);
                }
            }
            Opcode::EndLoop => {
                if let Some((start, breaks)) = loops.pop() {
                    targets[i] = start;
                    breaks.into_iter().for_each(|b| targets[b] = i + 1);
                }
            }
            _ => {}
        }
    }
    targets
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(ops: &[Opcode]) -> Vec<Inst> {
        ops.iter().map(|&op| Inst::flow(op, &[], 0)).collect()
    }

    #[test]
    fn loop_with_a_branch() {
        use Opcode::{Brk, Else, End, EndIf, EndLoop, If, Kil, Loop};
        //               0     1    2   3    4    5      6    7        8
        let code = flow(&[Loop, Kil, If, Kil, Else, Brk, EndIf, EndLoop, End]);
        let blocks = blocks(&code);
        let shape: Vec<(Range<usize>, Vec<u32>, u32)> =
            blocks.iter().map(|b| (b.insts.clone(), b.succs.to_vec(), b.loop_depth)).collect();
        assert_eq!(
            shape,
            [(0..3, vec![1, 2], 1), (3..5, vec![3], 1), (5..6, vec![4], 1), (6..8, vec![0], 1), (8..9, vec![], 0)]
        );
    }
}
