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

use eggshade::render::mesh::Vertex;
use eggshade::render::state::GlState;
use glow::HasContext as _;
use khronos_egl as egl;
use legacy::Legacy;
use std::fmt;

type Egl = egl::DynamicInstance<egl::EGL1_5>;

/// `EGL_PLATFORM_SURFACELESS_MESA`
const SURFACELESS: egl::Enum = 0x31DD;

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
    /// Mesa is not on this machine, or does not start.
    Missing(String),
    /// Mesa refuses the shader; its log.
    Refused(String),
}

impl fmt::Display for OracleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OracleError::Missing(what) => write!(f, "Mesa's software driver is missing: {what}"),
            OracleError::Refused(log) => write!(f, "Mesa refuses the shader: {log}"),
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
    /// Float uniforms of 1 to 4 lanes, or 16 for a mat4.
    pub uniforms: &'a [(String, Vec<f32>)],
    /// Textures.
    pub textures: &'a [OracleTexture],
    /// Width and height.
    pub size: [u32; 2],
    /// Colour where nothing is drawn.
    pub clear: [f32; 4],
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
            let pixels = self.draw_linked(program, job);
            self.gl.delete_program(program);
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
            gl.link_program(program);
            if !gl.get_program_link_status(program) {
                let log = gl.get_program_info_log(program);
                gl.delete_program(program);
                return Err(OracleError::Refused(log));
            }
            Ok(program)
        }
    }

    unsafe fn draw_linked(&self, program: glow::Program, job: &Job<'_>) -> Result<Vec<[f32; 4]>, OracleError> {
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
            gl.use_program(Some(program));
            self.legacy.set_state(job.state);
            self.set_uniforms(program, job.uniforms);
            let textures = self.bind_textures(program, job.textures)?;
            self.legacy.draw_triangles(job.mesh);
            let mut bytes = vec![0u8; (width * height * 16) as usize];
            let into = glow::PixelPackData::Slice(Some(&mut bytes));
            gl.read_pixels(0, 0, width, height, glow::RGBA, glow::FLOAT, into);
            let error = gl.get_error();
            gl.use_program(None);
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

    unsafe fn set_uniforms(&self, program: glow::Program, uniforms: &[(String, Vec<f32>)]) {
        let gl = &self.gl;
        for (name, values) in uniforms {
            unsafe {
                let location = gl.get_uniform_location(program, name);
                match values.len() {
                    1 => gl.uniform_1_f32_slice(location.as_ref(), values),
                    2 => gl.uniform_2_f32_slice(location.as_ref(), values),
                    3 => gl.uniform_3_f32_slice(location.as_ref(), values),
                    4 => gl.uniform_4_f32_slice(location.as_ref(), values),
                    _ => gl.uniform_matrix_4_f32_slice(location.as_ref(), false, values),
                }
            }
        }
    }

    unsafe fn bind_textures(
        &self,
        program: glow::Program,
        textures: &[OracleTexture],
    ) -> Result<Vec<glow::Texture>, OracleError> {
        let gl = &self.gl;
        let mut names = Vec::new();
        for (unit, texture) in textures.iter().enumerate() {
            let bytes: Vec<u8> = texture.texels.iter().flatten().flat_map(|v| v.to_ne_bytes()).collect();
            let [width, height] = texture.size.map(|s| s as i32);
            let pixels = glow::PixelUnpackData::Slice(Some(&bytes));
            let target = glow::TEXTURE_2D;
            unsafe {
                let name = gl.create_texture().map_err(missing)?;
                gl.active_texture(glow::TEXTURE0 + unit as u32);
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
                let location = gl.get_uniform_location(program, &texture.name);
                gl.uniform_1_i32(location.as_ref(), unit as i32);
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
#[allow(clippy::print_stderr)] // a test's message
pub fn open_or_skip(driver: Driver) -> Option<Mesa> {
    match Mesa::open(driver) {
        Ok(mesa) => Some(mesa),
        Err(e) if std::env::var_os("EGGSHADE_REQUIRE_JUDGES").is_some_and(|v| v == "1") => {
            panic!("a judge is required: {e}")
        }
        Err(e) => {
            eprintln!("left out: comparison with Mesa ({e})");
            None
        }
    }
}
