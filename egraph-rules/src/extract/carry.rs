//! A plan of a smaller graph, found again in a larger one.
//!
//! In: a graph with its plan, and the graph of the same e-graph after more rewriting, with any plan.
//! Out: a plan of the larger graph that chooses as the first one did. Rewriting only adds nodes and
//! joins classes, so the plan is still there; nodes are found by what they do and their operands'
//! new classes. What is not found (a seed pack, a class that became a literal) stays as the larger
//! graph's own plan has it.

use super::graph::{ClassId, Graph, Kids, NodeId};
use super::{Choice, topological};
use crate::lang::Head;
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use rustc_hash::FxHashMap;

/// The plan `choice` of `small` in `large`, filled up by `fallback`; `None` when that is no plan.
pub fn carry(small: &Graph, choice: &Choice, large: &Graph, fallback: &Choice) -> Option<Choice> {
    let mut index: FxHashMap<(Head, &Kids), NodeId> = FxHashMap::default();
    for (id, node) in &large.nodes {
        index.entry((node.head, &node.kids)).or_insert(id);
    }
    let mut class_of: SecondaryMap<ClassId, PackedOption<ClassId>> = SecondaryMap::new();
    // Roots come in the order of the function in both graphs.
    if small.roots.len() == large.roots.len() {
        for (a, b) in small.roots.iter().zip(&large.roots) {
            class_of[a.class] = b.class.into();
        }
    }
    let mut carried = fallback.clone();
    for class in topological(small, choice)? {
        let node = &small.nodes[choice[class].expand()?];
        let kids: Option<Kids> = node.kids.iter().map(|&k| class_of[k].expand()).collect();
        let Some(found) = kids.and_then(|kids| index.get(&(node.head, &kids)).copied()) else { continue };
        let to = large.nodes[found].class;
        class_of[class] = to.into();
        carried[to] = found.into();
    }
    topological(large, &carried).map(|_| carried)
}
