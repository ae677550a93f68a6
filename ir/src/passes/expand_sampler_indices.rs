//! Computed indices into arrays of samplers. In comes any function, out comes one in which every
//! texture read names its sampler's element: a read with a computed index becomes one read an
//! element, in the same place (so that neighbours still agree on the level), and a choice among their
//! results. An index outside of the array gives 0, as in [`crate::interp`].
//!
//! Only core operations are made, so the pass may come after `lower-types`. It belongs behind all
//! passes that can make an index constant; for no machine of ours does a sampler come from a register.

use crate::builder::Replacements;
use crate::cursor::{Rewrite, rewrite_blocks};
use crate::func::{Function, Imm};
use crate::op::Op;
use crate::pass::{PassCtx, PassError};
use crate::types::{Literal, Scalar};

/// Expands all reads with a computed index.
pub fn run(func: &mut Function<'_>, ctx: &PassCtx) -> Result<bool, PassError> {
    if grown(func) > ctx.limits.ssa {
        return Err(PassError::Limit(ctx.limits.exceeded("ssa-instructions")));
    }
    let mut replaced = Replacements::new();
    rewrite_blocks(func, |builder, inst| {
        let data = builder.func.insts[inst];
        let (Imm::Tex { sampler, elem, indexed: true, dim, shadow }, Some(result)) = (data.imm, data.result.expand())
        else {
            return Rewrite::Keep;
        };
        let Some((&index, args)) = data.args.split_last() else { return Rewrite::Keep };
        let (ty, index_ty) = (builder.func.ty(result), builder.func.ty(index));
        let mut chosen = builder.splat_const(ty, 0.0);
        for at in elem..builder.func.vars[sampler].elems {
            let imm = Imm::Tex { sampler, elem: at, indexed: false, dim, shadow };
            let read = builder.typed(data.op, imm, args, ty);
            let number = builder.constant(Literal::splat(index_ty, (at - elem) as f32));
            let hit = builder.op_as(Op::Seq, &[index, number], Scalar::Float);
            let minus = builder.op(Op::Neg, &[hit]);
            let test = builder.splat(minus, ty.lanes);
            chosen = builder.op(Op::Cmp, &[test, read, chosen]);
        }
        replaced.set(result, chosen);
        Rewrite::Remove
    });
    Ok(replaced.apply(func))
}

/// Whether a texture read has a computed index.
pub fn is_needed(func: &Function<'_>) -> bool {
    reads(func).next().is_some()
}

/// For each such read, how many elements it may mean.
fn reads<'f>(func: &'f Function<'_>) -> impl Iterator<Item = usize> + 'f {
    let insts = func.layout.iter().flat_map(|&block| func.blocks[block].insts.iter());
    insts.filter_map(|&inst| match func.insts[inst].imm {
        Imm::Tex { sampler, elem, indexed: true, .. } => Some(func.vars[sampler].elems.saturating_sub(elem) as usize),
        _ => None,
    })
}

/// How many instructions the function will have; an element costs up to six.
fn grown(func: &Function<'_>) -> usize {
    func.inst_count().saturating_add(reads(func).fold(0, |sum: usize, n| sum.saturating_add(n.saturating_mul(6))))
}
