//! The numbers that a judged pair gets: fixed by names, so that both sides get the same; random but
//! finite, and in a range in which most shaders show something.
//!
//! A [`Numbers`] is one set of them, or the same set with every number moved by up to one unit in the
//! last place.

use super::partner::VERTEX;
use crate::oracle::{Attribute, Corner, OracleTexture};
use eggshade::backend::mach;
use eggshade::backend::sim::texture::{Compare, Texture};
use eggshade::ir::op::Op;
use eggshade::ir::tac::{Program, TacOp, VarDecl, VarKind};
use eggshade::ir::types::{Scalar, TexDim};
use eggshade::render::matrix::Mat4;
use eggshade::render::mesh::Mesh;
use eggshade::render::state::{GlState, Light, Material};

/// The uniform by which the reference's window coordinates are moved: 0 but in a moved run.
pub const COORDINATES: &str = "judge_coordinates";

/// The uniform by which a partner moves what it writes: 0 but in a moved run.
pub const SHIFT: &str = "judge_shift";

/// Sets of numbers that a pair is judged with.
pub const SETS: u32 = 2;

/// A set of numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Numbers {
    /// Which one, below [`SETS`].
    pub set: u32,
    /// 0, or the number of the moved run.
    pub run: u32,
    /// Whether the program divides whole numbers, so that none may be 0.
    pub divides: bool,
}

/// A number in 0..1 (FNV-1a of the name and three numbers).
fn hash(name: &str, parts: [u32; 3]) -> f32 {
    let bytes = name.bytes().chain(parts.into_iter().flat_map(u32::to_le_bytes));
    let hash = bytes.fold(0x811c_9dc5u32, |h, b| (h ^ u32::from(b)).wrapping_mul(0x0100_0193));
    (hash >> 8) as f32 / (1u32 << 24) as f32
}

impl Numbers {
    /// A number: in 0.1..0.9 in the first set, in -1.5..1.5 in others.
    fn number(self, name: &str, elem: u32, lane: u32) -> f32 {
        let n = hash(name, [elem, lane, self.set]);
        if self.set == 0 { 0.1 + 0.8 * n } else { 3.0 * n - 1.5 }
    }

    /// A number in 0.1..0.9 in all sets.
    fn positive(self, name: &str, elem: u32, lane: u32) -> f32 {
        0.1 + 0.8 * hash(name, [elem, lane, self.set])
    }

    /// A number of a moved run: one unit in the last place up or down, or as it was.
    fn moved(self, v: f32, name: &str, elem: u32, lane: u32) -> f32 {
        if self.run == 0 || v == 0.0 || !v.is_finite() {
            return v;
        }
        match hash(name, [elem, lane, self.run.wrapping_mul(0x9E37)]) {
            h if h < 0.4 => f32::from_bits(v.to_bits() + 1),
            h if h < 0.8 => f32::from_bits(v.to_bits() - 1),
            _ => v,
        }
    }

    /// Where something moves to: 1 or -1 in a moved run, else 0.
    fn sign(self, name: &str, lane: u32) -> f32 {
        if self.run == 0 { 0.0 } else { (2.0 * hash(name, [self.run, lane, 0]) - 1.0).signum() }
    }

    /// One lane of a uniform. Matrices are near the identity, so that what they move stays in view.
    fn lane(self, decl: &VarDecl, elem: u32, lane: u32) -> f32 {
        if decl.name == SHIFT {
            return self.sign(SHIFT, lane) * f32::EPSILON / 2.0; // an ulp of what it is added to
        }
        if let Some(init) = decl.init.get(elem as usize) {
            return init.lane(lane as u8);
        }
        let n = self.number(&decl.name, elem, lane);
        let v = match decl.ty.scalar {
            Scalar::Bool => return f32::from(hash(&decl.name, [elem, lane, self.set]) > 0.5),
            // so that an index is in range, and a divisor not 0
            Scalar::Int => {
                return f32::from(hash(&decl.name, [elem, lane, self.set]) > 0.5) + f32::from(self.divides);
            }
            Scalar::Float if decl.cols > 1 => {
                f32::from(elem % decl.cols == lane) + 0.125 * (self.positive(&decl.name, elem, lane) - 0.5)
            }
            Scalar::Float => n,
        };
        self.moved(v, &decl.name, elem, lane)
    }

    /// The uniforms of both stages.
    pub fn uniforms(self, stages: [&Program; 2]) -> Vec<(String, Vec<f32>)> {
        // up to 16 pixels, whose unit in the last place is 16 times that of numbers below 1
        let shift = |l| 8.0 * f32::EPSILON * self.sign(COORDINATES, l);
        let mut out = vec![(COORDINATES.to_owned(), vec![shift(0), shift(1), 0.0, 0.0])];
        for decl in stages.iter().flat_map(|p| p.vars.values()).filter(|d| d.kind == VarKind::Uniform) {
            if out.iter().any(|(name, _)| *name == decl.name) {
                continue;
            }
            let all = (0..decl.elems).flat_map(|e| (0..u32::from(decl.ty.lanes)).map(move |l| (e, l)));
            out.push((decl.name.clone(), all.map(|(e, l)| self.lane(decl, e, l)).collect()));
        }
        out
    }

    /// One register of a uniform.
    pub fn register(self, program: &Program, name: &str, elem: u32) -> Option<[f32; 4]> {
        let decl = program.vars.values().find(|d| d.name == name)?;
        Some([0, 1, 2, 3].map(|l| if l < u32::from(decl.ty.lanes) { self.lane(decl, elem, l) } else { 0.0 }))
    }

    /// Something linear over the mesh, around 0.5.
    fn linear(self, name: &str, elem: u32, lane: u32, at: [f32; 2]) -> f32 {
        let slope = |k: u32| (self.positive(name, elem, lane + 4 * k) - 0.5) * if self.set == 0 { 0.4 } else { 1.2 };
        self.moved(
            0.5 + slope(1) * at[0] + slope(2) * at[1],
            name,
            elem,
            lane.wrapping_add(at[0].to_bits()).wrapping_add(at[1].to_bits().rotate_left(7)),
        )
    }

    /// A square that fills the view; everything but the position is linear over it.
    pub fn mesh(self) -> Vec<Corner> {
        let lanes = |name: &str, elem: u32, at| [0, 1, 2, 3].map(|l| self.linear(name, elem, l, at));
        let first = |v: [f32; 4]| [v[0], v[1], v[2]];
        let corner = |v: &eggshade::render::mesh::Vertex| {
            let at = [v.position[0], v.position[1]];
            let normal = first(lanes("gl_Normal", 0, at));
            Corner {
                normal: [normal[0] - 0.4, normal[1] - 0.6, normal[2] + 0.5],
                color: lanes("gl_Color", 0, at),
                secondary: first(lanes("gl_SecondaryColor", 0, at)),
                fog: self.linear("gl_FogCoord", 0, 0, at),
                texture: [0, 1, 2, 3, 4, 5, 6, 7].map(|n| lanes("gl_MultiTexCoord", n, at)),
                ..Corner::from(v)
            }
        };
        Mesh::Quad.triangles().iter().map(corner).collect()
    }

    /// Generic attributes of a vertex program.
    pub fn attributes(self, program: &mach::Program, mesh: &[Corner]) -> Vec<Attribute> {
        let mut out: Vec<Attribute> = Vec::new();
        let has_vertex = program.inputs.iter().any(|b| b.name == VERTEX);
        for binding in &program.inputs {
            let Some(at) = binding.semantic.strip_prefix("generic").and_then(|n| n.parse::<u32>().ok()) else {
                continue;
            };
            let value = |c: &Corner| match at {
                _ if binding.name == VERTEX => c.position,
                0 if !has_vertex => c.position,
                _ => [0, 1, 2, 3].map(|l| self.linear(&binding.name, binding.elem, l, [c.position[0], c.position[1]])),
            };
            let values: Vec<[f32; 4]> = mesh.iter().map(value).collect();
            let location = at.saturating_sub(binding.elem);
            match out.iter_mut().find(|a| a.name == binding.name) {
                Some(attribute) => attribute.values.push(values),
                None => out.push(Attribute { name: binding.name.clone(), location, values: vec![values] }),
            }
        }
        out
    }

    /// Fixed-function state.
    pub fn state(self) -> GlState {
        let color = |name: &str, n: u32| [0, 1, 2, 3].map(|l| self.moved(self.positive(name, n, l), name, n, l));
        let one = |name: &str, n: u32| self.moved(self.positive(name, n, 0), name, n, 0);
        // Mesa takes the alpha of `sceneColor` from the diffuse material, GLSL's formula from emission
        // and ambience, and that of a light's product from the material alone: here all are 1.
        let opaque = |[r, g, b, _]: [f32; 4]| [r, g, b, 1.0];
        let light = |n: u32| {
            let position = color("light.position", n);
            let direction = color("light.direction", n);
            Light {
                ambient: opaque(color("light.ambient", n)),
                diffuse: opaque(color("light.diffuse", n)),
                specular: opaque(color("light.specular", n)),
                position: [position[0] - 0.5, position[1] - 0.5, position[2] + 0.5, f32::from(n % 2 == 1)],
                spot_direction: [direction[0] - 0.5, direction[1] - 0.5, -direction[2] - 0.5],
                spot_exponent: 4.0 * one("light.exponent", n),
                spot_cutoff: if n.is_multiple_of(3) { 180.0 } else { 90.0 * one("light.cutoff", n) },
                attenuation: [one("light.constant", n) + 0.5, one("light.linear", n), one("light.quadratic", n)],
            }
        };
        let material = |n: u32| {
            let [r, g, b, _] = color("material.emission", n);
            Material {
                emission: [r, g, b, 0.0],
                ambient: opaque(color("material.ambient", n)),
                diffuse: opaque(color("material.diffuse", n)),
                specular: color("material.specular", n),
                shininess: 10.0 * one("material.shininess", n),
            }
        };
        let matrix = |name: &str, n: u32| {
            let entry = |c: u32, r: u32| {
                let v = f32::from(c == r) + 0.125 * (self.positive(name, 4 * n + c, r) - 0.5);
                f64::from(self.moved(v, name, 4 * n + c, r))
            };
            Mat4([0, 1, 2, 3].map(|c| [0, 1, 2, 3].map(|r| entry(c, r))))
        };
        let mut modelview = matrix("modelview", 0);
        // points keep their w
        modelview.0.iter_mut().zip([0.0, 0.0, 0.0, 1.0]).for_each(|(column, w)| column[3] = w);
        let all = [0, 1, 2, 3, 4, 5, 6, 7];
        GlState {
            modelview,
            projection: matrix("projection", 0),
            texture: all.map(|n| matrix("texture", n)),
            lights: all.map(light),
            materials: [0, 1].map(material),
            scene_ambient: opaque(color("scene", 0)),
            clip_planes: all.map(|n| color("plane", n)),
            fog_color: color("fog", 0),
            fog: [one("fog.density", 0), one("fog.start", 0) / 4.0, 1.0 + one("fog.end", 0)],
        }
    }

    /// A smooth pattern for every sampler: what is read moves as little as the coordinates.
    pub fn textures(self, stages: [&Program; 2]) -> Vec<OracleTexture> {
        let mut out: Vec<OracleTexture> = Vec::new();
        for decl in stages.iter().flat_map(|p| p.vars.values()) {
            let VarKind::Sampler { dim, shadow } = decl.kind else { continue };
            for elem in 0..decl.elems {
                let name = sampler_name(decl, elem);
                if out.iter().all(|t| t.name != name) {
                    out.push(self.texture(name, dim, shadow));
                }
            }
        }
        out
    }

    fn texture(self, name: String, dim: TexDim, shadow: bool) -> OracleTexture {
        const SIDE: u32 = 16;
        let size = match dim {
            TexDim::D1 => [SIDE, 1, 1],
            TexDim::D2 | TexDim::Rect | TexDim::Cube => [SIDE, SIDE, 1],
            TexDim::D3 => [SIDE / 2; 3],
        };
        let [width, height, depth] = size;
        let wave = |n: u32, of: u32| (std::f32::consts::TAU * n as f32 / of as f32).sin();
        let texel = |x: u32, y: u32, z: u32| {
            let part = |k: u32, l: u32| 0.15 * self.positive(&name, k, l);
            [0, 1, 2, 3].map(|l| {
                let v = 0.5 + part(0, l) * wave(x, width) + part(1, l) * wave(y, height) + part(2, l) * wave(z, 6);
                self.moved(v, &name, x + width * y, l + 4 * z)
            })
        };
        let layer = |z: u32| (0..height).flat_map(move |y| (0..width).map(move |x| (x, y, z)));
        let layers = |all: std::ops::Range<u32>| all.flat_map(layer).map(|(x, y, z)| texel(x, y, z)).collect();
        let faces =
            if dim == TexDim::Cube { (0..6).map(|z| layers(z..z + 1)).collect() } else { vec![layers(0..depth)] };
        let mut texture = Texture::new(dim, size, faces);
        texture.depth = shadow;
        texture.state.compare = shadow.then_some(Compare::LessEqual);
        OracleTexture { name, texture }
    }
}

/// Whether a stage divides whole numbers.
pub fn divides(program: &Program) -> bool {
    program.funcs.values().flat_map(|f| &f.body).any(|i| i.op == TacOp::Op(Op::Idiv))
}

/// A sampler as GLSL names it.
pub fn sampler_name(decl: &VarDecl, elem: u32) -> String {
    element_name(&decl.name, elem, decl.elems > 1 || decl.type_name.contains('['))
}

/// A sampler's name: the index stands behind the name of the array, which is the first part of a
/// member's.
fn element_name(name: &str, elem: u32, array: bool) -> String {
    match (array, name.split_once('.')) {
        (false, _) => name.to_owned(),
        (true, None) => format!("{name}[{elem}]"),
        (true, Some((outer, field))) => format!("{outer}[{elem}].{field}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moved_numbers_are_near_and_fixed() {
        let set = Numbers::default();
        let moved = Numbers { run: 1, ..set };
        assert_eq!(set.state(), set.state());
        let (a, b) = (set.mesh(), moved.mesh());
        assert_ne!(a, b);
        assert!(a.iter().zip(&b).all(|(a, b)| a.color.iter().zip(b.color).all(|(a, b)| (a - b).abs() < 1e-6)));
        assert_eq!(a[0].position, b[0].position);
        assert_ne!(set.state().lights, moved.state().lights);
        assert_ne!(set.state(), Numbers { set: 1, ..set }.state());
    }

    #[test]
    fn samplers_have_their_names_in_glsl() {
        assert_eq!(element_name("s", 0, false), "s");
        assert_eq!(element_name("s", 1, true), "s[1]");
        assert_eq!(element_name("m.s", 0, false), "m.s");
        assert_eq!(element_name("m.s", 2, true), "m[2].s");
    }
}
