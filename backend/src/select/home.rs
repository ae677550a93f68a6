//! In which register and lanes each computed value is put.
//!
//! Readers choose for what they read: a `Cat` takes its parts into its own lanes, an output takes
//! the value that only it needs. So the walk goes from the readers to the definitions. A value that
//! nobody claimed gets a virtual register of its own, as wide as the lanes that are demanded of it.
//!
//! ```text
//!   v3 = dp3 a, b        DP3 %7.x, a, b
//!   v4 = dp3 a, c        DP3 %7.y, a, c        v3 and v4 live in lanes of v5's register
//!   v5 = cat v3, v4
//! ```

use super::bind::Bindings;
use super::cover::{Cover, Covers};
use super::trace::{Base, Traces, def, reads};
use super::{Called, Facts};
use crate::isa::Target;
use crate::isa::pattern::Pattern;
use crate::mach::{File, Kind, Program, Reg};
use cranelift_entity::SecondaryMap;
use ir::entity::{Block, Inst, Value};
use ir::func::{Function, Imm, Terminator, ValueDef};
use ir::op::{Op, Shape};
use ir::types::WriteMask;
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// The mask of a lane that has no place because nothing demands it.
pub(crate) const NOWHERE: u8 = 0;

/// Where a value is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Home {
    pub reg: Reg,
    /// Lanes of the register that hold each lane of the value, as masks: one result may be wanted in
    /// several lanes.
    pub lanes: [u8; 4],
}

impl Home {
    /// The lane to read each lane of the value from; 0 for lanes without a place.
    pub fn read(&self) -> [u8; 4] {
        self.lanes.map(|m| if m == NOWHERE { 0 } else { m.trailing_zeros() as u8 })
    }
}

/// The homes of all computed values.
pub(crate) struct Homes {
    homes: SecondaryMap<Value, Option<Home>>,
    /// Lanes of each output store that no later store overwrites.
    pub stored: SecondaryMap<Inst, u8>,
}

/// How a computed value is read.
#[derive(Clone, Copy, Default)]
struct Demand {
    /// Operands that read it.
    reads: u32,
    /// Its lanes that are read.
    lanes: u8,
}

struct Builder<'x, 'f, 'a> {
    func: &'f Function<'a>,
    target: &'x Target,
    facts: &'x Facts,
    covers: &'x Covers,
    traces: &'x Traces,
    called: &'x Called<'x>,
    demand: SecondaryMap<Value, Demand>,
    homes: SecondaryMap<Value, Option<Home>>,
}

/// The parts of a `Cat` by the value that they pick lanes of: its lanes to masks of lanes.
type Claims = SmallVec<[(Value, [u8; 4], u32); 4]>;

impl Homes {
    #[allow(clippy::too_many_arguments)] // the results of all earlier steps
    pub fn new(
        func: &Function<'_>,
        target: &Target,
        facts: &Facts,
        covers: &Covers,
        traces: &Traces,
        bindings: &Bindings<'_>,
        called: &Called<'_>,
        program: &mut Program,
    ) -> Homes {
        let mut builder = Builder {
            func,
            target,
            facts,
            covers,
            traces,
            called,
            demand: SecondaryMap::with_capacity(func.values.len()),
            homes: SecondaryMap::with_capacity(func.values.len()),
        };
        builder.find_demand();
        let mut stored = SecondaryMap::with_capacity(func.insts.len());
        let mut written: BTreeMap<Reg, u8> = BTreeMap::new();
        for &block in func.layout.iter().rev() {
            builder.claim_arguments(block);
            for &inst in func.blocks[block].insts.iter().rev() {
                let data = &func.insts[inst];
                if !facts.live[inst] || matches!(covers[inst], Cover::Dead | Cover::Alias | Cover::Folded) {
                    continue;
                }
                if let Imm::Out { var, elem, mask } = data.imm {
                    let reg = bindings.output(var, elem);
                    let seen = written.entry(reg).or_default();
                    stored[inst] = mask.0 & !*seen;
                    *seen |= mask.0;
                    builder.claim_output(data.args[0], reg, WriteMask(stored[inst]));
                } else if let Some(result) = data.result.expand() {
                    builder.own(result, program);
                    if data.op == Op::Cat {
                        builder.claim_parts(result);
                    }
                }
            }
            for &param in &func.blocks[block].params {
                builder.own(param, program);
            }
        }
        Homes { homes: builder.homes, stored }
    }

    /// The home of a computed value, if any lane of it is demanded.
    pub fn get(&self, value: Value) -> Option<Home> {
        self.homes[value]
    }
}

/// Whether lane i of a pattern's result depends on lanes i of its operands only.
fn is_lanewise(pattern: &Pattern) -> bool {
    let in_place = |l: &crate::isa::pattern::EmitLine| {
        matches!(l.op.kind(), Kind::Lanewise | Kind::Scalar) && l.srcs.iter().all(|s| s.lane.is_none())
    };
    pattern.emit.iter().all(in_place)
}

impl Builder<'_, '_, '_> {
    fn width(&self, value: Value) -> u8 {
        self.func.ty(value).lanes
    }

    fn read(&mut self, value: Value, lanes: u8) {
        let trace = self.traces.get(value);
        if let Base::Value(base) = trace.base {
            let demand = &mut self.demand[base];
            demand.reads += 1;
            for lane in WriteMask(lanes).lanes() {
                demand.lanes |= 1 << trace.lanes[lane as usize];
            }
        }
    }

    /// Counts readers and demanded lanes, readers before definitions.
    fn find_demand(&mut self) {
        for &block in self.func.layout.iter().rev() {
            if let Terminator::Branch { cond, .. } = self.func.blocks[block].term {
                self.read(cond, 1);
            }
            for call in self.func.successors(block) {
                for (&arg, &param) in call.args.iter().zip(&self.func.blocks[call.block].params) {
                    if self.facts.uses[param] > 0 {
                        self.read(arg, WriteMask::first(self.width(arg)).0);
                    }
                }
            }
            for &inst in self.func.blocks[block].insts.iter().rev() {
                if self.facts.live[inst] {
                    self.find_demand_of(inst);
                }
            }
        }
    }

    fn find_demand_of(&mut self, inst: Inst) {
        let data = &self.func.insts[inst];
        if data.op == Op::Cat {
            let Some(result) = data.result.expand() else { return };
            if self.traces.get(result).value() != Some(result) {
                return; // lanes of one register: nothing is gathered
            }
            let mut demanded = self.demand[result].lanes;
            for &part in data.args {
                let width = self.width(part);
                let lanes = demanded & WriteMask::first(width).0;
                demanded >>= width;
                if lanes != 0 {
                    self.read(part, lanes);
                }
            }
            return;
        }
        if data.op == Op::Call {
            let needed = self.called.args(self.func, data.imm);
            for (&value, lanes) in data.args.iter().zip(needed) {
                if lanes.0 != 0 {
                    self.read(value, lanes.0);
                }
            }
            return;
        }
        let unread = data.result.expand().is_some_and(|r| self.demand[r].lanes == 0);
        if unread && self.covers[inst] != Cover::Alias {
            return; // no code either
        }
        let lanewise = match &self.covers[inst] {
            Cover::Root { pattern, .. } => is_lanewise(&self.target.patterns[*pattern]),
            _ => false,
        };
        let result = data.result.expand();
        for &value in reads(self.func, self.covers, inst) {
            let all = WriteMask::first(self.width(value)).0;
            let lanes = match (result, data.imm) {
                (_, Imm::Out { mask, .. }) => mask.0,
                (Some(r), _) if lanewise && self.width(value) == self.width(r) => self.demand[r].lanes,
                _ => all,
            };
            self.read(value, lanes & all);
        }
        if let (Op::UniformAt | Op::InputAt, Cover::Alias) = (data.op, &self.covers[inst]) {
            self.read(data.args[0], 1); // read where its readers stand, and so is the address
        }
    }

    /// Whether code of its own computes `value`, so that it can write to any register.
    fn is_computed(&self, value: Value) -> bool {
        match def(self.func, value) {
            Some(inst) => matches!(self.covers[inst], Cover::Root { .. } | Cover::Special),
            None => true,
        }
    }

    /// Whether lane `i` of the value can only be written to lane `i` of a register.
    fn is_in_place(&self, value: Value) -> bool {
        def(self.func, value).is_some_and(|i| self.func.insts[i].op.shape() == Shape::Texture)
    }

    fn may_claim(&self, value: Value, lanes: [u8; 4]) -> bool {
        let demanded = WriteMask(self.demand[value].lanes);
        self.homes[value].is_none()
            && self.is_computed(value)
            && demanded.lanes().all(|l| lanes[l as usize] != NOWHERE)
            && (!self.is_in_place(value) || demanded.lanes().all(|l| lanes[l as usize] == 1 << l))
    }

    /// A register of its own for a value that has no home yet.
    fn own(&mut self, value: Value, program: &mut Program) {
        let demanded = WriteMask(self.demand[value].lanes);
        if demanded.0 == 0 || self.homes[value].is_some() || self.traces.get(value).value() != Some(value) {
            return;
        }
        let in_place = self.is_in_place(value);
        let mut lanes = [NOWHERE; 4];
        let mut next = 0;
        for lane in demanded.lanes() {
            let to = if in_place { lane } else { next };
            lanes[lane as usize] = 1 << to;
            next = to + 1;
        }
        self.homes[value] = Some(Home { reg: program.make_virtual(next), lanes });
    }

    /// A value that only this output needs is computed into it.
    fn claim_output(&mut self, value: Value, reg: Reg, mask: WriteMask) {
        let trace = self.traces.get(value);
        let Base::Value(base) = trace.base else { return };
        if !self.target.direct_outputs || !trace.is_plain() || self.demand[base].reads != 1 {
            return;
        }
        let lanes = invert(mask.lanes().map(|l| (trace.lanes[l as usize], 1 << l)));
        let all = mask.lanes().fold(0, |m, l| m | 1 << trace.lanes[l as usize]);
        // lanes of a dead store are demanded but have no place
        self.demand[base].lanes &= all;
        if !self.may_claim(base, lanes) {
            return;
        }
        if def(self.func, base).is_some_and(|i| self.func.insts[i].op == Op::Cat) {
            // a register of its own costs one MOV to the output; in the output, parts that others
            // read too cost one each
            let direct = self.left_over(base, Home { reg, lanes });
            let via = self.left_over(base, Home { reg: Reg::new(File::Virtual, 0), lanes });
            if direct > via + 1 {
                return;
            }
        }
        self.homes[base] = Some(Home { reg, lanes });
    }

    /// A value that only feeds a block parameter which lives in an output.
    fn claim_arguments(&mut self, block: Block) {
        let Terminator::Jump(call) = self.func.blocks[block].term else { return };
        for (&arg, &param) in call.args.iter().zip(&self.func.blocks[call.block].params) {
            let Some(home) = self.homes[param].filter(|h| h.reg.file == File::Output) else { continue };
            let trace = self.traces.get(arg);
            let Base::Value(base) = trace.base else { continue };
            let here = def(self.func, base).is_some_and(|i| self.facts.block[i] == Some(block));
            if !here || !trace.is_plain() || self.demand[base].reads != 1 {
                continue;
            }
            let width = self.width(arg);
            let pairs = (0..width).map(|l| (trace.lanes[l as usize], home.lanes[l as usize]));
            let lanes = invert(pairs);
            let all = (0..4).filter(|&l| lanes[l] != NOWHERE).fold(0, |m, l| m | 1 << l);
            self.demand[base].lanes &= all;
            if self.may_claim(base, lanes) {
                self.homes[base] = Some(Home { reg: home.reg, lanes });
            }
        }
    }

    /// What a `Cat` in `home` could take: for each value the lanes that it would have, and how many
    /// parts pick from it.
    fn claims(&self, cat: Value, home: Home) -> Claims {
        let mut claims = Claims::new();
        let ValueDef::Inst(inst) = self.func.values[cat].def else { return claims };
        let mut at = 0usize;
        for &part in self.func.insts[inst].args {
            let trace = self.traces.get(part);
            let width = self.width(part) as usize;
            let to = &home.lanes[at..at + width];
            at += width;
            let (Base::Value(base), true) = (trace.base, trace.is_plain()) else { continue };
            if to.iter().all(|&l| l == NOWHERE) {
                continue;
            }
            let index = claims.iter().position(|c| c.0 == base).unwrap_or_else(|| {
                claims.push((base, [NOWHERE; 4], 0));
                claims.len() - 1
            });
            claims[index].2 += 1;
            for (lane, &to) in to.iter().enumerate() {
                claims[index].1[trace.lanes[lane] as usize] |= to;
            }
        }
        claims
    }

    fn can_take(&self, home: Home, value: Value, lanes: [u8; 4], parts: u32) -> bool {
        // an output cannot be read back
        self.may_claim(value, lanes) && (home.reg.file != File::Output || self.demand[value].reads == parts)
    }

    /// How many computed parts of a `Cat` would need a MOV.
    fn left_over(&self, cat: Value, home: Home) -> usize {
        self.claims(cat, home).iter().filter(|(v, lanes, parts)| !self.can_take(home, *v, *lanes, *parts)).count()
    }

    fn claim_parts(&mut self, cat: Value) {
        let Some(home) = self.homes[cat] else { return };
        for (value, lanes, parts) in self.claims(cat, home) {
            if self.can_take(home, value, lanes, parts) {
                self.homes[value] = Some(Home { reg: home.reg, lanes });
            }
        }
    }
}

/// Turns pairs (lane of the value, mask of the register's lanes) into a table.
fn invert(pairs: impl Iterator<Item = (u8, u8)>) -> [u8; 4] {
    let mut lanes = [NOWHERE; 4];
    pairs.for_each(|(from, to)| lanes[from as usize] |= to);
    lanes
}
