//! Invariants 1 to 10: bookkeeping, dominance, structure.

use super::Findings;
use crate::analysis::{Cfg, DomTree};
use crate::entity::{Block, Value};
use crate::func::{Function, Terminator, ValueDef};
use crate::op::Op;
use cranelift_entity::{EntitySet, SecondaryMap};

/// Invariants 1 to 4; the others need them.
pub(crate) fn check_bookkeeping(func: &Function<'_>, found: &mut Findings) {
    let Some(&entry) = func.layout.first() else {
        return found.block(1, None, "no blocks");
    };
    check_ids(func, found);
    if !found.errors.is_empty() {
        return;
    }
    if !func.blocks[entry].params.is_empty() {
        found.block(1, Some(entry), "the first block has parameters");
    }
    let mut insts = EntitySet::with_capacity(func.insts.len());
    let mut values: EntitySet<Value> = EntitySet::with_capacity(func.values.len());
    for &block in &func.layout {
        for (i, &param) in func.blocks[block].params.iter().enumerate() {
            let def = ValueDef::Param(block, i as u32);
            if func.values[param].def != def || !values.insert(param) {
                found.block(3, Some(block), format!("parameter {i} is {param}, which does not say so"));
            }
        }
        for &inst in &func.blocks[block].insts {
            if !insts.insert(inst) {
                found.inst(3, func, block, inst, format!("{inst} stands in two places"));
            }
            if let Some(result) = func.insts[inst].result.expand()
                && (func.values[result].def != ValueDef::Inst(inst) || !values.insert(result))
            {
                found.inst(3, func, block, inst, format!("{result} does not name {inst} as its definition"));
            }
        }
        for call in func.successors(block) {
            if call.block == entry {
                found.block(1, Some(block), "a jump to the first block");
            }
            let params = &func.blocks[call.block].params;
            if params.len() != call.args.len() {
                let (n, m) = (call.args.len(), params.len());
                found.block(4, Some(block), format!("{n} arguments for the {m} parameters of {}", call.block));
            }
            for (&arg, &param) in call.args.iter().zip(params) {
                let (has, wants) = (func.ty(arg), func.ty(param));
                if has != wants {
                    found.block(4, Some(block), format!("{arg}: {has} handed to {param}: {wants}"));
                }
            }
        }
    }
}

/// Invariant 2.
fn check_ids(func: &Function<'_>, found: &mut Findings) {
    let mut placed: EntitySet<Block> = EntitySet::with_capacity(func.blocks.len());
    for &block in &func.layout {
        if !func.blocks.is_valid(block) {
            return found.block(2, None, format!("{block} does not exist"));
        }
        if !placed.insert(block) {
            found.block(2, Some(block), "it stands in the layout twice");
        }
    }
    for &block in &func.layout {
        let data = &func.blocks[block];
        let mut used: Vec<Value> = data.params.to_vec();
        for &inst in &data.insts {
            if !func.insts.is_valid(inst) {
                return found.block(2, Some(block), format!("{inst} does not exist"));
            }
            used.extend(func.insts[inst].args);
            used.extend(func.insts[inst].result.expand());
        }
        let mut targets: Vec<Block> = func.successors(block).map(|c| c.block).collect();
        targets.extend(data.loop_merge);
        match data.term {
            Terminator::None => found.block(2, Some(block), "no terminator"),
            Terminator::Branch { cond, merge, .. } => {
                used.push(cond);
                targets.extend(merge);
            }
            _ => {}
        }
        used.extend(func.successors(block).flat_map(|c| c.args.iter().copied()));
        for value in used {
            if !func.values.is_valid(value) {
                found.block(2, Some(block), format!("{value} does not exist"));
            }
        }
        for target in targets {
            if !func.blocks.is_valid(target) || !placed.contains(target) {
                found.block(2, Some(block), format!("{target} is not in the layout"));
            }
        }
    }
}

/// Invariants 6 to 10.
pub(crate) fn check_structure(func: &Function<'_>, cfg: &Cfg, found: &mut Findings) {
    for &block in &func.layout {
        if !cfg.is_reachable(block) {
            found.block(6, Some(block), "it is not reachable");
        }
    }
    let (order, wrong) = crate::structure::walk(func);
    let is_structured = wrong.is_empty();
    for (rule, block, message) in wrong {
        found.block(rule, Some(block), message);
    }
    check_merges(func, cfg, found);
    if is_structured && found.errors.is_empty() && order != func.layout {
        let at = order.iter().zip(&func.layout).position(|(a, b)| a != b).unwrap_or(0);
        found.block(9, func.layout.get(at).copied(), format!("the order of the walk has {:?} here", order.get(at)));
    }
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            if func.insts[inst].op == Op::StoreOutput && !matches!(func.blocks[block].term, Terminator::Return) {
                found.inst(10, func, block, inst, "an output is stored before the last block");
            }
        }
    }
}

/// The second half of invariant 8, and the entry side of 7.
fn check_merges(func: &Function<'_>, cfg: &Cfg, found: &mut Findings) {
    for &block in &func.layout {
        if let Terminator::Branch { merge: Some(merge), .. } = func.blocks[block].term
            && cfg.preds(merge).is_empty()
        {
            found.block(8, Some(block), format!("no side reaches the merge {merge}"));
        }
    }
}

/// Invariant 5.
pub(crate) fn check_dominance(func: &Function<'_>, cfg: &Cfg, found: &mut Findings) {
    let tree = DomTree::new(func, cfg);
    // The defining block and the position in it; parameters come before all instructions.
    let mut places: SecondaryMap<Value, Option<(Block, usize)>> = SecondaryMap::with_capacity(func.values.len());
    for &block in &func.layout {
        for &param in &func.blocks[block].params {
            places[param] = Some((block, 0));
        }
        for (at, &inst) in func.blocks[block].insts.iter().enumerate() {
            if let Some(result) = func.insts[inst].result.expand() {
                places[result] = Some((block, at + 1));
            }
        }
    }
    let reaches = |value: Value, block: Block, at: usize| match places[value] {
        None => false,
        Some((def, place)) if def == block => place <= at,
        Some((def, _)) => tree.dominates(def, block),
    };
    for &block in &func.layout {
        let data = &func.blocks[block];
        for (at, &inst) in data.insts.iter().enumerate() {
            for &arg in func.insts[inst].args {
                if !reaches(arg, block, at) {
                    found.inst(5, func, block, inst, format!("{arg} is not defined on every way to here"));
                }
            }
        }
        let cond = match data.term {
            Terminator::Branch { cond, .. } => Some(cond),
            _ => None,
        };
        let end = data.insts.len();
        for value in cond.into_iter().chain(func.successors(block).flat_map(|c| c.args.iter().copied())) {
            if !reaches(value, block, end) {
                found.block(5, Some(block), format!("{value} is not defined on every way to the terminator"));
            }
        }
    }
}
