//! The paper's second machine rule over machine code: instructions of one opcode that write
//! different lanes of one register become one, when their operands can sit in one register each.
//!
//! ```text
//!   ADD %4.xy, %1, c0        ADD %4, %1, c0          when nothing between them writes what the
//!   ADD %4.zw, %1, c0                                moved one reads, or touches what it writes
//! ```
//!
//! Literal operands always sit in one register: their lanes are joined before they are placed.

use super::literals::FIRST;
use crate::cfg;
use crate::mach::{File, Inst, Kind, Opcode, Program, Reg, Src};
use ir::types::WriteMask;

/// Instructions looked at after each one.
const WINDOW: usize = 48;

/// Merges within each basic block; `literals` grows by joined ones.
pub(crate) fn merge(program: &mut Program, literals: &mut Vec<[u32; 4]>) {
    for block in cfg::blocks(&program.insts) {
        let mut i = block.insts.start;
        while i < block.insts.end {
            let mut j = i + 1;
            while j < block.insts.end.min(i + WINDOW) {
                if let Some(joined) = join(&program.insts[i], &program.insts[j], literals) {
                    if can_move(&program.insts, j, i) {
                        program.insts[i] = joined;
                        vacate(&mut program.insts[j]);
                    } else if can_move(&program.insts, i, j) {
                        program.insts[j] = joined;
                        vacate(&mut program.insts[i]);
                        break;
                    }
                }
                j += 1;
            }
            i += 1;
        }
    }
    program.insts.retain(|i| !is_vacant(i));
}

/// Marks a place that is free; dropped at the end, so that positions stay valid meanwhile.
fn vacate(inst: &mut Inst) {
    inst.op = Opcode::Mov;
    inst.srcs.clear();
    inst.dst = None;
}

fn is_vacant(inst: &Inst) -> bool {
    inst.op == Opcode::Mov && inst.dst.is_none()
}

fn is_literal(src: &Src) -> bool {
    src.reg.file == File::Const && src.reg.index >= FIRST && src.rel.is_none()
}

/// The instruction that does both.
fn join(a: &Inst, b: &Inst, literals: &mut Vec<[u32; 4]>) -> Option<Inst> {
    let (da, db) = (a.dst?, b.dst?);
    let mergeable = matches!(a.op.kind(), Kind::Lanewise | Kind::Address | Kind::Reduce(_) | Kind::Scalar);
    let same = a.op == b.op && da.reg == db.reg && da.saturate == db.saturate && da.rel.is_none() && db.rel.is_none();
    if !mergeable || !same || da.mask.0 & db.mask.0 != 0 {
        return None;
    }
    let mut out = a.clone();
    out.dst = Some(crate::mach::Dst { mask: WriteMask(da.mask.0 | db.mask.0), ..da });
    if !matches!(a.op.kind(), Kind::Lanewise | Kind::Address) {
        return (a.srcs == b.srcs).then_some(out);
    }
    let compatible = |x: &Src, y: &Src| {
        let both = is_literal(x) && is_literal(y);
        (both || (x.reg, x.rel) == (y.reg, y.rel)) && (x.neg, x.abs) == (y.neg, y.abs)
    };
    if !a.srcs.iter().zip(&b.srcs).all(|(x, y)| compatible(x, y)) {
        return None;
    }
    for (n, (x, y)) in a.srcs.iter().zip(&b.srcs).enumerate() {
        let src = &mut out.srcs[n];
        if x.reg != y.reg {
            let mut bits = [0; 4];
            for (mask, from) in [(da.mask, x), (db.mask, y)] {
                let lanes = literals[(from.reg.index - FIRST) as usize];
                mask.lanes().for_each(|l| bits[l as usize] = lanes[from.swizzle[l as usize] as usize]);
            }
            literals.push(bits);
            *src = Src { neg: x.neg, abs: x.abs, ..Src::new(Reg::new(File::Const, FIRST + literals.len() as u32 - 1)) };
        } else {
            db.mask.lanes().for_each(|l| src.swizzle[l as usize] = y.swizzle[l as usize]);
        }
    }
    out.normalize();
    Some(out)
}

fn reads(inst: &Inst, reg: Reg, lanes: u8) -> bool {
    let addressed =
        |rel: Option<crate::mach::Rel>| reg.file == File::Addr && rel.is_some_and(|r| lanes >> r.lane & 1 == 1);
    inst.dst.is_some_and(|d| addressed(d.rel))
        || inst
            .srcs
            .iter()
            .enumerate()
            .any(|(n, s)| addressed(s.rel) || (s.reg == reg && s.rel.is_none() && inst.lanes_read(n).0 & lanes != 0))
}

fn writes(inst: &Inst, reg: Reg, lanes: u8) -> bool {
    inst.dst.is_some_and(|d| d.reg == reg && d.mask.0 & lanes != 0)
}

/// Whether the instruction at `from` may stand at `to` (earlier or later), seen from all
/// instructions between and the one at `to` itself.
fn can_move(insts: &[Inst], from: usize, to: usize) -> bool {
    let moved = &insts[from];
    let Some(dst) = moved.dst else { return false };
    let touches_memory =
        |i: &Inst| i.srcs.iter().any(|s| s.reg.file == File::Local) || i.dst.is_some_and(|d| d.reg.file == File::Local);
    if touches_memory(moved) {
        return false;
    }
    let between = if from > to { to..from } else { from + 1..to + 1 };
    insts[between].iter().filter(|i| !is_vacant(i)).all(|other| {
        let clobbers = moved.srcs.iter().enumerate().any(|(n, s)| {
            writes(other, s.reg, moved.lanes_read(n).0)
                || s.rel.is_some_and(|r| writes(other, Reg::new(File::Addr, 0), 1 << r.lane))
        });
        !clobbers && !reads(other, dst.reg, dst.mask.0) && !writes(other, dst.reg, dst.mask.0)
    })
}
