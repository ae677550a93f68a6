//! The assembler on texts as people write them, and its errors with their places.

use super::super::*;

fn reprint(source: &str) -> String {
    text::print(&parse::parse(Default::default(), source).unwrap_or_else(|e| panic!("{e:?}")))
}

/// `line:column: message` of every error.
fn errors(source: &str) -> Vec<String> {
    let found = parse::parse(Default::default(), source).unwrap_err();
    let place = |lo: u32| {
        let before = &source[..lo as usize];
        let line = before.matches('\n').count() + 1;
        (line, before.len() - before.rfind('\n').map_or(0, |n| n + 1) + 1)
    };
    let text = |e: &ir::diag::Diagnostic| {
        let (line, column) = place(e.labels[0].span.lo);
        format!("{line}:{column}: {}", e.message)
    };
    found.iter().map(text).collect()
}

#[test]
fn spellings_of_people_are_read() {
    let source = "; a comment\n  VS.1.1 // another\nDCL_POSITION0 V0\n def c4, 1.0f, .5, -2, 1e-3\n mov a0.x, V0.X\n mul R0.RG, c[5 + a0.x].bgr, c3[a0.x]\n";
    let printed = "vs_1_1\ndcl_position v0\ndef c4, 1, 0.5, -2, 0.001\nmov a0.x, v0.x\nmul r0.xy, c[a0.x + 5].zyxx, c[a0.x + 3]\n";
    assert_eq!(reprint(source), printed);
    assert_eq!(reprint("ps_1_4\ntexcrd r0.rgb, t0_db.xyz\n"), "ps_1_4\ntexcrd r0.xyz, t0_dz.xyzz\n");
    assert_eq!(reprint("ps_1_4\n+mov r0.a, c[3]\n"), "ps_1_4\n+ mov r0.w, c3\n");
}

#[test]
fn what_is_printed_is_read() {
    for source in [
        "ps_3_0\ndcl_texcoord0_centroid v0.xy\ndcl vPos.xy\ndcl vFace\ndcl_cube s0\nsetp_gt p0, v0.x, vFace.x\n(p0.x) texldl_pp r0, v0, s0\nbreakp !p0.y\n",
        "vs_2_0\ndefb b2, true\ndefi i0, -1, 0, 2147483647, 0\nif b2\nrep i0\nbreak_ne r0.x, r1.y\nendrep\nelse\ncallnz l1, !b0\nendif\nret\nlabel l1\nsincos r0.xy, r1.x, c4, c5\nret\n",
        "ps_1_1\ndef c0, 1, 0, 0.5, -1\ntex t0\ntexm3x3spec t1, t0_bx2, c0\ncnd_d2_sat r0, r0.w, 1-v0, -c0_bias\n",
    ] {
        assert_eq!(reprint(source), source);
    }
}

#[test]
fn errors_have_places() {
    assert_eq!(errors(""), ["1:1: expected a version, such as vs_2_0"]);
    assert_eq!(errors("// nothing\nmov r0, c0\nvs_2_0\n"), ["2:1: expected a version, such as vs_2_0"]);
    let source = "vs_2_0\nmov r0, q1\nmoov r0, c0\n mov r0.yx, c0\nmov r0 c0\nmov_sat_sat r0, c0\nmov r0, c[a0.x + a0.y]\nadd r0, c9999, c0\n";
    let expected = [
        "2:9: expected a register",
        "3:1: unknown opcode `moov`",
        "4:9: expected some of x, y, z, w in order, each once",
        "5:8: expected `,`",
        "6:1: `_sat` beside another of its kind",
        "7:18: expected one of a0 and aL, once",
        "8:9: expected a number below 8192 behind `c`",
    ];
    assert_eq!(errors(source), expected);
    let source = "ps_2_0\nmov r0, c[a0.x]\nmov r0, 1-\nmov oT0, c0\ndef c0, 1, 2, x, 4\ndcl_color v0\nif_lt r0.x, r1.x, r2\nmov r0, -b0_abx\n";
    let expected = [
        "2:1: ps_2_0 has no register a0",
        "3:11: expected a register",
        "4:1: ps_2_0 has no register oT0",
        "5:1: a declaration stands before the first instruction, without predicate and `+`",
        "6:1: a declaration stands before the first instruction, without predicate and `+`",
        "7:17: expected the end of the line",
        "8:9: unknown modifier `-_abx`",
    ];
    assert_eq!(errors(source), expected);
    assert_eq!(errors("ps_2_0\ndcl_color v0\n"), ["2:1: no such declaration of v0 in ps_2_0"]);
    assert_eq!(
        errors("vs_2_0\ndef c0, 1, inf, 2, 3\n"),
        ["2:12: expected a finite number, or 0x and the bits of a float"]
    );
    assert_eq!(errors("vs_2_0\n(-p0) mov r0, c0\n"), ["2:2: expected `p0` or `!p0`"]);
}
