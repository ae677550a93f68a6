//! The built-in variables, constants and state (GLSL 1.10 chapter 7, ES 1.00 chapter 7).
//!
//! State is a `uniform` like any other; the driver finds it by its `gl_` name.

use super::Features;
use crate::typed::Role;
use ir::types::Stage;

/// Where a variable exists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Where {
    /// Desktop GLSL, both stages.
    Desktop,
    /// Every language.
    Any,
    /// ES only.
    Es,
    /// Desktop, vertex stage.
    Vert,
    /// Desktop, fragment stage.
    Frag,
    /// Every language, vertex stage.
    AnyVert,
    /// Every language, fragment stage.
    AnyFrag,
    /// Fragment stage of 1.20 and ES; 1.10 drivers have it too.
    Frag120,
    /// ES with GL_EXT_frag_depth.
    FragDepthExt,
}

/// A built-in variable. `ty` is a keyword or a name of [`STRUCTS`].
#[derive(Clone, Copy, Debug)]
pub struct BuiltinVar {
    /// With `gl_`.
    pub name: &'static str,
    /// Type without array.
    pub ty: &'static str,
    /// Array size; `Some(0)` is open until it is declared or indexed.
    pub array: Option<u32>,
    /// What it is.
    pub role: Role,
    /// Where it is.
    pub place: Where,
}

const MAX_LIGHTS: u32 = 8;
const MAX_CLIP_PLANES: u32 = 8;
const MAX_TEXTURE_COORDS: u32 = 8;
/// How many colours a fragment may write.
pub const MAX_DRAW_BUFFERS: u32 = 8;

/// The constants with their values and where they are.
pub const CONSTANTS: &[(&str, u32, Where)] = &[
    ("gl_MaxLights", MAX_LIGHTS, Where::Desktop),
    ("gl_MaxClipPlanes", MAX_CLIP_PLANES, Where::Desktop),
    ("gl_MaxTextureUnits", 8, Where::Desktop),
    ("gl_MaxTextureCoords", MAX_TEXTURE_COORDS, Where::Desktop),
    ("gl_MaxVertexAttribs", 16, Where::Any),
    ("gl_MaxVertexUniformComponents", 1024, Where::Desktop),
    ("gl_MaxVaryingFloats", 64, Where::Desktop),
    ("gl_MaxVertexTextureImageUnits", 16, Where::Any),
    ("gl_MaxCombinedTextureImageUnits", 32, Where::Any),
    ("gl_MaxTextureImageUnits", 16, Where::Any),
    ("gl_MaxFragmentUniformComponents", 1024, Where::Desktop),
    ("gl_MaxDrawBuffers", MAX_DRAW_BUFFERS, Where::Any),
    ("gl_MaxVertexUniformVectors", 256, Where::Es),
    ("gl_MaxVaryingVectors", 16, Where::Es),
    ("gl_MaxFragmentUniformVectors", 256, Where::Es),
];

type StructRow = (&'static str, Where, &'static [(&'static str, &'static str)]);

/// The structs of the state.
pub const STRUCTS: &[StructRow] = &[
    ("gl_DepthRangeParameters", Where::Any, &[("float", "near"), ("float", "far"), ("float", "diff")]),
    (
        "gl_PointParameters",
        Where::Desktop,
        &[
            ("float", "size"),
            ("float", "sizeMin"),
            ("float", "sizeMax"),
            ("float", "fadeThresholdSize"),
            ("float", "distanceConstantAttenuation"),
            ("float", "distanceLinearAttenuation"),
            ("float", "distanceQuadraticAttenuation"),
        ],
    ),
    (
        "gl_MaterialParameters",
        Where::Desktop,
        &[("vec4", "emission"), ("vec4", "ambient"), ("vec4", "diffuse"), ("vec4", "specular"), ("float", "shininess")],
    ),
    (
        "gl_LightSourceParameters",
        Where::Desktop,
        &[
            ("vec4", "ambient"),
            ("vec4", "diffuse"),
            ("vec4", "specular"),
            ("vec4", "position"),
            ("vec4", "halfVector"),
            ("vec3", "spotDirection"),
            ("float", "spotExponent"),
            ("float", "spotCutoff"),
            ("float", "spotCosCutoff"),
            ("float", "constantAttenuation"),
            ("float", "linearAttenuation"),
            ("float", "quadraticAttenuation"),
        ],
    ),
    ("gl_LightModelParameters", Where::Desktop, &[("vec4", "ambient")]),
    ("gl_LightModelProducts", Where::Desktop, &[("vec4", "sceneColor")]),
    ("gl_LightProducts", Where::Desktop, &[("vec4", "ambient"), ("vec4", "diffuse"), ("vec4", "specular")]),
    (
        "gl_FogParameters",
        Where::Desktop,
        &[("vec4", "color"), ("float", "density"), ("float", "start"), ("float", "end"), ("float", "scale")],
    ),
];

const fn row(name: &'static str, ty: &'static str, array: Option<u32>, role: Role, place: Where) -> BuiltinVar {
    BuiltinVar { name, ty, array, role, place }
}

const fn state(name: &'static str, ty: &'static str) -> BuiltinVar {
    row(name, ty, None, Role::Uniform, Where::Desktop)
}

const fn state_array(name: &'static str, ty: &'static str, len: u32) -> BuiltinVar {
    row(name, ty, Some(len), Role::Uniform, Where::Desktop)
}

const fn attr(name: &'static str, ty: &'static str) -> BuiltinVar {
    row(name, ty, None, Role::Attribute, Where::Vert)
}

/// The variables.
pub const VARIABLES: &[BuiltinVar] = &[
    attr("gl_Vertex", "vec4"),
    attr("gl_Normal", "vec3"),
    row("gl_Color", "vec4", None, Role::Attribute, Where::Vert),
    row("gl_SecondaryColor", "vec4", None, Role::Attribute, Where::Vert),
    attr("gl_MultiTexCoord0", "vec4"),
    attr("gl_MultiTexCoord1", "vec4"),
    attr("gl_MultiTexCoord2", "vec4"),
    attr("gl_MultiTexCoord3", "vec4"),
    attr("gl_MultiTexCoord4", "vec4"),
    attr("gl_MultiTexCoord5", "vec4"),
    attr("gl_MultiTexCoord6", "vec4"),
    attr("gl_MultiTexCoord7", "vec4"),
    attr("gl_FogCoord", "float"),
    row("gl_Position", "vec4", None, Role::Output, Where::AnyVert),
    row("gl_PointSize", "float", None, Role::Output, Where::AnyVert),
    row("gl_ClipVertex", "vec4", None, Role::Output, Where::Vert),
    row("gl_FrontColor", "vec4", None, Role::Varying, Where::Vert),
    row("gl_BackColor", "vec4", None, Role::Varying, Where::Vert),
    row("gl_FrontSecondaryColor", "vec4", None, Role::Varying, Where::Vert),
    row("gl_BackSecondaryColor", "vec4", None, Role::Varying, Where::Vert),
    row("gl_TexCoord", "vec4", Some(0), Role::Varying, Where::Desktop),
    row("gl_FogFragCoord", "float", None, Role::Varying, Where::Desktop),
    row("gl_Color", "vec4", None, Role::Varying, Where::Frag),
    row("gl_SecondaryColor", "vec4", None, Role::Varying, Where::Frag),
    row("gl_FragCoord", "vec4", None, Role::Input, Where::AnyFrag),
    row("gl_FrontFacing", "bool", None, Role::Input, Where::AnyFrag),
    row("gl_PointCoord", "vec2", None, Role::Input, Where::Frag120),
    row("gl_FragColor", "vec4", None, Role::Output, Where::AnyFrag),
    row("gl_FragData", "vec4", Some(MAX_DRAW_BUFFERS), Role::Output, Where::AnyFrag),
    row("gl_FragDepth", "float", None, Role::Output, Where::Frag),
    row("gl_FragDepthEXT", "float", None, Role::Output, Where::FragDepthExt),
    state("gl_ModelViewMatrix", "mat4"),
    state("gl_ProjectionMatrix", "mat4"),
    state("gl_ModelViewProjectionMatrix", "mat4"),
    state_array("gl_TextureMatrix", "mat4", MAX_TEXTURE_COORDS),
    state("gl_NormalMatrix", "mat3"),
    state("gl_ModelViewMatrixInverse", "mat4"),
    state("gl_ProjectionMatrixInverse", "mat4"),
    state("gl_ModelViewProjectionMatrixInverse", "mat4"),
    state_array("gl_TextureMatrixInverse", "mat4", MAX_TEXTURE_COORDS),
    state("gl_ModelViewMatrixTranspose", "mat4"),
    state("gl_ProjectionMatrixTranspose", "mat4"),
    state("gl_ModelViewProjectionMatrixTranspose", "mat4"),
    state_array("gl_TextureMatrixTranspose", "mat4", MAX_TEXTURE_COORDS),
    state("gl_ModelViewMatrixInverseTranspose", "mat4"),
    state("gl_ProjectionMatrixInverseTranspose", "mat4"),
    state("gl_ModelViewProjectionMatrixInverseTranspose", "mat4"),
    state_array("gl_TextureMatrixInverseTranspose", "mat4", MAX_TEXTURE_COORDS),
    state("gl_NormalScale", "float"),
    row("gl_DepthRange", "gl_DepthRangeParameters", None, Role::Uniform, Where::Any),
    state_array("gl_ClipPlane", "vec4", MAX_CLIP_PLANES),
    state("gl_Point", "gl_PointParameters"),
    state("gl_FrontMaterial", "gl_MaterialParameters"),
    state("gl_BackMaterial", "gl_MaterialParameters"),
    state_array("gl_LightSource", "gl_LightSourceParameters", MAX_LIGHTS),
    state("gl_LightModel", "gl_LightModelParameters"),
    state("gl_FrontLightModelProduct", "gl_LightModelProducts"),
    state("gl_BackLightModelProduct", "gl_LightModelProducts"),
    state_array("gl_FrontLightProduct", "gl_LightProducts", MAX_LIGHTS),
    state_array("gl_BackLightProduct", "gl_LightProducts", MAX_LIGHTS),
    state_array("gl_TextureEnvColor", "vec4", 8),
    state_array("gl_EyePlaneS", "vec4", MAX_TEXTURE_COORDS),
    state_array("gl_EyePlaneT", "vec4", MAX_TEXTURE_COORDS),
    state_array("gl_EyePlaneR", "vec4", MAX_TEXTURE_COORDS),
    state_array("gl_EyePlaneQ", "vec4", MAX_TEXTURE_COORDS),
    state_array("gl_ObjectPlaneS", "vec4", MAX_TEXTURE_COORDS),
    state_array("gl_ObjectPlaneT", "vec4", MAX_TEXTURE_COORDS),
    state_array("gl_ObjectPlaneR", "vec4", MAX_TEXTURE_COORDS),
    state_array("gl_ObjectPlaneQ", "vec4", MAX_TEXTURE_COORDS),
    state("gl_Fog", "gl_FogParameters"),
];

impl Where {
    /// Whether it is here.
    pub fn is_here(self, f: &Features) -> bool {
        let (es, vert) = (f.version.is_es(), f.stage == Stage::Vertex);
        match self {
            Where::Desktop => !es,
            Where::Any => true,
            Where::Es => es,
            Where::Vert => !es && vert,
            Where::Frag => !es && !vert,
            Where::AnyVert => vert,
            Where::AnyFrag => !vert,
            Where::Frag120 => !vert,
            Where::FragDepthExt => es && !vert && f.frag_depth,
        }
    }
}

/// The variable of that name here.
pub fn find(name: &str, f: &Features) -> Option<&'static BuiltinVar> {
    VARIABLES.iter().find(|v| v.name == name && v.place.is_here(f))
}

/// The value of the constant of that name here.
pub fn constant(name: &str, f: &Features) -> Option<u32> {
    CONSTANTS.iter().find(|c| c.0 == name && c.2.is_here(f)).map(|c| c.1)
}

/// All names here, for suggestions.
pub fn names(f: &Features) -> impl Iterator<Item = &'static str> {
    let vars = VARIABLES.iter().filter(|v| v.place.is_here(f)).map(|v| v.name);
    let constants = CONSTANTS.iter().filter(|c| c.2.is_here(f)).map(|c| c.0);
    vars.chain(constants)
}
