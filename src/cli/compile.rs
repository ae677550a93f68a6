//! `compile`: any number of files, each to one of the stages' text forms.

use super::args::{CompileArgs, Emit};
use super::{Exit, Outcome, Stop, build, output};
use eggshade::ir::diag::SourceMap;
use eggshade::ir::tac;
use eggshade::{Built, Options, backend, frontend};
use std::path::Path;

/// Runs the command.
pub fn run(args: &CompileArgs) -> Outcome {
    let mut options = build::options(&args.build, args.stage)?;
    let passes_run = !matches!(
        args.emit,
        Emit::Tokens | Emit::Names | Emit::Ast | Emit::Typed | Emit::Tac | Emit::TacTree | Emit::Link | Emit::Json
    );
    if !passes_run && (args.dump_after.is_some() || args.time_passes) {
        let message = "--dump-after and --time-passes go with an --emit that runs the passes, and not with json";
        return Err(Stop::usage(message));
    }
    if let Some(pass) = &args.dump_after {
        check_pass(pass, &options)?;
        options.back.dump_after = vec![if pass == "all" { "*".to_owned() } else { pass.clone() }];
    }
    if args.emit == Emit::Json {
        return records(args, &options);
    }
    if args.files.len() > 1 && args.output.is_some() {
        return Err(Stop::usage("several files with -o: only --emit json joins them"));
    }
    match args.emit {
        Emit::Ssa => options.back.dump_after.push("ssa".to_owned()),
        Emit::Egraph => options.back.dump_egraph.push("egraph".to_owned()),
        Emit::EgraphJson => options.back.dump_egraph.push("egraph-json".to_owned()),
        Emit::Chosen => options.back.dump_egraph.push("chosen".to_owned()),
        _ => {}
    }
    let mut exit = Exit::Fine;
    for path in &args.files {
        match emit_unit(path, args, &options) {
            Ok(Some(bytes)) => output::write(args.output.as_deref(), &bytes).map_err(Stop::input)?,
            Ok(None) => {}
            Err(stop) => {
                build::say(&stop, args.build.message_format);
                exit = stop.exit;
            }
        }
    }
    if exit == Exit::Fine { Ok(()) } else { Err(Stop { exit, message: String::new() }) }
}

fn check_pass(name: &str, options: &Options) -> Outcome {
    let rows = &options.pipeline.passes;
    if ["all", "ssa", "inline", "lower-types"].contains(&name) || rows.iter().any(|r| r == name) {
        return Ok(());
    }
    Err(Stop::usage(format!("--dump-after {name}: the pipeline has {}", rows.join(", "))))
}

/// `--emit json`: one object a line and file, going on after a failure.
fn records(args: &CompileArgs, options: &Options) -> Outcome {
    let mut lines = String::new();
    let mut all_fine = true;
    for path in &args.files {
        let name = path.display().to_string();
        let record = match build::read(path) {
            Ok(source) if args.unit => eggshade::record_of_unit(&name, &source, options, args.repeat),
            Ok(source) => eggshade::record_of(&name, &source, options, args.repeat),
            Err(stop) => {
                // A file that cannot be read is a row as well.
                let mut record = eggshade::record_of(&name, "", options, 1);
                record.status = eggshade::record::Status::Rejected;
                record.diagnostics = vec![build::message(&stop.message)];
                record
            }
        };
        all_fine &= record.status == eggshade::record::Status::Ok;
        let line = serde_json::to_string(&record).map_err(|e| Stop::input(e.to_string()))?;
        if args.output.is_none() {
            output::write(None, (line + "\n").as_bytes()).map_err(Stop::input)?;
        } else {
            lines.push_str(&line);
            lines.push('\n');
        }
    }
    if args.output.is_some() {
        output::write(args.output.as_deref(), lines.as_bytes()).map_err(Stop::input)?;
    }
    if all_fine { Ok(()) } else { Err(Stop::input("")) }
}

/// [`emit`]; with `--unit` a text that is legal and no whole stage gives nothing.
fn emit_unit(path: &Path, args: &CompileArgs, options: &Options) -> Result<Option<Vec<u8>>, Stop> {
    let of_whole_stage = !matches!(args.emit, Emit::Tokens | Emit::Ast);
    if args.unit && of_whole_stage && !build::is_whole_stage(path, options, args.build.message_format)? {
        return Ok(None);
    }
    emit(path, args, options).map(Some)
}

/// What `--emit` asks for, of one file.
fn emit(path: &Path, args: &CompileArgs, options: &Options) -> Result<Vec<u8>, Stop> {
    match args.emit {
        Emit::Tokens | Emit::Ast | Emit::Names | Emit::Typed => front(path, args, options),
        Emit::Tac | Emit::TacTree | Emit::Link => {
            let program = three_address(path, args, options)?;
            Ok(match args.emit {
                Emit::Tac => tac::text::print(&program),
                Emit::Link => tac::link::print_link_tree(&program),
                _ => tac::text::print_tree(&program),
            }
            .into_bytes())
        }
        _ => {
            let built = build::compile_file(path, options, args.build.message_format)?;
            notes(args, &built);
            back(args.emit, &built, options)
        }
    }
}

fn three_address(path: &Path, args: &CompileArgs, options: &Options) -> Result<tac::Program, Stop> {
    let name = path.display().to_string();
    let mut sources = SourceMap::new();
    let file = sources.add(name.as_str(), build::read(path)?);
    match eggshade::to_tac(&name, file, &mut sources, options) {
        Ok((program, warnings)) => {
            build::report(&sources, &warnings, args.build.message_format);
            Ok(program)
        }
        Err(diagnostics) => {
            build::report(&sources, &diagnostics, args.build.message_format);
            Err(Stop::input(""))
        }
    }
}

/// Forms of the front end, which need no stage behind them.
fn front(path: &Path, args: &CompileArgs, options: &Options) -> Result<Vec<u8>, Stop> {
    let name = path.display().to_string();
    let mut sources = SourceMap::new();
    let file = sources.add(name.as_str(), build::read(path)?);
    let arena = bumpalo::Bump::new();
    let format = args.build.message_format;
    let stage = options.stage.or_else(|| eggshade::stage_of(&name));
    let (text, found) = eggshade::with_front_options(options, |front| match (args.emit, stage) {
        (Emit::Tokens | Emit::Ast, _) => {
            let parsed = frontend::parse(&arena, &mut sources, file, front);
            let text = match args.emit {
                Emit::Tokens => frontend::dump::dump_tokens(&parsed.tokens, &sources, false),
                _ => frontend::dump::dump_ast(&parsed.unit, &sources),
            };
            Ok((text, parsed.diagnostics))
        }
        (_, None) => Err(Stop::input(format!("{name}: the ending tells no stage; use --stage"))),
        (_, Some(stage)) => {
            let analyzed = frontend::analyze(&arena, &mut sources, file, stage, front);
            let text = analyzed.shader.as_ref().map_or(String::new(), |shader| match args.emit {
                Emit::Names => frontend::typed::dump_names(shader, &sources),
                _ => frontend::typed::dump(shader),
            });
            Ok((text, analyzed.diagnostics))
        }
    })?;
    build::report(&sources, &found, format);
    if eggshade::has_errors(&found) { Err(Stop::input("")) } else { Ok(text.into_bytes()) }
}

fn back(emit: Emit, built: &Built, options: &Options) -> Result<Vec<u8>, Stop> {
    let compiled = &built.compiled;
    let dump = |name: &str| {
        let found: String = compiled.dumps.iter().filter(|(n, _)| n == name).map(|(_, t)| t.as_str()).collect();
        if found.is_empty() {
            Err(Stop::usage(format!("this pipeline has no stage that makes `{name}`")))
        } else {
            Ok(found)
        }
    };
    let text = match emit {
        Emit::Ssa => dump("ssa")?,
        Emit::Egraph => dump("egraph")?,
        Emit::EgraphJson => dump("egraph-json")?,
        Emit::Chosen => dump("chosen")?,
        Emit::Mach => functions(built).map(|f| f.to_string()).collect(),
        Emit::Alloc => chart(built, options)?,
        Emit::Declaration => backend::emit::d3d9_declaration::declaration(&compiled.program, &options.target)
            .map_err(|e| Stop::input(e.to_string()))?,
        Emit::Bin => {
            let bytes = backend::emit::binary(&compiled.program, &options.target, &compiled.reflection);
            return bytes.map_err(Stop::input);
        }
        Emit::Reflection => {
            serde_json::to_string_pretty(&compiled.reflection).map_err(|e| Stop::input(e.to_string()))? + "\n"
        }
        _ => backend::emit::text(&compiled.program, &options.target).map_err(|e| Stop::input(e.to_string()))?,
    };
    Ok(text.into_bytes())
}

/// `main` and what stays called, over virtual registers.
fn functions(built: &Built) -> impl Iterator<Item = &backend::mach::Program> {
    std::iter::once(&built.compiled.unallocated).chain(&built.compiled.kept)
}

/// Live ranges and registers.
fn chart(built: &Built, options: &Options) -> Result<String, Stop> {
    let regalloc = &options.pipeline.regalloc;
    let how = backend::alloc::AllocOptions {
        coalesce: regalloc.coalesce,
        reuse: options.back.reuse_registers,
        ..backend::alloc::AllocOptions::default()
    };
    let charts = functions(built).map(|f| backend::alloc::chart(f, &options.target, &how));
    charts.collect::<Result<String, _>>().map_err(|e| Stop::input(e.to_string()))
}

/// Dumps and times, to standard error.
fn notes(args: &CompileArgs, built: &Built) {
    if args.dump_after.is_some() {
        for (name, text) in &built.compiled.dumps {
            output::note(&format!("; after {name}\n{}", text.trim_end()));
        }
    }
    if args.time_passes {
        let row = |name: &str, time: std::time::Duration| {
            output::note(&format!("{:>10.1} us  {name}", time.as_secs_f64() * 1e6));
        };
        for (name, time) in &built.compiled.times {
            row(name, *time);
            if *name == "passes" {
                let mut egraph = built.compiled.egraph.iter();
                for run in &built.compiled.passes.runs {
                    row(&format!("  {}", run.name), run.time);
                    let report = if run.name == "egraph" { egraph.next() } else { None };
                    if let Some(report) = report {
                        report.times.iter().for_each(|(part, time)| row(&format!("    {part}"), *time));
                    }
                }
            }
        }
    }
}
