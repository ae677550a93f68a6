//! Numbers over many shaders: ratios as geometric means, helped and hurt.

use serde::Serialize;

/// Geometric mean of ratios; 1 for none.
pub fn geometric_mean(ratios: impl IntoIterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0u32);
    for ratio in ratios {
        sum += ratio.ln();
        count += 1;
    }
    if count == 0 { 1.0 } else { (sum / f64::from(count)).exp() }
}

/// One shader's counts before and after.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Pair {
    /// What is compared: file, target.
    pub name: String,
    /// Before.
    pub before: u64,
    /// After.
    pub after: u64,
}

impl Pair {
    /// After over before, both raised by nothing: a shader of no instructions on both sides counts
    /// as unchanged, on one side as one instruction there.
    pub fn ratio(&self) -> f64 {
        if self.before == self.after {
            return 1.0;
        }
        self.after.max(1) as f64 / self.before.max(1) as f64
    }
}

/// What a change did to a set of shaders (smaller is better).
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Summary {
    /// Shaders on both sides.
    pub shaders: usize,
    /// Sum before.
    pub before: u64,
    /// Sum after.
    pub after: u64,
    /// Geometric mean of after over before.
    pub ratio: f64,
    /// Fell, largest gain first.
    pub helped: Vec<Pair>,
    /// Rose, largest loss first.
    pub hurt: Vec<Pair>,
    /// Neither.
    pub unchanged: usize,
}

/// Sums up.
pub fn summarize(pairs: &[Pair]) -> Summary {
    let order = |a: &Pair, b: &Pair| a.ratio().total_cmp(&b.ratio()).then_with(|| a.name.cmp(&b.name));
    let mut helped: Vec<Pair> = pairs.iter().filter(|p| p.after < p.before).cloned().collect();
    helped.sort_by(order);
    let mut hurt: Vec<Pair> = pairs.iter().filter(|p| p.after > p.before).cloned().collect();
    hurt.sort_by(|a, b| order(b, a));
    Summary {
        shaders: pairs.len(),
        before: pairs.iter().map(|p| p.before).sum(),
        after: pairs.iter().map(|p| p.after).sum(),
        ratio: geometric_mean(pairs.iter().map(Pair::ratio)),
        unchanged: pairs.len() - helped.len() - hurt.len(),
        helped,
        hurt,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_and_groups() {
        let pair = |name: &str, before, after| Pair { name: name.into(), before, after };
        let summary = summarize(&[pair("a", 4, 2), pair("b", 2, 4), pair("c", 3, 3), pair("d", 8, 1)]);
        assert!((summary.ratio - 0.125f64.powf(0.25)).abs() < 1e-12);
        assert_eq!((summary.before, summary.after, summary.unchanged), (17, 10, 1));
        assert_eq!(summary.helped.iter().map(|p| p.name.as_str()).collect::<Vec<_>>(), ["d", "a"]);
        assert_eq!(summary.hurt.len(), 1);
        assert_eq!(geometric_mean([]), 1.0);
    }
}
