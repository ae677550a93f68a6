//! What the tests share: a small machine program over virtual registers ([`Prog`]), a generator of
//! random structured ones, and an interpreter that runs a program before and after allocation.
//!
//! The interpreter is a judge of its own: it takes the same random way through the branches in both
//! runs and compares every value that an instruction reads. Values are hashes; a lane that was never
//! written is *poison* and so is what is computed from it, and poison may differ.
#![allow(dead_code)]

use ir::types::WriteMask;
use regalloc::{BlockInfo, DefKind, Func, LaneCopies, LaneCopy, LaneMaps, Operand, Output, VReg, VRegInfo};
use smallvec::SmallVec;

/// A small fast generator (xorshift64*).
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }
    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n.max(1)
    }
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

#[derive(Clone, Debug)]
pub enum Flow {
    None,
    If,
    Else,
    EndIf,
    Loop,
    EndLoop,
    Brk,
    Cont,
}

#[derive(Clone, Debug)]
pub struct TInst {
    pub ops: Vec<Operand>,
    pub copies: LaneCopies,
    pub flow: Flow,
}

#[derive(Clone, Debug, Default)]
pub struct Prog {
    pub vregs: Vec<VRegInfo>,
    pub arrays: Vec<Vec<VReg>>,
    pub insts: Vec<TInst>,
    pub blocks: Vec<BlockInfo>,
}

impl Func for Prog {
    fn num_vregs(&self) -> usize {
        self.vregs.len()
    }
    fn vreg(&self, vreg: VReg) -> VRegInfo {
        self.vregs[vreg.as_u32() as usize]
    }
    fn arrays(&self) -> &[Vec<VReg>] {
        &self.arrays
    }
    fn num_insts(&self) -> usize {
        self.insts.len()
    }
    fn num_blocks(&self) -> usize {
        self.blocks.len()
    }
    fn block(&self, block: usize) -> BlockInfo {
        self.blocks[block].clone()
    }
    fn operands(&self, inst: usize, visit: &mut dyn FnMut(Operand)) {
        self.insts[inst].ops.iter().for_each(|&op| visit(op));
    }
    fn copies(&self, inst: usize) -> LaneCopies {
        self.insts[inst].copies.clone()
    }
}

pub fn def(vreg: VReg, lanes: WriteMask) -> Operand {
    Operand::Def { vreg, lanes, kind: DefKind::Plain }
}

pub fn read(vreg: VReg, lanes: WriteMask) -> Operand {
    Operand::Use { vreg, lanes }
}

impl Prog {
    pub fn new_vreg(&mut self, info: VRegInfo) -> VReg {
        self.vregs.push(info);
        VReg::from_u32(self.vregs.len() as u32 - 1)
    }
    /// A register of `lanes` lanes that may sit anywhere.
    pub fn reg(&mut self, lanes: u8) -> VReg {
        self.new_vreg(VRegInfo::free(lanes))
    }
    pub fn push(&mut self, ops: Vec<Operand>) -> u32 {
        self.insts.push(TInst { ops, copies: LaneCopies::new(), flow: Flow::None });
        self.insts.len() as u32 - 1
    }
    /// Writes all lanes of `d` from all lanes of `uses`.
    pub fn op(&mut self, d: VReg, uses: &[VReg]) -> u32 {
        let all = |p: &Prog, v: VReg| WriteMask::first(p.vregs[v.as_u32() as usize].lanes);
        let mut ops: Vec<Operand> = uses.iter().map(|&v| read(v, all(self, v))).collect();
        ops.push(def(d, all(self, d)));
        self.push(ops)
    }
    /// Reads all lanes of `v`.
    pub fn sink(&mut self, v: VReg) -> u32 {
        let lanes = WriteMask::first(self.vregs[v.as_u32() as usize].lanes);
        self.push(vec![read(v, lanes)])
    }
    /// Copies lanes (dst lane, src lane) of `s` into `d`.
    pub fn copy(&mut self, d: VReg, s: VReg, pairs: &[(u8, u8)]) -> u32 {
        self.parallel_copy(&pairs.iter().map(|&(i, j)| (d, i, s, j)).collect::<Vec<_>>())
    }
    pub fn parallel_copy(&mut self, list: &[(VReg, u8, VReg, u8)]) -> u32 {
        let mut ops: Vec<Operand> = list.iter().map(|c| read(c.2, WriteMask::lane(c.3))).collect();
        ops.extend(list.iter().map(|c| def(c.0, WriteMask::lane(c.1))));
        let copies = list.iter().map(|&(dst, dst_lane, src, src_lane)| LaneCopy { dst, dst_lane, src, src_lane });
        self.insts.push(TInst { ops, copies: copies.collect(), flow: Flow::None });
        self.insts.len() as u32 - 1
    }
    pub fn flow(&mut self, flow: Flow) {
        self.insts.push(TInst { ops: Vec::new(), copies: LaneCopies::new(), flow });
    }

    /// Cuts the instructions into blocks. Flow instructions end a block, except that LOOP and ENDIF
    /// start one.
    pub fn finish(mut self) -> Prog {
        let n = self.insts.len() as u32;
        let mut leaders = vec![false; n as usize + 1];
        leaders[0] = true;
        for (i, inst) in self.insts.iter().enumerate() {
            match inst.flow {
                Flow::None => {}
                Flow::Loop | Flow::EndIf => leaders[i] = true,
                _ => leaders[i + 1] = true,
            }
        }
        // A last empty block, so that every jump has a target.
        let mut starts: Vec<u32> = (0..n).filter(|&i| leaders[i as usize]).collect();
        starts.push(n);
        let block_at = |i: u32| starts.partition_point(|&s| s <= i) as u32 - 1;
        let mut targets: Vec<SmallVec<[u32; 2]>> = vec![SmallVec::new(); n as usize];
        let mut depths = vec![0; n as usize + 1];
        let (mut ifs, mut loops): (Vec<u32>, Vec<(u32, Vec<u32>)>) = (Vec::new(), Vec::new());
        for i in 0..n {
            depths[i as usize] = loops.len() as u32;
            match self.insts[i as usize].flow {
                Flow::None => targets[i as usize].push(i + 1),
                Flow::If => {
                    targets[i as usize].push(i + 1);
                    ifs.push(i);
                }
                Flow::Else => {
                    let head = ifs.pop().unwrap();
                    targets[head as usize].push(i + 1);
                    ifs.push(i);
                }
                Flow::EndIf => {
                    let head = ifs.pop().unwrap();
                    targets[head as usize].push(i);
                    targets[i as usize].push(i + 1);
                }
                Flow::Loop => {
                    targets[i as usize].push(i + 1);
                    loops.push((i, Vec::new()));
                    depths[i as usize] += 1;
                }
                Flow::EndLoop => {
                    let (head, brks) = loops.pop().unwrap();
                    targets[i as usize].push(head);
                    brks.into_iter().for_each(|b| targets[b as usize].push(i + 1));
                }
                Flow::Brk => loops.last_mut().unwrap().1.push(i),
                Flow::Cont => {
                    let head = loops.last().unwrap().0;
                    targets[i as usize].push(head);
                }
            }
        }
        self.blocks = (0..starts.len())
            .map(|b| {
                let (start, end) = (starts[b], starts.get(b + 1).copied().unwrap_or(n));
                let succs = if start == end { SmallVec::new() } else { targets[end as usize - 1].clone() };
                let succs = succs.into_iter().map(block_at).collect();
                BlockInfo { insts: start..end, succs, loop_depth: depths[start as usize] }
            })
            .collect();
        self
    }
}

/// What a random program looks like.
#[derive(Clone, Copy)]
pub struct Shape {
    pub insts: u32,
    pub vregs: u32,
    pub arrays: bool,
    /// Percent of instructions that open or leave a block.
    pub flow: u64,
    /// Percent of instructions that are copies.
    pub copies: u64,
    /// Some registers are fixed or confined to lanes.
    pub constraints: bool,
}

pub fn random(seed: u64, shape: Shape) -> Prog {
    let mut r = Rng::new(seed);
    let mut p = Prog::default();
    for _ in 0..shape.vregs {
        let lanes = [1, 1, 1, 2, 3, 4][r.below(6) as usize];
        let mut info = VRegInfo::free(lanes);
        if shape.constraints {
            match r.below(12) {
                0 => info.maps = LaneMaps::IDENTITY,
                1 => info.maps = info.maps.sending(r.below(u64::from(lanes)) as u8, r.below(4) as u8),
                2 => info.maps = info.maps.sending_into(0, WriteMask(0b1100)),
                _ => {}
            }
        }
        p.new_vreg(info);
    }
    if shape.arrays {
        for _ in 0..1 + r.below(2) {
            let array = (0..2 + r.below(3)).map(|_| p.reg(1 + r.below(4) as u8)).collect();
            p.arrays.push(array);
        }
    }
    let total = p.vregs.len() as u64;
    let mut open: Vec<(bool, bool)> = Vec::new(); // (loop, else seen)
    for _ in 0..shape.insts {
        if r.chance(shape.flow) {
            random_flow(&mut p, &mut r, &mut open);
        } else {
            random_inst(&mut p, &mut r, shape, total);
        }
    }
    while let Some((is_loop, _)) = open.pop() {
        p.flow(if is_loop { Flow::EndLoop } else { Flow::EndIf });
    }
    p.finish()
}

fn random_flow(p: &mut Prog, r: &mut Rng, open: &mut Vec<(bool, bool)>) {
    let in_loop = open.iter().any(|o| o.0);
    match r.below(8) {
        0 | 1 if open.len() < 6 => {
            p.flow(Flow::If);
            open.push((false, false));
        }
        2 if open.len() < 4 => {
            p.flow(Flow::Loop);
            open.push((true, false));
        }
        3 if in_loop && open.last().is_some_and(|o| !o.0) => p.flow(Flow::Brk),
        4 if in_loop && open.last().is_some_and(|o| !o.0) => p.flow(Flow::Cont),
        5 if open.last().is_some_and(|o| !o.0 && !o.1) => {
            p.flow(Flow::Else);
            open.last_mut().unwrap().1 = true;
        }
        _ => {
            if let Some((is_loop, _)) = open.pop() {
                p.flow(if is_loop { Flow::EndLoop } else { Flow::EndIf });
            }
        }
    }
}

fn random_inst(p: &mut Prog, r: &mut Rng, shape: Shape, total: u64) {
    let lanes = |p: &Prog, v: VReg| p.vregs[v.as_u32() as usize].lanes;
    let some = |r: &mut Rng, n: u8| WriteMask(1 + r.below((1 << n) - 1) as u8);
    // Registers near a moving window, so that lives are of all lengths.
    let at = p.insts.len() as u64 * total / u64::from(shape.insts.max(1));
    let any = |r: &mut Rng| {
        let v = if r.chance(70) { (at + r.below(8)) % total } else { r.below(total) };
        VReg::from_u32(v as u32)
    };
    if shape.arrays && r.chance(10) {
        let a = r.below(p.arrays.len() as u64) as usize;
        let members = p.arrays[a].clone();
        let other = any(r);
        let mut ops: Vec<Operand>;
        if r.chance(50) {
            ops = members.iter().map(|&m| read(m, WriteMask::first(lanes(p, m)))).collect();
            ops.push(def(other, some(r, lanes(p, other))));
        } else {
            ops = vec![read(other, some(r, lanes(p, other)))];
            ops.extend(members.iter().map(|&vreg| Operand::Def {
                vreg,
                lanes: WriteMask::first(lanes(p, vreg)),
                kind: DefKind::May,
            }));
        }
        p.push(ops);
        return;
    }
    if r.chance(shape.copies) {
        let mut list: Vec<(VReg, u8, VReg, u8)> = Vec::new();
        for _ in 0..if r.chance(20) { 2 } else { 1 } {
            let (d, s) = (any(r), any(r));
            for l in some(r, lanes(p, d)).lanes() {
                if list.iter().all(|c| (c.0, c.1) != (d, l)) {
                    list.push((d, l, s, r.below(u64::from(lanes(p, s))) as u8));
                }
            }
        }
        p.parallel_copy(&list);
        return;
    }
    let mut ops = Vec::new();
    for _ in 0..r.below(4) {
        let v = any(r);
        ops.push(read(v, some(r, lanes(p, v))));
    }
    if r.chance(90) {
        let d = any(r);
        let mask = if r.chance(70) { WriteMask::first(lanes(p, d)) } else { some(r, lanes(p, d)) };
        let reads_it = ops.iter().any(|op| matches!(op, Operand::Use { vreg, .. } if *vreg == d));
        let kind = if !reads_it && r.chance(5) { DefKind::Early } else { DefKind::Plain };
        ops.push(Operand::Def { vreg: d, lanes: mask, kind });
    }
    p.push(ops);
}

/// The value of a lane: a hash, or poison.
type Val = Option<u64>;

fn mix(a: u64, b: u64) -> u64 {
    let x = (a ^ b.rotate_left(23)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x ^ (x >> 29)
}

/// Runs `p` along a random way of at most `steps` instructions, once by name and once by place, and
/// says at which instruction a read differs first.
pub fn first_difference(p: &Prog, out: &Output, seed: u64, steps: u32) -> Option<u32> {
    let mut way = Rng::new(seed);
    let mut named: Vec<Val> = vec![None; p.vregs.len() * 4];
    // Physical junk: every component starts with a value that no instruction computes.
    let mut placed: Vec<Val> = (0..usize::from(out.stats.temps) * 4).map(|c| Some(c as u64)).collect();
    let name = |v: VReg, l: u8| v.as_u32() as usize * 4 + l as usize;
    let place = |v: VReg, l: u8| {
        let at = out.place(v);
        usize::from(at.reg) * 4 + usize::from(at.map.lane(l))
    };
    let (mut block, mut count) = (0, 0u32);
    while count < steps {
        for inst in p.blocks[block].insts.clone() {
            count += 1;
            let t = &p.insts[inst as usize];
            if !t.copies.is_empty() {
                let values: Vec<(Val, Val)> = t
                    .copies
                    .iter()
                    .map(|c| (named[name(c.src, c.src_lane)], placed[place(c.src, c.src_lane)]))
                    .collect();
                let removed = out.removed.binary_search(&inst).is_ok();
                for (c, (n, q)) in t.copies.iter().zip(values) {
                    named[name(c.dst, c.dst_lane)] = n;
                    if !removed {
                        placed[place(c.dst, c.dst_lane)] = q;
                    }
                }
                continue;
            }
            let early = |op: &&Operand| matches!(op, Operand::Def { kind: DefKind::Early, .. });
            for op in t.ops.iter().filter(early) {
                if let Operand::Def { vreg, lanes, .. } = op {
                    lanes.lanes().for_each(|l| placed[place(*vreg, l)] = Some(!0));
                }
            }
            let mut hash = Some(mix(u64::from(inst), u64::from(count)));
            for op in &t.ops {
                let Operand::Use { vreg, lanes } = op else { continue };
                for l in lanes.lanes() {
                    let (n, q) = (named[name(*vreg, l)], placed[place(*vreg, l)]);
                    if n.is_some() && n != q {
                        return Some(inst);
                    }
                    hash = hash.zip(n).map(|(h, n)| mix(h, n));
                }
            }
            for op in &t.ops {
                let Operand::Def { vreg, lanes, kind } = op else { continue };
                // Which member a computed index hits.
                let hit = *kind != DefKind::May || way.chance(40);
                for l in lanes.lanes().filter(|_| hit) {
                    let value = hash.map(|h| mix(h, u64::from(vreg.as_u32() * 4 + u32::from(l))));
                    named[name(*vreg, l)] = value;
                    // A poisoned instruction still writes its registers, with something.
                    placed[place(*vreg, l)] = Some(value.unwrap_or(u64::from(count) << 32));
                }
            }
        }
        let succs = &p.blocks[block].succs;
        count += 1;
        if succs.is_empty() {
            return None;
        }
        block = succs[way.below(succs.len() as u64) as usize] as usize;
    }
    None
}

/// A program such as an optimizer leaves it: every value is written once, whole, and read a few
/// instructions later; some are gathered part by part; a loop carries a few. `width` is about how
/// many values are live at a time.
pub fn optimized(seed: u64, insts: u32, width: usize) -> Prog {
    let mut r = Rng::new(seed);
    let mut p = Prog::default();
    let mut live: Vec<VReg> = Vec::new();
    let lanes = |p: &Prog, v: VReg| p.vregs[v.as_u32() as usize].lanes;
    let carried: Vec<VReg> = (0..3).map(|i| p.reg(1 + i)).collect();
    for &c in &carried {
        p.op(c, &[]);
    }
    let mut open = false;
    while (p.insts.len() as u32) < insts {
        if !open && r.chance(2) {
            p.flow(Flow::Loop);
            p.flow(Flow::If);
            p.flow(Flow::Brk);
            p.flow(Flow::EndIf);
            live.clear();
            open = true;
        } else if open && r.chance(3) {
            for &c in &carried {
                let from = r.below(live.len().max(1) as u64) as usize;
                match live.get(from).filter(|&&v| lanes(&p, v) >= lanes(&p, c)) {
                    Some(&v) => {
                        let pairs: Vec<(u8, u8)> = (0..lanes(&p, c)).map(|l| (l, l)).collect();
                        p.copy(c, v, &pairs);
                    }
                    None => {
                        p.op(c, &[c]);
                    }
                }
            }
            p.flow(Flow::EndLoop);
            live.clear();
            open = false;
        }
        if r.chance(15) && live.len() >= 4 {
            // A gather of narrow values.
            let n = 2 + r.below(3) as u8;
            let d = p.reg(n);
            for l in 0..n {
                let s = live[r.below(live.len() as u64) as usize];
                let from = r.below(u64::from(lanes(&p, s))) as u8;
                p.copy(d, s, &[(l, from)]);
            }
            live.push(d);
        } else {
            let d = p.reg([1, 1, 2, 3, 3, 4][r.below(6) as usize]);
            let uses: Vec<VReg> = (0..r.below(3))
                .filter_map(|_| live.get(r.below(live.len() as u64) as usize).copied().or(carried.first().copied()))
                .collect();
            p.op(d, &uses);
            live.push(d);
        }
        while live.len() > width {
            let gone = r.below(live.len() as u64) as usize;
            let v = live.swap_remove(gone);
            p.sink(v);
        }
    }
    if open {
        p.flow(Flow::EndLoop);
    }
    carried.iter().for_each(|&c| {
        p.sink(c);
    });
    p.finish()
}
