//! Multiply-add fusion, the first machine-dependent rule of the paper: an addition whose only need
//! of an earlier multiplication is that product becomes one `mad`.
//!
//! `add(mul(a, b), c)`, also through a negation of the product and for `sub`. The product must have
//! the same lanes as the sum (a swizzle between them keeps them apart, as different destination
//! enables do in the paper), and no other use: a product that stays is no gain. Option
//! `kept_products` lifts that, which costs no slot but keeps the product's operands alive.
//!
//! At `strict` only where the target's MAD rounds twice, because only then no bit changes.

use crate::analysis::Uses;
use crate::builder::Replacements;
use crate::cursor::{Rewrite, rewrite_blocks};
use crate::entity::Value;
use crate::func::Function;
use crate::op::Op;
use crate::pass::{PassCtx, PassError};
use crate::types::{FpLevel, Scalar};

/// The pass. Products without uses keep standing; `eliminate-dead-code` removes them.
pub fn run(func: &mut Function<'_>, ctx: &PassCtx) -> Result<bool, PassError> {
    if ctx.fp == FpLevel::Strict && ctx.eval.fused_mad {
        return Ok(false);
    }
    let uses = Uses::new(func);
    let kept = ctx.options.fuse_mad.kept_products;
    let mut fused = Replacements::new();
    rewrite_blocks(func, |b, inst| {
        let data = b.func.insts[inst];
        let Some(result) = data.result.expand() else { return Rewrite::Keep };
        if !matches!(data.op, Op::Add | Op::Sub) || b.func.ty(result).scalar != Scalar::Float {
            return Rewrite::Keep;
        }
        let (x, y) = (data.args[0], data.args[1]);
        let product = |value: Value| product(b.func, &uses, kept, value);
        let (factors, negated, addend, addend_negated) = match (product(x), product(y)) {
            // The later operand is the one that the addition waits for.
            (_, Some((factors, negated))) => (factors, negated != (data.op == Op::Sub), x, false),
            (Some((factors, negated)), None) => (factors, negated, y, data.op == Op::Sub),
            (None, None) => return Rewrite::Keep,
        };
        let first = if negated { b.op(Op::Neg, &[factors[0]]) } else { factors[0] };
        let addend = if addend_negated { b.op(Op::Neg, &[addend]) } else { addend };
        let mad = b.op(Op::Mad, &[first, factors[1], addend]);
        fused.set(result, mad);
        Rewrite::Remove
    });
    Ok(fused.apply(func))
}

/// The factors of a product (and whether it is negated) that may be fused.
fn product(func: &Function<'_>, uses: &Uses, kept: bool, value: Value) -> Option<([Value; 2], bool)> {
    let alone = |v: Value| kept || uses.count(v) == 1;
    let data = func.def_inst(value)?;
    match data.op {
        Op::Mul if alone(value) => Some(([data.args[0], data.args[1]], false)),
        Op::Neg if alone(value) => {
            let inner = func.def_inst(data.args[0])?;
            (inner.op == Op::Mul && alone(data.args[0])).then_some(([inner.args[0], inner.args[1]], true))
        }
        _ => None,
    }
}
