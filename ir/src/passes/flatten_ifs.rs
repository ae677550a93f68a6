//! If-conversion: a branch whose sides are single blocks becomes straight code, and what differed
//! behind it a selection by the condition. Inner branches go first.
//!
//! ```text
//!   branch c, a, b, merge m         a's and b's instructions
//!   a: x = ..; jump m(x)       ->   z = cmp -c, x, y
//!   b: y = ..; jump m(y)            m's instructions
//!   m(z): ..
//! ```
//!
//! - Sides hold pure operations and loads; `kil` of a literal becomes `kil` of the negated condition,
//!   `kil x` of a side `kil` of a selection between x and 1.
//! - A branch is flattened when its smaller side costs no more than the branch itself, or as
//!   [`FlattenIfsOptions`](crate::pass::FlattenIfsOptions) says.
//! - A target without branches flattens all: also stores (each stores a selection between the new and
//!   the old value) and lookups with an implicit level, which otherwise never move out of their flow.

use crate::analysis::Cfg;
use crate::builder::{Builder, map_uses};
use crate::entity::{Block, Inst, Value};
use crate::func::{BlockCall, Function, Imm, InstData, Terminator};
use crate::op::{Effect, Form, Op};
use crate::pass::{PassCtx, PassError};
use crate::structure::restructure;
use crate::types::{Scalar, Type};
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;

/// Sides that cost more than this together stay branches, however the smaller one looks.
const MAX_SIDES: u32 = 24;

/// Flattens branches.
pub fn run(func: &mut Function<'_>, ctx: &PassCtx) -> Result<bool, PassError> {
    let always = !ctx.costs.has_branches;
    let mut changed = false;
    let mut preds = count_preds(func);
    let mut replaced: SecondaryMap<Value, PackedOption<Value>> = SecondaryMap::new();
    let mut rest = Rest::default();
    for index in (0..func.layout.len()).rev() {
        let head = func.layout[index];
        let Terminator::Branch { cond, then_call, else_call, merge: Some(merge) } = func.blocks[head].term else {
            continue;
        };
        let (Some(then), Some(other)) = (side(func, &preds, then_call, merge), side(func, &preds, else_call, merge))
        else {
            continue;
        };
        for block in [&then, &other].into_iter().filter_map(|side| side.block) {
            rest.join(func, block);
        }
        if !may_flatten(func, &then, &other, always) || !(always || pays(func, &then, &other, ctx)) {
            continue;
        }
        let cond = resolve(&replaced, cond);
        let args = flatten(func, head, cond, &then, &other, ctx);
        changed = true;
        preds[merge] -= 1;
        for side in [&then, &other] {
            if let Some(block) = side.block {
                preds[block] -= 1;
            }
        }
        if preds[merge] == 1 && func.blocks[merge].loop_merge.is_none() {
            // The rest of the code follows here, so that an outer branch sees one block.
            for (i, &param) in func.blocks[merge].params.iter().enumerate() {
                replaced[param] = args[i].into();
            }
            rest.follows(head, merge);
            func.blocks[head].term = func.blocks[merge].term;
            preds[merge] = 0;
        } else {
            func.blocks[head].term = Terminator::Jump(func.call(merge, &args));
        }
    }
    for index in 0..func.layout.len() {
        rest.join(func, func.layout[index]);
    }
    if changed {
        map_uses(func, |v| resolve(&replaced, v));
        restructure(func);
    }
    Ok(changed)
}

/// Code that belongs to a block but still stands in the blocks that were its merges. Heads are found
/// last first, so to move it at once would move the end of a long run of branches once for each.
#[derive(Default)]
struct Rest {
    next: SecondaryMap<Block, PackedOption<Block>>,
    last: SecondaryMap<Block, PackedOption<Block>>,
}

impl Rest {
    /// What stands in `merge`, and what follows there, comes behind all of `head`'s.
    fn follows(&mut self, head: Block, merge: Block) {
        let end = self.last[head].expand().unwrap_or(head);
        self.next[end] = merge.into();
        self.last[head] = self.last[merge].expand().unwrap_or(merge).into();
    }

    /// Moves all that belongs to the block into it.
    fn join(&mut self, func: &mut Function<'_>, block: Block) {
        self.last[block] = None.into();
        let mut at = self.next[block].take();
        while let Some(from) = at {
            let mut insts =
                std::mem::replace(&mut func.blocks[from].insts, bumpalo::collections::Vec::new_in(func.arena));
            func.blocks[block].insts.append(&mut insts);
            at = self.next[from].take();
        }
    }
}

fn resolve(replaced: &SecondaryMap<Value, PackedOption<Value>>, mut value: Value) -> Value {
    while let Some(next) = replaced[value].expand() {
        value = next;
    }
    value
}

fn count_preds(func: &Function<'_>) -> SecondaryMap<Block, u32> {
    let cfg = Cfg::new(func);
    let mut preds = SecondaryMap::new();
    for &block in &func.layout {
        preds[block] = cfg.preds(block).len() as u32;
        // The block behind a loop is also reached by the structure.
        if let Some(merge) = func.blocks[block].loop_merge {
            preds[merge] += 1;
        }
    }
    preds
}

/// One side of a branch: a block of its own, or the way straight to the merge.
struct Side<'a> {
    block: Option<Block>,
    args: &'a [Value],
}

fn side<'a>(
    func: &Function<'a>,
    preds: &SecondaryMap<Block, u32>,
    call: BlockCall<'a>,
    merge: Block,
) -> Option<Side<'a>> {
    if call.block == merge {
        return Some(Side { block: None, args: call.args });
    }
    let data = &func.blocks[call.block];
    match data.term {
        Terminator::Jump(next)
            if next.block == merge && preds[call.block] == 1 && data.params.is_empty() && data.loop_merge.is_none() =>
        {
            Some(Side { block: Some(call.block), args: next.args })
        }
        _ => None,
    }
}

fn insts<'f>(func: &'f Function<'_>, side: &Side<'_>) -> &'f [Inst] {
    side.block.map_or(&[], |b| &func.blocks[b].insts)
}

fn may_flatten(func: &Function<'_>, then: &Side<'_>, other: &Side<'_>, always: bool) -> bool {
    insts(func, then).iter().chain(insts(func, other)).all(|&inst| {
        let op = func.insts[inst].op;
        match op.effect() {
            Effect::Pure | Effect::Read => true,
            Effect::Implicit => always,
            Effect::Write => op == Op::Kil || (always && op == Op::Store),
        }
    })
}

/// Whether flattening is worth its slots.
fn pays(func: &Function<'_>, then: &Side<'_>, other: &Side<'_>, ctx: &PassCtx) -> bool {
    let slots = |side: &Side<'_>| -> u32 {
        insts(func, side).iter().fold(0u32, |sum, &inst| sum.saturating_add(op_slots(func.insts[inst].op, ctx)))
    };
    let (then_slots, other_slots) = (slots(then), slots(other));
    let both = then_slots.saturating_add(other_slots);
    if let Some(max) = ctx.options.flatten_ifs.max_slots {
        return both <= max;
    }
    let else_slots = if insts(func, other).is_empty() && then_slots > 0 { 0 } else { ctx.costs.else_ };
    then_slots.min(other_slots) <= ctx.costs.branch + else_slots && both <= MAX_SIDES
}

/// Slots of an operation; of the language's ones, about what they become.
fn op_slots(op: Op, ctx: &PassCtx) -> u32 {
    match op {
        Op::Mov => 0,
        Op::Div | Op::Sqrt | Op::Lrp | Op::Trunc => 2,
        Op::Pow | Op::Nrm | Op::Sign => 3,
        Op::Idiv => 6,
        op if op.form() == Form::Source => 1,
        op => ctx.costs.slots(op),
    }
}

/// Moves both sides to the end of `head` and selects; returns the merge's arguments.
fn flatten<'a>(
    func: &mut Function<'a>,
    head: Block,
    cond: Value,
    then: &Side<'a>,
    other: &Side<'a>,
    ctx: &PassCtx,
) -> Vec<Value> {
    let moved: Vec<(Inst, bool)> =
        insts(func, then).iter().map(|&i| (i, true)).chain(insts(func, other).iter().map(|&i| (i, false))).collect();
    for block in [then.block, other.block].into_iter().flatten() {
        func.blocks[block].insts.clear();
    }
    let mut select = Select::new(cond);
    for (inst, when) in moved {
        move_under(func, head, inst, Some((&mut select, when)), ctx);
    }
    let mut builder = Builder::at_end(func, head);
    then.args
        .iter()
        .zip(other.args)
        .map(|(&a, &b)| if a == b { a } else { select.pick(&mut builder, true, a, b) })
        .collect()
}

/// Moves an instruction to the end of `head`; an effect becomes a selection that does nothing when the
/// condition, if any, is not as given.
pub(super) fn move_under(
    func: &mut Function<'_>,
    head: Block,
    inst: Inst,
    under: Option<(&mut Select, bool)>,
    ctx: &PassCtx,
) {
    let data = func.insts[inst];
    let mut builder = Builder::at_end(func, head);
    builder.line = data.line;
    if let Some((select, when)) = under {
        match data.op {
            Op::Kil => {
                let value = select.kill(&mut builder, when, data.args[0], ctx);
                builder.func.set_args(inst, &[value]);
            }
            Op::Store => store_selection(&mut builder, select, inst, &data, when),
            _ => {}
        }
    }
    builder.insert(inst);
}

/// The stored value becomes the old one when the condition is not `when`.
fn store_selection(builder: &mut Builder<'_, '_>, select: &mut Select, inst: Inst, data: &InstData<'_>, when: bool) {
    let Some((&value, index)) = data.args.split_last() else { return };
    let ty = builder.func.ty(value);
    let old = builder.typed(Op::Load, data.imm, index, ty);
    let chosen = select.pick(builder, when, value, old);
    let mut args = index.to_vec();
    args.push(chosen);
    builder.func.set_args(inst, &args);
}

/// Selections by one condition.
pub(super) struct Select {
    cond: Value,
    /// By width: the value that is below 0 when the condition holds (lowered types only).
    negated: [Option<Value>; 5],
}

impl Select {
    /// By a condition.
    pub(super) fn new(cond: Value) -> Select {
        Select { cond, negated: [None; 5] }
    }

    /// What is below 0 when the condition is `when` and `operand` is.
    fn kill(&mut self, builder: &mut Builder<'_, '_>, when: bool, operand: Value, ctx: &PassCtx) -> Value {
        let kills = builder.func.literal(operand).is_some_and(|l| l.lanes().any(|v| v < 0.0));
        // where equality is several instructions, a selection by the difference is fewer
        let equality = matches!(builder.func.def_inst(self.cond).map(|d| d.op), Some(Op::Seq | Op::Sne));
        let dear = equality && ctx.costs.slots(Op::Seq) > ctx.costs.slots(Op::Slt);
        if !(kills && when) || dear {
            let one = builder.splat_const(builder.func.ty(operand), 1.0);
            return self.pick(builder, when, operand, one);
        }
        if let Some(difference) = self.difference(builder, ctx) {
            return difference;
        }
        let truth = match (builder.func.ty(self.cond).scalar, is_truth(builder.func, self.cond)) {
            (Scalar::Float, true) => self.cond,
            (Scalar::Float, false) => builder.op(Op::Abs, &[self.cond]),
            _ => builder.typed(Op::Mov, Imm::None, &[self.cond], Type::FLOAT),
        };
        builder.op(Op::Neg, &[truth])
    }

    /// Where comparing costs more than subtracting: `a - b`, which is below 0 when `a < b`.
    fn difference(&self, builder: &mut Builder<'_, '_>, ctx: &PassCtx) -> Option<Value> {
        let data = *builder.func.def_inst(self.cond).filter(|d| d.op == Op::Slt)?;
        let float = data.args.iter().all(|&a| builder.func.ty(a) == Type::FLOAT);
        if !float || ctx.costs.slots(Op::Slt) <= ctx.costs.slots(Op::Add) {
            return None;
        }
        let minus = builder.op(Op::Neg, &[data.args[1]]);
        Some(builder.op(Op::Add, &[data.args[0], minus]))
    }

    /// `a` when the condition is `when`, else `b`.
    pub(super) fn pick(&mut self, builder: &mut Builder<'_, '_>, when: bool, a: Value, b: Value) -> Value {
        let (a, b) = if when { (a, b) } else { (b, a) };
        let ty = builder.func.ty(a);
        if builder.func.ty(self.cond).scalar != Scalar::Float {
            return builder.typed(Op::Select, Imm::None, &[self.cond, a, b], ty);
        }
        let negated = match self.negated[ty.lanes as usize] {
            Some(value) => value,
            None => {
                let size =
                    if is_truth(builder.func, self.cond) { self.cond } else { builder.op(Op::Abs, &[self.cond]) };
                let minus = builder.op(Op::Neg, &[size]);
                builder.splat(minus, ty.lanes)
            }
        };
        self.negated[ty.lanes as usize] = Some(negated);
        builder.typed(Op::Cmp, Imm::None, &[negated, a, b], ty)
    }
}

/// Whether a float value is known to be 0 or 1 (a branch takes anything but 0 as true).
fn is_truth(func: &Function<'_>, value: Value) -> bool {
    let mut work = vec![value];
    for _ in 0..32 {
        let Some(value) = work.pop() else { return true };
        let Some(data) = func.def_inst(value) else { return false };
        match data.op {
            Op::Slt | Op::Sge | Op::Seq | Op::Sne => {}
            Op::Mul | Op::Min | Op::Max | Op::Swz | Op::Cat => work.extend_from_slice(data.args),
            Op::Const => {
                if func.literal(value).is_none_or(|l| l.lanes().any(|v| v != 0.0 && v != 1.0)) {
                    return false;
                }
            }
            Op::Uniform | Op::UniformAt | Op::Input | Op::InputAt => match data.imm {
                Imm::Elem { var, .. } if func.vars[var].ty.scalar == Scalar::Bool => {}
                _ => return false,
            },
            _ => return false,
        }
    }
    false
}
