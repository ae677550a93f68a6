//! Demand packs: a gather of like operations becomes one operation on gathers.
//!
//! In: an e-graph after its algebra phase. Out: the same with `op(Cat(...), ...)` beside each
//! `Cat(op(...), ...)` that may gain, and so on into the operands (design notes, section 5). One
//! way only, no commute rule: the packer itself tries both operand orders of a lane and keeps what
//! makes the gathers cheapest.
//!
//! Lanes may be mixed. Sums, products, multiply-adds and plain values all have the form
//! `a * b + c`: `x = x*1 + 0`, `a + b = a*1 + b`, `a - b = b*-1 + a`, `a * b = a*b + 0`. The zero is
//! -0 at level strict, where `x + 0` would change -0.
//!
//! Seeds, which bring together what no gather joins, need whole plans to compare and so are part of
//! extraction: [`crate::extract::seeds`].

use crate::analysis::LeafKinds;
use crate::lang::{EGraph, Head, LaneOf, lane_source, make, make_lanes, operand_of, width};
use egg::Id;
use ir::Op;
use ir::op::Shape;
use ir::types::FpLevel;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// What may be packed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, PartialOrd, Ord)]
pub enum PackMode {
    /// Nothing.
    Off,
    /// What a gather joins.
    Demand,
    /// That, and independent operations.
    #[default]
    Seeds,
}

impl PackMode {
    /// Parses `off`, `demand` or `seeds`.
    pub fn parse(text: &str) -> Option<PackMode> {
        match text {
            "off" => Some(PackMode::Off),
            "demand" => Some(PackMode::Demand),
            "seeds" => Some(PackMode::Seeds),
            _ => None,
        }
    }
}

/// Bounds and choices of the packer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PackOptions {
    /// What may be packed.
    pub mode: PackMode,
    /// Whether lanes of different operations are padded to multiply-adds.
    pub pad: bool,
    /// Packed forms kept for each gather.
    pub forms: usize,
    /// Nodes to add at most.
    pub max_nodes: usize,
}

impl Default for PackOptions {
    fn default() -> PackOptions {
        PackOptions { mode: PackMode::Seeds, pad: true, forms: 3, max_nodes: 4000 }
    }
}

/// What the packer did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PackStats {
    /// Gathers looked at.
    pub gathers: usize,
    /// Packed forms added.
    pub packed: usize,
    /// Whether it stopped at the limit.
    pub cut: bool,
}

/// Operations that pack, `Mad` last because it also takes the padded ones.
const PACKED: [Op; 15] = [
    Op::Neg,
    Op::Abs,
    Op::Sat,
    Op::Frc,
    Op::Flr,
    Op::Add,
    Op::Mul,
    Op::Min,
    Op::Max,
    Op::Slt,
    Op::Sge,
    Op::Seq,
    Op::Sne,
    Op::Cmp,
    Op::Mad,
];

/// Ways to see one part as the operation.
const MAX_WAYS: usize = 8;

/// Gather nodes of one class that are looked at.
const MAX_CATS: usize = 4;

/// The lanes of one operand.
type Column = SmallVec<[LaneOf; 4]>;

/// The operands of an operation, for some of its lanes.
type Columns = SmallVec<[Column; 3]>;

/// Adds the packed forms. The e-graph must be rebuilt, and is again afterwards.
pub fn demand(egraph: &mut EGraph, options: &PackOptions) -> PackStats {
    let mut stats = PackStats::default();
    if options.mode == PackMode::Off {
        return stats;
    }
    let start = egraph.total_size();
    let has_cat = |egraph: &EGraph, id: Id| egraph[id].nodes.iter().any(|n| n.head == Head::Op(Op::Cat));
    let mut work: Vec<Id> = egraph.classes().map(|c| c.id).filter(|&id| has_cat(egraph, id)).collect();
    work.sort_unstable();
    work.reverse();
    let mut seen: FxHashSet<Id> = FxHashSet::default();
    while let Some(id) = work.pop() {
        let id = egraph.find(id);
        if !seen.insert(id) {
            continue;
        }
        if egraph.total_size() > start + options.max_nodes {
            stats.cut = true;
            break;
        }
        stats.gathers += 1;
        let mut cats: Vec<SmallVec<[Id; 4]>> = Vec::new();
        for node in &egraph[id].nodes {
            if node.head == Head::Op(Op::Cat) && cats.len() < MAX_CATS {
                cats.push(node.args.iter().map(|&a| egraph.find(a)).collect());
            }
        }
        cats.sort_unstable();
        for parts in cats {
            for (op, columns) in packed_forms(egraph, &parts, options) {
                let args: SmallVec<[Id; 3]> = columns.iter().map(|c| make_lanes(egraph, c)).collect();
                let pack = make(egraph, op, &args);
                egraph.union(id, pack);
                stats.packed += 1;
                for arg in args.into_iter().rev() {
                    let arg = egraph.find(arg);
                    if has_cat(egraph, arg) {
                        work.push(arg);
                    }
                }
            }
        }
    }
    egraph.rebuild();
    stats
}

/// The packed forms of a gather, cheapest first.
fn packed_forms(egraph: &EGraph, parts: &[Id], options: &PackOptions) -> Vec<(Op, Columns)> {
    let mut found: Vec<(u32, Op, Columns)> = Vec::new();
    for op in PACKED {
        let ways: Vec<Vec<Columns>> = parts.iter().map(|&p| ways(egraph, p, op, options)).collect();
        if ways.iter().any(Vec::is_empty) {
            continue;
        }
        for first in &ways[0] {
            let mut columns = first.clone();
            for way in &ways[1..] {
                let best = way.iter().min_by_key(|w| price(egraph, &joined(&columns, w)));
                if let Some(best) = best {
                    columns = joined(&columns, best);
                }
            }
            let price = price(egraph, &columns);
            // It saves an instruction for each part but one.
            if price < parts.len() as u32 && !found.iter().any(|f| (f.1, &f.2) == (op, &columns)) {
                found.push((price, op, columns));
            }
        }
    }
    found.sort_by_key(|f| (f.0, f.2.len()));
    found.truncate(options.forms);
    found.into_iter().map(|(_, op, columns)| (op, columns)).collect()
}

fn joined(columns: &Columns, more: &Columns) -> Columns {
    columns.iter().zip(more).map(|(a, b)| a.iter().chain(b).copied().collect()).collect()
}

/// The lanes of a class.
fn lanes_of(egraph: &EGraph, id: Id) -> Column {
    (0..width(egraph, id)).map(|lane| lane_source(egraph, id, lane)).collect()
}

/// The ways to see a class as the operation: its nodes, nodes of a value that it is lanes of, both
/// operand orders, and padded forms.
fn ways(egraph: &EGraph, id: Id, op: Op, options: &PackOptions) -> Vec<Columns> {
    let mut out: Vec<Columns> = Vec::new();
    let mut add = |columns: Columns| {
        if out.len() < MAX_WAYS && !out.contains(&columns) {
            out.push(columns);
        }
    };
    each_operation(egraph, id, &mut |node_op, columns| {
        if node_op == op {
            add(columns.clone());
            if op.is_commutative() || op == Op::Mad {
                let mut swapped = columns;
                swapped.swap(0, 1);
                add(swapped);
            }
        }
    });
    if op != Op::Mad || !options.pad {
        return out;
    }
    let lanes = width(egraph, id) as usize;
    let splat = |value: f32| Column::from_elem(LaneOf::Known(value.to_bits()), lanes);
    let zero = if egraph.analysis.level == FpLevel::Strict { -0.0 } else { 0.0 };
    let mut padded: Vec<Columns> = Vec::new();
    each_operation(egraph, id, &mut |node_op, columns| match node_op {
        Op::Mul => {
            for (a, b) in [(0, 1), (1, 0)] {
                padded.push([columns[a].clone(), columns[b].clone(), splat(zero)].into_iter().collect());
            }
        }
        Op::Add => {
            for (a, b) in [(0, 1), (1, 0)] {
                if let Some(positive) = without_neg(egraph, &columns[a]) {
                    padded.push([positive, splat(-1.0), columns[b].clone()].into_iter().collect());
                }
                padded.push([columns[a].clone(), splat(1.0), columns[b].clone()].into_iter().collect());
            }
        }
        _ => {}
    });
    padded.truncate(MAX_WAYS);
    if out.is_empty() && padded.is_empty() && is_leaf(egraph, id) {
        padded.push([lanes_of(egraph, id), splat(1.0), splat(zero)].into_iter().collect());
    }
    out.extend(padded);
    out
}

fn is_leaf(egraph: &EGraph, id: Id) -> bool {
    matches!(lane_source(egraph, id, 0), LaneOf::Of(of, _) if fixed(egraph, of))
}

/// Calls with each packable operation of the class and of a value that it is lanes of.
fn each_operation(egraph: &EGraph, id: Id, call: &mut dyn FnMut(Op, Columns)) {
    let packs = |op: Op| PACKED.contains(&op) && op.shape() == Shape::Lanewise;
    for node in &egraph[id].nodes {
        match node.head {
            Head::Op(op) if packs(op) => call(op, node.args.iter().map(|&a| lanes_of(egraph, a)).collect()),
            Head::Swz(swizzle) => {
                let wide = egraph.find(node.args[0]);
                if wide == id {
                    continue;
                }
                for node in &egraph[wide].nodes {
                    if let Head::Op(op) = node.head
                        && packs(op)
                    {
                        let pick = |&a: &Id| swizzle.lanes().iter().map(|&l| lane_source(egraph, a, l)).collect();
                        call(op, node.args.iter().map(pick).collect());
                    }
                }
            }
            _ => {}
        }
    }
}

/// Every lane without its negation, if each is one.
fn without_neg(egraph: &EGraph, column: &Column) -> Option<Column> {
    column
        .iter()
        .map(|&lane| match lane {
            LaneOf::Of(id, lane) => operand_of(egraph, id, Op::Neg).map(|from| lane_source(egraph, from, lane)),
            LaneOf::Known(_) => None,
        })
        .collect()
}

/// Whether the class is read where it is and cannot be computed into other lanes.
fn fixed(egraph: &EGraph, id: Id) -> bool {
    egraph[id].data.leaves.has(LeafKinds::UNIFORM | LeafKinds::INPUT | LeafKinds::VALUE)
}

/// Copies that the gathers of these operands need at least.
fn price(egraph: &EGraph, columns: &Columns) -> u32 {
    columns.iter().map(|c| column_price(egraph, c)).sum()
}

fn column_price(egraph: &EGraph, column: &Column) -> u32 {
    let mut known = false;
    let mut all: SmallVec<[(Id, bool); 4]> = SmallVec::new();
    let mut moved = 0;
    for &lane in column {
        let LaneOf::Of(id, lane) = lane else {
            known = true;
            continue;
        };
        let negated = operand_of(egraph, id, Op::Neg).map(|from| lane_source(egraph, from, lane));
        let (base, neg) = match negated {
            Some(LaneOf::Of(from, _)) => (from, true),
            _ => (id, false),
        };
        if !all.contains(&(base, neg)) {
            all.push((base, neg));
            moved += u32::from(neg || fixed(egraph, base));
        }
    }
    if all.is_empty() || (all.len() == 1 && !known) { 0 } else { moved + u32::from(known) }
}
