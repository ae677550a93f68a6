//! Counts of a finished program, with a static estimate of cycles.

use crate::isa::Target;
use crate::mach::{Constant, File, Inst, Opcode, Program, Reg};
use ir::types::{TexDim, WriteMask};
use rustc_hash::{FxHashMap, FxHashSet};

/// Numbers about a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// All instructions but `END`.
    pub instructions: u32,
    /// Issue slots.
    pub slots: u32,
    /// Arithmetic, the address register included.
    pub alu: u32,
    /// Lookups.
    pub tex: u32,
    /// Control flow and `KIL`.
    pub flow: u32,
    /// `KIL` alone, which instruction sets count among the lookups.
    pub kills: u32,
    /// Texture indirections (see [`indirections`]); 0 without lookups.
    pub indirections: u32,
    /// Order of the most dependent lookup (see [`dependence`]).
    pub dependence: u32,
    /// Copies that stayed (among `alu`).
    pub moves: u32,
    /// Static estimate: in-order issue, operands waited for, each instruction once.
    pub cycles: u32,
    /// Temporaries.
    pub temps: u32,
    /// Constant registers.
    pub constants: u32,
    /// Uniform registers among them.
    pub uniforms: u32,
    /// Input registers.
    pub inputs: u32,
    /// Output registers.
    pub outputs: u32,
    /// Sampler registers.
    pub samplers: u32,
}

/// Counts a program.
pub fn count(program: &Program, target: &Target) -> Counts {
    let mut counts = Counts {
        cycles: cycles(&program.insts, target),
        temps: program.temps,
        constants: program.constants.len() as u32,
        uniforms: program.constants.iter().filter(|c| matches!(c, Constant::Uniform { .. })).count() as u32,
        inputs: program.inputs.len() as u32,
        outputs: program.outputs.len() as u32,
        samplers: program.samplers.len() as u32,
        indirections: indirections(&program.insts),
        dependence: dependence(&program.insts),
        ..Counts::default()
    };
    for inst in program.insts.iter().filter(|i| i.op != Opcode::End) {
        counts.instructions += 1;
        counts.slots += slots(inst, target);
        if inst.op.is_texture() {
            counts.tex += 1;
        } else if inst.op.is_flow() || inst.op == Opcode::Kil {
            counts.flow += 1;
            counts.kills += u32::from(inst.op == Opcode::Kil);
        } else {
            counts.alu += 1;
            counts.moves += u32::from(inst.op == Opcode::Mov);
        }
    }
    counts
}

/// Issue slots of one instruction.
pub fn slots(inst: &Inst, target: &Target) -> u32 {
    let cube = inst.tex.is_some_and(|t| t.dim == TexDim::Cube);
    target.op(inst.op).map_or(1, |s| s.cube_slots.filter(|_| cube).unwrap_or(s.slots))
}

/// The order of the most dependent lookup as Direct3D 9 counts it (`texld` of ps_2_0): 0 when its
/// coordinates are no temporary and its result goes to one that holds nothing; else 1, or one more than
/// the order of the lookups that the contents of either come from. Straight code is assumed.
pub fn dependence(insts: &[Inst]) -> u32 {
    let temporary = |reg: &Reg| matches!(reg.file, File::Temp | File::Virtual);
    let (mut order, mut most) = (FxHashMap::<Reg, u32>::default(), 0);
    for inst in insts {
        let Some(dst) = inst.dst.filter(|d| temporary(&d.reg)) else { continue };
        let of = |order: &FxHashMap<Reg, u32>, reg: &Reg| order.get(reg).copied();
        let sources = inst.srcs.iter().map(|s| s.reg).filter(temporary);
        let from = sources.filter_map(|r| of(&order, &r)).max();
        let is_written = of(&order, &dst.reg);
        let own = if inst.op.is_texture() {
            from.max(is_written).map_or(0, |o| o + 1)
        } else {
            let kept = is_written.filter(|_| dst.mask != WriteMask::ALL);
            from.max(kept).unwrap_or(0)
        };
        if inst.op.is_texture() {
            most = most.max(own);
        }
        order.insert(dst.reg, own);
    }
    most
}

/// Texture indirections as ARB_fragment_program counts them (section 3.11.6): one, and one more for each
/// lookup or `KIL` that reads a temporary written since the last one, or writes one that was read or
/// written since. 0 without lookups. Straight code is assumed.
pub fn indirections(insts: &[Inst]) -> u32 {
    let is_lookup = |inst: &Inst| inst.op.is_texture() || inst.op == Opcode::Kil;
    let mut count = u32::from(insts.iter().any(is_lookup));
    let (mut read, mut written) = (FxHashSet::default(), FxHashSet::default());
    let temporary = |reg: &Reg| matches!(reg.file, File::Temp | File::Virtual);
    for inst in insts {
        let sources = || inst.srcs.iter().map(|s| s.reg).filter(temporary);
        let result = inst.dst.map(|d| d.reg).filter(temporary);
        let late = sources().any(|r| written.contains(&r));
        let clash = result.is_some_and(|r| read.contains(&r) || written.contains(&r));
        if is_lookup(inst) && (late || clash) {
            count += 1;
            read.clear();
            written.clear();
        }
        read.extend(sources());
        written.extend(result);
    }
    count
}

fn cycles(insts: &[Inst], target: &Target) -> u32 {
    crate::issue::in_order(insts.iter(), target, 1)
}
