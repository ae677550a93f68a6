//! The middle of eggshade: three-address code, SSA in arena-allocated blocks, what each opcode
//! computes, the passes, and their judges (verifier, interpreters).
pub mod diag;
pub mod types;
