//! The steps in order: liveness, coalescing, bound, colouring; undoing merges when there is no room.

use crate::bound::{self, Bound};
use crate::coalesce::{self, Affinity};
use crate::code::Code;
use crate::color::{self, Colors};
use crate::error::RegAllocError;
use crate::func::{Func, VReg, validate};
use crate::liveness::{self, Liveness};
use crate::output::{Output, Place, Stats};
use crate::regfile::{Method, Options, RegFile};
use crate::scan;
use crate::web::Webs;
use cranelift_entity::SecondaryMap;

/// Merges undone one by one before half of the rest is given up at a time.
const SINGLE_UNDOS: u32 = 32;

/// Gives every virtual register of `func` a place in `file`.
///
/// # Errors
/// [`RegAllocError::DoesNotFit`] when there are too few registers; the others when the input is
/// malformed or contradicts itself. There is no spilling and no rematerialization: most vec4 targets
/// have no memory to spill to.
pub fn run<F: Func + ?Sized>(func: &F, file: &RegFile, options: &Options) -> Result<Output, RegAllocError> {
    validate(func)?;
    let code = Code::new(func);
    let live = liveness::compute(&code);
    let limit = u32::from(options.max_temps.unwrap_or(file.temps).min(file.temps));
    let wishes = coalesce::affinities(&code);
    let job = Job { func, code: &code, live: &live, wishes: &wishes, limit };
    let merge = options.coalesce && file.reuse;
    match options.method {
        Method::Color if file.reuse => job.color(merge),
        _ => job.scan(merge, file.reuse),
    }
}

struct Job<'a, F: ?Sized> {
    func: &'a F,
    code: &'a Code,
    live: &'a Liveness,
    wishes: &'a [Affinity],
    limit: u32,
}

impl<F: Func + ?Sized> Job<'_, F> {
    fn webs(&self) -> Webs {
        Webs::new(self.code, self.func.arrays(), self.live)
    }

    fn scan(&self, merge: bool, reuse: bool) -> Result<Output, RegAllocError> {
        let mut webs = self.webs();
        webs.check_fixed()?;
        let single = bound::compute(&webs);
        if merge {
            coalesce::coalesce(&mut webs, self.wishes, &vec![false; self.wishes.len()], self.live);
        }
        let bound = bound::compute(&webs);
        let (color, used) = scan::scan(&webs, reuse)?;
        if used > self.limit {
            return Err(self.does_not_fit(used, single, bound));
        }
        self.output(&webs, &color, used, bound, Stats { attempts: 1, ..Stats::default() })
    }

    fn color(&self, merge: bool) -> Result<Output, RegAllocError> {
        let mut blocked = vec![!merge; self.wishes.len()];
        let mut stats = Stats::default();
        let mut full = None;
        // Least need seen, for the error.
        let mut needed = u32::MAX;
        loop {
            let mut webs = self.webs();
            webs.check_fixed()?;
            let made = coalesce::coalesce(&mut webs, self.wishes, &blocked, self.live);
            let bound = bound::compute(&webs);
            let full_bound = *full.get_or_insert(bound);
            let hints = coalesce::hints(&webs, self.wishes);
            let result = color::color(&webs, &hints, bound.regs, self.limit);
            let failed = match result {
                Ok(coloring) => {
                    stats.attempts += coloring.attempts;
                    if coloring.best.used <= self.limit {
                        let Colors { color, used, .. } = coloring.best;
                        return self.output(&webs, &color, used, bound, stats);
                    }
                    needed = needed.min(coloring.best.used);
                    coloring.failed
                }
                // A merge may have brought fixed values together; without merges it is final.
                Err(error) if made.is_empty() => return Err(error),
                Err(_) => Vec::new(),
            };
            if made.is_empty() {
                return Err(self.does_not_fit(needed, bound, full_bound));
            }
            let slow = full_bound.regs <= self.limit && stats.merges_undone < SINGLE_UNDOS;
            stats.merges_undone += self.undo(&webs, &made, &failed, &mut blocked, slow);
        }
    }

    /// `slow`: blocks the cheapest merge among those that made a failed web, or among all; else the
    /// cheaper half. Returns how many. Each call blocks at least one, so the caller's loop ends.
    fn undo(&self, webs: &Webs, made: &[u32], failed: &[u32], blocked: &mut [bool], slow: bool) -> u32 {
        // `made` is in order of worth.
        if !slow {
            let cheap = &made[made.len() / 2..];
            cheap.iter().for_each(|&m| blocked[m as usize] = true);
            return cheap.len() as u32;
        }
        let hit = |&&m: &&u32| failed.contains(&webs.home[self.wishes[m as usize].dst.as_u32() as usize].0);
        let cheapest = made.iter().rev().find(hit).or(made.last());
        cheapest.map_or(0, |&m| {
            blocked[m as usize] = true;
            1
        })
    }

    fn does_not_fit(&self, needed: u32, single: Bound, merged: Bound) -> RegAllocError {
        // Values that copies hold twice count once when merged, so the smaller bound is the sound one.
        let bound = if merged.regs < single.regs { merged } else { single };
        let point = bound.pos / 2;
        let text =
            if (point as usize) < self.code.num_insts() { self.func.describe(point as usize) } else { String::new() };
        RegAllocError::DoesNotFit { needed, limit: self.limit, point, text, live: bound.live, lower_bound: bound.regs }
    }

    fn output(
        &self,
        webs: &Webs,
        color: &[Option<(u32, crate::shape::LaneMap)>],
        used: u32,
        bound: Bound,
        mut stats: Stats,
    ) -> Result<Output, RegAllocError> {
        let mut places: SecondaryMap<VReg, Place> = SecondaryMap::with_capacity(self.code.vregs.len());
        let mut top = used;
        for (v, info) in self.code.vregs.iter().enumerate() {
            let vreg = VReg::from_u32(v as u32);
            let (w, _) = webs.home[v];
            let web = &webs.webs[w as usize];
            // A web that is never live is only read undefined, if at all: any allowed place does.
            let rest = web.maps.first().map(|map| (web.fixed.map_or(0, u32::from), map));
            if let Some((reg, map)) = color[w as usize].or(rest) {
                places[vreg] = webs.place(vreg, info.lanes, reg as u16, map);
                if self.code.named[v] {
                    top = top.max(reg + 1);
                }
            }
        }
        let at = |v: VReg| places[v];
        let removed = self.code.copies.iter().filter(|(_, copies)| coalesce::is_identity(copies, at));
        let removed: Vec<u32> = removed.map(|&(inst, _)| inst).collect();
        if top > self.limit {
            return Err(self.does_not_fit(top, bound, bound));
        }
        stats.temps = top as u16;
        // Registers that are only read undefined raise both.
        stats.bound = bound.regs.max(top.saturating_sub(used)) as u16;
        stats.webs = webs.webs.iter().filter(|w| w.is_live()).count() as u32;
        stats.moves_removed = removed.len() as u32;
        stats.moves_left = (self.code.copies.len() - removed.len()) as u32;
        Ok(Output { places, removed, stats })
    }
}
