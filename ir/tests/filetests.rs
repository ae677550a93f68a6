//! Runs `tests/filetests`. The command of a case is `verify`, `print`, or a list of passes, each
//! verified and the result printed.

use bumpalo::Bump;
use ir::diag::SourceMap;
use ir::pass::{Driver, FunctionPass, PassCtx, passes_by_name};
use ir::testing::filetest::{Case, run_dir};
use ir::types::FpLevel;
use std::path::Path;

fn run(case: &Case) -> Result<String, String> {
    let arena = Bump::new();
    let mut sources = SourceMap::new();
    let file = sources.add("case", case.input.as_str());
    let mut func = ir::text::parse(&arena, &case.input, file).map_err(|d| {
        let (line, column) = sources.line_col(d.span());
        format!("{line}:{column}: {}", d.message)
    })?;
    let words: Vec<&str> = case.command.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["verify"] => Ok(match ir::verify::verify(&func) {
            Ok(()) => "valid".to_string(),
            Err(errors) => errors.iter().map(|e| format!("{e}\n")).collect(),
        }),
        ["print"] => {
            let text = ir::text::print(&func);
            let again = ir::text::parse(&arena, &text, file).map_err(|d| format!("printed text: {}", d.message))?;
            assert_eq!(text, ir::text::print(&again), "the text form does not come back");
            Ok(text)
        }
        _ => {
            let mut ctx = PassCtx { fp: FpLevel::Strict, ..PassCtx::default() };
            let names: Vec<&str> = words.iter().copied().filter(|w| !set_option(&mut ctx, w)).collect();
            let passes = passes_by_name(names).map_err(|e| e.to_string())?;
            let passes: Vec<&dyn FunctionPass> = passes.into_iter().map(|p| p as &dyn FunctionPass).collect();
            let mut driver = Driver { verify: true, ..Driver::new() };
            driver.run(&mut func, &passes, &ctx).map_err(|e| e.to_string())?;
            Ok(ir::text::print(&func))
        }
    }
}

/// Words with `=` are options: `fp=glsl`.
fn set_option(ctx: &mut PassCtx, word: &str) -> bool {
    let Some((key, value)) = word.split_once('=') else { return false };
    match key {
        "fp" => ctx.fp = FpLevel::parse(value).unwrap_or_else(|| panic!("no level {value}")),
        // a target without branches, whose loops are unrolled with what leaves them early
        "branches" => {
            ctx.costs.has_branches = value != "no";
            ctx.options.unroll.exits = value == "no";
        }
        _ => panic!("no option {key}"),
    }
    true
}

#[test]
fn filetests() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests");
    run_dir(&dir, run);
}
