//! Draws a built-in mesh through a vertex and a fragment program on the simulator.
//!
//! In: two machine programs (as the binary's decoder gives them), a mesh, a camera, the world. Out:
//! a frame. Vertex outputs meet fragment inputs by name and element; `gl_FrontColor` and
//! `gl_BackColor` become `gl_Color` by the side that is seen.

pub mod matrix;
pub mod mesh;
pub mod state;

use crate::world::World;
use backend::mach::Program;
use backend::sim::machine::{self, Lanes, Limits, Lookup, Outside, SimError};
use backend::sim::raster::{self, ClipVertex, DrawState, Fragment, Frame, Quad, Shaded};
use ir::eval::EvalCfg;
use matrix::Mat4;
use mesh::{Mesh, Vertex};

/// What is drawn, from where.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct View {
    /// The mesh.
    pub mesh: Mesh,
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// Turn about x, then y, in degrees.
    pub turn: [f64; 2],
}

impl View {
    /// Object to eye space: the mesh turned, four units in front of the eye; a quad fills the view.
    pub fn modelview(&self) -> Mat4 {
        if self.mesh == Mesh::Quad {
            return Mat4::IDENTITY;
        }
        let turn = Mat4::rotate(0, self.turn[0]).times(&Mat4::rotate(1, self.turn[1]));
        Mat4::translate([0.0, 0.0, -4.0]).times(&turn)
    }

    /// Eye to clip space: 40 degrees, depth from 1 to 10.
    pub fn projection(&self) -> Mat4 {
        if self.mesh == Mesh::Quad {
            return Mat4::IDENTITY;
        }
        Mat4::perspective(40.0, f64::from(self.width) / f64::from(self.height), 1.0, 10.0)
    }

    /// OpenGL's state for this view: the camera, one light up to the right, a shiny material.
    pub fn state(&self) -> state::GlState {
        let mut gl =
            state::GlState { modelview: self.modelview(), projection: self.projection(), ..Default::default() };
        gl.lights[0].position = [2.0, 3.0, 1.0, 1.0];
        for material in &mut gl.materials {
            material.specular = [0.6, 0.6, 0.6, 1.0];
            material.shininess = 32.0;
        }
        gl
    }
}

/// One vertex of the mesh as the vertex program sees it.
struct VertexOutside<'a> {
    world: &'a World,
    vertex: &'a Vertex,
}

/// An attribute by its name. Built-in names mean what OpenGL says; others are guessed from the
/// words people use, after what the user set.
fn attribute(world: &World, vertex: &Vertex, name: &str, elem: u32) -> Lanes {
    let point = |v: [f32; 3], w: f32| [v[0], v[1], v[2], w];
    let uv = [vertex.uv[0], vertex.uv[1], 0.0, 1.0];
    match name {
        "gl_Vertex" => point(vertex.position, 1.0),
        "gl_Normal" => point(vertex.normal, 0.0),
        "gl_Color" => [1.0; 4],
        "gl_SecondaryColor" => [0.0, 0.0, 0.0, 1.0],
        "gl_FogCoord" => [0.0; 4],
        _ if name.starts_with("gl_MultiTexCoord") => uv,
        _ => world.value(name, elem).unwrap_or_else(|| {
            let name = name.to_ascii_lowercase();
            let has = |words: &[&str]| words.iter().any(|w| name.contains(w));
            if has(&["binormal", "bitangent"]) {
                let (n, t) = (vertex.normal, vertex.tangent);
                let cross = [n[1] * t[2] - n[2] * t[1], n[2] * t[0] - n[0] * t[2], n[0] * t[1] - n[1] * t[0]];
                point(cross, 0.0)
            } else if has(&["norm"]) {
                point(vertex.normal, 0.0)
            } else if has(&["tangent"]) {
                point(vertex.tangent, 0.0)
            } else if has(&["tex", "uv", "coord"]) {
                uv
            } else if has(&["col"]) {
                [1.0; 4]
            } else if has(&["pos", "vert"]) {
                point(vertex.position, 1.0)
            } else {
                [0.0; 4]
            }
        }),
    }
}

impl Outside for VertexOutside<'_> {
    fn input(&self, _: usize, name: &str, elem: u32) -> Lanes {
        attribute(self.world, self.vertex, name, elem)
    }

    fn uniform(&self, name: &str, elem: u32) -> Lanes {
        self.world.uniform(name, elem)
    }

    fn texture(&self, l: &Lookup<'_>) -> Lanes {
        self.world.texture(l.name, l.coords, l.lod)
    }
}

/// Where a fragment program's inputs come from: one entry an input register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Source {
    Varying(usize),
    /// The front one, the back one.
    Sided(Option<usize>, Option<usize>),
    Coord,
    Facing,
    Nothing,
}

struct QuadOutside<'a> {
    world: &'a World,
    quad: &'a Quad,
    sources: &'a [(&'a str, u32, Source)],
}

impl Outside for QuadOutside<'_> {
    fn input(&self, pixel: usize, name: &str, elem: u32) -> Lanes {
        let fragment: &Fragment = &self.quad.fragments[pixel];
        let found = self.sources.iter().find(|(n, e, _)| *n == name && *e == elem);
        let varying = |i: Option<usize>| i.and_then(|i| fragment.varyings.get(i)).copied().unwrap_or([0.0; 4]);
        match found.map_or(Source::Nothing, |s| s.2) {
            Source::Varying(i) => varying(Some(i)),
            Source::Sided(front, back) => varying(if self.quad.front { front } else { back.or(front) }),
            Source::Coord => fragment.coord,
            Source::Facing => [if self.quad.front { 1.0 } else { 0.0 }; 4],
            Source::Nothing => [0.0; 4],
        }
    }

    fn uniform(&self, name: &str, elem: u32) -> Lanes {
        self.world.uniform(name, elem)
    }

    fn texture(&self, l: &Lookup<'_>) -> Lanes {
        self.world.texture(l.name, l.coords, l.lod)
    }
}

/// Runs the vertex program on every vertex of the mesh, rasterizes, and runs the fragment program.
///
/// # Errors
/// When a program exceeds the simulator's bounds.
pub fn draw(vertex: &Program, fragment: &Program, cfg: EvalCfg, world: &World, view: View) -> Result<Frame, SimError> {
    let output = |name: &str, elem: u32| vertex.outputs.iter().position(|b| b.name == name && b.elem == elem);
    let sided = |front: &str, back: &str| Source::Sided(output(front, 0), output(back, 0));
    let sources: Vec<(&str, u32, Source)> = fragment
        .inputs
        .iter()
        .map(|b| {
            let source = match b.name.as_str() {
                "gl_FragCoord" => Source::Coord,
                "gl_FrontFacing" => Source::Facing,
                "gl_Color" => sided("gl_FrontColor", "gl_BackColor"),
                "gl_SecondaryColor" => sided("gl_FrontSecondaryColor", "gl_BackSecondaryColor"),
                name => output(name, b.elem).map_or(Source::Nothing, Source::Varying),
            };
            (b.name.as_str(), b.elem, source)
        })
        .collect();
    let mut corners = Vec::new();
    for v in view.mesh.triangles() {
        corners.push(shade_vertex(vertex, cfg, world, &v)?);
    }
    let mut frame = Frame::new(view.width, view.height, [0.1, 0.1, 0.15, 1.0]);
    let state = DrawState { depth_test: true, cull_back: false };
    let written = |lanes: [Option<f32>; 4]| lanes.map(|l| l.unwrap_or(0.0));
    let find = |name: &str| fragment.outputs.iter().find(|b| b.name == name && b.elem == 0).map(|b| b.reg as usize);
    let color = find("gl_FragColor").or_else(|| find("gl_FragData"));
    let depth = find("gl_FragDepth");
    raster::draw(&mut frame, state, &corners, |quad| {
        let outside = QuadOutside { world, quad, sources: &sources };
        let results = machine::run(fragment, &outside, [true; 4], cfg, Limits::default())?;
        Ok(results.map(|r| {
            let color = color.map_or([0.0; 4], |reg| written(r.outputs[reg]));
            let depth = depth.and_then(|reg| r.outputs[reg][0]);
            (!r.discarded).then_some(Shaded { color, depth })
        }))
    })?;
    Ok(frame)
}

fn shade_vertex(program: &Program, cfg: EvalCfg, world: &World, vertex: &Vertex) -> Result<ClipVertex, SimError> {
    let active = [true, false, false, false];
    let outside = VertexOutside { world, vertex };
    let [result, ..] = machine::run(program, &outside, active, cfg, Limits::default())?;
    let register = |reg: u32| result.outputs[reg as usize].map(|l| l.unwrap_or(0.0));
    let position = program.outputs.iter().find(|b| b.name == "gl_Position").map_or([0.0; 4], |b| register(b.reg));
    let varyings = program.outputs.iter().map(|b| register(b.reg)).collect();
    Ok(ClipVertex { position, varyings, distances: Vec::new() })
}
