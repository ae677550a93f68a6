//! A pattern as a short program over a [`View`].
//!
//! In: a pattern and its conditions. Out: steps that open one node each. As a node is opened, all
//! that can be asked of its operands by one look (opcode among the nodes, literal, equal to an
//! operand before, conditions) is asked at once. After de Moura and Bjørner, "Efficient E-Matching
//! for SMT Solvers" (CADE 2007). Matches come in the order of nodes, operands as they stand before
//! flipped ones.

use super::cond::Cond;
use super::pattern::{MAX_VARS, Pat, Subst};
use super::view::{Flat, NONE, View, cond_bit, op_bit};
use crate::lang::commutes;
use egg::Id;
use ir::Op;
use ir::types::{FpLevel, Swizzle};
use smallvec::SmallVec;

/// Most matches of one pattern at one class; patterns of rules stay far below.
const MAX_AT_CLASS: usize = 64;

/// Nodes that are opened for one pattern at one class at most.
const MAX_OPENED: u32 = 4096;

/// What an operand must be.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Check {
    /// One of these opcodes is among its nodes (0: whatever it is).
    ops: u64,
    /// Conditions that are known to hold.
    conds: u16,
    /// It repeats one lane.
    splat: bool,
    /// This value in every lane; bit for bit, or as numbers compare.
    literal: Option<(f32, bool)>,
    /// The same class as in this register.
    same: Option<u8>,
}

impl Check {
    const ANY: Check = Check { ops: 0, conds: 0, splat: false, literal: None, same: None };

    fn holds(&self, view: &View, id: u32, registers: &[u32]) -> bool {
        let row = view.row(id);
        (self.ops == 0 || row.ops & self.ops != 0)
            && row.conds & self.conds == self.conds
            && (!self.splat || row.scalar != NONE)
            && self.same.is_none_or(|r| registers[r as usize] == id)
            && self.literal.is_none_or(|(value, exact)| {
                row.splat.is_some_and(|x| x.to_bits() == value.to_bits() || !exact && x == value)
            })
    }
}

/// What to open.
#[derive(Clone, PartialEq, Debug)]
enum What {
    Op(Op),
    Swizzle(Swizzle),
    Splat,
}

/// Opens a node of the class in `from`; its operands go to the registers from `to` on.
#[derive(Clone, PartialEq, Debug)]
struct Step {
    what: What,
    from: u8,
    to: u8,
    checks: SmallVec<[Check; 4]>,
}

/// A pattern, ready to match.
#[derive(Clone, PartialEq, Debug)]
pub struct Program {
    steps: Vec<Step>,
    registers: u8,
    /// The registers of the variables.
    vars: [Option<u8>; MAX_VARS],
    /// How far below the root it looks.
    reach: u8,
}

/// A pattern has too many operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooLarge;

/// Most operands in a pattern.
pub const MAX_REGISTERS: usize = 128;

impl Program {
    /// Of a pattern with conditions on its variables.
    pub fn new(pat: &Pat, conds: &[(Cond, u8)], level: FpLevel) -> Result<Program, TooLarge> {
        let mut program = Program { steps: Vec::new(), registers: 1, vars: [None; MAX_VARS], reach: 0 };
        program.open(pat, 0, conds, level, 0)?;
        Ok(program)
    }

    fn open(&mut self, pat: &Pat, from: u8, conds: &[(Cond, u8)], level: FpLevel, depth: u8) -> Result<(), TooLarge> {
        let (what, kids): (What, &[Pat]) = match pat {
            Pat::Var(_) | Pat::Lit(_) => return Ok(()),
            Pat::Op(op, kids) => (What::Op(*op), kids),
            Pat::Swz(swizzle, kid) => (What::Swizzle(*swizzle), std::slice::from_ref(&**kid)),
            Pat::Splat(kid) => (What::Splat, std::slice::from_ref(&**kid)),
        };
        let to = self.registers;
        if to as usize + kids.len() > MAX_REGISTERS {
            return Err(TooLarge);
        }
        self.registers += kids.len() as u8;
        self.reach = self.reach.max(depth + 1);
        let mut checks = SmallVec::new();
        for (register, kid) in (to..).zip(kids) {
            checks.push(self.check(kid, register, conds, level));
        }
        self.steps.push(Step { what, from, to, checks });
        for (register, kid) in (to..).zip(kids) {
            self.open(kid, register, conds, level, depth + 1)?;
        }
        Ok(())
    }

    fn check(&mut self, pat: &Pat, register: u8, conds: &[(Cond, u8)], level: FpLevel) -> Check {
        match pat {
            Pat::Var(v) => {
                let same = self.vars[*v as usize];
                if same.is_none() {
                    self.vars[*v as usize] = Some(register);
                }
                let of_var = conds.iter().filter(|(c, var)| var == v && !c.of_target());
                Check { same, conds: of_var.fold(0, |bits, (c, _)| bits | cond_bit(*c)), ..Check::ANY }
            }
            Pat::Lit(value) => Check { literal: Some((*value, level == FpLevel::Strict)), ..Check::ANY },
            Pat::Op(op, _) => Check { ops: op_bit(*op), ..Check::ANY },
            Pat::Swz(..) => Check { ops: op_bit(Op::Swz), ..Check::ANY },
            Pat::Splat(_) => Check { splat: true, ..Check::ANY },
        }
    }

    /// How far below the root it looks.
    pub fn reach(&self) -> u8 {
        self.reach
    }

    /// All ways in which the pattern matches a class, each once.
    pub fn matches(&self, view: &View, id: u32, out: &mut Vec<Subst>) {
        let mut run = Run { program: self, view, registers: [NONE; MAX_REGISTERS], left: MAX_OPENED, out };
        run.registers[0] = id;
        run.step(0);
    }
}

struct Run<'a> {
    program: &'a Program,
    view: &'a View,
    registers: [u32; MAX_REGISTERS],
    left: u32,
    out: &'a mut Vec<Subst>,
}

impl Run<'_> {
    fn step(&mut self, number: usize) {
        let (program, view) = (self.program, self.view);
        let Some(step) = program.steps.get(number) else {
            self.found();
            return;
        };
        let row = view.row(self.registers[step.from as usize]);
        match step.what {
            What::Splat => self.open(step, &[row.scalar], number),
            What::Op(op) if row.ops & op_bit(op) != 0 => {
                for node in view.operations(row, op) {
                    self.node(step, node, commutes(op), number);
                }
            }
            What::Swizzle(swizzle) if row.ops & op_bit(Op::Swz) != 0 => {
                for node in view.swizzles(row).iter().filter(|n| n.swizzle == Some(swizzle)) {
                    self.open(step, node.args(), number);
                }
            }
            _ => {}
        }
    }

    fn node(&mut self, step: &Step, node: &Flat, flips: bool, number: usize) {
        if node.len as usize != step.checks.len() {
            return;
        }
        self.open(step, node.args(), number);
        if flips && node.args[0] != node.args[1] {
            let mut flipped = node.args;
            flipped.swap(0, 1);
            self.open(step, &flipped[..node.len as usize], number);
        }
    }

    fn open(&mut self, step: &Step, operands: &[u32], number: usize) {
        for (i, (&id, check)) in operands.iter().zip(&step.checks).enumerate() {
            self.registers[step.to as usize + i] = id;
            if id == NONE || !check.holds(self.view, id, &self.registers) {
                return;
            }
        }
        if self.left > 0 && self.out.len() < MAX_AT_CLASS {
            self.left -= 1;
            self.step(number + 1);
        }
    }

    fn found(&mut self) {
        let mut subst: Subst = [None; MAX_VARS];
        for (to, register) in subst.iter_mut().zip(&self.program.vars) {
            *to = register.map(|r| Id::from(self.registers[r as usize] as usize));
        }
        if !self.out.contains(&subst) {
            self.out.push(subst);
        }
    }
}
