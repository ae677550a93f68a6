//! Random programs: inlining and SSA construction change no bit of what a program computes.

use bumpalo::Bump;
use ir::diag::FileId;
use ir::env::Env;
use ir::eval::same_bits;
use ir::tac::inline::{MAX_INLINED_INSTS, inline};
use ir::tac::{self, Program};
use ir::testing::gen_env::GenEnv;
use ir::testing::generate::{GenOptions, generate};
use ir::types::Stage;
use ir::{interp, ssa};

fn options(seed: u64) -> GenOptions {
    let stage = if seed.is_multiple_of(3) { Stage::Vertex } else { Stage::Fragment };
    GenOptions {
        stage,
        tame: seed.is_multiple_of(5),
        derivatives: seed.is_multiple_of(2),
        functions: (seed % 4) as u32,
        statements: 4 + (seed % 17) as u32,
        ..GenOptions::default()
    }
}

/// Runs `compare` on two sets of inputs.
fn with_envs(seed: u64, program: &Program, tame: bool, mut compare: impl FnMut(&GenEnv)) {
    for i in 0..2 {
        compare(&GenEnv::new(seed * 1000 + i, program, tame));
    }
}

#[test]
fn programs_are_legal_and_read_back() {
    for seed in 0..200 {
        let generated = generate(seed, &options(seed));
        assert_eq!(tac::verify::verify(&generated.program), [], "seed {seed}");
        let text = tac::text::print(&generated.program);
        let again = tac::text::parse(FileId::default(), &text).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        assert_eq!(text, tac::text::print(&again), "seed {seed}");
        assert_eq!(generated.program.vars, again.vars, "seed {seed}");
        assert_eq!(generated.program.funcs, again.funcs, "seed {seed}");
    }
}

#[test]
fn inlining_and_ssa_keep_every_bit() {
    for seed in 0..400 {
        let options = options(seed);
        let program = generate(seed, &options).program;
        let inlined = inline(&program, MAX_INLINED_INSTS).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        assert_eq!(tac::verify::verify(&inlined), [], "seed {seed}");
        let arena = Bump::new();
        let func = ssa::build(&inlined, &arena).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        if let Err(errors) = ir::verify::verify(&func) {
            panic!("seed {seed}: {errors:#?}\n{}", ir::text::print(&func));
        }
        with_envs(seed, &program, options.tame, |env| {
            let neighbours = [0, 1, 2, 3].map(|p| env.neighbour(&program, p));
            let quad = [0, 1, 2, 3].map(|p| &neighbours[p] as &dyn Env);
            let expected = tac::interp::run_quad(&program, quad, Default::default()).unwrap();
            let inlined_result = tac::interp::run_quad(&inlined, quad, Default::default()).unwrap();
            let ssa_result = interp::run_quad(&func, quad, Default::default()).unwrap();
            for position in 0..4 {
                for (what, other) in [("inlined", &inlined_result), ("ssa", &ssa_result)] {
                    if let Some(difference) = expected[position].first_difference(&other[position], same_bits) {
                        let text = tac::text::print(&program);
                        panic!("seed {seed} {what}: {difference}\n{text}\n{}", ir::text::print(&func));
                    }
                }
            }
        });
    }
}

#[test]
fn tame_programs_stay_of_normal_size() {
    let (mut outputs, mut differing) = (0, 0);
    for seed in 0..200 {
        let options = GenOptions { tame: true, ..options(seed) };
        let program = generate(seed, &options).program;
        let mut seen = Vec::new();
        with_envs(seed, &program, true, |env| {
            let result = tac::interp::run(&program, env, Default::default()).unwrap();
            for value in result.lanes.values().flatten().flatten() {
                assert!(value.is_finite() && value.abs() <= 16.0, "seed {seed}: {value}");
                outputs += 1;
            }
            seen.push(result);
        });
        differing += usize::from(seen[0] != seen[1]);
    }
    assert!(outputs > 1000, "{outputs}");
    // What programs compute depends on their inputs.
    assert!(differing > 150, "{differing}");
}
