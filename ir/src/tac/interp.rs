//! Runs TAC: the first judge of everything behind it. In comes a verified program and an [`Env`],
//! out come [`Outputs`]. Variables start as 0; a dynamic index out of range reads 0 and writes
//! nothing; a step bound ends endless loops with an error.

use crate::entity::{FuncId, Var};
use crate::env::{Env, Lod, Outputs, QuadView, TexRequest, element, project};
use crate::eval::{self, EvalCfg};
use crate::op::Op;
use crate::tac::{Addr, Dst, Index, Inst, Program, Src, TacOp, TexRef};
use crate::types::{Scalar, Swizzle};
use cranelift_entity::SecondaryMap;
use std::cell::Cell;
use std::fmt;

/// How to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InterpOptions {
    /// Most instructions that one invocation may execute.
    pub max_steps: u64,
    /// Facts about arithmetic.
    pub cfg: EvalCfg,
    /// Moves every rounded float result by -1, 0 or 1 unit in the last place, by this seed: outputs
    /// that change much with the seed say nothing about a compiler that may round differently.
    pub jitter: Option<u64>,
    /// Whether it is an error to do what the language leaves undefined, as what a machine does then is
    /// its own affair: a dynamic index out of range, a read of a lane that was never written.
    pub defined: bool,
}

impl Default for InterpOptions {
    fn default() -> InterpOptions {
        InterpOptions { max_steps: 1_000_000, cfg: EvalCfg::default(), jitter: None, defined: false }
    }
}

/// Why a run has no result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InterpError {
    /// The bound on executed instructions.
    StepLimit(u64),
    /// A dynamic index out of range or a read of what was never written, with
    /// [`InterpOptions::defined`].
    Undefined,
    /// The program breaks an invariant of [`crate::tac::verify`].
    Invalid(&'static str),
}

impl fmt::Display for InterpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InterpError::StepLimit(steps) => write!(f, "the run exceeds the bound of {steps} steps"),
            InterpError::Undefined => {
                f.write_str("a dynamic index is out of range, or a lane is read that was never written")
            }
            InterpError::Invalid(what) => write!(f, "invalid TAC: {what}"),
        }
    }
}

impl std::error::Error for InterpError {}

/// Runs one invocation; derivatives are 0.
pub fn run(program: &Program, env: &dyn Env, options: InterpOptions) -> Result<Outputs, InterpError> {
    run_in_quad(program, env, options, &mut QuadView::alone())
}

/// Runs the four invocations of a quad (position bit 0: right, bit 1: lower).
pub fn run_quad(program: &Program, envs: [&dyn Env; 4], options: InterpOptions) -> Result<[Outputs; 4], InterpError> {
    crate::env::run_quad(|position, view| run_in_quad(program, envs[position], options, view))
}

/// Runs one invocation that sees its quad through `view`.
pub fn run_in_quad(
    program: &Program,
    env: &dyn Env,
    options: InterpOptions,
    view: &mut QuadView<'_>,
) -> Result<Outputs, InterpError> {
    let mut starts = SecondaryMap::new();
    let mut total = 0usize;
    for (var, decl) in program.vars.iter() {
        starts[var] = total;
        if decl.is_local() || decl.is_output(program.stage) {
            total += decl.elems as usize;
        }
    }
    let mut machine = Machine {
        program,
        env,
        options,
        view,
        starts,
        memory: vec![[0.0; 4]; total],
        written: vec![0; total],
        outputs: Outputs::default(),
        missed: Cell::new(false),
        flow: vec![None; program.funcs.len()],
    };
    machine.run()?;
    if options.defined && machine.missed.get() {
        return Err(InterpError::Undefined);
    }
    Ok(machine.outputs)
}

struct Machine<'a, 'v, 'n> {
    program: &'a Program,
    env: &'a dyn Env,
    options: InterpOptions,
    view: &'v mut QuadView<'n>,
    /// Where a written variable's elements start in `memory`.
    starts: SecondaryMap<Var, usize>,
    memory: Vec<[f32; 4]>,
    /// The lanes of each element of `memory` that have been written.
    written: Vec<u8>,
    outputs: Outputs,
    /// Whether an index was out of range, or something was read that was never written.
    missed: Cell<bool>,
    /// By function, once it has run: where each flow instruction goes on, see [`flow_targets`].
    flow: Vec<Option<Vec<u32>>>,
}

/// For each instruction the index that it jumps to: `If` behind its `Else` or `EndIf`, `Else` to
/// `EndIf`, `Brk` behind `EndLoop`, `Cont` and `EndLoop` behind `Loop`.
fn flow_targets(body: &[Inst]) -> Result<Vec<u32>, InterpError> {
    let mut targets = vec![0u32; body.len()];
    let mut open: Vec<usize> = Vec::new();
    let mut loops: Vec<(usize, Vec<usize>)> = Vec::new();
    for (i, inst) in body.iter().enumerate() {
        match inst.op {
            TacOp::If => open.push(i),
            TacOp::Else => {
                let Some(top) = open.last_mut() else { return Err(InterpError::Invalid("`Else` alone")) };
                targets[*top] = i as u32 + 1;
                *top = i;
            }
            TacOp::EndIf => {
                let Some(top) = open.pop() else { return Err(InterpError::Invalid("`EndIf` alone")) };
                targets[top] = i as u32;
            }
            TacOp::Loop => loops.push((i, Vec::new())),
            TacOp::Brk | TacOp::Cont => {
                let Some((start, breaks)) = loops.last_mut() else {
                    return Err(InterpError::Invalid("a jump outside a loop"));
                };
                targets[i] = *start as u32 + 1;
                if inst.op == TacOp::Brk {
                    breaks.push(i);
                }
            }
            TacOp::EndLoop => {
                let Some((start, breaks)) = loops.pop() else { return Err(InterpError::Invalid("`EndLoop` alone")) };
                targets[i] = start as u32 + 1;
                for at in breaks {
                    targets[at] = i as u32 + 1;
                }
            }
            _ => {}
        }
    }
    if open.is_empty() && loops.is_empty() { Ok(targets) } else { Err(InterpError::Invalid("open structure")) }
}

/// Whether the operation rounds, so that another order of evaluation may give a neighbour.
fn is_rounded(op: Op) -> bool {
    matches!(
        op,
        Op::Add
            | Op::Sub
            | Op::Mul
            | Op::Mad
            | Op::Div
            | Op::Dp2
            | Op::Dp3
            | Op::Dp4
            | Op::Rcp
            | Op::Rsq
            | Op::Sqrt
            | Op::Ex2
            | Op::Lg2
            | Op::Pow
            | Op::Sin
            | Op::Cos
            | Op::Nrm
            | Op::Lrp
            | Op::Frc
    )
}

impl Machine<'_, '_, '_> {
    fn run(&mut self) -> Result<(), InterpError> {
        let program = self.program;
        let mut calls: Vec<(FuncId, usize)> = Vec::new();
        let (mut func, mut pc) = (program.main, 0usize);
        let mut steps = 0u64;
        loop {
            let Some(decl) = program.funcs.get(func) else { return Err(InterpError::Invalid("no such function")) };
            let flow_index = func.as_u32() as usize;
            if self.flow[flow_index].is_none() {
                self.flow[flow_index] = Some(flow_targets(&decl.body)?);
            }
            let inst = decl.body.get(pc);
            steps += 1;
            if steps > self.options.max_steps {
                return Err(InterpError::StepLimit(self.options.max_steps));
            }
            let target = self.flow[flow_index].as_ref().and_then(|t| t.get(pc)).map_or(0, |&t| t as usize);
            let site = (func.as_u32() << 20).wrapping_add(pc as u32);
            pc += 1;
            match inst.map(|i| i.op) {
                None | Some(TacOp::Ret) => match calls.pop() {
                    Some(back) => (func, pc) = back,
                    None => return Ok(()),
                },
                Some(TacOp::Call(callee)) => {
                    calls.push((func, pc));
                    (func, pc) = (callee, 0);
                }
                Some(TacOp::If) => {
                    let Some(cond) = inst.and_then(|i| i.srcs.first()) else {
                        return Err(InterpError::Invalid("`If` without a condition"));
                    };
                    if self.read(cond)[0] == 0.0 {
                        pc = target;
                    }
                }
                Some(TacOp::Else | TacOp::Brk | TacOp::Cont | TacOp::EndLoop) => pc = target,
                Some(TacOp::EndIf | TacOp::Loop) => {}
                Some(TacOp::Op(op)) => {
                    let inst = &decl.body[pc - 1];
                    if op == Op::Kil {
                        if inst.srcs.iter().any(|s| self.read(s)[..s.swz.len() as usize].iter().any(|&v| v < 0.0)) {
                            self.outputs.discarded = true;
                            if !self.view.has_neighbours() {
                                return Ok(());
                            }
                        }
                    } else {
                        self.operation(op, inst, site)?;
                    }
                }
                Some(TacOp::Tex(op, tex)) => self.texture(op, tex, &decl.body[pc - 1], site),
            }
        }
    }

    fn operation(&mut self, op: Op, inst: &Inst, site: u32) -> Result<(), InterpError> {
        let Some(dst) = &inst.dst else { return Err(InterpError::Invalid("no destination")) };
        let values: Vec<[f32; 4]> = inst.srcs.iter().map(|s| self.read(s)).collect();
        let result = match op {
            Op::Ddx | Op::Ddy => {
                let value = values.first().copied().unwrap_or_default();
                let (x, y) = self.view.differences(site, value);
                Some(if op == Op::Ddx { x } else { y })
            }
            _ => {
                let args: Vec<&[f32]> =
                    values.iter().zip(&inst.srcs).map(|(v, s)| &v[..s.swz.len() as usize]).collect();
                eval::eval(op, &args, dst.mask.count(), self.options.cfg)
            }
        };
        let Some(result) = result else { return Err(InterpError::Invalid("no value operation")) };
        let rounds = is_rounded(op) && self.program.vars.get(dst.var).is_some_and(|v| v.ty.scalar == Scalar::Float);
        let result = if rounds { result.map(|v| self.jittered(v)) } else { result };
        self.write(dst, result);
        Ok(())
    }

    /// The value or a neighbour of it, when jitter is asked for.
    fn jittered(&mut self, value: f32) -> f32 {
        let Some(state) = &mut self.options.jitter else { return value };
        // Weyl sequence with a multiplicative finish: enough to be independent of the values.
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (*state ^ (*state >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        match (mixed >> 60) % 3 {
            _ if !value.is_normal() => value,
            0 => f32::from_bits(value.to_bits() - 1),
            1 => f32::from_bits(value.to_bits() + 1),
            _ => value,
        }
    }

    fn texture(&mut self, op: Op, tex: TexRef, inst: &Inst, site: u32) {
        let (Some(dst), Some(coord_src)) = (&inst.dst, inst.srcs.first()) else { return };
        let mut coords = self.read(coord_src);
        if op == Op::Txp {
            coords = project(coords);
        }
        let extra = inst.srcs.get(1).map_or(0.0, |s| self.read(s)[0]);
        let lod = if op == Op::Txl {
            Lod::Explicit(extra)
        } else {
            let (ddx, ddy) = self.view.differences(site, coords);
            Lod::Implicit { bias: extra, ddx, ddy }
        };
        let texel = match self.element(tex.sampler, tex.index) {
            Some(elem) => {
                let (dim, shadow) = (tex.dim, tex.shadow);
                self.env.texture(&TexRequest { sampler: tex.sampler, elem, dim, shadow, coords, lod })
            }
            None => [0.0; 4],
        };
        self.write(dst, texel);
    }

    fn element(&self, var: Var, index: Index) -> Option<u32> {
        let elems = self.program.vars.get(var)?.elems;
        let rel = match index.rel {
            Some((rel, lane)) => {
                let swz = Swizzle::splat(lane & 3, 1);
                self.read(&Src { addr: Addr::Var(rel, Index::default()), swz })[0]
            }
            None => 0.0,
        };
        let found = element(index.offset, rel, elems);
        self.missed.set(self.missed.get() || found.is_none());
        found
    }

    /// The lanes that a source picks, first ones first, 0 behind them.
    fn read(&self, src: &Src) -> [f32; 4] {
        let lanes = match src.addr {
            Addr::Lit(literal) => literal.bits.map(f32::from_bits),
            Addr::Var(var, index) => match (self.element(var, index), self.program.vars.get(var)) {
                (Some(elem), Some(decl)) => {
                    if decl.is_local() || decl.is_output(self.program.stage) {
                        let at = self.starts[var] + elem as usize;
                        let missing = src.swz.lanes().iter().any(|&l| self.written[at] >> l & 1 == 0);
                        self.missed.set(self.missed.get() || missing);
                        self.memory[at]
                    } else if decl.is_input(self.program.stage) {
                        self.env.input(var, elem)
                    } else {
                        self.env.uniform(var, elem)
                    }
                }
                _ => [0.0; 4],
            },
        };
        let mut picked = [0.0; 4];
        for (to, &from) in picked.iter_mut().zip(src.swz.lanes()) {
            *to = lanes[from as usize];
        }
        picked
    }

    fn write(&mut self, dst: &Dst, values: [f32; 4]) {
        let Some(decl) = self.program.vars.get(dst.var) else { return };
        let is_output = decl.is_output(self.program.stage);
        if !(is_output || decl.is_local()) {
            return;
        }
        let Some(elem) = self.element(dst.var, dst.index) else { return };
        let at = self.starts[dst.var] + elem as usize;
        self.written[at] |= dst.mask.0;
        let cell = &mut self.memory[at];
        for (lane, value) in dst.mask.lanes().zip(values) {
            cell[lane as usize] = value;
            if is_output {
                self.outputs.set(dst.var, elem, lane, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::FileId;
    use crate::tac::text;
    use crate::testing::gen_env::GenEnv;

    #[test]
    fn what_is_left_undefined_is_an_error_on_wish() {
        let run = |body: &str, defined: bool| {
            let head = "stage frag\nuniform vec4 u[2]\nlocal int i\nlocal vec4 a\noutput vec4 gl_FragColor\n";
            let program = text::parse(FileId::default(), &format!("{head}func main() {{\n{body}\n}}\n")).unwrap();
            let env = GenEnv::new(1, &program, false);
            run(&program, &env, InterpOptions { defined, ..InterpOptions::default() }).map(|_| ())
        };
        let out = "MOV gl_FragColor.xyzw, a.xyzw";
        for (body, is_defined) in [
            (format!("MOV a.xyzw, u[1].xyzw\n{out}"), true),
            (format!("MOV a.xyz, u[1].xyz\n{out}"), false),
            (format!("MOV i.x, int(1)\nMOV a.xyzw, u[i.x + 0].xyzw\n{out}"), true),
            (format!("MOV i.x, int(2)\nMOV a.xyzw, u[i.x + 0].xyzw\n{out}"), false),
            (format!("MOV a.xyzw, u[i.x + 0].xyzw\n{out}"), false),
        ] {
            assert_eq!(run(&body, false), Ok(()), "{body}");
            assert_eq!(run(&body, true).is_ok(), is_defined, "{body}");
        }
    }
}
