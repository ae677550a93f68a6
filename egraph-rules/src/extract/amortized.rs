//! Choosing again, with what a plan has paid for already at a discount.
//!
//! In: a graph and a plan. Out: a plan that costs no more. A greedy extractor sees each class by
//! itself and so misses values that pay off only because several users share them. Here each class
//! is chosen anew bottom-up by the sum of its operands' costs, where an operand that the plan has
//! counts by its share: its cost divided by its users, half of it, or nothing at all. The shares
//! follow the plan and the plan the shares, for a few rounds; the best plan on the way is kept.
//!
//! Classes are settled in the order of their cost (Knuth, "A generalization of Dijkstra's
//! algorithm", 1977), and a node counts only when all its operands are settled: so no choice is in a
//! circle, even where discounts make an operand dearer than its user.

use super::graph::{ClassId, Graph, NodeId};
use super::{Choice, topological};
use crate::cost::node_cost;
use crate::price::{Price, price};
use cranelift_entity::SecondaryMap;
use ir::cost::CostTable;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

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
    let mut best = price(graph, costs, choice)?;
    let parents = parents(graph);
    for share in [Share::ByUsers, Share::Half, Share::Free] {
        let mut at = choice.clone();
        for _ in 0..ROUNDS {
            let Some(next) = choose_again(graph, costs, &at, share, &parents) else { break };
            let Some(new) = price(graph, costs, &next) else { break };
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

/// The nodes that have a class among their operands, each once.
fn parents(graph: &Graph) -> SecondaryMap<ClassId, Vec<NodeId>> {
    let mut parents: SecondaryMap<ClassId, Vec<NodeId>> = SecondaryMap::new();
    for (node, data) in &graph.nodes {
        for &kid in &data.kids {
            if parents[kid].last() != Some(&node) {
                parents[kid].push(node);
            }
        }
    }
    parents
}

fn choose_again(
    graph: &Graph,
    costs: &CostTable,
    plan: &Choice,
    share: Share,
    parents: &SecondaryMap<ClassId, Vec<NodeId>>,
) -> Option<Choice> {
    let mut users: SecondaryMap<ClassId, u64> = SecondaryMap::with_default(0);
    for root in &graph.roots {
        users[root.class] += 1;
    }
    for class in topological(graph, plan)? {
        for &kid in &graph.nodes[plan[class].expand()?].kids {
            users[kid] += 1;
        }
    }
    let mut waits: SecondaryMap<NodeId, u32> = SecondaryMap::with_default(0);
    let mut cost: SecondaryMap<ClassId, Option<u64>> = SecondaryMap::new();
    let mut choice = Choice::with_default(None.into());
    let mut heap = BinaryHeap::new();
    let distinct = |node: NodeId| {
        let kids = &graph.nodes[node].kids;
        (0..kids.len()).filter(move |&i| !kids[..i].contains(&kids[i])).map(move |i| kids[i])
    };
    for (node, _) in &graph.nodes {
        waits[node] = distinct(node).count() as u32;
        if waits[node] == 0 {
            heap.push(Reverse((node_cost(graph, costs, node, plan), node)));
        }
    }
    while let Some(Reverse((total, node))) = heap.pop() {
        let class = graph.nodes[node].class;
        if cost[class].is_some() {
            continue;
        }
        cost[class] = Some(total);
        choice[class] = node.into();
        for &parent in &parents[class] {
            waits[parent] -= 1;
            if waits[parent] > 0 || cost[graph.nodes[parent].class].is_some() {
                continue;
            }
            let mut sum = node_cost(graph, costs, parent, plan);
            for kid in distinct(parent) {
                let full = cost[kid].unwrap_or(u64::MAX);
                sum = sum.saturating_add(match (share, users[kid]) {
                    (_, 0) => full,
                    (Share::ByUsers, n) => full / n,
                    (Share::Half, _) => full / 2,
                    (Share::Free, _) => full / 64,
                });
            }
            heap.push(Reverse((sum, parent)));
        }
    }
    Some(choice)
}
