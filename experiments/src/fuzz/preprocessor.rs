//! Macros, conditions and included texts.

use super::{check_diagnostics, limits, text};
use bumpalo::Bump;
use eggshade::frontend::{self, Included, Options};
use eggshade::ir::diag::SourceMap;

/// The text up to the first NUL byte is the shader; `#include` finds the others by their numbers from 1.
pub fn preprocessor(data: &[u8]) {
    let text = text(data);
    let parts: Vec<&str> = text.split('\0').collect();
    let include = |name: &str, _: &str| {
        let part = name.parse().ok().and_then(|n: usize| parts.get(n));
        part.map(|t| Included { name: name.to_owned(), text: (*t).to_owned() }).ok_or_else(|| "no such text".to_owned())
    };
    let options = Options { include: Some(&include), limits: limits(), ..Options::default() };
    let arena = Bump::new();
    let mut sources = SourceMap::new();
    let file = sources.add("a.frag", parts[0]);
    let (first, found) = frontend::preprocess(&arena, &mut sources, file, &options);
    check_diagnostics(&sources, &found);
    if !found.is_empty() || parts[0].contains("undef") {
        return;
    }
    // What comes out has no directives and no macros left, so it comes out of itself.
    let words: Vec<&str> = first.tokens.iter().map(|t| t.text).collect();
    let file = sources.add("again.frag", words.join(" "));
    let options = Options { default_version: first.version, limits: limits(), ..Options::default() };
    let (second, found) = frontend::preprocess(&arena, &mut sources, file, &options);
    let again: Vec<&str> = second.tokens.iter().map(|t| t.text).collect();
    assert_eq!(words, again, "{found:?}");
}
