//! Makes operands encodable: what a source may carry, how many registers of a file one instruction
//! may read.
//!
//! In: machine code over virtual registers. Out: the same, where every source obeys the target's
//! table; an operand that does not is copied to a register first. A target on which everything is
//! allowed gets its program back unchanged.

use crate::error::Error;
use crate::isa::{SwizzleRule, Target};
use crate::mach::{Dst, File, Inst, Opcode, Program, Reg, Rel, Src};
use ir::types::WriteMask;

/// Legalizes in place.
pub fn legalize(program: &mut Program, target: &Target) -> Result<(), Error> {
    let insts = std::mem::take(&mut program.insts);
    let mut out = Vec::with_capacity(insts.len());
    for mut inst in insts {
        for n in 0..inst.srcs.len() {
            if !is_legal(&inst, n, target) {
                inst.srcs[n] = copy(&inst, n, target, program, &mut out)?;
            }
        }
        if inst.op == Opcode::Txb && target.operands.bias_in_w {
            bias_beside_coordinates(&mut inst, program, &mut out);
        }
        // distinct registers of one file, first come first served
        let mut read: Vec<(Reg, Option<Rel>)> = Vec::new();
        for n in 0..inst.srcs.len() {
            let src = inst.srcs[n];
            if src.reg.file == File::Virtual || read.contains(&(src.reg, src.rel)) {
                continue;
            }
            let of_file = read.iter().filter(|(r, _)| r.file == src.reg.file).count() as u32;
            if of_file < target.file(src.reg.file).ports {
                read.push((src.reg, src.rel));
            } else {
                inst.srcs[n] = copy(&inst, n, target, program, &mut out)?;
            }
        }
        let copied = lookup_to_depth(&mut inst, target, program);
        inst.normalize();
        out.push(inst);
        out.extend(copied);
    }
    program.insts = out;
    Ok(())
}

/// Gathers the coordinates and, in lane w, the bias of a lookup in one register.
fn bias_beside_coordinates(inst: &mut Inst, program: &mut Program, out: &mut Vec<Inst>) {
    let reg = program.make_virtual(4);
    let (coordinates, bias) = (inst.srcs[0], inst.srcs[1]);
    let read = inst.places_read(0);
    for (src, mask) in [(coordinates, read), (bias.swizzled([0; 4]), WriteMask::lane(3))] {
        let mut mov = Inst::new(Opcode::Mov, Dst::new(reg, mask), &[src], inst.line);
        mov.normalize();
        out.push(mov);
    }
    inst.srcs[0] = Src::new(reg);
    inst.srcs[1] = Src { swizzle: [3; 4], ..Src::new(reg) };
}

/// A lookup that may not write the depth writes a register, and a copy follows.
fn lookup_to_depth(inst: &mut Inst, target: &Target, program: &mut Program) -> Option<Inst> {
    let dst = inst.dst.filter(|d| d.reg.file == File::Output && inst.op.is_texture())?;
    let is_depth = program.outputs.iter().any(|b| b.reg == dst.reg.index && b.semantic == "depth");
    if target.operands.tex_to_depth || !is_depth {
        return None;
    }
    let reg = program.make_virtual(4);
    inst.dst = Some(Dst { reg, saturate: false, ..dst });
    let mut copy = Inst::new(Opcode::Mov, dst, &[Src::new(reg)], inst.line);
    copy.normalize();
    Some(copy)
}

fn is_legal(inst: &Inst, n: usize, target: &Target) -> bool {
    let src = &inst.srcs[n];
    let o = &target.operands;
    let (swizzle, modifiers) = match inst.op.is_texture() && n == 0 {
        true => (o.tex_swizzle, o.tex_modifiers),
        false => (o.swizzle, true),
    };
    let neg = !src.neg || (modifiers && o.neg);
    let abs = !src.abs || (modifiers && o.abs);
    neg && abs && swizzle.allows(src.swizzle, inst.places_read(n))
}

/// Copies source `n` to a register of its own, lanes in place, and returns that.
fn copy(inst: &Inst, n: usize, target: &Target, program: &mut Program, out: &mut Vec<Inst>) -> Result<Src, Error> {
    let src = inst.srcs[n];
    let places = inst.places_read(n);
    if (src.neg && !target.operands.neg) || (src.abs && !target.operands.abs) {
        let what = format!("sign of an operand of {} on {}", inst.op.mnemonic(), target.name);
        return Err(Error::Unsupported { what, line: inst.line });
    }
    let width = places.lanes().last().map_or(1, |l| l + 1);
    let reg = program.make_virtual(width);
    let mut left = places.0;
    while left != 0 {
        // all places at once if a MOV may, else those that read one lane
        let mut mask = left;
        if !target.operands.swizzle.allows(src.swizzle, WriteMask(left)) {
            let lane = src.swizzle[left.trailing_zeros() as usize];
            let same = |p: &u8| src.swizzle[*p as usize] == lane;
            mask = WriteMask(left).lanes().filter(same).fold(0, |m, p| m | 1 << p);
            if target.operands.swizzle == SwizzleRule::Identity {
                let what = format!("lane choice of an operand of {} on {}", inst.op.mnemonic(), target.name);
                return Err(Error::Unsupported { what, line: inst.line });
            }
        }
        let mut mov = Inst::new(Opcode::Mov, Dst::new(reg, WriteMask(mask)), &[src], inst.line);
        mov.normalize();
        out.push(mov);
        left &= !mask;
    }
    Ok(Src::new(reg))
}

#[cfg(test)]
mod tests {
    use super::*;

    const VEC4: &str = include_str!("../../targets/vec4.toml");

    fn code(target: &str, inst: Inst) -> Vec<String> {
        let target = Target::from_toml(target).unwrap();
        let mut program = Program::new(ir::types::Stage::Fragment, "t");
        program.insts.push(inst);
        legalize(&mut program, &target).unwrap();
        program.insts.iter().map(Inst::to_string).collect()
    }

    fn constant(index: u32, swizzle: [u8; 4]) -> Src {
        Src { swizzle, ..Src::new(Reg::new(File::Const, index)) }
    }

    #[test]
    fn constant_ports() {
        let dst = Dst::new(Reg::new(File::Temp, 0), WriteMask(0b111));
        let srcs = [constant(0, [0, 1, 2, 2]), constant(1, [1, 1, 0, 0]), constant(0, [0; 4])];
        let inst = Inst::new(Opcode::Mad, dst, &srcs, 0);
        assert_eq!(code(VEC4, inst.clone()).len(), 1);
        let one = VEC4.replace("constant = { count = 256, ports = 3", "constant = { count = 256, ports = 1");
        assert_eq!(code(&one, inst), ["MOV %0.xyz, c1.yyxx", "MAD r0.xyz, c0.xyzz, %0.xyzz, c0.x"]);
    }

    #[test]
    fn a_bias_joins_its_coordinates() {
        let dst = Dst::new(Reg::new(File::Temp, 0), WriteMask::ALL);
        let src = |index, swizzle| Src { swizzle, ..Src::new(Reg::new(File::Input, index)) };
        let mut inst = Inst::new(Opcode::Txb, dst, &[src(0, [2, 3, 3, 3]), src(1, [1; 4])], 0);
        inst.tex = Some(crate::mach::TexInfo { sampler: 0, dim: ir::types::TexDim::D2, shadow: false });
        assert_eq!(code(VEC4, inst.clone()), ["TXB r0, v0.zwww, v1.y, s0, 2D"]);
        let joined = VEC4.replace("tex_modifiers = true", "tex_modifiers = true\nbias_in_w = true");
        let expected = ["MOV %0.xy, v0.zwww", "MOV %0.w, v1.y", "TXB r0, %0.xyyy, %0.w, s0, 2D"];
        assert_eq!(code(&joined, inst), expected);
    }

    #[test]
    fn texture_coordinates_in_place() {
        let dst = Dst::new(Reg::new(File::Temp, 0), WriteMask::ALL);
        let src = Src { swizzle: [2, 3, 3, 3], neg: true, ..Src::new(Reg::new(File::Input, 0)) };
        let mut inst = Inst::new(Opcode::Tex, dst, &[src], 0);
        inst.tex = Some(crate::mach::TexInfo { sampler: 0, dim: ir::types::TexDim::D2, shadow: false });
        let strict = VEC4.replace("tex_swizzle = \"any\"", "tex_swizzle = \"identity\"");
        assert_eq!(code(&strict, inst.clone()), ["MOV %0.xy, -v0.zwww", "TEX r0, %0.xyyy, s0, 2D"]);
        let replicate = strict.replace("swizzle = \"any\"", "swizzle = \"replicate\"");
        assert_eq!(code(&replicate, inst), ["MOV %0.x, -v0.z", "MOV %0.y, -v0.w", "TEX r0, %0.xyyy, s0, 2D"]);
    }
}
