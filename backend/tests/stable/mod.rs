//! The bound of level `glsl`, and which outputs it can be asked of.
//!
//! A lane agrees when it is within 1e-4 * max(1, |reference|). It is judged only where the reference
//! is stable: several runs whose every rounding is moved by up to one unit in the last place stay
//! within a quarter of that bound, and nobody is discarded in one run and not in another.

use ir::env::{Env, Outputs};
use ir::eval::same_bits;
use ir::tac::{self, interp::InterpOptions};

/// Largest difference, relative to the reference or to 1.
pub const BOUND: f32 = 1e-4;
/// Runs with jitter.
const RUNS: u64 = 6;

/// Lanes of references.
#[derive(Clone, Copy, Default, Debug)]
pub struct Lanes {
    /// Written by the reference.
    pub all: u64,
    /// Other in at least one jittered run.
    pub moved: u64,
    /// Too far off in at least one, and so left out.
    pub excluded: u64,
}

/// The reference of a quad with the lanes that are not stable left out (as never written).
pub fn reference(program: &tac::Program, quad: [&dyn Env; 4], cfg: ir::eval::EvalCfg) -> ([Outputs; 4], Lanes) {
    let run =
        |jitter| tac::interp::run_quad(program, quad, InterpOptions { cfg, jitter, ..Default::default() }).unwrap();
    let mut expected = run(None);
    let jittered: Vec<[Outputs; 4]> = (1..=RUNS).map(|seed| run(Some(seed))).collect();
    let mut lanes = Lanes::default();
    for (position, outputs) in expected.iter_mut().enumerate() {
        let same_fate = jittered.iter().all(|j| j[position].discarded == outputs.discarded);
        for (&(var, elem), values) in &mut outputs.lanes {
            for (lane, value) in values.iter_mut().enumerate() {
                let Some(v) = *value else { continue };
                let others = |within_bound: &dyn Fn(f32) -> bool| {
                    jittered.iter().all(|j| j[position].get(var, elem, lane as u8).is_some_and(within_bound))
                };
                lanes.all += 1;
                lanes.moved += u64::from(!others(&|o| same_bits(v, o)));
                if !(same_fate && v.is_finite() && others(&|o| within(v, o, BOUND / 4.0))) {
                    lanes.excluded += 1;
                    *value = None;
                }
            }
        }
        if !same_fate {
            // Nothing can be said about who is discarded either.
            outputs.lanes.clear();
            outputs.discarded = false;
        }
    }
    (expected, lanes)
}

/// Whether two values differ by no more than `bound`, relative to the first or to 1.
pub fn within(reference: f32, value: f32, bound: f32) -> bool {
    (reference - value).abs() <= bound * reference.abs().max(1.0)
}

/// The first difference beyond the bound; whether the fragment was discarded counts only where the
/// reference says anything.
pub fn difference(expected: &Outputs, got: &Outputs) -> Option<String> {
    if expected.lanes.is_empty() && !expected.discarded {
        return None;
    }
    expected.first_difference(got, |a, b| within(a, b, BOUND))
}
