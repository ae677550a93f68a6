//! The judge of an allocation. It shares no code with the allocator: it reads the [`Func`] and the
//! [`Output`], computes no liveness, and follows what each physical component surely holds.
//!
//! **State** at a point: for each physical component `c` the set `H(c)` of (virtual register, lane)
//! that it surely holds, that is, whose value in the unallocated program is in `c`; and the set `U` of
//! lanes that no path has written yet. A lane in `U` may have any value, so every component holds it.
//!
//! **Meet** of two paths: `c` holds `x` when it does on both, where "holds" means `x in H(c)` or
//! `x in U` of that path; `U` is the intersection. At the entry `U` is everything.
//!
//! **Transfer** of one instruction, in the order of the machine:
//! 1. early defs empty their components;
//! 2. each lane read must be in `H` of its component, or in `U`, else the allocation is wrong;
//! 3. a copy: all at once, the component of `dst` takes what the component of `src` held; then for
//!    every component, lanes that were written leave, and `dst` joins wherever `src` is held. A copy
//!    that the allocator removed moves nothing but changes what the program calls the value;
//! 4. any other def of `x`: its component now holds exactly `x`; no other component does; `x` leaves
//!    `U`. Two lanes written into one component by one instruction leave it holding neither;
//! 5. a def that may or may not happen: its component holds `x` afterwards if it did before (or if `x`
//!    was in `U`), and nothing else; no other component holds `x`.
//!
//! Beside the flow it checks the constraints: places inside the file, lane maps injective and allowed,
//! fixed registers, arrays consecutive and in place, removed instructions really identities.

use crate::func::{DefKind, Func, LaneCopy, Operand, VReg};
use crate::output::Output;
use crate::shape::LaneMap;
use std::fmt;

/// Why an allocation is wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CheckError {
    /// An instruction reads a component that may hold something else.
    WrongValue {
        /// The instruction.
        inst: u32,
        /// The register that it means to read.
        vreg: VReg,
        /// The lane.
        lane: u8,
        /// The physical register read instead.
        reg: u16,
        /// Its component.
        component: u8,
    },
    /// A place breaks a constraint.
    BadPlace {
        /// The register.
        vreg: VReg,
        /// What is wrong.
        why: &'static str,
    },
    /// A removed instruction is not a copy of lanes onto themselves.
    BadRemoval {
        /// The instruction.
        inst: u32,
    },
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckError::WrongValue { inst, vreg, lane, reg, component } => {
                let name = |l: u8| ir::types::LANE_NAMES[l as usize];
                let (lane, component) = (name(*lane), name(*component));
                write!(
                    f,
                    "instruction {inst} reads {vreg}.{lane} from r{reg}.{component}, which may hold another value"
                )
            }
            CheckError::BadPlace { vreg, why } => write!(f, "the place of {vreg} is wrong: {why}"),
            CheckError::BadRemoval { inst } => write!(f, "instruction {inst} was removed and is not an identity copy"),
        }
    }
}

impl std::error::Error for CheckError {}

/// A lane of a virtual register, numbered `4 * register + lane`.
type Lane = u32;

#[derive(Clone, PartialEq)]
struct State {
    /// By component: the lanes surely held, ascending.
    holds: Vec<Vec<Lane>>,
    /// Bit set of the lanes never written.
    undefined: Vec<u64>,
}

impl State {
    fn is_undefined(&self, x: Lane) -> bool {
        self.undefined[x as usize / 64] >> (x % 64) & 1 == 1
    }

    fn define(&mut self, x: Lane) {
        self.undefined[x as usize / 64] &= !(1 << (x % 64));
    }

    fn held(&self, c: usize, x: Lane) -> bool {
        self.holds[c].binary_search(&x).is_ok() || self.is_undefined(x)
    }

    fn forget(&mut self, x: Lane) {
        for set in &mut self.holds {
            if let Ok(i) = set.binary_search(&x) {
                set.remove(i);
            }
        }
    }

    /// Meets with `other`; returns whether anything changed.
    fn meet(&mut self, other: &State) -> bool {
        let mut changed = false;
        for c in 0..self.holds.len() {
            let (mine, theirs) = (&self.holds[c], &other.holds[c]);
            let mut both: Vec<Lane> = mine.iter().copied().filter(|&x| other.held(c, x)).collect();
            both.extend(theirs.iter().copied().filter(|&x| self.is_undefined(x)));
            both.sort_unstable();
            both.dedup();
            if both != self.holds[c] {
                self.holds[c] = both;
                changed = true;
            }
        }
        for (mine, theirs) in self.undefined.iter_mut().zip(&other.undefined) {
            changed |= *mine & !theirs != 0;
            *mine &= theirs;
        }
        changed
    }
}

struct Checker<'a, F: ?Sized> {
    func: &'a F,
    output: &'a Output,
    removed: Vec<bool>,
}

/// Checks `output` as an allocation of `func`, which must keep the rules of [`crate::func`].
///
/// # Errors
/// The first fault found, in program order.
pub fn check<F: Func + ?Sized>(func: &F, output: &Output) -> Result<(), CheckError> {
    let mut removed = vec![false; func.num_insts()];
    for &inst in &output.removed {
        *removed.get_mut(inst as usize).ok_or(CheckError::BadRemoval { inst })? = true;
    }
    let checker = Checker { func, output, removed };
    checker.check_places()?;
    checker.check_removed()?;
    let (blocks, lanes) = (func.num_blocks(), func.num_vregs() * 4);
    if blocks == 0 {
        return Ok(());
    }
    let mut entry = State {
        holds: vec![Vec::new(); usize::from(output.stats.temps) * 4],
        undefined: vec![u64::MAX; lanes.div_ceil(64)],
    };
    // States only shrink, so this ends.
    let mut into: Vec<Option<State>> = vec![None; blocks];
    into[0] = Some(entry.clone());
    let mut todo = std::collections::BTreeSet::from([0usize]);
    while let Some(b) = todo.pop_first() {
        let Some(state) = &into[b] else { continue };
        entry.clone_from(state);
        let info = func.block(b);
        for inst in info.insts {
            // Faults are reported once the states are final.
            let _ = checker.step(inst, &mut entry);
        }
        for &s in &info.succs {
            let changed = match &mut into[s as usize] {
                Some(old) => old.meet(&entry),
                empty => {
                    *empty = Some(entry.clone());
                    true
                }
            };
            if changed {
                todo.insert(s as usize);
            }
        }
    }
    // A block that nothing reaches never runs.
    for (b, state) in into.into_iter().enumerate() {
        let Some(mut state) = state else { continue };
        for inst in func.block(b).insts {
            checker.step(inst, &mut state)?;
        }
    }
    Ok(())
}

impl<F: Func + ?Sized> Checker<'_, F> {
    fn component(&self, vreg: VReg, lane: u8) -> usize {
        let place = self.output.places[vreg];
        usize::from(place.reg) * 4 + usize::from(place.map.as_array()[lane as usize])
    }

    fn check_places(&self) -> Result<(), CheckError> {
        let bad = |vreg, why| Err(CheckError::BadPlace { vreg, why });
        let mut named = vec![false; self.func.num_vregs()];
        for inst in 0..self.func.num_insts() {
            self.func.operands(inst, &mut |op| match op {
                Operand::Use { vreg, .. } | Operand::Def { vreg, .. } => named[vreg.as_u32() as usize] = true,
            });
        }
        for v in (0..self.func.num_vregs()).filter(|&v| named[v]) {
            let vreg = VReg::from_u32(v as u32);
            let (info, place) = (self.func.vreg(vreg), self.output.places[vreg]);
            if place.reg >= self.output.stats.temps {
                return bad(vreg, "its register is past the last one");
            }
            // The set holds maps in their one spelling for this width.
            let width = usize::from(info.lanes);
            if !LaneMap::new(&place.map.as_array()[..width]).is_some_and(|m| info.maps.contains(m)) {
                return bad(vreg, "its lane map is not allowed");
            }
            if info.fixed.is_some_and(|f| f != place.reg) {
                return bad(vreg, "it is fixed in another register");
            }
        }
        for array in self.func.arrays() {
            if !array.iter().any(|m| named[m.as_u32() as usize]) {
                continue;
            }
            let base = u32::from(self.output.places[array[0]].reg);
            for (i, &member) in array.iter().enumerate() {
                let place = self.output.places[member];
                if u32::from(place.reg) != base + i as u32 || place.reg >= self.output.stats.temps {
                    return bad(member, "its array is not consecutive");
                }
                let width = usize::from(self.func.vreg(member).lanes);
                if place.map.as_array()[..width] != [0, 1, 2, 3][..width] {
                    return bad(member, "an array member must keep its lanes in place");
                }
            }
        }
        Ok(())
    }

    fn check_removed(&self) -> Result<(), CheckError> {
        for &inst in &self.output.removed {
            let copies = self.func.copies(inst as usize);
            let stays = |c: &LaneCopy| self.component(c.dst, c.dst_lane) == self.component(c.src, c.src_lane);
            if copies.is_empty() || !copies.iter().all(stays) {
                return Err(CheckError::BadRemoval { inst });
            }
        }
        Ok(())
    }

    /// Takes `state` over `inst`; the first wrong read is the error, and the state is complete anyway.
    fn step(&self, inst: u32, state: &mut State) -> Result<(), CheckError> {
        let (mut uses, mut defs) = (Vec::new(), Vec::new());
        self.func.operands(inst as usize, &mut |op| match op {
            Operand::Use { vreg, lanes } => uses.extend(lanes.lanes().map(|l| (vreg, l))),
            Operand::Def { vreg, lanes, kind } => defs.extend(lanes.lanes().map(|l| (vreg, l, kind))),
        });
        for &(vreg, lane, kind) in &defs {
            if kind == DefKind::Early {
                state.holds[self.component(vreg, lane)].clear();
            }
        }
        let copies = self.func.copies(inst as usize);
        let mut result = Ok(());
        // A copy reads only for the sake of its targets: moving junk is no fault until it is used.
        for &(vreg, lane) in uses.iter().filter(|_| copies.is_empty()) {
            let c = self.component(vreg, lane);
            if !state.held(c, vreg.as_u32() * 4 + u32::from(lane)) && result.is_ok() {
                let (reg, component) = ((c / 4) as u16, (c % 4) as u8);
                result = Err(CheckError::WrongValue { inst, vreg, lane, reg, component });
            }
        }
        if copies.is_empty() {
            self.write(&defs, state)
        } else {
            self.copy(inst, &copies, state)
        }
        result
    }

    fn write(&self, defs: &[(VReg, u8, DefKind)], state: &mut State) {
        let number = |vreg: VReg, lane: u8| vreg.as_u32() * 4 + u32::from(lane);
        let before: Vec<bool> = defs.iter().map(|&(v, l, _)| state.held(self.component(v, l), number(v, l))).collect();
        for &(vreg, lane, _) in defs {
            state.forget(number(vreg, lane));
        }
        for (i, &(vreg, lane, kind)) in defs.iter().enumerate() {
            let (c, x) = (self.component(vreg, lane), number(vreg, lane));
            let other =
                |j: usize| j != i && self.component(defs[j].0, defs[j].1) == c && number(defs[j].0, defs[j].1) != x;
            state.holds[c].clear();
            if !(0..defs.len()).any(other) && (kind != DefKind::May || before[i]) {
                state.holds[c].push(x);
            }
        }
        for &(vreg, lane, _) in defs {
            state.define(number(vreg, lane));
        }
    }

    fn copy(&self, inst: u32, copies: &[LaneCopy], state: &mut State) {
        let number = |vreg: VReg, lane: u8| vreg.as_u32() * 4 + u32::from(lane);
        let pairs: Vec<(Lane, Lane)> =
            copies.iter().map(|c| (number(c.dst, c.dst_lane), number(c.src, c.src_lane))).collect();
        let old = state.clone();
        // Where each component's content comes from; none when two writes disagree.
        let mut from: Vec<Option<usize>> = (0..old.holds.len()).map(Some).collect();
        if !self.removed[inst as usize] {
            let mut written = vec![false; from.len()];
            for c in copies {
                let (d, s) = (self.component(c.dst, c.dst_lane), self.component(c.src, c.src_lane));
                from[d] = if written[d] && from[d] != Some(s) { None } else { Some(s) };
                written[d] = true;
            }
        }
        for (c, set) in state.holds.iter_mut().enumerate() {
            set.clear();
            let Some(source) = from[c] else { continue };
            set.extend(old.holds[source].iter().copied().filter(|x| pairs.iter().all(|p| p.0 != *x)));
            set.extend(pairs.iter().filter(|p| old.holds[source].binary_search(&p.1).is_ok()).map(|p| p.0));
            set.sort_unstable();
            set.dedup();
        }
        for &(d, _) in &pairs {
            state.define(d);
        }
        for &(d, s) in &pairs {
            if old.is_undefined(s) {
                state.undefined[d as usize / 64] |= 1 << (d % 64);
            }
        }
    }
}
