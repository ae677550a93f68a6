//! The middle of eggshade: three-address code, SSA in arena-allocated blocks, what each opcode
//! computes, the passes, and their judges (verifier, interpreters).
//!
//! Data flows down: [`tac::Program`] -> (link, inline on TAC) -> [`func::Function`] -> passes.
//! Nothing here knows GLSL, an instruction set or the e-graph.

pub mod analysis;
pub mod builder;
pub mod cost;
pub mod cursor;
pub mod diag;
pub mod entity;
pub mod env;
pub mod eval;
pub mod func;
pub mod interp;
pub mod lanes;
pub mod limits;
pub mod op;
pub mod op_table;
pub mod pass;
pub mod passes;
pub mod ssa;
pub mod structure;
pub mod tac;
pub mod testing;
pub mod text;
pub mod types;
pub mod verify;

pub use entity::{Block, FuncId, Inst, Value, Var};
pub use func::Function;
pub use op::Op;
