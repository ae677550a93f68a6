//! Textures of the simulator's kind in Mesa, bound to units.

use super::{Mesa, OracleError, missing};
use eggshade::backend::sim::texture::{Compare, DepthMode, Filter, Level, MipFilter, SamplerState, Texture, Wrap};
use eggshade::ir::types::TexDim;
use glow::HasContext as _;

/// A texture, bound to the sampler of that name.
#[derive(Clone, Debug)]
pub struct OracleTexture {
    /// The sampler uniform as GLSL names it: `s`, `s[1]`, `m.s`.
    pub name: String,
    /// Its texels, and how they are read.
    pub texture: Texture,
}

impl OracleTexture {
    /// A flat one of one level; linear filters, repeated.
    pub fn flat(name: &str, [width, height]: [u32; 2], texels: Vec<[f32; 4]>) -> OracleTexture {
        OracleTexture { name: name.to_owned(), texture: Texture::new(TexDim::D2, [width, height, 1], vec![texels]) }
    }
}

const DEPTH_TEXTURE_MODE: u32 = 0x884B;
const CLAMP: u32 = 0x2900;
const LUMINANCE: u32 = 0x1909;
const INTENSITY: u32 = 0x8049;
const ALPHA: u32 = 0x1906;

/// OpenGL's name of a shape.
pub(super) fn target(dim: TexDim) -> u32 {
    match dim {
        TexDim::D1 => glow::TEXTURE_1D,
        TexDim::D2 => glow::TEXTURE_2D,
        TexDim::D3 => glow::TEXTURE_3D,
        TexDim::Cube => glow::TEXTURE_CUBE_MAP,
        TexDim::Rect => glow::TEXTURE_RECTANGLE,
    }
}

/// Textures that are bound while they live.
pub struct Textures<'m> {
    mesa: &'m Mesa,
    names: Vec<glow::Texture>,
}

impl Mesa {
    /// Makes the texture of each unit.
    ///
    /// # Errors
    /// When Mesa has no room.
    pub fn bind_textures<'t>(
        &self,
        textures: impl IntoIterator<Item = (u32, &'t Texture)>,
    ) -> Result<Textures<'_>, OracleError> {
        let mut bound = Textures { mesa: self, names: Vec::new() };
        let before = self.unused.take();
        for (unit, texture) in textures {
            // SAFETY: the context is current on this thread (a `Mesa` is not `Send`).
            unsafe {
                let name = self.gl.create_texture().map_err(missing)?;
                bound.names.push(name);
                self.gl.active_texture(glow::TEXTURE0 + unit);
                self.gl.bind_texture(target(texture.dim), Some(name));
            }
            for (face, levels) in texture.faces.iter().enumerate() {
                for (number, level) in levels.iter().enumerate() {
                    self.fill_level(texture, face as u32, number as i32, level);
                }
            }
            self.set_sampler(texture);
        }
        // SAFETY: the names are nobody's any more.
        unsafe { before.iter().for_each(|&t| self.gl.delete_texture(t)) };
        Ok(bound)
    }

    /// Of the texture that is bound.
    fn fill_level(&self, texture: &Texture, face: u32, number: i32, level: &Level) {
        let gl = &self.gl;
        let (lanes, inner, format) = match texture.depth {
            true => (1, glow::DEPTH_COMPONENT24 as i32, glow::DEPTH_COMPONENT),
            false => (4, glow::RGBA32F as i32, glow::RGBA),
        };
        let floats = level.texels.iter().flat_map(|t| &t[..lanes]);
        let bytes: Vec<u8> = floats.flat_map(|v| v.to_ne_bytes()).collect();
        let pixels = glow::PixelUnpackData::Slice(Some(&bytes));
        let [w, h, d] = level.size.map(|s| s as i32);
        let to = target(texture.dim);
        // SAFETY: the context is current; the slice has a float for each lane of each texel.
        unsafe {
            match texture.dim {
                TexDim::D1 => gl.tex_image_1d(to, number, inner, w, 0, format, glow::FLOAT, pixels),
                TexDim::D3 => gl.tex_image_3d(to, number, inner, w, h, d, 0, format, glow::FLOAT, pixels),
                TexDim::D2 | TexDim::Rect => {
                    gl.tex_image_2d(to, number, inner, w, h, 0, format, glow::FLOAT, pixels);
                }
                TexDim::Cube => {
                    let to = glow::TEXTURE_CUBE_MAP_POSITIVE_X + face;
                    gl.tex_image_2d(to, number, inner, w, h, 0, format, glow::FLOAT, pixels);
                }
            }
        }
    }

    /// Of the texture that is bound.
    fn set_sampler(&self, texture: &Texture) {
        let SamplerState { wrap, mag, min, mip, border, compare, depth_mode, lod_bias } = texture.state;
        let to = target(texture.dim);
        let mut parameters = vec![
            (glow::TEXTURE_MAG_FILTER, if mag == Filter::Nearest { glow::NEAREST } else { glow::LINEAR }),
            (glow::TEXTURE_MIN_FILTER, min_filter(min, mip)),
        ];
        parameters.extend(
            [glow::TEXTURE_WRAP_S, glow::TEXTURE_WRAP_T, glow::TEXTURE_WRAP_R].into_iter().zip(wrap.map(wrap_mode)),
        );
        if texture.depth {
            let mode = match depth_mode {
                DepthMode::Luminance => LUMINANCE,
                DepthMode::Intensity => INTENSITY,
                DepthMode::Alpha => ALPHA,
            };
            parameters.push((DEPTH_TEXTURE_MODE, mode));
            let compares = if compare.is_some() { glow::COMPARE_REF_TO_TEXTURE } else { glow::NONE };
            parameters.push((glow::TEXTURE_COMPARE_MODE, compares));
            parameters.extend(compare.map(|c| (glow::TEXTURE_COMPARE_FUNC, compare_function(c))));
        }
        // SAFETY: the context is current; the border has four floats.
        unsafe {
            for (parameter, value) in parameters {
                self.gl.tex_parameter_i32(to, parameter, value as i32);
            }
            self.gl.tex_parameter_f32_slice(to, glow::TEXTURE_BORDER_COLOR, &border);
            self.gl.tex_parameter_f32(to, glow::TEXTURE_LOD_BIAS, lod_bias);
        }
    }
}

fn min_filter(min: Filter, mip: MipFilter) -> u32 {
    match (min, mip) {
        (Filter::Nearest, MipFilter::None) => glow::NEAREST,
        (Filter::Linear, MipFilter::None) => glow::LINEAR,
        (Filter::Nearest, MipFilter::Nearest) => glow::NEAREST_MIPMAP_NEAREST,
        (Filter::Linear, MipFilter::Nearest) => glow::LINEAR_MIPMAP_NEAREST,
        (Filter::Nearest, MipFilter::Linear) => glow::NEAREST_MIPMAP_LINEAR,
        (Filter::Linear, MipFilter::Linear) => glow::LINEAR_MIPMAP_LINEAR,
    }
}

fn wrap_mode(wrap: Wrap) -> u32 {
    match wrap {
        Wrap::Repeat => glow::REPEAT,
        Wrap::Clamp => CLAMP,
        Wrap::ClampToEdge => glow::CLAMP_TO_EDGE,
        Wrap::ClampToBorder => glow::CLAMP_TO_BORDER,
        Wrap::MirroredRepeat => glow::MIRRORED_REPEAT,
    }
}

fn compare_function(compare: Compare) -> u32 {
    match compare {
        Compare::Never => glow::NEVER,
        Compare::Less => glow::LESS,
        Compare::Equal => glow::EQUAL,
        Compare::LessEqual => glow::LEQUAL,
        Compare::Greater => glow::GREATER,
        Compare::NotEqual => glow::NOTEQUAL,
        Compare::GreaterEqual => glow::GEQUAL,
        Compare::Always => glow::ALWAYS,
    }
}

impl Drop for Textures<'_> {
    /// They are deleted when the next ones are there: softpipe knows what it has cached by address, and
    /// would take a new texture at an old one's address for the old one.
    fn drop(&mut self) {
        self.mesa.unused.borrow_mut().append(&mut self.names);
    }
}
