//! Computes each value once: an instruction that equals one in a block which dominates it is replaced
//! by that. Also merges block parameters that always get the same arguments.
//!
//! Walks the dominator tree in preorder with one table. When the walk has left the subtree of an
//! entry's block, the entry never dominates again and may be overwritten, so the table needs no
//! scopes. Equal means: opcode, immediate, result type, and operands after replacement, in either
//! order where the opcode commutes (that keeps every bit: sums and products commute, NaNs count as
//! equal).
//!
//! Operations with implicit derivatives merge into a dominating equal one like pure ones; nothing
//! moves. Loads merge inside a block while nothing stores to their array.

use crate::analysis::{Cfg, DomTree};
use crate::builder::Replacements;
use crate::entity::{Block, Value, Var};
use crate::func::{Function, Imm};
use crate::op::{Effect, Op};
use crate::pass::{PassCtx, PassError};
use crate::types::Type;
use cranelift_entity::SecondaryMap;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

#[derive(PartialEq, Eq, Hash)]
struct Key {
    op: Op,
    imm: Imm,
    ty: Type,
    args: SmallVec<[Value; 4]>,
    /// Tells states of memory apart; 0 for everything but loads.
    memory: u32,
}

/// The pass. What was replaced keeps standing without uses; `eliminate-dead-code` removes it.
pub fn run(func: &mut Function<'_>, _: &PassCtx) -> Result<bool, PassError> {
    let cfg = Cfg::new(func);
    let tree = DomTree::new(func, &cfg);
    let mut same = Replacements::new();
    let mut table: FxHashMap<Key, (Value, Block)> = FxHashMap::default();
    let mut memory = Memory::default();
    let mut edges: SecondaryMap<Block, SmallVec<[&[Value]; 2]>> = SecondaryMap::with_capacity(func.blocks.len());
    for &block in &func.layout {
        for call in func.successors(block) {
            edges[call.block].push(call.args);
        }
    }
    for &block in tree.preorder() {
        merge_params(func, block, &edges[block], &mut same);
        memory.enter_block();
        for &inst in &func.blocks[block].insts {
            let data = &func.insts[inst];
            if let (Op::Store, Imm::Elem { var, .. }) = (data.op, data.imm) {
                memory.store(var);
            }
            if data.op == Op::Call {
                memory.enter_block(); // another call's results come next
            }
            let Some(result) = data.result.expand() else { continue };
            let state = match (data.op.effect(), data.imm) {
                (Effect::Pure | Effect::Implicit, _) => 0,
                (Effect::Read, Imm::Elem { var, .. }) => memory.state(var),
                _ => continue,
            };
            let mut args: SmallVec<[Value; 4]> = data.args.iter().map(|&a| same.get(a)).collect();
            if data.op.is_commutative() && args[0] > args[1] {
                args.swap(0, 1);
            }
            let key = Key { op: data.op, imm: data.imm, ty: func.ty(result), args, memory: state };
            match table.get(&key) {
                Some(&(first, home)) if tree.dominates(home, block) => same.set(result, first),
                _ => {
                    table.insert(key, (result, block));
                }
            }
        }
    }
    Ok(same.apply(func))
}

/// Numbers the states of each array, anew in each block.
#[derive(Default)]
struct Memory {
    next: u32,
    start: u32,
    states: SecondaryMap<Var, u32>,
}

impl Memory {
    fn enter_block(&mut self) {
        self.next += 1;
        self.start = self.next;
    }

    fn store(&mut self, var: Var) {
        self.next += 1;
        self.states[var] = self.next;
    }

    fn state(&self, var: Var) -> u32 {
        self.states.get(var).copied().unwrap_or(0).max(self.start)
    }
}

fn merge_params(func: &Function<'_>, block: Block, edges: &[&[Value]], same: &mut Replacements) {
    let params = &func.blocks[block].params;
    if params.len() < 2 || edges.is_empty() {
        return;
    }
    let mut seen: FxHashMap<(Type, SmallVec<[Value; 4]>), Value> = FxHashMap::default();
    for (i, &param) in params.iter().enumerate() {
        let args: SmallVec<[Value; 4]> = edges.iter().map(|e| same.get(e[i])).collect();
        match seen.get(&(func.ty(param), args.clone())) {
            Some(&first) => same.set(param, first),
            None => {
                seen.insert((func.ty(param), args), param);
            }
        }
    }
}
