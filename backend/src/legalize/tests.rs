use super::*;

const VEC4: &str = include_str!("../../targets/vec4.toml");

fn code(target: &str, inst: Inst) -> Vec<String> {
    let target = Target::from_toml(target).unwrap();
    let mut program = Program::new(ir::types::Stage::Fragment, "t");
    program.insts.push(inst);
    legalize(&mut program, &target, Sharing::Block).unwrap();
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
    assert_eq!(code(&one, inst), ["MOV %0.xyz, c0.xyzz", "MAD r0.xyz, %0.xyzz, c1.yyxx, %0.x"]);
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

fn builtin(name: &str, insts: &[Inst]) -> Program {
    let target = Target::builtin(name).unwrap();
    let stage = target.stages[0];
    let mut program = Program::new(stage, name);
    program.virtuals = vec![4; 8];
    program.insts = insts.to_vec();
    legalize(&mut program, &target, Sharing::Block).unwrap();
    program
}

fn text(program: &Program) -> Vec<String> {
    program.insts.iter().map(Inst::to_string).collect()
}

fn reg(file: File, index: u32) -> Src {
    Src::new(Reg::new(file, index))
}

fn into(index: u32, mask: u8) -> Dst {
    Dst::new(Reg::new(File::Virtual, index), WriteMask(mask))
}

/// Most different registers of a file, and most references to it, in one instruction.
fn most_read(program: &Program, file: File) -> (usize, usize) {
    let of = |i: &Inst| i.srcs.iter().filter(|s| s.reg.file == file).map(|s| s.reg).collect::<Vec<_>>();
    let all: Vec<Vec<Reg>> = program.insts.iter().map(of).collect();
    let different = |regs: &Vec<Reg>| regs.iter().collect::<BTreeSet<_>>().len();
    (all.iter().map(different).max().unwrap_or(0), all.iter().map(Vec::len).max().unwrap_or(0))
}

#[test]
fn a_constant_that_meets_many_is_copied_once() {
    let add = |n: u32| {
        Inst::new(Opcode::Add, into(n, 15), &[reg(File::Const, n), reg(File::Const, 9).swizzled([n as u8; 4])], 0)
    };
    let program = builtin("vs_2_0", &[add(0), add(1), add(2)]);
    let expected = ["MOV %8.xyz, c9.xyzz", "ADD %0, c0, %8.x", "ADD %1, c1, %8.y", "ADD %2, c2, %8.z"];
    assert_eq!(text(&program), expected);
}

#[test]
fn the_fewest_registers_that_meet_all_others_are_copied() {
    // c0-c1, c1-c2, c2-c3, c3-c4: c1 and c3 are enough
    let add = |n: u32| Inst::new(Opcode::Add, into(n, 15), &[reg(File::Const, n), reg(File::Const, n + 1)], 0);
    let program = builtin("vs_1_1", &[add(0), add(1), add(2), add(3)]);
    assert_eq!(text(&program).iter().filter(|t| t.starts_with("MOV")).count(), 2, "{program}");
    assert_eq!(most_read(&program, File::Const).0, 1);
}

#[test]
fn three_inputs_need_two_copies() {
    let srcs = [reg(File::Input, 0), reg(File::Input, 1), reg(File::Input, 2)];
    let program = builtin("vs_2_0", &[Inst::new(Opcode::Mad, into(0, 15), &srcs, 0)]);
    assert_eq!((program.insts.len(), most_read(&program, File::Input).0), (3, 1));
}

#[test]
fn ports_of_the_first_version_count_references() {
    let double = Inst::new(Opcode::Add, into(0, 15), &[reg(File::Input, 0), reg(File::Input, 0)], 0);
    let beside = Inst::new(Opcode::Mul, into(1, 15), &[reg(File::Input, 0), reg(File::Const, 0)], 0);
    assert_eq!(text(&builtin("vs_1_1", std::slice::from_ref(&double))), ["ADD %0, v0, v0"]);
    let first = builtin("vs_1_0", &[double, beside]);
    assert_eq!(text(&first)[..2], ["MOV %8, v0", "ADD %0, %8, %8"]);
    assert_eq!(most_read(&first, File::Input), (1, 1));
}

#[test]
fn a_constant_is_read_twice_at_most() {
    let c = reg(File::Const, 0);
    let mad = Inst::new(Opcode::Mad, into(0, 15), &[c, c.swizzled([1; 4]), c.swizzled([2; 4])], 0);
    assert_eq!(builtin("vs_1_1", std::slice::from_ref(&mad)).insts.len(), 1);
    assert_eq!(text(&builtin("vs_2_0", &[mad])), ["MOV %8, c0", "MAD %0, %8, %8.y, %8.z"]);
}

#[test]
fn a_copy_of_an_indexed_constant_does_not_outlive_its_index() {
    let at = Src { rel: Some(crate::mach::Rel { lane: 0 }), ..reg(File::Const, 4) };
    let load = Inst::new(Opcode::Arl, Dst::new(Reg::new(File::Addr, 0), WriteMask(1)), &[reg(File::Input, 0)], 0);
    let add = |n| Inst::new(Opcode::Add, into(n, 15), &[at, reg(File::Const, n)], 0);
    let program = builtin("vs_2_0", &[load.clone(), add(0), add(1), load, add(2), add(3)]);
    let copies = text(&program).iter().filter(|t| t.starts_with("MOV %")).count();
    assert_eq!(copies, 2, "{program}");
}

#[test]
fn lanes_that_cannot_be_picked_together_are_computed_apart() {
    let add = Inst::new(
        Opcode::Add,
        into(0, 0b11),
        &[reg(File::Virtual, 1), reg(File::Virtual, 2).swizzled([2, 3, 3, 3])],
        0,
    );
    assert_eq!(text(&builtin("ps_3_0", std::slice::from_ref(&add))).len(), 1);
    assert_eq!(text(&builtin("ps_2_0", &[add])), ["ADD %0.x, %1.x, %2.z", "ADD %0.y, %1.y, %2.w"]);
    let cross = [reg(File::Virtual, 1).swizzled([1, 2, 0, 0]), reg(File::Virtual, 2).swizzled([2, 0, 1, 1])];
    assert_eq!(builtin("ps_2_0", &[Inst::new(Opcode::Mul, into(0, 0b111), &cross, 0)]).insts.len(), 1);
}

#[test]
fn a_part_does_not_write_what_the_next_one_reads() {
    let swapped = reg(File::Virtual, 0).swizzled([3, 0, 0, 0]);
    let program = builtin("ps_2_0", &[Inst::new(Opcode::Add, into(0, 0b11), &[swapped, reg(File::Virtual, 1)], 0)]);
    let expected = ["MOV %8.x, %0.w", "MOV %8.y, %0.x", "ADD %0.xy, %8.xyyy, %1.xyyy"];
    assert_eq!(text(&program), expected);
}

#[test]
fn a_fraction_is_made_in_the_lanes_that_it_can_be_made_in() {
    let frc = |mask| Inst::new(Opcode::Frc, into(0, mask), &[reg(File::Virtual, 1)], 0);
    assert_eq!(text(&builtin("vs_1_1", &[frc(0b11)])), ["FRC %0.xy, %1.xyyy"]);
    assert_eq!(text(&builtin("vs_1_1", &[frc(0b100)])), ["FRC %8.y, %1.z", "MOV %0.z, %8.y"]);
    let three = text(&builtin("vs_1_1", &[frc(0b111)]));
    assert_eq!(three, ["FRC %8.xy, %1.xyyy", "FRC %9.y, %1.z", "MOV %0.xy, %8.xyyy", "MOV %0.z, %9.y"]);
}

#[test]
fn outputs_are_moved_whole_at_the_end() {
    let color = Reg::new(File::Output, 0);
    let end = Inst::flow(Opcode::End, &[], 0);
    let part = Inst::new(
        Opcode::Add,
        Dst { saturate: true, ..Dst::new(color, WriteMask(0b111)) },
        &[reg(File::Virtual, 1); 2],
        0,
    );
    let program = builtin("ps_2_0", &[part, end]);
    assert_eq!(text(&program), ["ADD_SAT %8.xyz, %1.xyzz, %1.xyzz", "MOV %8.w, %8.x", "MOV o0, %8", "END"]);
}

#[test]
fn a_kill_looks_at_three_lanes_in_place() {
    let program = builtin("ps_2_0", &[Inst::flow(Opcode::Kil, &[Src { neg: true, ..reg(File::Virtual, 1) }], 0)]);
    let expected = ["MOV %8.xyz, -%1.xyzz", "MIN %8.z, %8.z, -%1.w", "KIL %8.xyzz"];
    assert_eq!(text(&program), expected);
    let program = builtin("ps_2_0", &[Inst::flow(Opcode::Kil, &[reg(File::Virtual, 1).swizzled([3; 4])], 0)]);
    assert_eq!(text(&program), ["MOV %8.xyz, %1.w", "KIL %8.xyzz"]);
}
