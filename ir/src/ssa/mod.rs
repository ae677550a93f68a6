//! TAC to SSA, after Braun, Buchwald, Hack, Leissa, Mallon and Zwinkau, "Simple and Efficient
//! Construction of Static Single Assignment Form" (2013), on structured code.
//!
//! In comes an inlined program ([`crate::tac::inline`]), out comes a [`Function`] that fulfils
//! [`crate::verify`], or a [`Module`] of them when functions stay called. Values are looked up on demand,
//! so block parameters arise only where a value is read. Three things differ from the paper, because code is structured and may be hostile:
//! lookups use a work list instead of recursion; a construct that does not write a variable is
//! stepped over, so that a chain of `n` branches does not cost every live variable `n` parameters;
//! and parameters that turn out to be one other value are removed at the end in one go.
//!
//! - A variable of one element, and an array of which every index is constant, is one value an
//!   element; a partial write makes a `Cat` of old and new lanes. Other local arrays stay memory.
//! - Inputs, uniforms and literals are read in front of the entry, once each.
//! - A call reads the elements that the callee is given and writes those that it gives back
//!   ([`crate::tac::calls`]); inside the callee they are its arguments and what it stores at the end.
//! - Outputs are variables; in front of the one `Return`, `StoreOutput` writes the lanes that some
//!   path wrote. Outputs with a dynamic index live in a local array until then.

mod params;
mod places;

use crate::builder::{Builder, map_uses, result_type};
use crate::entity::{Block, FuncId, Value, Var};
use crate::func::{Callee, Function, Imm, Module, Terminator};
use crate::lanes::{gather, swizzled, trace, trace_all};
use crate::limits::{Exceeded, Limits};
use crate::op::Op;
use crate::tac::calls::{Summary, summaries};
use crate::tac::verify::{TacError, call_order, verify_within};
use crate::tac::{Addr, Dst, Index, Inst, Program, Src, TacOp, TexRef, VarDecl, VarKind};
use crate::types::{Literal, Scalar, Swizzle, Type, WriteMask};
use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;
use cranelift_entity::{EntityRef, SecondaryMap};
use places::{Places, Slot};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::fmt;

/// A lookup's result is noted in every block on its way up to that length, and every so many blocks
/// on longer ways.
const NOTE_DISTANCE: usize = 32;

/// Why there is no SSA form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SsaError {
    /// The program breaks an invariant of TAC.
    Invalid(TacError),
    /// `Call` or `Ret` is left: the inliner did not run.
    NotInlined,
    /// A bound was exceeded.
    Limit(Exceeded),
}

impl fmt::Display for SsaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SsaError::Invalid(error) => error.fmt(f),
            SsaError::NotInlined => f.write_str("calls and returns must be inlined before SSA"),
            SsaError::Limit(bound) => write!(f, "SSA construction takes too much; {bound}"),
        }
    }
}

impl std::error::Error for SsaError {}

/// Builds SSA of an inlined program.
pub fn build<'a>(program: &Program, arena: &'a Bump) -> Result<Function<'a>, SsaError> {
    build_within(program, arena, &Limits::default())
}

/// [`build`] with other bounds.
pub fn build_within<'a>(program: &Program, arena: &'a Bump, limits: &Limits) -> Result<Function<'a>, SsaError> {
    if let Some(error) = verify_within(program, limits).into_iter().next() {
        return Err(SsaError::Invalid(error));
    }
    if program.funcs[program.main].body.iter().any(|i| matches!(i.op, TacOp::Call(_))) {
        return Err(SsaError::NotInlined);
    }
    build_function(program, program.main, &Links::default(), arena, limits)
}

/// Builds SSA of a program in which functions stay called.
pub fn build_module<'a>(program: &Program, arena: &'a Bump, limits: &Limits) -> Result<Module<'a>, SsaError> {
    if let Some(error) = verify_within(program, limits).into_iter().next() {
        return Err(SsaError::Invalid(error));
    }
    let order = call_order(program).unwrap_or_default();
    let links = match order.len() {
        1 => Links::default(),
        _ => Links {
            summaries: summaries(program),
            places: (0..).zip(order.iter().rev()).map(|(n, &f)| (f, n)).collect(),
        },
    };
    let funcs = order.iter().rev().map(|&func| build_function(program, func, &links, arena, limits));
    Ok(Module { funcs: funcs.collect::<Result<_, _>>()? })
}

/// What is known of the functions that stay called.
#[derive(Default)]
struct Links {
    summaries: SecondaryMap<FuncId, Summary>,
    /// Places in the module.
    places: FxHashMap<FuncId, u32>,
}

fn build_function<'a>(
    program: &Program,
    func: FuncId,
    links: &Links,
    arena: &'a Bump,
    limits: &Limits,
) -> Result<Function<'a>, SsaError> {
    let body = &program.funcs[func].body;
    if body.iter().any(|i| i.op == TacOp::Ret) {
        return Err(SsaError::NotInlined);
    }
    let mut ssa = Ssa::new(program, arena, Places::new(program, body, links), links, *limits);
    if func != program.main {
        ssa.func.name.clone_from(&program.funcs[func].name);
        ssa.func.signature = Some(links.summaries[func].signature.clone());
    }
    for (at, inst) in body.iter().enumerate() {
        ssa.inst(at, inst);
        ssa.check_limits()?;
    }
    ssa.finish()
}

/// A block parameter under construction: the slot and one argument a predecessor.
#[derive(Clone)]
struct Param {
    value: Value,
    slot: Slot,
    args: Vec<Value>,
}

/// An open `If` or `Loop`; `Dead` ones stand in code that is never reached.
enum Frame {
    If { at: u32, head: Block, other: Block, then_end: Option<Block>, in_else: bool },
    Loop { header: Block, exit: Block },
    Dead,
}

struct Ssa<'p, 'a> {
    program: &'p Program,
    limits: Limits,
    links: &'p Links,
    func: Function<'a>,
    places: Places,
    /// The local array of a dynamically indexed output.
    shadows: BTreeMap<Var, Var>,
    /// Lanes written of outputs.
    written: BTreeMap<(Var, u32), WriteMask>,
    leaves: FxHashMap<(Op, Imm, Type), Value>,
    /// Holds the leaves until they are put in front of the entry.
    leaf_block: Block,
    defs: FxHashMap<(Block, Slot), Value>,
    preds: SecondaryMap<Block, Vec<Block>>,
    params: SecondaryMap<Block, Vec<Param>>,
    /// A header whose predecessors are not all known.
    unsealed: FxHashSet<Block>,
    /// For a block with several predecessors: the block in front of the construct, and its range.
    around: FxHashMap<Block, (Block, (u32, u32))>,
    /// Parameters whose arguments are still to be looked up.
    pending: Vec<(Block, usize)>,
    frames: Vec<Frame>,
    /// None behind a jump.
    current: Option<Block>,
    param_count: usize,
    lookups: usize,
}

impl<'p, 'a> Ssa<'p, 'a> {
    fn new(program: &'p Program, arena: &'a Bump, places: Places, links: &'p Links, limits: Limits) -> Ssa<'p, 'a> {
        let mut func = Function::new(arena, program.stage, program.vars.clone());
        let entry = func.make_block();
        let leaf_block = func.make_block();
        func.layout.push(entry);
        let mut shadows = BTreeMap::new();
        let mut dynamic: Vec<Var> = places.dynamic.iter().copied().collect();
        dynamic.sort();
        for var in dynamic {
            let decl = &program.vars[var];
            if decl.is_output(program.stage) {
                let mut name = format!("{}.copy", decl.name);
                while func.vars.values().any(|d| d.name == name) {
                    name.push('\'');
                }
                shadows.insert(var, func.vars.push(VarDecl::new(name, VarKind::Temp, decl.ty).array(decl.elems)));
            }
        }
        Ssa {
            program,
            limits,
            links,
            func,
            places,
            shadows,
            written: BTreeMap::new(),
            leaves: FxHashMap::default(),
            leaf_block,
            defs: FxHashMap::default(),
            preds: SecondaryMap::new(),
            params: SecondaryMap::new(),
            unsealed: FxHashSet::default(),
            around: FxHashMap::default(),
            pending: Vec::new(),
            frames: Vec::new(),
            current: Some(entry),
            param_count: 0,
            lookups: 0,
        }
    }

    fn check_limits(&self) -> Result<(), SsaError> {
        if self.param_count > self.limits.params {
            return Err(SsaError::Limit(self.limits.exceeded("block-parameters")));
        }
        if self.lookups > self.limits.lookups {
            return Err(SsaError::Limit(self.limits.exceeded("lookups")));
        }
        Ok(())
    }

    // ---- values of slots

    /// The value of a slot at the end (so far) of a block.
    fn read_slot(&mut self, slot: Slot, block: Block) -> Value {
        let value = self.lookup(slot, block);
        self.fill_pending();
        value
    }

    fn fill_pending(&mut self) {
        while let Some((block, index)) = self.pending.pop() {
            if self.check_limits().is_err() {
                return; // `check_limits` reports it
            }
            let slot = self.params[block][index].slot;
            let args = (0..self.preds[block].len()).map(|i| self.lookup(slot, self.preds[block][i])).collect();
            self.params[block][index].args = args;
        }
    }

    fn lookup(&mut self, slot: Slot, block: Block) -> Value {
        let mut block = block;
        let mut way = Vec::new();
        let value = loop {
            self.lookups += 1;
            if let Some(&value) = self.defs.get(&(block, slot)) {
                break value;
            }
            way.push(block);
            if let Some(&(before, range)) = self.around.get(&block)
                && !self.places.writes_in(slot, range)
            {
                block = before;
                continue;
            }
            if self.unsealed.contains(&block) {
                break self.new_param(slot, block).0;
            }
            match self.preds[block][..] {
                [] => break self.at_start(slot),
                [pred] => block = pred,
                _ => {
                    let (value, index) = self.new_param(slot, block);
                    self.pending.push((block, index));
                    break value;
                }
            }
        };
        let length = way.len();
        for (i, block) in way.into_iter().enumerate() {
            if length <= NOTE_DISTANCE || i % NOTE_DISTANCE == 0 || i + 1 == length {
                self.defs.insert((block, slot), value);
            }
        }
        value
    }

    /// What a slot holds before anything wrote it.
    fn at_start(&mut self, slot: Slot) -> Value {
        let ty = self.places.types[slot.index()];
        let signature = self.func.signature.as_ref();
        let found = signature.and_then(|s| s.args.iter().copied().find(|&(v, e)| self.places.slot(v, e) == Some(slot)));
        match found {
            Some((var, elem)) => self.leaf(Op::Input, Imm::Elem { var, elem }, ty),
            None => self.leaf(Op::Undef, Imm::None, ty),
        }
    }

    fn new_param(&mut self, slot: Slot, block: Block) -> (Value, usize) {
        self.param_count += 1;
        let value = self.func.add_param(block, self.places.types[slot.index()]);
        self.params[block].push(Param { value, slot, args: Vec::new() });
        (value, self.params[block].len() - 1)
    }

    /// A leaf in front of the entry, made once.
    fn leaf(&mut self, op: Op, imm: Imm, ty: Type) -> Value {
        let (func, block) = (&mut self.func, self.leaf_block);
        *self.leaves.entry((op, imm, ty)).or_insert_with(|| Builder::at_end(func, block).typed(op, imm, &[], ty))
    }

    fn literal(&mut self, literal: Literal) -> Value {
        self.leaf(Op::Const, Imm::Lit(literal), literal.ty)
    }

    // ---- control flow

    fn jump(&mut self, from: Block, to: Block) {
        self.func.blocks[from].term = Terminator::Jump(self.func.call(to, &[]));
        self.preds[to].push(from);
    }

    fn inst(&mut self, at: usize, inst: &Inst) {
        let at = at as u32;
        let end = self.places.ends.get(&at).copied().unwrap_or(at);
        match (inst.op, self.current) {
            (TacOp::If | TacOp::Loop, None) => self.frames.push(Frame::Dead),
            (TacOp::If, Some(head)) => {
                let cond = self.read(&inst.srcs[0], head, inst.line);
                let (then, other) = (self.func.make_block(), self.func.make_block());
                let (then_call, else_call) = (self.func.call(then, &[]), self.func.call(other, &[]));
                self.func.blocks[head].term = Terminator::Branch { cond, then_call, else_call, merge: None };
                self.preds[then].push(head);
                self.preds[other].push(head);
                self.func.layout.push(then);
                self.frames.push(Frame::If { at, head, other, then_end: None, in_else: false });
                self.current = Some(then);
            }
            (TacOp::Loop, Some(before)) => {
                let (header, exit) = (self.func.make_block(), self.func.make_block());
                self.jump(before, header);
                self.func.blocks[header].loop_merge = Some(exit);
                self.func.layout.push(header);
                self.unsealed.insert(header);
                self.around.insert(header, (before, (at, end)));
                self.around.insert(exit, (before, (at, end)));
                self.frames.push(Frame::Loop { header, exit });
                self.current = Some(header);
            }
            (TacOp::Else, current) => {
                if let Some(Frame::If { other, then_end, in_else, .. }) = self.frames.last_mut() {
                    (*then_end, *in_else) = (current, true);
                    self.current = Some(*other);
                    self.func.layout.push(*other);
                }
            }
            (TacOp::EndIf, current) => self.end_if(current, at),
            (TacOp::Brk | TacOp::Cont, Some(current)) => {
                let innermost = self.frames.iter().rev().find_map(|f| match f {
                    Frame::Loop { header, exit } => Some((*header, *exit)),
                    _ => None,
                });
                if let Some((header, exit)) = innermost {
                    self.jump(current, if inst.op == TacOp::Brk { exit } else { header });
                    self.current = None;
                }
            }
            (TacOp::EndLoop, current) => {
                if let Some(Frame::Loop { header, exit }) = self.frames.pop() {
                    if let Some(current) = current {
                        self.jump(current, header);
                    }
                    self.unsealed.remove(&header);
                    let count = self.params[header].len();
                    self.pending.extend((0..count).map(|index| (header, index)));
                    self.fill_pending();
                    self.func.layout.push(exit);
                    self.current = Some(exit);
                }
            }
            (TacOp::Op(op), Some(block)) => self.operation(op, inst, block),
            (TacOp::Tex(op, tex), Some(block)) => self.texture(op, tex, inst, block),
            (TacOp::Call(callee), Some(block)) => self.call(callee, block, inst.line),
            (TacOp::Ret, _) | (_, None) => {}
        }
    }

    fn end_if(&mut self, current: Option<Block>, at_end: u32) {
        let Some(Frame::If { at, head, other, then_end, in_else }) = self.frames.pop() else { return };
        let (then_end, other_end) = if in_else {
            (then_end, current)
        } else {
            self.func.layout.push(other);
            (current, Some(other))
        };
        self.current = None;
        if then_end.is_none() && other_end.is_none() {
            return;
        }
        let merge = self.func.make_block();
        for end in [then_end, other_end].into_iter().flatten() {
            self.jump(end, merge);
        }
        if let Terminator::Branch { merge: named, .. } = &mut self.func.blocks[head].term {
            *named = Some(merge);
        }
        self.around.insert(merge, (head, (at, at_end)));
        self.func.layout.push(merge);
        self.current = Some(merge);
    }

    // ---- instructions

    fn builder(&mut self, block: Block, line: u32) -> Builder<'_, 'a> {
        let mut builder = Builder::at_end(&mut self.func, block);
        builder.line = line;
        builder
    }

    fn rel(&mut self, index: Index, block: Block, line: u32) -> Option<Value> {
        let (var, lane) = index.rel?;
        let src = Src { addr: Addr::Var(var, Index::default()), swz: Swizzle::splat(lane, 1) };
        Some(self.read(&src, block, line))
    }

    /// All lanes of a variable's element.
    fn read_var(&mut self, var: Var, index: Index, block: Block, line: u32) -> Value {
        if let Some(slot) = self.places.slot(var, index.offset) {
            return self.read_slot(slot, block);
        }
        let decl = &self.program.vars[var];
        let (ty, elem) = (decl.ty, index.offset);
        let op = if decl.is_local() || decl.is_output(self.program.stage) {
            Op::Load
        } else {
            match (decl.is_input(self.program.stage), index.rel.is_some()) {
                (true, false) => Op::Input,
                (true, true) => Op::InputAt,
                (false, false) => Op::Uniform,
                (false, true) => Op::UniformAt,
            }
        };
        let var = self.shadows.get(&var).copied().unwrap_or(var);
        if matches!(op, Op::Input | Op::Uniform) {
            return self.leaf(op, Imm::Elem { var, elem }, ty);
        }
        let rel = self.rel(index, block, line);
        self.builder(block, line).read(op, var, elem, rel)
    }

    fn read(&mut self, src: &Src, block: Block, line: u32) -> Value {
        match src.addr {
            Addr::Lit(literal) => self.literal(literal.swizzled(src.swz)),
            Addr::Var(var, index) => {
                let value = self.read_var(var, index, block, line);
                swizzled(&mut self.builder(block, line), value, src.swz)
            }
        }
    }

    fn write(&mut self, dst: &Dst, value: Value, block: Block, line: u32) {
        let decl = &self.program.vars[dst.var];
        let ty = decl.ty;
        if decl.is_output(self.program.stage) {
            let elems = if dst.index.rel.is_some() { 0..decl.elems } else { dst.index.offset..dst.index.offset + 1 };
            for elem in elems {
                self.written.entry((dst.var, elem)).or_insert(WriteMask(0)).0 |= dst.mask.0;
            }
        }
        let value = if dst.mask == WriteMask::first(ty.lanes) {
            value
        } else {
            let old = self.read_var(dst.var, dst.index, block, line);
            let mut lanes = trace_all(&self.func, old);
            for (i, lane) in dst.mask.lanes().enumerate() {
                lanes[lane as usize] = trace(&self.func, value, i as u8);
            }
            gather(&mut self.builder(block, line), &lanes)
        };
        if let Some(slot) = self.places.slot(dst.var, dst.index.offset) {
            self.defs.insert((block, slot), value);
            return;
        }
        let var = self.shadows.get(&dst.var).copied().unwrap_or(dst.var);
        let mut args: Vec<Value> = self.rel(dst.index, block, line).into_iter().collect();
        args.push(value);
        self.builder(block, line).inst(Op::Store, Imm::Elem { var, elem: dst.index.offset }, &args, None);
    }

    fn operation(&mut self, op: Op, inst: &Inst, block: Block) {
        let args: Vec<Value> = inst.srcs.iter().map(|s| self.read(s, block, inst.line)).collect();
        let Some(dst) = &inst.dst else {
            self.builder(block, inst.line).inst(op, Imm::None, &args, None);
            return;
        };
        let ty = self.program.vars[dst.var].ty.with_lanes(dst.mask.count());
        let types: Vec<Type> = args.iter().map(|&a| self.func.ty(a)).collect();
        let mut builder = self.builder(block, inst.line);
        let natural = match op {
            Op::Slt | Op::Sge | Op::Seq | Op::Sne if ty.scalar != Scalar::Int => ty,
            _ => result_type(op, Imm::None, &types).unwrap_or(ty),
        };
        let mut value = match op {
            Op::Mov => args[0],
            _ => builder.typed(op, Imm::None, &args, natural),
        };
        if natural.scalar != ty.scalar {
            value = builder.typed(Op::Mov, Imm::None, &[value], ty);
        }
        self.write(dst, value, block, inst.line);
    }

    fn texture(&mut self, op: Op, tex: TexRef, inst: &Inst, block: Block) {
        let Some(dst) = &inst.dst else { return };
        let line = inst.line;
        let mut args: Vec<Value> = inst.srcs.iter().map(|s| self.read(s, block, line)).collect();
        let rel = self.rel(tex.index, block, line);
        args.extend(rel);
        let TexRef { sampler, index, dim, shadow } = tex;
        let imm = Imm::Tex { sampler, elem: index.offset, indexed: rel.is_some(), dim, shadow };
        let mut builder = self.builder(block, line);
        let value = builder.typed(op, imm, &args, Type::VEC4);
        let value = builder.swz(value, Swizzle::identity(dst.mask.count()));
        self.write(dst, value, block, line);
    }

    fn call(&mut self, callee: FuncId, block: Block, line: u32) {
        let summary = &self.links.summaries[callee];
        let signature = &summary.signature;
        let func = self.links.places[&callee];
        let known = self.func.callees.iter().position(|c| c.func == func);
        let index = known.unwrap_or_else(|| {
            self.func.callees.push(Callee { func, signature: signature.clone() });
            self.func.callees.len() - 1
        });
        let whole = |elem: u32| Index { offset: elem, rel: None };
        let args: Vec<Value> = signature.args.iter().map(|&(v, e)| self.read_var(v, whole(e), block, line)).collect();
        self.builder(block, line).inst(Op::Call, Imm::Callee(index as u32), &args, None);
        for &(var, elem) in &signature.results {
            let ty = self.program.vars[var].ty;
            let value = self.builder(block, line).typed(Op::Result, Imm::Elem { var, elem }, &[], ty);
            if let Some(slot) = self.places.slot(var, elem) {
                self.defs.insert((block, slot), value);
            }
        }
        for (&(var, elem), mask) in &summary.may_write {
            if self.program.vars[var].is_output(self.program.stage) {
                self.written.entry((var, elem)).or_insert(WriteMask(0)).0 |= mask.0;
            }
        }
    }

    // ---- the end

    fn finish(mut self) -> Result<Function<'a>, SsaError> {
        let Some(last) = self.current else { return Err(SsaError::NotInlined) };
        let mut stores = std::mem::take(&mut self.written);
        if let Some(signature) = &self.func.signature {
            let whole = |var: Var| WriteMask::first(self.program.vars[var].ty.lanes);
            stores = signature.results.iter().map(|&(var, elem)| ((var, elem), whole(var))).collect();
        }
        for ((var, elem), mask) in stores {
            let value = self.read_var(var, Index { offset: elem, rel: None }, last, 0);
            let width = 8 - mask.0.leading_zeros() as u8;
            let value = swizzled(&mut self.builder(last, 0), value, Swizzle::identity(width));
            self.builder(last, 0).inst(Op::StoreOutput, Imm::Out { var, elem, mask }, &[value], None);
        }
        self.check_limits()?;
        self.func.blocks[last].term = Terminator::Return;
        let same = self.redundant_params();
        self.pass_arguments(&same);
        map_uses(&mut self.func, |v| same[v].expand().unwrap_or(v));
        let entry = self.func.entry();
        let mut insts =
            std::mem::replace(&mut self.func.blocks[self.leaf_block].insts, BumpVec::new_in(self.func.arena));
        insts.append(&mut self.func.blocks[entry].insts);
        self.func.blocks[entry].insts = insts;
        Ok(self.func)
    }
}

#[cfg(test)]
mod tests;
