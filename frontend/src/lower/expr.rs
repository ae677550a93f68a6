//! Expressions (GLSL 1.10 chapter 5).

use super::emit::{lane, spread};
use super::layout::literals;
use super::place::{Place, is_place};
use super::{Lowerer, R, Val};
use crate::ast::BinaryOp;
use crate::typed::{Expr, ExprKind, Ty};
use ir::op::Op;
use ir::tac::{Src, TacOp, VarKind};
use ir::types::{Scalar, Type};

impl<'a> Lowerer<'_, 'a> {
    /// The value of an expression.
    pub(super) fn expr(&mut self, e: &'a Expr<'a>) -> R<Val<'a>> {
        let before = self.enter(e.span);
        let val = self.expr_here(e);
        self.leave(before);
        val
    }

    fn expr_here(&mut self, e: &'a Expr<'a>) -> R<Val<'a>> {
        match e.kind {
            ExprKind::Const(lanes) => {
                let regs = literals(e.ty, lanes).into_iter().map(Src::lit).collect();
                Ok(Val { ty: e.ty, regs })
            }
            ExprKind::Var(_) => self.load_expr(e),
            ExprKind::Field(..) | ExprKind::Swizzle(..) | ExprKind::Index(..) if is_place(e) => self.load_expr(e),
            ExprKind::Field(a, i) => self.field(a, i, e.ty),
            ExprKind::Swizzle(a, swz) => {
                let val = self.expr(a)?;
                let src = self.one(&val).swizzled(swz);
                Ok(self.val(e.ty, src))
            }
            ExprKind::Index(a, i) => self.index(e, a, i),
            ExprKind::Neg(a) => {
                let val = self.expr(a)?;
                self.map(val, |l, ty, src| l.emit(Op::Neg, ty, &[src]))
            }
            ExprKind::Not(a) => {
                let val = self.expr(a)?;
                self.map(val, |l, ty, src| l.emit(Op::Not, ty, &[src]))
            }
            ExprKind::Step { place, up, post } => self.step(place, up, post),
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => self.short_circuit(op, a, b),
            ExprKind::Binary(op, a, b) => {
                let vals = self.exprs(&[a, b])?;
                let [a, b] = <[Val<'a>; 2]>::try_from(vals).unwrap_or_else(|_| [self.no_value(), self.no_value()]);
                self.binary(op, a, b, e.ty)
            }
            ExprKind::Assign(..) => {
                let place = self.assign(e)?;
                self.load(&place)
            }
            ExprKind::Ternary(c, a, b) => self.ternary(c, a, b, e.ty),
            ExprKind::Comma(a, b) => {
                self.effect(a)?;
                self.expr(b)
            }
            ExprKind::Call(func, args) => self.call(func, args),
            ExprKind::Builtin(func, args) => self.builtin(func, args, e.ty),
            ExprKind::Construct(args) => {
                let args = self.exprs(args)?;
                self.construct(e.ty, args)
            }
        }
    }

    fn no_value(&self) -> Val<'a> {
        Val { ty: Ty::Void, regs: Vec::new() }
    }

    fn load_expr(&mut self, e: &'a Expr<'a>) -> R<Val<'a>> {
        let place = self.place(e, false)?;
        self.load(&place)
    }

    /// Evaluates only for the effect.
    pub(super) fn effect(&mut self, e: &'a Expr<'a>) -> R<()> {
        let before = self.enter(e.span);
        match e.kind {
            ExprKind::Assign(..) => {
                self.assign(e)?;
            }
            ExprKind::Step { place, up, .. } => {
                self.step(place, up, false)?;
            }
            ExprKind::Comma(a, b) => {
                self.effect(a)?;
                self.effect(b)?;
            }
            _ => {
                self.expr(e)?;
            }
        }
        self.leave(before);
        Ok(())
    }

    /// Values from left to right; a value that a later one may change is copied.
    pub(super) fn exprs(&mut self, all: &[&'a Expr<'a>]) -> R<Vec<Val<'a>>> {
        let mut out = Vec::with_capacity(all.len());
        for (i, e) in all.iter().enumerate() {
            let mut val = self.expr(e)?;
            if all[i + 1..].iter().any(|later| later.effects) {
                val = self.stable_val(val)?;
            }
            out.push(val);
        }
        Ok(out)
    }

    /// Each register through a function.
    pub(super) fn map(&mut self, val: Val<'a>, f: impl Fn(&mut Self, Type, Src) -> R<Src>) -> R<Val<'a>> {
        let mut regs = Vec::with_capacity(val.regs.len());
        for src in val.regs {
            let ty = self.src_type(src);
            regs.push(f(self, ty, src)?);
        }
        Ok(Val { ty: val.ty, regs })
    }

    /// A field of a value that is no place.
    fn field(&mut self, a: &'a Expr<'a>, i: u32, ty: Ty<'a>) -> R<Val<'a>> {
        let val = self.expr(a)?;
        let Ty::Struct(s) = a.ty else { return Ok(val) };
        let start: u64 = s.fields[..i as usize].iter().map(|f| f.ty.regs()).sum();
        let end = start + ty.regs();
        Ok(Val { ty, regs: val.regs[start as usize..end as usize].to_vec() })
    }

    /// An element of a value that is no place.
    fn index(&mut self, e: &'a Expr<'a>, a: &'a Expr<'a>, i: &'a Expr<'a>) -> R<Val<'a>> {
        match (a.ty, i.const_int()) {
            (Ty::Vec(_), Some(c)) => {
                let val = self.expr(a)?;
                let src = lane(self.one(&val), c as u8);
                Ok(self.val(e.ty, src))
            }
            (Ty::Vec(_), None) => {
                let vals = self.exprs(&[a, i])?;
                let src = self.dynamic_component(self.one(&vals[0]), self.one(&vals[1]))?;
                Ok(self.val(e.ty, src))
            }
            (_, Some(c)) => {
                let val = self.expr(a)?;
                let width = e.ty.regs() as usize;
                let start = c as usize * width;
                Ok(Val { ty: e.ty, regs: val.regs[start..start + width].to_vec() })
            }
            (_, None) => self.load_expr(e),
        }
    }

    fn step(&mut self, place: &'a Expr<'a>, up: bool, post: bool) -> R<Val<'a>> {
        let mut at = self.place(place, true)?;
        let mut old = self.load(&at)?;
        if post {
            old = self.stable_val(old)?;
        }
        let op = if up { Op::Add } else { Op::Sub };
        let new = self.map(old.clone(), |l, ty, src| l.emit(op, ty, &[src, super::emit::splat(ty, 1.0)]))?;
        self.store(&mut at, new)?;
        if post { Ok(old) } else { self.load(&at) }
    }

    /// Assigns and gives the place.
    fn assign(&mut self, e: &'a Expr<'a>) -> R<Place<'a>> {
        let ExprKind::Assign(op, lhs, rhs) = e.kind else { return self.place(e, false) };
        let mut place = self.place(lhs, rhs.effects)?;
        let mut val = match op {
            None => self.expr(rhs)?,
            Some(op) => {
                let mut old = self.load(&place)?;
                if rhs.effects {
                    old = self.stable_val(old)?;
                }
                let new = self.expr(rhs)?;
                self.binary(op, old, new, lhs.ty)?
            }
        };
        val.ty = lhs.ty;
        self.store(&mut place, val)?;
        Ok(place)
    }

    /// `&&` and `||`: the right side runs only when it must, if one could tell.
    fn short_circuit(&mut self, op: BinaryOp, a: &'a Expr<'a>, b: &'a Expr<'a>) -> R<Val<'a>> {
        let tac = if op == BinaryOp::And { Op::And } else { Op::Or };
        if !b.effects && !b.costly {
            let vals = self.exprs(&[a, b])?;
            let src = self.emit(tac, Type::BOOL, &[self.one(&vals[0]), self.one(&vals[1])])?;
            return Ok(self.val(Ty::BOOL, src));
        }
        let first = self.expr(a)?;
        let mut result = Place::whole(self.new_storage("t", Ty::BOOL, VarKind::Temp), Ty::BOOL);
        self.store(&mut result, first)?;
        let held = self.load(&result)?;
        let mut test = self.one(&held);
        if op == BinaryOp::Or {
            test = self.emit(Op::Not, Type::BOOL, &[test])?;
        }
        self.flow(TacOp::If, vec![test])?;
        let second = self.expr(b)?;
        self.store(&mut result, second)?;
        self.flow(TacOp::EndIf, vec![])?;
        self.load(&result)
    }

    fn ternary(&mut self, c: &'a Expr<'a>, a: &'a Expr<'a>, b: &'a Expr<'a>, ty: Ty<'a>) -> R<Val<'a>> {
        if let Some([known]) = c.constant() {
            return self.expr(if known.as_bool() { a } else { b });
        }
        let branch = a.effects || b.effects || a.costly || b.costly;
        if !branch {
            let vals = self.exprs(&[c, a, b])?;
            let cond = self.one(&vals[0]);
            let mut regs = Vec::new();
            for (&x, &y) in vals[1].regs.iter().zip(&vals[2].regs) {
                let reg = self.src_type(x);
                regs.push(self.emit(Op::Select, reg, &[cond, x, y])?);
            }
            return Ok(Val { ty, regs });
        }
        let cond = self.expr(c)?;
        let mut result = Place::whole(self.new_storage("t", ty, VarKind::Temp), ty);
        self.flow(TacOp::If, vec![self.one(&cond)])?;
        let then = self.expr(a)?;
        self.store(&mut result, then)?;
        self.flow(TacOp::Else, vec![])?;
        let otherwise = self.expr(b)?;
        self.store(&mut result, otherwise)?;
        self.flow(TacOp::EndIf, vec![])?;
        self.load(&result)
    }

    /// `==` and `!=` on whole values.
    pub(super) fn equality(&mut self, op: BinaryOp, a: &Val<'a>, b: &Val<'a>) -> R<Src> {
        let (each, join) = if op == BinaryOp::Eq { (Op::Seq, Op::And) } else { (Op::Sne, Op::Or) };
        let mut bools = Vec::new();
        for (&x, &y) in a.regs.iter().zip(&b.regs) {
            let lanes = x.swz.len();
            bools.push(self.emit(each, Type { scalar: Scalar::Bool, lanes }, &[x, spread(y, lanes)])?);
        }
        self.reduce_bools(join, &bools)
    }
}
