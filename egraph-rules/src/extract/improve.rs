//! Local improvement of a choice under the price of the whole plan.
//!
//! In: a graph and a choice. Out: a choice that costs no more. One class at a time tries its other
//! nodes; what lowers the price stays. Rounds and trials are counted, so that the time is bounded
//! and the result can be repeated.

use super::graph::{Graph, NodeId};
use super::issues::Issues;
use super::{Choice, topological};
use crate::price::{Price, Scratch, price_below, price_in};
use cranelift_entity::EntityRef;
use ir::cost::CostTable;

/// How much may still be tried. The searches of one plan draw on one account, so that the time for a
/// large function is bounded however many searches there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// Sweeps of one search over all classes.
    pub rounds: u32,
    /// Classes that may be priced: the work, as a price looks at each class of the plan once.
    pub steps: u64,
}

impl Effort {
    /// Takes the steps of one price; false when there are not as many left.
    pub fn take(&mut self, classes: usize) -> bool {
        let left = self.steps.checked_sub(classes as u64);
        self.steps = left.unwrap_or(0);
        left.is_some()
    }
}

impl Default for Effort {
    fn default() -> Effort {
        Effort { rounds: 4, steps: 500_000 }
    }
}

/// Improves the choice in place and returns its price; `None` when it was not a plan.
pub fn improve(graph: &Graph, costs: &CostTable, choice: &mut Choice, effort: &mut Effort) -> Option<Price> {
    let mut scratch = Scratch::default();
    let mut best = price_in(&mut scratch, graph, costs, choice)?;
    // A trial that failed fails again as long as the plan is the same.
    let mut plans = 1u32;
    let mut failed: Vec<u32> = vec![0; graph.nodes.len()];
    let mut issues = Issues::new(graph, costs, choice);
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
                let Some(old) = choice[class].expand().filter(|&old| old != node && issues.has(class)) else {
                    continue;
                };
                if failed[node.index()] == plans {
                    continue;
                }
                failed[node.index()] = plans;
                // Most trials have more instructions, copies aside: no price need be asked.
                let Some(undo) = issues.try_switch(choice, old, node, best.slots) else { continue };
                if !effort.take(order.len()) {
                    return Some(best);
                }
                choice[class] = node.into();
                match price_below(&mut scratch, graph, costs, choice, best.slots) {
                    Some(new) if new.cost() < best.cost() => {
                        best = new;
                        better = true;
                        plans += 1;
                    }
                    _ => {
                        choice[class] = old.into();
                        issues.undo(choice, undo);
                    }
                }
            }
        }
        if !better {
            break;
        }
    }
    Some(best)
}
