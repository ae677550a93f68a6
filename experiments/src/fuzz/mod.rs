//! The bodies of the fuzz targets: what must hold of any bytes.
//!
//! ```text
//! bytes -> body -> nothing, or a panic that says what does not hold
//! ```
//!
//! Each body lives here once. `fuzz/` hands it to libFuzzer, and `tests/fuzz.rs` feeds it [`seeds`]
//! that [`mutate`] changed, the same ones each time. Beside "no panic" a body asks what its readers
//! and printers promise: what is printed reads back the same, what verifies runs, what compiles at
//! `strict` computes what the source says.
//!
//! Work is bounded by [`MAX_BYTES`] and by small limits of the stages, so that a slow legal input is
//! no finding, and a compiler that is slow on a small one is.

mod assembler;
mod compile;
mod disassembler;
pub mod mutate;
mod parser;
mod preprocessor;
pub mod seeds;
mod shader_test;
mod ssa;
mod tac;

use eggshade::frontend::Limits;
use eggshade::ir::diag::{Diagnostic, SourceMap};
use std::borrow::Cow;

pub use assembler::assembler;
pub use compile::compile;
pub use disassembler::disassembler;
pub use parser::parser;
pub use preprocessor::preprocessor;
pub use shader_test::shader_test;
pub use ssa::ssa;
pub use tac::tac;

/// Bytes beyond these are not looked at.
pub const MAX_BYTES: usize = 4096;

/// A fuzz target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name: that of the binary in `fuzz/`, of the corpus's folder and of the folder with old findings.
    pub name: &'static str,
    /// What must hold.
    pub body: fn(&[u8]),
    /// Whether the input is text, for the mutator.
    pub is_text: bool,
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target { name: "preprocessor", body: preprocessor, is_text: true },
    Target { name: "parser", body: parser, is_text: true },
    Target { name: "compile", body: compile, is_text: true },
    Target { name: "tac", body: tac, is_text: true },
    Target { name: "ssa", body: ssa, is_text: true },
    Target { name: "assembler", body: assembler, is_text: true },
    Target { name: "disassembler", body: disassembler, is_text: false },
    Target { name: "shader_test", body: shader_test, is_text: true },
];

/// The bytes as text, cut to the bound.
fn text(data: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(&data[..data.len().min(MAX_BYTES)])
}

/// The first byte chooses a variant, the rest is the input.
fn variant(data: &[u8]) -> (usize, &[u8]) {
    data.split_first().map_or((0, data), |(&first, rest)| (first.into(), rest))
}

/// Bounds under which every stage of the front end ends soon.
fn limits() -> Limits {
    Limits { tokens: 20_000, expansion: 20_000, source_bytes: 20_000, ..Limits::default() }
}

/// Every finding is about a place that exists and can be shown.
fn check_diagnostics(sources: &SourceMap, list: &[Diagnostic]) {
    for diagnostic in list {
        assert!(!diagnostic.message.is_empty(), "a finding without words: {diagnostic:?}");
        for label in &diagnostic.labels {
            let file = sources.files().get(label.span.file.0 as usize);
            let text = file.and_then(|f| f.text.get(label.span.lo as usize..label.span.hi as usize));
            assert!(text.is_some(), "`{diagnostic}` is about {:?}", label.span);
        }
    }
    eggshade::diagnostics::render(sources, list);
}
