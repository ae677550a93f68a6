//! Assembly text of the `vec4` machine.
//!
//! ```text
//! .target vec4 vert
//! .temps 1
//! .input v0 "my_Vertex" 0 4 generic0
//! .output o0 "gl_Position" 0 4 position
//! .uniform c0 "my_TransformMatrix" 0
//! .literal c4 1.0 0.5
//! .sampler s0 "base" 0 2D
//! MUL r0, c0, v0.x
//! MAD_SAT o0.xyz, -|c1|, v0.y, r0
//! TEX r0, v1.xy, s0, 2D
//! MOV r1, c[a0.x + 5]
//! END
//! ```
//!
//! A literal's lane is a decimal number that reads back to the same bits, or its bits as `0x...`
//! (infinities, NaN). [`super::vec4_parse`] reads this form; the two are inverse.

use crate::mach::{Constant, Program};
use ir::types::Stage;
use std::fmt::Write;

/// The whole program as text.
pub fn print(program: &Program) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_all(program, &mut out);
    out
}

fn write_all(program: &Program, out: &mut String) -> std::fmt::Result {
    let stage = if program.stage == Stage::Vertex { "vert" } else { "frag" };
    writeln!(out, ".target {} {stage}", program.target)?;
    writeln!(out, ".temps {}", program.temps)?;
    for (directive, letter, bindings) in [("input", 'v', &program.inputs), ("output", 'o', &program.outputs)] {
        for b in bindings {
            writeln!(out, ".{directive} {letter}{} {:?} {} {} {}", b.reg, b.name, b.elem, b.lanes, b.semantic)?;
        }
    }
    for (i, constant) in program.constants.iter().enumerate() {
        match constant {
            Constant::Uniform { name, elem } => writeln!(out, ".uniform c{i} {name:?} {elem}")?,
            Constant::Literal { bits, used } => {
                write!(out, ".literal c{i}")?;
                for &lane in &bits[..usize::from(*used).min(4)] {
                    write!(out, " {}", number(lane))?;
                }
                writeln!(out)?;
            }
        }
    }
    for s in &program.samplers {
        let shadow = if s.shadow { "SHADOW" } else { "" };
        writeln!(out, ".sampler s{} {:?} {} {shadow}{}", s.reg, s.name, s.elem, s.dim)?;
    }
    let mut depth = 0usize;
    for inst in &program.insts {
        use crate::mach::Opcode::{Else, EndIf, EndLoop, If, Loop};
        if matches!(inst.op, Else | EndIf | EndLoop) {
            depth = depth.saturating_sub(1);
        }
        writeln!(out, "{:indent$}{inst}", "", indent = depth.min(40) * 2)?;
        if matches!(inst.op, If | Else | Loop) {
            depth += 1;
        }
    }
    Ok(())
}

/// The shortest decimal that reads back to the same float, or the bits.
pub fn number(bits: u32) -> String {
    let value = f32::from_bits(bits);
    if value.is_finite() { format!("{value:?}") } else { format!("{bits:#010x}") }
}
