//! Random inputs for a program, and textures that are smooth functions of everything that a lookup
//! says, so that a lookup with a wrong coordinate, level, sampler or shape gives another colour.

use super::rng::Rng;
use crate::entity::Var;
use crate::env::{Env, Lod, TexRequest};
use crate::tac::Program;
use crate::types::Scalar;
use std::collections::BTreeMap;

/// Inputs and uniforms by variable and element.
#[derive(Clone, Debug, Default)]
pub struct GenEnv {
    /// What variables hold; missing ones are 0.
    pub values: BTreeMap<(Var, u32), [f32; 4]>,
}

/// Values at the edges of arithmetic.
pub const SPECIALS: [f32; 12] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    1e-42,
    f32::MIN_POSITIVE,
    f32::MAX,
    0.5,
    16_777_216.0,
];

impl GenEnv {
    /// Values for all inputs and uniforms of a program; tame ones are of normal size, others may be
    /// special now and then.
    pub fn new(seed: u64, program: &Program, tame: bool) -> GenEnv {
        let mut rng = Rng::new(seed);
        let mut values = BTreeMap::new();
        let special_input = !tame && rng.chance(1, 3);
        for (var, decl) in program.vars.iter() {
            if decl.is_local() || decl.is_output(program.stage) || decl.is_sampler() {
                continue;
            }
            for elem in 0..decl.elems {
                let lanes = [0; 4].map(|_| match decl.ty.scalar {
                    Scalar::Bool => rng.below(2) as f32,
                    Scalar::Int => rng.below(13) as f32 - 4.0,
                    Scalar::Float if special_input && rng.chance(1, 4) => *rng.pick(&SPECIALS),
                    Scalar::Float if rng.chance(1, 8) => *rng.pick(&[0.0, 1.0, -1.0, 0.5, 2.0]),
                    Scalar::Float => rng.float(-2.0, 2.0),
                });
                values.insert((var, elem), lanes);
            }
        }
        GenEnv { values }
    }

    /// The same with inputs of the fragment stage moved a little: a neighbour in the quad.
    pub fn neighbour(&self, program: &Program, position: usize) -> GenEnv {
        let mut other = self.clone();
        for ((var, elem), lanes) in &mut other.values {
            if program.vars[*var].is_input(program.stage) {
                let step = (*elem as f32 + 1.0) / 64.0;
                let (x, y) = ((position & 1) as f32, (position >> 1) as f32);
                lanes.iter_mut().for_each(|v| *v += step * (x + 2.0 * y));
            }
        }
        other
    }

    fn value(&self, var: Var, elem: u32) -> [f32; 4] {
        self.values.get(&(var, elem)).copied().unwrap_or_default()
    }
}

impl Env for GenEnv {
    fn input(&self, var: Var, elem: u32) -> [f32; 4] {
        self.value(var, elem)
    }

    fn uniform(&self, var: Var, elem: u32) -> [f32; 4] {
        self.value(var, elem)
    }

    fn texture(&self, request: &TexRequest) -> [f32; 4] {
        let (level, slope) = match request.lod {
            Lod::Explicit(level) => (level, 0.25),
            Lod::Implicit { bias, ddx, ddy } => {
                // the level comes from the lanes that the shape names, not from a shadow reference
                let sum = |d: [f32; 4]| d.iter().take(request.dim.coords() as usize).sum::<f32>();
                (bias, sum(ddx) - 0.5 * sum(ddy))
            }
        };
        let mut phase = 0.3 * request.sampler.as_u32() as f32 + 0.7 * request.elem as f32 + 0.1 * level + 0.2 * slope;
        phase += 0.05 * f32::from(request.dim.coords());
        // Only the lanes that the shape reads; what stands behind them is the caller's.
        let count = match (request.dim, request.shadow) {
            (dim, false) => dim.coords(),
            (dim, true) => dim.coords().max(2) + 1,
        };
        for (i, c) in request.coords.iter().take(count as usize).enumerate() {
            if !(i == 1 && request.dim.coords() == 1) {
                phase += c * (0.5 + 0.25 * i as f32);
            }
        }
        [0.0, 0.9, 1.7, 2.9].map(|shift| 0.5 + 0.5 * libm::sinf(phase + shift))
    }
}
