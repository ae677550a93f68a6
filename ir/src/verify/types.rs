//! Invariants 11 to 18: operands, immediates, widths, scalar kinds.

use super::Findings;
use crate::entity::{Block, Inst};
use crate::func::{Function, Imm, InstData, Terminator};
use crate::op::{Op, Shape};
use crate::tac::VarDecl;
use crate::types::{Scalar, Stage, Type};

/// Checks every instruction of the layout. Entities exist (invariant 2).
pub(crate) fn check(func: &Function<'_>, found: &mut Findings) {
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            check_inst(func, block, inst, found);
        }
        if let Terminator::Branch { cond, .. } = func.blocks[block].term
            && func.ty(cond).lanes != 1
        {
            found.block(17, Some(block), format!("the condition {cond} has {} lanes", func.ty(cond).lanes));
        }
    }
}

fn check_inst(func: &Function<'_>, block: Block, inst: Inst, found: &mut Findings) {
    let data = &func.insts[inst];
    let mut fail = |rule, message: String| found.inst(rule, func, block, inst, message);
    let args: Vec<Type> = data.args.iter().map(|&a| func.ty(a)).collect();
    if let Some(n) = bad_arity(data) {
        return fail(11, format!("{} takes {n} operands, not {}", data.op, data.args.len()));
    }
    if let Err(message) = check_imm(data, &args) {
        return fail(12, message);
    }
    if let Err(message) = check_var(func, data) {
        return fail(13, message);
    }
    if matches!(data.op, Op::Ddx | Op::Ddy | Op::Kil) && func.stage != Stage::Fragment {
        fail(18, format!("{} outside of the fragment stage", data.op));
    }
    let is_effect = data.op.shape() == Shape::Effect;
    let Some(result) = data.result.expand().map(|r| func.ty(r)) else {
        if is_effect {
            if let Err(message) = check_effect(func, data, &args) {
                fail(14, message);
            }
            if let Err(message) = check_effect_kind(func, data, &args) {
                fail(15, message);
            }
        } else {
            fail(16, format!("{} has no result", data.op));
        }
        return;
    };
    if is_effect {
        return fail(16, format!("{} has a result", data.op));
    }
    if let Err(message) = check_widths(func, data, &args, result) {
        return fail(14, message);
    }
    if let Err(message) = check_kinds(func, data, &args, result) {
        fail(15, message);
    }
}

/// The right number of operands, when the instruction has another one.
fn bad_arity(data: &InstData<'_>) -> Option<String> {
    let n = data.args.len();
    let (low, high) = match (data.op, data.imm) {
        (Op::Cat, _) => (2, 4),
        (Op::Load, _) => (0, 1),
        (Op::Store, _) => (1, 2),
        (Op::Call, _) => (0, usize::MAX), // invariant 19 counts them
        (Op::Tex | Op::Txp, Imm::Tex { indexed, .. }) => (1 + usize::from(indexed), 1 + usize::from(indexed)),
        (Op::Txb | Op::Txl, Imm::Tex { indexed, .. }) => (2 + usize::from(indexed), 2 + usize::from(indexed)),
        (op, _) => op.arity().map_or((0, 4), |a| (a, a)),
    };
    (n < low || n > high).then(|| if low == high { low.to_string() } else { format!("{low} to {high}") })
}

fn check_imm(data: &InstData<'_>, args: &[Type]) -> Result<(), String> {
    let good = match data.op {
        Op::Const => matches!(data.imm, Imm::Lit(_)),
        Op::Swz => match data.imm {
            Imm::Swz(swz) => {
                let width = args[0].lanes;
                if swz.lanes().iter().any(|&l| l >= width) {
                    return Err(format!(".{swz} of a value of {width} lanes"));
                }
                true
            }
            _ => false,
        },
        Op::Input | Op::Uniform | Op::InputAt | Op::UniformAt | Op::Load | Op::Store | Op::Result => {
            matches!(data.imm, Imm::Elem { .. })
        }
        Op::Call => matches!(data.imm, Imm::Callee(_)),
        Op::StoreOutput => matches!(data.imm, Imm::Out { mask, .. } if mask.0 != 0 && mask.0 < 16),
        Op::Tex | Op::Txp | Op::Txb | Op::Txl => matches!(data.imm, Imm::Tex { .. }),
        _ => data.imm == Imm::None,
    };
    if good { Ok(()) } else { Err(format!("{} cannot have the immediate {:?}", data.op, data.imm)) }
}

fn check_var(func: &Function<'_>, data: &InstData<'_>) -> Result<(), String> {
    let (var, elem) = match data.imm {
        Imm::Elem { var, elem } | Imm::Out { var, elem, .. } => (var, elem),
        Imm::Tex { sampler, elem, .. } => (sampler, elem),
        _ => return Ok(()),
    };
    if !func.vars.is_valid(var) {
        return Err(format!("{var} does not exist"));
    }
    let decl: &VarDecl = &func.vars[var];
    let good = match data.op {
        Op::Input if func.is_argument(var, elem) => true,
        Op::Result => true, // invariant 19
        Op::Input | Op::InputAt => decl.is_input(func.stage),
        Op::Uniform | Op::UniformAt => decl.kind == crate::tac::VarKind::Uniform,
        Op::Load | Op::Store => decl.is_local(),
        Op::StoreOutput => match &func.signature {
            None => decl.is_output(func.stage),
            Some(signature) => signature.results.contains(&(var, elem)),
        },
        _ => decl.is_sampler(),
    };
    if !good {
        return Err(format!("{} cannot name `{}`, a {:?}", data.op, decl.name, decl.kind));
    }
    // A constant part beside a dynamic one may lie outside, as in `a[i + 4]` with a negative `i`.
    let dynamic = match (data.op, data.imm) {
        (Op::InputAt | Op::UniformAt, _) => true,
        (Op::Load, _) => !data.args.is_empty(),
        (Op::Store, _) => data.args.len() == 2,
        (_, Imm::Tex { indexed, .. }) => indexed,
        _ => false,
    };
    if !dynamic && elem >= decl.elems {
        return Err(format!("element {elem} of `{}`, which has {}", decl.name, decl.elems));
    }
    if let (Imm::Tex { dim, .. }, crate::tac::VarKind::Sampler { dim: declared, .. }) = (data.imm, decl.kind)
        && dim != declared
    {
        return Err(format!("a {dim} lookup of `{}`, which is {declared}", decl.name));
    }
    Ok(())
}

fn check_widths(func: &Function<'_>, data: &InstData<'_>, args: &[Type], result: Type) -> Result<(), String> {
    let expect = |what: &str, found: u8, wanted: u8| {
        if found == wanted { Ok(()) } else { Err(format!("{what} has {found} lanes, not {wanted}")) }
    };
    let lanes = result.lanes;
    if !(1..=4).contains(&lanes) {
        return Err(format!("a result of {lanes} lanes"));
    }
    match data.op.shape() {
        Shape::Lanewise | Shape::ScalarUnit | Shape::Normalize => {
            for (i, arg) in args.iter().enumerate() {
                // One bool may select whole vectors.
                if data.op == Op::Select && i == 0 && arg.lanes == 1 {
                    continue;
                }
                expect(&format!("operand {i}"), arg.lanes, lanes)?;
            }
            Ok(())
        }
        Shape::Reduce => {
            for (i, arg) in args.iter().enumerate() {
                expect(&format!("operand {i}"), arg.lanes, data.op.reduce_width().unwrap_or(0))?;
            }
            expect("the result", lanes, 1)
        }
        Shape::Swizzle => match data.imm {
            Imm::Swz(swz) => expect("the result", lanes, swz.len()),
            _ => Ok(()),
        },
        Shape::Concat => {
            let sum: u32 = args.iter().map(|a| u32::from(a.lanes)).sum();
            expect("the result", lanes, sum.min(255) as u8)
        }
        Shape::Leaf => {
            for (i, arg) in args.iter().enumerate() {
                expect(&format!("index operand {i}"), arg.lanes, 1)?;
            }
            match data.imm {
                Imm::Lit(literal) => expect("the result", lanes, literal.ty.lanes),
                Imm::Elem { var, .. } => expect("the result", lanes, func.vars[var].ty.lanes),
                _ => Ok(()),
            }
        }
        Shape::Texture => {
            expect("the result", lanes, 4)?;
            let Imm::Tex { dim, shadow, indexed, .. } = data.imm else { return Ok(()) };
            let wanted = match (data.op, shadow) {
                (Op::Txp, _) => 4,
                (_, true) => dim.coords().max(2) + 1,
                (_, false) => dim.coords(),
            };
            if args[0].lanes < wanted {
                return Err(format!("coordinates of {} lanes, at least {wanted} wanted", args[0].lanes));
            }
            for (i, arg) in args.iter().enumerate().skip(1) {
                let what = if indexed && i + 1 == args.len() { "the sampler index" } else { "bias or level" };
                expect(what, arg.lanes, 1)?;
            }
            Ok(())
        }
        Shape::Effect => Ok(()),
    }
}

fn check_effect(func: &Function<'_>, data: &InstData<'_>, args: &[Type]) -> Result<(), String> {
    match (data.op, data.imm) {
        (Op::Store, Imm::Elem { var, .. }) => {
            let (value, index) = (args[args.len() - 1], &args[..args.len() - 1]);
            if index.iter().any(|i| i.lanes != 1) {
                return Err("an index of several lanes".to_string());
            }
            if value.lanes != func.vars[var].ty.lanes {
                return Err(format!("{} lanes stored to a variable of {}", value.lanes, func.vars[var].ty.lanes));
            }
        }
        (Op::StoreOutput, Imm::Out { var, mask, .. }) => {
            if mask.lanes().any(|l| l >= func.vars[var].ty.lanes) {
                return Err(format!(".{mask} of a variable of {} lanes", func.vars[var].ty.lanes));
            }
            if mask.lanes().any(|l| l >= args[0].lanes) {
                return Err(format!(".{mask} from a value of {} lanes", args[0].lanes));
            }
        }
        _ => {}
    }
    Ok(())
}

/// What is stored has the variable's kind, or types are lowered and it is float.
fn check_effect_kind(func: &Function<'_>, data: &InstData<'_>, args: &[Type]) -> Result<(), String> {
    let (Imm::Elem { var, .. } | Imm::Out { var, .. }) = data.imm else { return Ok(()) };
    let (value, wanted) = (args[args.len() - 1], func.vars[var].ty);
    if value.scalar == wanted.scalar || value.scalar == Scalar::Float {
        Ok(())
    } else {
        Err(format!("{value} stored to a {wanted}"))
    }
}

fn check_kinds(func: &Function<'_>, data: &InstData<'_>, args: &[Type], result: Type) -> Result<(), String> {
    let equal = |types: &[Type]| {
        if types.windows(2).all(|w| w[0].scalar == w[1].scalar) {
            Ok(())
        } else {
            Err(format!("kinds differ: {types:?}"))
        }
    };
    match (data.op, data.imm) {
        (Op::Mov | Op::Undef, _) => Ok(()),
        (_, Imm::Lit(literal)) => equal(&[literal.ty, result]),
        (_, Imm::Elem { var, .. }) => {
            if result.scalar == Scalar::Float {
                Ok(())
            } else {
                equal(&[func.vars[var].ty, result])
            }
        }
        (_, Imm::Tex { .. }) => equal(&[Type::FLOAT, result]),
        (Op::Slt | Op::Sge | Op::Seq | Op::Sne, _) => {
            equal(args)?;
            if result.scalar == Scalar::Int { Err("a comparison with an int result".to_string()) } else { Ok(()) }
        }
        (Op::Select | Op::Cmp, _) => equal(&[args[1], args[2], result]),
        _ => {
            equal(args)?;
            equal(&[args[0], result])
        }
    }
}
