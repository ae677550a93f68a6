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
const SINGLE_UNDOS: usize = 32;

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
    let merge = options.coalesce && file.reuse;
    let order = if merge { best_order(func, &code, &live, &wishes) } else { Vec::new() };
    let job = Job { func, code: &code, live: &live, wishes: &wishes, order, limit };
    match options.method {
        Method::Color if file.reuse => job.color(merge),
        _ => job.scan(merge, file.reuse),
    }
}

fn best_order<F: Func + ?Sized>(func: &F, code: &Code, live: &Liveness, wishes: &[Affinity]) -> Vec<u32> {
    let mut wanted = vec![false; code.vregs.len()];
    wishes.iter().flat_map(|w| [w.dst, w.src]).for_each(|v| wanted[v.as_u32() as usize] = true);
    wanted.iter_mut().zip(&code.vregs).for_each(|(w, v)| *w |= v.fixed.is_some());
    let webs = Webs::new(code, func.arrays(), live, |v| wanted[v.as_u32() as usize]);
    coalesce::best_order(&webs, wishes)
}

/// Merges taken back after a fit, one attempt each.
const REDOS: u32 = 24;

/// One try with a set of merges.
struct Attempt {
    /// The allocation, when it is within the limit.
    output: Option<Output>,
    bound: Bound,
    /// Registers that the best colouring used.
    needed: u32,
    attempts: u32,
    /// Wishes whose merge was made, dearest first.
    made: Vec<u32>,
    /// Those of them that went into webs that found no room.
    failed: Vec<u32>,
}

struct Job<'a, F: ?Sized> {
    func: &'a F,
    code: &'a Code,
    live: &'a Liveness,
    wishes: &'a [Affinity],
    /// In which order the wishes are tried.
    order: Vec<u32>,
    limit: u32,
}

impl<F: Func + ?Sized> Job<'_, F> {
    fn webs(&self) -> Webs {
        Webs::new(self.code, self.func.arrays(), self.live, |_| true)
    }

    fn scan(&self, merge: bool, reuse: bool) -> Result<Output, RegAllocError> {
        let mut webs = self.webs();
        webs.check_fixed()?;
        let single = bound::compute(&webs);
        if merge {
            coalesce::coalesce(&mut webs, self.wishes, &self.order, &vec![false; self.wishes.len()]);
        }
        let bound = bound::compute(&webs);
        let (color, used) = match scan::scan(&webs, reuse) {
            // Merges may have brought fixed values together; without them it is final.
            Err(RegAllocError::Impossible { .. }) if merge => return self.scan(false, reuse),
            done => done?,
        };
        if used > self.limit {
            return Err(self.does_not_fit(used, single, bound));
        }
        self.output(&webs, &color, used, bound, Stats { attempts: 1, ..Stats::default() })
    }

    fn color(&self, merge: bool) -> Result<Output, RegAllocError> {
        let mut blocked = vec![!merge; self.wishes.len()];
        let mut attempts = 0;
        let mut full = None;
        // Least need seen, for the error.
        let mut needed = u32::MAX;
        // Wishes blocked here, cheapest first.
        let mut undone: Vec<u32> = Vec::new();
        loop {
            let tried = self.attempt(&blocked)?;
            attempts += tried.attempts;
            let merged = *full.get_or_insert(tried.bound);
            if let Some(mut output) = tried.output {
                self.redo(&mut output, &mut blocked, &mut undone, &mut attempts)?;
                output.stats.merges_undone = undone.len() as u32;
                output.stats.attempts = attempts;
                return Ok(output);
            }
            needed = needed.min(tried.needed);
            if tried.made.is_empty() {
                return Err(self.does_not_fit(needed, tried.bound, merged));
            }
            let slow = merged.regs <= self.limit && undone.len() < SINGLE_UNDOS;
            undone.extend(self.undo(&tried, &mut blocked, slow));
        }
    }

    /// Allocates with the wishes that are not blocked.
    fn attempt(&self, blocked: &[bool]) -> Result<Attempt, RegAllocError> {
        let mut webs = self.webs();
        webs.check_fixed()?;
        let made = coalesce::coalesce(&mut webs, self.wishes, &self.order, blocked);
        let bound = bound::compute(&webs);
        let hints = coalesce::hints(&webs, self.wishes);
        let mut tried = Attempt { output: None, bound, needed: u32::MAX, attempts: 0, made, failed: Vec::new() };
        let coloring = match color::color(&webs, &hints, bound.regs, self.limit) {
            Ok(coloring) => coloring,
            // Merges may have brought fixed values together; without them it is final.
            Err(_) if !tried.made.is_empty() => return Ok(tried),
            Err(error) => return Err(error),
        };
        tried.attempts = coloring.attempts;
        let Colors { color, used, .. } = coloring.best;
        tried.needed = used;
        if used <= self.limit {
            tried.output = Some(self.output(&webs, &color, used, bound, Stats::default())?);
        } else {
            // As wishes whose merge went into a web that found no room.
            let home = |m: u32| webs.home[self.wishes[m as usize].dst.as_u32() as usize].0;
            let mut failed = vec![false; webs.webs.len()];
            coloring.failed.iter().for_each(|&w| failed[w as usize] = true);
            tried.failed = tried.made.iter().copied().filter(|&m| failed[home(m) as usize]).collect();
        }
        Ok(tried)
    }

    /// Undoing stops at the first fit, which may have given up more than it had to: tries to take
    /// merges back, dearest first, for a bounded number of attempts.
    fn redo(
        &self,
        output: &mut Output,
        blocked: &mut [bool],
        undone: &mut Vec<u32>,
        attempts: &mut u32,
    ) -> Result<(), RegAllocError> {
        undone.sort_unstable();
        let mut budget = REDOS;
        let mut i = 0;
        while i < undone.len() && budget > 0 {
            let wish = undone[i] as usize;
            blocked[wish] = false;
            let tried = self.attempt(blocked)?;
            *attempts += tried.attempts;
            budget -= 1;
            match tried.output.filter(|o| o.stats.moves_left <= output.stats.moves_left) {
                Some(better) => {
                    *output = better;
                    undone.remove(i);
                }
                None => {
                    blocked[wish] = true;
                    i += 1;
                }
            }
        }
        Ok(())
    }

    /// `slow`: blocks the cheapest merge among those that made a failed web, or among all; else the
    /// cheaper half. Returns them. Each call blocks at least one, so the caller's loop ends.
    fn undo(&self, tried: &Attempt, blocked: &mut [bool], slow: bool) -> Vec<u32> {
        // `made` is in order of worth.
        let made = &tried.made;
        let cheap = match tried.failed.last().or(made.last()) {
            Some(&one) if slow => vec![one],
            _ => made[made.len() / 2..].to_vec(),
        };
        cheap.iter().for_each(|&m| blocked[m as usize] = true);
        cheap
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
