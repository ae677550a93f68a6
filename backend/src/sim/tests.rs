//! The machine on small programs written as assembly text.

use super::machine::{Lanes, Limits, Lookup, Outside, Result1, SimError, run};
use crate::emit::{vec4_bits, vec4_parse};
use ir::diag::FileId;
use ir::env::Lod;
use ir::eval::EvalCfg;

/// Input `at` is (column, row) of the quad; uniform element n is (n, n + 0.5, -n, 1); a lookup gives
/// its coordinates and, in w, the differences or the level.
struct Grid;

impl Outside for Grid {
    fn input(&self, pixel: usize, _: &str, elem: u32) -> Lanes {
        [(pixel & 1) as f32, (pixel >> 1) as f32, elem as f32, 1.0]
    }

    fn uniform(&self, _: &str, elem: u32) -> Lanes {
        let n = elem as f32;
        [n, n + 0.5, -n, 1.0]
    }

    fn texture(&self, l: &Lookup<'_>) -> Lanes {
        let w = match l.lod {
            Lod::Explicit(level) => level,
            Lod::Implicit { bias, ddx, ddy } => bias + ddx[0] * 10.0 + ddy[1] * 100.0,
        };
        [l.coords[0], l.coords[1], l.coords[2], w]
    }
}

fn run_all(body: &str, limits: Limits) -> Result<[Result1; 4], SimError> {
    let head = ".target vec4 frag\n.input v0 \"at\" 0 4 x\n.output o0 \"out\" 0 4 x\n.uniform c0 \"u\" 0\n\
                .uniform c1 \"u\" 1\n.uniform c2 \"u\" 2\n.literal c3 1.0 2.0 3.0 -1.0\n.sampler s0 \"t\" 0 2D\n";
    let program = vec4_parse::parse(FileId(0), &format!("{head}{body}END\n")).unwrap();
    let program = vec4_bits::decode(&vec4_bits::encode(&program).unwrap()).unwrap();
    run(&program, &Grid, [true; 4], EvalCfg::default(), limits)
}

/// Lane x of the output of each invocation.
fn xs(body: &str) -> [Option<f32>; 4] {
    run_all(body, Limits::default()).unwrap().map(|r| r.outputs[0][0])
}

#[test]
fn masks_and_modifiers() {
    let all = run_all("MOV o0.xz, -|c3.wzyx|\nADD_SAT o0.w, c3.z, c3.z\n", Limits::default()).unwrap();
    assert_eq!(all[0].outputs[0], [Some(-1.0), None, Some(-2.0), Some(1.0)]);
}

#[test]
fn reductions_and_scalars_fill_the_mask() {
    let all = run_all("DP3 r0.yz, c3, c3\nRCP o0.xy, r0.z\n", Limits::default()).unwrap();
    assert_eq!(all[0].outputs[0][..3], [Some(1.0 / 14.0), Some(1.0 / 14.0), None]);
}

#[test]
fn relative_addressing_reads_by_invocation_and_outside_is_zero() {
    assert_eq!(xs("ARL a0.y, v0.x\nMOV o0, c[a0.y + 1].x\n"), [Some(1.0), Some(2.0), Some(1.0), Some(2.0)]);
    assert_eq!(xs("ARL a0.x, c3.w\nMOV o0, c[a0.x]\n")[0], Some(0.0));
    assert_eq!(xs("ARL a0.x, c3.z\nMOV o0, c[a0.x + 200]\n")[0], Some(0.0));
}

#[test]
fn divergent_branches_meet_again() {
    let body = "MOV r0, c3.x\nIF v0.x\n  IF v0.y\n    ADD r0, r0, c3.z\n  ELSE\n    ADD r0, r0, c3.y\n  ENDIF\nENDIF\nMOV o0, r0\n";
    assert_eq!(xs(body), [Some(1.0), Some(3.0), Some(1.0), Some(4.0)]);
}

#[test]
fn loops_end_for_each_invocation_on_its_own() {
    // Counts to column + 2 * row; invocations that left keep their count.
    let body = "MUL r1.x, v0.y, c3.y\nADD r1.x, r1.x, v0.x\nMOV r0, c0.x\nLOOP\n  SGE r2.x, r0.x, r1.x\n  IF r2.x\n    BRK\n  ENDIF\n  ADD r0, r0, c3.x\nENDLOOP\nMOV o0, r0\n";
    assert_eq!(xs(body), [Some(0.0), Some(1.0), Some(2.0), Some(3.0)]);
}

#[test]
fn continue_skips_the_rest_of_one_turn() {
    // Three turns; the right column skips the second addition in each.
    let body = "MOV r0, c0.x\nMOV r1, c0.x\nLOOP\n  SGE r2.x, r1.x, c3.z\n  IF r2.x\n    BRK\n  ENDIF\n  ADD r1, r1, c3.x\n  ADD r0, r0, c3.x\n  IF v0.x\n    CONT\n  ENDIF\n  ADD r0, r0, c3.x\nENDLOOP\nMOV o0, r0\n";
    assert_eq!(xs(body), [Some(6.0), Some(3.0), Some(6.0), Some(3.0)]);
}

#[test]
fn subroutines_return_also_from_within_a_branch() {
    // 0: jump over; the subroutine at 3 returns early for the right column.
    let body = "CAL 3\nMOV o0, r0\nRET\nMOV r0, c3.x\nIF v0.x\n  RET\nENDIF\nADD r0, r0, c3.y\nRET\n";
    assert_eq!(xs(body), [Some(3.0), Some(1.0), Some(3.0), Some(1.0)]);
}

#[test]
fn return_from_main_keeps_what_was_written() {
    assert_eq!(xs("MOV o0, c3.x\nIF v0.y\n  RET\nENDIF\nMOV o0, c3.y\n"), [Some(2.0), Some(2.0), Some(1.0), Some(1.0)]);
}

#[test]
fn discard_marks_and_the_others_go_on() {
    let all = run_all("MOV o0, v0\nKIL -v0.x\nADD o0, v0, v0\n", Limits::default()).unwrap();
    assert_eq!(all.each_ref().map(|r| r.discarded), [false, true, false, true]);
    assert_eq!(all[2].outputs[0][1], Some(2.0));
}

#[test]
fn derivatives_and_levels_come_from_the_quad() {
    assert_eq!(xs("MUL r0, v0, v0\nADD r0.x, r0.x, v0.y\nDDX o0.x, r0\n"), [Some(1.0); 4]);
    assert_eq!(xs("MUL r0, v0.x, v0.y\nDDY o0.x, r0\n"), [Some(0.0), Some(1.0), Some(0.0), Some(1.0)]);
    assert_eq!(xs("TEX r0, v0, s0, 2D\nMOV o0, r0.w\n"), [Some(110.0); 4]);
    assert_eq!(xs("TXB r0, v0, c3.y, s0, 2D\nMOV o0, r0.w\n"), [Some(112.0); 4]);
    assert_eq!(xs("TXL r0, v0, c3.z, s0, 2D\nMOV o0, r0.w\n"), [Some(3.0); 4]);
    assert_eq!(xs("MOV r1, v0\nMOV r1.w, c3.y\nTXP r0, r1, s0, 2D\nMOV o0, r0.y\n")[3], Some(0.5));
}

#[test]
fn endless_loops_and_calls_are_errors() {
    let limits = Limits { steps: 1000, calls: 4 };
    assert_eq!(run_all("LOOP\nENDLOOP\n", limits), Err(SimError::Steps(1000)));
    assert_eq!(run_all("CAL 0\n", limits), Err(SimError::Calls(4)));
}
