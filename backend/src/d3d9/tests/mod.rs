//! The data types and their text.

use super::*;

fn temp(n: u32) -> Reg {
    Reg::new(RegType::Temp, n)
}

fn line(version: Version, inst: Inst) -> String {
    let mut shader = Shader::new(version);
    shader.insts.push(inst);
    text::print(&shader).lines().nth(1).unwrap().to_owned()
}

#[test]
fn numbers_of_opcodes_ascend() {
    assert!(Opcode::ALL.windows(2).all(|w| w[0].number() < w[1].number()));
    assert!(Opcode::ALL.iter().all(|&op| Opcode::from_number(op.number()) == Some(op)));
    assert_eq!(Opcode::from_number(31), None);
}

#[test]
fn words_follow_version_and_control() {
    let dst = Dst::new(temp(0), Mask::ALL);
    let t0 = Src::new(Reg::new(RegType::Texture, 0));
    let s0 = Src::new(Reg::new(RegType::Sampler, 0));
    let look = |control| Inst::new(Opcode::Tex, dst, &[t0, s0]).with_control(control);
    assert_eq!(line(Version::ps(2, 0), look(Control::None)), "texld r0, t0, s0");
    assert_eq!(line(Version::ps(2, 0), look(Control::Project)), "texldp r0, t0, s0");
    assert_eq!(line(Version::ps(2, 0), look(Control::Bias)), "texldb r0, t0, s0");
    let old = Inst::new(Opcode::Tex, Dst::new(Reg::new(RegType::Texture, 0), Mask::ALL), &[]);
    assert_eq!(line(Version::ps(1, 1), old), "tex t0");
    let if_lt = Inst::flow(Opcode::Ifc, &[Src::lane(temp(0), 0), Src::lane(temp(1), 3)]);
    let if_lt = if_lt.with_control(Control::Compare(Comparison::Less));
    assert_eq!(line(Version::vs(3, 0), if_lt), "if_lt r0.x, r1.w");
}

#[test]
fn operands_are_written_as_the_assembler_reads_them() {
    let rel = Some(Rel { reg: Reg::A0, lane: 0 });
    let c = |index, rel| Src { rel, ..Src::new(Reg::new(RegType::Const, index)) };
    let mov = |dst, src| line(Version::ps(1, 4), Inst::new(Opcode::Mov, dst, &[src]));
    let r0 = Dst::new(temp(0), Mask(0b0111));
    assert_eq!(mov(r0, c(5, rel)), "mov r0.xyz, c[a0.x + 5]");
    assert_eq!(mov(r0, c(0, rel)), "mov r0.xyz, c[a0.x]");
    assert_eq!(mov(r0, c(3, Some(Rel { reg: Reg::LOOP, lane: 0 }))), "mov r0.xyz, c[aL + 3]");
    assert_eq!(mov(Dst { shift: -3, ..r0.saturated() }, c(1, None)), "mov_d8_sat r0.xyz, c1");
    let signed = Src { modifier: Modifier::Sign, ..Src::lane(temp(1), 3) };
    assert_eq!(mov(r0, signed), "mov r0.xyz, r1_bx2.w");
    assert_eq!(mov(r0, signed.negated()), "mov r0.xyz, -r1_bx2.w");
    let complement = Src { modifier: Modifier::Complement, ..Src::new(temp(1)) };
    assert_eq!(mov(r0, complement.with_swizzle([2, 1, 0, 3])), "mov r0.xyz, 1-r1.zyxw");
}

#[test]
fn constants_are_written_with_the_least_digits() {
    let bits = [0.1f32, -0.0, f32::INFINITY, 1e-7].map(f32::to_bits);
    assert_eq!(Def::float(2, bits).to_string(), "def c2, 0.1, -0, 0x7f800000, 1e-7");
    assert_eq!(Def::Int { index: 0, lanes: [4, 0, -1, 0] }.to_string(), "defi i0, 4, 0, -1, 0");
    assert_eq!(Def::Bool { index: 3, value: true }.to_string(), "defb b3, true");
    assert_eq!(Constant::matrices("m", 4, [4, 4], 2).to_string(), "c4..c11: float4x4 m[2]");
    assert_eq!(Constant::sampler("base", 1, SamplerKind::D2).to_string(), "s1: sampler2D base");
}

#[test]
fn registers_take_the_shape_of_their_type() {
    let typed = |count, name| {
        let mut constant = Constant::vectors("u", 2, 4, count);
        constant.set_type(name);
        constant.to_string()
    };
    assert_eq!(typed(1, "vec3"), "c2: float3 u");
    assert_eq!(typed(1, "float"), "c2: float u");
    assert_eq!(typed(3, "ivec2[3]"), "c2..c4: int2 u[3]");
    assert_eq!(typed(4, "mat4"), "c2..c5: float4x4 u");
    assert_eq!(typed(6, "mat3x2[2]"), "c2..c7: float2x3 u[2]");
    // a column that nobody reads has no register
    assert_eq!(typed(3, "mat4"), "c2..c4: float4 u[3]");
    assert_eq!(typed(1, "Light"), "c2: float4 u");
}

mod random;
mod streams;
mod texts;
