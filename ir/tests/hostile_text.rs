//! Nothing that a text says may panic: spoiled texts are refused by the parser or by the verifier,
//! or they are valid, and then passes and interpreter take them.

use bumpalo::Bump;
use ir::interp::{InterpOptions, run};
use ir::pass::{Driver, FunctionPass, PassCtx, PassError};
use ir::tac::{FuncDecl, Program};
use ir::testing::gen_env::GenEnv;
use ir::testing::gen_ssa::generate_ssa;
use ir::testing::rng::Rng;

/// Words, numbers and marks, with what stands between them.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut last = ' ';
    for c in text.chars() {
        let glue = (c.is_ascii_alphanumeric() && last.is_ascii_alphanumeric()) || (c == ' ' && last == ' ');
        match tokens.last_mut() {
            Some(token) if glue => token.push(c),
            _ => tokens.push(c.to_string()),
        }
        last = c;
    }
    tokens
}

/// Replaces, drops, doubles or exchanges a few tokens by others of the same text.
fn spoil(text: &str, rng: &mut Rng) -> String {
    let mut all = tokens(text);
    for _ in 0..1 + rng.below(3) {
        let at = rng.below(all.len() as u32) as usize;
        // Mostly words against words, so that the grammar survives.
        let is_word = |t: &String| t.starts_with(|c: char| c.is_ascii_alphanumeric());
        let start = (0..all.len()).cycle().skip(at).find(|&i| is_word(&all[i])).unwrap_or(at);
        let from = rng.below(all.len() as u32) as usize;
        let like = |a: &String, b: &String| a.chars().next() == b.chars().next();
        let source = (0..all.len()).cycle().skip(from).find(|&i| like(&all[i], &all[start])).unwrap_or(from);
        match rng.below(8) {
            0 => drop(all.remove(at)),
            1 => all.insert(at, all[from].clone()),
            2 => all.swap(at, from),
            3 => {
                let odd =
                    ["0", "1", "4", "7", "4294967295", "99999999999", "nan", "-0.0", "block0", "v0", "\"", ".xyzw"];
                all[start] = rng.pick(&odd).to_string();
            }
            _ => all[start] = all[source].clone(),
        }
    }
    all.concat()
}

#[test]
fn spoiled_texts() {
    let (mut refused, mut invalid, mut valid) = (0, 0, 0);
    for seed in 0..6000 {
        let arena = Bump::new();
        let mut rng = Rng::new(seed);
        let text = ir::text::print(&generate_ssa(&arena, seed % 100, 25));
        let text = spoil(&text, &mut rng);
        let Ok(mut func) = ir::text::parse(&arena, &text, Default::default()) else {
            refused += 1;
            continue;
        };
        if ir::verify::verify(&func).is_err() {
            invalid += 1;
            continue;
        }
        valid += 1;
        let mut funcs = cranelift_entity::PrimaryMap::new();
        let main = funcs.push(FuncDecl { name: String::new(), params: vec![], body: vec![], line: 0 });
        let shell = Program { stage: func.stage, version: 110, vars: Default::default(), funcs, main };
        let env = GenEnv::new(seed, &shell, false);
        // A spoiled counter may make a loop endless, and a spoiled size an array too large.
        let options = InterpOptions { max_steps: 2_000, ..InterpOptions::default() };
        let _ = run(&func, &env, options);
        let passes: Vec<&dyn FunctionPass> = (0..4).map(|_| rng.pick(ir::passes::ALL) as &dyn FunctionPass).collect();
        let mut driver = Driver { verify: true, ..Driver::new() };
        match driver.run(&mut func, &passes, &PassCtx::default()) {
            Ok(_) | Err(PassError::Limit(_) | PassError::Unsupported { .. }) => {}
            Err(error) => panic!("seed {seed}: {error}\n{text}"),
        }
    }
    assert!(refused > 100 && invalid > 100 && valid > 100, "{refused} {invalid} {valid}");
}
