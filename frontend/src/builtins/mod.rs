//! What the language itself declares: functions ([`functions`], [`textures`]) and variables
//! ([`variables`]), as tables. The tables say names, types and where something exists; what a
//! function computes is in `lower::builtin` (code) and `check::builtin_eval` (constants).
//!
//! Follows chapters 7 and 8 of the OpenGL Shading Language 1.10.59, 1.20.8 and ES 1.00.17.

mod absent;
pub mod functions;
pub mod textures;
pub mod variables;

pub use absent::belongs_to;

use crate::ast::{ExtBehavior, Extension, SamplerKind, Version};
use crate::typed::Ty;
use ir::types::Stage;
use std::fmt;

/// A built-in function (one for all its overloads, except texture reads).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)] // the names are the language's
pub enum BuiltinFn {
    Radians,
    Degrees,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Atan2,
    Pow,
    Exp,
    Log,
    Exp2,
    Log2,
    Sqrt,
    InverseSqrt,
    Abs,
    Sign,
    Floor,
    Ceil,
    Fract,
    Mod,
    Min,
    Max,
    Clamp,
    Mix,
    Step,
    SmoothStep,
    Length,
    Distance,
    Dot,
    Cross,
    Normalize,
    FaceForward,
    Reflect,
    Refract,
    MatrixCompMult,
    OuterProduct,
    Transpose,
    LessThan,
    LessThanEqual,
    GreaterThan,
    GreaterThanEqual,
    Equal,
    NotEqual,
    Any,
    All,
    Not,
    Dfdx,
    Dfdy,
    Fwidth,
    Noise,
    Ftransform,
    Texture(TexFn),
}

/// One texture read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TexFn {
    /// The sampler's type.
    pub kind: SamplerKind,
    /// Divides by the last coordinate.
    pub proj: bool,
    /// How the level is found.
    pub level: TexLevel,
}

/// How a texture read finds its level.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TexLevel {
    /// From the neighbours.
    Auto,
    /// The same, plus the last argument.
    Bias,
    /// The last argument.
    Lod,
}

impl BuiltinFn {
    /// Whether it reads a texture.
    pub fn is_texture(self) -> bool {
        matches!(self, BuiltinFn::Texture(_))
    }
}

impl fmt::Display for BuiltinFn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuiltinFn::Texture(t) => f.write_str(&textures::name_of(*t)),
            other => write!(f, "{}", format!("{other:?}").to_lowercase()),
        }
    }
}

/// One overload with concrete types.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signature {
    /// Which function.
    pub func: BuiltinFn,
    /// What it gives.
    pub result: Ty<'static>,
    /// What it takes, all `in`.
    pub params: Vec<Ty<'static>>,
}

/// What is switched on: language, stage, extensions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Features {
    /// The language.
    pub version: Version,
    /// The stage.
    pub stage: Stage,
    /// GL_ARB_texture_rectangle (on by itself in desktop GLSL, as drivers have it).
    pub rectangle: bool,
    /// GL_ARB_shader_texture_lod or GL_EXT_shader_texture_lod.
    pub texture_lod: bool,
    /// Derivatives: desktop, or GL_OES_standard_derivatives.
    pub derivatives: bool,
    /// GL_EXT_frag_depth in ES.
    pub frag_depth: bool,
}

impl Features {
    /// What a text's `#extension` lines switch on.
    pub fn new(version: Version, stage: Stage, extensions: &[Extension<'_>]) -> Features {
        let es = version.is_es();
        let mut f =
            Features { version, stage, rectangle: !es, texture_lod: false, derivatives: !es, frag_depth: false };
        for ext in extensions {
            let on = ext.behavior != ExtBehavior::Disable;
            match ext.name.text {
                "GL_ARB_texture_rectangle" => f.rectangle = on,
                "GL_ARB_shader_texture_lod" | "GL_EXT_shader_texture_lod" => f.texture_lod = on,
                "GL_OES_standard_derivatives" => f.derivatives = on || !es,
                "GL_EXT_frag_depth" => f.frag_depth = on,
                // Warn about all uses: everything that is there may be used.
                "all" if ext.behavior == ExtBehavior::Warn => {
                    f.texture_lod = true;
                    f.derivatives = true;
                }
                _ => {}
            }
        }
        f
    }

    /// Whether implicit conversions exist.
    pub fn conversions(&self) -> bool {
        self.version == Version::Glsl120
    }
}

/// All overloads of a name that exist here.
pub fn overloads(name: &str, features: &Features) -> Vec<Signature> {
    let mut out = functions::overloads(name, features);
    out.extend(textures::overloads(name, features));
    out
}

/// Whether the name is a built-in function in some language or stage.
pub fn is_function_name(name: &str) -> bool {
    functions::NAMES.contains(&name) || textures::is_name(name)
}

/// All names of functions that exist here, for suggestions.
pub fn function_names(features: &Features) -> Vec<String> {
    let plain = functions::NAMES.iter().map(|n| n.to_string());
    plain.chain(textures::names()).filter(|n| !overloads(n, features).is_empty()).collect()
}
