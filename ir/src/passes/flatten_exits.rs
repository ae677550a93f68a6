//! Predication of what `flatten-ifs` leaves: branches with ways out of a loop that has no way back,
//! which is what `unroll` makes of a loop that a turn may end at several places.
//!
//! ```text
//!   b0 loop b9: branch c, b9(x), b1        b0: z = select c, x, y
//!   b1: y = ..; jump b9(y)             ->      y = ..
//!   b9(z): ..                                  b9's instructions
//! ```
//!
//! Only for targets without branches, and only when no loop is left: all blocks become one, in their
//! order. Each way between blocks gets a condition, the one under which it is taken. A parameter is a
//! selection among the arguments of its ways, `kil` and stores are selections as in `flatten-ifs`.

use super::flatten_ifs::{Select, move_under};
use crate::analysis::{Cfg, DomTree};
use crate::builder::{Builder, map_uses};
use crate::entity::{Block, Value};
use crate::func::{BlockCall, Function, Terminator};
use crate::op::Op;
use crate::pass::{PassCtx, PassError};
use crate::types::Scalar;
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;

/// Makes one block of all.
pub fn run(func: &mut Function<'_>, ctx: &PassCtx) -> Result<bool, PassError> {
    if ctx.costs.has_branches || func.layout.len() < 2 || has_cycle(func) {
        return Ok(false);
    }
    let cfg = Cfg::new(func);
    let dominators = DomTree::new(func, &cfg);
    let after = post_dominators(func);
    let mut flat = Flat { ways: SecondaryMap::new(), under: SecondaryMap::new(), replaced: SecondaryMap::new() };
    let entry = func.entry();
    for block in func.layout.clone() {
        if block != entry {
            let always = dominators.idom(block).filter(|&d| post_dominates(&after, block, d));
            flat.enter(func, entry, block, always);
            flat.take_insts(func, entry, block, ctx);
        }
        flat.leave(func, entry, block);
    }
    func.blocks[entry].term = Terminator::Return;
    func.blocks[entry].loop_merge = None;
    func.layout.truncate(1);
    map_uses(func, |v| resolve(&flat.replaced, v));
    Ok(true)
}

fn has_cycle(func: &Function<'_>) -> bool {
    let mut place: SecondaryMap<Block, usize> = SecondaryMap::new();
    func.layout.iter().enumerate().for_each(|(at, &b)| place[b] = at);
    func.layout.iter().any(|&b| func.successors(b).any(|to| place[to.block] <= place[b]))
}

/// The block that each one's ways out meet at first; none behind the return.
fn post_dominators(func: &Function<'_>) -> SecondaryMap<Block, PackedOption<Block>> {
    let mut place: SecondaryMap<Block, usize> = SecondaryMap::new();
    func.layout.iter().enumerate().for_each(|(at, &b)| place[b] = at);
    let mut after: SecondaryMap<Block, PackedOption<Block>> = SecondaryMap::new();
    for &block in func.layout.iter().rev() {
        let mut meet: Option<Block> = None;
        for to in func.successors(block) {
            meet = match meet {
                None => Some(to.block),
                Some(other) => common(&place, &after, other, to.block),
            };
        }
        after[block] = meet.into();
    }
    after
}

/// Where the ways from two blocks meet: the later of the two never comes before it.
fn common(
    place: &SecondaryMap<Block, usize>,
    after: &SecondaryMap<Block, PackedOption<Block>>,
    mut a: Block,
    mut b: Block,
) -> Option<Block> {
    while a != b {
        if place[a] > place[b] {
            std::mem::swap(&mut a, &mut b);
        }
        a = after[a].expand()?;
    }
    Some(a)
}

fn post_dominates(after: &SecondaryMap<Block, PackedOption<Block>>, block: Block, mut from: Block) -> bool {
    while let Some(next) = after[from].expand() {
        if next == block {
            return true;
        }
        from = next;
    }
    false
}

fn resolve(replaced: &SecondaryMap<Value, PackedOption<Value>>, mut value: Value) -> Value {
    while let Some(next) = replaced[value].expand() {
        value = next;
    }
    value
}

/// A way into a block: the condition under which it is taken (none: always), and its arguments.
#[derive(Clone, Default)]
struct Way {
    under: Option<Value>,
    args: Vec<Value>,
}

struct Flat {
    /// Ways into blocks that are still to come.
    ways: SecondaryMap<Block, Vec<Way>>,
    /// Under which condition a block that was entered runs.
    under: SecondaryMap<Block, PackedOption<Value>>,
    replaced: SecondaryMap<Value, PackedOption<Value>>,
}

impl Flat {
    /// Selects the block's parameters, and finds the condition under which it runs: that of `always`,
    /// a block after which it runs for certain, or else of any of its ways.
    fn enter(&mut self, func: &mut Function<'_>, entry: Block, block: Block, always: Option<Block>) {
        let ways = std::mem::take(&mut self.ways[block]);
        let mut builder = Builder::at_end(func, entry);
        if let Some((last, others)) = ways.split_last() {
            let params: Vec<Value> = builder.func.blocks[block].params.to_vec();
            for (at, param) in params.into_iter().enumerate() {
                let mut value = last.args[at];
                for way in others.iter().rev().filter(|w| w.args[at] != last.args[at]) {
                    let Some(cond) = way.under else { continue };
                    value = Select::new(cond).pick(&mut builder, true, way.args[at], value);
                }
                self.replaced[param] = value.into();
            }
        }
        let any = |a: Option<Value>, b: Option<Value>| match (a, b) {
            (Some(a), Some(b)) => Some(builder.op(Op::Or, &[a, b])),
            _ => None,
        };
        self.under[block] = match always {
            Some(before) => self.under[before],
            None => ways.iter().map(|w| w.under).reduce(any).flatten().into(),
        };
    }

    /// Moves the block's instructions to the end of the entry.
    fn take_insts(&mut self, func: &mut Function<'_>, entry: Block, block: Block, ctx: &PassCtx) {
        let none = bumpalo::collections::Vec::new_in(func.arena);
        let insts = std::mem::replace(&mut func.blocks[block].insts, none);
        let mut select = self.under[block].expand().map(Select::new);
        for inst in insts {
            let args: Vec<Value> = func.insts[inst].args.iter().map(|&a| resolve(&self.replaced, a)).collect();
            func.set_args(inst, &args);
            move_under(func, entry, inst, select.as_mut().map(|s| (s, true)), ctx);
        }
    }

    /// Makes the ways out of the block.
    fn leave(&mut self, func: &mut Function<'_>, entry: Block, block: Block) {
        let under = self.under[block].expand();
        match func.blocks[block].term {
            Terminator::None | Terminator::Return => {}
            Terminator::Jump(call) => self.add(call, under),
            Terminator::Branch { cond, then_call, else_call, .. } => {
                let mut builder = Builder::at_end(func, entry);
                let cond = truth(&mut builder, resolve(&self.replaced, cond));
                let not = builder.op(Op::Not, &[cond]);
                let both = |builder: &mut Builder<'_, '_>, c| match under {
                    Some(under) => builder.op(Op::And, &[under, c]),
                    None => c,
                };
                let (then, other) = (both(&mut builder, cond), both(&mut builder, not));
                self.add(then_call, Some(then));
                self.add(else_call, Some(other));
            }
        }
    }

    fn add(&mut self, call: BlockCall<'_>, under: Option<Value>) {
        let args = call.args.iter().map(|&a| resolve(&self.replaced, a)).collect();
        self.ways[call.block].push(Way { under, args });
    }
}

/// A condition as a bool.
fn truth(builder: &mut Builder<'_, '_>, cond: Value) -> Value {
    if builder.func.ty(cond).scalar == Scalar::Bool {
        return cond;
    }
    let zero = builder.splat_const(builder.func.ty(cond), 0.0);
    builder.op(Op::Sne, &[cond, zero])
}
