//! The end of SSA construction: block parameters that are only ever one other value go, all in one
//! sweep, and every jump gets its arguments.

use super::{Param, Ssa};
use crate::entity::{Block, Value};
use crate::func::Terminator;
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use rustc_hash::FxHashMap;

impl Ssa<'_, '_> {
    /// For each parameter that is only ever one other value: that value.
    pub(super) fn redundant_params(&self) -> SecondaryMap<Value, PackedOption<Value>> {
        let mut same: SecondaryMap<Value, PackedOption<Value>> = SecondaryMap::new();
        let mut users: FxHashMap<Value, Vec<(Block, usize)>> = FxHashMap::default();
        let mut work: Vec<(Block, usize)> = Vec::new();
        for &block in &self.func.layout {
            for (index, param) in self.params[block].iter().enumerate() {
                work.push((block, index));
                for &arg in &param.args {
                    users.entry(arg).or_default().push((block, index));
                }
            }
        }
        work.reverse();
        while let Some((block, index)) = work.pop() {
            let param = &self.params[block][index];
            if same[param.value].is_some() {
                continue;
            }
            let mut only = None;
            let mut redundant = true;
            for &arg in &param.args {
                let arg = resolve(&mut same, arg);
                if arg != param.value && only.is_some_and(|o| o != arg) {
                    redundant = false;
                    break;
                }
                if arg != param.value {
                    only = Some(arg);
                }
            }
            if let (true, Some(only)) = (redundant, only) {
                same[param.value] = only.into();
                // Whoever used it now uses `only`, and may have become redundant.
                let moved = users.remove(&param.value).unwrap_or_default();
                work.extend_from_slice(&moved);
                users.entry(only).or_default().extend(moved);
            }
        }
        for &block in &self.func.layout {
            for param in &self.params[block] {
                resolve(&mut same, param.value);
            }
        }
        same
    }

    /// Drops redundant parameters and gives every jump its arguments.
    pub(super) fn pass_arguments(&mut self, same: &SecondaryMap<Value, PackedOption<Value>>) {
        for index in 0..self.func.layout.len() {
            let block = self.func.layout[index];
            let params = std::mem::take(&mut self.params[block]);
            let kept: Vec<Param> = params.into_iter().filter(|p| same[p.value].is_none()).collect();
            self.func.blocks[block].params.clear();
            for (number, param) in kept.iter().enumerate() {
                self.func.blocks[block].params.push(param.value);
                self.func.values[param.value].def = crate::func::ValueDef::Param(block, number as u32);
            }
            if kept.is_empty() {
                continue;
            }
            for (i, &pred) in self.preds[block].iter().enumerate() {
                let args: Vec<Value> = kept.iter().map(|p| p.args[i]).collect();
                let call = self.func.call(block, &args);
                match &mut self.func.blocks[pred].term {
                    Terminator::Jump(old) => *old = call,
                    Terminator::Branch { then_call, .. } if then_call.block == block => *then_call = call,
                    Terminator::Branch { else_call, .. } => *else_call = call,
                    Terminator::None | Terminator::Return => {}
                }
            }
        }
    }
}

/// What stands for a value, with the chain shortened.
fn resolve(same: &mut SecondaryMap<Value, PackedOption<Value>>, value: Value) -> Value {
    let mut root = value;
    while let Some(next) = same[root].expand() {
        root = next;
    }
    let mut at = value;
    while let Some(next) = same[at].expand() {
        same[at] = root.into();
        at = next;
        if at == root {
            break;
        }
    }
    root
}
