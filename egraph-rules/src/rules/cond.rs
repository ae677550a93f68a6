//! Named conditions of rules.
//!
//! In: a condition and the class of its variable. Out: whether it is *known* to hold. Each also
//! says which numbers satisfy it, for the numeric test of rules.

use crate::analysis::Facts;
use ir::eval::EvalCfg;

/// A condition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cond {
    /// A number, not infinite.
    Finite,
    /// A number.
    Number,
    /// A number that is at least 0.
    Nonneg,
    /// A number that is not 0.
    Nonzero,
    /// A number below 0.
    Negative,
    /// Not -0.
    NoNegZero,
    /// 0 or 1.
    Truth,
    /// From 0 to 1, not -0.
    Unit,
    /// At most 1, or NaN.
    AtMostOne,
    /// A whole number, infinities too.
    Whole,
    /// A literal.
    Const,
    /// The target keeps `0 * x` as IEEE has it.
    Ieee,
    /// The target's MAD rounds after the product and after the sum.
    RoundsTwice,
}

impl Cond {
    /// All of them with the names that rule files use.
    pub const NAMES: [(&'static str, Cond); 13] = [
        ("finite", Cond::Finite),
        ("number", Cond::Number),
        ("nonneg", Cond::Nonneg),
        ("nonzero", Cond::Nonzero),
        ("negative", Cond::Negative),
        ("no_neg_zero", Cond::NoNegZero),
        ("truth", Cond::Truth),
        ("unit", Cond::Unit),
        ("at_most_one", Cond::AtMostOne),
        ("whole", Cond::Whole),
        ("const", Cond::Const),
        ("ieee", Cond::Ieee),
        ("rounds_twice", Cond::RoundsTwice),
    ];

    /// The condition of a name.
    pub fn parse(name: &str) -> Option<Cond> {
        Cond::NAMES.iter().find(|(n, _)| *n == name).map(|(_, c)| *c)
    }

    /// Whether it speaks of the target and so takes no variable.
    pub fn of_target(self) -> bool {
        matches!(self, Cond::Ieee | Cond::RoundsTwice)
    }

    /// Whether the target has it.
    pub fn holds_for(self, cfg: EvalCfg) -> bool {
        match self {
            Cond::Ieee => !cfg.zero_wins,
            Cond::RoundsTwice => !cfg.fused_mad,
            _ => true,
        }
    }

    /// Whether it is known to hold of a class.
    pub fn known(self, facts: &Facts) -> bool {
        let r = facts.range;
        match self {
            Cond::Finite => r.finite(),
            Cond::Number => !r.nan,
            Cond::Nonneg => r.nonneg(),
            Cond::Nonzero => r.nonzero(),
            Cond::Negative => !r.nan && r.hi < 0.0,
            Cond::NoNegZero => !r.neg_zero,
            Cond::Truth => r.truth(),
            Cond::Unit => !r.nan && !r.neg_zero && r.lo >= 0.0 && r.hi <= 1.0,
            Cond::AtMostOne => r.hi <= 1.0,
            Cond::Whole => r.whole && !r.nan,
            Cond::Const => facts.literal().is_some(),
            Cond::Ieee | Cond::RoundsTwice => true,
        }
    }

    /// Whether a number satisfies it.
    pub fn holds(self, x: f32) -> bool {
        match self {
            Cond::Finite => x.is_finite(),
            Cond::Number => !x.is_nan(),
            Cond::Nonneg => x >= 0.0,
            Cond::Nonzero => x != 0.0 && !x.is_nan(),
            Cond::Negative => x < 0.0,
            Cond::NoNegZero => x != 0.0 || x.is_sign_positive(),
            Cond::Truth => (x == 0.0 && x.is_sign_positive()) || x == 1.0,
            Cond::Unit => (0.0..=1.0).contains(&x) && x.is_sign_positive(),
            Cond::AtMostOne => x.is_nan() || x <= 1.0,
            Cond::Whole => x.is_infinite() || x == x.floor(),
            Cond::Const | Cond::Ieee | Cond::RoundsTwice => true,
        }
    }
}
