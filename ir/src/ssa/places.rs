//! Where variables live while SSA is built, and where they are written.
//!
//! In: a function's body. Out: a slot for each element that is a value, the instructions that write it,
//! and the ends of constructs, so that a lookup can step over what does not write. Variables with a
//! dynamic index have no slots; they stay memory.

use super::Links;
use crate::entity::Var;
use crate::tac::{Addr, Index, Inst, Program, TacOp};
use crate::types::Type;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityRef, SecondaryMap};
use rustc_hash::{FxHashMap, FxHashSet};

/// Where variables live, and where they are written.
pub(super) struct Places {
    /// First slot of a variable whose elements are values.
    slots: SecondaryMap<Var, PackedOption<Slot>>,
    /// Type of each slot.
    pub(super) types: Vec<Type>,
    /// Instructions that write a slot, ascending.
    writes: Vec<Vec<u32>>,
    /// End of the construct that starts at an instruction.
    pub(super) ends: FxHashMap<u32, u32>,
    /// Variables with a dynamic index.
    pub(super) dynamic: FxHashSet<Var>,
}

/// An element of a variable that is a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Slot(u32);
cranelift_entity::entity_impl!(Slot, "slot");

impl Places {
    pub(super) fn new(program: &Program, body: &[Inst], links: &Links) -> Places {
        let mut dynamic = FxHashSet::default();
        let mut is_written = FxHashSet::default();
        for inst in body {
            for src in &inst.srcs {
                if let Addr::Var(var, Index { rel: Some(_), .. }) = src.addr {
                    dynamic.insert(var);
                }
            }
            if let Some(dst) = &inst.dst {
                is_written.insert(dst.var);
                if dst.index.rel.is_some() {
                    dynamic.insert(dst.var);
                }
            }
        }
        let mut places = Places {
            slots: SecondaryMap::new(),
            types: Vec::new(),
            writes: Vec::new(),
            ends: FxHashMap::default(),
            dynamic,
        };
        for (var, decl) in program.vars.iter() {
            let inner = decl.is_local() || decl.is_output(program.stage);
            if inner && !places.dynamic.contains(&var) {
                places.slots[var] = Slot::new(places.types.len()).into();
                places.types.extend((0..decl.elems).map(|_| decl.ty));
            }
        }
        places.writes.resize(places.types.len(), Vec::new());
        let mut open = Vec::new();
        for (at, inst) in body.iter().enumerate() {
            match inst.op {
                TacOp::If | TacOp::Loop => open.push(at as u32),
                TacOp::EndIf | TacOp::EndLoop => {
                    if let Some(start) = open.pop() {
                        places.ends.insert(start, at as u32);
                    }
                }
                _ => {}
            }
            if let Some(dst) = &inst.dst
                && let Some(slot) = places.slot(dst.var, dst.index.offset)
            {
                places.writes[slot.index()].push(at as u32);
            }
            if let TacOp::Call(callee) = inst.op {
                for &(var, elem) in &links.summaries[callee].signature.results {
                    if let Some(slot) = places.slot(var, elem) {
                        places.writes[slot.index()].push(at as u32);
                    }
                }
            }
        }
        places
    }

    pub(super) fn slot(&self, var: Var, elem: u32) -> Option<Slot> {
        self.slots[var].expand().map(|first| Slot::from_u32(first.as_u32() + elem))
    }

    /// Whether a construct writes a slot.
    pub(super) fn writes_in(&self, slot: Slot, (start, end): (u32, u32)) -> bool {
        let writes = &self.writes[slot.index()];
        let next = writes.partition_point(|&at| at < start);
        writes.get(next).is_some_and(|&at| at <= end)
    }
}
