//! Webs: what is coloured. A web is a virtual register plus everything coalesced with it.
//!
//! A web has 1 to 4 *slots*. Each virtual register in it keeps its lanes in distinct slots; lanes of
//! different registers may share a slot when they never hold different values that both matter. The
//! colour of a web is a register and a lane map from slots to physical lanes.

use crate::code::{Code, LaneId, lane_id};
use crate::error::RegAllocError;
use crate::func::VReg;
use crate::liveness::{DefPoint, Liveness};
use crate::output::Place;
use crate::ranges::{Pos, Ranges};
use crate::shape::{LaneMap, LaneMaps};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// One slot of a web.
#[derive(Clone, Default)]
pub struct Slot {
    /// Where any of its lanes is live.
    pub ranges: Ranges,
    /// The points that write any of its lanes, ascending.
    pub defs: Vec<DefPoint>,
}

/// A value to colour.
#[derive(Clone)]
pub struct Web {
    /// Its slots; the width is their number. Empty for a web merged into another.
    pub slots: SmallVec<[Slot; 4]>,
    /// The lane maps that all its registers allow.
    pub maps: LaneMaps,
    /// The physical register it must sit in.
    pub fixed: Option<u16>,
    /// Which array it belongs to, and at which index.
    pub array: Option<(u32, u32)>,
    /// The virtual registers in it, each with the slot of every lane.
    pub members: SmallVec<[(VReg, LaneMap); 2]>,
}

impl Web {
    /// How many slots it has.
    pub fn width(&self) -> u8 {
        self.slots.len() as u8
    }

    /// The first and last position where anything in it is live.
    pub fn span(&self) -> Option<(Pos, Pos)> {
        let start = self.slots.iter().filter_map(|s| s.ranges.start()).min()?;
        let end = self.slots.iter().filter_map(|s| s.ranges.end()).max()?;
        Some((start, end))
    }

    /// Whether there is something to place.
    pub fn is_live(&self) -> bool {
        self.slots.iter().any(|s| !s.ranges.is_empty())
    }
}

/// All webs, and which web each register belongs to.
#[derive(Clone)]
pub struct Webs {
    /// By web number; merged ones stay as empty entries.
    pub webs: Vec<Web>,
    /// For each virtual register its web and the slot of each lane.
    pub home: Vec<(u32, LaneMap)>,
    /// The arrays, as webs in order.
    pub arrays: Vec<Vec<u32>>,
    /// By register: the virtual registers that are fixed there.
    fixed: BTreeMap<u16, Vec<u32>>,
}

impl Webs {
    /// One web for each virtual register. Those for which `wanted` is false have no slots.
    pub fn new(code: &Code, arrays: &[Vec<VReg>], live: &Liveness, wanted: impl Fn(VReg) -> bool) -> Webs {
        let mut webs: Vec<Web> = Vec::with_capacity(code.vregs.len());
        let mut home = Vec::with_capacity(code.vregs.len());
        for (v, info) in code.vregs.iter().enumerate() {
            let vreg = VReg::from_u32(v as u32);
            let slots = (0..info.lanes).filter(|_| wanted(vreg)).map(|l| {
                let lane = lane_id(vreg, l);
                Slot { ranges: live.ranges[lane as usize].clone(), defs: live.defs(lane).to_vec() }
            });
            webs.push(Web {
                slots: slots.collect(),
                maps: info.maps.intersect(LaneMaps::all(info.lanes)),
                fixed: info.fixed,
                array: None,
                members: SmallVec::from_slice(&[(vreg, LaneMap::IDENTITY)]),
            });
            home.push((v as u32, LaneMap::IDENTITY));
        }
        for (a, array) in arrays.iter().enumerate() {
            for (i, member) in array.iter().enumerate() {
                let web = &mut webs[member.as_u32() as usize];
                web.array = Some((a as u32, i as u32));
                web.maps = LaneMaps::IDENTITY;
            }
        }
        let arrays = arrays.iter().map(|a| a.iter().map(|m| m.as_u32()).collect()).collect();
        let mut fixed: BTreeMap<u16, Vec<u32>> = BTreeMap::new();
        for (w, web) in (0u32..).zip(&webs) {
            if let Some(reg) = web.fixed {
                fixed.entry(reg).or_default().push(w);
            }
        }
        Webs { webs, home, arrays, fixed }
    }

    /// The webs fixed in a register.
    pub fn fixed_in(&self, reg: u16) -> impl Iterator<Item = u32> + '_ {
        // at the start each web has the number of its one virtual register, which may since have moved
        self.fixed.get(&reg).into_iter().flatten().map(|&v| self.home[v as usize].0)
    }

    /// The web and slot of a lane.
    pub fn slot_of(&self, vreg: VReg, lane: u8) -> (u32, u8) {
        let (web, map) = self.home[vreg.as_u32() as usize];
        (web, map.lane(lane))
    }

    /// The web and slot of a lane number.
    pub fn slot_of_lane(&self, lane: LaneId) -> (u32, u8) {
        self.slot_of(VReg::from_u32(lane / 4), (lane % 4) as u8)
    }

    /// Merges web `b` into web `a`, slot `j` of `b` becoming slot `into.lane(j)` of `a`; slots past
    /// the width of `a` are added. `maps` are the maps left.
    pub fn merge(&mut self, a: u32, b: u32, into: LaneMap, maps: LaneMaps) {
        let from = std::mem::replace(
            &mut self.webs[b as usize],
            Web { slots: SmallVec::new(), maps, fixed: None, array: None, members: SmallVec::new() },
        );
        let to = &mut self.webs[a as usize];
        to.maps = maps;
        to.fixed = to.fixed.or(from.fixed);
        if let Some((array, index)) = from.array {
            to.array = Some((array, index));
            self.arrays[array as usize][index as usize] = a;
        }
        for (j, slot) in from.slots.into_iter().enumerate() {
            let k = into.lane(j as u8) as usize;
            while to.slots.len() <= k {
                to.slots.push(Slot::default());
            }
            to.slots[k].ranges.union(&slot.ranges);
            add_defs(&mut to.slots[k].defs, slot.defs);
        }
        for (vreg, map) in from.members {
            let map = compose(into, map);
            self.home[vreg.as_u32() as usize] = (a, map);
            to.members.push((vreg, map));
        }
    }

    /// The place of a virtual register, given the colour of its web.
    pub fn place(&self, vreg: VReg, width: u8, reg: u16, map: LaneMap) -> Place {
        let (_, slots) = self.home[vreg.as_u32() as usize];
        let to: SmallVec<[u8; 4]> = (0..width).map(|l| map.lane(slots.lane(l))).collect();
        // A composition of injective maps is injective.
        Place { reg, map: LaneMap::new(&to).unwrap_or(LaneMap::IDENTITY) }
    }

    /// Fails when registers fixed in the same place are live at once.
    pub fn check_fixed(&self) -> Result<(), RegAllocError> {
        for array in &self.arrays {
            let mut base = None;
            for (i, &w) in array.iter().enumerate() {
                let web = &self.webs[w as usize];
                let Some(fixed) = web.fixed else { continue };
                let vreg = web.members[0].0;
                let Some(b) = usize::from(fixed).checked_sub(i) else {
                    return Err(RegAllocError::Impossible { vreg, why: "its array would start below register 0" });
                };
                if *base.get_or_insert(b) != b {
                    return Err(RegAllocError::Impossible { vreg, why: "its array is fixed in two places" });
                }
            }
        }
        Ok(())
    }
}

/// Adds def points in order. The many stay where they are if the others are few.
fn add_defs(to: &mut Vec<DefPoint>, mut from: Vec<DefPoint>) {
    if from.len() > to.len() {
        std::mem::swap(to, &mut from);
    }
    if from.len() <= 4 {
        for def in from {
            let at = to.partition_point(|d| d.pos <= def.pos);
            to.insert(at, def);
        }
    } else {
        to.extend(from);
        // Two sorted runs: a stable sort merges them in linear time.
        to.sort_by_key(|d| d.pos);
    }
}

/// `first`, then `then`: lane `l` goes to `then[first[l]]`.
fn compose(then: LaneMap, first: LaneMap) -> LaneMap {
    let to = first.as_array().map(|l| then.lane(l));
    LaneMap::new(&to).unwrap_or(LaneMap::IDENTITY)
}

/// The maps of the merged web: those that agree with what `a` and `b` allow, where slot `j` of `b`
/// becomes slot `into.lane(j)`.
pub fn joint_maps(a: (LaneMaps, u8), b: (LaneMaps, u8), into: LaneMap, width: u8) -> LaneMaps {
    let mut joint = LaneMaps::EMPTY;
    for map in LaneMaps::all(width).iter() {
        let narrowed = LaneMap::new(&map.as_array()[..a.1 as usize]);
        let through: SmallVec<[u8; 4]> = (0..b.1).map(|j| map.lane(into.lane(j))).collect();
        let through = LaneMap::new(&through);
        if narrowed.is_some_and(|m| a.0.contains(m)) && through.is_some_and(|m| b.0.contains(m)) {
            joint.insert(map);
        }
    }
    joint
}
