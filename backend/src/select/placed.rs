//! Literals of a target that reads few constants at once or picks lanes in few orders: those of one
//! instruction stand in one register, and a vector of different lanes stands with each in its place.
//!
//! In: the same as [`super::literals`], whose registers are filled without regard to either. Out: the
//! same. What one instruction needs and no register can hold together is placed operand by operand, and
//! legalization copies what has no port.

use super::literals::{FIRST, is_literal};
use crate::isa::{SwizzleRule, Target};
use crate::mach::{Constant, File, Inst, Program, Reg};
use rustc_hash::FxHashSet;
use std::cmp::Reverse;

/// A constant register; lanes without a value are free.
type Lanes = [Option<u32>; 4];

/// What must stand together.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Need {
    /// In these lanes.
    fixed: Lanes,
    /// In any lane, each once.
    anywhere: Vec<u32>,
}

impl Need {
    /// Adds one operand: the bits by place.
    fn add(&mut self, places: &[(u8, u32)], rule: SwizzleRule) -> Option<()> {
        let one = places.iter().all(|p| p.1 == places[0].1);
        for &(place, bits) in places {
            if rule == SwizzleRule::Any || one {
                if !self.anywhere.contains(&bits) {
                    self.anywhere.push(bits);
                }
            } else if *self.fixed[place as usize].get_or_insert(bits) != bits {
                return None;
            }
        }
        self.put(Lanes::default()).map(drop)
    }

    fn len(&self) -> usize {
        self.fixed.iter().flatten().count() + self.anywhere.len()
    }

    /// The register with what it needs, if there is room.
    fn put(&self, mut reg: Lanes) -> Option<Lanes> {
        for (lane, bits) in reg.iter_mut().zip(self.fixed) {
            if let Some(bits) = bits
                && *lane.get_or_insert(bits) != bits
            {
                return None;
            }
        }
        for &bits in &self.anywhere {
            if !reg.contains(&Some(bits)) {
                *reg.iter_mut().find(|l| l.is_none())? = Some(bits);
            }
        }
        Some(reg)
    }
}

/// The literal operands of an instruction: which source, and its bits by place.
fn operands(inst: &Inst, literals: &[[u32; 4]]) -> Vec<(usize, Vec<(u8, u32)>)> {
    let sources = inst.srcs.iter().enumerate().filter(|(_, s)| is_literal(s.reg));
    let places = |(n, src): (usize, &crate::mach::Src)| {
        let bits = literals[(src.reg.index - FIRST) as usize];
        (n, inst.places_read(n).lanes().map(|p| (p, bits[src.swizzle[p as usize] as usize])).collect())
    };
    sources.map(places).collect()
}

/// What the operands need together, or else each for itself.
fn needs(operands: &[(usize, Vec<(u8, u32)>)], rule: SwizzleRule) -> Vec<(Need, Vec<usize>)> {
    let need = |some: &[(usize, Vec<(u8, u32)>)]| {
        let mut need = Need::default();
        some.iter().try_for_each(|(_, places)| need.add(places, rule))?;
        Some((need, some.iter().map(|o| o.0).collect::<Vec<usize>>()))
    };
    match need(operands) {
        Some(all) => vec![all],
        None => operands.chunks(1).filter_map(need).collect(),
    }
}

/// Places all literals of a shader's functions after the uniforms, which the first one lists.
pub(super) fn pool(programs: &mut [Program], literals: &[[u32; 4]], target: &Target) {
    let rule = target.operands.swizzle;
    let mut all: Vec<Need> = Vec::new();
    let mut seen: FxHashSet<Need> = FxHashSet::default();
    for inst in programs.iter().flat_map(|p| &p.insts) {
        for (need, _) in needs(&operands(inst, literals), rule) {
            if need.len() > 0 && seen.insert(need.clone()) {
                all.push(need);
            }
        }
    }
    all.sort_by_key(|n| Reverse(n.len())); // stable: then in order of use
    let mut regs: Vec<Lanes> = Vec::new();
    for need in &all {
        let used = |lanes: &Lanes| lanes.iter().flatten().count();
        let ways = regs.iter().enumerate().filter_map(|(at, reg)| Some((at, need.put(*reg)?, used(reg))));
        match ways.min_by_key(|(at, with, before)| (used(with) - before, *at)) {
            Some((at, with, _)) => regs[at] = with,
            None => regs.extend(need.put(Lanes::default())),
        }
    }
    let Some(base) = programs.first().map(|main| main.constants.len() as u32) else { return };
    for inst in programs.iter_mut().flat_map(|p| &mut p.insts) {
        let operands = operands(inst, literals);
        for (need, sources) in needs(&operands, rule) {
            let Some(at) = regs.iter().position(|reg| need.put(*reg) == Some(*reg)) else { continue };
            for (n, places) in operands.iter().filter(|(n, _)| sources.contains(n)) {
                let src = &mut inst.srcs[*n];
                src.reg = Reg::new(File::Const, base + at as u32);
                for &(place, bits) in places {
                    let in_place = regs[at][place as usize] == Some(bits);
                    let lane = regs[at].iter().position(|&b| b == Some(bits)).unwrap_or(0) as u8;
                    let one = places.iter().all(|p| p.1 == bits);
                    src.swizzle[place as usize] = if in_place && !one { place } else { lane };
                }
            }
        }
        inst.normalize();
    }
    programs[0].constants.extend(regs.into_iter().map(|lanes| Constant::Literal {
        bits: lanes.map(Option::unwrap_or_default),
        used: lanes.iter().rposition(Option::is_some).map_or(0, |last| last as u8 + 1),
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_stands_in_place_and_single_numbers_beside_it() {
        let mut need = Need::default();
        need.add(&[(0, 7), (1, 8)], SwizzleRule::Rotations).unwrap();
        need.add(&[(0, 9), (1, 9)], SwizzleRule::Rotations).unwrap();
        assert_eq!(need.put(Lanes::default()), Some([Some(7), Some(8), Some(9), None]));
        assert!(need.clone().add(&[(0, 8), (1, 7)], SwizzleRule::Rotations).is_none());
        assert!(need.put([Some(1), None, None, None]).is_none());
        assert_eq!(need.put([Some(7), None, None, Some(9)]), Some([Some(7), Some(8), None, Some(9)]));
    }

    #[test]
    fn any_order_takes_any_lane() {
        let mut need = Need::default();
        need.add(&[(0, 7), (1, 8)], SwizzleRule::Any).unwrap();
        need.add(&[(0, 8), (1, 7)], SwizzleRule::Any).unwrap();
        assert_eq!(need.len(), 2);
        need.add(&[(0, 1), (1, 2)], SwizzleRule::Any).unwrap();
        assert!(need.add(&[(0, 3)], SwizzleRule::Any).is_none());
    }
}
