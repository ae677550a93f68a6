//! `A * B * v` becomes `A * (B * v)`: matrix products that only multiply vectors are never computed.
//!
//! A product of a matrix and a vector is a sum of columns, each by one lane of the vector. When the
//! columns are such sums themselves, over the columns of another matrix, the sum is ordered anew,
//!
//! ```text
//! sum_i (sum_j K_j * t_ij) * s_i  =  sum_j K_j * w_j,   w = sum_i t_i * s_i
//! ```
//!
//! which takes `|i| + |j|` products in place of `|i| * |j| + |i|`. It is done where that is less, the
//! columns' other uses counted, until nothing is left to do: three matrices take two rounds. Columns
//! may be missing, or have no factor (`w = 1` of a position).
//!
//! Sums are rounded otherwise than written, so not under `strict` (design, section 5: reassociation).

use super::eliminate_dead_code;
use crate::analysis::Uses;
use crate::builder::{Builder, Replacements};
use crate::cursor::{Rewrite, rewrite_blocks};
use crate::entity::Value;
use crate::func::Function;
use crate::lanes::{Lane, gather, trace};
use crate::op::Op;
use crate::pass::{PassCtx, PassError};
use crate::types::{FpLevel, Scalar, Swizzle};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Most terms of a sum that is looked at; two matrices and a vector have 16.
const MAX_TERMS: usize = 24;

/// Most rounds: a product of that many matrices and one more.
const ROUNDS: usize = 8;

/// A vector, by one lane of another where there is a factor.
#[derive(Clone, Copy)]
struct Term {
    basis: Value,
    scale: Option<Lane>,
}

/// A column that is a sum by itself, and its factor.
struct Column {
    value: Value,
    /// Its factors in the order of the plan's vectors.
    coefficients: Vec<Lane>,
    scale: Option<Lane>,
}

/// A sum to be ordered anew.
struct Plan {
    /// The vectors `K_j`.
    vectors: Vec<Value>,
    columns: Vec<Column>,
    /// Factors of vectors that stand in the sum themselves, in the same order; empty when none.
    direct: Vec<Lane>,
    /// What stays as it is.
    rest: Vec<Term>,
}

/// Orders sums of products anew.
pub fn run(func: &mut Function<'_>, ctx: &PassCtx) -> Result<bool, PassError> {
    let mut changed = false;
    if ctx.fp == FpLevel::Strict || !ctx.costs.free_swizzle {
        return Ok(false);
    }
    for _ in 0..ROUNDS {
        if plans(func).is_empty() {
            break;
        }
        // uses by dead code would hide what a product is needed for
        changed |= eliminate_dead_code::run(func, ctx)?;
        let plans = worthwhile(func, plans(func));
        if plans.is_empty() {
            break;
        }
        let mut replaced = Replacements::new();
        rewrite_blocks(func, |builder, inst| {
            let Some(result) = builder.func.insts[inst].result.expand() else { return Rewrite::Keep };
            let Some(plan) = plans.get(&result) else { return Rewrite::Keep };
            let sum = rebuild(builder, plan, builder.func.ty(result).lanes);
            replaced.set(result, sum);
            Rewrite::Keep
        });
        replaced.apply(func);
        changed = true;
        eliminate_dead_code::run(func, ctx)?;
    }
    Ok(changed)
}

/// All sums that could be ordered anew, by their values.
fn plans(func: &Function<'_>) -> FxHashMap<Value, Plan> {
    let uses = Uses::new(func);
    let mut plans = FxHashMap::default();
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            let Some(result) = func.insts[inst].result.expand() else { continue };
            if let Some(plan) = is_sum(func, result).then(|| find(func, &uses, result)).flatten() {
                plans.insert(result, plan);
            }
        }
    }
    plans
}

fn is_sum(func: &Function<'_>, value: Value) -> bool {
    let ty = func.ty(value);
    let op = func.def_inst(value).map(|d| d.op);
    matches!(op, Some(Op::Add | Op::Mad)) && ty.scalar == Scalar::Float && ty.lanes > 1
}

/// The one lane that all lanes of a value are.
fn splat_of(func: &Function<'_>, value: Value) -> Option<Lane> {
    if let Some(literal) = func.literal(value) {
        let same = (1..func.ty(value).lanes).all(|l| literal.lane(l).to_bits() == literal.lane(0).to_bits());
        return same.then_some((value, 0));
    }
    let first = trace(func, value, 0);
    (1..func.ty(value).lanes).all(|l| trace(func, value, l) == first).then_some(first)
}

/// A product of a vector and one lane.
fn scaled(func: &Function<'_>, a: Value, b: Value) -> Option<Term> {
    let term = |basis, scale| Term { basis, scale: Some(scale) };
    match (splat_of(func, a), splat_of(func, b)) {
        (None, Some(scale)) => Some(term(a, scale)),
        (Some(scale), None) => Some(term(b, scale)),
        _ => None,
    }
}

/// The terms of a sum, through sums and products that nothing else reads; none when there are too many.
fn terms(func: &Function<'_>, uses: &Uses, root: Value) -> Option<Vec<Term>> {
    let mut out = Vec::new();
    let mut todo: SmallVec<[Value; 8]> = SmallVec::from_slice(&[root]);
    while let Some(value) = todo.pop() {
        if out.len() + todo.len() >= MAX_TERMS {
            return None;
        }
        let inner = value == root || uses.count(value) == 1;
        match func.def_inst(value).filter(|_| inner) {
            Some(d) if d.op == Op::Add => todo.extend([d.args[1], d.args[0]]),
            Some(d) if d.op == Op::Mad => match scaled(func, d.args[0], d.args[1]) {
                Some(term) => {
                    out.push(term);
                    todo.push(d.args[2]);
                }
                None => out.push(Term { basis: value, scale: None }),
            },
            Some(d) if d.op == Op::Mul => {
                out.push(scaled(func, d.args[0], d.args[1]).unwrap_or(Term { basis: value, scale: None }));
            }
            _ => out.push(Term { basis: value, scale: None }),
        }
    }
    Some(out)
}

/// The factors of a sum over exactly these vectors, in their order.
fn coefficients(terms: &[Term], vectors: &[Value]) -> Option<Vec<Lane>> {
    let of = |&v: &Value| {
        let mut found = terms.iter().filter(|t| t.basis == v);
        found.next().and_then(|t| t.scale).filter(|_| found.next().is_none())
    };
    (terms.len() == vectors.len()).then(|| vectors.iter().map(of).collect()).flatten()
}

fn find(func: &Function<'_>, uses: &Uses, root: Value) -> Option<Plan> {
    let all = terms(func, uses, root)?;
    let mut plan = Plan { vectors: Vec::new(), columns: Vec::new(), direct: Vec::new(), rest: Vec::new() };
    let mut others = Vec::new();
    for &term in &all {
        let inside = if is_sum(func, term.basis) && term.basis != root { terms(func, uses, term.basis) } else { None };
        let inside = inside.filter(|i| (2..=4).contains(&i.len()));
        if let (Some(inside), true) = (&inside, plan.vectors.is_empty()) {
            plan.vectors = inside.iter().map(|t| t.basis).collect();
        }
        match inside.and_then(|i| coefficients(&i, &plan.vectors)) {
            Some(coefficients) => plan.columns.push(Column { value: term.basis, coefficients, scale: term.scale }),
            None => others.push(term),
        }
    }
    if plan.columns.is_empty() {
        return None;
    }
    let (direct, rest): (Vec<Term>, Vec<Term>) = others.into_iter().partition(|t| plan.vectors.contains(&t.basis));
    match coefficients(&direct, &plan.vectors) {
        Some(lanes) => plan.direct = lanes,
        None => plan.rest.extend(direct),
    }
    plan.rest.extend(rest);
    Some(plan)
}

/// Moves that gather lanes in one register.
fn gathers(lanes: &[Lane]) -> i64 {
    let mut homes: SmallVec<[Value; 4]> = lanes.iter().map(|l| l.0).collect();
    homes.sort_unstable();
    homes.dedup();
    if homes.len() == 1 { 0 } else { homes.len() as i64 }
}

/// Those that save instructions, all sums over the same columns together.
fn worthwhile(func: &Function<'_>, plans: FxHashMap<Value, Plan>) -> FxHashMap<Value, Plan> {
    let uses = Uses::new(func);
    let key = |plan: &Plan| -> Vec<Value> {
        let mut columns: Vec<Value> = plan.columns.iter().map(|c| c.value).collect();
        columns.sort_unstable();
        columns
    };
    let mut gains: FxHashMap<Vec<Value>, (usize, i64)> = FxHashMap::default();
    for plan in plans.values() {
        let old = plan.columns.len() + plan.direct.len();
        let new = plan.columns.len() + plan.vectors.len();
        let gathered: i64 = plan.columns.iter().map(|c| gathers(&c.coefficients)).sum();
        let direct = if plan.direct.is_empty() { 0 } else { gathers(&plan.direct) };
        let entry = gains.entry(key(plan)).or_default();
        entry.0 += 1;
        entry.1 += old as i64 - new as i64 - gathered - direct;
    }
    for (columns, (sums, gain)) in &mut gains {
        let dying = columns.iter().filter(|&&c| uses.count(c) == *sums).count();
        // each of them is as many products as there are vectors, the same number for all
        let width = plans.values().find(|p| key(p) == *columns).map_or(0, |p| p.vectors.len());
        *gain += (dying * width) as i64;
    }
    plans.into_iter().filter(|(_, plan)| gains.get(&key(plan)).is_some_and(|g| g.1 > 0)).collect()
}

/// `sum += basis * scale`; the first term starts the sum.
fn add(builder: &mut Builder<'_, '_>, sum: Option<Value>, basis: Value, scale: Option<Lane>, width: u8) -> Value {
    let term = match scale {
        None => basis,
        Some((value, lane)) => {
            let factor = match builder.func.literal(value) {
                Some(literal) => builder.constant(literal.swizzled(Swizzle::splat(lane, width))),
                None => builder.swz(value, Swizzle::splat(lane, width)),
            };
            builder.op(Op::Mul, &[basis, factor])
        }
    };
    match sum {
        None => term,
        Some(sum) => builder.op(Op::Add, &[sum, term]),
    }
}

fn rebuild(builder: &mut Builder<'_, '_>, plan: &Plan, width: u8) -> Value {
    let inner = plan.vectors.len() as u8;
    let mut weights = (!plan.direct.is_empty()).then(|| gather(builder, &plan.direct));
    for column in &plan.columns {
        let coefficients = gather(builder, &column.coefficients);
        weights = Some(add(builder, weights, coefficients, column.scale, inner));
    }
    let mut sum = None;
    for (&vector, lane) in plan.vectors.iter().zip(0u8..) {
        sum = Some(add(builder, sum, vector, weights.map(|w| (w, lane)), width));
    }
    for term in &plan.rest {
        sum = Some(add(builder, sum, term.basis, term.scale, width));
    }
    sum.expect("a plan has vectors")
}
