//! The text form of three-address code, and what runs behind it.

use super::{check_diagnostics, compile, text, variant};
use eggshade::ir::diag::SourceMap;
use eggshade::ir::env::Env;
use eggshade::ir::eval::same_bits;
use eggshade::ir::tac::{self, inline, interp, verify};
use eggshade::ir::testing::gen_env::GenEnv;

/// Arrays larger than these would only cost time.
const MAX_ELEMS: u32 = 4096;

/// The first byte chooses the pipeline.
pub fn tac(data: &[u8]) {
    let (variant, data) = variant(data);
    let text = text(data);
    let mut sources = SourceMap::new();
    let file = sources.add("a.tac", text.as_ref());
    let program = match tac::text::parse(file, &text) {
        Ok(program) => program,
        Err(error) => return check_diagnostics(&sources, &[error]),
    };
    let errors = verify::verify(&program);
    assert!(errors.iter().all(|e| !e.message.is_empty()));
    if !errors.is_empty() {
        return;
    }
    let printed = tac::text::print(&program);
    match tac::text::parse(file, &printed) {
        Ok(again) => assert_eq!(printed, tac::text::print(&again), "printed, read and printed again"),
        Err(error) => panic!("{error}\n{printed}"),
    }
    tac::text::print_tree(&program);
    tac::link::print_link_tree(&program);
    if program.vars.values().map(|v| v.elems).max() > Some(MAX_ELEMS) {
        return;
    }
    inlined_computes_the_same(&program);
    compile::judge(&program, &compile::options(variant));
}

fn inlined_computes_the_same(program: &tac::Program) {
    let Ok(inlined) = inline::inline(program, 1_000) else { return };
    assert_eq!(verify::verify(&inlined), [], "{}", tac::text::print(program));
    let env = GenEnv::new(1, program, false);
    let how = interp::InterpOptions { max_steps: 20_000, ..Default::default() };
    let run = |p| interp::run_quad(p, [&env as &dyn Env; 4], how);
    if let (Ok(before), Ok(after)) = (run(program), run(&inlined)) {
        for (a, b) in before.iter().zip(&after) {
            assert_eq!(a.first_difference(b, same_bits), None, "{}", tac::text::print(program));
        }
    }
}
