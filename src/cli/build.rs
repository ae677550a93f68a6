//! From the command line's words to the compiler's options, files to texts, failures to messages.

use super::args::{BuildArgs, MessageFormat};
use super::{Stop, output};
use eggshade::backend;
use eggshade::ir::diag::{Diagnostic, FileId, SourceMap};
use eggshade::ir::tac;
use eggshade::ir::types::Stage;
use eggshade::{Built, Failure, Linked, Options, diagnostics};
use std::path::Path;

/// Longest file that is read, in bytes.
const MAX_FILE: u64 = 16 << 20;

/// The options that the words mean.
pub fn options(args: &BuildArgs, stage: Option<Stage>) -> Result<Options, Stop> {
    let target = eggshade::resolve_target(&args.target).map_err(Stop::usage)?;
    let mut pipeline = eggshade::resolve_pipeline(&args.pipeline).map_err(Stop::usage)?;
    for row in &args.without {
        pipeline = pipeline.without(row).map_err(|e| Stop::usage(e.to_string()))?;
    }
    pipeline.check_built().map_err(|e| Stop::usage(e.to_string()))?;
    if let Some(fp) = args.fp {
        pipeline.fp = fp;
    }
    if let Some(inline) = args.inline {
        pipeline.inline = inline;
    }
    let mut options = Options::new(target, pipeline);
    options.stage = stage;
    options.include = args.include.clone();
    options.back.reuse_registers = !args.no_reuse;
    options.back.check |= args.check;
    args.limit.iter().for_each(|setting| setting.apply(&mut options));
    for define in &args.define {
        let (name, value) = define.split_once('=').unwrap_or((define, "1"));
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_name {
            return Err(Stop::usage(format!("-D {define}: `{name}` is no macro name")));
        }
        options.defines.push((name.to_owned(), value.to_owned()));
    }
    if let [first, more @ ..] = args.rules.as_slice() {
        let mut text = rules(first, args.message_format)?;
        for path in more {
            text.push('\n');
            text.push_str(&rules(path, args.message_format)?);
        }
        options.rules = Some((first.display().to_string(), text));
    }
    Ok(options)
}

/// A file of rules that has no errors, whatever the shader.
fn rules(path: &Path, format: MessageFormat) -> Result<String, Stop> {
    let text = read(path)?;
    let mut sources = SourceMap::new();
    let file = sources.add(path.display().to_string(), text.as_str());
    match backend::egraph_stage::check_rules(&text, file) {
        Ok(_) => Ok(text),
        Err(list) => {
            report(&sources, &list, format);
            Err(Stop::input(""))
        }
    }
}

/// A file's bytes, if it is not too long.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, Stop> {
    use std::io::Read;
    let cannot = |e: std::io::Error| Stop::input(format!("cannot read {}: {e}", path.display()));
    let file = std::fs::File::open(path).map_err(cannot)?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(cannot)?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(Stop::input(format!("{} is longer than {MAX_FILE} bytes", path.display())));
    }
    Ok(bytes)
}

/// A file's text. Bytes that are not UTF-8 stand for themselves as the replacement character: the
/// language allows them in comments.
pub fn read(path: &Path) -> Result<String, Stop> {
    read_bytes(path).map(|b| String::from_utf8_lossy(&b).into_owned())
}

/// Prints diagnostics to standard error.
pub fn report(sources: &SourceMap, list: &[Diagnostic], format: MessageFormat) {
    let text = match format {
        MessageFormat::Human => diagnostics::render(sources, list),
        MessageFormat::Json => {
            list.iter().map(|d| diagnostics::to_json(sources, d).to_string() + "\n").collect::<String>()
        }
    };
    if !text.is_empty() {
        output::note(text.trim_end());
    }
}

/// Prints a stop's message, if it has one that was not printed yet.
pub fn say(stop: &Stop, format: MessageFormat) {
    if stop.message.is_empty() {
        return;
    }
    match format {
        MessageFormat::Human => output::note(&format!("error: {}", stop.message)),
        MessageFormat::Json => output::note(&message(&stop.message).to_string()),
    }
}

/// A message without a place in the JSON form of diagnostics.
pub fn message(text: &str) -> serde_json::Value {
    serde_json::json!({"severity": "error", "code": "io", "message": text, "labels": [], "notes": []})
}

/// Prints a failure's diagnostics; what is left to say is the exit code.
pub fn failed(failure: &Failure, format: MessageFormat) -> Stop {
    report(&failure.sources, &failure.diagnostics, format);
    Stop::input("")
}

/// Compiles a file and prints its diagnostics.
pub fn compile_file(path: &Path, options: &Options, format: MessageFormat) -> Result<Built, Stop> {
    let source = read(path)?;
    let name = path.display().to_string();
    let built = eggshade::compile(&name, &source, options).map_err(|f| failed(&f, format))?;
    report(&built.sources, &built.warnings, format);
    Ok(built)
}

/// Whether a file that is legal by itself is a whole stage; if not, its warnings are printed, for
/// nothing else will.
pub fn is_whole_stage(path: &Path, options: &Options, format: MessageFormat) -> Result<bool, Stop> {
    let source = read(path)?;
    let unit = eggshade::check_unit(&path.display().to_string(), &source, options).map_err(|f| failed(&f, format))?;
    if !unit.complete {
        report(&unit.sources, &unit.warnings, format);
    }
    Ok(unit.complete)
}

/// Links files, at least one of each stage, and prints their diagnostics.
pub fn link_files(paths: &[&Path], options: &Options, format: MessageFormat) -> Result<Linked, Stop> {
    let mut texts: [Vec<(String, String)>; 2] = Default::default();
    for path in paths {
        let text = read(path)?;
        let name = path.display().to_string();
        match stage_of_text(&name, &text) {
            Some(Stage::Vertex) => texts[0].push((name, text)),
            Some(Stage::Fragment) => texts[1].push((name, text)),
            None => return Err(Stop::usage(format!("{name}: the ending tells no stage"))),
        }
    }
    for (stage, list) in ["vertex", "fragment"].into_iter().zip(&texts) {
        if list.is_empty() {
            return Err(Stop::usage(format!("no {stage} shader: a program needs one of each stage")));
        }
    }
    let [vertex, fragment] = texts.each_ref().map(|l| l.iter().map(|(n, t)| (n.as_str(), t.as_str())).collect());
    let stages: [&Vec<(&str, &str)>; 2] = [&vertex, &fragment];
    let linked = eggshade::link_units(stages.map(Vec::as_slice), options).map_err(|f| failed(&f, format))?;
    for built in &linked.stages {
        report(&built.sources, &built.warnings, format);
    }
    Ok(linked)
}

/// A text's stage by its name; three-address code says it itself.
fn stage_of_text(name: &str, text: &str) -> Option<Stage> {
    if !eggshade::is_tac(name) {
        return eggshade::stage_of(name);
    }
    let program = tac::text::parse(FileId::default(), text).ok()?;
    Some(program.stage)
}
