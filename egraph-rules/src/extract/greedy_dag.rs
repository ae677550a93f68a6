//! Greedy extraction by the cost of the graph: each class keeps the set of classes that its choice
//! reaches, with their costs, so that a value used twice is paid once.
//!
//! In: a graph. Out: a selection; ties go to fewer classes, then to the smallest node number. The
//! method is the "faster greedy DAG" of extraction-gym (a worklist over parents in place of sweeps
//! over all nodes). It is not optimal: a class settles on what is cheapest for itself.

use super::graph::{ClassId, Graph, NodeId};
use super::sweep::Parents;
use super::{Choice, Extractor, Selection, topological, tree::Tree};
use crate::cost::node_cost;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityRef, SecondaryMap};
use ir::cost::CostTable;
use std::collections::VecDeque;

/// The extractor.
#[derive(Clone, Copy, Debug, Default)]
pub struct GreedyDag;

/// What a class costs with all that it reaches.
#[derive(Clone, Debug, Default)]
struct CostSet {
    /// The classes reached, the class itself included, as bits.
    reached: Vec<u64>,
    count: u32,
    total: u64,
    node: Option<NodeId>,
}

/// Above this many classes the sets would take too much memory (their size is the square of it);
/// the tree's choice is taken instead.
const MAX_CLASSES: usize = 16_384;

/// Sums over sets of up to this many classes are taken afresh each time, so that they follow changes
/// below.
const MAX_SUMMED: u32 = 1024;

/// Updates a class at most this often for each of its nodes, so that costs that depend on what is
/// chosen below cannot keep the worklist busy for ever.
const MAX_UPDATES: u32 = 8;

impl Extractor for GreedyDag {
    fn name(&self) -> &'static str {
        "dag-greedy"
    }

    fn extract(&self, graph: &Graph, costs: &CostTable) -> Selection {
        let tree = Tree.extract(graph, costs);
        if graph.classes.len() > MAX_CLASSES {
            return tree;
        }
        let mut own: SecondaryMap<ClassId, u64> = SecondaryMap::with_capacity(graph.classes.len());
        let mut sets: SecondaryMap<ClassId, CostSet> = SecondaryMap::with_capacity(graph.classes.len());
        let mut choice: Choice = SecondaryMap::with_default(PackedOption::default());
        let mut updates: SecondaryMap<ClassId, u32> = SecondaryMap::with_capacity(graph.classes.len());
        let parents = Parents::new(graph);
        let mut queued: SecondaryMap<NodeId, bool> = SecondaryMap::with_capacity(graph.nodes.len());
        let mut work: VecDeque<NodeId> = VecDeque::new();
        for (node, data) in &graph.nodes {
            if data.kids.is_empty() {
                queued[node] = true;
                work.push_back(node);
            }
        }
        while let Some(node) = work.pop_front() {
            queued[node] = false;
            let data = &graph.nodes[node];
            let class = data.class;
            let own_cost = node_cost(graph, costs, node, &choice);
            let Some(new) = cost_set(graph, node, own_cost, &sets, &own) else { continue };
            let old = &sets[class];
            let better = match old.node {
                None => true,
                Some(chosen) => {
                    (new.total, new.count, node) < (old.total, old.count, chosen)
                        && updates[class] <= MAX_UPDATES * graph.classes[class].nodes.len() as u32
                }
            };
            if better {
                updates[class] += 1;
                sets[class] = new;
                own[class] = own_cost;
                choice[class] = node.into();
                for &parent in parents.of(class) {
                    if !std::mem::replace(&mut queued[parent], true) {
                        work.push_back(parent);
                    }
                }
            }
        }
        // A choice below may have changed after a set above was built, so a circle is possible in
        // principle, and so is a sum above the tree's. The tree's choice has neither.
        match topological(graph, &choice) {
            Some(_) => {
                let dag = Selection::new(graph, costs, choice);
                if dag.dag_cost <= tree.dag_cost { dag } else { tree }
            }
            None => tree,
        }
    }
}

/// The set of a node: the union of its operands' sets and its class. `None` while an operand has no
/// choice, or when it needs the class.
fn cost_set(
    graph: &Graph,
    node: NodeId,
    own_cost: u64,
    sets: &SecondaryMap<ClassId, CostSet>,
    own: &SecondaryMap<ClassId, u64>,
) -> Option<CostSet> {
    let data = &graph.nodes[node];
    let (word, bit) = (data.class.index() / 64, 1u64 << (data.class.index() % 64));
    let mut reached: Vec<u64> = Vec::new();
    for &kid in &data.kids {
        let set = &sets[kid];
        set.node?;
        if set.reached.get(word).is_some_and(|w| w & bit != 0) {
            return None;
        }
        if reached.len() < set.reached.len() {
            reached.resize(set.reached.len(), 0);
        }
        for (to, from) in reached.iter_mut().zip(&set.reached) {
            *to |= from;
        }
    }
    // Long sets: only what the largest operand does not reach is added to that one's sum, or the work
    // for a chain would be the square of its length.
    let largest = data.kids.iter().map(|&kid| &sets[kid]).max_by_key(|set| set.count);
    let paid = largest.filter(|set| set.count > MAX_SUMMED);
    let mut total = own_cost.saturating_add(paid.map_or(0, |set| set.total));
    let mut count = 1 + paid.map_or(0, |set| set.count);
    for (i, &bits) in reached.iter().enumerate() {
        let mut left = bits & !paid.and_then(|set| set.reached.get(i)).copied().unwrap_or(0);
        while left != 0 {
            let class = ClassId::new(i * 64 + left.trailing_zeros() as usize);
            total = total.saturating_add(own[class]);
            count += 1;
            left &= left - 1;
        }
    }
    if reached.len() <= word {
        reached.resize(word + 1, 0);
    }
    reached[word] |= bit;
    Some(CostSet { reached, count, total, node: Some(node) })
}
