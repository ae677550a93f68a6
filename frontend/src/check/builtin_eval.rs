//! Built-in functions of constants (GLSL 1.20 section 4.3.3), computed in double precision and
//! rounded once.

use crate::builtins::BuiltinFn;
use crate::typed::{Expr, Lane, Ty};

/// The value, or `None` for what is never constant (texture reads, derivatives).
pub(super) fn evaluate(f: BuiltinFn, args: &[&[Lane]], exprs: &[&Expr<'_>], ty: Ty<'_>) -> Option<Vec<Lane>> {
    use BuiltinFn::*;
    let n = ty.lanes() as usize;
    let width = args.iter().map(|a| a.len()).max().unwrap_or(1);
    let at = |k: usize, i: usize| -> f64 {
        let arg = args.get(k).copied().unwrap_or(&[]);
        let lane = if arg.len() == 1 { arg.first() } else { arg.get(i) };
        lane.map_or(0.0, |l| f64::from(l.as_f32()))
    };
    let floats = |g: &dyn Fn(usize) -> f64| Some((0..n).map(|i| Lane::Float(g(i) as f32)).collect::<Vec<_>>());
    let bools =
        |g: &dyn Fn(f64, f64) -> bool| Some((0..n).map(|i| Lane::Bool(g(at(0, i), at(1, i)))).collect::<Vec<_>>());
    let dot = |a: usize, b: usize| (0..width).map(|i| at(a, i) * at(b, i)).sum::<f64>();
    match f {
        Radians => floats(&|i| at(0, i).to_radians()),
        Degrees => floats(&|i| at(0, i).to_degrees()),
        Sin => floats(&|i| libm::sin(at(0, i))),
        Cos => floats(&|i| libm::cos(at(0, i))),
        Tan => floats(&|i| libm::tan(at(0, i))),
        Asin => floats(&|i| libm::asin(at(0, i))),
        Acos => floats(&|i| libm::acos(at(0, i))),
        Atan => floats(&|i| libm::atan(at(0, i))),
        Atan2 => floats(&|i| libm::atan2(at(0, i), at(1, i))),
        Pow => floats(&|i| libm::pow(at(0, i), at(1, i))),
        Exp => floats(&|i| libm::exp(at(0, i))),
        Log => floats(&|i| libm::log(at(0, i))),
        Exp2 => floats(&|i| libm::exp2(at(0, i))),
        Log2 => floats(&|i| libm::log2(at(0, i))),
        Sqrt => floats(&|i| libm::sqrt(at(0, i))),
        InverseSqrt => floats(&|i| 1.0 / libm::sqrt(at(0, i))),
        Abs => floats(&|i| at(0, i).abs()),
        Sign => floats(&|i| sign(at(0, i))),
        Floor => floats(&|i| at(0, i).floor()),
        Ceil => floats(&|i| at(0, i).ceil()),
        Fract => floats(&|i| at(0, i) - at(0, i).floor()),
        Mod => floats(&|i| at(0, i) - at(1, i) * (at(0, i) / at(1, i)).floor()),
        Min => floats(&|i| if at(1, i) < at(0, i) { at(1, i) } else { at(0, i) }),
        Max => floats(&|i| if at(0, i) < at(1, i) { at(1, i) } else { at(0, i) }),
        Clamp => floats(&|i| at(0, i).max(at(1, i)).min(at(2, i))),
        Mix => floats(&|i| at(0, i) * (1.0 - at(2, i)) + at(1, i) * at(2, i)),
        Step => floats(&|i| if at(1, i) < at(0, i) { 0.0 } else { 1.0 }),
        SmoothStep => floats(&|i| {
            let t = ((at(2, i) - at(0, i)) / (at(1, i) - at(0, i))).clamp(0.0, 1.0);
            t * t * (3.0 - 2.0 * t)
        }),
        Length => floats(&|_| libm::sqrt(dot(0, 0))),
        Distance => floats(&|_| libm::sqrt((0..width).map(|i| (at(0, i) - at(1, i)) * (at(0, i) - at(1, i))).sum())),
        Dot => floats(&|_| dot(0, 1)),
        Cross => floats(&|i| {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            at(0, j) * at(1, k) - at(0, k) * at(1, j)
        }),
        Normalize => {
            let len = libm::sqrt(dot(0, 0));
            floats(&|i| at(0, i) / len)
        }
        FaceForward => floats(&|i| if dot(2, 1) < 0.0 { at(0, i) } else { -at(0, i) }),
        Reflect => floats(&|i| at(0, i) - 2.0 * dot(1, 0) * at(1, i)),
        Refract => {
            let (eta, d) = (at(2, 0), dot(1, 0));
            let k = 1.0 - eta * eta * (1.0 - d * d);
            floats(&|i| if k < 0.0 { 0.0 } else { eta * at(0, i) - (eta * d + libm::sqrt(k)) * at(1, i) })
        }
        MatrixCompMult => floats(&|i| at(0, i) * at(1, i)),
        OuterProduct => {
            let rows = args.first()?.len();
            floats(&|i| at(0, i % rows) * args[1].get(i / rows).map_or(0.0, |l| f64::from(l.as_f32())))
        }
        Transpose => match (exprs.first()?.ty, ty) {
            (Ty::Mat { rows: from_rows, .. }, Ty::Mat { rows, .. }) => {
                floats(&|i| at(0, (i % rows as usize) * from_rows as usize + i / rows as usize))
            }
            _ => None,
        },
        LessThan => bools(&|a, b| a < b),
        LessThanEqual => bools(&|a, b| a <= b),
        GreaterThan => bools(&|a, b| a > b),
        GreaterThanEqual => bools(&|a, b| a >= b),
        Equal => bools(&|a, b| a == b),
        NotEqual => bools(&|a, b| a != b),
        Any => Some(vec![Lane::Bool(args.first()?.iter().any(|l| l.as_bool()))]),
        All => Some(vec![Lane::Bool(args.first()?.iter().all(|l| l.as_bool()))]),
        Not => Some(args.first()?.iter().map(|l| Lane::Bool(!l.as_bool())).collect()),
        Noise => floats(&|_| 0.0),
        Dfdx | Dfdy | Fwidth | Ftransform | Texture(_) => None,
    }
}

fn sign(a: f64) -> f64 {
    if a > 0.0 {
        1.0
    } else if a < 0.0 {
        -1.0
    } else {
        0.0
    }
}
