//! Makes instructions at a place in a block, with the result's type inferred from the opcode's
//! shape, and replaces values by others.
//!
//! Appending is cheap, inserting in the middle shifts the block's list. A pass that rewrites much
//! walks with [`rewrite_blocks`](crate::cursor::rewrite_blocks) instead.

use crate::entity::{Block, Inst, Value, Var};
use crate::func::{BlockCall, Function, Imm, Terminator};
use crate::op::{Op, Shape};
use crate::types::{Literal, Scalar, Swizzle, Type};
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;

/// The natural type of an operation's result: comparisons give bools of floats or ints, and floats
/// never become ints by themselves. `None` for effects, and for leaves and `Mov` when the type
/// must be given.
pub fn result_type(op: Op, imm: Imm, args: &[Type]) -> Option<Type> {
    let first = args.first().copied();
    match op.shape() {
        Shape::Effect => None,
        Shape::Texture => Some(Type::VEC4),
        Shape::Leaf => match imm {
            Imm::Lit(literal) => Some(literal.ty),
            _ => None,
        },
        Shape::Swizzle => match imm {
            Imm::Swz(swz) => Some(first?.with_lanes(swz.len())),
            _ => None,
        },
        Shape::Concat => {
            let lanes: u32 = args.iter().map(|t| u32::from(t.lanes)).sum();
            (lanes <= 4).then_some(first?.with_lanes(lanes as u8))
        }
        Shape::Reduce => Some(first?.with_lanes(1)),
        Shape::Normalize => first,
        Shape::Lanewise | Shape::ScalarUnit => match op {
            Op::Slt | Op::Sge | Op::Seq | Op::Sne => Some(Type { scalar: Scalar::Bool, lanes: first?.lanes }),
            Op::Select | Op::Cmp => args.get(1).copied(),
            _ => first,
        },
    }
}

/// A place where instructions are made.
pub struct Builder<'f, 'a> {
    /// The function.
    pub func: &'f mut Function<'a>,
    /// The block.
    pub block: Block,
    /// Instructions go before this position of the block's list.
    pub at: usize,
    /// Source line of what is made.
    pub line: u32,
}

impl<'f, 'a> Builder<'f, 'a> {
    /// At the end of a block.
    pub fn at_end(func: &'f mut Function<'a>, block: Block) -> Builder<'f, 'a> {
        let at = func.blocks[block].insts.len();
        Builder { func, block, at, line: 0 }
    }

    /// In front of all instructions of a block.
    pub fn at_start(func: &'f mut Function<'a>, block: Block) -> Builder<'f, 'a> {
        Builder { func, block, at: 0, line: 0 }
    }

    /// In front of an instruction of `block`; takes over its line.
    ///
    /// # Panics
    /// When the instruction is not in that block.
    pub fn before(func: &'f mut Function<'a>, block: Block, inst: Inst) -> Builder<'f, 'a> {
        let at = func.blocks[block].insts.iter().position(|&i| i == inst);
        let at = at.unwrap_or_else(|| panic!("{inst} is not in {block}"));
        let line = func.insts[inst].line;
        Builder { func, block, at, line }
    }

    /// Puts an instruction that is in no block here.
    pub fn insert(&mut self, inst: Inst) {
        let list = &mut self.func.blocks[self.block].insts;
        if self.at == list.len() {
            list.push(inst);
        } else {
            list.insert(self.at, inst);
        }
        self.at += 1;
    }

    /// Makes an instruction here; `ty` as for [`Function::make_inst`].
    pub fn inst(&mut self, op: Op, imm: Imm, args: &[Value], ty: Option<Type>) -> Inst {
        let inst = self.func.make_inst(op, imm, args, ty, self.line);
        self.insert(inst);
        inst
    }

    /// Makes an instruction with a result of a given type.
    ///
    /// # Panics
    /// Never: an instruction made with a type has a result.
    pub fn typed(&mut self, op: Op, imm: Imm, args: &[Value], ty: Type) -> Value {
        let inst = self.inst(op, imm, args, Some(ty));
        self.func.insts[inst].result.expect("made with a type")
    }

    /// An operation without immediate; the result's type is inferred.
    ///
    /// # Panics
    /// When the type cannot be inferred (leaves, effects).
    pub fn op(&mut self, op: Op, args: &[Value]) -> Value {
        let types: Vec<Type> = args.iter().map(|&a| self.func.ty(a)).collect();
        let ty = result_type(op, Imm::None, &types).unwrap_or_else(|| panic!("no result type for {op}"));
        self.typed(op, Imm::None, args, ty)
    }

    /// The same with the scalar kind of the result given, such as a comparison with float result.
    ///
    /// # Panics
    /// When the width cannot be inferred.
    pub fn op_as(&mut self, op: Op, args: &[Value], scalar: Scalar) -> Value {
        let types: Vec<Type> = args.iter().map(|&a| self.func.ty(a)).collect();
        let ty = result_type(op, Imm::None, &types).unwrap_or_else(|| panic!("no result type for {op}"));
        self.typed(op, Imm::None, args, Type { scalar, ..ty })
    }

    /// Lanes of a value; the value itself when nothing is picked out.
    pub fn swz(&mut self, value: Value, swz: Swizzle) -> Value {
        let ty = self.func.ty(value);
        if swz.is_identity(ty.lanes) {
            return value;
        }
        self.typed(Op::Swz, Imm::Swz(swz), &[value], ty.with_lanes(swz.len()))
    }

    /// One lane of a value.
    pub fn lane(&mut self, value: Value, lane: u8) -> Value {
        self.swz(value, Swizzle::new(&[lane]))
    }

    /// A value of one lane spread to `lanes`; a value of that width is itself.
    pub fn splat(&mut self, value: Value, lanes: u8) -> Value {
        if self.func.ty(value).lanes == lanes {
            return value;
        }
        self.swz(value, Swizzle::splat(0, lanes))
    }

    /// Lanes of several values one after the other; one value is itself.
    ///
    /// # Panics
    /// When there are no parts, or more than four lanes together.
    pub fn cat(&mut self, parts: &[Value]) -> Value {
        match parts {
            [one] => *one,
            _ => self.op(Op::Cat, parts),
        }
    }

    /// A literal.
    pub fn constant(&mut self, literal: Literal) -> Value {
        self.typed(Op::Const, Imm::Lit(literal), &[], literal.ty)
    }

    /// Equal lanes of a type.
    pub fn splat_const(&mut self, ty: Type, value: f32) -> Value {
        self.constant(Literal::splat(ty, value))
    }

    /// Any value of a type.
    pub fn undef(&mut self, ty: Type) -> Value {
        self.typed(Op::Undef, Imm::None, &[], ty)
    }

    /// A leaf that reads a variable's element: `Input Uniform`, or with an index `InputAt
    /// UniformAt Load`.
    pub fn read(&mut self, op: Op, var: Var, elem: u32, index: Option<Value>) -> Value {
        let ty = self.func.vars[var].ty;
        let args: Vec<Value> = index.into_iter().collect();
        self.typed(op, Imm::Elem { var, elem }, &args, ty)
    }

    /// Ends the block with a jump.
    pub fn jump(&mut self, block: Block, args: &[Value]) {
        self.func.blocks[self.block].term = Terminator::Jump(self.func.call(block, args));
    }

    /// Ends the block with a branch.
    pub fn branch(&mut self, cond: Value, then_call: BlockCall<'a>, else_call: BlockCall<'a>, merge: Option<Block>) {
        self.func.blocks[self.block].term = Terminator::Branch { cond, then_call, else_call, merge };
    }
}

/// Values to be replaced by others, applied to a whole function at once.
#[derive(Clone, Debug, Default)]
pub struct Replacements {
    map: SecondaryMap<Value, PackedOption<Value>>,
    any: bool,
}

impl Replacements {
    /// None yet.
    pub fn new() -> Replacements {
        Replacements::default()
    }

    /// `old` shall be `new`. Chains are followed; a cycle is the caller's mistake and is refused.
    pub fn set(&mut self, old: Value, new: Value) {
        let new = self.get(new);
        if new != old {
            self.map[old] = new.into();
            self.any = true;
        }
    }

    /// What stands for a value now.
    pub fn get(&self, value: Value) -> Value {
        let mut value = value;
        while let Some(next) = self.map.get(value).and_then(|n| n.expand()) {
            value = next;
        }
        value
    }

    /// Whether nothing is replaced.
    pub fn is_empty(&self) -> bool {
        !self.any
    }

    /// Rewrites all operands of blocks in the layout; returns whether any changed.
    pub fn apply(&self, func: &mut Function<'_>) -> bool {
        if self.is_empty() {
            return false;
        }
        map_uses(func, |v| self.get(v))
    }
}

/// Applies a function to every use in blocks of the layout; returns whether any changed. The
/// results' types are the caller's care.
pub fn map_uses(func: &mut Function<'_>, map: impl Fn(Value) -> Value) -> bool {
    let mut changed = false;
    for index in 0..func.layout.len() {
        let block = func.layout[index];
        for at in 0..func.blocks[block].insts.len() {
            let inst = func.blocks[block].insts[at];
            let old = func.insts[inst].args;
            if old.iter().any(|&a| map(a) != a) {
                func.insts[inst].args = func.arena.alloc_slice_fill_iter(old.iter().map(|&a| map(a)));
                changed = true;
            }
        }
        let arena = func.arena;
        let fix = |old: BlockCall<'_>| -> Option<Vec<Value>> {
            old.args.iter().any(|&a| map(a) != a).then(|| old.args.iter().map(|&a| map(a)).collect())
        };
        match &mut func.blocks[block].term {
            Terminator::None | Terminator::Return => {}
            Terminator::Jump(c) => {
                if let Some(args) = fix(*c) {
                    c.args = arena.alloc_slice_copy(&args);
                    changed = true;
                }
            }
            Terminator::Branch { cond, then_call, else_call, .. } => {
                if map(*cond) != *cond {
                    *cond = map(*cond);
                    changed = true;
                }
                for c in [then_call, else_call] {
                    if let Some(args) = fix(*c) {
                        c.args = arena.alloc_slice_copy(&args);
                        changed = true;
                    }
                }
            }
        }
    }
    changed
}
