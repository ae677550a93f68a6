//! Textures by option: PNG files or generated ones.

use super::{Outcome, Stop, build};
use eggshade::backend::sim::texture::Texture;
use eggshade::ir::tac::{Program, VarKind};
use eggshade::ir::types::TexDim;
use eggshade::world::World;
use std::path::Path;

/// Most texels of a picture file.
const MAX_TEXELS: u64 = 1 << 24;

/// Puts a texture under every sampler of the programs: the one that the option names, else a
/// checkerboard. `name=checker`, `name=gradient`, `name=FILE.png`.
pub fn load(options: &[String], programs: &[&Program], world: &mut World) -> Outcome {
    for decl in programs.iter().flat_map(|p| p.vars.values()) {
        if let VarKind::Sampler { dim, .. } = decl.kind {
            world.textures.entry(decl.name.clone()).or_insert_with(|| checker(dim));
        }
    }
    for option in options {
        let Some((name, source)) = option.split_once('=') else {
            return Err(Stop::usage(format!(
                "--texture {option}: expected name=FILE.png, name=checker or name=gradient"
            )));
        };
        let Some(slot) = world.textures.get_mut(name) else {
            return Err(Stop::usage(format!("--texture {option}: the shader has no sampler `{name}`")));
        };
        *slot = match source {
            "checker" => checker(slot.dim),
            "gradient" => gradient(slot.dim),
            _ => with_dim(slot.dim, png(Path::new(source))?),
        };
    }
    Ok(())
}

/// A picture: width, height, texels from the bottom row up.
type Picture = (u32, u32, Vec<[f32; 4]>);

/// A picture as a texture of that shape: a row for 1D, all six faces, or all of few layers.
fn with_dim(dim: TexDim, (width, height, texels): Picture) -> Texture {
    match dim {
        TexDim::D1 => Texture::new(dim, [width, 1, 1], vec![texels[..width as usize].to_vec()]),
        TexDim::D3 => {
            let layers: Vec<_> = texels.iter().chain(&texels).copied().collect();
            Texture::new(dim, [width, height, 2], vec![layers])
        }
        TexDim::Cube => Texture::new(dim, [width, height, 1], vec![texels; 6]),
        TexDim::D2 | TexDim::Rect => Texture::new(dim, [width, height, 1], vec![texels]),
    }
}

fn generated(dim: TexDim, size: u32, texel: impl Fn(u32, u32) -> [f32; 4]) -> Texture {
    let texels = (0..size * size).map(|i| texel(i % size, i / size)).collect();
    with_dim(dim, (size, size, texels))
}

/// 8 by 8 squares, light and coloured.
fn checker(dim: TexDim) -> Texture {
    generated(dim, 64, |x, y| if (x / 8 + y / 8) % 2 == 0 { [1.0, 1.0, 0.9, 1.0] } else { [0.8, 0.3, 0.2, 1.0] })
}

/// Red grows along s, green along t.
fn gradient(dim: TexDim) -> Texture {
    generated(dim, 64, |x, y| [x as f32 / 63.0, y as f32 / 63.0, 0.5, 1.0])
}

fn png(path: &Path) -> Result<Picture, Stop> {
    let bad = |e: png::DecodingError| Stop::input(format!("{}: {e}", path.display()));
    let bytes = build::read_bytes(path)?;
    let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::EXPAND | png::Transformations::STRIP_16);
    let mut reader = decoder.read_info().map_err(bad)?;
    let (width, height) = (reader.info().width, reader.info().height);
    if u64::from(width) * u64::from(height) > MAX_TEXELS {
        return Err(Stop::input(format!("{}: more than {MAX_TEXELS} texels", path.display())));
    }
    let Some(size) = reader.output_buffer_size() else {
        return Err(Stop::input(format!("{}: too large", path.display())));
    };
    let mut buffer = vec![0; size];
    let info = reader.next_frame(&mut buffer).map_err(bad)?;
    let channels = info.color_type.samples();
    let value = |b: u8| f32::from(b) / 255.0;
    let texel = |p: &[u8]| match p {
        [l] => [value(*l), value(*l), value(*l), 1.0],
        [l, a] => [value(*l), value(*l), value(*l), value(*a)],
        [r, g, b] => [value(*r), value(*g), value(*b), 1.0],
        p => [value(p[0]), value(p[1]), value(p[2]), value(p[3])],
    };
    let rows: Vec<&[u8]> = buffer.chunks_exact(info.line_size).take(height as usize).collect();
    let texels = rows.into_iter().rev().flat_map(|r| r[..width as usize * channels].chunks_exact(channels).map(texel));
    Ok((width, height, texels.collect()))
}
