//! A lower bound on the registers that any colouring of the webs uses.
//!
//! At one point of the program let `n_k` webs have `k` live slots. Slots of one web share a
//! register, so the point alone needs
//! `n4 + n3 + ceil(n2/2) + max(0, ceil((n1 - n3 - 2*(n2 mod 2)) / 4))` registers: widest first is
//! optimal for one point. Slots that may sit in one physical lane only (a texture result, or everything
//! on a target without swizzles) need as many registers as share that lane. The bound is the maximum
//! over all points, raised by fixed registers and by the length of arrays.

use crate::ranges::Pos;
use crate::shape::LaneMaps;
use crate::web::Webs;

/// The bound and where it is reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Bound {
    /// Registers.
    pub regs: u32,
    /// First position that needs the most.
    pub pos: Pos,
    /// How many webs have 1, 2, 3 and 4 live slots there.
    pub live: [u32; 4],
}

/// Registers that a point needs with `live[k-1]` webs of `k` live slots.
pub fn need(live: [u32; 4]) -> u32 {
    let [n1, n2, n3, n4] = live;
    // One lane is left beside each triple, two beside an odd pair.
    let beside = n3 + 2 * (n2 % 2);
    n4 + n3 + n2.div_ceil(2) + n1.saturating_sub(beside).div_ceil(4)
}

/// The physical lane that slot `slot` must sit in, or 4 when it has a choice.
fn only_lane(maps: LaneMaps, slot: u8) -> u8 {
    let mut lanes = (0..4).filter(|&p| !maps.sending(slot, p).is_empty());
    match (lanes.next(), lanes.next()) {
        (Some(only), None) => only,
        _ => 4,
    }
}

/// The bound for `webs` as they are.
pub fn compute(webs: &Webs) -> Bound {
    // Each event is position, then ends before starts, then the web: sorting the packed numbers
    // visits positions in order.
    let mut events: Vec<(Pos, bool, u32, u8)> = Vec::new();
    for (w, web) in webs.webs.iter().enumerate() {
        for (s, slot) in web.slots.iter().enumerate() {
            let lane = only_lane(web.maps, s as u8);
            for range in slot.ranges.as_slice() {
                events.push((range.start, true, w as u32, lane));
                events.push((range.end, false, w as u32, lane));
            }
        }
    }
    events.sort_unstable();
    let mut width = vec![0u8; webs.webs.len()];
    let mut live = [0u32; 4];
    // Slots bound to each lane; the last entry counts those that are free.
    let mut bound_to = [0u32; 5];
    let mut best = Bound::default();
    let mut i = 0;
    while i < events.len() {
        let pos = events[i].0;
        while i < events.len() && events[i].0 == pos {
            let (_, start, w, lane) = events[i];
            let bound_to = &mut bound_to[lane as usize];
            *bound_to = if start { *bound_to + 1 } else { *bound_to - 1 };
            let width = &mut width[w as usize];
            if *width > 0 {
                live[*width as usize - 1] -= 1;
            }
            *width = if start { *width + 1 } else { *width - 1 };
            if *width > 0 {
                live[*width as usize - 1] += 1;
            }
            i += 1;
        }
        let regs = bound_to[..4].iter().copied().fold(need(live), u32::max);
        if regs > best.regs {
            best = Bound { regs, pos, live };
        }
    }
    let placed = webs.webs.iter().filter(|w| w.is_live());
    let fixed = placed.filter_map(|w| w.fixed).map(|r| u32::from(r) + 1).max().unwrap_or(0);
    let array = |a: &&Vec<u32>| a.iter().any(|&w| webs.webs[w as usize].is_live());
    let longest = webs.arrays.iter().filter(array).map(|a| a.len() as u32).max().unwrap_or(0);
    best.regs = best.regs.max(fixed).max(longest);
    best
}

#[cfg(test)]
mod tests {
    use super::need;

    /// The least number of registers for one point, by trying every packing of four-lane bins.
    fn packed(live: [u32; 4]) -> u32 {
        fn fill(left: [u32; 4], room: [u32; 4], regs: u32, best: &mut u32) {
            // room[k]: open registers with k+1 lanes free
            if regs >= *best {
                return;
            }
            let Some(k) = (0..4).rev().find(|&k| left[k] > 0) else {
                *best = regs;
                return;
            };
            let mut rest = left;
            rest[k] -= 1;
            for r in k..4 {
                if room[r] > 0 {
                    let mut room = room;
                    room[r] -= 1;
                    if r > k {
                        room[r - k - 1] += 1;
                    }
                    fill(rest, room, regs, best);
                }
            }
            let mut room = room;
            if k < 3 {
                room[2 - k] += 1;
            }
            fill(rest, room, regs + 1, best);
        }
        let mut best = u32::MAX;
        fill(live, [0; 4], 0, &mut best);
        best
    }

    #[test]
    fn formula_is_the_optimum_of_one_point() {
        for code in 0..6u32.pow(3) * 3 {
            let live = [code % 6, code / 6 % 6, code / 36 % 6, code / 216];
            assert_eq!(need(live), packed(live), "{live:?}");
        }
    }
}
