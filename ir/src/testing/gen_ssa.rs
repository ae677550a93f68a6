//! Random SSA functions: what construction from TAC never makes and passes must take all the same,
//! such as redundant swizzles, equal and constant parameters, conditions asked twice, literal
//! conditions, sides that jump straight to the merge, loops that never turn.
//!
//! A function is valid ([`crate::verify`]) and ends: every loop has a counter. Operations with
//! implicit derivatives stand outside of branches and loops, where all invocations of a quad agree.

use super::rng::Rng;
use crate::builder::Builder;
use crate::entity::{Block, Value, Var};
use crate::func::{BlockCall, Function, Imm, Terminator};
use crate::op::{Effect, Op, Shape};
use crate::structure::restructure;
use crate::tac::{VarDecl, VarKind};
use crate::types::{Literal, Scalar, Stage, Swizzle, TexDim, Type, WriteMask};
use bumpalo::Bump;
use cranelift_entity::PrimaryMap;

/// Deepest nesting of branches and loops.
const MAX_DEPTH: u32 = 3;
/// Elements of the output.
const OUTPUTS: u32 = 16;

/// Makes a function of about `size` instructions; the same seed gives the same.
pub fn generate_ssa(arena: &Bump, seed: u64, size: u32) -> Function<'_> {
    let mut rng = Rng::new(seed);
    let stage = if rng.chance(1, 4) { Stage::Vertex } else { Stage::Fragment };
    let mut vars = PrimaryMap::new();
    let input = if stage == Stage::Vertex { VarKind::Attribute } else { VarKind::Varying };
    let sampler = VarKind::Sampler { dim: TexDim::D2, shadow: false };
    let inputs = vec![
        vars.push(VarDecl::new("i0", input, Type::VEC4).array(3)),
        vars.push(VarDecl::new("i1", input, Type::float(2))),
    ];
    let uniforms = vec![
        vars.push(VarDecl::new("u0", VarKind::Uniform, Type::VEC4).array(4)),
        vars.push(VarDecl::new("u1", VarKind::Uniform, Type::FLOAT)),
        vars.push(VarDecl::new("u2", VarKind::Uniform, Type::BOOL)),
        vars.push(VarDecl::new("u3", VarKind::Uniform, Type::INT)),
        vars.push(VarDecl::new("u4", VarKind::Uniform, Type { scalar: Scalar::Bool, lanes: 3 })),
    ];
    let sampler = vars.push(VarDecl::new("s", sampler, Type::FLOAT).array(2));
    let arrays = vec![
        vars.push(VarDecl::new("a0", VarKind::Local, Type::VEC4).array(3)),
        vars.push(VarDecl::new("a1", VarKind::Temp, Type::FLOAT).array(4)),
    ];
    let output = vars.push(VarDecl::new("o", VarKind::Output, Type::VEC4).array(OUTPUTS));
    let func = Function::new(arena, stage, vars);
    let mut maker = Gen { rng, func, scope: Vec::new(), inputs, uniforms, sampler, arrays, left: size as i64 };
    let entry = maker.func.make_block();
    maker.func.layout.push(entry);
    let end = maker.region(entry, 0, None);
    if let Some(end) = end {
        for elem in 0..OUTPUTS {
            // Any value that lives here, so that little is dead.
            let value = match maker.scope.is_empty() {
                true => maker.value(end, Type::VEC4),
                false => *maker.rng.pick(&maker.scope),
            };
            let width = maker.func.ty(value).lanes;
            let mask = WriteMask(1 + maker.rng.below((1 << width) - 1) as u8);
            let value = maker.as_float(end, value);
            maker.func.append(end, Op::StoreOutput, Imm::Out { var: output, elem, mask }, &[value], None, 0);
        }
        maker.func.blocks[end].term = Terminator::Return;
    }
    restructure(&mut maker.func);
    maker.func
}

/// The innermost loop.
#[derive(Clone, Copy)]
struct LoopCtx {
    header: Block,
    merge: Block,
    counter: Value,
    step: Value,
}

struct Gen<'a> {
    rng: Rng,
    func: Function<'a>,
    /// Values that are defined on every way to here.
    scope: Vec<Value>,
    inputs: Vec<Var>,
    uniforms: Vec<Var>,
    sampler: Var,
    arrays: Vec<Var>,
    /// Instructions still to make.
    left: i64,
}

impl<'a> Gen<'a> {
    fn ty(&mut self) -> Type {
        let scalar = *self.rng.pick(&[Scalar::Float, Scalar::Float, Scalar::Float, Scalar::Bool, Scalar::Int]);
        Type { scalar, lanes: 1 + self.rng.below(4) as u8 }
    }

    fn literal(&mut self, ty: Type) -> Literal {
        let lanes: Vec<f32> = (0..ty.lanes)
            .map(|_| match ty.scalar {
                Scalar::Bool => self.rng.below(2) as f32,
                Scalar::Int => self.rng.below(5) as f32 - 1.0,
                Scalar::Float => *self.rng.pick(&[0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 3.75]),
            })
            .collect();
        Literal::new(ty.scalar, &lanes)
    }

    /// A value of a type: one in scope, often a young one, or lanes of one, or a literal.
    fn value(&mut self, block: Block, ty: Type) -> Value {
        if self.rng.chance(1, 6) {
            let literal = self.literal(ty);
            return self.make(block, Op::Const, Imm::Lit(literal), &[], ty);
        }
        let fitting: Vec<Value> = self.scope.iter().copied().filter(|&v| self.func.ty(v) == ty).collect();
        if !fitting.is_empty() && self.rng.chance(4, 5) {
            let young = fitting.len().saturating_sub(6);
            let from = if self.rng.chance(2, 3) { &fitting[young..] } else { &fitting[..] };
            return *self.rng.pick(from);
        }
        let same: Vec<Value> = self.scope.iter().copied().filter(|&v| self.func.ty(v).scalar == ty.scalar).collect();
        if !same.is_empty() && self.rng.chance(3, 5) {
            let source = *self.rng.pick(&same);
            let width = u32::from(self.func.ty(source).lanes);
            let lanes: Vec<u8> = (0..ty.lanes).map(|_| self.rng.below(width) as u8).collect();
            return self.make(block, Op::Swz, Imm::Swz(Swizzle::new(&lanes)), &[source], ty);
        }
        if self.rng.chance(1, 12) {
            return self.make(block, Op::Undef, Imm::None, &[], ty);
        }
        let literal = self.literal(ty);
        self.make(block, Op::Const, Imm::Lit(literal), &[], ty)
    }

    fn make(&mut self, block: Block, op: Op, imm: Imm, args: &[Value], ty: Type) -> Value {
        self.left -= 1;
        let value = Builder::at_end(&mut self.func, block).typed(op, imm, args, ty);
        self.scope.push(value);
        value
    }

    fn as_float(&mut self, block: Block, value: Value) -> Value {
        let ty = self.func.ty(value);
        if ty.scalar == Scalar::Float {
            return value;
        }
        self.make(block, Op::Mov, Imm::None, &[value], Type::float(ty.lanes))
    }

    /// One random instruction.
    fn inst(&mut self, block: Block, depth: u32) {
        match self.rng.below(16) {
            0 => self.leaf(block),
            1 => self.memory(block),
            2 if depth == 0 && self.func.stage == Stage::Fragment => self.implicit(block),
            3 if self.func.stage == Stage::Fragment && self.rng.chance(1, 9) => {
                let ty = Type::float(1 + self.rng.below(4) as u8);
                let value = self.value(block, ty);
                self.func.append(block, Op::Kil, Imm::None, &[value], None, 0);
            }
            4 => {
                // The same again, operands exchanged perhaps: work for common
                // subexpressions, and a trap where the order counts.
                let young = self.scope.len().saturating_sub(12);
                let again = self.scope.get(young..).filter(|s| !s.is_empty()).map(|s| *self.rng.pick(s));
                if let Some(data) = again.and_then(|v| self.func.def_inst(v)).copied()
                    && data.op.effect() == Effect::Pure
                    && let Some(result) = data.result.expand()
                {
                    let mut args = data.args.to_vec();
                    let same = args.len() == 2 && self.func.ty(args[0]) == self.func.ty(args[1]);
                    if same && data.op != Op::Cat && self.rng.chance(1, 2) {
                        args.swap(0, 1);
                    }
                    let ty = self.func.ty(result);
                    self.make(block, data.op, data.imm, &args, ty);
                }
            }
            _ => self.operation(block),
        }
    }

    fn leaf(&mut self, block: Block) {
        let (op, var) = if self.rng.chance(1, 2) {
            (Op::Input, *self.rng.pick(&self.inputs))
        } else {
            (Op::Uniform, *self.rng.pick(&self.uniforms))
        };
        let (ty, elems) = (self.func.vars[var].ty, self.func.vars[var].elems);
        let elem = self.rng.below(elems);
        if elems > 1 && self.rng.chance(1, 3) {
            let index = self.value(block, Type::INT);
            let op = if op == Op::Input { Op::InputAt } else { Op::UniformAt };
            self.make(block, op, Imm::Elem { var, elem }, &[index], ty);
        } else {
            self.make(block, op, Imm::Elem { var, elem }, &[], ty);
        }
    }

    fn memory(&mut self, block: Block) {
        let var = *self.rng.pick(&self.arrays);
        let (ty, elems) = (self.func.vars[var].ty, self.func.vars[var].elems);
        let elem = self.rng.below(elems);
        if self.rng.chance(1, 4) {
            // Read, write, read: the second is another value.
            let stored = self.value(block, ty);
            for _ in 0..2 {
                self.make(block, Op::Load, Imm::Elem { var, elem }, &[], ty);
                self.func.append(block, Op::Store, Imm::Elem { var, elem }, &[stored], None, 0);
            }
        }
        let mut args = Vec::new();
        if self.rng.chance(1, 2) {
            args.push(self.value(block, Type::INT));
        }
        if self.rng.chance(1, 2) {
            self.make(block, Op::Load, Imm::Elem { var, elem }, &args, ty);
        } else {
            args.push(self.value(block, ty));
            self.func.append(block, Op::Store, Imm::Elem { var, elem }, &args, None, 0);
        }
    }

    fn implicit(&mut self, block: Block) {
        let coords = self.value(block, Type::float(2));
        let imm =
            Imm::Tex { sampler: self.sampler, elem: self.rng.below(2), indexed: false, dim: TexDim::D2, shadow: false };
        match self.rng.below(4) {
            0 => self.make(block, Op::Tex, imm, &[coords], Type::VEC4),
            1 => {
                let bias = self.value(block, Type::FLOAT);
                self.make(block, Op::Txb, imm, &[coords, bias], Type::VEC4)
            }
            2 => self.make(block, Op::Ddx, Imm::None, &[coords], Type::float(2)),
            _ => self.make(block, Op::Ddy, Imm::None, &[coords], Type::float(2)),
        };
    }

    fn operation(&mut self, block: Block) {
        // What folds by one operand alone comes up more often.
        let special = [Op::Select, Op::Cmp, Op::And, Op::Or];
        let op = *if self.rng.chance(1, 5) { self.rng.pick(&special) } else { self.rng.pick(Op::ALL) };
        let ty = self.ty();
        let float = Type::float(ty.lanes);
        let operands =
            |this: &mut Self, ty: Type, n: usize| -> Vec<Value> { (0..n).map(|_| this.value(block, ty)).collect() };
        match op {
            Op::Ddx | Op::Ddy => {}
            Op::Mov => {
                // Floats and ints never become bools by reading them so.
                let source = self.value(block, ty);
                let scalar = if self.rng.chance(1, 2) { ty.scalar } else { Scalar::Float };
                self.make(block, op, Imm::None, &[source], Type { scalar, ..ty });
            }
            Op::And | Op::Or | Op::Xor | Op::Not => {
                let ty = Type { scalar: Scalar::Bool, lanes: ty.lanes };
                let args = operands(self, ty, op.arity().unwrap_or(0));
                self.make(block, op, Imm::None, &args, ty);
            }
            Op::Slt | Op::Sge | Op::Seq | Op::Sne => {
                let args = operands(self, ty, 2);
                let scalar = if self.rng.chance(3, 4) { Scalar::Bool } else { Scalar::Float };
                self.make(block, op, Imm::None, &args, Type { scalar, ..ty });
            }
            Op::Select => {
                let lanes = if self.rng.chance(1, 2) { 1 } else { ty.lanes };
                let cond = self.value(block, Type { scalar: Scalar::Bool, lanes });
                let args = operands(self, ty, 2);
                self.make(block, op, Imm::None, &[cond, args[0], args[1]], ty);
            }
            Op::Cmp => {
                let cond = self.value(block, float);
                let args = operands(self, ty, 2);
                self.make(block, op, Imm::None, &[cond, args[0], args[1]], ty);
            }
            Op::Add | Op::Sub | Op::Mul | Op::Idiv if ty.scalar == Scalar::Int => {
                let args = operands(self, ty, 2);
                self.make(block, op, Imm::None, &args, ty);
            }
            Op::Idiv => {}
            Op::Swz => {
                let source = self.value(block, ty);
                let len = 1 + self.rng.below(4);
                let lanes: Vec<u8> = (0..len).map(|i| self.pick_lane(i, ty.lanes)).collect();
                let swz = Swizzle::new(&lanes);
                self.make(block, op, Imm::Swz(swz), &[source], ty.with_lanes(swz.len()));
            }
            Op::Cat => {
                let mut parts = Vec::new();
                let mut sum = 0;
                while sum < 4 && (parts.len() < 2 || self.rng.chance(1, 2)) {
                    let lanes = 1 + self.rng.below((4 - sum).min(3)) as u8;
                    let lanes = if parts.is_empty() { lanes.min(3) } else { lanes };
                    parts.push(self.value(block, ty.with_lanes(lanes)));
                    sum += u32::from(lanes);
                }
                self.make(block, op, Imm::None, &parts, ty.with_lanes(sum as u8));
            }
            _ => match op.shape() {
                Shape::Lanewise | Shape::ScalarUnit | Shape::Normalize => {
                    let args = operands(self, float, op.arity().unwrap_or(0));
                    self.make(block, op, Imm::None, &args, float);
                }
                Shape::Reduce => {
                    let args = operands(self, Type::float(op.reduce_width().unwrap_or(2)), 2);
                    self.make(block, op, Imm::None, &args, Type::FLOAT);
                }
                _ => {}
            },
        }
    }

    /// Lane `i` more often than another, so that identities and runs of lanes come up.
    fn pick_lane(&mut self, i: u32, width: u8) -> u8 {
        if i < u32::from(width) && self.rng.chance(1, 2) { i as u8 } else { self.rng.below(u32::from(width)) as u8 }
    }

    /// Fills a region from `block` on. Returns the block where it ends, or none when it left the
    /// loop or went on with its next turn.
    fn region(&mut self, mut block: Block, depth: u32, around: Option<LoopCtx>) -> Option<Block> {
        let parts = 1 + self.rng.below(3);
        for _ in 0..parts {
            for _ in 0..1 + self.rng.below(7) {
                if self.left > 0 {
                    self.inst(block, depth);
                }
            }
            if self.left <= 0 || depth >= MAX_DEPTH {
                continue;
            }
            block = match self.rng.below(4) {
                0 | 1 => self.branch(block, depth, around)?,
                2 => self.loop_(block, depth),
                _ => self.straight(block),
            };
        }
        if let Some(ctx) = around
            && depth > 0
            && self.rng.chance(1, 8)
        {
            self.leave(block, ctx);
            return None;
        }
        Some(block)
    }

    fn params(&mut self, block: Block) -> Vec<Type> {
        let types: Vec<Type> = (0..self.rng.below(4)).map(|_| self.ty()).collect();
        for &ty in &types {
            self.func.add_param(block, ty);
        }
        types
    }

    fn call(&mut self, from: Block, to: Block, types: &[Type]) -> BlockCall<'a> {
        let args: Vec<Value> = types.iter().map(|&ty| self.value(from, ty)).collect();
        self.func.call(to, &args)
    }

    fn types_of(&self, block: Block) -> Vec<Type> {
        self.func.blocks[block].params.iter().map(|&p| self.func.ty(p)).collect()
    }

    /// A jump to a block that nothing else goes to.
    fn straight(&mut self, block: Block) -> Block {
        let next = self.func.make_block();
        let types = self.params(next);
        let call = self.call(block, next, &types);
        self.func.blocks[block].term = Terminator::Jump(call);
        self.scope.extend(self.func.blocks[next].params.iter().copied());
        next
    }

    /// Leaves the loop, or starts its next turn.
    fn leave(&mut self, block: Block, ctx: LoopCtx) {
        let call = if self.rng.chance(1, 2) {
            let types = self.types_of(ctx.merge);
            self.call(block, ctx.merge, &types)
        } else {
            self.next_turn(block, ctx)
        };
        self.func.blocks[block].term = Terminator::Jump(call);
    }

    fn next_turn(&mut self, block: Block, ctx: LoopCtx) -> BlockCall<'a> {
        let count = self.make(block, Op::Add, Imm::None, &[ctx.counter, ctx.step], Type::INT);
        let mut args = vec![count];
        for ty in self.types_of(ctx.header).into_iter().skip(1) {
            args.push(self.value(block, ty));
        }
        self.func.call(ctx.header, &args)
    }

    fn branch(&mut self, block: Block, depth: u32, around: Option<LoopCtx>) -> Option<Block> {
        let cond = self.value(block, Type::BOOL);
        let merge = self.func.make_block();
        let types = self.params(merge);
        let mut calls = Vec::new();
        let mut reached = false;
        for _ in 0..2 {
            let scope = self.scope.len();
            if self.rng.chance(1, 6) {
                // Straight to the merge.
                let call = self.call(block, merge, &types);
                calls.push(call);
                reached = true;
                continue;
            }
            let side = self.func.make_block();
            let empty = self.rng.chance(1, 4);
            let end = if empty { Some(side) } else { self.region(side, depth + 1, around) };
            if let Some(end) = end {
                let call = self.call(end, merge, &types);
                self.func.blocks[end].term = Terminator::Jump(call);
                reached = true;
            }
            calls.push(self.func.call(side, &[]));
            self.scope.truncate(scope);
        }
        let merge_field = reached.then_some(merge);
        self.func.blocks[block].term =
            Terminator::Branch { cond, then_call: calls[0], else_call: calls[1], merge: merge_field };
        self.scope.extend(self.func.blocks[merge].params.iter().copied());
        merge_field
    }

    fn loop_(&mut self, block: Block, depth: u32) -> Block {
        let (header, merge) = (self.func.make_block(), self.func.make_block());
        let counter = self.func.add_param(header, Type::INT);
        self.params(header);
        let exit_types = self.params(merge);
        let zero = self.make(block, Op::Const, Imm::Lit(Literal::splat(Type::INT, 0.0)), &[], Type::INT);
        let step = self.make(block, Op::Const, Imm::Lit(Literal::splat(Type::INT, 1.0)), &[], Type::INT);
        let trips = self.rng.below(4) as f32;
        let bound = self.make(block, Op::Const, Imm::Lit(Literal::splat(Type::INT, trips)), &[], Type::INT);
        let mut args = vec![zero];
        for ty in self.types_of(header).into_iter().skip(1) {
            args.push(self.value(block, ty));
        }
        self.func.blocks[block].term = Terminator::Jump(self.func.call(header, &args));
        self.func.blocks[header].loop_merge = Some(merge);
        let scope = self.scope.len();
        self.scope.extend(self.func.blocks[header].params.iter().copied());
        if self.rng.chance(1, 2) {
            self.inst(header, depth + 1);
        }
        let cond = self.make(header, Op::Slt, Imm::None, &[counter, bound], Type::BOOL);
        let (body, leave) = (self.func.make_block(), self.func.make_block());
        let inner = self.scope.len();
        let exit = self.call(leave, merge, &exit_types);
        self.func.blocks[leave].term = Terminator::Jump(exit);
        self.scope.truncate(inner);
        let ctx = LoopCtx { header, merge, counter, step };
        if let Some(end) = self.region(body, depth + 1, Some(ctx)) {
            let next = self.next_turn(end, ctx);
            self.func.blocks[end].term = Terminator::Jump(next);
        }
        let (then_call, else_call) = (self.func.call(body, &[]), self.func.call(leave, &[]));
        self.func.blocks[header].term = Terminator::Branch { cond, then_call, else_call, merge: None };
        self.scope.truncate(scope);
        self.scope.extend(self.func.blocks[merge].params.iter().copied());
        merge
    }
}
