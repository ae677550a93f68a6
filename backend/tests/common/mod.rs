//! Runs a compiled program on the simulator with the inputs of an `ir` environment.

use backend::mach::Program;
use backend::sim::machine::{self, Lookup, Outside};
use ir::entity::Var;
use ir::env::{Env, Outputs, TexRequest};
use ir::eval::EvalCfg;
use ir::tac;
use std::collections::BTreeMap;

pub struct Bridge<'e> {
    pub envs: [&'e dyn Env; 4],
    pub vars: BTreeMap<String, Var>,
}

impl<'e> Bridge<'e> {
    pub fn new(program: &tac::Program, envs: [&'e dyn Env; 4]) -> Bridge<'e> {
        let vars = program.vars.iter().map(|(v, d)| (d.name.clone(), v)).collect();
        Bridge { envs, vars }
    }
}

impl Outside for Bridge<'_> {
    fn input(&self, pixel: usize, name: &str, elem: u32) -> [f32; 4] {
        self.envs[pixel].input(self.vars[name], elem)
    }

    fn uniform(&self, name: &str, elem: u32) -> [f32; 4] {
        self.envs[0].uniform(self.vars[name], elem)
    }

    fn texture(&self, lookup: &Lookup<'_>) -> [f32; 4] {
        self.envs[0].texture(&TexRequest {
            sampler: self.vars[lookup.name],
            elem: lookup.elem,
            dim: lookup.dim,
            shadow: lookup.shadow,
            coords: lookup.coords,
            lod: lookup.lod,
        })
    }
}

/// The outputs of a quad, by the variables of `source`.
pub fn simulate(program: &Program, source: &tac::Program, envs: [&dyn Env; 4], cfg: EvalCfg) -> [Outputs; 4] {
    let bridge = Bridge::new(source, envs);
    let results =
        machine::run(program, &bridge, [true; 4], cfg, Default::default()).unwrap_or_else(|e| panic!("{e}\n{program}"));
    results.map(|result| {
        let mut outputs = Outputs { discarded: result.discarded, ..Outputs::default() };
        for binding in &program.outputs {
            for (lane, value) in result.outputs[binding.reg as usize].iter().enumerate() {
                if let Some(value) = value {
                    outputs.set(bridge.vars[&binding.name], binding.elem, lane as u8, *value);
                }
            }
        }
        outputs
    })
}
