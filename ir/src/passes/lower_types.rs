//! Everything becomes float, and the operations of the source language become core operations.
//!
//! In comes any function, out comes one whose values are all float and whose opcodes are all of
//! [`Form::Core`]; no bit of a result changes, because each expansion is the one that
//! [`crate::eval`] defines the operation by.

use crate::builder::{Builder, Replacements};
use crate::cursor::{Rewrite, rewrite_blocks};
use crate::entity::Value;
use crate::func::{Function, Imm};
use crate::op::{Form, Op};
use crate::pass::{PassCtx, PassError};
use crate::types::{Scalar, Type};

/// Lowers all types and operations.
pub fn run(func: &mut Function<'_>, _: &PassCtx) -> Result<bool, PassError> {
    let mut changed = make_all_float(func);
    let mut replaced = Replacements::new();
    rewrite_blocks(func, |builder, inst| {
        let data = builder.func.insts[inst];
        if data.op.form() == Form::Core {
            return Rewrite::Keep;
        }
        changed = true;
        let Some(result) = data.result.expand() else { return Rewrite::Keep };
        let args: Vec<Value> = data.args.iter().map(|&a| replaced.get(a)).collect();
        let lanes = builder.func.ty(result).lanes;
        let value = expand(builder, data.op, &args, lanes);
        replaced.set(result, value);
        Rewrite::Remove
    });
    replaced.apply(func);
    Ok(changed)
}

/// Kinds are how lanes are read; the lanes are floats already.
fn make_all_float(func: &mut Function<'_>) -> bool {
    let mut changed = false;
    let mut make_float = |ty: &mut Type| {
        changed |= ty.scalar != Scalar::Float;
        ty.scalar = Scalar::Float;
    };
    for &block in &func.layout {
        for &param in &func.blocks[block].params {
            make_float(&mut func.values[param].ty);
        }
        for &inst in &func.blocks[block].insts {
            if let Imm::Lit(literal) = &mut func.insts[inst].imm {
                make_float(&mut literal.ty);
            }
            if let Some(result) = func.insts[inst].result.expand() {
                make_float(&mut func.values[result].ty);
            }
        }
    }
    changed
}

/// One operation of the source language as core operations.
fn expand(b: &mut Builder<'_, '_>, op: Op, args: &[Value], lanes: u8) -> Value {
    let ty = Type::float(lanes);
    let arg = |i: usize| args[i];
    match op {
        Op::Mov => arg(0),
        Op::Sub => {
            let minus = b.op(Op::Neg, &[arg(1)]);
            b.op(Op::Add, &[arg(0), minus])
        }
        Op::Div => {
            let inverse = b.op(Op::Rcp, &[arg(1)]);
            b.op(Op::Mul, &[arg(0), inverse])
        }
        Op::Idiv => {
            let (left, right) = (b.op(Op::Abs, &[arg(0)]), b.op(Op::Abs, &[arg(1)]));
            let half = b.splat_const(ty, 0.5);
            let left = b.op(Op::Add, &[left, half]);
            let inverse = b.op(Op::Rcp, &[right]);
            let quotient = b.op(Op::Mul, &[left, inverse]);
            let quotient = b.op(Op::Flr, &[quotient]);
            let sign = b.op(Op::Mul, &[arg(0), arg(1)]);
            let minus = b.op(Op::Neg, &[quotient]);
            b.op(Op::Cmp, &[sign, minus, quotient])
        }
        Op::Sqrt => {
            let inverse = b.op(Op::Rsq, &[arg(0)]);
            b.op(Op::Rcp, &[inverse])
        }
        Op::Pow => {
            let log = b.op(Op::Lg2, &[arg(0)]);
            let product = b.op(Op::Mul, &[arg(1), log]);
            b.op(Op::Ex2, &[product])
        }
        Op::Nrm => {
            let dot = match lanes {
                2 => Op::Dp2,
                3 => Op::Dp3,
                4 => Op::Dp4,
                _ => Op::Mul,
            };
            let square = b.op(dot, &[arg(0), arg(0)]);
            let scale = b.op(Op::Rsq, &[square]);
            let scale = b.splat(scale, lanes);
            b.op(Op::Mul, &[arg(0), scale])
        }
        Op::Lrp => {
            let minus = b.op(Op::Neg, &[arg(0)]);
            let way = b.op(Op::Add, &[arg(1), minus]);
            b.op(Op::Mad, &[arg(2), way, arg(0)])
        }
        Op::Trunc => {
            let size = b.op(Op::Abs, &[arg(0)]);
            let whole = b.op(Op::Flr, &[size]);
            let minus = b.op(Op::Neg, &[whole]);
            b.op(Op::Cmp, &[arg(0), minus, whole])
        }
        Op::Ceil => {
            let minus = b.op(Op::Neg, &[arg(0)]);
            let floor = b.op(Op::Flr, &[minus]);
            b.op(Op::Neg, &[floor])
        }
        Op::Sign => {
            let zero = b.splat_const(ty, 0.0);
            let above = b.op_as(Op::Slt, &[zero, arg(0)], Scalar::Float);
            let below = b.op_as(Op::Slt, &[arg(0), zero], Scalar::Float);
            let minus = b.op(Op::Neg, &[below]);
            b.op(Op::Add, &[above, minus])
        }
        Op::Not => {
            let zero = b.splat_const(ty, 0.0);
            b.op_as(Op::Seq, &[arg(0), zero], Scalar::Float)
        }
        Op::And => b.op(Op::Mul, &[arg(0), arg(1)]),
        Op::Or => b.op(Op::Max, &[arg(0), arg(1)]),
        Op::Xor => b.op_as(Op::Sne, &[arg(0), arg(1)], Scalar::Float),
        Op::Select => {
            let minus = b.op(Op::Neg, &[arg(0)]);
            let minus = b.splat(minus, lanes);
            b.op(Op::Cmp, &[minus, arg(1), arg(2)])
        }
        core => b.op(core, args),
    }
}
