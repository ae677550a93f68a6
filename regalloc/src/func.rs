//! The input: machine code over virtual registers, seen through the [`Func`] trait.
//!
//! The allocator knows no instruction set. It sees a flat list of instructions cut into blocks (in
//! layout order, each with its successors and loop depth), and of each instruction which lanes of
//! which virtual registers it reads and writes, and whether it only copies lanes.
//!
//! Rules that an implementation keeps ([`validate`] checks them before anything else runs):
//!
//! - Blocks cover the instructions `0..num_insts()` in order, without gap or overlap; block 0 is
//!   the entry; a block without successors ends the program.
//! - An instruction reads all its uses before it writes any def, except a def marked
//!   [`DefKind::Early`]. A use and a plain def of one instruction may thus share a component.
//! - A def that does not name all lanes of its register leaves the other lanes as they are.
//! - Reading a lane that was never written is allowed and gives any value.
//! - Moving a virtual register to other lanes is free (the caller rewrites masks and swizzles),
//!   except as far as [`VRegInfo::maps`] forbids it. That set is the intersection of what all
//!   instructions that touch the register can encode.

use crate::error::RegAllocError;
use crate::shape::LaneMaps;
use cranelift_entity::entity_impl;
use ir::types::WriteMask;
use smallvec::SmallVec;
use std::ops::Range;

/// A virtual register: 1 to 4 lanes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VReg(u32);
entity_impl!(VReg, "v");

/// What is asked of a virtual register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VRegInfo {
    /// 1 to 4.
    pub lanes: u8,
    /// The lane maps that every instruction touching it can encode.
    pub maps: LaneMaps,
    /// The physical register it must sit in, if any.
    pub fixed: Option<u16>,
}

impl VRegInfo {
    /// A register of `lanes` lanes that may sit anywhere.
    ///
    /// # Panics
    /// When `lanes` is not 1 to 4.
    pub fn free(lanes: u8) -> VRegInfo {
        VRegInfo { lanes, maps: LaneMaps::all(lanes), fixed: None }
    }

    /// A register of `lanes` lanes whose lanes must stay in their places.
    pub fn in_place(lanes: u8) -> VRegInfo {
        VRegInfo { lanes, maps: LaneMaps::IDENTITY, fixed: None }
    }
}

/// How a def behaves in time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DefKind {
    /// Written after all uses are read.
    Plain,
    /// Written before the uses are read (a macro of several steps): shares no component with them.
    Early,
    /// May or may not be written (one element of an array stored to by a computed index): the old
    /// value stays live through.
    May,
}

/// Lanes of a virtual register that an instruction reads or writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operand {
    /// Reads these lanes (the set of lanes that the swizzle picks for the lanes that count).
    Use {
        /// The register.
        vreg: VReg,
        /// The lanes read.
        lanes: WriteMask,
    },
    /// Writes these lanes.
    Def {
        /// The register.
        vreg: VReg,
        /// The lanes written.
        lanes: WriteMask,
        /// When and whether.
        kind: DefKind,
    },
}

/// One lane copied unchanged: `dst.dst_lane <- src.src_lane`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LaneCopy {
    /// The register written.
    pub dst: VReg,
    /// Which of its lanes.
    pub dst_lane: u8,
    /// The register read.
    pub src: VReg,
    /// Which of its lanes.
    pub src_lane: u8,
}

/// The lane copies of one instruction, all at once (reads before writes). One instruction may copy
/// between several registers, so a parallel copy on an edge can be one pseudo instruction.
pub type LaneCopies = SmallVec<[LaneCopy; 4]>;

/// A block: a run of instructions with one entry and one exit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BlockInfo {
    /// Its instructions; may be empty.
    pub insts: Range<u32>,
    /// The blocks control may go to next.
    pub succs: SmallVec<[u32; 2]>,
    /// How many loops it sits in.
    pub loop_depth: u32,
}

/// Machine code over virtual registers.
pub trait Func {
    /// How many virtual registers there are; they are numbered from 0.
    fn num_vregs(&self) -> usize;

    /// What is asked of `vreg`.
    fn vreg(&self, vreg: VReg) -> VRegInfo;

    /// Groups of registers that need consecutive physical registers in this order, each lane in its
    /// place: arrays addressed by a computed index. A register is in one group at most. An
    /// instruction that addresses an array by a computed index names every member as a use, or as a
    /// def of kind [`DefKind::May`].
    fn arrays(&self) -> &[Vec<VReg>] {
        &[]
    }

    /// How many instructions there are.
    fn num_insts(&self) -> usize;

    /// How many blocks there are.
    fn num_blocks(&self) -> usize;

    /// Block number `block`, in layout order.
    fn block(&self, block: usize) -> BlockInfo;

    /// Calls `visit` for each operand of instruction `inst`. A register may come several times.
    fn operands(&self, inst: usize, visit: &mut dyn FnMut(Operand));

    /// When instruction `inst` does nothing but copy lanes unchanged (no modifier, no saturate), the
    /// copies; else empty. Every lane that it defines must be the target of one copy, and the same
    /// lanes must be named by [`Func::operands`].
    fn copies(&self, inst: usize) -> LaneCopies;

    /// Text of instruction `inst` for dumps and errors.
    fn describe(&self, inst: usize) -> String {
        format!("inst {inst}")
    }
}

/// Most instructions accepted; positions are 32-bit numbers, two for each instruction.
pub const MAX_INSTS: usize = 1 << 24;
/// Most virtual registers accepted.
pub const MAX_VREGS: usize = 1 << 24;

/// Checks the rules of the module doc.
pub fn validate<F: Func + ?Sized>(func: &F) -> Result<(), RegAllocError> {
    let bad = |what: String| Err(RegAllocError::BadInput { what });
    let (vregs, insts) = (func.num_vregs(), func.num_insts());
    if insts > MAX_INSTS || vregs > MAX_VREGS {
        return bad(format!("{insts} instructions and {vregs} registers; the limits are {MAX_INSTS} and {MAX_VREGS}"));
    }
    let infos: Vec<VRegInfo> = (0..vregs).map(|v| func.vreg(VReg::from_u32(v as u32))).collect();
    for (v, info) in infos.iter().enumerate() {
        if !(1..=4).contains(&info.lanes) {
            return bad(format!("v{v} has {} lanes", info.lanes));
        }
        if info.maps.intersect(LaneMaps::all(info.lanes)).is_empty() {
            return Err(RegAllocError::Impossible { vreg: VReg::from_u32(v as u32), why: "no lane map is allowed" });
        }
    }
    let mut next = 0;
    let blocks = func.num_blocks();
    for b in 0..blocks {
        let info = func.block(b);
        if info.insts.start != next || info.insts.end < next {
            return bad(format!("block {b} covers {:?} where {next} should start", info.insts));
        }
        next = info.insts.end;
        if let Some(s) = info.succs.iter().find(|&&s| s as usize >= blocks) {
            return bad(format!("block {b} goes to block {s}, which does not exist"));
        }
    }
    if next as usize != insts {
        return bad(format!("the blocks cover {next} of {insts} instructions"));
    }
    let has = |vreg: VReg, lanes: WriteMask| {
        infos.get(vreg.as_u32() as usize).is_some_and(|i| lanes.0 & !WriteMask::first(i.lanes).0 == 0)
    };
    for inst in 0..insts {
        let mut wrong = None;
        let mut defined: SmallVec<[(VReg, u8); 4]> = SmallVec::new();
        func.operands(inst, &mut |op| {
            let (vreg, lanes) = match op {
                Operand::Use { vreg, lanes } => (vreg, lanes),
                Operand::Def { vreg, lanes, kind } => {
                    defined.extend(lanes.lanes().map(|l| (vreg, l)).filter(|_| kind != DefKind::May));
                    (vreg, lanes)
                }
            };
            if !has(vreg, lanes) {
                wrong = Some((vreg, lanes));
            }
        });
        if let Some((vreg, lanes)) = wrong {
            return bad(format!("inst {inst} names {vreg}.{lanes}, which does not exist"));
        }
        let copies = func.copies(inst);
        if copies.is_empty() {
            continue;
        }
        let targets: SmallVec<[(VReg, u8); 4]> = copies.iter().map(|c| (c.dst, c.dst_lane)).collect();
        let same = targets.len() == defined.len() && defined.iter().all(|d| targets.contains(d));
        let real = copies.iter().all(|c| {
            c.dst_lane < 4
                && c.src_lane < 4
                && has(c.dst, WriteMask::lane(c.dst_lane))
                && has(c.src, WriteMask::lane(c.src_lane))
        });
        if !same || !real {
            return bad(format!("inst {inst} is a copy whose lanes are not the lanes it defines"));
        }
    }
    let mut grouped = vec![false; vregs];
    for array in func.arrays() {
        for &member in array {
            match grouped.get_mut(member.as_u32() as usize) {
                None => return bad(format!("an array names {member}, which does not exist")),
                Some(true) => return bad(format!("{member} is in two arrays, or twice in one")),
                Some(slot) => *slot = true,
            }
            if !infos[member.as_u32() as usize].maps.contains(crate::shape::LaneMap::IDENTITY) {
                return Err(RegAllocError::Impossible {
                    vreg: member,
                    why: "an array member must keep its lanes in place",
                });
            }
        }
    }
    Ok(())
}
