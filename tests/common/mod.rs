//! Compiles GLSL for `vec4` and runs it both ways.

use eggshade::backend::emit::vec4_bits;
use eggshade::backend::mach::Opcode;
use eggshade::backend::sim::bridge;
use eggshade::backend::sim::machine::Lanes;
use eggshade::ir::Var;
use eggshade::ir::env::{Env, TexRequest};
use eggshade::ir::tac::{Program, interp};
use eggshade::ir::testing::rng::Rng;
use eggshade::ir::types::{FpLevel, Scalar};
use eggshade::{Built, Options};
use std::collections::BTreeMap;

pub fn options(pipeline: &str) -> Options {
    Options::new(eggshade::resolve_target("vec4").unwrap(), eggshade::resolve_pipeline(pipeline).unwrap())
}

pub fn build(name: &str, source: &str, options: &Options) -> Built {
    eggshade::compile(name, source, options)
        .unwrap_or_else(|f| panic!("{}", eggshade::diagnostics::render(&f.sources, &f.diagnostics)))
}

/// The opcodes in order, without `END`.
pub fn opcodes(built: &Built) -> Vec<Opcode> {
    built.compiled.program.insts.iter().map(|i| i.op).filter(|&o| o != Opcode::End).collect()
}

/// Random values by name and element: floats, bools, ints from 0, which are below `n` for a variable
/// `belowN`.
pub struct Values<'p> {
    program: &'p Program,
    values: BTreeMap<(String, u32), Lanes>,
}

impl<'p> Values<'p> {
    pub fn new(program: &'p Program, seed: u64) -> Values<'p> {
        let mut rng = Rng::new(seed);
        let mut values = BTreeMap::new();
        for decl in program.vars.values() {
            for elem in 0..decl.elems {
                let end = decl.name.strip_prefix("below").and_then(|n| n.parse().ok()).unwrap_or(4);
                let value = |rng: &mut Rng| match decl.ty.scalar {
                    Scalar::Float => rng.float(-2.0, 2.0),
                    Scalar::Int => rng.below(end) as f32,
                    Scalar::Bool => rng.below(2) as f32,
                };
                values.insert((decl.name.clone(), elem), [0; 4].map(|_| value(&mut rng)));
            }
        }
        Values { program, values }
    }

    fn get(&self, name: &str, elem: u32) -> Lanes {
        self.values[&(name.to_owned(), elem)]
    }
}

impl Env for Values<'_> {
    fn input(&self, var: Var, elem: u32) -> Lanes {
        self.get(&self.program.vars[var].name, elem)
    }

    fn uniform(&self, var: Var, elem: u32) -> Lanes {
        self.get(&self.program.vars[var].name, elem)
    }

    fn texture(&self, r: &TexRequest) -> Lanes {
        r.coords.map(|c| c * 0.5 + 0.25 + r.elem as f32)
    }
}

/// The machine code, decoded from its binary, computes what the three-address code says.
pub fn assert_runs(built: &Built, options: &Options) {
    let program = vec4_bits::decode(&vec4_bits::encode(&built.compiled.program).unwrap()).unwrap();
    let cfg = options.target.eval();
    for seed in 0..8 {
        let values = Values::new(&built.tac, seed);
        let expected = interp::run(&built.tac, &values, interp::InterpOptions { cfg, ..Default::default() }).unwrap();
        let envs = [&values as &dyn Env; 4];
        let [got, ..] = bridge::run_quad(&program, &built.tac, envs, cfg).unwrap();
        for (&(var, elem), lanes) in &expected.lanes {
            let name = &built.tac.vars[var].name;
            for (lane, e) in lanes.iter().enumerate().filter_map(|(i, e)| e.map(|e| (i as u8, e))) {
                let g = got.get(var, elem, lane).unwrap_or_else(|| panic!("{name} lane {lane} is not written"));
                let exact = options.pipeline.fp == FpLevel::Strict;
                let same = if exact { e.to_bits() == g.to_bits() } else { (e - g).abs() <= 1e-4 * e.abs().max(1.0) };
                assert!(same, "{name} lane {lane}: {e} and {g}\n{}", built.compiled.program);
            }
        }
    }
}
