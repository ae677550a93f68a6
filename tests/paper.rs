//! What the paper shows, from GLSL to machine code, under its own pipeline and under the default.

mod common;

use common::{assert_runs, build, opcodes, options};
use eggshade::backend::mach::Opcode::{self, Add, Mad, Mul};

const BOTH: [&str; 2] = ["paper", "egraph"];

/// Compiles, runs, and gives the opcodes.
fn code(name: &str, source: &str, pipeline: &str) -> Vec<Opcode> {
    let options = options(pipeline);
    let built = build(name, source, &options);
    assert_runs(&built, &options);
    opcodes(&built)
}

const EXAMPLE: &str = include_str!("../examples/paper.vert");

#[test]
fn a_matrix_times_a_vector_is_four_instructions_and_one_temporary() {
    for pipeline in BOTH {
        let options = options(pipeline);
        let built = build("paper.vert", EXAMPLE, &options);
        assert_runs(&built, &options);
        assert_eq!(opcodes(&built), [Mul, Mad, Mad, Mad], "{pipeline}");
        assert!(built.compiled.statistics.counts.temps <= 1, "{pipeline}");
    }
}

#[test]
fn without_reuse_every_value_has_a_register_of_its_own() {
    for pipeline in BOTH {
        let mut options = options(pipeline);
        options.back.reuse_registers = false;
        let built = build("paper.vert", EXAMPLE, &options);
        // Three values lie between the first product and the output.
        assert_eq!(built.compiled.statistics.counts.temps, 3, "{pipeline}");
    }
}

#[test]
fn a_product_and_a_sum_become_one() {
    let source = "varying vec4 a, b, c; void main() { gl_FragColor = a * b + c; }";
    for pipeline in BOTH {
        assert_eq!(code("a.frag", source, pipeline), [Mad], "{pipeline}");
    }
}

#[test]
fn not_when_the_product_stays() {
    let source = "attribute vec4 a, b, c; varying vec4 p, q;
        void main() { p = a * b; q = p + c; gl_Position = a; }";
    let paper = code("a.vert", source, "paper");
    assert!(paper.contains(&Mul) && paper.contains(&Add) && !paper.contains(&Mad), "{paper:?}");
    // The e-graph may compute the product twice, but not with more instructions.
    assert!(code("a.vert", source, "egraph").len() <= paper.len());
}

#[test]
fn not_when_the_masks_differ() {
    let source = "varying vec4 a, b, c, d;
        void main() { vec4 t = c; t.xy = a.xy * b.xy; gl_FragColor = min(t, a) + t; }";
    let paper = code("a.frag", source, "paper");
    assert!(paper.contains(&Mul) && paper.contains(&Add) && !paper.contains(&Mad), "{paper:?}");
    assert!(code("a.frag", source, "egraph").len() <= paper.len());
}

#[test]
fn two_halves_become_one_vector() {
    let source = "varying vec4 a, b;
        void main() { gl_FragColor.xy = a.xy + b.xy; gl_FragColor.zw = a.zw + b.zw; }";
    for pipeline in BOTH {
        assert_eq!(code("a.frag", source, pipeline), [Add], "{pipeline}");
    }
}

#[test]
fn not_when_the_second_half_needs_the_first() {
    let source = "varying vec4 a, b;
        void main() { vec4 t; t.xy = a.xy + b.xy; t.zw = a.zw + t.xy; gl_FragColor = t; }";
    for pipeline in BOTH {
        // The output cannot be read back, so the first half also needs a copy.
        let code = code("a.frag", source, pipeline);
        assert_eq!(code.iter().filter(|o| **o == Add).count(), 2, "{pipeline}: {code:?}");
        assert!(code.len() <= 3, "{pipeline}: {code:?}");
    }
}

#[test]
fn a_cross_product_is_a_mul_and_a_mad() {
    let source = "varying vec3 a, b; void main() { gl_FragColor = vec4(0.0); gl_FragColor.xyz = cross(a, b); }";
    for pipeline in BOTH {
        let code = code("a.frag", source, pipeline);
        assert_eq!(code.iter().filter(|o| **o != Opcode::Mov).collect::<Vec<_>>(), [&Mul, &Mad], "{pipeline}");
    }
}
