//! Vector merging, the second machine-dependent rule of the paper: two instructions of one block
//! with the same opcode, whose operands can sit in one vector register without changing the result,
//! become one.
//!
//! ```text
//!   a = add x.xy, y.zw                m = add x.xyzw, y.zwxy
//!   b = add x.zw, y.xy        ->      a = m.xy,  b = m.zw
//! ```
//!
//! Operands can sit in one register when they are lanes of one value, or literals, or both results
//! of arithmetic that nothing else uses, which then computes straight into the lanes of one
//! register. The merged instruction stands where the second one stood; so nothing before that place
//! may use the first one's result. The two together have at most four lanes. Opcodes that the machine
//! does for free (`neg`, `abs`, `mov`) or lane by lane (`rcp`, ...) gain nothing and are left alone.
//! No bit changes, at any floating-point level.

use crate::analysis::Uses;
use crate::builder::{Builder, Replacements};
use crate::cursor::{Rewrite, rewrite_blocks};
use crate::entity::{Block, Inst, Value};
use crate::func::{Function, Imm, InstData};
use crate::op::{Effect, Op, Shape};
use crate::pass::{PassCtx, PassError};
use crate::types::{Literal, Swizzle};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// How many earlier instructions of its opcode an instruction is paired with at most.
const WINDOW: usize = 32;

/// How the two operands of one place come into one register.
#[derive(Clone, Copy)]
enum Join {
    /// Literals side by side.
    Literal(Literal),
    /// Lanes of one value.
    Lanes(Value, Swizzle),
    /// Results of arithmetic that have no other use.
    Gather(Value, Value),
}

/// A merge: the earlier instruction, and how each operand is joined.
struct Merge {
    first: Inst,
    joins: SmallVec<[Join; 3]>,
}

/// The pass. Repeats until nothing merges, at most `max_rounds` times: four scalars need two rounds.
pub fn run(func: &mut Function<'_>, ctx: &PassCtx) -> Result<bool, PassError> {
    let mut changed = false;
    for _ in 0..ctx.limits.max_rounds {
        let merges = find_merges(func);
        if merges.is_empty() {
            break;
        }
        apply(func, &merges);
        changed = true;
    }
    Ok(changed)
}

/// By the later instruction. No instruction takes part in two merges of a round.
fn find_merges(func: &Function<'_>) -> FxHashMap<Inst, Merge> {
    let uses = Uses::new(func);
    let mut merges: FxHashMap<Inst, Merge> = FxHashMap::default();
    for &block in &func.layout {
        let first_use = first_uses(func, block);
        let mut open: FxHashMap<Op, Vec<Inst>> = FxHashMap::default();
        for (at, &inst) in func.blocks[block].insts.iter().enumerate() {
            let data = &func.insts[inst];
            if !is_candidate(func, data) {
                continue;
            }
            let earlier = open.entry(data.op).or_default();
            let from = earlier.len().saturating_sub(WINDOW);
            let found = earlier[from..].iter().position(|&first| {
                let result = func.insts[first].result.expand();
                let free = result.is_some_and(|r| first_use.get(&r).is_none_or(|&u| u > at));
                let merge = if free { try_merge(func, &uses, first, inst) } else { None };
                merge.is_some_and(|m| merges.insert(inst, m).is_none())
            });
            match found {
                Some(index) => drop(earlier.remove(from + index)),
                None => earlier.push(inst),
            }
        }
    }
    merges
}

/// The place of each value's first use by an instruction of the block.
fn first_uses(func: &Function<'_>, block: Block) -> FxHashMap<Value, usize> {
    let mut first = FxHashMap::default();
    for (at, &inst) in func.blocks[block].insts.iter().enumerate() {
        for &arg in func.insts[inst].args {
            first.entry(arg).or_insert(at);
        }
    }
    first
}

fn is_candidate(func: &Function<'_>, data: &InstData<'_>) -> bool {
    let lanewise = data.op.shape() == Shape::Lanewise && data.op.effect() == Effect::Pure;
    let free = matches!(data.op, Op::Neg | Op::Abs | Op::Sat | Op::Mov);
    let Some(result) = data.result.expand() else { return false };
    let width = func.ty(result).lanes;
    lanewise && !free && width < 4 && data.args.iter().all(|&a| func.ty(a).lanes == width)
}

fn try_merge(func: &Function<'_>, uses: &Uses, first: Inst, second: Inst) -> Option<Merge> {
    let (a, b) = (&func.insts[first], &func.insts[second]);
    let (ra, rb) = (func.ty(a.result.expand()?), func.ty(b.result.expand()?));
    if ra.lanes + rb.lanes > 4 || ra.scalar != rb.scalar {
        return None;
    }
    let all = |order: &[usize]| -> Option<SmallVec<[Join; 3]>> {
        a.args.iter().zip(order).map(|(&x, &i)| join(func, uses, x, b.args[i])).collect()
    };
    let straight = [0, 1, 2];
    let joins = all(&straight[..b.args.len()]);
    let joins = joins.or_else(|| if a.op.is_commutative() { all(&[1, 0]) } else { None })?;
    Some(Merge { first, joins })
}

/// The value behind at most one swizzle, and the lanes of it.
fn lanes_of(func: &Function<'_>, value: Value) -> (Value, Swizzle) {
    match func.def_inst(value) {
        Some(InstData { op: Op::Swz, imm: Imm::Swz(swz), args, .. }) => (args[0], *swz),
        _ => (value, Swizzle::identity(func.ty(value).lanes)),
    }
}

fn join(func: &Function<'_>, uses: &Uses, x: Value, y: Value) -> Option<Join> {
    if func.ty(x).scalar != func.ty(y).scalar {
        return None;
    }
    if let (Some(a), Some(b)) = (func.literal(x), func.literal(y)) {
        let lanes: SmallVec<[f32; 4]> = a.lanes().chain(b.lanes()).collect();
        return Some(Join::Literal(Literal::new(a.ty.scalar, &lanes)));
    }
    let ((base_x, swz_x), (base_y, swz_y)) = (lanes_of(func, x), lanes_of(func, y));
    if base_x == base_y {
        let lanes: SmallVec<[u8; 4]> = swz_x.lanes().iter().chain(swz_y.lanes()).copied().collect();
        return Some(Join::Lanes(base_x, Swizzle::new(&lanes)));
    }
    let computed = |v: Value| {
        let arithmetic = |d: &InstData<'_>| {
            d.op.is_pure() && matches!(d.op.shape(), Shape::Lanewise | Shape::ScalarUnit | Shape::Reduce)
        };
        func.def_inst(v).is_some_and(arithmetic) && uses.count(v) == 1
    };
    (x != y && computed(x) && computed(y)).then_some(Join::Gather(x, y))
}

fn apply(func: &mut Function<'_>, merges: &FxHashMap<Inst, Merge>) {
    let mut replaced = Replacements::new();
    rewrite_blocks(func, |b, inst| {
        let Some(merge) = merges.get(&inst) else { return Rewrite::Keep };
        let op = b.func.insts[inst].op;
        let results = [merge.first, inst].map(|i| b.func.insts[i].result.expand());
        let [Some(first), Some(second)] = results else { return Rewrite::Keep };
        let args: SmallVec<[Value; 3]> = merge.joins.iter().map(|&j| make(b, j)).collect();
        let (wa, wb) = (b.func.ty(first).lanes, b.func.ty(second).lanes);
        let scalar = b.func.ty(first).scalar;
        let merged = b.op_as(op, &args, scalar);
        let lanes = [0, 1, 2, 3];
        let low = b.swz(merged, Swizzle::new(&lanes[..wa as usize]));
        let high = b.swz(merged, Swizzle::new(&lanes[wa as usize..(wa + wb) as usize]));
        replaced.set(first, low);
        replaced.set(second, high);
        Rewrite::Remove
    });
    // The first instructions stand in front of their merges with no uses left; they go, because
    // they would count as uses of their operands in the next round.
    let gone: rustc_hash::FxHashSet<Inst> = merges.values().map(|m| m.first).collect();
    for index in 0..func.layout.len() {
        let block = func.layout[index];
        func.blocks[block].insts.retain(|i| !gone.contains(i));
    }
    replaced.apply(func);
}

fn make(b: &mut Builder<'_, '_>, join: Join) -> Value {
    match join {
        Join::Literal(literal) => b.constant(literal),
        Join::Lanes(value, swz) => b.swz(value, swz),
        Join::Gather(x, y) => b.cat(&[x, y]),
    }
}
