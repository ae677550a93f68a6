//! Expressions.
//!
//! Binary operators are resolved with explicit stacks, prefix and postfix operators in loops, so
//! only parentheses, brackets, arguments, `?:` and assignments recurse; each of these counts as a level
//! of nesting. Each node carries the height of its tree, which has a bound of its own.

use super::Parser;
use crate::ast::*;
use crate::lexer::{Kw, Tok, Token};
use crate::preprocess::parse_int;
use ir::diag::{Diagnostic, Span};

/// An expression and the height of its tree.
#[derive(Clone, Copy)]
pub(super) struct Node<'a> {
    pub(super) expr: &'a Expr<'a>,
    height: usize,
}

/// A binary operator that waits for its right operand.
pub(super) struct Operator {
    /// `None` for a reserved one.
    op: Option<BinaryOp>,
    strength: u8,
}

/// The operator of a token, with its strength (weakest first); reserved ones have none.
fn binary_op(tok: Tok) -> Option<(Option<BinaryOp>, u8)> {
    Some(match tok {
        Tok::OrOr => (Some(BinaryOp::Or), 1),
        Tok::XorXor => (Some(BinaryOp::Xor), 2),
        Tok::AndAnd => (Some(BinaryOp::And), 3),
        Tok::Pipe => (None, 4),
        Tok::Caret => (None, 5),
        Tok::Amp => (None, 6),
        Tok::EqEq => (Some(BinaryOp::Eq), 7),
        Tok::Ne => (Some(BinaryOp::Ne), 7),
        Tok::Lt => (Some(BinaryOp::Lt), 8),
        Tok::Gt => (Some(BinaryOp::Gt), 8),
        Tok::Le => (Some(BinaryOp::Le), 8),
        Tok::Ge => (Some(BinaryOp::Ge), 8),
        Tok::Shl | Tok::Shr => (None, 9),
        Tok::Plus => (Some(BinaryOp::Add), 10),
        Tok::Minus => (Some(BinaryOp::Sub), 10),
        Tok::Star => (Some(BinaryOp::Mul), 11),
        Tok::Slash => (Some(BinaryOp::Div), 11),
        Tok::Percent => (None, 11),
        _ => return None,
    })
}

/// What an assignment operator does before it assigns; the outer `None` is for other tokens, the
/// inner error for reserved ones.
fn assign_op(tok: Tok) -> Option<Result<Option<BinaryOp>, ()>> {
    Some(match tok {
        Tok::Assign => Ok(None),
        Tok::AddAssign => Ok(Some(BinaryOp::Add)),
        Tok::SubAssign => Ok(Some(BinaryOp::Sub)),
        Tok::MulAssign => Ok(Some(BinaryOp::Mul)),
        Tok::DivAssign => Ok(Some(BinaryOp::Div)),
        Tok::ModAssign | Tok::ShlAssign | Tok::ShrAssign | Tok::AndAssign | Tok::XorAssign | Tok::OrAssign => Err(()),
        _ => return None,
    })
}

fn prefix_op(tok: Tok) -> Option<Option<UnaryOp>> {
    Some(match tok {
        Tok::Plus => Some(UnaryOp::Plus),
        Tok::Minus => Some(UnaryOp::Minus),
        Tok::Bang => Some(UnaryOp::Not),
        Tok::PlusPlus => Some(UnaryOp::PreInc),
        Tok::MinusMinus => Some(UnaryOp::PreDec),
        Tok::Tilde => None,
        _ => return None,
    })
}

impl<'a> Parser<'a, '_> {
    /// An expression with commas.
    pub(super) fn expr(&mut self) -> &'a Expr<'a> {
        self.comma().expr
    }

    /// An expression without commas at its top.
    pub(super) fn assignment_expr(&mut self) -> &'a Expr<'a> {
        self.assignment().expr
    }

    fn node(&mut self, kind: ExprKind<'a>, span: Span, below: usize) -> Node<'a> {
        if below >= self.limits.expr_height && !self.at(Tok::Eof) {
            let message = format!("an expression whose tree is higher than {}", self.limits.expr_height);
            let error = self.limits.error("expression-height", span, message);
            self.give_up(error);
        }
        Node { expr: self.bump.alloc(Expr { kind, span }), height: below + 1 }
    }

    fn error_node(&mut self) -> Node<'a> {
        let span = self.peek().span;
        self.node(ExprKind::Error, span, 0)
    }

    fn comma(&mut self) -> Node<'a> {
        let mut lhs = self.assignment();
        while !self.lost && self.eat(Tok::Comma).is_some() {
            let rhs = self.assignment();
            let span = lhs.expr.span.to(rhs.expr.span);
            let kind = ExprKind::Comma { lhs: lhs.expr, rhs: rhs.expr };
            lhs = self.node(kind, span, lhs.height.max(rhs.height));
        }
        lhs
    }

    fn assignment(&mut self) -> Node<'a> {
        if !self.enter() {
            return self.error_node();
        }
        let lhs = self.binary();
        let node = match assign_op(self.tok()) {
            _ if self.lost => lhs,
            Some(op) => self.assign_tail(lhs, op),
            None if self.at(Tok::Question) => self.ternary_tail(lhs),
            None => lhs,
        };
        self.leave();
        node
    }

    fn assign_tail(&mut self, lhs: Node<'a>, op: Result<Option<BinaryOp>, ()>) -> Node<'a> {
        let token = self.bump();
        if op.is_err() {
            self.reserved_operator(token);
        }
        let rhs = self.assignment();
        let span = lhs.expr.span.to(rhs.expr.span);
        let kind = match op {
            Ok(op) => ExprKind::Assign { op, lhs: lhs.expr, rhs: rhs.expr },
            Err(()) => ExprKind::Error,
        };
        self.node(kind, span, lhs.height.max(rhs.height))
    }

    fn ternary_tail(&mut self, cond: Node<'a>) -> Node<'a> {
        self.bump();
        let then = self.comma();
        self.expect(Tok::Colon, "between the two values of `?`");
        if self.lost {
            return then;
        }
        let otherwise = self.assignment();
        let span = cond.expr.span.to(otherwise.expr.span);
        let kind = ExprKind::Ternary { cond: cond.expr, then: then.expr, otherwise: otherwise.expr };
        self.node(kind, span, cond.height.max(then.height).max(otherwise.height))
    }

    fn reserved_operator(&mut self, token: Token<'a>) {
        let message = format!("operator `{}` is reserved in this version of the language", token.text);
        self.error("reserved-operator", token.span, message);
    }

    /// Binary operators, by two stacks; the caller's part of the stacks is left alone.
    fn binary(&mut self) -> Node<'a> {
        let base = self.operators.len();
        let first = self.unary();
        self.operands.push(first);
        while let Some((op, strength)) = binary_op(self.tok())
            && !self.lost
        {
            let token = self.bump();
            if op.is_none() {
                self.reserved_operator(token);
            }
            self.reduce(base, strength);
            self.operators.push(Operator { op, strength });
            let operand = self.unary();
            self.operands.push(operand);
        }
        self.reduce(base, 0);
        match self.operands.pop() {
            Some(node) => node,
            None => self.error_node(),
        }
    }

    /// Builds the waiting operators that are at least as strong as the next one.
    fn reduce(&mut self, base: usize, strength: u8) {
        while self.operators.len() > base && self.operators.last().is_some_and(|o| o.strength >= strength) {
            let (Some(operator), Some(rhs), Some(lhs)) =
                (self.operators.pop(), self.operands.pop(), self.operands.pop())
            else {
                return;
            };
            let span = lhs.expr.span.to(rhs.expr.span);
            let kind = match operator.op {
                Some(op) => ExprKind::Binary { op, lhs: lhs.expr, rhs: rhs.expr },
                None => ExprKind::Error,
            };
            let node = self.node(kind, span, lhs.height.max(rhs.height));
            self.operands.push(node);
        }
    }

    fn unary(&mut self) -> Node<'a> {
        let first = self.pos;
        while prefix_op(self.tok()).is_some() {
            self.bump();
        }
        let last = self.pos;
        let mut node = self.postfix();
        for at in (first..last).rev() {
            let token = self.tokens[at];
            let span = token.span.to(node.expr.span);
            let kind = match prefix_op(token.tok).flatten() {
                Some(op) => ExprKind::Unary { op, operand: node.expr },
                None => {
                    self.reserved_operator(token);
                    ExprKind::Error
                }
            };
            node = self.node(kind, span, node.height);
            if self.diags.stopped() {
                break;
            }
        }
        node
    }

    fn postfix(&mut self) -> Node<'a> {
        let mut node = self.primary();
        while !self.lost {
            let start = node.expr.span;
            node = match self.tok() {
                Tok::LBracket => {
                    self.bump();
                    let index = self.comma();
                    self.expect(Tok::RBracket, "after the index");
                    let kind = ExprKind::Index { object: node.expr, index: index.expr };
                    let span = start.to(self.last_span());
                    self.node(kind, span, node.height.max(index.height))
                }
                Tok::Dot => {
                    self.bump();
                    let Some(name) = self.name("a member's name after `.`") else { break };
                    if self.at(Tok::LParen) {
                        self.method(node, name)
                    } else {
                        let span = start.to(name.span);
                        self.node(ExprKind::Field { object: node.expr, name }, span, node.height)
                    }
                }
                tok @ (Tok::PlusPlus | Tok::MinusMinus) => {
                    let span = start.to(self.bump().span);
                    let op = if tok == Tok::PlusPlus { UnaryOp::PostInc } else { UnaryOp::PostDec };
                    self.node(ExprKind::Unary { op, operand: node.expr }, span, node.height)
                }
                _ => break,
            };
        }
        node
    }

    fn method(&mut self, object: Node<'a>, name: Name<'a>) -> Node<'a> {
        if self.version != Version::Glsl120 {
            self.error("not-in-version", name.span, "methods such as `.length()` need `#version 120`");
        }
        let (args, height) = self.arguments();
        let span = object.expr.span.to(self.last_span());
        let kind = ExprKind::Method { object: object.expr, name, args };
        self.node(kind, span, object.height.max(height))
    }

    /// `( a, b )` or `( void )`, with the greatest height.
    fn arguments(&mut self) -> (&'a [Expr<'a>], usize) {
        self.expect(Tok::LParen, "before the arguments");
        let (mut args, mut height) = (Vec::new(), 0);
        if self.at(Tok::Type(BuiltinType::Void)) && self.tok_at(1) == Tok::RParen {
            self.bump();
        }
        if self.eat(Tok::RParen).is_none() {
            while !self.lost {
                let arg = self.assignment();
                args.push(*arg.expr);
                height = height.max(arg.height);
                if self.lost || self.eat(Tok::Comma).is_none() {
                    break;
                }
            }
            self.expect(Tok::RParen, "after the arguments");
        }
        (self.bump.alloc_slice_copy(&args), height)
    }

    fn primary(&mut self) -> Node<'a> {
        let token = self.peek();
        match token.tok {
            Tok::LParen => {
                self.bump();
                let node = self.comma();
                self.expect(Tok::RParen, "after the expression");
                let expr = Expr { span: self.span_from(token.span), ..*node.expr };
                Node { expr: self.bump.alloc(expr), height: node.height }
            }
            Tok::Int | Tok::Float | Tok::BadNumber | Tok::Kw(Kw::True | Kw::False) => {
                let kind = self.literal(token);
                self.bump();
                self.node(kind, token.span, 0)
            }
            Tok::Type(_) => self.construct(),
            Tok::Ident if self.tok_at(1) == Tok::LParen => {
                if self.is_type_name(token.text) {
                    return self.construct();
                }
                self.bump();
                let (args, height) = self.arguments();
                let callee = Name { text: token.text, span: token.span };
                let span = self.span_from(token.span);
                self.node(ExprKind::Call { callee, args }, span, height)
            }
            Tok::Ident if self.tok_at(1) == Tok::LBracket && self.is_type_name(token.text) => self.construct(),
            Tok::Ident => {
                self.bump();
                self.node(ExprKind::Name(token.text), token.span, 0)
            }
            Tok::Reserved => {
                let message = format!("`{}` is reserved and cannot be a name", token.text);
                self.error("reserved-word", token.span, message);
                self.bump();
                if self.at(Tok::LParen) {
                    self.arguments();
                }
                self.node(ExprKind::Error, token.span, 0)
            }
            _ => {
                self.unexpected("an expression");
                self.error_node()
            }
        }
    }

    /// `type(args)` or `type[n](args)`.
    fn construct(&mut self) -> Node<'a> {
        let start = self.peek().span;
        let Some(ty) = self.type_spec() else { return self.error_node() };
        if !self.at(Tok::LParen) {
            self.unexpected("`(` after the type of a constructor");
            return self.error_node();
        }
        let ty = &*self.bump.alloc(ty);
        let (args, height) = self.arguments();
        let span = self.span_from(start);
        self.node(ExprKind::Construct { ty, args }, span, height)
    }

    fn literal(&mut self, token: Token<'a>) -> ExprKind<'a> {
        match token.tok {
            Tok::Kw(keyword) => return ExprKind::Bool(keyword == Kw::True),
            Tok::Int => {
                let digits = token.text.trim_end_matches(['u', 'U']);
                if digits.len() < token.text.len() {
                    self.error("bad-number", token.span, "this version of the language has no unsigned numbers");
                }
                let octal = digits.starts_with('0') && !digits.starts_with("0x") && !digits.starts_with("0X");
                if octal && digits.contains(['8', '9']) {
                    self.error("bad-number", token.span, format!("`{}` is not an octal number", token.text));
                    return ExprKind::Error;
                }
                let value = parse_int(digits).unwrap_or(u64::MAX);
                if value > u64::from(u32::MAX) && !self.lost {
                    // 1.10 and 1.20 leave it open and programs rely on it.
                    let message = format!("`{}` does not fit into 32 bits; its lowest bits are taken", token.text);
                    self.diags.push(Diagnostic::warning("number-too-large", token.span, message));
                } else if !is_exact(value as u32 as i32) && !self.lost {
                    let message = format!("`{}` is rounded: an int is exact up to 16777216 only", token.text);
                    self.diags.push(Diagnostic::warning("inexact-number", token.span, message));
                }
                return ExprKind::Int(value as u32 as i32);
            }
            Tok::Float => {
                let digits = token.text.trim_end_matches(['f', 'F']);
                if digits.ends_with(['l', 'L']) {
                    self.error("bad-number", token.span, "this version of the language has no double numbers");
                    return ExprKind::Error;
                }
                if digits.len() < token.text.len() {
                    if !digits.contains(['.', 'e', 'E']) {
                        let message = format!("`{}`: the suffix `f` needs a decimal point or an exponent", token.text);
                        self.error("bad-number", token.span, message);
                        return ExprKind::Error;
                    }
                    if self.version != Version::Glsl120 {
                        let message = "the suffix `f` is only known from `#version 120` on";
                        self.diags.push(Diagnostic::warning("float-suffix", token.span, message));
                    }
                }
                if let Ok(value) = digits.parse() {
                    return ExprKind::Float(value);
                }
            }
            _ => {}
        }
        self.error("bad-number", token.span, format!("`{}` is not a number", token.text));
        ExprKind::Error
    }
}

/// Whether an int is the same as a float: the machines compute ints so, which 4.1.3 of the
/// specification allows.
fn is_exact(value: i32) -> bool {
    i64::from(value) == value as f32 as i64
}
