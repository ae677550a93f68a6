//! Statements and loops.
//!
//! A `for` loop's step stands at the end of the loop and before each `Cont`; the test of a `do`
//! loop likewise.

use super::place::Place;
use super::{LoopCtx, Lowerer, R, Val};
use crate::typed::{Block, Expr, Loop, Role, Stmt, StmtKind, VarId};
use ir::op::Op;
use ir::tac::{Inst, TacOp};
use ir::types::Type;

impl<'a> Lowerer<'_, 'a> {
    pub(super) fn block(&mut self, block: &Block<'a>) -> R<()> {
        for stmt in block.stmts {
            self.stmt(stmt)?;
            // What stands behind a jump cannot be reached.
            if matches!(stmt.kind, StmtKind::Return(_) | StmtKind::Break | StmtKind::Continue) {
                break;
            }
        }
        Ok(())
    }

    /// A variable's initial value.
    pub(super) fn initialize(&mut self, var: VarId, init: &'a Expr<'a>) -> R<()> {
        let val = self.expr(init)?;
        if self.shader.var(var).role == Role::Const {
            return Ok(());
        }
        let storage = self.storage_of(var);
        let ty = self.shader.var(var).ty;
        self.store(&mut Place::whole(storage, ty), Val { ty, regs: val.regs })
    }

    fn stmt(&mut self, stmt: &Stmt<'a>) -> R<()> {
        let before = self.enter(stmt.span);
        match stmt.kind {
            StmtKind::Block(b) => self.block(&b)?,
            StmtKind::Declare(_, None) => {}
            StmtKind::Declare(var, Some(init)) => self.initialize(var, init)?,
            StmtKind::Expr(e) => self.effect(e)?,
            StmtKind::If { cond, then, otherwise } => self.branch(cond, &then, otherwise.as_ref())?,
            StmtKind::Loop(l) => self.loop_stmt(l)?,
            StmtKind::Return(value) => {
                if let Some(value) = value {
                    let val = self.expr(value)?;
                    if let Some(storage) = self.result {
                        self.store(&mut Place::whole(storage, value.ty), val)?;
                    }
                }
                self.flow(TacOp::Ret, vec![])?;
            }
            StmtKind::Break => self.flow(TacOp::Brk, vec![])?,
            StmtKind::Continue => {
                if let Some(ctx) = self.loops.last().copied() {
                    if let Some(step) = ctx.step {
                        self.effect(step)?;
                    }
                    if let Some(test) = ctx.test {
                        self.leave_unless(test)?;
                    }
                }
                self.flow(TacOp::Cont, vec![])?;
            }
            StmtKind::Discard => {
                let line = self.line;
                let minus = super::emit::float(-1.0);
                self.push(Inst { op: TacOp::Op(Op::Kil), dst: None, srcs: vec![minus], line })?;
            }
        }
        self.leave(before);
        Ok(())
    }

    fn branch(&mut self, cond: &'a Expr<'a>, then: &Block<'a>, otherwise: Option<&Block<'a>>) -> R<()> {
        if let Some([known]) = cond.constant() {
            return match (known.as_bool(), otherwise) {
                (true, _) => self.block(then),
                (false, Some(otherwise)) => self.block(otherwise),
                (false, None) => Ok(()),
            };
        }
        let test = self.expr(cond)?;
        self.flow(TacOp::If, vec![self.one(&test)])?;
        self.block(then)?;
        if let Some(otherwise) = otherwise {
            self.flow(TacOp::Else, vec![])?;
            self.block(otherwise)?;
        }
        self.flow(TacOp::EndIf, vec![])
    }

    /// `if (!cond) break;`
    fn leave_unless(&mut self, cond: &'a Expr<'a>) -> R<()> {
        if let Some([known]) = cond.constant() {
            return if known.as_bool() { Ok(()) } else { self.flow(TacOp::Brk, vec![]) };
        }
        let test = self.expr(cond)?;
        let before = self.enter(cond.span);
        let not = self.emit(Op::Not, Type::BOOL, &[self.one(&test)])?;
        self.flow(TacOp::If, vec![not])?;
        self.flow(TacOp::Brk, vec![])?;
        self.flow(TacOp::EndIf, vec![])?;
        self.leave(before);
        Ok(())
    }

    fn loop_stmt(&mut self, l: &'a Loop<'a>) -> R<()> {
        l.init.iter().try_for_each(|s| self.stmt(s))?;
        self.flow(TacOp::Loop, vec![])?;
        let test_last = if l.test_last { l.cond } else { None };
        if let (Some(cond), false) = (l.cond, l.test_last) {
            match l.cond_var {
                None => self.leave_unless(cond)?,
                Some(var) => {
                    self.initialize(var, cond)?;
                    let test = self.expr_of_var(var, cond)?;
                    let not = self.emit(Op::Not, Type::BOOL, &[self.one(&test)])?;
                    self.flow(TacOp::If, vec![not])?;
                    self.flow(TacOp::Brk, vec![])?;
                    self.flow(TacOp::EndIf, vec![])?;
                }
            }
        }
        self.loops.push(LoopCtx { step: l.step, test: test_last });
        self.block(&l.body)?;
        self.loops.pop();
        if let Some(step) = l.step {
            self.effect(step)?;
        }
        if let Some(test) = test_last {
            self.leave_unless(test)?;
        }
        self.flow(TacOp::EndLoop, vec![])
    }

    fn expr_of_var(&mut self, var: VarId, init: &'a Expr<'a>) -> R<Val<'a>> {
        if self.shader.var(var).role == Role::Const {
            return self.expr(init);
        }
        let storage = self.storage_of(var);
        self.load(&Place::whole(storage, self.shader.var(var).ty))
    }
}
