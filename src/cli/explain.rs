//! `explain`: what each stage did to a shader, with counts.

use super::args::ExplainArgs;
use super::{Outcome, Stop, build, output};
use eggshade::backend::{Pipeline, issue};
use eggshade::{Built, Options};
use std::fmt::Write;

/// Runs the command.
pub fn run(args: &ExplainArgs) -> Outcome {
    let options = build::options(&args.build, args.stage)?;
    let built = build::compile_file(&args.file, &options, args.build.message_format)?;
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = explain(&mut text, args, &options, &built);
    output::write(None, text.as_bytes()).map_err(Stop::input)
}

fn explain(out: &mut String, args: &ExplainArgs, options: &Options, built: &Built) -> std::fmt::Result {
    let compiled = &built.compiled;
    writeln!(
        out,
        "{}: {} for {}, pipeline {}",
        args.file.display(),
        built.tac.stage,
        options.target.name,
        options.pipeline.name
    )?;
    let instructions: usize = built.tac.funcs.values().map(|f| f.body.len()).sum();
    writeln!(out, "\nthree-address code: {} functions, {instructions} instructions", built.tac.funcs.len())?;
    writeln!(out, "\n{:<34}{:>8}{:>8}{:>8}", "pass", "before", "after", "blocks")?;
    for run in &compiled.passes.runs {
        let mark = if run.changed { "" } else { "  (nothing)" };
        writeln!(out, "{:<34}{:>8}{:>8}{:>8}{mark}", run.name, run.insts_before, run.insts_after, run.blocks_after)?;
    }
    for report in &compiled.egraph {
        writeln!(out, "\ne-graph: {} nodes, {} classes, {}", report.nodes, report.classes, report.stop().name())?;
        let mut rules: Vec<_> = report.rules.iter().filter(|r| r.applications > 0).collect();
        rules.sort_by(|a, b| b.applications.cmp(&a.applications).then_with(|| a.name.cmp(&b.name)));
        for rule in rules.iter().take(20) {
            writeln!(out, "  {:<40}{:>6} matches{:>6} applied", rule.name, rule.matches, rule.applications)?;
        }
    }
    let s = &compiled.statistics;
    writeln!(
        out,
        "\nmachine code: {} instructions ({} arithmetic, {} texture, {} flow), {} slots, {} cycles",
        s.counts.instructions, s.counts.alu, s.counts.tex, s.counts.flow, s.counts.slots, s.counts.cycles
    )?;
    for (way, clocks) in issue::all_clocks(&compiled.program.insts, &options.target) {
        writeln!(out, "clocks a vertex, {way}: {clocks}")?;
    }
    writeln!(
        out,
        "registers: {} temporaries (bound {}), {} constants ({} uniforms), {} inputs, {} outputs",
        s.counts.temps, s.temps_bound, s.counts.constants, s.counts.uniforms, s.counts.inputs, s.counts.outputs
    )?;
    writeln!(out, "copies: {} merged away, {} left", s.moves_removed, s.counts.moves)?;
    if options.pipeline.name != "none"
        && let Some(plain) = without_passes(args, options)
    {
        let count = plain.compiled.statistics.counts.instructions;
        writeln!(out, "pipeline none: {count} instructions")?;
    }
    Ok(())
}

/// The same shader without optimization, to hold against.
fn without_passes(args: &ExplainArgs, options: &Options) -> Option<Built> {
    let source = build::read(&args.file).ok()?;
    let mut options = options.clone();
    options.pipeline = Pipeline::builtin("none").ok()?;
    eggshade::compile(&args.file.display().to_string(), &source, &options).ok()
}
