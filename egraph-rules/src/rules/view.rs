//! A flat copy of an e-graph for one turn of matching.
//!
//! In: a rebuilt e-graph, and the copy of the turn before. Out: for each class its nodes, a bit for
//! each opcode among them and one for each condition that it is known to meet, all in arrays by the
//! class's number; and how far below each class something has changed since the turn before. So a
//! pattern is refused by one word at most classes, without a hash table, and a rule looks again only
//! where its pattern reaches a change ("semi-naive" evaluation; Zhang et al., "Better Together:
//! Unifying Datalog and Equality Saturation", PLDI 2023).

use super::cond::Cond;
use super::pattern::splat_of;
use crate::lang::{EGraph, Head, Node};
use egg::Id;
use ir::Op;
use ir::types::Swizzle;

/// Stands where no class does.
pub(crate) const NONE: u32 = u32::MAX;

/// Changes are not followed further up than this.
pub const MAX_DISTANCE: u8 = 8;

const _: () = assert!(Op::COUNT <= 64, "a class's opcodes fit one word");

/// The bit of an opcode.
pub(crate) fn op_bit(op: Op) -> u64 {
    1 << op as u32
}

/// The bit of a condition.
pub(crate) fn cond_bit(cond: Cond) -> u16 {
    1 << cond as u32
}

/// The key of swizzles, behind all opcodes.
const SWIZZLES: u8 = Op::COUNT as u8;

/// A node; literals, leaves and texture lookups are their opcodes only.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Flat {
    /// The kind of head, then its opcode: nodes of a class are in this order.
    key: u8,
    pub op: Option<Op>,
    pub len: u8,
    pub swizzle: Option<Swizzle>,
    pub args: [u32; 4],
}

impl Flat {
    fn new(egraph: &EGraph, node: &Node) -> Flat {
        let mut args = [NONE; 4];
        for (to, &from) in args.iter_mut().zip(&node.args) {
            *to = usize::from(egraph.find(from)) as u32;
        }
        let key = match node.head {
            Head::Op(op) => op as u8,
            Head::Swz(_) => SWIZZLES,
            _ => u8::MAX,
        };
        Flat { key, op: node.op(), len: node.args.len() as u8, swizzle: node.swizzle().map(|(s, _)| s), args }
    }

    /// The operands.
    pub fn args(&self) -> &[u32] {
        &self.args[..self.len as usize]
    }
}

/// A class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// Bits of the opcodes of its nodes.
    pub ops: u64,
    /// Bits of the conditions that it is known to meet.
    pub conds: u16,
    /// The value of every lane, if known.
    pub splat: Option<f32>,
    /// The class of one lane that it repeats.
    pub scalar: u32,
    from: u32,
    to: u32,
    /// How far below something has changed, [`u8::MAX`] for nowhere near.
    distance: u8,
}

const EMPTY: Row = Row { ops: 0, conds: 0, splat: None, scalar: NONE, from: 0, to: 0, distance: u8::MAX };

/// The copy.
#[derive(Clone, Debug)]
pub struct View {
    rows: Vec<Row>,
    nodes: Vec<Flat>,
    by_op: Vec<Vec<u32>>,
}

impl View {
    /// Copies an e-graph. Without the copy of the turn before, everything counts as changed.
    pub fn new(egraph: &EGraph, before: Option<&View>) -> View {
        let mut ids: Vec<u32> = egraph.classes().map(|c| usize::from(c.id) as u32).collect();
        ids.sort_unstable();
        let size = ids.last().map_or(0, |&last| last as usize + 1);
        let mut view = View {
            rows: vec![EMPTY; size],
            nodes: Vec::with_capacity(egraph.total_size()),
            by_op: vec![Vec::new(); Op::COUNT],
        };
        for &id in &ids {
            let class = &egraph[Id::from(id as usize)];
            let from = view.nodes.len() as u32;
            let mut row = Row { from, splat: class.data.splat(), ..EMPTY };
            for node in &class.nodes {
                let flat = Flat::new(egraph, node);
                row.ops |= flat.op.map_or(0, op_bit);
                view.nodes.push(flat);
            }
            row.to = view.nodes.len() as u32;
            view.nodes[from as usize..].sort_by_key(|n| n.key);
            for &(_, cond) in &Cond::NAMES {
                if cond.known(&class.data) {
                    row.conds |= cond_bit(cond);
                }
            }
            if class.data.width > 1 && (row.splat.is_some() || row.ops & op_bit(Op::Swz) != 0) {
                row.scalar = splat_of(egraph, class.id).map_or(NONE, |s| usize::from(egraph.find(s)) as u32);
            }
            let mut left = row.ops;
            while left != 0 {
                view.by_op[left.trailing_zeros() as usize].push(id);
                left &= left - 1;
            }
            if before.is_none_or(|old| old.differs(id, &row, &view.nodes)) {
                row.distance = 0;
            }
            view.rows[id as usize] = row;
        }
        if before.is_some() {
            view.spread_changes(&ids);
        }
        view
    }

    fn differs(&self, id: u32, new: &Row, nodes: &[Flat]) -> bool {
        let Some(old) = self.rows.get(id as usize) else { return true };
        let facts = |r: &Row| (r.ops, r.conds, r.splat.map(f32::to_bits), r.scalar);
        facts(old) != facts(new) || self.nodes_of(old) != &nodes[new.from as usize..new.to as usize]
    }

    fn spread_changes(&mut self, ids: &[u32]) {
        for step in 1..=MAX_DISTANCE {
            let mut any = false;
            for &id in ids {
                let row = self.rows[id as usize];
                if row.distance == u8::MAX {
                    let below = |n: &Flat| n.args().iter().any(|&a| self.rows[a as usize].distance == step - 1);
                    if self.nodes_of(&row).iter().any(below) {
                        self.rows[id as usize].distance = step;
                        any = true;
                    }
                }
            }
            if !any {
                break;
            }
        }
    }

    /// A class.
    pub(crate) fn row(&self, id: u32) -> &Row {
        &self.rows[id as usize]
    }

    /// The nodes of a class that do an operation without immediate.
    pub(crate) fn operations(&self, row: &Row, op: Op) -> &[Flat] {
        self.with_key(row, op as u8)
    }

    /// The nodes of a class that are swizzles.
    pub(crate) fn swizzles(&self, row: &Row) -> &[Flat] {
        self.with_key(row, SWIZZLES)
    }

    fn with_key(&self, row: &Row, key: u8) -> &[Flat] {
        let nodes = self.nodes_of(row);
        let nodes = &nodes[nodes.partition_point(|n| n.key < key)..];
        &nodes[..nodes.partition_point(|n| n.key == key)]
    }

    /// The nodes of a class, operations first, else in the e-graph's order.
    fn nodes_of(&self, row: &Row) -> &[Flat] {
        &self.nodes[row.from as usize..row.to as usize]
    }

    /// The classes with a node of the opcode, in order.
    pub(crate) fn with_op(&self, op: Op) -> &[u32] {
        &self.by_op[op as usize]
    }

    /// Whether something changed no further than `reach` below a class.
    pub(crate) fn changed(&self, id: u32, reach: u8) -> bool {
        self.rows[id as usize].distance <= reach
    }
}
