//! Front end and back end together: GLSL (or TAC text) in, machine code out.

use crate::link::LinkOptions;
use crate::record::Status;
use backend::{CompileOptions, Compiled, Pipeline, Target};
use bumpalo::Bump;
use ir::diag::{Diagnostic, FileId, Severity, SourceMap, Span};
use ir::tac;
use ir::types::Stage;
use std::path::{Path, PathBuf};

/// How to compile.
#[derive(Clone, Debug)]
pub struct Options {
    /// Stage; when none, the ending of the name tells.
    pub stage: Option<Stage>,
    /// The machine.
    pub target: Target,
    /// The passes.
    pub pipeline: Pipeline,
    /// Predefined macros: name and value.
    pub defines: Vec<(String, String)>,
    /// The language of a text without `#version`.
    pub default_version: frontend::ast::Version,
    /// Where `#include` looks, after the including file's folder.
    pub include: Vec<PathBuf>,
    /// More rewrite rules: the file's name and text.
    pub rules: Option<(String, String)>,
    /// Bounds of the front end.
    pub limits: frontend::Limits,
    /// How two stages become one program.
    pub link: LinkOptions,
    /// The back end's options.
    pub back: CompileOptions,
    /// Bounds of machine code as text, and of runs.
    pub machine: backend::limits::Limits,
}

impl Options {
    /// A target and a pipeline, all else as it comes.
    pub fn new(target: Target, pipeline: Pipeline) -> Options {
        Options {
            stage: None,
            target,
            pipeline,
            defines: Vec::new(),
            default_version: frontend::ast::Version::Glsl110,
            include: Vec::new(),
            rules: None,
            limits: frontend::Limits::default(),
            link: LinkOptions::default(),
            back: CompileOptions::default(),
            machine: backend::limits::Limits::default(),
        }
    }
}

impl Options {
    /// The same for one stage of a link: when the target runs only the other one, its partner's.
    #[must_use]
    pub fn for_stage(&self, stage: Stage) -> Options {
        let mut options = self.clone();
        if !self.target.stages.contains(&stage)
            && let Some(Ok(partner)) = self.target.partner.as_deref().map(Target::builtin)
        {
            options.target = partner;
        }
        options
    }
}

/// Why there is no machine code.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The kind.
    pub status: Status,
    /// The texts that the diagnostics point into.
    pub sources: SourceMap,
    /// At least one error.
    pub diagnostics: Vec<Diagnostic>,
}

/// A compiled stage with what it was made of.
#[derive(Clone, Debug)]
pub struct Built {
    /// The texts that the warnings point into.
    pub sources: SourceMap,
    /// Findings that did not stop it.
    pub warnings: Vec<Diagnostic>,
    /// Three-address code as the front end made it.
    pub tac: tac::Program,
    /// The back end's results.
    pub compiled: Compiled,
}

/// The stage that a file name's ending tells (`.vert .vs .vsh .frag .fs .fsh`).
pub fn stage_of(name: &str) -> Option<Stage> {
    match Path::new(name).extension()?.to_str()? {
        "vert" | "vs" | "vsh" => Some(Stage::Vertex),
        "frag" | "fs" | "fsh" => Some(Stage::Fragment),
        _ => None,
    }
}

/// Whether the name says that the text is three-address code.
pub fn is_tac(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|e| e == "tac")
}

/// A built-in target by name, or one from a TOML file; `:PART` behind either picks a profile.
///
/// # Errors
/// A sentence that names what is wrong.
pub fn resolve_target(name: &str) -> Result<Target, String> {
    let (file, part) = match name.rsplit_once(':') {
        Some((file, part)) if file.ends_with(".toml") => (file, Some(part)),
        _ => (name, None),
    };
    match (read_toml(file)?, part) {
        (Some(text), Some(part)) => Target::with_profile(&text, part),
        (Some(text), None) => Target::from_toml(&text),
        (None, _) => Target::builtin(name),
    }
    .map_err(|e| e.to_string())
}

/// A built-in pipeline by name, or one from a TOML file.
///
/// # Errors
/// A sentence that names what is wrong.
pub fn resolve_pipeline(name: &str) -> Result<Pipeline, String> {
    match read_toml(name)? {
        Some(text) => Pipeline::from_toml(&text),
        None => Pipeline::builtin(name),
    }
    .map_err(|e| e.to_string())
}

fn read_toml(name: &str) -> Result<Option<String>, String> {
    if !name.ends_with(".toml") {
        return Ok(None);
    }
    std::fs::read_to_string(name).map(Some).map_err(|e| format!("cannot read {name}: {e}"))
}

/// Finds an included file beside the including one, then in the folders given.
fn include(dirs: &[PathBuf], name: &str, from: &str) -> Result<frontend::Included, String> {
    let beside = Path::new(from).parent().map(Path::to_path_buf);
    for dir in beside.iter().chain(dirs) {
        let path = dir.join(name);
        if path.is_file() {
            let text = std::fs::read(&path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
            let text = String::from_utf8_lossy(&text).into_owned();
            return Ok(frontend::Included { name: path.display().to_string(), text });
        }
    }
    Err(format!("`{name}` is in none of the folders searched"))
}

/// Runs `f` with the front end's options.
pub fn with_front_options<R>(options: &Options, f: impl FnOnce(&frontend::Options<'_>) -> R) -> R {
    let resolver = |name: &str, from: &str| include(&options.include, name, from);
    f(&frontend::Options {
        defines: options.defines.clone(),
        limits: options.limits,
        ir_limits: options.back.limits,
        default_version: options.default_version,
        include: if options.include.is_empty() { None } else { Some(&resolver) },
    })
}

/// The stage that the options give, or else the name's ending.
pub(crate) fn stage_for(name: &str, file: FileId, options: &Options) -> Result<Stage, Vec<Diagnostic>> {
    options.stage.or_else(|| stage_of(name)).ok_or_else(|| {
        let message = "the file's ending tells no stage; use --stage vert or --stage frag";
        vec![Diagnostic::error("unknown-stage", Span::new(file, 0, 0), message)]
    })
}

/// Text to three-address code, with warnings.
///
/// # Errors
/// Diagnostics, at least one of them an error.
pub fn to_tac(
    name: &str,
    file: FileId,
    sources: &mut SourceMap,
    options: &Options,
) -> Result<(tac::Program, Vec<Diagnostic>), Vec<Diagnostic>> {
    if is_tac(name) {
        let text = sources.file(file).text.clone();
        let program = tac::text::parse_within(file, &text, &options.back.limits).map_err(|d| vec![d])?;
        return Ok((program, Vec::new()));
    }
    let stage = stage_for(name, file, options)?;
    let arena = Bump::new();
    with_front_options(options, |front| frontend::compile(&arena, sources, file, stage, front))
        .map(|c| (c.program, c.warnings))
}

/// The texts of one stage to three-address code, with warnings.
pub(crate) fn units_to_tac(
    files: &[FileId],
    stage: Stage,
    sources: &mut SourceMap,
    options: &Options,
) -> Result<(tac::Program, Vec<Diagnostic>), Vec<Diagnostic>> {
    let arena = Bump::new();
    with_front_options(options, |front| frontend::compile_units(&arena, sources, files, stage, front))
        .map(|c| (c.program, c.warnings))
}

/// Compiles one text.
///
/// # Errors
/// A [`Failure`] with diagnostics.
pub fn compile(name: &str, source: &str, options: &Options) -> Result<Built, Failure> {
    let mut sources = SourceMap::new();
    let file = sources.add(name, source);
    let (tac, warnings) = match to_tac(name, file, &mut sources, options) {
        Ok(done) => done,
        Err(diagnostics) => return Err(Failure { status: Status::Rejected, sources, diagnostics }),
    };
    finish(tac, file, sources, warnings, options)
}

/// The back end's part.
pub(crate) fn finish(
    tac: tac::Program,
    file: FileId,
    mut sources: SourceMap,
    warnings: Vec<Diagnostic>,
    options: &Options,
) -> Result<Built, Failure> {
    let mut back = options.back.clone();
    if let Some((name, text)) = &options.rules {
        back.extra_rules = Some((sources.add(name.as_str(), text.as_str()), text.clone()));
    }
    match backend::compile(&tac, &options.target, &options.pipeline, &back) {
        Ok(compiled) => Ok(Built { sources, warnings, tac, compiled }),
        Err(error) => {
            let mut diagnostics = warnings;
            diagnostics.push(back_diagnostic(&error, file, &sources));
            Err(Failure { status: status_of(&error), sources, diagnostics })
        }
    }
}

/// The status that a back-end error means.
pub fn status_of(error: &backend::Error) -> Status {
    match error {
        backend::Error::DoesNotFit { .. } => Status::DoesNotFit,
        backend::Error::Unsupported { .. } => Status::Unsupported,
        backend::Error::Internal(_) => Status::Internal,
        _ => Status::Rejected,
    }
}

/// An error of the back end at the source line that it names, else at the file's start.
fn back_diagnostic(error: &backend::Error, file: FileId, sources: &SourceMap) -> Diagnostic {
    let code = match status_of(error) {
        Status::DoesNotFit => "does-not-fit",
        Status::Unsupported => "unsupported",
        Status::Internal => "internal-error",
        _ => match error {
            backend::Error::Bound(exceeded) => exceeded.bound.code,
            _ => "back-end",
        },
    };
    let found = Diagnostic::error(code, line_span(sources, file, error.line()), error.to_string());
    match error.detail() {
        "" => found,
        detail => found.note(detail),
    }
}

/// A whole line; the first one for line 0.
pub(crate) fn line_span(sources: &SourceMap, file: FileId, line: u32) -> Span {
    let text = sources.line_text(file, line.max(1));
    let start = sources.line_start(file, line.max(1));
    Span::new(file, start, start + text.len())
}

/// Whether any is an error.
pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|d| d.severity == Severity::Error)
}
