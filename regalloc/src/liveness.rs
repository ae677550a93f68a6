//! Live ranges of each lane, with holes.
//!
//! In: [`Code`]. Out: for each (virtual register, lane) the positions where it is live, and the
//! points that define it. A lane is live where a later instruction may read what it holds now, by
//! dataflow over the blocks (not "until the loop ends"), cut down to where some def may have reached:
//! a lane that was never written holds nothing worth a register.
//!
//! Invariants: a def that nobody reads occupies the one position where it is written, so it never
//! destroys a neighbour; a def of kind `May` does not end what was live before it.

use crate::code::{Code, LaneId, lane_id};
use crate::func::DefKind;
use crate::ranges::{Pos, Ranges};

/// A point that writes a lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DefPoint {
    /// Where.
    pub pos: Pos,
    /// The lane it copies, when it only copies.
    pub copy_of: Option<LaneId>,
}

/// The live ranges of a program.
pub struct Liveness {
    /// By lane number.
    pub ranges: Vec<Ranges>,
    /// All def points, grouped by lane number.
    defs: Vec<DefPoint>,
    first_def: Vec<u32>,
}

impl Liveness {
    /// The points that write `lane`.
    pub fn defs(&self, lane: LaneId) -> &[DefPoint] {
        let i = lane as usize;
        &self.defs[self.first_def[i] as usize..self.first_def[i + 1] as usize]
    }
}

/// A bit matrix: one row of bits for each block.
struct Bits {
    words: usize,
    data: Vec<u64>,
}

impl Bits {
    fn new(rows: usize, bits: usize) -> Bits {
        let words = bits.div_ceil(64);
        Bits { words, data: vec![0; rows * words] }
    }
    fn row(&self, r: usize) -> &[u64] {
        &self.data[r * self.words..(r + 1) * self.words]
    }
    fn set(&mut self, r: usize, bit: u32) {
        self.data[r * self.words + bit as usize / 64] |= 1 << (bit % 64);
    }
    fn has(&self, r: usize, bit: u32) -> bool {
        self.data[r * self.words + bit as usize / 64] >> (bit % 64) & 1 == 1
    }
}

const NOT_GLOBAL: u32 = u32::MAX;

/// What is live and what may be defined at the borders of blocks. Only lanes that some block reads
/// before writing them can cross a border; they get small numbers.
struct Borders {
    global: Vec<u32>,
    lanes: Vec<LaneId>,
    live_out: Bits,
    defined_in: Bits,
    defined_out: Bits,
}

fn borders(code: &Code) -> Borders {
    let blocks = code.blocks.len();
    // Lanes read before they are written in some block.
    let mut global = vec![NOT_GLOBAL; code.num_lanes()];
    let mut lanes = Vec::new();
    let mut written_in = vec![u32::MAX; code.num_lanes()];
    let mut exposed: Vec<(usize, LaneId)> = Vec::new();
    for (b, info) in code.blocks.iter().enumerate() {
        for inst in info.insts.clone() {
            for &(vreg, mask) in code.uses(inst) {
                for lane in mask.lanes().map(|l| lane_id(vreg, l)) {
                    if written_in[lane as usize] != b as u32 {
                        if global[lane as usize] == NOT_GLOBAL {
                            global[lane as usize] = lanes.len() as u32;
                            lanes.push(lane);
                        }
                        exposed.push((b, lane));
                    }
                }
            }
            for &(vreg, mask, kind) in code.defs(inst) {
                if kind != DefKind::May {
                    mask.lanes().for_each(|l| written_in[lane_id(vreg, l) as usize] = b as u32);
                }
            }
        }
    }
    let n = lanes.len();
    let (mut gen_, mut kill, mut writes) = (Bits::new(blocks, n), Bits::new(blocks, n), Bits::new(blocks, n));
    for (b, lane) in exposed {
        gen_.set(b, global[lane as usize]);
    }
    for (b, info) in code.blocks.iter().enumerate() {
        for inst in info.insts.clone() {
            for &(vreg, mask, kind) in code.defs(inst) {
                for g in mask.lanes().map(|l| global[lane_id(vreg, l) as usize]).filter(|&g| g != NOT_GLOBAL) {
                    writes.set(b, g);
                    if kind != DefKind::May {
                        kill.set(b, g);
                    }
                }
            }
        }
    }
    let words = gen_.words;
    let (mut live_in, mut live_out) = (Bits::new(blocks, n), Bits::new(blocks, n));
    let (mut defined_in, mut defined_out) = (Bits::new(blocks, n), Bits::new(blocks, n));
    let mut changed = true;
    while changed {
        changed = false;
        for b in (0..blocks).rev() {
            for w in 0..words {
                let out = code.blocks[b].succs.iter().fold(0, |bits, &s| bits | live_in.row(s as usize)[w]);
                let into = gen_.row(b)[w] | (out & !kill.row(b)[w]);
                live_out.data[b * words + w] = out;
                changed |= into != live_in.data[b * words + w];
                live_in.data[b * words + w] = into;
            }
        }
    }
    changed = true;
    while changed {
        changed = false;
        for b in 0..blocks {
            for w in 0..words {
                let out = defined_in.data[b * words + w] | writes.row(b)[w];
                defined_out.data[b * words + w] = out;
                for &s in &code.blocks[b].succs {
                    let into = &mut defined_in.data[s as usize * words + w];
                    changed |= out & !*into != 0;
                    *into |= out;
                }
            }
        }
    }
    Borders { global, lanes, live_out, defined_in, defined_out }
}

const DEAD: Pos = Pos::MAX;

/// Computes the live ranges of `code`.
pub fn compute(code: &Code) -> Liveness {
    let borders = borders(code);
    let lanes = code.num_lanes();
    let mut ranges = vec![Ranges::default(); lanes];
    // For each lane: where the live range being built ends, and the first May def inside it.
    let mut end = vec![DEAD; lanes];
    let mut first_may = vec![DEAD; lanes];
    let mut live: Vec<LaneId> = Vec::new();
    let mut points: Vec<(LaneId, DefPoint)> = Vec::new();
    for (b, info) in code.blocks.iter().enumerate().rev() {
        for (w, &word) in borders.live_out.row(b).iter().enumerate() {
            let mut bits = word & borders.defined_out.row(b)[w];
            while bits != 0 {
                let lane = borders.lanes[w * 64 + bits.trailing_zeros() as usize];
                bits &= bits - 1;
                end[lane as usize] = info.insts.end * 2;
                live.push(lane);
            }
        }
        for inst in info.insts.clone().rev() {
            for &(vreg, mask, kind) in code.defs(inst) {
                let pos = if kind == DefKind::Early { inst * 2 } else { inst * 2 + 1 };
                for lane in mask.lanes().map(|l| lane_id(vreg, l)) {
                    points.push((lane, DefPoint { pos, copy_of: None }));
                    let i = lane as usize;
                    match (end[i], kind) {
                        (DEAD, _) => ranges[i].push_backwards(pos, pos + 1),
                        (_, DefKind::May) => first_may[i] = pos,
                        (e, _) => {
                            ranges[i].push_backwards(pos, e);
                            (end[i], first_may[i]) = (DEAD, DEAD);
                        }
                    }
                }
            }
            for &(vreg, mask) in code.uses(inst) {
                for lane in mask.lanes().map(|l| lane_id(vreg, l)) {
                    if end[lane as usize] == DEAD {
                        end[lane as usize] = inst * 2 + 1;
                        live.push(lane);
                    }
                }
            }
        }
        for lane in live.drain(..) {
            let i = lane as usize;
            if end[i] == DEAD {
                continue;
            }
            let g = borders.global[i];
            if g != NOT_GLOBAL && borders.defined_in.has(b, g) {
                let start = info.insts.start * 2;
                if start < end[i] {
                    ranges[i].push_backwards(start, end[i]);
                }
            } else if first_may[i] != DEAD {
                ranges[i].push_backwards(first_may[i], end[i]);
            }
            (end[i], first_may[i]) = (DEAD, DEAD);
        }
    }
    ranges.iter_mut().for_each(Ranges::finish_backwards);
    let (defs, first_def) = group(lanes, points, code);
    Liveness { ranges, defs, first_def }
}

/// Groups def points by lane, and marks those that copy.
fn group(lanes: usize, points: Vec<(LaneId, DefPoint)>, code: &Code) -> (Vec<DefPoint>, Vec<u32>) {
    let mut first = vec![0u32; lanes + 1];
    points.iter().for_each(|&(lane, _)| first[lane as usize + 1] += 1);
    for i in 0..lanes {
        first[i + 1] += first[i];
    }
    let mut next = first.clone();
    let mut defs = vec![DefPoint { pos: 0, copy_of: None }; points.len()];
    // The points came in descending order; groups are ascending.
    for &(lane, point) in points.iter().rev() {
        defs[next[lane as usize] as usize] = point;
        next[lane as usize] += 1;
    }
    for (inst, copies) in &code.copies {
        for c in copies {
            let lane = lane_id(c.dst, c.dst_lane) as usize;
            let group = &mut defs[first[lane] as usize..first[lane + 1] as usize];
            let at = group.partition_point(|d| d.pos < inst * 2);
            if let Some(d) = group.get_mut(at).filter(|d| d.pos / 2 == *inst) {
                d.copy_of = Some(lane_id(c.src, c.src_lane));
            }
        }
    }
    (defs, first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::func::{BlockInfo, Func, LaneCopies, Operand, VReg, VRegInfo};
    use crate::ranges::Range;
    use ir::types::WriteMask;

    /// Registers of two lanes; blocks as (end, successors).
    struct Small {
        insts: Vec<Vec<Operand>>,
        blocks: Vec<(u32, Vec<u32>)>,
    }

    impl Func for Small {
        fn num_vregs(&self) -> usize {
            3
        }
        fn vreg(&self, _: VReg) -> VRegInfo {
            VRegInfo::free(2)
        }
        fn num_insts(&self) -> usize {
            self.insts.len()
        }
        fn num_blocks(&self) -> usize {
            self.blocks.len()
        }
        fn block(&self, b: usize) -> BlockInfo {
            let start = if b == 0 { 0 } else { self.blocks[b - 1].0 };
            let succs = self.blocks[b].1.iter().copied().collect();
            BlockInfo { insts: start..self.blocks[b].0, succs, loop_depth: 0 }
        }
        fn operands(&self, inst: usize, visit: &mut dyn FnMut(Operand)) {
            self.insts[inst].iter().for_each(|&op| visit(op));
        }
        fn copies(&self, _: usize) -> LaneCopies {
            LaneCopies::new()
        }
    }

    fn w(v: u32, mask: u8, kind: DefKind) -> Operand {
        Operand::Def { vreg: VReg::from_u32(v), lanes: WriteMask(mask), kind }
    }

    fn r(v: u32, mask: u8) -> Operand {
        Operand::Use { vreg: VReg::from_u32(v), lanes: WriteMask(mask) }
    }

    fn lives(small: &Small, lane: LaneId) -> Vec<(Pos, Pos)> {
        let live = compute(&Code::new(small));
        live.ranges[lane as usize].as_slice().iter().map(|&Range { start, end }| (start, end)).collect()
    }

    use DefKind::{Early, May, Plain};

    #[test]
    fn lanes_live_apart_and_have_holes() {
        let small = Small {
            insts: vec![
                vec![w(0, 0b11, Plain)],
                vec![r(0, 0b01)],
                vec![r(0, 0b10)],
                vec![w(0, 0b01, Plain)],
                vec![r(0, 0b01), w(0, 0b01, Plain)],
            ],
            blocks: vec![(5, vec![])],
        };
        // x: written at 0, read at 1; written at 3, read at 4, where its last write is dead.
        assert_eq!(lives(&small, 0), [(1, 3), (7, 10)]);
        assert_eq!(lives(&small, 1), [(1, 5)]);
    }

    #[test]
    fn a_loop_keeps_alive_what_it_reads_before_writing() {
        // 0: v0, v1 written. Loop of 1 (reads v0), 2 (writes v1), 3 (reads v1). After it, 4.
        let small = Small {
            insts: vec![
                vec![w(0, 1, Plain), w(1, 1, Plain)],
                vec![r(0, 1)],
                vec![w(1, 1, Plain)],
                vec![r(1, 1)],
                vec![],
            ],
            blocks: vec![(1, vec![1]), (4, vec![1, 2]), (5, vec![])],
        };
        assert_eq!(lives(&small, 0), [(1, 8)], "to the end of the loop");
        assert_eq!(lives(&small, 4), [(1, 2), (5, 7)], "not around it: every turn writes first");
    }

    #[test]
    fn what_was_never_written_is_not_live() {
        // An `if` writes v0 in one arm; v1 is only read; v2 may be written.
        let small = Small {
            insts: vec![vec![], vec![w(0, 1, Plain)], vec![w(2, 1, May)], vec![r(0, 1), r(1, 1), r(2, 1)]],
            blocks: vec![(1, vec![1, 2]), (2, vec![2]), (4, vec![])],
        };
        assert_eq!(lives(&small, 0), [(3, 7)]);
        assert_eq!(lives(&small, 4), []);
        assert_eq!(lives(&small, 8), [(5, 7)]);
    }

    #[test]
    fn early_and_uncertain_writes() {
        let small = Small {
            insts: vec![
                vec![w(0, 1, Plain), w(2, 1, Plain)],
                vec![r(0, 1), w(1, 1, Early)],
                vec![w(2, 1, May)],
                vec![r(1, 1), r(2, 1)],
            ],
            blocks: vec![(4, vec![])],
        };
        assert_eq!(lives(&small, 0), [(1, 3)]);
        assert_eq!(lives(&small, 4), [(2, 7)], "before the read of its own instruction");
        assert_eq!(lives(&small, 8), [(1, 7)], "the old value lives through");
    }
}
