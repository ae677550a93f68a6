//! Scalar replacement of arrays. In comes a function with arrays in memory, out comes one in which
//!
//! 1. an index that is a literal is part of the immediate (an element outside reads as 0, a store to
//!    it is dropped), for local arrays, uniforms, inputs and arrays of samplers;
//! 2. a local array that is only stored to is gone;
//! 3. a local array of which no index is dynamic is one SSA value an element.
//!
//! Values of elements are looked up as in [`crate::ssa`], with a work list; a construct without a
//! store to the element is stepped over by way of the dominator tree. Memory starts as 0.

use crate::analysis::{Cfg, DomTree};
use crate::builder::Replacements;
use crate::cursor::{Rewrite, rewrite_blocks};
use crate::entity::{Block, Inst, Value, Var};
use crate::func::{Function, Imm, Terminator};
use crate::limits::Limits;
use crate::op::Op;
use crate::pass::{PassCtx, PassError};
use crate::types::{Literal, Type};
use cranelift_entity::SecondaryMap;
use rustc_hash::{FxHashMap, FxHashSet};

/// Replaces arrays by values.
pub fn run(func: &mut Function<'_>, ctx: &PassCtx) -> Result<bool, PassError> {
    let mut changed = fold_indices(func);
    let (mut loaded, mut dynamic, mut touched) = (FxHashSet::default(), FxHashSet::default(), Vec::new());
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            let data = &func.insts[inst];
            let (Op::Load | Op::Store, Imm::Elem { var, .. }) = (data.op, data.imm) else { continue };
            touched.push(var);
            if data.op == Op::Load {
                loaded.insert(var);
            }
            if data.args.len() > usize::from(data.op == Op::Store) {
                dynamic.insert(var);
            }
        }
    }
    let unread: FxHashSet<Var> = touched.iter().copied().filter(|&v| !loaded.contains(&v)).collect();
    let replaceable: FxHashSet<Var> =
        touched.iter().copied().filter(|&v| loaded.contains(&v) && !dynamic.contains(&v)).collect();
    if touched.iter().any(|&v| replaceable.contains(&v)) {
        Elements::new(func, &replaceable, ctx.limits).replace(func)?;
        changed = true;
    }
    if touched.iter().any(|&v| unread.contains(&v)) {
        changed = true;
        rewrite_blocks(func, |builder, inst| match builder.func.insts[inst] {
            data if data.op == Op::Store && named(data.imm).is_some_and(|v| unread.contains(&v)) => Rewrite::Remove,
            _ => Rewrite::Keep,
        });
    }
    Ok(changed)
}

fn named(imm: Imm) -> Option<Var> {
    match imm {
        Imm::Elem { var, .. } => Some(var),
        _ => None,
    }
}

/// Step 1.
fn fold_indices(func: &mut Function<'_>) -> bool {
    let mut changed = false;
    let mut replaced = Replacements::new();
    rewrite_blocks(func, |builder, inst| {
        let data = builder.func.insts[inst];
        let (index_at, var, elem) = match (data.op, data.imm) {
            (Op::Load | Op::InputAt | Op::UniformAt, Imm::Elem { var, elem }) if data.args.len() == 1 => (0, var, elem),
            (Op::Store, Imm::Elem { var, elem }) if data.args.len() == 2 => (0, var, elem),
            (_, Imm::Tex { sampler, elem, indexed: true, .. }) => (data.args.len() - 1, sampler, elem),
            _ => return Rewrite::Keep,
        };
        let Some(index) = builder.func.literal(data.args[index_at]) else { return Rewrite::Keep };
        changed = true;
        let at = crate::env::element(elem, index.lane(0), builder.func.vars[var].elems);
        let Some(elem) = at else {
            if let Some(result) = data.result.expand() {
                let zero = builder.splat_const(builder.func.ty(result), 0.0);
                replaced.set(result, zero);
            }
            return Rewrite::Remove;
        };
        let args: Vec<Value> = data.args.iter().enumerate().filter(|&(i, _)| i != index_at).map(|(_, &a)| a).collect();
        builder.func.set_args(inst, &args);
        let fixed = &mut builder.func.insts[inst];
        fixed.op = match data.op {
            Op::InputAt => Op::Input,
            Op::UniformAt => Op::Uniform,
            op => op,
        };
        fixed.imm = match data.imm {
            Imm::Tex { sampler, dim, shadow, .. } => Imm::Tex { sampler, elem, indexed: false, dim, shadow },
            _ => Imm::Elem { var, elem },
        };
        Rewrite::Keep
    });
    replaced.apply(func);
    changed
}

/// An element of an array.
type Slot = (Var, u32);

/// Values of elements.
struct Elements {
    cfg: Cfg,
    doms: DomTree,
    /// Place of each block in the layout, and the end of the loop that starts there.
    places: SecondaryMap<Block, usize>,
    loop_ends: FxHashMap<Block, usize>,
    /// Places of the blocks that store to a slot, ascending.
    stores: FxHashMap<Slot, Vec<usize>>,
    /// By block: what it stores last, and what a slot is at its start.
    ends: FxHashMap<(Block, Slot), Value>,
    starts: FxHashMap<(Block, Slot), Value>,
    replaceable: FxHashSet<Var>,
    /// Of the values: float where types are lowered.
    types: FxHashMap<Var, Type>,
    /// New parameters, by number in `arguments`, that have no arguments yet.
    pending: Vec<(Block, Slot, usize)>,
    /// For each new parameter of a block one argument a predecessor.
    arguments: FxHashMap<Block, Vec<Vec<Value>>>,
    zeros: Vec<Inst>,
    zero_of: FxHashMap<Var, Value>,
    /// Blocks visited by lookups.
    steps: usize,
    limits: Limits,
}

impl Elements {
    fn new(func: &Function<'_>, replaceable: &FxHashSet<Var>, limits: Limits) -> Elements {
        let cfg = Cfg::new(func);
        let doms = DomTree::new(func, &cfg);
        let mut elements = Elements {
            cfg,
            doms,
            places: SecondaryMap::new(),
            loop_ends: FxHashMap::default(),
            stores: FxHashMap::default(),
            ends: FxHashMap::default(),
            starts: FxHashMap::default(),
            replaceable: replaceable.clone(),
            pending: Vec::new(),
            arguments: FxHashMap::default(),
            zeros: Vec::new(),
            zero_of: FxHashMap::default(),
            types: FxHashMap::default(),
            steps: 0,
            limits,
        };
        for (place, &block) in func.layout.iter().enumerate() {
            elements.places[block] = place;
            for &inst in &func.blocks[block].insts {
                let data = &func.insts[inst];
                let Some(slot) = elements.slot(data.imm) else { continue };
                let value = data.result.expand().or(data.args.first().copied());
                if let (Op::Load | Op::Store, Some(value)) = (data.op, value) {
                    elements.types.insert(slot.0, func.ty(value));
                }
                if data.op == Op::Store {
                    let places = elements.stores.entry(slot).or_default();
                    if places.last() != Some(&place) {
                        places.push(place);
                    }
                    elements.ends.insert((block, slot), data.args[0]);
                }
            }
        }
        for &block in &func.layout {
            if let Some(merge) = func.blocks[block].loop_merge {
                elements.loop_ends.insert(block, elements.places[merge]);
            }
        }
        elements
    }

    fn slot(&self, imm: Imm) -> Option<Slot> {
        match imm {
            Imm::Elem { var, elem } if self.replaceable.contains(&var) => Some((var, elem)),
            _ => None,
        }
    }

    /// Steps 3: replaces loads, drops stores, passes arguments.
    fn replace(mut self, func: &mut Function<'_>) -> Result<(), PassError> {
        let mut replaced = Replacements::new();
        for index in 0..func.layout.len() {
            let block = func.layout[index];
            let mut here: FxHashMap<Slot, Value> = FxHashMap::default();
            let insts: Vec<Inst> = func.blocks[block].insts.to_vec();
            for inst in insts {
                let data = func.insts[inst];
                let Some(slot) = self.slot(data.imm) else { continue };
                match (data.op, data.result.expand()) {
                    (Op::Store, _) => {
                        here.insert(slot, data.args[0]);
                    }
                    (Op::Load, Some(result)) => {
                        let value = match here.get(&slot) {
                            Some(&value) => value,
                            None => self.start(func, slot, block)?,
                        };
                        replaced.set(result, value);
                    }
                    _ => {}
                }
            }
        }
        self.pass_arguments(func);
        let entry = func.entry();
        for (at, &zero) in self.zeros.iter().enumerate() {
            func.blocks[entry].insts.insert(at, zero);
        }
        rewrite_blocks(func, |builder, inst| {
            let data = builder.func.insts[inst];
            let gone = matches!(data.op, Op::Load | Op::Store) && self.slot(data.imm).is_some();
            if gone { Rewrite::Remove } else { Rewrite::Keep }
        });
        replaced.apply(func);
        Ok(())
    }

    /// What a slot is at the start of a block.
    fn start(&mut self, func: &mut Function<'_>, slot: Slot, block: Block) -> Result<Value, PassError> {
        let value = self.lookup(func, slot, block, false);
        while let Some((block, slot, number)) = self.pending.pop() {
            if self.steps > self.limits.lookups {
                return Err(PassError::Limit(self.limits.exceeded("lookups")));
            }
            let preds = self.cfg.preds(block).to_vec();
            let args = preds.into_iter().map(|p| self.lookup(func, slot, p, true)).collect();
            if let Some(params) = self.arguments.get_mut(&block) {
                params[number] = args;
            }
        }
        Ok(value)
    }

    /// What a slot is at the start or end of a block; parameters that are new go to `pending`.
    fn lookup(&mut self, func: &mut Function<'_>, slot: Slot, block: Block, at_end: bool) -> Value {
        let (mut block, mut at_end) = (block, at_end);
        let mut way = Vec::new();
        let value = loop {
            if at_end && let Some(&value) = self.ends.get(&(block, slot)) {
                break value;
            }
            if let Some(&value) = self.starts.get(&(block, slot)) {
                break value;
            }
            way.push(block);
            self.steps += 1;
            at_end = true;
            let Some(idom) = self.doms.idom(block) else { break self.zero(func, slot.0) };
            if !self.stored_between(slot, idom, block) {
                block = idom;
                continue;
            }
            match self.cfg.preds(block) {
                [] => break self.zero(func, slot.0),
                [pred] => block = *pred,
                _ => {
                    let value = func.add_param(block, self.types[&slot.0]);
                    let params = self.arguments.entry(block).or_default();
                    self.pending.push((block, slot, params.len()));
                    params.push(Vec::new());
                    break value;
                }
            }
        };
        for block in way {
            self.starts.insert((block, slot), value);
        }
        value
    }

    /// Whether a way from the end of `idom` to the start of `block` may store to the slot.
    fn stored_between(&self, slot: Slot, idom: Block, block: Block) -> bool {
        let Some(stores) = self.stores.get(&slot) else { return false };
        let (from, to) = (self.places[idom] + 1, self.places[block]);
        // A header is reached from its loop, which stands behind it.
        let to = self.loop_ends.get(&block).map_or(to, |&end| end.max(to));
        let next = stores.partition_point(|&place| place < from);
        stores.get(next).is_some_and(|&place| place < to)
    }

    fn zero(&mut self, func: &mut Function<'_>, var: Var) -> Value {
        if let Some(&value) = self.zero_of.get(&var) {
            return value;
        }
        let ty = self.types[&var];
        let inst = func.make_inst(Op::Const, Imm::Lit(Literal::splat(ty, 0.0)), &[], Some(ty), 0);
        self.zeros.push(inst);
        let Some(value) = func.insts[inst].result.expand() else { unreachable!("made with a type") };
        self.zero_of.insert(var, value);
        value
    }

    fn pass_arguments(&mut self, func: &mut Function<'_>) {
        for index in 0..func.layout.len() {
            let block = func.layout[index];
            let Some(params) = self.arguments.get(&block) else { continue };
            let preds = self.cfg.preds(block);
            for (i, &pred) in preds.iter().enumerate() {
                if preds[..i].contains(&pred) {
                    continue; // both sides of a branch: done with the first
                }
                let more: Vec<Value> = params.iter().map(|args| args[i]).collect();
                let arena = func.arena;
                let extended = |old: &[Value]| -> Vec<Value> { old.iter().chain(&more).copied().collect() };
                match &mut func.blocks[pred].term {
                    Terminator::Jump(call) => call.args = arena.alloc_slice_copy(&extended(call.args)),
                    Terminator::Branch { then_call, else_call, .. } => {
                        for call in [then_call, else_call] {
                            if call.block == block {
                                call.args = arena.alloc_slice_copy(&extended(call.args));
                            }
                        }
                    }
                    Terminator::None | Terminator::Return => {}
                }
            }
        }
    }
}
