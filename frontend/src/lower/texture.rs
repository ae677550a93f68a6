//! Texture reads (GLSL 1.10 section 8.7).
//!
//! A projective read with a bias or a level divides first, because the machine has no such read.
//! In a vertex shader there are no neighbours: a read without a level reads level 0.

use super::emit::{float, lane, spread};
use super::{Lowerer, R, sampler_shape};
use crate::builtins::{TexFn, TexLevel};
use crate::typed::Expr;
use ir::op::Op;
use ir::tac::{Dst, Inst, Src, TacOp, TexRef};
use ir::types::{Scalar, Swizzle, Type};

impl<'a> Lowerer<'_, 'a> {
    /// One read; `args` are sampler, coordinates and perhaps a bias or level.
    pub(super) fn texture(&mut self, f: TexFn, args: &[&'a Expr<'a>]) -> R<Src> {
        let (sampler, index) = self.sampler(args[0])?;
        let vals = self.exprs(&args[1..])?;
        let coords = self.one(&vals[0]);
        let extra = vals.get(1).map(|v| self.one(v));
        let (dim, shadow) = sampler_shape(f.kind);
        let tex = TexRef { sampler, index, dim, shadow };
        let (op, extra) = match (f.level, extra) {
            (TexLevel::Lod, Some(level)) => (Op::Txl, Some(level)),
            (TexLevel::Bias, Some(bias)) => (Op::Txb, Some(bias)),
            _ if !self.is_fragment() => (Op::Txl, Some(float(0.0))),
            _ if f.proj => (Op::Txp, None),
            _ => (Op::Tex, None),
        };
        let width = if shadow { (dim.coords() + 1).clamp(3, 4) } else { dim.coords() };
        let coords = match (op, f.proj) {
            (Op::Txp, _) => {
                // The divisor is the last lane and must be lane w.
                let last = coords.swz.len() - 1;
                let picks: Vec<u8> = (0..3).map(|i| u8::min(i, last)).chain([last]).collect();
                coords.swizzled(Swizzle::new(&picks))
            }
            (_, true) => {
                let divisor = lane(coords, coords.swz.len() - 1);
                let upper = coords.swizzled(Swizzle::identity(width.min(coords.swz.len())));
                let ty = Type { scalar: Scalar::Float, lanes: width };
                self.emit(Op::Div, ty, &[upper, spread(divisor, width)])?
            }
            _ => coords.swizzled(Swizzle::identity(width.min(coords.swz.len()))),
        };
        let var = self.temp(Type::VEC4)?;
        let srcs = std::iter::once(coords).chain(extra).collect();
        let line = self.line;
        self.push(Inst { op: TacOp::Tex(op, tex), dst: Some(Dst::var(var, 0, 4)), srcs, line })?;
        Ok(Src::var(var, 0, 4))
    }
}
