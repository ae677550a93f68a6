//! The typed tree: what the checker makes and the lowering reads.
//!
//! Every expression has a type, every name is a variable or function of the tables, every implicit
//! conversion is a [`ExprKind::Construct`], every constant expression is already one
//! [`ExprKind::Const`]. It lives in the same arena as the syntax tree.
//!
//! Invariants: a shader that the checker returns holds no [`Ty::Error`]; operands of an operation
//! have the types that GLSL asks for after conversion; call graphs have no cycle; every array has
//! a size.

mod dump;
mod names;
mod ty;

pub use dump::dump;
pub use names::dump_names;
pub use ty::{FieldTy, Lane, StructTy, Ty};

use crate::ast::{BinaryOp, Direction, Precision};
use crate::builtins::BuiltinFn;
use ir::diag::Span;
use ir::types::{Stage, Swizzle};

/// A variable of [`Shader::vars`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct VarId(pub u32);

/// A function of [`Shader::funcs`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct FuncId(pub u32);

/// What a variable is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// Vertex input.
    Attribute,
    /// The same for a whole draw; samplers too.
    Uniform,
    /// Between the stages.
    Varying,
    /// What the fixed function reads: `gl_Position`, `gl_FragColor`.
    Output,
    /// What the fixed function gives: `gl_FragCoord`, `gl_FrontFacing`.
    Input,
    /// A plain variable outside all functions.
    Global,
    /// A constant; `value` holds it.
    Const,
    /// A variable of a function.
    Local,
    /// A parameter.
    Param {
        /// How it travels.
        direction: Direction,
        /// Whether it may not be written.
        is_const: bool,
    },
}

/// A variable.
#[derive(Clone, Copy, Debug)]
pub struct Var<'a> {
    /// As written.
    pub name: &'a str,
    /// Its type.
    pub ty: Ty<'a>,
    /// What it is.
    pub role: Role,
    /// Whether the language declares it.
    pub builtin: bool,
    /// Declared `invariant`.
    pub invariant: bool,
    /// As written, or the default for floats; ES only.
    pub precision: Option<Precision>,
    /// Declared `centroid`.
    pub centroid: bool,
    /// The value of a constant, the initial value of a uniform.
    pub value: Option<&'a [Lane]>,
    /// Where it is declared (the default span for built-ins).
    pub span: Span,
}

/// A function.
#[derive(Clone, Copy, Debug)]
pub struct Func<'a> {
    /// As written.
    pub name: &'a str,
    /// The parameters of the definition (of the prototype when there is none).
    pub params: &'a [VarId],
    /// The result's type.
    pub result: Ty<'a>,
    /// The body; `None` while only a prototype was seen.
    pub body: Option<Block<'a>>,
    /// Where its name stands.
    pub span: Span,
}

/// A checked shader.
#[derive(Clone, Debug)]
pub struct Shader<'a> {
    /// Vertex or fragment.
    pub stage: Stage,
    /// 100, 110 or 120.
    pub version: u32,
    /// All variables: built-ins that are used, then in order of declaration.
    pub vars: Vec<Var<'a>>,
    /// All functions that the user declares.
    pub funcs: Vec<Func<'a>>,
    /// Initializers of global variables in order.
    pub inits: Vec<(VarId, &'a Expr<'a>)>,
    /// Where it starts.
    pub main: FuncId,
    /// Every declared name in order of declaration.
    pub names: Vec<NameEntry<'a>>,
    /// `#pragma STDGL invariant(all)`.
    pub invariant_all: bool,
}

/// A row of the name table.
#[derive(Clone, Debug)]
pub struct NameEntry<'a> {
    /// The name.
    pub name: &'a str,
    /// `function`, `struct`, `uniform`, ...
    pub kind: &'static str,
    /// Its type, or a function's signature.
    pub ty: String,
    /// The names of the scopes around it, such as `global` or `main/2`.
    pub scope: String,
    /// Where.
    pub span: Span,
}

/// Statements with a scope of their own.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// In order.
    pub stmts: &'a [Stmt<'a>],
}

/// A statement.
#[derive(Clone, Copy, Debug)]
pub struct Stmt<'a> {
    /// What it is.
    pub kind: StmtKind<'a>,
    /// Where.
    pub span: Span,
}

/// The kinds of [`Stmt`].
#[derive(Clone, Copy, Debug)]
pub enum StmtKind<'a> {
    /// Statements.
    Block(Block<'a>),
    /// A variable comes to life, with its initial value if it has one.
    Declare(VarId, Option<&'a Expr<'a>>),
    /// Evaluated for its effect.
    Expr(&'a Expr<'a>),
    /// Two ways.
    If {
        /// One bool.
        cond: &'a Expr<'a>,
        /// When true.
        then: Block<'a>,
        /// When false.
        otherwise: Option<Block<'a>>,
    },
    /// All three loops.
    Loop(&'a Loop<'a>),
    /// `return`
    Return(Option<&'a Expr<'a>>),
    /// `break`
    Break,
    /// `continue`
    Continue,
    /// `discard`
    Discard,
}

/// `for`, `while` and `do`: the first statements stand before it.
#[derive(Clone, Copy, Debug)]
pub struct Loop<'a> {
    /// Before the first turn.
    pub init: &'a [Stmt<'a>],
    /// A variable declared in the test.
    pub cond_var: Option<VarId>,
    /// One bool, or the value of `cond_var`; `None` is endless.
    pub cond: Option<&'a Expr<'a>>,
    /// Whether the test comes after the body.
    pub test_last: bool,
    /// After each turn.
    pub step: Option<&'a Expr<'a>>,
    /// Repeated.
    pub body: Block<'a>,
}

/// An expression.
#[derive(Clone, Copy, Debug)]
pub struct Expr<'a> {
    /// What it is.
    pub kind: ExprKind<'a>,
    /// Its type.
    pub ty: Ty<'a>,
    /// Where.
    pub span: Span,
    /// Whether evaluating it may change a variable.
    pub effects: bool,
    /// Whether a branch around it is worth its price (texture reads and calls).
    pub costly: bool,
}

/// The kinds of [`Expr`].
#[derive(Clone, Copy, Debug)]
pub enum ExprKind<'a> {
    /// A constant: its lanes in register order.
    Const(&'a [Lane]),
    /// A variable.
    Var(VarId),
    /// A field of a struct, by number.
    Field(&'a Expr<'a>, u32),
    /// Lanes of a vector.
    Swizzle(&'a Expr<'a>, Swizzle),
    /// An element of an array, a column, a lane.
    Index(&'a Expr<'a>, &'a Expr<'a>),
    /// `-a`
    Neg(&'a Expr<'a>),
    /// `!a`
    Not(&'a Expr<'a>),
    /// `++a`, `a--`, ...
    Step {
        /// What is changed.
        place: &'a Expr<'a>,
        /// Up or down.
        up: bool,
        /// Whether the value is the one before.
        post: bool,
    },
    /// Two operands.
    Binary(BinaryOp, &'a Expr<'a>, &'a Expr<'a>),
    /// `a = b`, `a += b`.
    Assign(Option<BinaryOp>, &'a Expr<'a>, &'a Expr<'a>),
    /// `c ? a : b`
    Ternary(&'a Expr<'a>, &'a Expr<'a>, &'a Expr<'a>),
    /// `a, b`
    Comma(&'a Expr<'a>, &'a Expr<'a>),
    /// A user's function.
    Call(FuncId, &'a [&'a Expr<'a>]),
    /// A built-in function.
    Builtin(BuiltinFn, &'a [&'a Expr<'a>]),
    /// A constructor of the expression's type, also for implicit conversions.
    Construct(&'a [&'a Expr<'a>]),
}

impl<'a> Expr<'a> {
    /// An expression whose facts come from its parts.
    pub fn new(kind: ExprKind<'a>, ty: Ty<'a>, span: Span) -> Expr<'a> {
        let (mut effects, mut costly) = match kind {
            ExprKind::Step { .. } | ExprKind::Assign(..) => (true, false),
            ExprKind::Call(..) => (true, true),
            ExprKind::Builtin(f, _) => (false, f.is_texture()),
            _ => (false, false),
        };
        let mut add = |e: &Expr<'a>| {
            effects |= e.effects;
            costly |= e.costly;
        };
        match kind {
            ExprKind::Const(_) | ExprKind::Var(_) => {}
            ExprKind::Field(a, _) | ExprKind::Swizzle(a, _) | ExprKind::Neg(a) | ExprKind::Not(a) => add(a),
            ExprKind::Step { place, .. } => add(place),
            ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) | ExprKind::Assign(_, a, b) | ExprKind::Comma(a, b) => {
                add(a);
                add(b);
            }
            ExprKind::Ternary(a, b, c) => {
                add(a);
                add(b);
                add(c);
            }
            ExprKind::Call(_, args) | ExprKind::Builtin(_, args) | ExprKind::Construct(args) => {
                args.iter().for_each(|a| add(a));
            }
        }
        Expr { kind, ty, span, effects, costly }
    }

    /// The lanes of a constant.
    pub fn constant(&self) -> Option<&'a [Lane]> {
        match self.kind {
            ExprKind::Const(lanes) => Some(lanes),
            _ => None,
        }
    }

    /// The value of a constant int of one lane.
    pub fn const_int(&self) -> Option<i32> {
        match self.constant()? {
            [Lane::Int(v)] => Some(*v),
            _ => None,
        }
    }
}

impl<'a> Shader<'a> {
    /// A variable.
    pub fn var(&self, id: VarId) -> &Var<'a> {
        &self.vars[id.0 as usize]
    }

    /// A function.
    pub fn func(&self, id: FuncId) -> &Func<'a> {
        &self.funcs[id.0 as usize]
    }
}

impl Role {
    /// The word of the name table.
    pub fn word(self) -> &'static str {
        match self {
            Role::Attribute => "attribute",
            Role::Uniform => "uniform",
            Role::Varying => "varying",
            Role::Output => "output",
            Role::Input => "input",
            Role::Global => "global",
            Role::Const => "const",
            Role::Local => "local",
            Role::Param { direction: Direction::In, is_const: true } => "const in",
            Role::Param { direction: Direction::In, .. } => "in",
            Role::Param { direction: Direction::Out, .. } => "out",
            Role::Param { direction: Direction::InOut, .. } => "inout",
        }
    }
}
