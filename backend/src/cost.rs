//! What the e-graph stage and the passes must know of a target, filled from its table.

use crate::isa::{SwizzleRule, Target};
use crate::mach::{File, Opcode};
use ir::cost::{CostTable, Indexed, OpCost};
use ir::op::{Form, Op};

/// The costs of one target.
pub fn cost_table(target: &Target) -> CostTable {
    let of = |op: Opcode| target.op(op).map(|s| OpCost { slots: s.slots, latency: s.latency });
    let mut ops = [None; Op::COUNT];
    for &op in Op::ALL {
        ops[op as usize] = match op {
            Op::Swz | Op::Cat | Op::Const | Op::Undef | Op::Input | Op::Uniform => {
                Some(OpCost { slots: 0, latency: 0 })
            }
            Op::Neg if target.operands.neg => Some(OpCost { slots: 0, latency: 0 }),
            Op::Abs if target.operands.abs => Some(OpCost { slots: 0, latency: 0 }),
            Op::Sat if target.operands.saturate => Some(OpCost { slots: 0, latency: 0 }),
            Op::UniformAt | Op::InputAt => of(Opcode::Arl),
            Op::Load | Op::Store | Op::StoreOutput => of(Opcode::Mov),
            Op::Call => of(Opcode::Cal),
            // a copy at most, and most of them vanish
            Op::Result => Some(OpCost { slots: 0, latency: 0 }),
            Op::Kil => of(Opcode::Kil),
            Op::Tex => of(Opcode::Tex),
            Op::Txp => of(Opcode::Txp),
            Op::Txb => of(Opcode::Txb),
            Op::Txl => of(Opcode::Txl),
            op if op.form() == Form::Source && op != Op::Mov => None,
            op => target.patterns.iter().find(|p| p.general && p.root() == op).and_then(|p| {
                let mut sum = OpCost { slots: 0, latency: 0 };
                for line in &p.emit {
                    let spec = target.op(line.op)?;
                    sum = OpCost { slots: sum.slots + spec.slots, latency: sum.latency + spec.latency };
                }
                Some(sum)
            }),
        };
    }
    let slots = |op: Opcode| target.op(op).map_or(0, |s| s.slots);
    CostTable {
        ops,
        free_neg: target.operands.neg,
        free_abs: target.operands.abs,
        free_sat: target.operands.saturate,
        // most of what shaders pick is among the rotations and the lanes on their own
        free_swizzle: matches!(target.operands.swizzle, SwizzleRule::Any | SwizzleRule::Rotations),
        free_tex_swizzle: target.operands.tex_swizzle == SwizzleRule::Any,
        branch: slots(Opcode::If) + slots(Opcode::EndIf),
        else_: slots(Opcode::Else),
        has_branches: target.flow,
        const_ports: target.registers.constant.ports,
        input_ports: target.registers.input.ports,
        indexed: Indexed {
            uniforms: target.indexes(File::Const),
            inputs: target.indexes(File::Input),
            locals: target.indexes(File::Local),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vec4_costs_are_the_documented_ones() {
        let costs = cost_table(&Target::builtin("vec4").unwrap());
        let documented = CostTable::default();
        for &op in Op::ALL {
            if !matches!(op, Op::Call | Op::Kil | Op::Load | Op::Store | Op::StoreOutput) {
                assert_eq!(costs.op(op).map(|c| c.slots), documented.op(op).map(|c| c.slots), "{op}");
            }
        }
        assert_eq!((costs.branch, costs.else_), (1, 1));
    }
}
