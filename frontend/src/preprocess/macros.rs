//! Macro definitions and their expansion.
//!
//! The input of the parser is pulled through [`Preprocessor::next_expanded`]. It reads the
//! topmost unfinished token list of the context stack, below which lie the files. A barrier is a list
//! whose end is the end of the input for whoever pushed it: arguments and `#if` lines are
//! expanded that way.
//!
//! Bounds: tokens made in all, lists on the stack, parameters of a macro ([`crate::Limits`]).

use super::Preprocessor;
use crate::lexer::{Tok, Token};
use ir::diag::{Diagnostic, Span};

/// What a macro's name stands for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum MacroKind<'a> {
    /// A token list.
    Object,
    /// A token list with parameters.
    Function(&'a [&'a str]),
    /// `__LINE__`
    Line,
    /// `__FILE__`
    File,
    /// `__VERSION__`
    Version,
}

/// A definition.
#[derive(Clone, Copy, Debug)]
pub(super) struct Macro<'a> {
    pub(super) kind: MacroKind<'a>,
    /// Each token, with the number of the parameter that it names.
    pub(super) body: &'a [(Token<'a>, Option<u16>)],
    pub(super) span: Span,
    /// Whether its expansion is on the stack.
    pub(super) disabled: bool,
    pub(super) predefined: bool,
}

impl Macro<'_> {
    /// Whether two definitions are the same for the rule of redefinition: parameters, tokens and
    /// where blanks stand, but not how many.
    fn same_as(&self, other: &Macro<'_>) -> bool {
        let blanks = |i: usize, t: &Token<'_>| i > 0 && t.space_before;
        self.kind == other.kind
            && self.body.len() == other.body.len()
            && self
                .body
                .iter()
                .zip(other.body)
                .enumerate()
                .all(|(i, ((a, _), (b, _)))| a.text == b.text && blanks(i, a) == blanks(i, b))
    }
}

/// A token list on the stack.
pub(super) struct Context<'a> {
    tokens: &'a [Token<'a>],
    pos: usize,
    /// The macro that is enabled again when the list ends.
    name: Option<&'a str>,
    barrier: bool,
}

impl<'a> Preprocessor<'a, '_> {
    /// The next token without expansion; it is not taken yet.
    fn peek_raw(&mut self) -> Option<Token<'a>> {
        while let Some(context) = self.contexts.last() {
            if let Some(&token) = context.tokens.get(context.pos) {
                return Some(token);
            }
            if context.barrier {
                return None;
            }
            self.pop_context();
        }
        self.peek_file()
    }

    /// Takes the next token without expansion. The name of a macro that is being expanded is marked.
    fn next_raw(&mut self) -> Option<Token<'a>> {
        let mut token = self.peek_raw()?;
        match (self.contexts.last_mut(), self.frames.last_mut()) {
            (Some(context), _) => context.pos += 1,
            (None, Some(frame)) => frame.pos += 1,
            (None, None) => return None,
        }
        if token.tok == Tok::Ident && self.macros.get(token.text).is_some_and(|m| m.disabled) {
            token.no_expand = true;
        }
        Some(token)
    }

    fn pop_context(&mut self) {
        let name = self.contexts.pop().and_then(|c| c.name);
        if let Some(found) = name.and_then(|name| self.macros.get_mut(name)) {
            found.disabled = false;
        }
    }

    /// Puts a token list on the stack; false when a bound forbids it.
    fn push_context(&mut self, tokens: &'a [Token<'a>], name: Option<&'a str>, barrier: bool, span: Span) -> bool {
        self.expanded += tokens.len() + 1;
        if self.expanded > self.limits.expansion {
            let message = format!("macro expansion made more than {} tokens", self.limits.expansion);
            self.diags.fatal(self.limits.error("macro-expansion", span, message));
            return false;
        }
        if self.contexts.len() >= self.limits.macro_depth {
            let message = format!("more than {} macro expansions inside each other", self.limits.macro_depth);
            self.diags.fatal(self.limits.error("macro-nesting", span, message));
            return false;
        }
        if let Some(found) = name.and_then(|name| self.macros.get_mut(name)) {
            found.disabled = true;
        }
        self.contexts.push(Context { tokens, pos: 0, name, barrier });
        true
    }

    /// Expands a list by itself.
    pub(super) fn expand_list(&mut self, tokens: &'a [Token<'a>], span: Span) -> Vec<Token<'a>> {
        let mut out = Vec::with_capacity(tokens.len());
        if self.push_context(tokens, None, true, span) {
            while let Some(token) = self.next_expanded() {
                out.push(token);
            }
            // Everything above the barrier has ended, unless the run was stopped by a bound.
            while self.contexts.last().is_some_and(|c| !c.barrier) {
                self.pop_context();
            }
            self.pop_context();
        }
        out
    }

    /// Takes the next token after expansion.
    pub(super) fn next_expanded(&mut self) -> Option<Token<'a>> {
        loop {
            if self.diags.stopped() {
                return None;
            }
            let token = self.next_raw()?;
            if token.tok != Tok::Ident || token.no_expand {
                return Some(token);
            }
            if self.in_condition && token.text == "defined" {
                return Some(self.defined(token));
            }
            let Some(&found) = self.macros.get(token.text) else { return Some(token) };
            match found.kind {
                MacroKind::Object => {
                    let tokens = self.substitute(&found, &[], token);
                    self.push_context(tokens, Some(token.text), false, token.span);
                }
                MacroKind::Function(params) => {
                    if !self.peek_raw().is_some_and(|t| t.tok == Tok::LParen) {
                        return Some(token);
                    }
                    let Some(args) = self.arguments(token, params.len()) else {
                        // The name stands in, so that the parser does not complain again.
                        return Some(token);
                    };
                    let args: Vec<_> = args.iter().map(|arg| self.expand_list(arg, token.span)).collect();
                    let tokens = self.substitute(&found, &args, token);
                    self.push_context(tokens, Some(token.text), false, token.span);
                }
                MacroKind::Line => {
                    let line = self.line_number(token.span);
                    return Some(self.number(token, line));
                }
                MacroKind::File => {
                    let file = self.frames.last().map_or(0, |f| f.source_string);
                    return Some(self.number(token, file));
                }
                MacroKind::Version => {
                    let version = self.version.number();
                    return Some(self.number(token, i64::from(version)));
                }
            }
        }
    }

    /// A number in the place of a token.
    fn number(&self, place: Token<'a>, value: i64) -> Token<'a> {
        Token { tok: Tok::Int, text: self.bump.alloc_str(&value.to_string()), ..place }
    }

    /// `defined X` and `defined(X)`, after the word.
    fn defined(&mut self, word: Token<'a>) -> Token<'a> {
        let mut name = self.next_raw();
        let in_parens = name.is_some_and(|t| t.tok == Tok::LParen);
        if in_parens {
            name = self.next_raw();
        }
        let closed = !in_parens || self.next_raw().is_some_and(|t| t.tok == Tok::RParen);
        match name {
            Some(name) if name.tok == Tok::Ident && closed => {
                let value = self.macros.contains_key(name.text);
                self.number(word, i64::from(value))
            }
            _ => {
                let message = "`defined` needs a name, alone or in parentheses";
                self.diags.push(Diagnostic::error("bad-condition", word.span, message));
                self.number(word, 0)
            }
        }
    }

    /// The arguments of an invocation; `None` after an error.
    fn arguments(&mut self, name: Token<'a>, params: usize) -> Option<Vec<&'a [Token<'a>]>> {
        self.next_raw();
        let (mut args, mut current, mut depth) = (Vec::new(), Vec::new(), 0usize);
        loop {
            let Some(token) = self.next_raw() else {
                if !self.diags.stopped() {
                    let message = format!("the call of macro `{}` has no closing parenthesis", name.text);
                    self.diags.push(Diagnostic::error("unterminated-macro-call", name.span, message));
                }
                return None;
            };
            match token.tok {
                Tok::LParen => depth += 1,
                Tok::RParen if depth == 0 => break,
                Tok::RParen => depth -= 1,
                Tok::Comma if depth == 0 => {
                    args.push(&*self.bump.alloc_slice_copy(&current));
                    current.clear();
                    continue;
                }
                _ => {}
            }
            current.push(token);
        }
        if !(params == 0 && args.is_empty() && current.is_empty()) {
            args.push(&*self.bump.alloc_slice_copy(&current));
        }
        if args.len() == params {
            return Some(args);
        }
        let message = format!("macro `{}` takes {params} arguments, {} are given", name.text, args.len());
        self.diags.push(Diagnostic::error("macro-argument-count", name.span, message));
        None
    }

    /// A macro's body with its arguments in place. Body tokens get the place of the invocation.
    fn substitute(&mut self, found: &Macro<'a>, args: &[Vec<Token<'a>>], name: Token<'a>) -> &'a [Token<'a>] {
        let used = |param: &Option<u16>| param.map_or(1, |i| args[i as usize].len());
        let total = found.body.iter().map(|(_, param)| used(param)).fold(0usize, usize::saturating_add);
        if self.expanded.saturating_add(total) > self.limits.expansion {
            // The caller's push reports the bound; the list itself must not be built.
            self.expanded = self.limits.expansion;
            return &[];
        }
        let mut tokens = Vec::with_capacity(total);
        for (i, (token, param)) in found.body.iter().enumerate() {
            let space_before = if i == 0 { name.space_before } else { token.space_before };
            match param {
                None => tokens.push(Token { span: name.span, space_before, ..*token }),
                Some(param) => {
                    let from = tokens.len();
                    tokens.extend_from_slice(&args[*param as usize]);
                    if let Some(first) = tokens.get_mut(from) {
                        first.space_before = space_before;
                    }
                }
            }
        }
        self.bump.alloc_slice_copy(&tokens)
    }

    /// `#define`, after the word.
    pub(super) fn define(&mut self, line: &'a [Token<'a>], place: Span, trusted: bool) {
        let Some(&name) = line.first().filter(|t| t.tok == Tok::Ident) else {
            let message = "`#define` needs a name";
            self.diags.push(Diagnostic::error("bad-define", line.first().map_or(place, |t| t.span), message));
            return;
        };
        if !self.may_define(name, trusted) {
            return;
        }
        let mut rest = &line[1..];
        let mut kind = MacroKind::Object;
        let mut params: Vec<&'a str> = Vec::new();
        if rest.first().is_some_and(|t| t.tok == Tok::LParen && !t.space_before) {
            let Some(used) = self.parameters(&rest[1..], name, &mut params) else { return };
            rest = &rest[1 + used..];
            kind = MacroKind::Function(self.bump.alloc_slice_copy(&params));
        }
        if let Some(hash) = rest.iter().find(|t| t.tok == Tok::HashHash) {
            let message = "`##` (token pasting) is not part of this language";
            self.diags.push(Diagnostic::error("no-token-pasting", hash.span, message));
            return;
        }
        let in_function = matches!(kind, MacroKind::Function(_));
        if let Some(hash) = rest.iter().find(|t| in_function && t.tok == Tok::Hash) {
            let message = "`#` in a macro (making a string) is not part of this language";
            self.diags.push(Diagnostic::error("no-stringification", hash.span, message));
            return;
        }
        let position = |t: &Token<'_>| params.iter().position(|&p| t.tok == Tok::Ident && p == t.text);
        let body = rest.iter().map(|t| (*t, position(t).map(|i| i as u16)));
        let body = self.bump.alloc_slice_fill_iter(body.collect::<Vec<_>>());
        let new = Macro { kind, body, span: name.span, disabled: false, predefined: false };
        if let Some(old) = self.macros.get(name.text)
            && !old.same_as(&new)
        {
            let message = format!("macro `{}` is defined again in another way", name.text);
            let mut found = Diagnostic::error("macro-redefined", name.span, message);
            if !old.predefined {
                found = found.label(old.span, "first defined here");
            }
            self.diags.push(found);
            return;
        }
        self.macros.insert(name.text, new);
    }

    /// Whether a name may be defined; reports why not.
    fn may_define(&mut self, name: Token<'a>, trusted: bool) -> bool {
        let error = if name.text == "defined" {
            "`defined` cannot be a macro".to_string()
        } else if matches!(name.text, "__LINE__" | "__FILE__" | "__VERSION__") {
            format!("the predefined macro `{}` cannot be defined again", name.text)
        } else if name.text.starts_with("GL_") && !trusted {
            format!("`{}`: names that begin with `GL_` are reserved", name.text)
        } else {
            if name.text.contains("__") {
                let message = format!("`{}`: names with `__` are reserved", name.text);
                self.diags.push(Diagnostic::warning("reserved-macro-name", name.span, message));
            }
            return true;
        };
        self.diags.push(Diagnostic::error("reserved-macro-name", name.span, error));
        false
    }

    /// Reads parameters up to the closing parenthesis; says how many tokens they take.
    fn parameters(&mut self, tokens: &[Token<'a>], name: Token<'a>, params: &mut Vec<&'a str>) -> Option<usize> {
        if tokens.first().is_some_and(|t| t.tok == Tok::RParen) {
            return Some(1);
        }
        for (i, pair) in tokens.chunks(2).enumerate() {
            let (param, end) = (pair[0], pair.get(1).map(|t| t.tok));
            if param.tok != Tok::Ident || !matches!(end, Some(Tok::Comma | Tok::RParen)) {
                break;
            }
            if params.contains(&param.text) {
                let message = format!("macro `{}` has two parameters `{}`", name.text, param.text);
                self.diags.push(Diagnostic::error("bad-define", param.span, message));
                return None;
            }
            if params.len() >= self.limits.macro_params {
                let message = format!("macro `{}` has more than {} parameters", name.text, self.limits.macro_params);
                self.diags.push(self.limits.error("macro-parameters", param.span, message));
                return None;
            }
            params.push(param.text);
            if end == Some(Tok::RParen) {
                return Some(2 * i + 2);
            }
        }
        let message = format!("the parameters of macro `{}` must be names with commas, in parentheses", name.text);
        self.diags.push(Diagnostic::error("bad-define", name.span, message));
        None
    }

    /// `#undef`, after the word.
    pub(super) fn undef(&mut self, name: Token<'a>) {
        if matches!(name.text, "__LINE__" | "__FILE__" | "__VERSION__") || name.text.starts_with("GL_") {
            let message = format!("the predefined macro `{}` cannot be undefined", name.text);
            self.diags.push(Diagnostic::error("reserved-macro-name", name.span, message));
            return;
        }
        self.macros.remove(name.text);
    }

    /// Whether a name is a macro, for `#ifdef`.
    pub(super) fn is_defined(&self, name: &str) -> bool {
        self.macros.contains_key(name)
    }
}
