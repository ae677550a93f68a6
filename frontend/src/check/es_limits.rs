//! What every OpenGL ES 2.0 implementation takes (ES 1.00 appendix A): loops with a constant number
//! of turns, and indices of constants and loop indices. This compiler takes more, so what goes beyond is
//! a warning that another implementation may refuse the shader.

use super::Checker;
use crate::ast::BinaryOp;
use crate::spec;
use crate::typed::{Expr, ExprKind, Role, Stmt, StmtKind, Ty, VarId};
use ir::diag::Span;
use ir::types::Stage;

impl<'a> Checker<'a> {
    /// Warns of a loop that is no `for`.
    pub(super) fn unmandated_loop(&mut self, word: &str, span: Span) {
        if self.is_es() {
            let message = format!("not every implementation of ES has `{word}` loops");
            self.warning("loop-limits", span, message, spec::LOOP_LIMITS);
        }
    }

    /// Judges the head of a `for`; gives its index when it is of the mandated form.
    pub(super) fn check_loop_limits(
        &mut self,
        init: &[Stmt<'a>],
        cond: Option<&'a Expr<'a>>,
        step: Option<&'a Expr<'a>>,
        span: Span,
    ) -> Option<VarId> {
        if !self.is_es() {
            return None;
        }
        let index = match init {
            [Stmt { kind: StmtKind::Declare(index, Some(start)), .. }] if start.constant().is_some() => Some(*index),
            _ => None,
        };
        let why = match index {
            None => Some("declares no single index with a constant start"),
            Some(index) if !is_mandated_condition(index, cond) => Some("does not compare its index with a constant"),
            Some(index) if !is_mandated_step(index, step) => Some("does not step its index by a constant"),
            Some(_) => None,
        };
        let Some(why) = why else { return index };
        let message = format!("the loop {why}; not every implementation of ES takes it");
        self.warning("loop-limits", span, message, spec::LOOP_LIMITS);
        None
    }

    /// Warns of a write to the index of an open loop.
    pub(super) fn check_index_write(&mut self, id: VarId, place: &Expr<'a>) {
        if self.loop_indices.contains(&id) {
            let name = self.var(id).name;
            let message =
                format!("the loop index `{name}` is changed in the loop; not every implementation of ES takes it");
            self.warning("loop-limits", place.span, message, spec::LOOP_LIMITS);
        }
    }

    /// Warns of an index that is neither constant nor made of loop indices, where ES asks for one.
    pub(super) fn check_index_limits(&mut self, object: &'a Expr<'a>, index: &'a Expr<'a>) {
        if !self.is_es() || index.constant().is_some() || self.is_constant_index(index) {
            return;
        }
        let mut root = object;
        while let ExprKind::Field(a, _) | ExprKind::Index(a, _) | ExprKind::Swizzle(a, _) = root.kind {
            root = a;
        }
        let uniform = matches!(root.kind, ExprKind::Var(id) if self.var(id).role == Role::Uniform);
        if uniform && self.features.stage == Stage::Vertex && !object.ty.has_sampler() {
            return;
        }
        let what = match object.ty {
            _ if object.ty.has_sampler() => "samplers",
            _ if uniform => "uniforms of the fragment stage",
            Ty::Vec(_) => "vectors",
            Ty::Mat { .. } => "matrices",
            _ => "arrays",
        };
        let message = format!("not every implementation of ES indexes {what} by what is no constant or loop index");
        self.warning("index-limits", index.span, message, spec::INDEX_LIMITS);
    }

    /// Whether the expression is made of constants and loop indices.
    fn is_constant_index(&self, e: &Expr<'a>) -> bool {
        match e.kind {
            ExprKind::Const(_) => true,
            ExprKind::Var(id) => self.loop_indices.contains(&id),
            ExprKind::Neg(a) | ExprKind::Not(a) => self.is_constant_index(a),
            ExprKind::Binary(_, a, b) | ExprKind::Index(a, b) => self.is_constant_index(a) && self.is_constant_index(b),
            ExprKind::Ternary(c, a, b) => [c, a, b].into_iter().all(|e| self.is_constant_index(e)),
            ExprKind::Construct(args) | ExprKind::Builtin(_, args) => args.iter().all(|e| self.is_constant_index(e)),
            ExprKind::Swizzle(a, _) | ExprKind::Field(a, _) => self.is_constant_index(a),
            _ => false,
        }
    }
}

/// `index < constant` and the like.
fn is_mandated_condition(index: VarId, cond: Option<&Expr<'_>>) -> bool {
    let Some(ExprKind::Binary(op, a, b)) = cond.map(|c| c.kind) else { return false };
    let relational =
        matches!(op, BinaryOp::Lt | BinaryOp::Gt | BinaryOp::Le | BinaryOp::Ge | BinaryOp::Eq | BinaryOp::Ne);
    relational && is_var(a, index) && b.constant().is_some()
}

/// `index++`, `index--`, `index += constant`, `index -= constant`.
fn is_mandated_step(index: VarId, step: Option<&Expr<'_>>) -> bool {
    match step.map(|s| s.kind) {
        Some(ExprKind::Step { place, post: true, .. }) => is_var(place, index),
        Some(ExprKind::Assign(Some(BinaryOp::Add | BinaryOp::Sub), place, by)) => {
            is_var(place, index) && by.constant().is_some()
        }
        _ => false,
    }
}

fn is_var(e: &Expr<'_>, id: VarId) -> bool {
    matches!(e.kind, ExprKind::Var(found) if found == id)
}
