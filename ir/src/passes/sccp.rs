//! Sparse conditional constant propagation (Wegman and Zadeck 1991), lane by lane.
//!
//! Two work lists: edges of the control flow graph that can be taken, and values whose lanes have
//! changed. A lane starts unknown, may become one constant, and then varying; never back. A
//! parameter meets the arguments of those edges only that can be taken, so a branch on a constant
//! hides what the other side would bring. Folding goes through [`crate::eval`] with the target's
//! arithmetic, so it is exact at every level; `Undef` counts as the 0 that it reads as.
//!
//! Then: values with all lanes constant become literals, selections with a known condition become
//! their arm, `kil` that never fires goes away, branches with a known condition become jumps and
//! what is no longer reached is dropped. Branches are kept in a loop that would become endless.

use crate::analysis::Uses;
use crate::builder::{Builder, Replacements};
use crate::entity::{Block, Inst, Value};
use crate::eval::{self, EvalCfg};
use crate::func::{Function, Imm, Terminator, ValueDef};
use crate::op::{Op, Shape};
use crate::pass::{PassCtx, PassError};
use crate::structure::fold_branches;
use crate::types::Literal;
use bumpalo::collections::Vec as BumpVec;
use cranelift_entity::{EntitySet, SecondaryMap};
use smallvec::SmallVec;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Lane {
    #[default]
    Unknown,
    Const(u32),
    Varying,
}

impl Lane {
    fn meet(self, other: Lane) -> Lane {
        match (self, other) {
            (Lane::Unknown, x) | (x, Lane::Unknown) => x,
            (Lane::Const(a), Lane::Const(b)) if a == b => self,
            _ => Lane::Varying,
        }
    }

    fn float(self) -> Option<f32> {
        match self {
            Lane::Const(bits) => Some(f32::from_bits(bits)),
            _ => None,
        }
    }
}

type Lanes = [Lane; 4];

/// A place that must be looked at again when a value changes.
#[derive(Clone, Copy)]
enum Reader {
    Inst(Inst, Block),
    /// The condition of a block's branch.
    Cond(Block),
    /// An argument that a block hands over its first or second edge to a parameter.
    Arg {
        block: Block,
        edge: usize,
        param: Value,
    },
}

struct Solver<'f, 'a> {
    func: &'f Function<'a>,
    cfg: EvalCfg,
    facts: SecondaryMap<Value, Lanes>,
    readers: SecondaryMap<Value, SmallVec<[Reader; 2]>>,
    reached: EntitySet<Block>,
    /// Whether the block's first and second edge have been taken.
    taken: SecondaryMap<Block, [bool; 2]>,
    blocks: Vec<Block>,
    changed: Vec<Value>,
}

/// The pass.
pub fn run(func: &mut Function<'_>, ctx: &PassCtx) -> Result<bool, PassError> {
    let mut solver = Solver {
        func,
        cfg: ctx.eval,
        facts: SecondaryMap::with_capacity(func.values.len()),
        readers: SecondaryMap::with_capacity(func.values.len()),
        reached: EntitySet::with_capacity(func.blocks.len()),
        taken: SecondaryMap::with_capacity(func.blocks.len()),
        blocks: Vec::new(),
        changed: Vec::new(),
    };
    solver.solve();
    let Solver { facts, reached, .. } = solver;
    let mut changed = rewrite(func, &facts, &reached);
    let decisions: Vec<(Block, bool)> = func
        .layout
        .iter()
        .filter(|&&b| reached.contains(b))
        .filter_map(|&block| match func.blocks[block].term {
            Terminator::Branch { cond, .. } => Some((block, facts[cond][0].float()? != 0.0)),
            _ => None,
        })
        .collect();
    changed |= fold_branches(func, &decisions);
    Ok(changed)
}

impl Solver<'_, '_> {
    fn solve(&mut self) {
        let func = self.func;
        for &block in &func.layout {
            for &inst in &func.blocks[block].insts {
                for &arg in func.insts[inst].args {
                    self.readers[arg].push(Reader::Inst(inst, block));
                }
            }
            if let Terminator::Branch { cond, .. } = func.blocks[block].term {
                self.readers[cond].push(Reader::Cond(block));
            }
            for (edge, call) in func.successors(block).enumerate() {
                for (&arg, &param) in call.args.iter().zip(&func.blocks[call.block].params) {
                    self.readers[arg].push(Reader::Arg { block, edge, param });
                }
            }
        }
        self.reach(func.entry());
        loop {
            if let Some(block) = self.blocks.pop() {
                for &inst in &func.blocks[block].insts {
                    self.visit(inst);
                }
                self.visit_term(block);
            } else if let Some(value) = self.changed.pop() {
                for i in 0..self.readers[value].len() {
                    match self.readers[value][i] {
                        Reader::Inst(inst, block) if self.reached.contains(block) => self.visit(inst),
                        Reader::Cond(block) if self.reached.contains(block) => self.visit_term(block),
                        Reader::Arg { block, edge, param } if self.taken[block][edge] => {
                            self.lower(param, self.facts[value]);
                        }
                        _ => {}
                    }
                }
            } else {
                return;
            }
        }
    }

    fn reach(&mut self, block: Block) {
        if self.reached.insert(block) {
            self.blocks.push(block);
        }
    }

    /// Lowers a value's lanes; they never rise.
    fn lower(&mut self, value: Value, lanes: Lanes) {
        let old = self.facts[value];
        let mut new = old;
        for (n, l) in new.iter_mut().zip(lanes) {
            *n = n.meet(l);
        }
        if new != old {
            self.facts[value] = new;
            self.changed.push(value);
        }
    }

    fn visit_term(&mut self, block: Block) {
        let func = self.func;
        let open = match func.blocks[block].term {
            Terminator::None | Terminator::Return => return,
            Terminator::Jump(_) => [true, false],
            Terminator::Branch { cond, .. } => match self.facts[cond][0] {
                Lane::Unknown => [false, false],
                Lane::Const(bits) => {
                    let then = f32::from_bits(bits) != 0.0;
                    [then, !then]
                }
                Lane::Varying => [true, true],
            },
        };
        for (i, call) in func.successors(block).enumerate() {
            if !open[i] || self.taken[block][i] {
                continue;
            }
            self.taken[block][i] = true;
            for (&arg, &param) in call.args.iter().zip(&func.blocks[call.block].params) {
                self.lower(param, self.facts[arg]);
            }
            self.reach(call.block);
        }
    }

    fn visit(&mut self, inst: Inst) {
        if let Some(result) = self.func.insts[inst].result.expand() {
            let lanes = self.evaluate(inst, self.func.ty(result).lanes);
            self.lower(result, lanes);
        }
    }

    fn evaluate(&self, inst: Inst, width: u8) -> Lanes {
        let data = &self.func.insts[inst];
        let fact = |i: usize| self.facts[data.args[i]];
        let mut out = [Lane::Unknown; 4];
        match (data.op, data.imm) {
            (Op::Const, Imm::Lit(literal)) => {
                for (o, bits) in out.iter_mut().zip(literal.bits) {
                    *o = Lane::Const(bits);
                }
            }
            (Op::Undef, _) => out = [Lane::Const(0); 4],
            (Op::Swz, Imm::Swz(swz)) => {
                for (o, &lane) in out.iter_mut().zip(swz.lanes()) {
                    *o = fact(0)[lane as usize];
                }
            }
            (Op::Cat, _) => {
                let mut at = 0;
                for (i, &part) in data.args.iter().enumerate() {
                    for lane in 0..self.func.ty(part).lanes as usize {
                        if let Some(o) = out.get_mut(at) {
                            *o = fact(i)[lane];
                        }
                        at += 1;
                    }
                }
            }
            (Op::Ddx | Op::Ddy, _) => out = [Lane::Varying; 4],
            _ => match data.op.shape() {
                Shape::Lanewise | Shape::ScalarUnit => {
                    for (i, o) in out.iter_mut().enumerate().take(width as usize) {
                        let lane = |n: usize| {
                            // One bool may select whole vectors.
                            let spread = self.func.ty(data.args[n]).lanes == 1;
                            fact(n)[if spread { 0 } else { i }]
                        };
                        let args: SmallVec<[Lane; 3]> = (0..data.args.len()).map(lane).collect();
                        *o = fold_lane(data.op, &args, self.cfg);
                    }
                }
                Shape::Reduce | Shape::Normalize => out = self.fold_whole(inst, width),
                _ => out = [Lane::Varying; 4],
            },
        }
        out[width as usize..].fill(Lane::Unknown);
        out
    }

    /// Operations whose lanes depend on all lanes of the operands.
    fn fold_whole(&self, inst: Inst, width: u8) -> Lanes {
        let data = &self.func.insts[inst];
        let mut floats: SmallVec<[SmallVec<[f32; 4]>; 2]> = SmallVec::new();
        let mut unknown = false;
        for &arg in data.args {
            let lanes = &self.facts[arg][..self.func.ty(arg).lanes as usize];
            if lanes.contains(&Lane::Varying) {
                return [Lane::Varying; 4];
            }
            unknown |= lanes.contains(&Lane::Unknown);
            floats.push(lanes.iter().filter_map(|l| l.float()).collect());
        }
        if unknown {
            return [Lane::Unknown; 4];
        }
        let args: SmallVec<[&[f32]; 2]> = floats.iter().map(|f| f.as_slice()).collect();
        match eval::eval(data.op, &args, width, self.cfg) {
            Some(result) => result.map(|v| Lane::Const(v.to_bits())),
            None => [Lane::Varying; 4],
        }
    }
}

/// One lane. Selections need only the arm that they take, and one operand settles `and`, `or`.
fn fold_lane(op: Op, args: &[Lane], cfg: EvalCfg) -> Lane {
    match (op, args) {
        (Op::Select, &[cond, yes, no]) => {
            return match cond.float() {
                Some(c) => {
                    if -c < 0.0 {
                        yes
                    } else {
                        no
                    }
                }
                None if cond == Lane::Unknown => Lane::Unknown,
                None => yes.meet(no),
            };
        }
        (Op::Cmp, &[cond, yes, no]) => {
            return match cond.float() {
                Some(c) => {
                    if c < 0.0 {
                        yes
                    } else {
                        no
                    }
                }
                None if cond == Lane::Unknown => Lane::Unknown,
                None => yes.meet(no),
            };
        }
        // Bools are 0 or 1, so these hold bit for bit.
        (Op::And, _) if args.contains(&Lane::Const(0)) => return Lane::Const(0),
        (Op::Or, _) if args.contains(&Lane::Const(1.0f32.to_bits())) => return Lane::Const(1.0f32.to_bits()),
        _ => {}
    }
    if args.contains(&Lane::Varying) {
        return Lane::Varying;
    }
    let floats: SmallVec<[f32; 3]> = args.iter().filter_map(|l| l.float()).collect();
    if floats.len() < args.len() {
        return Lane::Unknown;
    }
    eval::lane(op, &floats, cfg).map_or(Lane::Varying, |v| Lane::Const(v.to_bits()))
}

fn rewrite(func: &mut Function<'_>, facts: &SecondaryMap<Value, Lanes>, reached: &EntitySet<Block>) -> bool {
    let mut changed = false;
    let mut replaced = Replacements::new();
    let uses = Uses::new(func);
    for index in 0..func.layout.len() {
        let block = func.layout[index];
        if !reached.contains(block) {
            continue;
        }
        let fresh = BumpVec::with_capacity_in(func.blocks[block].insts.len(), func.arena);
        let old = std::mem::replace(&mut func.blocks[block].insts, fresh);
        // Parameters: the literal stands at the start of the block.
        for at in 0..func.blocks[block].params.len() {
            let param = func.blocks[block].params[at];
            if uses.count(param) == 0 {
                continue;
            }
            if let Some(literal) = literal_of(func, param, facts) {
                let constant = Builder::at_end(func, block).constant(literal);
                replaced.set(param, constant);
            }
        }
        for &inst in old.iter() {
            if rewrite_inst(func, inst, facts, &mut replaced, &mut changed) {
                func.blocks[block].insts.push(inst);
            } else {
                changed = true;
            }
        }
    }
    changed | replaced.apply(func)
}

/// Returns whether the instruction stays.
fn rewrite_inst(
    func: &mut Function<'_>,
    inst: Inst,
    facts: &SecondaryMap<Value, Lanes>,
    replaced: &mut Replacements,
    changed: &mut bool,
) -> bool {
    let data = &func.insts[inst];
    let Some(result) = data.result.expand() else {
        if data.op != Op::Kil {
            return true;
        }
        let value = data.args[0];
        let lanes = &facts[value][..func.ty(value).lanes as usize];
        // NaN is not below 0.
        return !lanes.iter().all(|l| l.float().is_some_and(|v| v.is_nan() || v >= 0.0));
    };
    if matches!(data.op, Op::Const | Op::Undef) {
        return true;
    }
    if let Some(literal) = literal_of(func, result, facts) {
        func.insts[inst].op = Op::Const;
        func.insts[inst].imm = Imm::Lit(literal);
        func.insts[inst].args = &[];
        *changed = true;
        return true;
    }
    if let Op::Select | Op::Cmp = data.op {
        let cond = data.args[0];
        let lanes = &facts[cond][..func.ty(cond).lanes as usize];
        let takes = |l: &Lane| l.float().map(|c| if data.op == Op::Cmp { c < 0.0 } else { -c < 0.0 });
        let first = takes(&lanes[0]);
        if let Some(yes) = first
            && lanes.iter().all(|l| takes(l) == first)
        {
            let arm = data.args[if yes { 1 } else { 2 }];
            if func.ty(arm) == func.ty(result) {
                replaced.set(result, arm);
            }
        }
    }
    true
}

/// The literal that a value is, unless it is written as one already.
fn literal_of(func: &Function<'_>, value: Value, facts: &SecondaryMap<Value, Lanes>) -> Option<Literal> {
    let ty = func.ty(value);
    if let ValueDef::Inst(inst) = func.values[value].def
        && func.insts[inst].op == Op::Const
    {
        return None;
    }
    let mut bits = [0; 4];
    for (b, lane) in bits.iter_mut().zip(&facts[value][..ty.lanes as usize]) {
        *b = match lane {
            Lane::Const(bits) => *bits,
            _ => return None,
        };
    }
    Some(Literal { ty, bits })
}
