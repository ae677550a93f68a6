//! The list of tests that are known not to pass, each with its reason.
//!
//! A line is the end of a file's path, a colon, and why; `#` begins a comment. The list is right when
//! exactly the listed ones of the tests that ran do not pass.

use crate::verdict::{Report, Verdict};

/// One line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Known {
    /// End of the path.
    pub file: String,
    /// Why it does not pass.
    pub reason: String,
}

/// Reads the list.
///
/// # Errors
/// A line without a reason.
pub fn parse(text: &str) -> Result<Vec<Known>, String> {
    let lines = text.lines().enumerate().map(|(i, l)| (i + 1, l.trim()));
    lines
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        .map(|(number, line)| match line.split_once(':') {
            Some((file, reason)) if !file.trim().is_empty() && !reason.trim().is_empty() => {
                Ok(Known { file: file.trim().to_owned(), reason: reason.trim().to_owned() })
            }
            _ => Err(format!("line {number}: `name: reason` is wanted")),
        })
        .collect()
}

/// Where the reports are not as the list says, a sentence each.
pub fn surprises(known: &[Known], reports: &[Report]) -> Vec<String> {
    let named = |file: &str, end: &str| file.strip_suffix(end).is_some_and(|r| r.is_empty() || r.ends_with('/'));
    let mut out = Vec::new();
    for report in reports {
        let listed = known.iter().any(|k| named(&report.file, &k.file));
        match (report.outcome.result, listed) {
            (Verdict::Pass, true) => out.push(format!("{} passes, but is listed as one that does not", report.file)),
            (Verdict::Fail | Verdict::Skip, false) => out.push(format!(
                "{} does not pass ({}) and is not listed: {}",
                report.file, report.outcome.result, report.outcome.reason
            )),
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::Outcome;

    fn report(file: &str, result: Verdict) -> Report {
        Report { file: file.to_owned(), outcome: Outcome { result, reason: "why".to_owned() } }
    }

    #[test]
    fn both_ways_of_being_wrong_are_told() {
        let known = parse("# list\n\na/x.shader_test: no room\ny.shader_test: no\n").unwrap();
        assert_eq!(known.len(), 2);
        let right = [report("p/a/x.shader_test", Verdict::Fail), report("y.shader_test", Verdict::Skip)];
        assert_eq!(surprises(&known, &right), [""; 0]);
        let wrong = [
            report("a/x.shader_test", Verdict::Pass),
            report("aa/x.shader_test", Verdict::Fail),
            report("z.shader_test", Verdict::Skip),
            report("ok.shader_test", Verdict::Pass),
        ];
        let told = surprises(&known, &wrong);
        assert_eq!(told.len(), 3, "{told:?}");
        assert!(told[0].contains("passes, but"));
        assert!(parse("x.shader_test\n").unwrap_err().contains("line 1"));
    }
}
