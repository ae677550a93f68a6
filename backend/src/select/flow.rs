//! Structured control flow and the moves on edges.
//!
//! The walk is that of the verifier (`ir::structure`): inside a region, a jump falls to the
//! region's end, continues or leaves the innermost loop, or goes straight on. It keeps a list of
//! what is still to do instead of recursing, so nesting cannot overflow the stack.

use super::emit::Emitter;
use super::trace::Base;
use crate::error::{Error, Resource};
use crate::mach::{Dst, Inst as MachInst, Opcode, Reg, Src};
use ir::entity::{Block, Value};
use ir::func::{BlockCall, Terminator};
use ir::types::WriteMask;
use rustc_hash::FxHashMap;

/// Where jumps of a region may end it.
#[derive(Clone, Copy, Default)]
struct Region {
    falls: Option<Block>,
    header: Option<Block>,
    leaves: Option<Block>,
    depth: u32,
}

enum Task<'a> {
    /// A block, unless the region ends there.
    Go(Block, Region),
    /// A block and its end; a loop's header after its LOOP.
    Body(Block, Region),
    /// The moves of a jump, then its target.
    Edge(BlockCall<'a>, Region, u32),
    /// One instruction.
    Emit(Opcode),
}

/// Nesting is bounded even where the target has no limit of its own.
const MAX_NESTING: u32 = 1000;

/// Emits all blocks and `END`, or `RET` for a function that is called.
pub(crate) fn emit(e: &mut Emitter<'_, '_, '_>) -> Result<(), Error> {
    let mut work = vec![Task::Go(e.func.entry(), Region::default())];
    while let Some(task) = work.pop() {
        match task {
            Task::Emit(op) => e.push(MachInst::flow(op, &[], 0)),
            Task::Edge(call, region, line) => {
                moves(e, call, line)?;
                work.push(Task::Go(call.block, region));
            }
            Task::Go(block, region) => {
                if region.falls == Some(block) {
                    continue;
                }
                if region.header == Some(block) {
                    e.push(MachInst::flow(Opcode::Cont, &[], 0));
                    continue;
                }
                if region.leaves == Some(block) {
                    e.push(MachInst::flow(Opcode::Brk, &[], 0));
                    continue;
                }
                let Some(merge) = e.func.blocks[block].loop_merge else {
                    work.push(Task::Body(block, region));
                    continue;
                };
                nest(e, region.depth)?;
                e.push(MachInst::flow(Opcode::Loop, &[], 0));
                let inner = Region { falls: None, header: Some(block), leaves: Some(merge), depth: region.depth + 1 };
                work.push(Task::Go(merge, region));
                work.push(Task::Emit(Opcode::EndLoop));
                work.push(Task::Body(block, inner));
            }
            Task::Body(block, region) => {
                e.block(block)?;
                match e.func.blocks[block].term {
                    Terminator::Jump(call) => work.push(Task::Edge(call, region, 0)),
                    Terminator::Branch { cond, then_call, else_call, merge } => {
                        nest(e, region.depth)?;
                        let src = e.operands(&[cond], 0)?[0];
                        e.push(MachInst::flow(Opcode::If, &[src], 0));
                        let inner = Region { falls: merge, depth: region.depth + 1, ..region };
                        if let Some(merge) = merge {
                            work.push(Task::Go(merge, region));
                        }
                        work.push(Task::Emit(Opcode::EndIf));
                        work.push(Task::Edge(else_call, inner, 0));
                        work.push(Task::Emit(Opcode::Else));
                        work.push(Task::Edge(then_call, inner, 0));
                    }
                    Terminator::Return if region.depth > 0 => e.push(MachInst::flow(Opcode::Ret, &[], 0)),
                    Terminator::Return => {}
                    Terminator::None => return Err(Error::Internal(format!("{block} has no end"))),
                }
            }
        }
    }
    let last = if e.func.signature.is_some() { Opcode::Ret } else { Opcode::End };
    e.push(MachInst::flow(last, &[], 0));
    tidy(&mut e.program.insts);
    Ok(())
}

fn nest(e: &Emitter<'_, '_, '_>, depth: u32) -> Result<(), Error> {
    if !e.target.flow {
        return Err(Error::Unsupported { what: format!("control flow on {}", e.target.name), line: 0 });
    }
    let limit = e.target.limits.nesting.unwrap_or(MAX_NESTING);
    if depth >= limit {
        let detail = String::new();
        return Err(Error::DoesNotFit { what: Resource::Nesting, need: depth + 1, limit, line: 0, detail });
    }
    Ok(())
}

/// A lane that a move does not write.
const NOWHERE: u8 = 0xff;

/// A move into a block parameter's register.
struct Move {
    dst: Reg,
    /// Source lane for each lane of `dst`, or [`NOWHERE`].
    lanes: [u8; 4],
    src: Src,
}

impl Move {
    fn lanes(&self) -> impl Iterator<Item = (u8, u8)> + use<> {
        let lanes = self.lanes;
        (0..4u8).filter_map(move |to| (lanes[to as usize] != NOWHERE).then_some((to, lanes[to as usize])))
    }
}

/// The moves of one edge, as if all at once.
fn moves(e: &mut Emitter<'_, '_, '_>, call: BlockCall<'_>, line: u32) -> Result<(), Error> {
    let params: Vec<Value> = e.func.blocks[call.block].params.iter().copied().collect();
    let mut pending: Vec<Move> = Vec::new();
    for (&arg, &param) in call.args.iter().zip(&params) {
        let Some(home) = e.homes.get(param) else { continue };
        let trace = e.traces.get(arg);
        if trace.base == Base::Undef {
            continue;
        }
        let mut src = e.operands(&[arg], line)?[0];
        if src.rel.is_some() {
            src = e.copied(src, e.func.ty(arg).lanes, line);
        }
        let mut lanes = [NOWHERE; 4];
        let placed = trace.value().and_then(|v| e.homes.get(v)).filter(|h| h.reg == home.reg && trace.is_plain());
        for (lane, &mask) in home.lanes.iter().enumerate() {
            let there = placed.map_or(0, |h| h.lanes[trace.lanes[lane] as usize]);
            for to in WriteMask(mask).lanes() {
                if there >> to & 1 == 0 {
                    lanes[to as usize] = src.swizzle[lane];
                }
            }
        }
        pending.push(Move { dst: home.reg, lanes, src });
    }
    pending.retain(|m| m.lanes().next().is_some());
    // how many pending moves read each lane
    let mut readers: FxHashMap<(Reg, u8), u32> = FxHashMap::default();
    for m in &pending {
        for (_, from) in m.lanes() {
            *readers.entry((m.src.reg, from)).or_default() += 1;
        }
    }
    while !pending.is_empty() {
        let own = |m: &Move, reg: Reg, lane: u8| m.lanes().filter(|l| (m.src.reg, l.1) == (reg, lane)).count() as u32;
        let free = pending.iter().position(|m| {
            m.lanes().all(|(to, _)| readers.get(&(m.dst, to)).copied().unwrap_or(0) == own(m, m.dst, to))
        });
        // all wait for each other: free the first one's destination by a copy of what it holds
        let index = free.unwrap_or(0);
        let m = pending.remove(index);
        for (_, from) in m.lanes() {
            if let Some(count) = readers.get_mut(&(m.src.reg, from)) {
                *count -= 1;
            }
        }
        if free.is_none() {
            let held = Src::new(m.dst);
            let width = e.program.virtuals.get(m.dst.index as usize).copied().unwrap_or(4);
            let copy = e.copied(held, width, line);
            let overwritten = m.lanes().fold(0u8, |mask, (to, _)| mask | 1 << to);
            for other in pending.iter_mut().filter(|o| o.src.reg == m.dst) {
                // a move that reads overwritten lanes reads all of its lanes from the copy
                if other.lanes().any(|(_, from)| overwritten >> from & 1 == 1) {
                    for (_, from) in other.lanes() {
                        if let Some(count) = readers.get_mut(&(m.dst, from)) {
                            *count -= 1;
                        }
                        *readers.entry((copy.reg, from)).or_default() += 1;
                    }
                    other.src.reg = copy.reg;
                }
            }
        }
        let mask = m.lanes().fold(0, |mask, (to, _)| mask | 1 << to);
        let swizzle = m.lanes.map(|l| if l == NOWHERE { 0 } else { l });
        let dst = Dst::new(m.dst, WriteMask(mask));
        e.push(MachInst::new(Opcode::Mov, dst, &[Src { swizzle, ..m.src }], line));
    }
    Ok(())
}

/// Drops flow that does nothing: a CONT at the end of a loop's body, an ELSE without code, an IF
/// without both.
fn tidy(insts: &mut Vec<MachInst>) {
    // from the end: whether what follows is the next turn anyway, for each open construct
    let mut keep = vec![true; insts.len()];
    let mut falls_to_turn = false;
    let mut outer: Vec<bool> = Vec::new();
    for i in (0..insts.len()).rev() {
        match insts[i].op {
            Opcode::EndLoop => {
                outer.push(falls_to_turn);
                falls_to_turn = true;
            }
            Opcode::EndIf => outer.push(falls_to_turn),
            Opcode::Else => falls_to_turn = outer.last().copied().unwrap_or(false),
            Opcode::Loop | Opcode::If => {
                outer.pop();
                falls_to_turn = false;
            }
            Opcode::Cont if falls_to_turn => keep[i] = false,
            _ => falls_to_turn = false,
        }
    }
    let mut at = 0;
    insts.retain(|_| {
        at += 1;
        keep[at - 1]
    });
    let mut out: Vec<MachInst> = Vec::with_capacity(insts.len());
    for inst in insts.drain(..) {
        if inst.op == Opcode::EndIf && out.last().is_some_and(|l| l.op == Opcode::Else) {
            out.pop();
        }
        if inst.op == Opcode::EndIf && out.last().is_some_and(|l| l.op == Opcode::If) {
            out.pop();
            continue;
        }
        out.push(inst);
    }
    *insts = out;
}
