//! Loop unrolling by running the loop's control through the evaluator. A loop whose every turn ends,
//! for certain, either at the header or behind the loop, becomes the sequence of its turns, with
//! what is known folded on the way. Innermost loops go first; a loop whose bound depends on an outer
//! counter follows when the outer one is gone.
//!
//! ```text
//!   h(i = 0): c = slt i, 2      branch c, body, out      body: .. jump h(i + 1)     out: jump m
//!   becomes   [turn i = 0] [turn i = 1] [leave] jump m
//! ```
//!
//! A loop stays when a turn's end depends on what is not known, when it takes more turns than
//! [`UnrollOptions::max_trips`](crate::pass::UnrollOptions), or would become larger than `max_insts`.
//! With `exits` a turn may also leave the loop where it is not known whether it does; its turns then
//! stand in a loop without a way back, whose merge gets the values that are used behind it.

use crate::analysis::{Cfg, Loops};
use crate::builder::Replacements;
use crate::entity::{Block, Value};
use crate::eval;
use crate::func::{BlockCall, Function, Imm, InstData, Terminator};
use crate::lanes::trace;
use crate::op::{Op, Shape};
use crate::pass::{PassCtx, PassError};
use crate::structure::restructure;
use crate::types::Literal;
use cranelift_entity::SecondaryMap;
use rustc_hash::{FxHashMap, FxHashSet};

/// Unrolls what it can.
pub fn run(func: &mut Function<'_>, ctx: &PassCtx) -> Result<bool, PassError> {
    let mut changed = false;
    let mut refused: FxHashSet<Block> = FxHashSet::default();
    for _ in 0..ctx.limits.rounds {
        let mut round = Round::new(func);
        let mut headers = round.loops.headers().to_vec();
        headers.sort_by_key(|&h| std::cmp::Reverse(round.loops.depth(h)));
        for header in headers {
            if refused.contains(&header) || round.is_stale(func, header) {
                continue;
            }
            if unroll_loop(func, ctx, &mut round, header) {
                round.done.insert(header);
                let mut around = round.loops.parent(header);
                while let Some(outer) = around
                    && round.touched.insert(outer)
                {
                    around = round.loops.parent(outer);
                }
            } else {
                refused.insert(header);
            }
        }
        if round.done.is_empty() {
            break;
        }
        // An outer loop that was refused may have got known bounds inside by now.
        refused.retain(|h| !round.touched.contains(h));
        changed = true;
        round.finish(func);
        if func.inst_count() > ctx.limits.ssa {
            return Err(PassError::Limit(ctx.limits.exceeded("ssa-instructions")));
        }
    }
    Ok(changed)
}

/// Loops that are not inside each other are unrolled on facts gathered once; layout and uses change
/// at the end of the round.
struct Round {
    cfg: Cfg,
    loops: Loops,
    /// Where each block stands in the layout.
    places: SecondaryMap<Block, usize>,
    /// Headers of unrolled loops.
    done: FxHashSet<Block>,
    /// Headers of the loops around them.
    touched: FxHashSet<Block>,
    /// First place, number of blocks, and what stands there instead.
    splices: Vec<(usize, usize, Vec<Block>)>,
    /// What stands for the values of unrolled loops behind them.
    replaced: Replacements,
}

impl Round {
    fn new(func: &Function<'_>) -> Round {
        let mut places = SecondaryMap::with_capacity(func.blocks.len());
        for (place, &block) in func.layout.iter().enumerate() {
            places[block] = place;
        }
        Round {
            cfg: Cfg::new(func),
            loops: Loops::new(func),
            places,
            done: FxHashSet::default(),
            touched: FxHashSet::default(),
            splices: Vec::new(),
            replaced: Replacements::new(),
        }
    }

    /// Whether a loop is in, around, or joined to one that was unrolled in this round; outer loops
    /// copy inner ones that stay, so those come again as new loops.
    fn is_stale(&self, func: &Function<'_>, header: Block) -> bool {
        let in_done = |block: Block| {
            let mut around = self.loops.innermost(block);
            while let Some(outer) = around {
                if self.done.contains(&outer) {
                    return true;
                }
                around = self.loops.parent(outer);
            }
            false
        };
        let exit_gone = func.blocks[header].loop_merge.is_some_and(|exit| self.done.contains(&exit));
        self.touched.contains(&header)
            || exit_gone
            || in_done(header)
            || self.cfg.preds(header).iter().any(|&p| in_done(p))
    }

    fn finish(mut self, func: &mut Function<'_>) {
        self.splices.sort_by_key(|s| std::cmp::Reverse(s.0));
        for (start, count, copies) in self.splices {
            func.layout.splice(start..start + count, copies);
        }
        restructure(func);
        self.replaced.apply(func);
    }
}

/// What a value of the loop is in the turn being made.
struct Turn<'r> {
    values: FxHashMap<Value, Value>,
    blocks: FxHashMap<Block, Block>,
    /// For values of loops before this one.
    replaced: &'r Replacements,
}

impl Turn<'_> {
    fn value(&self, value: Value) -> Value {
        self.values.get(&value).copied().unwrap_or_else(|| self.replaced.get(value))
    }
}

/// Where a turn goes on.
#[derive(Default)]
struct Ends {
    /// From which block to the next turn, and with what.
    header: Option<(Block, Vec<Value>)>,
    /// How many ways lead behind the loop.
    exits: usize,
}

/// Copies turn after turn; on success the loop's blocks are no longer reached.
fn unroll_loop(func: &mut Function<'_>, ctx: &PassCtx, round: &mut Round, header: Block) -> bool {
    let Some(exit) = func.blocks[header].loop_merge else { return false };
    let (cfg, loops, start) = (&round.cfg, &round.loops, round.places[header]);
    let inside: Vec<Block> = func.layout[start..].iter().copied().take_while(|&b| loops.contains(header, b)).collect();
    let inner: Vec<Block> =
        inside.iter().copied().filter(|&b| b != header && func.blocks[b].loop_merge.is_some()).collect();
    let outside: Vec<Block> = cfg.preds(header).iter().copied().filter(|&p| !loops.contains(header, p)).collect();
    let [before] = outside[..] else { return false };
    if ctx.options.unroll.exits && cfg.preds(header).len() == 1 {
        return false; // it was unrolled
    }
    let Some(entry) = func.successors(before).find(|c| c.block == header) else { return false };

    let mut args: Vec<Value> = entry.args.iter().map(|&a| round.replaced.get(a)).collect();
    let mut copies: Vec<Block> = Vec::new();
    let mut previous: Option<Block> = None;
    let mut budget = ctx.options.unroll.max_insts;
    let escaping = if ctx.options.unroll.exits { escaping(func, &inside) } else { Vec::new() };
    let shape = Inside { blocks: &inside, inner: &inner, exit, escaping: &escaping };
    let mut exits = 0;
    for _ in 0..=ctx.options.unroll.max_trips {
        let mut turn = Turn { values: FxHashMap::default(), blocks: FxHashMap::default(), replaced: &round.replaced };
        for (&param, &arg) in func.blocks[header].params.iter().zip(&args) {
            turn.values.insert(param, arg);
        }
        let Some(ends) = copy_turn(func, ctx, &shape, &mut turn, &mut budget) else { return false };
        exits += ends.exits;
        let copy = turn.blocks[&header];
        copies.extend(inside.iter().filter_map(|b| turn.blocks.get(b)));
        if let Some(previous) = previous {
            func.blocks[previous].term = Terminator::Jump(func.call(copy, &[]));
        }
        if let Some((block, next)) = ends.header {
            previous = Some(block);
            args = next;
            continue;
        }
        let mut first = copies[0];
        if ctx.options.unroll.exits {
            for &value in &escaping {
                let ty = func.ty(value);
                let param = func.add_param(exit, ty);
                round.replaced.set(value, param);
            }
            if exits > 1 {
                first = func.make_block();
                func.blocks[first].loop_merge = Some(exit);
                func.blocks[first].term = Terminator::Jump(func.call(copies[0], &[]));
                copies.insert(0, first);
            }
        } else {
            let mut last: Vec<(Value, Value)> = turn.values.into_iter().collect();
            last.sort();
            // What follows sees the values of the last turn.
            last.into_iter().for_each(|(old, new)| round.replaced.set(old, new));
        }
        redirect(func, before, header, first);
        round.splices.push((start, inside.len(), copies));
        return true;
    }
    false
}

/// The loop that is unrolled.
struct Inside<'i> {
    /// Its blocks in order, the header first.
    blocks: &'i [Block],
    /// Headers of loops in it.
    inner: &'i [Block],
    exit: Block,
    /// What the exit gets beside its own parameters.
    escaping: &'i [Value],
}

/// The values of a loop that are used behind it other than by jumps from it.
fn escaping(func: &Function<'_>, inside: &[Block]) -> Vec<Value> {
    let mut own: FxHashSet<Value> = FxHashSet::default();
    for &block in inside {
        own.extend(func.blocks[block].params.iter());
        own.extend(func.blocks[block].insts.iter().filter_map(|&i| func.insts[i].result.expand()));
    }
    let inside: FxHashSet<Block> = inside.iter().copied().collect();
    let mut used: Vec<Value> = Vec::new();
    for &block in func.layout.iter().filter(|b| !inside.contains(b)) {
        let data = &func.blocks[block];
        used.extend(data.insts.iter().flat_map(|&i| func.insts[i].args.iter().copied()));
        used.extend(func.successors(block).flat_map(|call| call.args.iter().copied()));
        if let Terminator::Branch { cond, .. } = data.term {
            used.push(cond);
        }
    }
    used.retain(|v| own.contains(v));
    used.sort();
    used.dedup();
    used
}

/// The jump from `before` goes to `to` instead of the header.
fn redirect(func: &mut Function<'_>, before: Block, header: Block, to: Block) {
    let call = func.call(to, &[]);
    match &mut func.blocks[before].term {
        Terminator::Jump(old) => *old = call,
        Terminator::Branch { then_call, else_call, .. } => {
            for old in [then_call, else_call] {
                if old.block == header {
                    *old = call;
                }
            }
        }
        Terminator::None | Terminator::Return => {}
    }
}

/// Copies what this turn reaches; `None` when its end is not known or the budget is used up.
fn copy_turn(
    func: &mut Function<'_>,
    ctx: &PassCtx,
    shape: &Inside<'_>,
    turn: &mut Turn<'_>,
    budget: &mut usize,
) -> Option<Ends> {
    let &Inside { blocks: inside, inner, exit, escaping } = shape;
    let header = inside[0];
    let mut reached: FxHashSet<Block> = FxHashSet::default();
    reached.insert(header);
    // Reached blocks first: what is behind a known branch is not copied. Blocks come in structured
    // order, so a block's ways in, except those back to an inner header, are known before it.
    let mut ends = Ends::default();
    let mut turns = 0;
    // The exit of an inner loop is placed by the structure.
    for &block in inside {
        if !reached.contains(&block) {
            continue;
        }
        let copy = *turn.blocks.entry(block).or_insert_with(|| func.make_block());
        if block != header {
            let params: Vec<Value> = func.blocks[block].params.to_vec();
            for param in params {
                let ty = func.ty(param);
                turn.values.insert(param, func.add_param(copy, ty));
            }
        }
        let insts: Vec<_> = func.blocks[block].insts.to_vec();
        for inst in insts {
            *budget = budget.checked_sub(1)?;
            copy_inst(func, ctx, inst, copy, turn);
        }
        if inner.contains(&block) {
            let merge = func.blocks[block].loop_merge?;
            reached.insert(merge);
            let merge_copy = *turn.blocks.entry(merge).or_insert_with(|| func.make_block());
            func.blocks[copy].loop_merge = Some(merge_copy);
        }
        let mut go = |func: &mut Function<'_>, call: BlockCall<'_>, turn: &mut Turn<'_>| -> (Block, Vec<Value>) {
            let args: Vec<Value> = call.args.iter().map(|&a| turn.value(a)).collect();
            if call.block == header {
                turns += 1;
                ends.header = Some((copy, args.clone()));
                return (call.block, args);
            }
            if call.block == exit {
                ends.exits += 1;
                let escaping = escaping.iter().map(|&v| turn.value(v));
                return (call.block, args.into_iter().chain(escaping).collect());
            }
            reached.insert(call.block);
            (*turn.blocks.entry(call.block).or_insert_with(|| func.make_block()), args)
        };
        let term = func.blocks[block].term;
        func.blocks[copy].term = match term {
            Terminator::None | Terminator::Return => term,
            Terminator::Jump(call) => {
                let (to, args) = go(func, call, turn);
                Terminator::Jump(func.call(to, &args))
            }
            Terminator::Branch { cond, then_call, else_call, merge } => {
                let cond = turn.value(cond);
                match func.literal(cond) {
                    Some(known) => {
                        let call = if known.lane(0) != 0.0 { then_call } else { else_call };
                        let (to, args) = go(func, call, turn);
                        Terminator::Jump(func.call(to, &args))
                    }
                    None => {
                        let (then_to, then_args) = go(func, then_call, turn);
                        let (else_to, else_args) = go(func, else_call, turn);
                        let merge = merge.map(|m| *turn.blocks.entry(m).or_insert_with(|| func.make_block()));
                        let then_call = func.call(then_to, &then_args);
                        let else_call = func.call(else_to, &else_args);
                        Terminator::Branch { cond, then_call, else_call, merge }
                    }
                }
            }
        };
        let known = turns + ends.exits <= 1 || (ctx.options.unroll.exits && turns <= 1);
        if !known {
            return None;
        }
    }
    (turns + ends.exits > 0).then_some(ends)
}

/// Copies an instruction, as a literal when it is known.
fn copy_inst(func: &mut Function<'_>, ctx: &PassCtx, inst: crate::entity::Inst, to: Block, turn: &mut Turn<'_>) {
    let data = func.insts[inst];
    let args: Vec<Value> = data.args.iter().map(|&a| turn.value(a)).collect();
    let ty = data.result.expand().map(|r| func.ty(r));
    let known = ty
        .and_then(|ty| fold(func, ctx, &data, &args).map(|lanes| Literal::new(ty.scalar, &lanes[..ty.lanes as usize])));
    let copy = match known {
        Some(literal) => func.append(to, Op::Const, Imm::Lit(literal), &[], Some(literal.ty), data.line),
        None => func.append(to, data.op, data.imm, &args, ty, data.line),
    };
    if let (Some(old), Some(new)) = (data.result.expand(), copy) {
        turn.values.insert(old, new);
    }
}

/// The lanes of an operation on literals.
fn fold(func: &Function<'_>, ctx: &PassCtx, data: &InstData<'_>, args: &[Value]) -> Option<[f32; 4]> {
    let width = data.result.expand().map(|r| func.ty(r).lanes)?;
    let known = |value: Value| func.literal(value);
    let mut out = [0.0; 4];
    match data.op.shape() {
        Shape::Swizzle => {
            let Imm::Swz(swz) = data.imm else { return None };
            for (to, &lane) in out.iter_mut().zip(swz.lanes()) {
                let (value, lane) = trace(func, args[0], lane);
                *to = known(value)?.lane(lane);
            }
            Some(out)
        }
        Shape::Concat => {
            let lanes = args.iter().flat_map(|&a| (0..func.ty(a).lanes).map(move |l| (a, l)));
            for (to, (value, lane)) in out.iter_mut().zip(lanes) {
                let (value, lane) = trace(func, value, lane);
                *to = known(value)?.lane(lane);
            }
            Some(out)
        }
        Shape::Lanewise | Shape::ScalarUnit | Shape::Reduce | Shape::Normalize if data.op.is_pure() => {
            let lanes: Vec<Vec<f32>> =
                args.iter().map(|&a| known(a).map(|l| l.lanes().collect())).collect::<Option<_>>()?;
            let slices: Vec<&[f32]> = lanes.iter().map(Vec::as_slice).collect();
            eval::eval(data.op, &slices, width, ctx.eval)
        }
        _ => None,
    }
}
