//! `judge`: the corpus' shaders on real instruction sets, drawn by somebody else's implementation.
//!
//! ```text
//! corpus -> tasks -> worker processes -> a pair of stages -> code -> an executor's picture
//!                                                         -> Mesa's picture of the GLSL -> rows
//! ```
//!
//! In: shaders that the reference accepts. Each gets a partner for the other stage ([`partner`]) and
//! numbers made from names ([`inputs`]); both are linked and compiled, the code passes the checker of
//! texts, an [`Executor`] runs it, and [`compare`] holds the picture against the one that Mesa draws from
//! the original GLSL. Out: a [`Row`] a shader that says how far it came and why no further.

pub mod arb;
pub mod compare;
pub mod d3d9;
pub mod inputs;
pub mod pair;
pub mod partner;
pub mod report;
mod task;

pub use pair::{Executor, Judgement, Scene, Stop, Texts, judge_pair};
pub use task::{Consumer, JudgeTask, tasks};

use compare::Comparison;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How far a shader came.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// The same picture.
    Equal,
    /// Other pixels.
    Unequal,
    /// Both pictures are there, but no pixel that can be compared.
    NothingCompared,
    /// The consumer refuses our code.
    Refused,
    /// The checker finds code that breaks a limit, or the compiler another fault of its own.
    Fault,
    /// Our front end rejects the shader.
    Rejected,
    /// The target cannot express what it does.
    Unsupported,
    /// It is more than the target has room for.
    DoesNotFit,
    /// Mesa does not take the GLSL, so there is nothing to compare with.
    NoReference,
}

impl Ending {
    /// All, in the order of reports.
    pub const ALL: [Ending; 9] = [
        Ending::Equal,
        Ending::Unequal,
        Ending::NothingCompared,
        Ending::Refused,
        Ending::Fault,
        Ending::Rejected,
        Ending::Unsupported,
        Ending::DoesNotFit,
        Ending::NoReference,
    ];

    /// The word in tables.
    pub fn word(self) -> &'static str {
        match self {
            Ending::Equal => "equal",
            Ending::Unequal => "unequal",
            Ending::NothingCompared => "nothing-compared",
            Ending::Refused => "refused",
            Ending::Fault => "fault",
            Ending::Rejected => "rejected",
            Ending::Unsupported => "unsupported",
            Ending::DoesNotFit => "does-not-fit",
            Ending::NoReference => "no-reference",
        }
    }

    /// Whether there is something to compare with, and room for it.
    pub fn fits(self) -> bool {
        !matches!(self, Ending::DoesNotFit | Ending::NoReference)
    }

    /// Whether there was code.
    pub fn is_compiled(self) -> bool {
        matches!(self, Ending::Equal | Ending::Unequal | Ending::NothingCompared | Ending::Refused)
    }

    /// Whether the consumer took the code.
    pub fn is_accepted(self) -> bool {
        self.is_compiled() && self != Ending::Refused
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// One shader's outcome.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Row {
    /// The shader's name in the corpus.
    pub id: String,
    /// The program that it belongs to.
    pub family: String,
    /// `vert` or `frag`.
    pub stage: String,
    /// How far it came.
    pub ending: Ending,
    /// Why no further; empty for an equal one.
    pub reason: String,
    /// What was compared.
    #[serde(flatten)]
    pub figures: Comparison,
}
