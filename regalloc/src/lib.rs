//! Registers by component: machine code over virtual registers in, a register and lane map for each
//! of them out. Knows neither GLSL nor any instruction set: the input is a [`func::Func`].

pub mod error;
pub mod func;
pub mod output;
pub mod regfile;
pub mod shape;

pub use error::RegAllocError;
pub use func::{BlockInfo, DefKind, Func, LaneCopies, LaneCopy, Operand, VReg, VRegInfo};
pub use output::{Output, Place, Stats};
pub use regfile::{Method, Options, RegFile};
pub use shape::{LaneMap, LaneMaps};
