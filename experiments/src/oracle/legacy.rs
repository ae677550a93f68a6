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

    /// Immediate mode.
    ///
    /// # Safety
    /// The context must be current.
    pub unsafe fn draw_triangles(&self, mesh: &[Vertex]) {
        unsafe {
            (self.begin)(TRIANGLES);
            (self.color)([1.0; 4].as_ptr());
            for v in mesh {
                (self.normal)(v.normal.as_ptr());
                (self.texture_coordinate)(v.uv.as_ptr());
                (self.vertex)(v.position.as_ptr());
            }
            (self.end)();
        }
    }
}
