//! What a shader sees from outside and what it leaves behind: shared by the interpreters of TAC and
//! of SSA and by the simulator, so that their results compare directly.
//!
//! An interpreter runs one invocation. Derivatives, and the level of an implicit texture lookup,
//! need the neighbours in the 2x2 quad; [`run_quad`] gets them by replay: it runs the four
//! invocations, each of which records the operands of its implicit operations in a [`Trace`], and
//! runs them again with the recorded neighbours until nothing changes.

use crate::entity::Var;
use crate::types::TexDim;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// How the level of a texture lookup is found.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Lod {
    /// From the coordinates' differences in the quad.
    Implicit {
        /// Added to the level.
        bias: f32,
        /// Difference of the (divided) coordinates along x.
        ddx: [f32; 4],
        /// The same along y.
        ddy: [f32; 4],
    },
    /// Given by the shader.
    Explicit(f32),
}

/// One texture lookup.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TexRequest {
    /// The sampler variable.
    pub sampler: Var,
    /// Which element of an array of samplers.
    pub elem: u32,
    /// Texture shape.
    pub dim: TexDim,
    /// Compares with a reference value: the last coordinate lane, see [`crate::tac::TexRef`].
    pub shadow: bool,
    /// The coordinates, already divided for `Txp`; lanes that the opcode was not given are 0.
    pub coords: [f32; 4],
    /// The level.
    pub lod: Lod,
}

/// What the shader reads from outside. Lanes past the variable's width are ignored.
pub trait Env {
    /// An attribute, or a varying or other input of the fragment stage.
    fn input(&self, var: Var, elem: u32) -> [f32; 4];
    /// A uniform.
    fn uniform(&self, var: Var, elem: u32) -> [f32; 4];
    /// A texture lookup.
    fn texture(&self, request: &TexRequest) -> [f32; 4];
}

/// The coordinates of a projective lookup: x, y and z times the reciprocal of w. Lane w is left 0,
/// so that interpreters and simulator hand on the same request.
pub fn project(coords: [f32; 4]) -> [f32; 4] {
    let scale = 1.0 / coords[3];
    [coords[0] * scale, coords[1] * scale, coords[2] * scale, 0.0]
}

/// The element that a dynamic index reaches: the constant part plus a whole float, when it is below
/// `elems`. Reads elsewhere give 0, writes elsewhere are dropped.
pub fn element(offset: u32, rel: f32, elems: u32) -> Option<u32> {
    let at = f64::from(offset) + f64::from(rel);
    (at >= 0.0 && at < f64::from(elems)).then_some(at as u32)
}

/// What one invocation wrote.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Outputs {
    /// By output and element: the lanes written, `None` where a lane never was.
    pub lanes: BTreeMap<(Var, u32), [Option<f32>; 4]>,
    /// Ended by `Kil`; the other outputs mean nothing then.
    pub discarded: bool,
}

impl Outputs {
    /// Writes one lane.
    pub fn set(&mut self, var: Var, elem: u32, lane: u8, value: f32) {
        self.lanes.entry((var, elem)).or_default()[lane as usize] = Some(value);
    }

    /// Reads one lane.
    pub fn get(&self, var: Var, elem: u32, lane: u8) -> Option<f32> {
        self.lanes.get(&(var, elem))?[lane as usize]
    }

    /// The first place where `other` differs: lanes that `self` wrote must be the same bits (or both
    /// NaN) there; what `self` left unwritten may be anything. `same` judges two lanes.
    pub fn first_difference(&self, other: &Outputs, same: impl Fn(f32, f32) -> bool) -> Option<String> {
        if self.discarded != other.discarded {
            return Some(format!("discarded: {} and {}", self.discarded, other.discarded));
        }
        if self.discarded {
            return None;
        }
        for (&(var, elem), lanes) in &self.lanes {
            for (i, a) in lanes.iter().enumerate() {
                let Some(a) = a else { continue };
                match other.get(var, elem, i as u8) {
                    Some(b) if same(*a, b) => {}
                    b => return Some(format!("{var}[{elem}] lane {i}: {a:?} and {b:?}")),
                }
            }
        }
        None
    }
}

/// The operands of one invocation's implicit operations: by the operation's place in the code and
/// how often it had run before.
pub type Trace = BTreeMap<(u32, u32), [f32; 4]>;

/// One invocation's view of its quad.
#[derive(Debug, Default)]
pub struct QuadView<'a> {
    /// Bit 0: right column; bit 1: lower row.
    pub position: usize,
    neighbours: Option<&'a [Trace; 4]>,
    record: Trace,
    turns: FxHashMap<u32, u32>,
}

impl QuadView<'_> {
    /// An invocation without neighbours: all derivatives are 0.
    pub fn alone() -> QuadView<'static> {
        QuadView::default()
    }

    /// Whether there are neighbours. Then a discarded invocation must go on running, because others
    /// may need its values.
    pub fn has_neighbours(&self) -> bool {
        self.neighbours.is_some()
    }

    /// Records the operand of the implicit operation at `site` (a number unique to it in the code)
    /// and returns its differences along x and y. A neighbour that never came here counts as equal.
    pub fn differences(&mut self, site: u32, value: [f32; 4]) -> ([f32; 4], [f32; 4]) {
        let Some(neighbours) = self.neighbours else { return ([0.0; 4], [0.0; 4]) };
        let turn = self.turns.entry(site).or_insert(0);
        let key = (site, *turn);
        *turn += 1;
        self.record.insert(key, value);
        let of = |position: usize| {
            if position == self.position {
                return value;
            }
            neighbours[position].get(&key).copied().unwrap_or(value)
        };
        let minus = |a: [f32; 4], b: [f32; 4]| [0, 1, 2, 3].map(|i| a[i] - b[i]);
        let (x, y) = (self.position & 1, self.position & 2);
        (minus(of(y | 1), of(y)), minus(of(x | 2), of(x)))
    }
}

/// Most rounds of [`run_quad`]: a derivative of a derivative of ... so many times is taken as
/// settled.
pub const QUAD_ROUNDS: usize = 8;

/// Runs the four invocations of a quad until the values that they see of each other are stable.
/// `run` gets the position in the quad (bit 0 right, bit 1 lower) and must call
/// [`QuadView::differences`] for each implicit operation.
pub fn run_quad<R, E>(mut run: impl FnMut(usize, &mut QuadView<'_>) -> Result<R, E>) -> Result<[R; 4], E> {
    let mut traces: [Trace; 4] = Default::default();
    let mut round = 0;
    loop {
        let mut results = Vec::with_capacity(4);
        let mut next: [Trace; 4] = Default::default();
        for (position, trace) in next.iter_mut().enumerate() {
            let mut view = QuadView { position, neighbours: Some(&traces), ..QuadView::default() };
            results.push(run(position, &mut view)?);
            *trace = view.record;
        }
        round += 1;
        if round >= QUAD_ROUNDS || same_traces(&traces, &next) {
            let Ok(results) = <[R; 4]>::try_from(results) else { unreachable!("four invocations were run") };
            return Ok(results);
        }
        traces = next;
    }
}

fn same_traces(a: &[Trace; 4], b: &[Trace; 4]) -> bool {
    a.iter().zip(b).all(|(a, b)| {
        a.len() == b.len()
            && a.iter()
                .zip(b)
                .all(|((ka, va), (kb, vb))| ka == kb && va.iter().zip(vb).all(|(&x, &y)| crate::eval::same_bits(x, y)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quad_differences_settle_also_when_nested() {
        // Value x*x + 10*y at position (x, y); then the derivative along y of the derivative along x.
        let results = run_quad(|position, view| {
            let (x, y) = ((position & 1) as f32, (position >> 1) as f32);
            let (dx, dy) = view.differences(1, [x * 3.0 + 10.0 * y + x * y, 0.0, 0.0, 0.0]);
            let (_, dxdy) = view.differences(2, dx);
            Ok::<_, ()>((dx[0], dy[0], dxdy[0]))
        });
        assert_eq!(results, Ok([(3.0, 10.0, 1.0), (3.0, 11.0, 1.0), (4.0, 10.0, 1.0), (4.0, 11.0, 1.0)]));
    }

    #[test]
    fn differences_are_told() {
        let var = Var::from_u32(0);
        let (mut a, mut b) = (Outputs::default(), Outputs::default());
        a.set(var, 0, 1, 2.0);
        assert!(a.first_difference(&b, crate::eval::same_bits).is_some());
        b.set(var, 0, 1, 2.0);
        b.set(var, 0, 2, 5.0);
        assert_eq!(a.first_difference(&b, crate::eval::same_bits), None);
        b.set(var, 0, 1, -2.0);
        assert!(a.first_difference(&b, crate::eval::same_bits).is_some());
    }
}
