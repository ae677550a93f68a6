//! Two pictures beside each other, where the reference is stable.
//!
//! A lane agrees when it is within 1e-4 * max(1, |reference|). It is compared only where the reference
//! is finite and moves by no more than a quarter of that when every number that goes in moves by about
//! one unit in the last place, in several runs: what magnifies rounding more than that has no right
//! answer. Figures say how much was left out.

use serde::{Deserialize, Serialize};

/// |d| at most this times max(1, |reference|).
pub const TOLERANCE: f32 = 1e-4;

/// Colours of pixels, bottom row first.
pub type Picture = Vec<[f32; 4]>;

/// Figures of a comparison.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Comparison {
    /// Lanes of pixels compared.
    pub compared: u32,
    /// Lanes left out because the reference is not stable.
    pub unstable: u32,
    /// Lanes left out because the reference is no finite number.
    pub not_finite: u32,
    /// Lanes that differ by more than the tolerance; a pixel that only one side draws is one.
    pub different: u32,
    /// Largest difference as a multiple of the tolerance; nothing finite for one that is not finite.
    pub worst: f32,
}

impl Comparison {
    /// Adds another one's counts.
    pub fn add(&mut self, other: &Comparison) {
        self.compared += other.compared;
        self.unstable += other.unstable;
        self.not_finite += other.not_finite;
        self.different += other.different;
        self.worst = self.worst.max(other.worst);
    }
}

/// The largest number that stands for a difference from something that is not finite.
const BEYOND: f32 = 1e30;

/// Compares; `jittered` are pictures of the reference with moved inputs, `clear` is the colour of
/// pixels that are not drawn.
pub fn compare(reference: &Picture, jittered: &[Picture], ours: &Picture, clear: [f32; 4]) -> Comparison {
    let mut out = Comparison::default();
    for (at, (want, got)) in reference.iter().zip(ours).enumerate() {
        let moved = || jittered.iter().map(|p| p[at]);
        let drawn = *want != clear;
        if moved().any(|m| (m != clear) != drawn) {
            out.unstable += 4;
            continue;
        }
        if drawn != (*got != clear) {
            out.different += 1;
            out.worst = BEYOND;
            continue;
        }
        for lane in (0..4).filter(|_| drawn) {
            let (want, got) = (want[lane], got[lane]);
            let bound = TOLERANCE * want.abs().max(1.0);
            if !want.is_finite() {
                out.not_finite += 1;
            } else if !moved().all(|m| (m[lane] - want).abs() <= bound / 4.0) {
                out.unstable += 1;
            } else {
                out.compared += 1;
                let off = if got.is_finite() { ((got - want).abs() / bound).min(BEYOND) } else { BEYOND };
                out.worst = out.worst.max(off);
                out.different += u32::from(off > 1.0);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLEAR: [f32; 4] = [-9.0; 4];

    #[test]
    fn only_stable_lanes_count() {
        let reference = vec![[1.0, 2.0, f32::NAN, 0.0], [1.0; 4], CLEAR, [3.0; 4]];
        let jittered = vec![[1.0, 2.1, 0.0, 0.0], CLEAR, CLEAR, [3.0; 4]];
        let ours = vec![[1.00005, 9.0, 9.0, 0.0002], [9.0; 4], CLEAR, CLEAR];
        let c = compare(&reference, &[jittered], &ours, CLEAR);
        assert_eq!((c.compared, c.unstable, c.not_finite, c.different), (2, 5, 1, 2));
        assert!(c.worst > 1e6);
        let same = compare(&reference, &[], &reference, CLEAR);
        assert_eq!((same.different, same.worst, same.not_finite), (0, 0.0, 1));
    }
}
