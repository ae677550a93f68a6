//! Token streams word by word.

use super::super::*;

fn words(text: &str) -> Vec<u32> {
    let shader = parse::parse(Default::default(), text).unwrap_or_else(|e| panic!("{e:?}"));
    tokens::write(&shader).unwrap()
}

fn refused(words: &[u32]) -> String {
    tokens::read(words).unwrap_err().to_string()
}

/// Microsoft's assembler gives these words.
#[test]
fn a_vertex_shader_of_model_1() {
    let text = "vs_1_1\ndcl_position v0\ndcl_color v1\nm4x4 oPos, v0, c0\nmov oD0, v1\n";
    let expected = [
        0xfffe_0101,
        0x1f,
        0x8000_0000,
        0x900f_0000,
        0x1f,
        0x8000_000a,
        0x900f_0001,
        0x14,
        0xc00f_0000,
        0x90e4_0000,
        0xa0e4_0000,
        0x01,
        0xd00f_0000,
        0x90e4_0001,
        0xffff,
    ];
    assert_eq!(words(text), expected);
}

#[test]
fn model_2_states_lengths_and_addresses_have_a_word() {
    let text = "vs_2_0\nmova a0.x, v0.x\nmov r0, c[a0.x + 5]\nmov r1, -c[a0.w + 2].x\n";
    let expected = [
        0xfffe_0200,
        0x0200_002e,
        0xb001_0000,
        0x9000_0000,
        0x0300_0001,
        0x800f_0000,
        0xa0e4_2005,
        0xb000_0000,
        0x0300_0001,
        0x800f_0001,
        0xa100_2002,
        0xb0ff_0000,
        0xffff,
    ];
    assert_eq!(words(text), expected);
    assert_eq!(words("vs_1_1\nmov a0.x, v0.x\nmov r0, c[a0.x + 5]\n")[4..], [1, 0x800f_0000, 0xa0e4_2005, 0xffff]);
}

#[test]
fn pixel_shaders() {
    let text = "ps_2_0\ndcl t0.xy\ndcl_2d s1\ndef c0, 1, 0, 0, 0.5\ntexldp r0, t0, s1\nmov_sat oC0, 1-r0.w\n";
    let expected = [
        0xffff_0200,
        0x0200_001f,
        0x8000_0000,
        0xb003_0000,
        0x0200_001f,
        0x9000_0000,
        0xa00f_0801,
        0x0500_0051,
        0xa00f_0000,
        0x3f80_0000,
        0,
        0,
        0x3f00_0000,
        0x0301_0042,
        0x800f_0000,
        0xb0e4_0000,
        0xa0e4_0801,
        0x0200_0001,
        0x801f_0800,
        0x86ff_0000,
        0xffff,
    ];
    assert_eq!(words(text), expected);
    let old = words("ps_1_4\ntexld r0, t0\nphase\nmul_x2_sat r0.rgb, r0, v0\n+ mov_d4 r0.a, 1-v0.a\n");
    let expected = [
        0xffff_0104,
        0x42,
        0x800f_0000,
        0xb0e4_0000,
        0xfffd,
        5,
        0x8117_0000,
        0x80e4_0000,
        0x90e4_0000,
        0x4000_0001,
        0x8e08_0000,
        0x96ff_0000,
        0xffff,
    ];
    assert_eq!(old, expected);
}

#[test]
fn flow_and_predicates() {
    let text = "vs_3_0\ndefi i0, 4, 0, 1, 0\nloop aL, i0\nif_ge r0.x, c0.y\n(!p0.x) mov o[aL + 1].xy, v[aL]\nendif\nendloop\ncall l3\n";
    let expected = [
        0xfffe_0300,
        0x0500_0030,
        0xf00f_0000,
        4,
        0,
        1,
        0,
        0x0200_001b,
        0xf0e4_0800,
        0xf0e4_0000,
        0x0203_0029,
        0x8000_0000,
        0xa055_0000,
        0x1500_0001,
        0xe003_2001,
        0xf0e4_0800,
        0xbd00_1000,
        0x90e4_2000,
        0xf0e4_0800,
        0x2b,
        0x1d,
        0x0100_0019,
        0xa0e4_1003,
        0xffff,
    ];
    assert_eq!(words(text), expected);
}

#[test]
fn errors_name_the_word() {
    assert_eq!(refused(&[]), "word 0: the stream ends before the version");
    assert_eq!(refused(&[0x1234]), "word 0: 00001234 is no version");
    assert_eq!(refused(&[0xfffe_0200]), "word 1: the stream ends before an instruction or the end");
    assert_eq!(refused(&[0xfffe_0200, 0x63, 0xffff]), "word 1: 99 is no opcode");
    let mov = [0x0200_0001, 0x800f_0000, 0x90e4_0000, 0xffff];
    let stream = |at: usize, word| {
        let mut all = [&[0xfffe_0200], &mov[..]].concat();
        all[at] = word;
        refused(&all)
    };
    assert_eq!(stream(1, 1), "word 1: states 0 words, 2 belong to it in vs_2_0");
    assert_eq!(stream(1, 0x0200_0101), "word 1: 257 is no opcode");
    assert_eq!(stream(2, 0x000f_0000), "word 2: 000f0000 is no operand: bit 31 is not set");
    assert_eq!(stream(2, 0x8000_0000), "word 2: a destination without lanes");
    assert_eq!(stream(3, 0x90e4_2000), "word 4: 0000ffff is no operand: bit 31 is not set");
    assert_eq!(stream(3, 0xf0e4_2800), "word 3: an address of aL");
    assert_eq!(stream(3, 0x9ee4_0000), "word 3: modifier 14 of a source");
    assert_eq!(stream(3, 0x80e4_1000), "word 3: vs_2_0 has no register file 16");
    assert_eq!(stream(4, 0x7fff_fffe), "word 4: a comment of 32767 words in a shorter stream");
    assert_eq!(tokens::from_bytes(&[1, 2, 3, 4, 5]).unwrap_err().to_string(), "word 1: the last word is cut off");
}

#[test]
fn the_writer_refuses_what_has_no_place() {
    let mov = |dst, src| {
        let mut shader = Shader::new(Version::vs(1, 1));
        shader.insts.push(Inst::new(Opcode::Mov, dst, &[src]));
        tokens::write(&shader).unwrap_err()
    };
    let r = |n| Dst::new(Reg::new(RegType::Temp, n), Mask::ALL);
    let c = |n| Src::new(Reg::new(RegType::Const, n));
    assert_eq!(mov(r(2048), c(0)), "`mov`: r2048 is beyond number 2047");
    assert_eq!(mov(r(0), c(8192)), "`mov`: c8192 is beyond c8191");
    let rel = Some(Rel { reg: Reg::A0, lane: 1 });
    assert_eq!(mov(r(0), Src { rel, ..c(0) }), "`mov`: an address other than a0.x in vs_1_1");
    assert_eq!(mov(Dst::new(Reg::new(RegType::Output, 0), Mask::ALL), c(0)), "`mov`: vs_1_1 has no register o0");
    let mut shader = Shader::new(Version::vs(2, 0));
    shader.constants.push(Constant::vectors(&"n".repeat(5000), 0, 4, 1));
    assert!(tokens::write(&shader).is_err());
    shader.constants = (0..4000).map(|n| Constant::vectors("name", n, 4, 1)).collect();
    assert_eq!(tokens::write(&shader).unwrap_err(), "a constant table of 41011 words, most are 32767");
}

#[test]
fn a_constant_table_that_lies_is_refused() {
    let mut shader = Shader::new(Version::ps(3, 0));
    shader.constants.push(Constant::vectors("tint", 3, 4, 1));
    let good = tokens::write(&shader).unwrap();
    assert_eq!(tokens::read(&good), Ok(shader));
    let with = |at: usize, word| {
        let mut words = good.clone();
        words[at] = word;
        refused(&words)
    };
    assert_eq!(with(3, 29), "word 3: a constant table of another layout");
    assert_eq!(with(6, u32::MAX), "word 6: 4294967295 constants in a table of 22 words");
    assert_eq!(with(7, u32::MAX), "word 2: offset 4294967295 is not in the constant table");
    assert_eq!(with(10, 0x4000), "word 10: no name of a constant at offset 16384");
    assert_eq!(with(11, 9), "word 10: register set 9");
}
