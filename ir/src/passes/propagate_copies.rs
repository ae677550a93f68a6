//! Removes what only hands a value on: `mov` to the same type, parameters that always get the same
//! value, identity swizzles, swizzles of swizzles and of gathers, gathers of one value's lanes and of
//! gathers.
//!
//! A parameter whose arguments are all one value `v` (or the parameter itself, over a back edge) is
//! `v`, and `v` dominates the block (Braun et al. 2013, "trivial phi functions"). Repeats until
//! nothing changes, at most `pass-rounds` times.

use crate::builder::Replacements;
use crate::entity::{Block, Inst, Value};
use crate::func::{Function, Imm};
use crate::op::Op;
use crate::pass::{PassCtx, PassError};
use crate::types::Swizzle;
use cranelift_entity::SecondaryMap;
use smallvec::SmallVec;

/// The pass. What was replaced keeps standing without uses; `eliminate-dead-code` removes it.
pub fn run(func: &mut Function<'_>, ctx: &PassCtx) -> Result<bool, PassError> {
    let mut changed = false;
    for _ in 0..ctx.limits.rounds {
        let mut copies = Replacements::new();
        let rewritten = simplify_insts(func, &mut copies);
        trivial_params(func, &mut copies);
        if !copies.apply(func) && !rewritten {
            break;
        }
        changed = true;
    }
    Ok(changed)
}

fn simplify_insts(func: &mut Function<'_>, copies: &mut Replacements) -> bool {
    let mut changed = false;
    for index in 0..func.layout.len() {
        let block = func.layout[index];
        for at in 0..func.blocks[block].insts.len() {
            let inst = func.blocks[block].insts[at];
            let Some(result) = func.insts[inst].result.expand() else { continue };
            match func.insts[inst].op {
                Op::Mov => {
                    let mut source = copies.get(func.insts[inst].args[0]);
                    while let Some(data) = func.def_inst(source)
                        && data.op == Op::Mov
                    {
                        source = copies.get(data.args[0]);
                    }
                    if func.ty(source) == func.ty(result) {
                        copies.set(result, source);
                    }
                }
                Op::Swz => changed |= simplify_swz(func, inst, result, copies),
                Op::Cat => changed |= simplify_cat(func, inst, result, copies),
                _ => {}
            }
        }
    }
    changed
}

/// One lane of a value that is neither a swizzle nor a gather.
type Lane = (Value, u8);

/// Where the lanes of a value come from, through one gather and any swizzles (which the layout's
/// order has already made short).
fn lanes_of(func: &Function<'_>, value: Value, copies: &Replacements) -> SmallVec<[Lane; 4]> {
    let value = copies.get(value);
    if let Some(data) = func.def_inst(value) {
        match (data.op, data.imm) {
            (Op::Swz, Imm::Swz(swz)) => {
                let source = copies.get(data.args[0]);
                return swz.lanes().iter().map(|&l| (source, l)).collect();
            }
            (Op::Cat, _) => {
                let mut lanes = SmallVec::new();
                for &part in data.args {
                    let part = copies.get(part);
                    lanes.extend((0..func.ty(part).lanes).map(|l| (part, l)));
                }
                return lanes;
            }
            _ => {}
        }
    }
    (0..func.ty(value).lanes).map(|l| (value, l)).collect()
}

fn simplify_swz(func: &mut Function<'_>, inst: Inst, result: Value, copies: &mut Replacements) -> bool {
    let (Imm::Swz(swz), source) = (func.insts[inst].imm, copies.get(func.insts[inst].args[0])) else { return false };
    if swz.is_identity(func.ty(source).lanes) {
        copies.set(result, source);
        return false;
    }
    let from = lanes_of(func, source, copies);
    let lanes: SmallVec<[Lane; 4]> = swz.lanes().iter().map(|&l| from[l as usize]).collect();
    one_source(func, inst, result, &lanes, copies) || whole_parts(func, inst, &lanes)
}

fn simplify_cat(func: &mut Function<'_>, inst: Inst, result: Value, copies: &mut Replacements) -> bool {
    let args: SmallVec<[Value; 4]> = func.insts[inst].args.iter().map(|&a| copies.get(a)).collect();
    // `lanes` looks through swizzles, so it decides whether all come from one value.
    let lanes: SmallVec<[Lane; 4]> = args.iter().flat_map(|&a| lanes_of(func, a, copies)).collect();
    if one_source(func, inst, result, &lanes, copies) {
        return true;
    }
    // Gathers of gathers become one; swizzled parts stay as they are.
    let mut parts: SmallVec<[Value; 4]> = SmallVec::new();
    for &arg in &args {
        match func.def_inst(arg) {
            Some(data) if data.op == Op::Cat => parts.extend(data.args.iter().map(|&p| copies.get(p))),
            _ => parts.push(arg),
        }
    }
    if parts.len() == args.len() {
        return false;
    }
    func.set_args(inst, &parts);
    true
}

/// All lanes from one value: the instruction becomes a swizzle of it, or is it. Returns whether the
/// instruction was changed.
fn one_source(func: &mut Function<'_>, inst: Inst, result: Value, lanes: &[Lane], copies: &mut Replacements) -> bool {
    let source = lanes[0].0;
    if lanes.iter().any(|l| l.0 != source) || func.ty(source).scalar != func.ty(result).scalar {
        return false;
    }
    let picked: SmallVec<[u8; 4]> = lanes.iter().map(|l| l.1).collect();
    let swz = Swizzle::new(&picked);
    if swz.is_identity(func.ty(source).lanes) {
        copies.set(result, source);
        return false;
    }
    let data = &func.insts[inst];
    if data.op == Op::Swz && data.imm == Imm::Swz(swz) && data.args == [source] {
        return false;
    }
    func.insts[inst].op = Op::Swz;
    func.insts[inst].imm = Imm::Swz(swz);
    func.set_args(inst, &[source]);
    true
}

/// A swizzle of a gather that picks whole parts becomes a gather of those.
fn whole_parts(func: &mut Function<'_>, inst: Inst, lanes: &[Lane]) -> bool {
    let mut parts: SmallVec<[Value; 4]> = SmallVec::new();
    let mut at = 0;
    while at < lanes.len() {
        let part = lanes[at].0;
        let width = func.ty(part).lanes;
        for lane in 0..width {
            if lanes.get(at) != Some(&(part, lane)) {
                return false;
            }
            at += 1;
        }
        parts.push(part);
    }
    // Of one value alone it stays a swizzle, as `one_source` has it.
    if parts.iter().all(|&p| p == parts[0]) {
        return false;
    }
    func.insts[inst].op = Op::Cat;
    func.insts[inst].imm = Imm::None;
    func.set_args(inst, &parts);
    true
}

fn trivial_params(func: &Function<'_>, copies: &mut Replacements) {
    let mut edges: SecondaryMap<Block, SmallVec<[&[Value]; 2]>> = SecondaryMap::with_capacity(func.blocks.len());
    for &block in &func.layout {
        for call in func.successors(block) {
            edges[call.block].push(call.args);
        }
    }
    for &block in &func.layout {
        for (index, &param) in func.blocks[block].params.iter().enumerate() {
            let mut only: Option<Value> = None;
            let trivial = edges[block].iter().all(|args| {
                let arg = copies.get(args[index]);
                if arg == copies.get(param) {
                    return true;
                }
                *only.get_or_insert(arg) == arg
            });
            if let (true, Some(value)) = (trivial, only) {
                copies.set(param, value);
            }
        }
    }
}
