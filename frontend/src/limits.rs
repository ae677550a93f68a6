//! The bounds on what a text may ask of the front end, and the error that each one gives.
//!
//! Every loop and recursion over user text is under one of these, so no text can make the compiler
//! hang, overflow its stack or fill the memory.

/// Bounds with their defaults.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Deepest nesting of parentheses, blocks, statements and operators that nest to the right
    /// (256). Error `nesting-too-deep`.
    pub nesting: usize,
    /// Greatest height of an expression's tree (500): `a+a+a` has height 3. Later stages recurse over it.
    /// Error `expression-too-deep`.
    pub expr_height: usize,
    /// Most tokens of a file before and after preprocessing (1,000,000). Error `too-many-tokens`.
    pub tokens: usize,
    /// Most tokens that macro expansion may make in all (1,000,000), counting intermediate ones.
    /// Error `macro-expansion-too-large`.
    pub expansion: usize,
    /// Most macro expansions inside each other, by their bodies or by their arguments (200). Error `macro-nesting-too-deep`.
    pub macro_depth: usize,
    /// Most parameters of a macro (255). Error `too-many-macro-parameters`.
    pub macro_params: usize,
    /// Deepest nesting of `#if` (256). Error `conditional-too-deep`.
    pub conditional_depth: usize,
    /// Deepest nesting of `#include` (32). Error `include-too-deep`.
    pub include_depth: usize,
    /// Longest identifier, in bytes (1,024). Error `identifier-too-long`.
    pub identifier: usize,
    /// Longest source text in bytes, files that it includes counted in (4 MiB). Error
    /// `source-too-large`.
    pub source_bytes: usize,
    /// After that many errors the front end stops (20). Error `too-many-errors`.
    pub errors: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            nesting: 256,
            expr_height: 500,
            tokens: 1_000_000,
            expansion: 1_000_000,
            macro_depth: 200,
            macro_params: 255,
            conditional_depth: 256,
            include_depth: 32,
            identifier: 1024,
            source_bytes: 4 << 20,
            errors: 20,
        }
    }
}
