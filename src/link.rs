//! Two stages as one program: sources of each stage in, two compiled stages that agree on their
//! interface out, with the description of the whole that a driver needs at `glLinkProgram`.
//!
//! Holds afterwards: varyings meet by name and have one location in both stages, what the fragment
//! stage does not read is not computed, and attributes stand where the caller bound them.

use crate::facade::{Built, Failure, Options, finish, has_errors, line_span, to_tac, units_to_tac};
use crate::record::Status;
use ir::diag::{Diagnostic, FileId, Severity, SourceMap, Span};
use ir::tac::interface::{self, Packed, Packing};
use ir::tac::{self, Program, VarKind};
use ir::types::Stage;

/// What a caller may say about a link.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LinkOptions {
    /// When varyings share registers.
    pub packing: Packing,
    /// Attributes by name and the location that each is bound to, as by `glBindAttribLocation`.
    pub attributes: Vec<(String, u32)>,
}

/// A linked program.
#[derive(Clone, Debug)]
pub struct Linked {
    /// The vertex and the fragment stage.
    pub stages: [Built; 2],
    /// Registers that several varyings share.
    pub packed: Vec<Packed>,
}

/// Compiles a vertex and a fragment shader as one program: interfaces are matched on three-address
/// code, what the other stage does not read is removed, then each stage is compiled.
///
/// # Errors
/// The first stage's [`Failure`], or the link errors.
pub fn link(stages: [(&str, &str); 2], options: &Options) -> Result<Linked, Failure> {
    let [vertex, fragment] = stages;
    link_units([&[vertex], &[fragment]], options)
}

/// [`link`] for stages of several texts each, as OpenGL attaches several shader objects of one stage
/// to a program. Each text has a name and what it says; a stage without texts is an error.
///
/// # Errors
/// The first stage's [`Failure`], or the link errors.
pub fn link_units(stages: [&[(&str, &str)]; 2], options: &Options) -> Result<Linked, Failure> {
    let mut sources = SourceMap::new();
    let Parsed { programs: [mut vertex, fragment], files, mut warnings } = parse_stages(stages, &mut sources, options)?;
    let rejected =
        |diagnostics: Vec<Diagnostic>, sources| Err(Failure { status: Status::Rejected, sources, diagnostics });
    let unbindable = bind_attributes(&mut vertex, options, files[0], &sources);
    if !unbindable.is_empty() {
        return rejected(unbindable, sources);
    }
    let mut linked = match tac::link::link(&vertex, &fragment) {
        Ok(linked) => linked,
        Err(errors) => {
            let diagnostics = errors.iter().map(|e| link_diagnostic(e, files, &sources)).collect();
            return rejected(diagnostics, sources);
        }
    };
    for warning in std::mem::take(&mut linked.warnings) {
        warnings[1].push(Diagnostic::warning("link", Span::new(files[1], 0, 0), warning));
    }
    // `gl_Position` takes an output that no varying can have
    let [of_vertex, of_fragment] = [Stage::Vertex, Stage::Fragment].map(|stage| options.for_stage(stage).target);
    let room = of_fragment.registers.input.count.min(of_vertex.registers.output.count.saturating_sub(1));
    let interpolators = of_vertex.limits.coordinates.map_or(room, |n| room.min(n));
    let packed = interface::lay_out(&mut linked, options.link.packing, interpolators);
    let [of_vertex, of_fragment] = warnings;
    let [on_vertex, on_fragment] = [Stage::Vertex, Stage::Fragment].map(|stage| options.for_stage(stage));
    let vertex = finish(linked.vertex, files[0], sources.clone(), of_vertex, &on_vertex)?;
    let fragment = finish(linked.fragment, files[1], sources, of_fragment, &on_fragment)?;
    Ok(Linked { stages: [vertex, fragment], packed })
}

/// Both stages as three-address code.
struct Parsed {
    programs: [Program; 2],
    /// The first text of each stage.
    files: [FileId; 2],
    warnings: [Vec<Diagnostic>; 2],
}

fn parse_stages(stages: [&[(&str, &str)]; 2], sources: &mut SourceMap, options: &Options) -> Result<Parsed, Failure> {
    let mut errors = Vec::new();
    let mut one = |units: &[(&str, &str)], stage| {
        let files: Vec<FileId> = units.iter().map(|(name, text)| sources.add(*name, *text)).collect();
        let options = Options { stage: Some(stage), ..options.clone() };
        let result = match (units, files.as_slice()) {
            (&[(name, _)], &[file]) => to_tac(name, file, sources, &options),
            _ => units_to_tac(&files, stage, sources, &options),
        };
        let first = files.first().copied().unwrap_or_default();
        result.map_err(|found| errors.extend(found)).ok().map(|(program, warnings)| (program, first, warnings))
    };
    let [vertex, fragment] = stages;
    let both = (one(vertex, Stage::Vertex), one(fragment, Stage::Fragment));
    match both {
        (Some((vertex, vertex_file, of_vertex)), Some((fragment, fragment_file, of_fragment))) => Ok(Parsed {
            programs: [vertex, fragment],
            files: [vertex_file, fragment_file],
            warnings: [of_vertex, of_fragment],
        }),
        _ => Err(Failure { status: Status::Rejected, sources: sources.clone(), diagnostics: errors }),
    }
}

/// Gives attributes the locations that the caller asked for; a name that no attribute has is left
/// alone, as OpenGL leaves it. The result is what cannot be bound.
fn bind_attributes(vertex: &mut Program, options: &Options, file: FileId, sources: &SourceMap) -> Vec<Diagnostic> {
    let count = options.target.registers.input.count;
    let mut errors = Vec::new();
    let mut bound: Vec<(u32, u32, String)> = Vec::new();
    for decl in vertex.vars.values_mut().filter(|d| d.kind == VarKind::Attribute) {
        let wish = options.link.attributes.iter().rfind(|(name, _)| *name == decl.name);
        let Some(&(_, first)) = wish else { continue };
        let mut error = |message: String| {
            errors.push(Diagnostic::error("link-attribute-location", line_span(sources, file, decl.line), message));
        };
        let end = first.saturating_add(decl.elems);
        let other = bound.iter().find(|(from, to, _)| first < *to && *from < end);
        if decl.name.starts_with("gl_") {
            error(format!("the built-in attribute `{}` cannot be bound", decl.name));
        } else if end > count {
            let last = end - 1;
            error(format!("`{}` at {first} to {last}: the target has locations 0 to {}", decl.name, count - 1));
        } else if let Some((_, _, other)) = other {
            error(format!("`{}` and `{other}` are bound to one location", decl.name));
        } else {
            decl.location = Some(first);
            bound.push((first, end, decl.name.clone()));
        }
    }
    errors
}

/// Whether each shader object of a failed [`link_units`] is legal and only the program is not: what
/// OpenGL tells at `glLinkProgram` and not at `glCompileShader`.
pub fn is_link_failure(failure: &Failure) -> bool {
    failure.status == Status::DoesNotFit || (has_errors(&failure.diagnostics) && only_linking(&failure.diagnostics))
}

/// Whether no error is about one text by itself.
pub(crate) fn only_linking(diagnostics: &[Diagnostic]) -> bool {
    let mut errors = diagnostics.iter().filter(|d| d.severity == Severity::Error);
    errors.all(|d| d.code.starts_with("link") || frontend::check::LINK_ERRORS.contains(&d.code))
}

/// A link error at the fragment stage's declaration, with the vertex stage's beside it.
fn link_diagnostic(error: &tac::link::LinkError, files: [FileId; 2], sources: &SourceMap) -> Diagnostic {
    let (vertex, fragment) = error.lines;
    let place = |file, line| line_span(sources, file, line);
    match (vertex, fragment) {
        (0, line) => Diagnostic::error(error.code, place(files[1], line), error.message.as_str()),
        (line, 0) => Diagnostic::error(error.code, place(files[0], line), error.message.as_str()),
        (other, line) => Diagnostic::error(error.code, place(files[1], line), error.message.as_str())
            .label(place(files[0], other), "declared here in the vertex shader"),
    }
}
