//! Functions that stay called, in machine code.
//!
//! Each function is a [`Program`] of its own until all are allocated, callees before callers. The
//! callee's allocation chooses where its arguments and results travel; that and what it overwrites is
//! its [`Frame`]. In a caller, a `CAL` reads registers pinned to the places of the arguments, writes
//! registers pinned to those of the results, and overwrites the rest of the frame's lanes: so the
//! allocator keeps what lives across a call out of them, and the copies at a call vanish where a
//! value can be computed in place. [`link`] then puts all functions behind each other.
//!
//! Holds: before linking, the target of a `CAL` is a number in [`Program::calls`]; afterwards it is
//! the first instruction of the subroutine, which ends with its only `RET`.

use crate::error::Error;
use crate::mach::{File, Opcode, Program, Reg};
use ir::types::WriteMask;
use regalloc::Place;

/// The registers that a function shares with its callers, before allocation.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ports {
    /// Of each argument: its virtual register and the lanes that are read; none when nothing is.
    pub params: Vec<Option<(Reg, WriteMask)>>,
    /// Of each result: its virtual register.
    pub results: Vec<Reg>,
}

/// A `CAL` before allocation.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CallSite {
    /// The place of the callee in the shader; `main` has place 0.
    pub callee: u32,
    /// What is passed, as in the callee's [`Ports`].
    pub args: Vec<Option<(Reg, WriteMask)>>,
    /// What comes back.
    pub results: Vec<Reg>,
    /// Where all of it goes; known when the callee is allocated.
    pub frame: Frame,
}

/// Where an allocated function expects and leaves values, and what it overwrites.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Frame {
    /// Place of each argument that is read.
    pub params: Vec<Option<Place>>,
    /// Place of each result.
    pub results: Vec<Place>,
    /// Lanes of each temporary that it or a function that it calls may write.
    pub clobbers: Vec<u8>,
}

impl Frame {
    /// Counts lanes of a register as overwritten.
    pub fn clobber(&mut self, reg: usize, lanes: u8) {
        if self.clobbers.len() <= reg {
            self.clobbers.resize(reg + 1, 0);
        }
        self.clobbers[reg] |= lanes;
    }

    /// Lanes overwritten that no result stands in, by register.
    pub fn lost(&self, widths: &[u8]) -> Vec<u8> {
        let mut lost = self.clobbers.clone();
        for (place, &width) in self.results.iter().zip(widths) {
            if let Some(lanes) = lost.get_mut(usize::from(place.reg)) {
                *lanes &= !place.map.mask(WriteMask::first(width)).0;
            }
        }
        lost
    }
}

/// Lanes of temporaries that the code of an allocated function writes by itself.
pub(crate) fn written(program: &Program, frame: &mut Frame) {
    for inst in &program.insts {
        if let Some(dst) = inst.dst.filter(|d| d.reg.file == File::Temp) {
            frame.clobber(dst.reg.index as usize, dst.mask.0);
        }
    }
}

/// Puts allocated functions behind each other: `main` first, with all that is bound.
pub(crate) fn link(functions: Vec<Program>) -> Program {
    let mut starts = Vec::with_capacity(functions.len());
    let mut next = 0;
    for function in &functions {
        starts.push(next);
        next += function.insts.len() as u32;
    }
    let mut functions = functions.into_iter();
    let Some(mut whole) = functions.next() else { return Program::new(ir::types::Stage::Vertex, "") };
    aim(&mut whole, &starts);
    for mut function in functions {
        aim(&mut function, &starts);
        whole.insts.append(&mut function.insts);
        whole.temps = whole.temps.max(function.temps);
    }
    whole
}

/// Gives every `CAL` its instruction.
fn aim(function: &mut Program, starts: &[u32]) {
    let calls = std::mem::take(&mut function.calls);
    for inst in function.insts.iter_mut().filter(|i| i.op == Opcode::Cal) {
        let site = inst.target.and_then(|n| calls.get(n as usize));
        inst.target = site.map(|s| starts[s.callee as usize]);
    }
}

/// Judges what callers believed of their callees, by the linked code alone: every lane that a
/// subroutine writes, with all that it calls, is among those that each caller's allocation gave up at
/// the call. `sites` are the frames in the order of the `CAL`s of the linked code.
pub(crate) fn check(linked: &Program, sites: &[Frame]) -> Result<(), Error> {
    let bad = |what: String| Err(Error::Internal(format!("call checker: {what}")));
    let calls: Vec<usize> = (0..linked.insts.len()).filter(|&i| linked.insts[i].op == Opcode::Cal).collect();
    if calls.len() != sites.len() {
        return bad(format!("{} calls with {} frames", calls.len(), sites.len()));
    }
    // subroutines stand behind their callers, so the last one calls nothing
    let mut starts: Vec<usize> = calls.iter().filter_map(|&i| Some(linked.insts[i].target? as usize)).collect();
    starts.sort_unstable();
    starts.dedup();
    let mut found: Vec<Frame> = vec![Frame::default(); starts.len()];
    for (n, &start) in starts.iter().enumerate().rev() {
        let end = starts.get(n + 1).copied().unwrap_or(linked.insts.len());
        let mut frame = Frame::default();
        for inst in linked.insts.get(start..end).unwrap_or_default() {
            if let Some(dst) = inst.dst.filter(|d| d.reg.file == File::Temp) {
                frame.clobber(dst.reg.index as usize, dst.mask.0);
            }
            let Some(target) = inst.target else { continue };
            match starts.binary_search(&(target as usize)) {
                Ok(inner) if inner > n => {
                    let clobbers = found[inner].clobbers.clone();
                    clobbers.into_iter().enumerate().for_each(|(reg, lanes)| frame.clobber(reg, lanes));
                }
                _ => return bad(format!("a call of {target} from behind it")),
            }
        }
        found[n] = frame;
    }
    for (&call, site) in calls.iter().zip(sites) {
        let Some(target) = linked.insts[call].target else { return bad(format!("instruction {call} calls nothing")) };
        let Ok(n) = starts.binary_search(&(target as usize)) else { continue };
        for (reg, &lanes) in found[n].clobbers.iter().enumerate() {
            let known = site.clobbers.get(reg).copied().unwrap_or(0);
            if lanes & !known != 0 {
                let missing = WriteMask(lanes & !known);
                return bad(format!("instruction {call} calls code that overwrites r{reg}.{missing}"));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mach::{Dst, Inst, Src};

    fn mov(reg: u32, lanes: u8) -> Inst {
        let dst = Dst::new(Reg::new(File::Temp, reg), WriteMask(lanes));
        Inst::new(Opcode::Mov, dst, &[Src::new(Reg::new(File::Const, 0))], 0)
    }

    fn flow(op: Opcode, target: Option<u32>) -> Inst {
        Inst { target, ..Inst::flow(op, &[], 0) }
    }

    fn frame(clobbers: &[u8]) -> Frame {
        Frame { clobbers: clobbers.to_vec(), ..Frame::default() }
    }

    #[test]
    fn a_clobber_set_that_lacks_a_lane_is_found() {
        let mut program = Program::new(ir::types::Stage::Fragment, "t");
        program.insts = vec![
            flow(Opcode::Cal, Some(2)),
            flow(Opcode::End, None),
            mov(1, 0b0001), // the outer one
            flow(Opcode::Cal, Some(5)),
            flow(Opcode::Ret, None),
            mov(0, 0b1100), // the inner one
            flow(Opcode::Ret, None),
        ];
        let error =
            |outer: &[u8], inner: &[u8]| check(&program, &[frame(outer), frame(inner)]).err().map(|e| e.to_string());
        assert_eq!(error(&[0b1100, 0b0001], &[0b1100]), None);
        assert_eq!(error(&[0b1111, 0b1111, 0b1111], &[0b1111]), None, "more is no fault");
        assert!(error(&[0b1100, 0b0001], &[0b0100]).unwrap().contains("instruction 3 calls code that overwrites r0.w"));
        assert!(error(&[0b1100], &[0b1100]).unwrap().contains("r1.x"));
        assert!(error(&[0b0100, 0b0001], &[0b1100]).unwrap().contains("r0.w"), "through the inner call");
    }

    #[test]
    fn lanes_of_results_are_not_lost() {
        let place = Place { reg: 1, map: regalloc::LaneMap::new(&[2, 0]).unwrap() };
        let frame = Frame { results: vec![place], clobbers: vec![0b0011, 0b1111], params: Vec::new() };
        assert_eq!(frame.lost(&[2]), [0b0011, 0b1010]);
    }
}
