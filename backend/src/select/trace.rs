//! What each value is: lanes of something that has a place, with modifiers.

use super::Facts;
use super::cover::{Cover, Covers};
use cranelift_entity::SecondaryMap;
use ir::entity::{Inst, Value, Var};
use ir::func::{Function, Imm, ValueDef};
use ir::op::Op;

/// The thing whose lanes a value picks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Base {
    /// A value that code computes into a register (its home), or a block parameter.
    Value(Value),
    /// A uniform's element.
    Uniform(Var, u32),
    /// An input's element.
    Input(Var, u32),
    /// A uniform or input read through the address register at each use.
    Indexed(Inst),
    /// Bits; modifiers are folded in and lanes are in order.
    Literal([u32; 4]),
    /// Anything.
    Undef,
}

/// Lanes of a base, negated after the absolute value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Trace {
    pub base: Base,
    /// Lane of the base for each lane of the value; entries past its width repeat the last.
    pub lanes: [u8; 4],
    pub neg: bool,
    pub abs: bool,
}

impl Trace {
    fn whole(base: Base) -> Trace {
        Trace { base, lanes: [0, 1, 2, 3], neg: false, abs: false }
    }

    /// Whether it is lanes and nothing else.
    pub fn is_plain(&self) -> bool {
        !self.neg && !self.abs
    }

    /// The computed value it picks lanes of.
    pub fn value(&self) -> Option<Value> {
        match self.base {
            Base::Value(value) => Some(value),
            _ => None,
        }
    }

    fn picked(self, lanes: &[u8]) -> Trace {
        let pick = |i: usize| lanes[i.min(lanes.len() - 1)];
        let by = [pick(0), pick(1), pick(2), pick(3)];
        match self.base {
            Base::Literal(bits) => Trace::whole(Base::Literal(by.map(|l| bits[l as usize]))),
            _ => Trace { lanes: by.map(|l| self.lanes[l as usize]), ..self },
        }
    }

    fn modified(self, neg: bool, abs: bool) -> Trace {
        match self.base {
            Base::Literal(bits) => {
                let bits = bits.map(|b| if abs { b & 0x7fff_ffff } else { b });
                Trace::whole(Base::Literal(bits.map(|b| if neg { b ^ 0x8000_0000 } else { b })))
            }
            _ if abs => Trace { neg, abs: true, ..self },
            _ => Trace { neg: self.neg ^ neg, ..self },
        }
    }
}

/// The traces of all values that live code reads.
pub(crate) struct Traces(SecondaryMap<Value, Option<Trace>>);

impl Traces {
    pub fn new(func: &Function<'_>, facts: &Facts, covers: &Covers) -> Traces {
        let mut traces = Traces(SecondaryMap::with_capacity(func.values.len()));
        // definitions come before their readers in the layout's order
        for &block in &func.layout {
            for &param in &func.blocks[block].params {
                traces.0[param] = Some(Trace::whole(Base::Value(param)).width(func, param));
            }
            for &inst in &func.blocks[block].insts {
                if let Some(result) = func.insts[inst].result.expand().filter(|_| facts.live[inst]) {
                    let trace = traces.of_inst(func, covers, inst, result);
                    traces.0[result] = Some(trace.width(func, result));
                }
            }
        }
        traces
    }

    /// What `value` is.
    pub fn get(&self, value: Value) -> Trace {
        self.0[value].unwrap_or(Trace::whole(Base::Undef))
    }

    fn of_inst(&self, func: &Function<'_>, covers: &Covers, inst: Inst, result: Value) -> Trace {
        let data = &func.insts[inst];
        let own = Trace::whole(Base::Value(result));
        if data.op == Op::Cat {
            return self.of_cat(func, data.args).unwrap_or(own);
        }
        if covers[inst] != Cover::Alias {
            return own;
        }
        match (data.op, data.imm) {
            (Op::Swz, Imm::Swz(swz)) => self.get(data.args[0]).picked(swz.lanes()),
            (Op::Neg, _) => self.get(data.args[0]).modified(true, false),
            (Op::Abs, _) => self.get(data.args[0]).modified(false, true),
            (Op::Mov, _) => self.get(data.args[0]),
            (Op::Const, Imm::Lit(literal)) => Trace::whole(Base::Literal(literal.bits)),
            (Op::Uniform, Imm::Elem { var, elem }) => Trace::whole(Base::Uniform(var, elem)),
            (Op::Input, Imm::Elem { var, elem }) => Trace::whole(Base::Input(var, elem)),
            (Op::UniformAt | Op::InputAt, _) => Trace::whole(Base::Indexed(inst)),
            (Op::Undef, _) => Trace::whole(Base::Undef),
            _ => own,
        }
    }

    /// A gather of lanes that already stand in one register.
    fn of_cat(&self, func: &Function<'_>, parts: &[Value]) -> Option<Trace> {
        let mut lanes: Vec<(Trace, u8)> = Vec::with_capacity(4);
        for &part in parts {
            let trace = self.get(part);
            lanes.extend((0..func.ty(part).lanes).map(|i| (trace, i)));
        }
        let known: Vec<&Trace> = lanes.iter().map(|(t, _)| t).filter(|t| t.base != Base::Undef).collect();
        let Some(first) = known.first() else { return Some(Trace::whole(Base::Undef)) };
        if known.iter().all(|t| matches!(t.base, Base::Literal(_))) {
            let mut bits = [0; 4];
            for (to, (trace, lane)) in bits.iter_mut().zip(&lanes) {
                if let Base::Literal(from) = trace.base {
                    *to = from[*lane as usize];
                }
            }
            return Some(Trace::whole(Base::Literal(bits)));
        }
        let same = known.iter().all(|t| (t.base, t.neg, t.abs) == (first.base, first.neg, first.abs));
        if !same || matches!(first.base, Base::Literal(_)) {
            return None;
        }
        let mut all = **first;
        let filler = first.lanes[0];
        for (to, (trace, lane)) in all.lanes.iter_mut().zip(&lanes) {
            *to = if trace.base == Base::Undef { filler } else { trace.lanes[*lane as usize] };
        }
        Some(all)
    }
}

impl Trace {
    /// Repeats the last lane past the value's width.
    fn width(mut self, func: &Function<'_>, value: Value) -> Trace {
        let width = func.ty(value).lanes as usize;
        if let Base::Literal(bits) = &mut self.base {
            for i in width..4 {
                bits[i] = bits[width - 1];
            }
        } else {
            for i in width..4 {
                self.lanes[i] = self.lanes[width - 1];
            }
        }
        self
    }
}

/// The values that the code of an instruction reads (none for aliases and what is folded).
pub(crate) fn reads<'s>(func: &'s Function<'_>, covers: &'s Covers, inst: Inst) -> &'s [Value] {
    match &covers[inst] {
        Cover::Root { args, .. } => args,
        Cover::Special => func.insts[inst].args,
        Cover::Dead | Cover::Alias | Cover::Folded => &[],
    }
}

/// The instruction that defines a value.
pub(crate) fn def(func: &Function<'_>, value: Value) -> Option<Inst> {
    match func.values[value].def {
        ValueDef::Inst(inst) => Some(inst),
        ValueDef::Param(..) => None,
    }
}
