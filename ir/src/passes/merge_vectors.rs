//! Vector merging as the paper has it: several instructions of one opcode whose operands can sit in
//! one vector register become one, `[x,y] = a.xy + c.xy` and `[z,w] = a.zw + c.zw` become
//! `[x,y,z,w] = a + c`.
//!
//! Two lane-wise operations of one block are merged when, operand by operand, all lanes come from
//! one value (or all are literals), so that gathering them is a swizzle, and when those values exist
//! where the first operation stands, so that neither needs the other. Both results become swizzles of
//! the merged one; no lane's value changes.

use crate::analysis::def_blocks;
use crate::builder::Replacements;
use crate::cursor::{Rewrite, rewrite_blocks};
use crate::entity::{Block, Inst, Value};
use crate::func::Function;
use crate::lanes::{Lane, gather, trace_all};
use crate::op::{Op, Shape};
use crate::pass::{PassCtx, PassError};
use crate::types::{Scalar, Swizzle};
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Where an operand's lanes sit: one value, or literals.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Home {
    Value(Value),
    Literals,
}

/// What two operations must have in common.
type Key = (Op, Scalar, SmallVec<[Home; 3]>);

/// Operations to be merged at the place of the first.
struct Group {
    members: Vec<Inst>,
    /// By operand, the lanes of all members.
    operands: Vec<Vec<Lane>>,
    width: u8,
}

/// Merges what fits.
pub fn run(func: &mut Function<'_>, ctx: &PassCtx) -> Result<bool, PassError> {
    if !ctx.costs.free_swizzle {
        return Ok(false);
    }
    let pinned = if ctx.costs.free_tex_swizzle { EntitySet::new() } else { texture_coordinates(func) };
    let homes = def_blocks(func);
    let mut groups: Vec<Group> = Vec::new();
    let mut order: SecondaryMap<Value, u32> = SecondaryMap::new();
    for index in 0..func.layout.len() {
        let block = func.layout[index];
        find_groups(func, ctx, block, &homes, &pinned, &mut order, &mut groups);
    }
    groups.retain(|g| g.members.len() > 1);
    if groups.is_empty() {
        return Ok(false);
    }
    let mut first_of: FxHashMap<Inst, usize> = FxHashMap::default();
    let mut member_of: FxHashMap<Inst, usize> = FxHashMap::default();
    for (index, group) in groups.iter().enumerate() {
        first_of.insert(group.members[0], index);
        member_of.extend(group.members.iter().map(|&m| (m, index)));
    }
    let mut replaced = Replacements::new();
    rewrite_blocks(func, |builder, inst| {
        if let Some(&index) = first_of.get(&inst) {
            let group = &groups[index];
            let args: Vec<Value> = group.operands.iter().map(|lanes| gather(builder, lanes)).collect();
            let op = builder.func.insts[inst].op;
            let Some(old) = builder.func.insts[inst].result.expand() else { return Rewrite::Keep };
            let ty = builder.func.ty(old).with_lanes(group.width);
            let merged = builder.typed(op, crate::func::Imm::None, &args, ty);
            let mut from = 0;
            for &member in &group.members {
                let Some(result) = builder.func.insts[member].result.expand() else { continue };
                let width = builder.func.ty(result).lanes;
                let lanes: Vec<u8> = (from..from + width).collect();
                from += width;
                let part = builder.swz(merged, Swizzle::new(&lanes));
                replaced.set(result, part);
            }
        }
        if member_of.contains_key(&inst) { Rewrite::Remove } else { Rewrite::Keep }
    });
    replaced.apply(func);
    Ok(true)
}

/// Values that texture lookups read as coordinates, where a swizzle is not free.
fn texture_coordinates(func: &Function<'_>) -> EntitySet<Value> {
    let mut pinned = EntitySet::new();
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            let data = &func.insts[inst];
            if data.op.shape() == Shape::Texture {
                pinned.insert(data.args[0]);
            }
        }
    }
    pinned
}

/// Goes through a block in order and opens or joins groups.
fn find_groups(
    func: &Function<'_>,
    ctx: &PassCtx,
    block: Block,
    homes: &SecondaryMap<Value, PackedOption<Block>>,
    pinned: &EntitySet<Value>,
    order: &mut SecondaryMap<Value, u32>,
    groups: &mut Vec<Group>,
) {
    let mut open: FxHashMap<Key, Vec<usize>> = FxHashMap::default();
    let mut starts: FxHashMap<usize, u32> = FxHashMap::default();
    for (at, &inst) in func.blocks[block].insts.iter().enumerate() {
        let data = &func.insts[inst];
        let Some(result) = data.result.expand() else { continue };
        order[result] = at as u32 + 1;
        let width = func.ty(result).lanes;
        let candidate = data.op.shape() == Shape::Lanewise
            && data.op.is_pure()
            && width < 4
            && ctx.costs.op(data.op).is_some_and(|c| c.slots > 0)
            && data.args.iter().all(|&a| func.ty(a).lanes == width)
            && !pinned.contains(result);
        if !candidate {
            continue;
        }
        let operands: Vec<Vec<Lane>> = data.args.iter().map(|&a| trace_all(func, a)).collect();
        let Some(homes_of) = operands.iter().map(|l| home(func, l)).collect::<Option<SmallVec<[Home; 3]>>>() else {
            continue;
        };
        // Where everything that this one needs exists: the number of instructions before it.
        let ready = homes_of
            .iter()
            .map(|h| match h {
                Home::Value(v) if homes[*v] == block.into() => order[*v],
                _ => 0,
            })
            .max()
            .unwrap_or(0);
        let scalar = func.ty(result).scalar;
        let mut swapped = homes_of.clone();
        if data.op.is_commutative() && swapped.len() >= 2 {
            swapped.swap(0, 1);
        }
        let found = [(&homes_of, false), (&swapped, true)].into_iter().find_map(|(homes_of, swap)| {
            let list = open.get(&(data.op, scalar, homes_of.clone()))?;
            let group = list.iter().copied().find(|g| groups[*g].width + width <= 4 && ready <= starts[g])?;
            Some((group, swap))
        });
        match found {
            Some((index, swap)) => {
                let group = &mut groups[index];
                group.members.push(inst);
                group.width += width;
                for (k, lanes) in operands.into_iter().enumerate() {
                    let to = if swap && k < 2 { 1 - k } else { k };
                    group.operands[to].extend(lanes);
                }
            }
            None => {
                starts.insert(groups.len(), at as u32);
                open.entry((data.op, scalar, homes_of)).or_default().push(groups.len());
                groups.push(Group { members: vec![inst], operands, width });
            }
        }
    }
}

/// The one place of all lanes, if there is one.
fn home(func: &Function<'_>, lanes: &[Lane]) -> Option<Home> {
    if lanes.iter().all(|&(v, _)| func.literal(v).is_some()) {
        return Some(Home::Literals);
    }
    let first = lanes.first()?.0;
    lanes.iter().all(|&(v, _)| v == first).then_some(Home::Value(first))
}
