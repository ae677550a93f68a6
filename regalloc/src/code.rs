//! The input read once into flat arrays, so that the steps do not call through the trait again and
//! again. One entry for each (instruction, register) operand, by instruction.

use crate::func::{BlockInfo, DefKind, Func, LaneCopies, Operand, VReg, VRegInfo};
use ir::types::WriteMask;

/// One lane of one virtual register: `vreg * 4 + lane`.
pub type LaneId = u32;

/// The number of lane `lane` of `vreg`.
pub fn lane_id(vreg: VReg, lane: u8) -> LaneId {
    vreg.as_u32() * 4 + u32::from(lane)
}

/// The input, flat.
pub struct Code {
    /// What is asked of each register.
    pub vregs: Vec<VRegInfo>,
    /// Blocks in layout order.
    pub blocks: Vec<BlockInfo>,
    /// Lane copies of each instruction that is a copy, ascending.
    pub copies: Vec<(u32, LaneCopies)>,
    /// Whether some instruction names the register.
    pub named: Vec<bool>,
    uses: Vec<(VReg, WriteMask)>,
    defs: Vec<(VReg, WriteMask, DefKind)>,
    /// For each instruction, where its uses and defs end.
    ends: Vec<(u32, u32)>,
}

impl Code {
    /// Reads `func`, which must have passed [`crate::func::validate`].
    pub fn new<F: Func + ?Sized>(func: &F) -> Code {
        let insts = func.num_insts();
        let mut code = Code {
            vregs: (0..func.num_vregs()).map(|v| func.vreg(VReg::from_u32(v as u32))).collect(),
            blocks: (0..func.num_blocks()).map(|b| func.block(b)).collect(),
            copies: Vec::new(),
            named: vec![false; func.num_vregs()],
            uses: Vec::with_capacity(insts * 2),
            defs: Vec::with_capacity(insts),
            ends: Vec::with_capacity(insts),
        };
        for inst in 0..insts {
            func.operands(inst, &mut |op| match op {
                Operand::Use { vreg, lanes } => code.uses.push((vreg, lanes)),
                Operand::Def { vreg, lanes, kind } => code.defs.push((vreg, lanes, kind)),
            });
            code.ends.push((code.uses.len() as u32, code.defs.len() as u32));
            let copies = func.copies(inst);
            if !copies.is_empty() {
                code.copies.push((inst as u32, copies));
            }
        }
        let vregs = code.uses.iter().map(|u| u.0).chain(code.defs.iter().map(|d| d.0));
        vregs.for_each(|v| code.named[v.as_u32() as usize] = true);
        code
    }

    /// How many instructions there are.
    pub fn num_insts(&self) -> usize {
        self.ends.len()
    }

    /// How many lane numbers there are.
    pub fn num_lanes(&self) -> usize {
        self.vregs.len() * 4
    }

    fn start(&self, inst: u32) -> (u32, u32) {
        if inst == 0 { (0, 0) } else { self.ends[inst as usize - 1] }
    }

    /// What instruction `inst` reads.
    pub fn uses(&self, inst: u32) -> &[(VReg, WriteMask)] {
        &self.uses[self.start(inst).0 as usize..self.ends[inst as usize].0 as usize]
    }

    /// What instruction `inst` writes.
    pub fn defs(&self, inst: u32) -> &[(VReg, WriteMask, DefKind)] {
        &self.defs[self.start(inst).1 as usize..self.ends[inst as usize].1 as usize]
    }
}
