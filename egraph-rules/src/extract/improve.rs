//! Local improvement of a choice under the price of the whole plan.
//!
//! In: a graph and a choice. Out: a choice that costs no more. One class at a time tries its other
//! nodes; what lowers the price stays. Rounds and trials are counted, so that the time is bounded
//! and the result can be repeated.

use super::graph::{Graph, NodeId};
use super::{Choice, topological};
use crate::price::{Price, price};
use ir::cost::CostTable;

/// How much to try.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// Sweeps over all classes.
    pub rounds: u32,
    /// Classes priced in all: the work, as a price looks at each class of the plan once.
    pub steps: u64,
}

impl Default for Effort {
    fn default() -> Effort {
        Effort { rounds: 4, steps: 400_000 }
    }
}

/// Improves the choice in place and returns its price; `None` when it was not a plan.
pub fn improve(graph: &Graph, costs: &CostTable, choice: &mut Choice, effort: Effort) -> Option<Price> {
    let mut best = price(graph, costs, choice)?;
    let mut steps = 0u64;
    for _ in 0..effort.rounds {
        let mut better = false;
        let order = topological(graph, choice)?;
        // Users first: what a user takes decides which operands matter.
        for &class in order.iter().rev() {
            let nodes: &[NodeId] = &graph.classes[class].nodes;
            if nodes.len() < 2 {
                continue;
            }
            for &node in nodes {
                let old = choice[class];
                if old == node.into() {
                    continue;
                }
                steps += order.len() as u64;
                if steps > effort.steps {
                    return Some(best);
                }
                choice[class] = node.into();
                match price(graph, costs, choice) {
                    Some(new) if new.cost() < best.cost() => {
                        best = new;
                        better = true;
                    }
                    _ => choice[class] = old,
                }
            }
        }
        if !better {
            break;
        }
    }
    Some(best)
}
