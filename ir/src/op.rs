//! The opcodes and their facts, derived from [`crate::op_table!`].

/// How the result's lanes come from the operands' lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// All operands and the result have one width; lane i depends on lanes i only.
    Lanewise,
    /// As lane-wise, but the machine computes one lane an issue.
    ScalarUnit,
    /// Operands of the opcode's width (2, 3, 4), result of one lane.
    Reduce,
    /// One operand of 1 to 4 lanes, result of the same width, every lane depends on all.
    Normalize,
    /// As wide as the immediate swizzle.
    Swizzle,
    /// As wide as the operands together.
    Concat,
    /// As the result type says.
    Leaf,
    /// Four lanes.
    Texture,
    /// No result.
    Effect,
}

/// What a pass may do with an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Depends on its operands alone: may be moved, merged, dropped.
    Pure,
    /// Reads memory: may be dropped; stays in order with writes.
    Read,
    /// Needs its neighbours in the quad: may be dropped or merged with an equal one that dominates
    /// it, but never moved into or out of a branch or loop.
    Implicit,
    /// Stays, in order.
    Write,
}

/// Whether the e-graph stage and the selection know the opcode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// One of the opcodes left after `passes::lower_types`.
    Core,
    /// Expanded by `passes::lower_types`.
    Source,
}

macro_rules! define_ops {
    ($(($name:ident, $text:literal, $arity:literal, $shape:ident, $effect:ident, $comm:literal, $form:ident, $doc:literal),)*) => {
        /// An operation; see the table in `op_table.rs`.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        pub enum Op { $(#[doc = $doc] $name,)* }

        impl Op {
            /// All opcodes in table order.
            pub const ALL: &'static [Op] = &[$(Op::$name,)*];

            /// How many there are.
            pub const COUNT: usize = Op::ALL.len();

            /// The text form's word.
            pub const fn mnemonic(self) -> &'static str {
                match self { $(Op::$name => $text,)* }
            }

            /// Number of operands; `None` when it varies.
            pub const fn arity(self) -> Option<usize> {
                let arity: i8 = match self { $(Op::$name => $arity,)* };
                if arity < 0 { None } else { Some(arity as usize) }
            }

            /// How result lanes come from operand lanes.
            pub const fn shape(self) -> Shape {
                match self { $(Op::$name => Shape::$shape,)* }
            }

            /// What a pass may do with it.
            pub const fn effect(self) -> Effect {
                match self { $(Op::$name => Effect::$effect,)* }
            }

            /// Whether the first two operands may change places.
            pub const fn is_commutative(self) -> bool {
                match self { $(Op::$name => $comm,)* }
            }

            /// Core or expanded.
            pub const fn form(self) -> Form {
                match self { $(Op::$name => Form::$form,)* }
            }

            /// One line on what it computes.
            pub const fn doc(self) -> &'static str {
                match self { $(Op::$name => $doc,)* }
            }
        }
    };
}
crate::op_table!(define_ops);

impl Op {
    /// The opcode of a mnemonic.
    pub fn parse(text: &str) -> Option<Op> {
        Op::ALL.iter().copied().find(|op| op.mnemonic() == text)
    }

    /// Whether it is pure.
    pub const fn is_pure(self) -> bool {
        matches!(self.effect(), Effect::Pure)
    }

    /// The width of a reduction's operands.
    pub const fn reduce_width(self) -> Option<u8> {
        match self {
            Op::Dp2 => Some(2),
            Op::Dp3 => Some(3),
            Op::Dp4 => Some(4),
            _ => None,
        }
    }
}

impl std::fmt::Display for Op {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.mnemonic())
    }
}
