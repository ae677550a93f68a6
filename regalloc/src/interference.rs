//! Interference: asked per physical component while colouring, and as a graph for the order.
//!
//! [`Components`] is the exact answer: each component of each register keeps the positions that it
//! already holds, and a web may go where its slots meet none of them. [`Graph`] is the coarse one:
//! two webs are neighbours when both are live at some position. It only serves to order the webs.

use crate::ranges::{Pos, Range, Ranges};
use crate::shape::{LaneMap, LaneMaps};
use crate::web::{Web, Webs};
use ir::types::WriteMask;

/// What each physical component holds.
#[derive(Default)]
pub struct Components {
    regs: Vec<[Ranges; 4]>,
}

impl Components {
    /// How many registers hold something.
    pub fn used(&self) -> u32 {
        self.regs.len() as u32
    }

    /// The maps of `web` that put each slot on a component free for it.
    pub fn free_maps(&self, reg: u32, web: &Web) -> LaneMaps {
        let Some(components) = self.regs.get(reg as usize) else { return web.maps };
        let mut maps = web.maps;
        for (s, slot) in web.slots.iter().enumerate() {
            if slot.ranges.is_empty() {
                continue;
            }
            let free = components.iter().enumerate().filter(|(_, c)| !c.overlaps(&slot.ranges));
            maps = maps.sending_into(s as u8, WriteMask(free.fold(0, |bits, (c, _)| bits | 1 << c)));
            if maps.is_empty() {
                break;
            }
        }
        maps
    }

    /// How many components of `reg` are free wherever `web` is live.
    pub fn room(&self, reg: u32, web: &Web) -> u32 {
        let Some(components) = self.regs.get(reg as usize) else { return u32::MAX };
        let free = |c: &&Ranges| web.slots.iter().all(|s| !c.overlaps(&s.ranges));
        components.iter().filter(free).count() as u32
    }

    /// Puts `web` at `reg` under `map`.
    pub fn place(&mut self, reg: u32, map: LaneMap, web: &Web) {
        while self.regs.len() <= reg as usize {
            self.regs.push(Default::default());
        }
        for (s, slot) in web.slots.iter().enumerate() {
            self.regs[reg as usize][map.lane(s as u8) as usize].union(&slot.ranges);
        }
    }

    /// How much free space surrounds `web` at `reg` under `map`; less is a tighter fit.
    pub fn slack(&self, reg: u32, map: LaneMap, web: &Web) -> u64 {
        let Some(components) = self.regs.get(reg as usize) else { return u64::MAX };
        let slot = |(s, slot): (usize, &crate::web::Slot)| {
            let (start, end) = slot.ranges.start().zip(slot.ranges.end())?;
            Some(components[map.lane(s as u8) as usize].slack(Range { start, end: end.min(start + 1) }))
        };
        web.slots.iter().enumerate().filter_map(slot).sum()
    }
}

/// Which webs are live together.
pub struct Graph {
    /// For each web its neighbours, each once.
    pub neighbours: Vec<Vec<u32>>,
}

impl Graph {
    /// The graph of the webs in `nodes`; `None` when it has more than `limit` edges.
    pub fn new(webs: &Webs, nodes: &[u32], limit: usize) -> Option<Graph> {
        let mut events: Vec<(Pos, bool, u32)> = Vec::new();
        let mut all = Ranges::default();
        for &w in nodes {
            all.clone_from(&Ranges::default());
            webs.webs[w as usize].slots.iter().for_each(|s| all.union(&s.ranges));
            events.extend(all.as_slice().iter().flat_map(|r| [(r.start, true, w), (r.end, false, w)]));
        }
        // Ends come before starts at one position: half-open ranges that touch do not meet.
        events.sort_unstable();
        let mut neighbours: Vec<Vec<u32>> = vec![Vec::new(); webs.webs.len()];
        let mut live: Vec<u32> = Vec::new();
        let mut edges = 0;
        for (_, start, w) in events {
            if start {
                edges += live.len();
                if edges > limit {
                    return None;
                }
                for &other in &live {
                    neighbours[w as usize].push(other);
                    neighbours[other as usize].push(w);
                }
                live.push(w);
            } else if let Some(i) = live.iter().position(|&o| o == w) {
                live.swap_remove(i);
            }
        }
        for list in &mut neighbours {
            list.sort_unstable();
            list.dedup();
        }
        Some(Graph { neighbours })
    }
}
