//! Direct3D shaders: MojoShader reads our tokens, and Mesa runs the GLSL that it makes of them.
//!
//! MojoShader names registers after its own fashion; here they get the numbers of a scene. Constants are
//! packed in the order of its list. Attributes that the conventional state has become words of GLSL, so
//! that both sides read the same. Two faults are mended in its text: it cuts floats after nine decimals,
//! and knows no `oPts`.

use super::arb::{locals, units};
use super::compare::Picture;
use super::pair::Scene;
use super::{Ending, Executor, Stop};
use crate::oracle::mojo::{Mojo, Translation};
use crate::oracle::{Attribute, Job, Mesa, OracleError, OracleTexture};
use eggshade::backend::d3d9::{Def, Shader, tokens};
use eggshade::backend::emit;
use eggshade::backend::mach::Binding;
use eggshade::{Built, Linked, Options};
use std::collections::BTreeMap;

/// MojoShader, in whose GLSL Mesa runs shaders of models 1 to 3.
#[derive(Debug)]
pub struct D3d9 {
    mojo: Mojo,
}

impl D3d9 {
    /// With the library.
    pub fn new(mojo: Mojo) -> D3d9 {
        D3d9 { mojo }
    }

    fn stage<'b>(&self, built: &'b Built, options: &Options) -> Result<Stage<'b>, Stop> {
        let target = &options.for_stage(built.tac.stage).target;
        let unsupported = |e: String| Stop::new(Ending::Unsupported, e);
        let shader = emit::d3d9::lower(&built.compiled.program, target).map_err(|e| unsupported(e.to_string()))?;
        let words = tokens::write(&shader).map_err(unsupported)?;
        let translation = self.mojo.translate(&words).map_err(refused)?;
        let text = mended(&translation.text, &shader, &built.compiled.program.inputs);
        Ok(Stage { built, translation, text })
    }
}

fn refused(e: OracleError) -> Stop {
    match e {
        OracleError::Refused(message) => Stop::new(Ending::Refused, message),
        OracleError::Missing(what) => Stop::new(Ending::Fault, what),
    }
}

/// A stage in MojoShader's GLSL.
struct Stage<'b> {
    built: &'b Built,
    translation: Translation,
    text: String,
}

impl Stage<'_> {
    /// The registers that the text reads, packed.
    fn registers(&self, scene: &Scene) -> Vec<f32> {
        let values: BTreeMap<u32, [f32; 4]> = locals(self.built, scene).into_iter().collect();
        let ranges = self.translation.uniforms.iter().flat_map(|r| r.index..r.index + r.count);
        ranges.flat_map(|n| values.get(&n).copied().unwrap_or_default()).collect()
    }

    fn textures(&self, all: &[OracleTexture]) -> Vec<OracleTexture> {
        let units = units(self.built);
        let named = self.translation.samplers.iter().filter_map(|(n, name)| {
            let (_, glsl) = units.iter().find(|(unit, _)| unit == n)?;
            let texture = all.iter().find(|t| t.name == *glsl)?;
            Some(OracleTexture { name: name.clone(), ..texture.clone() })
        });
        named.collect()
    }

    /// Generic attributes under the names of their registers.
    fn attributes(&self, all: &[Attribute]) -> Vec<Attribute> {
        let inputs = &self.built.compiled.program.inputs;
        let named = inputs.iter().filter_map(|b| {
            let location: u32 = b.semantic.strip_prefix("generic")?.parse().ok()?;
            let attribute = all.iter().find(|a| a.name == b.name)?;
            let column = attribute.values.get(location.checked_sub(attribute.location)? as usize)?;
            Some(Attribute { name: register(b), location, values: vec![column.clone()] })
        });
        named.collect()
    }
}

/// MojoShader's name of an attribute.
fn register(b: &Binding) -> String {
    format!("vs_v{}", b.reg)
}

/// An attribute as the words of GLSL have it, where they do. Lanes that are not given are 0 and 1.
fn conventional(word: &str) -> Option<String> {
    Some(match word {
        "position" => "gl_Vertex".to_owned(),
        "normal" => "vec4(gl_Normal, 1.0)".to_owned(),
        "color0" => "gl_Color".to_owned(),
        "color1" => "gl_SecondaryColor".to_owned(),
        "fogcoord" => "vec4(gl_FogCoord, 0.0, 0.0, 1.0)".to_owned(),
        _ => format!("gl_MultiTexCoord{}", word.strip_prefix("texcoord")?),
    })
}

/// A float of GLSL.
fn number(bits: u32) -> String {
    match f32::from_bits(bits) {
        v if v.is_nan() => "(0.0 / 0.0)".to_owned(),
        v if v.is_infinite() => format!("({:?} / 0.0)", v.signum()),
        v => format!("{v:?}"),
    }
}

/// MojoShader's text with exact constants, and attributes by their words.
fn mended(text: &str, shader: &Shader, inputs: &[Binding]) -> String {
    let prefix = &shader.version.to_string()[..2];
    let mut lines: BTreeMap<String, String> = BTreeMap::new();
    for def in &shader.defs {
        if let Def::Float { index, bits } = def {
            let head = format!("const vec4 {prefix}_c{index} =");
            lines.insert(head.clone(), format!("{head} vec4({});", bits.map(number).join(", ")));
        }
    }
    for b in inputs {
        if let (true, Some(word)) = (prefix == "vs", conventional(&b.semantic)) {
            lines.insert(format!("attribute vec4 {};", register(b)), format!("#define {} {word}", register(b)));
        }
    }
    let head = |line: &str| line.split_inclusive('=').next().unwrap_or(line).to_owned();
    let line = |line: &str| lines.get(&head(line)).cloned().unwrap_or_else(|| line.to_owned()) + "\n";
    text.lines().map(line).collect::<String>().replace("gl_PointSize2", "gl_PointSize")
}

impl Executor for D3d9 {
    fn draw(&self, mesa: &Mesa, linked: &Linked, options: &Options, scenes: &[Scene]) -> Result<Vec<Picture>, Stop> {
        let [vertex, fragment] = &linked.stages;
        let (vertex, fragment) = (self.stage(vertex, options)?, self.stage(fragment, options)?);
        let given: Vec<_> = scenes
            .iter()
            .map(|scene| {
                let job = scene.job();
                let uniforms = vec![
                    ("vs_uniforms_vec4".to_owned(), vertex.registers(scene)),
                    ("ps_uniforms_vec4".to_owned(), fragment.registers(scene)),
                ];
                (vertex.attributes(job.attributes), uniforms, fragment.textures(job.textures))
            })
            .collect();
        let jobs: Vec<Job<'_>> = scenes
            .iter()
            .zip(&given)
            .map(|(scene, (attributes, uniforms, textures))| Job { attributes, uniforms, textures, ..scene.job() })
            .collect();
        mesa.draw([&[&vertex.text], &[&fragment.text]], &jobs).map_err(refused)
    }

    /// Lowering has no `vPos`, whose middle is elsewhere.
    fn shows_depth(&self) -> bool {
        false
    }
}
