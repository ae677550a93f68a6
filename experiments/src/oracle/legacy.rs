//! The fixed-function calls that `glow` lacks: matrices, lights, materials, fog, immediate mode.

use eggshade::render::matrix::Mat4;
use eggshade::render::mesh::Vertex;
use eggshade::render::state::{GlState, Light};
use std::ffi::c_void;

macro_rules! functions {
    ($($field:ident: $name:literal ($($arg:ty),*);)*) => {
        /// The functions of the current context.
        pub struct Legacy { $($field: unsafe extern "system" fn($($arg),*),)* }

        impl Legacy {
            /// Looks all of them up.
            ///
            /// # Safety
            /// `address` must return the functions of these names of the context that is current
            /// whenever the result is used.
            pub unsafe fn load(address: impl Fn(&str) -> *const c_void) -> Result<Legacy, String> {
                $(
                    let found = address($name);
                    if found.is_null() {
                        return Err(format!("{} is not there", $name));
                    }
                    // SAFETY: the caller promises that this is the function of that name, whose
                    // signature is the one of the OpenGL 2.1 headers.
                    let $field = unsafe { std::mem::transmute::<*const c_void, unsafe extern "system" fn($($arg),*)>(found) };
                )*
                Ok(Legacy { $($field,)* })
            }
        }
    };
}

functions! {
    matrix_mode: "glMatrixMode" (u32);
    load_matrix: "glLoadMatrixf" (*const f32);
    light: "glLightfv" (u32, u32, *const f32);
    light_model: "glLightModelfv" (u32, *const f32);
    material: "glMaterialfv" (u32, u32, *const f32);
    fog: "glFogfv" (u32, *const f32);
    clip_plane: "glClipPlane" (u32, *const f64);
    texture_unit: "glActiveTexture" (u32);
    shade_model: "glShadeModel" (u32);
    begin: "glBegin" (u32);
    end: "glEnd" ();
    vertex: "glVertex4fv" (*const f32);
    normal: "glNormal3fv" (*const f32);
    texture_coordinate: "glMultiTexCoord4fv" (u32, *const f32);
    color: "glColor4fv" (*const f32);
    secondary_color: "glSecondaryColor3fv" (*const f32);
    fog_coordinate: "glFogCoordfv" (*const f32);
    clamp_color: "glClampColorARB" (u32, u32);
    vertex_attribute: "glVertexAttrib4fvARB" (u32, *const f32);
    make_programs: "glGenProgramsARB" (i32, *mut u32);
    bind_program: "glBindProgramARB" (u32, u32);
    program_string: "glProgramStringARB" (u32, u32, i32, *const c_void);
    local_parameter: "glProgramLocalParameter4fvARB" (u32, u32, *const f32);
    delete_programs: "glDeleteProgramsARB" (i32, *const u32);
}

/// `GL_VERTEX_PROGRAM_ARB` and `GL_FRAGMENT_PROGRAM_ARB`, which are also what `glEnable` takes.
pub const PROGRAM_TARGETS: [u32; 2] = [0x8620, 0x8804];
const PROGRAM_FORMAT_ASCII: u32 = 0x8875;

/// The conventional attributes of one corner.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Corner {
    /// `gl_Vertex`
    pub position: [f32; 4],
    /// `gl_Normal`
    pub normal: [f32; 3],
    /// `gl_Color`
    pub color: [f32; 4],
    /// `gl_SecondaryColor`
    pub secondary: [f32; 3],
    /// `gl_FogCoord`
    pub fog: f32,
    /// `gl_MultiTexCoord0` up.
    pub texture: [[f32; 4]; 8],
}

impl Default for Corner {
    /// OpenGL's initial values.
    fn default() -> Corner {
        let last = [0.0, 0.0, 0.0, 1.0];
        let (normal, secondary) = ([0.0, 0.0, 1.0], [0.0; 3]);
        Corner { position: last, normal, color: [1.0; 4], secondary, fog: 0.0, texture: [last; 8] }
    }
}

impl From<&Vertex> for Corner {
    fn from(v: &Vertex) -> Corner {
        let mut corner = Corner { normal: v.normal, ..Corner::default() };
        corner.position[..3].copy_from_slice(&v.position);
        corner.texture[0][..2].copy_from_slice(&v.uv);
        corner
    }
}

/// How corners make primitives, by OpenGL's numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[allow(missing_docs)] // the names say it
pub enum Primitive {
    Points = 0,
    #[default]
    Triangles = 4,
    TriangleStrip = 5,
    TriangleFan = 6,
    Quads = 7,
}

/// Values of a generic attribute, one for each corner of the mesh.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// Its name in GLSL.
    pub name: String,
    /// Its first location; a matrix has a column in each of several.
    pub location: u32,
    /// By column, then by corner.
    pub values: Vec<Vec<[f32; 4]>>,
}

const MODELVIEW: u32 = 0x1700;
const PROJECTION: u32 = 0x1701;
const TEXTURE: u32 = 0x1702;
const TEXTURE0: u32 = 0x84C0;
const LIGHT0: u32 = 0x4000;
const CLIP_PLANE0: u32 = 0x3000;
const AMBIENT: u32 = 0x1200;
const DIFFUSE: u32 = 0x1201;
const SPECULAR: u32 = 0x1202;
const POSITION: u32 = 0x1203;
const SPOT_DIRECTION: u32 = 0x1204;
const SPOT_EXPONENT: u32 = 0x1205;
const SPOT_CUTOFF: u32 = 0x1206;
/// Constant, linear and quadratic.
const ATTENUATION: [u32; 3] = [0x1207, 0x1208, 0x1209];
const EMISSION: u32 = 0x1600;
const SHININESS: u32 = 0x1601;
const LIGHT_MODEL_AMBIENT: u32 = 0x0B53;
const FOG_COLOR: u32 = 0x0B66;
/// Density, start and end.
const FOG: [u32; 3] = [0x0B62, 0x0B63, 0x0B64];
const FLAT: u32 = 0x1D00;
const SMOOTH: u32 = 0x1D01;
const SIDES: [u32; 2] = [0x0404, 0x0405];

impl Legacy {
    /// Whether the vertex stage's colours are clamped to 0..1; those of fragments and of what is read
    /// never are.
    ///
    /// # Safety
    /// The context must be current.
    pub unsafe fn clamp_colors(&self, clamp: bool) {
        for (target, clamp) in [(0x891A, clamp), (0x891B, false), (0x891C, false)] {
            unsafe { (self.clamp_color)(target, clamp.into()) };
        }
    }

    /// Whether colours are taken from a primitive's last corner.
    ///
    /// # Safety
    /// The context must be current.
    pub unsafe fn set_flat(&self, flat: bool) {
        unsafe { (self.shade_model)(if flat { FLAT } else { SMOOTH }) };
    }

    unsafe fn set_matrix(&self, mode: u32, matrix: &Mat4) {
        unsafe {
            (self.matrix_mode)(mode);
            (self.load_matrix)(matrix.columns().as_flattened().as_ptr());
        }
    }

    /// Matrices, lights, materials, fog, clip planes.
    ///
    /// # Safety
    /// The context must be current.
    pub unsafe fn set_state(&self, state: &GlState) {
        unsafe {
            for (unit, matrix) in state.texture.iter().enumerate() {
                (self.texture_unit)(TEXTURE0 + unit as u32);
                self.set_matrix(TEXTURE, matrix);
            }
            self.set_matrix(PROJECTION, &state.projection);
            // What has a place goes through the modelview matrix of its call.
            self.set_matrix(MODELVIEW, &Mat4::IDENTITY);
            for (light, values) in (LIGHT0..).zip(&state.lights) {
                self.set_light(light, values);
            }
            for (plane, equation) in (CLIP_PLANE0..).zip(&state.clip_planes) {
                (self.clip_plane)(plane, equation.map(f64::from).as_ptr());
            }
            self.set_matrix(MODELVIEW, &state.modelview);
            (self.light_model)(LIGHT_MODEL_AMBIENT, state.scene_ambient.as_ptr());
            for (side, material) in SIDES.into_iter().zip(&state.materials) {
                for (name, value) in [
                    (AMBIENT, &material.ambient),
                    (DIFFUSE, &material.diffuse),
                    (SPECULAR, &material.specular),
                    (EMISSION, &material.emission),
                ] {
                    (self.material)(side, name, value.as_ptr());
                }
                (self.material)(side, SHININESS, &material.shininess);
            }
            (self.fog)(FOG_COLOR, state.fog_color.as_ptr());
            FOG.iter().zip(&state.fog).for_each(|(&name, value)| (self.fog)(name, value));
        }
    }

    unsafe fn set_light(&self, light: u32, values: &Light) {
        unsafe {
            for (name, value) in [
                (AMBIENT, &values.ambient),
                (DIFFUSE, &values.diffuse),
                (SPECULAR, &values.specular),
                (POSITION, &values.position),
            ] {
                (self.light)(light, name, value.as_ptr());
            }
            (self.light)(light, SPOT_DIRECTION, values.spot_direction.as_ptr());
            (self.light)(light, SPOT_EXPONENT, &values.spot_exponent);
            (self.light)(light, SPOT_CUTOFF, &values.spot_cutoff);
            ATTENUATION.iter().zip(&values.attenuation).for_each(|(&name, value)| (self.light)(light, name, value));
        }
    }

    /// Makes a program of a text and binds it; `stage` 0 is vertex, 1 fragment. Whether it was
    /// accepted is the caller's to ask.
    ///
    /// # Safety
    /// The context must be current.
    pub unsafe fn load_program(&self, stage: usize, text: &str) -> u32 {
        let target = PROGRAM_TARGETS[stage];
        let mut name = 0;
        unsafe {
            (self.make_programs)(1, &raw mut name);
            (self.bind_program)(target, name);
            (self.program_string)(target, PROGRAM_FORMAT_ASCII, text.len() as i32, text.as_ptr().cast());
        }
        name
    }

    /// Sets `program.local` of the program that is bound.
    ///
    /// # Safety
    /// The context must be current.
    pub unsafe fn set_locals(&self, stage: usize, locals: &[(u32, [f32; 4])]) {
        for (index, value) in locals {
            unsafe { (self.local_parameter)(PROGRAM_TARGETS[stage], *index, value.as_ptr()) };
        }
    }

    /// Deletes programs of [`Legacy::load_program`].
    ///
    /// # Safety
    /// The context must be current.
    pub unsafe fn delete_programs(&self, names: &[u32]) {
        unsafe { (self.delete_programs)(names.len() as i32, names.as_ptr()) };
    }

    /// Immediate mode. An attribute at location 0 is the vertex.
    ///
    /// # Safety
    /// The context must be current.
    pub unsafe fn draw(&self, primitive: Primitive, mesh: &[Corner], attributes: &[Attribute]) {
        unsafe {
            (self.begin)(primitive as u32);
            for (n, corner) in mesh.iter().enumerate() {
                (self.color)(corner.color.as_ptr());
                (self.secondary_color)(corner.secondary.as_ptr());
                (self.fog_coordinate)(&corner.fog);
                (self.normal)(corner.normal.as_ptr());
                for (unit, coordinates) in (TEXTURE0..).zip(&corner.texture) {
                    (self.texture_coordinate)(unit, coordinates.as_ptr());
                }
                let columns = attributes.iter().flat_map(|a| (a.location..).zip(&a.values));
                let mut first = None;
                for (location, values) in columns {
                    match location {
                        0 => first = Some(values[n]),
                        other => (self.vertex_attribute)(other, values[n].as_ptr()),
                    }
                }
                match first {
                    Some(value) => (self.vertex_attribute)(0, value.as_ptr()),
                    None => (self.vertex)(corner.position.as_ptr()),
                }
            }
            (self.end)();
        }
    }
}
