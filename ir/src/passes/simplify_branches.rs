//! Removes branches that decide nothing, and joins what then runs straight on.
//!
//! 1. A condition known as a literal, or by a branch on the same value that dominates this one: a
//!    jump. Branches stay in a loop that would become endless.
//! 2. Both sides empty and with equal arguments: a jump to the merge.
//! 3. A condition `not c`: `c` with the sides exchanged.
//! 4. A loop that nothing continues: no loop.
//! 5. A jump to a block that nothing else goes to: one block.
//!
//! 6. A bool parameter of a merge that is true from the first side and false from the second: the
//!    condition (or `not` of it, the other way round).
//!
//! Repeats until nothing changes, at most `pass-rounds` times.

use crate::analysis::{Cfg, DomTree, Uses};
use crate::builder::{Builder, Replacements};
use crate::entity::{Block, Value};
use crate::func::{BlockCall, Function, Terminator};
use crate::op::Op;
use crate::pass::{PassCtx, PassError};
use crate::structure::{fold_branches, restructure};
use crate::types::Type;
use cranelift_entity::EntitySet;
use rustc_hash::FxHashMap;

/// The pass.
pub fn run(func: &mut Function<'_>, ctx: &PassCtx) -> Result<bool, PassError> {
    let mut changed = false;
    for _ in 0..ctx.limits.rounds {
        let mut now = exchange_negated(func);
        let decisions = known_conditions(func);
        now |= fold_branches(func, &decisions);
        now |= name_conditions(func);
        now |= drop_empty_branches(func);
        now |= drop_loops(func);
        now |= join_blocks(func);
        if !now {
            break;
        }
        changed = true;
    }
    Ok(changed)
}

/// `v` or the operand of `not`s above it, and whether their number is odd.
fn strip_not(func: &Function<'_>, mut value: Value) -> (Value, bool) {
    let mut odd = false;
    while let Some(data) = func.def_inst(value)
        && data.op == Op::Not
    {
        value = data.args[0];
        odd = !odd;
    }
    (value, odd)
}

fn exchange_negated(func: &mut Function<'_>) -> bool {
    let mut changed = false;
    for index in 0..func.layout.len() {
        let block = func.layout[index];
        let Terminator::Branch { cond, then_call, else_call, merge } = func.blocks[block].term else { continue };
        let (stripped, odd) = strip_not(func, cond);
        if stripped != cond {
            let (then_call, else_call) = if odd { (else_call, then_call) } else { (then_call, else_call) };
            func.blocks[block].term = Terminator::Branch { cond: stripped, then_call, else_call, merge };
            changed = true;
        }
    }
    if changed {
        restructure(func);
    }
    changed
}

fn known_conditions(func: &Function<'_>) -> Vec<(Block, bool)> {
    let cfg = Cfg::new(func);
    let tree = DomTree::new(func, &cfg);
    // What holds in a block and all that it dominates; overwritten once the walk has left.
    let mut facts: FxHashMap<Value, (bool, Block)> = FxHashMap::default();
    let mut decisions = Vec::new();
    for &block in tree.preorder() {
        if let [pred] = cfg.preds(block)
            && let Terminator::Branch { cond, then_call, .. } = func.blocks[*pred].term
        {
            let (value, odd) = strip_not(func, cond);
            let is_known = facts.get(&value).is_some_and(|&(_, home)| tree.dominates(home, block));
            if !is_known {
                facts.insert(value, ((then_call.block == block) != odd, block));
            }
        }
        let Terminator::Branch { cond, .. } = func.blocks[block].term else { continue };
        let (value, odd) = strip_not(func, cond);
        if let Some(literal) = func.literal(value) {
            decisions.push((block, (literal.lane(0) != 0.0) != odd));
        } else if let Some(&(holds, home)) = facts.get(&value)
            && tree.dominates(home, block)
        {
            decisions.push((block, holds != odd));
        }
    }
    decisions
}

/// The arguments that the two sides of a branch hand to its merge, when each reaches it once.
fn side_args<'a>(func: &Function<'a>, cfg: &Cfg, block: Block) -> Option<(Block, [&'a [Value]; 2])> {
    let Terminator::Branch { then_call, else_call, merge: Some(merge), .. } = func.blocks[block].term else {
        return None;
    };
    // Layout order puts the first side's last block before the second's.
    let jump_args = |pred: Block| func.successors(pred).find(|c| c.block == merge).map(|c| c.args);
    let (then_direct, else_direct) = (then_call.block == merge, else_call.block == merge);
    match cfg.preds(merge) {
        [_, _] if then_direct && else_direct => Some((merge, [then_call.args, else_call.args])),
        &[a, b] if then_direct => Some((merge, [then_call.args, jump_args(if a == block { b } else { a })?])),
        &[a, b] if else_direct => Some((merge, [jump_args(if a == block { b } else { a })?, else_call.args])),
        &[a, b] => Some((merge, [jump_args(a)?, jump_args(b)?])),
        _ => None,
    }
}

fn name_conditions(func: &mut Function<'_>) -> bool {
    let cfg = Cfg::new(func);
    let mut names = Replacements::new();
    let mut uses = None;
    for index in 0..func.layout.len() {
        let block = func.layout[index];
        let Terminator::Branch { cond, .. } = func.blocks[block].term else { continue };
        let Some((merge, [yes, no])) = side_args(func, &cfg, block) else { continue };
        if func.ty(cond) != Type::BOOL {
            continue;
        }
        let mut negated = None;
        for at in 0..func.blocks[merge].params.len() {
            let param = func.blocks[merge].params[at];
            let truth = |v: Value| func.literal(v).map(|l| l.lane(0) != 0.0);
            let (Some(yes), Some(no)) = (truth(yes[at]), truth(no[at])) else { continue };
            if func.ty(param) != Type::BOOL || yes == no {
                continue;
            }
            if uses.get_or_insert_with(|| Uses::new(func)).count(param) == 0 {
                continue;
            }
            let name = match (yes, negated) {
                (true, _) => cond,
                (false, Some(known)) => known,
                (false, None) => {
                    let fresh = Builder::at_start(func, merge).op(Op::Not, &[cond]);
                    negated = Some(fresh);
                    fresh
                }
            };
            names.set(param, name);
        }
    }
    names.apply(func)
}

/// Where a side ends up when it does nothing: its call, or the jump of an empty block behind it.
fn effective<'a>(func: &Function<'a>, cfg: &Cfg, call: BlockCall<'a>) -> (Block, Vec<Value>) {
    let side = &func.blocks[call.block];
    if let Terminator::Jump(next) = side.term
        && side.insts.is_empty()
        && side.loop_merge.is_none()
        && cfg.preds(call.block).len() == 1
    {
        let hand_on = |&arg: &Value| match side.params.iter().position(|&p| p == arg) {
            Some(i) => call.args[i],
            None => arg,
        };
        return (next.block, next.args.iter().map(hand_on).collect());
    }
    (call.block, call.args.to_vec())
}

fn drop_empty_branches(func: &mut Function<'_>) -> bool {
    let cfg = Cfg::new(func);
    let mut changed = false;
    // From the inside out, so that a branch around a dropped one may follow in the next round.
    for index in (0..func.layout.len()).rev() {
        let block = func.layout[index];
        let Terminator::Branch { then_call, else_call, .. } = func.blocks[block].term else { continue };
        let (target, args) = effective(func, &cfg, then_call);
        if (target, &args) == (effective(func, &cfg, else_call).0, &effective(func, &cfg, else_call).1) {
            func.blocks[block].term = Terminator::Jump(func.call(target, &args));
            changed = true;
        }
    }
    if changed {
        restructure(func);
    }
    changed
}

/// A loop whose header only its entry reaches runs once. When one jump leaves it, that jump goes
/// straight on; when two leave it from the two sides of its last branch, that branch meets where the
/// loop would end.
fn drop_loops(func: &mut Function<'_>) -> bool {
    let cfg = Cfg::new(func);
    let mut changed = false;
    for index in 0..func.layout.len() {
        let header = func.layout[index];
        let Some(merge) = func.blocks[header].loop_merge else { continue };
        if cfg.preds(header).len() != 1 {
            continue;
        }
        match cfg.preds(merge).len() {
            1 => {
                func.blocks[header].loop_merge = None;
                changed = true;
            }
            2 => {
                let Some(last) = spine_end(func, header, merge) else { continue };
                if let Terminator::Branch { merge: end, .. } = &mut func.blocks[last].term {
                    *end = Some(merge);
                    func.blocks[header].loop_merge = None;
                    changed = true;
                }
            }
            _ => {}
        }
    }
    if changed {
        restructure(func);
    }
    changed
}

/// The last block of the straight way through a loop's body, if it is a branch without a merge.
fn spine_end(func: &Function<'_>, header: Block, end: Block) -> Option<Block> {
    let mut block = header;
    // Each step goes on in the layout, so this ends.
    for _ in 0..func.layout.len() {
        block = match func.blocks[block].term {
            Terminator::Branch { merge: None, .. } => return Some(block),
            Terminator::Branch { merge: Some(merge), .. } => merge,
            Terminator::Jump(call) if call.block != end => call.block,
            _ => return None,
        };
        // Past inner loops; the block behind one may head the next.
        while let Some(behind) = func.blocks[block].loop_merge {
            block = behind;
        }
    }
    None
}

fn join_blocks(func: &mut Function<'_>) -> bool {
    let cfg = Cfg::new(func);
    let mut merges: EntitySet<Block> = EntitySet::with_capacity(func.blocks.len());
    for &block in &func.layout {
        merges.extend(func.blocks[block].loop_merge);
        if let Terminator::Branch { merge: Some(merge), .. } = func.blocks[block].term {
            merges.insert(merge);
        }
    }
    let mut joined: EntitySet<Block> = EntitySet::with_capacity(func.blocks.len());
    let mut handed = Replacements::new();
    for index in 0..func.layout.len() {
        let block = func.layout[index];
        if joined.contains(block) {
            continue;
        }
        while let Terminator::Jump(call) = func.blocks[block].term {
            let next = call.block;
            let alone = cfg.preds(next).len() == 1 && !merges.contains(next);
            if !alone || next == block || func.blocks[next].loop_merge.is_some() {
                break;
            }
            for (i, &arg) in call.args.iter().enumerate() {
                handed.set(func.blocks[next].params[i], arg);
            }
            let insts = std::mem::replace(&mut func.blocks[next].insts, bumpalo::vec![in func.arena]);
            func.blocks[block].insts.extend(insts);
            func.blocks[block].term = std::mem::replace(&mut func.blocks[next].term, Terminator::None);
            joined.insert(next);
        }
    }
    if joined.is_empty() {
        return false;
    }
    func.layout.retain(|&b| !joined.contains(b));
    handed.apply(func);
    true
}
