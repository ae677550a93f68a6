//! Bounds on what an input may ask for, as tables: name, default, hard maximum, unit and error.
//!
//! A stage declares its bounds once, with [`bounds!`](crate::bounds). From the rows follow a struct
//! of values, which is what the stage reads, and a table, from which the command line makes its
//! option, its list and the hint in the error. The hard maximum is where recursion, index types or a
//! file format end; so raising a bound can make a compile slow, but not wrong.

use crate::diag::{Diagnostic, FileId, Span};
use crate::tac::inline::MAX_INLINED_INSTS;
use std::fmt;

/// One row of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bound {
    /// As `--limit NAME=N` calls it.
    pub name: &'static str,
    /// What holds when nothing is said.
    pub default: usize,
    /// What it can be raised to.
    pub max: usize,
    /// What is counted.
    pub unit: &'static str,
    /// The code of the error; empty when meeting the bound is no error, because the stage only does less.
    pub code: &'static str,
    /// One sentence.
    pub doc: &'static str,
}

/// The remark of an error about a bound: its name, its value and how to raise it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exceeded {
    /// The row.
    pub bound: &'static Bound,
    /// The value in force.
    pub value: usize,
}

impl fmt::Display for Exceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Bound { name, unit, max, .. } = self.bound;
        write!(f, "the bound `{name}` is {} {unit}; ", self.value)?;
        if self.value < *max {
            write!(f, "`--limit {name}=N` raises it, up to {max}")
        } else {
            write!(f, "it cannot be raised")
        }
    }
}

/// Declares the bounds of a stage: a struct with a field a bound, its default, and its table.
#[macro_export]
macro_rules! bounds {
    (
        $(#[$meta:meta])*
        pub struct $Limits:ident {
            $($(#[doc = $doc:literal])+ $field:ident $name:literal = $default:expr, up to $max:expr, $unit:literal, error $code:literal;)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub struct $Limits {
            $($(#[doc = $doc])+ pub $field: usize,)*
        }

        impl Default for $Limits {
            fn default() -> $Limits {
                $Limits { $($field: $default,)* }
            }
        }

        impl $Limits {
            /// The bounds in the order of the struct.
            pub const TABLE: &'static [$crate::limits::Bound] = &[
                $($crate::limits::Bound {
                    name: $name,
                    default: $default,
                    max: $max,
                    unit: $unit,
                    code: $code,
                    doc: concat!($($doc),+),
                },)*
            ];

            /// The value of a bound.
            pub fn get(&self, name: &str) -> Option<usize> {
                match name {
                    $($name => Some(self.$field),)*
                    _ => None,
                }
            }

            /// Changes a bound; false when there is none of the name. More than the maximum is the maximum.
            pub fn set(&mut self, name: &str, value: usize) -> bool {
                match name {
                    $($name => self.$field = value.min($max),)*
                    _ => return false,
                }
                true
            }

            /// What to say about a bound that was met.
            ///
            /// # Panics
            /// When there is none of the name.
            pub fn exceeded(&self, name: &str) -> $crate::limits::Exceeded {
                match $Limits::TABLE.iter().find(|b| b.name == name) {
                    Some(bound) => $crate::limits::Exceeded { bound, value: self.get(name).unwrap_or(bound.default) },
                    None => panic!("no bound has the name {name}"),
                }
            }

            /// The error about a bound that was met.
            ///
            /// # Panics
            /// When there is none of the name.
            pub fn error(
                &self,
                name: &str,
                span: $crate::diag::Span,
                message: impl Into<String>,
            ) -> $crate::diag::Diagnostic {
                let exceeded = self.exceeded(name);
                $crate::diag::Diagnostic::error(exceeded.bound.code, span, message).note(exceeded.to_string())
            }
        }
    };
}

bounds! {
    /// Bounds of three-address code, of the SSA made of it, and of their text forms.
    pub struct Limits {
        /// Longest text of three-address code or SSA that is read.
        text "ir-text" = 64 << 20, up to 1 << 30, "bytes", error "text-too-large";
        /// Most instructions of a program of three-address code, all functions together.
        insts "instructions" = 500_000, up to 16_000_000, "instructions", error "program-too-large";
        /// Most registers of all variables and temporaries of a program together.
        elems "program-registers" = 1 << 20, up to 1 << 24, "registers", error "too-many-registers";
        /// Deepest nesting of `if` and loops, also after inlining. Later stages recurse over it.
        nesting "flow-nesting" = 800, up to 2_000, "levels", error "flow-too-deep";
        /// Most instructions after functions are inlined.
        inlined "inlined-instructions" = MAX_INLINED_INSTS, up to 4_000_000, "instructions", error "program-too-large";
        /// Most SSA instructions after any pass: what unrolled loops and flattened branches grow to.
        ssa "ssa-instructions" = 200_000, up to 4_000_000, "instructions", error "program-too-large";
        /// Most block parameters of SSA construction.
        params "block-parameters" = 1 << 20, up to 1 << 24, "parameters", error "program-too-large";
        /// Most steps of SSA construction, and of splitting arrays, in search of a definition.
        lookups "lookups" = 50_000_000, up to 4_000_000_000, "steps", error "program-too-large";
        /// Most rounds of a pass that repeats until nothing changes.
        rounds "pass-rounds" = 64, up to 1_000, "rounds", error "";
        /// Highest number of a block, value or variable in a text of SSA.
        numbers "ssa-numbers" = 1 << 20, up to 1 << 24, "numbers", error "text-too-large";
    }
}

impl Limits {
    /// Whether a text is short enough to be read.
    ///
    /// # Errors
    /// When it is not.
    pub fn check_text(&self, text: &str, file: FileId) -> Result<(), Diagnostic> {
        if text.len() <= self.text {
            return Ok(());
        }
        Err(self.error("ir-text", Span::new(file, 0, 0), format!("the text has {} bytes", text.len())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_and_its_struct_agree() {
        let mut limits = Limits::default();
        for bound in Limits::TABLE {
            assert_eq!(limits.get(bound.name), Some(bound.default));
            assert!(bound.default <= bound.max, "{}", bound.name);
            assert!(limits.set(bound.name, usize::MAX));
            assert_eq!(limits.get(bound.name), Some(bound.max));
        }
        assert!(!limits.set("no such bound", 1) && limits.get("no such bound").is_none());
    }

    #[test]
    fn the_remark_tells_how_to_raise_it() {
        let mut limits = Limits::default();
        let text = limits.exceeded("flow-nesting").to_string();
        assert_eq!(text, "the bound `flow-nesting` is 800 levels; `--limit flow-nesting=N` raises it, up to 2000");
        limits.nesting = 2_000;
        assert!(limits.exceeded("flow-nesting").to_string().ends_with("it cannot be raised"));
    }
}
