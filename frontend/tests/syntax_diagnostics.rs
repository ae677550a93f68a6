//! File tests of the preprocessor's and the parser's findings.
//!
//! Each file in `filetests/syntax` holds cases, each begun by a line `//--- NAME [es]`. A comment
//! `//~ error CODE` or `//~ warning CODE` says what must be found on its line, `//~^` on the line
//! before, `//~v` on the line after; several are joined by `,`. What is found must be exactly that.

use frontend::ast::Version;
use ir::diag::{Severity, SourceMap};
use std::fmt::Write;
use std::path::Path;

/// What the comments of a case ask for, in the order of the lines.
fn expected(text: &str) -> Vec<String> {
    let mut list = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let Some((_, wanted)) = line.split_once("//~") else { continue };
        let (wanted, line) = match wanted.split_at(1) {
            ("^", rest) => (rest, i),
            ("v", rest) => (rest, i + 2),
            _ => (wanted, i + 1),
        };
        list.extend(wanted.split(',').map(|w| (line, format!("{line}: {}", w.trim()))));
    }
    list.sort();
    list.into_iter().map(|(_, text)| text).collect()
}

fn found(name: &str, text: &str, version: Version) -> Vec<String> {
    let mut sources = SourceMap::new();
    let file = sources.add(name, text);
    let arena = bumpalo::Bump::new();
    let options = frontend::Options { default_version: version, ..frontend::Options::default() };
    let parsed = frontend::parse(&arena, &mut sources, file, &options);
    let line = |d: &ir::diag::Diagnostic| sources.line_col(d.span()).0 as usize;
    let mut list: Vec<_> = parsed
        .diagnostics
        .iter()
        .map(|d| {
            let severity = if d.severity == Severity::Error { "error" } else { "warning" };
            (line(d), format!("{}: {severity} {}", line(d), d.code))
        })
        .collect();
    list.sort();
    list.into_iter().map(|(_, text)| text).collect()
}

#[test]
fn files_give_their_findings() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests/syntax");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let (mut cases, mut report) = (0, String::new());
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        for case in text.split("//--- ").skip(1) {
            let (title, body) = case.split_once('\n').unwrap();
            let version = if title.ends_with(" es") { Version::Es100 } else { Version::Glsl110 };
            let (wanted, got) = (expected(body), found(&file, body, version));
            cases += 1;
            if wanted != got {
                let _ = writeln!(report, "{file}, {title}\n  expected {wanted:?}\n  found    {got:?}");
            }
        }
    }
    assert!(report.is_empty(), "{report}");
    assert!(cases >= 75, "only {cases} cases were read");
}
