//! Operators with two operands, and the products of matrices.
//!
//! `mat * vec` is one multiply a column and additions from left to right, the paper's form; what
//! can be fused is the optimizer's business.

use super::emit::{lane, spread};
use super::{Lowerer, R, Val};
use crate::ast::BinaryOp;
use crate::typed::Ty;
use ir::op::Op;
use ir::tac::Src;
use ir::types::{Scalar, Type};

impl<'a> Lowerer<'_, 'a> {
    /// `a op b`
    pub(super) fn binary(&mut self, op: BinaryOp, a: Val<'a>, b: Val<'a>, ty: Ty<'a>) -> R<Val<'a>> {
        let relation = |l: &mut Self, op, x, y| {
            let src = l.emit(op, Type::BOOL, &[x, y])?;
            Ok(l.val(Ty::BOOL, src))
        };
        let (x, y) = (self.one(&a), self.one(&b));
        match op {
            BinaryOp::Lt => relation(self, Op::Slt, x, y),
            BinaryOp::Gt => relation(self, Op::Slt, y, x),
            BinaryOp::Le => relation(self, Op::Sge, y, x),
            BinaryOp::Ge => relation(self, Op::Sge, x, y),
            BinaryOp::And => relation(self, Op::And, x, y),
            BinaryOp::Or => relation(self, Op::Or, x, y),
            BinaryOp::Xor => relation(self, Op::Xor, x, y),
            BinaryOp::Eq | BinaryOp::Ne => {
                let src = self.equality(op, &a, &b)?;
                Ok(self.val(Ty::BOOL, src))
            }
            BinaryOp::Mul => match (a.ty, b.ty) {
                (Ty::Mat { .. }, Ty::Vec(v)) if v.lanes > 1 => {
                    let src = self.mat_vec(&a, y)?;
                    Ok(self.val(ty, src))
                }
                (Ty::Vec(v), Ty::Mat { .. }) if v.lanes > 1 => {
                    let src = self.vec_mat(x, &b)?;
                    Ok(self.val(ty, src))
                }
                (Ty::Mat { .. }, Ty::Mat { .. }) => {
                    let regs = b.regs.iter().map(|&col| self.mat_vec(&a, col)).collect::<R<Vec<Src>>>()?;
                    Ok(Val { ty, regs })
                }
                _ => self.lanewise(Op::Mul, a, b, ty),
            },
            BinaryOp::Div if a.ty.scalar() == Some(Scalar::Int) => self.lanewise(Op::Idiv, a, b, ty),
            BinaryOp::Div => self.lanewise(Op::Div, a, b, ty),
            BinaryOp::Add => self.lanewise(Op::Add, a, b, ty),
            BinaryOp::Sub => self.lanewise(Op::Sub, a, b, ty),
        }
    }

    /// Register by register; a scalar goes with each.
    fn lanewise(&mut self, op: Op, a: Val<'a>, b: Val<'a>, ty: Ty<'a>) -> R<Val<'a>> {
        let mut types = Vec::new();
        ty.push_regs(&mut types);
        let pick = |v: &Val<'a>, i: usize| if v.regs.len() == 1 { v.regs[0] } else { v.regs[i] };
        let mut regs = Vec::with_capacity(types.len());
        for (i, reg) in types.into_iter().enumerate() {
            let srcs = [spread(pick(&a, i), reg.lanes), spread(pick(&b, i), reg.lanes)];
            regs.push(self.emit(op, reg, &srcs)?);
        }
        Ok(Val { ty, regs })
    }

    /// A matrix times a column.
    fn mat_vec(&mut self, m: &Val<'a>, v: Src) -> R<Src> {
        let mut sum: Option<Src> = None;
        for (i, &col) in m.regs.iter().enumerate() {
            let ty = self.src_type(col);
            let product = self.emit(Op::Mul, ty, &[col, spread(lane(v, i as u8), ty.lanes)])?;
            sum = Some(match sum {
                None => product,
                Some(sum) => self.emit(Op::Add, ty, &[sum, product])?,
            });
        }
        Ok(sum.unwrap_or(v))
    }

    /// A row times a matrix: a dot product a column.
    fn vec_mat(&mut self, v: Src, m: &Val<'a>) -> R<Src> {
        let var = self.temp(Type::float(m.regs.len() as u8))?;
        for (i, &col) in m.regs.iter().enumerate() {
            let mask = ir::types::WriteMask::lane(i as u8);
            let dst = ir::tac::Dst { var, index: ir::tac::Index::default(), mask };
            self.dot_to(dst, v, col)?;
        }
        Ok(Src::var(var, 0, m.regs.len() as u8))
    }

    /// A dot product into a place of one lane.
    pub(super) fn dot_to(&mut self, dst: ir::tac::Dst, a: Src, b: Src) -> R<()> {
        let op = match a.swz.len() {
            1 => Op::Mul,
            2 => Op::Dp2,
            3 => Op::Dp3,
            _ => Op::Dp4,
        };
        self.emit_to(dst, op, &[a, b])
    }
}
