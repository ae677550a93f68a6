//! The commands of a `[test]` section.
//!
//! In: one line. Out: a [`Command`], the news that this runner does not know it, or what is wrong
//! with one that it knows.

use super::parse::number;
use eggshade::backend::sim::texture::{Compare, DepthMode, Filter, MipFilter, Wrap};
use eggshade::ir::types::TexDim;

/// Texture units.
pub const UNITS: usize = 16;

/// Longest side of a texture.
const MAX_TEXTURE: u32 = 1024;

/// Most values of a uniform command.
const MAX_VALUES: usize = 4096;

/// One command.
#[derive(Clone, PartialEq, Debug)]
pub enum Command {
    /// The buffers that were given a value to clear to.
    Clear,
    /// Colour to clear to.
    ClearColor([f32; 4]),
    /// Depth to clear to.
    ClearDepth(f32),
    /// `glColor`
    Color([f32; 4]),
    /// Window coordinates as object coordinates; or the given left, right, bottom, top.
    Ortho(Option<[f32; 4]>),
    /// Left, right, bottom, top, near, far.
    Frustum([f32; 6]),
    /// A rectangle: x, y, width, height.
    DrawRect {
        /// In object coordinates, or in pixels (`ortho`).
        rect: [f32; 4],
        /// Whether `rect` is in pixels.
        pixels: bool,
        /// Texture coordinates.
        tex: Option<[f32; 4]>,
    },
    /// Vertices of the vertex data.
    DrawArrays {
        /// How they make triangles or points.
        mode: Mode,
        /// The first one.
        first: usize,
        /// How many.
        count: usize,
    },
    /// Compares pixels.
    Probe(Probe),
    /// Compares one pixel's depth.
    ProbeDepth {
        /// Pixel.
        at: [f32; 2],
        /// Wanted.
        depth: f32,
    },
    /// Sets a uniform.
    Uniform {
        /// Its name, with indices and fields.
        name: String,
        /// The numbers.
        values: Vec<f32>,
    },
    /// `glEnable` or `glDisable`.
    Enable(Capability, bool),
    /// `glHint`: has no effect here.
    Hint,
    /// Whether colours are taken from the last vertex.
    Flat(bool),
    /// `glClipPlane`
    ClipPlane(usize, [f32; 4]),
    /// `glLight`
    Light {
        /// Its number.
        light: usize,
        /// Which value.
        what: LightValue,
        /// The numbers.
        value: [f32; 4],
    },
    /// Makes a texture.
    Texture {
        /// Its unit.
        unit: usize,
        /// What it shows.
        image: Image,
    },
    /// Changes how the texture that was made last for a shape is read.
    TexParameter(TexDim, Parameter),
    /// The program must link, or must not.
    Link(bool),
    /// Of the following probes.
    Tolerance([f32; 4]),
}

/// What [`Command::parse`] found.
#[derive(Clone, PartialEq, Debug)]
pub enum Parsed {
    /// A command.
    Known(Command),
    /// None that this runner knows.
    Unknown,
}

/// How vertices make primitives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // the names say it
pub enum Mode {
    Points,
    Triangles,
    TriangleStrip,
    TriangleFan,
    Quads,
}

/// A comparison of pixels with one colour.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Probe {
    /// Where.
    pub area: Area,
    /// Wanted.
    pub color: [f32; 4],
    /// Whether the last lane counts.
    pub alpha: bool,
    /// A difference is no failure.
    pub warn: bool,
}

/// The pixels of a probe.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Area {
    /// All.
    All,
    /// x, y, width, height in pixels.
    Rect([f32; 4]),
    /// The same as shares of the window.
    Relative([f32; 4]),
}

/// State that can be enabled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // the names say it
pub enum Capability {
    TwoSide,
    ClipPlane(usize),
    DepthTest,
    /// Without effect for shaders, or already on.
    Ignored,
}

/// A value of a light.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // the names say it
pub enum LightValue {
    Ambient,
    Diffuse,
    Specular,
    Position,
    SpotDirection,
    SpotExponent,
    SpotCutoff,
    ConstantAttenuation,
    LinearAttenuation,
    QuadraticAttenuation,
}

/// What a texture shows.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Image {
    /// Four quarters red, green, blue, white; in 3D the complements behind them.
    Rgbw {
        /// Shape.
        dim: TexDim,
        /// Width and height.
        size: [u32; 2],
    },
    /// Two by two squares of two colours in turn.
    Checkerboard {
        /// Mipmap level.
        level: usize,
        /// Width and height.
        size: [u32; 2],
        /// The square at the origin, and its neighbours.
        colors: [[f32; 4]; 2],
    },
    /// Depth from 0 at the left to 1 at the right, compared.
    Shadow {
        /// Shape.
        dim: TexDim,
        /// Width and height.
        size: [u32; 2],
    },
}

/// A change of sampler state.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Parameter {
    /// `GL_TEXTURE_COMPARE_FUNC`
    Compare(Compare),
    /// `GL_DEPTH_TEXTURE_MODE`
    Depth(DepthMode),
    /// `GL_TEXTURE_MIN_FILTER`
    Min(Filter, MipFilter),
    /// `GL_TEXTURE_MAG_FILTER`
    Mag(Filter),
    /// `GL_TEXTURE_WRAP_*`: axis and mode.
    Wrap(usize, Wrap),
    /// `GL_TEXTURE_LOD_BIAS`
    Bias(f32),
}

/// The numbers at the front of `words`, exactly `N`; further words are ignored, as scanf does.
fn numbers<const N: usize>(words: &[&str]) -> Result<[f32; N], String> {
    let mut out = [0.0; N];
    if words.len() < N {
        return Err(format!("{} numbers where {N} are needed", words.len()));
    }
    for (slot, word) in out.iter_mut().zip(words) {
        *slot = number(word)?;
    }
    Ok(out)
}

fn whole<T: std::str::FromStr>(word: Option<&&str>) -> Result<T, String> {
    let word = word.ok_or("a number is missing")?;
    word.parse().map_err(|_| format!("`{word}` is no whole number of the size wanted"))
}

fn unit(word: Option<&&str>) -> Result<usize, String> {
    let unit = whole(word)?;
    if unit < UNITS { Ok(unit) } else { Err(format!("texture unit {unit} of {UNITS}")) }
}

fn side(word: Option<&&str>) -> Result<u32, String> {
    let side = whole(word)?;
    if (1..=MAX_TEXTURE).contains(&side) { Ok(side) } else { Err(format!("texture side {side} (1 to {MAX_TEXTURE})")) }
}

impl Command {
    /// Reads one line.
    ///
    /// # Errors
    /// What is wrong with a command that is known.
    pub fn parse(line: &str) -> Result<Parsed, String> {
        let plain: String = line.chars().map(|c| if matches!(c, '(' | ')' | ',') { ' ' } else { c }).collect();
        let words: Vec<&str> = plain.split_whitespace().collect();
        let command = match words.as_slice() {
            ["clear"] => Command::Clear,
            ["clear", "color", rest @ ..] => Command::ClearColor(numbers(rest)?),
            ["clear", "depth", rest @ ..] => Command::ClearDepth(numbers::<1>(rest)?[0]),
            ["color", rest @ ..] => Command::Color(numbers(rest)?),
            ["ortho"] => Command::Ortho(None),
            ["ortho", rest @ ..] => Command::Ortho(Some(numbers(rest)?)),
            ["frustum", rest @ ..] => Command::Frustum(numbers(rest)?),
            ["draw", rest @ ..] => return draw(rest),
            ["relative", "probe", rest @ ..] => return probe(rest, true),
            ["probe", rest @ ..] => return probe(rest, false),
            ["uniform", _, name, values @ ..] => {
                if values.len() > MAX_VALUES {
                    return Err(format!("more than {MAX_VALUES} values"));
                }
                let values = values.iter().map(|w| number(w)).collect::<Result<_, _>>()?;
                Command::Uniform { name: (*name).to_owned(), values }
            }
            ["enable", what] => return Ok(capability(what, true)),
            ["disable", what] => return Ok(capability(what, false)),
            ["hint", _, _] => Command::Hint,
            ["shade", "model", "flat"] => Command::Flat(true),
            ["shade", "model", "smooth"] => Command::Flat(false),
            ["clip", "plane", plane, rest @ ..] => {
                let plane = whole(Some(plane))?;
                if plane >= 8 {
                    return Err(format!("clip plane {plane} of 8"));
                }
                Command::ClipPlane(plane, numbers(rest)?)
            }
            ["light", light, what, "float", rest @ ..] => return light_command(light, what, rest),
            ["texture", rest @ ..] => return texture(rest),
            ["texparameter", target, what, value] => return texparameter(target, what, value),
            ["link", "error"] => Command::Link(false),
            ["link", "success"] => Command::Link(true),
            ["tolerance", rest @ ..] if rest.len() == 1 => Command::Tolerance([numbers::<1>(rest)?[0]; 4]),
            ["tolerance", rest @ ..] => Command::Tolerance(numbers(rest)?),
            _ => return Ok(Parsed::Unknown),
        };
        Ok(Parsed::Known(command))
    }
}

fn draw(words: &[&str]) -> Result<Parsed, String> {
    let command = match words {
        ["rect", "tex", rest @ ..] => {
            let [x, y, w, h, s, t, sw, th] = numbers(rest)?;
            Command::DrawRect { rect: [x, y, w, h], pixels: false, tex: Some([s, t, sw, th]) }
        }
        ["rect", "ortho", rest @ ..] if rest.first().is_some_and(|w| number(w).is_ok()) => {
            Command::DrawRect { rect: numbers(rest)?, pixels: true, tex: None }
        }
        ["rect", rest @ ..] if rest.first().is_some_and(|w| number(w).is_ok()) => {
            Command::DrawRect { rect: numbers(rest)?, pixels: false, tex: None }
        }
        ["arrays", mode, first, count] => {
            let mode = match *mode {
                "GL_POINTS" => Mode::Points,
                "GL_TRIANGLES" => Mode::Triangles,
                "GL_TRIANGLE_STRIP" => Mode::TriangleStrip,
                "GL_TRIANGLE_FAN" => Mode::TriangleFan,
                "GL_QUADS" => Mode::Quads,
                _ => return Ok(Parsed::Unknown),
            };
            Command::DrawArrays { mode, first: whole(Some(first))?, count: whole(Some(count))? }
        }
        _ => return Ok(Parsed::Unknown),
    };
    Ok(Parsed::Known(command))
}

fn probe(words: &[&str], relative: bool) -> Result<Parsed, String> {
    if let (["depth", rest @ ..], false) = (words, relative) {
        let [x, y, depth] = numbers(rest)?;
        return Ok(Parsed::Known(Command::ProbeDepth { at: [x, y], depth }));
    }
    let (warn, words) = match words {
        ["warn", rest @ ..] => (true, rest),
        _ => (false, words),
    };
    let (places, format, rest) = match words {
        ["all", format, rest @ ..] => (0, format, rest),
        ["rect", format, rest @ ..] => (4, format, rest),
        [format, rest @ ..] => (2, format, rest),
        [] => return Ok(Parsed::Unknown),
    };
    let alpha = match *format {
        "rgba" => true,
        "rgb" => false,
        _ => return Ok(Parsed::Unknown),
    };
    if rest.len() < places {
        return Err(format!("{} numbers where {places} and a colour are needed", rest.len()));
    }
    let (place, color) = rest.split_at(places);
    let area = match places {
        0 => Area::All,
        _ => {
            let rect = if places == 4 {
                numbers(place)?
            } else {
                let [x, y] = numbers(place)?;
                // One pixel, whatever the window's size.
                [x, y, if relative { 0.0 } else { 1.0 }, if relative { 0.0 } else { 1.0 }]
            };
            if relative { Area::Relative(rect) } else { Area::Rect(rect) }
        }
    };
    let color = if alpha {
        numbers(color)?
    } else {
        let [r, g, b] = numbers(color)?;
        [r, g, b, 0.0]
    };
    Ok(Parsed::Known(Command::Probe(Probe { area, color, alpha, warn })))
}

fn capability(what: &str, on: bool) -> Parsed {
    let capability = match what {
        "GL_VERTEX_PROGRAM_TWO_SIDE" => Capability::TwoSide,
        "GL_DEPTH_TEST" => Capability::DepthTest,
        "GL_PROGRAM_POINT_SIZE" | "GL_VERTEX_PROGRAM_POINT_SIZE" | "GL_DITHER" | "GL_TEXTURE_2D" => Capability::Ignored,
        _ => match what.strip_prefix("GL_CLIP_PLANE").and_then(|n| n.parse().ok()) {
            Some(plane) if plane < 8 => Capability::ClipPlane(plane),
            _ => return Parsed::Unknown,
        },
    };
    Parsed::Known(Command::Enable(capability, on))
}

fn light_command(light: &str, what: &str, rest: &[&str]) -> Result<Parsed, String> {
    let light = whole(Some(&light))?;
    if light >= 8 {
        return Err(format!("light {light} of 8"));
    }
    let (what, count) = match what {
        "GL_AMBIENT" => (LightValue::Ambient, 4),
        "GL_DIFFUSE" => (LightValue::Diffuse, 4),
        "GL_SPECULAR" => (LightValue::Specular, 4),
        "GL_POSITION" => (LightValue::Position, 4),
        "GL_SPOT_DIRECTION" => (LightValue::SpotDirection, 3),
        "GL_SPOT_EXPONENT" => (LightValue::SpotExponent, 1),
        "GL_SPOT_CUTOFF" => (LightValue::SpotCutoff, 1),
        "GL_CONSTANT_ATTENUATION" => (LightValue::ConstantAttenuation, 1),
        "GL_LINEAR_ATTENUATION" => (LightValue::LinearAttenuation, 1),
        "GL_QUADRATIC_ATTENUATION" => (LightValue::QuadraticAttenuation, 1),
        _ => return Ok(Parsed::Unknown),
    };
    if rest.len() < count {
        return Err(format!("{} numbers where {count} are needed", rest.len()));
    }
    let mut value = [0.0; 4];
    for (slot, word) in value.iter_mut().zip(&rest[..count]) {
        *slot = number(word)?;
    }
    Ok(Parsed::Known(Command::Light { light, what, value }))
}

fn texture(words: &[&str]) -> Result<Parsed, String> {
    let (at, image) = match words {
        ["rgbw", "1D", at, ..] => (at, Image::Rgbw { dim: TexDim::D1, size: [4, 1] }),
        ["rgbw", "3D", at, ..] => (at, Image::Rgbw { dim: TexDim::D3, size: [2, 2] }),
        // A format after the size chooses how texels are stored, not what they show.
        ["rgbw", at, w, h, ..] if number(at).is_ok() => {
            (at, Image::Rgbw { dim: TexDim::D2, size: [side(Some(w))?, side(Some(h))?] })
        }
        ["checkerboard", at, level, w, h, colors @ ..] => {
            let [r, g, b, a, s, t, p, q] = numbers(colors)?;
            let level: usize = whole(Some(level))?;
            if level > 12 {
                return Err(format!("mipmap level {level} of 13"));
            }
            let size = [side(Some(w))?, side(Some(h))?];
            (at, Image::Checkerboard { level, size, colors: [[r, g, b, a], [s, t, p, q]] })
        }
        ["shadow1D", at, w] => (at, Image::Shadow { dim: TexDim::D1, size: [side(Some(w))?, 1] }),
        ["shadow2D", at, w, h] => (at, Image::Shadow { dim: TexDim::D2, size: [side(Some(w))?, side(Some(h))?] }),
        ["shadowRect", at, w, h] => (at, Image::Shadow { dim: TexDim::Rect, size: [side(Some(w))?, side(Some(h))?] }),
        _ => return Ok(Parsed::Unknown),
    };
    Ok(Parsed::Known(Command::Texture { unit: unit(Some(at))?, image }))
}

fn texparameter(target: &str, what: &str, value: &str) -> Result<Parsed, String> {
    let dim = match target {
        "1D" => TexDim::D1,
        "2D" => TexDim::D2,
        "3D" => TexDim::D3,
        "Rect" => TexDim::Rect,
        "CubeMap" => TexDim::Cube,
        _ => return Ok(Parsed::Unknown),
    };
    let wrap = || {
        Some(match value {
            "repeat" => Wrap::Repeat,
            "clamp" => Wrap::Clamp,
            "clamp_to_edge" => Wrap::ClampToEdge,
            "clamp_to_border" => Wrap::ClampToBorder,
            "mirrored_repeat" => Wrap::MirroredRepeat,
            _ => return None,
        })
    };
    let parameter = match what {
        "compare_func" => Parameter::Compare(match value {
            "never" => Compare::Never,
            "less" => Compare::Less,
            "equal" => Compare::Equal,
            "lequal" => Compare::LessEqual,
            "greater" => Compare::Greater,
            "notequal" => Compare::NotEqual,
            "gequal" => Compare::GreaterEqual,
            "always" => Compare::Always,
            _ => return Err(format!("`{value}` is no comparison")),
        }),
        "depth_mode" => Parameter::Depth(match value {
            "luminance" => DepthMode::Luminance,
            "intensity" => DepthMode::Intensity,
            "alpha" => DepthMode::Alpha,
            _ => return Err(format!("`{value}` is no depth mode that this runner knows")),
        }),
        "min" => match value {
            "nearest" => Parameter::Min(Filter::Nearest, MipFilter::None),
            "linear" => Parameter::Min(Filter::Linear, MipFilter::None),
            "nearest_mipmap_nearest" => Parameter::Min(Filter::Nearest, MipFilter::Nearest),
            "linear_mipmap_nearest" => Parameter::Min(Filter::Linear, MipFilter::Nearest),
            "nearest_mipmap_linear" => Parameter::Min(Filter::Nearest, MipFilter::Linear),
            "linear_mipmap_linear" => Parameter::Min(Filter::Linear, MipFilter::Linear),
            _ => return Err(format!("`{value}` is no filter")),
        },
        "mag" => match value {
            "nearest" => Parameter::Mag(Filter::Nearest),
            "linear" => Parameter::Mag(Filter::Linear),
            _ => return Err(format!("`{value}` is no filter")),
        },
        "wrap_s" | "wrap_t" | "wrap_r" => {
            let axis = usize::from(what.as_bytes()[5] - b'r').checked_sub(1).unwrap_or(2);
            Parameter::Wrap(axis, wrap().ok_or_else(|| format!("`{value}` is no wrap mode"))?)
        }
        "lod_bias" => Parameter::Bias(number(value)?),
        _ => return Ok(Parsed::Unknown),
    };
    Ok(Parsed::Known(Command::TexParameter(dim, parameter)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(line: &str) -> Command {
        match Command::parse(line) {
            Ok(Parsed::Known(command)) => command,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn probes_read_with_and_without_brackets() {
        let color = [0.0, 1.0, 0.0, 1.0];
        let probe = |area, color, alpha, warn| Command::Probe(Probe { area, color, alpha, warn });
        let area = Area::Rect([11.0, 0.0, 10.0, 250.0]);
        assert_eq!(known("probe rect rgba ( 11, 0,10, 250) (0.0, 1.0, 0.0, 1.0)"), probe(area, color, true, false));
        let rgb = [0.0, 1.0, 0.0, 0.0];
        assert_eq!(known("probe rgb 50 10 0 1 0 7"), probe(Area::Rect([50.0, 10.0, 1.0, 1.0]), rgb, false, false));
        assert_eq!(known("probe warn all rgba 0 1 0 1"), probe(Area::All, color, true, true));
        let area = Area::Relative([0.5, 0.25, 0.0, 0.0]);
        assert_eq!(known("relative probe rgb  (0.5, 0.25) (0, 1, 0)"), probe(area, rgb, false, false));
        assert_eq!(known("probe depth 1 2 0.5"), Command::ProbeDepth { at: [1.0, 2.0], depth: 0.5 });
    }

    #[test]
    fn rectangles_and_parameters() {
        let rect = |pixels, tex| Command::DrawRect { rect: [0.0, 1.0, 2.0, 3.0], pixels, tex };
        assert_eq!(known("draw rect 0 1 2 3"), rect(false, None));
        assert_eq!(known("draw rect ortho 0 1 2 3"), rect(true, None));
        assert_eq!(known("draw rect tex 0 1 2 3 0 0 1 1"), rect(false, Some([0.0, 0.0, 1.0, 1.0])));
        let wrap = |axis| Command::TexParameter(TexDim::D2, Parameter::Wrap(axis, Wrap::Clamp));
        assert_eq!(known("texparameter 2D wrap_s clamp"), wrap(0));
        assert_eq!(known("texparameter 2D wrap_t clamp"), wrap(1));
        assert_eq!(known("texparameter 2D wrap_r clamp"), wrap(2));
        assert_eq!(known("enable GL_CLIP_PLANE3"), Command::Enable(Capability::ClipPlane(3), true));
    }

    #[test]
    fn what_is_wrong_or_unknown_is_told_apart() {
        for line in
            ["draw rect 1 2", "probe rgb 1", "clip plane 9 0 0 0 0", "texture rgbw 99 (8, 8)", "uniform float a b"]
        {
            assert!(Command::parse(line).is_err(), "{line}");
        }
        for line in ["", "fly", "probe", "draw", "draw rect patch", "enable GL_BLEND", "texparameter 7D min linear"] {
            assert_eq!(Command::parse(line), Ok(Parsed::Unknown), "{line}");
        }
        assert!(Command::parse("texture rgbw 0 (5000, 8)").is_err());
    }
}
