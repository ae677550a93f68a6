//! Compiles a script's shaders and carries its commands out.

use super::command::{Area, Capability, Command, Image, LightValue, Mode, Probe};
use super::draw::{Attributes, World};
use super::images;
use super::parse::{Script, VertexData};
use super::require;
use super::screen::{Executor, Screen};
use crate::verdict::{Outcome, Verdict, first_error};
use eggshade::frontend::ast::Version;
use eggshade::ir::tac::{self, VarDecl, VarKind};
use eggshade::ir::types::{Scalar, TexDim};
use eggshade::record::Status;
use eggshade::render::matrix::Mat4;
use eggshade::{Built, Failure, Options};

/// Largest difference of a channel, as in piglit.
const TOLERANCE: f32 = 0.01;

/// The vertex stage of a program without a vertex shader: OpenGL's fixed function without lighting.
const FIXED_VERTEX: &str = "void main() {
    gl_Position = ftransform();
    gl_FrontColor = gl_Color;
    gl_BackColor = gl_Color;
    gl_FrontSecondaryColor = gl_SecondaryColor;
    gl_BackSecondaryColor = gl_SecondaryColor;
    gl_TexCoord[0] = gl_TextureMatrix[0] * gl_MultiTexCoord0;
    gl_TexCoord[1] = gl_TextureMatrix[1] * gl_MultiTexCoord1;
    gl_TexCoord[2] = gl_TextureMatrix[2] * gl_MultiTexCoord2;
    gl_TexCoord[3] = gl_TextureMatrix[3] * gl_MultiTexCoord3;
    gl_TexCoord[4] = gl_TextureMatrix[4] * gl_MultiTexCoord4;
    gl_TexCoord[5] = gl_TextureMatrix[5] * gl_MultiTexCoord5;
    gl_TexCoord[6] = gl_TextureMatrix[6] * gl_MultiTexCoord6;
    gl_TexCoord[7] = gl_TextureMatrix[7] * gl_MultiTexCoord7;
    gl_FogFragCoord = gl_FogCoord;
}
";

/// The fragment stage of a program without a fragment shader.
const FIXED_FRAGMENT: [&str; 2] =
    ["void main() { gl_FragColor = gl_Color; }\n", "void main() { gl_FragColor = vec4(0.0); }\n"];

/// Compiles a script's shaders and runs them on the executor's screen. What the target has no room or no
/// words for is skipped where it has no flow.
pub fn run(script: &Script, options: &Options, executor: &dyn Executor) -> Outcome {
    let needs = match require::check(&script.require, options) {
        Ok(needs) => needs,
        Err(reason) => return Outcome::new(Verdict::Skip, reason),
    };
    if let Some(unknown) = script.unknown.first() {
        return Outcome::new(Verdict::Skip, format!("unknown {unknown}"));
    }
    let mut options = options.clone();
    if needs.embedded {
        options.default_version = Version::Es100;
    }
    let linked = link(script, &options);
    let wanted = script.commands.iter().find_map(|(_, c)| match c {
        Command::Link(wanted) => Some(*wanted),
        _ => None,
    });
    let built = match (linked, wanted) {
        (Err(failure), Some(false)) if eggshade::is_link_failure(&failure) => {
            return Outcome::pass();
        }
        (Err(failure), _) => return Outcome::new(not_linked(&failure, &options), first_error(&failure)),
        (Ok(_), Some(false)) => return Outcome::new(Verdict::Fail, "the program links, but must not".to_owned()),
        (Ok(built), _) => built,
    };
    let screen = executor.open(&built, needs.size);
    match screen.and_then(|screen| Runner::new(script, &built, screen).commands(&script.commands)) {
        Ok(()) => Outcome::pass(),
        Err(reason) => Outcome::new(Verdict::Fail, reason),
    }
}

fn link(script: &Script, options: &Options) -> Result<[Built; 2], Failure> {
    let named = |texts: &[String], ending: &str| -> Vec<(String, String)> {
        let name = |i: usize| if i == 0 { format!("test.{ending}") } else { format!("test{i}.{ending}") };
        texts.iter().enumerate().map(|(i, text)| (name(i), text.clone())).collect()
    };
    let mut vertex = named(&script.vertex, "vert");
    let mut fragment = named(&script.fragment, "frag");
    if vertex.is_empty() {
        vertex.push(("fixed.vert".to_owned(), FIXED_VERTEX.to_owned()));
    }
    if fragment.is_empty() {
        let colored = script.vertex.iter().any(|t| t.contains("gl_FrontColor"));
        fragment.push(("fixed.frag".to_owned(), FIXED_FRAGMENT[usize::from(!colored)].to_owned()));
    }
    let vertex: Vec<(&str, &str)> = vertex.iter().map(|(n, t)| (n.as_str(), t.as_str())).collect();
    let fragment: Vec<(&str, &str)> = fragment.iter().map(|(n, t)| (n.as_str(), t.as_str())).collect();
    eggshade::link_units([&vertex, &fragment], options).map(|l| l.stages)
}

/// A target of less than the language is not wrong where it says what it lacks.
fn not_linked(failure: &Failure, options: &Options) -> Verdict {
    let lacks = matches!(failure.status, Status::Unsupported | Status::DoesNotFit);
    if lacks && !options.target.flow { Verdict::Skip } else { Verdict::Fail }
}

struct Runner<'a> {
    script: &'a Script,
    /// Uniforms and samplers of both stages.
    variables: Vec<&'a VarDecl>,
    world: World,
    screen: Box<dyn Screen + 'a>,
    clear_color: Option<[f32; 4]>,
    clear_depth: Option<f32>,
    tolerance: [f32; 4],
}

impl<'a> Runner<'a> {
    fn new(script: &'a Script, built: &'a [Built; 2], screen: Box<dyn Screen + 'a>) -> Runner<'a> {
        let [vertex, fragment] = built;
        let of = |tac: &'a tac::Program| {
            tac.vars.values().filter(|d| d.kind == VarKind::Uniform || matches!(d.kind, VarKind::Sampler { .. }))
        };
        let variables: Vec<&VarDecl> = of(&vertex.tac).chain(of(&fragment.tac)).collect();
        let mut world = World { color: [1.0; 4], ..World::default() };
        for decl in &variables {
            for (elem, init) in decl.init.iter().enumerate() {
                world.values.insert((decl.name.clone(), elem as u32), init.bits.map(f32::from_bits));
            }
        }
        let (clear_color, clear_depth) = (None, None);
        Runner { script, variables, world, screen, clear_color, clear_depth, tolerance: [TOLERANCE; 4] }
    }

    fn commands(&mut self, commands: &[(usize, Command)]) -> Result<(), String> {
        for (line, command) in commands {
            self.command(command).map_err(|e| format!("line {line}: {e}"))?;
        }
        Ok(())
    }

    fn command(&mut self, command: &Command) -> Result<(), String> {
        let size = self.screen.size();
        let world = &mut self.world;
        match command {
            Command::Clear => return self.screen.clear(self.clear_color, self.clear_depth),
            Command::ClearColor(color) => self.clear_color = Some(*color),
            Command::ClearDepth(depth) => self.clear_depth = Some(depth.clamp(0.0, 1.0)),
            Command::Color(color) => world.color = *color,
            Command::Ortho(sides) => {
                let [width, height] = size.map(f64::from);
                let [l, r, b, t] = sides.map_or([0.0, width, 0.0, height], |s| s.map(f64::from));
                world.gl.projection = ortho([l, r], [b, t])?;
                world.gl.modelview = Mat4::IDENTITY;
            }
            Command::Frustum(sides) => {
                world.gl.projection = frustum(sides.map(f64::from))?;
                world.gl.modelview = Mat4::IDENTITY;
            }
            Command::DrawRect { rect, pixels, tex } => return self.draw_rect(*rect, *pixels, *tex),
            Command::DrawArrays { mode, first, count } => return self.draw_arrays(*mode, *first, *count),
            Command::Probe(probe) => return self.probe(probe),
            Command::ProbeDepth { at, depth } => {
                let (x, y) = (at[0] as usize, at[1] as usize);
                let at = self.pixel(x, y)?;
                let found = self.screen.depths()?[at];
                if (found - depth).abs() >= TOLERANCE {
                    return Err(format!("depth at ({x}, {y}): wanted {depth}, found {found}"));
                }
            }
            Command::Uniform { name, values } => return self.set_uniform(name, values),
            Command::Enable(capability, on) => match *capability {
                Capability::TwoSide => world.two_side = *on,
                Capability::DepthTest => world.depth_test = *on,
                Capability::ClipPlane(plane) => world.clip[plane] = *on,
                Capability::Ignored => {}
            },
            Command::Hint | Command::Link(_) => {}
            Command::Flat(flat) => world.flat = *flat,
            Command::ClipPlane(plane, equation) => {
                // To eye space: by the inverse of the matrix as it is now, from the left.
                let inverse = world.gl.modelview.inverse().transposed();
                world.gl.clip_planes[*plane] = inverse.apply(equation.map(f64::from)).map(|v| v as f32);
            }
            Command::Light { light, what, value } => {
                let to_eye = |v: [f32; 4]| world.gl.modelview.apply(v.map(f64::from)).map(|v| v as f32);
                let in_eye = to_eye(*value);
                let direction = to_eye([value[0], value[1], value[2], 0.0]);
                let light = &mut world.gl.lights[*light];
                match what {
                    LightValue::Ambient => light.ambient = *value,
                    LightValue::Diffuse => light.diffuse = *value,
                    LightValue::Specular => light.specular = *value,
                    LightValue::Position => light.position = in_eye,
                    LightValue::SpotDirection => light.spot_direction = [direction[0], direction[1], direction[2]],
                    LightValue::SpotExponent => light.spot_exponent = value[0],
                    LightValue::SpotCutoff => light.spot_cutoff = value[0],
                    LightValue::ConstantAttenuation => light.attenuation[0] = value[0],
                    LightValue::LinearAttenuation => light.attenuation[1] = value[0],
                    LightValue::QuadraticAttenuation => light.attenuation[2] = value[0],
                }
            }
            Command::Texture { unit, image } => {
                let dim = match image {
                    Image::Rgbw { dim, .. } | Image::Shadow { dim, .. } => *dim,
                    Image::Checkerboard { .. } => TexDim::D2,
                };
                let bound = &mut world.textures[*unit];
                let before = bound.iter().position(|t| t.dim == dim).map(|i| bound.remove(i));
                bound.push(images::make(*image, before));
                world.active_unit = *unit;
            }
            Command::TexParameter(dim, parameter) => match world.texture_mut(world.active_unit, *dim) {
                Some(texture) => images::set(&mut texture.state, *parameter),
                None => return Err("no texture of this shape is bound".to_owned()),
            },
            Command::Tolerance(tolerance) => self.tolerance = *tolerance,
        }
        Ok(())
    }

    fn draw_rect(&mut self, rect: [f32; 4], pixels: bool, tex: Option<[f32; 4]>) -> Result<(), String> {
        let [x, y, w, h] = rect;
        let [x, y, w, h] = if pixels {
            let [width, height] = self.screen.size().map(|s| s as f32);
            [x * 2.0 / width - 1.0, y * 2.0 / height - 1.0, w * 2.0 / width, h * 2.0 / height]
        } else {
            rect
        };
        let corner = |right: f32, up: f32| {
            let mut attributes = Attributes::new();
            let position = [x + right * w, y + up * h, 0.0, 1.0];
            attributes.insert(("gl_Vertex".to_owned(), 0), position);
            attributes.insert(("piglit_vertex".to_owned(), 0), position);
            if let Some([s, t, sw, th]) = tex {
                let coords = [s + right * sw, t + up * th, 0.0, 1.0];
                attributes.insert(("gl_MultiTexCoord0".to_owned(), 0), coords);
                attributes.insert(("piglit_texcoord".to_owned(), 0), coords);
            }
            attributes
        };
        let corners = [corner(0.0, 0.0), corner(1.0, 0.0), corner(0.0, 1.0), corner(1.0, 1.0)];
        self.draw(Mode::TriangleStrip, &corners)
    }

    fn draw_arrays(&mut self, mode: Mode, first: usize, count: usize) -> Result<(), String> {
        let vertices: Vec<Attributes> = match &self.script.data {
            Some(data) => {
                let end = first.checked_add(count).filter(|&end| end <= data.rows.len());
                let end = end.ok_or_else(|| format!("the vertex data has {} vertices", data.rows.len()))?;
                data.rows[first..end].iter().map(|row| attributes(data, row)).collect()
            }
            // Nothing but current values, which are the same for all.
            None if count <= 1 << 16 => vec![Attributes::new(); count],
            None => return Err(format!("{count} vertices without data")),
        };
        self.draw(mode, &vertices)
    }

    fn draw(&mut self, mode: Mode, vertices: &[Attributes]) -> Result<(), String> {
        self.screen.draw(&self.world, mode, vertices)
    }

    fn set_uniform(&mut self, name: &str, values: &[f32]) -> Result<(), String> {
        let (path, indices) = split_indices(name)?;
        let mut found = false;
        for decl in self.variables.iter().filter(|d| d.name == path) {
            found = true;
            let first = match indices.as_slice() {
                [] => Some(0),
                [index] => index.checked_mul(decl.cols).filter(|&f| f < decl.elems),
                // The dimensions of nested arrays are not in the declaration.
                _ => return Err(format!("uniform {name}: an element of nested arrays")),
            }
            .ok_or_else(|| format!("uniform {name}: there is no such element"))?;
            let lanes = usize::from(decl.ty.lanes);
            if values.is_empty() || values.len() > (decl.elems - first) as usize * lanes {
                return Err(format!("uniform {name}: {} numbers for {}", values.len(), decl.type_name));
            }
            for (i, chunk) in values.chunks(lanes).enumerate() {
                let key = (decl.name.clone(), first + i as u32);
                if decl.is_sampler() {
                    self.world.units.insert(key, chunk[0] as usize);
                    continue;
                }
                let mut register = self.world.values.get(&key).copied().unwrap_or([0.0; 4]);
                for (slot, &v) in register.iter_mut().zip(chunk) {
                    *slot = match decl.ty.scalar {
                        Scalar::Float => v,
                        Scalar::Int => v.trunc(),
                        Scalar::Bool => f32::from(v != 0.0),
                    };
                }
                self.world.values.insert(key, register);
            }
        }
        // A uniform that no code uses has no variable; a name that no text has is a mistake.
        let base = path.split('.').next().unwrap_or_default();
        let is_word = |text: &String| {
            let boundary = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
            text.split(boundary).any(|word| word == base)
        };
        if found || self.script.vertex.iter().chain(&self.script.fragment).any(is_word) {
            Ok(())
        } else {
            Err(format!("the shaders have no uniform {name}"))
        }
    }

    fn pixel(&self, x: usize, y: usize) -> Result<usize, String> {
        let [width, height] = self.screen.size().map(|s| s as usize);
        if x < width && y < height { Ok(y * width + x) } else { Err(format!("pixel ({x}, {y}) is outside")) }
    }

    fn probe(&mut self, probe: &Probe) -> Result<(), String> {
        let [width, height] = self.screen.size().map(|s| s as usize);
        let [x, y, w, h] = match probe.area {
            Area::All => [0, 0, width, height],
            Area::Rect(rect) => rect.map(|v| v as usize),
            Area::Relative(rect) => {
                let [x, y, w, h] = rect;
                // The last share is the last pixel.
                let at = |share: f32, side: usize| ((share * side as f32) as usize).min(side - 1);
                let long = |share: f32, side: usize| ((share * side as f32) as usize).max(1);
                [at(x, width), at(y, height), long(w, width), long(h, height)]
            }
        };
        if x.saturating_add(w) > width || y.saturating_add(h) > height {
            return Err(format!("the probe ({x}, {y}, {w}, {h}) is outside of the window"));
        }
        let channels = if probe.alpha { 4 } else { 3 };
        let tolerance = self.tolerance;
        let colors = self.screen.colors()?;
        for row in y..y + h {
            for column in x..x + w {
                let found = colors[row * width + column].map(images::stored);
                // Not `>=`: a NaN that was wanted is no match either.
                let close = (0..channels).all(|c| (found[c] - probe.color[c]).abs() < tolerance[c]);
                if !close && !probe.warn {
                    let wanted = &probe.color[..channels];
                    return Err(format!("pixel ({column}, {row}): wanted {wanted:?}, found {:?}", &found[..channels]));
                }
            }
        }
        Ok(())
    }
}

fn attributes(data: &VertexData, row: &[[f32; 4]]) -> Attributes {
    data.columns.iter().zip(row).map(|(c, &value)| ((c.name.clone(), c.elem), value)).collect()
}

/// `a[2].b[1]` as `a.b` and 2, 1.
fn split_indices(name: &str) -> Result<(String, Vec<u32>), String> {
    let mut path = String::new();
    let mut indices = Vec::new();
    for (i, part) in name.split('.').enumerate() {
        if i > 0 {
            path.push('.');
        }
        match part.split_once('[') {
            Some((field, index)) => {
                path.push_str(field);
                let index = index.strip_suffix(']').and_then(|n| n.parse().ok());
                indices.push(index.ok_or_else(|| format!("`{name}` is no name of a uniform"))?);
            }
            None => path.push_str(part),
        }
    }
    Ok((path, indices))
}

/// `glOrtho` with near -1 and far 1.
fn ortho([l, r]: [f64; 2], [b, t]: [f64; 2]) -> Result<Mat4, String> {
    if l == r || b == t {
        return Err("an empty view".to_owned());
    }
    Ok(Mat4([
        [2.0 / (r - l), 0.0, 0.0, 0.0],
        [0.0, 2.0 / (t - b), 0.0, 0.0],
        [0.0, 0.0, -1.0, 0.0],
        [-(r + l) / (r - l), -(t + b) / (t - b), 0.0, 1.0],
    ]))
}

/// `glFrustum`
fn frustum([l, r, b, t, n, f]: [f64; 6]) -> Result<Mat4, String> {
    if l == r || b == t || n == f || n <= 0.0 || f <= 0.0 {
        return Err("an empty view".to_owned());
    }
    Ok(Mat4([
        [2.0 * n / (r - l), 0.0, 0.0, 0.0],
        [0.0, 2.0 * n / (t - b), 0.0, 0.0],
        [(r + l) / (r - l), (t + b) / (t - b), -(f + n) / (f - n), -1.0],
        [0.0, 0.0, -2.0 * f * n / (f - n), 0.0],
    ]))
}
