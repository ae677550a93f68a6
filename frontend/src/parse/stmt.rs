//! Statements.

use super::Parser;
use crate::ast::*;
use crate::lexer::{Kw, Tok};
use ir::diag::Span;

impl<'a> Parser<'a, '_> {
    /// Statements in braces; the scope is the caller's or a new one.
    pub(super) fn block(&mut self) -> Block<'a> {
        let start = self.peek().span;
        let mut stmts = Vec::new();
        if self.expect(Tok::LBrace, "to begin a block") {
            let mark = self.open_scope();
            while !matches!(self.tok(), Tok::RBrace | Tok::Eof) {
                let before = self.pos;
                stmts.push(self.stmt());
                if self.lost {
                    self.recover_stmt();
                }
                if self.pos == before {
                    self.bump();
                }
            }
            self.close_scope(mark);
            self.expect(Tok::RBrace, "at the end of the block");
        }
        Block { stmts: self.bump.alloc_slice_copy(&stmts), span: self.span_from(start) }
    }

    fn stmt(&mut self) -> Stmt<'a> {
        let start = self.peek().span;
        if !self.enter() {
            return Stmt { kind: StmtKind::Error, span: start };
        }
        let kind = match self.tok() {
            Tok::LBrace => StmtKind::Block(self.block()),
            Tok::Kw(keyword) => self.keyword_stmt(keyword),
            _ => self.simple_stmt(),
        };
        self.leave();
        Stmt { kind, span: self.span_from(start) }
    }

    /// A statement in a scope of its own, in the arena.
    fn scoped_stmt(&mut self) -> &'a Stmt<'a> {
        let mark = self.open_scope();
        let stmt = self.stmt();
        self.close_scope(mark);
        if self.lost {
            // Here, so that an `else` or the `while` of a `do` is still met.
            self.recover_stmt();
        }
        self.bump.alloc(stmt)
    }

    /// `;`, a declaration or an expression, with its semicolon.
    fn simple_stmt(&mut self) -> StmtKind<'a> {
        if self.eat(Tok::Semi).is_some() {
            return StmtKind::Empty;
        }
        if self.starts_decl() {
            return self.local_decl().map_or(StmtKind::Error, StmtKind::Decl);
        }
        let expr = self.expr();
        self.semicolon("after the expression");
        StmtKind::Expr(expr)
    }

    fn keyword_stmt(&mut self, keyword: Kw) -> StmtKind<'a> {
        let jump = match keyword {
            Kw::If => return self.if_stmt(),
            Kw::While => return self.while_stmt(),
            Kw::Do => return self.do_stmt(),
            Kw::For => return self.for_stmt(),
            Kw::Return => return self.return_stmt(),
            Kw::Break => StmtKind::Break,
            Kw::Continue => StmtKind::Continue,
            Kw::Discard => StmtKind::Discard,
            Kw::Else => {
                self.error("syntax-error", self.peek().span, "`else` without `if`");
                self.bump();
                return StmtKind::Error;
            }
            _ => return self.simple_stmt(),
        };
        self.bump();
        self.semicolon(&format!("after `{}`", keyword.text()));
        jump
    }

    fn return_stmt(&mut self) -> StmtKind<'a> {
        self.bump();
        let value = (!self.at(Tok::Semi)).then(|| self.expr());
        self.semicolon("after `return`");
        StmtKind::Return(value)
    }

    /// `( expr )`
    fn parenthesized(&mut self, after: &str) -> &'a Expr<'a> {
        self.expect(Tok::LParen, &format!("after `{after}`"));
        let expr = self.expr();
        if !self.lost {
            self.expect(Tok::RParen, &format!("after the condition of `{after}`"));
        }
        expr
    }

    fn if_stmt(&mut self) -> StmtKind<'a> {
        self.bump();
        let cond = self.parenthesized("if");
        if self.lost {
            return StmtKind::Error;
        }
        let then = self.scoped_stmt();
        let otherwise = (!self.lost && self.eat(Tok::Kw(Kw::Else)).is_some()).then(|| self.scoped_stmt());
        StmtKind::If { cond, then, otherwise }
    }

    fn while_stmt(&mut self) -> StmtKind<'a> {
        self.bump();
        let mark = self.open_scope();
        self.expect(Tok::LParen, "after `while`");
        let cond = self.condition();
        if !self.lost {
            self.expect(Tok::RParen, "after the condition of `while`");
        }
        let kind = match cond {
            Some(cond) if !self.lost => StmtKind::While { cond, body: self.scoped_stmt() },
            _ => StmtKind::Error,
        };
        self.close_scope(mark);
        kind
    }

    fn do_stmt(&mut self) -> StmtKind<'a> {
        self.bump();
        let body = self.scoped_stmt();
        if self.lost {
            return StmtKind::Error;
        }
        self.expect_keyword(Kw::While, "after the body of `do`");
        if self.lost {
            return StmtKind::Error;
        }
        let cond = self.parenthesized("while");
        self.semicolon("after `do ... while (...)`");
        StmtKind::DoWhile { body, cond }
    }

    fn for_stmt(&mut self) -> StmtKind<'a> {
        self.bump();
        let mark = self.open_scope();
        let kind = self.for_tail().unwrap_or(StmtKind::Error);
        self.close_scope(mark);
        kind
    }

    fn for_tail(&mut self) -> Option<StmtKind<'a>> {
        self.expect(Tok::LParen, "after `for`");
        let start = self.peek().span;
        let kind = self.simple_stmt();
        let span = self.span_from(start);
        let init = &*self.bump.alloc(Stmt { kind, span });
        if self.lost {
            return self.lost_in_header();
        }
        let cond = if self.at(Tok::Semi) { None } else { Some(self.condition()?) };
        if !self.lost {
            self.expect(Tok::Semi, "after the condition of `for`");
        }
        let step = (!self.lost && !self.at(Tok::RParen)).then(|| self.expr());
        if !self.lost {
            self.expect(Tok::RParen, "after the header of `for`");
        }
        if self.lost {
            return self.lost_in_header();
        }
        Some(StmtKind::For { init, cond, step, body: self.scoped_stmt() })
    }

    /// After an error in a `for` header: skips to its closing parenthesis or to where its body can
    /// begin, since the semicolons in the header end no statement.
    fn lost_in_header(&mut self) -> Option<StmtKind<'a>> {
        let mut open = 1usize;
        while open > 0 && !matches!(self.tok(), Tok::LBrace | Tok::RBrace | Tok::Eof) {
            match self.bump().tok {
                Tok::LParen => open += 1,
                Tok::RParen => open -= 1,
                _ => {}
            }
        }
        None
    }

    /// An expression or `type name = value`.
    fn condition(&mut self) -> Option<Condition<'a>> {
        if !self.starts_decl() {
            return Some(Condition::Expr(self.expr()));
        }
        let start: Span = self.peek().span;
        let qualifiers = self.qualifiers();
        let ty = self.type_spec()?;
        let name = self.name("a name after the type")?;
        let var = self.declarator(name);
        if var.init.is_none() {
            let span = self.span_from(start);
            self.error("syntax-error", span, "a variable declared in a condition needs an initializer");
        }
        Some(Condition::Decl { qualifiers, ty, var: self.bump.alloc(var) })
    }
}
