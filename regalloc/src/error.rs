//! What can go wrong: the program does not fit, or what it asks for is impossible.

use crate::func::VReg;
use std::fmt;

/// Why there is no allocation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RegAllocError {
    /// The program needs more registers than there are.
    DoesNotFit {
        /// Registers that the best attempt used.
        needed: u32,
        /// Registers on offer.
        limit: u32,
        /// The instruction where most is live.
        point: u32,
        /// Its text.
        text: String,
        /// How many values of 1, 2, 3 and 4 live lanes cross that point.
        live: [u32; 4],
        /// No allocation whatever uses fewer than this.
        lower_bound: u32,
    },
    /// The constraints on a register contradict each other.
    Impossible {
        /// The register.
        vreg: VReg,
        /// The contradiction.
        why: &'static str,
    },
    /// The input breaks a rule of [`crate::func`].
    BadInput {
        /// Which rule, where.
        what: String,
    },
}

impl fmt::Display for RegAllocError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RegAllocError::DoesNotFit { needed, limit, point, text, live, lower_bound } => {
                let sum: u32 = live.iter().zip(1..).map(|(n, w)| n * w).sum();
                write!(
                    f,
                    "the program needs {needed} temporaries and the target has {limit}; most is live at instruction \
                     {point} ({text}): {sum} components in {} values ({} of four lanes, {} of three, {} of two, {} of \
                     one); ",
                    live.iter().sum::<u32>(),
                    live[3],
                    live[2],
                    live[1],
                    live[0],
                )?;
                if lower_bound > limit {
                    write!(f, "no allocation needs fewer than {lower_bound}")
                } else {
                    write!(f, "the lower bound is {lower_bound}, so another order might fit")
                }
            }
            RegAllocError::Impossible { vreg, why } => write!(f, "no register can hold {vreg}: {why}"),
            RegAllocError::BadInput { what } => write!(f, "malformed input of the register allocator: {what}"),
        }
    }
}

impl std::error::Error for RegAllocError {}
