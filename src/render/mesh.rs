//! The built-in meshes: triangles with positions, normals, texture coordinates and colours, in
//! object space around the origin, counter-clockwise seen from outside.

/// One corner of a triangle.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Vertex {
    /// Object space.
    pub position: [f32; 3],
    /// Unit length.
    pub normal: [f32; 3],
    /// 0 to 1.
    pub uv: [f32; 2],
    /// Unit length, along growing `uv[0]`.
    pub tangent: [f32; 3],
}

/// A mesh that `render` can draw.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mesh {
    /// Radius 1, 48 by 24 faces.
    Sphere,
    /// Edges of length 1.5.
    Cube,
    /// In y = 0, 3 by 3, 8 by 8 faces.
    Plane,
    /// In z = 0, from -1 to 1.
    Quad,
}

impl Mesh {
    /// Parses `sphere`, `cube`, `plane` or `quad`.
    pub fn parse(text: &str) -> Option<Mesh> {
        Some(match text {
            "sphere" => Mesh::Sphere,
            "cube" => Mesh::Cube,
            "plane" => Mesh::Plane,
            "quad" => Mesh::Quad,
            _ => return None,
        })
    }

    /// Its triangles, three vertices each.
    pub fn triangles(self) -> Vec<Vertex> {
        match self {
            Mesh::Sphere => grid(48, 24, sphere_point),
            Mesh::Cube => (0..6).flat_map(|face| grid(1, 1, move |u, v| cube_point(face, u, v))).collect(),
            Mesh::Plane => grid(8, 8, plane_point),
            Mesh::Quad => grid(1, 1, quad_point),
        }
    }
}

/// Splits the unit square into `nu * nv` faces of two triangles and places their corners.
fn grid(nu: u32, nv: u32, point: impl Fn(f32, f32) -> Vertex) -> Vec<Vertex> {
    let at = |i: u32, j: u32| point(i as f32 / nu as f32, j as f32 / nv as f32);
    let mut out = Vec::with_capacity((nu * nv * 6) as usize);
    for j in 0..nv {
        for i in 0..nu {
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            for triangle in [[a, b, c], [a, c, d]] {
                let [p, q, r] = triangle.map(|v| v.position);
                // The poles' faces have one triangle without area.
                if p != q && q != r && p != r {
                    out.extend(triangle);
                }
            }
        }
    }
    out
}

fn sphere_point(u: f32, v: f32) -> Vertex {
    let (sin_u, cos_u) = if u == 1.0 { (0.0, 1.0) } else { (u * std::f32::consts::TAU).sin_cos() };
    let (sin_v, cos_v) = match v {
        0.0 => (0.0, -1.0),
        1.0 => (0.0, 1.0),
        _ => {
            let angle = (v - 0.5) * std::f32::consts::PI;
            (angle.cos(), angle.sin())
        }
    };
    let normal = [sin_v * sin_u, cos_v, sin_v * cos_u];
    Vertex { position: normal, normal, uv: [u, v], tangent: [cos_u, 0.0, -sin_u] }
}

fn cube_point(face: usize, u: f32, v: f32) -> Vertex {
    // Normal, tangent and bitangent of each face, right-handed.
    const AXES: [[[f32; 3]; 3]; 6] = [
        [[1., 0., 0.], [0., 0., -1.], [0., 1., 0.]],
        [[-1., 0., 0.], [0., 0., 1.], [0., 1., 0.]],
        [[0., 1., 0.], [1., 0., 0.], [0., 0., -1.]],
        [[0., -1., 0.], [1., 0., 0.], [0., 0., 1.]],
        [[0., 0., 1.], [1., 0., 0.], [0., 1., 0.]],
        [[0., 0., -1.], [-1., 0., 0.], [0., 1., 0.]],
    ];
    let [normal, tangent, bitangent] = AXES[face];
    let (s, t) = (u * 2.0 - 1.0, v * 2.0 - 1.0);
    let position = [0, 1, 2].map(|i| 0.75 * (normal[i] + s * tangent[i] + t * bitangent[i]));
    Vertex { position, normal, uv: [u, v], tangent }
}

fn plane_point(u: f32, v: f32) -> Vertex {
    let position = [u * 3.0 - 1.5, 0.0, 1.5 - v * 3.0];
    Vertex { position, normal: [0., 1., 0.], uv: [u, v], tangent: [1., 0., 0.] }
}

fn quad_point(u: f32, v: f32) -> Vertex {
    let position = [u * 2.0 - 1.0, v * 2.0 - 1.0, 0.0];
    Vertex { position, normal: [0., 0., 1.], uv: [u, v], tangent: [1., 0., 0.] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faces_are_counter_clockwise_from_outside_and_vectors_have_unit_length() {
        for mesh in [Mesh::Sphere, Mesh::Cube, Mesh::Plane, Mesh::Quad] {
            for t in mesh.triangles().chunks(3) {
                let [a, b, c] = [t[0].position, t[1].position, t[2].position];
                let (e, f) = ([0, 1, 2].map(|i| b[i] - a[i]), [0, 1, 2].map(|i| c[i] - a[i]));
                let face = [e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2], e[0] * f[1] - e[1] * f[0]];
                let n = t[0].normal;
                assert!((0..3).map(|i| face[i] * n[i]).sum::<f32>() > 0.0, "{mesh:?}");
                for v in t {
                    for d in [v.normal, v.tangent] {
                        assert!((d.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-5);
                    }
                }
            }
        }
    }
}
