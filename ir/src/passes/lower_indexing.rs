//! Computed indices into what the target cannot index. In comes any function, out comes one in which
//! every read and write of such an array names its element: a read becomes a chain of choices among
//! the elements, a write one guarded write an element.
//!
//! ```text
//!   x = uniform_at u[i]     ->   x = cmp i - 0.5, u[0], (cmp i - 1.5, u[1], u[2])
//!   store a[i], v           ->   store a[0], (i == 0 ? v : a[0]);  store a[1], ...
//! ```
//!
//! An index outside of the array, which the language leaves undefined, reads the nearest element and
//! writes nothing. What the target can index is in [`crate::cost::CostTable::indexed`]. Local arrays
//! are left to `scalarize-aggregates`, which makes values of them afterwards.

use crate::builder::{Builder, Replacements};
use crate::cursor::{Rewrite, rewrite_blocks};
use crate::entity::{Value, Var};
use crate::func::{Function, Imm, InstData};
use crate::op::Op;
use crate::pass::{PassCtx, PassError};
use crate::types::{Literal, Scalar};

/// Expands all reads and writes that the target cannot do.
pub fn run(func: &mut Function<'_>, ctx: &PassCtx) -> Result<bool, PassError> {
    if grown(func, ctx) > ctx.limits.ssa {
        return Err(PassError::Limit(ctx.limits.exceeded("ssa-instructions")));
    }
    let mut changed = false;
    let mut replaced = Replacements::new();
    rewrite_blocks(func, |builder, inst| {
        let data = builder.func.insts[inst];
        let Some((var, elem)) = lowered(&data, ctx) else { return Rewrite::Keep };
        changed = true;
        let array = Array { var, elem, elems: builder.func.vars[var].elems };
        match (data.op, data.args, data.result.expand()) {
            (Op::Store, &[index, value], _) => write(builder, array, index, value),
            (op, &[index], Some(result)) => {
                let op = match op {
                    Op::UniformAt => Op::Uniform,
                    Op::InputAt => Op::Input,
                    op => op,
                };
                let chosen = read(builder, op, array, index, result);
                replaced.set(result, chosen);
            }
            _ => return Rewrite::Keep,
        }
        Rewrite::Remove
    });
    replaced.apply(func);
    Ok(changed)
}

/// The array of a computed index that the target lacks, and the element that the index counts from.
fn lowered(data: &InstData<'_>, ctx: &PassCtx) -> Option<(Var, u32)> {
    let indexed = ctx.costs.indexed;
    let lacks = match data.op {
        Op::UniformAt => !indexed.uniforms,
        Op::InputAt => !indexed.inputs,
        Op::Load => !indexed.locals && data.args.len() == 1,
        Op::Store => !indexed.locals && data.args.len() == 2,
        _ => false,
    };
    match data.imm {
        Imm::Elem { var, elem } if lacks => Some((var, elem)),
        _ => None,
    }
}

/// How many instructions the function will have; an element costs up to eight.
fn grown(func: &Function<'_>, ctx: &PassCtx) -> usize {
    let insts = func.layout.iter().flat_map(|&block| func.blocks[block].insts.iter());
    let elems = insts.filter_map(|&inst| {
        let (var, _) = lowered(&func.insts[inst], ctx)?;
        Some(func.vars[var].elems as usize)
    });
    elems.fold(func.inst_count(), |sum, n| sum.saturating_add(n.saturating_mul(8)))
}

/// An array, and the element that index 0 means; elements before it have negative indices.
#[derive(Clone, Copy)]
struct Array {
    var: Var,
    elem: u32,
    elems: u32,
}

impl Array {
    fn index_of(self, elem: u32) -> f32 {
        elem as f32 - self.elem as f32
    }
}

/// The element that the index names: the first of which the index is not beyond the middle to the next.
fn read(b: &mut Builder<'_, '_>, op: Op, array: Array, index: Value, result: Value) -> Value {
    let ty = b.func.ty(result);
    let mut chosen: Option<Value> = None;
    for elem in (0..array.elems).rev() {
        let value = b.typed(op, Imm::Elem { var: array.var, elem }, &[], ty);
        chosen = Some(match chosen {
            None => value,
            Some(rest) => {
                let middle = b.constant(Literal::new(Scalar::Float, &[array.index_of(elem) + 0.5]));
                pick(b, Op::Slt, [index, middle], value, rest)
            }
        });
    }
    chosen.unwrap_or_else(|| b.splat_const(ty, 0.0))
}

fn write(b: &mut Builder<'_, '_>, array: Array, index: Value, value: Value) {
    let ty = b.func.ty(value);
    for elem in 0..array.elems {
        let imm = Imm::Elem { var: array.var, elem };
        let old = b.typed(Op::Load, imm, &[], ty);
        let number = b.constant(Literal::new(Scalar::Float, &[array.index_of(elem)]));
        let new = pick(b, Op::Seq, [index, number], value, old);
        b.inst(Op::Store, imm, &[new], None);
    }
}

/// `a` where the comparison holds, else `b`.
fn pick(b: &mut Builder<'_, '_>, compare: Op, [left, right]: [Value; 2], yes: Value, no: Value) -> Value {
    let ty = b.func.ty(yes);
    let left = match b.func.ty(left).scalar {
        Scalar::Float => left,
        _ => b.op_as(Op::Mov, &[left], Scalar::Float),
    };
    if ty.scalar != Scalar::Float {
        let hit = b.op_as(compare, &[left, right], Scalar::Bool);
        return b.typed(Op::Select, Imm::None, &[hit, yes, no], ty);
    }
    let hit = b.op_as(compare, &[left, right], Scalar::Float);
    let minus = b.op(Op::Neg, &[hit]);
    let test = b.splat(minus, ty.lanes);
    b.op(Op::Cmp, &[test, yes, no])
}
