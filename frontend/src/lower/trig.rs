//! Inverse trigonometric functions by polynomials. The coefficients are fits of our own: iteratively
//! reweighted least squares towards the smallest greatest absolute error, on Chebyshev nodes.
//!
//! | function | form | greatest error of the polynomial |
//! |---|---|---|
//! | `acos` on [0, 1] | `sqrt(1 - x) * P5(x)` | 6.4e-7 |
//! | `atan` on [0, 1] | `x * P5(x * x)` | 1.7e-6 |
//!
//! Rounding in single precision adds about 3e-7. `asin` is `pi/2 - acos`; arguments outside of the
//! domain give what the formulas give.

use super::emit::splat;
use super::{Lowerer, R};
use ir::op::Op;
use ir::tac::Src;
use ir::types::{Scalar, Type};
use std::f32::consts::{FRAC_PI_2, PI};

/// Lowest power first.
const ACOS: [f32; 6] = [1.570_795_7, -0.214_542_82, 0.088_171_05, -0.045_927_215, 0.020_620_042, -0.004_911_165_7];
const ATAN: [f32; 6] = [0.999_977_2, -0.332_622_83, 0.193_540_38, -0.116_426_48, 0.052_647_35, -0.011_719_134];

impl Lowerer<'_, '_> {
    pub(super) fn tan(&mut self, t: Type, x: Src) -> R<Src> {
        let sin = self.emit(Op::Sin, t, &[x])?;
        let cos = self.emit(Op::Cos, t, &[x])?;
        self.emit(Op::Div, t, &[sin, cos])
    }

    fn polynomial(&mut self, t: Type, x: Src, coefficients: &[f32]) -> R<Src> {
        let mut powers = coefficients.iter().rev();
        let mut sum = splat(t, powers.next().copied().unwrap_or(0.0));
        for &c in powers {
            sum = self.emit(Op::Mad, t, &[sum, x, splat(t, c)])?;
        }
        Ok(sum)
    }

    /// `acos(|x|)`
    fn acos_of_abs(&mut self, t: Type, x: Src) -> R<Src> {
        let abs = self.emit(Op::Abs, t, &[x])?;
        let rest = self.emit(Op::Sub, t, &[splat(t, 1.0), abs])?;
        let root = self.emit(Op::Sqrt, t, &[rest])?;
        let poly = self.polynomial(t, abs, &ACOS)?;
        self.emit(Op::Mul, t, &[root, poly])
    }

    fn is_negative(&mut self, t: Type, x: Src) -> R<Src> {
        self.emit(Op::Slt, Type { scalar: Scalar::Bool, ..t }, &[x, splat(t, 0.0)])
    }

    pub(super) fn acos(&mut self, t: Type, x: Src) -> R<Src> {
        let near = self.acos_of_abs(t, x)?;
        let far = self.emit(Op::Sub, t, &[splat(t, PI), near])?;
        let negative = self.is_negative(t, x)?;
        self.emit(Op::Select, t, &[negative, far, near])
    }

    pub(super) fn asin(&mut self, t: Type, x: Src) -> R<Src> {
        let near = self.acos_of_abs(t, x)?;
        let plus = self.emit(Op::Sub, t, &[splat(t, FRAC_PI_2), near])?;
        let minus = self.emit(Op::Neg, t, &[plus])?;
        let negative = self.is_negative(t, x)?;
        self.emit(Op::Select, t, &[negative, minus, plus])
    }

    /// `atan` on [0, 1]
    fn atan_of_unit(&mut self, t: Type, x: Src) -> R<Src> {
        let square = self.emit(Op::Mul, t, &[x, x])?;
        let poly = self.polynomial(t, square, &ATAN)?;
        self.emit(Op::Mul, t, &[x, poly])
    }

    pub(super) fn atan(&mut self, t: Type, x: Src) -> R<Src> {
        let one = splat(t, 1.0);
        let abs = self.emit(Op::Abs, t, &[x])?;
        let low = self.emit(Op::Min, t, &[abs, one])?;
        let high = self.emit(Op::Max, t, &[abs, one])?;
        let ratio = self.emit(Op::Div, t, &[low, high])?;
        let near = self.atan_of_unit(t, ratio)?;
        let steep = self.emit(Op::Slt, Type { scalar: Scalar::Bool, ..t }, &[one, abs])?;
        let far = self.emit(Op::Sub, t, &[splat(t, FRAC_PI_2), near])?;
        let plus = self.emit(Op::Select, t, &[steep, far, near])?;
        let minus = self.emit(Op::Neg, t, &[plus])?;
        let negative = self.is_negative(t, x)?;
        self.emit(Op::Select, t, &[negative, minus, plus])
    }

    /// The angle of `(x, y)` in all four quadrants; 0 or pi when both are 0.
    pub(super) fn atan2(&mut self, t: Type, y: Src, x: Src) -> R<Src> {
        let (ax, ay) = (self.emit(Op::Abs, t, &[x])?, self.emit(Op::Abs, t, &[y])?);
        let low = self.emit(Op::Min, t, &[ax, ay])?;
        let high = self.emit(Op::Max, t, &[ax, ay])?;
        // Keeps 0 / 0 away.
        let high = self.emit(Op::Max, t, &[high, splat(t, 1e-30)])?;
        let ratio = self.emit(Op::Div, t, &[low, high])?;
        let near = self.atan_of_unit(t, ratio)?;
        let steep = self.emit(Op::Slt, Type { scalar: Scalar::Bool, ..t }, &[ax, ay])?;
        let far = self.emit(Op::Sub, t, &[splat(t, FRAC_PI_2), near])?;
        let first = self.emit(Op::Select, t, &[steep, far, near])?;
        let left = self.is_negative(t, x)?;
        let mirrored = self.emit(Op::Sub, t, &[splat(t, PI), first])?;
        let upper = self.emit(Op::Select, t, &[left, mirrored, first])?;
        let below = self.is_negative(t, y)?;
        let lower = self.emit(Op::Neg, t, &[upper])?;
        self.emit(Op::Select, t, &[below, lower, upper])
    }
}
