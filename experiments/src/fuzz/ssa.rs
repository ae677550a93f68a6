//! The text form of SSA, and the passes behind it.

use super::{check_diagnostics, text, variant};
use bumpalo::Bump;
use cranelift_entity::PrimaryMap;
use eggshade::ir::diag::SourceMap;
use eggshade::ir::eval::same_bits;
use eggshade::ir::func::Function;
use eggshade::ir::interp::{InterpOptions, run};
use eggshade::ir::pass::{Driver, FunctionPass, PassCtx, PassError};
use eggshade::ir::tac::{FuncDecl, Program};
use eggshade::ir::testing::gen_env::GenEnv;
use eggshade::ir::types::FpLevel;
use eggshade::ir::{self, passes, verify};

/// The first byte chooses a pass.
pub fn ssa(data: &[u8]) {
    let (variant, data) = variant(data);
    let text = text(data);
    let arena = Bump::new();
    let mut sources = SourceMap::new();
    let file = sources.add("a.ssa", text.as_ref());
    let mut func = match ir::text::parse(&arena, &text, file) {
        Ok(func) => func,
        Err(error) => return check_diagnostics(&sources, &[error]),
    };
    let printed = ir::text::print(&func);
    match ir::text::parse(&arena, &printed, file) {
        Ok(again) => assert_eq!(printed, ir::text::print(&again), "printed, read and printed again"),
        Err(error) => panic!("{error}\n{printed}"),
    }
    if verify::verify(&func).is_ok() {
        passes_keep_every_bit(&mut func, &passes::ALL[variant % passes::ALL.len()], &printed);
    }
}

fn passes_keep_every_bit(func: &mut Function<'_>, pass: &dyn FunctionPass, printed: &str) {
    let shell = shell(func);
    let how = InterpOptions { max_steps: 5_000, ..InterpOptions::default() };
    let envs = [0, 1].map(|seed| GenEnv::new(seed, &shell, seed == 0));
    let before = envs.each_ref().map(|env| run(func, env, how));
    let ctx = PassCtx { fp: FpLevel::Strict, ..PassCtx::default() };
    match (Driver { verify: true, ..Driver::new() }).run(func, &[pass], &ctx) {
        Ok(_) => {}
        Err(PassError::Limit(_) | PassError::Unsupported { .. }) => return,
        Err(error) => panic!("{error}\n{printed}"),
    }
    // A value that was never given may change.
    if printed.contains("undef") {
        return;
    }
    for (env, before) in envs.iter().zip(before) {
        if let (Ok(before), Ok(after)) = (before, run(func, env, how)) {
            let difference = before.first_difference(&after, same_bits);
            assert_eq!(difference, None, "{printed}\nbecomes\n{}", ir::text::print(func));
        }
    }
}

/// A program with the function's variables, for its inputs.
fn shell(func: &Function<'_>) -> Program {
    let mut funcs = PrimaryMap::new();
    let main = funcs.push(FuncDecl { name: "main".to_owned(), params: vec![], body: vec![], line: 0 });
    Program { stage: func.stage, version: 110, vars: func.vars.clone(), funcs, main }
}
