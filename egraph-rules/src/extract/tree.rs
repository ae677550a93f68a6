//! Bottom-up extraction by the cost of the term: egg's own method, the baseline.
//!
//! In: a graph. Out: for each class the node of the least tree cost; ties go to fewer leaves, then
//! to the smallest node number. A shared value is counted at each of its uses, so the choice may
//! cost more than needed once it is shared.

use super::graph::Graph;
use super::settle::{Settled, Waiting};
use super::{Extractor, Selection};
use crate::cost::node_cost;
use ir::cost::CostTable;

/// The extractor.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tree;

/// Cost, height where costs have saturated, leaves: compared in this order, then by the node. A class's cost and
/// height together are always above those of its operands, so that no circle can be chosen; without
/// the height a long chain of doublings would reach the largest cost and lose that.
type Rank = (u64, u64, u64);

impl Extractor for Tree {
    fn name(&self) -> &'static str {
        "tree"
    }

    fn extract(&self, graph: &Graph, costs: &CostTable) -> Selection {
        let settled = Waiting::new(graph).settle(graph, |node, below: &Settled<Rank>| {
            let kids = &graph.nodes[node].kids;
            // At least one more than each operand, so that no circle is ever cheaper.
            let own = node_cost(graph, costs, node, &below.choice).max(u64::from(!kids.is_empty()));
            let (mut cost, mut height, mut leaves) = (own, 0u64, u64::from(kids.is_empty()));
            for &kid in kids {
                let (kid_cost, kid_height, kid_leaves) = below.rank[kid].unwrap_or((u64::MAX, 0, 0));
                cost = cost.saturating_add(kid_cost);
                height = height.max(kid_height + 1);
                leaves = leaves.saturating_add(kid_leaves);
            }
            (cost, if cost == u64::MAX { height } else { 0 }, leaves)
        });
        Selection::new(graph, costs, settled.choice)
    }
}
