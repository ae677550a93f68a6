//! Vertices through the vertex program, the rasterizer and the fragment program into the frame.
//!
//! In: a linked program, the state that shaders read, and vertices with their attributes. Out:
//! pixels in the [`Frame`]. What OpenGL 2.1 does between the stages is done here: clamped colours,
//! flat shading (the last vertex's colours), two-sided colours, clip planes.

use super::command::{Mode, UNITS};
use eggshade::backend::mach::Program;
use eggshade::backend::sim::machine::{Lanes, Limits, Lookup, Outside, Prepared, Result1, SimError};
use eggshade::backend::sim::raster::{self, ClipVertex, DrawState, Fragment, Frame, Quad, Shaded};
use eggshade::backend::sim::texture::Texture;
use eggshade::ir::eval::EvalCfg;
use eggshade::ir::types::TexDim;
use eggshade::render::state::GlState;
use std::collections::BTreeMap;

/// What shaders read that is the same for all invocations, and fixed-function state.
#[derive(Clone, Debug, Default)]
pub struct World {
    /// Uniforms by name and element.
    pub values: BTreeMap<(String, u32), Lanes>,
    /// Texture units of samplers by name and element.
    pub units: BTreeMap<(String, u32), usize>,
    /// For names that start with `gl_`.
    pub gl: GlState,
    /// By unit and shape.
    pub textures: [Vec<Texture>; UNITS],
    /// The unit whose texture was made last.
    pub active_unit: usize,
    /// `glColor`
    pub color: Lanes,
    /// `GL_FLAT`
    pub flat: bool,
    /// `GL_VERTEX_PROGRAM_TWO_SIDE`
    pub two_side: bool,
    /// `GL_DEPTH_TEST`
    pub depth_test: bool,
    /// `GL_CLIP_PLANE0` up.
    pub clip: [bool; 8],
}

impl World {
    /// The texture of a unit and shape.
    pub fn texture_mut(&mut self, unit: usize, dim: TexDim) -> Option<&mut Texture> {
        self.textures.get_mut(unit)?.iter_mut().find(|t| t.dim == dim)
    }

    /// A uniform's register, or state's.
    pub fn uniform(&self, name: &str, elem: u32) -> Lanes {
        let set = self.values.get(&(name.to_owned(), elem)).copied();
        set.or_else(|| self.gl.uniform(name, elem)).unwrap_or([0.0; 4])
    }

    /// The textures of a sampler's unit; one that nobody set reads unit 0.
    pub fn bound(&self, name: &str, elem: u32) -> &[Texture] {
        let unit = if self.units.is_empty() { None } else { self.units.get(&(name.to_owned(), elem)) };
        &self.textures[unit.copied().unwrap_or(0).min(UNITS - 1)]
    }

    /// A unit without a texture of the shape is black.
    fn lookup(&self, l: &Lookup<'_>) -> Lanes {
        let textures = self.bound(l.name, l.elem);
        textures.iter().find(|t| t.dim == l.dim).map_or([0.0, 0.0, 0.0, 1.0], |t| t.lookup(l.coords, l.lod))
    }
}

/// A linked program as the machine runs it.
#[derive(Clone, Debug)]
pub struct Linked {
    /// The vertex stage.
    pub vertex: Program,
    /// The fragment stage.
    pub fragment: Program,
    /// How the target computes.
    pub cfg: EvalCfg,
}

/// Attributes of one vertex, by name and element; others have OpenGL's current values.
pub type Attributes = BTreeMap<(String, u32), Lanes>;

/// An attribute of a vertex: given, or the current value.
pub fn attribute(world: &World, given: &Attributes, name: &str, elem: u32) -> Lanes {
    let given = given.get(&(name.to_owned(), elem)).copied();
    given.unwrap_or(match name {
        "gl_Color" => world.color,
        "gl_Normal" => [0.0, 0.0, 1.0, 0.0],
        "gl_FogCoord" => [0.0; 4],
        _ => [0.0, 0.0, 0.0, 1.0],
    })
}

struct VertexOutside<'a> {
    world: &'a World,
    attributes: &'a Attributes,
}

impl Outside for VertexOutside<'_> {
    fn input(&self, _: usize, name: &str, elem: u32) -> Lanes {
        attribute(self.world, self.attributes, name, elem)
    }

    fn uniform(&self, name: &str, elem: u32) -> Lanes {
        self.world.uniform(name, elem)
    }

    fn texture(&self, l: &Lookup<'_>) -> Lanes {
        self.world.lookup(l)
    }
}

/// Where a fragment program's input comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Source {
    /// The front one, the back one.
    Varying(usize, usize),
    Coord,
    Facing,
    /// In the middle of the only pixel of a point.
    PointCoord,
    Nothing,
}

fn fragment_input(source: Source, quad: &Quad, fragment: &Fragment) -> Lanes {
    match source {
        Source::Varying(front, back) => {
            fragment.varyings.get(if quad.front { front } else { back }).copied().unwrap_or([0.0; 4])
        }
        Source::Coord => fragment.coord,
        Source::Facing => [if quad.front { 1.0 } else { 0.0 }; 4],
        Source::PointCoord => [0.5, 0.5, 0.0, 0.0],
        Source::Nothing => [0.0; 4],
    }
}

/// The inputs of a quad in the order of the program's bindings, four invocations each.
struct QuadOutside<'a> {
    world: &'a World,
    program: &'a Program,
    inputs: &'a [[Lanes; 4]],
}

impl Outside for QuadOutside<'_> {
    fn input(&self, pixel: usize, name: &str, elem: u32) -> Lanes {
        let at = self.program.inputs.iter().position(|b| b.elem == elem && b.name == name);
        at.map_or([0.0; 4], |i| self.inputs[i][pixel])
    }

    fn uniform(&self, name: &str, elem: u32) -> Lanes {
        self.world.uniform(name, elem)
    }

    fn texture(&self, l: &Lookup<'_>) -> Lanes {
        self.world.lookup(l)
    }
}

fn output(program: &Program, name: &str, elem: u32) -> Option<usize> {
    program.outputs.iter().position(|b| b.name == name && b.elem == elem)
}

fn sources(vertex: &Program, fragment: &Program, two_side: bool) -> Vec<Source> {
    let sided = |front: &str, back: &str| {
        let (front, back) = (output(vertex, front, 0), output(vertex, back, 0));
        match (front, back) {
            (Some(f), Some(b)) => Source::Varying(f, if two_side { b } else { f }),
            (Some(f), None) => Source::Varying(f, f),
            // The front colour is undefined then.
            (None, Some(b)) => Source::Varying(if two_side { usize::MAX } else { b }, b),
            (None, None) => Source::Nothing,
        }
    };
    let source = |name: &str, elem| match name {
        "gl_FragCoord" => Source::Coord,
        "gl_FrontFacing" => Source::Facing,
        "gl_PointCoord" => Source::PointCoord,
        "gl_Color" => sided("gl_FrontColor", "gl_BackColor"),
        "gl_SecondaryColor" => sided("gl_FrontSecondaryColor", "gl_BackSecondaryColor"),
        _ => output(vertex, name, elem).map_or(Source::Nothing, |i| Source::Varying(i, i)),
    };
    fragment.inputs.iter().map(|b| source(&b.name, b.elem)).collect()
}

/// Runs the vertex program on each vertex.
fn shade_vertices(
    linked: &Linked,
    world: &World,
    vertices: &[Attributes],
    limits: &mut Limits,
) -> Result<Vec<ClipVertex>, SimError> {
    let program = &linked.vertex;
    let nothing = Attributes::new();
    let prepared = Prepared::new(program, &VertexOutside { world, attributes: &nothing }, linked.cfg)?;
    let position = output(program, "gl_Position", 0);
    let clip_vertex = output(program, "gl_ClipVertex", 0);
    // Without gl_ClipVertex, eye coordinates are what the projection made the position from.
    let to_eye = world.gl.projection.inverse();
    let mut shade = |attributes: &Attributes| {
        let outside = VertexOutside { world, attributes };
        let [result, ..] = prepared.run(&outside, [true, false, false, false], limits)?;
        let varyings: Vec<Lanes> = program
            .outputs
            .iter()
            .map(|b| {
                let value = result.outputs[b.reg as usize].map(|l| l.unwrap_or(0.0));
                if is_color(&b.name) { value.map(clamped) } else { value }
            })
            .collect();
        let at = |i: Option<usize>| i.map(|i| varyings[i]);
        let position = at(position).unwrap_or([0.0; 4]);
        let eye = at(clip_vertex).map_or_else(|| to_eye.apply(position.map(f64::from)), |v| v.map(f64::from));
        let planes = world.gl.clip_planes.iter().zip(world.clip).filter(|(_, on)| *on);
        let distance = |p: &Lanes| p.iter().zip(eye).map(|(&p, e)| f64::from(p) * e).sum::<f64>() as f32;
        let distances = planes.map(|(p, _)| distance(p)).collect();
        Ok(ClipVertex { position, varyings, distances })
    };
    vertices.iter().map(&mut shade).collect()
}

fn is_color(name: &str) -> bool {
    matches!(name, "gl_FrontColor" | "gl_BackColor" | "gl_FrontSecondaryColor" | "gl_BackSecondaryColor")
}

/// To 0..1; NaN is 0.
fn clamped(v: f32) -> f32 {
    if v > 0.0 { v.min(1.0) } else { 0.0 }
}

/// Triangles, three corners each, the last of them the provoking one.
fn triangles(mode: Mode, count: usize) -> Vec<[usize; 3]> {
    match mode {
        Mode::Points => Vec::new(),
        Mode::Triangles => (0..count / 3).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect(),
        Mode::TriangleStrip => {
            let corners = |i: usize| if i.is_multiple_of(2) { [i, i + 1, i + 2] } else { [i + 1, i, i + 2] };
            (0..count.saturating_sub(2)).map(corners).collect()
        }
        Mode::TriangleFan => (0..count.saturating_sub(2)).map(|i| [0, i + 1, i + 2]).collect(),
        Mode::Quads => {
            (0..count / 4).flat_map(|i| [[4 * i, 4 * i + 1, 4 * i + 3], [4 * i + 1, 4 * i + 2, 4 * i + 3]]).collect()
        }
    }
}

/// Takes work that is no instruction, such as looking at pixels, from the bound on instructions.
///
/// # Errors
/// When not so much is left.
pub fn charge(limits: &mut Limits, work: u64) -> Result<(), SimError> {
    limits.steps = limits.steps.checked_sub(work).ok_or(SimError::Steps(limits.steps))?;
    Ok(())
}

/// Quads of a frame.
pub fn quads(frame: &Frame) -> u64 {
    u64::from(frame.width) * u64::from(frame.height) / 4
}

/// Draws; the instructions executed are taken from `limits`, and one for each quad that a triangle
/// may cover.
///
/// # Errors
/// When a program exceeds the simulator's bounds.
pub fn draw(
    frame: &mut Frame,
    linked: &Linked,
    world: &World,
    mode: Mode,
    vertices: &[Attributes],
    limits: &mut Limits,
) -> Result<(), SimError> {
    let shaded = shade_vertices(linked, world, vertices, limits)?;
    let mut corners = Vec::new();
    for triangle in triangles(mode, shaded.len()) {
        let [a, b, c] = triangle.map(|i| shaded[i].clone());
        corners.extend(if world.flat { flattened([a, b, c], &linked.vertex) } else { [a, b, c] });
    }
    if mode == Mode::Points {
        let size = output(&linked.vertex, "gl_PointSize", 0);
        for vertex in &shaded {
            let size = size.map_or(1.0, |i| vertex.varyings[i][0]).clamp(1.0, 64.0);
            corners.extend(point(vertex, size, frame));
        }
    }
    charge(limits, (corners.len() as u64 / 3).saturating_mul(quads(frame)))?;
    let program = &linked.fragment;
    let sources = sources(&linked.vertex, program, world.two_side);
    let prepared = Prepared::new(program, &QuadOutside { world, program, inputs: &[] }, linked.cfg)?;
    let register = |name: &str| output(program, name, 0).map(|i| program.outputs[i].reg as usize);
    let color = register("gl_FragColor").or_else(|| register("gl_FragData"));
    let depth = register("gl_FragDepth");
    let state = DrawState { depth_test: world.depth_test, cull_back: false };
    let mut inputs = vec![[[0.0f32; 4]; 4]; sources.len()];
    let mut before: Option<(Vec<[Lanes; 4]>, [Result1; 4])> = None;
    raster::draw(frame, state, &corners, |quad| {
        for (slot, &source) in inputs.iter_mut().zip(&sources) {
            *slot = [0, 1, 2, 3].map(|p| fragment_input(source, quad, &quad.fragments[p]));
        }
        // Equal inputs give equal results: much of what tests draw is of one colour.
        if !before.as_ref().is_some_and(|(old, _)| same(old, &inputs)) {
            let outside = QuadOutside { world, program, inputs: &inputs };
            before = Some((inputs.clone(), prepared.run(&outside, [true; 4], limits)?));
        }
        let Some((_, results)) = &before else { return Ok([None; 4]) };
        Ok([0, 1, 2, 3].map(|p| {
            let written = |reg: Option<usize>| reg.map_or([None; 4], |reg| results[p].outputs[reg]);
            let color = written(color).map(|l| l.unwrap_or(0.0));
            let depth = written(depth)[0];
            (!results[p].discarded).then_some(Shaded { color, depth })
        }))
    })
}

fn same(a: &[[Lanes; 4]], b: &[[Lanes; 4]]) -> bool {
    let lanes = |v| <[[Lanes; 4]]>::iter(v).flatten().flatten();
    a.len() == b.len() && lanes(a).zip(lanes(b)).all(|(x, y)| x.to_bits() == y.to_bits())
}

/// Colours of the last vertex at all three.
fn flattened(mut corners: [ClipVertex; 3], vertex: &Program) -> [ClipVertex; 3] {
    for (i, binding) in vertex.outputs.iter().enumerate() {
        if is_color(&binding.name) {
            let value = corners[2].varyings[i];
            corners[0].varyings[i] = value;
            corners[1].varyings[i] = value;
        }
    }
    corners
}

/// A square around a point that is in the view.
fn point(vertex: &ClipVertex, size: f32, frame: &Frame) -> Vec<ClipVertex> {
    let [x, y, z, w] = vertex.position;
    let inside = w > 0.0 && [x, y, z].iter().all(|c| c.abs() <= w) && vertex.distances.iter().all(|&d| d >= 0.0);
    if !inside {
        return Vec::new();
    }
    let (half_w, half_h) = (size * w / frame.width as f32, size * w / frame.height as f32);
    let corner = |sx: f32, sy: f32| ClipVertex { position: [x + sx * half_w, y + sy * half_h, z, w], ..vertex.clone() };
    let [a, b, c, d] = [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
    vec![a.clone(), b, c.clone(), a, c, d]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_end_triangles_with_the_provoking_vertex() {
        assert_eq!(triangles(Mode::Triangles, 7), [[0, 1, 2], [3, 4, 5]]);
        assert_eq!(triangles(Mode::TriangleStrip, 4), [[0, 1, 2], [2, 1, 3]]);
        assert_eq!(triangles(Mode::TriangleFan, 4), [[0, 1, 2], [0, 2, 3]]);
        assert_eq!(triangles(Mode::Quads, 4), [[0, 1, 3], [1, 2, 3]]);
        assert!(triangles(Mode::TriangleFan, 1).is_empty());
    }

    #[test]
    fn a_point_covers_its_pixel() {
        let vertex = ClipVertex { position: [0.25, 0.25, 0.0, 1.0], varyings: vec![[1.0; 4]], distances: Vec::new() };
        let mut frame = Frame::new(4, 4, [0.0; 4]);
        let state = DrawState { depth_test: false, cull_back: false };
        let corners = point(&vertex, 1.0, &frame);
        raster::draw::<()>(&mut frame, state, &corners, |_| Ok([Some(Shaded { color: [1.0; 4], depth: None }); 4]))
            .unwrap();
        let lit: Vec<usize> = (0..16).filter(|&i| frame.color[i] == [1.0; 4]).collect();
        assert_eq!(lit, [10]);
        assert!(point(&ClipVertex { position: [2.0, 0.0, 0.0, 1.0], ..vertex }, 1.0, &frame).is_empty());
    }
}
