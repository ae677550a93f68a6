//! What each operation costs on a target: filled by the backend from the target's table, read by
//! the e-graph stage and by passes that weigh one form against another.

use crate::op::Op;

/// Of one opcode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpCost {
    /// Issue slots (instructions for most).
    pub slots: u32,
    /// Cycles until the result can be read.
    pub latency: u32,
}

/// Costs of all core opcodes and of what a source operand gets for free.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CostTable {
    /// By opcode; `None` where the target has no such instruction.
    pub ops: [Option<OpCost>; Op::COUNT],
    /// Negation of a source is free.
    pub free_neg: bool,
    /// Absolute value of a source is free.
    pub free_abs: bool,
    /// Saturation of a result is free.
    pub free_sat: bool,
    /// Any swizzle of a source is free.
    pub free_swizzle: bool,
    /// Any swizzle of a texture coordinate is free.
    pub free_tex_swizzle: bool,
    /// A branch (IF with its ENDIF), in slots.
    pub branch: u32,
    /// An ELSE.
    pub else_: u32,
    /// Whether branches exist at all.
    pub has_branches: bool,
    /// Most different uniform registers that one instruction may read.
    pub const_ports: u32,
    /// Most different input registers that one instruction may read.
    pub input_ports: u32,
    /// What a computed index may select from.
    pub indexed: Indexed,
}

/// Which arrays the machine can index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Indexed {
    /// Uniforms.
    pub uniforms: bool,
    /// Inputs.
    pub inputs: bool,
    /// Local arrays.
    pub locals: bool,
}

impl CostTable {
    /// The costs of an opcode; free for lanes and leaves.
    pub fn op(&self, op: Op) -> Option<OpCost> {
        self.ops[op as usize]
    }

    /// Slots of an opcode, or a deterrent when the target lacks it.
    pub fn slots(&self, op: Op) -> u32 {
        self.op(op).map_or(1000, |c| c.slots)
    }
}

impl Default for CostTable {
    /// The costs of the plain vec4 machine (design section 6): one slot each, SIN and COS four.
    fn default() -> CostTable {
        let mut ops = [None; Op::COUNT];
        for &op in Op::ALL {
            let (slots, latency) = match op {
                Op::Neg | Op::Abs | Op::Sat | Op::Swz | Op::Cat | Op::Const | Op::Undef => (0, 0),
                Op::Input | Op::Uniform | Op::Result => (0, 0),
                Op::Sin | Op::Cos => (4, 8),
                Op::Rcp | Op::Rsq | Op::Ex2 | Op::Lg2 => (1, 4),
                Op::Tex | Op::Txp | Op::Txb | Op::Txl => (1, 20),
                op if op.form() == crate::op::Form::Source && op != Op::Mov => continue,
                _ => (1, 3),
            };
            ops[op as usize] = Some(OpCost { slots, latency });
        }
        CostTable {
            ops,
            free_neg: true,
            free_abs: true,
            free_sat: true,
            free_swizzle: true,
            free_tex_swizzle: true,
            branch: 1,
            else_: 1,
            has_branches: true,
            const_ports: 3,
            input_ports: 3,
            indexed: Indexed { uniforms: true, inputs: true, locals: true },
        }
    }
}
