//! The vertex declaration that belongs to a Direct3D vertex shader: which register carries which
//! attribute, and, before Direct3D 9, the constants that it loads.
//!
//! In: an allocated vertex program. Out: text that is C as well as something to read. For model 1 the
//! tokens of `IDirect3DDevice8::CreateVertexShader` (`d3d8types.h`, "Vertex shader declaration
//! tokens"), which name registers and load constants; for later models the elements of
//! `IDirect3DDevice9::CreateVertexDeclaration` (`d3d9types.h`), which name usages, as the shader's own
//! `dcl` do. All attributes are taken to lie in stream 0, in the order of their registers, as floats.

use super::d3d9_names::ports;
use crate::error::Error;
use crate::isa::{Assembly, Target};
use crate::mach::{Constant, Program};
use ir::types::Stage;
use std::fmt::Write as _;

/// Kinds of tokens, in the upper three bits.
const STREAM: u32 = 1 << 29;
const STREAM_DATA: u32 = 2 << 29;
const CONSTANTS: u32 = 4 << 29;
const END: u32 = u32::MAX;

/// Most constants that one token loads.
const MAX_RUN: usize = 15;

/// The declaration.
///
/// # Errors
/// [`Error::Unsupported`] for other stages and targets, and where an attribute has no register.
pub fn declaration(program: &Program, target: &Target) -> Result<String, Error> {
    if target.assembly != Assembly::D3d9 || program.stage != Stage::Vertex {
        let what = format!("a vertex declaration for {} on {}", program.stage, target.name);
        return Err(Error::Unsupported { what, line: 0 });
    }
    match target.shader_model[0] {
        1 => Ok(tokens(program)),
        _ => elements(program, target),
    }
}

fn tokens(program: &Program) -> String {
    let mut out = String::from("DWORD declaration[] = {\n");
    let mut line = |token: u32, what: String| {
        let _ = writeln!(out, "    0x{token:08X}, /* {what} */");
    };
    line(STREAM, "D3DVSD_STREAM(0)".to_owned());
    for b in &program.inputs {
        let lanes = u32::from(b.lanes.clamp(1, 4));
        let kind = lanes - 1; // D3DVSDT_FLOAT1 is 0
        line(
            STREAM_DATA | kind << 16 | b.reg,
            format!("D3DVSD_REG({}, D3DVSDT_FLOAT{lanes}): v{} is {}, {}", b.reg, b.reg, b.name, b.semantic),
        );
    }
    let literals: Vec<(u32, [u32; 4])> = program
        .constants
        .iter()
        .zip(0..)
        .filter_map(|(c, n)| if let Constant::Literal { bits, .. } = c { Some((n, *bits)) } else { None })
        .collect();
    for run in literals.chunk_by(|a, b| a.0 + 1 == b.0).flat_map(|run| run.chunks(MAX_RUN)) {
        let (first, count) = (run[0].0, run.len() as u32);
        line(CONSTANTS | count << 25 | first, format!("D3DVSD_CONST({first}, {count})"));
        for (n, bits) in run {
            for (bits, lane) in bits.iter().zip("xyzw".chars()) {
                line(*bits, format!("c{n}.{lane} = {}", f32::from_bits(*bits)));
            }
        }
    }
    line(END, "D3DVSD_END()".to_owned());
    out + "};\n"
}

fn elements(program: &Program, target: &Target) -> Result<String, Error> {
    let ports = ports(program, target)?;
    let mut out = String::from("D3DVERTEXELEMENT9 declaration[] = {\n");
    let mut offset = 0;
    for b in &program.inputs {
        let Some((usage, index)) = ports.inputs.get(&b.reg).and_then(|p| p.usage) else { continue };
        let lanes = u32::from(b.lanes.clamp(1, 4));
        let usage = usage.word().to_uppercase();
        let _ = writeln!(
            out,
            "    {{ 0, {offset}, D3DDECLTYPE_FLOAT{lanes}, D3DDECLMETHOD_DEFAULT, D3DDECLUSAGE_{usage}, {index} }}, \
             /* v{} is {} */",
            b.reg, b.name
        );
        offset += 4 * lanes;
    }
    Ok(out + "    D3DDECL_END()\n};\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mach::Binding;

    fn program(target: &str) -> (Program, Target) {
        let target = Target::builtin(target).unwrap();
        let mut program = Program::new(Stage::Vertex, &target.name);
        let input = |reg, name: &str, lanes, semantic: &str| Binding {
            reg,
            name: name.to_owned(),
            elem: 0,
            lanes,
            semantic: semantic.to_owned(),
        };
        program.inputs = vec![input(0, "gl_Vertex", 4, "position"), input(3, "uv", 2, "generic1")];
        program.constants = vec![
            Constant::Uniform { name: "m".to_owned(), elem: 0 },
            Constant::Literal { bits: [1.0f32, -0.5, 0.0, 0.0].map(f32::to_bits), used: 2 },
            Constant::Literal { bits: [2.0f32; 4].map(f32::to_bits), used: 4 },
        ];
        (program, target)
    }

    #[test]
    fn model_1_names_registers_and_loads_constants() {
        let (program, target) = program("vs_1_1");
        let text = declaration(&program, &target).unwrap();
        let tokens: Vec<&str> = text.lines().filter_map(|l| l.trim().strip_prefix("0x")?.get(..8)).collect();
        let expected = [
            "20000000", "40030000", "40010003", "84000001", "3F800000", "BF000000", "00000000", "00000000", "40000000",
            "40000000", "40000000", "40000000", "FFFFFFFF",
        ];
        assert_eq!(tokens, expected, "{text}");
        assert!(text.contains("D3DVSD_REG(3, D3DVSDT_FLOAT2): v3 is uv"), "{text}");
    }

    #[test]
    fn later_models_name_usages() {
        let (program, target) = program("vs_2_0");
        let text = declaration(&program, &target).unwrap();
        assert!(
            text.contains("{ 0, 0, D3DDECLTYPE_FLOAT4, D3DDECLMETHOD_DEFAULT, D3DDECLUSAGE_POSITION, 0 }"),
            "{text}"
        );
        assert!(
            text.contains("{ 0, 16, D3DDECLTYPE_FLOAT2, D3DDECLMETHOD_DEFAULT, D3DDECLUSAGE_TEXCOORD, 1 }"),
            "{text}"
        );
    }

    #[test]
    fn others_have_none() {
        let (program, _) = program("vs_1_1");
        assert!(declaration(&program, &Target::builtin("vec4").unwrap()).is_err());
    }
}
