//! `peers`: compile time beside another compiler's, on the same files in the same run.
//!
//! The peer is a script that prints one JSON object a file (`file, ok, instructions, temps, micros,
//! error`). Its instruction counts stand for another instruction set and are labelled so.

use crate::row::{Outcome, Row};
use crate::stats::geometric_mean;
use crate::table::{Align, Table};
use serde::Deserialize;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// What a peer says of one file.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct PeerRow {
    /// As it was given.
    pub file: String,
    /// Whether it compiles.
    pub ok: bool,
    /// Its instructions.
    #[serde(default)]
    pub instructions: u64,
    /// Its temporaries.
    #[serde(default)]
    pub temps: u64,
    /// Least microseconds of its repeats.
    #[serde(default)]
    pub micros: u64,
    /// Its first words when it does not compile.
    #[serde(default)]
    pub error: String,
}

/// Runs `python3 SCRIPT --profile PROFILE FILE...`.
///
/// # Errors
/// When the script cannot run, fails, or prints something else.
pub fn run_cgc(script: &Path, profile: &str, files: &[String]) -> Result<Vec<PeerRow>, String> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let mut command = Command::new("python3");
    command.arg(script).args(["--profile", profile]).args(files).stderr(Stdio::inherit());
    let told = |e: &dyn std::fmt::Display| format!("peer {}: {e}", script.display());
    let output = command.output().map_err(|e| told(&e))?;
    if !output.status.success() {
        return Err(told(&output.status));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().map(|l| serde_json::from_str(l).map_err(|e| told(&e))).collect()
}

/// One file on both sides.
#[derive(Clone, PartialEq, Debug)]
pub struct Beside {
    /// Ours.
    pub ours: Row,
    /// The peer's, when it answered for this file.
    pub peer: Option<PeerRow>,
}

impl Beside {
    /// Our time over the peer's, when both compile. A time below a microsecond counts as one.
    pub fn time_ratio(&self) -> Option<f64> {
        let peer = self.peer.as_ref().filter(|p| p.ok)?;
        (self.ours.status == Outcome::Ok).then(|| self.ours.micros.max(1) as f64 / peer.micros.max(1) as f64)
    }
}

/// Puts rows side by side by file.
pub fn beside(ours: &[Row], peers: &[PeerRow]) -> Vec<Beside> {
    let find = |row: &Row| peers.iter().find(|p| p.file == row.file).cloned();
    ours.iter().map(|row| Beside { ours: row.clone(), peer: find(row) }).collect()
}

/// The report, as Markdown.
pub fn report(rows: &[Beside], profiles: &str) -> String {
    let ours = rows.first().map_or(String::new(), |r| r.ours.target.clone());
    let heads = [
        ("file".to_owned(), Align::Left),
        ("µs, eggshade".to_owned(), Align::Right),
        ("µs, cgc".to_owned(), Align::Right),
        ("ratio".to_owned(), Align::Right),
        (format!("instructions, {ours}"), Align::Right),
        (format!("instructions, cgc {profiles} (another set)"), Align::Right),
    ];
    let mut table = Table::new(heads.each_ref().map(|(h, a)| (h.as_str(), *a)));
    let mut notes = String::new();
    for row in rows {
        let ok = row.ours.status == Outcome::Ok;
        let mine = |n: u64| if ok { n.to_string() } else { row.ours.status.to_string() };
        let theirs = |n: fn(&PeerRow) -> u64| match &row.peer {
            Some(p) if p.ok => n(p).to_string(),
            _ => "fails".to_owned(),
        };
        let ratio = row.time_ratio().map_or(String::new(), |r| format!("{r:.3}"));
        table.row([
            row.ours.file.clone(),
            mine(row.ours.micros),
            theirs(|p| p.micros),
            ratio,
            mine(row.ours.instructions),
            theirs(|p| p.instructions),
        ]);
        if let Some(p) = row.peer.as_ref().filter(|p| !p.ok) {
            let _ = writeln!(notes, "cgc on {}: {}", p.file, p.error.lines().next().unwrap_or_default());
        }
    }
    let ratios: Vec<f64> = rows.iter().filter_map(Beside::time_ratio).collect();
    let mean = geometric_mean(ratios.iter().copied());
    let sum = |of: fn(&Beside) -> u64| rows.iter().filter(|r| r.time_ratio().is_some()).map(of).sum::<u64>();
    let ours = sum(|r| r.ours.micros);
    let theirs = sum(|r| r.peer.as_ref().map_or(0, |p| p.micros));
    format!(
        "{}\ncompile time, eggshade over cgc: geometric mean {mean:.3} over {} files ({ours} µs and {theirs} µs in all)\n{notes}",
        table.markdown(),
        ratios.len(),
    )
}
