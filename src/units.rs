//! Texts that are parts of a stage, as OpenGL attaches several shader objects of one stage to a program.
//!
//! In: texts with their names. Out: whether one is legal by itself ([`check_unit`], OpenGL's
//! `glCompileShader`), the code of several together ([`compile_units`]), and which parts of a library a
//! stage needs ([`attach`]).

use crate::facade::{self, Built, Failure, Options};
use crate::link::only_linking;
use crate::record::Status;
use bumpalo::Bump;
use frontend::ast::ItemKind;
use ir::diag::{Diagnostic, FileId, Severity, SourceMap, Span};
use ir::types::Stage;
use std::collections::BTreeSet;

/// A text that is legal by itself.
#[derive(Clone, Debug)]
pub struct Unit {
    /// The text that the warnings point into.
    pub sources: SourceMap,
    /// Findings that do not make it wrong.
    pub warnings: Vec<Diagnostic>,
    /// Whether it is a whole stage: there is a `main`, and all that it calls has a body.
    pub complete: bool,
}

/// Checks one text without the rules that only linking can judge: `main`, and bodies of the functions
/// called, may stand in another text.
///
/// # Errors
/// A [`Failure`] with diagnostics.
pub fn check_unit(name: &str, source: &str, options: &Options) -> Result<Unit, Failure> {
    let mut sources = SourceMap::new();
    let file = sources.add(name, source);
    let found = if facade::is_tac(name) {
        facade::to_tac(name, file, &mut sources, options).map(|(_, warnings)| warnings)
    } else {
        let arena = Bump::new();
        facade::stage_for(name, file, options).and_then(|stage| {
            let analyze = |front: &frontend::Options<'_>| frontend::analyze(&arena, &mut sources, file, stage, front);
            let analyzed = facade::with_front_options(options, analyze);
            if only_linking(&analyzed.diagnostics) { Ok(analyzed.diagnostics) } else { Err(analyzed.diagnostics) }
        })
    };
    match found {
        Ok(mut warnings) => {
            let complete = !facade::has_errors(&warnings);
            warnings.retain(|d| d.severity != Severity::Error);
            Ok(Unit { sources, warnings, complete })
        }
        Err(diagnostics) => Err(Failure { status: Status::Rejected, sources, diagnostics }),
    }
}

/// Compiles the texts of one stage, which the options or the first name's ending tells.
///
/// # Errors
/// A [`Failure`] with diagnostics.
pub fn compile_units(units: &[(&str, &str)], options: &Options) -> Result<Built, Failure> {
    if let &[(name, source)] = units {
        return facade::compile(name, source, options);
    }
    let (mut sources, files, stage) = open(units, options);
    let first = files.first().copied().unwrap_or_default();
    match stage.and_then(|stage| facade::units_to_tac(&files, stage, &mut sources, options)) {
        Ok((tac, warnings)) => facade::finish(tac, first, sources, warnings, options),
        Err(diagnostics) => Err(Failure { status: Status::Rejected, sources, diagnostics }),
    }
}

/// Which texts of a library define functions that the units call without defining them, and so on
/// for what these call: indices into the library, in the order of need. Of several texts that define
/// the same function the first one is taken; what none defines stays missing.
pub fn attach(units: &[(&str, &str)], library: &[(&str, &str)], options: &Options) -> Vec<usize> {
    let mut attached = Vec::new();
    if library.is_empty() {
        return attached;
    }
    let mut defined: Option<Vec<BTreeSet<String>>> = None;
    // Each turn attaches a text or is the last one.
    loop {
        let all: Vec<_> = units.iter().copied().chain(attached.iter().map(|&i| library[i])).collect();
        let missing = undefined(&all, options);
        if missing.is_empty() {
            return attached;
        }
        let defined = defined.get_or_insert_with(|| library.iter().map(|part| functions_of(*part, options)).collect());
        let before = attached.len();
        for name in missing {
            let definer = (0..library.len()).find(|&i| defined[i].contains(&name));
            if let Some(i) = definer.filter(|i| !attached.contains(i)) {
                attached.push(i);
            }
        }
        if attached.len() == before {
            return attached;
        }
    }
}

/// The functions that the stage's `main` reaches and that none of its texts defines.
fn undefined(units: &[(&str, &str)], options: &Options) -> Vec<String> {
    let (mut sources, files, stage) = open(units, options);
    let Ok(stage) = stage else { return Vec::new() };
    let arena = Bump::new();
    let analyze =
        |front: &frontend::Options<'_>| frontend::analyze_units(&arena, &mut sources, &files, stage, front).undefined;
    facade::with_front_options(options, analyze).into_iter().map(str::to_owned).collect()
}

/// The functions that a text defines.
fn functions_of((name, source): (&str, &str), options: &Options) -> BTreeSet<String> {
    let mut sources = SourceMap::new();
    let file = sources.add(name, source);
    let arena = Bump::new();
    let parsed = facade::with_front_options(options, |front| frontend::parse(&arena, &mut sources, file, front));
    let defined = |item: &frontend::ast::Item<'_>| match item.kind {
        ItemKind::Function(function) => Some(function.header.name.text.to_owned()),
        _ => None,
    };
    parsed.unit.items.iter().filter_map(defined).collect()
}

fn open(units: &[(&str, &str)], options: &Options) -> (SourceMap, Vec<FileId>, Result<Stage, Vec<Diagnostic>>) {
    let mut sources = SourceMap::new();
    let files: Vec<FileId> = units.iter().map(|(name, text)| sources.add(*name, *text)).collect();
    let stage = match (units, files.as_slice()) {
        ([(name, _), ..], [file, ..]) => facade::stage_for(name, *file, options),
        _ => Err(vec![Diagnostic::error("missing-main", Span::default(), "the stage has no text")]),
    };
    (sources, files, stage)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> Options {
        let target = facade::resolve_target("vec4").unwrap();
        Options::new(target, facade::resolve_pipeline("none").unwrap())
    }

    #[test]
    fn a_part_needs_no_main_and_no_bodies() {
        let complete = |text: &str| check_unit("a.frag", text, &options()).map(|u| u.complete);
        assert_eq!(complete("float f() { return 1.0; }").ok(), Some(false));
        assert_eq!(complete("float f(); void main() { gl_FragColor = vec4(f()); }").ok(), Some(false));
        assert_eq!(complete("void main() { gl_FragColor = vec4(1.0); }").ok(), Some(true));
        let failure = complete("float f(); float g() { return f() + x; }").unwrap_err();
        assert_eq!(failure.diagnostics[0].code, "undeclared-name");
        assert!(check_unit("a.tac", "nonsense", &options()).is_err());
        assert!(check_unit("a.txt", "void main() {}", &options()).is_err());
    }

    #[test]
    fn what_is_missing_is_attached_with_what_that_needs() {
        let main = ("main.frag", "float a(); void main() { gl_FragColor = vec4(a()); }");
        let library = [
            ("unused.frag", "float u() { return 0.0; }"),
            ("b.frag", "float b() { return 0.5; }"),
            ("a.frag", "float b(); float a() { return b(); }"),
            ("other.frag", "float a() { return 2.0; }"),
        ];
        assert_eq!(attach(&[main], &library, &options()), [2, 1]);
        assert_eq!(attach(&[main], &library[..2], &options()), [0; 0]);
        assert_eq!(attach(&[main], &[("self.frag", "float a(float x) { return x; }")], &options()), [0]);
        let built = compile_units(&[main, library[2], library[1]], &options()).unwrap();
        assert!(built.compiled.statistics.counts.instructions > 0);
        let failure = compile_units(&[main, library[2]], &options()).unwrap_err();
        assert_eq!(failure.diagnostics[0].code, "undefined-function");
        assert!(compile_units(&[], &options()).is_err());
    }
}
