//! Rows to tables: how far the shaders came by stage, and the reasons of the others with their counts.

use super::{Ending, Row};
use crate::corpus::pattern;
use crate::table::{Align, Table};
use crate::verdict::{Outcome, Report, Verdict};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Equal ones of those that fit; 1 when there are none.
pub fn share(rows: &[Row]) -> f64 {
    let fit = rows.iter().filter(|r| r.ending.fits()).count();
    let equal = rows.iter().filter(|r| r.ending == Ending::Equal).count();
    if fit == 0 { 1.0 } else { equal as f64 / fit as f64 }
}

/// The rows as tests, for a list of those that are known not to be equal.
pub fn verdicts(rows: &[Row]) -> Vec<Report> {
    let outcome = |r: &Row| match r.ending {
        Ending::Equal => Outcome::pass(),
        ending => Outcome::new(Verdict::Fail, format!("{ending}: {}", r.reason)),
    };
    rows.iter().map(|r| Report { file: r.id.clone(), outcome: outcome(r) }).collect()
}

/// The rows by stage, programs apart from test suites; then all.
fn groups(rows: &[Row]) -> Vec<(String, Vec<&Row>)> {
    let mut out = Vec::new();
    for (name, suite) in [("programs", false), ("test suites", true)] {
        for stage in ["vert", "frag"] {
            let of = |r: &&Row| r.stage == stage && r.family.starts_with("piglit") == suite;
            out.push((format!("{name}, {stage}"), rows.iter().filter(of).collect::<Vec<&Row>>()));
        }
    }
    out.push(("all".to_owned(), rows.iter().collect()));
    out
}

/// The report, as Markdown, with so many names beside each reason.
pub fn report(rows: &[Row], examples: usize) -> String {
    let right = |name| (name, Align::Right);
    let mut table = Table::new([
        ("shaders", Align::Left),
        right("all"),
        right("reference"),
        right("fit"),
        right("compiled"),
        right("accepted"),
        right("equal"),
        right("of fit"),
        right("of compiled"),
        right("lanes compared"),
        right("unstable"),
        right("not finite"),
    ]);
    for (name, rows) in groups(rows).into_iter().filter(|(_, rows)| !rows.is_empty()) {
        let count = |is: &dyn Fn(Ending) -> bool| rows.iter().filter(|r| is(r.ending)).count();
        let (fit, compiled) = (count(&Ending::fits), count(&Ending::is_compiled));
        let equal = count(&|e| e == Ending::Equal);
        let of = |n: usize| if n == 0 { String::new() } else { format!("{:.2} %", 100.0 * equal as f64 / n as f64) };
        let reference = count(&|e| e != Ending::NoReference);
        let lanes = |of: &dyn Fn(&Row) -> u32| rows.iter().map(|r| u64::from(of(r))).sum::<u64>();
        let [compared, unstable, not_finite] =
            [lanes(&|r| r.figures.compared), lanes(&|r| r.figures.unstable), lanes(&|r| r.figures.not_finite)];
        let all = (compared + unstable + not_finite).max(1);
        let part = |n: u64| format!("{:.2} %", 100.0 * n as f64 / all as f64);
        let mut cells = vec![name];
        cells.extend([rows.len(), reference, fit, compiled, count(&Ending::is_accepted), equal].map(|n| n.to_string()));
        cells.extend([of(fit), of(compiled), compared.to_string(), part(unstable), part(not_finite)]);
        table.row(cells);
    }
    let mut out = table.markdown();
    let mut reasons: BTreeMap<(Ending, String), Vec<&str>> = BTreeMap::new();
    for row in rows.iter().filter(|r| r.ending != Ending::Equal) {
        reasons.entry((row.ending, pattern(&row.reason))).or_default().push(&row.id);
    }
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by(|a, b| (a.0.0, b.1.len(), &a.0.1).cmp(&(b.0.0, a.1.len(), &b.0.1)));
    if !reasons.is_empty() {
        let mut table = Table::new([
            right("count"),
            ("ending", Align::Left),
            ("reason", Align::Left),
            ("for example", Align::Left),
        ]);
        for ((ending, reason), ids) in reasons {
            let shown = ids[..ids.len().min(examples)].join(" ");
            table.row([ids.len().to_string(), ending.word().to_owned(), reason, shown]);
        }
        let _ = write!(out, "\n{}", table.markdown());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::compare::Comparison;
    use super::*;

    fn row(id: &str, ending: Ending, reason: &str) -> Row {
        let figures = Comparison { compared: 10, unstable: 10, ..Comparison::default() };
        Row { id: id.into(), family: "f".into(), stage: "frag".into(), ending, reason: reason.into(), figures }
    }

    #[test]
    fn shares_are_of_what_fits() {
        let rows = [
            row("a", Ending::Equal, ""),
            row("b", Ending::Unequal, "3 of 10 lanes"),
            row("c", Ending::DoesNotFit, "needs 9"),
            row("d", Ending::NoReference, "no"),
            row("e", Ending::Unequal, "4 of 10 lanes"),
        ];
        assert_eq!(share(&rows), 1.0 / 3.0);
        assert_eq!(share(&[]), 1.0);
        let text = report(&rows, 1);
        assert!(text.contains("| 33.33 % |") && text.contains("50.00 %"), "{text}");
        let line = text.lines().find(|l| l.contains("# of # lanes")).unwrap();
        assert!(line.contains("| b ") && !line.contains(" e "), "{line}");
        assert_eq!(verdicts(&rows).iter().filter(|r| r.outcome.result == Verdict::Pass).count(), 1);
    }
}
