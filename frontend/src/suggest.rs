//! "Did you mean": the known name that is nearest to an unknown one.

use ir::diag::Diagnostic;

/// The nearest of `names` (sorted by the caller, so that ties are broken the same way each time),
/// when it is near enough to help.
pub(crate) fn nearest<S: AsRef<str>>(name: &str, names: &[S]) -> Option<String> {
    // Long names cost a product of their lengths, and each of many names costs one.
    if name.len() > 64 || names.len() > 4_096 {
        return None;
    }
    let near = |n: &&str| n.len() <= 64 && n.len().abs_diff(name.len()) <= 3;
    let best = names.iter().map(AsRef::as_ref).filter(near).map(|n| (distance(name, n), n)).min_by_key(|(d, _)| *d)?;
    let bound = if name.len() <= 3 { 1 } else { name.len() / 3 };
    (best.0 > 0 && best.0 <= bound).then(|| best.1.to_string())
}

/// The finding, with the nearest name as a suggestion when there is one; `before` is written before it.
pub(crate) fn add<S: AsRef<str>>(found: Diagnostic, name: &str, names: &[S], before: &str) -> Diagnostic {
    match nearest(name, names) {
        Some(near) => found.note(format!("did you mean `{before}{near}`?")),
        None => found,
    }
}

/// How many letters must be put in, taken out, replaced or exchanged with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.to_lowercase().chars().collect(), b.to_lowercase().chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = change.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    // A difference in case only still is one.
    last[b.len()] + usize::from(a == b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found() {
        let names = ["color", "normal", "position"].map(String::from);
        assert_eq!(nearest("colour", &names).as_deref(), Some("color"));
        assert_eq!(nearest("nomral", &names).as_deref(), Some("normal"));
        assert_eq!(nearest("Position", &names).as_deref(), Some("position"));
        assert_eq!(nearest("xyz", &names), None);
    }
}
