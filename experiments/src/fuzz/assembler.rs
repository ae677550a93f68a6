//! Assembly text: the vec4 machine's, and Direct3D's, which starts with its version.

use super::disassembler::check_shader;
use super::{check_diagnostics, text};
use eggshade::backend::d3d9;
use eggshade::backend::emit::{vec4_bits, vec4_parse, vec4_text};
use eggshade::backend::mach::Program;
use eggshade::backend::sim::machine::{self, Lanes, Limits, Lookup, Outside};
use eggshade::ir::diag::SourceMap;
use eggshade::ir::eval::EvalCfg;

/// All bytes are the text.
pub fn assembler(data: &[u8]) {
    let text = text(data);
    let mut sources = SourceMap::new();
    let file = sources.add("a.asm", text.as_ref());
    if d3d9::parse::starts_shader(&text) {
        return match d3d9::parse::parse(file, &text) {
            Ok(shader) => check_shader(&shader),
            Err(errors) => check_diagnostics(&sources, &errors),
        };
    }
    let program = match vec4_parse::parse(file, &text) {
        Ok(program) => program,
        Err(errors) => return check_diagnostics(&sources, &errors),
    };
    check_program(&program);
}

/// A program keeps its meaning as text and as bits, and runs or says why not. The assembler gives
/// places of swizzles that nothing reads a fixed value, so texts are equal from the second one on.
pub(super) fn check_program(program: &Program) {
    let assembled = reassemble(program);
    let printed = vec4_text::print(&assembled);
    assert_eq!(printed, vec4_text::print(&reassemble(&assembled)), "printed, read and printed again");
    for program in [program, &assembled] {
        check_bits(program);
    }
    // Either result is fine: any text may be a program that runs on or jumps out.
    let run = |p| machine::run(p, &Noise, [true; 4], EvalCfg::default(), Limits { steps: 2_000, calls: 8 });
    assert_eq!(format!("{:?}", run(program)), format!("{:?}", run(&assembled)), "{printed}");
}

fn reassemble(program: &Program) -> Program {
    let printed = vec4_text::print(program);
    vec4_parse::parse(Default::default(), &printed).unwrap_or_else(|errors| panic!("{}\n{printed}", errors[0]))
}

fn check_bits(program: &Program) {
    let Ok(bytes) = vec4_bits::encode(program) else { return };
    let printed = vec4_text::print(program);
    match vec4_bits::decode(&bytes) {
        Ok(decoded) => {
            assert_eq!(printed, vec4_text::print(&decoded), "encoded and decoded");
            assert_eq!(Ok(bytes), vec4_bits::encode(&decoded));
        }
        Err(error) => panic!("{error}\n{printed}"),
    }
}

/// Something different everywhere.
struct Noise;

impl Outside for Noise {
    fn input(&self, pixel: usize, name: &str, elem: u32) -> Lanes {
        [pixel as f32, name.len() as f32, elem as f32, 0.5]
    }

    fn uniform(&self, name: &str, elem: u32) -> Lanes {
        [elem as f32, -1.0, f32::INFINITY, name.len() as f32]
    }

    fn texture(&self, lookup: &Lookup<'_>) -> Lanes {
        lookup.coords
    }
}
