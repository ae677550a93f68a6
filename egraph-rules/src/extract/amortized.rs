//! Choosing again, with what a plan has paid for already at a discount.
//!
//! In: a graph and a plan. Out: a plan that costs no more. A greedy extractor sees each class by
//! itself and so misses values that pay off only because several users share them. Here each class
//! is chosen anew bottom-up by the sum of its operands' costs, where an operand that the plan has
//! counts by its share: its cost divided by its users, half of it, or nothing at all. The shares
//! follow the plan and the plan the shares, for a few rounds; the best plan on the way is kept.
//!
//! Classes are settled in the order of their cost, and a node counts only when all its operands are
//! settled: so no choice is in a circle, even where discounts make an operand dearer than its user.

use super::graph::{ClassId, Graph, NodeId};
use super::settle::{Settled, Waiting};
use super::{Choice, topological};
use crate::cost::node_cost;
use crate::lang::Head;
use crate::price::{Price, Scratch, price_in};
use cranelift_entity::SecondaryMap;
use ir::Op;
use ir::cost::CostTable;

/// Rounds from one start.
const ROUNDS: usize = 6;

/// How much of its cost a class in the plan counts to another user.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Share {
    /// Divided by its users.
    ByUsers,
    /// Half.
    Half,
    /// Nothing.
    Free,
}

/// Improves the choice in place and returns its price; `None` when it was not a plan.
pub fn reselect(graph: &Graph, costs: &CostTable, choice: &mut Choice) -> Option<Price> {
    let mut scratch = Scratch::default();
    let mut best = price_in(&mut scratch, graph, costs, choice)?;
    let search = Search::new(graph, costs);
    for share in [Share::ByUsers, Share::Half, Share::Free] {
        let mut at = choice.clone();
        for _ in 0..ROUNDS {
            let Some(next) = search.choose_again(&at, share) else { break };
            let Some(new) = price_in(&mut scratch, graph, costs, &next) else { break };
            if next == at {
                break;
            }
            if new.cost() < best.cost() {
                best = new;
                *choice = next.clone();
            }
            at = next;
        }
    }
    Some(best)
}

/// What is the same in all rounds.
struct Search<'a> {
    graph: &'a Graph,
    costs: &'a CostTable,
    waiting: Waiting,
    /// Costs of nodes that do not depend on the plan.
    fixed: SecondaryMap<NodeId, u64>,
}

impl<'a> Search<'a> {
    fn new(graph: &'a Graph, costs: &'a CostTable) -> Search<'a> {
        let mut fixed = SecondaryMap::with_capacity(graph.nodes.len());
        let none = Choice::with_default(None.into());
        for (node, data) in &graph.nodes {
            if data.head != Head::Op(Op::Cat) {
                fixed[node] = node_cost(graph, costs, node, &none);
            }
        }
        Search { graph, costs, waiting: Waiting::new(graph), fixed }
    }

    fn cost(&self, node: NodeId, plan: &Choice) -> u64 {
        match self.graph.nodes[node].head {
            Head::Op(Op::Cat) => node_cost(self.graph, self.costs, node, plan),
            _ => self.fixed[node],
        }
    }

    fn choose_again(&self, plan: &Choice, share: Share) -> Option<Choice> {
        let graph = self.graph;
        let mut users: SecondaryMap<ClassId, u64> = SecondaryMap::with_capacity(graph.classes.len());
        for root in &graph.roots {
            users[root.class] += 1;
        }
        for class in topological(graph, plan)? {
            for &kid in &graph.nodes[plan[class].expand()?].kids {
                users[kid] += 1;
            }
        }
        let settled = self.waiting.settle(graph, |node, below: &Settled<u64>| {
            let mut sum = self.cost(node, plan);
            for kid in graph.nodes[node].distinct_kids() {
                let full = below.rank[kid].unwrap_or(u64::MAX);
                sum = sum.saturating_add(match (share, users[kid]) {
                    (_, 0) => full,
                    (Share::ByUsers, n) => full / n,
                    (Share::Half, _) => full / 2,
                    (Share::Free, _) => full / 64,
                });
            }
            sum
        });
        Some(settled.choice)
    }
}
