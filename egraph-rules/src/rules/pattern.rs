//! Patterns: what a rule says, and building it.
//!
//! In: a pattern and classes for its variables. Out: the class of the instantiated pattern; matching
//! is the work of a [`super::program::Program`].
//! Patterns are generic in width: a number stands for a literal with that value in every lane, and
//! `splat` for a value of one lane repeated. Operands of commutative operations (and the factors of
//! `mad`) match in both orders, so the graph holds each such node once, with sorted operands.
//! Matches come in the order of classes and nodes, never of a hash table.

use crate::lang::{self, EGraph, Node};
use egg::Id;
use ir::Op;
use ir::op::Shape;
use ir::types::{Literal, Swizzle};

/// Most variables in a rule.
pub const MAX_VARS: usize = 8;

/// Classes of the variables.
pub type Subst = [Option<Id>; MAX_VARS];

/// One side of a rule.
#[derive(Clone, PartialEq, Debug)]
pub enum Pat {
    /// Variable number so and so.
    Var(u8),
    /// A literal with this value in every lane.
    Lit(f32),
    /// An operation without immediate.
    Op(Op, Vec<Pat>),
    /// Lanes of a value.
    Swz(Swizzle, Box<Pat>),
    /// A value of one lane, repeated.
    Splat(Box<Pat>),
}

impl Pat {
    /// The opcode at the root, which says where to look.
    pub fn root_op(&self) -> Option<Op> {
        match self {
            Pat::Var(_) | Pat::Lit(_) => None,
            Pat::Op(op, _) => Some(*op),
            Pat::Swz(..) | Pat::Splat(_) => Some(Op::Swz),
        }
    }

    /// Calls `f` with every variable, in order of appearance.
    pub fn for_each_var(&self, f: &mut impl FnMut(u8)) {
        match self {
            Pat::Var(v) => f(*v),
            Pat::Lit(_) => {}
            Pat::Op(_, args) => args.iter().for_each(|a| a.for_each_var(f)),
            Pat::Swz(_, arg) | Pat::Splat(arg) => arg.for_each_var(f),
        }
    }
}

/// The value of one lane that a wider class repeats, if a node or a literal says so.
pub fn splat_of(egraph: &EGraph, id: Id) -> Option<Id> {
    let class = &egraph[id];
    if class.data.width == 1 {
        return None;
    }
    if let Some(value) = class.data.splat() {
        return egraph.lookup(Node::lit(Literal::float(value)));
    }
    class.nodes.iter().find_map(|node| {
        let (_, arg) = node.swizzle()?;
        (lang::width(egraph, arg) == 1).then(|| egraph.find(arg))
    })
}

/// Builds a pattern; numbers and splats take `lanes` lanes where nothing else says so. `None` when
/// the operands' widths do not fit the operation, so that a careless rule file cannot break a graph.
pub fn build(egraph: &mut EGraph, pat: &Pat, subst: &Subst, lanes: u8) -> Option<Id> {
    match pat {
        Pat::Var(v) => subst[*v as usize],
        Pat::Lit(value) => Some(lang::make_splat_lit(egraph, *value, lanes)),
        Pat::Swz(swizzle, arg) => {
            let id = build(egraph, arg, subst, lanes)?;
            let width = lang::width(egraph, id);
            swizzle.lanes().iter().all(|&l| l < width).then(|| lang::make_swz(egraph, *swizzle, id))
        }
        Pat::Splat(arg) => {
            let id = build(egraph, arg, subst, 1)?;
            (lang::width(egraph, id) == 1).then(|| lang::make_swz(egraph, Swizzle::splat(0, lanes), id))
        }
        Pat::Op(op, args) => {
            let inner = match op.shape() {
                Shape::Reduce => op.reduce_width()?,
                Shape::Concat => 1,
                // The width of a lane-wise operation under a swizzle is that of its variables.
                _ => args.iter().find_map(|a| known_width(egraph, a, subst)).unwrap_or(lanes),
            };
            let mut ids = lang::Args::new();
            for arg in args {
                ids.push(build(egraph, arg, subst, inner)?);
            }
            let fits = match op.shape() {
                Shape::Concat => ids.iter().map(|&i| lang::width(egraph, i)).sum::<u8>() <= 4,
                _ => ids.iter().all(|&i| lang::width(egraph, i) == inner),
            };
            fits.then(|| lang::make(egraph, *op, &ids))
        }
    }
}

fn known_width(egraph: &EGraph, pat: &Pat, subst: &Subst) -> Option<u8> {
    match pat {
        Pat::Var(v) => subst[*v as usize].map(|id| lang::width(egraph, id)),
        Pat::Lit(_) | Pat::Splat(_) => None,
        Pat::Swz(swizzle, _) => Some(swizzle.len()),
        Pat::Op(op, _) if op.shape() == Shape::Reduce => Some(1),
        Pat::Op(Op::Cat, args) => args.iter().map(|a| known_width(egraph, a, subst)).sum(),
        Pat::Op(_, args) => args.iter().find_map(|a| known_width(egraph, a, subst)),
    }
}
