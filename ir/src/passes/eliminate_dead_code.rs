//! Removes what no output depends on: instructions, block parameters with the arguments handed to
//! them, and stores to arrays that nothing reads. Control flow stays; see `simplify-branches`.
//!
//! Optimistic marking: only effects and branch conditions are live at first, and a value becomes
//! live when something live reads it. So a loop's counter that feeds only itself is dead. A store
//! becomes live with the first live load of its array.

use crate::entity::{Block, Inst, Value, Var};
use crate::func::{BlockCall, Function, Imm, Terminator, ValueDef};
use crate::op::{Effect, Op, Shape};
use crate::pass::{PassCtx, PassError};
use cranelift_entity::{EntitySet, SecondaryMap};
use smallvec::SmallVec;

/// The pass.
pub fn run(func: &mut Function<'_>, _: &PassCtx) -> Result<bool, PassError> {
    let live = mark(func);
    Ok(sweep(func, &live))
}

struct Live {
    insts: EntitySet<Inst>,
    values: EntitySet<Value>,
}

fn mark(func: &Function<'_>) -> Live {
    let mut live =
        Live { insts: EntitySet::with_capacity(func.insts.len()), values: EntitySet::with_capacity(func.values.len()) };
    let mut todo: Vec<Value> = Vec::new();
    let mut stores: SecondaryMap<Var, Vec<Inst>> = SecondaryMap::new();
    let mut edges: SecondaryMap<Block, SmallVec<[&[Value]; 2]>> = SecondaryMap::with_capacity(func.blocks.len());
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            let data = &func.insts[inst];
            match (data.op, data.imm) {
                (Op::Store, Imm::Elem { var, .. }) => stores[var].push(inst),
                (op, _) if op.effect() == Effect::Write || op.shape() == Shape::Effect => {
                    live.insts.insert(inst);
                    todo.extend(data.args);
                }
                _ => {}
            }
        }
        if let Terminator::Branch { cond, .. } = func.blocks[block].term {
            todo.push(cond);
        }
        for call in func.successors(block) {
            edges[call.block].push(call.args);
        }
    }
    while let Some(value) = todo.pop() {
        if !live.values.insert(value) {
            continue;
        }
        match func.values[value].def {
            ValueDef::Param(block, index) => {
                todo.extend(edges[block].iter().filter_map(|args| args.get(index as usize)));
            }
            ValueDef::Inst(inst) => {
                live.insts.insert(inst);
                let data = &func.insts[inst];
                todo.extend(data.args);
                if let (Op::Load, Imm::Elem { var, .. }) = (data.op, data.imm) {
                    for store in std::mem::take(&mut stores[var]) {
                        live.insts.insert(store);
                        todo.extend(func.insts[store].args);
                    }
                }
            }
        }
    }
    live
}

fn sweep(func: &mut Function<'_>, live: &Live) -> bool {
    let mut changed = false;
    for index in 0..func.layout.len() {
        let block = func.layout[index];
        let before = func.blocks[block].insts.len();
        func.blocks[block].insts.retain(|&inst| live.insts.contains(inst));
        changed |= func.blocks[block].insts.len() != before;
        let arena = func.arena;
        let params_of = |func: &Function<'_>, call: BlockCall<'_>| -> Option<Vec<Value>> {
            let params = &func.blocks[call.block].params;
            if params.iter().all(|&p| live.values.contains(p)) {
                return None;
            }
            let kept = call.args.iter().zip(params).filter(|(_, p)| live.values.contains(**p));
            Some(kept.map(|(&a, _)| a).collect())
        };
        // Parameters are dropped after all calls are, since calls look at them.
        let mut term = func.blocks[block].term;
        match &mut term {
            Terminator::None | Terminator::Return => {}
            Terminator::Jump(call) => {
                if let Some(args) = params_of(func, *call) {
                    call.args = arena.alloc_slice_copy(&args);
                }
            }
            Terminator::Branch { then_call, else_call, .. } => {
                for call in [then_call, else_call] {
                    if let Some(args) = params_of(func, *call) {
                        call.args = arena.alloc_slice_copy(&args);
                    }
                }
            }
        }
        func.blocks[block].term = term;
    }
    for index in 0..func.layout.len() {
        let block = func.layout[index];
        let before = func.blocks[block].params.len();
        func.blocks[block].params.retain(|&p| live.values.contains(p));
        if func.blocks[block].params.len() != before {
            changed = true;
            for (i, &param) in func.blocks[block].params.iter().enumerate() {
                func.values[param].def = ValueDef::Param(block, i as u32);
            }
        }
    }
    changed
}
