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

use crate::analysis::Cfg;
use crate::entity::Block;
use crate::func::{Function, Terminator};
use cranelift_entity::EntitySet;

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
