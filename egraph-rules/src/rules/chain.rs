//! Bounded associativity: a chain of sums or of products is flattened into a list, and a few
//! arrangements of the whole list are added (design notes, section 4).
//!
//! In: the root of a chain. Out: classes of the arrangements. Free associativity would add every
//! arrangement of every part, which explodes; these few are the ones that matter: source order, late
//! values last, balanced, products first and seeded with a plain addend (each product then becomes
//! a MAD), equal factors grouped, and sums of products of lanes as dot products.

use super::dot::dot_op;
use super::pattern::splat_of;
use super::{Applier, Group, Rule};
use crate::lang::{self, EGraph, Head, LaneOf, Node};
use egg::Id;
use ir::Op;
use ir::types::{FpLevel, Swizzle};
use smallvec::SmallVec;

/// Longest chain that is rearranged.
const MAX_TERMS: usize = 24;

/// Deepest nesting that is flattened.
const MAX_DEPTH: usize = 32;

/// The rules of this file.
pub fn rules() -> Vec<Rule> {
    let glsl = |name, group, applier| Rule::code(name, group, FpLevel::Glsl, "B", applier);
    vec![
        glsl(
            "sum-chain",
            Group::Arith,
            Applier {
                ops: &[Op::Add, Op::Mad],
                seldom: true,
                apply: sum_chain,
                examples: &[
                    "(add (add (add v1:2 (mul v2:2 v3:2)) (mul v4:2 v5:2)) v6:2)",
                    "(add (add (mul v1:1 v2:1) (mul v3:1 v4:1)) (mul v1:1 v5:1))",
                    "(add (neg (add v1:1 v2:1)) (add v3:1 v4:1))",
                    "(mad v1:3 v2:3 (mad v3:3 v4:3 (mul v5:3 v6:3)))",
                ],
            },
        ),
        glsl(
            "dot-from-sum",
            Group::Dot,
            Applier {
                ops: &[Op::Add, Op::Mad],
                seldom: true,
                apply: dot_from_sum,
                examples: &[
                    "(add (add (mul (swz.x v1:3) (swz.x v2:3)) (mul (swz.y v1:3) (swz.y v2:3))) (mul (swz.z v1:3) (swz.z v2:3)))",
                    "(add (add (mul (swz.x v1:2) (swz.y v1:2)) v3:1) (mul (swz.y v1:2) (swz.y v1:2)))",
                ],
            },
        ),
        glsl(
            "product-chain",
            Group::Arith,
            Applier {
                ops: &[Op::Mul],
                seldom: true,
                apply: product_chain,
                examples: &[
                    "(mul (mul v1:3 (swz.xxx v2:1)) (mul v3:3 (swz.xxx v4:1)))",
                    "(mul (mul (mul v1:1 v2:1) (rsq v3:1)) (rsq v4:1))",
                    "(mul (mul (mul v1:1 v1:1) (neg v2:1)) (mul v1:1 v2:1))",
                ],
            },
        ),
    ]
}

/// A term of a sum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Term {
    neg: bool,
    what: What,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum What {
    Product(Id, Id),
    Plain(Id),
}

fn find_op(egraph: &EGraph, id: Id, op: Op) -> Option<&Node> {
    egraph[id].nodes.iter().find(|n| n.head == Head::Op(op))
}

/// Whether some use of the class is not just another link of the same kind of chain.
fn is_root(egraph: &EGraph, id: Id, links: &[Op]) -> bool {
    let id = egraph.find(id);
    let mut parents = 0;
    for parent in egraph[id].parents() {
        let parent = egraph.find(parent);
        if parent == id {
            continue;
        }
        parents += 1;
        let link = egraph[parent].nodes.iter().any(|n| {
            let addend = |a: &Id| egraph.find(*a) == id;
            matches!(n.head, Head::Op(op) if links.contains(&op))
                && if n.head == Head::Op(Op::Mad) { addend(&n.args[2]) } else { n.args.iter().any(addend) }
        });
        if !link {
            return true;
        }
    }
    parents == 0
}

/// The terms of the sum that a class is, in order.
fn flatten_sum(egraph: &EGraph, id: Id, neg: bool, depth: usize, path: &mut Vec<Id>, out: &mut Vec<Term>) {
    let id = egraph.find(id);
    if depth < MAX_DEPTH && out.len() < MAX_TERMS && !path.contains(&id) {
        path.push(id);
        let done = if let Some(node) = find_op(egraph, id, Op::Add) {
            flatten_sum(egraph, node.args[0], neg, depth + 1, path, out);
            flatten_sum(egraph, node.args[1], neg, depth + 1, path, out);
            true
        } else if let Some(node) = find_op(egraph, id, Op::Mad) {
            out.push(Term { neg, what: What::Product(node.args[0], node.args[1]) });
            flatten_sum(egraph, node.args[2], neg, depth + 1, path, out);
            true
        } else if find_op(egraph, id, Op::Mul).is_some() {
            false
        } else if let Some(inner) = lang::operand_of(egraph, id, Op::Neg) {
            flatten_sum(egraph, inner, !neg, depth + 1, path, out);
            true
        } else {
            false
        };
        path.pop();
        if done {
            return;
        }
    }
    let what = match find_op(egraph, id, Op::Mul) {
        Some(node) => What::Product(node.args[0], node.args[1]),
        None => What::Plain(id),
    };
    out.push(Term { neg, what });
}

fn sum_terms(egraph: &EGraph, id: Id, node: &Node) -> Option<Vec<Term>> {
    if !is_root(egraph, id, &[Op::Add, Op::Mad]) {
        return None;
    }
    // One list a class: the first link stands for all of them.
    let first = egraph[id].nodes.iter().find(|n| matches!(n.head, Head::Op(Op::Add | Op::Mad)));
    if first != Some(node) {
        return None;
    }
    let mut terms = Vec::new();
    flatten_sum(egraph, id, false, 0, &mut Vec::new(), &mut terms);
    let parts = terms.iter().flat_map(|t| match t.what {
        What::Product(a, b) => [a, b],
        What::Plain(id) => [id, id],
    });
    ((3..=MAX_TERMS).contains(&terms.len()) && keeps_whole(egraph, id, parts)).then_some(terms)
}

/// A whole number made of parts that are not (`a - frc a`) is exact as it stands. Rearranged it may
/// miss the number by a rounding error, which turns comparisons of whole numbers and indices.
fn keeps_whole(egraph: &EGraph, id: Id, mut parts: impl Iterator<Item = Id>) -> bool {
    !egraph[id].data.range.whole || parts.all(|p| egraph[p].data.range.whole)
}

fn build_term(egraph: &mut EGraph, term: Term) -> Id {
    match term.what {
        What::Product(a, b) => {
            let b = if term.neg { lang::make_neg(egraph, b) } else { b };
            lang::make(egraph, Op::Mul, &[a, b])
        }
        What::Plain(id) if term.neg => lang::make_neg(egraph, id),
        What::Plain(id) => id,
    }
}

fn sum_in_order(egraph: &mut EGraph, terms: &[Term]) -> Option<Id> {
    let mut sum = None;
    for &term in terms {
        let next = build_term(egraph, term);
        sum = Some(match sum {
            None => next,
            Some(sum) => lang::make(egraph, Op::Add, &[sum, next]),
        });
    }
    sum
}

fn balanced(egraph: &mut EGraph, op: Op, ids: &[Id]) -> Id {
    match ids {
        [one] => *one,
        _ => {
            let (left, right) = ids.split_at(ids.len().div_ceil(2));
            let (left, right) = (balanced(egraph, op, left), balanced(egraph, op, right));
            lang::make(egraph, op, &[left, right])
        }
    }
}

fn term_depth(egraph: &EGraph, term: Term) -> u32 {
    match term.what {
        What::Product(a, b) => 1 + egraph[a].data.depth.max(egraph[b].data.depth),
        What::Plain(id) => egraph[id].data.depth,
    }
}

fn sum_chain(egraph: &mut EGraph, id: Id, node: &Node) -> Vec<Id> {
    let Some(terms) = sum_terms(egraph, id, node) else { return Vec::new() };
    let is_plain = |t: &Term| matches!(t.what, What::Plain(_));
    let mut out = Vec::new();
    for arrangement in 0..egraph.analysis.arrangements {
        let made = match arrangement {
            0 => {
                // The plain addend seeds the chain, the products follow, the other addends end it.
                let mut order: Vec<Term> = terms.iter().copied().filter(is_plain).take(1).collect();
                order.extend(terms.iter().copied().filter(|t| !is_plain(t)));
                order.extend(terms.iter().copied().filter(is_plain).skip(1));
                sum_in_order(egraph, &order)
            }
            1 => {
                let mut order = terms.clone();
                order.sort_by_key(|&t| term_depth(egraph, t));
                sum_in_order(egraph, &order)
            }
            2 => sum_in_order(egraph, &terms),
            3 => grouped_sum(egraph, &terms),
            4 => {
                let ids: Vec<Id> = terms.iter().map(|&t| build_term(egraph, t)).collect();
                Some(balanced(egraph, Op::Add, &ids))
            }
            _ => break,
        };
        out.extend(made);
    }
    out
}

/// `a * b + c + a * d = a * (b + d) + c` for the factor that most products share.
fn grouped_sum(egraph: &mut EGraph, terms: &[Term]) -> Option<Id> {
    let factors = |t: &Term| match t.what {
        What::Product(a, b) => [Some(egraph.find(a)), Some(egraph.find(b))],
        What::Plain(_) => [None, None],
    };
    let shares = |f: Id| terms.iter().filter(|t| factors(t).contains(&Some(f))).count();
    let mut best: Option<(Id, usize)> = None;
    for factor in terms.iter().flat_map(&factors).flatten() {
        let count = shares(factor);
        if count >= 2 && best.is_none_or(|(_, most)| count > most) {
            best = Some((factor, count));
        }
    }
    let (factor, _) = best?;
    let (mut inner, mut rest) = (Vec::new(), Vec::new());
    for &term in terms {
        match factors(&term) {
            [Some(a), Some(b)] if a == factor => inner.push(Term { neg: term.neg, what: What::Plain(b) }),
            [Some(a), Some(b)] if b == factor => inner.push(Term { neg: term.neg, what: What::Plain(a) }),
            _ => rest.push(term),
        }
    }
    let sum = sum_in_order(egraph, &inner)?;
    rest.push(Term { neg: false, what: What::Product(factor, sum) });
    sum_in_order(egraph, &rest)
}

/// Sums of products of equally placed lanes of two values.
fn dot_from_sum(egraph: &mut EGraph, id: Id, node: &Node) -> Vec<Id> {
    if lang::width(egraph, id) != 1 {
        return Vec::new();
    }
    let Some(terms) = sum_terms(egraph, id, node).or_else(|| two_terms(egraph, id, node)) else { return Vec::new() };
    let source = |egraph: &EGraph, id: Id| match lang::lane_source(egraph, id, 0) {
        LaneOf::Of(of, lane) if lang::width(egraph, of) > 1 => Some((of, lane)),
        _ => None,
    };
    // Of each product with a lane on both sides: the two values, smaller number first.
    let sides: Vec<Option<[(Id, u8); 2]>> = terms
        .iter()
        .map(|t| match t.what {
            What::Product(a, b) if !t.neg => {
                let (a, b) = (source(egraph, a)?, source(egraph, b)?);
                Some(if a.0 <= b.0 { [a, b] } else { [b, a] })
            }
            _ => None,
        })
        .collect();
    for first in sides.iter().flatten() {
        let same = |s: &Option<[(Id, u8); 2]>| s.is_some_and(|s| s[0].0 == first[0].0 && s[1].0 == first[1].0);
        let picked: Vec<usize> = (0..terms.len()).filter(|&i| same(&sides[i])).take(4).collect();
        let Some(op) = dot_op(picked.len()) else { continue };
        let gather = |egraph: &mut EGraph, side: usize| {
            let lanes: SmallVec<[LaneOf; 4]> =
                picked.iter().filter_map(|&i| sides[i]).map(|s| LaneOf::Of(s[side].0, s[side].1)).collect();
            lang::make_lanes(egraph, &lanes)
        };
        let (a, b) = (gather(egraph, 0), gather(egraph, 1));
        let dot = lang::make(egraph, op, &[a, b]);
        let mut order = vec![Term { neg: false, what: What::Plain(dot) }];
        order.extend((0..terms.len()).filter(|i| !picked.contains(i)).map(|i| terms[i]));
        return sum_in_order(egraph, &order).into_iter().collect();
    }
    Vec::new()
}

fn two_terms(egraph: &EGraph, id: Id, node: &Node) -> Option<Vec<Term>> {
    if !is_root(egraph, id, &[Op::Add, Op::Mad]) || node.head != Head::Op(Op::Add) {
        return None;
    }
    let mut terms = Vec::new();
    flatten_sum(egraph, id, false, 0, &mut Vec::new(), &mut terms);
    (terms.len() == 2).then_some(terms)
}

/// Factors of a product: whole values, and values of one lane that scale all lanes.
#[derive(Default)]
struct Factors {
    vectors: Vec<Id>,
    scalars: Vec<Id>,
    neg: bool,
}

fn flatten_product(egraph: &EGraph, id: Id, scalar: bool, depth: usize, path: &mut Vec<Id>, out: &mut Factors) {
    let id = egraph.find(id);
    if depth < MAX_DEPTH && out.vectors.len() + out.scalars.len() < MAX_TERMS && !path.contains(&id) {
        path.push(id);
        let done = if let Some(node) = find_op(egraph, id, Op::Mul) {
            flatten_product(egraph, node.args[0], scalar, depth + 1, path, out);
            flatten_product(egraph, node.args[1], scalar, depth + 1, path, out);
            true
        } else if let Some(inner) = splat_of(egraph, id) {
            flatten_product(egraph, inner, true, depth + 1, path, out);
            true
        } else if let Some(inner) = lang::operand_of(egraph, id, Op::Neg) {
            out.neg = !out.neg;
            flatten_product(egraph, inner, scalar, depth + 1, path, out);
            true
        } else {
            false
        };
        path.pop();
        if done {
            return;
        }
    }
    if scalar { out.scalars.push(id) } else { out.vectors.push(id) }
}

fn product_chain(egraph: &mut EGraph, id: Id, node: &Node) -> Vec<Id> {
    let first = egraph[id].nodes.iter().find(|n| n.head == Head::Op(Op::Mul));
    if first != Some(node) || !is_root(egraph, id, &[Op::Mul]) {
        return Vec::new();
    }
    let lanes = lang::width(egraph, id);
    let mut factors = Factors::default();
    flatten_product(egraph, id, lanes == 1, 0, &mut Vec::new(), &mut factors);
    let count = factors.vectors.len() + factors.scalars.len();
    let all = factors.vectors.iter().chain(&factors.scalars).copied();
    if !(3..=MAX_TERMS).contains(&count) || !keeps_whole(egraph, id, all) {
        return Vec::new();
    }
    let mut out = Vec::new();
    for arrangement in 0..egraph.analysis.arrangements.min(4) {
        let (mut vectors, mut scalars) = (factors.vectors.clone(), factors.scalars.clone());
        let is_const = |egraph: &EGraph, id: Id| egraph[id].data.literal().is_some();
        let has = |egraph: &EGraph, id: Id, op: Op| find_op(egraph, id, op).is_some();
        match arrangement {
            // Late values last; literals first, where they fold.
            0 => {
                for list in [&mut vectors, &mut scalars] {
                    list.sort_by_key(|&f| (!is_const(egraph, f), egraph[f].data.depth));
                }
            }
            1 => {}
            // Roots and reciprocals side by side, so that their rules see them.
            2 => {
                for list in [&mut vectors, &mut scalars] {
                    list.sort_by_key(|&f| {
                        (!has(egraph, f, Op::Rsq), !has(egraph, f, Op::Rcp), !has(egraph, f, Op::Ex2))
                    });
                }
            }
            // Equal factors side by side, then halves: x*x*x*x is (x*x)*(x*x).
            _ => {
                for list in [&mut vectors, &mut scalars] {
                    list.sort();
                }
            }
        }
        let product = |egraph: &mut EGraph, ids: &[Id]| match ids {
            [] => None,
            _ if arrangement == 3 => Some(balanced(egraph, Op::Mul, ids)),
            [first, rest @ ..] => Some(rest.iter().fold(*first, |acc, &f| lang::make(egraph, Op::Mul, &[acc, f]))),
        };
        let mut scalar = product(egraph, &scalars);
        let mut vector = product(egraph, &vectors);
        if factors.neg {
            let side = if scalar.is_some() { &mut scalar } else { &mut vector };
            *side = side.map(|id| lang::make_neg(egraph, id));
        }
        let made = match (vector, scalar) {
            (None, Some(scalar)) => Some(lang::make_swz(egraph, Swizzle::splat(0, lanes), scalar)),
            (Some(vector), Some(scalar)) => {
                let scalar = lang::make_swz(egraph, Swizzle::splat(0, lanes), scalar);
                Some(lang::make(egraph, Op::Mul, &[vector, scalar]))
            }
            (vector, None) => vector,
        };
        out.extend(made);
    }
    out
}
