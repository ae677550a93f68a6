//! The machine: four invocations in lockstep (a 2x2 quad; a vertex is a quad with one of them
//! active), with an execution mask for divergent flow.
//!
//! In: an allocated [`Program`] and an [`Outside`] that answers for inputs, constants and textures
//! by name. Out: the lanes of the output registers that were written, and who was discarded.
//! Registers that were never written read as 0; a relative number outside of its file reads 0 and
//! writes nothing. Every run ends: after [`Limits::steps`] instructions with an error.

use crate::mach::{Constant, File, Inst, Kind, Opcode, Program, Rel, Src};
use ir::env::Lod;
use ir::eval::{self, EvalCfg};
use ir::types::TexDim;
use std::fmt;

/// One register's lanes.
pub type Lanes = [f32; 4];

/// A texture lookup as the machine asks for it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Lookup<'a> {
    /// The sampler's name.
    pub name: &'a str,
    /// Element of an array of samplers.
    pub elem: u32,
    /// Shape that the instruction names.
    pub dim: TexDim,
    /// Compares with lane z.
    pub shadow: bool,
    /// Coordinates, already divided; lanes that the opcode does not read are 0.
    pub coords: Lanes,
    /// The level.
    pub lod: Lod,
}

/// What the machine reads from outside.
pub trait Outside {
    /// An input register of one invocation of the quad.
    fn input(&self, pixel: usize, name: &str, elem: u32) -> Lanes;
    /// A uniform.
    fn uniform(&self, name: &str, elem: u32) -> Lanes;
    /// A texture lookup.
    fn texture(&self, lookup: &Lookup<'_>) -> Lanes;
}

/// Bounds of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Instructions executed, default 4 million.
    pub steps: u64,
    /// Subroutine calls in each other, default 64.
    pub calls: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { steps: 4_000_000, calls: 64 }
    }
}

/// Why a run stopped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SimError {
    /// More instructions were executed than allowed.
    Steps(u64),
    /// Subroutines called each other deeper than allowed.
    Calls(usize),
    /// The program is not one that this machine can run.
    Malformed(String),
}

impl fmt::Display for SimError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SimError::Steps(n) => write!(f, "the program ran for more than {n} instructions"),
            SimError::Calls(n) => write!(f, "subroutines are nested deeper than {n}"),
            SimError::Malformed(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for SimError {}

/// What one invocation left behind.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Result1 {
    /// By output register: the lanes written.
    pub outputs: Vec<[Option<f32>; 4]>,
    /// Ended by `KIL`.
    pub discarded: bool,
}

/// A set of the quad's invocations.
type Mask = [bool; 4];

fn and(a: Mask, b: Mask) -> Mask {
    [0, 1, 2, 3].map(|i| a[i] && b[i])
}

fn minus(a: Mask, b: Mask) -> Mask {
    [0, 1, 2, 3].map(|i| a[i] && !b[i])
}

fn or(a: Mask, b: Mask) -> Mask {
    [0, 1, 2, 3].map(|i| a[i] || b[i])
}

const NONE: Mask = [false; 4];

/// An open structure.
#[derive(Clone, Copy)]
enum Frame {
    /// Who came to the `IF`, and whose condition was false.
    If { came: Mask, otherwise: Mask },
    /// Where the loop starts, who came to it, who left, who waits for the next turn.
    Loop { start: usize, came: Mask, left: Mask, waits: Mask },
    /// Where a call returns to, who made it, who came back.
    Call { back: usize, came: Mask, returned: Mask },
}

struct Machine<'a> {
    program: &'a Program,
    outside: &'a dyn Outside,
    cfg: EvalCfg,
    temps: Vec<[Lanes; 4]>,
    address: [[i32; 4]; 4],
    constants: &'a [Lanes],
    inputs: Vec<[Lanes; 4]>,
    outputs: Vec<[[Option<f32>; 4]; 4]>,
    frames: Vec<Frame>,
    active: Mask,
    /// Left the main program.
    ended: Mask,
    killed: Mask,
}

/// Runs the quad's invocations in `active`; the others' registers take part in nothing.
///
/// # Errors
/// When a bound is exceeded or the program is malformed.
pub fn run(
    program: &Program,
    outside: &dyn Outside,
    active: [bool; 4],
    cfg: EvalCfg,
    limits: Limits,
) -> Result<[Result1; 4], SimError> {
    Prepared::new(program, outside, cfg)?.run(outside, active, &mut limits.clone())
}

/// A program that was looked over once, with its constants: for many runs with the same uniforms.
#[derive(Clone, Debug)]
pub struct Prepared<'a> {
    program: &'a Program,
    cfg: EvalCfg,
    constants: Vec<Lanes>,
    inputs: usize,
    outputs: usize,
    temps: usize,
}

impl<'a> Prepared<'a> {
    /// Checks the program's structure and asks `outside` for its uniforms.
    ///
    /// # Errors
    /// When the program is malformed.
    pub fn new(program: &'a Program, outside: &dyn Outside, cfg: EvalCfg) -> Result<Prepared<'a>, SimError> {
        crate::emit::vec4_bits::check_structure(program).map_err(SimError::Malformed)?;
        let constants = program
            .constants
            .iter()
            .map(|c| match c {
                Constant::Uniform { name, elem } => outside.uniform(name, *elem),
                Constant::Literal { bits, .. } => bits.map(f32::from_bits),
            })
            .collect();
        let registers = |bindings: &[crate::mach::Binding]| bindings.iter().map(|b| b.reg + 1).max().unwrap_or(0);
        let written = program.insts.iter().filter_map(|i| i.dst).filter(|d| d.reg.file == File::Temp);
        let temps = written.map(|d| d.reg.index + 1).max().unwrap_or(0).max(program.temps);
        Ok(Prepared {
            program,
            cfg,
            constants,
            inputs: registers(&program.inputs) as usize,
            outputs: registers(&program.outputs) as usize,
            temps: temps as usize,
        })
    }

    /// Runs the quad's invocations in `active`; `outside` answers for inputs and textures. The
    /// instructions executed are taken from `limits`, so that many runs can share one bound.
    ///
    /// # Errors
    /// When a bound is exceeded.
    pub fn run(&self, outside: &dyn Outside, active: [bool; 4], limits: &mut Limits) -> Result<[Result1; 4], SimError> {
        let mut machine = Machine::new(self, outside, active);
        limits.steps -= machine.run(*limits)?;
        Ok([0, 1, 2, 3].map(|pixel| Result1 {
            outputs: machine.outputs.iter().map(|o| o[pixel]).collect(),
            discarded: machine.killed[pixel],
        }))
    }
}

impl<'a> Machine<'a> {
    fn new(prepared: &'a Prepared<'a>, outside: &'a dyn Outside, active: Mask) -> Machine<'a> {
        let program = prepared.program;
        let mut inputs = vec![[[0.0; 4]; 4]; prepared.inputs];
        for b in &program.inputs {
            for (pixel, _) in active.iter().enumerate().filter(|(_, a)| **a) {
                inputs[b.reg as usize][pixel] = outside.input(pixel, &b.name, b.elem);
            }
        }
        Machine {
            program,
            outside,
            cfg: prepared.cfg,
            temps: vec![[[0.0; 4]; 4]; prepared.temps],
            address: [[0; 4]; 4],
            constants: &prepared.constants,
            inputs,
            outputs: vec![[[None; 4]; 4]; prepared.outputs],
            frames: Vec::new(),
            active,
            ended: NONE,
            killed: NONE,
        }
    }

    /// Returns the number of instructions executed.
    fn run(&mut self, limits: Limits) -> Result<u64, SimError> {
        let everyone = self.active;
        let mut pc = 0;
        let mut steps = 0;
        while let Some(inst) = self.program.insts.get(pc) {
            steps += 1;
            if steps > limits.steps {
                return Err(SimError::Steps(limits.steps));
            }
            pc += 1;
            match inst.op.kind() {
                Kind::Flow => match self.flow(inst, pc, limits)? {
                    Some(next) => pc = next,
                    None => break,
                },
                _ if self.active == NONE => {}
                Kind::Address => self.load_address(inst),
                Kind::Texture => self.texture(inst),
                _ => self.compute(inst),
            }
            // A discarded invocation goes on as a helper for its neighbours, but not alone.
            if minus(everyone, or(self.killed, self.ended)) == NONE {
                break;
            }
        }
        Ok(steps)
    }

    /// Executes control flow; returns where to go on, `None` at the end.
    fn flow(&mut self, inst: &Inst, pc: usize, limits: Limits) -> Result<Option<usize>, SimError> {
        match inst.op {
            Opcode::If => {
                let condition = [0, 1, 2, 3].map(|p| self.read(&inst.srcs[0], p)[0] != 0.0);
                self.frames.push(Frame::If { came: self.active, otherwise: minus(self.active, condition) });
                self.active = and(self.active, condition);
            }
            Opcode::Else => {
                if let Some(Frame::If { otherwise, .. }) = self.frames.last() {
                    self.active = *otherwise;
                }
            }
            Opcode::EndIf => {
                if let Some(Frame::If { came, .. }) = self.frames.pop() {
                    self.active = minus(came, self.absent());
                }
            }
            Opcode::Loop => {
                self.frames.push(Frame::Loop { start: pc, came: self.active, left: NONE, waits: NONE });
            }
            Opcode::EndLoop => return Ok(Some(self.end_loop().unwrap_or(pc))),
            Opcode::Brk | Opcode::Cont => self.leave_turn(inst.op == Opcode::Brk),
            Opcode::Cal => return self.call(inst, pc, limits).map(Some),
            Opcode::Ret => return Ok(self.ret(pc)),
            Opcode::Kil => {
                for pixel in (0..4).filter(|&p| self.active[p]) {
                    if self.read(&inst.srcs[0], pixel).iter().any(|&v| v < 0.0) {
                        self.killed[pixel] = true;
                    }
                }
            }
            _ => return Ok(None),
        }
        Ok(Some(pc))
    }

    /// Who must not become active at an `ENDIF`: those that left a loop's turn, a subroutine or the
    /// program since the innermost of these began.
    fn absent(&self) -> Mask {
        let mut absent = self.ended;
        for frame in self.frames.iter().rev() {
            match *frame {
                Frame::If { .. } => {}
                Frame::Loop { left, waits, .. } => {
                    absent = or(absent, or(left, waits));
                    // What an outer call's return took away was not in `came` of this loop, but a
                    // return inside of this loop is kept in the call's frame: go on outward.
                }
                Frame::Call { returned, .. } => return or(absent, returned),
            }
        }
        absent
    }

    fn end_loop(&mut self) -> Option<usize> {
        let Some(Frame::Loop { start, came, left, .. }) = self.frames.pop() else { return None };
        let gone = self.absent();
        let again = minus(minus(came, left), gone);
        if again == NONE {
            self.active = minus(came, gone);
            return None;
        }
        self.frames.push(Frame::Loop { start, came, left, waits: NONE });
        self.active = again;
        Some(start)
    }

    fn leave_turn(&mut self, for_good: bool) {
        let active = self.active;
        let innermost = self.frames.iter_mut().rev().find_map(|f| match f {
            Frame::Loop { left, waits, .. } => Some(if for_good { left } else { waits }),
            _ => None,
        });
        if let Some(gone) = innermost {
            *gone = or(*gone, active);
            self.active = NONE;
        }
    }

    fn call(&mut self, inst: &Inst, pc: usize, limits: Limits) -> Result<usize, SimError> {
        if self.active == NONE {
            return Ok(pc);
        }
        let depth = self.frames.iter().filter(|f| matches!(f, Frame::Call { .. })).count();
        if depth >= limits.calls {
            return Err(SimError::Calls(limits.calls));
        }
        self.frames.push(Frame::Call { back: pc, came: self.active, returned: NONE });
        Ok(inst.target.unwrap_or(0) as usize)
    }

    /// Inside of a structure only the active ones return and the rest goes on; at the subroutine's
    /// own level everybody does.
    fn ret(&mut self, pc: usize) -> Option<usize> {
        let active = self.active;
        if let Some(&Frame::Call { back, came, .. }) = self.frames.last() {
            self.frames.pop();
            self.active = minus(came, self.absent());
            return Some(back);
        }
        let call = self.frames.iter_mut().rev().find_map(|f| match f {
            Frame::Call { returned, .. } => Some(returned),
            _ => None,
        });
        let gone = call.unwrap_or(&mut self.ended);
        *gone = or(*gone, active);
        self.active = NONE;
        (!self.frames.is_empty()).then_some(pc)
    }

    /// The operand's four places for one invocation.
    fn read(&self, src: &Src, pixel: usize) -> Lanes {
        let register = self.register(src, pixel).unwrap_or([0.0; 4]);
        src.swizzle.map(|lane| {
            let value = register[lane as usize & 3];
            let value = if src.abs { value.abs() } else { value };
            if src.neg { f32::from_bits(value.to_bits() ^ 0x8000_0000) } else { value }
        })
    }

    fn index(&self, base: u32, rel: Option<Rel>, pixel: usize) -> Option<usize> {
        let add = rel.map_or(0, |r| self.address[pixel][r.lane as usize & 3]);
        usize::try_from(i64::from(base) + i64::from(add)).ok()
    }

    fn register(&self, src: &Src, pixel: usize) -> Option<Lanes> {
        let index = self.index(src.reg.index, src.rel, pixel)?;
        match src.reg.file {
            File::Temp => self.temps.get(index).map(|r| r[pixel]),
            File::Input => self.inputs.get(index).map(|r| r[pixel]),
            File::Const => self.constants.get(index).copied(),
            _ => None,
        }
    }

    /// Writes the masked lanes for one invocation.
    fn write(&mut self, inst: &Inst, pixel: usize, value: Lanes) {
        let Some(dst) = inst.dst else { return };
        let Some(index) = self.index(dst.reg.index, dst.rel, pixel) else { return };
        for lane in dst.mask.lanes() {
            let lane = lane as usize;
            let mut v = value[lane];
            if dst.saturate {
                v = eval::lane(ir::Op::Sat, &[v], self.cfg).unwrap_or(v);
            }
            match dst.reg.file {
                File::Temp => {
                    if let Some(r) = self.temps.get_mut(index) {
                        r[pixel][lane] = v;
                    }
                }
                File::Output => {
                    if let Some(r) = self.outputs.get_mut(index) {
                        r[pixel][lane] = Some(v);
                    }
                }
                _ => {}
            }
        }
    }

    fn compute(&mut self, inst: &Inst) {
        // All invocations read before any writes: derivatives look at the neighbours.
        let active = self.active;
        let values = [0, 1, 2, 3].map(|p| if active[p] { self.value(inst, p) } else { [0.0; 4] });
        let values = match inst.op {
            Opcode::Ddx => [0, 1, 2, 3].map(|p| difference(&values, active, p, 1)),
            Opcode::Ddy => [0, 1, 2, 3].map(|p| difference(&values, active, p, 2)),
            _ => values,
        };
        for pixel in (0..4).filter(|&p| active[p]) {
            self.write(inst, pixel, values[pixel]);
        }
    }

    /// What an arithmetic instruction computes for one invocation, in all four lanes.
    fn value(&self, inst: &Inst, pixel: usize) -> Lanes {
        let mut srcs = [[0.0; 4]; 3];
        for (value, src) in srcs.iter_mut().zip(&inst.srcs) {
            *value = self.read(src, pixel);
        }
        if matches!(inst.op, Opcode::Ddx | Opcode::Ddy) {
            return srcs[0];
        }
        match inst.op.kind() {
            Kind::Reduce(n) => [eval::dot(&srcs[0][..n as usize], &srcs[1][..n as usize], self.cfg); 4],
            Kind::Scalar => {
                let op = inst.op.meaning().unwrap_or(ir::Op::Mov);
                [eval::lane(op, &srcs.map(|src| src[0]), self.cfg).unwrap_or(0.0); 4]
            }
            _ => [0, 1, 2, 3].map(|lane| {
                let args = [srcs[0][lane], srcs[1][lane], srcs[2][lane]];
                let (op, args) = match inst.op {
                    // puts its weight first
                    Opcode::Lrp => (ir::Op::Lrp, [args[2], args[1], args[0]]),
                    // the opposite question, so a NaN goes to the third
                    Opcode::Cge if args[0] >= 0.0 => (ir::Op::Mov, [args[1]; 3]),
                    Opcode::Cge => (ir::Op::Mov, [args[2]; 3]),
                    op => (op.meaning().unwrap_or(ir::Op::Mov), args),
                };
                eval::lane(op, &args, self.cfg).unwrap_or(0.0)
            }),
        }
    }

    fn load_address(&mut self, inst: &Inst) {
        let Some(dst) = inst.dst else { return };
        for pixel in (0..4).filter(|&p| self.active[p]) {
            let value = self.read(&inst.srcs[0], pixel);
            for lane in dst.mask.lanes() {
                // The cast saturates, and NaN is 0.
                self.address[pixel][lane as usize] = value[lane as usize].floor() as i32;
            }
        }
    }

    fn texture(&mut self, inst: &Inst) {
        let Some(tex) = inst.tex else { return };
        let active = self.active;
        let read = inst.places_read(0);
        let coords = [0, 1, 2, 3].map(|p| {
            let all = self.read(&inst.srcs[0], p);
            let mut coords = [0.0; 4];
            read.lanes().for_each(|l| coords[l as usize] = all[l as usize]);
            if inst.op == Opcode::Txp { ir::env::project(coords) } else { coords }
        });
        let sampler = self.program.samplers.iter().find(|s| s.reg == tex.sampler);
        for pixel in (0..4).filter(|&p| active[p]) {
            let extra = inst.srcs.get(1).map_or(0.0, |s| self.read(s, pixel)[0]);
            let lod = if inst.op == Opcode::Txl {
                Lod::Explicit(extra)
            } else {
                let (ddx, ddy) = (difference(&coords, active, pixel, 1), difference(&coords, active, pixel, 2));
                Lod::Implicit { bias: extra, ddx, ddy }
            };
            let value = sampler.map_or([0.0; 4], |s| {
                let (name, elem) = (s.name.as_str(), s.elem);
                let lookup = Lookup { name, elem, dim: tex.dim, shadow: tex.shadow, coords: coords[pixel], lod };
                self.outside.texture(&lookup)
            });
            self.write(inst, pixel, value);
        }
    }
}

/// The difference to the neighbour along x (`bit` 1) or y (`bit` 2): higher minus lower. An inactive
/// neighbour counts as equal.
fn difference(values: &[Lanes; 4], active: Mask, pixel: usize, bit: usize) -> Lanes {
    let (low, high) = (pixel & !bit, pixel | bit);
    if !(active[low] && active[high]) {
        return [0.0; 4];
    }
    [0, 1, 2, 3].map(|l| values[high][l] - values[low][l])
}
