//! `corpus`: shaders that people wrote, held against what a reference compiler says of them.
//!
//! In: the corpus' manifest (one JSON object a line) and the rows of its shaders. Out: of the
//! shaders that the reference accepts, the share that compiles; of those that it rejects, the share
//! that is rejected; both by family, and the reasons of all failures with their counts.

mod manifest;

pub use manifest::{Entry, Kind, Manifest, jobs, read_manifest};

use crate::row::{Outcome, Row};
use crate::table::{Align, Table};
use crate::verdict::{self, Report, Verdict};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A row of the result table.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CorpusRow {
    /// The shader.
    pub id: String,
    /// The program that it belongs to.
    pub family: String,
    /// What it stands for; the report has the words.
    #[serde(skip)]
    pub kind: Kind,
    /// Whether the reference accepts it; nothing when it was not asked.
    pub accepted: Option<bool>,
    /// `vert` or `frag`.
    pub stage: String,
    /// The target.
    pub target: String,
    /// The pipeline.
    pub pipeline: String,
    /// How it ended.
    pub status: Outcome,
    /// Instructions.
    pub instructions: u64,
    /// Temporaries.
    pub temps: u64,
    /// Constants.
    pub constants: u64,
    /// Estimated cycles.
    pub cycles: u64,
    /// Microseconds.
    pub micros: u64,
    /// The first error's code.
    pub code: String,
    /// Its message.
    pub reason: String,
}

/// Joins entries with their rows.
pub fn join(entries: &[Entry], rows: &[Row]) -> Vec<CorpusRow> {
    let pair = |(e, r): (&Entry, &Row)| CorpusRow {
        id: e.id.clone(),
        family: e.family.clone(),
        kind: e.kind,
        accepted: e.accepted,
        stage: e.stage.clone(),
        target: r.target.clone(),
        pipeline: r.pipeline.clone(),
        status: r.status,
        instructions: r.instructions,
        temps: r.temps,
        constants: r.constants,
        cycles: r.cycles,
        micros: r.micros,
        code: r.code.clone(),
        reason: r.reason.clone(),
    };
    entries.iter().zip(rows).map(pair).collect()
}

/// Counts of a set of shaders.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Share {
    /// The reference accepts so many.
    pub accepted: usize,
    /// Of these compile.
    pub compiled: usize,
    /// The reference rejects so many.
    pub refused: usize,
    /// Of these are rejected.
    pub rejected: usize,
    /// Panics, hangs, crashes and other faults, on either side.
    pub faults: usize,
}

impl Share {
    fn add(&mut self, row: &CorpusRow) {
        match row.accepted {
            Some(true) => {
                self.accepted += 1;
                self.compiled += usize::from(row.status == Outcome::Ok);
            }
            Some(false) => {
                self.refused += 1;
                self.rejected += usize::from(row.status == Outcome::Rejected);
            }
            None => {}
        }
        self.faults += usize::from(row.status.is_fault());
    }

    /// Compiled of accepted; 1 when there are none.
    pub fn compiles(&self) -> f64 {
        if self.accepted == 0 { 1.0 } else { self.compiled as f64 / self.accepted as f64 }
    }
}

/// Whether a family is a test suite rather than a program.
fn is_suite(family: &str) -> bool {
    family.starts_with("piglit")
}

/// Counts of the shaders by family, then of all, and of all outside of test suites; then of what is
/// judged beside them.
pub fn shares(rows: &[CorpusRow]) -> Vec<(String, Share)> {
    let mut families: BTreeMap<&str, Share> = BTreeMap::new();
    let [mut all, mut programs, mut parts, mut linked, mut es] = [Share::default(); 5];
    for row in rows {
        match row.kind {
            Kind::Shader => {
                families.entry(&row.family).or_default().add(row);
                all.add(row);
                if !is_suite(&row.family) {
                    programs.add(row);
                }
            }
            Kind::Part => parts.add(row),
            Kind::Linked => linked.add(row),
            Kind::Es => es.add(row),
        }
    }
    let mut out: Vec<(String, Share)> = families.into_iter().map(|(f, s)| (f.to_owned(), s)).collect();
    for (name, share) in [
        ("all", all),
        ("all without test suites", programs),
        ("parts of a stage, checked", parts),
        ("stages of several texts, linked", linked),
        ("also as GLSL ES 1.00", es),
    ] {
        out.push((name.to_owned(), share));
    }
    out
}

/// A message without the names and numbers that differ from shader to shader.
pub fn pattern(reason: &str) -> String {
    let mut out = String::new();
    let (mut quoted, mut number) = (false, false);
    for c in reason.chars() {
        if c == '`' {
            quoted = !quoted;
            out.push_str(if quoted { "`_" } else { "`" });
        } else if !quoted {
            let digit = c.is_ascii_digit();
            if !digit {
                out.push(c);
            } else if !number {
                out.push('#');
            }
            number = digit;
        }
    }
    out
}

/// What is wrong with a row, if something is.
fn wrong(row: &CorpusRow) -> bool {
    match row.accepted {
        Some(true) => row.status != Outcome::Ok,
        Some(false) => row.status != Outcome::Rejected,
        None => row.status.is_fault(),
    }
}

fn is_lenient(row: &CorpusRow) -> bool {
    row.accepted == Some(false) && row.status == Outcome::Ok
}

/// What went otherwise than the reference says, by status, code and pattern: most frequent first, each
/// with some ids. [`lenient`] has what compiles.
pub fn failures(rows: &[CorpusRow]) -> Vec<(String, Vec<String>)> {
    let mut by: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in rows.iter().filter(|r| wrong(r) && !is_lenient(r)) {
        let key = format!("{} {} {}", row.status, row.code, pattern(&row.reason));
        by.entry(key).or_default().push(row.id.clone());
    }
    let mut out: Vec<_> = by.into_iter().collect();
    out.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then_with(|| a.0.cmp(&b.0)));
    out
}

/// Shaders that the reference rejects and that compile.
pub fn lenient(rows: &[CorpusRow]) -> Vec<&str> {
    rows.iter().filter(|r| is_lenient(r)).map(|r| r.id.as_str()).collect()
}

/// The rows as tests of what the reference says, for a list of those that are known to differ.
pub fn verdicts(rows: &[CorpusRow]) -> Vec<Report> {
    let outcome = |row: &CorpusRow| {
        if !wrong(row) {
            return verdict::Outcome::pass();
        }
        let reason = match row.status {
            Outcome::Ok => "it compiles, but the reference rejects it".to_owned(),
            status => format!("{status} {}: {}", row.code, row.reason),
        };
        verdict::Outcome::new(Verdict::Fail, reason)
    };
    rows.iter().map(|row| Report { file: row.id.clone(), outcome: outcome(row) }).collect()
}

/// The report, as Markdown.
pub fn report(manifest: &Manifest, rows: &[CorpusRow], examples: usize) -> String {
    let mut out = format!(
        "{} shaders, {} of them without a verdict of the reference; left out: {} with the text of another, {} files for inclusion\n\n",
        rows.iter().filter(|r| r.kind == Kind::Shader).count(),
        rows.iter().filter(|r| r.kind == Kind::Shader && r.accepted.is_none()).count(),
        manifest.duplicates,
        manifest.included
    );
    let mut table = Table::new([
        ("family", Align::Left),
        ("accepted", Align::Right),
        ("compile", Align::Right),
        ("share", Align::Right),
        ("rejected by the reference", Align::Right),
        ("rejected", Align::Right),
        ("faults", Align::Right),
    ]);
    for (family, s) in shares(rows) {
        let share = if s.accepted == 0 { String::new() } else { format!("{:.1} %", 100.0 * s.compiles()) };
        let counts = [s.accepted, s.compiled, s.refused, s.rejected, s.faults].map(|n| n.to_string());
        let [accepted, compiled, refused, rejected, faults] = counts;
        table.row([family, accepted, compiled, share, refused, rejected, faults]);
    }
    out.push_str(&table.markdown());
    let mut ends = Table::new([("outcome", Align::Left), ("accepted", Align::Right), ("rejected", Align::Right)]);
    for outcome in Outcome::ALL {
        let of = |accepted| {
            let counts = |r: &&CorpusRow| r.kind == Kind::Shader && r.status == outcome && r.accepted == Some(accepted);
            rows.iter().filter(counts).count()
        };
        if of(true) + of(false) > 0 {
            ends.row([outcome.word().to_owned(), of(true).to_string(), of(false).to_string()]);
        }
    }
    let _ = write!(out, "\n{}", ends.markdown());
    let failures = failures(rows);
    if !failures.is_empty() {
        let mut table = Table::new([("count", Align::Right), ("failure", Align::Left), ("for example", Align::Left)]);
        for (what, ids) in &failures {
            table.row([ids.len().to_string(), what.clone(), ids[..ids.len().min(examples)].join(" ")]);
        }
        let _ = write!(out, "\n{}", table.markdown());
    }
    let lenient = lenient(rows);
    if !lenient.is_empty() {
        let shown = lenient[..lenient.len().min(10 * examples)].join(" ");
        let _ = writeln!(out, "\nrejected by the reference, but they compile: {shown}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<CorpusRow> {
        let row = |id: &str, kind, accepted, status, reason: &str| CorpusRow {
            id: id.to_owned(),
            family: "f".to_owned(),
            kind,
            accepted,
            stage: "frag".to_owned(),
            target: String::new(),
            pipeline: String::new(),
            status,
            instructions: 0,
            temps: 0,
            constants: 0,
            cycles: 0,
            micros: 0,
            code: "c".to_owned(),
            reason: reason.to_owned(),
        };
        vec![
            row("a", Kind::Shader, Some(true), Outcome::Ok, ""),
            row("b", Kind::Shader, Some(true), Outcome::DoesNotFit, "`x` has 3 of 10"),
            row("c", Kind::Shader, Some(false), Outcome::Timeout, "late"),
            row("d", Kind::Shader, Some(false), Outcome::Ok, ""),
            row("e", Kind::Shader, None, Outcome::Rejected, "who knows"),
            row("p", Kind::Part, Some(false), Outcome::Rejected, "wrong"),
            row("a/es", Kind::Es, Some(true), Outcome::Ok, ""),
        ]
    }

    #[test]
    fn shares_count_both_sides_and_faults() {
        let shares = shares(&rows());
        let share = |name: &str| shares.iter().find(|(n, _)| n.starts_with(name)).unwrap().1;
        assert_eq!(share("all"), Share { accepted: 2, compiled: 1, refused: 2, rejected: 0, faults: 1 });
        assert_eq!(share("all").compiles(), 0.5);
        assert_eq!(share("parts"), Share { refused: 1, rejected: 1, ..Share::default() });
        assert_eq!(share("also as"), Share { accepted: 1, compiled: 1, ..Share::default() });
    }

    #[test]
    fn what_differs_from_the_reference_is_told() {
        let failures = failures(&rows());
        assert_eq!(failures.len(), 2);
        assert_eq!(failures[0].0, "does-not-fit c `_` has # of #");
        assert_eq!(lenient(&rows()), ["d"]);
        let wrong: Vec<_> =
            verdicts(&rows()).into_iter().filter(|r| r.outcome.result == Verdict::Fail).map(|r| r.file).collect();
        assert_eq!(wrong, ["b", "c", "d"]);
    }
}
