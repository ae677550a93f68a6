//! Parallel moves on edges: many lane copies that happen at once, turned into instructions that happen
//! one after another.
//!
//! In: copies `(dst, dst lane, src, src lane)` over any kind of register name, so it serves before
//! allocation (virtual registers) and after it (physical ones). Out: moves of one source register to
//! one destination register each, in an order where no move overwrites what a later one reads. One
//! instruction reads before it writes, so a permutation of lanes inside one register is one move. A
//! cycle over several registers takes a fresh register, asked of the caller.
//!
//! Invariants: copies of a lane onto itself vanish; at most two moves for each pair of registers.

use smallvec::SmallVec;

/// One lane copy of a parallel move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParallelCopy<R> {
    /// The register written and its lane.
    pub dst: (R, u8),
    /// The register read and its lane.
    pub src: (R, u8),
}

/// One instruction: `dst.i <- src.j` for each pair (i, j), reads before writes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Move<R> {
    /// The register written.
    pub dst: R,
    /// The register read.
    pub src: R,
    /// Lanes of `dst` and of `src`.
    pub pairs: SmallVec<[(u8, u8); 4]>,
}

impl<R: Copy + Eq> Move<R> {
    fn writes(&self, reg: R, lane: u8) -> bool {
        self.dst == reg && self.pairs.iter().any(|p| p.0 == lane)
    }

    /// Whether `self` writes a lane that `other` reads.
    fn spoils(&self, other: &Move<R>) -> bool {
        other.pairs.iter().any(|p| self.writes(other.src, p.1))
    }
}

/// Puts `copies` in sequence. `fresh(n)` gives a register with room for `n` lanes that nothing else
/// uses here. No two copies may write the same lane.
pub fn sequence<R: Copy + Eq>(copies: &[ParallelCopy<R>], mut fresh: impl FnMut(u8) -> R) -> Vec<Move<R>> {
    let mut pending: Vec<Move<R>> = Vec::new();
    for c in copies.iter().filter(|c| c.dst != c.src) {
        let pair = (c.dst.1, c.src.1);
        match pending.iter_mut().find(|m| m.dst == c.dst.0 && m.src == c.src.0) {
            Some(m) => m.pairs.push(pair),
            None => pending.push(Move { dst: c.dst.0, src: c.src.0, pairs: SmallVec::from_slice(&[pair]) }),
        }
    }
    let mut done = Vec::with_capacity(pending.len());
    while !pending.is_empty() {
        let free = (0..pending.len())
            .find(|&i| pending.iter().enumerate().all(|(j, other)| i == j || !pending[i].spoils(other)));
        if let Some(i) = free {
            done.push(pending.remove(i));
            continue;
        }
        // A cycle. The smallest move among those that some other would spoil reads early, into a fresh
        // register. Nobody writes that, so it is never spoiled again: one time at most for each move.
        let spoiled = |&i: &usize| pending.iter().enumerate().any(|(j, m)| i != j && m.spoils(&pending[i]));
        let Some(i) = (0..pending.len()).filter(spoiled).min_by_key(|&i| pending[i].pairs.len()) else {
            // Nothing is spoiled, so nothing was in the way.
            done.append(&mut pending);
            break;
        };
        let smallest = &mut pending[i];
        let temp = fresh(smallest.pairs.len() as u8);
        let read = smallest.pairs.iter().enumerate().map(|(k, p)| (k as u8, p.1)).collect();
        done.push(Move { dst: temp, src: smallest.src, pairs: read });
        smallest.src = temp;
        smallest.pairs.iter_mut().enumerate().for_each(|(k, p)| p.1 = k as u8);
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the moves on four-lane registers whose lanes start with distinct numbers, and compares
    /// with all copies at once.
    fn check(copies: &[ParallelCopy<usize>]) -> (usize, usize) {
        let mut temps = 0;
        let moves = sequence(copies, |_| {
            temps += 1;
            7 + temps
        });
        let start: Vec<[usize; 4]> = (0..64).map(|r| [0, 1, 2, 3].map(|l| r * 4 + l)).collect();
        let mut want = start.clone();
        for c in copies {
            want[c.dst.0][c.dst.1 as usize] = start[c.src.0][c.src.1 as usize];
        }
        let mut got = start;
        for m in &moves {
            let src = got[m.src];
            m.pairs.iter().for_each(|&(d, s)| got[m.dst][d as usize] = src[s as usize]);
        }
        assert_eq!(got[..8], want[..8], "{copies:?} as {moves:?}");
        (moves.len(), temps)
    }

    fn copy(d: usize, i: u8, s: usize, j: u8) -> ParallelCopy<usize> {
        ParallelCopy { dst: (d, i), src: (s, j) }
    }

    #[test]
    fn lanes_of_one_register_swap_in_one_move() {
        assert_eq!(check(&[copy(0, 0, 0, 1), copy(0, 1, 0, 0)]), (1, 0));
    }

    #[test]
    fn a_chain_needs_order_only_and_a_swap_one_register() {
        assert_eq!(check(&[copy(1, 0, 0, 0), copy(2, 0, 1, 0)]), (2, 0));
        assert_eq!(check(&[copy(1, 0, 0, 0), copy(0, 0, 1, 0)]), (3, 1));
        assert_eq!(check(&[copy(3, 2, 3, 2)]), (0, 0));
    }

    #[test]
    fn random_parallel_moves() {
        let mut state = 12345u64;
        let mut next = |n: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % n
        };
        for _ in 0..5000 {
            let regs = 1 + next(5);
            let mut copies: Vec<ParallelCopy<usize>> = Vec::new();
            for _ in 0..next(14) {
                let dst = (next(regs) as usize, next(4) as u8);
                if copies.iter().all(|c| c.dst != dst) {
                    copies.push(ParallelCopy { dst, src: (next(regs) as usize, next(4) as u8) });
                }
            }
            check(&copies);
        }
    }
}
