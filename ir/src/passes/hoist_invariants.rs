//! Loop-invariant code motion: a pure operation whose operands come from outside of a loop moves in
//! front of it. Nothing traps here, so it may move out of a branch, too. Innermost loops go first,
//! so that what leaves one may leave the next.

use crate::analysis::{Cfg, Loops};
use crate::entity::{Block, Inst};
use crate::func::{Function, Terminator};
use crate::pass::{PassCtx, PassError};
use bumpalo::collections::Vec as BumpVec;
use cranelift_entity::EntitySet;

/// Hoists what does not change.
pub fn run(func: &mut Function<'_>, _: &PassCtx) -> Result<bool, PassError> {
    let cfg = Cfg::new(func);
    let loops = Loops::new(func);
    let mut headers = loops.headers().to_vec();
    headers.sort_by_key(|&h| std::cmp::Reverse(loops.depth(h)));
    let mut changed = false;
    for header in headers {
        let outside: Vec<Block> = cfg.preds(header).iter().copied().filter(|&p| !loops.contains(header, p)).collect();
        let [before] = outside[..] else { continue };
        if matches!(func.blocks[before].term, Terminator::Jump(_)) {
            changed |= hoist(func, &loops, header, before);
        }
    }
    Ok(changed)
}

fn hoist(func: &mut Function<'_>, loops: &Loops, header: Block, before: Block) -> bool {
    let Some(start) = func.layout.iter().position(|&b| b == header) else { return false };
    let inside: Vec<Block> = func.layout[start..].iter().copied().take_while(|&b| loops.contains(header, b)).collect();
    let mut varying = EntitySet::with_capacity(func.values.len());
    let mut moved: Vec<Inst> = Vec::new();
    for &block in &inside {
        for &param in &func.blocks[block].params {
            varying.insert(param);
        }
        for &inst in &func.blocks[block].insts {
            if let Some(result) = func.insts[inst].result.expand() {
                varying.insert(result);
            }
        }
    }
    for &block in &inside {
        let mut kept = BumpVec::with_capacity_in(func.blocks[block].insts.len(), func.arena);
        for &inst in &func.blocks[block].insts {
            let data = &func.insts[inst];
            match data.result.expand() {
                Some(result) if data.op.is_pure() && !data.args.iter().any(|&a| varying.contains(a)) => {
                    varying.remove(result);
                    moved.push(inst);
                }
                _ => kept.push(inst),
            }
        }
        func.blocks[block].insts = kept;
    }
    func.blocks[before].insts.extend_from_slice(&moved);
    !moved.is_empty()
}
