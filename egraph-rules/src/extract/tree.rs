//! Bottom-up extraction by the cost of the term: egg's own method, the baseline.
//!
//! In: a graph. Out: for each class the node of the least tree cost; ties go to fewer leaves, then
//! to the smallest node number. A shared value is counted at each of its uses, so the choice may
//! cost more than needed once it is shared.

use super::graph::{ClassId, Graph, NodeId};
use super::sweep::{Parents, Sweep};
use super::{Choice, Extractor, Selection};
use crate::cost::node_cost;
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use ir::cost::CostTable;

/// The extractor.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tree;

/// Cost, height where costs have saturated, leaves, node: compared in this order. A class's cost and
/// height together are always above those of its operands, so that no circle can be chosen; without
/// the height a long chain of doublings would reach the largest cost and lose that.
type Rank = (u64, u64, u64, NodeId);

impl Extractor for Tree {
    fn name(&self) -> &'static str {
        "tree"
    }

    fn extract(&self, graph: &Graph, costs: &CostTable) -> Selection {
        let mut best: SecondaryMap<ClassId, Option<Rank>> = SecondaryMap::with_capacity(graph.classes.len());
        let mut choice: Choice = SecondaryMap::with_default(PackedOption::default());
        let parents = Parents::new(graph);
        let mut sweep = Sweep::new(graph.nodes.len(), &parents);
        while let Some(node) = sweep.next() {
            let data = &graph.nodes[node];
            let mut cost = 0u64;
            let mut leaves = u64::from(data.kids.is_empty());
            let mut height = 0u64;
            let known = data.kids.iter().all(|&kid| match best[kid] {
                Some((kid_cost, kid_height, kid_leaves, _)) => {
                    cost = cost.saturating_add(kid_cost);
                    height = height.max(kid_height + 1);
                    leaves = leaves.saturating_add(kid_leaves);
                    true
                }
                None => false,
            });
            if !known {
                continue;
            }
            // At least one more than each operand, so that no circle is ever cheaper.
            let own = node_cost(graph, costs, node, &choice).max(u64::from(!data.kids.is_empty()));
            let cost = cost.saturating_add(own);
            let rank = (cost, if cost == u64::MAX { height } else { 0 }, leaves, node);
            if best[data.class].is_none_or(|old| rank < old) {
                best[data.class] = Some(rank);
                choice[data.class] = node.into();
                sweep.changed(data.class);
            }
        }
        Selection::new(graph, costs, choice)
    }
}
