//! Mesa as a judge: the same GLSL, compiled and drawn by somebody else's implementation, in this
//! process and without a window (EGL surfaceless platform, a compatibility context).
//!
//! In: GLSL sources, a mesh, fixed-function state, uniforms, textures. Out: float pixels. Nothing is
//! linked at build time; a machine without Mesa gets [`OracleError::Missing`], which a test reports
//! by name, or fails on when `EGGSHADE_REQUIRE_JUDGES=1`.
//!
//! One driver a process: softpipe interprets the shader's code, llvmpipe compiles it.

#![allow(unsafe_code)] // the only way to call a C library; each call follows the OpenGL 2.1 manual

mod frame;
mod legacy;
pub mod mojo;
mod program;
mod texture;

use eggshade::backend::sim::texture::Texture;
use eggshade::render::state::GlState;
use glow::HasContext as _;
use khronos_egl as egl;
use legacy::Legacy;
pub use legacy::{Attribute, Corner, Primitive};
pub use program::{ArbPrograms, Glsl};
use std::cell::RefCell;
use std::fmt;
use std::sync::Once;
pub use texture::OracleTexture;
pub use {frame::Frame, texture::Textures};

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

/// What is drawn, but for the shaders.
#[derive(Clone, Debug)]
pub struct Job<'a> {
    /// Triangles.
    pub mesh: &'a [Corner],
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

/// `GL_VERTEX_PROGRAM_TWO_SIDE`
const VERTEX_PROGRAM_TWO_SIDE: u32 = 0x8643;

/// What is enabled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Switches {
    /// `GL_DEPTH_TEST`: nearer ones win.
    pub depth_test: bool,
    /// `GL_VERTEX_PROGRAM_TWO_SIDE`
    pub two_side: bool,
    /// Colours are those of a primitive's last corner.
    pub flat: bool,
    /// Colours of corners are clamped to 0..1.
    pub clamp_colors: bool,
    /// Whether the vertex stage gives the size of points.
    pub point_size: bool,
    /// `GL_CLIP_PLANE0` up.
    pub clip: [bool; 8],
}

/// GLSL: the texts of the vertex and of the fragment stage.
pub type Texts<'a> = [&'a [&'a str]; 2];

/// A pair of ARB programs that is drawn in place of GLSL.
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
    /// Textures to delete.
    unused: RefCell<Vec<glow::Texture>>,
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
        static CHOSEN: Once = Once::new();
        let name = if driver == Driver::Softpipe { "softpipe" } else { "llvmpipe" };
        // SAFETY: set once, before the first display is opened, and no other thread is in Mesa before
        // that; who uses the oracle reads no environment elsewhere.
        CHOSEN.call_once(|| unsafe {
            std::env::set_var("GALLIUM_DRIVER", name);
            std::env::set_var("LIBGL_ALWAYS_SOFTWARE", "1");
            std::env::set_var("MESA_SHADER_CACHE_DISABLE", "true");
        });
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
        Ok(Mesa { gl, legacy, unused: RefCell::default(), egl, display, context })
    }

    /// Compiles, links and draws each of the jobs, which differ in numbers only; the pixels bottom row
    /// first.
    ///
    /// # Errors
    /// [`OracleError::Refused`] with Mesa's log.
    pub fn draw(&self, texts: Texts<'_>, jobs: &[Job<'_>]) -> Result<Vec<Vec<[f32; 4]>>, OracleError> {
        let Some(first) = jobs.first() else { return Ok(Vec::new()) };
        let locations: Vec<(&str, u32)> = first.attributes.iter().map(|a| (a.name.as_str(), a.location)).collect();
        let program = self.link(texts, &locations)?;
        let picture = |job: &Job<'_>| {
            program.set_uniforms(job.uniforms);
            program.set_units((0..).zip(job.textures.iter().map(|t| t.name.as_str())));
            self.draw_bound(job, (0..).zip(job.textures.iter().map(|t| &t.texture)))
        };
        jobs.iter().map(picture).collect()
    }

    /// Draws the job with ARB programs instead of its uniforms.
    ///
    /// # Errors
    /// [`OracleError::Refused`] with Mesa's message and the line that it is about.
    pub fn draw_arb(&self, pair: &ArbPair<'_>, job: &Job<'_>) -> Result<Vec<[f32; 4]>, OracleError> {
        let programs = self.assemble(pair.texts)?;
        (0..2).for_each(|stage| programs.set_locals(stage, pair.locals[stage]));
        let of = |(unit, name): &(u32, String)| Some((*unit, &job.textures.iter().find(|t| t.name == *name)?.texture));
        self.draw_bound(job, pair.units.iter().filter_map(of))
    }

    /// Draws with the programs that are bound.
    fn draw_bound<'t>(
        &self,
        job: &Job<'_>,
        textures: impl IntoIterator<Item = (u32, &'t Texture)>,
    ) -> Result<Vec<[f32; 4]>, OracleError> {
        let frame = self.frame(job.size)?;
        frame.clear(Some(job.clear), Some(1.0));
        let _bound = self.bind_textures(textures)?;
        let switches = Switches { depth_test: true, ..Switches::default() };
        self.draw_corners(job.state, switches, Primitive::Triangles, job.mesh, job.attributes);
        frame.colors()
    }

    /// Draws with all that is bound.
    pub fn draw_corners(
        &self,
        state: &GlState,
        switches: Switches,
        primitive: Primitive,
        mesh: &[Corner],
        attributes: &[Attribute],
    ) {
        let named = [
            (glow::DEPTH_TEST, switches.depth_test),
            (VERTEX_PROGRAM_TWO_SIDE, switches.two_side),
            (glow::VERTEX_PROGRAM_POINT_SIZE, switches.point_size),
        ];
        let all = named.into_iter().chain((glow::CLIP_DISTANCE0..).zip(switches.clip));
        // SAFETY: the context is current on this thread (a `Mesa` is not `Send`).
        unsafe {
            for (name, on) in all {
                if on { self.gl.enable(name) } else { self.gl.disable(name) }
            }
            self.gl.depth_func(glow::LESS);
            self.legacy.clamp_colors(switches.clamp_colors);
            self.legacy.set_flat(switches.flat);
            self.legacy.set_state(state);
            self.legacy.draw(primitive, mesh, attributes);
        }
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
