//! Runs files of cases: a command, an input, and the expected output as comment lines below it.
//!
//! ```text
//! ; what this case is about
//! test eliminate-dead-code
//! function frag {
//! ...
//! }
//! ; expect
//! ; function frag {
//! ; ...
//! ; }
//! ====
//! ; the next case of the file
//! ```
//!
//! `BLESS=1` in the environment writes the actual output into the files instead of comparing; look
//! at the difference before you commit it. Cases of one file are separated by a line of `====`.

use std::fmt::Write;
use std::path::{Path, PathBuf};

/// One case.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Case {
    /// The words after `test`.
    pub command: Vec<String>,
    /// Everything between the command and `; expect`.
    pub input: String,
}

/// Runs every case of every `.txt` file below `dir`, in order of their names, and returns how many
/// there were. `run` gives the output of a case; an `Err` is output too, after the word `error:`.
///
/// # Panics
/// With the list of all differences; when a file cannot be read or has no `test` line; and when
/// there are no files.
pub fn run_dir(dir: &Path, mut run: impl FnMut(&Case) -> Result<String, String>) -> usize {
    let bless = std::env::var_os("BLESS").is_some_and(|v| v == "1");
    let mut files = Vec::new();
    collect(dir, &mut files);
    files.sort();
    let mut failures = String::new();
    let mut count = 0;
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let mut blessed = Vec::new();
        for (number, part) in text.split("\n====\n").enumerate() {
            count += 1;
            let name = format!("{} case {}", file.display(), number + 1);
            let (body, expected) = split_expected(part);
            let case = parse_case(body).unwrap_or_else(|| panic!("{name}: no line `test ...`"));
            let actual = match run(&case) {
                Ok(output) => output,
                Err(message) => format!("error: {message}"),
            };
            let actual = actual.trim_end();
            if actual != expected.trim_end() {
                let _ = writeln!(failures, "---- {name}\n{}", difference(&expected, actual));
            }
            blessed.push(format!("{}\n; expect\n{}", body.trim_end(), as_comment(actual)));
        }
        if bless {
            let text = blessed.join("====\n");
            std::fs::write(file, text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        }
    }
    assert!(count > 0, "no file tests in {}", dir.display());
    assert!(bless || failures.is_empty(), "{failures}\nBLESS=1 accepts the new output");
    count
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
    for entry in entries {
        let path = entry.unwrap_or_else(|e| panic!("{}: {e}", dir.display())).path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "txt") {
            files.push(path);
        }
    }
}

/// The part before `; expect`, and the comment lines after it without their marks.
fn split_expected(part: &str) -> (&str, String) {
    let Some((body, rest)) = part.split_once("\n; expect\n") else {
        return (part.trim_end_matches("\n; expect"), String::new());
    };
    let lines: Vec<&str> = rest.lines().map(|l| l.strip_prefix("; ").or(l.strip_prefix(';')).unwrap_or(l)).collect();
    (body, lines.join("\n"))
}

fn as_comment(text: &str) -> String {
    text.lines().fold(String::new(), |mut out, line| {
        let _ = writeln!(out, "{}", format!("; {line}").trim_end());
        out
    })
}

fn parse_case(body: &str) -> Option<Case> {
    let mut command = None;
    let mut input = String::new();
    for line in body.lines() {
        match line.strip_prefix("test ") {
            Some(words) if command.is_none() => {
                command = Some(words.split_whitespace().map(str::to_string).collect());
            }
            _ if command.is_some() => {
                input.push_str(line);
                input.push('\n');
            }
            _ => {}
        }
    }
    Some(Case { command: command?, input })
}

/// Both texts from the first line that differs.
fn difference(expected: &str, actual: &str) -> String {
    let same = expected.lines().zip(actual.lines()).take_while(|(a, b)| a == b).count();
    let tail = |text: &str| text.lines().skip(same).map(|l| format!("    {l}\n")).collect::<String>();
    format!("  {same} equal lines, then expected:\n{}  but found:\n{}", tail(expected), tail(actual))
}
