//! Colouring: an order of the webs, then a register and lane map for each (simplify and select).
//!
//! **Simplify** follows Smith, Ramsey and Holloway (2004) with the p/q test of Runeson and Nystroem
//! (2003): a web has p colours in a register (its lane maps), a neighbour takes away at most q of
//! them, computed from the lane maps of both. The web with the least sum of q over p leaves first
//! (narrower first among equals) and so is coloured last; this removes every trivially colourable
//! web before any other, whatever the number of registers.
//!
//! **Select** gives each web the first register where it fits component by component; copies that
//! were not merged bias it towards the colour that makes them vanish. Fixed webs and arrays go first.
//!
//! Aliased colouring is NP-complete even for straight-line code, so several orders are tried and the
//! best result is kept, until one meets the lower bound. Then the registers are cut by one and the
//! webs that found no room move to the front, for a bounded number of rounds.

use crate::coalesce::Hints;
use crate::error::RegAllocError;
use crate::interference::{Components, Graph};
use crate::shape::{LaneMap, LaneMaps, worst_blocked};
use crate::web::{Web, Webs};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Register and lane map of each web that has been placed.
pub type ColorMap = Vec<Option<(u32, LaneMap)>>;

/// A colour for each web.
#[derive(Clone)]
pub struct Colors {
    /// By web.
    pub color: ColorMap,
    /// The highest register plus one.
    pub used: u32,
    /// Copies that vanish although they were not merged, as far as select saw.
    hits: u32,
}

/// What colouring found.
pub struct Coloring {
    /// The best attempt; it may use more than the limit.
    pub best: Colors,
    /// When `best` is over the limit: the webs that found no room under it.
    pub failed: Vec<u32>,
    /// Attempts made.
    pub attempts: u32,
}

/// How select chooses among the maps of a register.
#[derive(Clone, Copy, PartialEq)]
enum Fit {
    /// The first: the identity if it is free. Reads best.
    First,
    /// The one with the least free space around it.
    Tight,
    /// Among all registers the one with the fewest components free for the web, so that narrow values
    /// go beside wide ones; then as `Tight`.
    Best,
}

/// How many webs all attempts together may visit, per colouring.
const VISITS: usize = 10_000;
/// Webs above which [`Fit::Best`] is left out.
const MAX_BEST: usize = 400;
/// Attempts to do with one register less.
const ROUNDS: u32 = 12;
/// Edges of the interference graph, above which the p/q order is left out.
const MAX_EDGES: usize = 2_000_000;

struct Problem<'a> {
    webs: &'a Webs,
    hints: &'a Hints,
    /// Webs that are fixed, and not in an array.
    fixed: Vec<u32>,
    /// Arrays, longest first.
    arrays: Vec<usize>,
    /// The other live webs.
    free: Vec<u32>,
}

/// Colours `webs`, aiming at `goal` registers (the lower bound) and at most `limit`.
pub fn color(webs: &Webs, hints: &Hints, goal: u32, limit: u32) -> Result<Coloring, RegAllocError> {
    let live = |&(_, w): &(usize, &Web)| w.is_live() && w.array.is_none();
    let (fixed, free): (Vec<_>, Vec<_>) =
        webs.webs.iter().enumerate().filter(live).partition(|(_, w)| w.fixed.is_some());
    let number = |list: Vec<(usize, &Web)>| -> Vec<u32> { list.into_iter().map(|(i, _)| i as u32).collect() };
    // Those without a choice of lanes go first.
    let mut fixed = number(fixed);
    fixed.sort_by_key(|&w| (webs.webs[w as usize].maps.len(), w));
    let mut arrays: Vec<usize> = (0..webs.arrays.len()).collect();
    arrays.sort_by_key(|&a| Reverse(webs.arrays[a].len()));
    let problem = Problem { webs, hints, fixed, arrays, free: number(free) };

    let n = problem.free.len().max(1);
    let mut left = VISITS.max(3 * n);
    let mut attempts = 0;
    let mut best: Option<(Colors, Vec<u32>)> = None;
    // A program that cannot fit is coloured once, to say how much it needs.
    let kinds: &[u32] = if goal > limit { &[1] } else { &[0, 1, 2, 3, 4] };
    for &kind in kinds {
        let done = best.as_ref().is_some_and(|(b, _)| b.used <= goal);
        if done || left < n {
            break;
        }
        left -= n;
        let Some(order) = problem.order(kind) else { continue };
        let fit = if kind == 4 { Fit::Tight } else { Fit::First };
        let cap = best.as_ref().map_or(u32::MAX, |(b, _)| b.used);
        attempts += 1;
        match problem.select(&order, cap, fit, true) {
            Ok(colors) => {
                if best.as_ref().is_none_or(|(b, _)| (colors.used, b.hits) < (b.used, colors.hits)) {
                    best = Some((colors, order));
                }
            }
            // Without a cap only the fixed parts can fail.
            Err(failed) if cap == u32::MAX => return Err(contradiction(webs, &failed)),
            Err(_) => {}
        }
    }
    let Some((mut best, mut order)) = best else {
        return Err(RegAllocError::BadInput { what: "no order of the webs".to_string() });
    };
    // One register less, as long as a few rounds manage it.
    'fewer: while best.used > goal && goal <= limit {
        for round in 0..ROUNDS {
            if left < n {
                break 'fewer;
            }
            left -= n;
            attempts += 1;
            // Looking at every register is dear, so only short programs get it.
            let fit = match round % 3 {
                0 if n <= MAX_BEST => Fit::Best,
                2 => Fit::Tight,
                _ => Fit::First,
            };
            match problem.select(&order, best.used - 1, fit, round % 2 == 0) {
                Ok(colors) => {
                    best = colors;
                    continue 'fewer;
                }
                Err(failed) => to_front(&mut order, &failed),
            }
        }
        break;
    }
    let mut failed = Vec::new();
    if best.used > limit {
        attempts += 1;
        match problem.select(&order, limit, Fit::First, false) {
            Ok(colors) => best = colors,
            Err(webs) => failed = webs,
        }
    }
    Ok(Coloring { best, failed, attempts })
}

fn contradiction(webs: &Webs, failed: &[u32]) -> RegAllocError {
    let members = |w: &u32| webs.webs[*w as usize].members.first().map(|m| m.0);
    match failed.iter().find_map(members) {
        Some(vreg) => {
            RegAllocError::Impossible { vreg, why: "other values fixed in the same register are live with it" }
        }
        None => RegAllocError::BadInput { what: "a fixed value vanished".to_string() },
    }
}

/// Moves `failed` to the front, keeping the order otherwise.
fn to_front(order: &mut Vec<u32>, failed: &[u32]) {
    let failed_set: rustc_hash::FxHashSet<u32> = failed.iter().copied().collect();
    let (mut front, back): (Vec<u32>, Vec<u32>) = order.iter().partition(|w| failed_set.contains(w));
    front.extend(back);
    *order = front;
}

impl Problem<'_> {
    fn web(&self, w: u32) -> &Web {
        &self.webs.webs[w as usize]
    }

    /// One of the orders to try.
    fn order(&self, kind: u32) -> Option<Vec<u32>> {
        let mut order = self.free.clone();
        let span = |w: u32| self.web(w).span().unwrap_or((0, 0));
        let width = |w: u32| Reverse(self.web(w).width());
        match kind {
            0 => return self.simplify(),
            // Widest first, then as they come: optimal where one point decides.
            1 | 4 => order.sort_by_key(|&w| (width(w), span(w).0, w)),
            // As they come: a scan with holes.
            2 => order.sort_by_key(|&w| (span(w).0, width(w), w)),
            // Widest first, then the longest lived.
            _ => order.sort_by_key(|&w| (width(w), Reverse(span(w).1 - span(w).0), w)),
        }
        Some(order)
    }

    /// The p/q order (see the module doc), first to colour first.
    fn simplify(&self) -> Option<Vec<u32>> {
        let graph = Graph::new(self.webs, &self.free, MAX_EDGES)?;
        // Webs with the same maps and width share a class.
        let mut classes: Vec<(LaneMaps, u8)> = Vec::new();
        let mut numbers: FxHashMap<(LaneMaps, u8), u32> = FxHashMap::default();
        let mut class = vec![0u32; self.webs.webs.len()];
        for &w in &self.free {
            let key = (self.web(w).maps, self.web(w).width());
            class[w as usize] = *numbers.entry(key).or_insert_with(|| {
                classes.push(key);
                classes.len() as u32 - 1
            });
        }
        let n = classes.len();
        let mut q: Vec<u32> = vec![u32::MAX; n * n];
        let mut blocked = |of: u32, by: u32| {
            let entry = &mut q[of as usize * n + by as usize];
            if *entry == u32::MAX {
                *entry = worst_blocked(classes[of as usize], classes[by as usize]);
            }
            *entry
        };
        let mut squeeze = vec![0u64; self.webs.webs.len()];
        for &w in &self.free {
            for &other in &graph.neighbours[w as usize] {
                squeeze[w as usize] += u64::from(blocked(class[w as usize], class[other as usize]));
            }
        }
        // In 1/1024 of the colours of one register.
        let key = |squeeze: &[u64], w: u32| {
            let web = self.web(w);
            (Reverse(squeeze[w as usize] * 1024 / u64::from(web.maps.len().max(1))), Reverse(web.width()), Reverse(w))
        };
        let mut heap: BinaryHeap<_> = self.free.iter().map(|&w| key(&squeeze, w)).collect();
        let mut removed = vec![false; self.webs.webs.len()];
        let mut stack = Vec::with_capacity(self.free.len());
        while let Some((s, width, Reverse(w))) = heap.pop() {
            // Entries that went stale when a neighbour left are skipped.
            if removed[w as usize] || (s, width, Reverse(w)) != key(&squeeze, w) {
                continue;
            }
            removed[w as usize] = true;
            stack.push(w);
            for &other in &graph.neighbours[w as usize] {
                if !removed[other as usize] {
                    squeeze[other as usize] -= u64::from(blocked(class[other as usize], class[w as usize]));
                    heap.push(key(&squeeze, other));
                }
            }
        }
        stack.reverse();
        Some(stack)
    }

    /// Gives every web a colour below register `cap`, or names those that found none.
    fn select(&self, order: &[u32], cap: u32, fit: Fit, hints: bool) -> Result<Colors, Vec<u32>> {
        let mut components = Components::default();
        let mut color: ColorMap = vec![None; self.webs.webs.len()];
        let (mut failed, mut hits) = (Vec::new(), 0);
        for &w in &self.fixed {
            let web = self.web(w);
            let reg = u32::from(web.fixed.unwrap_or(0));
            match components.free_maps(reg, web).first() {
                Some(map) if reg < cap => {
                    components.place(reg, map, web);
                    color[w as usize] = Some((reg, map));
                }
                _ => failed.push(w),
            }
        }
        for &a in &self.arrays {
            self.place_array(&self.webs.arrays[a], cap, &mut components, &mut color, &mut failed);
        }
        for &w in order {
            let web = self.web(w);
            let hinted = if hints { self.hinted(w, &components, &color) } else { None };
            hits += u32::from(hinted.is_some());
            let found = hinted.or_else(|| {
                let regs = 0..cap.min(components.used().saturating_add(1));
                if fit == Fit::Best {
                    return regs
                        .flat_map(|reg| components.free_maps(reg, web).iter().map(move |m| (reg, m)))
                        .min_by_key(|&(reg, m)| (components.room(reg, web), components.slack(reg, m, web)));
                }
                regs.into_iter().find_map(|reg| {
                    let maps = components.free_maps(reg, web);
                    match fit {
                        Fit::First => maps.first(),
                        Fit::Tight | Fit::Best => maps.iter().min_by_key(|&m| components.slack(reg, m, web)),
                    }
                    .map(|map| (reg, map))
                })
            });
            match found {
                Some((reg, map)) => {
                    components.place(reg, map, web);
                    color[w as usize] = Some((reg, map));
                }
                None => failed.push(w),
            }
        }
        if failed.is_empty() { Ok(Colors { color, used: components.used(), hits }) } else { Err(failed) }
    }

    /// The first base where every member of an array fits.
    fn place_array(
        &self,
        array: &[u32],
        cap: u32,
        components: &mut Components,
        color: &mut [Option<(u32, LaneMap)>],
        failed: &mut Vec<u32>,
    ) {
        let fixed = array.iter().enumerate().find_map(|(i, &w)| {
            let fixed = self.web(w).fixed?;
            u32::from(fixed).checked_sub(i as u32)
        });
        let bases = match fixed {
            Some(base) => base..=base,
            None => 0..=components.used(),
        };
        let len = array.len() as u32;
        for base in bases.take_while(|b| b.checked_add(len).is_some_and(|end| end <= cap)) {
            let free =
                |(i, &w): (usize, &u32)| components.free_maps(base + i as u32, self.web(w)).contains(LaneMap::IDENTITY);
            if array.iter().enumerate().all(free) {
                for (i, &w) in array.iter().enumerate() {
                    components.place(base + i as u32, LaneMap::IDENTITY, self.web(w));
                    color[w as usize] = Some((base + i as u32, LaneMap::IDENTITY));
                }
                return;
            }
        }
        failed.extend(array);
    }

    /// A colour that makes a copy to an already coloured web vanish.
    fn hinted(&self, w: u32, components: &Components, color: &[Option<(u32, LaneMap)>]) -> Option<(u32, LaneMap)> {
        let web = self.web(w);
        self.hints[w as usize].iter().find_map(|(other, pairs)| {
            let (reg, map) = color[*other as usize]?;
            let free = components.free_maps(reg, web);
            pairs
                .iter()
                .fold(free, |maps, &(own, theirs)| maps.sending(own, map.lane(theirs)))
                .first()
                .map(|m| (reg, m))
        })
    }
}
