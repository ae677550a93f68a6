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
mod flow;
mod home;
mod literals;
mod merge;
mod semantic;
#[cfg(test)]
mod tests;
mod trace;

use crate::error::Error;
use crate::isa::Target;
use crate::mach::Program;
use cranelift_entity::SecondaryMap;
use ir::entity::{Block, Inst, Value};
use ir::func::{Function, Terminator, ValueDef};
use ir::op::{Effect, Form};
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

/// Machine code over virtual registers for a function of core operations.
pub fn select(func: &Function<'_>, target: &Target, options: &SelectOptions) -> Result<Program, Error> {
    if !target.stages.contains(&func.stage) {
        return Err(Error::Unsupported { what: format!("stage {} on {}", func.stage, target.name), line: 0 });
    }
    let facts = Facts::new(func);
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            let data = &func.insts[inst];
            if facts.live[inst] && data.op.form() == Form::Source && data.op != ir::Op::Mov {
                return Err(Error::Internal(format!("`{}` reached selection; lower-types must run first", data.op)));
            }
        }
    }
    let covers = cover::cover(func, target, options, &facts)?;
    let traces = trace::Traces::new(func, &facts, &covers);
    let bindings = bind::Bindings::new(func, target, &facts)?;
    let mut program = Program::new(func.stage, &target.name);
    let homes = home::Homes::new(func, target, &facts, &covers, &traces, &bindings, &mut program);
    program.locals = bindings.locals;
    let mut emitter = emit::Emitter::new(func, target, &facts, &covers, &traces, &homes, &bindings, program);
    flow::emit(&mut emitter)?;
    let (mut program, mut literals) = emitter.finish();
    if !options.keep_lanes_apart {
        merge::merge(&mut program, &mut literals);
    }
    bindings.describe(func, &mut program);
    literals::pool(&mut program, &literals);
    program.renumber_virtuals();
    Ok(program)
}
