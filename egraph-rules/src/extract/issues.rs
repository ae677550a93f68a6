//! The issue slots of a plan without its copies, kept up to date as single choices change.
//!
//! In: a plan and changes to it. Out: a bound that its price cannot go below, since copies only come
//! on top. Each class counts its users, so a change costs what it adds and drops, not the whole plan.

use super::Choice;
use super::graph::{ClassId, Graph, NodeId};
use crate::lang::Head;
use cranelift_entity::EntityRef;
use ir::Op;
use ir::cost::CostTable;

/// The counts of a plan.
pub(super) struct Issues<'a> {
    graph: &'a Graph,
    costs: &'a CostTable,
    /// Uses by chosen nodes of classes in the plan, and by roots.
    users: Vec<u32>,
    /// Classes with users.
    held: usize,
    slots: u64,
    work: Vec<ClassId>,
}

impl<'a> Issues<'a> {
    /// Counts a plan.
    pub(super) fn new(graph: &'a Graph, costs: &'a CostTable, choice: &Choice) -> Issues<'a> {
        let mut issues = Issues { graph, costs, users: Vec::new(), held: 0, slots: 0, work: Vec::new() };
        issues.count(choice);
        issues
    }

    fn count(&mut self, choice: &Choice) {
        self.users.clear();
        self.users.resize(self.graph.classes.len(), 0);
        (self.held, self.slots) = (0, 0);
        self.work.extend(self.graph.roots.iter().map(|r| r.class));
        self.hold(choice);
    }

    /// Whether the plan has the class.
    pub(super) fn has(&self, class: ClassId) -> bool {
        self.users[class.index()] > 0
    }

    /// The slots with `new` in place of `old` for a class of the plan, which stays so.
    pub(super) fn switch(&mut self, choice: &Choice, old: NodeId, new: NodeId) -> u64 {
        self.work.extend_from_slice(&self.graph.nodes[new].kids);
        self.hold(choice);
        self.work.extend_from_slice(&self.graph.nodes[old].kids);
        self.release(choice);
        self.slots = self.slots + self.own(new) - self.own(old);
        self.slots
    }

    /// Tries it: the slots if they are at most `limit`, else all is as before.
    pub(super) fn try_switch(&mut self, choice: &Choice, old: NodeId, new: NodeId, limit: u64) -> Option<Undo> {
        let undo = Undo { old, new, slots: self.slots, held: self.held };
        if self.switch(choice, old, new) <= limit {
            return Some(undo);
        }
        self.undo(choice, undo);
        None
    }

    /// Takes the last switch back.
    pub(super) fn undo(&mut self, choice: &Choice, undo: Undo) {
        self.switch(choice, undo.new, undo.old);
        // Choices outside the plan may be in a circle, which holds itself.
        if (self.slots, self.held) != (undo.slots, undo.held) {
            self.count(choice);
        }
    }

    fn own(&self, node: NodeId) -> u64 {
        match self.graph.nodes[node].head {
            Head::Op(Op::Neg | Op::Abs | Op::Sat | Op::Swz | Op::Cat) => 0,
            Head::Op(op) => u64::from(self.costs.slots(op)),
            _ => 0,
        }
    }

    fn hold(&mut self, choice: &Choice) {
        while let Some(class) = self.work.pop() {
            self.users[class.index()] += 1;
            if self.users[class.index()] == 1 {
                self.held += 1;
                if let Some(node) = choice[class].expand() {
                    self.slots += self.own(node);
                    self.work.extend_from_slice(&self.graph.nodes[node].kids);
                }
            }
        }
    }

    fn release(&mut self, choice: &Choice) {
        while let Some(class) = self.work.pop() {
            self.users[class.index()] -= 1;
            if self.users[class.index()] == 0 {
                self.held -= 1;
                if let Some(node) = choice[class].expand() {
                    self.slots -= self.own(node);
                    self.work.extend_from_slice(&self.graph.nodes[node].kids);
                }
            }
        }
    }
}

/// What a switch changed.
pub(super) struct Undo {
    old: NodeId,
    new: NodeId,
    slots: u64,
    held: usize,
}
