//! Fixed-function state of OpenGL 2.1 that a shader can read (GLSL 1.10 section 7.5): matrices with
//! their derived forms, lights, materials, fog, points, clip planes. Starts with OpenGL's initial
//! values, except for the light and the camera that `render` sets.

use super::matrix::Mat4;

/// A light source (table 6.10 of OpenGL 2.1), in eye space.
#[derive(Clone, Copy, PartialEq, Debug)]
#[allow(missing_docs)] // the fields are those of gl_LightSourceParameters
pub struct Light {
    pub ambient: [f32; 4],
    pub diffuse: [f32; 4],
    pub specular: [f32; 4],
    pub position: [f32; 4],
    pub spot_direction: [f32; 3],
    pub spot_exponent: f32,
    pub spot_cutoff: f32,
    pub attenuation: [f32; 3],
}

/// A material.
#[derive(Clone, Copy, PartialEq, Debug)]
#[allow(missing_docs)] // the fields are those of gl_MaterialParameters
pub struct Material {
    pub emission: [f32; 4],
    pub ambient: [f32; 4],
    pub diffuse: [f32; 4],
    pub specular: [f32; 4],
    pub shininess: f32,
}

/// The state as a whole.
#[derive(Clone, PartialEq, Debug)]
pub struct GlState {
    /// Object to eye space.
    pub modelview: Mat4,
    /// Eye to clip space.
    pub projection: Mat4,
    /// One for each texture unit.
    pub texture: [Mat4; 8],
    /// `GL_LIGHT0` up.
    pub lights: [Light; 8],
    /// Front and back.
    pub materials: [Material; 2],
    /// `GL_LIGHT_MODEL_AMBIENT`
    pub scene_ambient: [f32; 4],
    /// In eye space.
    pub clip_planes: [[f32; 4]; 8],
    /// Colour, then density, start, end.
    pub fog_color: [f32; 4],
    /// Density, start, end.
    pub fog: [f32; 3],
}

impl Default for GlState {
    fn default() -> GlState {
        let black = [0.0, 0.0, 0.0, 1.0];
        let light = |first: bool| Light {
            ambient: black,
            diffuse: if first { [1.0; 4] } else { black },
            specular: if first { [1.0; 4] } else { black },
            position: [0.0, 0.0, 1.0, 0.0],
            spot_direction: [0.0, 0.0, -1.0],
            spot_exponent: 0.0,
            spot_cutoff: 180.0,
            attenuation: [1.0, 0.0, 0.0],
        };
        let material = Material {
            emission: black,
            ambient: [0.2, 0.2, 0.2, 1.0],
            diffuse: [0.8, 0.8, 0.8, 1.0],
            specular: black,
            shininess: 0.0,
        };
        let mut lights = [light(false); 8];
        lights[0] = light(true);
        GlState {
            modelview: Mat4::IDENTITY,
            projection: Mat4::IDENTITY,
            texture: [Mat4::IDENTITY; 8],
            lights,
            materials: [material; 2],
            scene_ambient: [0.2, 0.2, 0.2, 1.0],
            clip_planes: [[0.0; 4]; 8],
            fog_color: [0.0; 4],
            fog: [1.0, 0.0, 1.0],
        }
    }
}

fn scalar(v: f32) -> [f32; 4] {
    [v, 0.0, 0.0, 0.0]
}

fn vec3(v: [f32; 3]) -> [f32; 4] {
    [v[0], v[1], v[2], 0.0]
}

fn product(a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
    [0, 1, 2, 3].map(|i| a[i] * b[i])
}

impl GlState {
    /// The register `elem` of a `gl_` uniform by its TAC name, such as `gl_LightSource.diffuse`
    /// (element: the light's number) or `gl_NormalMatrix` (element: the column). `None` when it is
    /// no state that this knows.
    pub fn uniform(&self, name: &str, elem: u32) -> Option<[f32; 4]> {
        let (structure, field) = name.split_once('.').unwrap_or((name, ""));
        let elem = elem as usize;
        match structure {
            "gl_NormalMatrix" => Some(self.modelview.inverse().transposed().columns()[elem.min(2)]),
            "gl_NormalScale" => Some(scalar(1.0)),
            "gl_DepthRange" => Some(scalar(if field == "near" { 0.0 } else { 1.0 })),
            "gl_ClipPlane" => self.clip_planes.get(elem).copied(),
            "gl_Point" => Some(scalar(match field {
                "size" | "fadeThresholdSize" | "distanceConstantAttenuation" => 1.0,
                "sizeMax" => 255.0,
                _ => 0.0,
            })),
            "gl_FrontMaterial" => self.materials[0].field(field),
            "gl_BackMaterial" => self.materials[1].field(field),
            "gl_LightSource" => self.lights.get(elem)?.field(field),
            "gl_LightModel" => Some(self.scene_ambient),
            "gl_FrontLightModelProduct" => Some(self.scene_color(0)),
            "gl_BackLightModelProduct" => Some(self.scene_color(1)),
            "gl_FrontLightProduct" => self.light_product(0, elem, field),
            "gl_BackLightProduct" => self.light_product(1, elem, field),
            "gl_TextureEnvColor" => Some([0.0; 4]),
            "gl_Fog" => Some(match field {
                "color" => self.fog_color,
                "density" => scalar(self.fog[0]),
                "start" => scalar(self.fog[1]),
                "end" => scalar(self.fog[2]),
                _ => scalar(1.0 / (self.fog[2] - self.fog[1])),
            }),
            _ => self.matrix(structure, elem).or_else(|| texgen_plane(structure)),
        }
    }

    /// `gl_ModelViewMatrix` and its kin: a base name, then `Inverse` and/or `Transpose`.
    fn matrix(&self, name: &str, elem: usize) -> Option<[f32; 4]> {
        let name = name.strip_prefix("gl_")?;
        let (name, transpose) = name.strip_suffix("Transpose").map_or((name, false), |n| (n, true));
        let (name, inverse) = name.strip_suffix("Inverse").map_or((name, false), |n| (n, true));
        let base = match name {
            "ModelViewMatrix" => self.modelview,
            "ProjectionMatrix" => self.projection,
            "ModelViewProjectionMatrix" => self.projection.times(&self.modelview),
            "TextureMatrix" => *self.texture.get(elem / 4)?,
            _ => return None,
        };
        let inverted = if inverse { base.inverse() } else { base };
        let matrix = if transpose { inverted.transposed() } else { inverted };
        Some(matrix.columns()[elem % 4])
    }

    fn scene_color(&self, side: usize) -> [f32; 4] {
        let m = &self.materials[side];
        let lit = product(m.ambient, self.scene_ambient);
        [0, 1, 2, 3].map(|i| m.emission[i] + lit[i])
    }

    fn light_product(&self, side: usize, light: usize, field: &str) -> Option<[f32; 4]> {
        Some(product(self.materials[side].field(field)?, self.lights.get(light)?.field(field)?))
    }
}

impl Material {
    fn field(&self, name: &str) -> Option<[f32; 4]> {
        Some(match name {
            "emission" => self.emission,
            "ambient" => self.ambient,
            "diffuse" => self.diffuse,
            "specular" => self.specular,
            "shininess" => scalar(self.shininess),
            _ => return None,
        })
    }
}

impl Light {
    /// The half vector of GLSL 1.10 section 7.5 for an infinite viewer.
    fn half_vector(&self) -> [f32; 4] {
        let normalize = |v: [f32; 3]| {
            let length = v.iter().map(|x| x * x).sum::<f32>().sqrt();
            v.map(|x| if length > 0.0 { x / length } else { x })
        };
        let [x, y, z, _] = self.position;
        let to_light = normalize([x, y, z]);
        vec3(normalize([to_light[0], to_light[1], to_light[2] + 1.0]))
    }

    fn field(&self, name: &str) -> Option<[f32; 4]> {
        Some(match name {
            "ambient" => self.ambient,
            "diffuse" => self.diffuse,
            "specular" => self.specular,
            "position" => self.position,
            "halfVector" => self.half_vector(),
            "spotDirection" => vec3(self.spot_direction),
            "spotExponent" => scalar(self.spot_exponent),
            "spotCutoff" => scalar(self.spot_cutoff),
            "spotCosCutoff" => scalar(if self.spot_cutoff == 180.0 {
                -1.0
            } else {
                f64::from(self.spot_cutoff).to_radians().cos() as f32
            }),
            "constantAttenuation" => scalar(self.attenuation[0]),
            "linearAttenuation" => scalar(self.attenuation[1]),
            "quadraticAttenuation" => scalar(self.attenuation[2]),
            _ => return None,
        })
    }
}

/// OpenGL's initial texture generation planes: s reads x, t reads y, r and q nothing.
fn texgen_plane(name: &str) -> Option<[f32; 4]> {
    let lane = name.strip_prefix("gl_EyePlane").or_else(|| name.strip_prefix("gl_ObjectPlane"))?;
    Some(match lane {
        "S" => [1.0, 0.0, 0.0, 0.0],
        "T" => [0.0, 1.0, 0.0, 0.0],
        _ => [0.0; 4],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derived_matrices() {
        let mut state = GlState { projection: Mat4::perspective(40.0, 1.0, 1.0, 9.0), ..GlState::default() };
        state.modelview = Mat4::translate([1.0, 2.0, 3.0]);
        assert_eq!(state.uniform("gl_ModelViewMatrix", 3), Some([1.0, 2.0, 3.0, 1.0]));
        assert_eq!(state.uniform("gl_ModelViewMatrixTranspose", 1), Some([0.0, 1.0, 0.0, 2.0]));
        assert_eq!(state.uniform("gl_ModelViewMatrixInverse", 3), Some([-1.0, -2.0, -3.0, 1.0]));
        assert_eq!(state.uniform("gl_TextureMatrix", 7), Some([0.0, 0.0, 0.0, 1.0]));
        assert_eq!(state.uniform("gl_NormalMatrix", 1).map(|c| c[1]), Some(1.0));
        assert_eq!(state.uniform("gl_Nothing", 0), None);
    }

    #[test]
    fn products_multiply_material_and_light() {
        let state = GlState::default();
        assert_eq!(state.uniform("gl_FrontLightProduct.diffuse", 0), Some([0.8, 0.8, 0.8, 1.0]));
        assert_eq!(state.uniform("gl_FrontLightModelProduct.sceneColor", 0).map(|c| c[0]), Some(0.2 * 0.2));
        assert_eq!(state.uniform("gl_Fog.scale", 0), Some(scalar(1.0)));
    }
}
