//! Kernels and examples as Direct3D shaders: MojoShader accepts their tokens, and Mesa draws from its GLSL
//! what it draws from the original.

mod common;

use eggshade_lab::judge::d3d9::D3d9;
use eggshade_lab::oracle::{Driver, mojo, open_or_skip};

fn judge(target: &str, known: &[(&str, &str)]) {
    let (Some(mesa), Some(mojo)) = (open_or_skip(Driver::Softpipe), mojo::open_or_skip()) else { return };
    common::all_are_equal(&mesa, &D3d9::new(mojo), target, known);
}

#[test]
fn mesa_draws_the_same_from_model_2() {
    judge("vs_2_0", &[]);
}

#[test]
fn mesa_draws_the_same_from_model_3() {
    judge("vs_3_0", &[]);
}
