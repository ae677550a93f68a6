//! Random TAC programs and inputs for them: the base of every test that runs something before and
//! after. Deterministic from a seed, on a generator of random numbers of its own.
//!
//! A program is legal ([`crate::tac::verify`]) and never reads what it did not write: all locals get
//! a value at the start of `main`, a dynamic index is clamped into its array, a divisor of ints is
//! not 0, loops have a counter with a bound. It has structured control flow with `Brk`, `Cont` and
//! early `Ret`, functions, arrays, matrices' worth of uniforms, ints and bools, and every operation
//! of the source language and of the core that may stand in TAC.
//!
//! Two flavours. The wild one lets floats become anything, infinities and NaN included, and asks for
//! equal bits. The *tame* one is reconditioned for comparison within a bound: floats stay of normal
//! size, every operation is smooth where it is used, and whatever decides (comparisons, floors,
//! signs) reads inputs, uniforms and ints only, never a rounded result.

mod expr;

use super::gen_env::GenEnv;
use super::rng::Rng;
use crate::entity::{FuncId, Var};
use crate::op::Op;
use crate::tac::verify::tex_coords;
use crate::tac::{Dst, FuncDecl, Index, Inst, Program, Src, TacOp, TexRef, VarDecl, VarKind};
use crate::types::{Literal, Scalar, Stage, Swizzle, TexDim, Type, WriteMask};
use cranelift_entity::PrimaryMap;

/// What to generate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GenOptions {
    /// Vertex or fragment.
    pub stage: Stage,
    /// Reconditioned for comparison within a bound; else for equal bits.
    pub tame: bool,
    /// Texture lookups.
    pub textures: bool,
    /// `Ddx` and `Ddy` (fragment stage; they are 0 unless a quad runs).
    pub derivatives: bool,
    /// Loops, `Brk`, `Cont`. Without them and `branches` the program is straight.
    pub loops: bool,
    /// `If` and early `Ret`.
    pub branches: bool,
    /// `Kil` (fragment stage).
    pub discard: bool,
    /// Dynamically indexed local arrays and outputs.
    pub dynamic_arrays: bool,
    /// Statements in `main`, about.
    pub statements: u32,
    /// Functions beside `main`, at most.
    pub functions: u32,
    /// Calls are as frequent as assignments, also between functions.
    pub many_calls: bool,
}

impl Default for GenOptions {
    fn default() -> GenOptions {
        GenOptions {
            stage: Stage::Fragment,
            tame: false,
            textures: true,
            derivatives: false,
            loops: true,
            branches: true,
            discard: true,
            dynamic_arrays: true,
            statements: 14,
            functions: 2,
            many_calls: false,
        }
    }
}

/// A program and one set of inputs for it; [`GenEnv::new`] makes more.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The program.
    pub program: Program,
    /// Inputs, uniforms and textures.
    pub env: GenEnv,
}

/// Makes a program.
pub fn generate(seed: u64, options: &GenOptions) -> Generated {
    let mut generator = Generator::new(seed, *options);
    generator.declare();
    generator.functions();
    let program = generator.program;
    let env = GenEnv::new(seed ^ 0x5eed_0f0e_0e0d_0c0b, &program, options.tame);
    Generated { program, env }
}

/// Floats in tame programs stay within this in variables.
const TAME_BOUND: f32 = 4.0;
/// Ints stay within this in variables.
const INT_BOUND: f32 = 1000.0;
/// Deepest nesting of statements and of operations in one statement.
const MAX_DEPTH: u32 = 3;

struct Generator {
    rng: Rng,
    options: GenOptions,
    program: Program,
    /// Read-only and readable variables by use: uniforms, inputs and samplers; then locals by kind.
    outside: Vec<Var>,
    samplers: Vec<Var>,
    locals: Vec<Var>,
    outputs: Vec<Var>,
    /// Functions that may be called now, with how often they still may.
    callees: Vec<(FuncId, u32)>,
    body: Vec<Inst>,
    temps: u32,
    loop_depth: u32,
    depth: u32,
    /// Nothing here depends on data yet: implicit lookups are allowed.
    uniform_flow: bool,
    in_main: bool,
}

/// A source with a bound on its absolute value (tame floats and ints).
#[derive(Clone, Copy)]
struct Operand {
    src: Src,
    bound: f32,
}

impl Generator {
    fn new(seed: u64, options: GenOptions) -> Generator {
        let mut funcs = PrimaryMap::new();
        let main = funcs.push(FuncDecl { name: "main".into(), params: Vec::new(), body: Vec::new(), line: 1 });
        let program = Program { stage: options.stage, version: 110, vars: PrimaryMap::new(), funcs, main };
        Generator {
            rng: Rng::new(seed),
            options,
            program,
            outside: Vec::new(),
            samplers: Vec::new(),
            locals: Vec::new(),
            outputs: Vec::new(),
            callees: Vec::new(),
            body: Vec::new(),
            temps: 0,
            loop_depth: 0,
            depth: 0,
            uniform_flow: true,
            in_main: false,
        }
    }

    // ---- declarations

    fn var(&mut self, name: &str, kind: VarKind, ty: Type, elems: u32) -> Var {
        self.program.vars.push(VarDecl::new(name, kind, ty).array(elems))
    }

    fn declare(&mut self) {
        let int = |lanes| Type { scalar: Scalar::Int, lanes };
        let bool_ = |lanes| Type { scalar: Scalar::Bool, lanes };
        let vertex = self.options.stage == Stage::Vertex;
        let input = if vertex { VarKind::Attribute } else { VarKind::Varying };
        let outside = [
            ("u_color", VarKind::Uniform, Type::VEC4, 1),
            ("u_offset", VarKind::Uniform, Type::float(3), 1),
            ("u_scale", VarKind::Uniform, Type::FLOAT, 1),
            ("u_matrix", VarKind::Uniform, Type::VEC4, 4),
            ("u_count", VarKind::Uniform, Type::INT, 1),
            ("u_pair", VarKind::Uniform, int(2), 1),
            ("u_flag", VarKind::Uniform, Type::BOOL, 1),
            ("u_flags", VarKind::Uniform, bool_(3), 1),
            ("in_a", input, Type::VEC4, 1),
            ("in_b", input, Type::float(2), 1),
            ("in_c", input, Type::float(3), if vertex { 1 } else { 2 }),
        ];
        for (name, kind, ty, elems) in outside {
            let var = self.var(name, kind, ty, elems);
            if name == "u_matrix" {
                self.program.vars[var].cols = 4;
                self.program.vars[var].type_name = "mat4".into();
            }
            self.outside.push(var);
        }
        if self.options.textures {
            let tame = self.options.tame;
            let samplers = [
                ("s_image", TexDim::D2, false, 2),
                ("s_line", TexDim::D1, false, 1),
                ("s_volume", TexDim::D3, false, 1),
                ("s_cube", TexDim::Cube, false, 1),
                ("s_shadow", TexDim::D2, true, 1),
                ("s_shadow_line", TexDim::D1, true, 1),
            ];
            for (name, dim, shadow, elems) in samplers.into_iter().filter(|s| !(tame && s.2)) {
                let var = self.var(name, VarKind::Sampler { dim, shadow }, Type::FLOAT, elems);
                self.samplers.push(var);
            }
        }
        let outputs: &[(&str, VarKind, Type, u32)] = if vertex {
            &[
                ("gl_Position", VarKind::Output, Type::VEC4, 1),
                ("v_color", VarKind::Varying, Type::VEC4, 1),
                ("v_uv", VarKind::Varying, Type::float(2), 2),
            ]
        } else {
            &[("gl_FragColor", VarKind::Output, Type::VEC4, 1)]
        };
        for &(name, kind, ty, elems) in outputs {
            let var = self.var(name, kind, ty, elems);
            self.outputs.push(var);
        }
        let locals = [(Type::FLOAT, 1), (Type::INT, 1), (bool_(1), 1), (Type::VEC4, 1), (Type::VEC4, 4), (int(1), 3)];
        for (i, (ty, elems)) in locals.into_iter().enumerate() {
            let var = self.var(&format!("l{i}"), VarKind::Local, ty, elems);
            self.locals.push(var);
        }
        for i in 6..10 + self.rng.below(4) {
            let scalar = *self.rng.pick(&[Scalar::Float, Scalar::Float, Scalar::Float, Scalar::Int, Scalar::Bool]);
            let ty = Type { scalar, lanes: 1 + self.rng.below(4) as u8 };
            let elems = if self.rng.chance(1, 4) { 2 + self.rng.below(3) } else { 1 };
            let var = self.var(&format!("l{i}"), VarKind::Local, ty, elems);
            self.locals.push(var);
        }
    }

    fn temp(&mut self, ty: Type) -> Var {
        self.temps += 1;
        let name = format!("t{}", self.temps);
        self.var(&name, VarKind::Temp, ty, 1)
    }

    // ---- functions and statements

    fn functions(&mut self) {
        let count = self.rng.below(self.options.functions + 1);
        for i in 0..count {
            let statements = 2 + self.rng.below(4);
            self.uniform_flow = false;
            self.block(statements);
            let body = std::mem::take(&mut self.body);
            let func = self.program.funcs.push(FuncDecl {
                name: format!("f{i}"),
                params: Vec::new(),
                body,
                line: 100 * (i + 1),
            });
            self.callees.push((func, 2));
        }
        self.in_main = true;
        self.uniform_flow = true;
        for var in self.locals.clone().into_iter().chain(self.outputs.clone()) {
            let decl = self.program.vars[var].clone();
            for elem in 0..decl.elems {
                let value = self.leaf(decl.ty, true);
                let dst = Dst::var(var, elem, decl.ty.lanes);
                self.push(Op::Mov, dst, vec![value.src]);
            }
        }
        self.block(self.options.statements);
        for var in self.outputs.clone() {
            let decl = self.program.vars[var].clone();
            for elem in 0..decl.elems {
                let value = self.expr(decl.ty, 2);
                let value = self.tamed(value, decl.ty);
                // Sometimes a part keeps what it was.
                let lanes = 1 + self.rng.below(4).max(self.rng.below(4)) as u8;
                let mask = WriteMask::first(lanes.min(decl.ty.lanes));
                let src = value.src.swizzled(Swizzle::identity(mask.count()));
                self.push(Op::Mov, Dst { mask, ..Dst::var(var, elem, 1) }, vec![src]);
            }
        }
        let main = self.program.main;
        self.program.funcs[main].body = std::mem::take(&mut self.body);
    }

    fn block(&mut self, statements: u32) {
        for _ in 0..statements {
            self.statement();
        }
    }

    fn flow(&mut self, op: TacOp, srcs: Vec<Src>) {
        let line = self.line();
        self.body.push(Inst::flow(op, srcs, line));
    }

    fn line(&self) -> u32 {
        1 + self.body.len() as u32
    }

    fn push(&mut self, op: Op, dst: Dst, srcs: Vec<Src>) {
        let line = self.line();
        self.body.push(Inst::op(op, dst, srcs, line));
    }

    fn statement(&mut self) {
        let nested = self.depth < MAX_DEPTH;
        match self.rng.below(20) {
            0..=2 if nested && self.options.branches => self.if_statement(),
            3..=4 if nested && self.options.loops && self.loop_depth < 2 => self.loop_statement(),
            5 => self.call_statement(),
            10..=15 if self.options.many_calls => self.call_statement(),
            6 if self.options.discard && self.options.stage == Stage::Fragment && self.rng.chance(1, 3) => self.kill(),
            7..=8 if self.uniform_flow && self.depth == 0 => self.lookup(),
            9 => self.explicit_lookup(),
            _ => self.assignment(),
        }
    }

    fn if_statement(&mut self) {
        let cond = self.expr(Type::BOOL, 2);
        self.flow(TacOp::If, vec![cond.src]);
        self.depth += 1;
        let statements = self.rng.below(4);
        self.block(statements);
        self.maybe_jump();
        if self.rng.chance(1, 2) {
            self.flow(TacOp::Else, Vec::new());
            let statements = self.rng.below(3);
            self.block(statements);
            self.maybe_jump();
        }
        self.depth -= 1;
        self.flow(TacOp::EndIf, Vec::new());
    }

    /// `Brk`, `Cont` or `Ret` at the end of a side of an `If`.
    fn maybe_jump(&mut self) {
        if self.loop_depth > 0 && self.options.loops && self.rng.chance(1, 3) {
            let op = *self.rng.pick(&[TacOp::Brk, TacOp::Cont]);
            self.flow(op, Vec::new());
        } else if self.rng.chance(1, 12) {
            self.uniform_flow = false;
            self.flow(TacOp::Ret, Vec::new());
        }
    }

    /// A counter from 0 that ends the loop at its bound, whatever the body does.
    fn loop_statement(&mut self) {
        let counter = self.temp(Type::INT);
        let done = self.temp(Type::BOOL);
        let limit = if self.rng.chance(2, 3) {
            Src::lit(Literal::splat(Type::INT, (1 + self.rng.below(5)) as f32))
        } else {
            let value = self.leaf(Type::INT, true);
            self.clamped(value.src, 0.0, 4.0)
        };
        let zero = Src::lit(Literal::splat(Type::INT, 0.0));
        let read_counter = Src::var(counter, 0, 1);
        let to_counter = Dst::var(counter, 0, 1);
        self.push(Op::Mov, to_counter, vec![zero]);
        self.flow(TacOp::Loop, Vec::new());
        self.push(Op::Sge, Dst::var(done, 0, 1), vec![read_counter, limit]);
        self.flow(TacOp::If, vec![Src::var(done, 0, 1)]);
        self.flow(TacOp::Brk, Vec::new());
        self.flow(TacOp::EndIf, Vec::new());
        self.push(Op::Add, to_counter, vec![read_counter, Src::lit(Literal::splat(Type::INT, 1.0))]);
        self.depth += 1;
        self.loop_depth += 1;
        self.locals.push(counter); // may be read; `assignment` never writes temporaries
        let statements = 1 + self.rng.below(4);
        self.block(statements);
        self.locals.pop();
        self.loop_depth -= 1;
        self.depth -= 1;
        self.flow(TacOp::EndLoop, Vec::new());
    }

    fn call_statement(&mut self) {
        let open: Vec<usize> = (0..self.callees.len()).filter(|&i| self.callees[i].1 > 0).collect();
        if open.is_empty() || self.loop_depth > 1 {
            return self.assignment();
        }
        let at = *self.rng.pick(&open);
        self.callees[at].1 -= 1;
        self.flow(TacOp::Call(self.callees[at].0), Vec::new());
    }

    fn kill(&mut self) {
        let ty = Type::float(1 + self.rng.below(4) as u8);
        let value = self.decisive(ty);
        let shift = Src::lit(Literal::splat(ty, 1.5));
        let sum = self.temp(ty);
        self.push(Op::Add, Dst::var(sum, 0, ty.lanes), vec![value.src, shift]);
        let line = self.line();
        let srcs = vec![Src::var(sum, 0, ty.lanes)];
        self.body.push(Inst { op: TacOp::Op(Op::Kil), dst: None, srcs, line });
    }

    /// A variable of any kind gets the value of an expression, in whole or in part.
    fn assignment(&mut self) {
        let writable: Vec<Var> = self.locals.iter().chain(&self.outputs).copied().collect();
        let writable: Vec<Var> = writable.into_iter().filter(|&v| self.program.vars[v].kind != VarKind::Temp).collect();
        let var = *self.rng.pick(&writable);
        let decl = self.program.vars[var].clone();
        let mask = loop {
            let mask = WriteMask((self.rng.below(16) | self.rng.below(16)) as u8 & WriteMask::first(decl.ty.lanes).0);
            if mask.count() > 0 {
                break mask;
            }
        };
        let ty = decl.ty.with_lanes(mask.count());
        let depth = 1 + self.rng.below(MAX_DEPTH);
        let value = self.expr(ty, depth);
        let value = self.tamed(value, ty);
        let index = self.index(decl.elems, self.options.dynamic_arrays);
        self.push(Op::Mov, Dst { var, index, mask }, vec![value.src]);
    }

    fn lookup(&mut self) {
        if self.options.derivatives && self.options.stage == Stage::Fragment && self.rng.chance(1, 2) {
            let ty = Type::float(1 + self.rng.below(4) as u8);
            let value = self.expr(ty, 1);
            let result = self.temp(ty);
            let op = *self.rng.pick(&[Op::Ddx, Op::Ddy]);
            self.push(op, Dst::var(result, 0, ty.lanes), vec![value.src]);
            self.locals.push(result);
        } else {
            let op = *self.rng.pick(&[Op::Tex, Op::Txp, Op::Txb]);
            self.texture(op);
        }
    }

    fn explicit_lookup(&mut self) {
        self.texture(Op::Txl);
    }

    fn texture(&mut self, op: Op) {
        if self.samplers.is_empty() {
            return self.assignment();
        }
        let sampler = *self.rng.pick(&self.samplers.clone());
        let decl = self.program.vars[sampler].clone();
        let VarKind::Sampler { dim, shadow } = decl.kind else { return };
        let op = if op == Op::Txp && dim == TexDim::Cube { Op::Tex } else { op };
        let index = Index { offset: self.rng.below(decl.elems), rel: None };
        let tex = TexRef { sampler, index, dim, shadow };
        let width = if op == Op::Txp { 4 } else { tex_coords(tex) };
        let coords = self.expr(Type::float(width), 1);
        let mut coords = self.tamed(coords, Type::float(width)).src;
        if op == Op::Txp {
            // A divisor away from 0: w = |w| + 1.
            let whole = self.temp(Type::VEC4);
            self.push(Op::Mov, Dst::var(whole, 0, 4), vec![coords]);
            let w = WriteMask::lane(3);
            let src_w = Src { swz: Swizzle::splat(3, 1), ..Src::var(whole, 0, 4) };
            self.push(Op::Abs, Dst { mask: w, ..Dst::var(whole, 0, 4) }, vec![src_w]);
            let one = Src::lit(Literal::float(1.0));
            self.push(Op::Add, Dst { mask: w, ..Dst::var(whole, 0, 4) }, vec![src_w, one]);
            coords = Src::var(whole, 0, 4);
        }
        let mut srcs = vec![coords];
        if matches!(op, Op::Txb | Op::Txl) {
            let level = self.expr(Type::FLOAT, 1);
            srcs.push(self.tamed(level, Type::FLOAT).src);
        }
        let lanes = 1 + self.rng.below(4) as u8;
        let result = self.temp(Type::float(lanes));
        let line = self.line();
        self.body.push(Inst { op: TacOp::Tex(op, tex), dst: Some(Dst::var(result, 0, lanes)), srcs, line });
        // Keep it alive: into a local of floats.
        let floats: Vec<Var> = self
            .locals
            .iter()
            .copied()
            .filter(|&v| self.program.vars[v].kind == VarKind::Local && self.program.vars[v].ty.scalar == Scalar::Float)
            .collect();
        let to = *self.rng.pick(&floats);
        let decl = self.program.vars[to].clone();
        let width = decl.ty.lanes.min(lanes);
        let index = self.index(decl.elems, false);
        let src = Src::var(result, 0, width);
        self.push(Op::Mov, Dst { var: to, index, mask: WriteMask::first(width) }, vec![src]);
    }
}
