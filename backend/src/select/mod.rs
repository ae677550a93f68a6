//! Instruction selection: SSA of core operations in, machine code over virtual registers out.
//!
//! Four steps, each over the whole function:
//!
//! 1. [`cover`]: the paper's matching loop. An instruction pointer goes over a block's
//!    instructions, a pattern pointer over the target's patterns, longest first; a full match claims
//!    the instructions that it covers. The loop runs from the end of a block, so that a pattern's
//!    root is met before the operations that it folds.
//! 2. [`trace`]: what each value *is*: lanes of a register-to-be, of a uniform, an input or a
//!    literal, with modifiers. Swizzles, negations and absolute values end here.
//! 3. [`home`]: in which register and lanes each computed value is put. A value that only feeds a
//!    `Cat` or an output is computed straight into its lanes; what is left over is a MOV.
//! 4. [`flow`] and [`emit`]: structured code, block by block.
//!
//! Holds afterwards: no instruction writes a lane that nothing demands; lanes of one virtual
//! register are each written by the definition of one SSA value (or by the moves into one block
//! parameter), so reading a lane anywhere its value dominates is right.

mod bind;
mod cover;
mod emit;
mod finite;
mod flow;
mod home;
mod literals;
mod merge;
mod placed;
mod semantic;
#[cfg(test)]
mod tests;
mod trace;
mod whole;

use crate::error::Error;
use crate::isa::Target;
use crate::mach::Program;
use cranelift_entity::SecondaryMap;
use ir::entity::{Block, Inst, Value};
use ir::func::{Function, Imm, Module, Terminator, ValueDef};
use ir::op::{Effect, Form};
use ir::types::WriteMask;
use std::collections::BTreeMap;

/// How to select.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SelectOptions {
    /// Names of patterns to leave out.
    pub without: Vec<String>,
    /// Whether instructions that write different lanes of one register stay apart.
    pub keep_lanes_apart: bool,
}

/// What is alive, and where everything is used.
pub(crate) struct Facts {
    /// Instructions that something needs.
    pub live: SecondaryMap<Inst, bool>,
    /// How often each value is read by live code.
    pub uses: SecondaryMap<Value, u32>,
    /// Block of each instruction.
    pub block: SecondaryMap<Inst, Option<Block>>,
}

impl Facts {
    fn new(func: &Function<'_>) -> Facts {
        let mut facts = Facts {
            live: SecondaryMap::with_capacity(func.insts.len()),
            uses: SecondaryMap::with_capacity(func.values.len()),
            block: SecondaryMap::with_capacity(func.insts.len()),
        };
        let mut incoming: BTreeMap<Block, Vec<&[Value]>> = BTreeMap::new();
        let mut work: Vec<Value> = Vec::new();
        let mut insts: Vec<Inst> = Vec::new();
        for &block in &func.layout {
            for &inst in &func.blocks[block].insts {
                facts.block[inst] = Some(block);
                if func.insts[inst].op.effect() == Effect::Write {
                    facts.live[inst] = true;
                    insts.push(inst);
                }
            }
            if let Terminator::Branch { cond, .. } = func.blocks[block].term {
                work.push(cond);
            }
            for call in func.successors(block) {
                incoming.entry(call.block).or_default().push(call.args);
            }
        }
        for &inst in &insts {
            work.extend(func.insts[inst].args);
        }
        let mut seen: SecondaryMap<Value, bool> = SecondaryMap::with_capacity(func.values.len());
        while let Some(value) = work.pop() {
            facts.uses[value] += 1;
            if std::mem::replace(&mut seen[value], true) {
                continue;
            }
            match func.values[value].def {
                ValueDef::Inst(inst) => {
                    if !std::mem::replace(&mut facts.live[inst], true) {
                        work.extend(func.insts[inst].args);
                    }
                }
                ValueDef::Param(block, n) => {
                    let args = incoming.get(&block).into_iter().flatten();
                    work.extend(args.filter_map(|a| a.get(n as usize)));
                }
            }
        }
        facts
    }
}

/// What is known of the functions that are called: the lanes of each argument that they read, by
/// their place in the shader.
pub(crate) struct Called<'c>(&'c [Vec<WriteMask>]);

impl Called<'_> {
    /// The lanes needed of each operand of a call.
    fn args(&self, func: &Function<'_>, imm: Imm) -> &[WriteMask] {
        let callee = func.callee(imm).and_then(|c| self.0.get(c.func as usize));
        callee.map_or(&[], Vec::as_slice)
    }
}

/// Machine code over virtual registers for a shader of one function of core operations.
#[cfg(test)]
pub fn select(func: Function<'_>, target: &Target, options: &SelectOptions) -> Result<Program, Error> {
    let module = Module { funcs: vec![func] };
    let mut programs = select_module(&module, target, options)?;
    Ok(programs.swap_remove(0))
}

/// Machine code over virtual registers for each function of a shader, `main` first. `main` lists
/// what is bound, for all of them.
pub fn select_module(module: &Module<'_>, target: &Target, options: &SelectOptions) -> Result<Vec<Program>, Error> {
    let funcs = &module.funcs;
    let facts: Vec<Facts> = funcs.iter().map(Facts::new).collect();
    for (func, facts) in funcs.iter().zip(&facts) {
        check_selectable(func, facts, target)?;
    }
    let outside = bind::Outside::new(funcs, target, &facts)?;
    let mut literals = Vec::new();
    let mut needed: Vec<Vec<WriteMask>> = vec![Vec::new(); funcs.len()];
    let mut programs = Vec::with_capacity(funcs.len());
    for at in (0..funcs.len()).rev() {
        let program = function(&funcs[at], &facts[at], target, options, &outside, &Called(&needed), &mut literals)?;
        if let Some(ports) = &program.ports {
            needed[at] = ports.params.iter().map(|p| p.map_or(WriteMask(0), |(_, lanes)| lanes)).collect();
        }
        programs.push(program);
    }
    programs.reverse();
    if let Some(main) = programs.first_mut() {
        outside.describe(&funcs[0], main);
    }
    literals::pool(&mut programs, &literals, target);
    programs.iter_mut().for_each(Program::renumber_virtuals);
    Ok(programs)
}

fn check_selectable(func: &Function<'_>, facts: &Facts, target: &Target) -> Result<(), Error> {
    if !target.stages.contains(&func.stage) {
        return Err(Error::Unsupported { what: format!("stage {} on {}", func.stage, target.name), line: 0 });
    }
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            let data = &func.insts[inst];
            if facts.live[inst] && data.op.form() == Form::Source && data.op != ir::Op::Mov {
                return Err(Error::Internal(format!("`{}` reached selection; lower-types must run first", data.op)));
            }
        }
    }
    Ok(())
}

fn function(
    func: &Function<'_>,
    facts: &Facts,
    target: &Target,
    options: &SelectOptions,
    outside: &bind::Outside,
    called: &Called<'_>,
    literals: &mut Vec<[u32; 4]>,
) -> Result<Program, Error> {
    let covers = cover::cover(func, target, options, facts)?;
    let traces = trace::Traces::new(func, facts, &covers);
    let mut program = Program::new(func.stage, &target.name);
    let bindings = bind::Bindings::new(outside, func, &mut program);
    let homes = home::Homes::new(func, target, facts, &covers, &traces, &bindings, called, &mut program);
    if func.signature.is_none() {
        program.locals = outside.locals; // kept functions touch no indexable array
    }
    let known = std::mem::take(literals);
    let mut emitter =
        emit::Emitter::new(func, target, facts, &covers, &traces, &homes, &bindings, called, program, known);
    flow::emit(&mut emitter)?;
    let (mut program, known) = emitter.finish();
    *literals = known;
    if !options.keep_lanes_apart {
        merge::merge(&mut program, literals);
    }
    program.ports = bindings.ports(func, &program);
    Ok(program)
}
