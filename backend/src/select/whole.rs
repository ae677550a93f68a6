//! Which values are whole numbers for certain: what an address register that rounds to nearest may be
//! loaded with.

use ir::entity::Value;
use ir::func::{Function, Imm, ValueDef};
use ir::op::Op;

/// Operands are followed no deeper than this.
const MAX_DEPTH: u32 = 16;

/// Whether every lane of the value is a whole number (or no number at all). A variable that the source
/// declares as whole numbers holds those.
pub(super) fn is_whole(func: &Function<'_>, value: Value) -> bool {
    known(func, value, MAX_DEPTH)
}

fn known(func: &Function<'_>, value: Value, depth: u32) -> bool {
    let ValueDef::Inst(inst) = func.values[value].def else { return false };
    let Some(left) = depth.checked_sub(1) else { return false };
    let data = &func.insts[inst];
    let all = |args: &[Value]| args.iter().all(|&a| known(func, a, left));
    match (data.op, data.imm) {
        (Op::Flr | Op::Slt | Op::Sge | Op::Seq | Op::Sne, _) => true,
        (Op::Const, Imm::Lit(literal)) => literal.lanes().all(|l| l.fract() == 0.0),
        (Op::Uniform | Op::UniformAt | Op::Input | Op::InputAt, Imm::Elem { var, .. }) => {
            let name = func.vars[var].type_name.as_str();
            ["int", "ivec", "bool", "bvec"].iter().any(|whole| name.starts_with(whole))
        }
        (Op::Add | Op::Mul | Op::Mad | Op::Min | Op::Max | Op::Neg | Op::Abs | Op::Mov | Op::Swz | Op::Cat, _) => {
            all(data.args)
        }
        (Op::Cmp, _) => all(&data.args[1..]),
        _ => false,
    }
}
