//! The pictures that tests read: red-green-blue-white quarters, checkerboards, depth ramps.

use super::command::{Image, Parameter};
use eggshade::backend::sim::texture::{Compare, DepthMode, Filter, Level, MipFilter, SamplerState, Texture, Wrap};
use eggshade::ir::types::TexDim;

/// Makes the picture. A checkerboard of a level above 0 becomes a level of `before`.
pub fn make(image: Image, before: Option<Texture>) -> Texture {
    match image {
        Image::Rgbw { dim: TexDim::D1, size } => build(TexDim::D1, size, |x, _| quarter(x & 1, x >> 1 & 1)),
        Image::Rgbw { dim: TexDim::D3, .. } => {
            let front: Vec<_> = [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(x, y)| quarter(x, y)).into();
            let behind = [[1.0, 1.0, 0.0, 1.0], [1.0, 0.0, 1.0, 1.0], [0.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 1.0]];
            let mut texture = Texture::new(TexDim::D3, [2; 3], vec![front.into_iter().chain(behind).collect()]);
            texture.state = nearest(texture.state, Wrap::ClampToEdge);
            texture
        }
        Image::Rgbw { dim, size: [w, h] } => {
            build(dim, [w, h], |x, y| quarter(u32::from(x >= w / 2), u32::from(y >= h / 2)))
        }
        Image::Checkerboard { level, size, colors } => {
            // Squares of half the picture: two by two of them.
            let [half_w, half_h] = size.map(|s| (s / 2).max(1));
            let colors = colors.map(|c| c.map(stored));
            let mut made = build(TexDim::D2, size, |x, y| colors[(((x / half_w) ^ (y / half_h)) & 1) as usize]);
            made.state = nearest(made.state, Wrap::ClampToBorder);
            made.state.border = [1.0, 0.0, 0.0, 1.0];
            match before {
                Some(before) if level > 0 => with_level(before, level, made),
                _ => made,
            }
        }
        Image::Shadow { dim, size } => {
            let last = (size[0] - 1).max(1) as f32;
            let mut texture = build(dim, size, |x, _| [x as f32 / last, 0.0, 0.0, 1.0]);
            texture.depth = true;
            texture.state.compare = Some(Compare::Greater);
            texture.state.depth_mode = DepthMode::Luminance;
            texture
        }
    }
}

fn quarter(right: u32, up: u32) -> [f32; 4] {
    match (right, up) {
        (0, 0) => [1.0, 0.0, 0.0, 1.0],
        (_, 0) => [0.0, 1.0, 0.0, 1.0],
        (0, _) => [0.0, 0.0, 1.0, 1.0],
        _ => [1.0; 4],
    }
}

/// A channel as a buffer of eight bits keeps it; NaN is 0.
pub fn stored(v: f32) -> f32 {
    let clamped = if v > 0.0 { v.min(1.0) } else { 0.0 };
    (clamped * 255.0).round() / 255.0
}

fn build(dim: TexDim, [w, h]: [u32; 2], texel: impl Fn(u32, u32) -> [f32; 4]) -> Texture {
    let texels = (0..h).flat_map(|y| (0..w).map(move |x| (x, y))).map(|(x, y)| texel(x, y)).collect();
    let mut texture = Texture::new(dim, [w, h, 1], vec![texels]);
    texture.state = nearest(texture.state, Wrap::ClampToEdge);
    texture
}

/// Nearest filters, as piglit sets them.
fn nearest(state: SamplerState, wrap: Wrap) -> SamplerState {
    SamplerState { wrap: [wrap; 3], mag: Filter::Nearest, min: Filter::Nearest, mip: MipFilter::None, ..state }
}

/// Puts `made` into `before` as its level `level`, when the levels below are there and the sizes fit.
fn with_level(mut before: Texture, level: usize, made: Texture) -> Texture {
    let new = made.faces.into_iter().flatten().next();
    if let (Some(levels), Some(new)) = (before.faces.first_mut(), new) {
        let wanted = levels.first().map(|l: &Level| l.size.map(|s| (s >> level).max(1)));
        if wanted == Some(new.size) && level <= levels.len() {
            levels.truncate(level);
            levels.push(new);
        }
    }
    before
}

/// Changes how a texture is read.
pub fn set(state: &mut SamplerState, parameter: Parameter) {
    match parameter {
        Parameter::Compare(compare) => state.compare = Some(compare),
        Parameter::Depth(mode) => state.depth_mode = mode,
        Parameter::Min(filter, mip) => (state.min, state.mip) = (filter, mip),
        Parameter::Mag(filter) => state.mag = filter,
        Parameter::Wrap(axis, wrap) => state.wrap[axis] = wrap,
        Parameter::Bias(bias) => state.lod_bias = bias,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quarters_start_red_at_the_origin() {
        let t = make(Image::Rgbw { dim: TexDim::D2, size: [8, 8] }, None);
        let at = |s, t_| t.sample([s, t_, 0.0], 0.0, 0.0);
        assert_eq!(at(0.1, 0.1), [1.0, 0.0, 0.0, 1.0]);
        assert_eq!(at(0.9, 0.1), [0.0, 1.0, 0.0, 1.0]);
        assert_eq!(at(0.1, 0.9), [0.0, 0.0, 1.0, 1.0]);
        assert_eq!(at(0.9, 0.9), [1.0; 4]);
    }

    #[test]
    fn levels_are_added_in_order_only() {
        let board = |level, side| Image::Checkerboard { level, size: [side; 2], colors: [[0.0; 4], [1.0; 4]] };
        let base = make(board(0, 8), None);
        let two = make(board(1, 4), Some(base.clone()));
        assert_eq!(two.faces[0].len(), 2);
        assert_eq!(make(board(3, 1), Some(base.clone())), base);
        assert_eq!(make(board(1, 8), Some(base.clone())), base);
        assert_eq!(base.sample([0.1, 0.9, 0.0], 0.0, 0.0), [1.0; 4]);
    }

    #[test]
    fn depth_rises_from_left_to_right() {
        let t = make(Image::Shadow { dim: TexDim::D1, size: [32, 1] }, None);
        assert_eq!(t.sample([0.99, 0.0, 0.0], 0.0, 0.99)[0], 0.0);
        assert_eq!(t.sample([0.01, 0.0, 0.0], 0.0, 0.01)[0], 1.0);
    }
}
