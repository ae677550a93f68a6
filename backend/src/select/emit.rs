//! Code for single instructions: operands, destinations, the address register.

use super::bind::Bindings;
use super::cover::{Cover, Covers};
use super::home::{Home, Homes, NOWHERE};
use super::literals;
use super::trace::{Base, Trace, Traces};
use super::whole::is_whole;
use super::{Called, Facts};
use crate::calls::CallSite;
use crate::error::Error;
use crate::isa::pattern::{EmitArg, EmitDst};
use crate::isa::{AddressRule, Target};
use crate::mach::{Dst, File, Inst as MachInst, Kind, Opcode, Program, Reg, Rel, Src, TexInfo};
use ir::entity::{Block, Inst, Value, Var};
use ir::func::{Function, Imm};
use ir::op::Op;
use ir::types::WriteMask;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Makes the program.
pub(crate) struct Emitter<'x, 'f, 'a> {
    pub func: &'f Function<'a>,
    pub target: &'x Target,
    facts: &'x Facts,
    covers: &'x Covers,
    pub traces: &'x Traces,
    pub homes: &'x Homes,
    bindings: &'x Bindings<'x>,
    called: &'x Called<'x>,
    /// Registers of what the last call left.
    left: FxHashMap<(Var, u32), Reg>,
    pub program: Program,
    literals: Vec<[u32; 4]>,
    literal_index: FxHashMap<[u32; 4], u32>,
    /// What each lane of `a0` holds in this block, and when it was last used.
    address: [Option<(Trace, u64)>; 4],
    /// Lanes of `a0` that the instruction being made reads.
    pinned: u8,
    clock: u64,
}

/// Where a line writes: a register and a mask of its lanes for each lane of the value.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub reg: Reg,
    pub rel: Option<Rel>,
    pub lanes: [u8; 4],
    pub saturate: bool,
}

impl Place {
    fn home(home: Home) -> Place {
        Place { reg: home.reg, rel: None, lanes: home.lanes, saturate: false }
    }

    /// The first `width` lanes of a register in place.
    pub fn whole(reg: Reg, width: u8) -> Place {
        let lanes = [0, 1, 2, 3].map(|l| if l < width { 1 << l } else { NOWHERE });
        Place { reg, rel: None, lanes, saturate: false }
    }

    /// Lanes of the value that are written, each with a lane of the register.
    fn written(&self) -> impl Iterator<Item = (usize, u8)> + use<> {
        let lanes = self.lanes.into_iter().enumerate();
        lanes.flat_map(|(lane, mask)| WriteMask(mask).lanes().map(move |to| (lane, to)))
    }

    fn dst(&self, mask: u8) -> Dst {
        Dst { reg: self.reg, rel: self.rel, mask: WriteMask(mask), saturate: self.saturate }
    }
}

impl<'x, 'f, 'a> Emitter<'x, 'f, 'a> {
    #[allow(clippy::too_many_arguments)] // the results of all earlier steps
    pub fn new(
        func: &'f Function<'a>,
        target: &'x Target,
        facts: &'x Facts,
        covers: &'x Covers,
        traces: &'x Traces,
        homes: &'x Homes,
        bindings: &'x Bindings<'x>,
        called: &'x Called<'x>,
        program: Program,
        literals: Vec<[u32; 4]>,
    ) -> Emitter<'x, 'f, 'a> {
        Emitter {
            func,
            target,
            facts,
            covers,
            traces,
            homes,
            bindings,
            called,
            left: FxHashMap::default(),
            program,
            literal_index: (0..).zip(&literals).map(|(n, &bits)| (bits, n)).collect(),
            literals,
            address: [None; 4],
            pinned: 0,
            clock: 0,
        }
    }

    /// The program, and the literals that it names.
    pub fn finish(self) -> (Program, Vec<[u32; 4]>) {
        (self.program, self.literals)
    }

    pub fn push(&mut self, mut inst: MachInst) {
        inst.normalize();
        self.program.insts.push(inst);
    }

    fn literal(&mut self, bits: [u32; 4]) -> Src {
        let next = self.literals.len() as u32;
        let index = *self.literal_index.entry(bits).or_insert(next);
        if index == next {
            self.literals.push(bits);
        }
        Src::new(Reg::new(File::Const, literals::FIRST + index))
    }

    /// The operand that a trace is. Does not touch `a0` unless the trace is indexed.
    fn operand(&mut self, trace: Trace) -> Result<Src, Error> {
        let (src, lanes) = match trace.base {
            Base::Value(value) => match self.homes.get(value) {
                Some(home) => (Src::new(home.reg), home.read()),
                None => return Err(Error::Internal(format!("{value} is read but has no register"))),
            },
            Base::Uniform(var, elem) => (Src::new(self.bindings.uniform(var, elem)), [0, 1, 2, 3]),
            Base::Input(var, elem) => (Src::new(self.bindings.input(var, elem)), [0, 1, 2, 3]),
            Base::Indexed(inst) => (self.indexed(inst)?, [0, 1, 2, 3]),
            Base::Literal(bits) => (self.literal(bits), [0, 1, 2, 3]),
            Base::Undef => (self.literal([0; 4]), [0; 4]),
        };
        Ok(Src { swizzle: trace.lanes.map(|l| lanes[l as usize]), neg: trace.neg, abs: trace.abs, ..src })
    }

    /// An element of a uniform or input array at a computed index.
    fn indexed(&mut self, inst: Inst) -> Result<Src, Error> {
        let data = &self.func.insts[inst];
        let Imm::Elem { var, elem } = data.imm else {
            return Err(Error::Internal(format!("{inst} has no element")));
        };
        // the array stands in one row, so the constant part may be added to its first register
        let first = if data.op == Op::InputAt { self.bindings.input(var, 0) } else { self.bindings.uniform(var, 0) };
        let rel = self.address(data.args[0], first.file, data.line)?;
        Ok(Src { rel: Some(rel), ..Src::new(Reg::new(first.file, first.index + elem)) })
    }

    /// A lane of `a0` that holds `index`, loaded when none does.
    fn address(&mut self, index: Value, file: File, line: u32) -> Result<Rel, Error> {
        let lanes = self.target.registers.address_lanes;
        if !self.target.indexes(file) {
            let what = format!("computed index into `{}` registers", file.letter());
            return Err(Error::Unsupported { what, line });
        }
        let trace = self.traces.get(index);
        self.clock += 1;
        let held = (0..lanes).find(|&l| self.address[l as usize].is_some_and(|(t, _)| t == trace));
        let lane = match held {
            Some(lane) => lane,
            None => {
                let free = (0..lanes).filter(|&l| self.pinned >> l & 1 == 0);
                let oldest = free.min_by_key(|&l| self.address[l as usize].map_or(0, |(_, used)| used));
                let Some(lane) = oldest else {
                    return Err(Error::Internal("more computed indices in one instruction than address lanes".into()));
                };
                let mut src = self.operand(trace)?;
                if self.target.operands.address == AddressRule::Whole && !is_whole(self.func, index) {
                    src = self.floor(src, line);
                }
                let dst = Dst::new(Reg::new(File::Addr, 0), WriteMask::lane(lane));
                self.push(MachInst::new(Opcode::Arl, dst, &[src.swizzled([0; 4])], line));
                lane
            }
        };
        self.address[lane as usize] = Some((trace, self.clock));
        self.pinned |= 1 << lane;
        Ok(Rel { lane })
    }

    /// The first lane of an operand, rounded down.
    fn floor(&mut self, src: Src, line: u32) -> Src {
        let (first, place) = (src.swizzled([0; 4]), |reg| Place::whole(reg, 1));
        let (fraction, whole) = (self.program.make_virtual(1), self.program.make_virtual(1));
        self.line(Opcode::Frc, place(fraction), &[first], line);
        let minus = Src { neg: true, swizzle: [0; 4], ..Src::new(fraction) };
        self.line(Opcode::Add, place(whole), &[first, minus], line);
        Src { swizzle: [0; 4], ..Src::new(whole) }
    }

    /// The operands of one instruction. When their indices need more lanes of `a0` than there are,
    /// the later ones are copied to registers first.
    pub fn operands(&mut self, values: &[Value], line: u32) -> Result<SmallVec<[Src; 4]>, Error> {
        let mut indices: SmallVec<[Trace; 4]> = SmallVec::new();
        for &value in values {
            if let Base::Indexed(inst) = self.traces.get(value).base {
                let index = self.traces.get(self.func.insts[inst].args[0]);
                if !indices.contains(&index) {
                    indices.push(index);
                }
            }
        }
        let keep = (self.target.registers.address_lanes as usize).min(indices.len());
        let copied: SmallVec<[Trace; 4]> = indices.drain(keep..).collect();
        let mut srcs: SmallVec<[Src; 4]> = SmallVec::from_elem(Src::new(Reg::new(File::Const, 0)), values.len());
        for round in [true, false] {
            // copies first: they use lanes of a0 that the others then load again
            for (n, &value) in values.iter().enumerate() {
                let trace = self.traces.get(value);
                let copy = match trace.base {
                    Base::Indexed(i) => copied.contains(&self.traces.get(self.func.insts[i].args[0])),
                    _ => false,
                };
                if copy != round {
                    continue;
                }
                if copy {
                    self.pinned = 0;
                }
                srcs[n] = self.operand(trace)?;
                if copy {
                    srcs[n] = self.copied(srcs[n], self.func.ty(value).lanes, line);
                    self.pinned = 0;
                }
            }
        }
        self.pinned = 0;
        Ok(srcs)
    }

    /// Copies an operand to a new register.
    pub fn copied(&mut self, src: Src, width: u8, line: u32) -> Src {
        let reg = self.program.make_virtual(width);
        self.line(Opcode::Mov, Place::whole(reg, width), &[src], line);
        let last = width - 1;
        Src { swizzle: [0, 1, 2, 3].map(|l: u8| l.min(last)), ..Src::new(reg) }
    }

    /// One operation on values, as the machine issues it: places of the sources' swizzles are lanes
    /// of the value.
    pub fn line(&mut self, op: Opcode, place: Place, srcs: &[Src], line: u32) {
        match op.kind() {
            Kind::Scalar => {
                // one issue for each different lane of the sources
                let mut done = 0u8;
                for (lane, _) in place.written() {
                    if done >> lane & 1 == 1 {
                        continue;
                    }
                    let same = |other: usize| srcs.iter().all(|s| s.swizzle[other] == s.swizzle[lane]);
                    let mut mask = 0;
                    for (other, to) in place.written().filter(|(l, _)| same(*l)) {
                        done |= 1 << other;
                        mask |= 1 << to;
                    }
                    let picked: SmallVec<[Src; 3]> = srcs.iter().map(|s| s.swizzled([lane as u8; 4])).collect();
                    self.push(MachInst::new(op, place.dst(mask), &picked, line));
                }
            }
            Kind::Reduce(_) => {
                let mask = place.written().fold(0, |m, (_, to)| m | 1 << to);
                self.push(MachInst::new(op, place.dst(mask), srcs, line));
            }
            _ => {
                let mask = place.written().fold(0, |m, (_, to)| m | 1 << to);
                let moved: SmallVec<[Src; 3]> = srcs
                    .iter()
                    .map(|src| {
                        let mut by = [0; 4];
                        place.written().for_each(|(lane, to)| by[to as usize] = lane as u8);
                        src.swizzled(by)
                    })
                    .collect();
                self.push(MachInst::new(op, place.dst(mask), &moved, line));
            }
        }
    }

    /// The instructions of a block, without its end.
    pub fn block(&mut self, block: Block) -> Result<(), Error> {
        self.address = [None; 4];
        let insts = &self.func.blocks[block].insts;
        for &inst in insts {
            if self.facts.live[inst] {
                self.inst(inst)?;
            }
        }
        Ok(())
    }

    fn inst(&mut self, inst: Inst) -> Result<(), Error> {
        let func = self.func;
        let data = &func.insts[inst];
        let home = data.result.expand().and_then(|r| self.homes.get(r));
        match &self.covers[inst] {
            Cover::Dead | Cover::Alias | Cover::Folded => Ok(()),
            Cover::Root { pattern, args } => {
                let Some(home) = home else { return Ok(()) };
                let srcs = self.operands(args, data.line)?;
                self.pattern(*pattern, home, &srcs, data.line);
                Ok(())
            }
            Cover::Special => self.special(inst, home),
        }
    }

    /// Emits a matched pattern.
    fn pattern(&mut self, index: usize, home: Home, vars: &[Src], line: u32) {
        let target = self.target;
        let pattern = &target.patterns[index];
        let result = Place::home(home);
        let width = result.written().map(|(l, _)| l as u8 + 1).max().unwrap_or(1);
        let temps: SmallVec<[Reg; 2]> = (0..pattern.temps).map(|_| self.program.make_virtual(width)).collect();
        for row in &pattern.emit {
            let srcs: SmallVec<[Src; 3]> = row
                .srcs
                .iter()
                .map(|s| {
                    let src = match s.arg {
                        EmitArg::Var(n) => vars[n],
                        EmitArg::Temp(n) => Src::new(temps[n]),
                        EmitArg::Literal(value) => self.literal([value.to_bits(); 4]),
                    };
                    let src = s.lane.map_or(src, |lane| src.swizzled([lane; 4]));
                    if s.abs { Src { abs: true, neg: s.neg, ..src } } else { Src { neg: src.neg ^ s.neg, ..src } }
                })
                .collect();
            let mut place = match row.dst {
                EmitDst::Result => result,
                EmitDst::Temp(n) => {
                    let lanes =
                        [0, 1, 2, 3].map(|l: u8| if home.lanes[l as usize] == NOWHERE { NOWHERE } else { 1 << l });
                    Place { lanes, ..Place::whole(temps[n], width) }
                }
            };
            place.saturate = row.saturate;
            self.line(row.op, place, &srcs, line);
        }
    }

    fn special(&mut self, inst: Inst, home: Option<Home>) -> Result<(), Error> {
        let func = self.func;
        let data = &func.insts[inst];
        match (data.op, data.imm) {
            (Op::Cat, _) => match home {
                Some(home) => self.gather(data.args, home, data.line),
                None => Ok(()),
            },
            (Op::StoreOutput, Imm::Out { var, elem, .. }) => {
                let mask = WriteMask(self.homes.stored[inst]);
                let reg = self.bindings.output(var, elem);
                let trace = self.traces.get(data.args[0]);
                let placed = match trace.base {
                    Base::Value(value) => self.homes.get(value).is_some_and(|h| h.reg == reg),
                    Base::Undef => true,
                    _ => false,
                };
                if mask.0 == 0 || placed {
                    return Ok(());
                }
                let src = self.operands(data.args, data.line)?[0];
                let mut place = Place::whole(reg, 4);
                for lane in (0..4).filter(|&l| !mask.has(l)) {
                    place.lanes[lane as usize] = NOWHERE;
                }
                self.line(Opcode::Mov, place, &[src], data.line);
                Ok(())
            }
            (Op::Kil, _) => {
                if self.target.op(Opcode::Kil).is_none() {
                    let what = format!("{} on {}", Opcode::Kil.mnemonic(), self.target.name);
                    return Err(Error::Unsupported { what, line: data.line });
                }
                let src = self.operands(data.args, data.line)?[0];
                self.push(MachInst::flow(Opcode::Kil, &[src], data.line));
                Ok(())
            }
            (Op::Tex | Op::Txp | Op::Txb | Op::Txl, Imm::Tex { sampler, elem, dim, shadow, .. }) => {
                let Some(home) = home else { return Ok(()) };
                let op = match data.op {
                    Op::Tex => Opcode::Tex,
                    Op::Txp => Opcode::Txp,
                    Op::Txb => Opcode::Txb,
                    _ => Opcode::Txl,
                };
                if self.target.op(op).is_none() {
                    let what = format!("{} on {}", op.mnemonic(), self.target.name);
                    return Err(Error::Unsupported { what, line: data.line });
                }
                let srcs = self.operands(data.args, data.line)?;
                let place = Place::home(home);
                let mask = place.written().fold(0, |m, (_, to)| m | 1 << to);
                let mut tex = MachInst::new(op, place.dst(mask), &srcs[..op.srcs()], data.line);
                tex.tex = Some(TexInfo { sampler: self.bindings.sampler(sampler, elem), dim, shadow });
                self.push(tex);
                Ok(())
            }
            (Op::UniformAt | Op::InputAt, _) => {
                let Some(home) = home else { return Ok(()) };
                let src = self.indexed(inst)?;
                self.pinned = 0;
                self.line(Opcode::Mov, Place::home(home), &[src], data.line);
                Ok(())
            }
            (Op::Load, Imm::Elem { var, elem }) => {
                let Some(home) = home else { return Ok(()) };
                let rel = match data.args.first() {
                    Some(&index) => Some(self.address(index, File::Local, data.line)?),
                    None => None,
                };
                self.pinned = 0;
                let src = Src { rel, ..Src::new(self.bindings.local(var, elem)) };
                self.line(Opcode::Mov, Place::home(home), &[src], data.line);
                Ok(())
            }
            (Op::Store, Imm::Elem { var, elem }) => {
                let [index @ .., value] = data.args else {
                    return Err(Error::Internal(format!("{inst} stores nothing")));
                };
                let width = func.ty(*value).lanes;
                let mut src = self.operands(&[*value], data.line)?[0];
                let mut rel = None;
                if let Some(&index) = index.first() {
                    if src.rel.is_some() {
                        src = self.copied(src, width, data.line);
                    }
                    rel = Some(self.address(index, File::Local, data.line)?);
                    self.pinned = 0;
                }
                let place = Place { rel, ..Place::whole(self.bindings.local(var, elem), width) };
                self.line(Opcode::Mov, place, &[src], data.line);
                Ok(())
            }
            (Op::Call, imm) => self.call(imm, data.args, data.line),
            (Op::Result, Imm::Elem { var, elem }) => {
                let Some(home) = home else { return Ok(()) };
                let Some(&reg) = self.left.get(&(var, elem)) else {
                    return Err(Error::Internal(format!("{inst} reads what no call left")));
                };
                self.line(Opcode::Mov, Place::home(home), &[Src::new(reg)], data.line);
                Ok(())
            }
            (op, _) => Err(Error::Internal(format!("`{op}` has no code"))),
        }
    }

    /// The arguments into registers of their own, and the call.
    fn call(&mut self, imm: Imm, args: &[Value], line: u32) -> Result<(), Error> {
        let func = self.func;
        let Some(callee) = func.callee(imm) else { return Err(Error::Internal("a call of nothing".to_owned())) };
        let mut site = CallSite { callee: callee.func, ..CallSite::default() };
        for (&value, needed) in args.iter().zip(self.called.args(func, imm)) {
            if needed.0 == 0 || self.traces.get(value).base == Base::Undef {
                site.args.push(None);
                continue;
            }
            let src = self.operands(&[value], line)?[0];
            let reg = self.program.make_virtual(func.ty(value).lanes);
            let mut place = Place::whole(reg, func.ty(value).lanes);
            (0..4).filter(|&l| !needed.has(l)).for_each(|l| place.lanes[l as usize] = NOWHERE);
            self.line(Opcode::Mov, place, &[src], line);
            site.args.push(Some((reg, *needed)));
        }
        for &(var, elem) in &callee.signature.results {
            let reg = self.program.make_virtual(func.vars[var].ty.lanes);
            self.left.insert((var, elem), reg);
            site.results.push(reg);
        }
        let mut inst = MachInst::flow(Opcode::Cal, &[], line);
        inst.target = Some(self.program.calls.len() as u32);
        self.program.calls.push(site);
        self.push(inst);
        self.address = [None; 4]; // the callee loads its own
        Ok(())
    }

    /// The lanes of a `Cat` that are not computed in place: one MOV a source.
    fn gather(&mut self, parts: &[Value], home: Home, line: u32) -> Result<(), Error> {
        let mut groups: SmallVec<[(Src, [u8; 4], u8); 4]> = SmallVec::new();
        let mut literal = [0u32; 4];
        let mut literal_mask = 0u8;
        let mut at = 0;
        for &part in parts {
            let trace = self.traces.get(part);
            let width = self.func.ty(part).lanes as usize;
            let to = &home.lanes[at..at + width];
            at += width;
            if trace.base == Base::Undef || to.iter().all(|&l| l == NOWHERE) {
                continue;
            }
            let pairs = || {
                let lanes = to.iter().enumerate();
                lanes.flat_map(|(lane, &mask)| WriteMask(mask).lanes().map(move |to| (lane, to)))
            };
            if let Base::Literal(bits) = trace.base {
                for (lane, to) in pairs() {
                    literal[to as usize] = bits[lane];
                    literal_mask |= 1 << to;
                }
                continue;
            }
            let placed = trace.value().and_then(|v| self.homes.get(v)).filter(|h| h.reg == home.reg);
            let stays = |lane: usize, to: u8| {
                let holds = |h: &Home| h.lanes[trace.lanes[lane] as usize] >> to & 1 == 1;
                trace.is_plain() && placed.as_ref().is_some_and(holds)
            };
            if pairs().all(|(lane, to)| stays(lane, to)) {
                continue;
            }
            let mut src = self.operands(&[part], line)?[0];
            if src.rel.is_some() {
                // the next part's address could take its lane of a0
                src = self.copied(src, width as u8, line);
            }
            for (lane, to) in pairs().filter(|&(lane, to)| !stays(lane, to)) {
                let from = src.swizzle[lane];
                let same = |g: &(Src, [u8; 4], u8)| {
                    (g.0.reg, g.0.rel, g.0.neg, g.0.abs) == (src.reg, src.rel, src.neg, src.abs)
                };
                let index = groups.iter().position(same).unwrap_or_else(|| {
                    groups.push((src, [0; 4], 0));
                    groups.len() - 1
                });
                groups[index].1[to as usize] = from;
                groups[index].2 |= 1 << to;
            }
        }
        if literal_mask != 0 {
            let src = self.literal(literal);
            groups.push((src, [0, 1, 2, 3], literal_mask));
        }
        for (src, swizzle, mask) in groups {
            let dst = Dst::new(home.reg, WriteMask(mask));
            self.push(MachInst::new(Opcode::Mov, dst, &[Src { swizzle, ..src }], line));
        }
        Ok(())
    }
}
