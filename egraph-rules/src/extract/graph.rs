//! The e-graph as extraction sees it: dense numbers, fixed order, legal nodes only.
//!
//! In: the saturated e-graph and the function that it came from. Out: [`Graph`]. Invariants:
//! - classes and nodes are numbered in the order of the e-graph's ids, so the same e-graph gives
//!   the same numbers, and "smallest index" is a tie-break that can be repeated;
//! - every class has a node whose operands have one, down to leaves;
//! - every node is legal: whichever nodes are chosen, acyclically, each is known where it is needed
//!   (design notes, section 1).
//!
//! Legality. Each use has a [`Point`]. A class *needs* the latest point that dominates all uses
//! that may reach it; a node is legal in a class when all its leaves can be known there. Rules drop
//! operands, so a class may hold nodes that are known in fewer places than others.

use super::sweep::{Parents, Sweep};
use crate::blocks::{Blocks, Point, definition_points};
use crate::lang::{EGraph, Head, Leaf};
use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap, entity_impl};
use egg::Id;
use ir::func::{Imm, Terminator};
use ir::op::{Effect, Form, Shape};
use ir::types::WriteMask;
use ir::{Function, Op, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A class: `class3`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClassId(u32);
entity_impl!(ClassId, "class");

impl ClassId {
    /// Stands where no class does.
    pub(crate) const NONE: ClassId = ClassId(u32::MAX);
}

/// A node: `node3`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(u32);
entity_impl!(NodeId, "node");

/// Operands.
pub type Kids = SmallVec<[ClassId; 4]>;

/// Where a value from outside lives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outside {
    /// A register that cannot be chosen: block parameter, load.
    Register,
    /// A texture lookup's result: any register, but lane i in lane i.
    Texture,
    /// The result of an instruction like any other (a derivative).
    Alu,
}

/// A node of a class.
#[derive(Clone, Debug)]
pub struct GraphNode {
    /// What it does.
    pub head: Head,
    /// Operands.
    pub kids: Kids,
    /// Its class.
    pub class: ClassId,
    /// For values from outside.
    pub outside: Outside,
}

impl GraphNode {
    /// The opcode; none for a value from outside.
    pub fn op(&self) -> Option<Op> {
        match self.head {
            Head::Op(op) | Head::At { op, .. } | Head::Leaf(Leaf::Elem { op, .. }) => Some(op),
            Head::Lit(_) => Some(Op::Const),
            Head::Swz(_) => Some(Op::Swz),
            Head::Txl { .. } => Some(Op::Txl),
            Head::Leaf(Leaf::Value { .. }) => None,
        }
    }

    /// The operands, each once.
    pub(crate) fn distinct_kids(&self) -> impl Iterator<Item = ClassId> + '_ {
        let kids = &self.kids;
        (0..kids.len()).filter(|&i| !kids[..i].contains(&kids[i])).map(|i| kids[i])
    }

    /// The kind of the use of an operand.
    pub fn use_kind(&self, index: usize) -> UseKind {
        match self.head {
            Head::At { .. } => UseKind::Address,
            Head::Txl { .. } if index == 0 => UseKind::Coord,
            _ => UseKind::Operand,
        }
    }
}

/// A class.
#[derive(Clone, Debug, Default)]
pub struct GraphClass {
    /// Its nodes, smallest number first.
    pub nodes: Vec<NodeId>,
    /// Number of lanes.
    pub width: u8,
    /// Where it must be known at the latest.
    pub need: Option<Point>,
    /// Source line, 0 when none.
    pub line: u32,
}

/// What a use can take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UseKind {
    /// A source operand: swizzle and source modifiers as the target has them.
    Operand,
    /// A texture coordinate.
    Coord,
    /// An output: the masked lanes, each from the same lane.
    Store(WriteMask),
    /// A block parameter, or an element of an indexable array: a register of its own.
    Register,
    /// The index of a relative address.
    Address,
}

/// A use from outside the graph.
#[derive(Clone, Copy, Debug)]
pub struct Root {
    /// What is used.
    pub class: ClassId,
    /// Where.
    pub point: Point,
    /// How.
    pub kind: UseKind,
}

/// All that extraction looks at.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Nodes.
    pub nodes: PrimaryMap<NodeId, GraphNode>,
    /// Classes.
    pub classes: PrimaryMap<ClassId, GraphClass>,
    /// Uses, in the order of the function.
    pub roots: Vec<Root>,
    /// The class of a value that roots use.
    pub class_of: FxHashMap<Value, ClassId>,
    /// How often a node was looked at to find where it can be known.
    pub visits: u64,
}

/// Why no graph could be built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GraphError {
    /// The e-graph does not know the value.
    Unknown(Value),
    /// No node of the class is known where the value is needed. The caller keeps the function as
    /// it was.
    NoHome(Value),
}

impl std::fmt::Display for GraphError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            GraphError::Unknown(value) => write!(f, "{value} has no class"),
            GraphError::NoHome(value) => write!(f, "no node of {value}'s class is known where it is needed"),
        }
    }
}

impl std::error::Error for GraphError {}

/// Whether an instruction stays where it is, with its operands as roots; all others become nodes.
pub fn is_pinned(op: Op) -> bool {
    op.effect() != Effect::Pure || op.form() == Form::Source
}

/// The uses by pinned instructions and block ends, in order.
pub fn uses_from_outside(func: &Function) -> Vec<(Value, Point, UseKind)> {
    let mut uses = Vec::new();
    for &block in &func.layout {
        let data = &func.blocks[block];
        for (i, &inst) in data.insts.iter().enumerate() {
            let data = &func.insts[inst];
            if !is_pinned(data.op) {
                continue;
            }
            let point = Point { block, pos: i as u32 };
            for (j, &arg) in data.args.iter().enumerate() {
                let last = j + 1 == data.args.len();
                let kind = match (data.op, data.imm) {
                    (_, Imm::Out { mask, .. }) => UseKind::Store(mask),
                    (Op::Store, _) if last => UseKind::Register,
                    (Op::Call, _) => UseKind::Register,
                    (Op::Store | Op::Load, _) => UseKind::Address,
                    (_, Imm::Tex { .. }) if j == 0 => UseKind::Coord,
                    _ => UseKind::Operand,
                };
                uses.push((arg, point, kind));
            }
        }
        let point = Point { block, pos: Point::END };
        match data.term {
            Terminator::None | Terminator::Return => {}
            Terminator::Jump(call) => uses.extend(call.args.iter().map(|&a| (a, point, UseKind::Register))),
            Terminator::Branch { cond, then_call, else_call, .. } => {
                uses.push((cond, point, UseKind::Operand));
                let args = then_call.args.iter().chain(else_call.args);
                uses.extend(args.map(|&a| (a, point, UseKind::Register)));
            }
        }
    }
    uses
}

/// A few places, none dominating another, each enough to know some node of a class.
type Places = SmallVec<[Point; 2]>;

/// More places than these are not remembered.
const MAX_PLACES: usize = 4;

fn add_place(places: &mut Places, new: Point, blocks: &Blocks) -> bool {
    if places.iter().any(|&p| blocks.dominates(p, new)) {
        return false;
    }
    places.retain(|&mut p| !blocks.dominates(new, p));
    if places.len() == MAX_PLACES {
        return false;
    }
    places.push(new);
    true
}

/// Dominance facts together with where leaves are defined.
struct Homes<'b> {
    blocks: &'b Blocks,
    defs: SecondaryMap<Value, Point>,
    places: SecondaryMap<ClassId, Places>,
}

impl Homes<'_> {
    /// Where a node can be known, given where its operands can be.
    fn of_node(&self, node: &GraphNode) -> Places {
        if let Head::Leaf(Leaf::Value { value, .. }) = node.head {
            return Places::from_slice(&[self.defs[value]]);
        }
        let mut places = Places::from_slice(&[self.blocks.start()]);
        for &kid in &node.kids {
            let mut next = Places::new();
            for &a in &places {
                for &b in &self.places[kid] {
                    if self.blocks.dominates(a, b) {
                        add_place(&mut next, b, self.blocks);
                    } else if self.blocks.dominates(b, a) {
                        add_place(&mut next, a, self.blocks);
                    }
                }
            }
            places = next;
        }
        places
    }

    fn is_legal(&self, node: &GraphNode, point: Point) -> bool {
        !node.kids.contains(&node.class) && self.of_node(node).iter().any(|&p| self.blocks.dominates(p, point))
    }
}

impl Graph {
    /// The graph of an e-graph. `id_of` gives the class of each value of `func` that the e-graph
    /// knows (pinned results and parameters included).
    pub fn build(
        egraph: &EGraph,
        func: &Function,
        blocks: &Blocks,
        id_of: impl Fn(Value) -> Option<Id>,
    ) -> Result<Graph, GraphError> {
        let mut ids: Vec<Id> = egraph.classes().map(|c| c.id).collect();
        ids.sort_unstable();
        let number: FxHashMap<Id, ClassId> = ids.iter().enumerate().map(|(i, &id)| (id, ClassId::new(i))).collect();
        let mut whole = Graph::default();
        for &id in &ids {
            whole.add_class(egraph[id].data.width);
        }
        for &id in &ids {
            for node in &egraph[id].nodes {
                let kids = node.args.iter().map(|&a| number[&egraph.find(a)]).collect();
                whole.add_node(number[&id], node.head, kids, outside_of(func, node.head));
            }
        }
        for &block in &func.layout {
            for &inst in &func.blocks[block].insts {
                let inst = &func.insts[inst];
                let class = inst.result.expand().and_then(&id_of).map(|id| number[&egraph.find(id)]);
                if let Some(class) = class.filter(|&c| whole.classes[c].line == 0) {
                    whole.classes[class].line = inst.line;
                }
            }
        }
        for (value, point, kind) in uses_from_outside(func) {
            let id = id_of(value).ok_or(GraphError::Unknown(value))?;
            let class = number[&egraph.find(id)];
            whole.class_of.insert(value, class);
            whole.roots.push(Root { class, point, kind });
        }
        whole.keep_legal(func, blocks)
    }

    /// A new class without nodes.
    pub fn add_class(&mut self, width: u8) -> ClassId {
        self.classes.push(GraphClass { width, ..GraphClass::default() })
    }

    /// Adds a node to a class.
    pub fn add_node(&mut self, class: ClassId, head: Head, kids: Kids, outside: Outside) -> NodeId {
        let node = self.nodes.push(GraphNode { head, kids, class, outside });
        self.classes[class].nodes.push(node);
        node
    }

    /// Drops what no root reaches, what is known in too few places, and what only repeats itself.
    pub fn keep_legal(self, func: &Function, blocks: &Blocks) -> Result<Graph, GraphError> {
        let mut homes = Homes { blocks, defs: definition_points(func), places: SecondaryMap::new() };
        let parents = Parents::new(&self);
        let mut sweep = Sweep::new(self.nodes.len(), &parents);
        let mut visits = 0;
        while let Some(node) = sweep.next() {
            visits += 1;
            let node = &self.nodes[node];
            let mut changed = false;
            for place in homes.of_node(node) {
                changed |= add_place(&mut homes.places[node.class], place, blocks);
            }
            if changed {
                sweep.changed(node.class);
            }
        }
        let need = self.needs(&homes);
        let legal = |node: &GraphNode| need[node.class].is_some_and(|point| homes.is_legal(node, point));
        let alive = self.alive(&parents, &legal);
        let mut graph = Graph { visits, ..Graph::default() };
        let mut number: FxHashMap<ClassId, ClassId> = FxHashMap::default();
        for (class, data) in &self.classes {
            if alive[class] {
                let new = graph.add_class(data.width);
                (graph.classes[new].need, graph.classes[new].line) = (need[class], data.line);
                number.insert(class, new);
            }
        }
        for (_, node) in &self.nodes {
            if alive[node.class] && legal(node) && node.kids.iter().all(|&k| alive[k]) {
                let kids = node.kids.iter().map(|k| number[k]).collect();
                graph.add_node(number[&node.class], node.head, kids, node.outside);
            }
        }
        let mut values: Vec<Value> = self.class_of.keys().copied().collect();
        values.sort_unstable();
        for value in values {
            let class = number.get(&self.class_of[&value]).ok_or(GraphError::NoHome(value))?;
            graph.class_of.insert(value, *class);
        }
        for root in &self.roots {
            graph.roots.push(Root { class: number[&root.class], ..*root });
        }
        Ok(graph)
    }

    /// Where each class must be known. Needs only move toward the entry, so this ends.
    fn needs(&self, homes: &Homes) -> SecondaryMap<ClassId, Option<Point>> {
        let mut need: SecondaryMap<ClassId, Option<Point>> = SecondaryMap::new();
        // Early points first: most later ones find that the class is needed before them anyway.
        let entry = |class: ClassId, point: Point| Reverse((homes.blocks.place(point), point.block, class));
        let mut work: BinaryHeap<_> = self.roots.iter().map(|r| entry(r.class, r.point)).collect();
        while let Some(Reverse(((_, pos), block, class))) = work.pop() {
            let point = Point { block, pos };
            let point = need[class].map_or(point, |old| homes.blocks.common(old, point));
            if need[class] == Some(point) {
                continue;
            }
            need[class] = Some(point);
            for &node in &self.classes[class].nodes {
                let node = &self.nodes[node];
                if homes.is_legal(node, point) {
                    work.extend(node.kids.iter().map(|&kid| entry(kid, point)));
                }
            }
        }
        need
    }

    /// The classes that have a legal node whose operands are such classes.
    fn alive(&self, parents: &Parents, legal: &dyn Fn(&GraphNode) -> bool) -> SecondaryMap<ClassId, bool> {
        let mut alive: SecondaryMap<ClassId, bool> = SecondaryMap::new();
        let mut sweep = Sweep::new(self.nodes.len(), parents);
        while let Some(node) = sweep.next() {
            let node = &self.nodes[node];
            if !alive[node.class] && node.kids.iter().all(|&k| alive[k]) && legal(node) {
                alive[node.class] = true;
                sweep.changed(node.class);
            }
        }
        alive
    }
}

fn outside_of(func: &Function, head: Head) -> Outside {
    let Head::Leaf(Leaf::Value { value, .. }) = head else { return Outside::Register };
    match func.def_inst(value).map(|i| i.op) {
        Some(op) if op.shape() == Shape::Texture => Outside::Texture,
        Some(Op::Ddx | Op::Ddy) => Outside::Alu,
        _ => Outside::Register,
    }
}
