//! Directives: the lines that begin with `#`.
//!
//! In: the frame's position at a `#` that begins its line. After each directive the position is
//! at the line's end. In a skipped group only the directives that open and close groups count.
//!
//! Bounds: nesting of groups and of included files ([`crate::Limits`]).

use super::Preprocessor;
use crate::ast::{ExtBehavior, Extension, Name, Pragma, PragmaKind, Version};
use crate::lexer::{Tok, Token};
use crate::suggest;
use ir::diag::{Diagnostic, Span};

/// An extension that the front end knows.
#[derive(Clone, Copy, Debug)]
pub struct KnownExtension {
    /// Its name, which is also a macro with the value 1.
    pub name: &'static str,
    /// Whether it belongs to GLSL ES (else to desktop GLSL).
    pub es: bool,
}

/// All known extensions.
pub const KNOWN_EXTENSIONS: [KnownExtension; 8] = [
    KnownExtension { name: "GL_ARB_draw_buffers", es: false },
    KnownExtension { name: "GL_ARB_shader_texture_lod", es: false },
    KnownExtension { name: "GL_ARB_texture_rectangle", es: false },
    KnownExtension { name: "GL_EXT_draw_buffers", es: true },
    KnownExtension { name: "GL_EXT_frag_depth", es: true },
    KnownExtension { name: "GL_EXT_shader_texture_lod", es: true },
    KnownExtension { name: "GL_OES_standard_derivatives", es: true },
    KnownExtension { name: "GL_OES_texture_3D", es: true },
];

/// Words after `#`, for suggestions.
const DIRECTIVES: &[&str] = &[
    "define",
    "elif",
    "else",
    "endif",
    "error",
    "extension",
    "if",
    "ifdef",
    "ifndef",
    "line",
    "pragma",
    "undef",
    "version",
];

/// What an extension may be asked to do.
const BEHAVIORS: &[&str] = &["disable", "enable", "require", "warn"];

/// The first words of the pragmas that the language has.
const PRAGMAS: &[&str] = &["STDGL", "debug", "optimize"];

/// An open `#if`.
pub(super) struct Conditional {
    pub(super) span: Span,
    state: State,
    else_seen: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// This group is read.
    Taken,
    /// No group was taken yet.
    Waiting,
    /// A group was taken, or the whole is inside a skipped group.
    Done,
}

impl Conditional {
    pub(super) fn is_skipping(&self) -> bool {
        self.state != State::Taken
    }
}

impl<'a> Preprocessor<'a, '_> {
    /// Obeys the directive at the position.
    pub(super) fn directive(&mut self) {
        let Some(frame) = self.frames.last_mut() else { return };
        let tokens = frame.tokens;
        let start = frame.pos;
        let length = tokens[start..].iter().position(|t| t.tok == Tok::Newline).unwrap_or(0);
        frame.pos = start + length;
        let trusted = frame.trusted;
        let hash = tokens[start].span;
        let line = &tokens[start + 1..start + length];
        let Some((&word, rest)) = line.split_first() else { return };
        let place = hash.to(word.span);
        let skipping = self.is_skipping();
        let version_allowed = self.version_allowed;
        self.version_allowed &= trusted;
        match (word.text, skipping) {
            ("if", false) => {
                let taken = self.condition(rest, place);
                self.open_group(place, taken);
            }
            ("ifdef" | "ifndef", false) => {
                let name = self.single_name(word, rest);
                let taken = name.is_some_and(|n| self.is_defined(n.text) == (word.text == "ifdef"));
                self.open_group(place, taken);
            }
            ("if" | "ifdef" | "ifndef", true) => self.open_group(place, false),
            ("elif", _) => self.elif(place, rest),
            ("else", _) => self.else_group(place, rest),
            ("endif", _) => {
                self.no_extra(word, rest);
                if self.conditionals.len() <= self.frames.last().map_or(0, |f| f.conditionals) {
                    self.without_if(place, "#endif");
                } else {
                    self.conditionals.pop();
                }
            }
            (_, true) => {}
            ("define", _) => self.define(rest, place, trusted),
            ("undef", _) => {
                if let Some(name) = self.single_name(word, rest) {
                    self.undef(name);
                }
            }
            ("error", _) => {
                let text = self.rest_of_line(rest);
                let span = rest.last().map_or(place, |last| place.to(last.span));
                self.diags.push(Diagnostic::error("error-directive", span, format!("#error {text}").trim_end()));
            }
            ("pragma", _) => self.pragma(rest),
            ("extension", _) => self.extension(rest, place),
            ("version", _) => self.version_line(rest, place, version_allowed),
            ("line", _) => self.line(rest, place),
            ("include", _) if self.options.include.is_some() => self.include(rest, place),
            _ => {
                let message = format!("unknown directive `#{}`", word.text);
                let found = Diagnostic::error("unknown-directive", place, message);
                self.diags.push(suggest::add(found, word.text, DIRECTIVES, "#"));
            }
        }
    }

    fn open_group(&mut self, span: Span, taken: bool) {
        if self.conditionals.len() >= self.limits.conditional_depth {
            let message = format!("more than {} `#if` inside each other", self.limits.conditional_depth);
            self.diags.fatal(self.limits.error("conditional-nesting", span, message));
            return;
        }
        let state = match (self.is_skipping(), taken) {
            (true, _) => State::Done,
            (false, true) => State::Taken,
            (false, false) => State::Waiting,
        };
        self.conditionals.push(Conditional { span, state, else_seen: false });
    }

    fn without_if(&mut self, span: Span, what: &str) {
        let message = format!("`{what}` without `#if`");
        self.diags.push(Diagnostic::error("unmatched-conditional", span, message));
    }

    /// The open group of this file, if `what` may follow in it.
    fn current_group(&mut self, span: Span, what: &str) -> Option<&mut Conditional> {
        if self.conditionals.len() <= self.frames.last().map_or(0, |f| f.conditionals) {
            self.without_if(span, what);
            return None;
        }
        if let Some(opened) = self.conditionals.last().filter(|c| c.else_seen).map(|c| c.span) {
            let message = format!("`{what}` after `#else`");
            let found =
                Diagnostic::error("unmatched-conditional", span, message).label(opened, "the group begins here");
            self.diags.push(found);
            return None;
        }
        self.conditionals.last_mut()
    }

    fn elif(&mut self, place: Span, rest: &'a [Token<'a>]) {
        let Some(group) = self.current_group(place, "#elif") else { return };
        if group.state != State::Waiting {
            group.state = State::Done;
            return;
        }
        // The condition is evaluated as if outside the group, which is being skipped.
        if self.condition(rest, place)
            && let Some(group) = self.conditionals.last_mut()
        {
            group.state = State::Taken;
        }
    }

    fn else_group(&mut self, place: Span, rest: &[Token<'a>]) {
        if let Some(extra) = rest.first() {
            let message = "text after `#else` is ignored";
            self.diags.push(Diagnostic::warning("extra-tokens", extra.span, message));
        }
        let Some(group) = self.current_group(place, "#else") else { return };
        group.else_seen = true;
        group.state = if group.state == State::Waiting { State::Taken } else { State::Done };
    }

    fn no_extra(&mut self, word: Token<'a>, rest: &[Token<'a>]) {
        if let Some(extra) = rest.first() {
            let message = format!("text after `#{}` is ignored", word.text);
            self.diags.push(Diagnostic::warning("extra-tokens", extra.span, message));
        }
    }

    /// The one name of `#ifdef`, `#ifndef` and `#undef`.
    fn single_name(&mut self, word: Token<'a>, rest: &[Token<'a>]) -> Option<Token<'a>> {
        match rest.split_first() {
            Some((&name, extra)) if name.tok == Tok::Ident => {
                if let Some(extra) = extra.first() {
                    let message = format!("text after the name in `#{}` is ignored", word.text);
                    self.diags.push(Diagnostic::warning("extra-tokens", extra.span, message));
                }
                Some(name)
            }
            found => {
                let span = found.map_or(word.span, |(t, _)| t.span);
                let message = format!("`#{}` needs a name", word.text);
                self.diags.push(Diagnostic::error("bad-directive", span, message));
                None
            }
        }
    }

    /// The tokens' text with single blanks where there were blanks.
    fn rest_of_line(&self, rest: &[Token<'a>]) -> String {
        let mut text = String::new();
        for (i, token) in rest.iter().enumerate() {
            if i > 0 && token.space_before {
                text.push(' ');
            }
            text.push_str(token.text);
        }
        text
    }

    fn pragma(&mut self, rest: &[Token<'a>]) {
        let (Some(first), Some(last)) = (rest.first(), rest.last()) else { return };
        let span = first.span.to(last.span);
        let words: Vec<&str> = rest.iter().map(|t| t.text).collect();
        let switch = |word: &str| match word {
            "on" => Some(true),
            "off" => Some(false),
            _ => None,
        };
        let kind = match words[..] {
            ["optimize", "(", value, ")"] => switch(value).map(PragmaKind::Optimize),
            ["debug", "(", value, ")"] => switch(value).map(PragmaKind::Debug),
            ["STDGL", "invariant", "(", "all", ")"] => Some(PragmaKind::InvariantAll),
            // Others belong to somebody else and are ignored, as the specification asks.
            ["optimize" | "debug", ..] => None,
            _ => {
                if let Some(near) = suggest::nearest(first.text, PRAGMAS) {
                    let message = format!("unknown pragma `{}`, which is ignored", first.text);
                    let found = Diagnostic::warning("unknown-pragma", first.span, message);
                    self.diags.push(found.note(format!("did you mean `{near}`?")));
                }
                return;
            }
        };
        match kind {
            Some(kind) => self.pragmas.push(Pragma { kind, span }),
            None => {
                let message = format!("`#pragma {}` needs `(on)` or `(off)`; ignored", first.text);
                self.diags.push(Diagnostic::warning("bad-pragma", span, message));
            }
        }
    }

    fn extension(&mut self, rest: &[Token<'a>], place: Span) {
        let [name, colon, behavior] = rest else {
            let message = "expected `#extension name : behavior`";
            self.diags.push(Diagnostic::error("bad-extension", place, message));
            return;
        };
        let behavior = match behavior.text {
            "require" => ExtBehavior::Require,
            "enable" => ExtBehavior::Enable,
            "warn" => ExtBehavior::Warn,
            "disable" => ExtBehavior::Disable,
            _ => {
                let message = format!("`{}` is none of require, enable, warn, disable", behavior.text);
                let found = Diagnostic::error("bad-extension", behavior.span, message);
                self.diags.push(suggest::add(found, behavior.text, BEHAVIORS, ""));
                return;
            }
        };
        if name.tok != Tok::Ident || colon.tok != Tok::Colon {
            let message = "expected `#extension name : behavior`";
            self.diags.push(Diagnostic::error("bad-extension", name.span, message));
            return;
        }
        if name.text == "all" {
            if matches!(behavior, ExtBehavior::Require | ExtBehavior::Enable) {
                let message = "`all` can only be warned of or disabled";
                self.diags.push(Diagnostic::error("bad-extension", name.span, message));
                return;
            }
        } else if !KNOWN_EXTENSIONS.iter().any(|e| e.name == name.text && e.es == self.version.is_es()) {
            let message = format!("extension `{}` is not supported", name.text);
            let found = match behavior {
                ExtBehavior::Require => Diagnostic::error("unknown-extension", name.span, message),
                _ => Diagnostic::warning("unknown-extension", name.span, message),
            };
            let es = self.version.is_es();
            let names: Vec<&str> = KNOWN_EXTENSIONS.iter().filter(|e| e.es == es).map(|e| e.name).collect();
            self.diags.push(suggest::add(found, name.text, &names, ""));
            return;
        }
        if self.any_token {
            let message = "`#extension` should stand before all declarations";
            self.diags.push(Diagnostic::warning("late-extension", place, message));
        }
        self.extensions.push(Extension { name: Name { text: name.text, span: name.span }, behavior });
    }

    fn version_line(&mut self, rest: &[Token<'a>], place: Span, allowed: bool) {
        let Some((number, extra)) = rest.split_first() else {
            self.diags.push(Diagnostic::error("bad-version", place, "`#version` needs a number"));
            return;
        };
        if !allowed {
            let message = "`#version` must be the first thing in the shader";
            self.diags.push(Diagnostic::error("late-version", place, message));
            return;
        }
        let version = number.text.parse().ok().and_then(Version::from_number);
        if version.is_none() || number.tok != Tok::Int {
            let message = format!("`#version {}` is not supported", number.text);
            let note = "versions 110, 120 and 100 (ES) are";
            self.diags.fatal(Diagnostic::error("unsupported-version", number.span, message).note(note));
        } else if let Some(extra) = extra.first() {
            let message = format!("`#version {}` ends after the number", number.text);
            self.diags.push(Diagnostic::error("bad-version", extra.span, message));
        }
    }

    fn line(&mut self, rest: &'a [Token<'a>], place: Span) {
        let expanded = self.expand_list(rest, place);
        let number = |t: &Token<'_>| {
            let value = t.text.parse::<u32>().ok().filter(|_| t.tok == Tok::Int);
            value.filter(|&v| v <= i32::MAX as u32).map(i64::from)
        };
        let values: Option<Vec<i64>> = expanded.iter().map(number).collect();
        let (line, source) = match values.as_deref() {
            Some([line]) => (*line, None),
            Some([line, source]) => (*line, Some(*source)),
            _ => {
                if !self.diags.stopped() {
                    let message = "`#line` needs a line number and may have a source number";
                    self.diags.push(Diagnostic::error("bad-line", place, message));
                }
                return;
            }
        };
        let Some(frame) = self.frames.last_mut() else { return };
        // GLSL before 3.30: the next line has the number after the one given.
        let here = frame.line_starts.partition_point(|&start| start <= place.lo) as i64;
        frame.line_shift = line - here;
        frame.source_string = source.unwrap_or(frame.source_string);
    }

    fn include(&mut self, rest: &[Token<'a>], place: Span) {
        let name = match rest {
            [name] if name.tok == Tok::Str => name.text.trim_matches('"').to_string(),
            [open, middle @ .., close] if open.tok == Tok::Lt && close.tok == Tok::Gt && !middle.is_empty() => {
                self.rest_of_line(middle)
            }
            _ => {
                let message = "expected `#include \"name\"` or `#include <name>`";
                self.diags.push(Diagnostic::error("bad-include", place, message));
                return;
            }
        };
        if self.frames.len() > self.limits.include_depth {
            let message = format!("more than {} files include each other", self.limits.include_depth);
            self.diags.fatal(self.limits.error("include-nesting", place, message));
            return;
        }
        let from = self.sources.file(place.file).name.clone();
        let Some(resolve) = self.options.include else { return };
        match resolve(&name, &from) {
            Ok(found) => {
                let file = self.sources.add(found.name, found.text);
                self.push_file(file, false);
                // The numbers of `__FILE__` tell the files apart.
                if let Some(frame) = self.frames.last_mut() {
                    frame.source_string = i64::from(file.0);
                }
            }
            Err(reason) => {
                let message = format!("cannot include `{name}`: {reason}");
                self.diags.push(Diagnostic::error("include-failed", place, message));
            }
        }
    }
}
