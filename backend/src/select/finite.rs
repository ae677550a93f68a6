//! Which values are finite when uniforms, inputs and texels are.
//!
//! Sums and products are taken as finite: that they overflow is the shader's own doing. What divides,
//! or takes a root or a logarithm, is not, unless its operand is a literal: that is what shaders guard by
//! a choice.

use cranelift_entity::SecondaryMap;
use ir::entity::Value;
use ir::func::Function;
use ir::op::Op;
use ir::types::Literal;

/// The finite values; a block's parameters are not known to be.
pub(super) fn values(func: &Function<'_>) -> SecondaryMap<Value, bool> {
    let mut finite: SecondaryMap<Value, bool> = SecondaryMap::with_capacity(func.values.len());
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            let data = &func.insts[inst];
            let Some(result) = data.result.expand() else { continue };
            let all = |args: &[Value]| args.iter().all(|&a| finite[a]);
            let literal = || data.args.first().and_then(|&a| func.literal(a));
            finite[result] = match data.op {
                Op::Const => func.literal(result).is_none_or(|l| l.lanes().all(f32::is_finite)),
                Op::Undef | Op::Input | Op::InputAt | Op::Uniform | Op::UniformAt => true,
                Op::Tex | Op::Txp | Op::Txb | Op::Txl => true,
                Op::Slt | Op::Sge | Op::Seq | Op::Sne | Op::Sat => true,
                Op::Cmp | Op::Select => all(&data.args[1..]),
                Op::Rcp => literal().is_some_and(|l: Literal| l.lanes().all(|v| v != 0.0 && v.is_finite())),
                Op::Rsq | Op::Lg2 => literal().is_some_and(|l: Literal| l.lanes().all(|v| v > 0.0 && v.is_finite())),
                Op::Load | Op::Result | Op::Call => false,
                _ => all(data.args),
            };
        }
    }
    finite
}

#[cfg(test)]
mod tests {
    use super::*;
    use bumpalo::Bump;

    #[test]
    fn a_division_is_not_and_what_saturates_it_is() {
        let text = "function frag {
            var0 = output float \"o\"
            var1 = varying float \"t\"
            block0: v0: float = input var1[0] v1: float = rcp v0 v2: float = mul v1, v0 v3: float = sat v2
            v4: float = const float(4.0) v5: float = rsq v4 v6: float = add v5, v0 v7: float = lg2 v0
            v8: float = cmp v7, v0, v6 v9: float = cmp v0, v7, v6
            store_output var0[0].x, v3 return }";
        let arena = Bump::new();
        let func = ir::text::parse(&arena, text, Default::default()).unwrap();
        let finite = values(&func);
        let got: Vec<bool> = (0..10).map(|v| finite[Value::from_u32(v)]).collect();
        assert_eq!(got, [true, false, false, true, true, true, true, false, true, false]);
    }
}
