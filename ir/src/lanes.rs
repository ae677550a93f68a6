//! Lanes through `Swz` and `Cat`: where a lane is computed, and a value from lanes. SSA
//! construction and every pass that moves lanes builds its gathers here, so that composed swizzles
//! and gathers of gathers do not arise.

use crate::builder::Builder;
use crate::entity::Value;
use crate::func::{Function, Imm};
use crate::op::Op;
use crate::types::{Literal, Swizzle};

/// One lane of a value.
pub type Lane = (Value, u8);

/// Where a lane comes from, behind all swizzles and gathers.
pub fn trace(func: &Function<'_>, value: Value, lane: u8) -> Lane {
    let (mut value, mut lane) = (value, lane);
    while let Some(data) = func.def_inst(value) {
        match (data.op, data.imm) {
            (Op::Swz, Imm::Swz(swz)) => {
                lane = swz.lanes()[lane as usize];
                value = data.args[0];
            }
            (Op::Cat, _) => {
                let mut parts = data.args.iter();
                let part = parts.find(|&&p| {
                    let width = func.ty(p).lanes;
                    let here = lane < width;
                    lane -= if here { 0 } else { width };
                    here
                });
                let Some(&part) = part else { break };
                value = part;
            }
            _ => break,
        }
    }
    (value, lane)
}

/// All lanes of a value, traced.
pub fn trace_all(func: &Function<'_>, value: Value) -> Vec<Lane> {
    (0..func.ty(value).lanes).map(|lane| trace(func, value, lane)).collect()
}

/// A value with these lanes (1 to 4, of one scalar kind): itself where it exists already, a literal
/// if all lanes are known, else swizzles and one `Cat`.
///
/// # Panics
/// When there are no lanes or more than four.
pub fn gather(builder: &mut Builder<'_, '_>, lanes: &[Lane]) -> Value {
    let scalar = builder.func.ty(lanes[0].0).scalar;
    if lanes.iter().any(|l| l.0 != lanes[0].0) {
        let known: Option<Vec<f32>> =
            lanes.iter().map(|&(v, lane)| builder.func.literal(v).map(|l| l.lane(lane))).collect();
        if let Some(known) = known {
            return builder.constant(Literal::new(scalar, &known));
        }
    }
    let mut parts = Vec::with_capacity(4);
    for run in lanes.chunk_by(|a, b| a.0 == b.0) {
        let picked: Vec<u8> = run.iter().map(|l| l.1).collect();
        parts.push(builder.swz(run[0].0, Swizzle::new(&picked)));
    }
    builder.cat(&parts)
}

/// `swizzle` of a value through whatever it is made of.
pub fn swizzled(builder: &mut Builder<'_, '_>, value: Value, swizzle: Swizzle) -> Value {
    if swizzle.is_identity(builder.func.ty(value).lanes) {
        return value;
    }
    if let Some(literal) = builder.func.literal(value) {
        return builder.constant(literal.swizzled(swizzle));
    }
    let lanes: Vec<Lane> = swizzle.lanes().iter().map(|&l| trace(builder.func, value, l)).collect();
    gather(builder, &lanes)
}
