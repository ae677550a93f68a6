//! The built-in functions that are no texture reads. A row is name, function, where, result and
//! parameters in the specification's generic types.

use super::{BuiltinFn, Features, Signature};
use crate::ast::Version;
use crate::typed::Ty;
use ir::types::{Scalar, Stage};

/// A type of the table: concrete, or one letter that stands for the same member of a family in
/// the whole row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum P {
    /// `float`
    F,
    /// `bool`
    B,
    /// `vecN`
    V(u8),
    /// float, vec2, vec3, vec4
    G,
    /// vec2, vec3, vec4
    Vn,
    /// ivec2, ivec3, ivec4
    In,
    /// bvec2, bvec3, bvec4
    Bn,
    /// Every matrix.
    M,
    /// `M` with columns and rows exchanged.
    Mt,
    /// A column's and a row's vector of `M`.
    Col,
    Row,
}

/// Where a function exists.
#[derive(Clone, Copy, PartialEq, Eq)]
enum W {
    All,
    Desktop,
    V120,
    DesktopVertex,
    Derivatives,
}

use BuiltinFn as Fx;
use P::*;

type Entry = (&'static str, BuiltinFn, W, P, &'static [P]);

#[rustfmt::skip]
const TABLE: &[Entry] = &[
    ("radians", Fx::Radians, W::All, G, &[G]),
    ("degrees", Fx::Degrees, W::All, G, &[G]),
    ("sin", Fx::Sin, W::All, G, &[G]),
    ("cos", Fx::Cos, W::All, G, &[G]),
    ("tan", Fx::Tan, W::All, G, &[G]),
    ("asin", Fx::Asin, W::All, G, &[G]),
    ("acos", Fx::Acos, W::All, G, &[G]),
    ("atan", Fx::Atan2, W::All, G, &[G, G]),
    ("atan", Fx::Atan, W::All, G, &[G]),
    ("pow", Fx::Pow, W::All, G, &[G, G]),
    ("exp", Fx::Exp, W::All, G, &[G]),
    ("log", Fx::Log, W::All, G, &[G]),
    ("exp2", Fx::Exp2, W::All, G, &[G]),
    ("log2", Fx::Log2, W::All, G, &[G]),
    ("sqrt", Fx::Sqrt, W::All, G, &[G]),
    ("inversesqrt", Fx::InverseSqrt, W::All, G, &[G]),
    ("abs", Fx::Abs, W::All, G, &[G]),
    ("sign", Fx::Sign, W::All, G, &[G]),
    ("floor", Fx::Floor, W::All, G, &[G]),
    ("ceil", Fx::Ceil, W::All, G, &[G]),
    ("fract", Fx::Fract, W::All, G, &[G]),
    ("mod", Fx::Mod, W::All, G, &[G, G]),
    ("mod", Fx::Mod, W::All, Vn, &[Vn, F]),
    ("min", Fx::Min, W::All, G, &[G, G]),
    ("min", Fx::Min, W::All, Vn, &[Vn, F]),
    ("max", Fx::Max, W::All, G, &[G, G]),
    ("max", Fx::Max, W::All, Vn, &[Vn, F]),
    ("clamp", Fx::Clamp, W::All, G, &[G, G, G]),
    ("clamp", Fx::Clamp, W::All, Vn, &[Vn, F, F]),
    ("mix", Fx::Mix, W::All, G, &[G, G, G]),
    ("mix", Fx::Mix, W::All, Vn, &[Vn, Vn, F]),
    ("step", Fx::Step, W::All, G, &[G, G]),
    ("step", Fx::Step, W::All, Vn, &[F, Vn]),
    ("smoothstep", Fx::SmoothStep, W::All, G, &[G, G, G]),
    ("smoothstep", Fx::SmoothStep, W::All, Vn, &[F, F, Vn]),
    ("length", Fx::Length, W::All, F, &[G]),
    ("distance", Fx::Distance, W::All, F, &[G, G]),
    ("dot", Fx::Dot, W::All, F, &[G, G]),
    ("cross", Fx::Cross, W::All, V(3), &[V(3), V(3)]),
    ("normalize", Fx::Normalize, W::All, G, &[G]),
    ("ftransform", Fx::Ftransform, W::DesktopVertex, V(4), &[]),
    ("faceforward", Fx::FaceForward, W::All, G, &[G, G, G]),
    ("reflect", Fx::Reflect, W::All, G, &[G, G]),
    ("refract", Fx::Refract, W::All, G, &[G, G, F]),
    ("matrixCompMult", Fx::MatrixCompMult, W::All, M, &[M, M]),
    ("outerProduct", Fx::OuterProduct, W::V120, M, &[Col, Row]),
    ("transpose", Fx::Transpose, W::V120, Mt, &[M]),
    ("lessThan", Fx::LessThan, W::All, Bn, &[Vn, Vn]),
    ("lessThan", Fx::LessThan, W::All, Bn, &[In, In]),
    ("lessThanEqual", Fx::LessThanEqual, W::All, Bn, &[Vn, Vn]),
    ("lessThanEqual", Fx::LessThanEqual, W::All, Bn, &[In, In]),
    ("greaterThan", Fx::GreaterThan, W::All, Bn, &[Vn, Vn]),
    ("greaterThan", Fx::GreaterThan, W::All, Bn, &[In, In]),
    ("greaterThanEqual", Fx::GreaterThanEqual, W::All, Bn, &[Vn, Vn]),
    ("greaterThanEqual", Fx::GreaterThanEqual, W::All, Bn, &[In, In]),
    ("equal", Fx::Equal, W::All, Bn, &[Vn, Vn]),
    ("equal", Fx::Equal, W::All, Bn, &[In, In]),
    ("equal", Fx::Equal, W::All, Bn, &[Bn, Bn]),
    ("notEqual", Fx::NotEqual, W::All, Bn, &[Vn, Vn]),
    ("notEqual", Fx::NotEqual, W::All, Bn, &[In, In]),
    ("notEqual", Fx::NotEqual, W::All, Bn, &[Bn, Bn]),
    ("any", Fx::Any, W::All, B, &[Bn]),
    ("all", Fx::All, W::All, B, &[Bn]),
    ("not", Fx::Not, W::All, Bn, &[Bn]),
    ("dFdx", Fx::Dfdx, W::Derivatives, G, &[G]),
    ("dFdy", Fx::Dfdy, W::Derivatives, G, &[G]),
    ("fwidth", Fx::Fwidth, W::Derivatives, G, &[G]),
    ("noise1", Fx::Noise, W::Desktop, F, &[G]),
    ("noise2", Fx::Noise, W::Desktop, V(2), &[G]),
    ("noise3", Fx::Noise, W::Desktop, V(3), &[G]),
    ("noise4", Fx::Noise, W::Desktop, V(4), &[G]),
];

/// All names, each once.
pub(super) const NAMES: &[&str] = &[
    "radians",
    "degrees",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "pow",
    "exp",
    "log",
    "exp2",
    "log2",
    "sqrt",
    "inversesqrt",
    "abs",
    "sign",
    "floor",
    "ceil",
    "fract",
    "mod",
    "min",
    "max",
    "clamp",
    "mix",
    "step",
    "smoothstep",
    "length",
    "distance",
    "dot",
    "cross",
    "normalize",
    "ftransform",
    "faceforward",
    "reflect",
    "refract",
    "matrixCompMult",
    "outerProduct",
    "transpose",
    "lessThan",
    "lessThanEqual",
    "greaterThan",
    "greaterThanEqual",
    "equal",
    "notEqual",
    "any",
    "all",
    "not",
    "dFdx",
    "dFdy",
    "fwidth",
    "noise1",
    "noise2",
    "noise3",
    "noise4",
];

impl W {
    fn is_here(self, f: &Features) -> bool {
        match self {
            W::All => true,
            W::Desktop => !f.version.is_es(),
            W::V120 => f.version == Version::Glsl120,
            W::DesktopVertex => !f.version.is_es() && f.stage == Stage::Vertex,
            W::Derivatives => f.derivatives && f.stage == Stage::Fragment,
        }
    }
}

/// The members that a row's letters run over: (lanes or columns, rows).
fn members(row: &Entry, features: &Features) -> Vec<(u8, u8)> {
    let has = |p: P| row.3 == p || row.4.contains(&p);
    if has(M) || has(Col) {
        let all = (2..=4).flat_map(|c| (2..=4).map(move |r| (c, r)));
        // Only 1.20 has matrices that are not square.
        all.filter(|(c, r)| features.version == Version::Glsl120 || c == r).collect()
    } else if has(G) {
        (1..=4).map(|n| (n, 0)).collect()
    } else if has(Vn) || has(In) || has(Bn) {
        (2..=4).map(|n| (n, 0)).collect()
    } else {
        vec![(0, 0)]
    }
}

fn concrete(p: P, (n, rows): (u8, u8)) -> Ty<'static> {
    match p {
        F => Ty::FLOAT,
        B => Ty::BOOL,
        V(lanes) => Ty::float(lanes),
        G | Vn => Ty::float(n),
        In => Ty::vec(Scalar::Int, n),
        Bn => Ty::vec(Scalar::Bool, n),
        M => Ty::Mat { cols: n, rows },
        Mt => Ty::Mat { cols: rows, rows: n },
        Col => Ty::float(rows),
        Row => Ty::float(n),
    }
}

/// The overloads of a name that exist here.
pub(super) fn overloads(name: &str, features: &Features) -> Vec<Signature> {
    let rows = TABLE.iter().filter(|row| row.0 == name && row.2.is_here(features));
    rows.flat_map(|row| {
        members(row, features).into_iter().map(|m| Signature {
            func: row.1,
            result: concrete(row.3, m),
            params: row.4.iter().map(|&p| concrete(p, m)).collect(),
        })
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_names_is_the_tables() {
        let mut names: Vec<&str> = TABLE.iter().map(|r| r.0).collect();
        names.dedup();
        assert_eq!(names, NAMES);
    }

    #[test]
    fn rows_become_concrete() {
        let f = Features::new(Version::Glsl110, Stage::Fragment, &[]);
        assert_eq!(overloads("mix", &f).len(), 7);
        assert_eq!(overloads("matrixCompMult", &f).len(), 3);
        assert!(overloads("transpose", &f).is_empty());
        let f = Features::new(Version::Glsl120, Stage::Fragment, &[]);
        assert_eq!(overloads("outerProduct", &f).len(), 9);
        let one = &overloads("outerProduct", &f)[1]; // 2 columns of 3 rows
        assert_eq!(format!("{one:?}"), "Signature { func: OuterProduct, result: mat2x3, params: [vec3, vec2] }");
    }
}
