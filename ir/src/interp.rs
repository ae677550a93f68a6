//! Runs SSA: the reference of every judge behind TAC. In comes a verified function and an
//! [`Env`], out come [`Outputs`].
//!
//! Arrays in memory start as 0; a dynamic index out of range reads 0 and writes nothing; a bound on
//! steps ends endless loops with an error. `Undef` reads as 0, or as noise that differs from run to
//! run: a shader whose outputs change with the noise depends on what it never wrote.

use crate::entity::{Block, Value, Var};
use crate::env::{Env, Lod, Outputs, QuadView, TexRequest, project};
use crate::eval::{self, EvalCfg};
use crate::func::{BlockCall, Function, Imm, InstData, Module, Terminator};
use crate::op::{Op, Shape};
use cranelift_entity::SecondaryMap;
use rustc_hash::FxHashMap;
use std::fmt;

/// Most elements of all arrays in memory.
pub const MAX_MEMORY: usize = 1 << 20;

/// Most calls in each other; the inliner keeps fewer.
pub const MAX_CALL_DEPTH: usize = 256;

/// What `Undef` reads as.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum UndefMode {
    /// 0.
    #[default]
    Zero,
    /// A number that depends on this seed, the value and the lane; NaN now and then.
    Noise(u64),
}

/// How to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InterpOptions {
    /// Most instructions and jumps that one invocation may execute.
    pub max_steps: u64,
    /// Facts about arithmetic.
    pub cfg: EvalCfg,
    /// What `Undef` reads as.
    pub undef: UndefMode,
}

impl Default for InterpOptions {
    fn default() -> InterpOptions {
        InterpOptions { max_steps: 1_000_000, cfg: EvalCfg::default(), undef: UndefMode::Zero }
    }
}

/// Why a run has no result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum InterpError {
    /// The bound on steps.
    StepLimit(u64),
    /// More than [`MAX_MEMORY`] elements of arrays.
    MemoryLimit,
    /// More than [`MAX_CALL_DEPTH`] calls in each other.
    CallLimit,
    /// The function breaks an invariant of [`crate::verify`].
    Invalid(String),
}

impl fmt::Display for InterpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InterpError::StepLimit(steps) => write!(f, "the run exceeds the bound of {steps} steps"),
            InterpError::MemoryLimit => write!(f, "the arrays exceed the bound of {MAX_MEMORY} elements"),
            InterpError::CallLimit => write!(f, "calls nest deeper than the bound of {MAX_CALL_DEPTH}"),
            InterpError::Invalid(what) => write!(f, "invalid SSA: {what}"),
        }
    }
}

impl std::error::Error for InterpError {}

/// Runs one invocation; derivatives are 0.
pub fn run(func: &Function<'_>, env: &dyn Env, options: InterpOptions) -> Result<Outputs, InterpError> {
    run_in_quad(func, env, options, &mut QuadView::alone())
}

/// Runs the four invocations of a quad (position bit 0: right, bit 1: lower).
pub fn run_quad(func: &Function<'_>, envs: [&dyn Env; 4], options: InterpOptions) -> Result<[Outputs; 4], InterpError> {
    crate::env::run_quad(|position, view| run_in_quad(func, envs[position], options, view))
}

/// Runs one invocation that sees its quad through `view`.
pub fn run_in_quad(
    func: &Function<'_>,
    env: &dyn Env,
    options: InterpOptions,
    view: &mut QuadView<'_>,
) -> Result<Outputs, InterpError> {
    run_funcs(std::slice::from_ref(func), env, options, view)
}

/// Runs one invocation of a shader with kept functions; derivatives are 0.
pub fn run_module(module: &Module<'_>, env: &dyn Env, options: InterpOptions) -> Result<Outputs, InterpError> {
    run_funcs(&module.funcs, env, options, &mut QuadView::alone())
}

/// Runs the four invocations of a quad of a shader with kept functions.
pub fn run_module_quad(
    module: &Module<'_>,
    envs: [&dyn Env; 4],
    options: InterpOptions,
) -> Result<[Outputs; 4], InterpError> {
    crate::env::run_quad(|position, view| run_funcs(&module.funcs, envs[position], options, view))
}

fn run_funcs(
    funcs: &[Function<'_>],
    env: &dyn Env,
    options: InterpOptions,
    view: &mut QuadView<'_>,
) -> Result<Outputs, InterpError> {
    let Some(func) = funcs.first() else { return Err(invalid("no functions")) };
    let mut starts = SecondaryMap::new();
    let mut total = 0usize;
    for (var, decl) in &func.vars {
        starts[var] = total;
        if decl.is_local() {
            total = total.saturating_add(decl.elems as usize);
        }
    }
    if total > MAX_MEMORY {
        return Err(InterpError::MemoryLimit);
    }
    // so that implicit operations of two functions are told apart
    let mut sites = Vec::with_capacity(funcs.len());
    let mut next = 0u32;
    for func in funcs {
        sites.push(next);
        next = next.saturating_add(func.insts.len() as u32);
    }
    let memory = vec![[0.0; 4]; total];
    let mut machine = Machine {
        funcs,
        sites,
        func,
        site: 0,
        depth: 0,
        steps: 0,
        env,
        options,
        view,
        values: fresh_values(func),
        links: FxHashMap::default(),
        starts,
        memory,
        outputs: Outputs::default(),
    };
    machine.run()?;
    Ok(machine.outputs)
}

fn fresh_values(func: &Function<'_>) -> SecondaryMap<Value, [f32; 4]> {
    let mut values = SecondaryMap::with_capacity(func.values.len());
    values.resize(func.values.len());
    values
}

struct Machine<'a, 'v, 'n> {
    funcs: &'a [Function<'a>],
    /// Number of the first site of each function.
    sites: Vec<u32>,
    /// The function that runs.
    func: &'a Function<'a>,
    /// Its first site.
    site: u32,
    /// Calls that are open.
    depth: usize,
    steps: u64,
    env: &'a dyn Env,
    options: InterpOptions,
    view: &'v mut QuadView<'n>,
    values: SecondaryMap<Value, [f32; 4]>,
    /// What travels between a function and the one that it calls or that called it: arguments at a
    /// call, results at a return.
    links: FxHashMap<(Var, u32), [f32; 4]>,
    /// Where an array's elements start in `memory`.
    starts: SecondaryMap<Var, usize>,
    memory: Vec<[f32; 4]>,
    outputs: Outputs,
}

impl Machine<'_, '_, '_> {
    /// Runs `self.func`; returns whether the invocation ended inside.
    fn run(&mut self) -> Result<bool, InterpError> {
        let func = self.func;
        let args = std::mem::take(&mut self.links);
        let mut results: FxHashMap<(Var, u32), [f32; 4]> = FxHashMap::default();
        let Some(&entry) = func.layout.first() else { return Err(invalid("no blocks")) };
        let mut block: Block = entry;
        loop {
            let data = &func.blocks[block];
            self.steps += data.insts.len() as u64 + 1;
            if self.steps > self.options.max_steps {
                return Err(InterpError::StepLimit(self.options.max_steps));
            }
            for &inst in &data.insts {
                let data = &func.insts[inst];
                match (data.op, data.imm, data.result.expand()) {
                    (Op::Call, _, _) => {
                        if self.call(data)? {
                            return Ok(true);
                        }
                    }
                    (Op::StoreOutput, Imm::Out { var, elem, mask }, _) if func.signature.is_some() => {
                        let Some(&value) = data.args.first() else { return Err(invalid("an operand is missing")) };
                        let to = results.entry((var, elem)).or_default();
                        mask.lanes().for_each(|l| to[l as usize] = self.values[value][l as usize]);
                    }
                    (Op::Input, Imm::Elem { var, elem }, Some(result)) if func.is_argument(var, elem) => {
                        self.values[result] = args.get(&(var, elem)).copied().unwrap_or_default();
                    }
                    (Op::Result, Imm::Elem { var, elem }, Some(result)) => {
                        self.values[result] = self.links.get(&(var, elem)).copied().unwrap_or_default();
                    }
                    (op, ..) if op.shape() == Shape::Effect => {
                        if self.effect(data)? {
                            return Ok(true);
                        }
                    }
                    (_, _, Some(result)) => {
                        self.values[result] = self.value_of(data, result, self.site + inst.as_u32())?;
                    }
                    _ => return Err(invalid("no result")),
                }
            }
            let call: BlockCall<'_> = match data.term {
                Terminator::None => return Err(invalid("no terminator")),
                Terminator::Return => {
                    self.links = results;
                    return Ok(false);
                }
                Terminator::Jump(call) => call,
                Terminator::Branch { cond, then_call, else_call, .. } => {
                    if self.values[cond][0] != 0.0 {
                        then_call
                    } else {
                        else_call
                    }
                }
            };
            // All arguments are read before a parameter is written: a loop may swap two of them.
            let args: Vec<[f32; 4]> = call.args.iter().map(|&a| self.values[a]).collect();
            for (&param, arg) in func.blocks[call.block].params.iter().zip(args) {
                self.values[param] = arg;
            }
            block = call.block;
        }
    }

    /// Runs the callee; returns whether the invocation ended inside.
    fn call(&mut self, data: &InstData<'_>) -> Result<bool, InterpError> {
        let Some(callee) = self.func.callee(data.imm) else { return Err(invalid("a call of nothing")) };
        let index = callee.func as usize;
        let Some(func) = self.funcs.get(index) else { return Err(invalid("a call of a function that is not here")) };
        if self.depth >= MAX_CALL_DEPTH {
            return Err(InterpError::CallLimit);
        }
        self.links = callee.signature.args.iter().copied().zip(data.args.iter().map(|&a| self.values[a])).collect();
        let values = std::mem::replace(&mut self.values, fresh_values(func));
        let (caller, site) = (self.func, self.site);
        (self.func, self.site) = (func, self.sites[index]);
        self.depth += 1;
        let ended = self.run()?;
        self.depth -= 1;
        (self.func, self.site, self.values) = (caller, site, values);
        Ok(ended)
    }

    /// Returns whether the invocation ends here.
    fn effect(&mut self, data: &InstData<'_>) -> Result<bool, InterpError> {
        let arg = |i: usize| data.args.get(i).copied().ok_or_else(|| invalid("an operand is missing"));
        match (data.op, data.imm) {
            (Op::Kil, _) => {
                let value = arg(0)?;
                let lanes = usize::from(self.func.ty(value).lanes);
                if self.values[value][..lanes].iter().any(|&v| v < 0.0) {
                    self.outputs.discarded = true;
                    return Ok(!self.view.has_neighbours());
                }
            }
            (Op::Store, Imm::Elem { var, elem }) => {
                let (index, value) = if data.args.len() == 2 { (Some(arg(0)?), arg(1)?) } else { (None, arg(0)?) };
                if let Some(at) = self.cell(var, elem, index) {
                    self.memory[at] = self.values[value];
                }
            }
            (Op::StoreOutput, Imm::Out { var, elem, mask }) => {
                let value = self.values[arg(0)?];
                for lane in mask.lanes() {
                    self.outputs.set(var, elem, lane, value[lane as usize]);
                }
            }
            _ => return Err(invalid(format!("{} with {:?}", data.op, data.imm))),
        }
        Ok(false)
    }

    fn value_of(&mut self, data: &InstData<'_>, result: Value, site: u32) -> Result<[f32; 4], InterpError> {
        let width = self.func.ty(result).lanes;
        let arg = |i: usize| data.args.get(i).copied().ok_or_else(|| invalid("an operand is missing"));
        let index = data.args.first().copied();
        let mut out = match (data.op, data.imm) {
            (Op::Const, Imm::Lit(literal)) => literal.bits.map(f32::from_bits),
            (Op::Undef, _) => match self.options.undef {
                UndefMode::Zero => [0.0; 4],
                UndefMode::Noise(seed) => [0, 1, 2, 3].map(|lane| noise(seed, result.as_u32() * 4 + lane)),
            },
            (Op::Swz, Imm::Swz(swz)) => {
                let from = self.values[arg(0)?];
                let mut out = [0.0; 4];
                for (to, &lane) in out.iter_mut().zip(swz.lanes()) {
                    *to = from[lane as usize];
                }
                out
            }
            (Op::Cat, _) => {
                let mut out = [0.0; 4];
                let mut at = 0;
                for &part in data.args {
                    for lane in 0..self.func.ty(part).lanes as usize {
                        if let Some(to) = out.get_mut(at) {
                            *to = self.values[part][lane];
                        }
                        at += 1;
                    }
                }
                out
            }
            (Op::Input | Op::InputAt, Imm::Elem { var, elem }) => {
                self.element(var, elem, index).map_or([0.0; 4], |e| self.env.input(var, e))
            }
            (Op::Uniform | Op::UniformAt, Imm::Elem { var, elem }) => {
                self.element(var, elem, index).map_or([0.0; 4], |e| self.env.uniform(var, e))
            }
            (Op::Load, Imm::Elem { var, elem }) => self.cell(var, elem, index).map_or([0.0; 4], |at| self.memory[at]),
            (Op::Ddx | Op::Ddy, _) => {
                let value = self.lanes(arg(0)?);
                let (x, y) = self.view.differences(site, value);
                if data.op == Op::Ddx { x } else { y }
            }
            (_, Imm::Tex { .. }) => self.texture(data, site)?,
            (op, _) => {
                let args: Vec<&[f32]> =
                    data.args.iter().map(|&a| &self.values[a][..self.func.ty(a).lanes as usize]).collect();
                eval::eval(op, &args, width, self.options.cfg)
                    .ok_or_else(|| invalid(format!("{op} computes nothing by itself")))?
            }
        };
        out[width as usize..].fill(0.0);
        Ok(out)
    }

    fn texture(&mut self, data: &InstData<'_>, site: u32) -> Result<[f32; 4], InterpError> {
        let Imm::Tex { sampler, elem, indexed, dim, shadow } = data.imm else { return Err(invalid("no sampler")) };
        let arg = |i: usize| data.args.get(i).copied().ok_or_else(|| invalid("an operand is missing"));
        let mut coords = self.lanes(arg(0)?);
        if data.op == Op::Txp {
            coords = project(coords);
        }
        let extra = match data.op {
            Op::Txb | Op::Txl => self.values[arg(1)?][0],
            _ => 0.0,
        };
        let lod = if data.op == Op::Txl {
            Lod::Explicit(extra)
        } else {
            let (ddx, ddy) = self.view.differences(site, coords);
            Lod::Implicit { bias: extra, ddx, ddy }
        };
        let index = if indexed { data.args.last().copied() } else { None };
        Ok(match self.element(sampler, elem, index) {
            Some(elem) => self.env.texture(&TexRequest { sampler, elem, dim, shadow, coords, lod }),
            None => [0.0; 4],
        })
    }

    /// The lanes of a value, 0 behind them.
    fn lanes(&self, value: Value) -> [f32; 4] {
        let mut lanes = self.values[value];
        lanes[self.func.ty(value).lanes as usize..].fill(0.0);
        lanes
    }

    fn element(&self, var: Var, elem: u32, index: Option<Value>) -> Option<u32> {
        let elems = self.func.vars.get(var)?.elems;
        let rel = index.map_or(0.0, |i| self.values[i][0]);
        crate::env::element(elem, rel, elems)
    }

    fn cell(&self, var: Var, elem: u32, index: Option<Value>) -> Option<usize> {
        let element = self.element(var, elem, index)?;
        let at = self.starts[var] + element as usize;
        (at < self.memory.len()).then_some(at)
    }
}

fn invalid(what: impl Into<String>) -> InterpError {
    InterpError::Invalid(what.into())
}

/// SplitMix64 (Steele, Lea, Flood 2014) over seed and place.
fn noise(seed: u64, place: u32) -> f32 {
    let mut x = seed.wrapping_add(u64::from(place).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^= x >> 31;
    if x & 15 == 0 { f32::NAN } else { (x >> 40) as f32 / 4096.0 - 2048.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bumpalo::Bump;

    /// Inputs are (1, 2, 3, 4) plus the position; uniforms 10 times the element; a texture gives its
    /// coordinates and the differences.
    struct Numbers(f32);

    impl Env for Numbers {
        fn input(&self, _: Var, elem: u32) -> [f32; 4] {
            [1.0, 2.0, 3.0, 4.0].map(|v| v + self.0 + elem as f32 * 100.0)
        }
        fn uniform(&self, _: Var, elem: u32) -> [f32; 4] {
            [10.0 * elem as f32; 4]
        }
        fn texture(&self, request: &TexRequest) -> [f32; 4] {
            match request.lod {
                Lod::Implicit { ddx, ddy, bias } => [request.coords[0], ddx[0], ddy[0], bias],
                Lod::Explicit(level) => [request.coords[0], level, 0.0, 0.0],
            }
        }
    }

    fn output(text: &str) -> Result<Vec<f32>, InterpError> {
        let arena = Bump::new();
        let func = crate::text::parse(&arena, text, Default::default()).unwrap();
        crate::verify::verify(&func).unwrap();
        let outputs = run(&func, &Numbers(0.0), InterpOptions { max_steps: 10_000, ..InterpOptions::default() })?;
        Ok(outputs.lanes.values().flatten().flatten().copied().collect())
    }

    #[test]
    fn a_loop_that_swaps_its_parameters() {
        let text = "function frag {
              var0 = output vec4 \"o\"
            block0:
              v0: float = const float(0.0)
              v1: float = const float(1.0)
              v2: float = const float(5.0)
              jump block1(v0, v1, v0)
            block1(v3: float, v4: float, v5: float) loop block4:
              v6: bool = slt v5, v2
              branch v6, block2, block3
            block2:
              v7: float = add v5, v1
              jump block1(v4, v3, v7)
            block3:
              jump block4
            block4:
              v8: vec3 = cat v3, v4, v5
              store_output var0[0].xyz, v8
              return
            }";
        assert_eq!(output(text), Ok(vec![1.0, 0.0, 5.0]));
    }

    #[test]
    fn memory_and_indices() {
        let text = "function vert {
              var0 = output vec4 \"o\"
              var1 = local vec2[3] \"a\"
              var2 = uniform vec4[4] \"u\"
              var3 = attribute vec2 \"i\"
            block0:
              v0: vec2 = input var3[0]
              v1: float = swz v0.x
              store var1[1], v1, v0
              v2: vec2 = load var1[2]
              v3: vec2 = load var1[3], v1
              v4: vec4 = uniform_at var2[2], v1
              v5: float = swz v4.w
              v6: float = swz v2.y
              v7: float = swz v3.x
              v8: vec4 = cat v5, v6, v7, v1
              store_output var0[0].xyzw, v8
              return
            }";
        assert_eq!(output(text), Ok(vec![30.0, 2.0, 0.0, 1.0]));
    }

    #[test]
    fn endless_loops_end() {
        let text = "function frag { block0: jump block1 block1 loop block2: jump block1 block2: return }";
        assert_eq!(output(text), Err(InterpError::StepLimit(10_000)));
    }

    #[test]
    fn quads_see_their_neighbours() {
        let text = "function frag {
              var0 = output vec4 \"o\"
              var1 = varying vec2 \"i\"
              var2 = sampler 2D float \"s\"
            block0:
              v0: vec2 = input var1[0]
              v1: vec4 = tex var2[0] 2D, v0
              v2: vec2 = ddy v0
              v3: vec2 = swz v1.xy
              v4: vec4 = cat v3, v2
              store_output var0[0].xyzw, v4
              return
            }";
        let arena = Bump::new();
        let func = crate::text::parse(&arena, text, Default::default()).unwrap();
        let envs = [0.0, 1.0, 10.0, 11.0].map(Numbers);
        let envs = [&envs[0] as &dyn Env, &envs[1], &envs[2], &envs[3]];
        let outputs = run_quad(&func, envs, InterpOptions::default()).unwrap();
        let lanes: Vec<f32> = outputs[3].lanes.values().flatten().flatten().copied().collect();
        assert_eq!(lanes, [12.0, 1.0, 10.0, 10.0]);
    }

    #[test]
    fn noise_tells_undefined_lanes() {
        let text =
            "function frag { var0 = output vec4 \"o\" block0: v0: vec4 = undef store_output var0[0].x, v0 return }";
        let arena = Bump::new();
        let func = crate::text::parse(&arena, text, Default::default()).unwrap();
        let with = |seed| {
            let options = InterpOptions { undef: UndefMode::Noise(seed), ..InterpOptions::default() };
            run(&func, &Numbers(0.0), options).unwrap()
        };
        assert!(with(1).first_difference(&with(2), eval::same_bits).is_some());
        assert!(with(1).first_difference(&with(1), eval::same_bits).is_none());
    }
}
