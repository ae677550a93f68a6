//! The preprocessed shader as text.
//!
//! In: tokens. Out: a text without macros and groups that gives the same tokens again; lines stay where
//! they were as far as the order of the tokens allows.

use super::Preprocessed;
use crate::ast::{ExtBehavior, PragmaKind, Version};
use crate::lexer::{Tok, Token};
use ir::diag::SourceMap;
use logos::Logos;
use std::fmt::Write;

/// The text form.
pub fn print_text(preprocessed: &Preprocessed<'_>, sources: &SourceMap) -> String {
    let mut out = String::new();
    if preprocessed.version != Version::Glsl110 {
        let _ = writeln!(out, "#version {}", preprocessed.version.number());
    }
    for extension in &preprocessed.extensions {
        let behavior = match extension.behavior {
            ExtBehavior::Require => "require",
            ExtBehavior::Enable => "enable",
            ExtBehavior::Warn => "warn",
            ExtBehavior::Disable => "disable",
        };
        let _ = writeln!(out, "#extension {} : {behavior}", extension.name.text);
    }
    for pragma in &preprocessed.pragmas {
        let on = |on: bool| if on { "on" } else { "off" };
        let _ = match pragma.kind {
            PragmaKind::Optimize(value) => writeln!(out, "#pragma optimize({})", on(value)),
            PragmaKind::Debug(value) => writeln!(out, "#pragma debug({})", on(value)),
            PragmaKind::InvariantAll => writeln!(out, "#pragma STDGL invariant(all)"),
        };
    }
    let mut last: Option<(&Token<'_>, u32)> = None;
    for token in preprocessed.tokens.iter().filter(|t| t.tok != Tok::Eof) {
        let line = sources.line(token.span);
        if let Some((before, line_before)) = last {
            let same_file = before.span.file == token.span.file;
            if !same_file || line > line_before {
                // Big gaps (skipped groups, comments) shrink to one empty line.
                let ends = if same_file && line - line_before == 1 { 1 } else { 2 };
                (0..ends).for_each(|_| out.push('\n'));
                (0..indentation(token, sources)).for_each(|_| out.push(' '));
            } else if token.space_before || would_merge(before.text, token.text) {
                out.push(' ');
            }
        }
        out.push_str(token.text);
        last = Some((token, line.max(last.map_or(0, |(t, l)| if t.span.file == token.span.file { l } else { 0 }))));
    }
    if last.is_some() {
        out.push('\n');
    }
    out
}

/// How far a token stands from its line's start, at most 40 so that the search is short.
fn indentation(token: &Token<'_>, sources: &SourceMap) -> usize {
    let before = &sources.file(token.span.file).text.as_bytes()[..token.span.lo as usize];
    before.iter().rev().take(40).take_while(|&&byte| byte != b'\n').count()
}

/// Whether two tokens without a blank between them would be read otherwise.
fn would_merge(before: &str, after: &str) -> bool {
    let joined = format!("{before}{after}");
    let mut lexer = Tok::lexer(&joined);
    lexer.next();
    lexer.span().end != before.len()
}
