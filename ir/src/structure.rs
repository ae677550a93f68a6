//! The structured walk: the one definition of which jumps are structured, and of the layout's order.
//! The verifier checks against it; passes that change control flow call [`restructure`] to bring
//! layout and merges back in line.
//!
//! The walk keeps, for the region that a block stands in, the three places where a jump may end it:
//!
//! ```text
//! region of            falls to      continues at   leaves to
//! the entry            -             -              -
//! a loop's body        -             header         loop_merge
//! a branch's side      its merge     as outside     as outside
//! ```
//!
//! Any other jump goes on straight to a block that nothing else goes to.

use crate::analysis::{Cfg, Loops};
use crate::entity::Block;
use crate::func::{Function, Terminator};
use cranelift_entity::{EntitySet, SecondaryMap};

/// Where jumps of a region may end it.
#[derive(Clone, Copy, Debug, Default)]
struct Region {
    /// Inside a branch or loop, where no `Return` may stand.
    nested: bool,
    falls: Option<Block>,
    header: Option<Block>,
    leaves: Option<Block>,
}

impl Region {
    fn ends_at(&self, block: Block) -> bool {
        [self.falls, self.header, self.leaves].contains(&Some(block))
    }
}

/// What the walk found wrong: the invariant's number, where, and a sentence.
pub(crate) type Finding = (u32, Block, String);

/// The blocks in structured order, and what is wrong with the structure. Entities exist.
pub(crate) fn walk(func: &Function<'_>) -> (Vec<Block>, Vec<Finding>) {
    let mut order = Vec::with_capacity(func.layout.len());
    let mut wrong: Vec<Finding> = Vec::new();
    let Some(&entry) = func.layout.first() else { return (order, wrong) };
    let mut seen: EntitySet<Block> = EntitySet::with_capacity(func.blocks.len());
    let mut merges: EntitySet<Block> = EntitySet::with_capacity(func.blocks.len());
    let mut returned = false;
    let mut todo: Vec<(Block, Region)> = vec![(entry, Region::default())];
    while let Some((block, mut region)) = todo.pop() {
        if !seen.insert(block) {
            wrong.push((7, block, format!("{block} is reached by jumps that are not structured")));
            continue;
        }
        order.push(block);
        let data = &func.blocks[block];
        if let Some(merge) = data.loop_merge {
            if !merges.insert(merge) || merge == block {
                wrong.push((8, block, format!("{merge} is the merge of two constructs, or of itself")));
            } else {
                todo.push((merge, region));
            }
            region = Region { nested: true, falls: None, header: Some(block), leaves: Some(merge) };
        }
        match data.term {
            Terminator::None => {}
            Terminator::Return => {
                if region.nested {
                    wrong.push((10, block, "`return` inside a branch or loop".to_string()));
                }
                if returned {
                    wrong.push((10, block, "a second `return`".to_string()));
                }
                returned = true;
            }
            Terminator::Jump(call) => {
                if !region.ends_at(call.block) {
                    todo.push((call.block, region));
                }
            }
            Terminator::Branch { then_call, else_call, merge, .. } => {
                if let Some(merge) = merge {
                    if !merges.insert(merge) || merge == block || region.ends_at(merge) {
                        wrong.push((8, block, format!("{merge} is the merge of two constructs, or of itself")));
                        continue;
                    }
                    todo.push((merge, region));
                }
                let side = Region { nested: true, falls: merge, ..region };
                for call in [else_call, then_call] {
                    if !side.ends_at(call.block) {
                        todo.push((call.block, side));
                    }
                }
            }
        }
    }
    if !returned {
        wrong.push((10, entry, "no `return`".to_string()));
    }
    (order, wrong)
}

/// After edges were removed or straightened: drops blocks that are no longer reached, forgets merges
/// that no side reaches, and lays the rest out in order. The result is valid if every remaining jump
/// is structured.
pub fn restructure(func: &mut Function<'_>) {
    let cfg = Cfg::new(func);
    for index in 0..func.layout.len() {
        let block = func.layout[index];
        if let Terminator::Branch { merge, .. } = &mut func.blocks[block].term
            && merge.is_some_and(|m| !cfg.is_reachable(m))
        {
            *merge = None;
        }
    }
    func.layout = walk(func).0;
}

/// Turns branches whose condition is known into jumps: `(block, goes to the first)`. Then drops what
/// is no longer reached. Decisions are left out where they would leave a loop without an end: what
/// stands behind it must stay reachable by real jumps, or its operands would no longer dominate it.
/// Returns whether anything changed.
pub fn fold_branches(func: &mut Function<'_>, decisions: &[(Block, bool)]) -> bool {
    let mut taken: SecondaryMap<Block, Option<bool>> = SecondaryMap::new();
    for &(block, first) in decisions {
        taken[block] = Some(first);
    }
    let mut left = decisions.len();
    let loops = Loops::new(func);
    while left > 0 {
        let reached = reach_with(func, &taken);
        let mut dropped = 0;
        for &header in loops.headers() {
            let Some(merge) = func.blocks[header].loop_merge else { continue };
            if !reached.contains(header) || reached.contains(merge) {
                continue;
            }
            for &(block, _) in decisions {
                if taken[block].is_some() && loops.contains(header, block) {
                    taken[block] = None;
                    dropped += 1;
                }
            }
        }
        left -= dropped;
        if dropped == 0 {
            break;
        }
    }
    let mut changed = false;
    for &(block, _) in decisions {
        let Some(first) = taken[block] else { continue };
        if let Terminator::Branch { then_call, else_call, .. } = func.blocks[block].term {
            func.blocks[block].term = Terminator::Jump(if first { then_call } else { else_call });
            changed = true;
        }
    }
    if changed {
        restructure(func);
    }
    changed
}

/// The blocks that the entry reaches by jumps alone when some branches are decided.
fn reach_with(func: &Function<'_>, taken: &SecondaryMap<Block, Option<bool>>) -> EntitySet<Block> {
    let mut reached = EntitySet::with_capacity(func.blocks.len());
    let mut todo = vec![func.entry()];
    while let Some(block) = todo.pop() {
        if !reached.insert(block) {
            continue;
        }
        for (i, call) in func.successors(block).enumerate() {
            let is_open = match taken[block] {
                Some(first) if matches!(func.blocks[block].term, Terminator::Branch { .. }) => (i == 0) == first,
                _ => true,
            };
            if is_open {
                todo.push(call.block);
            }
        }
    }
    reached
}
