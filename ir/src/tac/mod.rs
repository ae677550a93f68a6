//! Three-address code: operation, destination, sources. The form of the paper, and the boundary
//! where any front end can hand a program to the back end.
//!
//! What a front end must know:
//! - A variable is `elems` registers of one type of 1 to 4 lanes. A matrix is its columns, a struct
//!   is split into its fields, an array of matrices is elems = length * columns.
//! - An operand reads `swz.len()` lanes. All sources of a lane-wise operation have as many lanes as
//!   the destination's mask has bits (`select`'s condition may have one). Result lane i goes to the
//!   i-th set lane of the mask.
//! - Control flow is structured: `If ... Else ... EndIf`, `Loop ... EndLoop` (endless, left by
//!   `Brk`; `Cont` starts the next turn), `Ret` leaves the function. `If` takes one bool.
//! - `Call` copies nothing: a caller moves arguments into the callee's parameter variables before
//!   it, and results out of them after it. Recursion is not allowed.
//! - `Kil` takes floats and ends the fragment when any lane is below 0 (an unconditional discard is
//!   `kil -1.0`).
//! - Outputs may be read back; they are variables until the end of `main`.

pub mod calls;
pub mod inline;
pub mod interface;
pub mod interp;
pub mod link;
pub mod text;
pub mod verify;

use crate::entity::{FuncId, Var};
use crate::op::Op;
use crate::types::{Literal, Stage, Swizzle, TexDim, Type, WriteMask};
use cranelift_entity::PrimaryMap;

/// What a variable is to the shader.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum VarKind {
    /// Vertex input.
    Attribute,
    /// The same for a whole draw.
    Uniform,
    /// Interpolated: an output of the vertex stage, an input of the fragment stage.
    Varying,
    /// What the stage's fixed function takes: `gl_Position`, `gl_FragColor`, ... and inputs such as
    /// `gl_FragCoord` are `Varying`.
    Output,
    /// A sampler uniform.
    Sampler {
        /// Texture shape.
        dim: TexDim,
        /// Compares with a reference value.
        shadow: bool,
    },
    /// Declared by the user.
    Local,
    /// Made by the compiler.
    Temp,
}

/// Precision qualifiers of ES.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Precision {
    /// `lowp`
    Low,
    /// `mediump`
    Medium,
    /// `highp`
    High,
}

impl Precision {
    /// All of them.
    pub const ALL: [Precision; 3] = [Precision::Low, Precision::Medium, Precision::High];

    /// The keyword.
    pub fn keyword(self) -> &'static str {
        match self {
            Precision::Low => "lowp",
            Precision::Medium => "mediump",
            Precision::High => "highp",
        }
    }
}

/// A variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VarDecl {
    /// Unique in the program, such as `lights.position`; built-ins keep their `gl_` name
    /// (`gl_LightSource.diffuse` for state, its array index in the element).
    pub name: String,
    /// What it is.
    pub kind: VarKind,
    /// Of one element.
    pub ty: Type,
    /// Number of elements (registers), at least 1.
    pub elems: u32,
    /// Elements that make one item of the source array: 1, or a matrix's columns.
    pub cols: u32,
    /// The source type, for reflection: `mat4`, `vec3[4]`.
    pub type_name: String,
    /// `invariant` (or `gl_Position` under `ftransform`).
    pub invariant: bool,
    /// `centroid`, of a varying.
    pub centroid: bool,
    /// The precision of an ES uniform, written or by default; none in desktop languages.
    pub precision: Option<Precision>,
    /// Number that the outside gave: of the generic attribute that an attribute is bound to, of the
    /// interpolator that a varying goes through; of the first element, the others follow. None until
    /// the linker or a caller fixes it.
    pub location: Option<u32>,
    /// Initial values of a uniform, one literal an element; empty when none.
    pub init: Vec<Literal>,
    /// Source line, 0 when none.
    pub line: u32,
}

impl VarDecl {
    /// A plain variable of one element.
    pub fn new(name: impl Into<String>, kind: VarKind, ty: Type) -> VarDecl {
        VarDecl {
            name: name.into(),
            kind,
            ty,
            elems: 1,
            cols: 1,
            type_name: ty.to_string(),
            invariant: false,
            centroid: false,
            precision: None,
            location: None,
            init: Vec::new(),
            line: 0,
        }
    }

    /// The same as an array of `elems` registers.
    pub fn array(mut self, elems: u32) -> VarDecl {
        self.elems = elems;
        self
    }

    /// Whether the stage may write it, and it is seen outside.
    pub fn is_output(&self, stage: Stage) -> bool {
        self.kind == VarKind::Output || (self.kind == VarKind::Varying && stage == Stage::Vertex)
    }

    /// Whether the stage reads it from outside, once a vertex or fragment.
    pub fn is_input(&self, stage: Stage) -> bool {
        self.kind == VarKind::Attribute || (self.kind == VarKind::Varying && stage == Stage::Fragment)
    }

    /// Whether it is a sampler.
    pub fn is_sampler(&self) -> bool {
        matches!(self.kind, VarKind::Sampler { .. })
    }

    /// Whether it lives only inside the shader.
    pub fn is_local(&self) -> bool {
        matches!(self.kind, VarKind::Local | VarKind::Temp)
    }
}

/// Which element of a variable: `offset`, plus one lane of another variable's element 0 when
/// `rel` is set.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Index {
    /// The constant part.
    pub offset: u32,
    /// An int variable (one element) and the lane of it that is added.
    pub rel: Option<(Var, u8)>,
}

/// Where a source's lanes come from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Addr {
    /// An element of a variable.
    Var(Var, Index),
    /// A constant.
    Lit(Literal),
}

/// A source operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Src {
    /// What is read.
    pub addr: Addr,
    /// Which lanes of it.
    pub swz: Swizzle,
}

/// A destination.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Dst {
    /// What is written.
    pub var: Var,
    /// Which element.
    pub index: Index,
    /// Which lanes.
    pub mask: WriteMask,
}

/// A texture operation's immediate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TexRef {
    /// The sampler variable.
    pub sampler: Var,
    /// Its element, for arrays of samplers.
    pub index: Index,
    /// Texture shape.
    pub dim: TexDim,
    /// Compares with the last coordinate lane (after the `dim`'s lanes; for 1D shadow it is lane z,
    /// as in GLSL: coordinates are (s, unused, reference)).
    pub shadow: bool,
}

/// What an instruction does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TacOp {
    /// A value operation or `Kil`.
    Op(Op),
    /// `Tex Txp Txb Txl`. Coordinates first, then bias or level.
    Tex(Op, TexRef),
    /// Starts the part that runs when the one bool source is true.
    If,
    /// The other part.
    Else,
    /// Ends `If`.
    EndIf,
    /// Starts an endless loop.
    Loop,
    /// Ends it.
    EndLoop,
    /// Leaves the innermost loop.
    Brk,
    /// Starts the innermost loop's next turn.
    Cont,
    /// Runs another function.
    Call(FuncId),
    /// Leaves the function.
    Ret,
}

/// One instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inst {
    /// What it does.
    pub op: TacOp,
    /// Where the result goes; none for flow and `Kil`.
    pub dst: Option<Dst>,
    /// What it reads.
    pub srcs: Vec<Src>,
    /// Source line, 0 when none.
    pub line: u32,
}

/// A function: its code over the program's variables.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FuncDecl {
    /// Unique in the program (overloads are told apart by a signature in the name).
    pub name: String,
    /// Its parameter and result variables, for printing and the link tree.
    pub params: Vec<Var>,
    /// The code.
    pub body: Vec<Inst>,
    /// Source line, 0 when none.
    pub line: u32,
}

/// One shader stage.
#[derive(Clone, Debug)]
pub struct Program {
    /// Vertex or fragment.
    pub stage: Stage,
    /// Language version: 100, 110, 120.
    pub version: u32,
    /// All variables.
    pub vars: PrimaryMap<Var, VarDecl>,
    /// All functions, callees before callers or not.
    pub funcs: PrimaryMap<FuncId, FuncDecl>,
    /// Where it starts.
    pub main: FuncId,
}

impl Src {
    /// All lanes of a variable's element.
    pub fn var(var: Var, offset: u32, lanes: u8) -> Src {
        Src { addr: Addr::Var(var, Index { offset, rel: None }), swz: Swizzle::identity(lanes) }
    }

    /// A whole literal.
    pub fn lit(literal: Literal) -> Src {
        Src { addr: Addr::Lit(literal), swz: Swizzle::identity(literal.ty.lanes) }
    }

    /// The same source through one more swizzle.
    pub fn swizzled(self, swz: Swizzle) -> Src {
        Src { swz: swz.after(&self.swz), ..self }
    }
}

impl Dst {
    /// The first `lanes` lanes of a variable's element.
    pub fn var(var: Var, offset: u32, lanes: u8) -> Dst {
        Dst { var, index: Index { offset, rel: None }, mask: WriteMask::first(lanes) }
    }
}

impl Inst {
    /// A value operation.
    pub fn op(op: Op, dst: Dst, srcs: Vec<Src>, line: u32) -> Inst {
        Inst { op: TacOp::Op(op), dst: Some(dst), srcs, line }
    }

    /// Control flow.
    pub fn flow(op: TacOp, srcs: Vec<Src>, line: u32) -> Inst {
        Inst { op, dst: None, srcs, line }
    }
}
