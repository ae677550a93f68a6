//! A cursor over one line of assembly text: what the readers of all text forms share.
//!
//! Every error is a [`Diagnostic`] at its place. [`for_each`] walks a text under the bounds
//! `assembly-instructions` and `assembly-errors`.

use crate::limits::Limits;
use ir::diag::{Diagnostic, FileId, Span};

/// What a reader of a part of a line gives.
pub(crate) type Parse<T> = Result<T, Diagnostic>;

/// One line without its comment.
pub(crate) struct Line<'a> {
    pub file: FileId,
    pub text: &'a str,
    /// Offset of the line in the file.
    pub base: usize,
    /// Offset of the cursor in the line.
    pub at: usize,
}

/// Runs `statement` on every line that has something before its comment, and gives the errors and the
/// last such line. `statement` returns how many instructions there are by then.
pub(crate) fn for_each<'a>(
    file: FileId,
    text: &'a str,
    comments: &[&str],
    limits: &Limits,
    mut statement: impl FnMut(&mut Line<'a>) -> (usize, Parse<()>),
) -> (Vec<Diagnostic>, Span) {
    let mut errors = Vec::new();
    let mut offset = 0;
    let mut last = Span::new(file, 0, 0);
    for raw in text.split_inclusive('\n') {
        let start = offset;
        offset += raw.len();
        let end = comments.iter().filter_map(|c| raw.find(c)).min().unwrap_or(raw.len());
        let code = raw[..end].trim_end();
        if code.trim().is_empty() {
            continue;
        }
        last = Span::new(file, start, start + code.len());
        let (insts, result) = statement(&mut Line { file, text: code, base: start, at: 0 });
        errors.extend(result.err());
        if insts > limits.insts {
            let message = format!("more than {} instructions", limits.insts);
            errors.push(limits.error("assembly-instructions", last, message));
            break;
        }
        if errors.len() >= limits.errors {
            let message = format!("stopped after {} errors", limits.errors);
            errors.push(limits.error("assembly-errors", last, message));
            break;
        }
    }
    (errors, last)
}

impl<'a> Line<'a> {
    pub fn error<T>(&self, from: usize, message: impl Into<String>) -> Parse<T> {
        let next = self.text.get(from..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        let to = self.at.max(from + next);
        let span = Span::new(self.file, self.base + from, self.base + to);
        Err(Diagnostic::error("assembly", span, message))
    }

    pub fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub fn skip(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    pub fn eat(&mut self, token: &str) -> bool {
        self.skip();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    pub fn expect(&mut self, token: &str) -> Parse<()> {
        if self.eat(token) { Ok(()) } else { self.error(self.at, format!("expected `{token}`")) }
    }

    /// Letters, digits and `_`.
    pub fn word(&mut self) -> &'a str {
        self.skip();
        let rest = self.rest();
        let len = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
        self.at += len;
        &rest[..len]
    }

    /// Up to the next white space or one of the characters of `stop`.
    pub fn until(&mut self, stop: &str) -> &'a str {
        self.skip();
        let rest = self.rest();
        let len = rest.find(|c: char| c.is_whitespace() || stop.contains(c)).unwrap_or(rest.len());
        self.at += len;
        &rest[..len]
    }

    /// A number below `limit`.
    pub fn integer(&mut self, limit: u32) -> Parse<u32> {
        self.skip();
        let from = self.at;
        let digits: &str = &self.rest()[..self.rest().bytes().take_while(u8::is_ascii_digit).count()];
        self.at += digits.len();
        match digits.parse::<u32>() {
            Ok(value) if value < limit => Ok(value),
            Ok(_) => self.error(from, format!("number must be below {limit}")),
            Err(_) => self.error(from, "expected a number"),
        }
    }

    pub fn end(&mut self) -> Parse<()> {
        self.skip();
        if self.rest().is_empty() { Ok(()) } else { self.error(self.at, "expected the end of the line") }
    }
}
