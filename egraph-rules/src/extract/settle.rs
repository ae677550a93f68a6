//! Choosing bottom-up in the order of rank (Knuth, "A generalization of Dijkstra's algorithm",
//! 1977).
//!
//! In: a graph, and a rank for a node whose operands are settled. Out: the rank and the node of each
//! class that can be reached from leaves. A class is settled by the node of least rank among those
//! whose operands are, and so each node is ranked once, and no choice is in a circle. Where ranks are
//! above those of the operands, each class has the least rank that any choice gives it.

use super::Choice;
use super::graph::{ClassId, Graph, NodeId};
use super::sweep::Parents;
use cranelift_entity::{EntityRef, SecondaryMap};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Who waits for whom, the same in all choices on a graph.
pub(crate) struct Waiting {
    parents: Parents,
    /// How many different operands each node has.
    kids: Vec<u32>,
    leaves: Vec<NodeId>,
}

/// What is settled so far.
pub(crate) struct Settled<R: Clone> {
    pub(crate) rank: SecondaryMap<ClassId, Option<R>>,
    pub(crate) choice: Choice,
}

impl Waiting {
    /// Of a graph.
    pub(crate) fn new(graph: &Graph) -> Waiting {
        let kids = graph.nodes.values().map(|n| n.distinct_kids().count() as u32).collect();
        let leaves = graph.nodes.iter().filter(|(_, n)| n.kids.is_empty()).map(|(id, _)| id).collect();
        Waiting { parents: Parents::new(graph), kids, leaves }
    }

    /// Settles all classes. Of equal ranks the smaller node goes first.
    pub(crate) fn settle<R: Ord + Copy>(
        &self,
        graph: &Graph,
        rank_of: impl Fn(NodeId, &Settled<R>) -> R,
    ) -> Settled<R> {
        let mut settled = Settled {
            rank: SecondaryMap::with_capacity(graph.classes.len()),
            choice: SecondaryMap::with_default(None.into()),
        };
        settled.choice.resize(graph.classes.len());
        let mut waits = self.kids.clone();
        let first: Vec<_> = self.leaves.iter().map(|&leaf| Reverse((rank_of(leaf, &settled), leaf))).collect();
        let mut heap = BinaryHeap::from(first);
        while let Some(Reverse((rank, node))) = heap.pop() {
            let class = graph.nodes[node].class;
            if settled.rank[class].is_some() {
                continue;
            }
            settled.rank[class] = Some(rank);
            settled.choice[class] = node.into();
            for &parent in self.parents.of(class) {
                let left = &mut waits[parent.index()];
                *left -= 1;
                if *left == 0 && settled.rank[graph.nodes[parent].class].is_none() {
                    heap.push(Reverse((rank_of(parent, &settled), parent)));
                }
            }
        }
        settled
    }
}
