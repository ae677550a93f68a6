//! piglit's `.shader_test` files.

use super::{compile, text, variant};
use crate::shader_test;

/// Simulated instructions of a file.
const STEPS: u64 = 100_000;

/// The first byte chooses the pipeline.
pub fn shader_test(data: &[u8]) {
    let (variant, data) = variant(data);
    let outcome = shader_test::run_text_within(&text(data), &compile::options(variant), STEPS);
    // Not anywhere in the reason: it may quote the file.
    assert!(!outcome.reason.starts_with("internal error"), "{}", outcome.reason);
}
