//! Kernels and examples as ARB programs: Mesa accepts them and draws what it draws from the GLSL.

mod common;

use eggshade_lab::judge::arb::Arb;
use eggshade_lab::oracle::{Driver, open_or_skip};

#[test]
fn mesa_draws_the_same_from_our_programs() {
    let Some(mesa) = open_or_skip(Driver::Softpipe) else { return };
    common::all_are_equal(&mesa, &Arb, "arbvp1", &[]);
}
