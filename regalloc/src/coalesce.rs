//! Coalescing: merging the webs at both ends of a copy, lane by lane.
//!
//! The main use is the gather. `v.x <- a` and `v.y <- b` merge `a` and `b` into slots of `v`'s web,
//! and from then on whoever computes `a` writes straight into the wanted lane. So copies that fill
//! part of a register come first, then the rest by loop depth.
//!
//! **When two slots may be one.** Their ranges do not meet; or wherever one is written while the
//! other is live, the write is a copy between lanes of the two slots (Chaitin's rule for moves,
//! taken over everything in the slots): such a copy vanishes, so it destroys nothing.
//!
//! A web that becomes fixed must leave the others fixed in that register their lanes; apart from that,
//! **merging is aggressive**: nothing asks whether the result is still easy to colour. When
//! colouring fails, [`crate::color`] names the webs that found no room, the cheapest merge is
//! undone, and everything is tried again.

use crate::code::Code;
use crate::func::VReg;
use crate::liveness::DefPoint;
use crate::shape::{LaneMap, LaneMaps};
use crate::web::{Slot, Webs, joint_maps};
use ir::types::WriteMask;
use smallvec::SmallVec;

/// A wish that one copy vanish.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Affinity {
    /// The copy instruction.
    pub inst: u32,
    /// The register written.
    pub dst: VReg,
    /// The register read.
    pub src: VReg,
    /// Lanes of `dst` and of `src`.
    pub pairs: SmallVec<[(u8, u8); 4]>,
    /// Fills a part of a register whose other lanes come from elsewhere.
    pub gather: bool,
    /// How many loops it sits in.
    pub depth: u32,
}

/// The affinities of `code`, most wanted first.
pub fn affinities(code: &Code) -> Vec<Affinity> {
    let mut list: Vec<Affinity> = Vec::new();
    let mut block = 0;
    for (inst, copies) in &code.copies {
        while code.blocks[block].insts.end <= *inst {
            block += 1;
        }
        let depth = code.blocks[block].loop_depth;
        let first = list.len();
        for c in copies {
            let pair = (c.dst_lane, c.src_lane);
            match list[first..].iter_mut().find(|a| a.dst == c.dst && a.src == c.src) {
                Some(a) => a.pairs.push(pair),
                None => {
                    let pairs = SmallVec::from_slice(&[pair]);
                    list.push(Affinity { inst: *inst, dst: c.dst, src: c.src, pairs, gather: false, depth });
                }
            }
        }
        for a in &mut list[first..] {
            a.gather = a.pairs.len() < usize::from(code.vregs[a.dst.as_u32() as usize].lanes);
        }
    }
    list.sort_by_key(|a| (!a.gather, std::cmp::Reverse(a.depth), std::cmp::Reverse(a.pairs.len()), a.inst));
    list
}

/// Merges what `list` wishes, in the order of `order`, except entries marked in `blocked`. Returns
/// the entries whose merge was made, most wanted first.
pub fn coalesce(webs: &mut Webs, list: &[Affinity], order: &[u32], blocked: &[bool]) -> Vec<u32> {
    let mut made: Vec<u32> =
        order.iter().copied().filter(|&i| !blocked[i as usize] && try_merge(webs, &list[i as usize])).collect();
    made.sort_unstable();
    made
}

/// Wishes tried in front, over all, before the search for an order ends; fewer when there are many.
const ORDER_TRIES: usize = 48;
/// Merges attempted by that search.
const ORDER_STEPS: usize = 3_000;

/// An order of the wishes that leaves few copies. One merge can rule out another (a value wanted in two
/// gathers, a slot taken by a lane that could have gone elsewhere), so each wish that was not granted is
/// tried in front of all others, and stays there when that leaves fewer copies.
pub fn best_order(fresh: &Webs, list: &[Affinity]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..list.len() as u32).collect();
    let none = vec![false; list.len()];
    let attempt = |order: &[u32]| {
        let mut webs = fresh.clone();
        coalesce(&mut webs, list, order, &none);
        let refused: Vec<u32> = (0..list.len() as u32).filter(|&i| !vanishes(&webs, &list[i as usize])).collect();
        // Instructions first, then how deep in loops they are.
        let mut insts: Vec<(u32, u32)> =
            refused.iter().map(|&i| (list[i as usize].inst, list[i as usize].depth)).collect();
        insts.sort_unstable();
        insts.dedup();
        ((insts.len(), insts.iter().map(|i| i.1).sum::<u32>()), refused)
    };
    let (mut best, mut refused) = attempt(&order);
    let mut tries = ORDER_TRIES.min(ORDER_STEPS / list.len().max(1));
    // Each wish goes to the front once at most, and those that fail even alone never.
    let mut tried: Vec<bool> = list.iter().map(|a| plan_merge(fresh, a).is_none()).collect();
    while tries > 0 {
        let Some(&next) = refused.iter().find(|&&i| !tried[i as usize]) else { break };
        tried[next as usize] = true;
        tries -= 1;
        let mut changed = vec![next];
        changed.extend(order.iter().copied().filter(|&i| i != next));
        let (score, left) = attempt(&changed);
        if score < best {
            (best, refused, order) = (score, left, changed);
        }
    }
    order
}

/// Whether, after merging, the copy moves every lane onto itself.
fn vanishes(webs: &Webs, affinity: &Affinity) -> bool {
    affinity.pairs.iter().all(|&(d, s)| webs.slot_of(affinity.dst, d) == webs.slot_of(affinity.src, s))
}

fn try_merge(webs: &mut Webs, affinity: &Affinity) -> bool {
    let Some(plan) = plan_merge(webs, affinity) else { return false };
    webs.merge(plan.a, plan.b, plan.into, plan.maps);
    true
}

/// A merge that is possible: web `b` goes into web `a`.
struct Plan {
    a: u32,
    b: u32,
    /// Slots of `b` to slots of `a`.
    into: LaneMap,
    /// The maps left.
    maps: LaneMaps,
}

fn plan_merge(webs: &Webs, affinity: &Affinity) -> Option<Plan> {
    let (mut a, _) = webs.home[affinity.dst.as_u32() as usize];
    let (mut b, _) = webs.home[affinity.src.as_u32() as usize];
    if a == b {
        return None;
    }
    let mut wanted: SmallVec<[(u8, u8); 4]> = affinity
        .pairs
        .iter()
        .map(|&(d, s)| (webs.slot_of(affinity.dst, d).1, webs.slot_of(affinity.src, s).1))
        .collect();
    // The web with more in it stays.
    let size = |w: u32| (webs.webs[w as usize].array.is_some(), webs.webs[w as usize].members.len());
    if size(b) > size(a) {
        std::mem::swap(&mut a, &mut b);
        wanted.iter_mut().for_each(|(x, y)| std::mem::swap(x, y));
    }
    let (web_a, web_b) = (&webs.webs[a as usize], &webs.webs[b as usize]);
    let fixed_apart = matches!((web_a.fixed, web_b.fixed), (Some(x), Some(y)) if x != y);
    let fixed_array = web_a.array.is_some() && web_b.fixed.is_some() && web_a.fixed.is_none();
    if fixed_apart || fixed_array || (web_a.array.is_some() && web_b.array.is_some()) {
        return None;
    }
    // `into` sends slots of b to slots of a; the copied lanes say where, the others may go anywhere.
    let (wa, wb) = (web_a.width(), web_b.width());
    let mut ways = LaneMaps::all(wb);
    for &(x, y) in &wanted {
        ways = ways.sending(y, x);
    }
    let mut known: [[Option<bool>; 4]; 4] = Default::default();
    let mut best: Option<(u8, u32, LaneMap, LaneMaps)> = None;
    for into in ways.iter() {
        let added = (0..wb).filter(|&j| into.lane(j) >= wa).count() as u8;
        let width = wa + added;
        // New slots are used in order, so that each shape comes once.
        if (0..wb).any(|j| into.lane(j) >= width) || best.is_some_and(|(w, ..)| w < width) {
            continue;
        }
        let fits = (0..wb).filter(|&j| into.lane(j) < wa).all(|j| {
            let k = into.lane(j);
            *known[j as usize][k as usize].get_or_insert_with(|| {
                let (slot_a, slot_b) = (&web_a.slots[k as usize], &web_b.slots[j as usize]);
                may_share(webs, (a, k, slot_a), (b, j, slot_b))
            })
        });
        if !fits {
            continue;
        }
        let mut maps = joint_maps((web_a.maps, wa), (web_b.maps, wb), into, width);
        if let Some(reg) = web_a.fixed.or(web_b.fixed) {
            maps = beside_fixed(webs, reg, (a, b), into, maps);
        }
        let better = best.is_none_or(|(w, n, ..)| width < w || maps.len() > n);
        if !maps.is_empty() && better {
            best = Some((width, maps.len(), into, maps));
        }
    }
    best.map(|(_, _, into, maps)| Plan { a, b, into, maps })
}

/// The maps among `maps` of the web that `a` and `b` would become, fixed in `reg`, that leave the other
/// webs fixed there their lanes. (One that has a choice is left to colouring.)
fn beside_fixed(webs: &Webs, reg: u16, (a, b): (u32, u32), into: LaneMap, maps: LaneMaps) -> LaneMaps {
    let mut left = maps;
    for other in webs.fixed_in(reg).filter(|&w| w != a && w != b) {
        let other = &webs.webs[other as usize];
        let (Some(place), true) = (other.maps.first(), other.maps.len() == 1) else { continue };
        let own = webs.webs[a as usize].slots.iter().zip(0u8..);
        let joined = webs.webs[b as usize].slots.iter().zip((0u8..4).map(|j| into.lane(j)));
        for (slot, k) in own.chain(joined) {
            for (theirs, l) in other.slots.iter().zip(0u8..) {
                if slot.ranges.overlaps(&theirs.ranges) {
                    let free = WriteMask(WriteMask::ALL.0 & !(1 << place.lane(l)));
                    left = left.sending_into(k, free);
                }
            }
        }
        if left.is_empty() {
            break;
        }
    }
    left
}

/// Whether slot `a` and slot `b` may be one (see the module doc).
fn may_share(webs: &Webs, a: (u32, u8, &Slot), b: (u32, u8, &Slot)) -> bool {
    if !a.2.ranges.overlaps(&b.2.ranges) {
        return true;
    }
    let inside = |def: &DefPoint| {
        def.copy_of.is_some_and(|src| {
            let at = webs.slot_of_lane(src);
            at == (a.0, a.1) || at == (b.0, b.1)
        })
    };
    // A write to a lane of `of` destroys what lives in `other`, unless it copies between the two. The
    // work is about the smaller of the two sides, so that a web may grow without quadratic time.
    let safe = |of: &Slot, other: &Slot| {
        if of.defs.len() <= other.ranges.as_slice().len() {
            return of.defs.iter().all(|def| inside(def) || !other.ranges.covers(def.pos));
        }
        other.ranges.as_slice().iter().all(|r| {
            let first = of.defs.partition_point(|d| d.pos < r.start);
            of.defs[first..].iter().take_while(|d| d.pos < r.end).all(inside)
        })
    };
    safe(a.2, b.2) && safe(b.2, a.2)
}

/// For each web the copies left to other webs: the other web, and the pairs of slots (own, other) that
/// would make the copy vanish.
pub type Hints = Vec<Vec<(u32, SmallVec<[(u8, u8); 4]>)>>;

/// The copies left between different webs. Colouring takes them as hints.
pub fn hints(webs: &Webs, list: &[Affinity]) -> Hints {
    let mut hints = vec![Vec::new(); webs.webs.len()];
    for affinity in list {
        let (a, b) = (webs.home[affinity.dst.as_u32() as usize].0, webs.home[affinity.src.as_u32() as usize].0);
        if a == b {
            continue;
        }
        let pairs: SmallVec<[(u8, u8); 4]> = affinity
            .pairs
            .iter()
            .map(|&(d, s)| (webs.slot_of(affinity.dst, d).1, webs.slot_of(affinity.src, s).1))
            .collect();
        hints[b as usize].push((a, pairs.iter().map(|&(x, y)| (y, x)).collect()));
        hints[a as usize].push((b, pairs));
    }
    hints
}

/// The lanes that a copy moves onto themselves, given final places, are all of them.
pub fn is_identity(copies: &[crate::func::LaneCopy], place: impl Fn(VReg) -> crate::output::Place) -> bool {
    copies.iter().all(|c| {
        let (d, s) = (place(c.dst), place(c.src));
        d.reg == s.reg && d.map.lane(c.dst_lane) == s.map.lane(c.src_lane)
    })
}
