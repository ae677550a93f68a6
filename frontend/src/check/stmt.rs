//! Statements (GLSL 1.10 chapter 6).

use super::Checker;
use crate::ast::{self, Condition};
use crate::spec;
use crate::typed::{Block, Expr, Loop, Stmt, StmtKind, Ty, VarId};
use ir::diag::Span;
use ir::types::Stage;

impl<'a> Checker<'a> {
    /// Statements in the scope that is open.
    pub(super) fn statements(&mut self, stmts: &[ast::Stmt<'a>]) -> &'a [Stmt<'a>] {
        let mut out = Vec::new();
        for stmt in stmts {
            if self.diags.stopped() {
                break;
            }
            self.statement(stmt, &mut out);
        }
        self.arena.alloc_slice_copy(&out)
    }

    /// Statements in a scope of their own.
    fn scoped(&mut self, stmts: &[ast::Stmt<'a>]) -> Block<'a> {
        self.scopes.push();
        let precision = self.float_precision.last().copied().flatten();
        self.float_precision.push(precision);
        let stmts = self.statements(stmts);
        self.float_precision.pop();
        self.scopes.pop();
        Block { stmts }
    }

    /// The body of an `if`: a scope of its own even without braces.
    fn branch(&mut self, stmt: &ast::Stmt<'a>) -> Block<'a> {
        match stmt.kind {
            ast::StmtKind::Block(b) => self.scoped(b.stmts),
            _ => self.scoped(std::slice::from_ref(stmt)),
        }
    }

    /// The body of a loop: it shares the scope that the loop's head opened (grammar:
    /// `statement_no_new_scope`).
    fn loop_body(&mut self, stmt: &ast::Stmt<'a>) -> Block<'a> {
        self.loops += 1;
        let stmts = match stmt.kind {
            // ES lets the body hide the loop's own names.
            ast::StmtKind::Block(b) if self.is_es() => self.scoped(b.stmts).stmts,
            ast::StmtKind::Block(b) => self.statements(b.stmts),
            _ => self.statements(std::slice::from_ref(stmt)),
        };
        self.loops -= 1;
        Block { stmts }
    }

    fn statement(&mut self, stmt: &ast::Stmt<'a>, out: &mut Vec<Stmt<'a>>) {
        let span = stmt.span;
        let kind = match stmt.kind {
            ast::StmtKind::Empty | ast::StmtKind::Error => return,
            ast::StmtKind::Block(b) => StmtKind::Block(self.scoped(b.stmts)),
            ast::StmtKind::Decl(decl) => return self.declaration(decl, out),
            ast::StmtKind::Expr(e) => StmtKind::Expr(self.expr(e)),
            ast::StmtKind::If { cond, then, otherwise } => {
                let cond = self.condition(cond);
                let then = self.branch(then);
                let otherwise = otherwise.map(|s| self.branch(s));
                StmtKind::If { cond, then, otherwise }
            }
            ast::StmtKind::While { cond, body } => {
                self.unmandated_loop("while", span);
                self.scopes.push();
                let (cond_var, cond) = self.loop_condition(&cond);
                let body = self.loop_body(body);
                self.scopes.pop();
                self.loop_stmt(Loop { init: &[], cond_var, cond, test_last: false, step: None, body })
            }
            ast::StmtKind::DoWhile { body, cond } => {
                self.unmandated_loop("do", span);
                self.scopes.push();
                let body = self.loop_body(body);
                self.scopes.pop();
                let cond = Some(self.condition(cond));
                self.loop_stmt(Loop { init: &[], cond_var: None, cond, test_last: true, step: None, body })
            }
            ast::StmtKind::For { init, cond, step, body } => {
                self.scopes.push();
                let mut before = Vec::new();
                self.statement(init, &mut before);
                let (cond_var, cond) = cond.map_or((None, None), |c| self.loop_condition(&c));
                let step = step.map(|e| self.expr(e));
                let index = self.check_loop_limits(&before, cond, step, span);
                let outer = self.loop_indices.len();
                self.loop_indices.extend(index);
                let body = self.loop_body(body);
                self.loop_indices.truncate(outer);
                self.scopes.pop();
                let init = self.arena.alloc_slice_copy(&before);
                self.loop_stmt(Loop { init, cond_var, cond, test_last: false, step, body })
            }
            ast::StmtKind::Return(value) => StmtKind::Return(self.return_value(value, span)),
            ast::StmtKind::Break => {
                self.check_in_loop("break", span);
                StmtKind::Break
            }
            ast::StmtKind::Continue => {
                self.check_in_loop("continue", span);
                StmtKind::Continue
            }
            ast::StmtKind::Discard => {
                if self.features.stage != Stage::Fragment {
                    self.error("discard-in-vertex", span, "`discard` outside a fragment shader", spec::JUMPS);
                }
                StmtKind::Discard
            }
        };
        out.push(Stmt { kind, span });
    }

    fn loop_stmt(&self, l: Loop<'a>) -> StmtKind<'a> {
        StmtKind::Loop(self.arena.alloc(l))
    }

    fn check_in_loop(&mut self, word: &str, span: Span) {
        if self.loops == 0 {
            self.error("jump-outside-loop", span, format!("`{word}` outside a loop"), spec::JUMPS);
        }
    }

    /// One bool.
    pub(super) fn condition(&mut self, e: &'a ast::Expr<'a>) -> &'a Expr<'a> {
        let cond = self.expr(e);
        self.check_condition(cond)
    }

    fn check_condition(&mut self, cond: &'a Expr<'a>) -> &'a Expr<'a> {
        if cond.ty != Ty::BOOL && !cond.ty.is_error() {
            let message = format!("the condition is {}, not bool", cond.ty);
            self.error("condition-not-bool", cond.span, message, spec::SELECTION);
            return self.wrong(cond.span);
        }
        cond
    }

    fn loop_condition(&mut self, cond: &Condition<'a>) -> (Option<VarId>, Option<&'a Expr<'a>>) {
        match cond {
            Condition::Expr(e) => (None, Some(self.condition(e))),
            Condition::Decl { qualifiers, ty, var } => {
                let base = self.type_spec(ty);
                let declared = self.variable(qualifiers, (base, ty.precision), var);
                let Some((id, init)) = declared else { return (None, None) };
                let value = self.var(id).ty;
                if value != Ty::BOOL && !value.is_error() {
                    let message = format!("the condition is {value}, not bool");
                    self.error("condition-not-bool", var.span, message, spec::ITERATION);
                }
                let init = init.unwrap_or_else(|| match self.var(id).value {
                    Some(lanes) => self.constant(lanes, value, var.span),
                    None => self.wrong(var.span),
                });
                (Some(id), Some(init))
            }
        }
    }

    fn return_value(&mut self, value: Option<&'a ast::Expr<'a>>, span: Span) -> Option<&'a Expr<'a>> {
        let result = self.current.map_or(Ty::Error, |id| self.funcs[id.0 as usize].result);
        let note = spec::JUMPS;
        let value = value.map(|e| self.expr(e));
        match (value, result) {
            (None, Ty::Void | Ty::Error) => None,
            (None, _) => {
                self.error(
                    "bad-return",
                    span,
                    format!("`return` without a value in a function that returns {result}"),
                    note,
                );
                None
            }
            (Some(v), Ty::Void) => {
                // `return f();` with a void call is no value, but not legal either.
                self.error("bad-return", v.span, "`return` with a value in a function that returns void", note);
                None
            }
            (Some(v), _) if v.ty == result || v.ty.is_error() || result.is_error() => Some(v),
            (Some(v), _) if self.features.conversions() && v.ty.converts_to(result) => {
                let message = format!("{} is converted to {result} by `return`, which not every driver does", v.ty);
                self.warning("implicit-return-conversion", v.span, message, spec::JUMPS);
                Some(self.convert(v, result))
            }
            (Some(v), _) => {
                self.error(
                    "bad-return",
                    v.span,
                    format!("`return` of {} in a function that returns {result}", v.ty),
                    note,
                );
                None
            }
        }
    }
}
