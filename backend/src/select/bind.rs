//! Which register each variable of the outside is bound to (design section 6).
//!
//! Inputs, outputs and samplers in order of declaration, those in use only (an attribute that the caller
//! bound stands where it was bound); uniforms in order of
//! first use, each matrix and each array that is indexed at run time in one row; indexable local
//! arrays in one row of their own.

use super::{Facts, semantic};
use crate::calls::Ports;
use crate::error::{Error, Resource};
use crate::isa::Target;
use crate::mach::{Binding, Constant, File, Program, Reg, SamplerBinding};
use ir::entity::Var;
use ir::func::{Function, Imm, InstData};
use ir::op::Op;
use ir::tac::VarKind;
use ir::types::{Stage, WriteMask};
use std::collections::{BTreeMap, BTreeSet};

/// Registers of all elements that are bound for the whole shader.
#[derive(Debug, Default)]
pub(crate) struct Outside {
    uniforms: BTreeMap<(Var, u32), u32>,
    inputs: BTreeMap<(Var, u32), u32>,
    outputs: BTreeMap<(Var, u32), u32>,
    samplers: BTreeMap<(Var, u32), u32>,
    arrays: BTreeMap<Var, u32>,
    /// Registers of all local arrays together.
    pub locals: u32,
}

/// A vertex attribute stands in the register that the caller bound it to; all else takes the lowest
/// that is left.
fn number_inputs(func: &Function<'_>, elements: BTreeSet<(Var, u32)>) -> BTreeMap<(Var, u32), u32> {
    let fixed = |&(var, elem): &(Var, u32)| match func.stage {
        Stage::Vertex => func.vars[var].location.map(|first| first + elem),
        Stage::Fragment => None,
    };
    let taken: BTreeSet<u32> = elements.iter().filter_map(fixed).collect();
    let mut free = (0..).filter(|n| !taken.contains(n));
    elements.into_iter().map(|e| (e, fixed(&e).or_else(|| free.next()).unwrap_or(u32::MAX))).collect()
}

fn live_insts<'f>(func: &'f Function<'_>, facts: &'f Facts) -> impl Iterator<Item = &'f InstData<'f>> {
    let insts = func.layout.iter().flat_map(|&block| func.blocks[block].insts.iter());
    insts.filter(|&&inst| facts.live[inst]).map(|&inst| &func.insts[inst])
}

fn number(elements: BTreeSet<(Var, u32)>) -> BTreeMap<(Var, u32), u32> {
    elements.into_iter().zip(0..).collect()
}

/// Whether the registers are among the `limit` there are; the error points at the first variable
/// that reaches beyond them.
fn fits(func: &Function<'_>, what: Resource, registers: &BTreeMap<(Var, u32), u32>, limit: u32) -> Result<(), Error> {
    let need = registers.values().max().map_or(0, |&last| last.saturating_add(1));
    let beyond = registers.iter().filter(|&(_, &register)| register >= limit).min_by_key(|&(_, &register)| register);
    let Some((&(var, _), _)) = beyond else { return Ok(()) };
    let decl = &func.vars[var];
    let detail = format!("`{}` is the first that finds no room; the uses before it take all {limit}", decl.name);
    Err(Error::DoesNotFit { what, need, limit, line: decl.line, detail })
}

impl Outside {
    /// For all functions of a shader, `main` first.
    pub fn new(funcs: &[Function<'_>], target: &Target, facts: &[Facts]) -> Result<Outside, Error> {
        let Some(main) = funcs.first() else { return Err(Error::Internal("a shader without code".to_owned())) };
        let mut bindings = Outside::default();
        let mut inputs = BTreeSet::new();
        let mut outputs = BTreeSet::new();
        let mut samplers = BTreeSet::new();
        let mut uniforms: Vec<Var> = Vec::new(); // in order of first use
        let mut items: BTreeMap<Var, BTreeSet<u32>> = BTreeMap::new();
        let all = |var: Var| 0..main.vars[var].elems;
        for (func, facts) in funcs.iter().zip(facts) {
            for data in live_insts(func, facts) {
                match (data.op, data.imm) {
                    (Op::Uniform | Op::UniformAt, Imm::Elem { var, elem }) => {
                        let cols = func.vars[var].cols.max(1);
                        let used = items.entry(var).or_insert_with(|| {
                            uniforms.push(var);
                            BTreeSet::new()
                        });
                        if data.op == Op::UniformAt {
                            used.extend(all(var));
                        } else {
                            let first = elem / cols * cols;
                            used.extend(first..(first + cols).min(func.vars[var].elems));
                        }
                    }
                    (Op::Input, Imm::Elem { var, elem }) if func.is_argument(var, elem) => {}
                    (Op::Input, Imm::Elem { var, elem }) => {
                        inputs.insert((var, elem));
                    }
                    (Op::InputAt, Imm::Elem { var, .. }) => inputs.extend(all(var).map(|e| (var, e))),
                    (_, Imm::Out { .. }) if func.signature.is_some() => {}
                    (_, Imm::Out { var, elem, .. }) => {
                        outputs.insert((var, elem));
                    }
                    (_, Imm::Tex { sampler, elem, indexed, .. }) => {
                        if indexed {
                            let what = "array of samplers with a computed index".to_owned();
                            return Err(Error::Unsupported { what, line: data.line });
                        }
                        samplers.insert((sampler, elem));
                    }
                    (Op::Load | Op::Store, Imm::Elem { var, .. }) if !bindings.arrays.contains_key(&var) => {
                        bindings.arrays.insert(var, bindings.locals);
                        bindings.locals = bindings.locals.saturating_add(func.vars[var].elems);
                    }
                    _ => {}
                }
            }
        }
        let mut next = 0;
        for var in uniforms {
            for &elem in &items[&var] {
                bindings.uniforms.insert((var, elem), next);
                next += 1;
            }
        }
        bindings.inputs = number_inputs(main, inputs);
        bindings.outputs = number(outputs);
        bindings.samplers = number(samplers);
        let r = &target.registers;
        fits(main, Resource::Inputs, &bindings.inputs, r.input.count)?;
        fits(main, Resource::Outputs, &bindings.outputs, r.output.count)?;
        fits(main, Resource::Samplers, &bindings.samplers, r.sampler.count)?;
        fits(main, Resource::Constants, &bindings.uniforms, r.constant.count)?;
        let locals: BTreeMap<(Var, u32), u32> = bindings
            .arrays
            .iter()
            .map(|(&var, &first)| ((var, 0), first.saturating_add(main.vars[var].elems).saturating_sub(1)))
            .collect();
        fits(main, Resource::Temps, &locals, r.temp.count)?;
        Ok(bindings)
    }

    /// A uniform's element. An element that live code names is always bound.
    pub fn uniform(&self, var: Var, elem: u32) -> Reg {
        Reg::new(File::Const, self.uniforms.get(&(var, elem)).copied().unwrap_or(0))
    }

    /// An input's element.
    pub fn input(&self, var: Var, elem: u32) -> Reg {
        Reg::new(File::Input, self.inputs.get(&(var, elem)).copied().unwrap_or(0))
    }

    /// An output's element.
    pub fn output(&self, var: Var, elem: u32) -> Reg {
        Reg::new(File::Output, self.outputs.get(&(var, elem)).copied().unwrap_or(0))
    }

    /// A sampler's element.
    pub fn sampler(&self, var: Var, elem: u32) -> u32 {
        self.samplers.get(&(var, elem)).copied().unwrap_or(0)
    }

    /// An element of a local array.
    pub fn local(&self, var: Var, elem: u32) -> Reg {
        Reg::new(File::Local, self.arrays.get(&var).copied().unwrap_or(0) + elem)
    }

    /// The ranges of local registers that are one array each.
    pub fn arrays(&self, func: &Function<'_>) -> Vec<(u32, u32)> {
        let mut ranges: Vec<(u32, u32)> = self.arrays.iter().map(|(&v, &base)| (base, func.vars[v].elems)).collect();
        ranges.sort_unstable();
        ranges
    }

    /// Writes the bindings into the program.
    pub fn describe(&self, func: &Function<'_>, program: &mut Program) {
        let bindings = |bound: &BTreeMap<(Var, u32), u32>, output: bool| {
            let words = semantic::words(func, bound, output);
            let binding = |((&(var, elem), &reg), semantic): ((&(Var, u32), &u32), String)| {
                let decl = &func.vars[var];
                Binding { reg, name: decl.name.clone(), elem, lanes: decl.ty.lanes, semantic }
            };
            bound.iter().zip(words).map(binding).collect()
        };
        program.inputs = bindings(&self.inputs, false);
        program.outputs = bindings(&self.outputs, true);
        program.samplers = self
            .samplers
            .iter()
            .map(|(&(var, elem), &reg)| {
                let decl = &func.vars[var];
                let VarKind::Sampler { dim, shadow } = decl.kind else {
                    unreachable!("verified: {} samples", decl.name)
                };
                SamplerBinding { reg, name: decl.name.clone(), elem, dim, shadow }
            })
            .collect();
        let mut constants: Vec<(u32, Constant)> = self
            .uniforms
            .iter()
            .map(|(&(var, elem), &reg)| (reg, Constant::Uniform { name: func.vars[var].name.clone(), elem }))
            .collect();
        constants.sort_by_key(|c| c.0);
        program.constants = constants.into_iter().map(|c| c.1).collect();
        program.arrays = self.arrays(func);
    }
}

/// The registers that one function reads and writes: those of the shader, and its own ports.
pub(crate) struct Bindings<'m> {
    outside: &'m Outside,
    args: BTreeMap<(Var, u32), Reg>,
    results: BTreeMap<(Var, u32), Reg>,
}

impl<'m> Bindings<'m> {
    /// With a virtual register of `program` for each argument and result of `func`.
    pub fn new(outside: &'m Outside, func: &Function<'_>, program: &mut Program) -> Bindings<'m> {
        let mut bindings = Bindings { outside, args: BTreeMap::new(), results: BTreeMap::new() };
        if let Some(signature) = &func.signature {
            let mut make = |&(var, elem): &(Var, u32)| ((var, elem), program.make_virtual(func.vars[var].ty.lanes));
            bindings.args = signature.args.iter().map(&mut make).collect();
            bindings.results = signature.results.iter().map(&mut make).collect();
        }
        bindings
    }

    /// The ports, with the lanes of each argument that `program` reads.
    pub fn ports(&self, func: &Function<'_>, program: &Program) -> Option<Ports> {
        let signature = func.signature.as_ref()?;
        let mut read: BTreeMap<Reg, u8> = BTreeMap::new();
        for inst in &program.insts {
            for (n, src) in inst.srcs.iter().enumerate() {
                *read.entry(src.reg).or_default() |= inst.lanes_read(n).0;
            }
        }
        let param = |element| {
            let reg = *self.args.get(element)?;
            read.get(&reg).map(|&lanes| (reg, WriteMask(lanes)))
        };
        Some(Ports {
            params: signature.args.iter().map(param).collect(),
            results: signature.results.iter().filter_map(|e| self.results.get(e).copied()).collect(),
        })
    }

    /// A uniform's element.
    pub fn uniform(&self, var: Var, elem: u32) -> Reg {
        self.outside.uniform(var, elem)
    }

    /// An input's element, or an argument.
    pub fn input(&self, var: Var, elem: u32) -> Reg {
        self.args.get(&(var, elem)).copied().unwrap_or_else(|| self.outside.input(var, elem))
    }

    /// An output's element, or a result.
    pub fn output(&self, var: Var, elem: u32) -> Reg {
        self.results.get(&(var, elem)).copied().unwrap_or_else(|| self.outside.output(var, elem))
    }

    /// A sampler's element.
    pub fn sampler(&self, var: Var, elem: u32) -> u32 {
        self.outside.sampler(var, elem)
    }

    /// An element of a local array.
    pub fn local(&self, var: Var, elem: u32) -> Reg {
        self.outside.local(var, elem)
    }
}
