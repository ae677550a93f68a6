//! What comes out: a place for each virtual register, the copies that vanish, and statistics.

use crate::func::VReg;
use crate::shape::LaneMap;
use cranelift_entity::SecondaryMap;

/// Where a virtual register sits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The physical register.
    pub reg: u16,
    /// Its physical lane for each logical lane.
    pub map: LaneMap,
}

impl Default for Place {
    fn default() -> Place {
        Place { reg: 0, map: LaneMap::IDENTITY }
    }
}

/// A finished allocation.
#[derive(Clone, PartialEq, Debug)]
pub struct Output {
    /// The place of each virtual register. A register that no instruction names is at the default
    /// place and occupies nothing.
    pub places: SecondaryMap<VReg, Place>,
    /// Instructions that copy each lane onto itself, ascending: the caller drops them.
    pub removed: Vec<u32>,
    /// What it took.
    pub stats: Stats,
}

impl Output {
    /// The place of `vreg`.
    pub fn place(&self, vreg: VReg) -> Place {
        self.places[vreg]
    }
}

/// Numbers about an allocation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Registers used: the highest index plus one.
    pub temps: u16,
    /// No allocation of the same values, coalesced as they are, can use fewer.
    pub bound: u16,
    /// Values coloured, after coalescing.
    pub webs: u32,
    /// Copies that vanish.
    pub moves_removed: u32,
    /// Copies that stay.
    pub moves_left: u32,
    /// Merges undone because the result did not fit.
    pub merges_undone: u32,
    /// Colouring attempts made.
    pub attempts: u32,
}
