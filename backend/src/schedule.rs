//! Order within basic blocks: fewer live lanes first, then less waiting.
//!
//! List scheduling from the top over the dependences of lanes. Two orders are made for each block,
//! one that prefers what frees lanes and one that prefers the longest path to the end, and the best
//! of these and the old one is taken by (most lanes live at once, cycles). So no block gets worse,
//! and equal ones stay as they are. Flow instructions keep their places.

use crate::cfg;
use crate::isa::Target;
use crate::issue;
use crate::mach::{File, Inst, Opcode, Program, Reg};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::ops::Range;

/// Larger blocks stay as they are.
const MAX_BLOCK: usize = 4096;
/// With more bits of liveness than this, everything stays as it is.
const MAX_BITS: usize = 1 << 28;

/// Schedules all blocks.
pub fn schedule(program: &mut Program, target: &Target) {
    let blocks = cfg::blocks(&program.insts);
    if blocks.len().saturating_mul(program.virtuals.len() * 4) > MAX_BITS {
        return;
    }
    let live_out = live_out(program, &blocks);
    let pinned = Pinned::new(program);
    for (block, live) in blocks.iter().zip(&live_out) {
        let fixed = |i: &Inst| i.op.is_flow();
        let mut range = block.insts.clone();
        while !range.is_empty() && fixed(&program.insts[range.start]) {
            range.start += 1;
        }
        while !range.is_empty() && fixed(&program.insts[range.end - 1]) {
            range.end -= 1;
        }
        if range.len() > 2 && range.len() <= MAX_BLOCK {
            let after = &program.insts[range.end..block.insts.end];
            let mut live = live.clone();
            after.iter().for_each(|i| reads(i, |bit| live.set(bit)));
            reorder(program, range, &live, &pinned, target);
        }
    }
}

/// A set of lanes of virtual registers.
#[derive(Clone, PartialEq)]
struct Lanes(Vec<u64>);

impl Lanes {
    fn new(virtuals: usize) -> Lanes {
        Lanes(vec![0; (virtuals * 4).div_ceil(64)])
    }

    fn has(&self, bit: usize) -> bool {
        self.0[bit / 64] >> (bit % 64) & 1 == 1
    }

    fn set(&mut self, bit: usize) {
        self.0[bit / 64] |= 1 << (bit % 64);
    }

    fn clear(&mut self, bit: usize) {
        self.0[bit / 64] &= !(1 << (bit % 64));
    }
}

fn reads(inst: &Inst, mut visit: impl FnMut(usize)) {
    for (n, src) in inst.srcs.iter().enumerate().filter(|(_, s)| s.reg.file == File::Virtual) {
        inst.lanes_read(n).lanes().for_each(|l| visit(src.reg.index as usize * 4 + l as usize));
    }
}

fn writes(inst: &Inst, mut visit: impl FnMut(usize)) {
    if let Some(dst) = inst.dst.filter(|d| d.reg.file == File::Virtual) {
        dst.mask.lanes().for_each(|l| visit(dst.reg.index as usize * 4 + l as usize));
    }
}

/// Lanes that are read after each block, by the usual fixpoint from the end.
fn live_out(program: &Program, blocks: &[cfg::BasicBlock]) -> Vec<Lanes> {
    let empty = Lanes::new(program.virtuals.len());
    let mut live_in = vec![empty.clone(); blocks.len()];
    let mut live_out = vec![empty; blocks.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (b, block) in blocks.iter().enumerate().rev() {
            let mut live = live_out[b].clone();
            for &succ in &block.succs {
                live.0.iter_mut().zip(&live_in[succ as usize].0).for_each(|(to, from)| *to |= from);
            }
            live_out[b] = live.clone();
            for inst in program.insts[block.insts.clone()].iter().rev() {
                writes(inst, |bit| live.clear(bit));
                reads(inst, |bit| live.set(bit));
            }
            if live != live_in[b] {
                live_in[b] = live;
                changed = true;
            }
        }
    }
    live_out
}

/// The dependences of a run of instructions.
struct Graph {
    succs: Vec<Vec<u32>>,
    preds: Vec<u32>,
    /// Cycles from an instruction's issue to the end of the block.
    height: Vec<u32>,
}

/// What two instructions can be ordered by: a lane, or all arrays together.
type Cell = (Reg, u8);

fn cells(inst: &Inst, mut visit: impl FnMut(Cell, bool)) {
    let array = (Reg::new(File::Local, 0), 0);
    let address = |lane: u8| (Reg::new(File::Addr, 0), lane);
    for (n, src) in inst.srcs.iter().enumerate() {
        if let Some(rel) = src.rel {
            visit(address(rel.lane), false);
        }
        match src.reg.file {
            File::Local => visit(array, false),
            File::Virtual | File::Temp => inst.lanes_read(n).lanes().for_each(|l| visit((src.reg, l), false)),
            _ => {}
        }
    }
    if inst.op == Opcode::Kil {
        visit((Reg::new(File::Sampler, 0), 0), true); // kills stay in order
    }
    let Some(dst) = inst.dst else { return };
    if let Some(rel) = dst.rel {
        visit(address(rel.lane), false);
    }
    match dst.reg.file {
        File::Local => visit(array, true),
        _ => dst.mask.lanes().for_each(|l| visit((dst.reg, l), true)),
    }
}

/// Virtual registers that a call pins: a call's results are read before the next call's arguments are
/// written, since both may sit in one place.
struct Pinned {
    results: FxHashSet<u32>,
    args: FxHashSet<u32>,
}

impl Pinned {
    fn new(program: &Program) -> Pinned {
        let args = program.calls.iter().flat_map(|c| c.args.iter().flatten());
        let results = program.calls.iter().flat_map(|c| &c.results);
        Pinned { results: results.map(|r| r.index).collect(), args: args.map(|(r, _)| r.index).collect() }
    }

    /// The cell that stands for all places of calls.
    fn cells(&self, inst: &Inst, mut visit: impl FnMut(Cell, bool)) {
        let places = (Reg::new(File::Sampler, 1), 0);
        let is = |set: &FxHashSet<u32>, reg: Reg| reg.file == File::Virtual && set.contains(&reg.index);
        if !self.results.is_empty() && inst.srcs.iter().any(|s| is(&self.results, s.reg)) {
            visit(places, false);
        }
        if !self.args.is_empty() && inst.dst.is_some_and(|d| is(&self.args, d.reg)) {
            visit(places, true);
        }
    }
}

/// For each instruction of a run those that must stay behind it.
pub(crate) fn dependences(program: &Program, range: Range<usize>) -> Vec<Vec<u32>> {
    edges(&program.insts[range], &Pinned::new(program)).0
}

/// Successors of each instruction, and how many predecessors each has.
fn edges(insts: &[Inst], pinned: &Pinned) -> (Vec<Vec<u32>>, Vec<u32>) {
    let mut succs: Vec<Vec<u32>> = vec![Vec::new(); insts.len()];
    let mut preds = vec![0u32; insts.len()];
    let mut last: FxHashMap<Cell, (Option<u32>, Vec<u32>)> = FxHashMap::default();
    for (i, inst) in insts.iter().enumerate() {
        let i = i as u32;
        let mut edge = |from: u32| {
            if from != i && succs[from as usize].last() != Some(&i) {
                succs[from as usize].push(i);
                preds[i as usize] += 1;
            }
        };
        let mut touched: SmallVec<[(Cell, bool); 8]> = SmallVec::new();
        cells(inst, |cell, write| touched.push((cell, write)));
        pinned.cells(inst, |cell, write| touched.push((cell, write)));
        for &(cell, write) in &touched {
            let (writer, readers) = last.entry(cell).or_default();
            writer.iter().for_each(|&w| edge(w));
            if write {
                readers.drain(..).for_each(&mut edge);
            }
        }
        for (cell, write) in touched {
            let (writer, readers) = last.entry(cell).or_default();
            if write {
                *writer = Some(i);
            } else {
                readers.push(i);
            }
        }
    }
    (succs, preds)
}

fn graph(insts: &[Inst], pinned: &Pinned, target: &Target) -> Graph {
    let (succs, preds) = edges(insts, pinned);
    let mut height = vec![0; insts.len()];
    for i in (0..insts.len()).rev() {
        let own = target.op(insts[i].op).map_or(1, |s| s.latency);
        height[i] = own + succs[i].iter().map(|&s| height[s as usize]).max().unwrap_or(0);
    }
    Graph { succs, preds, height }
}

/// Most lanes live at once, and cycles.
fn quality(insts: &[Inst], order: &[u32], live_out: &Lanes, target: &Target) -> (usize, u32) {
    let mut live: usize = 0;
    let mut set = live_out.clone();
    live += set.0.iter().map(|w| w.count_ones() as usize).sum::<usize>();
    let mut peak = live;
    for &i in order.iter().rev() {
        let inst = &insts[i as usize];
        writes(inst, |bit| {
            if set.has(bit) {
                set.clear(bit);
                live -= 1;
            }
        });
        reads(inst, |bit| {
            if !set.has(bit) {
                set.set(bit);
                live += 1;
            }
        });
        peak = peak.max(live);
    }
    let width = target.issue.last().map_or(1, |i| i.width);
    (peak, issue::in_order(order.iter().map(|&i| &insts[i as usize]), target, width))
}

fn reorder(program: &mut Program, range: Range<usize>, live_out: &Lanes, pinned: &Pinned, target: &Target) {
    let insts = &program.insts[range.clone()];
    let graph = graph(insts, pinned, target);
    let old: Vec<u32> = (0..insts.len() as u32).collect();
    let mut best = (quality(insts, &old, live_out, target), old);
    let wide = target.issue.last().is_some_and(|i| i.width > 1);
    for aim in [Aim::Pressure, Aim::Length].into_iter().chain(wide.then_some(Aim::Spread)) {
        let order = list(insts, &graph, live_out, aim);
        let quality = quality(insts, &order, live_out, target);
        if quality < best.0 {
            best = (quality, order);
        }
    }
    let new: Vec<Inst> = best.1.iter().map(|&i| insts[i as usize].clone()).collect();
    program.insts[range].clone_from_slice(&new);
}

/// What an order prefers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Aim {
    /// What frees lanes.
    Pressure,
    /// The longest way to the end.
    Length,
    /// What does not read the last result, so that it can start in the same clock.
    Spread,
}

/// One order; ties go to the earlier instruction.
fn list(insts: &[Inst], graph: &Graph, live_out: &Lanes, aim: Aim) -> Vec<u32> {
    // reads left of each lane; a lane dies with its last one unless it lives on
    let mut left: FxHashMap<usize, u32> = FxHashMap::default();
    insts.iter().for_each(|i| reads(i, |bit| *left.entry(bit).or_default() += 1));
    let mut preds = graph.preds.clone();
    let mut ready: Vec<u32> = (0..insts.len() as u32).filter(|&i| preds[i as usize] == 0).collect();
    let mut order = Vec::with_capacity(insts.len());
    while !ready.is_empty() {
        let growth = |i: u32| {
            let inst = &insts[i as usize];
            let mut grows = 0i32;
            writes(inst, |bit| grows += i32::from(live_out.has(bit) || left.get(&bit).is_some_and(|&n| n > 0)));
            let mut mine: Vec<usize> = Vec::new();
            reads(inst, |bit| mine.push(bit));
            mine.sort_unstable();
            let mut at = 0;
            while at < mine.len() {
                let bit = mine[at];
                let times = mine[at..].iter().take_while(|&&b| b == bit).count();
                at += times;
                grows -= i32::from(!live_out.has(bit) && left.get(&bit) == Some(&(times as u32)));
            }
            grows
        };
        let waits = |i: u32, order: &[u32]| {
            let last = order.last().and_then(|&l| insts[l as usize].dst).map(|d| d.reg);
            last.is_some() && insts[i as usize].srcs.iter().any(|s| Some(s.reg) == last)
        };
        let key = |&i: &u32| {
            let (grows, height) = (growth(i), -i64::from(graph.height[i as usize]));
            let grows = i64::from(grows);
            match aim {
                Aim::Pressure => (0, grows, height, i),
                Aim::Length => (0, height, grows, i),
                Aim::Spread => (i64::from(waits(i, &order)), height, grows, i),
            }
        };
        let Some(at) = (0..ready.len()).min_by_key(|&n| key(&ready[n])) else { break };
        let next = ready.swap_remove(at);
        reads(&insts[next as usize], |bit| {
            if let Some(n) = left.get_mut(&bit) {
                *n -= 1;
            }
        });
        order.push(next);
        for &succ in &graph.succs[next as usize] {
            preds[succ as usize] -= 1;
            if preds[succ as usize] == 0 {
                ready.push(succ);
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mach::{Dst, Src};
    use ir::types::{Stage, WriteMask};

    #[test]
    fn values_are_made_where_they_are_needed() {
        // four products made early and summed late; in the other order two are alive at once
        let target = Target::builtin("vec4").unwrap();
        let mut p = Program::new(Stage::Vertex, "vec4");
        let input = |n| Src::new(Reg::new(File::Input, n));
        let products: Vec<Reg> = (0..4).map(|_| p.make_virtual(4)).collect();
        for (n, &r) in products.iter().enumerate() {
            let inst = Inst::new(Opcode::Mul, Dst::new(r, WriteMask::ALL), &[input(n as u32), input(9)], 0);
            p.insts.push(inst);
        }
        let mut sum = products[0];
        for (n, &r) in products[1..].iter().enumerate() {
            let dst = if n == 2 { Reg::new(File::Output, 0) } else { p.make_virtual(4) };
            p.insts.push(Inst::new(Opcode::Add, Dst::new(dst, WriteMask::ALL), &[Src::new(sum), Src::new(r)], 0));
            sum = dst;
        }
        p.insts.push(Inst::flow(Opcode::End, &[], 0));
        let live = Lanes::new(p.virtuals.len());
        let peak = |p: &Program| quality(&p.insts, &(0..7).collect::<Vec<u32>>(), &live, &target).0;
        assert_eq!(peak(&p), 16);
        let before: Vec<String> = p.insts.iter().map(Inst::to_string).collect();
        schedule(&mut p, &target);
        assert_eq!(peak(&p), 8);
        let mut after: Vec<String> = p.insts.iter().map(Inst::to_string).collect();
        assert_eq!(after.last().unwrap(), "END");
        let mut sorted = before;
        sorted.sort();
        after.sort();
        assert_eq!(sorted, after);
    }
}
