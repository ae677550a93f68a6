//! The closed word lists of the syntax tree: versions, qualifiers, built-in types, operators.
//!
//! Each is a small `Copy` enum that knows how it is written. Sorted by what they qualify; which of them
//! a version of the language has is the lexer's and the parser's business.

/// Which language the text is in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Version {
    /// Desktop GLSL 1.10 (also without `#version`).
    Glsl110,
    /// Desktop GLSL 1.20.
    Glsl120,
    /// GLSL ES 1.00.
    Es100,
}

impl Version {
    /// The number that `#version` and `__VERSION__` use.
    pub fn number(self) -> u32 {
        match self {
            Version::Glsl110 => 110,
            Version::Glsl120 => 120,
            Version::Es100 => 100,
        }
    }

    /// Whether it is the language of OpenGL ES.
    pub fn is_es(self) -> bool {
        self == Version::Es100
    }

    /// The version with that number.
    pub fn from_number(number: u32) -> Option<Version> {
        [Version::Glsl110, Version::Glsl120, Version::Es100].into_iter().find(|v| v.number() == number)
    }
}

/// What an `#extension` line asks for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ExtBehavior {
    /// Must be there.
    Require,
    /// Use it.
    Enable,
    /// Use it and warn at each use.
    Warn,
    /// As if unknown.
    Disable,
}

/// One `#pragma` line that the language knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PragmaKind {
    /// `optimize(on)` or `optimize(off)`.
    Optimize(bool),
    /// `debug(on)` or `debug(off)`.
    Debug(bool),
    /// `STDGL invariant(all)`: every output is invariant.
    InvariantAll,
}

/// How an argument travels.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Direction {
    /// Copied in.
    In,
    /// Copied out.
    Out,
    /// Both.
    InOut,
}

/// Storage qualifiers of variables.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Storage {
    /// `const`
    Const,
    /// `attribute`
    Attribute,
    /// `uniform`
    Uniform,
    /// `varying`
    Varying,
}

/// Precision qualifiers of ES 1.00 (1.20 has the words reserved).
pub use ir::tac::Precision;

/// Types that have a keyword.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BuiltinType {
    /// `void`
    Void,
    /// `float`, `int`, `bool` (one lane), `vecN`, `ivecN`, `bvecN`.
    Vector(ir::types::Type),
    /// `matCxR`; `matN` is `matNxN`. Each 2 to 4.
    Matrix {
        /// How many columns.
        cols: u8,
        /// How many rows.
        rows: u8,
    },
    /// A sampler.
    Sampler(SamplerKind),
}

/// Sampler types.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum SamplerKind {
    /// `sampler1D`
    D1,
    /// `sampler2D`
    D2,
    /// `sampler3D`
    D3,
    /// `samplerCube`
    Cube,
    /// `sampler1DShadow`
    D1Shadow,
    /// `sampler2DShadow`
    D2Shadow,
    /// `sampler2DRect` (GL_ARB_texture_rectangle)
    Rect,
    /// `sampler2DRectShadow`
    RectShadow,
}

/// Operators with one operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnaryOp {
    /// `+a`
    Plus,
    /// `-a`
    Minus,
    /// `!a`
    Not,
    /// `++a`
    PreInc,
    /// `--a`
    PreDec,
    /// `a++`
    PostInc,
    /// `a--`
    PostDec,
}

/// Operators with two operands (the reserved ones are errors and never in the tree).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinaryOp {
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `<`
    Lt,
    /// `>`
    Gt,
    /// `<=`
    Le,
    /// `>=`
    Ge,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `&&`
    And,
    /// `^^`
    Xor,
    /// `||`
    Or,
}

impl UnaryOp {
    /// As written.
    pub fn symbol(self) -> &'static str {
        match self {
            UnaryOp::Plus => "+",
            UnaryOp::Minus => "-",
            UnaryOp::Not => "!",
            UnaryOp::PreInc | UnaryOp::PostInc => "++",
            UnaryOp::PreDec | UnaryOp::PostDec => "--",
        }
    }

    /// Whether it stands after its operand.
    pub fn is_postfix(self) -> bool {
        matches!(self, UnaryOp::PostInc | UnaryOp::PostDec)
    }
}

impl BinaryOp {
    /// As written.
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Lt => "<",
            BinaryOp::Gt => ">",
            BinaryOp::Le => "<=",
            BinaryOp::Ge => ">=",
            BinaryOp::Eq => "==",
            BinaryOp::Ne => "!=",
            BinaryOp::And => "&&",
            BinaryOp::Xor => "^^",
            BinaryOp::Or => "||",
        }
    }
}

impl BuiltinType {
    /// The type of a keyword, for instance `vec3` or `mat2x4`.
    pub fn from_keyword(word: &str) -> Option<BuiltinType> {
        if word == "void" {
            return Some(BuiltinType::Void);
        }
        if let Some(ty) = ir::types::Type::parse(word) {
            return Some(BuiltinType::Vector(ty));
        }
        if let Some(kind) = SamplerKind::ALL.into_iter().find(|k| k.keyword() == word) {
            return Some(BuiltinType::Sampler(kind));
        }
        let digit = |c: u8| (b'2'..=b'4').contains(&c).then(|| c - b'0');
        match *word.strip_prefix("mat")?.as_bytes() {
            [n] => digit(n).map(|n| BuiltinType::Matrix { cols: n, rows: n }),
            [c, b'x', r] => Some(BuiltinType::Matrix { cols: digit(c)?, rows: digit(r)? }),
            _ => None,
        }
    }
}

impl BuiltinType {
    /// All types with a keyword in a version, as far as no extension adds them.
    pub fn names(version: Version) -> impl Iterator<Item = BuiltinType> {
        use ir::types::{Scalar, Type};
        let lanes = move |scalar| (1..=4).map(move |lanes| BuiltinType::Vector(Type { scalar, lanes }));
        let vectors = [Scalar::Float, Scalar::Int, Scalar::Bool].into_iter().flat_map(lanes);
        let square = move |cols: u8, rows: u8| cols == rows || version == Version::Glsl120;
        let matrices = (2..=4).flat_map(move |cols| {
            (2..=4).filter(move |&rows| square(cols, rows)).map(move |rows| BuiltinType::Matrix { cols, rows })
        });
        let es = move |kind: &SamplerKind| !version.is_es() || matches!(kind, SamplerKind::D2 | SamplerKind::Cube);
        let samplers = SamplerKind::ALL.into_iter().filter(es).map(BuiltinType::Sampler);
        vectors.chain(matrices).chain(samplers)
    }
}

impl std::fmt::Display for BuiltinType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BuiltinType::Void => f.write_str("void"),
            BuiltinType::Vector(ty) => ty.fmt(f),
            BuiltinType::Matrix { cols, rows } if cols == rows => write!(f, "mat{cols}"),
            BuiltinType::Matrix { cols, rows } => write!(f, "mat{cols}x{rows}"),
            BuiltinType::Sampler(kind) => f.write_str(kind.keyword()),
        }
    }
}

impl SamplerKind {
    /// All of them.
    pub const ALL: [SamplerKind; 8] = [
        SamplerKind::D1,
        SamplerKind::D2,
        SamplerKind::D3,
        SamplerKind::Cube,
        SamplerKind::D1Shadow,
        SamplerKind::D2Shadow,
        SamplerKind::Rect,
        SamplerKind::RectShadow,
    ];

    /// The keyword.
    pub fn keyword(self) -> &'static str {
        match self {
            SamplerKind::D1 => "sampler1D",
            SamplerKind::D2 => "sampler2D",
            SamplerKind::D3 => "sampler3D",
            SamplerKind::Cube => "samplerCube",
            SamplerKind::D1Shadow => "sampler1DShadow",
            SamplerKind::D2Shadow => "sampler2DShadow",
            SamplerKind::Rect => "sampler2DRect",
            SamplerKind::RectShadow => "sampler2DRectShadow",
        }
    }
}

impl Storage {
    /// The keyword.
    pub fn keyword(self) -> &'static str {
        match self {
            Storage::Const => "const",
            Storage::Attribute => "attribute",
            Storage::Uniform => "uniform",
            Storage::Varying => "varying",
        }
    }
}
