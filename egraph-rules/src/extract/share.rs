//! Gathers of lanes that another gather brings together anyway become swizzles of it.
//!
//! In: a graph and a plan. Out: a plan that costs no more. The price already counts such a gather as
//! free; here the plan says so, so that selection need not find it again.

use super::graph::{ClassId, Graph, Kids, Outside};
use super::improve::Effort;
use super::seeds::{Homes, Places};
use super::{Choice, topological};
use crate::lang::Head;
use crate::price::{Kind, Lane, Resolved, price, resolve};
use ir::Op;
use ir::cost::CostTable;
use ir::types::Swizzle;

/// Most gathers that are compared, pair by pair.
const MAX_GATHERS: usize = 200;

/// Rewrites the plan. Returns how many gathers became swizzles.
pub fn share_gathers(graph: &mut Graph, choice: &mut Choice, costs: &CostTable, places: Places) -> Option<u32> {
    if !costs.free_swizzle {
        return Some(0);
    }
    let mut shared = 0;
    let mut best = price(graph, costs, choice)?;
    let plan = resolve(graph, costs, choice)?;
    let homes = Homes::new(graph, choice, &plan, places);
    let all: Vec<ClassId> =
        plan.order.iter().copied().filter(|&c| plan.kind[c] == Some(Kind::Gather)).take(MAX_GATHERS).collect();
    let lanes: Vec<Vec<Lane>> = all.iter().map(|&c| gathered(graph, choice, &plan, c)).collect();
    let mut gone = vec![false; all.len()];
    let mut effort = Effort::default();
    for (i, &small) in all.iter().enumerate() {
        for (j, &large) in all.iter().enumerate() {
            let wider = (lanes[j].len(), std::cmp::Reverse(j)) > (lanes[i].len(), std::cmp::Reverse(i));
            if i == j || gone[j] || !wider || !homes.may_replace(graph, large, small) {
                continue;
            }
            let picks: Option<Vec<u8>> =
                lanes[i].iter().map(|l| lanes[j].iter().position(|m| m == l).map(|at| at as u8)).collect();
            let Some(picks) = picks else { continue };
            if !effort.take(plan.order.len()) {
                return Some(shared);
            }
            let old = choice[small];
            let head = Head::Swz(Swizzle::new(&picks));
            let node = graph.add_node(small, head, Kids::from_slice(&[large]), Outside::Register);
            choice[small] = node.into();
            match price(graph, costs, choice) {
                Some(new) if new.cost() <= best.cost() => {
                    best = new;
                    gone[i] = true;
                    shared += 1;
                    break;
                }
                _ => {
                    choice[small] = old;
                    graph.classes[small].nodes.pop();
                }
            }
        }
    }
    topological(graph, choice).map(|_| shared)
}

/// The lanes of a gather as the plan has them; none when a part is itself a gather.
fn gathered(graph: &Graph, choice: &Choice, plan: &Resolved, class: ClassId) -> Vec<Lane> {
    let Some(node) = choice[class].expand().map(|n| &graph.nodes[n]) else { return Vec::new() };
    debug_assert!(node.head == Head::Op(Op::Cat));
    node.kids.iter().flat_map(|&k| plan.lanes[k].iter().copied()).collect()
}
