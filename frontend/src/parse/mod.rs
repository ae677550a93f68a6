//! Tokens to syntax tree, by recursive descent, with recovery.
//!
//! In: the preprocessor's tokens. Out: the declarations of the shader. After an error the parser
//! is *lost*: nothing more is reported until it has skipped to where a statement or declaration
//! can begin, so that one mistake gives one message.
//!
//! The grammar needs to know which names are structs (`S(1.0)` constructs, `S a;` declares), so the
//! parser keeps scopes of names with that one bit.
//!
//! Bounds: nesting of everything that recurses, and the height of expression trees, which also
//! grow by loops ([`crate::Limits`]). Every loop takes a token a turn or ends.
//!
//! Follows chapter 9 of the GLSL 1.10.59, 1.20.8 and ES 1.00.17 specifications.

mod decl;
mod expr;
mod stmt;

use crate::ast::{Item, Name, Version};
use crate::diags::Diags;
use crate::lexer::{Kw, Tok, Token};
use crate::limits::Limits;
use bumpalo::Bump;
use ir::diag::{Diagnostic, Span};
use rustc_hash::FxHashMap;

/// Built-in struct types of desktop GLSL; ES has the first one only.
const BUILTIN_STRUCTS: [&str; 8] = [
    "gl_DepthRangeParameters",
    "gl_FogParameters",
    "gl_LightModelParameters",
    "gl_LightModelProducts",
    "gl_LightProducts",
    "gl_LightSourceParameters",
    "gl_MaterialParameters",
    "gl_PointParameters",
];

pub(crate) struct Parser<'a, 't> {
    bump: &'a Bump,
    /// Ends with [`Tok::Eof`], which is never passed.
    tokens: &'t [Token<'a>],
    pos: usize,
    diags: &'t mut Diags,
    version: Version,
    limits: &'t Limits,
    depth: usize,
    /// Whether an error was reported and not yet recovered from.
    lost: bool,
    /// For each name whether its innermost declaration is a struct.
    types: FxHashMap<&'a str, bool>,
    /// What to restore in `types` at the end of a scope.
    undo: Vec<(&'a str, Option<bool>)>,
    operands: Vec<expr::Node<'a>>,
    operators: Vec<expr::Operator>,
}

/// Parses a whole shader.
pub(crate) fn parse_tokens<'a>(
    bump: &'a Bump,
    tokens: &[Token<'a>],
    version: Version,
    limits: &Limits,
    diags: &mut Diags,
) -> &'a [Item<'a>] {
    let builtin = if version.is_es() { &BUILTIN_STRUCTS[..1] } else { &BUILTIN_STRUCTS };
    let mut parser = Parser {
        bump,
        tokens,
        pos: 0,
        diags,
        version,
        limits,
        depth: 0,
        lost: false,
        types: builtin.iter().map(|&name| (name, true)).collect(),
        undo: Vec::new(),
        operands: Vec::new(),
        operators: Vec::new(),
    };
    let mut items = Vec::new();
    while !parser.at(Tok::Eof) {
        let before = parser.pos;
        if let Some(item) = parser.item() {
            items.push(item);
        }
        if parser.lost {
            parser.recover_item();
        }
        if parser.pos == before {
            parser.bump();
        }
    }
    bump.alloc_slice_copy(&items)
}

impl<'a> Parser<'a, '_> {
    fn peek(&self) -> Token<'a> {
        self.tokens[self.pos]
    }

    fn tok(&self) -> Tok {
        self.tokens[self.pos].tok
    }

    fn tok_at(&self, ahead: usize) -> Tok {
        self.tokens.get(self.pos + ahead).map_or(Tok::Eof, |t| t.tok)
    }

    fn at(&self, tok: Tok) -> bool {
        self.tok() == tok
    }

    /// Takes a token.
    fn bump(&mut self) -> Token<'a> {
        let token = self.peek();
        if token.tok != Tok::Eof {
            self.pos += 1;
        }
        token
    }

    /// Takes a token if it is `tok`.
    fn eat(&mut self, tok: Tok) -> Option<Token<'a>> {
        (self.tok() == tok).then(|| self.bump())
    }

    /// Takes `tok` or reports that it is missing.
    fn expect(&mut self, tok: Tok, context: &str) -> bool {
        let found = self.eat(tok).is_some();
        if !found && !self.lost {
            let wanted = tok.symbol().map_or_else(|| format!("{tok:?}"), |s| format!("`{s}`"));
            self.unexpected(&format!("{wanted} {context}"));
        }
        found
    }

    /// Takes the `;` that ends a statement or declaration. When it is missing and what follows can only begin
    /// something new, the parser goes on as if it were there.
    fn semicolon(&mut self, context: &str) {
        if !self.lost
            && !self.expect(Tok::Semi, context)
            && matches!(self.tok(), Tok::Kw(_) | Tok::Type(_) | Tok::RBrace)
        {
            self.lost = self.diags.stopped();
        }
    }

    fn expect_keyword(&mut self, keyword: Kw, context: &str) -> bool {
        let found = self.eat(Tok::Kw(keyword)).is_some();
        if !found {
            self.unexpected(&format!("`{}` {context}", keyword.text()));
        }
        found
    }

    /// Where the last taken token ends.
    fn last_span(&self) -> Span {
        self.tokens[self.pos.saturating_sub(1)].span
    }

    fn span_from(&self, start: Span) -> Span {
        // An empty construct has taken nothing after its start.
        let last = self.last_span();
        if last.file == start.file && last.hi < start.lo { start } else { start.to(last) }
    }

    /// Reports that something else was expected here, and is lost.
    fn unexpected(&mut self, wanted: &str) {
        let found = self.peek();
        let mut message = format!("expected {wanted}, found {}", found.describe());
        if found.tok == Tok::Reserved {
            message.push_str(", which this version of the language keeps for later ones");
        }
        self.error("syntax-error", found.span, message);
        self.lost = true;
    }

    /// Reports an error that does not stop the parser from understanding the rest.
    fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>) {
        if !self.lost {
            self.diags.push(Diagnostic::error(code, span, message));
            if self.diags.stopped() {
                self.stop();
            }
        }
    }

    /// Ends the run with an error about a bound.
    fn give_up(&mut self, error: Diagnostic) {
        self.diags.fatal(error);
        self.stop();
    }

    fn stop(&mut self) {
        self.lost = true;
        self.pos = self.tokens.len() - 1;
    }

    /// Enters one level of nesting; false when the bound forbids it.
    fn enter(&mut self) -> bool {
        if self.depth >= self.limits.nesting {
            if !self.at(Tok::Eof) {
                let message = format!("nesting deeper than {} levels", self.limits.nesting);
                let error = self.limits.error("nesting", self.peek().span, message);
                self.give_up(error);
            }
            return false;
        }
        self.depth += 1;
        true
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Takes a name that is declared or selected.
    fn name(&mut self, what: &str) -> Option<Name<'a>> {
        let token = self.peek();
        match token.tok {
            Tok::Ident => {}
            Tok::Reserved => {
                let message = format!("`{}` is reserved and cannot be a name", token.text);
                self.error("reserved-word", token.span, message);
            }
            _ => {
                self.unexpected(what);
                return None;
            }
        }
        self.bump();
        Some(Name { text: token.text, span: token.span })
    }

    fn is_type_name(&self, name: &str) -> bool {
        self.types.get(name).copied().unwrap_or(false)
    }

    /// Notes a declared name in the innermost scope.
    fn declare(&mut self, name: Name<'a>, is_type: bool) {
        let old = self.types.insert(name.text, is_type);
        self.undo.push((name.text, old));
    }

    fn open_scope(&self) -> usize {
        self.undo.len()
    }

    fn close_scope(&mut self, mark: usize) {
        while self.undo.len() > mark {
            let Some((name, old)) = self.undo.pop() else { return };
            match old {
                Some(old) => self.types.insert(name, old),
                None => self.types.remove(name),
            };
        }
    }

    /// Skips to where a declaration of the outermost level can begin: after a `;` or a `}` that
    /// closes what was opened on the way.
    fn recover_item(&mut self) {
        let mut braces = 0usize;
        loop {
            match self.tok() {
                Tok::Eof => break,
                Tok::LBrace => braces += 1,
                Tok::RBrace if braces <= 1 => {
                    self.bump();
                    self.eat(Tok::Semi);
                    break;
                }
                Tok::RBrace => braces -= 1,
                Tok::Semi if braces == 0 => {
                    self.bump();
                    break;
                }
                _ => {}
            }
            self.bump();
        }
        self.lost = false;
    }

    /// Skips to where a statement can begin: after a `;` or a `}` that closes what was opened on the way, before any
    /// other `}` or a statement's keyword.
    fn recover_stmt(&mut self) {
        let mut braces = 0usize;
        loop {
            match self.tok() {
                Tok::Eof => break,
                Tok::LBrace => braces += 1,
                Tok::RBrace if braces == 0 => break,
                Tok::RBrace if braces == 1 => {
                    self.bump();
                    self.eat(Tok::Semi);
                    break;
                }
                Tok::RBrace => braces -= 1,
                Tok::Semi if braces == 0 => {
                    self.bump();
                    break;
                }
                Tok::Kw(Kw::If | Kw::For | Kw::While | Kw::Do | Kw::Return | Kw::Break | Kw::Discard)
                    if braces == 0 =>
                {
                    break;
                }
                _ => {}
            }
            self.bump();
        }
        // After a stop there is nothing to find again.
        self.lost = self.diags.stopped();
    }
}
