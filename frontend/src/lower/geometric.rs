//! Geometric and matrix functions (GLSL 1.10 sections 8.4 and 8.5) and `smoothstep`.

use super::emit::{float, lane, splat, spread};
use super::{Lowerer, R, Val};
use crate::typed::Ty;
use ir::op::Op;
use ir::tac::{Dst, Src};
use ir::types::{Scalar, Swizzle, Type};

impl<'a> Lowerer<'_, 'a> {
    pub(super) fn dot(&mut self, a: Src, b: Src) -> R<Src> {
        let var = self.temp(Type::FLOAT)?;
        self.dot_to(Dst::var(var, 0, 1), a, b)?;
        Ok(Src::var(var, 0, 1))
    }

    pub(super) fn length(&mut self, a: Src) -> R<Src> {
        if a.swz.len() == 1 {
            return self.emit(Op::Abs, Type::FLOAT, &[a]);
        }
        let square = self.dot(a, a)?;
        self.emit(Op::Sqrt, Type::FLOAT, &[square])
    }

    /// `a.yzx * b.zxy - a.zxy * b.yzx`, so that it can become MUL and MAD.
    pub(super) fn cross(&mut self, a: Src, b: Src) -> R<Src> {
        let (yzx, zxy) = (Swizzle::new(&[1, 2, 0]), Swizzle::new(&[2, 0, 1]));
        let t = Type::float(3);
        let minus = self.emit(Op::Mul, t, &[a.swizzled(zxy), b.swizzled(yzx)])?;
        let plus = self.emit(Op::Mul, t, &[a.swizzled(yzx), b.swizzled(zxy)])?;
        self.emit(Op::Sub, t, &[plus, minus])
    }

    /// `n` when `dot(reference, i) < 0`, else `-n`.
    pub(super) fn face_forward(&mut self, t: Type, n: Src, i: Src, reference: Src) -> R<Src> {
        let side = self.dot(reference, i)?;
        let away = self.emit(Op::Slt, Type::BOOL, &[side, float(0.0)])?;
        let turned = self.emit(Op::Neg, t, &[n])?;
        self.emit(Op::Select, t, &[away, n, turned])
    }

    /// `i - 2 * dot(n, i) * n`
    pub(super) fn reflect(&mut self, t: Type, i: Src, n: Src) -> R<Src> {
        let d = self.dot(n, i)?;
        let twice = self.emit(Op::Add, Type::FLOAT, &[d, d])?;
        let along = self.emit(Op::Mul, t, &[spread(twice, t.lanes), n])?;
        self.emit(Op::Sub, t, &[i, along])
    }

    /// `k = 1 - eta^2 (1 - d^2)`; 0 when `k < 0`, else `eta * i - (eta * d + sqrt(k)) * n`.
    pub(super) fn refract(&mut self, t: Type, i: Src, n: Src, eta: Src) -> R<Src> {
        let f = Type::FLOAT;
        let d = self.dot(n, i)?;
        let d2 = self.emit(Op::Mul, f, &[d, d])?;
        let sin2 = self.emit(Op::Sub, f, &[float(1.0), d2])?;
        let eta2 = self.emit(Op::Mul, f, &[eta, eta])?;
        let product = self.emit(Op::Mul, f, &[eta2, sin2])?;
        let k = self.emit(Op::Sub, f, &[float(1.0), product])?;
        let total = self.emit(Op::Slt, Type::BOOL, &[k, float(0.0)])?;
        let root = self.emit(Op::Sqrt, f, &[k])?;
        let scaled = self.emit(Op::Mul, f, &[eta, d])?;
        let factor = self.emit(Op::Add, f, &[scaled, root])?;
        let along = self.emit(Op::Mul, t, &[spread(factor, t.lanes), n])?;
        let bent = self.emit(Op::Mul, t, &[spread(eta, t.lanes), i])?;
        let out = self.emit(Op::Sub, t, &[bent, along])?;
        self.emit(Op::Select, t, &[total, splat(t, 0.0), out])
    }

    /// `t = clamp((x - low) / (high - low), 0, 1)`, then `t * t * (3 - 2 * t)`.
    pub(super) fn smoothstep(&mut self, ty: Type, [low, high, x]: [Src; 3]) -> R<Src> {
        let above = self.emit(Op::Sub, ty, &[x, low])?;
        let range = self.emit(Op::Sub, ty, &[high, low])?;
        let share = self.emit(Op::Div, ty, &[above, range])?;
        let share = self.emit(Op::Sat, ty, &[share])?;
        let square = self.emit(Op::Mul, ty, &[share, share])?;
        let twice = self.emit(Op::Mul, ty, &[share, splat(ty, 2.0)])?;
        let rest = self.emit(Op::Sub, ty, &[splat(ty, 3.0), twice])?;
        self.emit(Op::Mul, ty, &[square, rest])
    }

    /// Column `i` is `c * r[i]`.
    pub(super) fn outer_product(&mut self, vals: &[Val<'a>], ty: Ty<'a>) -> R<Val<'a>> {
        let (c, r) = (self.one(&vals[0]), self.one(&vals[1]));
        let column = self.src_type(c);
        let regs = (0..r.swz.len())
            .map(|i| self.emit(Op::Mul, column, &[c, spread(lane(r, i), column.lanes)]))
            .collect::<R<Vec<Src>>>()?;
        Ok(Val { ty, regs })
    }

    pub(super) fn transpose(&mut self, m: &Val<'a>, ty: Ty<'a>) -> R<Val<'a>> {
        let Ty::Mat { cols, .. } = ty else { return Ok(m.clone()) };
        let regs = (0..cols)
            .map(|c| {
                let row: Vec<Src> = m.regs.iter().map(|&col| lane(col, c)).collect();
                self.gather(Scalar::Float, &row)
            })
            .collect::<R<Vec<Src>>>()?;
        Ok(Val { ty, regs })
    }
}
