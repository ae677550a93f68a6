//! What a node costs by itself, as far as that can be said: the sum that the extractors lower.
//!
//! In: a target's [`CostTable`]. Out: a `u64`: slots * 65,536 + latency * 64 + a guess at registers
//! (design notes, section 6). What a gather costs depends on what was chosen for its parts, so
//! those are looked up through the choice made so far; what depends on *all* uses of a value (which
//! gather gets a part for free, whether a saturation folds) is in [`crate::price`].

use crate::extract::Choice;
use crate::extract::graph::{ClassId, Graph, GraphNode, NodeId, Outside};
use crate::lang::{Head, Leaf};
use ir::Op;
use ir::cost::CostTable;
use ir::op::Shape;
use smallvec::SmallVec;

/// One issue slot.
pub const SLOT: u64 = 1 << 16;

/// One cycle of latency.
pub const LATENCY: u64 = 1 << 6;

/// Deeper than any chain of lane nodes that makes sense; a guard against circles in a choice.
const MAX_CHAIN: usize = 16;

/// The cost of an instruction of `op` with `lanes` lanes.
pub fn issue(costs: &CostTable, op: Op, lanes: u8) -> u64 {
    let (slots, latency) = costs.op(op).map_or((1000, 0), |c| (c.slots, c.latency));
    let issues = if op.shape() == Shape::ScalarUnit { u64::from(lanes) } else { 1 };
    u64::from(slots) * issues * SLOT + u64::from(latency) * LATENCY + 1
}

/// The cost of a copy.
pub fn copy(costs: &CostTable) -> u64 {
    issue(costs, Op::Mov, 4)
}

/// The cost of a node, given what is chosen for its operands.
pub fn node_cost(graph: &Graph, costs: &CostTable, node: NodeId, choice: &Choice) -> u64 {
    let data = &graph.nodes[node];
    let width = graph.classes[data.class].width;
    match data.head {
        Head::Lit(_) | Head::Leaf(_) => 0,
        Head::Swz(_) => 1 + if costs.free_swizzle { 0 } else { copy(costs) },
        Head::Op(Op::Neg) => 1 + if costs.free_neg { 0 } else { copy(costs) },
        Head::Op(Op::Abs) => 1 + if costs.free_abs { 0 } else { copy(costs) },
        Head::Op(Op::Sat) => 1 + if costs.free_sat { 0 } else { copy(costs) },
        Head::Op(Op::Cat) => 2 + gather_moves(graph, data, choice) * copy(costs),
        Head::Op(op) => issue(costs, op, width),
        Head::At { op, .. } => issue(costs, op, 1),
        Head::Txl { .. } => issue(costs, Op::Txl, 4),
    }
}

/// Copies that a gather needs when every part computed by an instruction goes where it likes.
fn gather_moves(graph: &Graph, cat: &GraphNode, choice: &Choice) -> u64 {
    let mut sources: SmallVec<[(Source, bool); 4]> = SmallVec::new();
    let mut all: SmallVec<[ClassId; 4]> = SmallVec::new();
    let mut negated = false;
    for &part in &cat.kids {
        let (source, base, modified) = source_of(graph, part, choice);
        negated |= modified;
        if !all.contains(&base) {
            all.push(base);
        }
        if source != Source::Computed || modified {
            let key = if source == Source::Literal { Source::Literal } else { Source::Class(base) };
            if !sources.contains(&(key, modified)) {
                sources.push((key, modified));
            }
        }
    }
    if all.len() == 1 && !negated { 0 } else { sources.len() as u64 }
}

/// What stands behind a part of a gather.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Source {
    Literal,
    Computed,
    Fixed,
    Class(ClassId),
}

/// Looks through lane nodes and modifiers. The flag tells whether a modifier was among them.
fn source_of(graph: &Graph, class: ClassId, choice: &Choice) -> (Source, ClassId, bool) {
    let mut at = class;
    let mut modified = false;
    for _ in 0..MAX_CHAIN {
        let Some(node) = choice[at].expand() else { break };
        let node = &graph.nodes[node];
        match node.head {
            Head::Swz(_) => at = node.kids[0],
            Head::Op(Op::Neg | Op::Abs) => {
                modified = true;
                at = node.kids[0];
            }
            Head::Lit(_) => return (Source::Literal, at, false),
            Head::Leaf(Leaf::Value { .. }) if node.outside == Outside::Alu => return (Source::Computed, at, modified),
            Head::Leaf(_) | Head::At { .. } | Head::Txl { .. } => return (Source::Fixed, at, modified),
            Head::Op(_) => return (Source::Computed, at, modified),
        }
    }
    (Source::Computed, at, modified)
}
