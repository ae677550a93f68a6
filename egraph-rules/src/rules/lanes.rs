//! Rules about lanes that hold for every lane-wise operation alike.
//!
//! In: a node. Out: equal classes. Invariant: each lane is computed by the same operation on the
//! same operands as before, so all of them hold at `strict`.

use super::pattern::splat_of;
use super::{Applier, Group, Rule};
use crate::lang::{self, Args, EGraph, Head, LaneOf, Node};
use egg::{Id, Language};
use ir::Op;
use ir::op::Shape;
use ir::types::{FpLevel, Literal, Swizzle};
use smallvec::SmallVec;

/// All core operations that work lane by lane.
const LANEWISE: &[Op] = &[
    Op::Add,
    Op::Mul,
    Op::Mad,
    Op::Min,
    Op::Max,
    Op::Slt,
    Op::Sge,
    Op::Seq,
    Op::Sne,
    Op::Frc,
    Op::Flr,
    Op::Cmp,
    Op::Neg,
    Op::Abs,
    Op::Sat,
    Op::Rcp,
    Op::Rsq,
    Op::Ex2,
    Op::Lg2,
    Op::Sin,
    Op::Cos,
];

/// Most nodes of an operand's class that one swizzle is pushed into.
const MAX_PUSHED: usize = 6;

/// The rules of this file.
pub fn rules() -> Vec<Rule> {
    let strict = |name, group, phases, applier| Rule::code(name, group, FpLevel::Strict, phases, applier);
    vec![
        strict(
            "normal-form",
            Group::Arith,
            "ABD",
            Applier {
                ops: &[
                    Op::Add,
                    Op::Mul,
                    Op::Mad,
                    Op::Min,
                    Op::Max,
                    Op::Seq,
                    Op::Sne,
                    Op::Dp2,
                    Op::Dp3,
                    Op::Dp4,
                    Op::Neg,
                    Op::Abs,
                    Op::Sat,
                    Op::Swz,
                    Op::Cat,
                ],
                seldom: false,
                apply: |egraph, _, node| vec![lang::make_node(egraph, node.clone())],
                examples: &["(neg (neg v1:3))", "(swz.yx (swz.zw v1:4))", "(cat (swz.x v1:4) (swz.y v1:4))"],
            },
        ),
        strict(
            "swizzle-into-op",
            Group::Swizzle,
            "B",
            Applier {
                ops: &[Op::Swz],
                seldom: false,
                apply: swizzle_into_op,
                examples: &[
                    "(swz.xy (mul v1:4 v2:4))",
                    "(swz.w (mad v1:4 v2:4 1.0,2.0,3.0,4.0))",
                    "(swz.zyx (cmp v1:3 v2:3 v3:3))",
                    "(swz.y (rcp v1:2))",
                    "(swz.yy (neg v1:2))",
                ],
            },
        ),
        strict(
            "op-of-splats",
            Group::Swizzle,
            "ABD",
            Applier {
                ops: LANEWISE,
                seldom: false,
                apply: op_of_splats,
                examples: &[
                    "(mul (swz.xxx v1:1) (swz.xxx v2:1))",
                    "(max (swz.xxxx (swz.y v1:4)) 0.0,0.0,0.0,0.0)",
                    "(rsq (swz.xx v1:1))",
                    "(cmp (swz.xx v1:1) (swz.xx v2:1) 1.0,1.0)",
                ],
            },
        ),
        strict(
            "op-of-swizzles",
            Group::Swizzle,
            "ABD",
            Applier {
                ops: LANEWISE,
                seldom: false,
                apply: op_of_swizzles,
                examples: &[
                    "(cat (add (swz.xy v1:4) (swz.xy v2:4)) (swz.zw (add v1:4 v2:4)))",
                    "(cat (neg (swz.yx v1:3)) (swz.z (neg v1:3)))",
                ],
            },
        ),
        strict(
            "swizzle-of-cat",
            Group::Swizzle,
            "AD",
            Applier {
                ops: &[Op::Swz],
                seldom: false,
                apply: swizzle_of_cat,
                examples: &["(swz.zyx (cat v1:2 v2:2))", "(swz.xz (cat v1:1 v2:1 v3:1))"],
            },
        ),
    ]
}

/// `swz(p, op(a, b)) = op(swz(p, a), swz(p, b))`, so that an operation narrows to the lanes in use.
fn swizzle_into_op(egraph: &mut EGraph, _: Id, node: &Node) -> Vec<Id> {
    let Some((swizzle, arg)) = node.swizzle() else { return Vec::new() };
    if lang::width(egraph, arg) == 1 {
        return Vec::new();
    }
    let inner: Vec<Node> = egraph[arg]
        .nodes
        .iter()
        .filter(|n| matches!(n.head, Head::Op(op) if LANEWISE.contains(&op)))
        .take(MAX_PUSHED)
        .cloned()
        .collect();
    let mut out = Vec::new();
    for node in inner {
        let Head::Op(op) = node.head else { continue };
        let args: Args = node.args.iter().map(|&a| lang::make_swz(egraph, swizzle, a)).collect();
        out.push(lang::make(egraph, op, &args));
    }
    out
}

/// `op(splat a, splat b) = splat(op(a, b))`: what is the same in all lanes is computed once.
fn op_of_splats(egraph: &mut EGraph, id: Id, node: &Node) -> Vec<Id> {
    let (Head::Op(op), lanes) = (node.head, lang::width(egraph, id)) else { return Vec::new() };
    if lanes == 1 {
        return Vec::new();
    }
    let mut args = Args::new();
    for &arg in &node.args {
        let scalar = match egraph[arg].data.splat() {
            Some(value) => Some(lang::make_lit(egraph, Literal::float(value))),
            None => splat_of(egraph, arg),
        };
        match scalar {
            Some(scalar) => args.push(scalar),
            None => return Vec::new(),
        }
    }
    let scalar = lang::make(egraph, op, &args);
    vec![lang::make_swz(egraph, Swizzle::splat(0, lanes), scalar)]
}

/// `op(swz(p, a), swz(p, b)) = swz(p, op(a, b))` where the wide operation exists already.
fn op_of_swizzles(egraph: &mut EGraph, _: Id, node: &Node) -> Vec<Id> {
    let Head::Op(op) = node.head else { return Vec::new() };
    let swizzles = |egraph: &EGraph, arg: Id| -> SmallVec<[(Swizzle, Id); 4]> {
        egraph[arg].nodes.iter().filter_map(Node::swizzle).take(4).collect()
    };
    let mut out = Vec::new();
    'first: for (swizzle, source) in swizzles(egraph, node.args[0]) {
        let wide = lang::width(egraph, source);
        if wide == 1 {
            continue;
        }
        let mut args = Args::from_slice(&[egraph.find(source)]);
        for &arg in &node.args[1..] {
            let same = swizzles(egraph, arg).into_iter().find(|&(s, a)| s == swizzle && lang::width(egraph, a) == wide);
            match same {
                Some((_, a)) => args.push(egraph.find(a)),
                None => continue 'first,
            }
        }
        if lang::commutes(op) && args[1] < args[0] {
            args.swap(0, 1);
        }
        if let Some(found) = egraph.lookup(Node::new(Head::Op(op), &args)) {
            out.push(lang::make_swz(egraph, swizzle, found));
        }
    }
    out
}

/// Lanes picked from a gather are a smaller gather.
fn swizzle_of_cat(egraph: &mut EGraph, id: Id, node: &Node) -> Vec<Id> {
    let Some((swizzle, arg)) = node.swizzle() else { return Vec::new() };
    if !egraph[arg].nodes.iter().any(|n| n.head == Head::Op(Op::Cat)) {
        return Vec::new();
    }
    let lanes: SmallVec<[LaneOf; 4]> = swizzle.lanes().iter().map(|&l| lang::lane_source(egraph, arg, l)).collect();
    // A lane that leads back here would only make the class a part of itself.
    if lanes.iter().any(|l| matches!(l, LaneOf::Of(of, _) if *of == egraph.find(id))) {
        return Vec::new();
    }
    vec![lang::make_lanes(egraph, &lanes)]
}

/// Whether a node works lane by lane.
pub fn is_lanewise(node: &Node) -> bool {
    matches!(node.head, Head::Op(op) if matches!(op.shape(), Shape::Lanewise | Shape::ScalarUnit)) && !node.is_leaf()
}
