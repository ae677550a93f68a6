//! Choosing one node a class: the trait, the choice and its check.
//!
//! In: a [`Graph`] (legal nodes only) and a target's costs. Out: a [`Selection`]. Every selection
//! goes through [`check`], which shares nothing with the extractors but the cost of a single node.
//!
//! | extractor | what it lowers |
//! |---|---|
//! | [`tree::Tree`] | the cost of the term, shared values counted at each use |
//! | [`greedy_dag::GreedyDag`] | the cost of the graph, shared values counted once, class by class |
//! | [`chaos::Chaos`] | nothing: any legal choice, for tests |

pub mod amortized;
pub mod carry;
pub mod chaos;
pub mod graph;
pub mod greedy_dag;
pub mod improve;
mod issues;
pub mod seeds;
mod settle;
pub mod share;
mod sweep;
pub mod tree;

use crate::cost::node_cost;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityRef, SecondaryMap};
use graph::{ClassId, Graph, NodeId};
use ir::cost::CostTable;
use std::fmt;

/// The node of each class, where there is one.
pub type Choice = SecondaryMap<ClassId, PackedOption<NodeId>>;

/// A way to choose.
pub trait Extractor {
    /// The name in pipelines and reports.
    fn name(&self) -> &'static str;

    /// Chooses a node for every class that the roots reach (others may have one too).
    fn extract(&self, graph: &Graph, costs: &CostTable) -> Selection;
}

/// A choice and what it costs.
#[derive(Clone, Debug)]
pub struct Selection {
    /// The nodes.
    pub choice: Choice,
    /// The sum over all classes that the roots reach, each once.
    pub dag_cost: u64,
}

impl Selection {
    /// A selection of a choice, with its cost.
    ///
    /// # Panics
    /// When the choice is incomplete or has a circle, which is an extractor's mistake.
    pub fn new(graph: &Graph, costs: &CostTable, choice: Choice) -> Selection {
        let order = topological(graph, &choice).expect("extractors choose complete and acyclic");
        let mut dag_cost = 0u64;
        for class in order {
            let node = choice[class].expand().expect("classes of the order are chosen");
            dag_cost = dag_cost.saturating_add(node_cost(graph, costs, node, &choice));
        }
        Selection { choice, dag_cost }
    }
}

/// What is wrong with a selection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SelectionError {
    /// A class that is needed has no node.
    Incomplete(ClassId),
    /// The node chosen for a class belongs to another.
    Foreign(ClassId),
    /// A class needs itself.
    Cyclic(ClassId),
    /// The cost that the extractor gave is not the cost.
    Cost {
        /// As given.
        given: u64,
        /// As counted.
        counted: u64,
    },
}

impl fmt::Display for SelectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SelectionError::Incomplete(class) => write!(f, "{class} is needed and has no node"),
            SelectionError::Foreign(class) => write!(f, "the node of {class} is of another class"),
            SelectionError::Cyclic(class) => write!(f, "{class} needs itself"),
            SelectionError::Cost { given, counted } => write!(f, "cost {given} given, {counted} counted"),
        }
    }
}

impl std::error::Error for SelectionError {}

/// Classes that the roots reach, operands first; `None` when a class lacks a node or needs itself.
pub fn topological(graph: &Graph, choice: &Choice) -> Option<Vec<ClassId>> {
    let mut walk = Walk::default();
    walk.run(graph, choice)?;
    Some(walk.order)
}

/// Depth-first walks over plans, with room used again from one to the next.
#[derive(Debug, Default)]
pub(crate) struct Walk {
    /// Operands first, after a walk that ended well.
    pub(crate) order: Vec<ClassId>,
    /// Per class twice the number of the walk that left it, and one less in the walk that is at it.
    state: Vec<u32>,
    stack: Vec<(ClassId, u32)>,
    walks: u32,
}

impl Walk {
    /// Walks; `None` when a class lacks a node or needs itself.
    pub(crate) fn run(&mut self, graph: &Graph, choice: &Choice) -> Option<()> {
        self.walks += 1;
        let (open, done) = (2 * self.walks - 1, 2 * self.walks);
        if self.state.len() < graph.classes.len() {
            self.state.resize(graph.classes.len(), 0);
        }
        self.order.clear();
        self.stack.clear();
        for root in &graph.roots {
            if self.state[root.class.index()] < open {
                self.state[root.class.index()] = open;
                self.stack.push((root.class, 0));
            }
            while let Some(&mut (class, ref mut next)) = self.stack.last_mut() {
                let node = choice[class].expand()?;
                match graph.nodes[node].kids.get(*next as usize) {
                    Some(&kid) => {
                        *next += 1;
                        let state = &mut self.state[kid.index()];
                        if *state < open {
                            *state = open;
                            self.stack.push((kid, 0));
                        } else if *state == open {
                            return None;
                        }
                    }
                    None => {
                        self.state[class.index()] = done;
                        self.order.push(class);
                        self.stack.pop();
                    }
                }
            }
        }
        Some(())
    }
}

/// Checks a selection: complete, each node of its class, acyclic, legal, cost as counted here.
/// Legality is the graph's own invariant, so what is checked is that nodes are the graph's.
pub fn check(graph: &Graph, costs: &CostTable, selection: &Selection) -> Result<(), SelectionError> {
    // Peeling instead of the extractors' depth-first walk: a class leaves when its operands have.
    let mut needed: Vec<ClassId> = Vec::new();
    let mut seen: SecondaryMap<ClassId, bool> = SecondaryMap::new();
    let mut work: Vec<ClassId> = graph.roots.iter().map(|r| r.class).collect();
    while let Some(class) = work.pop() {
        if std::mem::replace(&mut seen[class], true) {
            continue;
        }
        let node = selection.choice[class].expand().ok_or(SelectionError::Incomplete(class))?;
        if !graph.classes[class].nodes.contains(&node) {
            return Err(SelectionError::Foreign(class));
        }
        needed.push(class);
        work.extend(graph.nodes[node].kids.iter().copied());
    }
    let node_of = |class: ClassId| selection.choice[class].expand().ok_or(SelectionError::Incomplete(class));
    // One entry for each operand, so that a class that is an operand twice is waited for twice.
    let mut users: SecondaryMap<ClassId, Vec<ClassId>> = SecondaryMap::with_capacity(graph.classes.len());
    let mut waits: SecondaryMap<ClassId, usize> = SecondaryMap::with_capacity(graph.classes.len());
    for &class in &needed {
        let kids = &graph.nodes[node_of(class)?].kids;
        waits[class] = kids.len();
        kids.iter().for_each(|&kid| users[kid].push(class));
    }
    let mut free: Vec<ClassId> = needed.iter().copied().filter(|&c| waits[c] == 0).collect();
    while let Some(class) = free.pop() {
        for &user in &users[class] {
            waits[user] -= 1;
            if waits[user] == 0 {
                free.push(user);
            }
        }
    }
    if let Some(&class) = needed.iter().find(|&&c| waits[c] > 0) {
        return Err(SelectionError::Cyclic(class));
    }
    let mut counted = 0u64;
    for &class in &needed {
        counted = counted.saturating_add(node_cost(graph, costs, node_of(class)?, &selection.choice));
    }
    if counted != selection.dag_cost {
        return Err(SelectionError::Cost { given: selection.dag_cost, counted });
    }
    Ok(())
}
