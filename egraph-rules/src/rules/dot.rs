//! Dot products with known lanes.
//!
//! In: a `DPn` node one of whose operands has lanes that are 0, 1 or -1. Out: the shorter dot
//! product with the plain lanes added: `dp4(cat(v, 1), c) = dp3(v, c.xyz) + c.w`. Sums change their
//! order, so this begins at `glsl`.

use super::{Applier, Group, Rule};
use crate::lang::{self, EGraph, Head, LaneOf, Node};
use egg::Id;
use ir::Op;
use ir::types::{FpLevel, Swizzle};
use smallvec::SmallVec;

/// The rules of this file.
pub fn rules() -> Vec<Rule> {
    vec![Rule::code(
        "dot-known-lanes",
        Group::Dot,
        FpLevel::Glsl,
        "AB",
        Applier {
            ops: &[Op::Dp2, Op::Dp3, Op::Dp4],
            seldom: false,
            apply: known_lanes,
            examples: &[
                "(dp4 (cat v1:3 1.0) input:var1:0:4)",
                "(dp4 (cat input:var1:0:2 0.0,1.0) input:var2:0:4)",
                "(dp3 0.0,0.0,1.0 input:var1:0:3)",
                "(dp3 -1.0,0.5,0.0 input:var1:0:3)",
                "(dp2 v1:2 1.0,2.0)",
            ],
        },
    )]
}

/// The operation of a dot product of so many lanes.
pub fn dot_op(lanes: usize) -> Option<Op> {
    [Op::Dp2, Op::Dp3, Op::Dp4].get(lanes.checked_sub(2)?).copied()
}

fn known_lanes(egraph: &mut EGraph, _: Id, node: &Node) -> Vec<Id> {
    let Head::Op(op) = node.head else { return Vec::new() };
    let (a, b) = (node.args[0], node.args[1]);
    let known = |egraph: &EGraph, id: Id, lane: u8| egraph[id].data.lanes[lane as usize].map(f32::from_bits);
    let mut kept: SmallVec<[u8; 4]> = SmallVec::new();
    let mut plain: SmallVec<[(Id, u8, bool); 4]> = SmallVec::new();
    for lane in 0..op.reduce_width().unwrap_or(0) {
        match (known(egraph, a, lane), known(egraph, b, lane)) {
            (Some(0.0), _) if egraph[b].data.range.finite() => {}
            (_, Some(0.0)) if egraph[a].data.range.finite() => {}
            (Some(one), _) if one.abs() == 1.0 => plain.push((b, lane, one < 0.0)),
            (_, Some(one)) if one.abs() == 1.0 => plain.push((a, lane, one < 0.0)),
            _ => kept.push(lane),
        }
    }
    if kept.len() == op.reduce_width().unwrap_or(0) as usize {
        return Vec::new();
    }
    let gather = |egraph: &mut EGraph, id: Id| {
        let lanes: SmallVec<[LaneOf; 4]> = kept.iter().map(|&l| lang::lane_source(egraph, id, l)).collect();
        lang::make_lanes(egraph, &lanes)
    };
    let mut sum = None;
    if !kept.is_empty() {
        let (x, y) = (gather(egraph, a), gather(egraph, b));
        sum = Some(lang::make(egraph, dot_op(kept.len()).unwrap_or(Op::Mul), &[x, y]));
    }
    for (id, lane, negative) in plain {
        let mut term = lang::make_swz(egraph, Swizzle::new(&[lane]), id);
        if negative {
            term = lang::make_neg(egraph, term);
        }
        sum = Some(match sum {
            Some(sum) => lang::make(egraph, Op::Add, &[sum, term]),
            None => term,
        });
    }
    vec![sum.unwrap_or_else(|| lang::make_splat_lit(egraph, 0.0, 1))]
}
