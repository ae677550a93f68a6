//! Sweeps over all nodes until nothing changes, which skip the nodes that have no news.
//!
//! In: a graph, and which classes a visit has changed. Out: nodes in the order in which sweeps from
//! the first node to the last would visit them, each again only when one of its operands has changed
//! since. So a fixed point costs its changes and not the number of sweeps times the graph, however
//! long the chains are that run against the order.

use super::graph::{ClassId, Graph, NodeId};
use cranelift_entity::EntityRef;

/// The nodes that have a class among their operands, each once, smallest number first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parents {
    /// Where the list of each class starts, and behind the last one the end.
    starts: Vec<u32>,
    nodes: Vec<NodeId>,
}

impl Parents {
    /// Of all nodes of a graph.
    pub(crate) fn new(graph: &Graph) -> Parents {
        let mut starts = vec![0u32; graph.classes.len() + 1];
        for node in graph.nodes.values() {
            node.distinct_kids().for_each(|kid| starts[kid.index()] += 1);
        }
        // Counts become ends, and filling from the last node on moves the ends to the starts.
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut nodes = vec![NodeId::new(0); sum as usize];
        for (node, data) in graph.nodes.iter().rev() {
            for kid in data.distinct_kids() {
                starts[kid.index()] -= 1;
                nodes[starts[kid.index()] as usize] = node;
            }
        }
        Parents { starts, nodes }
    }

    /// Of a class.
    pub(crate) fn of(&self, class: ClassId) -> &[NodeId] {
        &self.nodes[self.starts[class.index()] as usize..self.starts[class.index() + 1] as usize]
    }
}

/// The nodes that are still to be visited.
pub(crate) struct Sweep<'a> {
    parents: &'a Parents,
    /// One bit a node.
    marked: Vec<u64>,
    /// Where this sweep is.
    at: usize,
    /// Marked nodes from here on, and those before, which wait for the next sweep.
    ahead: usize,
    behind: usize,
    first_behind: usize,
}

impl<'a> Sweep<'a> {
    /// All nodes are to be visited.
    pub(crate) fn new(nodes: usize, parents: &'a Parents) -> Sweep<'a> {
        let mut marked = vec![u64::MAX; nodes.div_ceil(64)];
        if let Some(last) = marked.last_mut().filter(|_| !nodes.is_multiple_of(64)) {
            *last = (1 << (nodes % 64)) - 1;
        }
        Sweep { parents, marked, at: 0, ahead: nodes, behind: 0, first_behind: usize::MAX }
    }

    /// A class has changed: the nodes above it are visited again.
    pub(crate) fn changed(&mut self, class: ClassId) {
        for &node in self.parents.of(class) {
            let at = node.index();
            let (word, bit) = (&mut self.marked[at / 64], 1 << (at % 64));
            if *word & bit != 0 {
                continue;
            }
            *word |= bit;
            if at >= self.at {
                self.ahead += 1;
            } else {
                self.behind += 1;
                self.first_behind = self.first_behind.min(at);
            }
        }
    }
}

impl Iterator for Sweep<'_> {
    type Item = NodeId;

    fn next(&mut self) -> Option<NodeId> {
        if self.ahead == 0 {
            if self.behind == 0 {
                return None;
            }
            self.at = std::mem::replace(&mut self.first_behind, usize::MAX);
            self.ahead = std::mem::take(&mut self.behind);
        }
        let mut word = self.at / 64;
        let mut bits = self.marked[word] & (u64::MAX << (self.at % 64));
        while bits == 0 {
            word += 1;
            bits = self.marked[word];
        }
        self.marked[word] &= !(bits & bits.wrapping_neg());
        self.ahead -= 1;
        let node = word * 64 + bits.trailing_zeros() as usize;
        self.at = node + 1;
        Some(NodeId::new(node))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::graph::{Kids, Outside};
    use crate::lang::Head;
    use ir::Op;

    /// A chain whose users have the smaller numbers, so that each plain sweep would get one further.
    fn against_the_order(length: usize) -> Graph {
        let mut graph = Graph::default();
        let classes: Vec<ClassId> = (0..length).map(|_| graph.add_class(1)).collect();
        for pair in classes.windows(2) {
            graph.add_node(pair[0], Head::Op(Op::Add), Kids::from_slice(&[pair[1], pair[1]]), Outside::Register);
        }
        graph
    }

    #[test]
    fn a_chain_against_the_order_is_visited_twice() {
        for length in [2, 64, 65, 66, 1000] {
            let graph = against_the_order(length);
            let parents = Parents::new(&graph);
            let mut sweep = Sweep::new(graph.nodes.len(), &parents);
            let mut known = vec![false; length];
            known[length - 1] = true;
            let mut visits = 0;
            while let Some(node) = sweep.next() {
                visits += 1;
                let data = &graph.nodes[node];
                if data.kids.iter().all(|k| known[k.index()])
                    && !std::mem::replace(&mut known[data.class.index()], true)
                {
                    sweep.changed(data.class);
                }
            }
            assert!(known.iter().all(|&k| k));
            assert_eq!(visits, 2 * (length - 1) - 1, "{length}");
        }
    }
}
