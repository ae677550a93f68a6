//! Literals: equal ones once, lanes shared.
//!
//! During selection a literal operand names an entry of a list with all four lanes in order
//! (register number `FIRST` and up). Here the lanes that instructions really read are gathered,
//! widest need first, into as few constant registers as first fit finds, and the operands are
//! rewritten to lanes of those.

use super::placed;
use crate::isa::{SwizzleRule, Target};
use crate::mach::{Constant, File, Program, Reg};
use ir::types::WriteMask;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Numbers of literal operands before they are placed start here.
pub(crate) const FIRST: u32 = 1 << 20;

/// Whether the register is a literal that has no place yet.
pub(super) fn is_literal(reg: Reg) -> bool {
    reg.file == File::Const && reg.index >= FIRST
}

/// Some lanes in the order of their bits, each once; the rest is [`Key::default`]'s.
type Key = (u8, [u32; 4]);

/// The registers made so far. All questions go through an index, because a shader may have tens of
/// thousands of literals, and one constant may be a lane of most of them.
#[derive(Default)]
struct Pool {
    regs: Vec<Vec<u32>>,
    /// For each set of lanes and each number of lanes in use the registers that have them all,
    /// smallest number first. A register that has grown since is dropped when it comes up.
    index: FxHashMap<(Key, usize), BinaryHeap<Reverse<usize>>>,
}

impl Pool {
    /// Puts the lanes into the register that lacks the fewest of them and has room, the first of
    /// such, or into a new one.
    fn place(&mut self, need: &[u32]) {
        let index = self.best(need).unwrap_or_else(|| {
            self.regs.push(Vec::new());
            self.regs.len() - 1
        });
        let before = self.regs[index].len();
        for &bits in need {
            if !self.regs[index].contains(&bits) {
                self.regs[index].push(bits);
            }
        }
        if self.regs[index].len() > before {
            for key in subsets(&self.regs[index]) {
                self.index.entry((key, self.regs[index].len())).or_default().push(Reverse(index));
            }
        }
    }

    fn best(&mut self, need: &[u32]) -> Option<usize> {
        let keys = subsets(need);
        (0..=need.len()).find_map(|missing| {
            let shared = keys.iter().filter(|k| usize::from(k.0) == need.len() - missing);
            shared.filter_map(|&key| self.first(key, 4 - missing)).min()
        })
    }

    /// The first register that has all those lanes, and at most so many.
    fn first_with(&mut self, lanes: &[u32], most: usize) -> Option<usize> {
        let mut distinct: Vec<u32> = Vec::new();
        for &bits in lanes {
            if !distinct.contains(&bits) {
                distinct.push(bits);
            }
        }
        let whole = subsets(&distinct).into_iter().max_by_key(|k| k.0)?;
        self.first(whole, most)
    }

    fn first(&mut self, key: Key, most: usize) -> Option<usize> {
        let mut best: Option<usize> = None;
        for used in usize::from(key.0)..=most {
            let Some(heap) = self.index.get_mut(&(key, used)) else { continue };
            while heap.peek().is_some_and(|&Reverse(reg)| self.regs[reg].len() != used) {
                heap.pop();
            }
            best = best.into_iter().chain(heap.peek().map(|r| r.0)).min();
        }
        best
    }
}

/// All sets of the lanes, which differ; the empty one too, which every register has.
fn subsets(lanes: &[u32]) -> SmallVec<[Key; 16]> {
    let mut sorted: SmallVec<[u32; 4]> = lanes.into();
    sorted.sort_unstable();
    (0..1usize << sorted.len())
        .map(|set| {
            let mut key = Key::default();
            for (_, &bits) in sorted.iter().enumerate().filter(|(lane, _)| set >> lane & 1 == 1) {
                key.1[key.0 as usize] = bits;
                key.0 += 1;
            }
            key
        })
        .collect()
}

/// Places all literals of a shader's functions after the uniforms, which the first one lists.
pub(crate) fn pool(programs: &mut [Program], literals: &[[u32; 4]], target: &Target) {
    if target.operands.swizzle != SwizzleRule::Any || target.registers.constant.ports < 3 {
        return placed::pool(programs, literals, target);
    }
    let mut needs: Vec<Vec<u32>> = Vec::new();
    for inst in programs.iter().flat_map(|p| &p.insts) {
        for (n, src) in inst.srcs.iter().enumerate().filter(|(_, s)| is_literal(s.reg)) {
            let mut lanes: Vec<u32> = Vec::new();
            for lane in inst.lanes_read(n).lanes() {
                let bits = literals[(src.reg.index - FIRST) as usize][lane as usize];
                if !lanes.contains(&bits) {
                    lanes.push(bits);
                }
            }
            needs.push(lanes);
        }
    }
    needs.sort_by_key(|n| Reverse(n.len())); // stable: then in order of use
    let mut pool = Pool::default();
    for need in needs {
        pool.place(&need);
    }
    let Some(base) = programs.first().map(|main| main.constants.len() as u32) else { return };
    for inst in programs.iter_mut().flat_map(|p| &mut p.insts) {
        for n in 0..inst.srcs.len() {
            let src = inst.srcs[n];
            if !is_literal(src.reg) {
                continue;
            }
            let bits = literals[(src.reg.index - FIRST) as usize];
            let read = inst.places_read(n);
            let wanted: Vec<u32> = read.lanes().map(|p| bits[src.swizzle[p as usize] as usize]).collect();
            let Some(index) = pool.first_with(&wanted, 4) else { continue };
            let place = |bits: u32| pool.regs[index].iter().position(|&b| b == bits).unwrap_or(0) as u8;
            let src = &mut inst.srcs[n];
            src.reg = Reg::new(File::Const, base + index as u32);
            for p in WriteMask::ALL.lanes().filter(|&p| read.has(p)) {
                src.swizzle[p as usize] = place(bits[src.swizzle[p as usize] as usize]);
            }
        }
        inst.normalize();
    }
    programs[0].constants.extend(pool.regs.into_iter().map(|lanes| {
        let mut bits = [0; 4];
        bits[..lanes.len()].copy_from_slice(&lanes);
        Constant::Literal { bits, used: lanes.len() as u8 }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the index stands for: all registers looked at, one by one.
    fn place_slowly(pool: &mut Vec<Vec<u32>>, need: &[u32]) {
        let missing = |reg: &[u32]| need.iter().filter(|b| !reg.contains(b)).count();
        let fits = |reg: &[u32]| reg.len() + missing(reg) <= 4;
        let best = (0..pool.len()).filter(|&i| fits(&pool[i])).min_by_key(|&i| missing(&pool[i]));
        let index = best.unwrap_or_else(|| {
            pool.push(Vec::new());
            pool.len() - 1
        });
        for &bits in need {
            if !pool[index].contains(&bits) {
                pool[index].push(bits);
            }
        }
    }

    #[test]
    fn the_index_finds_what_a_search_finds() {
        let mut state = 1u32;
        let mut random = |n: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % n
        };
        for values in [3, 8, 40, 1000] {
            let (mut pool, mut slow) = (Pool::default(), Vec::new());
            let mut needs = Vec::new();
            for _ in 0..300 {
                let mut need: Vec<u32> = Vec::new();
                for _ in 0..=random(4) {
                    let bits = random(values);
                    if !need.contains(&bits) {
                        need.push(bits);
                    }
                }
                pool.place(&need);
                place_slowly(&mut slow, &need);
                assert_eq!(pool.regs, slow);
                needs.push(need);
            }
            for need in needs {
                let found = slow.iter().position(|reg| need.iter().all(|b| reg.contains(b)));
                assert_eq!(pool.first_with(&need, 4), found);
            }
        }
    }
}
