//! Triangles to 2x2 quads of fragments, as OpenGL 2.1 section 3.5 has it: clipping to the view
//! volume, viewport, pixel centres inside, shared edges drawn once, perspective-correct varyings,
//! window depth linear in screen space.
//!
//! In: clip-space vertices with their varyings. Out: calls of a quad shader, whose colours and
//! depths go into a [`Frame`]. All four fragments of a quad get varyings (extrapolated where the
//! triangle does not cover them), so that derivatives exist.

/// A shaded vertex.
#[derive(Clone, PartialEq, Debug)]
pub struct ClipVertex {
    /// `gl_Position`.
    pub position: [f32; 4],
    /// One vec4 a varying register.
    pub varyings: Vec<[f32; 4]>,
    /// Signed distances to the user's clip planes in use, as many for each vertex of a draw; what is
    /// below 0 is cut away.
    pub distances: Vec<f32>,
}

/// One fragment's inputs.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Fragment {
    /// `gl_FragCoord`.
    pub coord: [f32; 4],
    /// The varyings, interpolated.
    pub varyings: Vec<[f32; 4]>,
}

/// Four neighbouring fragments: (0,0), (1,0), (0,1), (1,1).
#[derive(Clone, PartialEq, Debug)]
pub struct Quad {
    /// Inputs of all four.
    pub fragments: [Fragment; 4],
    /// Which of them the triangle covers.
    pub covered: [bool; 4],
    /// `gl_FrontFacing`.
    pub front: bool,
}

/// What the fragment stage gives for one fragment.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Shaded {
    /// `gl_FragColor`.
    pub color: [f32; 4],
    /// `gl_FragDepth`, if written.
    pub depth: Option<f32>,
}

/// A colour and a depth buffer; row 0 is the bottom.
#[derive(Clone, PartialEq, Debug)]
pub struct Frame {
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    /// RGBA as the shader gave it, not clamped.
    pub color: Vec<[f32; 4]>,
    /// Window depth, 0 near to 1 far.
    pub depth: Vec<f32>,
}

impl Frame {
    /// A cleared frame with depth 1.
    pub fn new(width: u32, height: u32, clear: [f32; 4]) -> Frame {
        let count = width as usize * height as usize;
        Frame { width, height, color: vec![clear; count], depth: vec![1.0; count] }
    }

    /// Eight bits a channel, top row first, as image files have it. Colours are clamped and rounded
    /// to nearest.
    pub fn to_rgba8(&self) -> Vec<u8> {
        let width = self.width as usize;
        let rows = self.color.chunks(width).rev();
        let byte = |c: f32| (c.clamp(0.0, 1.0) * 255.0 + 0.5) as u8;
        rows.flatten().flat_map(|p| p.map(byte)).collect()
    }

    fn index(&self, x: u32, y: u32) -> usize {
        y as usize * self.width as usize + x as usize
    }
}

/// Fixed-function state of a draw.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DrawState {
    /// Nearer fragments win.
    pub depth_test: bool,
    /// Triangles seen from behind are dropped.
    pub cull_back: bool,
}

/// Draws triangles (three vertices each) into `frame`. `shade` gives `None` for discarded fragments.
///
/// # Errors
/// The first error of `shade`.
pub fn draw<E>(
    frame: &mut Frame,
    state: DrawState,
    vertices: &[ClipVertex],
    mut shade: impl FnMut(&Quad) -> Result<[Option<Shaded>; 4], E>,
) -> Result<(), E> {
    for triangle in vertices.chunks_exact(3) {
        let polygon = clip(triangle);
        for i in 1..polygon.len().saturating_sub(1) {
            let fan = [&polygon[0], &polygon[i], &polygon[i + 1]];
            if let Some(setup) = Setup::new(fan, frame.width, frame.height)
                && (setup.front || !state.cull_back)
            {
                fill(frame, state, &setup, &mut shade)?;
            }
        }
    }
    Ok(())
}

/// Sutherland and Hodgman, in homogeneous coordinates, against the six planes and the user's.
fn clip(triangle: &[ClipVertex]) -> Vec<ClipVertex> {
    let mut polygon = triangle.to_vec();
    if polygon.iter().any(|v| v.position.iter().any(|c| !c.is_finite())) {
        return Vec::new();
    }
    let user = polygon.iter().map(|v| v.distances.len()).min().unwrap_or(0);
    for plane in 0..6 + user {
        let distance = |v: &ClipVertex| {
            if plane >= 6 {
                return v.distances[plane - 6];
            }
            let c = v.position[plane / 2];
            if plane % 2 == 0 { v.position[3] + c } else { v.position[3] - c }
        };
        let mut kept = Vec::with_capacity(polygon.len() + 1);
        for (i, a) in polygon.iter().enumerate() {
            let b = &polygon[(i + 1) % polygon.len()];
            let (da, db) = (distance(a), distance(b));
            if da >= 0.0 {
                kept.push(a.clone());
            }
            if (da >= 0.0) != (db >= 0.0) {
                kept.push(between(a, b, da / (da - db)));
            }
        }
        polygon = kept;
    }
    polygon
}

fn between(a: &ClipVertex, b: &ClipVertex, t: f32) -> ClipVertex {
    let mix = |a: [f32; 4], b: [f32; 4]| [0, 1, 2, 3].map(|i| a[i] + (b[i] - a[i]) * t);
    ClipVertex {
        position: mix(a.position, b.position),
        varyings: a.varyings.iter().zip(&b.varyings).map(|(&a, &b)| mix(a, b)).collect(),
        distances: a.distances.iter().zip(&b.distances).map(|(a, b)| a + (b - a) * t).collect(),
    }
}

/// A triangle in window space. Edge functions are in f64: the products of window coordinates must
/// not round a pixel centre over an edge.
struct Setup<'a> {
    vertices: [&'a ClipVertex; 3],
    window: [[f64; 3]; 3],
    inverse_w: [f64; 3],
    area: f64,
    front: bool,
    /// Half-open pixel bounds: x0, y0, x1, y1.
    bounds: [u32; 4],
}

/// Sub-pixel positions are snapped to 1/256, as rasterizers do, so that shared edges are shared.
fn snap(v: f64) -> f64 {
    (v * 256.0).round() / 256.0
}

impl<'a> Setup<'a> {
    fn new(mut vertices: [&'a ClipVertex; 3], width: u32, height: u32) -> Option<Setup<'a>> {
        let place = |v: &ClipVertex| {
            let [x, y, z, w] = v.position.map(f64::from);
            [
                snap((x / w + 1.0) * 0.5 * f64::from(width)),
                snap((y / w + 1.0) * 0.5 * f64::from(height)),
                (z / w + 1.0) * 0.5,
            ]
        };
        if vertices.iter().any(|v| v.position[3] <= 0.0) {
            return None;
        }
        let mut window = vertices.map(place);
        let mut area = edge(window[0], window[1], window[2]);
        let front = area > 0.0;
        if area == 0.0 {
            return None;
        }
        if !front {
            vertices.swap(1, 2);
            window.swap(1, 2);
            area = -area;
        }
        let low = |axis: usize| window.iter().map(|p| p[axis]).fold(f64::MAX, f64::min).max(0.0) as u32;
        let high = |axis: usize, limit: u32| {
            (window.iter().map(|p| p[axis]).fold(f64::MIN, f64::max).max(0.0).ceil() as u32).min(limit)
        };
        let bounds = [low(0), low(1), high(0, width), high(1, height)];
        let inverse_w = vertices.map(|v| 1.0 / f64::from(v.position[3]));
        Some(Setup { vertices, window, inverse_w, area, front, bounds })
    }

    /// The three edge functions at a pixel centre: weights of the vertices, times the area.
    fn weights(&self, x: f64, y: f64) -> [f64; 3] {
        let p = [x, y, 0.0];
        [1, 2, 0].map(|i| edge(self.window[i], self.window[(i + 1) % 3], p))
    }

    /// Inside, or on an edge that is a top or left one (counter-clockwise order).
    fn covers(&self, weights: [f64; 3]) -> bool {
        [1, 2, 0].into_iter().zip(weights).all(|(i, w)| {
            let (a, b) = (self.window[i], self.window[(i + 1) % 3]);
            let owns = b[1] < a[1] || (b[1] == a[1] && b[0] < a[0]);
            w > 0.0 || (w == 0.0 && owns)
        })
    }

    fn fragment(&self, x: u32, y: u32) -> (Fragment, bool) {
        let (px, py) = (f64::from(x) + 0.5, f64::from(y) + 0.5);
        let weights = self.weights(px, py);
        let flat = weights.map(|w| w / self.area);
        let sum = |values: [f64; 3]| values.iter().zip(flat).map(|(v, f)| v * f).sum::<f64>();
        let depth = sum([0, 1, 2].map(|i| self.window[i][2]));
        let inverse_w = sum(self.inverse_w);
        let perspective = [0, 1, 2].map(|i| flat[i] * self.inverse_w[i] / inverse_w);
        let count = self.vertices[0].varyings.len();
        let varyings = (0..count)
            .map(|v| {
                [0, 1, 2, 3].map(|lane| {
                    (0..3).map(|i| f64::from(self.vertices[i].varyings[v][lane]) * perspective[i]).sum::<f64>() as f32
                })
            })
            .collect();
        let coord = [px as f32, py as f32, depth as f32, inverse_w as f32];
        (Fragment { coord, varyings }, self.covers(weights))
    }
}

fn edge(a: [f64; 3], b: [f64; 3], p: [f64; 3]) -> f64 {
    (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])
}

fn fill<E>(
    frame: &mut Frame,
    state: DrawState,
    setup: &Setup<'_>,
    shade: &mut impl FnMut(&Quad) -> Result<[Option<Shaded>; 4], E>,
) -> Result<(), E> {
    let [x0, y0, x1, y1] = setup.bounds;
    for y in (y0 & !1..y1).step_by(2) {
        for x in (x0 & !1..x1).step_by(2) {
            let places = [(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)];
            let [a, b, c, d] = places.map(|(x, y)| setup.fragment(x, y));
            let mut covered = [a.1, b.1, c.1, d.1];
            for (c, (x, y)) in covered.iter_mut().zip(places) {
                *c &= x < frame.width && y < frame.height;
            }
            if !covered.contains(&true) {
                continue;
            }
            let quad = Quad { fragments: [a.0, b.0, c.0, d.0], covered, front: setup.front };
            let shaded = shade(&quad)?;
            for (i, (x, y)) in places.into_iter().enumerate() {
                if let (true, Some(out)) = (covered[i], shaded[i]) {
                    write(frame, state, x, y, out, quad.fragments[i].coord[2]);
                }
            }
        }
    }
    Ok(())
}

fn write(frame: &mut Frame, state: DrawState, x: u32, y: u32, out: Shaded, depth: f32) {
    let at = frame.index(x, y);
    let depth = out.depth.unwrap_or(depth).clamp(0.0, 1.0);
    if !state.depth_test || depth < frame.depth[at] {
        frame.color[at] = out.color;
        if state.depth_test {
            frame.depth[at] = depth;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    const STATE: DrawState = DrawState { depth_test: true, cull_back: false };

    fn vertex(x: f32, y: f32, z: f32, w: f32, value: f32) -> ClipVertex {
        ClipVertex { position: [x * w, y * w, z * w, w], varyings: vec![[value; 4]], distances: vec![] }
    }

    fn count(triangles: &[ClipVertex], size: u32) -> Vec<u32> {
        let mut frame = Frame::new(size, size, [0.0; 4]);
        let mut hits = vec![0; (size * size) as usize];
        let state = DrawState { depth_test: false, ..STATE };
        draw::<Infallible>(&mut frame, state, triangles, |quad| {
            for (fragment, covered) in quad.fragments.iter().zip(quad.covered) {
                if covered {
                    hits[(fragment.coord[1] as u32 * size + fragment.coord[0] as u32) as usize] += 1;
                }
            }
            Ok([None; 4])
        })
        .unwrap();
        hits
    }

    #[test]
    fn two_triangles_of_a_square_cover_each_pixel_once() {
        let [a, b, c, d] = [(-1., -1.), (1., -1.), (1., 1.), (-1., 1.)].map(|(x, y)| vertex(x, y, 0.0, 1.0, 0.0));
        for corners in [[&a, &b, &c, &a, &c, &d], [&a, &b, &d, &b, &c, &d], [&a, &c, &b, &d, &c, &a]] {
            let triangles: Vec<_> = corners.into_iter().cloned().collect();
            assert_eq!(count(&triangles, 7), vec![1; 49]);
        }
    }

    #[test]
    fn varyings_are_perspective_correct() {
        // Halfway on the screen between w = 1 and w = 3 is a quarter of the way in space.
        let triangle = [vertex(-1., -1., 0., 1., 0.), vertex(1., -1., 0., 3., 1.), vertex(-1., 3., 0., 1., 0.)];
        let mut seen = 0.0;
        let mut frame = Frame::new(3, 3, [0.0; 4]);
        draw::<Infallible>(&mut frame, STATE, &triangle, |quad| {
            for fragment in &quad.fragments {
                if fragment.coord[0] == 1.5 && fragment.coord[1] == 0.5 {
                    seen = fragment.varyings[0][0];
                }
            }
            Ok([None; 4])
        })
        .unwrap();
        assert!((seen - 0.25).abs() < 1e-6, "{seen}");
    }

    #[test]
    fn the_users_planes_cut_where_the_distance_is_zero() {
        // Keeps x >= 0: the right half of an 8x8 frame, once.
        let corners = [(-1., -1.), (3., -1.), (-1., 3.)];
        let triangle = corners.map(|(x, y)| ClipVertex { distances: vec![x], ..vertex(x, y, 0.0, 1.0, 0.0) });
        let hits = count(&triangle, 8);
        for (i, hit) in hits.into_iter().enumerate() {
            assert_eq!(hit, u32::from(i % 8 >= 4), "pixel {i}");
        }
    }

    #[test]
    fn nearer_wins_whatever_the_order_and_behind_the_eye_is_clipped() {
        let near = |z, v| [vertex(-1., -1., z, 1., v), vertex(3., -1., z, 1., v), vertex(-1., 3., z, 1., v)];
        for order in [[0.5, -0.5], [-0.5, 0.5]] {
            let triangles: Vec<_> = order.into_iter().flat_map(|z| near(z, z)).collect();
            let mut frame = Frame::new(2, 2, [0.0; 4]);
            draw::<Infallible>(&mut frame, STATE, &triangles, |quad| {
                Ok(quad.fragments.clone().map(|f| Some(Shaded { color: f.varyings[0], depth: None })))
            })
            .unwrap();
            assert_eq!(frame.color, vec![[-0.5; 4]; 4]);
        }
        let behind = [[-1.0, -1.0, 0.0, -1.0], [3.0, -1.0, 0.0, -1.0], [-1.0, 3.0, 0.0, -1.0]];
        let behind: Vec<_> = behind.map(|position| ClipVertex { position, varyings: vec![], distances: vec![] }).into();
        assert_eq!(count(&behind, 2), vec![0; 4]);
    }
}
