//! The front end: GLSL text to tokens, syntax tree, typed tree and three-address code.
//!
//! ```text
//! text -> preprocess -> tokens -> parse -> ast -> check -> typed tree -> lower -> ir::tac::Program
//! ```
//!
//! In: a [`SourceMap`] with the shader's text and the [`Options`]. Out: values that live in the
//! caller's `bumpalo` arena, and a list of diagnostics. The crate opens no files: what `#include` names is
//! asked of the caller. Nothing in a text may make it panic, hang, or use stack or memory without
//! a bound; [`Limits`] lists the bounds.
//!
//! ```
//! let mut sources = ir::diag::SourceMap::new();
//! let file = sources.add("a.frag", "void main() { gl_FragColor = vec4(1.0); }");
//! let arena = bumpalo::Bump::new();
//! let parsed = frontend::parse(&arena, &mut sources, file, &frontend::Options::default());
//! assert!(parsed.diagnostics.is_empty());
//! assert_eq!(parsed.unit.items.len(), 1);
//! ```

pub mod ast;
pub mod builtins;
pub mod check;
pub mod codes;
mod diags;
pub mod dump;
pub mod lexer;
pub mod limits;
pub mod lower;
mod parse;
pub mod preprocess;
pub mod spec;
mod suggest;
pub mod typed;

pub use limits::Limits;

use ast::{TranslationUnit, Version};
use bumpalo::Bump;
use diags::Diags;
use ir::diag::{Diagnostic, FileId, Severity, SourceMap};
use ir::tac::Program;
use ir::types::Stage;
use lexer::Token;
use preprocess::Preprocessed;

/// A text that `#include` named.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Included {
    /// What diagnostics call it, and what the text's own `#include` lines are relative to.
    pub name: String,
    /// The text.
    pub text: String,
}

/// Finds the text for `#include`: asked with the name as written and the name of the including
/// text, it gives the text or says why there is none.
pub type IncludeResolver<'r> = &'r dyn Fn(&str, &str) -> Result<Included, String>;

/// What the caller may choose.
#[derive(Clone)]
pub struct Options<'r> {
    /// The language of a text without `#version`.
    pub default_version: Version,
    /// Macros defined before the text (`-D`), each a name and a value.
    pub defines: Vec<(String, String)>,
    /// Bounds.
    pub limits: Limits,
    /// Bounds of the three-address code that is made.
    pub ir_limits: ir::limits::Limits,
    /// Finds included texts; without it `#include` is an unknown directive, as in the language.
    pub include: Option<IncludeResolver<'r>>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            default_version: Version::Glsl110,
            defines: Vec::new(),
            limits: Limits::default(),
            ir_limits: ir::limits::Limits::default(),
            include: None,
        }
    }
}

/// What [`parse`] makes.
#[derive(Debug)]
pub struct Parsed<'a> {
    /// The tree; with errors among the diagnostics it is incomplete.
    pub unit: TranslationUnit<'a>,
    /// The tokens that were parsed, for `--emit tokens`.
    pub tokens: Vec<Token<'a>>,
    /// Findings in the order of the stages.
    pub diagnostics: Vec<Diagnostic>,
}

impl Parsed<'_> {
    /// Whether the text is wrong.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|d| d.severity == Severity::Error)
    }
}

/// Preprocesses a text only.
pub fn preprocess<'a>(
    arena: &'a Bump,
    sources: &mut SourceMap,
    file: FileId,
    options: &Options<'_>,
) -> (Preprocessed<'a>, Vec<Diagnostic>) {
    let mut diags = Diags::new(&options.limits);
    let preprocessed = preprocess::preprocess(arena, sources, file, options, &mut diags);
    let version = preprocessed.version;
    (preprocessed, diags.into_vec(version))
}

/// Preprocesses and parses a text.
pub fn parse<'a>(arena: &'a Bump, sources: &mut SourceMap, file: FileId, options: &Options<'_>) -> Parsed<'a> {
    let mut diags = Diags::new(&options.limits);
    let Preprocessed { version, tokens, extensions, pragmas } =
        preprocess::preprocess(arena, sources, file, options, &mut diags);
    let items = parse::parse_tokens(arena, &tokens, version, &options.limits, &mut diags);
    let unit = TranslationUnit {
        version,
        extensions: arena.alloc_slice_copy(&extensions),
        pragmas: arena.alloc_slice_copy(&pragmas),
        items,
    };
    Parsed { unit, tokens, diagnostics: diags.into_vec(version) }
}

/// What [`compile`] makes.
#[derive(Debug)]
pub struct Compiled {
    /// Three-address code that fulfils `ir::tac::verify`.
    pub program: Program,
    /// Findings that do not make the text wrong.
    pub warnings: Vec<Diagnostic>,
}

/// What [`analyze`] makes.
#[derive(Debug)]
pub struct Analyzed<'a> {
    /// The typed tree with the name table; `None` exactly when there is an error.
    pub shader: Option<typed::Shader<'a>>,
    /// Findings in the order of the stages.
    pub diagnostics: Vec<Diagnostic>,
    /// Names of the functions that `main` reaches and that no text defines.
    pub undefined: Vec<&'a str>,
}

/// Text to typed tree. A text with syntax errors is not checked further, because what is missing from its
/// tree would be reported again.
pub fn analyze<'a>(
    arena: &'a Bump,
    sources: &mut SourceMap,
    file: FileId,
    stage: Stage,
    options: &Options<'_>,
) -> Analyzed<'a> {
    analyze_units(arena, sources, &[file], stage, options)
}

/// Text to three-address code, or the findings with at least one error.
///
/// ```
/// use ir::types::Stage;
/// let mut sources = ir::diag::SourceMap::new();
/// let file = sources.add("a.vert", "void main() { gl_Position = gl_Vertex; }");
/// let arena = bumpalo::Bump::new();
/// let options = frontend::Options::default();
/// let compiled = frontend::compile(&arena, &mut sources, file, Stage::Vertex, &options).unwrap();
/// assert!(ir::tac::verify::verify(&compiled.program).is_empty());
/// ```
pub fn compile(
    arena: &Bump,
    sources: &mut SourceMap,
    file: FileId,
    stage: Stage,
    options: &Options<'_>,
) -> Result<Compiled, Vec<Diagnostic>> {
    compile_units(arena, sources, &[file], stage, options)
}

/// Text to typed tree for a stage of several texts, which OpenGL links into one.
pub fn analyze_units<'a>(
    arena: &'a Bump,
    sources: &mut SourceMap,
    files: &[FileId],
    stage: Stage,
    options: &Options<'_>,
) -> Analyzed<'a> {
    let mut diagnostics = Vec::new();
    let mut units = Vec::new();
    for &file in files {
        let parsed = parse(arena, sources, file, options);
        units.push(parsed.unit);
        diagnostics.extend(parsed.diagnostics);
    }
    if diagnostics.iter().any(|d| d.severity == Severity::Error) {
        return Analyzed { shader: None, diagnostics, undefined: Vec::new() };
    }
    let checked = check::check_units(arena, &units, stage, &options.limits);
    diagnostics.extend(checked.diagnostics);
    Analyzed { shader: checked.shader, diagnostics, undefined: checked.undefined }
}

/// [`compile`] for a stage of several texts.
pub fn compile_units(
    arena: &Bump,
    sources: &mut SourceMap,
    files: &[FileId],
    stage: Stage,
    options: &Options<'_>,
) -> Result<Compiled, Vec<Diagnostic>> {
    let Analyzed { shader, mut diagnostics, .. } = analyze_units(arena, sources, files, stage, options);
    let Some(shader) = shader else { return Err(diagnostics) };
    match lower::lower(&shader, sources, &options.ir_limits) {
        Ok(program) => Ok(Compiled { program, warnings: diagnostics }),
        Err(mut error) => {
            if let Some(version) = Version::from_number(shader.version) {
                codes::complete(&mut error, version);
            }
            diagnostics.push(error);
            Err(diagnostics)
        }
    }
}
