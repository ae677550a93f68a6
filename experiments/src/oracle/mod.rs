//! Mesa as a judge: the same GLSL, compiled and drawn by somebody else's implementation, in this
//! process and without a window (EGL surfaceless platform, a compatibility context).
//!
//! In: GLSL sources, a mesh, fixed-function state, uniforms, textures. Out: float pixels. Nothing is
//! linked at build time; a machine without Mesa gets [`OracleError::Missing`], which a test reports
//! by name, or fails on when `EGGSHADE_REQUIRE_JUDGES=1`.
//!
//! One driver a process: softpipe interprets the shader's code, llvmpipe compiles it.

#![allow(unsafe_code)] // the only way to call a C library; each call follows the OpenGL 2.1 manual

mod legacy;
pub mod mojo;

use eggshade::render::mesh::Vertex;
use eggshade::render::state::GlState;
use glow::HasContext as _;
use khronos_egl as egl;
pub use legacy::Attribute;
use legacy::{Legacy, PROGRAM_TARGETS};
use std::fmt;

type Egl = egl::DynamicInstance<egl::EGL1_5>;

/// `EGL_PLATFORM_SURFACELESS_MESA`
const SURFACELESS: egl::Enum = 0x31DD;

const PROGRAM_ERROR_POSITION: u32 = 0x864B;
const PROGRAM_ERROR_STRING: u32 = 0x8874;

/// Which of Mesa's software drivers runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Driver {
    /// Interprets.
    Softpipe,
    /// Compiles with LLVM.
    Llvmpipe,
}

/// Why there is no picture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OracleError {
    /// The judge is not on this machine, or does not start.
    Missing(String),
    /// It refuses the shader; its log.
    Refused(String),
}

impl fmt::Display for OracleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OracleError::Missing(what) => write!(f, "missing: {what}"),
            OracleError::Refused(log) => write!(f, "the shader is refused: {log}"),
        }
    }
}

impl std::error::Error for OracleError {}

/// A texture of one level, bound to the sampler of that name; linear filters, repeated.
#[derive(Clone, Debug)]
pub struct OracleTexture {
    /// The sampler uniform.
    pub name: String,
    /// Width and height.
    pub size: [u32; 2],
    /// RGBA floats, bottom row first.
    pub texels: Vec<[f32; 4]>,
}

/// What is drawn.
#[derive(Clone, Debug)]
pub struct Job<'a> {
    /// Vertex shader source.
    pub vertex: &'a str,
    /// Fragment shader source.
    pub fragment: &'a str,
    /// Triangles.
    pub mesh: &'a [Vertex],
    /// Matrices, lights, materials.
    pub state: &'a GlState,
    /// Values of generic attributes; what is not here is 0, 0, 0, 1.
    pub attributes: &'a [Attribute],
    /// Uniforms of any type but samplers: the lanes of all columns and elements one after the other.
    pub uniforms: &'a [(String, Vec<f32>)],
    /// Textures.
    pub textures: &'a [OracleTexture],
    /// Width and height.
    pub size: [u32; 2],
    /// Colour where nothing is drawn.
    pub clear: [f32; 4],
}

/// A pair of ARB programs that is drawn in place of a job's GLSL.
#[derive(Clone, Copy, Debug)]
pub struct ArbPair<'a> {
    /// Vertex and fragment text.
    pub texts: [&'a str; 2],
    /// `program.local` of each.
    pub locals: [&'a [(u32, [f32; 4])]; 2],
    /// Texture unit and the name of the texture on it.
    pub units: &'a [(u32, String)],
}

/// An open context, current on this thread.
pub struct Mesa {
    gl: glow::Context,
    legacy: Legacy,
    egl: Egl,
    display: egl::Display,
    context: egl::Context,
}

impl fmt::Debug for Mesa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mesa")
    }
}

fn missing(what: impl fmt::Display) -> OracleError {
    OracleError::Missing(what.to_string())
}

impl Mesa {
    /// Starts a driver. The first call of a process decides which one.
    ///
    /// # Errors
    /// [`OracleError::Missing`] when Mesa cannot be had.
    pub fn open(driver: Driver) -> Result<Mesa, OracleError> {
        let name = if driver == Driver::Softpipe { "softpipe" } else { "llvmpipe" };
        // SAFETY: the tests that use the oracle read no environment on other threads; Mesa reads
        // these once, when the display is opened below.
        unsafe {
            std::env::set_var("GALLIUM_DRIVER", name);
            std::env::set_var("LIBGL_ALWAYS_SOFTWARE", "1");
            std::env::set_var("MESA_SHADER_CACHE_DISABLE", "true");
        }
        // SAFETY: libEGL's initializers have no preconditions.
        let egl = unsafe { Egl::load_required() }.map_err(missing)?;
        // SAFETY: the surfaceless platform takes no native display.
        let display = unsafe { egl.get_platform_display(SURFACELESS, egl::DEFAULT_DISPLAY, &[egl::ATTRIB_NONE]) }
            .map_err(missing)?;
        egl.initialize(display).map_err(missing)?;
        egl.bind_api(egl::OPENGL_API).map_err(missing)?;
        let wanted = [egl::RENDERABLE_TYPE, egl::OPENGL_BIT, egl::SURFACE_TYPE, egl::PBUFFER_BIT, egl::NONE];
        let config = egl.choose_first_config(display, &wanted).map_err(missing)?;
        let config = config.ok_or_else(|| missing("no configuration for OpenGL"))?;
        let context = egl.create_context(display, config, None, &[egl::NONE]).map_err(missing)?;
        egl.make_current(display, None, None, Some(context)).map_err(missing)?;
        let address = |name: &str| egl.get_proc_address(name).map_or(std::ptr::null(), |f| f as *const _);
        // SAFETY: the context is current, the loader returns this context's functions.
        let gl = unsafe { glow::Context::from_loader_function(address) };
        // SAFETY: as above.
        let legacy = unsafe { Legacy::load(address) }.map_err(missing)?;
        Ok(Mesa { gl, legacy, egl, display, context })
    }

    /// Compiles, links and draws; the pixels bottom row first.
    ///
    /// # Errors
    /// [`OracleError::Refused`] with Mesa's log.
    pub fn draw(&self, job: &Job<'_>) -> Result<Vec<[f32; 4]>, OracleError> {
        // SAFETY: the context is current on this thread (a `Mesa` is not `Send`); all names used
        // are made here and deleted below; buffers have the sizes that the calls state.
        unsafe {
            let program = self.link(job)?;
            self.gl.use_program(Some(program));
            let units: Vec<(u32, String)> = (0..).zip(job.textures.iter().map(|t| t.name.clone())).collect();
            self.set_uniforms(program, job.uniforms);
            for (unit, name) in &units {
                let location = self.gl.get_uniform_location(program, name);
                self.gl.uniform_1_i32(location.as_ref(), *unit as i32);
            }
            let pixels = self.draw_bound(job, &units);
            self.gl.use_program(None);
            self.gl.delete_program(program);
            pixels
        }
    }

    /// Draws the job with ARB programs instead of its GLSL and uniforms.
    ///
    /// # Errors
    /// [`OracleError::Refused`] with Mesa's message and the line that it is about.
    pub fn draw_arb(&self, pair: &ArbPair<'_>, job: &Job<'_>) -> Result<Vec<[f32; 4]>, OracleError> {
        let mut programs = Vec::new();
        let mut refused = None;
        // SAFETY: as in `draw`.
        unsafe {
            for (stage, target) in PROGRAM_TARGETS.into_iter().enumerate() {
                programs.push(self.legacy.load_program(stage, pair.texts[stage], pair.locals[stage]));
                let position = self.gl.get_parameter_i32(PROGRAM_ERROR_POSITION);
                if position >= 0 && refused.is_none() {
                    let before = pair.texts[stage].get(..position as usize).unwrap_or_default();
                    let line = before.lines().count().max(1);
                    let message = self.gl.get_parameter_string(PROGRAM_ERROR_STRING);
                    refused = Some(format!("stage {stage}, line {line}: {message}"));
                }
                self.gl.enable(target);
            }
            let pixels = match refused {
                Some(message) => Err(OracleError::Refused(message)),
                None => self.draw_bound(job, pair.units),
            };
            PROGRAM_TARGETS.iter().for_each(|&target| self.gl.disable(target));
            self.legacy.delete_programs(&programs);
            self.gl.get_error();
            pixels
        }
    }

    unsafe fn link(&self, job: &Job<'_>) -> Result<glow::Program, OracleError> {
        let gl = &self.gl;
        unsafe {
            let program = gl.create_program().map_err(missing)?;
            for (kind, source) in [(glow::VERTEX_SHADER, job.vertex), (glow::FRAGMENT_SHADER, job.fragment)] {
                let shader = gl.create_shader(kind).map_err(missing)?;
                gl.shader_source(shader, source);
                gl.compile_shader(shader);
                let compiled = gl.get_shader_compile_status(shader);
                let log = gl.get_shader_info_log(shader);
                gl.attach_shader(program, shader);
                gl.delete_shader(shader);
                if !compiled {
                    gl.delete_program(program);
                    return Err(OracleError::Refused(log));
                }
            }
            for attribute in job.attributes {
                gl.bind_attrib_location(program, attribute.location, &attribute.name);
            }
            gl.link_program(program);
            if !gl.get_program_link_status(program) {
                let log = gl.get_program_info_log(program);
                gl.delete_program(program);
                return Err(OracleError::Refused(log));
            }
            Ok(program)
        }
    }

    /// Draws with the programs that are bound.
    unsafe fn draw_bound(&self, job: &Job<'_>, units: &[(u32, String)]) -> Result<Vec<[f32; 4]>, OracleError> {
        let gl = &self.gl;
        let [width, height] = job.size.map(|s| s as i32);
        unsafe {
            let frame = gl.create_framebuffer().map_err(missing)?;
            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(frame));
            let mut buffers = Vec::new();
            for (format, attachment) in
                [(glow::RGBA32F, glow::COLOR_ATTACHMENT0), (glow::DEPTH_COMPONENT24, glow::DEPTH_ATTACHMENT)]
            {
                let buffer = gl.create_renderbuffer().map_err(missing)?;
                gl.bind_renderbuffer(glow::RENDERBUFFER, Some(buffer));
                gl.renderbuffer_storage(glow::RENDERBUFFER, format, width, height);
                gl.framebuffer_renderbuffer(glow::FRAMEBUFFER, attachment, glow::RENDERBUFFER, Some(buffer));
                buffers.push(buffer);
            }
            self.legacy.unclamp_colors();
            gl.viewport(0, 0, width, height);
            let [r, g, b, a] = job.clear;
            gl.clear_color(r, g, b, a);
            gl.clear(glow::COLOR_BUFFER_BIT | glow::DEPTH_BUFFER_BIT);
            gl.enable(glow::DEPTH_TEST);
            gl.depth_func(glow::LESS);
            self.legacy.set_state(job.state);
            let textures = self.bind_textures(job.textures, units)?;
            self.legacy.draw_triangles(job.mesh, job.attributes);
            let mut bytes = vec![0u8; (width * height * 16) as usize];
            let into = glow::PixelPackData::Slice(Some(&mut bytes));
            gl.read_pixels(0, 0, width, height, glow::RGBA, glow::FLOAT, into);
            let error = gl.get_error();
            textures.into_iter().for_each(|t| gl.delete_texture(t));
            buffers.into_iter().for_each(|b| gl.delete_renderbuffer(b));
            gl.delete_framebuffer(frame);
            if error != glow::NO_ERROR {
                return Err(OracleError::Refused(format!("OpenGL error {error:#x}")));
            }
            let float = |b: &[u8]| f32::from_ne_bytes([b[0], b[1], b[2], b[3]]);
            Ok(bytes.chunks_exact(16).map(|p| [0, 4, 8, 12].map(|i| float(&p[i..i + 4]))).collect())
        }
    }

    /// Sets uniforms by their types in the linked program; names that it does not have are left alone.
    unsafe fn set_uniforms(&self, program: glow::Program, uniforms: &[(String, Vec<f32>)]) {
        let gl = &self.gl;
        unsafe {
            let count = gl.get_active_uniforms(program);
            let active: Vec<_> = (0..count).filter_map(|n| gl.get_active_uniform(program, n)).collect();
            for (name, values) in uniforms {
                let is_this = |n: &str| n == name || n.strip_suffix("[0]") == Some(name);
                let Some(found) = active.iter().find(|a| is_this(&a.name)) else { continue };
                let location = gl.get_uniform_location(program, &found.name);
                let at = location.as_ref();
                let whole: Vec<i32> = values.iter().map(|&v| v as i32).collect();
                match found.utype {
                    glow::FLOAT => gl.uniform_1_f32_slice(at, values),
                    glow::FLOAT_VEC2 => gl.uniform_2_f32_slice(at, values),
                    glow::FLOAT_VEC3 => gl.uniform_3_f32_slice(at, values),
                    glow::FLOAT_VEC4 => gl.uniform_4_f32_slice(at, values),
                    glow::FLOAT_MAT2 => gl.uniform_matrix_2_f32_slice(at, false, values),
                    glow::FLOAT_MAT3 => gl.uniform_matrix_3_f32_slice(at, false, values),
                    glow::FLOAT_MAT4 => gl.uniform_matrix_4_f32_slice(at, false, values),
                    glow::INT | glow::BOOL => gl.uniform_1_i32_slice(at, &whole),
                    glow::INT_VEC2 | glow::BOOL_VEC2 => gl.uniform_2_i32_slice(at, &whole),
                    glow::INT_VEC3 | glow::BOOL_VEC3 => gl.uniform_3_i32_slice(at, &whole),
                    glow::INT_VEC4 | glow::BOOL_VEC4 => gl.uniform_4_i32_slice(at, &whole),
                    _ => {}
                }
            }
        }
    }

    /// Makes the texture of each unit.
    unsafe fn bind_textures(
        &self,
        textures: &[OracleTexture],
        units: &[(u32, String)],
    ) -> Result<Vec<glow::Texture>, OracleError> {
        let gl = &self.gl;
        let mut names = Vec::new();
        for (unit, name) in units {
            let Some(texture) = textures.iter().find(|t| t.name == *name) else { continue };
            let bytes: Vec<u8> = texture.texels.iter().flatten().flat_map(|v| v.to_ne_bytes()).collect();
            let [width, height] = texture.size.map(|s| s as i32);
            let pixels = glow::PixelUnpackData::Slice(Some(&bytes));
            let target = glow::TEXTURE_2D;
            unsafe {
                let name = gl.create_texture().map_err(missing)?;
                gl.active_texture(glow::TEXTURE0 + *unit);
                gl.bind_texture(target, Some(name));
                let format = glow::RGBA32F as i32;
                gl.tex_image_2d(target, 0, format, width, height, 0, glow::RGBA, glow::FLOAT, pixels);
                for (parameter, value) in [
                    (glow::TEXTURE_MIN_FILTER, glow::LINEAR),
                    (glow::TEXTURE_MAG_FILTER, glow::LINEAR),
                    (glow::TEXTURE_WRAP_S, glow::REPEAT),
                    (glow::TEXTURE_WRAP_T, glow::REPEAT),
                ] {
                    gl.tex_parameter_i32(target, parameter, value as i32);
                }
                names.push(name);
            }
        }
        Ok(names)
    }
}

impl Drop for Mesa {
    fn drop(&mut self) {
        // Nothing to do about a failure while closing.
        let _ = self.egl.make_current(self.display, None, None, None);
        let _ = self.egl.destroy_context(self.display, self.context);
        let _ = self.egl.terminate(self.display);
    }
}

/// For tests: the judge, or `None` after saying that it is left out.
///
/// # Panics
/// When it is missing and `EGGSHADE_REQUIRE_JUDGES=1`.
pub fn open_or_skip(driver: Driver) -> Option<Mesa> {
    or_skip("comparison with Mesa", Mesa::open(driver))
}

#[allow(clippy::print_stderr)] // a test's message
fn or_skip<T>(what: &str, judge: Result<T, OracleError>) -> Option<T> {
    match judge {
        Ok(judge) => Some(judge),
        Err(e) if std::env::var_os("EGGSHADE_REQUIRE_JUDGES").is_some_and(|v| v == "1") => {
            panic!("a judge is required: {e}")
        }
        Err(e) => {
            eprintln!("left out: {what} ({e})");
            None
        }
    }
}
