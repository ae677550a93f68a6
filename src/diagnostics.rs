//! Diagnostics as people and tools read them: with file, line, column, the source line and a caret,
//! or as JSON.

use codespan_reporting::diagnostic as out;
use codespan_reporting::files::SimpleFiles;
use codespan_reporting::term;
use ir::diag::{Diagnostic, Label, Severity, SourceMap, Span, line_end};
use serde_json::{Value, json};
use std::borrow::Cow;

/// Longer source lines are not shown, in bytes: a megabyte on one line, shown for each error, helps nobody.
const SHOWN_LINE: usize = 2_000;

/// The source line of a place, if it is short enough to be shown.
fn shown_line(sources: &SourceMap, span: Span) -> Option<&str> {
    Some(sources.line_text(span.file, sources.line(span))).filter(|line| line.len() <= SHOWN_LINE)
}

/// A span in whole characters and within the text, as the renderer wants it.
fn range(sources: &SourceMap, span: Span) -> std::ops::Range<usize> {
    let text = &sources.file(span.file).text;
    let floor = |at: u32| {
        let at = (at as usize).min(text.len());
        (0..=at).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0)
    };
    let lo = floor(span.lo);
    lo..floor(span.hi).max(lo)
}

/// A text without what would steer a terminal. Each such character becomes one of as many bytes, so
/// that spans stay right.
fn visible(text: &str) -> Cow<'_, str> {
    let steers = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    text.chars()
        .map(|c| {
            if !steers(c) {
                c
            } else if c.len_utf8() == 1 {
                '?'
            } else {
                '\u{bf}'
            }
        })
        .collect()
}

/// A text whose lines all end with a line feed, as the renderer counts them; bytes stay where they are.
fn with_line_feeds(text: Cow<'_, str>) -> Cow<'_, str> {
    if !text.contains('\r') {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for (start, _) in text.match_indices(['\r', '\n']) {
        if start < at {
            continue;
        }
        out.push_str(&text[at..start]);
        let end = line_end(text.as_bytes(), start);
        out.push_str(if end == 2 { " \n" } else { "\n" });
        at = start + end;
    }
    out.push_str(&text[at..]);
    Cow::Owned(out)
}

/// All diagnostics for people, each with its source line and a caret.
pub fn render(sources: &SourceMap, diagnostics: &[Diagnostic]) -> String {
    let mut files = SimpleFiles::new();
    for file in sources.files() {
        files.add(file.name.as_str(), with_line_feeds(visible(&file.text)));
    }
    let config = term::Config::default();
    let mut text = String::new();
    for diagnostic in diagnostics {
        let severity = match diagnostic.severity {
            Severity::Error => out::Severity::Error,
            Severity::Warning => out::Severity::Warning,
        };
        let known = |span: Span| (span.file.0 as usize) < sources.files().len();
        let (shown, long): (Vec<&Label>, Vec<&Label>) =
            diagnostic.labels.iter().filter(|l| known(l.span)).partition(|l| shown_line(sources, l.span).is_some());
        let places = long.iter().map(|label| {
            let (line, column) = sources.line_col(label.span);
            let name = &sources.file(label.span.file).name;
            format!("at {name}:{line}:{column}, in a line too long to show {}", label.text).trim_end().to_owned()
        });
        let labels = shown.iter().enumerate().map(|(i, label)| {
            let style = if i == 0 { out::LabelStyle::Primary } else { out::LabelStyle::Secondary };
            let file = label.span.file.0 as usize;
            out::Label::new(style, file, range(sources, label.span)).with_message(&label.text)
        });
        let rendered = out::Diagnostic::new(severity)
            .with_code(diagnostic.code)
            .with_message(&diagnostic.message)
            .with_labels(labels.collect())
            .with_notes(places.chain(diagnostic.notes.iter().map(|n| format!("note: {n}"))).collect());
        if term::emit_to_string(&mut text, &config, &files, &rendered).is_err() {
            text.push_str(&format!("{diagnostic}\n"));
        }
    }
    text
}

/// One diagnostic for tools: severity, code, message, file, line and column (from 1), notes.
pub fn to_json(sources: &SourceMap, diagnostic: &Diagnostic) -> Value {
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let places: Vec<Value> = diagnostic
        .labels
        .iter()
        .filter(|l| (l.span.file.0 as usize) < sources.files().len())
        .map(|l| {
            let (line, column) = sources.line_col(l.span);
            let name = &sources.file(l.span.file).name;
            let source = shown_line(sources, l.span);
            json!({"file": name, "line": line, "column": column, "text": l.text, "source": source})
        })
        .collect();
    json!({
        "severity": severity,
        "code": diagnostic.code,
        "message": diagnostic.message,
        "labels": places,
        "notes": diagnostic.notes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_line_and_a_caret_are_shown() {
        let mut sources = SourceMap::new();
        let file = sources.add("a.frag", "void main()\n{\n    fool = 1.0;\n}\n");
        let error = Diagnostic::error("undeclared-name", Span::new(file, 18, 22), "`fool` is not declared")
            .note("GLSL 1.10, section 4.2.2");
        let text = render(&sources, std::slice::from_ref(&error));
        assert!(text.contains("a.frag:3:5") && text.contains("    fool = 1.0;") && text.contains("^^^^"), "{text}");
        let json = to_json(&sources, &error);
        assert_eq!((&json["labels"][0]["line"], &json["labels"][0]["column"]), (&json!(3), &json!(5)));
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        let mut sources = SourceMap::new();
        let file = sources.add("a.frag", "\0\x1b[2J\u{9b} x = \u{e9};\r\n");
        let text = render(&sources, &[Diagnostic::error("x", Span::new(file, 8, 9), "m")]);
        assert!(text.contains("??[2J\u{bf} x = \u{e9};") && text.contains("a.frag:1:8"), "{text}");
    }

    #[test]
    fn a_line_too_long_to_show_is_named() {
        let mut sources = SourceMap::new();
        let file = sources.add("a.frag", format!("\n{}x;", " ".repeat(100_000)));
        let error = Diagnostic::error("x", Span::new(file, 100_001, 100_002), "m").note("n");
        let text = render(&sources, std::slice::from_ref(&error));
        assert!(text.len() < 300 && text.contains("a.frag:2:100001") && text.contains("note: n"), "{text}");
        assert_eq!(to_json(&sources, &error)["labels"][0]["source"], json!(null));
    }

    #[test]
    fn spans_outside_of_the_text_do_not_panic() {
        let mut sources = SourceMap::new();
        let file = sources.add("a.frag", "é");
        for (lo, hi) in [(0, 1), (1, 2), (5, 9), (2, 0)] {
            let error = Diagnostic::error("x", Span::new(file, lo, hi), "m");
            assert!(render(&sources, &[error]).contains("error[x]: m"));
        }
    }
}
