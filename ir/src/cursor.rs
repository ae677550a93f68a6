//! Walks all instructions of a function and writes each block's list anew: the cheap way to replace
//! or precede many instructions.

use crate::builder::Builder;
use crate::entity::Inst;
use crate::func::Function;
use bumpalo::collections::Vec as BumpVec;

/// What becomes of the instruction just seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rewrite {
    /// Stays, after what the callback has made.
    Keep,
    /// Is left out. Its result must have been replaced, or have no uses.
    Remove,
}

/// Calls `each` with a builder at the end of the block's new list for every instruction in layout
/// order. What it makes comes before the instruction.
pub fn rewrite_blocks(func: &mut Function<'_>, mut each: impl FnMut(&mut Builder<'_, '_>, Inst) -> Rewrite) {
    for index in 0..func.layout.len() {
        let block = func.layout[index];
        let fresh = BumpVec::with_capacity_in(func.blocks[block].insts.len(), func.arena);
        let old = std::mem::replace(&mut func.blocks[block].insts, fresh);
        for &inst in old.iter() {
            let mut builder = Builder::at_end(func, block);
            builder.line = builder.func.insts[inst].line;
            if each(&mut builder, inst) == Rewrite::Keep {
                func.blocks[block].insts.push(inst);
            }
        }
    }
}
