//! How fast a machine gets through a program: clocks by an in-order model of its pipelines.
//!
//! In: instructions, the target's latencies, and how many vertices are worked on side by side and how
//! many instructions start together. Out: clocks. The model: instructions start in order; one waits for
//! its operands; up to `width` independent simple ones start in one clock (simple: one slot, no later
//! result than a MOV); branches are taken once. With several pipes each takes every so many-th vertex,
//! so the clocks of one vertex are shared.

use crate::isa::Target;
use crate::mach::{File, Inst, Opcode, Reg};
use rustc_hash::FxHashMap;
use serde::Deserialize;
use std::collections::BTreeMap;

/// One way in which a machine may issue.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Issue {
    /// What people call it.
    pub name: String,
    /// Vertices (or fragments) worked on side by side, 1 to 64.
    pub pipes: u32,
    /// Most simple instructions that start in one clock, 1 to 8.
    pub width: u32,
}

impl Issue {
    /// What is wrong with a row of a table.
    pub(crate) fn fault(&self) -> Option<String> {
        let wrong = !(1..=64).contains(&self.pipes) || !(1..=8).contains(&self.width);
        wrong.then(|| format!("issue `{}`: pipes are 1 to 64 and width 1 to 8", self.name))
    }

    /// Clocks for one vertex, rounded up, when all pipes are busy.
    pub fn clocks(&self, insts: &[Inst], target: &Target) -> u32 {
        in_order(insts.iter(), target, self.width).div_ceil(self.pipes)
    }
}

/// Clocks of a program for each way to issue that the target's table knows.
pub fn all_clocks(insts: &[Inst], target: &Target) -> BTreeMap<String, u32> {
    target.issue.iter().map(|issue| (issue.name.clone(), issue.clocks(insts, target))).collect()
}

/// Clocks from the first instruction's start to the last result.
pub fn in_order<'i>(insts: impl Iterator<Item = &'i Inst>, target: &Target, width: u32) -> u32 {
    let simple_latency = target.op(Opcode::Mov).map_or(1, |s| s.latency);
    let mut ready: FxHashMap<(Reg, u8), u32> = FxHashMap::default();
    let mut clock = Clock::default();
    let mut end = 0u32;
    for inst in insts {
        let Some(spec) = target.op(inst.op) else { continue };
        let slots = crate::estimate::slots(inst, target);
        let simple = slots == 1 && spec.latency <= simple_latency && !inst.op.is_flow() && !inst.op.is_texture();
        let mut from = clock.next(simple, width);
        for (n, src) in inst.srcs.iter().enumerate() {
            let address = src.rel.map(|rel| (Reg::new(File::Addr, 0), rel.lane));
            let lanes = inst.lanes_read(n).lanes().map(|lane| (src.reg, lane));
            lanes.chain(address).for_each(|cell| from = from.max(ready.get(&cell).copied().unwrap_or(0)));
        }
        // two results in one lane do not come in one clock
        let lanes = || inst.dst.into_iter().flat_map(|dst| dst.mask.lanes().map(move |lane| (dst.reg, lane)));
        if from == clock.now && clock.started > 0 && lanes().any(|cell| ready.get(&cell).is_some_and(|&r| r > from)) {
            from = from.saturating_add(1);
        }
        clock.start(from, simple, slots);
        ready.extend(lanes().map(|cell| (cell, from.saturating_add(spec.latency))));
        end = end.max(from.saturating_add(spec.latency));
    }
    end.max(clock.end())
}

/// The clock in which instructions start.
#[derive(Default)]
struct Clock {
    now: u32,
    /// How many started in it, and the slots of the last one.
    started: u32,
    slots: u32,
    simple: bool,
}

impl Clock {
    /// The first clock that another instruction may start in.
    fn next(&self, simple: bool, width: u32) -> u32 {
        let joins = self.started > 0 && self.simple && simple && self.started < width;
        if joins || self.started == 0 { self.now } else { self.end() }
    }

    fn start(&mut self, at: u32, simple: bool, slots: u32) {
        self.started = if at == self.now { self.started + 1 } else { 1 };
        (self.now, self.slots, self.simple) = (at, slots, simple);
    }

    fn end(&self) -> u32 {
        if self.started == 0 { self.now } else { self.now.saturating_add(self.slots) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mach::{Dst, Src};
    use ir::types::WriteMask;

    fn inst(op: Opcode, dst: u32, srcs: &[u32]) -> Inst {
        let reg = |n| Reg::new(File::Temp, n);
        let srcs: Vec<Src> = srcs.iter().map(|&s| Src::new(reg(s))).collect();
        Inst::new(op, Dst::new(reg(dst), WriteMask::ALL), &srcs, 0)
    }

    fn clocks(insts: &[Inst], width: u32) -> u32 {
        in_order(insts.iter(), &Target::builtin("vs_1_1:nv20").unwrap(), width)
    }

    #[test]
    fn independent_instructions_start_together() {
        let apart: Vec<Inst> = (0..6).map(|n| inst(Opcode::Mul, n, &[10, 11])).collect();
        assert_eq!([1, 2, 3].map(|w| clocks(&apart, w)), [6, 3, 2]);
        let chain: Vec<Inst> = (0..6).map(|n| inst(Opcode::Mul, n + 1, &[n, 11])).collect();
        assert_eq!([1, 2, 3].map(|w| clocks(&chain, w)), [6, 6, 6]);
        // the same result twice
        let twice = [inst(Opcode::Mul, 0, &[10, 11]), inst(Opcode::Add, 0, &[10, 11])];
        assert_eq!(clocks(&twice, 2), 2);
    }

    #[test]
    fn a_reciprocal_stalls_only_who_reads_it_next() {
        let rcp = inst(Opcode::Rcp, 0, &[1]);
        let other = inst(Opcode::Mul, 2, &[10, 11]);
        let reader = inst(Opcode::Mul, 3, &[0, 11]);
        assert_eq!(clocks(&[rcp.clone(), reader.clone(), other.clone()], 1), 4);
        assert_eq!(clocks(&[rcp, other, reader], 1), 3);
    }

    #[test]
    fn pipes_share_the_vertices() {
        let target = Target::builtin("vs_1_1:nv20").unwrap();
        let insts: Vec<Inst> = (0..5).map(|n| inst(Opcode::Mul, n, &[10, 11])).collect();
        let of = |pipes, width| Issue { name: String::new(), pipes, width }.clocks(&insts, &target);
        assert_eq!((of(1, 1), of(2, 1), of(2, 2)), (5, 3, 2));
        assert!(Issue { name: "x".into(), pipes: 0, width: 1 }.fault().is_some());
    }
}
