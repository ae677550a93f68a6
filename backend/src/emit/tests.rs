//! Text, binary and back: both forms hold the same program.

use super::{vec4_bits, vec4_parse, vec4_text};
use crate::mach::{Constant, Program};
use ir::diag::FileId;

const SAMPLE: &str = r#".target vec4 frag
.temps 3
.input v0 "uv" 0 2 texcoord0
.input v1 "odd \"name\\" 7 4 generic1
.output o0 "gl_FragColor" 0 4 color0
.uniform c0 "table" 0
.uniform c1 "table" 1
.literal c2 1.0 -0.0 1e-45 0x7fc00000
.sampler s3 "shadow map" 0 SHADOW2D
MUL r0, c0, v0.x
MAD_SAT r1.xz, -|c1|, v0.yxyy, -r0
ARL a0.x, v1.w
ADD r2.y, c[a0.x + 1].zyzz, |r0.w|
LOOP
  IF r1.x
    BRK
  ELSE
    CONT
  ENDIF
ENDLOOP
TEX r0, v0.xyyy, s3, SHADOW2D
TXB r2, v0.xyyy, c2.w, s4, CUBE
KIL -r0
MOV o0, r0
END
"#;

#[test]
fn text_reads_back_to_itself() {
    let program = vec4_parse::parse(FileId(0), SAMPLE).unwrap();
    let text = vec4_text::print(&program);
    let again = vec4_parse::parse(FileId(0), &text).unwrap();
    assert_eq!(program, again);
    assert_eq!(text, vec4_text::print(&again));
}

#[test]
fn binary_reads_back_to_the_same_program() {
    let program = vec4_parse::parse(FileId(0), SAMPLE).unwrap();
    let bytes = vec4_bits::encode(&program).unwrap();
    assert_eq!(vec4_bits::decode(&bytes), Ok(program));
}

#[test]
fn the_bit_layout_is_the_documented_one() {
    let program = vec4_parse::parse(FileId(0), "MAD_SAT r5.xw, -c[a0.y + 9], |v3.wzyx|, r2\nEND\n").unwrap();
    let words = vec4_bits::encode_inst(&program.insts[0]).unwrap();
    let swizzle = |places: [u32; 4]| places.iter().enumerate().map(|(i, l)| l << (11 + 2 * i)).sum::<u32>();
    // Places 1 and 2 are not read under the mask xw; they repeat the last place read before them.
    assert_eq!(words[0], 3 | 0b1001 << 6 | 1 << 10 | 1 << 11 | 5 << 14);
    assert_eq!(words[1], 9 | 3 << 8 | swizzle([0, 0, 0, 3]) | 1 << 19 | 1 << 21 | 1 << 22);
    assert_eq!(words[2], 3 | 2 << 8 | swizzle([3, 3, 3, 0]) | 1 << 20);
    assert_eq!(words[3], 2 | 1 << 8 | swizzle([0, 0, 0, 3]));
}

#[test]
fn damaged_binaries_are_refused_and_never_panic() {
    let program = vec4_parse::parse(FileId(0), SAMPLE).unwrap();
    let bytes = vec4_bits::encode(&program).unwrap();
    for len in 0..bytes.len() {
        assert!(vec4_bits::decode(&bytes[..len]).is_err(), "cut at {len}");
    }
    let mut refused = 0;
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            match vec4_bits::decode(&damaged) {
                Err(_) => refused += 1,
                // What is accepted must mean something else, and encode to what was given.
                Ok(other) => assert_eq!(vec4_bits::encode(&other), Ok(damaged)),
            }
        }
    }
    assert!(refused > bytes.len(), "only {refused} refused");
}

#[test]
fn what_the_text_form_cannot_say_is_no_binary() {
    let words = |text: &str| vec4_bits::encode_inst(&vec4_parse::parse(FileId(0), text).unwrap().insts[0]).unwrap();
    let arl = words("ARL a0.x, v0.x\nEND\n");
    assert!(vec4_bits::decode_inst(arl).is_ok());
    // saturated, another address register, an indexed one
    for bit in [10, 14, 22] {
        assert!(vec4_bits::decode_inst([arl[0] | 1 << bit, arl[1], arl[2], arl[3]]).is_err(), "bit {bit}");
    }
}

#[test]
fn lanes_that_a_literal_has_not_are_empty() {
    let mut program = vec4_parse::parse(FileId(0), ".target vec4 frag\n.literal c0 1.5\nEND\n").unwrap();
    let decode = |program: &Program| vec4_bits::decode(&vec4_bits::encode(program).unwrap());
    assert!(decode(&program).is_ok());
    program.constants = vec![Constant::Literal { bits: [1, 2, 0, 0], used: 1 }];
    assert!(decode(&program).unwrap_err().contains("literal"));
}

#[test]
fn a_target_of_any_name_is_kept() {
    let text = SAMPLE.replacen(".target vec4", ".target mine-2:small", 1);
    let program = vec4_parse::parse(FileId(0), &text).unwrap();
    let again = vec4_bits::decode(&vec4_bits::encode(&program).unwrap()).unwrap();
    assert_eq!(again.target, "mine-2:small");
    assert_eq!(vec4_text::print(&again), vec4_text::print(&program));
}

#[test]
fn bad_text_is_refused_at_its_place() {
    for (text, column, message) in [
        ("FOO r0, r1\nEND\n", 0, "unknown opcode `FOO`"),
        ("ADD r0, r1\nEND\n", 10, "expected `,`"),
        ("ADD r0.yx, r1, r2\nEND\n", 7, "lanes of a mask stand in order, each once"),
        ("MOV r256, r1\nEND\n", 5, "number must be below 256"),
        ("MOV v0, r1\nEND\n", 4, "expected a register"),
        ("MOV r0, r1 r2\nEND\n", 11, "expected the end of the line"),
        ("TEX r0, v0, s16, 2D\nEND\n", 13, "number must be below 16"),
        (".literal c1 1.0\nEND\n", 10, "constants are declared in order: expected c0"),
        (".literal c0 abc\nEND\n", 12, "expected a number or 0x and eight digits"),
        (".uniform c0 \"abc\nEND\n", 13, "unterminated name"),
        ("KIL_SAT r0\nEND\n", 0, "nothing to saturate"),
        ("MOV r0, r1\n", 0, "the last instruction must be END"),
        ("ENDIF\nEND\n", 6, "instruction 0 (ENDIF): without IF"),
        ("LOOP\nEND\n", 5, "instruction 1 (END): inside of IF or LOOP"),
        ("BRK\nEND\n", 4, "instruction 0 (BRK): outside of a loop"),
    ] {
        let errors = vec4_parse::parse(FileId(0), text).unwrap_err();
        assert_eq!((errors[0].span().lo, errors[0].message.as_str()), (column, message), "{text}");
    }
}

#[test]
fn cut_text_never_panics() {
    for len in (0..SAMPLE.len()).filter(|&l| SAMPLE.is_char_boundary(l)) {
        let _ = vec4_parse::parse(FileId(0), &SAMPLE[..len]);
    }
}
