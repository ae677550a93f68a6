//! What operands and destinations of a target may be: the rules that legalization keeps.
//!
//! In: the words of a target's table. Out: small questions about one operand or one mask.

use ir::types::{LANE_NAMES, WriteMask};
use serde::Deserialize;

/// Which lanes an operand may pick.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SwizzleRule {
    /// Any.
    Any,
    /// All in place, one lane everywhere, `yzxw`, `zxyw` or `wzyx`.
    Rotations,
    /// All in place, or one lane everywhere.
    Replicate,
    /// All in place.
    Identity,
}

impl SwizzleRule {
    /// Whether the places in `read` of a swizzle are allowed.
    pub fn allows(self, swizzle: [u8; 4], read: WriteMask) -> bool {
        self == SwizzleRule::Any || self.completed(swizzle, read).is_some()
    }

    /// A swizzle that the rule has with the same lanes at the places in `read`.
    pub fn completed(self, swizzle: [u8; 4], read: WriteMask) -> Option<[u8; 4]> {
        let first = read.lanes().next().map_or(0, |l| swizzle[l as usize]);
        let known: &[[u8; 4]] = match self {
            SwizzleRule::Any => return Some(swizzle),
            SwizzleRule::Rotations => &[[0, 1, 2, 3], [first; 4], [1, 2, 0, 3], [2, 0, 1, 3], [3, 2, 1, 0]],
            SwizzleRule::Replicate => &[[0, 1, 2, 3], [first; 4]],
            SwizzleRule::Identity => &[[0, 1, 2, 3]],
        };
        let same = |known: &&[u8; 4]| read.lanes().all(|l| known[l as usize] == swizzle[l as usize]);
        known.iter().find(same).copied()
    }
}

/// Which registers the coordinates of a lookup may be in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TexSources {
    /// Any that an operand may be in.
    #[default]
    Any,
    /// Temporaries and inputs.
    Registers,
    /// Temporaries and inputs that are no colours.
    Coordinates,
}

/// How outputs are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutputRule {
    /// As `direct_outputs` says.
    #[default]
    Any,
    /// Each by one `MOV` of a whole temporary, without a modifier.
    MovedWhole,
}

/// What loading the address register does to a fraction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AddressRule {
    /// Rounds down.
    #[default]
    Floor,
    /// Rounds to nearest, or nobody knows: only whole numbers are loaded.
    Whole,
}

/// What a source and a destination may carry.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operands {
    /// Negation of a source.
    pub neg: bool,
    /// Absolute value of a source.
    pub abs: bool,
    /// Lane choice of a source.
    pub swizzle: SwizzleRule,
    /// Saturation of a result.
    pub saturate: bool,
    /// Lane choice of texture coordinates.
    pub tex_swizzle: SwizzleRule,
    /// Negation and absolute value of texture coordinates.
    pub tex_modifiers: bool,
    /// A lookup may write the output `depth`.
    #[serde(default = "yes")]
    pub tex_to_depth: bool,
    /// A lookup may write an output.
    #[serde(default = "yes")]
    pub tex_to_output: bool,
    /// The bias or level of a lookup is lane w of the coordinates' register.
    #[serde(default)]
    pub bias_in_w: bool,
    /// A lookup writes all lanes of a temporary.
    #[serde(default)]
    pub tex_whole: bool,
    /// Where coordinates may be.
    #[serde(default)]
    pub tex_sources: TexSources,
    /// `KIL` names a register that coordinates may be in, without lane choice or sign.
    #[serde(default)]
    pub kil_plain: bool,
    /// How many lanes of its operand `KIL` looks at.
    #[serde(default = "four")]
    pub kil_lanes: u8,
    /// Inputs that are colours have ports of their own, as many as the other inputs.
    #[serde(default)]
    pub colors_apart: bool,
    /// Lookups in one dimension exist; else they read a texture of one row, and lane y is lane x.
    #[serde(default = "yes")]
    pub tex_1d: bool,
    /// How outputs are written.
    #[serde(default)]
    pub outputs: OutputRule,
    /// Saturation of what is written to an output.
    #[serde(default = "yes")]
    pub saturate_outputs: bool,
    /// Loading of the address register.
    #[serde(default)]
    pub address: AddressRule,
    /// Least and greatest constant part of a relative number, when there is a limit.
    #[serde(default)]
    pub relative_offset: Option<[i32; 2]>,
}

fn yes() -> bool {
    true
}

fn four() -> u8 {
    4
}

/// A set of write masks; an empty one stands for all.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(try_from = "Vec<String>")]
pub struct Masks(u16);

impl TryFrom<Vec<String>> for Masks {
    type Error = String;

    fn try_from(words: Vec<String>) -> Result<Masks, String> {
        let mut set = 0;
        for word in &words {
            let lane = |c: char| LANE_NAMES.iter().position(|&n| n == c);
            let mask = word.chars().try_fold(0, |m, c| lane(c).map(|l| m | 1u16 << l));
            match mask.filter(|&m| m != 0) {
                Some(mask) => set |= 1 << mask,
                None => return Err(format!("`{word}` is no write mask")),
            }
        }
        Ok(Masks(set))
    }
}

impl Masks {
    /// Whether it has the mask.
    pub fn allows(self, mask: WriteMask) -> bool {
        self.0 == 0 || self.0 >> mask.0 & 1 == 1
    }

    /// Whether it has every mask.
    pub fn is_all(self) -> bool {
        self.0 == 0
    }

    /// The masks of a set that is not all, smallest first.
    pub fn iter(self) -> impl Iterator<Item = WriteMask> {
        let mut all: Vec<WriteMask> = (1..16).filter(|&m| self.0 >> m & 1 == 1).map(WriteMask).collect();
        all.sort_by_key(|m| m.0.count_ones());
        all.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotations_are_completed_where_nothing_is_read() {
        let rule = SwizzleRule::Rotations;
        assert_eq!(rule.completed([1, 2, 2, 2], WriteMask(0b011)), Some([1, 2, 0, 3]));
        assert_eq!(rule.completed([3, 3, 3, 3], WriteMask::ALL), Some([3; 4]));
        assert_eq!(rule.completed([0, 0, 2, 0], WriteMask(0b100)), Some([0, 1, 2, 3]));
        assert_eq!(rule.completed([2, 3, 3, 3], WriteMask(0b011)), None);
        assert!(!SwizzleRule::Replicate.allows([1, 2, 0, 3], WriteMask::ALL));
    }

    #[test]
    fn masks_are_words() {
        let some = Masks::try_from(vec!["y".to_owned(), "xy".to_owned()]).unwrap();
        assert!(some.allows(WriteMask(0b10)) && some.allows(WriteMask(0b11)) && !some.allows(WriteMask(1)));
        assert!(Masks::default().allows(WriteMask(1)));
        assert!(Masks::try_from(vec!["q".to_owned()]).unwrap_err().contains('q'));
    }
}
