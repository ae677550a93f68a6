//! Compiles that end as a row of numbers, whatever happens: a fault of the compiler is a row, too.

use crate::facade::{Built, Failure, Options, compile, stage_of};
use crate::record::{Record, Status};
use crate::units::{Unit, attach, check_unit, compile_units};
use backend::Target;
use ir::diag::{Diagnostic, SourceMap, Span};
use std::time::Instant;

/// What a compile makes.
enum Made {
    Code(Box<Built>),
    /// A legal text that is no program by itself.
    Part(Unit),
}

/// Compiles and gives the numbers; `repeat` compiles give the least time.
pub fn record_of(name: &str, source: &str, options: &Options, repeat: u32) -> Record {
    record(name, source, options, repeat, || code(compile(name, source, options)))
}

/// [`record_of`] for a text that may be one of several of its stage ([`check_unit`]): the counts of one
/// without `main`, or that calls what it does not define, are 0.
pub fn record_of_unit(name: &str, source: &str, options: &Options, repeat: u32) -> Record {
    record(name, source, options, repeat, || {
        let unit = check_unit(name, source, options)?;
        if unit.complete { code(compile(name, source, options)) } else { Ok(Made::Part(unit)) }
    })
}

/// [`record_of`] for a stage of several texts, each with its name; of the library those are linked in
/// that define what is missing ([`attach`]). The first text names the record.
pub fn record_of_units(units: &[(&str, &str)], library: &[(&str, &str)], options: &Options, repeat: u32) -> Record {
    let (name, source) = units.first().copied().unwrap_or_default();
    record(name, source, options, repeat, || {
        let attached = attach(units, library, options);
        let all: Vec<_> = units.iter().copied().chain(attached.into_iter().map(|i| library[i])).collect();
        code(compile_units(&all, options))
    })
}

fn code(result: Result<Built, Failure>) -> Result<Made, Failure> {
    result.map(|built| Made::Code(Box::new(built)))
}

fn record(
    name: &str,
    source: &str,
    options: &Options,
    repeat: u32,
    make: impl Fn() -> Result<Made, Failure>,
) -> Record {
    let stage = options.stage.or_else(|| stage_of(name));
    let mut record = Record {
        file: name.to_owned(),
        stage: stage.map_or(String::new(), |s| s.to_string()),
        target: options.target.name.clone(),
        pipeline: options.pipeline.name.clone(),
        ..Record::default()
    };
    let mut best = u64::MAX;
    for turn in 0..repeat.max(1) {
        let start = Instant::now();
        let result = guarded(name, source, &make);
        best = best.min(start.elapsed().as_micros() as u64);
        if turn == 0 {
            match result {
                Ok(Made::Code(built)) => fill(&mut record, &built, &options.target),
                Ok(Made::Part(unit)) => record.diagnostics = json(&unit.sources, &unit.warnings),
                Err(failure) => {
                    record.status = failure.status;
                    record.diagnostics = json(&failure.sources, &failure.diagnostics);
                    break;
                }
            }
        }
    }
    record.micros = best;
    record
}

/// A fault of the compiler is a row like any other: the files behind it are compiled, too.
fn guarded(name: &str, source: &str, make: impl Fn() -> Result<Made, Failure>) -> Result<Made, Failure> {
    let run = std::panic::AssertUnwindSafe(make);
    std::panic::catch_unwind(run).unwrap_or_else(|panic| {
        let words = panic.downcast_ref::<String>().map(String::as_str);
        let words = words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        let mut sources = SourceMap::new();
        let file = sources.add(name, source);
        let error = Diagnostic::error("internal-error", Span::new(file, 0, 0), format!("the compiler failed: {words}"));
        Err(Failure { status: Status::Internal, sources, diagnostics: vec![error] })
    })
}

fn json(sources: &SourceMap, diagnostics: &[Diagnostic]) -> Vec<serde_json::Value> {
    diagnostics.iter().map(|d| crate::diagnostics::to_json(sources, d)).collect()
}

fn fill(record: &mut Record, built: &Built, target: &Target) {
    let counts = &built.compiled.statistics.counts;
    record.stage = built.tac.stage.to_string();
    record.instructions = counts.instructions;
    record.slots = counts.slots;
    record.alu = counts.alu;
    record.tex = counts.tex;
    record.flow = counts.flow;
    record.cycles = counts.cycles;
    record.clocks = backend::issue::all_clocks(&built.compiled.program.insts, target);
    record.temps = counts.temps;
    record.temps_bound = built.compiled.statistics.temps_bound;
    record.constants = counts.constants;
    record.inputs = counts.inputs;
    record.outputs = counts.outputs;
    record.uniforms = counts.uniforms;
    record.samplers = counts.samplers;
    for stage in &built.compiled.egraph {
        record.egraph_nodes = record.egraph_nodes.max(stage.nodes as u32);
        record.egraph_classes = record.egraph_classes.max(stage.classes as u32);
        record.egraph_stop = stage.stop().name().to_owned();
    }
    // a program without a text form was an error
    record.assembly = backend::emit::text(&built.compiled.program, target).unwrap_or_default();
    record.diagnostics = json(&built.sources, &built.warnings);
}
