//! Operators with two and three operands (GLSL 1.10 sections 5.8 and 5.9, 1.20 section 4.1.10).

use super::Checker;
use crate::ast::{self, BinaryOp};
use crate::spec;
use crate::typed::{Expr, ExprKind, Ty};
use ir::diag::Span;
use ir::types::Scalar;

/// The type of an arithmetic result, when the operands fit as they are.
fn arithmetic<'a>(op: BinaryOp, a: Ty<'a>, b: Ty<'a>) -> Option<Ty<'a>> {
    let kind = a.scalar()?;
    if Some(kind) != b.scalar() || kind == Scalar::Bool {
        return None;
    }
    if a.is_scalar() {
        return Some(b);
    }
    if b.is_scalar() {
        return Some(a);
    }
    match (a, b) {
        (Ty::Mat { cols, rows }, Ty::Vec(v)) if op == BinaryOp::Mul => (v.lanes == cols).then_some(Ty::float(rows)),
        (Ty::Vec(v), Ty::Mat { cols, rows }) if op == BinaryOp::Mul => (v.lanes == rows).then_some(Ty::float(cols)),
        (Ty::Mat { cols: k, rows }, Ty::Mat { cols, rows: k2 }) if op == BinaryOp::Mul => {
            (k == k2).then_some(Ty::Mat { cols, rows })
        }
        _ => (a == b).then_some(a),
    }
}

impl<'a> Checker<'a> {
    /// Makes both operands float when one of them is (1.20 only).
    fn balance(&self, a: &'a Expr<'a>, b: &'a Expr<'a>) -> (&'a Expr<'a>, &'a Expr<'a>) {
        if !self.features.conversions() {
            return (a, b);
        }
        match (a.ty.scalar(), b.ty.scalar()) {
            (Some(Scalar::Int), Some(Scalar::Float)) => (self.convert(a, a.ty.with_scalar(Scalar::Float)), b),
            (Some(Scalar::Float), Some(Scalar::Int)) => (a, self.convert(b, b.ty.with_scalar(Scalar::Float))),
            _ => (a, b),
        }
    }

    /// `a op b` on checked operands.
    pub(super) fn binary(&mut self, op: BinaryOp, a: &'a Expr<'a>, b: &'a Expr<'a>, span: Span) -> &'a Expr<'a> {
        if a.ty.is_error() || b.ty.is_error() {
            return self.wrong(span);
        }
        let (x, y) = self.balance(a, b);
        let ty = match op {
            BinaryOp::Mul | BinaryOp::Div | BinaryOp::Add | BinaryOp::Sub => arithmetic(op, x.ty, y.ty),
            BinaryOp::Lt | BinaryOp::Gt | BinaryOp::Le | BinaryOp::Ge => {
                let fits = x.ty == y.ty && x.ty.is_scalar() && x.ty != Ty::BOOL;
                fits.then_some(Ty::BOOL)
            }
            BinaryOp::Eq | BinaryOp::Ne => {
                let array = x.ty.has_array() && (!self.array_values() || x.ty.is_unsized());
                let fits = x.ty == y.ty && x.ty != Ty::Void && !x.ty.has_sampler() && !array;
                fits.then_some(Ty::BOOL)
            }
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => (x.ty == Ty::BOOL && y.ty == Ty::BOOL).then_some(Ty::BOOL),
        };
        match ty {
            Some(ty) => self.fold(ExprKind::Binary(op, x, y), ty, span),
            None => {
                let mut message = format!("`{}` between {} and {}", op.symbol(), a.ty, b.ty);
                let mixed = matches!(
                    (a.ty.scalar(), b.ty.scalar()),
                    (Some(Scalar::Int), Some(Scalar::Float)) | (Some(Scalar::Float), Some(Scalar::Int))
                );
                if mixed && !self.features.conversions() {
                    message.push_str("; this version has no implicit conversions");
                }
                self.error("bad-operands", span, message, spec::EXPRESSIONS);
                self.wrong(span)
            }
        }
    }

    /// `a = b`, `a op= b`
    pub(super) fn assign(
        &mut self,
        op: Option<BinaryOp>,
        lhs: &'a ast::Expr<'a>,
        rhs: &'a ast::Expr<'a>,
        span: Span,
    ) -> &'a Expr<'a> {
        let (a, b) = (self.expr(lhs), self.expr(rhs));
        if a.ty.is_error() || b.ty.is_error() {
            return self.wrong(span);
        }
        if !self.check_place(a, "assigned") {
            return self.wrong(span);
        }
        if matches!(a.ty, Ty::Array(..)) && !self.array_values() {
            self.error("array-assignment", span, "arrays cannot be assigned before GLSL 1.20", spec::ASSIGNMENTS);
            return self.wrong(span);
        }
        if self.is_es() && a.ty.has_array() {
            let message = "a struct with an array in it cannot be assigned in ES";
            self.error("array-assignment", span, message, spec::FIELDS);
            return self.wrong(span);
        }
        if a.ty.is_unsized() {
            self.error("unsized-array", span, "an array without a size cannot be assigned", spec::ARRAYS);
            return self.wrong(span);
        }
        let b = match op {
            None => self.convert_or_report(b, a.ty, rhs.span, "assigned value"),
            Some(op) => {
                let b = match (a.ty.scalar(), b.ty.scalar()) {
                    (Some(Scalar::Float), Some(Scalar::Int)) if self.features.conversions() => {
                        self.convert(b, b.ty.with_scalar(Scalar::Float))
                    }
                    _ => b,
                };
                if arithmetic(op, a.ty, b.ty) != Some(a.ty) {
                    let message = format!("`{}=` between {} and {}", op.symbol(), a.ty, b.ty);
                    self.error("bad-operands", span, message, spec::ASSIGNMENTS);
                    return self.wrong(span);
                }
                b
            }
        };
        if b.ty.is_error() {
            return self.wrong(span);
        }
        self.alloc(ExprKind::Assign(op, a, b), a.ty, span)
    }

    /// `c ? a : b`
    pub(super) fn ternary(
        &mut self,
        cond: &'a ast::Expr<'a>,
        then: &'a ast::Expr<'a>,
        otherwise: &'a ast::Expr<'a>,
        span: Span,
    ) -> &'a Expr<'a> {
        let c = self.condition(cond);
        let (a, b) = (self.expr(then), self.expr(otherwise));
        if c.ty.is_error() || a.ty.is_error() || b.ty.is_error() {
            return self.wrong(span);
        }
        let (a, b) = if a.ty == b.ty { (a, b) } else { self.balance(a, b) };
        let array = matches!(a.ty, Ty::Array(..)) && !self.array_values();
        if a.ty != b.ty || a.ty.has_sampler() || array || a.ty.is_unsized() {
            let message = format!("`?:` between {} and {}", a.ty, b.ty);
            self.error("bad-operands", span, message, spec::EXPRESSIONS);
            return self.wrong(span);
        }
        self.fold(ExprKind::Ternary(c, a, b), a.ty, span)
    }
}
