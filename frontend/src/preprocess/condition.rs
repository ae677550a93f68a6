//! The expressions of `#if` and `#elif`.
//!
//! In: the line's tokens, expanded, `defined` already a number. Out: its value. Integers have 64
//! bits and wrap. An operand that short-circuit evaluation leaves out is parsed but may divide by
//! zero or name what is no macro.

use super::Preprocessor;
use crate::Limits;
use crate::lexer::{Tok, Token};
use crate::suggest;
use ir::diag::{Diagnostic, Span};

/// Why there is no value.
type Failure = Box<Diagnostic>;

struct Evaluator<'t, 'a> {
    tokens: &'t [Token<'a>],
    pos: usize,
    end: Span,
    depth: usize,
    limits: Limits,
    es: bool,
    /// The names of all macros, sorted, for suggestions.
    macros: Vec<&'a str>,
    warnings: Vec<Diagnostic>,
}

/// The strength of a binary operator, weakest first.
fn strength(tok: Tok) -> Option<u8> {
    Some(match tok {
        Tok::OrOr => 1,
        Tok::AndAnd => 2,
        Tok::Pipe => 3,
        Tok::Caret => 4,
        Tok::Amp => 5,
        Tok::EqEq | Tok::Ne => 6,
        Tok::Lt | Tok::Gt | Tok::Le | Tok::Ge => 7,
        Tok::Shl | Tok::Shr => 8,
        Tok::Plus | Tok::Minus => 9,
        Tok::Star | Tok::Slash | Tok::Percent => 10,
        _ => return None,
    })
}

impl<'a> Evaluator<'_, 'a> {
    fn error<T>(&self, span: Span, message: impl Into<String>) -> Result<T, Failure> {
        Err(Box::new(Diagnostic::error("bad-condition", span, message)))
    }

    fn next(&mut self) -> Option<Token<'a>> {
        let token = self.tokens.get(self.pos).copied();
        self.pos += usize::from(token.is_some());
        token
    }

    /// Operators from `weakest` up; `live` is false in an operand that is left out.
    fn binary(&mut self, weakest: u8, live: bool) -> Result<i64, Failure> {
        self.depth += 1;
        if self.depth > self.limits.nesting {
            let message = format!("a condition nested deeper than {}", self.limits.nesting);
            return Err(Box::new(self.limits.error("nesting", self.end, message)));
        }
        let mut left = self.unary(live)?;
        while let Some(op) = self.tokens.get(self.pos).copied() {
            let Some(strong) = strength(op.tok).filter(|&s| s >= weakest) else { break };
            self.pos += 1;
            let live_right = match op.tok {
                Tok::OrOr => live && left == 0,
                Tok::AndAnd => live && left != 0,
                _ => live,
            };
            let right = self.binary(strong + 1, live_right)?;
            left = self.apply(op, left, right, live)?;
        }
        self.depth -= 1;
        Ok(left)
    }

    fn apply(&self, op: Token<'a>, a: i64, b: i64, live: bool) -> Result<i64, Failure> {
        let shift = u32::try_from(b).ok().filter(|&b| b < 64);
        Ok(match op.tok {
            Tok::OrOr => i64::from(a != 0 || b != 0),
            Tok::AndAnd => i64::from(a != 0 && b != 0),
            Tok::Pipe => a | b,
            Tok::Caret => a ^ b,
            Tok::Amp => a & b,
            Tok::EqEq => i64::from(a == b),
            Tok::Ne => i64::from(a != b),
            Tok::Lt => i64::from(a < b),
            Tok::Gt => i64::from(a > b),
            Tok::Le => i64::from(a <= b),
            Tok::Ge => i64::from(a >= b),
            Tok::Plus => a.wrapping_add(b),
            Tok::Minus => a.wrapping_sub(b),
            Tok::Star => a.wrapping_mul(b),
            _ if !live => 0,
            Tok::Shl | Tok::Shr => match (shift, op.tok) {
                (None, _) => return self.error(op.span, format!("a shift by {b} has no value")),
                (Some(by), Tok::Shl) => a.wrapping_shl(by),
                (Some(by), _) => a >> by,
            },
            _ if b == 0 => return self.error(op.span, "division by zero"),
            Tok::Slash => a.wrapping_div(b),
            _ => a.wrapping_rem(b),
        })
    }

    fn unary(&mut self, live: bool) -> Result<i64, Failure> {
        let first = self.pos;
        while self
            .tokens
            .get(self.pos)
            .is_some_and(|t| matches!(t.tok, Tok::Plus | Tok::Minus | Tok::Bang | Tok::Tilde))
        {
            self.pos += 1;
        }
        let prefix = first..self.pos;
        let mut value = self.operand(live)?;
        for op in self.tokens[prefix].iter().rev() {
            value = match op.tok {
                Tok::Minus => value.wrapping_neg(),
                Tok::Bang => i64::from(value == 0),
                Tok::Tilde => !value,
                _ => value,
            };
        }
        Ok(value)
    }

    fn operand(&mut self, live: bool) -> Result<i64, Failure> {
        let Some(token) = self.next() else { return self.error(self.end, "the condition ends too early") };
        match token.tok {
            Tok::Int => match parse_int(token.text) {
                Some(value) => Ok(value as i64),
                None => self.error(token.span, format!("`{}` is no number that fits", token.text)),
            },
            Tok::LParen => {
                let value = self.binary(1, live)?;
                match self.next() {
                    Some(close) if close.tok == Tok::RParen => Ok(value),
                    other => {
                        let span = other.map_or(self.end, |t| t.span);
                        self.error(span, "expected `)` in the condition")
                    }
                }
            }
            Tok::Ident if self.es && live => {
                let message = format!("`{}` is no macro; GLSL ES gives it no value", token.text);
                let found = Diagnostic::error("bad-condition", token.span, message);
                Err(Box::new(suggest::add(found, token.text, &self.macros, "")))
            }
            Tok::Ident => {
                if live {
                    let message = format!("`{}` is no macro and counts as 0", token.text);
                    let found = Diagnostic::warning("undefined-macro", token.span, message);
                    self.warnings.push(suggest::add(found, token.text, &self.macros, ""));
                }
                Ok(0)
            }
            _ => self.error(token.span, format!("unexpected {} in the condition", token.describe())),
        }
    }
}

/// The value of an integer literal without a suffix: decimal, octal or hexadecimal.
pub(crate) fn parse_int(text: &str) -> Option<u64> {
    if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return u64::from_str_radix(hex, 16).ok();
    }
    match text.strip_prefix('0') {
        Some(octal) if !octal.is_empty() => u64::from_str_radix(octal, 8).ok(),
        _ => text.parse().ok(),
    }
}

impl<'a> Preprocessor<'a, '_> {
    /// The value of a condition; false after an error.
    pub(super) fn condition(&mut self, line: &'a [Token<'a>], place: Span) -> bool {
        if line.is_empty() {
            self.diags.push(Diagnostic::error("bad-condition", place, "the condition is missing"));
            return false;
        }
        self.in_condition = true;
        let tokens = self.expand_list(line, place);
        self.in_condition = false;
        if self.diags.stopped() {
            return false;
        }
        let end = line.last().map_or(place, |t| t.span);
        let limits = self.limits;
        let es = self.version.is_es();
        // Collected only for a message: a name that is left after expansion is no macro.
        let unknown = tokens.iter().any(|t| t.tok == Tok::Ident);
        let mut macros: Vec<&str> = if unknown { self.macros.keys().copied().collect() } else { Vec::new() };
        macros.sort_unstable();
        let warnings = Vec::new();
        let mut evaluator = Evaluator { tokens: &tokens, pos: 0, end, depth: 0, limits, es, macros, warnings };
        let value = evaluator.binary(1, true).and_then(|value| match evaluator.next() {
            None => Ok(value),
            Some(extra) => evaluator.error(extra.span, format!("unexpected {} after the condition", extra.describe())),
        });
        evaluator.warnings.into_iter().for_each(|w| self.diags.push(w));
        match value {
            Ok(value) => value != 0,
            Err(failure) => {
                self.diags.push(*failure);
                false
            }
        }
    }
}
