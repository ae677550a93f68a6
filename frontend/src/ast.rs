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

mod words;

pub use words::*;

use ir::diag::Span;

/// A name with its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Name<'a> {
    /// The text.
    pub text: &'a str,
    /// Where it is written.
    pub span: Span,
}

/// One `#extension` line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extension<'a> {
    /// `GL_...` or `all`.
    pub name: Name<'a>,
    /// What is asked.
    pub behavior: ExtBehavior,
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

impl TranslationUnit<'_> {
    /// What the text asks of an extension after all its lines; `Disable` when it does not name it.
    pub fn extension(&self, name: &str) -> ExtBehavior {
        let last = self.extensions.iter().rev().find(|e| e.name.text == name || e.name.text == "all");
        last.map_or(ExtBehavior::Disable, |e| e.behavior)
    }
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
    /// A name where only a type can stand; the checker looks it up (it may be undeclared).
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

/// An expression. Parentheses leave no node; they are part of the span of what is in them.
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
