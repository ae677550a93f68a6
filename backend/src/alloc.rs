//! Registers for a machine program: the bridge to the `regalloc` crate.
//!
//! In: code over virtual registers and indexable arrays. Out: the same code over temporaries, with
//! write masks and swizzles rewritten to the lanes that the allocator chose, and without the copies
//! that became empty. Holds: a texture result stays in the lanes that the lookup writes.

use crate::cfg;
use crate::error::{Error, Resource};
use crate::isa::{SwizzleRule, Target};
use crate::mach::{File, Inst, Kind, Program, Reg};
use ir::types::WriteMask;
use regalloc::{
    BlockInfo, DefKind, Func, LaneCopies, LaneCopy, LaneMap, Method, Operand, Options, Output, RegAllocError, RegFile,
    Stats, VReg, VRegInfo,
};

/// How to allocate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AllocOptions {
    /// Which allocator.
    pub method: Method,
    /// Whether copies are merged away.
    pub coalesce: bool,
    /// Whether a register is used again after its value's last use.
    pub reuse: bool,
    /// Whether the checker runs afterwards.
    pub check: bool,
}

impl Default for AllocOptions {
    fn default() -> AllocOptions {
        AllocOptions { method: Method::Color, coalesce: true, reuse: true, check: cfg!(debug_assertions) }
    }
}

/// The program as the allocator sees it: virtual registers first, then array elements.
struct View<'p> {
    program: &'p Program,
    blocks: Vec<cfg::BasicBlock>,
    infos: Vec<VRegInfo>,
    arrays: Vec<Vec<VReg>>,
}

impl<'p> View<'p> {
    fn new(program: &'p Program, target: &Target) -> View<'p> {
        let in_place = target.operands.swizzle != SwizzleRule::Any;
        let mut infos: Vec<VRegInfo> = program
            .virtuals
            .iter()
            .map(|&w| if in_place { VRegInfo::in_place(w) } else { VRegInfo::free(w) })
            .collect();
        for inst in program.insts.iter().filter(|i| i.op.is_texture()) {
            if let Some(dst) = inst.dst.filter(|d| d.reg.file == File::Virtual) {
                keep(&mut infos[dst.reg.index as usize], dst.mask);
            }
            if target.operands.tex_swizzle != SwizzleRule::Any {
                for n in 0..inst.srcs.len() {
                    if inst.srcs[n].reg.file == File::Virtual {
                        keep(&mut infos[inst.srcs[n].reg.index as usize], inst.lanes_read(n));
                    }
                }
            }
        }
        infos.extend((0..program.locals).map(|_| VRegInfo::in_place(4)));
        let local = |n: u32| VReg::from_u32(program.virtuals.len() as u32 + n);
        let arrays = program.arrays.iter().map(|&(first, len)| (first..first + len).map(local).collect()).collect();
        View { program, blocks: cfg::blocks(&program.insts), infos, arrays }
    }

    fn vreg(&self, reg: Reg) -> Option<VReg> {
        match reg.file {
            File::Virtual => Some(VReg::from_u32(reg.index)),
            File::Local => Some(VReg::from_u32(self.program.virtuals.len() as u32 + reg.index)),
            _ => None,
        }
    }

    /// All elements of the array that a register belongs to.
    fn members(&self, vreg: VReg) -> &[VReg] {
        self.arrays.iter().find(|a| a.contains(&vreg)).map_or(&[], Vec::as_slice)
    }
}

/// Keeps the lanes in `mask` where they are.
fn keep(info: &mut VRegInfo, mask: WriteMask) {
    info.maps = mask.lanes().fold(info.maps, |maps, l| maps.sending(l, l));
}

impl Func for View<'_> {
    fn num_vregs(&self) -> usize {
        self.infos.len()
    }

    fn vreg(&self, vreg: VReg) -> VRegInfo {
        self.infos[vreg.as_u32() as usize]
    }

    fn arrays(&self) -> &[Vec<VReg>] {
        &self.arrays
    }

    fn num_insts(&self) -> usize {
        self.program.insts.len()
    }

    fn num_blocks(&self) -> usize {
        self.blocks.len()
    }

    fn block(&self, block: usize) -> BlockInfo {
        let b = &self.blocks[block];
        BlockInfo { insts: b.insts.start as u32..b.insts.end as u32, succs: b.succs.clone(), loop_depth: b.loop_depth }
    }

    fn operands(&self, inst: usize, visit: &mut dyn FnMut(Operand)) {
        let inst = &self.program.insts[inst];
        for (n, src) in inst.srcs.iter().enumerate() {
            let Some(vreg) = View::vreg(self, src.reg) else { continue };
            let lanes = inst.lanes_read(n);
            match src.rel {
                None => visit(Operand::Use { vreg, lanes }),
                Some(_) => self.members(vreg).iter().for_each(|&vreg| visit(Operand::Use { vreg, lanes })),
            }
        }
        let Some(dst) = inst.dst else { return };
        let Some(vreg) = View::vreg(self, dst.reg) else { return };
        let lanes = dst.mask;
        match dst.rel {
            None => visit(Operand::Def { vreg, lanes, kind: DefKind::Plain }),
            Some(_) => {
                for &vreg in self.members(vreg) {
                    visit(Operand::Def { vreg, lanes, kind: DefKind::May });
                }
            }
        }
    }

    fn copies(&self, inst: usize) -> LaneCopies {
        let inst = &self.program.insts[inst];
        let mut copies = LaneCopies::new();
        let (true, Some(dst)) = (inst.is_copy(), inst.dst) else { return copies };
        let (Some(to), Some(from)) = (View::vreg(self, dst.reg), View::vreg(self, inst.srcs[0].reg)) else {
            return copies;
        };
        for lane in dst.mask.lanes() {
            let src_lane = inst.srcs[0].swizzle[lane as usize];
            copies.push(LaneCopy { dst: to, dst_lane: lane, src: from, src_lane });
        }
        copies
    }

    fn describe(&self, inst: usize) -> String {
        self.program.insts[inst].to_string()
    }
}

/// Finds registers without changing the program.
fn solve(view: &View<'_>, target: &Target, options: &AllocOptions) -> Result<Output, Error> {
    let file = RegFile { temps: target.registers.temp.count as u16, reuse: options.reuse };
    let how = Options { method: options.method, coalesce: options.coalesce, max_temps: None };
    let output = regalloc::run(view, &file, &how).map_err(|e| match e {
        RegAllocError::DoesNotFit { needed, limit, point, .. } => {
            let line = view.program.insts.get(point as usize).map_or(0, |inst| inst.line);
            Error::DoesNotFit { what: Resource::Temps, need: needed, limit, line, detail: e.to_string() }
        }
        other => Error::Internal(other.to_string()),
    })?;
    if options.check {
        regalloc::check(view, &output).map_err(|e| Error::Internal(format!("allocation checker: {e}")))?;
    }
    Ok(output)
}

/// Allocates in place and returns the allocator's numbers.
pub fn allocate(program: &mut Program, target: &Target, options: &AllocOptions) -> Result<Stats, Error> {
    let output = solve(&View::new(program, target), target, options)?;
    apply(program, &output);
    Ok(output.stats)
}

/// Where each value of a program over virtual registers would sit and when it lives, as text.
pub fn chart(program: &Program, target: &Target, options: &AllocOptions) -> Result<String, Error> {
    let view = View::new(program, target);
    let output = solve(&view, target, options)?;
    Ok(regalloc::dump::dump(&view, &output))
}

/// Rewrites registers, masks and swizzles, and drops empty copies.
fn apply(program: &mut Program, output: &Output) {
    let virtuals = program.virtuals.len() as u32;
    let place = |reg: Reg| -> Option<(Reg, LaneMap)> {
        let vreg = match reg.file {
            File::Virtual => VReg::from_u32(reg.index),
            File::Local => VReg::from_u32(virtuals + reg.index),
            _ => return None,
        };
        let place = output.place(vreg);
        Some((Reg::new(File::Temp, u32::from(place.reg)), place.map))
    };
    let mut removed = output.removed.iter().copied().peekable();
    let mut index = 0u32;
    program.insts.retain_mut(|inst| {
        index += 1;
        if removed.next_if_eq(&(index - 1)).is_some() {
            return false;
        }
        rewrite(inst, &place);
        true
    });
    program.virtuals.clear();
    program.arrays.clear();
    program.locals = 0;
    program.temps = u32::from(output.stats.temps);
}

fn rewrite(inst: &mut Inst, place: &impl Fn(Reg) -> Option<(Reg, LaneMap)>) {
    for src in &mut inst.srcs {
        if let Some((reg, map)) = place(src.reg) {
            src.reg = reg;
            src.swizzle = src.swizzle.map(|l| map.lane(l));
        }
    }
    if let Some(dst) = &mut inst.dst
        && let Some((reg, map)) = place(dst.reg)
    {
        if inst.op.kind() == Kind::Lanewise {
            // a written lane takes its places in the swizzles along
            for src in &mut inst.srcs {
                let old = src.swizzle;
                for lane in dst.mask.lanes() {
                    src.swizzle[map.lane(lane) as usize] = old[lane as usize];
                }
            }
        }
        dst.reg = reg;
        dst.mask = map.mask(dst.mask);
    }
    inst.normalize();
}
