//! Textures as OpenGL 2.1 samples them (section 3.8): nearest and linear filters, mipmaps, the wrap
//! modes, border colours, cube maps, rectangles and shadow comparison.
//!
//! In: texels as floats, sampler state, coordinates and a level of detail. Out: one RGBA value.
//! No input is refused here: NaN and infinite coordinates read some texel or the border.

use ir::env::Lod;
use ir::types::TexDim;

/// What happens outside 0 to 1 (table 3.19).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Wrap {
    /// `GL_REPEAT`
    #[default]
    Repeat,
    /// `GL_CLAMP`: linear filters mix with the border.
    Clamp,
    /// `GL_CLAMP_TO_EDGE`
    ClampToEdge,
    /// `GL_CLAMP_TO_BORDER`
    ClampToBorder,
    /// `GL_MIRRORED_REPEAT`
    MirroredRepeat,
}

/// How texels of one level are mixed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Filter {
    /// The nearest one.
    Nearest,
    /// Two, four or eight by distance.
    #[default]
    Linear,
}

/// How levels are mixed when the texture is minified.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MipFilter {
    /// Level 0 only.
    #[default]
    None,
    /// The nearest level.
    Nearest,
    /// Two levels by distance.
    Linear,
}

/// `GL_TEXTURE_COMPARE_FUNC`: reference value against texel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // the names say it
pub enum Compare {
    Never,
    Less,
    Equal,
    LessEqual,
    Greater,
    NotEqual,
    GreaterEqual,
    Always,
}

impl Compare {
    fn test(self, reference: f32, texel: f32) -> bool {
        match self {
            Compare::Never => false,
            Compare::Less => reference < texel,
            Compare::Equal => reference == texel,
            Compare::LessEqual => reference <= texel,
            Compare::Greater => reference > texel,
            Compare::NotEqual => reference != texel,
            Compare::GreaterEqual => reference >= texel,
            Compare::Always => true,
        }
    }
}

/// `GL_DEPTH_TEXTURE_MODE`: where a depth value or comparison goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[allow(missing_docs)] // the names say it
pub enum DepthMode {
    #[default]
    Luminance,
    Intensity,
    Alpha,
}

/// How a texture is read.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SamplerState {
    /// For s, t and r.
    pub wrap: [Wrap; 3],
    /// When texels are larger than pixels.
    pub mag: Filter,
    /// When they are smaller.
    pub min: Filter,
    /// Between levels.
    pub mip: MipFilter,
    /// Outside, where the wrap mode says so.
    pub border: [f32; 4],
    /// Depth comparison; none reads the depth itself.
    pub compare: Option<Compare>,
    /// Spread of a depth value.
    pub depth_mode: DepthMode,
    /// Added to the level of detail.
    pub lod_bias: f32,
}

impl Default for SamplerState {
    fn default() -> SamplerState {
        SamplerState {
            wrap: [Wrap::Repeat; 3],
            mag: Filter::Linear,
            min: Filter::Linear,
            mip: MipFilter::None,
            border: [0.0; 4],
            compare: None,
            depth_mode: DepthMode::Luminance,
            lod_bias: 0.0,
        }
    }
}

/// One mipmap level of one face: width * height * depth texels, x fastest.
#[derive(Clone, PartialEq, Debug)]
pub struct Level {
    /// Width, height, depth; 1 where the dimension is absent.
    pub size: [u32; 3],
    /// RGBA; a depth texture has its value in the first lane.
    pub texels: Vec<[f32; 4]>,
}

impl Level {
    fn texel(&self, at: [Option<u32>; 3], border: [f32; 4]) -> [f32; 4] {
        let [Some(x), Some(y), Some(z)] = at else { return border };
        let index = (z as usize * self.size[1] as usize + y as usize) * self.size[0] as usize + x as usize;
        self.texels.get(index).copied().unwrap_or(border)
    }

    /// The next smaller level: each texel the mean of the up to eight it covers.
    fn halved(&self) -> Level {
        let size = self.size.map(|s| (s / 2).max(1));
        let step = [0, 1, 2].map(|i| if self.size[i] > 1 { 2 } else { 1 });
        let mut texels = Vec::with_capacity(size.iter().product::<u32>() as usize);
        for z in 0..size[2] {
            for y in 0..size[1] {
                for x in 0..size[0] {
                    texels.push(self.box_mean([x, y, z], step));
                }
            }
        }
        Level { size, texels }
    }

    fn box_mean(&self, at: [u32; 3], step: [u32; 3]) -> [f32; 4] {
        let mut sum = [0.0; 4];
        for dz in 0..step[2] {
            for dy in 0..step[1] {
                for dx in 0..step[0] {
                    let at = [at[0] * step[0] + dx, at[1] * step[1] + dy, at[2] * step[2] + dz];
                    let texel = self.texel(at.map(Some), [0.0; 4]);
                    sum.iter_mut().zip(texel).for_each(|(s, t)| *s += t);
                }
            }
        }
        sum.map(|s| s / step.iter().product::<u32>() as f32)
    }
}

/// A texture with its sampler state.
#[derive(Clone, PartialEq, Debug)]
pub struct Texture {
    /// Shape.
    pub dim: TexDim,
    /// Whether the texels are depths.
    pub depth: bool,
    /// Six faces (+x -x +y -y +z -z) for a cube, else one; each with its levels, largest first.
    pub faces: Vec<Vec<Level>>,
    /// How it is read.
    pub state: SamplerState,
}

impl Texture {
    /// A texture of one level a face.
    ///
    /// # Panics
    /// When the number of faces or texels does not fit the shape and size.
    pub fn new(dim: TexDim, size: [u32; 3], faces: Vec<Vec<[f32; 4]>>) -> Texture {
        assert_eq!(faces.len(), if dim == TexDim::Cube { 6 } else { 1 }, "number of faces");
        assert!(size.iter().all(|&s| s > 0));
        let count = size.iter().product::<u32>() as usize;
        let faces = faces
            .into_iter()
            .map(|texels| {
                assert_eq!(texels.len(), count, "number of texels");
                vec![Level { size, texels }]
            })
            .collect();
        let mut state = SamplerState::default();
        if dim == TexDim::Rect {
            state.wrap = [Wrap::ClampToEdge; 3];
        }
        Texture { dim, depth: false, faces, state }
    }

    /// Makes all smaller levels by averaging.
    pub fn generate_mipmaps(&mut self) {
        for levels in &mut self.faces {
            levels.truncate(1);
            while levels.last().is_some_and(|l| l.size != [1; 3]) {
                let next = levels[levels.len() - 1].halved();
                levels.push(next);
            }
        }
        self.state.mip = MipFilter::Linear;
    }

    /// Width, height and depth of the largest level.
    pub fn size(&self) -> [u32; 3] {
        self.faces[0][0].size
    }

    /// Samples at `coords` (already divided for projective lookups) and a level of detail, which is
    /// the base-2 logarithm of texels a pixel (bias of the shader included, the texture's not).
    /// `reference` is the shadow value.
    pub fn sample(&self, coords: [f32; 3], lod: f32, reference: f32) -> [f32; 4] {
        let (face, at) = if self.dim == TexDim::Cube { cube_face(coords) } else { (0, coords) };
        let levels = &self.faces[face];
        let lod = lod + self.state.lod_bias;
        let lod = if lod.is_nan() { 0.0 } else { lod };
        let magnified = lod <= self.magnify_limit();
        if magnified || self.state.mip == MipFilter::None {
            let filter = if magnified { self.state.mag } else { self.state.min };
            return self.sample_level(&levels[0], at, filter, reference);
        }
        let last = levels.len() - 1;
        let lod = lod.clamp(0.0, last as f32);
        if self.state.mip == MipFilter::Nearest {
            let level = ((lod + 0.5).ceil() as usize).saturating_sub(1).min(last);
            return self.sample_level(&levels[level], at, self.state.min, reference);
        }
        let low = (lod.floor() as usize).min(last);
        let high = (low + 1).min(last);
        let a = self.sample_level(&levels[low], at, self.state.min, reference);
        let b = self.sample_level(&levels[high], at, self.state.min, reference);
        mix(a, b, lod - low as f32)
    }

    /// A shader's lookup: coordinates already divided, with the shadow reference in lane z.
    pub fn lookup(&self, coords: [f32; 4], lod: Lod) -> [f32; 4] {
        let at = [coords[0], coords[1], coords[2]];
        let level = match lod {
            Lod::Explicit(level) => level,
            Lod::Implicit { bias, ddx, ddy } => self.scale_factor(at, ddx, ddy).log2() + bias,
        };
        self.sample(at, level, coords[2])
    }

    /// Texels a pixel (section 3.8.8, equation 3.18): the longer of the two differences.
    fn scale_factor(&self, at: [f32; 3], ddx: [f32; 4], ddy: [f32; 4]) -> f32 {
        let size = self.size().map(|s| s as f32);
        let length = |d: [f32; 4]| {
            let step = match self.dim {
                TexDim::D1 => [d[0] * size[0], 0.0, 0.0],
                TexDim::D2 => [d[0] * size[0], d[1] * size[1], 0.0],
                TexDim::Rect => [d[0], d[1], 0.0],
                TexDim::D3 => [d[0] * size[0], d[1] * size[1], d[2] * size[2]],
                TexDim::Cube => {
                    let face = major_face(at);
                    let (_, here) = cube_coords(at, face);
                    let (_, there) = cube_coords([at[0] + d[0], at[1] + d[1], at[2] + d[2]], face);
                    [(there[0] - here[0]) * size[0], (there[1] - here[1]) * size[1], 0.0]
                }
            };
            step.iter().map(|s| s * s).sum::<f32>().sqrt()
        };
        length(ddx).max(length(ddy))
    }

    /// Section 3.8.9: the limit is 0.5 for a linear magnification beside nearest minification
    /// between levels.
    fn magnify_limit(&self) -> f32 {
        if self.state.mag == Filter::Linear && self.state.min == Filter::Nearest && self.state.mip != MipFilter::None {
            0.5
        } else {
            0.0
        }
    }

    fn sample_level(&self, level: &Level, coords: [f32; 3], filter: Filter, reference: f32) -> [f32; 4] {
        let axes = match self.dim {
            TexDim::D1 => 1,
            TexDim::D2 | TexDim::Rect | TexDim::Cube => 2,
            TexDim::D3 => 3,
        };
        let wrap = if self.dim == TexDim::Cube { [Wrap::ClampToEdge; 3] } else { self.state.wrap };
        let mut taps = [Taps::ONE; 3];
        for axis in 0..axes {
            let size = level.size[axis];
            let at = if self.dim == TexDim::Rect { coords[axis] / size as f32 } else { coords[axis] };
            taps[axis] = Taps::new(at, size, wrap[axis], filter);
        }
        let mut sum = [0.0f32; 4];
        for (z, wz) in taps[2].each() {
            for (y, wy) in taps[1].each() {
                for (x, wx) in taps[0].each() {
                    let value = self.value(level.texel([x, y, z], self.state.border), reference);
                    let weight = wx * wy * wz;
                    sum.iter_mut().zip(value).for_each(|(s, v)| *s += v * weight);
                }
            }
        }
        sum
    }

    /// A texel after comparison and depth mode. Comparing before filtering is what section 3.8.14
    /// suggests and what hardware does.
    fn value(&self, texel: [f32; 4], reference: f32) -> [f32; 4] {
        if !self.depth {
            return texel;
        }
        let value = match self.state.compare {
            Some(compare) => f32::from(compare.test(reference.clamp(0.0, 1.0), texel[0])),
            None => texel[0],
        };
        match self.state.depth_mode {
            DepthMode::Luminance => [value, value, value, 1.0],
            DepthMode::Intensity => [value; 4],
            DepthMode::Alpha => [0.0, 0.0, 0.0, value],
        }
    }
}

/// The one or two texels of an axis that a filter reads; `None` is the border.
#[derive(Clone, Copy)]
struct Taps {
    taps: [(Option<u32>, f32); 2],
    count: usize,
}

impl Taps {
    const ONE: Taps = Taps { taps: [(Some(0), 1.0), (None, 0.0)], count: 1 };

    fn new(at: f32, size: u32, wrap: Wrap, filter: Filter) -> Taps {
        let at = if at.is_finite() { at } else { 0.0 };
        let at = match wrap {
            Wrap::Clamp => at.clamp(0.0, 1.0),
            _ => at,
        } * size as f32;
        match filter {
            Filter::Nearest => {
                // Clamping to 0..1 makes the border unreachable for nearest filters (3.8.8).
                let wrap = if wrap == Wrap::Clamp { Wrap::ClampToEdge } else { wrap };
                Taps { taps: [(wrap_texel(at.floor(), size, wrap), 1.0), (None, 0.0)], count: 1 }
            }
            Filter::Linear => {
                let base = (at - 0.5).floor();
                let weight = at - 0.5 - base;
                let taps = [(wrap_texel(base, size, wrap), 1.0 - weight), (wrap_texel(base + 1.0, size, wrap), weight)];
                Taps { taps, count: 2 }
            }
        }
    }

    fn each(&self) -> impl Iterator<Item = (Option<u32>, f32)> + '_ {
        self.taps[..self.count].iter().copied()
    }
}

/// The texel number of a whole coordinate, `None` for the border.
fn wrap_texel(at: f32, size: u32, wrap: Wrap) -> Option<u32> {
    let at = at as i64;
    let size = i64::from(size);
    let wrapped = match wrap {
        Wrap::Repeat => at.rem_euclid(size),
        Wrap::ClampToEdge => at.clamp(0, size - 1),
        Wrap::Clamp | Wrap::ClampToBorder => return (0..size).contains(&at).then_some(at as u32),
        Wrap::MirroredRepeat => {
            let turn = at.rem_euclid(2 * size);
            if turn < size { turn } else { 2 * size - 1 - turn }
        }
    };
    Some(wrapped as u32)
}

/// The face that a direction meets and the coordinates on it, 0 to 1 (table 3.21).
pub fn cube_face(direction: [f32; 3]) -> (usize, [f32; 3]) {
    cube_coords(direction, major_face(direction))
}

/// The face that a direction meets.
pub fn major_face([x, y, z]: [f32; 3]) -> usize {
    let (ax, ay, az) = (x.abs(), y.abs(), z.abs());
    if ax >= ay && ax >= az {
        usize::from(x < 0.0)
    } else if ay >= az {
        2 + usize::from(y < 0.0)
    } else {
        4 + usize::from(z < 0.0)
    }
}

/// The coordinates of a direction on a given face.
pub fn cube_coords([x, y, z]: [f32; 3], face: usize) -> (usize, [f32; 3]) {
    let (s, t, major) = match face {
        0 => (-z, -y, x),
        1 => (z, -y, x),
        2 => (x, z, y),
        3 => (x, -z, y),
        4 => (x, -y, z),
        _ => (-x, -y, z),
    };
    let scale = 0.5 / major.abs();
    (face, [s * scale + 0.5, t * scale + 0.5, 0.0])
}

fn mix(a: [f32; 4], b: [f32; 4], t: f32) -> [f32; 4] {
    [0, 1, 2, 3].map(|i| a[i] + (b[i] - a[i]) * t)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(values: &[f32]) -> Texture {
        let texels = values.iter().map(|&v| [v; 4]).collect();
        Texture::new(TexDim::D1, [values.len() as u32, 1, 1], vec![texels])
    }

    fn at(texture: &Texture, s: f32) -> f32 {
        texture.sample([s, 0.0, 0.0], 0.0, 0.0)[0]
    }

    #[test]
    fn linear_hits_texel_centres_and_mixes_between() {
        let t = row(&[0.0, 1.0, 2.0, 3.0]);
        assert_eq!(at(&t, 0.125), 0.0);
        assert_eq!(at(&t, 0.25), 0.5);
        assert_eq!(at(&t, 0.0), 1.5); // repeat: half of the last, half of the first
    }

    #[test]
    fn wrap_modes() {
        let mut t = row(&[0.0, 1.0, 2.0, 3.0]);
        t.state.mag = Filter::Nearest;
        t.state.border = [9.0; 4];
        let mut with = |wrap, s| {
            t.state.wrap[0] = wrap;
            at(&t, s)
        };
        assert_eq!(with(Wrap::Repeat, 1.1), 0.0);
        assert_eq!(with(Wrap::Repeat, -0.1), 3.0);
        assert_eq!(with(Wrap::MirroredRepeat, 1.1), 3.0);
        assert_eq!(with(Wrap::MirroredRepeat, -0.1), 0.0);
        assert_eq!(with(Wrap::ClampToEdge, 1.4), 3.0);
        assert_eq!(with(Wrap::Clamp, 1.4), 3.0);
        assert_eq!(with(Wrap::ClampToBorder, 1.4), 9.0);
        assert_eq!(with(Wrap::ClampToBorder, f32::NAN), 0.0);
    }

    #[test]
    fn mipmaps_average_and_mix() {
        let mut t = row(&[0.0, 1.0, 2.0, 3.0]);
        t.generate_mipmaps();
        assert_eq!(t.faces[0].iter().map(|l| l.size[0]).collect::<Vec<_>>(), [4, 2, 1]);
        assert_eq!(t.sample([0.4, 0.0, 0.0], 9.0, 0.0)[0], 1.5);
        assert_eq!(t.sample([0.25, 0.0, 0.0], 1.0, 0.0)[0], 0.5);
        assert_eq!(t.sample([0.25, 0.0, 0.0], 1.5, 0.0)[0], 1.0);
    }

    #[test]
    fn the_level_follows_the_differences() {
        let mut t = row(&[0.0, 1.0, 2.0, 3.0]);
        t.generate_mipmaps();
        let at = |ddx: f32, bias| {
            let lod = Lod::Implicit { bias, ddx: [ddx, 0.0, 0.0, 0.0], ddy: [0.0; 4] };
            t.lookup([0.25, 0.0, 0.0, 0.0], lod)[0]
        };
        assert_eq!(at(0.0, 0.0), 0.5); // magnified
        assert_eq!(at(0.5, 0.0), 0.5); // two texels a pixel: level 1, whose first texel is 0.5
        assert_eq!(at(0.25, 2.0), 1.5);
        assert_eq!(t.lookup([0.25, 0.0, 0.0, 0.0], Lod::Explicit(2.0))[0], 1.5);
    }

    #[test]
    fn shadow_compares_before_filtering() {
        let mut t = row(&[0.2, 0.8]);
        t.depth = true;
        t.state.compare = Some(Compare::LessEqual);
        t.state.wrap[0] = Wrap::ClampToEdge;
        assert_eq!(t.sample([0.5, 0.0, 0.0], 0.0, 0.5), [0.5, 0.5, 0.5, 1.0]);
        assert_eq!(t.sample([0.1, 0.0, 0.0], 0.0, 0.5)[0], 0.0);
    }

    #[test]
    fn cube_faces_meet_their_axes() {
        for (face, direction) in [[1., 0., 0.], [-1., 0., 0.], [0., 1., 0.], [0., -1., 0.], [0., 0., 1.], [0., 0., -1.]]
            .into_iter()
            .enumerate()
        {
            assert_eq!(cube_face(direction), (face, [0.5, 0.5, 0.0]));
        }
    }
}
