//! `compare`: two tables of rows, before and after, by shader.

use crate::row::{Outcome, Row};
use crate::stats::{Pair, Summary, summarize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// What changed between two tables.
#[derive(Clone, PartialEq, Debug)]
pub struct Comparison {
    /// The column.
    pub metric: String,
    /// Shaders that compile on both sides.
    pub summary: Summary,
    /// Names of the unchanged ones.
    pub unchanged: Vec<String>,
    /// Compiled before only, with what happened after.
    pub lost: Vec<(String, String)>,
    /// Compile after only.
    pub gained: Vec<String>,
    /// Only in one of the tables.
    pub alone: Vec<String>,
    /// Failed on both sides.
    pub failed: usize,
}

/// Pairs the rows by shader and target, and by pipeline when a table has several of a shader.
///
/// # Errors
/// A metric that is no column, or two rows with the same key.
pub fn compare(before: &[Row], after: &[Row], metric: &str) -> Result<Comparison, String> {
    let several = |rows: &[Row]| rows.iter().map(|r| &r.pipeline).collect::<BTreeSet<_>>().len() > 1;
    let by_pipeline = several(before) || several(after);
    let (before, after) = (index(before, by_pipeline)?, index(after, by_pipeline)?);
    let number = |row: &Row| row.metric(metric).ok_or_else(|| format!("no column `{metric}`"));
    let mut pairs = Vec::new();
    let (mut lost, mut gained, mut alone, mut failed) = (Vec::new(), Vec::new(), Vec::new(), 0);
    let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    for key in keys {
        let (Some(b), Some(a)) = (before.get(key), after.get(key)) else {
            alone.push(key.clone());
            continue;
        };
        match (b.status == Outcome::Ok, a.status == Outcome::Ok) {
            (true, true) => pairs.push(Pair { name: key.clone(), before: number(b)?, after: number(a)? }),
            (true, false) => lost.push((key.clone(), format!("{}: {}", a.status, a.reason))),
            (false, true) => gained.push(key.clone()),
            (false, false) => failed += 1,
        }
    }
    let unchanged = pairs.iter().filter(|p| p.before == p.after).map(|p| p.name.clone()).collect();
    let summary = summarize(&pairs);
    Ok(Comparison { metric: metric.to_owned(), summary, unchanged, lost, gained, alone, failed })
}

fn index(rows: &[Row], by_pipeline: bool) -> Result<BTreeMap<String, &Row>, String> {
    let mut index = BTreeMap::new();
    for row in rows {
        let mut key = format!("{} {}", row.file, row.target);
        if by_pipeline {
            let _ = write!(key, " {}", row.pipeline);
        }
        if index.insert(key.clone(), row).is_some() {
            return Err(format!("two rows for {key}"));
        }
    }
    Ok(index)
}

impl Comparison {
    /// Whether the second table is worse than allowed: the mean ratio is above `ratio`, or a shader
    /// no longer compiles.
    pub fn breaks(&self, ratio: f64) -> bool {
        self.summary.ratio > ratio || !self.lost.is_empty()
    }

    /// For people. `names` lists the unchanged ones too.
    pub fn text(&self, names: bool) -> String {
        let s = &self.summary;
        let mut out = String::new();
        let percent = (s.ratio - 1.0) * 100.0;
        let _ = writeln!(out, "{} in {} shaders: {} -> {}", self.metric, s.shaders, s.before, s.after);
        let _ = writeln!(out, "geometric mean of the ratios: {:.4} ({percent:+.2} %)", s.ratio);
        let (helped, hurt) = (s.helped.len(), s.hurt.len());
        let _ = writeln!(out, "helped {helped}, hurt {hurt}, unchanged {}", s.unchanged);
        let (lost, gained) = (self.lost.len(), self.gained.len());
        let _ = writeln!(out, "lost {lost}, gained {gained}, failed on both sides {}", self.failed);
        for (title, pairs) in [("helped", &s.helped), ("hurt", &s.hurt)] {
            for p in pairs {
                let _ = writeln!(out, "{title} {}: {} -> {} ({:.3})", p.name, p.before, p.after, p.ratio());
            }
        }
        self.lost.iter().for_each(|(name, why)| {
            let _ = writeln!(out, "lost {name}: {why}");
        });
        let mut list = |title: &str, names: &[String]| {
            for name in names {
                let _ = writeln!(out, "{title} {name}");
            }
        };
        list("gained", &self.gained);
        list("in one table only", &self.alone);
        if names {
            list("unchanged", &self.unchanged);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Job;

    fn row(name: &str, pipeline: &str, instructions: Option<u64>) -> Row {
        let job = Job {
            path: name.into(),
            name: name.into(),
            stage: "vert".into(),
            target: "vec4".into(),
            pipeline: pipeline.into(),
            ..Job::default()
        };
        let status = if instructions.is_some() { Outcome::Ok } else { Outcome::DoesNotFit };
        Row { instructions: instructions.unwrap_or(0), ..Row::failed(&job, status, "too many\nlines") }
    }

    #[test]
    fn pairs_by_shader_whatever_the_one_pipeline_is_called() {
        let before = [row("a", "none", Some(10)), row("b", "none", Some(4)), row("c", "none", None)];
        let after = [row("a", "egraph", Some(5)), row("b", "egraph", None), row("c", "egraph", Some(1))];
        let c = compare(&before, &after, "instructions").unwrap();
        assert_eq!((c.summary.before, c.summary.after, c.summary.ratio), (10, 5, 0.5));
        assert_eq!(c.lost, [("b vec4".to_owned(), "does-not-fit: too many / lines".to_owned())]);
        assert_eq!(c.gained, ["c vec4"]);
        assert!(c.breaks(1.0), "a lost shader breaks any bound");
        let c = compare(&before[..1], &after[..1], "instructions").unwrap();
        assert!(!c.breaks(0.5) && c.breaks(0.49));
    }

    #[test]
    fn several_pipelines_are_kept_apart() {
        let table = [row("a", "none", Some(10)), row("a", "egraph", Some(4))];
        assert_eq!(compare(&table, &table, "instructions").unwrap().unchanged.len(), 2);
        assert_eq!(compare(&table, &table[..1], "instructions").unwrap().alone, ["a vec4 egraph"]);
        assert!(compare(&[table[0].clone(), table[0].clone()], &table, "instructions").is_err());
        assert!(compare(&table, &table, "beauty").is_err());
    }
}
