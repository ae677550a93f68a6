//! Transfer functions of the facts: from the operands' intervals and known lanes to the result's.
//!
//! In: an opcode and what is known of its operands. Out: what is known of the result. Invariant:
//! sound for every float at `strict`; rounding to nearest is monotonic, so the rounded bounds of an
//! interval bound the rounded results. Above `strict` sums and products of finite values count as
//! finite (see [`crate::analysis`]).

use crate::analysis::{Facts, Range, Shader};
use ir::Op;
use ir::eval::{self, EvalCfg};
use ir::op::Shape;
use ir::types::FpLevel;

/// The known lanes of an operation's result.
pub fn known_lanes(op: Op, args: &[&Facts], width: u8, cfg: EvalCfg) -> [Option<u32>; 4] {
    let mut out = [None; 4];
    let bits = |x: f32| if x.is_nan() { f32::NAN.to_bits() } else { x.to_bits() };
    if op.shape() == Shape::Reduce {
        let lanes: Option<Vec<Vec<f32>>> = args.iter().map(|a| Some(a.literal()?.lanes().collect())).collect();
        if let Some(lanes) = lanes {
            let lanes: Vec<&[f32]> = lanes.iter().map(Vec::as_slice).collect();
            out[0] = eval::eval(op, &lanes, 1, cfg).map(|r| bits(r[0]));
        }
        return out;
    }
    for (lane, out) in out.iter_mut().enumerate().take(width as usize) {
        let mut known = [0.0; 3];
        let all = args.iter().zip(&mut known).all(|(arg, k)| match arg.lanes[lane] {
            Some(b) => {
                *k = f32::from_bits(b);
                true
            }
            None => false,
        });
        if all {
            *out = eval::lane(op, &known[..args.len().min(3)], cfg).map(bits);
        }
    }
    out
}

/// The range of an operation's result. `same` says that the first two operands are one class.
pub fn range(op: Op, args: &[Range], same: bool, shader: &Shader) -> Range {
    let at = |i: usize| args.get(i).copied().unwrap_or(Range::ANY);
    let (a, b, c) = (at(0), at(1), at(2));
    let strict = shader.level == FpLevel::Strict;
    let zero_wins = shader.eval.zero_wins;
    match op {
        Op::Add => add(a, b, strict),
        Op::Mul => mul(a, b, same, strict, zero_wins),
        Op::Mad => add(mul(a, b, same, strict, zero_wins), c, strict),
        Op::Dp2 | Op::Dp3 | Op::Dp4 => {
            let product = mul(a, b, same, strict, zero_wins);
            (1..op.reduce_width().unwrap_or(4)).fold(product, |sum, _| add(sum, product, strict))
        }
        Op::Min | Op::Max => min_max(op, a, b),
        Op::Slt | Op::Sge | Op::Seq | Op::Sne => compare(op, a, b),
        // a - floor(a) rounds up to 1 for tiny negative a; infinite a gives NaN.
        Op::Frc => Range { lo: 0.0, hi: 1.0, nan: a.nan || a.inf, inf: false, neg_zero: false, whole: a.whole },
        Op::Flr => Range { lo: a.lo.floor(), hi: a.hi.floor(), whole: true, ..a },
        Op::Cmp => {
            let (below, above) = (a.hi < 0.0 && !a.nan, a.lo >= 0.0);
            if below {
                b
            } else if above {
                c
            } else {
                b.join(c)
            }
        }
        Op::Neg => Range { lo: -a.hi, hi: -a.lo, neg_zero: a.lo <= 0.0 && a.hi >= 0.0, ..a },
        Op::Abs => {
            let (x, y) = (a.lo.abs(), a.hi.abs());
            let lo = if a.lo <= 0.0 && a.hi >= 0.0 { 0.0 } else { x.min(y) };
            Range { lo, hi: x.max(y), neg_zero: false, ..a }
        }
        Op::Sat => {
            let clamp = |x: f32| x.clamp(0.0, 1.0);
            let whole = a.whole || a.hi <= 0.0 || a.lo >= 1.0;
            let lo = if a.nan { 0.0 } else { clamp(a.lo) };
            Range { lo, hi: clamp(a.hi), nan: false, inf: false, neg_zero: false, whole: whole && !a.nan || a.whole }
        }
        Op::Rcp => rcp(a),
        Op::Rsq => {
            let abs = range(Op::Abs, &[a], false, shader);
            let (lo, hi) = (rsq(abs.hi), rsq(abs.lo));
            // The root is correctly rounded and monotonic; so is the quotient.
            Range { lo, hi, nan: a.nan, inf: abs.lo == 0.0, neg_zero: false, whole: false }
        }
        // libm's functions are not known to be monotonic to the last bit: one step outward.
        Op::Ex2 => Range {
            lo: if a.lo == f32::NEG_INFINITY { 0.0 } else { (libm_ex2(a.lo) * 0.999_999).max(0.0) },
            hi: libm_ex2(a.hi) * 1.000_001,
            nan: a.nan,
            inf: a.hi >= 127.0,
            neg_zero: false,
            whole: false,
        },
        Op::Lg2 => {
            let positive = a.lo >= 0.0 && !a.neg_zero || a.lo > 0.0;
            Range { nan: a.nan || !positive, inf: a.inf || a.lo <= 0.0, neg_zero: false, ..Range::ANY }
        }
        Op::Sin | Op::Cos => Range { lo: -1.0, hi: 1.0, nan: a.nan || a.inf, inf: false, neg_zero: true, whole: false },
        _ => Range::ANY,
    }
}

fn libm_ex2(x: f32) -> f32 {
    eval::lane(Op::Ex2, &[x], EvalCfg::default()).unwrap_or(f32::INFINITY)
}

fn rsq(x: f32) -> f32 {
    eval::lane(Op::Rsq, &[x], EvalCfg::default()).unwrap_or(f32::INFINITY)
}

fn add(a: Range, b: Range, strict: bool) -> Range {
    let (mut lo, mut hi) = (a.lo + b.lo, a.hi + b.hi);
    // Opposite infinities as bounds say nothing.
    if lo.is_nan() {
        lo = f32::NEG_INFINITY;
    }
    if hi.is_nan() {
        hi = f32::INFINITY;
    }
    let overflow = strict && (lo.is_infinite() || hi.is_infinite());
    let opposite = a.inf && b.inf && !(a.lo >= 0.0 && b.lo >= 0.0) && !(a.hi <= 0.0 && b.hi <= 0.0);
    Range {
        lo,
        hi,
        nan: a.nan || b.nan || opposite,
        inf: a.inf || b.inf || overflow,
        neg_zero: a.neg_zero && b.neg_zero,
        // Whole floats add to whole floats: above 2^24 every float is whole.
        whole: a.whole && b.whole,
    }
}

fn mul(a: Range, b: Range, same: bool, strict: bool, zero_wins: bool) -> Range {
    let corner = |x: f32, y: f32| if x == 0.0 || y == 0.0 { 0.0 } else { x * y };
    let corners = [corner(a.lo, b.lo), corner(a.lo, b.hi), corner(a.hi, b.lo), corner(a.hi, b.hi)];
    let mut lo = corners.into_iter().fold(f32::INFINITY, f32::min);
    let hi = corners.into_iter().fold(f32::NEG_INFINITY, f32::max);
    if same {
        lo = if a.lo > 0.0 {
            a.lo * a.lo
        } else if a.hi < 0.0 {
            a.hi * a.hi
        } else {
            0.0
        };
    }
    let has_zero = |r: Range| r.lo <= 0.0 && r.hi >= 0.0;
    let zero_inf = !same && !zero_wins && (a.inf && has_zero(b) || b.inf && has_zero(a));
    let overflow = strict && (lo.is_infinite() || hi.is_infinite());
    Range {
        lo,
        hi,
        nan: a.nan || b.nan || zero_inf,
        inf: a.inf || b.inf || overflow,
        neg_zero: !same && lo <= 0.0 && hi >= 0.0 && (lo < 0.0 || a.neg_zero || b.neg_zero || a.lo < 0.0 || b.lo < 0.0),
        whole: a.whole && b.whole,
    }
}

/// A comparison that the intervals decide is known.
fn compare(op: Op, a: Range, b: Range) -> Range {
    let apart = a.hi < b.lo || b.hi < a.lo;
    let (yes, no) = match op {
        Op::Slt => (a.hi < b.lo, a.lo >= b.hi),
        Op::Sge => (a.lo >= b.hi, a.hi < b.lo),
        Op::Seq => (false, apart),
        _ => (apart, false),
    };
    // A NaN makes every comparison false but `sne`.
    let nan = a.nan || b.nan;
    let of_nan = op == Op::Sne;
    if yes && (!nan || of_nan) {
        Range::of(1.0)
    } else if no && (!nan || !of_nan) {
        Range::of(0.0)
    } else {
        Range::TRUTH
    }
}

/// A NaN operand gives the other one.
fn min_max(op: Op, a: Range, b: Range) -> Range {
    let pick = |x: f32, y: f32| if op == Op::Min { x.min(y) } else { x.max(y) };
    let (mut lo, mut hi) = (pick(a.lo, b.lo), pick(a.hi, b.hi));
    if a.nan {
        (lo, hi) = (lo.min(b.lo), hi.max(b.hi));
    }
    if b.nan {
        (lo, hi) = (lo.min(a.lo), hi.max(a.hi));
    }
    Range {
        lo,
        hi,
        nan: a.nan && b.nan,
        inf: (a.inf || b.inf) && (lo.is_infinite() || hi.is_infinite()),
        neg_zero: a.neg_zero || b.neg_zero,
        whole: a.whole && b.whole,
    }
}

fn rcp(a: Range) -> Range {
    // Denormal operands overflow, so only a range that stays clear of them is bounded.
    let clear = !a.inf && (a.lo >= f32::MIN_POSITIVE || a.hi <= -f32::MIN_POSITIVE) && !a.nan;
    if clear {
        return Range { lo: 1.0 / a.hi, hi: 1.0 / a.lo, nan: false, inf: false, neg_zero: false, whole: false };
    }
    let sign = a.lo >= 0.0 && !a.neg_zero;
    Range { lo: if sign { 0.0 } else { f32::NEG_INFINITY }, nan: a.nan, neg_zero: !sign, ..Range::ANY }
}
