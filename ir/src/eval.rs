//! What each opcode computes, in f32. The folder, both interpreters, the rule tests and the
//! simulator call this and nothing else, so there is one meaning; Mesa judges it from outside.
//!
//! Composite operations (DIV, SQRT, POW, NRM, LRP, ...) are *defined* as their expansion, operation
//! by operation, so that expanding them changes no bit. Dot products sum left to right.
//! Transcendental functions come from the `libm` crate, so that every machine computes the same.

use crate::op::Op;

/// The facts about arithmetic that belong to a target.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EvalCfg {
    /// `0 * x` is 0 even for an infinite or NaN `x` (D3D9-class hardware).
    pub zero_wins: bool,
    /// MAD rounds once.
    pub fused_mad: bool,
}

impl EvalCfg {
    fn mul(self, a: f32, b: f32) -> f32 {
        if self.zero_wins && (a == 0.0 || b == 0.0) { 0.0 } else { a * b }
    }

    fn mad(self, a: f32, b: f32, c: f32) -> f32 {
        if self.fused_mad { libm::fmaf(a, b, c) } else { self.mul(a, b) + c }
    }
}

fn truth(b: bool) -> f32 {
    if b { 1.0 } else { 0.0 }
}

fn min(a: f32, b: f32) -> f32 {
    if a.is_nan() || b < a || (a == b && b.is_sign_negative()) { b } else { a }
}

fn max(a: f32, b: f32) -> f32 {
    if a.is_nan() || b > a || (a == b && a.is_sign_negative()) { b } else { a }
}

fn rcp(a: f32) -> f32 {
    1.0 / a
}

/// The square root is correctly rounded and so is the quotient.
fn rsq(a: f32) -> f32 {
    1.0 / libm::sqrtf(a.abs())
}

/// One lane of a lane-wise or scalar-unit operation. `args` holds that lane of each operand
/// (`Select`'s condition already spread). `None` for operations that are not lane-wise.
pub fn lane(op: Op, args: &[f32], cfg: EvalCfg) -> Option<f32> {
    let [a, b, c] = [0, 1, 2].map(|i| args.get(i).copied().unwrap_or(0.0));
    Some(match op {
        Op::Add => a + b,
        Op::Mul => cfg.mul(a, b),
        Op::Mad => cfg.mad(a, b, c),
        Op::Min => min(a, b),
        Op::Max => max(a, b),
        Op::Slt => truth(a < b),
        Op::Sge => truth(a >= b),
        Op::Seq => truth(a == b),
        Op::Sne => truth(a != b),
        Op::Frc => a - libm::floorf(a),
        Op::Flr => libm::floorf(a),
        Op::Cmp => {
            if a < 0.0 {
                b
            } else {
                c
            }
        }
        Op::Neg => f32::from_bits(a.to_bits() ^ 0x8000_0000),
        Op::Abs => a.abs(),
        Op::Sat => min(max(a, 0.0), 1.0),
        Op::Rcp => rcp(a),
        Op::Rsq => rsq(a),
        Op::Ex2 => libm::exp2f(a),
        Op::Lg2 => libm::log2f(a),
        Op::Sin => libm::sinf(a),
        Op::Cos => libm::cosf(a),
        Op::Mov => a,
        Op::Sub => a + -b,
        Op::Div => cfg.mul(a, rcp(b)),
        Op::Idiv => idiv(a, b, cfg),
        Op::Sqrt => rcp(rsq(a)),
        Op::Pow => libm::exp2f(cfg.mul(b, libm::log2f(a))),
        Op::Lrp => cfg.mad(c, b + -a, a),
        Op::Trunc => trunc(a),
        Op::Ceil => -libm::floorf(-a),
        Op::Sign => truth(0.0 < a) + -truth(a < 0.0),
        Op::Not => truth(a == 0.0),
        Op::And => cfg.mul(a, b),
        Op::Or => max(a, b),
        Op::Xor => truth(a != b),
        Op::Select => {
            if -a < 0.0 {
                b
            } else {
                c
            }
        }
        _ => return None,
    })
}

/// `cmp(a, -floor|a|, floor|a|)`.
fn trunc(a: f32) -> f32 {
    let whole = libm::floorf(a.abs());
    if a < 0.0 { -whole } else { whole }
}

/// `q = floor((|a| + 0.5) * rcp|b|)`, negated where exactly one of `a`, `b` is negative
/// (`cmp(a * b, -q, q)`). The half keeps the rounded quotient away from whole numbers: exact while
/// |a| is below 2^22.
fn idiv(a: f32, b: f32, cfg: EvalCfg) -> f32 {
    let q = libm::floorf(cfg.mul(a.abs() + 0.5, rcp(b.abs())));
    if cfg.mul(a, b) < 0.0 { -q } else { q }
}

/// Sum of products from left to right, rounded after each operation.
pub fn dot(a: &[f32], b: &[f32], cfg: EvalCfg) -> f32 {
    let mut products = a.iter().zip(b).map(|(&x, &y)| cfg.mul(x, y));
    let first = products.next().unwrap_or(0.0);
    products.fold(first, |sum, p| sum + p)
}

/// `a * rsq(dot(a, a))`, lane by lane into `out`.
pub fn normalize(a: &[f32], out: &mut [f32], cfg: EvalCfg) {
    let scale = rsq(dot(a, a, cfg));
    for (o, &x) in out.iter_mut().zip(a) {
        *o = cfg.mul(x, scale);
    }
}

/// Any pure operation that computes (all but lanes, leaves and textures), on operands of 1 to 4
/// lanes. An operand of one lane beside wider ones is spread. Returns the result's lanes (the first
/// `width` of the array), or `None` when the opcode computes nothing by itself.
pub fn eval(op: Op, args: &[&[f32]], width: u8, cfg: EvalCfg) -> Option<[f32; 4]> {
    let mut out = [0.0; 4];
    match op {
        Op::Dp2 | Op::Dp3 | Op::Dp4 => {
            let n = op.reduce_width()? as usize;
            out[0] = dot(args.first()?.get(..n)?, args.get(1)?.get(..n)?, cfg);
        }
        Op::Nrm => normalize(args.first()?, &mut out[..width as usize], cfg),
        _ => {
            for (i, o) in out.iter_mut().take(width as usize).enumerate() {
                let mut lanes = [0.0; 3];
                for (lane, arg) in lanes.iter_mut().zip(args) {
                    *lane = if arg.len() == 1 { arg[0] } else { *arg.get(i)? };
                }
                *o = lane(op, &lanes[..args.len().min(3)], cfg)?;
            }
        }
    }
    Some(out)
}

/// Equality of judges: the same bits, or both NaN.
pub fn same_bits(a: f32, b: f32) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(op: Op, args: &[f32]) -> f32 {
        lane(op, args, EvalCfg::default()).unwrap()
    }

    #[test]
    fn min_and_max_commute_for_all_specials() {
        let specials = [0.0, -0.0, 1.0, -1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e-42];
        for a in specials {
            for b in specials {
                for op in [Op::Min, Op::Max] {
                    assert!(same_bits(one(op, &[a, b]), one(op, &[b, a])), "{op} {a} {b}");
                }
            }
        }
    }

    #[test]
    fn idiv_truncates_toward_zero() {
        for a in -700..700i32 {
            for b in (-30..30i32).filter(|&b| b != 0) {
                assert_eq!(one(Op::Idiv, &[a as f32, b as f32]), (a / b) as f32, "{a}/{b}");
            }
        }
        assert_eq!(one(Op::Idiv, &[4_000_000.0, 3.0]), 1_333_333.0);
    }

    #[test]
    fn sqrt_of_the_ends_is_finite_where_it_should_be() {
        assert_eq!(one(Op::Sqrt, &[0.0]), 0.0);
        assert_eq!(one(Op::Sqrt, &[4.0]), 2.0);
        assert_eq!(one(Op::Sqrt, &[f32::INFINITY]), f32::INFINITY);
    }

    #[test]
    fn saturate_takes_nan_to_zero() {
        assert_eq!(one(Op::Sat, &[f32::NAN]), 0.0);
        assert_eq!(one(Op::Sat, &[7.0]), 1.0);
    }
}
