//! The matching loop: which pattern computes which instructions.

use super::{Facts, SelectOptions, finite};
use crate::error::Error;
use crate::isa::Target;
use crate::isa::pattern::{Pattern, Tree};
use cranelift_entity::SecondaryMap;
use ir::entity::{Block, Inst, Value};
use ir::func::{Function, Terminator};
use ir::op::Op;
use smallvec::SmallVec;

/// What becomes of an instruction.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) enum Cover {
    /// Nothing needs it.
    #[default]
    Dead,
    /// No code: its readers look through it (see `trace`).
    Alias,
    /// Computed by the pattern at a later instruction.
    Folded,
    /// The root of a match.
    Root {
        /// Index into the target's patterns.
        pattern: usize,
        /// Values of the pattern's variables.
        args: SmallVec<[Value; 4]>,
    },
    /// Effects, textures, gathers, memory: code of its own.
    Special,
}

pub(crate) type Covers = SecondaryMap<Inst, Cover>;

/// Where a value's readers stand, looking through aliases.
#[derive(Clone, Copy, PartialEq, Default)]
enum Readers {
    #[default]
    None,
    In(Block),
    Several,
}

impl Readers {
    fn and(self, other: Readers) -> Readers {
        match (self, other) {
            (Readers::None, x) | (x, Readers::None) => x,
            (a, b) if a == b => a,
            _ => Readers::Several,
        }
    }
}

fn is_indexed(op: Op) -> bool {
    matches!(op, Op::UniformAt | Op::InputAt)
}

struct Matcher<'f, 'a> {
    func: &'f Function<'a>,
    facts: &'f Facts,
    /// Values that are finite when what comes from outside is.
    finite: SecondaryMap<Value, bool>,
}

impl Matcher<'_, '_> {
    /// Matches a tree against the computation of `value`; `root` may have any number of uses.
    fn tree(&self, tree: &Tree, value: Value, block: Block, root: bool, found: &mut Found) -> bool {
        let (op, subtrees) = match tree {
            Tree::Var(var) => return *found.args[*var].get_or_insert(value) == value,
            Tree::Literal(bits) => {
                let is_bits = |l: ir::types::Literal| l.bits[..l.ty.lanes as usize].iter().all(|b| b == bits);
                return self.func.literal(value).is_some_and(is_bits);
            }
            Tree::Op(op, subtrees) => (*op, subtrees),
        };
        let ir::func::ValueDef::Inst(inst) = self.func.values[value].def else { return false };
        let data = &self.func.insts[inst];
        if data.op != op || data.args.len() != subtrees.len() {
            return false;
        }
        // an inner operation vanishes, so nothing else may need it, and it must not move into a loop
        if !root && (self.facts.uses[value] != 1 || self.facts.block[inst] != Some(block)) {
            return false;
        }
        let start = found.clone();
        if self.operands(subtrees, data.args, block, found) {
            found.covered.push(inst);
            return true;
        }
        *found = start;
        if op.is_commutative() && subtrees[0] != subtrees[1] {
            let swapped: SmallVec<[Value; 3]> = [data.args[1], data.args[0]].into_iter().collect();
            let start = found.clone();
            if self.operands(subtrees, &swapped, block, found) {
                found.covered.push(inst);
                return true;
            }
            *found = start;
        }
        false
    }

    fn operands(&self, subtrees: &[Tree], args: &[Value], block: Block, found: &mut Found) -> bool {
        subtrees.iter().zip(args).all(|(t, &a)| self.tree(t, a, block, false, found))
    }
}

#[derive(Clone, Default)]
struct Found {
    args: SmallVec<[Option<Value>; 4]>,
    covered: SmallVec<[Inst; 4]>,
}

/// Chooses a pattern for every live instruction that computes.
pub(crate) fn cover(
    func: &Function<'_>,
    target: &Target,
    options: &SelectOptions,
    facts: &Facts,
) -> Result<Covers, Error> {
    let mut by_root: Vec<Vec<usize>> = vec![Vec::new(); Op::COUNT];
    for (index, pattern) in target.patterns.iter().enumerate() {
        if !options.without.contains(&pattern.name) {
            by_root[pattern.root() as usize].push(index); // stays longest first
        }
    }
    let asks = target.patterns.iter().any(|p| !p.finite.is_empty());
    let finite = if asks { finite::values(func) } else { SecondaryMap::new() };
    let matcher = Matcher { func, facts, finite };
    let mut covers = Covers::with_capacity(func.insts.len());
    let mut readers: SecondaryMap<Value, Readers> = SecondaryMap::with_capacity(func.values.len());
    let mut gathered = gathered_only(func, facts);
    let mut indexes: SecondaryMap<Value, bool> = SecondaryMap::with_capacity(func.values.len());
    for &block in func.layout.iter().rev() {
        let data = &func.blocks[block];
        if let Terminator::Branch { cond, .. } = data.term {
            readers[cond] = readers[cond].and(Readers::In(block));
        }
        for call in func.successors(block) {
            for &arg in call.args {
                readers[arg] = readers[arg].and(Readers::In(block));
            }
        }
        // the instruction pointer
        for &inst in data.insts.iter().rev() {
            let data = &func.insts[inst];
            if !facts.live[inst] || covers[inst] == Cover::Folded {
                continue;
            }
            let result = data.result.expand();
            let plain = |op: Op| by_root[op as usize].iter().any(|&p| target.patterns[p].general);
            let operand_takes = match data.op {
                Op::Neg => target.operands.neg,
                Op::Abs => target.operands.abs,
                _ => false,
            };
            covers[inst] = match data.op {
                Op::Swz | Op::Const | Op::Undef | Op::Input | Op::Uniform | Op::Mov => Cover::Alias,
                // reading through a0 at each use is cheapest while the address stays loaded
                op if is_indexed(op) => match result {
                    Some(r) if readers[r] == Readers::In(block) && !indexes[r] => Cover::Alias,
                    _ => Cover::Special,
                },
                Op::Cat | Op::Load | Op::Store | Op::StoreOutput | Op::Kil | Op::Call | Op::Result => Cover::Special,
                Op::Tex | Op::Txp | Op::Txb | Op::Txl => Cover::Special,
                // a sign that some operand will carry, unless only gathers read it: then a longer
                // pattern may compute it in place
                Op::Neg | Op::Abs if operand_takes => {
                    let in_place = result.is_some_and(|r| std::mem::take(&mut gathered[r]));
                    let longer = |p: &Pattern| p.len > 1;
                    in_place
                        .then(|| best(&matcher, target, &by_root, inst, block, longer, &mut covers))
                        .flatten()
                        .unwrap_or(Cover::Alias)
                }
                op => match best(&matcher, target, &by_root, inst, block, |_| true, &mut covers) {
                    Some(cover) => cover,
                    None if plain(op) => return Err(Error::Internal(format!("no pattern matched `{op}`"))),
                    None => {
                        let what = format!("operation `{op}` on {}", target.name);
                        return Err(Error::Unsupported { what, line: data.line });
                    }
                },
            };
            let alias = covers[inst] == Cover::Alias;
            let here = match result {
                Some(r) if alias => readers[r],
                _ => Readers::In(block),
            };
            let used_as_index = match result {
                Some(r) if alias && !is_indexed(data.op) => indexes[r],
                _ => false,
            };
            for (n, &arg) in data.args.iter().enumerate() {
                let index = is_indexed(data.op) || (matches!(data.op, Op::Load | Op::Store) && n == 0);
                indexes[arg] |= used_as_index || index;
                readers[arg] = readers[arg].and(here);
            }
            // what a match reads from outside it, its inner operations read too
            if let Cover::Root { args, .. } = &covers[inst] {
                for &arg in args {
                    readers[arg] = readers[arg].and(here);
                }
            }
        }
    }
    Ok(covers)
}

/// The pattern pointer: the first pattern that matches fully at `inst`.
fn best(
    matcher: &Matcher<'_, '_>,
    target: &Target,
    by_root: &[Vec<usize>],
    inst: Inst,
    block: Block,
    allowed: impl Fn(&Pattern) -> bool,
    covers: &mut Covers,
) -> Option<Cover> {
    let data = &matcher.func.insts[inst];
    let value = data.result.expand()?;
    for &index in &by_root[data.op as usize] {
        let pattern = &target.patterns[index];
        if !allowed(pattern) {
            continue;
        }
        let mut found = Found { args: SmallVec::from_elem(None, pattern.vars), covered: SmallVec::new() };
        if !matcher.tree(&pattern.tree, value, block, true, &mut found) {
            continue;
        }
        if !pattern.finite.iter().all(|&var| found.args[var].is_some_and(|v| matcher.finite[v])) {
            continue;
        }
        for &inner in found.covered.iter().filter(|&&i| i != inst) {
            covers[inner] = Cover::Folded;
        }
        let args = found.args.into_iter().collect::<Option<SmallVec<[Value; 4]>>>()?;
        return Some(Cover::Root { pattern: index, args });
    }
    None
}

/// Values that only gathers, outputs and block parameters read: they need a register anyway.
fn gathered_only(func: &Function<'_>, facts: &Facts) -> SecondaryMap<Value, bool> {
    let mut count: SecondaryMap<Value, u32> = SecondaryMap::with_capacity(func.values.len());
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            let data = &func.insts[inst];
            if facts.live[inst] && matches!(data.op, Op::Cat | Op::StoreOutput) {
                data.args.iter().for_each(|&a| count[a] += 1);
            }
        }
        for call in func.successors(block) {
            call.args.iter().for_each(|&a| count[a] += 1);
        }
    }
    let mut only = SecondaryMap::with_capacity(func.values.len());
    for value in func.values.keys() {
        only[value] = count[value] > 0 && count[value] >= facts.uses[value];
    }
    only
}
