//! Def-use: where each value is read.

use crate::entity::{Block, Inst, Value};
use crate::func::{Function, Terminator};
use cranelift_entity::SecondaryMap;
use smallvec::SmallVec;

/// A place that reads a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Use {
    /// An operand of an instruction.
    Inst(Inst),
    /// The condition of a block's branch.
    Cond(Block),
    /// An argument that the first block's terminator hands to the second.
    Arg(Block, Block),
}

/// All uses in blocks of the layout.
#[derive(Debug)]
pub struct Uses {
    uses: SecondaryMap<Value, SmallVec<[Use; 2]>>,
}

impl Uses {
    /// Counts each operand position once.
    pub fn new(func: &Function<'_>) -> Uses {
        let mut uses: SecondaryMap<Value, SmallVec<[Use; 2]>> = SecondaryMap::with_capacity(func.values.len());
        for &block in &func.layout {
            for &inst in &func.blocks[block].insts {
                for &arg in func.insts[inst].args {
                    uses[arg].push(Use::Inst(inst));
                }
            }
            if let Terminator::Branch { cond, .. } = func.blocks[block].term {
                uses[cond].push(Use::Cond(block));
            }
            for call in func.successors(block) {
                for &arg in call.args {
                    uses[arg].push(Use::Arg(block, call.block));
                }
            }
        }
        Uses { uses }
    }

    /// Where a value is read, in layout order.
    pub fn of(&self, value: Value) -> &[Use] {
        self.uses.get(value).map_or(&[], |u| u.as_slice())
    }

    /// How often it is read.
    pub fn count(&self, value: Value) -> usize {
        self.of(value).len()
    }
}
