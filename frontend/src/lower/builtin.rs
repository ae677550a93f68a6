//! Built-in functions as short sequences (GLSL 1.10 chapter 8).
//!
//! `noise1` to `noise4` give 0: the specification asks for values that nobody can rely on, drivers
//! have always given 0, and so shaders do not use them.

use super::emit::{float, splat, spread};
use super::{Lowerer, R, Val};
use crate::builtins::BuiltinFn;
use crate::typed::{Expr, Ty};
use ir::op::Op;
use ir::tac::Src;
use ir::types::{Literal, Scalar, Type};

impl<'a> Lowerer<'_, 'a> {
    /// A call of a built-in function.
    pub(super) fn builtin(&mut self, f: BuiltinFn, args: &[&'a Expr<'a>], ty: Ty<'a>) -> R<Val<'a>> {
        if let BuiltinFn::Texture(tex) = f {
            let src = self.texture(tex, args)?;
            return Ok(self.val(ty, src));
        }
        let vals = self.exprs(args)?;
        match f {
            BuiltinFn::MatrixCompMult => {
                let pairs = vals[0].regs.iter().zip(&vals[1].regs);
                let mut regs = Vec::new();
                for (&a, &b) in pairs {
                    let column = self.src_type(a);
                    regs.push(self.emit(Op::Mul, column, &[a, b])?);
                }
                return Ok(Val { ty, regs });
            }
            BuiltinFn::OuterProduct => return self.outer_product(&vals, ty),
            BuiltinFn::Transpose => return self.transpose(&vals[0], ty),
            _ => {}
        }
        let Ty::Vec(t) = ty else { return Ok(Val { ty, regs: Vec::new() }) };
        let mut srcs = [float(0.0); 3];
        for (src, val) in srcs.iter_mut().zip(&vals) {
            *src = self.one(val);
        }
        let src = self.vector_builtin(f, t, srcs)?;
        Ok(self.val(ty, src))
    }

    fn vector_builtin(&mut self, f: BuiltinFn, t: Type, [a, b, c]: [Src; 3]) -> R<Src> {
        use BuiltinFn::*;
        let n = t.lanes;
        let bools = Type { scalar: Scalar::Bool, lanes: n };
        match f {
            Radians => self.emit(Op::Mul, t, &[a, splat(t, std::f32::consts::PI / 180.0)]),
            Degrees => self.emit(Op::Mul, t, &[a, splat(t, 180.0 / std::f32::consts::PI)]),
            Sin => self.emit(Op::Sin, t, &[a]),
            Cos => self.emit(Op::Cos, t, &[a]),
            Tan => self.tan(t, a),
            Asin => self.asin(t, a),
            Acos => self.acos(t, a),
            Atan => self.atan(t, a),
            Atan2 => self.atan2(t, a, b),
            Pow => self.emit(Op::Pow, t, &[a, b]),
            Exp => {
                let scaled = self.emit(Op::Mul, t, &[a, splat(t, std::f32::consts::LOG2_E)])?;
                self.emit(Op::Ex2, t, &[scaled])
            }
            Log => {
                let log2 = self.emit(Op::Lg2, t, &[a])?;
                self.emit(Op::Mul, t, &[log2, splat(t, std::f32::consts::LN_2)])
            }
            Exp2 => self.emit(Op::Ex2, t, &[a]),
            Log2 => self.emit(Op::Lg2, t, &[a]),
            Sqrt => self.emit(Op::Sqrt, t, &[a]),
            InverseSqrt => self.emit(Op::Rsq, t, &[a]),
            Abs => self.emit(Op::Abs, t, &[a]),
            Sign => self.emit(Op::Sign, t, &[a]),
            Floor => self.emit(Op::Flr, t, &[a]),
            Ceil => self.emit(Op::Ceil, t, &[a]),
            Fract => self.emit(Op::Frc, t, &[a]),
            Mod => {
                // a - b * floor(a / b)
                let b = spread(b, n);
                let quotient = self.emit(Op::Div, t, &[a, b])?;
                let whole = self.emit(Op::Flr, t, &[quotient])?;
                let part = self.emit(Op::Mul, t, &[b, whole])?;
                self.emit(Op::Sub, t, &[a, part])
            }
            Min => self.emit(Op::Min, t, &[a, spread(b, n)]),
            Max => self.emit(Op::Max, t, &[a, spread(b, n)]),
            Clamp => {
                let low = self.emit(Op::Max, t, &[a, spread(b, n)])?;
                self.emit(Op::Min, t, &[low, spread(c, n)])
            }
            Mix => self.emit(Op::Lrp, t, &[a, b, spread(c, n)]),
            Step => self.emit(Op::Sge, t, &[b, spread(a, n)]),
            SmoothStep => self.smoothstep(t, [spread(a, n), spread(b, n), c]),
            Length => self.length(a),
            Distance => {
                let wide = self.src_type(a);
                let difference = self.emit(Op::Sub, wide, &[a, b])?;
                self.length(difference)
            }
            Dot => self.dot(a, b),
            Cross => self.cross(a, b),
            Normalize => self.emit(Op::Nrm, t, &[a]),
            FaceForward => self.face_forward(t, a, b, c),
            Reflect => self.reflect(t, a, b),
            Refract => self.refract(t, a, b, c),
            LessThan => self.emit(Op::Slt, bools, &[a, b]),
            GreaterThan => self.emit(Op::Slt, bools, &[b, a]),
            LessThanEqual => self.emit(Op::Sge, bools, &[b, a]),
            GreaterThanEqual => self.emit(Op::Sge, bools, &[a, b]),
            Equal => self.emit(Op::Seq, bools, &[a, b]),
            NotEqual => self.emit(Op::Sne, bools, &[a, b]),
            Any => self.reduce_bools(Op::Or, &[a]),
            All => self.reduce_bools(Op::And, &[a]),
            Not => self.emit(Op::Not, bools, &[a]),
            Dfdx => self.emit(Op::Ddx, t, &[a]),
            Dfdy => self.emit(Op::Ddy, t, &[a]),
            Fwidth => {
                let x = self.emit(Op::Ddx, t, &[a])?;
                let y = self.emit(Op::Ddy, t, &[a])?;
                let x = self.emit(Op::Abs, t, &[x])?;
                let y = self.emit(Op::Abs, t, &[y])?;
                self.emit(Op::Add, t, &[x, y])
            }
            Noise | MatrixCompMult | OuterProduct | Transpose | Ftransform | Texture(_) => {
                Ok(Src::lit(Literal::splat(t, 0.0)))
            }
        }
    }
}
