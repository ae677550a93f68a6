//! Runs a machine program on what an `ir` environment says, so that its outputs compare directly
//! with the interpreters'. Names connect the two: a register's binding is the variable of the
//! three-address code that it came from. A name that the source does not have reads 0 and is left
//! out of the outputs.

use super::machine::{self, Limits, Lookup, Outside, SimError};
use crate::mach::Program;
use ir::Var;
use ir::env::{Env, Outputs, TexRequest};
use ir::eval::EvalCfg;
use ir::tac;
use std::collections::BTreeMap;

struct Bridge<'e> {
    envs: [&'e dyn Env; 4],
    vars: BTreeMap<&'e str, Var>,
}

impl Bridge<'_> {
    fn read(&self, name: &str, from: impl FnOnce(Var) -> [f32; 4]) -> [f32; 4] {
        self.vars.get(name).map_or([0.0; 4], |&var| from(var))
    }
}

impl Outside for Bridge<'_> {
    fn input(&self, pixel: usize, name: &str, elem: u32) -> [f32; 4] {
        self.read(name, |var| self.envs[pixel].input(var, elem))
    }

    fn uniform(&self, name: &str, elem: u32) -> [f32; 4] {
        self.read(name, |var| self.envs[0].uniform(var, elem))
    }

    fn texture(&self, l: &Lookup<'_>) -> [f32; 4] {
        self.read(l.name, |sampler| {
            let (elem, dim, shadow, coords, lod) = (l.elem, l.dim, l.shadow, l.coords, l.lod);
            self.envs[0].texture(&TexRequest { sampler, elem, dim, shadow, coords, lod })
        })
    }
}

/// The outputs of a quad, by the variables of `source`.
///
/// # Errors
/// When the program exceeds the machine's bounds or is malformed.
pub fn run_quad(
    program: &Program,
    source: &tac::Program,
    envs: [&dyn Env; 4],
    cfg: EvalCfg,
) -> Result<[Outputs; 4], SimError> {
    let vars = source.vars.iter().map(|(v, d)| (d.name.as_str(), v)).collect();
    let bridge = Bridge { envs, vars };
    let results = machine::run(program, &bridge, [true; 4], cfg, Limits::default())?;
    Ok(results.map(|result| {
        let mut outputs = Outputs { discarded: result.discarded, ..Outputs::default() };
        for binding in &program.outputs {
            let Some(&var) = bridge.vars.get(binding.name.as_str()) else { continue };
            for (lane, value) in result.outputs[binding.reg as usize].iter().enumerate() {
                if let Some(value) = value {
                    outputs.set(var, binding.elem, lane as u8, *value);
                }
            }
        }
        outputs
    }))
}
