//! Constructors (GLSL 1.10 section 5.4).

use super::emit::{float, lane, spread};
use super::{Lowerer, R, Val};
use crate::typed::Ty;
use ir::tac::Src;
use ir::types::{Scalar, Swizzle};

impl<'a> Lowerer<'_, 'a> {
    /// A value of the type from its arguments' values.
    pub(super) fn construct(&mut self, ty: Ty<'a>, args: Vec<Val<'a>>) -> R<Val<'a>> {
        match ty {
            Ty::Vec(t) => {
                let mut parts = Vec::new();
                let mut have = 0;
                for src in args.iter().flat_map(|a| a.regs.iter().copied()) {
                    let take = src.swz.len().min(t.lanes - have);
                    if take == 0 {
                        break;
                    }
                    // What is not taken is not converted either.
                    let used = if take < src.swz.len() { src.swizzled(Swizzle::identity(take)) } else { src };
                    parts.push(self.convert(used, t.scalar)?);
                    have += take;
                }
                let src = match parts[..] {
                    [one] if have == 1 => spread(one, t.lanes),
                    _ => self.gather(t.scalar, &parts)?,
                };
                Ok(self.val(ty, src))
            }
            Ty::Mat { cols, rows } => {
                let regs = match &args[..] {
                    [arg] if arg.ty.is_scalar() => self.diagonal(arg, cols, rows)?,
                    [Val { ty: Ty::Mat { cols: from_cols, rows: from_rows }, regs }] => {
                        self.resize(regs, (*from_cols, *from_rows), cols, rows)?
                    }
                    _ => {
                        let mut lanes = Vec::new();
                        for src in args.iter().flat_map(|a| a.regs.iter()) {
                            let src = self.convert(*src, Scalar::Float)?;
                            lanes.extend((0..src.swz.len()).map(|i| lane(src, i)));
                        }
                        lanes
                            .chunks(rows.into())
                            .take(cols.into())
                            .map(|c| self.gather(Scalar::Float, c))
                            .collect::<R<Vec<Src>>>()?
                    }
                };
                Ok(Val { ty, regs })
            }
            _ => Ok(Val { ty, regs: args.into_iter().flat_map(|a| a.regs).collect() }),
        }
    }

    fn diagonal(&mut self, arg: &Val<'a>, cols: u8, rows: u8) -> R<Vec<Src>> {
        let value = self.one(arg);
        let value = self.convert(value, Scalar::Float)?;
        (0..cols)
            .map(|c| {
                let parts: Vec<Src> = (0..rows).map(|r| if r == c { value } else { float(0.0) }).collect();
                self.gather(Scalar::Float, &parts)
            })
            .collect()
    }

    /// A matrix from another: what is missing comes from the identity.
    fn resize(&mut self, from: &[Src], (from_cols, from_rows): (u8, u8), cols: u8, rows: u8) -> R<Vec<Src>> {
        (0..cols)
            .map(|c| {
                let parts: Vec<Src> = (0..rows)
                    .map(|r| {
                        if c < from_cols && r < from_rows {
                            lane(from[c as usize], r)
                        } else {
                            float(if c == r { 1.0 } else { 0.0 })
                        }
                    })
                    .collect();
                self.gather(Scalar::Float, &parts)
            })
            .collect()
    }
}
