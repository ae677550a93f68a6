//! Registers by component: machine code over virtual registers in, a register and a lane map for each
//! of them out. Knows neither GLSL nor any instruction set: the input is a [`Func`], the registers on
//! offer a [`RegFile`].
//!
//! ```text
//! func       the input trait, and the rules it keeps
//! code       the input, flat
//! liveness   live ranges of each lane, with holes          (ranges: sets of positions)
//! web        a value plus what is coalesced with it        (shape: lane maps)
//! coalesce   merges both ends of copies, lane by lane
//! bound      registers that any colouring needs
//! color      simplify and select, over interference        (scan: the baseline)
//! allocate   the steps in order; undoes merges when there is no room
//! checker    judges the result, sharing no code with the above
//! dump       the result as a chart
//! moves      parallel copies in sequence, for callers before or after allocation
//! ```
//!
//! Absent on purpose: spilling and rematerialization. A program that does not fit is the typed error
//! [`RegAllocError::DoesNotFit`], with the need, the limit, the point and the lower bound.

mod allocate;
mod bound;
pub mod checker;
mod coalesce;
mod code;
mod color;
pub mod dump;
pub mod error;
pub mod func;
mod interference;
mod liveness;
pub mod moves;
pub mod output;
pub mod ranges;
pub mod regfile;
mod scan;
pub mod shape;
mod web;

pub use allocate::run;
pub use checker::{CheckError, check};
pub use error::RegAllocError;
pub use func::{BlockInfo, DefKind, Func, LaneCopies, LaneCopy, Operand, VReg, VRegInfo};
pub use output::{Output, Place, Stats};
pub use regfile::{Method, Options, RegFile};
pub use shape::{LaneMap, LaneMaps};
