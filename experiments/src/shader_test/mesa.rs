//! The screen of Mesa, which runs our ARB programs.

use super::command::Mode;
use super::draw::{Attributes, World, attribute};
use super::screen::{Executor, Screen};
use crate::oracle::{ArbPrograms, Attribute, Corner, Frame, Mesa, OracleError, Primitive, Switches};
use eggshade::backend::emit;
use eggshade::backend::mach::{Constant, Program};
use eggshade::backend::sim::machine::Lanes;
use eggshade::backend::sim::texture::Texture;
use eggshade::ir::types::TexDim;
use eggshade::{Built, Options};

/// Runs ARB programs in Mesa.
#[derive(Clone, Copy, Debug)]
pub struct InMesa<'m> {
    /// The context.
    pub mesa: &'m Mesa,
    /// For what was compiled.
    pub options: &'m Options,
}

impl Executor for InMesa<'_> {
    fn open<'a>(&'a self, built: &'a [Built; 2], size: [u32; 2]) -> Result<Box<dyn Screen + 'a>, String> {
        let text = |built: &Built| {
            let target = &self.options.for_stage(built.tac.stage).target;
            emit::text(&built.compiled.program, target).map_err(|e| e.to_string())
        };
        let [vertex, fragment] = built;
        let programs = self.mesa.assemble([&text(vertex)?, &text(fragment)?]).map_err(told)?;
        let frame = self.mesa.frame(size).map_err(told)?;
        frame.clear(Some([0.0; 4]), Some(1.0));
        let stages = [&vertex.compiled.program, &fragment.compiled.program];
        Ok(Box::new(Drawn { mesa: self.mesa, programs, frame, stages, size, colors: Vec::new(), depths: Vec::new() }))
    }
}

fn told(e: OracleError) -> String {
    e.to_string()
}

struct Drawn<'a> {
    mesa: &'a Mesa,
    programs: ArbPrograms<'a>,
    frame: Frame<'a>,
    stages: [&'a Program; 2],
    size: [u32; 2],
    /// What was read last.
    colors: Vec<Lanes>,
    depths: Vec<f32>,
}

impl Screen for Drawn<'_> {
    fn size(&self) -> [u32; 2] {
        self.size
    }

    fn clear(&mut self, color: Option<Lanes>, depth: Option<f32>) -> Result<(), String> {
        self.frame.clear(color, depth);
        Ok(())
    }

    fn draw(&mut self, world: &World, mode: Mode, vertices: &[Attributes]) -> Result<(), String> {
        let [vertex, fragment] = self.stages;
        for (stage, program) in self.stages.into_iter().enumerate() {
            self.programs.set_locals(stage, &locals(program, world));
        }
        let textures = fragment.samplers.iter().filter_map(|s| Some((s.reg, texture(world, &s.name, s.elem, s.dim)?)));
        let _bound = self.mesa.bind_textures(textures).map_err(told)?;
        let mut attributes: Vec<Attribute> = Vec::new();
        let mut corners = vec![Corner { color: world.color, ..Corner::default() }; vertices.len()];
        for binding in &vertex.inputs {
            let values = vertices.iter().map(|v| attribute(world, v, &binding.name, binding.elem));
            match generic(&binding.semantic) {
                Some(location) => {
                    let name = binding.name.clone();
                    attributes.push(Attribute { name, location, values: vec![values.collect()] });
                }
                None => values.zip(&mut corners).for_each(|(value, corner)| set(corner, &binding.semantic, value)),
            }
        }
        let switches = Switches {
            depth_test: world.depth_test,
            two_side: world.two_side,
            flat: world.flat,
            clamp_colors: true,
            point_size: vertex.outputs.iter().any(|b| b.semantic == "pointsize"),
            clip: world.clip,
        };
        self.mesa.draw_corners(&world.gl, switches, primitive(mode), &corners, &attributes);
        Ok(())
    }

    fn colors(&mut self) -> Result<&[Lanes], String> {
        self.colors = self.frame.colors().map_err(told)?;
        Ok(&self.colors)
    }

    fn depths(&mut self) -> Result<&[f32], String> {
        self.depths = self.frame.depths().map_err(told)?;
        Ok(&self.depths)
    }
}

/// `program.local` of a stage.
fn locals(program: &Program, world: &World) -> Vec<(u32, Lanes)> {
    let register = |(n, c): (u32, &Constant)| match c {
        Constant::Uniform { name, elem } => Some((n, world.uniform(name, *elem))),
        Constant::Literal { .. } => None,
    };
    (0..).zip(&program.constants).filter_map(register).collect()
}

/// The texture that a sampler reads; none is bound where there is none.
fn texture<'w>(world: &'w World, name: &str, elem: u32, dim: TexDim) -> Option<&'w Texture> {
    world.bound(name, elem).iter().find(|t| t.dim == dim)
}

fn generic(semantic: &str) -> Option<u32> {
    semantic.strip_prefix("generic")?.parse().ok()
}

/// Sets a conventional attribute.
fn set(corner: &mut Corner, semantic: &str, value: Lanes) {
    let [x, y, z, _] = value;
    match semantic {
        "position" => corner.position = value,
        "normal" => corner.normal = [x, y, z],
        "color0" => corner.color = value,
        "color1" => corner.secondary = [x, y, z],
        "fogcoord" => corner.fog = x,
        other => {
            let unit = other.strip_prefix("texcoord").and_then(|n| n.parse::<usize>().ok());
            if let Some(slot) = unit.and_then(|n| corner.texture.get_mut(n)) {
                *slot = value;
            }
        }
    }
}

fn primitive(mode: Mode) -> Primitive {
    match mode {
        Mode::Points => Primitive::Points,
        Mode::Triangles => Primitive::Triangles,
        Mode::TriangleStrip => Primitive::TriangleStrip,
        Mode::TriangleFan => Primitive::TriangleFan,
        Mode::Quads => Primitive::Quads,
    }
}
