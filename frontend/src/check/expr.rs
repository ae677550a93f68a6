//! Expressions: names, members, indices, and the entry for all others (GLSL 1.10 chapter 5).

use super::Checker;
use crate::ast::{self, Name, UnaryOp};
use crate::spec;
use crate::suggest;
use crate::typed::{Expr, ExprKind, Lane, Role, Ty};
use ir::diag::{Diagnostic, Span};
use ir::types::{Scalar, Swizzle};

/// The note about a name of an extension that is not there.
pub(super) fn unsupported(name: &str, extension: &str) -> String {
    format!("`{name}` belongs to {extension}, which this compiler does not support")
}

impl<'a> Checker<'a> {
    /// Checks an expression.
    pub(super) fn expr(&mut self, e: &'a ast::Expr<'a>) -> &'a Expr<'a> {
        let span = e.span;
        if self.diags.stopped() {
            return self.wrong(span);
        }
        match e.kind {
            ast::ExprKind::Int(v) => self.constant(&[Lane::Int(v)], Ty::INT, span),
            ast::ExprKind::Float(v) => self.constant(&[Lane::Float(v)], Ty::FLOAT, span),
            ast::ExprKind::Bool(v) => self.constant(&[Lane::Bool(v)], Ty::BOOL, span),
            ast::ExprKind::Name(name) => self.name(name, span),
            ast::ExprKind::Unary { op, operand } => self.unary(op, operand, span),
            ast::ExprKind::Binary { op, lhs, rhs } => {
                let (a, b) = (self.expr(lhs), self.expr(rhs));
                self.binary(op, a, b, span)
            }
            ast::ExprKind::Assign { op, lhs, rhs } => self.assign(op, lhs, rhs, span),
            ast::ExprKind::Ternary { cond, then, otherwise } => self.ternary(cond, then, otherwise, span),
            ast::ExprKind::Comma { lhs, rhs } => {
                let (a, b) = (self.expr(lhs), self.expr(rhs));
                if a.ty.is_error() || b.ty.is_error() {
                    return self.wrong(span);
                }
                // A sequence of constants is constant in these versions; drivers agree.
                if a.constant().is_some()
                    && let Some(lanes) = b.constant()
                {
                    return self.constant(lanes, b.ty, span);
                }
                self.alloc(ExprKind::Comma(a, b), b.ty, span)
            }
            ast::ExprKind::Call { callee, args } => self.call(callee, args, span),
            ast::ExprKind::Construct { ty, args } => self.construct(ty, args, span),
            ast::ExprKind::Method { object, name, args } => self.method(object, name, args, span),
            ast::ExprKind::Field { object, name } => self.field(object, name, span),
            ast::ExprKind::Index { object, index } => self.index(object, index, span),
            ast::ExprKind::Error => self.wrong(span),
        }
    }

    fn name(&mut self, name: &'a str, span: Span) -> &'a Expr<'a> {
        let Some(id) = self.scopes.find_var(name).or_else(|| self.builtin_var(name)) else {
            self.unknown_variable(name, span);
            return self.wrong(span);
        };
        self.used.insert(id);
        let var = *self.var(id);
        if var.ty.is_error() {
            return self.wrong(span);
        }
        match (var.role, var.value) {
            (Role::Const, Some(lanes)) => self.alloc(ExprKind::Const(lanes), var.ty, span),
            _ => self.alloc(ExprKind::Var(id), var.ty, span),
        }
    }

    pub(super) fn unknown_variable(&mut self, name: &str, span: Span) {
        let mut diagnostic = Diagnostic::error("undeclared-name", span, format!("`{name}` is not declared"));
        if self.by_name.contains_key(name) || crate::builtins::is_function_name(name) {
            diagnostic = diagnostic.note(format!("`{name}` is a function"));
        } else if let Some(extension) = crate::builtins::belongs_to(name) {
            diagnostic = diagnostic.note(unsupported(name, extension));
        } else {
            diagnostic = suggest::add(diagnostic, name, &self.visible_names(), "");
        }
        let other = match self.features.stage {
            ir::types::Stage::Vertex => ir::types::Stage::Fragment,
            ir::types::Stage::Fragment => ir::types::Stage::Vertex,
        };
        let there = crate::builtins::Features { stage: other, ..self.features };
        if crate::builtins::variables::find(name, &there).is_some() {
            diagnostic = diagnostic.note(format!("`{name}` exists in the other stage only"));
        }
        self.report(diagnostic, spec::SCOPING);
    }

    fn unary(&mut self, op: UnaryOp, operand: &'a ast::Expr<'a>, span: Span) -> &'a Expr<'a> {
        let a = self.expr(operand);
        if a.ty.is_error() {
            return self.wrong(span);
        }
        let numeric = matches!(a.ty.scalar(), Some(Scalar::Float | Scalar::Int));
        let fits = match op {
            UnaryOp::Not => a.ty == Ty::BOOL,
            _ => numeric,
        };
        if !fits {
            let message = format!("`{}` on {}", op.symbol(), a.ty);
            self.error("bad-operand", span, message, spec::EXPRESSIONS);
            return self.wrong(span);
        }
        match op {
            UnaryOp::Plus => a,
            UnaryOp::Minus => self.fold(ExprKind::Neg(a), a.ty, span),
            UnaryOp::Not => self.fold(ExprKind::Not(a), a.ty, span),
            UnaryOp::PreInc | UnaryOp::PreDec | UnaryOp::PostInc | UnaryOp::PostDec => {
                if !self.check_place(a, "changed") {
                    return self.wrong(span);
                }
                let up = matches!(op, UnaryOp::PreInc | UnaryOp::PostInc);
                self.alloc(ExprKind::Step { place: a, up, post: op.is_postfix() }, a.ty, span)
            }
        }
    }

    fn field(&mut self, object: &'a ast::Expr<'a>, name: Name<'a>, span: Span) -> &'a Expr<'a> {
        let a = self.expr(object);
        match a.ty {
            Ty::Error => self.wrong(span),
            Ty::Struct(s) => match s.fields.iter().position(|f| f.name == name.text) {
                Some(i) => self.fold(ExprKind::Field(a, i as u32), s.fields[i].ty, span),
                None => {
                    let names: Vec<String> = s.fields.iter().map(|f| f.name.to_string()).collect();
                    let diagnostic = Diagnostic::error(
                        "no-such-field",
                        name.span,
                        format!("`{}` has no field `{}`", a.ty, name.text),
                    );
                    self.report(suggest::add(diagnostic, name.text, &names, ""), spec::FIELDS);
                    self.wrong(span)
                }
            },
            Ty::Vec(t) if t.lanes > 1 => {
                let note = spec::VECTOR_COMPONENTS;
                let message = if name.text.len() > 4 {
                    format!("`{}` picks more than four components", name.text)
                } else if let Some(swz) = Swizzle::parse(name.text) {
                    if swz.lanes().iter().all(|&l| l < t.lanes) {
                        return self.fold(ExprKind::Swizzle(a, swz), Ty::vec(t.scalar, swz.len()), span);
                    }
                    format!("`{}` picks a component that {} does not have", name.text, a.ty)
                } else if name.text.chars().all(|c| "xyzwrgbastpq".contains(c)) {
                    format!("`{}` mixes names of different sets", name.text)
                } else {
                    format!("`{}` is no component of {}", name.text, a.ty)
                };
                self.error("bad-swizzle", name.span, message, note);
                self.wrong(span)
            }
            _ => {
                let message = format!("{} has no members", a.ty);
                self.error("no-such-field", name.span, message, spec::FIELDS);
                self.wrong(span)
            }
        }
    }

    fn method(
        &mut self,
        object: &'a ast::Expr<'a>,
        name: Name<'a>,
        args: &'a [ast::Expr<'a>],
        span: Span,
    ) -> &'a Expr<'a> {
        let a = self.expr(object);
        let note = spec::ARRAYS;
        let message = match a.ty {
            Ty::Error => return self.wrong(span),
            _ if name.text != "length" => format!("there is no method `{}`", name.text),
            _ if !args.is_empty() => "`length` takes no arguments".to_string(),
            _ if !self.array_values() => "`.length()` exists from GLSL 1.20 on".to_string(),
            Ty::Array(_, 0) => "the array has no size yet".to_string(),
            Ty::Array(_, n) => return self.constant(&[Lane::Int(n as i32)], Ty::INT, span),
            other => format!("{other} has no `length`"),
        };
        self.error("bad-method", name.span, message, note);
        self.wrong(span)
    }

    fn index(&mut self, object: &'a ast::Expr<'a>, index: &'a ast::Expr<'a>, span: Span) -> &'a Expr<'a> {
        let a = self.expr(object);
        let i = self.expr(index);
        let (ty, len) = match a.ty {
            Ty::Error => return self.wrong(span),
            Ty::Array(elem, n) => (*elem, n),
            Ty::Mat { cols, rows } => (Ty::float(rows), cols.into()),
            Ty::Vec(t) if t.lanes > 1 => (Ty::vec(t.scalar, 1), t.lanes.into()),
            other => {
                self.error("not-indexable", span, format!("{other} cannot be indexed"), spec::SUBSCRIPTS);
                return self.wrong(span);
            }
        };
        if i.ty != Ty::INT {
            if !i.ty.is_error() {
                self.error("index-not-int", i.span, format!("the index is {}, not int", i.ty), spec::SUBSCRIPTS);
            }
            return self.wrong(span);
        }
        match i.const_int() {
            Some(v) if v < 0 || (len > 0 && v as i64 >= i64::from(len)) => {
                let message = format!("index {v} is outside of {}", a.ty);
                let rule = match a.ty {
                    Ty::Vec(_) => spec::VECTOR_COMPONENTS,
                    Ty::Mat { .. } => spec::MATRIX_COMPONENTS,
                    _ => spec::ARRAYS,
                };
                self.error("index-out-of-range", i.span, message, rule);
                return self.wrong(span);
            }
            Some(v) if len == 0 => {
                if v as usize >= self.limits.type_regs {
                    let message = format!("index {v} of an array without a size is above the bound");
                    self.diags.push(self.limits.error("array-registers", i.span, message));
                    return self.wrong(span);
                }
                if let ExprKind::Var(id) = a.kind {
                    let var = *self.var(id);
                    if var.builtin && v >= 8 {
                        let message = format!("index {v} of `{}`, which has at most 8 elements", var.name);
                        self.error("index-out-of-range", i.span, message, spec::BUILTIN_VARYINGS);
                        return self.wrong(span);
                    }
                    let max = self.max_index.entry(id).or_insert(0);
                    *max = (*max).max(v as u32);
                }
            }
            None if len == 0 => {
                // Drivers give a built-in array all its elements then.
                if let ExprKind::Var(id) = a.kind
                    && self.var(id).builtin
                    && !self.is_es()
                {
                    let max = self.max_index.entry(id).or_insert(0);
                    *max = 7;
                    let message = "an array without a size is indexed by a variable";
                    self.warning("unsized-array", i.span, message, spec::ARRAYS);
                } else {
                    let message = "an array without a size can only be indexed by constants";
                    self.error("unsized-array", i.span, message, spec::ARRAYS);
                    return self.wrong(span);
                }
            }
            _ => {}
        }
        self.check_index_limits(a, i);
        self.fold(ExprKind::Index(a, i), ty, span)
    }

    /// A value as another type of the same shape (an implicit conversion).
    pub(super) fn convert(&self, e: &'a Expr<'a>, to: Ty<'a>) -> &'a Expr<'a> {
        if e.ty == to || e.ty.is_error() {
            return e;
        }
        let kind = ExprKind::Construct(self.arena.alloc_slice_copy(&[e]));
        self.fold(kind, to, e.span)
    }

    /// A value as the type that its place asks for, or an error.
    pub(super) fn convert_or_report(&mut self, e: &'a Expr<'a>, to: Ty<'a>, span: Span, what: &str) -> &'a Expr<'a> {
        if e.ty == to || e.ty.is_error() || to.is_error() {
            return e;
        }
        if e.ty.converts_to(to) {
            if self.features.conversions() {
                return self.convert(e, to);
            }
            let message = format!(
                "the {what} is {}, but {to} is needed; there are no implicit conversions in this version",
                e.ty
            );
            self.error("type-mismatch", span, message, spec::CONVERSIONS);
        } else {
            self.error("type-mismatch", span, format!("the {what} is {}, but {to} is needed", e.ty), spec::ASSIGNMENTS);
        }
        self.wrong(span)
    }
}
