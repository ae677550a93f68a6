//! Multiply-add fusion as the paper has it: `MUL R0 R1 R2; ADD R3 R4 R0` becomes `MAD R3 R1 R2 R4`
//! when the sum is all that the product is needed for. A product behind a `Neg` counts as well, with
//! the sign moved into a factor.
//!
//! Under `strict` only where the target's MAD rounds twice; the sign is moved only where `0 * x` keeps
//! its sign. [`FuseMadOptions::kept_products`](crate::pass::FuseMadOptions) allows products that stay.

use crate::analysis::Uses;
use crate::builder::{Builder, Replacements};
use crate::cursor::{Rewrite, rewrite_blocks};
use crate::entity::Value;
use crate::func::Function;
use crate::op::Op;
use crate::pass::{PassCtx, PassError};
use crate::types::FpLevel;
use cranelift_entity::EntitySet;

/// A product that a sum may take in.
struct Product {
    factors: [Value; 2],
    negated: bool,
    /// Instructions' results that are not needed any more.
    dead: Vec<Value>,
}

/// Fuses products with sums.
pub fn run(func: &mut Function<'_>, ctx: &PassCtx) -> Result<bool, PassError> {
    let exact = !ctx.eval.fused_mad;
    if ctx.costs.op(Op::Mad).is_none() || (ctx.fp == FpLevel::Strict && !exact) {
        return Ok(false);
    }
    let uses = Uses::new(func);
    let mut replaced = Replacements::new();
    let mut dead: EntitySet<Value> = EntitySet::new();
    rewrite_blocks(func, |builder, inst| {
        let data = builder.func.insts[inst];
        let (Op::Add | Op::Sub, Some(result)) = (data.op, data.result.expand()) else { return Rewrite::Keep };
        let args = [data.args[0], data.args[1]];
        for (product_at, addend_at) in [(1, 0), (0, 1)] {
            let Some(product) = find_product(builder.func, &uses, args[product_at], ctx) else { continue };
            // Both operands of a sum may be one product; then it has two uses and was not found.
            let negated = product.negated != (data.op == Op::Sub && product_at == 1);
            let [a, b] = product.factors;
            let a = if negated { builder.op(Op::Neg, &[a]) } else { a };
            let minus_addend = data.op == Op::Sub && addend_at == 1;
            let addend = args[addend_at];
            let addend = if minus_addend { builder.op(Op::Neg, &[addend]) } else { addend };
            let ty = builder.func.ty(result);
            let sum = builder.typed(Op::Mad, crate::func::Imm::None, &[a, b, addend], ty);
            replaced.set(result, sum);
            product.dead.iter().for_each(|&v| {
                dead.insert(v);
            });
            return Rewrite::Remove;
        }
        Rewrite::Keep
    });
    if replaced.is_empty() {
        return Ok(false);
    }
    replaced.apply(func);
    rewrite_blocks(func, |builder: &mut Builder<'_, '_>, inst| {
        let result = builder.func.insts[inst].result.expand();
        if result.is_some_and(|r| dead.contains(r)) { Rewrite::Remove } else { Rewrite::Keep }
    });
    Ok(true)
}

/// The product that a value is, if the sum may take it in.
fn find_product(func: &Function<'_>, uses: &Uses, value: Value, ctx: &PassCtx) -> Option<Product> {
    let keep = ctx.options.fuse_mad.kept_products;
    let data = func.def_inst(value)?;
    let single = uses.count(value) == 1;
    if !single && !keep {
        return None;
    }
    let mut dead = Vec::new();
    dead.extend(single.then_some(value));
    match data.op {
        Op::Mul => Some(Product { factors: [data.args[0], data.args[1]], negated: false, dead }),
        // With 0 * x = 0 the sign of a zero product is lost before it could be flipped.
        Op::Neg if !ctx.eval.zero_wins || ctx.fp != FpLevel::Strict => {
            let inner = data.args[0];
            let mul = func.def_inst(inner)?;
            let inner_single = uses.count(inner) == 1;
            if mul.op != Op::Mul || !(inner_single || keep) {
                return None;
            }
            dead.extend((single && inner_single).then_some(inner));
            Some(Product { factors: [mul.args[0], mul.args[1]], negated: true, dead })
        }
        _ => None,
    }
}
