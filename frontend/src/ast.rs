//! The syntax tree: what the parser makes and the checker reads.
//!
//! Everything lives in one `bumpalo::Bump` that the caller owns; nodes refer to each other by
//! `&'a`, texts are `&'a str`. Every node has a span in the original text (for what a macro made:
//! the span of the macro's use). The tree says what is written, not what it means: names are not
//! resolved, sizes are expressions, types are as spelled. Two things the grammar itself needs are
//! settled here: whether a name before `(` is a type (then it is [`ExprKind::Construct`]), and
//! which statements are declarations.
//!
//! Invariants: a height above [`crate::Limits::expr_height`] or a nesting above
//! [`crate::Limits::nesting`] does not occur, so a stage may recurse over the tree. Where the text was
//! wrong the tree holds [`ExprKind::Error`] or [`StmtKind::Error`], and the list of diagnostics
//! holds at least one error.
//!
//! Follows the grammar of the OpenGL Shading Language 1.10.59, 1.20.8 and ES 1.00.17 (chapter 9).

use ir::diag::Span;

/// A name with its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Name<'a> {
    /// The text.
    pub text: &'a str,
    /// Where it is written.
    pub span: Span,
}

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

/// One `#extension` line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extension<'a> {
    /// `GL_...` or `all`.
    pub name: Name<'a>,
    /// What is asked.
    pub behavior: ExtBehavior,
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

/// A pragma and its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pragma {
    /// What it says.
    pub kind: PragmaKind,
    /// Where.
    pub span: Span,
}

/// A whole shader.
#[derive(Clone, Copy, Debug)]
pub struct TranslationUnit<'a> {
    /// The language that the text is in.
    pub version: Version,
    /// The `#extension` lines in order (later ones override earlier ones).
    pub extensions: &'a [Extension<'a>],
    /// The known pragmas in order.
    pub pragmas: &'a [Pragma],
    /// The declarations in order.
    pub items: &'a [Item<'a>],
}

/// One declaration at the outermost level.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    /// What it is.
    pub kind: ItemKind<'a>,
    /// From the first to the last token.
    pub span: Span,
}

/// The kinds of [`Item`].
#[derive(Clone, Copy, Debug)]
pub enum ItemKind<'a> {
    /// Variables, a struct, a prototype, a precision or an `invariant` line.
    Decl(&'a Decl<'a>),
    /// A function with its body.
    Function(&'a Function<'a>),
    /// Something wrong; a diagnostic says what.
    Error,
}

/// A function with its body.
#[derive(Clone, Copy, Debug)]
pub struct Function<'a> {
    /// Result, name and parameters.
    pub header: FunctionHeader<'a>,
    /// The body. Parameters and the body's own names share no scope level in GLSL 1.10 (the body
    /// is nested in the parameters' scope); the checker decides.
    pub body: Block<'a>,
}

/// Result, name and parameters of a function.
#[derive(Clone, Copy, Debug)]
pub struct FunctionHeader<'a> {
    /// Qualifiers written before the result type (none is legal, the checker says so).
    pub qualifiers: Qualifiers,
    /// The result type.
    pub result: TypeSpec<'a>,
    /// The name.
    pub name: Name<'a>,
    /// The parameters; `(void)` and `()` both give none.
    pub params: &'a [Param<'a>],
    /// From the first token to the closing parenthesis.
    pub span: Span,
}

/// One parameter.
#[derive(Clone, Copy, Debug)]
pub struct Param<'a> {
    /// Whether `const` stands before it.
    pub is_const: Option<Span>,
    /// `in` when nothing is written.
    pub direction: Direction,
    /// The type, including an array size written after the type.
    pub ty: TypeSpec<'a>,
    /// The name, which a prototype may leave out.
    pub name: Option<Name<'a>>,
    /// An array size written after the name.
    pub array: Option<ArraySpec<'a>>,
    /// The whole parameter.
    pub span: Span,
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

/// A declaration, at the outermost level or in a block.
#[derive(Clone, Copy, Debug)]
pub struct Decl<'a> {
    /// What is declared.
    pub kind: DeclKind<'a>,
    /// From the first token to the semicolon.
    pub span: Span,
}

/// The kinds of [`Decl`].
#[derive(Clone, Copy, Debug)]
pub enum DeclKind<'a> {
    /// `qualifiers type a, b[2] = ..., c;`; with no variables it declares only a struct (or nothing).
    Vars(VarsDecl<'a>),
    /// `precision mediump float;`
    Precision {
        /// The precision.
        precision: Precision,
        /// For which type.
        ty: TypeSpec<'a>,
    },
    /// `invariant a, b;` for names declared before (with `centroid`/`varying` left out).
    Invariant(&'a [Name<'a>]),
    /// A function without a body (in a block: legal in 1.10 only by the grammar; the checker decides).
    Prototype(FunctionHeader<'a>),
}

/// Variables of one base type.
#[derive(Clone, Copy, Debug)]
pub struct VarsDecl<'a> {
    /// `const`, `uniform`, `centroid varying`, ...
    pub qualifiers: Qualifiers,
    /// The type, including an array size written after the type.
    pub ty: TypeSpec<'a>,
    /// The variables in order; may be empty.
    pub vars: &'a [Declarator<'a>],
}

/// One variable of a declaration.
#[derive(Clone, Copy, Debug)]
pub struct Declarator<'a> {
    /// Its name.
    pub name: Name<'a>,
    /// An array size written after the name.
    pub array: Option<ArraySpec<'a>>,
    /// Its initializer.
    pub init: Option<&'a Expr<'a>>,
    /// Name to initializer.
    pub span: Span,
}

/// Qualifiers before a type. Each at most once; the parser reports doubles.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Qualifiers {
    /// `invariant`.
    pub invariant: Option<Span>,
    /// `centroid` (1.20).
    pub centroid: Option<Span>,
    /// The storage qualifier.
    pub storage: Option<(Storage, Span)>,
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
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Precision {
    /// `lowp`
    Low,
    /// `mediump`
    Medium,
    /// `highp`
    High,
}

/// A type as written.
#[derive(Clone, Copy, Debug)]
pub struct TypeSpec<'a> {
    /// `mediump` and so on.
    pub precision: Option<Precision>,
    /// The type without its array size.
    pub base: TypeName<'a>,
    /// An array size after the type, as 1.20 allows: `float[3] a`.
    pub array: Option<ArraySpec<'a>>,
    /// The whole.
    pub span: Span,
}

/// The name of a type.
#[derive(Clone, Copy, Debug)]
pub enum TypeName<'a> {
    /// A keyword.
    Builtin(BuiltinType),
    /// A struct declared before.
    Named(Name<'a>),
    /// A struct declared here.
    Struct(&'a StructDef<'a>),
}

/// `struct S { ... }`
#[derive(Clone, Copy, Debug)]
pub struct StructDef<'a> {
    /// The name, if it has one.
    pub name: Option<Name<'a>>,
    /// The member lines in order.
    pub fields: &'a [FieldDecl<'a>],
    /// `struct` to `}`.
    pub span: Span,
}

/// One line of members with a common type.
#[derive(Clone, Copy, Debug)]
pub struct FieldDecl<'a> {
    /// The type.
    pub ty: TypeSpec<'a>,
    /// The members; `init` is always `None` (the parser reports initializers).
    pub names: &'a [Declarator<'a>],
    /// The line.
    pub span: Span,
}

/// An array size as written.
#[derive(Clone, Copy, Debug)]
pub struct ArraySpec<'a> {
    /// `None` for `[]`.
    pub size: Option<&'a Expr<'a>>,
    /// With its brackets.
    pub span: Span,
}

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

/// Statements in braces.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// In order.
    pub stmts: &'a [Stmt<'a>],
    /// With its braces.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Copy, Debug)]
pub struct Stmt<'a> {
    /// What it is.
    pub kind: StmtKind<'a>,
    /// The whole.
    pub span: Span,
}

/// The kinds of [`Stmt`].
#[derive(Clone, Copy, Debug)]
pub enum StmtKind<'a> {
    /// `;`
    Empty,
    /// `{ ... }` with a scope of its own.
    Block(Block<'a>),
    /// A declaration.
    Decl(&'a Decl<'a>),
    /// `e;`
    Expr(&'a Expr<'a>),
    /// `if (cond) then else otherwise`
    If {
        /// The test.
        cond: &'a Expr<'a>,
        /// When true.
        then: &'a Stmt<'a>,
        /// When false.
        otherwise: Option<&'a Stmt<'a>>,
    },
    /// `while (cond) body`
    While {
        /// The test.
        cond: Condition<'a>,
        /// Repeated.
        body: &'a Stmt<'a>,
    },
    /// `do body while (cond);`
    DoWhile {
        /// Repeated.
        body: &'a Stmt<'a>,
        /// The test.
        cond: &'a Expr<'a>,
    },
    /// `for (init; cond; step) body`
    For {
        /// An `Empty`, `Expr` or `Decl` statement.
        init: &'a Stmt<'a>,
        /// Always true when left out.
        cond: Option<Condition<'a>>,
        /// After each turn.
        step: Option<&'a Expr<'a>>,
        /// Repeated.
        body: &'a Stmt<'a>,
    },
    /// `return;` or `return e;`
    Return(Option<&'a Expr<'a>>),
    /// `break;`
    Break,
    /// `continue;`
    Continue,
    /// `discard;`
    Discard,
    /// Something wrong; a diagnostic says what.
    Error,
}

/// The test of a `while` or `for`.
#[derive(Clone, Copy, Debug)]
pub enum Condition<'a> {
    /// An expression.
    Expr(&'a Expr<'a>),
    /// `bool b = e`: declared anew in each turn.
    Decl {
        /// `const` and so on.
        qualifiers: Qualifiers,
        /// The type.
        ty: TypeSpec<'a>,
        /// The variable; `init` is always there.
        var: &'a Declarator<'a>,
    },
}

/// An expression. Parentheses leave no node, but the span of what is in them is without them.
#[derive(Clone, Copy, Debug)]
pub struct Expr<'a> {
    /// What it is.
    pub kind: ExprKind<'a>,
    /// The whole.
    pub span: Span,
}

/// The kinds of [`Expr`].
#[derive(Clone, Copy, Debug)]
pub enum ExprKind<'a> {
    /// `12`, `014`, `0xC`; as 32 bits, two's complement.
    Int(i32),
    /// `1.5`; may be infinite when the text is out of range.
    Float(f32),
    /// `true`, `false`.
    Bool(bool),
    /// A variable.
    Name(&'a str),
    /// `-a`, `!a`, `++a`, `a++`, ...
    Unary {
        /// Which.
        op: UnaryOp,
        /// On what.
        operand: &'a Expr<'a>,
    },
    /// `a + b` and so on.
    Binary {
        /// Which.
        op: BinaryOp,
        /// Left.
        lhs: &'a Expr<'a>,
        /// Right.
        rhs: &'a Expr<'a>,
    },
    /// `a = b`; with an operator `a += b`.
    Assign {
        /// `+` for `+=`.
        op: Option<BinaryOp>,
        /// The place.
        lhs: &'a Expr<'a>,
        /// The value.
        rhs: &'a Expr<'a>,
    },
    /// `c ? a : b`
    Ternary {
        /// The test.
        cond: &'a Expr<'a>,
        /// When true.
        then: &'a Expr<'a>,
        /// When false.
        otherwise: &'a Expr<'a>,
    },
    /// `a, b`
    Comma {
        /// Evaluated first.
        lhs: &'a Expr<'a>,
        /// The result.
        rhs: &'a Expr<'a>,
    },
    /// `f(a, b)` where `f` is not a type.
    Call {
        /// The function's name.
        callee: Name<'a>,
        /// In order.
        args: &'a [Expr<'a>],
    },
    /// `vec3(a, b)`, `S(a)`, `float[2](a, b)`.
    Construct {
        /// The type.
        ty: &'a TypeSpec<'a>,
        /// In order.
        args: &'a [Expr<'a>],
    },
    /// `a.length()`
    Method {
        /// On what.
        object: &'a Expr<'a>,
        /// The method's name.
        name: Name<'a>,
        /// In order.
        args: &'a [Expr<'a>],
    },
    /// `a.b`: a struct member or a swizzle.
    Field {
        /// Of what.
        object: &'a Expr<'a>,
        /// Which.
        name: Name<'a>,
    },
    /// `a[i]`
    Index {
        /// Of what.
        object: &'a Expr<'a>,
        /// Which.
        index: &'a Expr<'a>,
    },
    /// Something wrong; a diagnostic says what.
    Error,
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

impl Precision {
    /// The keyword.
    pub fn keyword(self) -> &'static str {
        match self {
            Precision::Low => "lowp",
            Precision::Medium => "mediump",
            Precision::High => "highp",
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
