//! Seeds for each target, made from the shaders and test files of a checkout.

use super::{MAX_BYTES, Target};
use crate::files;
use crate::measure::read_source;
use bumpalo::Bump;
use eggshade::backend::d3d9;
use eggshade::backend::emit::{vec4_bits, vec4_text};
use eggshade::ir;
use eggshade::ir::tac::{self, inline};
use eggshade::ir::types::Stage;
use eggshade::{Built, Options};
use std::path::{Path, PathBuf};

/// The folders of a checkout with shaders.
const SHADERS: [&str; 2] = ["examples", "experiments/data/kernels"];
/// The files whose sections are SSA.
const SSA: &str = "ir/tests/filetests";
/// The files whose texts are for the front end.
const FRONT: &str = "frontend/tests/filetests";

/// Direct3D shaders that together use every part of the form.
const D3D9: &[&str] = &[
    "vs_1_1\ndcl_position v0\ndef c95, 0, 1, 0.5, -1e-7\nmov a0.x, v0.x\nm4x4 oPos, v0, c[a0.x + 4]\nmov oD0, -v0.wzyx\n",
    "vs_2_0\ndcl_texcoord1 v3\ndefb b0, true\ndefi i0, 4, 0, 1, 0\nif b0\nrep i0\nmova a0.y, v3.x\nadd r0.xy, c[a0.y + 7], r0\nendrep\nelse\ncall l1\nendif\nret\nlabel l1\nsincos r1.xy, r0.x, c4, c5\nret\n",
    "vs_3_0\ndcl_position o0\ndcl_2d s0\nloop aL, i0\nsetp_lt p0, v0, c0\n(!p0.x) mov o[aL + 1].xyz, v[aL]_abs\nbreakp p0.x\nendloop\n",
    "ps_1_4\ntexcrd r0.xyz, t0_dw.xyw\ntexld r1, t1\nphase\nmul_x2_sat r0.xyz, r0, 1-v0\n+ mov_d8 r0.w, r1_bx2.w\n",
    "ps_3_0\ndcl_color0_centroid v0\ndcl vFace\ndcl_cube s0\nif_ge vFace.x, c0.x\ntexldd_pp r0, v0, s0, r1, r2\nendif\nmov oDepth, r0.x\nmov oC3, r0\n",
];
/// A shader of the checkout with what the compiler makes of it.
struct Shader {
    stage: Stage,
    text: String,
    built: Built,
}

/// The seeds of a target, from the checkout at `root`, in a fixed order.
///
/// # Errors
/// When a folder or file cannot be read, or a shader of the checkout does not compile.
pub fn seeds(target: &Target, root: &Path) -> Result<Vec<Vec<u8>>, String> {
    let mut out: Vec<Vec<u8>> = Vec::new();
    let shaders = shaders(root)?;
    for shader in &shaders {
        out.extend(from_shader(target.name, shader)?);
    }
    match target.name {
        "assembler" => out.extend(D3D9.iter().map(|text| text.as_bytes().to_vec())),
        "disassembler" => {
            for text in D3D9 {
                let shader = d3d9::parse::parse(Default::default(), text).map_err(|e| e[0].message.clone())?;
                out.push(d3d9::tokens::to_bytes(&d3d9::tokens::write(&shader)?));
            }
        }
        "ssa" => {
            for (i, case) in ssa_cases(root)?.iter().enumerate() {
                out.push(with_variant((i % ir::passes::ALL.len()) as u8, case));
            }
        }
        "preprocessor" => out.extend(front_cases(root)?.into_iter().map(|(_, text)| text.into_bytes())),
        "parser" | "compile" => {
            out.extend(front_cases(root)?.iter().map(|(variant, text)| with_variant(*variant, text)))
        }
        _ => {}
    }
    out.retain(|seed| !seed.is_empty() && seed.len() <= MAX_BYTES);
    out.sort();
    out.dedup();
    Ok(out)
}

/// The variant as a letter, so that the file stays readable.
fn with_variant(variant: u8, text: &str) -> Vec<u8> {
    let mut out = vec![b'`' + variant];
    out.extend(text.as_bytes());
    out
}

fn shaders(root: &Path) -> Result<Vec<Shader>, String> {
    let folders: Vec<PathBuf> = SHADERS.iter().map(|f| root.join(f)).collect();
    let options = Options::new(eggshade::resolve_target("vec4")?, eggshade::resolve_pipeline("paper")?);
    let mut out = Vec::new();
    for file in files::collect(&folders)? {
        let name = file.path.display().to_string();
        let text = read_source(&name)?;
        let stage = eggshade::stage_of(&name).unwrap_or(Stage::Fragment);
        let built = eggshade::compile(&name, &text, &options).map_err(|f| format!("{name}: {}", f.diagnostics[0]))?;
        out.push(Shader { stage, text, built });
    }
    Ok(out)
}

fn from_shader(target: &str, shader: &Shader) -> Result<Vec<Vec<u8>>, String> {
    let stage = u8::from(shader.stage == Stage::Vertex);
    let program = &shader.built.compiled.program;
    Ok(match target {
        "preprocessor" => vec![shader.text.clone().into_bytes()],
        "parser" | "compile" => (0..3).map(|v| with_variant(stage + 2 * v, &shader.text)).collect(),
        "tac" => (0..3).map(|v| with_variant(2 * v, &tac::text::print(&shader.built.tac))).collect(),
        "ssa" => {
            let arena = Bump::new();
            let inlined = inline::inline(&shader.built.tac, 100_000).map_err(|e| e.to_string())?;
            let func = ir::ssa::build(&inlined, &arena).map_err(|e| e.to_string())?;
            let text = ir::text::print(&func);
            (0..ir::passes::ALL.len()).map(|v| with_variant(v as u8, &text)).collect()
        }
        "assembler" => vec![vec4_text::print(program).into_bytes()],
        "disassembler" => vec![vec4_bits::encode(program)?],
        "shader_test" => vec![with_variant(0, &test_of(shader))],
        _ => Vec::new(),
    })
}

/// A test that draws a rectangle with the shader and reads a pixel.
fn test_of(shader: &Shader) -> String {
    let (own, other) = match shader.stage {
        Stage::Vertex => ("[vertex shader]", "[fragment shader]\nvoid main() { gl_FragColor = vec4(1.0); }\n"),
        Stage::Fragment => ("[fragment shader]", "[vertex shader passthrough]\n"),
    };
    format!(
        "[require]\nGLSL >= 1.10\n{other}{own}\n{}[vertex data]\npiglit_vertex/float/2\n-1 -1\n1 -1\n1 1\n[test]\n\
         clear color 0 0 0 0\nclear\nuniform vec4 color 1 0.5 0 1\ntexture checkerboard 0 0 (8, 8) (1, 0, 0, 1) (0, 1, 0, 1)\n\
         draw rect -1 -1 2 2\ndraw arrays GL_TRIANGLES 0 3\nprobe rgba 4 4 0 1 0 1\nrelative probe rgb (0.5, 0.5) (0, 1, 0)\n",
        shader.text
    )
}

/// The inputs of the file tests of SSA.
fn ssa_cases(root: &Path) -> Result<Vec<String>, String> {
    let mut out = Vec::new();
    for path in files::below(&root.join(SSA), "txt")? {
        let text = read_source(&path.display().to_string())?;
        let inputs = text.split("\n====\n").filter_map(|case| {
            let (input, _) = case.split_once("; expect")?;
            Some(input[input.find("function ")?..].to_owned())
        });
        out.extend(inputs);
    }
    Ok(out)
}

/// The texts of the front end's golden tests, each with the variant of its stage and version: the
/// lines `110 vert: text`, and the files of syntax.
fn front_cases(root: &Path) -> Result<Vec<(u8, String)>, String> {
    let mut out = Vec::new();
    for path in files::below(&root.join(FRONT), "txt")? {
        let text = read_source(&path.display().to_string())?;
        for line in text.lines() {
            let Some((head, shader)) = line.split_once(": ") else { continue };
            let Some((version, stage)) = head.split_once(' ') else { continue };
            let Some(version) = ["110", "120", "100"].iter().position(|v| *v == version) else { continue };
            out.push((2 * version as u8 + u8::from(stage == "vert"), shader.to_owned()));
        }
    }
    for path in files::below(&root.join(FRONT), "glsl")? {
        let text = read_source(&path.display().to_string())?;
        out.extend(text.split("\n\n").map(|part| (0, format!("{part}\n"))));
    }
    Ok(out)
}
