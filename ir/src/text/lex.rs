//! Tokens of the text form: words, numbers, strings, single marks. No token is longer than the text,
//! nothing recurses.

use crate::diag::{Diagnostic, FileId, Span};

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// Letters, digits and `_`, not starting with a digit.
    Word,
    /// Starts with a digit or a minus sign; also `2D`, `0x7f`, `-inf`.
    Number,
    /// In double quotes, escapes not yet undone.
    String,
    /// One character.
    Mark(char),
    /// The end of the text.
    End,
}

/// A token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind,
    pub(super) text: &'t str,
    pub(super) span: Span,
}

/// Cuts the text into tokens, one at a time.
pub(super) struct Lexer<'t> {
    text: &'t str,
    at: usize,
    file: FileId,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str, file: FileId) -> Lexer<'t> {
        Lexer { text, at: 0, file }
    }

    /// The next token; `End` again and again after the last.
    pub(super) fn next(&mut self) -> Result<Token<'t>, Diagnostic> {
        let rest = loop {
            let rest = self.text[self.at..].trim_start();
            self.at = self.text.len() - rest.len();
            if !rest.starts_with(';') {
                break rest;
            }
            self.at += rest.find('\n').unwrap_or(rest.len());
        };
        let Some(first) = rest.chars().next() else { return Ok(self.token(Kind::End, 0)) };
        if first.is_ascii_alphabetic() || first == '_' {
            let len = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            return Ok(self.token(Kind::Word, len));
        }
        if first.is_ascii_digit() || first == '-' {
            return Ok(self.token(Kind::Number, number_len(rest)));
        }
        if first == '"' {
            let mut escaped = false;
            for (i, c) in rest.char_indices().skip(1) {
                match c {
                    '"' if !escaped => return Ok(self.token(Kind::String, i + 1)),
                    '\n' => break,
                    _ => escaped = c == '\\' && !escaped,
                }
            }
            let span = Span::new(self.file, self.at, self.at + 1);
            return Err(Diagnostic::error("ssa-text", span, "a string without end"));
        }
        Ok(self.token(Kind::Mark(first), first.len_utf8()))
    }

    fn token(&mut self, kind: Kind, len: usize) -> Token<'t> {
        let lo = self.at;
        self.at += len;
        Token { kind, text: &self.text[lo..lo + len], span: Span::new(self.file, lo, lo + len) }
    }
}

/// Digits, letters and dots; a sign at the start, or after the `e` of a decimal exponent.
fn number_len(text: &str) -> usize {
    let is_hex = text.starts_with("0x");
    let mut previous = ' ';
    for (i, c) in text.char_indices() {
        let sign = (c == '-' || c == '+') && (i == 0 || (!is_hex && matches!(previous, 'e' | 'E')));
        if !(c.is_ascii_alphanumeric() || c == '.' || sign) {
            return i;
        }
        previous = c;
    }
    text.len()
}

/// Undoes the escapes that `{:?}` of a string makes.
pub fn unescape(quoted: &str) -> Option<String> {
    let inner = quoted.strip_prefix('"')?.strip_suffix('"')?;
    let mut out = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        out.push(match chars.next()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            '0' => '\0',
            c @ ('"' | '\'' | '\\') => c,
            'u' => {
                let hex = chars.as_str().strip_prefix('{')?;
                let end = hex.find('}')?;
                let code = u32::from_str_radix(&hex[..end], 16).ok()?;
                chars = hex[end + 1..].chars();
                char::from_u32(code)?
            }
            _ => return None,
        });
    }
    Some(out)
}
