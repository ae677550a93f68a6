//! SSA: one function of structured basic blocks.
//!
//! The caller owns a [`Bump`]; the bodies of blocks (instruction and parameter lists) and operand
//! lists live in it, entity maps own the small records that point into it. Values come from
//! instructions or block parameters; there are no phi nodes.
//!
//! Structure (checked by the verifier, relied on by the emission of structured code):
//! - A `Branch` names the block where its two sides meet again (`merge`), or none when neither side
//!   reaches one.
//! - A loop header carries its `loop_merge`. A jump to the header from inside the loop starts the
//!   next turn, a jump to the merge leaves it. There are no other ways in or out.
//! - `return` is lowered before SSA, so one `Return` ends the function, with all `StoreOutput` of it
//!   in front.
//!
//! Calls: most functions are inlined before SSA. One that stays called has a [`Signature`]: the
//! elements of the program's variables that it is given and those that it gives back. Inside it,
//! `Input` reads an argument and `StoreOutput` leaves a result; its caller has a `Call` with one
//! operand an argument, and a `Result` for each element that it wants behind it. So values only
//! travel by name of the variable, and nothing else is shared but uniforms, inputs and samplers.
//!
//! ```text
//!   header(i) --> branch c --> body --> header(i + 1)      loop_merge(header) = exit
//!                    \-------> leave --> exit
//! ```

use crate::entity::{Block, Inst, Value, Var};
use crate::op::Op;
use crate::tac::VarDecl;
use crate::types::{Literal, Stage, Swizzle, TexDim, Type, WriteMask};
use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;
use cranelift_entity::PrimaryMap;
use cranelift_entity::packed_option::PackedOption;

/// What stands in an instruction beside its operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Imm {
    /// Nothing.
    None,
    /// `Const`.
    Lit(Literal),
    /// `Swz`.
    Swz(Swizzle),
    /// `Input Uniform InputAt UniformAt Load Store Result`: element `elem` of `var` (plus the first
    /// operand for the indexed ones).
    Elem {
        /// The variable.
        var: Var,
        /// The constant part of the index.
        elem: u32,
    },
    /// `Call`: which entry of [`Function::callees`].
    Callee(u32),
    /// `StoreOutput`.
    Out {
        /// The output.
        var: Var,
        /// Its element.
        elem: u32,
        /// Lanes written.
        mask: WriteMask,
    },
    /// Texture lookups. Operands: coordinates; bias or level if the opcode has one; then the
    /// dynamic index into an array of samplers if `indexed`.
    Tex {
        /// The sampler variable.
        sampler: Var,
        /// Constant part of the index into an array of samplers.
        elem: u32,
        /// Whether a dynamic part is the last operand.
        indexed: bool,
        /// Texture shape.
        dim: TexDim,
        /// Compares with a reference value.
        shadow: bool,
    },
}

/// An instruction. Operand lists are immutable slices in the arena: to change one, allocate anew.
#[derive(Clone, Copy, Debug)]
pub struct InstData<'a> {
    /// Opcode.
    pub op: Op,
    /// Immediate.
    pub imm: Imm,
    /// Operands.
    pub args: &'a [Value],
    /// The value it defines; none for effects.
    pub result: PackedOption<Value>,
    /// Source line, 0 when none.
    pub line: u32,
}

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueDef {
    /// An instruction's result.
    Inst(Inst),
    /// Parameter number of a block.
    Param(Block, u32),
}

/// A value.
#[derive(Clone, Copy, Debug)]
pub struct ValueData {
    /// Kind and width.
    pub ty: Type,
    /// Its definition. A value whose definition was removed keeps the old one and has no uses.
    pub def: ValueDef,
}

/// A jump's target with one argument a parameter of it.
#[derive(Clone, Copy, Debug)]
pub struct BlockCall<'a> {
    /// Where to.
    pub block: Block,
    /// The parameters' values.
    pub args: &'a [Value],
}

/// How a block ends.
#[derive(Clone, Copy, Debug)]
pub enum Terminator<'a> {
    /// Still being built.
    None,
    /// Goes on there.
    Jump(BlockCall<'a>),
    /// Goes to one of two.
    Branch {
        /// One lane: not 0 means the first.
        cond: Value,
        /// When true.
        then_call: BlockCall<'a>,
        /// When false.
        else_call: BlockCall<'a>,
        /// Where both sides meet.
        merge: Option<Block>,
    },
    /// The shader's end.
    Return,
}

/// A block.
#[derive(Debug)]
pub struct BlockData<'a> {
    /// Parameters.
    pub params: BumpVec<'a, Value>,
    /// Instructions in order.
    pub insts: BumpVec<'a, Inst>,
    /// Its end.
    pub term: Terminator<'a>,
    /// Set on a loop header: the block after the loop.
    pub loop_merge: Option<Block>,
}

/// What a kept function and its callers agree on: elements of the program's variables.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Signature {
    /// Values at the start, in the order of a call's operands.
    pub args: Vec<(Var, u32)>,
    /// Values at the end.
    pub results: Vec<(Var, u32)>,
}

/// A function that another one calls.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Callee {
    /// Its place in [`Module::funcs`].
    pub func: u32,
    /// Its signature.
    pub signature: Signature,
}

/// A shader stage in SSA: `main` first, callers before callees.
#[derive(Debug)]
pub struct Module<'a> {
    /// At least `main`.
    pub funcs: Vec<Function<'a>>,
}

/// `main` of a shader stage, or a function that stays called.
#[derive(Debug)]
pub struct Function<'a> {
    /// Where lists are allocated.
    pub arena: &'a Bump,
    /// Vertex or fragment.
    pub stage: Stage,
    /// What it is called; `main` where the shader starts.
    pub name: String,
    /// What callers give and get; none where the shader starts.
    pub signature: Option<Signature>,
    /// The functions that it calls.
    pub callees: Vec<Callee>,
    /// The program's variables (all kinds; locals only while they are memory or in signatures).
    pub vars: PrimaryMap<Var, VarDecl>,
    /// Instructions; dead ones are in no block.
    pub insts: PrimaryMap<Inst, InstData<'a>>,
    /// Values.
    pub values: PrimaryMap<Value, ValueData>,
    /// Blocks; removed ones are not in `layout`.
    pub blocks: PrimaryMap<Block, BlockData<'a>>,
    /// Blocks in structured order: the entry first, each loop's and branch's blocks together, a
    /// merge after everything that leads to it.
    pub layout: Vec<Block>,
}

impl<'a> Function<'a> {
    /// An empty function with no blocks.
    pub fn new(arena: &'a Bump, stage: Stage, vars: PrimaryMap<Var, VarDecl>) -> Function<'a> {
        Function {
            arena,
            stage,
            name: "main".to_owned(),
            signature: None,
            callees: Vec::new(),
            vars,
            insts: PrimaryMap::new(),
            values: PrimaryMap::new(),
            blocks: PrimaryMap::new(),
            layout: Vec::new(),
        }
    }

    /// Whether an element is one of the function's arguments.
    pub fn is_argument(&self, var: Var, elem: u32) -> bool {
        self.signature.as_ref().is_some_and(|s| s.args.contains(&(var, elem)))
    }

    /// The callee that a `Call` names.
    pub fn callee(&self, imm: Imm) -> Option<&Callee> {
        match imm {
            Imm::Callee(index) => self.callees.get(index as usize),
            _ => None,
        }
    }

    /// The first block.
    ///
    /// # Panics
    /// When there is none.
    pub fn entry(&self) -> Block {
        self.layout[0]
    }

    /// A new block, not yet in the layout.
    pub fn make_block(&mut self) -> Block {
        self.blocks.push(BlockData {
            params: BumpVec::new_in(self.arena),
            insts: BumpVec::new_in(self.arena),
            term: Terminator::None,
            loop_merge: None,
        })
    }

    /// A new parameter at the end of a block's list.
    pub fn add_param(&mut self, block: Block, ty: Type) -> Value {
        let index = self.blocks[block].params.len() as u32;
        let value = self.values.push(ValueData { ty, def: ValueDef::Param(block, index) });
        self.blocks[block].params.push(value);
        value
    }

    /// A new instruction in no block; `ty` is the result's type, `None` for effects.
    pub fn make_inst(&mut self, op: Op, imm: Imm, args: &[Value], ty: Option<Type>, line: u32) -> Inst {
        let args = self.arena.alloc_slice_copy(args);
        let inst = self.insts.push(InstData { op, imm, args, result: None.into(), line });
        if let Some(ty) = ty {
            let value = self.values.push(ValueData { ty, def: ValueDef::Inst(inst) });
            self.insts[inst].result = value.into();
        }
        inst
    }

    /// Makes an instruction at the end of a block and returns its result, if it has one.
    pub fn append(
        &mut self,
        block: Block,
        op: Op,
        imm: Imm,
        args: &[Value],
        ty: Option<Type>,
        line: u32,
    ) -> Option<Value> {
        let inst = self.make_inst(op, imm, args, ty, line);
        self.blocks[block].insts.push(inst);
        self.insts[inst].result.expand()
    }

    /// Replaces an instruction's operands.
    pub fn set_args(&mut self, inst: Inst, args: &[Value]) {
        self.insts[inst].args = self.arena.alloc_slice_copy(args);
    }

    /// A jump target with arguments.
    pub fn call(&self, block: Block, args: &[Value]) -> BlockCall<'a> {
        BlockCall { block, args: self.arena.alloc_slice_copy(args) }
    }

    /// The type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.values[value].ty
    }

    /// The instruction that defines a value.
    pub fn def_inst(&self, value: Value) -> Option<&InstData<'a>> {
        match self.values[value].def {
            ValueDef::Inst(inst) => Some(&self.insts[inst]),
            ValueDef::Param(..) => None,
        }
    }

    /// The literal that a value is, if a `Const` defines it.
    pub fn literal(&self, value: Value) -> Option<Literal> {
        match self.def_inst(value)? {
            InstData { op: Op::Const, imm: Imm::Lit(literal), .. } => Some(*literal),
            _ => None,
        }
    }

    /// The blocks that a block can go on to, with arguments.
    pub fn successors(&self, block: Block) -> impl Iterator<Item = BlockCall<'a>> {
        let (a, b) = match self.blocks[block].term {
            Terminator::None | Terminator::Return => (None, None),
            Terminator::Jump(call) => (Some(call), None),
            Terminator::Branch { then_call, else_call, .. } => (Some(then_call), Some(else_call)),
        };
        a.into_iter().chain(b)
    }

    /// Number of instructions in the layout.
    pub fn inst_count(&self) -> usize {
        self.layout.iter().map(|&b| self.blocks[b].insts.len()).sum()
    }
}
