//! Lane maps: where the lanes of a value sit inside one physical register.
//!
//! A [`LaneMap`] sends each logical lane to a physical lane, injectively. A value of width 4 or 3
//! has 24 of them, width 2 has 12, width 1 has 4. A [`LaneMaps`] is a set of lane maps as a bit
//! set, which is how producers and consumers state what they can encode: a texture unit without a
//! result swizzle allows the identity only, a scalar unit that writes w allows the maps that send
//! lane 0 to w. An unrestricted value allows all, because on a machine with free swizzles and write
//! masks moving a value to other lanes costs nothing.
//!
//! Invariant: every map is stored as a full permutation of the four lanes; lanes at or above the
//! value's width take the physical lanes that are left, in ascending order. So a map has one
//! spelling only, and applying it to any lane 0 to 3 is defined.

use ir::types::{LANE_NAMES, Swizzle, WriteMask};
use std::fmt;

/// Number of permutations of four lanes.
const PERMUTATIONS: usize = 24;

/// All permutations of the four lanes in lexicographic order; the identity is the first.
const TABLE: [[u8; 4]; PERMUTATIONS] = permutations();

/// For each packed spelling (two bits a lane) the index in [`TABLE`], or 255 when a lane repeats.
const INDEX: [u8; 256] = indices();

/// `SENDS[l][p]`: the maps that send logical lane `l` to physical lane `p`.
const SENDS: [[u32; 4]; 4] = sends();

/// The maps of each width 1 to 4 (entry 0 is unused).
const OF_WIDTH: [u32; 5] = [0, of_width(1), of_width(2), of_width(3), of_width(4)];

const fn permutations() -> [[u8; 4]; PERMUTATIONS] {
    let mut table = [[0; 4]; PERMUTATIONS];
    let (mut code, mut n) = (0u32, 0);
    while code < 256 {
        // Most significant pair first, so that counting up is lexicographic order.
        let p = [(code >> 6 & 3) as u8, (code >> 4 & 3) as u8, (code >> 2 & 3) as u8, (code & 3) as u8];
        if (1 << p[0] | 1 << p[1] | 1 << p[2] | 1 << p[3]) == 15 {
            table[n] = p;
            n += 1;
        }
        code += 1;
    }
    table
}

const fn pack(p: [u8; 4]) -> usize {
    (p[0] as usize) << 6 | (p[1] as usize) << 4 | (p[2] as usize) << 2 | p[3] as usize
}

const fn indices() -> [u8; 256] {
    let mut index = [255; 256];
    let mut i = 0;
    while i < PERMUTATIONS {
        index[pack(TABLE[i])] = i as u8;
        i += 1;
    }
    index
}

const fn sends() -> [[u32; 4]; 4] {
    let mut sends = [[0; 4]; 4];
    let mut i = 0;
    while i < PERMUTATIONS {
        let mut l = 0;
        while l < 4 {
            sends[l][TABLE[i][l] as usize] |= 1 << i;
            l += 1;
        }
        i += 1;
    }
    sends
}

const fn of_width(width: usize) -> u32 {
    let (mut set, mut i) = (0, 0);
    while i < PERMUTATIONS {
        let (mut ascending, mut l) = (true, width);
        while l + 1 < 4 {
            ascending &= TABLE[i][l] < TABLE[i][l + 1];
            l += 1;
        }
        if ascending {
            set |= 1 << i;
        }
        i += 1;
    }
    set
}

/// Where each logical lane of a value sits in its physical register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LaneMap([u8; 4]);

impl LaneMap {
    /// Every lane in its own place.
    pub const IDENTITY: LaneMap = LaneMap([0, 1, 2, 3]);

    /// The map that sends lane `i` to `to[i]`; lanes past the end of `to` get the lanes left over,
    /// ascending. `None` when `to` is longer than four, names a lane above 3, or names one twice.
    pub fn new(to: &[u8]) -> Option<LaneMap> {
        if to.len() > 4 || to.iter().any(|&l| l > 3) {
            return None;
        }
        let mut all = [0; 4];
        let mut taken = 0u8;
        for (i, &l) in to.iter().enumerate() {
            if taken >> l & 1 == 1 {
                return None;
            }
            taken |= 1 << l;
            all[i] = l;
        }
        let rest = (0..4u8).filter(|l| taken >> l & 1 == 0);
        for (slot, l) in all[to.len()..].iter_mut().zip(rest) {
            *slot = l;
        }
        Some(LaneMap(all))
    }

    /// The physical lane of logical lane `lane`.
    ///
    /// # Panics
    /// When `lane` is above 3.
    pub fn lane(self, lane: u8) -> u8 {
        self.0[lane as usize]
    }

    /// All four entries: logical lane to physical lane.
    pub fn as_array(self) -> [u8; 4] {
        self.0
    }

    /// The write mask over physical lanes for a mask over logical lanes.
    pub fn mask(self, mask: WriteMask) -> WriteMask {
        WriteMask(mask.lanes().fold(0, |bits, l| bits | 1 << self.lane(l)))
    }

    /// The physical swizzle that reads what `swizzle` reads of the value.
    pub fn swizzle(self, swizzle: Swizzle) -> Swizzle {
        let mut lanes = [0; 4];
        let n = swizzle.lanes().len();
        for (to, &l) in lanes.iter_mut().zip(swizzle.lanes()) {
            *to = self.lane(l);
        }
        Swizzle::new(&lanes[..n])
    }

    fn index(self) -> u32 {
        u32::from(INDEX[pack(self.0)])
    }
}

impl fmt::Display for LaneMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|&l| write!(f, "{}", LANE_NAMES[l as usize]))
    }
}

impl fmt::Debug for LaneMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LaneMap({self})")
    }
}

/// A set of lane maps.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LaneMaps(u32);

impl LaneMaps {
    /// The identity alone, for any width.
    pub const IDENTITY: LaneMaps = LaneMaps(1);
    /// The empty set: a value that cannot be placed.
    pub const EMPTY: LaneMaps = LaneMaps(0);

    /// Every map of a value with `width` lanes (24, 24, 12, 4 for widths 4, 3, 2, 1).
    ///
    /// # Panics
    /// When `width` is not 1 to 4.
    pub fn all(width: u8) -> LaneMaps {
        assert!((1..=4).contains(&width), "width {width}");
        LaneMaps(OF_WIDTH[width as usize])
    }

    /// The maps in this set that send logical lane `lane` to physical lane `to`.
    pub fn sending(self, lane: u8, to: u8) -> LaneMaps {
        LaneMaps(self.0 & SENDS[lane as usize][to as usize])
    }

    /// The maps in this set that send logical lane `lane` to one of the physical lanes `to`.
    pub fn sending_into(self, lane: u8, to: WriteMask) -> LaneMaps {
        LaneMaps(to.lanes().fold(0, |set, p| set | self.0 & SENDS[lane as usize][p as usize]))
    }

    /// The maps that are in both sets.
    pub fn intersect(self, other: LaneMaps) -> LaneMaps {
        LaneMaps(self.0 & other.0)
    }

    /// Whether `map` is in the set.
    pub fn contains(self, map: LaneMap) -> bool {
        self.0 >> map.index() & 1 == 1
    }

    /// Adds `map`.
    pub fn insert(&mut self, map: LaneMap) {
        self.0 |= 1 << map.index();
    }

    /// Whether there is no map in it.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many maps are in it.
    pub fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// The maps in lexicographic order, the identity first.
    pub fn iter(self) -> impl Iterator<Item = LaneMap> {
        (0..PERMUTATIONS).filter(move |i| self.0 >> i & 1 == 1).map(|i| LaneMap(TABLE[i]))
    }

    /// The first map in lexicographic order.
    pub fn first(self) -> Option<LaneMap> {
        (self.0 != 0).then(|| LaneMap(TABLE[self.0.trailing_zeros() as usize]))
    }
}

impl fmt::Debug for LaneMaps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(|m| m.to_string())).finish()
    }
}

/// How many colours of a node one neighbour can take away at most, inside one register: the q of
/// Runeson and Nystroem, computed from the lane maps. `n` is the node's allowed maps and width, `c`
/// the neighbour's.
pub fn worst_blocked((n, n_width): (LaneMaps, u8), (c, c_width): (LaneMaps, u8)) -> u32 {
    let lanes = |map: LaneMap, width: u8| map.mask(WriteMask::first(width)).0;
    // Distinct lane sets only: several maps of the neighbour occupy the same lanes.
    let occupied = c.iter().fold(0u16, |sets, m| sets | 1 << lanes(m, c_width));
    (0..16u8)
        .filter(|set| occupied >> set & 1 == 1)
        .map(|set| n.iter().filter(|&m| lanes(m, n_width) & set != 0).count() as u32)
        .max()
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_maps_by_width() {
        assert_eq!([1, 2, 3, 4].map(|w| LaneMaps::all(w).len()), [4, 12, 24, 24]);
        for w in 1..=4 {
            assert_eq!(LaneMaps::all(w).first(), Some(LaneMap::IDENTITY));
        }
    }

    #[test]
    fn maps_have_one_spelling() {
        assert_eq!(LaneMap::new(&[2]).unwrap().as_array(), [2, 0, 1, 3]);
        assert_eq!(LaneMap::new(&[1, 1]), None);
        assert_eq!(LaneMap::new(&[4]), None);
        for w in 1..=4u8 {
            for m in LaneMaps::all(w).iter() {
                assert_eq!(LaneMap::new(&m.as_array()[..w as usize]), Some(m));
            }
        }
    }

    #[test]
    fn narrowing() {
        assert_eq!(LaneMaps::all(1).sending(0, 3).len(), 1);
        assert_eq!(LaneMaps::all(3).sending(0, 0).len(), 6);
        assert_eq!(LaneMaps::all(2).sending_into(0, WriteMask(0b0011)).len(), 6);
        assert!(LaneMaps::IDENTITY.sending(0, 1).is_empty());
    }

    #[test]
    fn masks_and_swizzles_follow_the_map() {
        let map = LaneMap::new(&[3, 1]).unwrap();
        assert_eq!(map.mask(WriteMask(0b01)), WriteMask(0b1000));
        assert_eq!(map.swizzle(Swizzle::new(&[1, 0, 0])).lanes(), &[1, 3, 3]);
    }

    #[test]
    fn q_comes_from_the_maps() {
        let all = |w| (LaneMaps::all(w), w);
        assert_eq!(worst_blocked(all(1), all(1)), 1);
        assert_eq!(worst_blocked(all(1), all(3)), 3);
        assert_eq!(worst_blocked(all(3), all(1)), 18);
        assert_eq!(worst_blocked(all(2), all(2)), 10);
        assert_eq!(worst_blocked(all(4), all(1)), 24);
        // A neighbour fixed in w cannot touch a value fixed in xyz.
        let w_only = LaneMaps::all(1).sending(0, 3);
        assert_eq!(worst_blocked((LaneMaps::IDENTITY, 3), (w_only, 1)), 0);
    }
}
