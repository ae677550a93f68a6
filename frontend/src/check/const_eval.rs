//! Constant expressions (GLSL 1.20 section 4.3.3): an expression whose parts are constant becomes
//! one constant as soon as it is made. Floats are computed as IEEE singles; ints wrap at 32 bits;
//! division of an int by 0 gives 0.
//!
//! Calls of built-in functions are constant from 1.20 on and in ES, not in 1.10.

use super::{Checker, builtin_eval};
use crate::ast::BinaryOp;
use crate::typed::{Expr, ExprKind, Lane, Ty};
use ir::diag::Span;

impl<'a> Checker<'a> {
    /// The expression, as a constant when it is one.
    pub(super) fn fold(&self, kind: ExprKind<'a>, ty: Ty<'a>, span: Span) -> &'a Expr<'a> {
        let lanes = match kind {
            ExprKind::Builtin(..) if self.is_110() => None,
            // Sharing, not copying: selections of a large constant cost nothing.
            ExprKind::Ternary(c, a, b) => match (c.constant(), a.constant(), b.constant()) {
                (Some([Lane::Bool(c)]), Some(a), Some(b)) => {
                    return self.alloc(ExprKind::Const(if *c { a } else { b }), ty, span);
                }
                _ => None,
            },
            ExprKind::Field(a, i) => match (a.constant(), a.ty) {
                (Some(lanes), Ty::Struct(s)) => {
                    let start: u64 = s.fields[..i as usize].iter().map(|f| f.ty.lanes()).sum();
                    let end = start + ty.lanes();
                    return self.alloc(ExprKind::Const(&lanes[start as usize..end as usize]), ty, span);
                }
                _ => None,
            },
            ExprKind::Index(a, i) => match (a.constant(), i.const_int()) {
                (Some(lanes), Some(i)) => {
                    let width = ty.lanes() as usize;
                    let start = i as usize * width;
                    return self.alloc(ExprKind::Const(&lanes[start..start + width]), ty, span);
                }
                _ => None,
            },
            _ if self.const_lanes.get() + ty.lanes() > self.limits.constant_lanes as u64 => {
                // An error once the declaration is read, and only where it would have been a constant.
                if evaluate(&kind, ty).is_some() {
                    self.const_overflow.set(self.const_overflow.get().or(Some(span)));
                }
                None
            }
            _ => evaluate(&kind, ty),
        };
        match lanes {
            Some(lanes) => {
                self.const_lanes.set(self.const_lanes.get() + lanes.len() as u64);
                self.constant(&lanes, ty, span)
            }
            None => self.alloc(kind, ty, span),
        }
    }
}

fn evaluate(kind: &ExprKind<'_>, ty: Ty<'_>) -> Option<Vec<Lane>> {
    match *kind {
        ExprKind::Neg(a) => Some(
            a.constant()?
                .iter()
                .map(|l| match *l {
                    Lane::Int(v) => Lane::Int(v.wrapping_neg()),
                    l => Lane::Float(-l.as_f32()),
                })
                .collect(),
        ),
        ExprKind::Not(a) => Some(a.constant()?.iter().map(|l| Lane::Bool(!l.as_bool())).collect()),
        ExprKind::Swizzle(a, swz) => {
            let lanes = a.constant()?;
            Some(swz.lanes().iter().map(|&l| lanes[l as usize]).collect())
        }
        ExprKind::Binary(op, a, b) => binary(op, a, b, ty),
        ExprKind::Construct(args) => construct(args, ty),
        ExprKind::Builtin(f, args) => {
            let values: Option<Vec<&[Lane]>> = args.iter().map(|a| a.constant()).collect();
            builtin_eval::evaluate(f, &values?, args, ty)
        }
        _ => None,
    }
}

fn binary(op: BinaryOp, a: &Expr<'_>, b: &Expr<'_>, ty: Ty<'_>) -> Option<Vec<Lane>> {
    let (x, y) = (a.constant()?, b.constant()?);
    let bool_of = |v| Some(vec![Lane::Bool(v)]);
    let equal = || x.iter().zip(y).all(|(p, q)| p == q);
    match op {
        BinaryOp::Eq => return bool_of(equal()),
        BinaryOp::Ne => return bool_of(!equal()),
        BinaryOp::And => return bool_of(x[0].as_bool() && y[0].as_bool()),
        BinaryOp::Or => return bool_of(x[0].as_bool() || y[0].as_bool()),
        BinaryOp::Xor => return bool_of(x[0].as_bool() != y[0].as_bool()),
        BinaryOp::Lt => return bool_of(less(x[0], y[0])),
        BinaryOp::Gt => return bool_of(less(y[0], x[0])),
        BinaryOp::Le => return bool_of(less_or_equal(x[0], y[0])),
        BinaryOp::Ge => return bool_of(less_or_equal(y[0], x[0])),
        BinaryOp::Mul | BinaryOp::Div | BinaryOp::Add | BinaryOp::Sub => {}
    }
    if op == BinaryOp::Mul
        && let Some(product) = product(a.ty, b.ty, x, y)
    {
        return Some(product);
    }
    let n = ty.lanes() as usize;
    let lane = |v: &[Lane], i: usize| if v.len() == 1 { v[0] } else { v[i] };
    Some((0..n).map(|i| arithmetic(op, lane(x, i), lane(y, i))).collect())
}

/// Products with a matrix and no scalar in them.
fn product(a: Ty<'_>, b: Ty<'_>, x: &[Lane], y: &[Lane]) -> Option<Vec<Lane>> {
    // As columns times rows: a vector on the left is one row, on the right one column.
    let (rows, inner, cols) = match (a, b) {
        (Ty::Mat { cols: k, rows }, Ty::Mat { cols, .. }) => (rows, k, cols),
        (Ty::Mat { cols: k, rows }, Ty::Vec(v)) if v.lanes > 1 => (rows, k, 1),
        (Ty::Vec(v), Ty::Mat { cols, .. }) if v.lanes > 1 => (1, v.lanes, cols),
        _ => return None,
    };
    let (rows, inner, cols) = (rows as usize, inner as usize, cols as usize);
    let mut out = Vec::new();
    for c in 0..cols {
        for r in 0..rows {
            let sum = (0..inner).map(|k| x[k * rows + r].as_f32() * y[c * inner + k].as_f32()).fold(
                None,
                |s: Option<f32>, p| {
                    Some(match s {
                        Some(s) => s + p,
                        None => p,
                    })
                },
            );
            out.push(Lane::Float(sum.unwrap_or(0.0)));
        }
    }
    Some(out)
}

fn arithmetic(op: BinaryOp, a: Lane, b: Lane) -> Lane {
    match (a, b) {
        (Lane::Int(a), Lane::Int(b)) => Lane::Int(match op {
            BinaryOp::Mul => a.wrapping_mul(b),
            BinaryOp::Div if b == 0 => 0,
            BinaryOp::Div => a.wrapping_div(b),
            BinaryOp::Add => a.wrapping_add(b),
            _ => a.wrapping_sub(b),
        }),
        _ => {
            let (a, b) = (a.as_f32(), b.as_f32());
            Lane::Float(match op {
                BinaryOp::Mul => a * b,
                BinaryOp::Div => a / b,
                BinaryOp::Add => a + b,
                _ => a - b,
            })
        }
    }
}

fn less(a: Lane, b: Lane) -> bool {
    match (a, b) {
        (Lane::Int(a), Lane::Int(b)) => a < b,
        _ => a.as_f32() < b.as_f32(),
    }
}

fn less_or_equal(a: Lane, b: Lane) -> bool {
    match (a, b) {
        (Lane::Int(a), Lane::Int(b)) => a <= b,
        _ => a.as_f32() <= b.as_f32(),
    }
}

fn construct(args: &[&Expr<'_>], ty: Ty<'_>) -> Option<Vec<Lane>> {
    let values: Option<Vec<&[Lane]>> = args.iter().map(|a| a.constant()).collect();
    let values = values?;
    let Some(scalar) = ty.scalar() else {
        // Structs and arrays: the parts one after the other.
        return Some(values.concat());
    };
    let n = ty.lanes() as usize;
    if let Ty::Mat { cols, rows } = ty {
        let at = |c: u8, r: u8| c as usize * rows as usize + r as usize;
        let mut out = vec![Lane::Float(0.0); n];
        match (args, &values[..]) {
            ([arg], [value]) if arg.ty.is_scalar() => {
                for d in 0..cols.min(rows) {
                    out[at(d, d)] = value[0].to(scalar);
                }
                return Some(out);
            }
            ([arg], [value]) => {
                if let Ty::Mat { cols: from_cols, rows: from_rows } = arg.ty {
                    for c in 0..cols {
                        for r in 0..rows {
                            out[at(c, r)] = if c < from_cols && r < from_rows {
                                value[c as usize * from_rows as usize + r as usize]
                            } else {
                                Lane::Float(if c == r { 1.0 } else { 0.0 })
                            };
                        }
                    }
                    return Some(out);
                }
            }
            _ => {}
        }
    } else if let ([arg], [value]) = (args, &values[..])
        && arg.ty.is_scalar()
    {
        return Some(vec![value[0].to(scalar); n]);
    }
    Some(values.concat().into_iter().take(n).map(|l| l.to(scalar)).collect())
}
