//! Texts to syntax trees and to typed trees.

use super::{check_diagnostics, limits, text, variant};
use bumpalo::Bump;
use eggshade::frontend::ast::Version;
use eggshade::frontend::{self, Options, dump};
use eggshade::ir::diag::SourceMap;
use eggshade::ir::types::Stage;

/// The first byte chooses the stage and the version of a text that names none.
pub fn parser(data: &[u8]) {
    let (variant, data) = variant(data);
    let text = text(data);
    let stage = [Stage::Fragment, Stage::Vertex][variant % 2];
    let default_version = [Version::Glsl110, Version::Glsl120, Version::Es100][variant / 2 % 3];
    let options = Options { default_version, limits: limits(), ..Options::default() };
    let arena = Bump::new();
    let mut sources = SourceMap::new();
    let file = sources.add("a.glsl", text.as_ref());
    let parsed = frontend::parse(&arena, &mut sources, file, &options);
    check_diagnostics(&sources, &parsed.diagnostics);
    dump::dump_tokens(&parsed.tokens, &sources, false);
    dump::dump_ast(&parsed.unit, &sources);

    let analyzed = frontend::analyze(&arena, &mut sources, file, stage, &options);
    check_diagnostics(&sources, &analyzed.diagnostics);
    assert_eq!(analyzed.shader.is_none(), eggshade::has_errors(&analyzed.diagnostics));
    assert!(!parsed.has_errors() || analyzed.shader.is_none());
    if let Some(shader) = &analyzed.shader {
        frontend::typed::dump(shader);
        frontend::typed::dump_names(shader, &sources);
    }
}
