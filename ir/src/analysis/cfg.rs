//! Predecessors, and the blocks that can be reached in reverse postorder.
//!
//! The block after a loop counts as a successor of the loop's header even when no jump goes there
//! (an endless loop), so that what follows stays in place.

use crate::entity::Block;
use crate::func::Function;
use cranelift_entity::{EntitySet, SecondaryMap};
use smallvec::SmallVec;

/// The control flow graph backwards.
#[derive(Debug)]
pub struct Cfg {
    preds: SecondaryMap<Block, SmallVec<[Block; 2]>>,
    postorder: Vec<Block>,
    reachable: EntitySet<Block>,
}

impl Cfg {
    /// Of the blocks that the entry reaches.
    pub fn new(func: &Function<'_>) -> Cfg {
        let mut cfg = Cfg {
            preds: SecondaryMap::with_capacity(func.blocks.len()),
            postorder: Vec::with_capacity(func.layout.len()),
            reachable: EntitySet::with_capacity(func.blocks.len()),
        };
        let Some(&entry) = func.layout.first() else { return cfg };
        // Depth-first with a stack of its own: shaders may be long, the machine's stack is not.
        let mut stack = vec![(entry, successors(func, entry))];
        cfg.reachable.insert(entry);
        while let Some((block, rest)) = stack.last_mut() {
            match rest.pop() {
                Some(next) => {
                    if cfg.reachable.insert(next) {
                        stack.push((next, successors(func, next)));
                    }
                }
                None => {
                    cfg.postorder.push(*block);
                    stack.pop();
                }
            }
        }
        for &block in &func.layout {
            if cfg.reachable.contains(block) {
                for call in func.successors(block) {
                    cfg.preds[call.block].push(block);
                }
            }
        }
        cfg
    }

    /// The blocks that jump to a block, one entry an edge, in layout order.
    pub fn preds(&self, block: Block) -> &[Block] {
        self.preds.get(block).map_or(&[], |p| p.as_slice())
    }

    /// Whether the entry reaches it.
    pub fn is_reachable(&self, block: Block) -> bool {
        self.reachable.contains(block)
    }

    /// Reachable blocks, each after the blocks that it leads to by forward edges.
    pub fn postorder(&self) -> &[Block] {
        &self.postorder
    }
}

/// Successors in reverse, the block after a loop first, so that popping visits in order.
fn successors(func: &Function<'_>, block: Block) -> SmallVec<[Block; 3]> {
    let mut list: SmallVec<[Block; 3]> = func.blocks[block].loop_merge.into_iter().collect();
    let calls: SmallVec<[Block; 2]> = func.successors(block).map(|c| c.block).collect();
    list.extend(calls.into_iter().rev());
    list
}
