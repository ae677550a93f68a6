//! The rules of the three specifications, chapter by chapter, as the smallest legal and illegal texts.
//!
//! A line of `filetests/rules.txt` is `VERSION STAGE VERDICT | TEXT`: `110`, `120` or `es`; `V` or `F`;
//! `ok` or `bad`. In the text `\n` ends a line; one without `main` gets one. `#` begins a comment.

mod common;

use frontend::ast::Version;
use ir::types::Stage;
use std::fmt::Write;

#[test]
fn legal_texts_pass_and_illegal_ones_do_not() {
    let (mut count, mut report) = (0, String::new());
    for (number, line) in include_str!("filetests/rules.txt").lines().enumerate() {
        if line.starts_with('#') || line.is_empty() {
            continue;
        }
        let (head, text) = line.split_once(" | ").unwrap_or_else(|| panic!("line {}: no ` | `", number + 1));
        let [version, stage, verdict] = head.split_whitespace().collect::<Vec<_>>()[..] else {
            panic!("line {}: three words are needed", number + 1)
        };
        let version = match version {
            "110" => Version::Glsl110,
            "120" => Version::Glsl120,
            "es" => Version::Es100,
            _ => panic!("line {}: no version", number + 1),
        };
        let stage = if stage == "V" { Stage::Vertex } else { Stage::Fragment };
        let mut text = text.replace("\\n", "\n");
        if !text.contains("main(") {
            text.push_str("\nvoid main() { }\n");
        }
        count += 1;
        let found = match (common::compile(version, stage, &text), verdict) {
            (Ok(_), "ok") | (Err(_), "bad") => continue,
            (Ok(_), _) => "passes".to_string(),
            (Err(list), _) => list.iter().map(|d| d.to_string()).collect::<Vec<_>>().join("; "),
        };
        let _ = writeln!(report, "line {}: {line}\n  {found}", number + 1);
    }
    assert!(report.is_empty(), "{report}");
    assert!(count >= 800, "only {count} rules were read");
}
