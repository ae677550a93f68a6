//! Any legal choice, by seed. For tests: whatever was chosen, the shader must compute the same.
//!
//! In: a graph and a seed. Out: a selection that is complete and acyclic because a node is taken
//! only after nodes for all its operands were. After Cranelift's chaos mode.

use super::graph::{ClassId, Graph, NodeId};
use super::{Choice, Extractor, Selection};
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use ir::cost::CostTable;

/// The extractor.
#[derive(Clone, Copy, Debug)]
pub struct Chaos {
    /// Same seed, same choice.
    pub seed: u64,
}

/// A small generator (SplitMix64), so that tests need no other crate and repeat everywhere.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// From a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The next number.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n` (0 when `n` is 0).
    pub fn below(&mut self, n: usize) -> usize {
        if n == 0 { 0 } else { (self.draw() % n as u64) as usize }
    }
}

impl Extractor for Chaos {
    fn name(&self) -> &'static str {
        "chaos"
    }

    fn extract(&self, graph: &Graph, costs: &CostTable) -> Selection {
        let mut random = Random::new(self.seed);
        let mut choice: Choice = SecondaryMap::with_default(PackedOption::default());
        let mut open: Vec<ClassId> = graph.classes.keys().collect();
        // Waiting lets nodes with deeper operands become eligible; it ends when nothing else moves.
        let mut may_wait = true;
        while !open.is_empty() {
            let before = open.len();
            for i in (1..open.len()).rev() {
                open.swap(i, random.below(i + 1));
            }
            open.retain(|&class| {
                let ready = |n: &NodeId| graph.nodes[*n].kids.iter().all(|&k| choice[k].is_some());
                let nodes: Vec<NodeId> = graph.classes[class].nodes.iter().copied().filter(ready).collect();
                let all = nodes.len() == graph.classes[class].nodes.len();
                if nodes.is_empty() || (may_wait && !all && random.below(4) != 0) {
                    return true;
                }
                choice[class] = nodes[random.below(nodes.len())].into();
                false
            });
            if open.len() == before && !may_wait {
                break; // classes without any well-founded node; the graph promises there are none
            }
            may_wait = open.len() != before;
        }
        Selection::new(graph, costs, choice)
    }
}
