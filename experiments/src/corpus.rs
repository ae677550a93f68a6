//! `corpus`: shaders that people wrote, held against what a reference compiler says of them.
//!
//! In: the corpus' manifest (one JSON object a line) and the rows of its shaders. Out: of the
//! shaders that the reference accepts, the share that compiles; of those that it rejects, the share
//! that is rejected; both by family, and the reasons of all failures with their counts.

use crate::job::Job;
use crate::row::{Outcome, Row};
use crate::table::{Align, Table};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// What the reference says, by dialect.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
struct Verdict {
    #[serde(default)]
    gl: bool,
    #[serde(default)]
    es: bool,
}

#[derive(Deserialize)]
struct ManifestRow {
    id: String,
    family: String,
    stage: String,
    #[serde(default)]
    mesa: Verdict,
    #[serde(default)]
    glslang: Verdict,
    #[serde(default)]
    dup: Option<String>,
    #[serde(default)]
    nomain: bool,
    #[serde(default)]
    units: u32,
    #[serde(default)]
    forcees: u32,
}

/// A shader of the corpus.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Its name in the manifest.
    pub id: String,
    /// The program that it belongs to.
    pub family: String,
    /// `vert` or `frag`.
    pub stage: String,
    /// Whether some reference compiler accepts it in some dialect.
    pub accepted: bool,
    /// Whether it is GLSL ES.
    pub es: bool,
}

/// What the manifest lists.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Manifest {
    /// Complete distinct shaders.
    pub entries: Vec<Entry>,
    /// Rows left out: the same text as another.
    pub duplicates: usize,
    /// Rows left out: no `main`, or a file for inclusion.
    pub parts: usize,
    /// Rows left out: one of several sources of a stage.
    pub units: usize,
}

/// Reads the manifest's text; `only` keeps these families when it names any.
///
/// # Errors
/// The first line that is no manifest row.
pub fn read_manifest(text: &str, only: &[String]) -> Result<Manifest, String> {
    let mut manifest = Manifest::default();
    for (i, line) in text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty()) {
        let row: ManifestRow = serde_json::from_str(line).map_err(|e| format!("line {}: {e}", i + 1))?;
        if !only.is_empty() && !only.contains(&row.family) {
            continue;
        }
        if row.stage == "include" || row.nomain {
            manifest.parts += 1;
        } else if row.dup.is_some() {
            manifest.duplicates += 1;
        } else if row.units > 0 {
            manifest.units += 1;
        } else {
            let gl = row.mesa.gl || row.glslang.gl;
            let es = row.mesa.es || row.glslang.es;
            manifest.entries.push(Entry {
                id: row.id,
                family: row.family,
                stage: row.stage,
                accepted: gl || es,
                es: !gl && (es || row.forcees > 0),
            });
        }
    }
    manifest.entries.sort_by(|a, b| (&a.family, &a.id).cmp(&(&b.family, &b.id)));
    Ok(manifest)
}

/// The entries' jobs, in their order.
pub fn jobs(entries: &[Entry], folder: &Path, target: &str, pipeline: &str) -> Vec<Job> {
    let job = |e: &Entry| Job {
        path: folder.join(format!("{}.{}", e.id, e.stage)).display().to_string(),
        name: e.id.clone(),
        stage: e.stage.clone(),
        target: target.to_owned(),
        pipeline: pipeline.to_owned(),
        without: Vec::new(),
        repeat: 1,
        es: e.es,
        check: false,
    };
    entries.iter().map(job).collect()
}

/// A row of the result table.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CorpusRow {
    /// The shader.
    pub id: String,
    /// The program that it belongs to.
    pub family: String,
    /// Whether the reference accepts it.
    pub accepted: bool,
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
        if row.accepted {
            self.accepted += 1;
            self.compiled += usize::from(row.status == Outcome::Ok);
        } else {
            self.refused += 1;
            self.rejected += usize::from(row.status == Outcome::Rejected);
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

/// Counts by family, then of all, and of all outside of test suites.
pub fn shares(rows: &[CorpusRow]) -> Vec<(String, Share)> {
    let mut families: BTreeMap<&str, Share> = BTreeMap::new();
    let (mut all, mut programs) = (Share::default(), Share::default());
    for row in rows {
        families.entry(&row.family).or_default().add(row);
        all.add(row);
        if !is_suite(&row.family) {
            programs.add(row);
        }
    }
    let mut out: Vec<(String, Share)> = families.into_iter().map(|(f, s)| (f.to_owned(), s)).collect();
    out.push(("all".to_owned(), all));
    out.push(("all without test suites".to_owned(), programs));
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

/// Failures of accepted shaders (or faults of any) by status, code and pattern: most frequent first,
/// each with some ids.
pub fn failures(rows: &[CorpusRow]) -> Vec<(String, Vec<String>)> {
    let mut by: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in rows {
        let wrong = if row.accepted { row.status != Outcome::Ok } else { row.status.is_fault() };
        if wrong {
            let key = format!("{} {} {}", row.status, row.code, pattern(&row.reason));
            by.entry(key).or_default().push(row.id.clone());
        }
    }
    let mut out: Vec<_> = by.into_iter().collect();
    out.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then_with(|| a.0.cmp(&b.0)));
    out
}

/// Shaders that the reference rejects and that compile.
pub fn lenient(rows: &[CorpusRow]) -> Vec<&str> {
    rows.iter().filter(|r| !r.accepted && r.status == Outcome::Ok).map(|r| r.id.as_str()).collect()
}

/// The report, as Markdown.
pub fn report(manifest: &Manifest, rows: &[CorpusRow], examples: usize) -> String {
    let mut out = format!(
        "{} shaders; left out: {} with the text of another, {} parts without main, {} of several sources a stage\n\n",
        rows.len(),
        manifest.duplicates,
        manifest.parts,
        manifest.units
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
        let of = |accepted| rows.iter().filter(|r| r.status == outcome && r.accepted == accepted).count();
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

    const MANIFEST: &str = r#"{"id":"a-1","family":"a","stage":"vert","mesa":{"gl":true,"es":false},"glslang":{"gl":true}}
{"id":"a-2","family":"a","stage":"frag","mesa":{"gl":false,"es":true},"glslang":{}}
{"id":"a-3","family":"a","stage":"frag","mesa":{"gl":false},"glslang":{"gl":false}}
{"id":"a-4","family":"a","stage":"frag","mesa":{},"glslang":{},"dup":"a-3"}
{"id":"a-5","family":"a","stage":"include"}
{"id":"b-1","family":"b","stage":"frag","mesa":{"gl":true},"glslang":{},"units":2}
"#;

    #[test]
    fn the_manifest_tells_what_counts() {
        let manifest = read_manifest(MANIFEST, &[]).unwrap();
        let got: Vec<_> = manifest.entries.iter().map(|e| (e.id.as_str(), e.accepted, e.es)).collect();
        assert_eq!(got, [("a-1", true, false), ("a-2", true, true), ("a-3", false, false)]);
        assert_eq!((manifest.duplicates, manifest.parts, manifest.units), (1, 1, 1));
        assert!(read_manifest("{", &[]).unwrap_err().contains("line 1"));
        assert!(read_manifest(MANIFEST, &["b".into()]).unwrap().entries.is_empty());
    }

    #[test]
    fn shares_count_both_sides_and_faults() {
        let manifest = read_manifest(MANIFEST, &[]).unwrap();
        let jobs = jobs(&manifest.entries, Path::new("s"), "vec4", "egraph");
        assert!(jobs[1].path.ends_with("a-2.frag") && jobs[1].es);
        let row = |i: usize, outcome| Row::failed(&jobs[i], outcome, "`x` has 3 of 10");
        let rows = [row(0, Outcome::Ok), row(1, Outcome::DoesNotFit), row(2, Outcome::Timeout)];
        let rows = join(&manifest.entries, &rows);
        let all = shares(&rows)[1].1;
        assert_eq!(all, Share { accepted: 2, compiled: 1, refused: 1, rejected: 0, faults: 1 });
        assert_eq!(all.compiles(), 0.5);
        let failures = failures(&rows);
        assert_eq!(failures.len(), 2);
        assert_eq!(failures[0].0, "does-not-fit  `_` has # of #");
    }
}
