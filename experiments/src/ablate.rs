//! `ablate`: what each part of a pipeline is worth, by leaving it out.
//!
//! In: the rows of the full pipeline and of its variants. Out: one line a variant. A ratio is the
//! geometric mean, over the shaders that compile on both sides, of the variant's instructions over
//! the full pipeline's: above 1 the part helps.

use crate::compare::compare;
use crate::row::{Outcome, Row};
use crate::table::{Align, Table};
use serde::Serialize;
use std::collections::BTreeMap;

/// One line of the table.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct AblationRow {
    /// What is left out, or the pipeline's name.
    pub variant: String,
    /// Shaders that compile.
    pub compiled: usize,
    /// Their instructions.
    pub instructions: u64,
    /// Geometric mean of the ratios to the full pipeline.
    pub ratio: f64,
    /// Shaders with fewer instructions than the full pipeline gives.
    pub better: usize,
    /// Shaders with more.
    pub worse: usize,
    /// Shaders that compile with the full pipeline only.
    pub lost: usize,
    /// Sum of temporaries.
    pub temps: u64,
    /// Geometric mean of the temporaries' ratios.
    pub temps_ratio: f64,
    /// Sum of the estimated cycles.
    pub cycles: u64,
}

/// A variant's title and the rows' pipeline name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arm {
    /// In the table.
    pub title: String,
    /// In the rows.
    pub pipeline: String,
}

/// Holds each arm's rows against those of the first.
///
/// # Errors
/// When two rows have the same shader, target and pipeline.
pub fn ablate(arms: &[Arm], rows: &[Row]) -> Result<Vec<AblationRow>, String> {
    let mut by_pipeline: BTreeMap<&str, Vec<Row>> = BTreeMap::new();
    for row in rows {
        by_pipeline.entry(&row.pipeline).or_default().push(row.clone());
    }
    let of = |arm: &Arm| by_pipeline.get(arm.pipeline.as_str()).map_or(&[][..], Vec::as_slice);
    let Some(first) = arms.first() else { return Ok(Vec::new()) };
    arms.iter()
        .map(|arm| {
            let ok: Vec<&Row> = of(arm).iter().filter(|r| r.status == Outcome::Ok).collect();
            let counts = compare(of(first), of(arm), "instructions")?;
            let temps = compare(of(first), of(arm), "temps")?;
            Ok(AblationRow {
                variant: arm.title.clone(),
                compiled: ok.len(),
                instructions: ok.iter().map(|r| r.instructions).sum(),
                ratio: counts.summary.ratio,
                better: counts.summary.helped.len(),
                worse: counts.summary.hurt.len(),
                lost: counts.lost.len(),
                temps: ok.iter().map(|r| r.temps).sum(),
                temps_ratio: temps.summary.ratio,
                cycles: ok.iter().map(|r| r.cycles).sum(),
            })
        })
        .collect()
}

/// As a Markdown table.
pub fn markdown(rows: &[AblationRow]) -> String {
    let mut table = Table::new([
        ("variant", Align::Left),
        ("compiled", Align::Right),
        ("instructions", Align::Right),
        ("ratio", Align::Right),
        ("better", Align::Right),
        ("worse", Align::Right),
        ("lost", Align::Right),
        ("temps", Align::Right),
        ("temps ratio", Align::Right),
        ("cycles", Align::Right),
    ]);
    for r in rows {
        table.row([
            r.variant.clone(),
            r.compiled.to_string(),
            r.instructions.to_string(),
            format!("{:.4}", r.ratio),
            r.better.to_string(),
            r.worse.to_string(),
            r.lost.to_string(),
            r.temps.to_string(),
            format!("{:.4}", r.temps_ratio),
            r.cycles.to_string(),
        ]);
    }
    table.markdown()
}
