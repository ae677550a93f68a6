//! Registers for a machine program: the bridge to the `regalloc` crate.
//!
//! In: code over virtual registers and indexable arrays. Out: the same code over temporaries, with
//! write masks and swizzles rewritten to the lanes that the allocator chose, and without the copies
//! that became empty. Holds: a texture result stays in the lanes that the lookup writes.
//!
//! Calls: what a `CAL` passes and gets back is pinned to the places that the callee's allocation
//! chose, and every other lane that the callee overwrites is a dead def there, pinned too. A function
//! that is called starts with an instruction of its own in front, which defines its arguments, and
//! its `RET` reads its results.

use crate::calls::{self, CallSite, Frame};
use crate::cfg;
use crate::error::{Error, Resource};
use crate::isa::{SwizzleRule, Target};
use crate::mach::{File, Inst, Kind, Opcode, Program, Reg};
use ir::types::WriteMask;
use regalloc::{
    BlockInfo, DefKind, Func, LaneCopies, LaneCopy, LaneMap, LaneMaps, Method, Operand, Options, Output, Place,
    RegAllocError, RegFile, Stats, VReg, VRegInfo,
};
use std::collections::BTreeMap;

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
    blocks: Vec<BlockInfo>,
    infos: Vec<VRegInfo>,
    arrays: Vec<Vec<VReg>>,
    /// Instructions in front of the program's: 1 when arguments come in.
    front: usize,
    /// For each call the lanes that are lost.
    lost: Vec<Vec<VReg>>,
}

/// The blocks with `front` instructions before them, in a block of their own.
fn blocks(program: &Program, front: usize) -> Vec<BlockInfo> {
    let front = front as u32;
    let own =
        (front > 0).then(|| BlockInfo { insts: 0..front, succs: smallvec::smallvec![1], loop_depth: program.loops });
    let rest = cfg::blocks(&program.insts).into_iter().map(|b| BlockInfo {
        insts: b.insts.start as u32 + front..b.insts.end as u32 + front,
        succs: b.succs.iter().map(|s| s + front).collect(),
        loop_depth: b.loop_depth + program.loops,
    });
    own.into_iter().chain(rest).collect()
}

/// Asks for a place.
fn pin(info: &mut VRegInfo, place: Place) {
    info.fixed = Some(place.reg);
    let width = usize::from(info.lanes);
    info.maps = LaneMaps::EMPTY;
    if let Some(map) = LaneMap::new(&place.map.as_array()[..width]) {
        info.maps.insert(map);
    }
}

/// Pins the registers of every call, and makes one for each part of a register that it loses.
fn pin_calls(calls: &[CallSite], infos: &mut Vec<VRegInfo>) -> Vec<Vec<VReg>> {
    let mut known: BTreeMap<(u16, u8), VReg> = BTreeMap::new();
    let mut lost = Vec::with_capacity(calls.len());
    for site in calls {
        for (arg, place) in site.args.iter().zip(&site.frame.params) {
            if let (Some((reg, _)), Some(place)) = (arg, place) {
                pin(&mut infos[reg.index as usize], *place);
            }
        }
        let mut widths = Vec::with_capacity(site.results.len());
        for (reg, place) in site.results.iter().zip(&site.frame.results) {
            widths.push(infos[reg.index as usize].lanes);
            pin(&mut infos[reg.index as usize], *place);
        }
        let mut of_site = Vec::new();
        for (reg, lanes) in (0u16..).zip(site.frame.lost(&widths)).filter(|(_, lanes)| *lanes != 0) {
            of_site.push(*known.entry((reg, lanes)).or_insert_with(|| {
                let lanes: Vec<u8> = WriteMask(lanes).lanes().collect();
                let mut info = VRegInfo::free(lanes.len() as u8);
                info.fixed = Some(reg);
                info.maps = LaneMaps::EMPTY;
                if let Some(map) = LaneMap::new(&lanes) {
                    info.maps.insert(map);
                }
                infos.push(info);
                VReg::from_u32(infos.len() as u32 - 1)
            }));
        }
        lost.push(of_site);
    }
    lost
}

impl<'p> View<'p> {
    fn new(program: &'p Program, target: &Target) -> View<'p> {
        // one lane can be read from anywhere, unless lanes cannot be picked at all
        let in_place = target.operands.swizzle != SwizzleRule::Any;
        let one_in_place = target.operands.swizzle == SwizzleRule::Identity;
        let mut infos: Vec<VRegInfo> = program
            .virtuals
            .iter()
            .map(|&w| if in_place && (w > 1 || one_in_place) { VRegInfo::in_place(w) } else { VRegInfo::free(w) })
            .collect();
        for inst in &program.insts {
            keep_lanes(inst, target, &mut infos);
        }
        infos.extend((0..program.locals).map(|_| VRegInfo::in_place(4)));
        let local = |n: u32| VReg::from_u32(program.virtuals.len() as u32 + n);
        let arrays = program.arrays.iter().map(|&(first, len)| (first..first + len).map(local).collect()).collect();
        let lost = pin_calls(&program.calls, &mut infos);
        let front = usize::from(program.ports.is_some());
        View { program, blocks: blocks(program, front), infos, arrays, front, lost }
    }

    /// The instruction, unless it is the one in front.
    fn inst(&self, inst: usize) -> Option<&'p Inst> {
        self.program.insts.get(inst.checked_sub(self.front)?)
    }

    /// What a call or return reads and writes beside the operands that stand in it.
    fn links(&self, inst: &Inst, visit: &mut dyn FnMut(Operand)) {
        let vreg = |reg: &Reg| VReg::from_u32(reg.index);
        let whole = |vreg: VReg| WriteMask::first(self.infos[vreg.as_u32() as usize].lanes);
        let defines = |vreg: VReg| Operand::Def { vreg, lanes: whole(vreg), kind: DefKind::Plain };
        match (inst.op, inst.target, &self.program.ports) {
            (Opcode::Cal, Some(site), _) => {
                let (lost, site) = (&self.lost[site as usize], &self.program.calls[site as usize]);
                for (reg, lanes) in site.args.iter().flatten() {
                    visit(Operand::Use { vreg: vreg(reg), lanes: *lanes });
                }
                site.results.iter().for_each(|reg| visit(defines(vreg(reg))));
                lost.iter().for_each(|&vreg| visit(defines(vreg)));
            }
            (Opcode::Ret, _, Some(ports)) => {
                // The caller takes them as values of their own, so two that are equal may not share a
                // place: each counts as written anew.
                for reg in &ports.results {
                    visit(Operand::Use { vreg: vreg(reg), lanes: whole(vreg(reg)) });
                    visit(defines(vreg(reg)));
                }
            }
            _ => {}
        }
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

/// Keeps in place what the instruction can neither write nor read elsewhere.
fn keep_lanes(inst: &Inst, target: &Target, infos: &mut [VRegInfo]) {
    let o = &target.operands;
    let lookup = inst.op.is_texture();
    let one_of_some = target.op(inst.op).is_some_and(|s| !s.masks.is_all());
    if let Some(dst) = inst.dst.filter(|d| (lookup || one_of_some) && d.reg.file == File::Virtual) {
        keep(&mut infos[dst.reg.index as usize], dst.mask);
    }
    if (lookup && o.tex_swizzle != SwizzleRule::Any) || (inst.op == Opcode::Kil && o.kil_plain) {
        for (n, src) in inst.srcs.iter().enumerate().filter(|(_, s)| s.reg.file == File::Virtual) {
            keep(&mut infos[src.reg.index as usize], inst.lanes_read(n));
        }
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
        self.program.insts.len() + self.front
    }

    fn num_blocks(&self) -> usize {
        self.blocks.len()
    }

    fn block(&self, block: usize) -> BlockInfo {
        self.blocks[block].clone()
    }

    fn operands(&self, inst: usize, visit: &mut dyn FnMut(Operand)) {
        let Some(inst) = self.inst(inst) else {
            for (reg, lanes) in self.program.ports.iter().flat_map(|p| p.params.iter().flatten()) {
                visit(Operand::Def { vreg: VReg::from_u32(reg.index), lanes: *lanes, kind: DefKind::Plain });
            }
            return;
        };
        self.links(inst, visit);
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
        let mut copies = LaneCopies::new();
        let Some(inst) = self.inst(inst) else { return copies };
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
        self.inst(inst).map_or("arguments".to_owned(), Inst::to_string)
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

/// Allocates in place and returns the allocator's numbers, and the frame that callers must know. The
/// callees' frames stand in [`Program::calls`] by then.
pub fn allocate(program: &mut Program, target: &Target, options: &AllocOptions) -> Result<(Stats, Frame), Error> {
    let view = View::new(program, target);
    let front = view.front as u32;
    let output = solve(&view, target, options)?;
    let mut frame = Frame::default();
    if let Some(ports) = program.ports.take() {
        let place = |reg: &Reg| output.place(VReg::from_u32(reg.index));
        frame.params = ports.params.iter().map(|p| p.as_ref().map(|(reg, _)| place(reg))).collect();
        frame.results = ports.results.iter().map(place).collect();
    }
    for site in &program.calls {
        site.frame.clobbers.iter().enumerate().for_each(|(reg, &lanes)| frame.clobber(reg, lanes));
    }
    apply(program, &output, front);
    calls::written(program, &mut frame);
    Ok((output.stats, frame))
}

/// Where each value of a program over virtual registers would sit and when it lives, as text.
pub fn chart(program: &Program, target: &Target, options: &AllocOptions) -> Result<String, Error> {
    let view = View::new(program, target);
    let output = solve(&view, target, options)?;
    Ok(regalloc::dump::dump(&view, &output))
}

/// Rewrites registers, masks and swizzles, and drops empty copies.
fn apply(program: &mut Program, output: &Output, front: u32) {
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
    let mut index = front;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mach::{Dst, Src};

    #[test]
    fn what_lives_across_a_call_stays_out_of_its_lanes() {
        // %0 lives across a call that overwrites all of r0 and a lane of r1
        let reg = |file, index| Reg::new(file, index);
        let mut program = Program::new(ir::types::Stage::Fragment, "t");
        let value = program.make_virtual(4);
        let arg = program.make_virtual(2);
        let map = LaneMap::new(&[3, 1]).unwrap();
        program.calls.push(CallSite {
            callee: 1,
            args: vec![Some((arg, WriteMask(0b11)))],
            results: Vec::new(),
            frame: Frame {
                params: vec![Some(Place { reg: 0, map })],
                results: Vec::new(),
                clobbers: vec![0b1111, 0b0010],
            },
        });
        let mov = |dst: Reg, lanes: u8, src: Reg| {
            Inst::new(Opcode::Mov, Dst::new(dst, WriteMask(lanes)), &[Src::new(src)], 0)
        };
        let mut call = Inst::flow(Opcode::Cal, &[], 0);
        call.target = Some(0);
        program.insts = vec![
            mov(value, 0b1111, reg(File::Const, 0)),
            mov(arg, 0b0011, reg(File::Const, 1)),
            call,
            mov(reg(File::Output, 0), 0b1111, value),
            Inst::flow(Opcode::End, &[], 0),
        ];
        let target = Target::builtin("vec4").unwrap();
        for method in [Method::Color, Method::Scan] {
            let how = AllocOptions { method, check: true, ..AllocOptions::default() };
            let view = View::new(&program, &target);
            let mut output = solve(&view, &target, &how).unwrap();
            assert_eq!(output.place(VReg::from_u32(0)).reg, 2);
            assert_eq!(output.place(VReg::from_u32(1)), Place { reg: 0, map });
            // the checker sees a value in a lane that the call overwrites, and one that is passed elsewhere
            output.places[VReg::from_u32(0)].reg = 1;
            assert!(matches!(regalloc::check(&view, &output), Err(regalloc::CheckError::WrongValue { .. })));
            output.places[VReg::from_u32(0)].reg = 2;
            output.places[VReg::from_u32(1)].map = LaneMap::IDENTITY;
            assert!(matches!(regalloc::check(&view, &output), Err(regalloc::CheckError::BadPlace { .. })));
        }
    }
}
