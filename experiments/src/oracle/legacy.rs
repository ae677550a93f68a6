//! The fixed-function calls that `glow` lacks: matrices, lights, materials, immediate mode.

use eggshade::render::mesh::Vertex;
use eggshade::render::state::GlState;
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
    begin: "glBegin" (u32);
    end: "glEnd" ();
    vertex: "glVertex3fv" (*const f32);
    normal: "glNormal3fv" (*const f32);
    texture_coordinate: "glTexCoord2fv" (*const f32);
    color: "glColor4fv" (*const f32);
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
const LIGHT0: u32 = 0x4000;
const AMBIENT: u32 = 0x1200;
const DIFFUSE: u32 = 0x1201;
const SPECULAR: u32 = 0x1202;
const POSITION: u32 = 0x1203;
const EMISSION: u32 = 0x1600;
const SHININESS: u32 = 0x1601;
const LIGHT_MODEL_AMBIENT: u32 = 0x0B53;
const SIDES: [u32; 2] = [0x0404, 0x0405];
const TRIANGLES: u32 = 4;

impl Legacy {
    /// Colours are not clamped to 0..1 anywhere.
    ///
    /// # Safety
    /// The context must be current.
    pub unsafe fn unclamp_colors(&self) {
        for target in [0x891A, 0x891B, 0x891C] {
            unsafe { (self.clamp_color)(target, 0) };
        }
    }

    /// Matrices, the first light, materials.
    ///
    /// # Safety
    /// The context must be current.
    pub unsafe fn set_state(&self, state: &GlState) {
        let load = |mode, columns: [[f32; 4]; 4]| unsafe {
            (self.matrix_mode)(mode);
            (self.load_matrix)(columns.as_flattened().as_ptr());
        };
        unsafe {
            load(PROJECTION, state.projection.columns());
            // A light's position goes through the modelview matrix of its call.
            load(MODELVIEW, eggshade::render::matrix::Mat4::IDENTITY.columns());
            let light = &state.lights[0];
            for (name, value) in [
                (AMBIENT, &light.ambient),
                (DIFFUSE, &light.diffuse),
                (SPECULAR, &light.specular),
                (POSITION, &light.position),
            ] {
                (self.light)(LIGHT0, name, value.as_ptr());
            }
            load(MODELVIEW, state.modelview.columns());
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
        }
    }

    /// Makes a program of a text and binds it; `stage` 0 is vertex, 1 fragment. Whether it was
    /// accepted is the caller's to ask.
    ///
    /// # Safety
    /// The context must be current.
    pub unsafe fn load_program(&self, stage: usize, text: &str, locals: &[(u32, [f32; 4])]) -> u32 {
        let target = PROGRAM_TARGETS[stage];
        let mut name = 0;
        unsafe {
            (self.make_programs)(1, &raw mut name);
            (self.bind_program)(target, name);
            (self.program_string)(target, PROGRAM_FORMAT_ASCII, text.len() as i32, text.as_ptr().cast());
            for (index, value) in locals {
                (self.local_parameter)(target, *index, value.as_ptr());
            }
        }
        name
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
    pub unsafe fn draw_triangles(&self, mesh: &[Vertex], attributes: &[Attribute]) {
        unsafe {
            (self.begin)(TRIANGLES);
            (self.color)([1.0; 4].as_ptr());
            for (corner, v) in mesh.iter().enumerate() {
                (self.normal)(v.normal.as_ptr());
                (self.texture_coordinate)(v.uv.as_ptr());
                let columns = attributes.iter().flat_map(|a| (a.location..).zip(&a.values));
                let mut first = None;
                for (location, values) in columns {
                    match location {
                        0 => first = Some(values[corner]),
                        n => (self.vertex_attribute)(n, values[corner].as_ptr()),
                    }
                }
                match first {
                    Some(value) => (self.vertex_attribute)(0, value.as_ptr()),
                    None => (self.vertex)(v.position.as_ptr()),
                }
            }
            (self.end)();
        }
    }
}
