//! What functions that stay called are given and give back.
//!
//! In comes a program whose functions have one exit each ([`super::inline`] made it so) and no
//! recursion; out comes a [`Signature`] for every function but `main`. TAC passes values by shared
//! variables, so a signature names elements of variables:
//!
//! - An argument is an element of which the function may read a lane that it has not surely written
//!   before (by a walk of its structure), or that it gives back without having surely written all of.
//! - A result is an element that the function may write, if somebody else may see it: outputs, what
//!   another function names, and what some function may read before it writes it, since such a
//!   variable keeps its value from one call to the next.
//!
//! Holds: a function that is given its arguments computes its results and nothing else that matters.

use super::{Addr, Inst, Program, TacOp};
use crate::entity::{FuncId, Var};
use crate::func::Signature;
use crate::tac::verify::call_order;
use crate::types::WriteMask;
use cranelift_entity::SecondaryMap;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// An element of a variable.
pub type Element = (Var, u32);

/// Lanes by element.
type Lanes = BTreeMap<Element, u8>;

/// What a function does to variables.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Its arguments and results.
    pub signature: Signature,
    /// Lanes that it or a function that it calls may write.
    pub may_write: BTreeMap<Element, WriteMask>,
    /// Lanes that it surely has written when it returns.
    must_write: Lanes,
}

/// Summaries of the functions that `main` reaches, `main` included; empty for recursive programs.
pub fn summaries(program: &Program) -> SecondaryMap<FuncId, Summary> {
    let order = call_order(program).unwrap_or_default();
    let seen = seen_elsewhere(program, &order);
    let mut all: SecondaryMap<FuncId, Summary> = SecondaryMap::new();
    for &func in &order {
        let mut walk = Walk::new(program, &all);
        walk.body(&program.funcs[func].body);
        let Walk { sure, may, mut exposed, .. } = walk;
        let results: Vec<Element> = may.keys().copied().filter(|e| seen.is_seen(program, func, *e)).collect();
        for element in &results {
            let whole = WriteMask::first(program.vars[element.0].ty.lanes).0;
            if sure.lanes.get(element).copied().unwrap_or(0) & whole != whole {
                exposed.insert(*element);
            }
        }
        all[func] = Summary {
            signature: Signature { args: exposed.into_iter().collect(), results },
            may_write: may.into_iter().map(|(e, m)| (e, WriteMask(m))).collect(),
            must_write: sure.lanes,
        };
    }
    all
}

/// Who names which element.
struct Seen {
    /// The one function that reads an element; `None` when several do.
    reader: FxHashMap<Element, Option<FuncId>>,
    /// Elements that some function may read before it writes them.
    kept: BTreeSet<Element>,
}

impl Seen {
    fn is_seen(&self, program: &Program, func: FuncId, element: Element) -> bool {
        let elsewhere = self.reader.get(&element).is_some_and(|r| *r != Some(func));
        elsewhere || self.kept.contains(&element) || program.vars[element.0].is_output(program.stage)
    }
}

fn seen_elsewhere(program: &Program, order: &[FuncId]) -> Seen {
    let mut seen = Seen { reader: FxHashMap::default(), kept: BTreeSet::new() };
    let nothing = SecondaryMap::new();
    for &func in order {
        // calls count as if they touched nothing: what goes through one is exposed in the callee
        let mut walk = Walk::new(program, &nothing);
        walk.body(&program.funcs[func].body);
        for element in walk.read {
            let reader = seen.reader.entry(element).or_insert(Some(func));
            if *reader != Some(func) {
                *reader = None;
            }
        }
        seen.kept.extend(walk.exposed);
    }
    seen
}

/// Lanes surely written, with what to take back at the end of a side.
#[derive(Default)]
struct Sure {
    lanes: Lanes,
    /// What each entry of the innermost sides was before.
    log: Vec<(Element, u8)>,
}

impl Sure {
    fn add(&mut self, element: Element, mask: u8) {
        let lanes = self.lanes.entry(element).or_default();
        if *lanes | mask != *lanes {
            self.log.push((element, *lanes));
            *lanes |= mask;
        }
    }

    /// Takes back what was added since `mark`, and returns it.
    fn take_back(&mut self, mark: usize) -> Lanes {
        let mut added = Lanes::new();
        for (element, before) in self.log.drain(mark..).rev() {
            let lanes = self.lanes.entry(element).or_default();
            *added.entry(element).or_default() |= *lanes & !before;
            *lanes = before;
        }
        added
    }
}

/// An open `If` or `Loop`.
struct Open {
    mark: usize,
    /// What the first side of an `If` writes; `None` when its end is not reached.
    then: Option<Lanes>,
    in_else: bool,
    is_loop: bool,
}

/// A walk over a body. What a loop writes does not count behind it, since a turn may end anywhere.
struct Walk<'p> {
    program: &'p Program,
    known: &'p SecondaryMap<FuncId, Summary>,
    sure: Sure,
    may: Lanes,
    exposed: BTreeSet<Element>,
    read: BTreeSet<Element>,
    open: Vec<Open>,
    /// Behind a jump.
    dead: bool,
}

impl<'p> Walk<'p> {
    fn new(program: &'p Program, known: &'p SecondaryMap<FuncId, Summary>) -> Walk<'p> {
        Walk {
            program,
            known,
            sure: Sure::default(),
            may: Lanes::new(),
            exposed: BTreeSet::new(),
            read: BTreeSet::new(),
            open: Vec::new(),
            dead: false,
        }
    }

    fn body(&mut self, body: &[Inst]) {
        for inst in body {
            self.inst(inst);
        }
    }

    fn inst(&mut self, inst: &Inst) {
        for (element, mask) in reads(inst) {
            self.reads(element, mask);
        }
        match inst.op {
            TacOp::If | TacOp::Loop => {
                let is_loop = inst.op == TacOp::Loop;
                self.open.push(Open { mark: self.sure.log.len(), then: None, in_else: false, is_loop });
            }
            TacOp::Else => {
                let Some(open) = self.open.last_mut() else { return };
                let added = self.sure.take_back(open.mark);
                open.then = (!std::mem::take(&mut self.dead)).then_some(added);
                open.in_else = true;
            }
            TacOp::EndIf => self.end_if(),
            TacOp::EndLoop => {
                if let Some(open) = self.open.pop() {
                    self.sure.take_back(open.mark);
                }
                self.dead = false;
            }
            TacOp::Brk | TacOp::Cont | TacOp::Ret => self.dead = true,
            TacOp::Call(callee) => {
                let Some(summary) = self.known.get(callee) else { return };
                for &element in &summary.signature.args {
                    self.reads(element, WriteMask::first(self.program.vars[element.0].ty.lanes).0);
                }
                for (&element, mask) in &summary.may_write {
                    *self.may.entry(element).or_default() |= mask.0;
                }
                for (&element, &mask) in &summary.must_write {
                    self.sure.add(element, mask);
                }
            }
            TacOp::Op(_) | TacOp::Tex(..) => {}
        }
        if let Some(dst) = inst.dst {
            let element = (dst.var, dst.index.offset);
            *self.may.entry(element).or_default() |= dst.mask.0;
            if dst.index.rel.is_none() {
                self.sure.add(element, dst.mask.0);
            }
        }
    }

    fn end_if(&mut self) {
        let Some(open) = self.open.pop() else { return };
        debug_assert!(!open.is_loop);
        let last = self.sure.take_back(open.mark);
        let last = (!std::mem::take(&mut self.dead)).then_some(last);
        let (then, other) = if open.in_else { (open.then, last) } else { (last, Some(Lanes::new())) };
        match (then, other) {
            (Some(a), Some(b)) => {
                for (element, mask) in a {
                    let both = mask & b.get(&element).copied().unwrap_or(0);
                    if both != 0 {
                        self.sure.add(element, both);
                    }
                }
            }
            (Some(only), None) | (None, Some(only)) => only.into_iter().for_each(|(e, m)| self.sure.add(e, m)),
            (None, None) => self.dead = true,
        }
    }

    fn reads(&mut self, element: Element, mask: u8) {
        let decl = &self.program.vars[element.0];
        if !decl.is_local() && !decl.is_output(self.program.stage) {
            return;
        }
        self.read.insert(element);
        if mask & !self.sure.lanes.get(&element).copied().unwrap_or(0) != 0 {
            self.exposed.insert(element);
        }
    }
}

/// Elements that an instruction reads itself, with lanes; dynamic ones by their constant part.
fn reads(inst: &Inst) -> Vec<(Element, u8)> {
    let mut all = Vec::new();
    let rel = |index: super::Index| index.rel.map(|(var, lane)| ((var, 0), 1u8 << lane));
    for src in &inst.srcs {
        if let Addr::Var(var, index) = src.addr {
            all.push(((var, index.offset), src.swz.lanes().iter().fold(0, |m, &l| m | 1 << l)));
            all.extend(rel(index));
        }
    }
    all.extend(inst.dst.and_then(|d| rel(d.index)));
    if let TacOp::Tex(_, tex) = inst.op {
        all.extend(rel(tex.index));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::FileId;
    use crate::tac::text;

    /// `args -> results` of function `f`, by name.
    fn signature(functions: &str) -> String {
        let text = format!(
            "stage frag\nuniform float u\noutput vec4 o\nlocal vec2 x\nlocal float y\ntemp bool p\n{functions}\n"
        );
        let program = text::parse(FileId::default(), &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let all = summaries(&program);
        let (func, _) = program.funcs.iter().find(|(_, d)| d.name == "f").unwrap();
        let names = |list: &[Element]| {
            let names: Vec<&str> = list.iter().map(|e| program.vars[e.0].name.as_str()).collect();
            names.join(" ")
        };
        let signature = &all[func].signature;
        format!("{} -> {}", names(&signature.args), names(&signature.results))
    }

    const MAIN: &str = "func main() {\nMOV x.xy, u.xx\nCAL f\nMOV o.xy, x.xy\n}";

    #[test]
    fn what_is_written_first_is_no_argument() {
        assert_eq!(signature(&format!("func f() {{\nMOV y.x, u.x\nMOV x.xy, y.xx\n}}\n{MAIN}")), " -> x");
        assert_eq!(signature(&format!("func f() {{\nMOV y.x, x.y\nMOV x.x, y.x\n}}\n{MAIN}")), "x -> x");
        // one lane of it stays what it was
        assert_eq!(signature(&format!("func f() {{\nMOV x.x, u.x\n}}\n{MAIN}")), "x -> x");
    }

    #[test]
    fn both_sides_must_write() {
        let f = |other: &str| {
            format!("func f() {{\nSLT p.x, u.x, float(1)\nIF p.x\nMOV x.xy, u.xx\nELSE\n{other}\nENDIF\n}}\n{MAIN}")
        };
        assert_eq!(signature(&f("MOV x.yx, u.xx".replace("yx", "xy").as_str())), " -> x");
        assert_eq!(signature(&f("MOV x.y, u.x")), "x -> x");
    }

    #[test]
    fn a_variable_that_keeps_its_value_travels() {
        // only f names y, but it reads what the call before it wrote
        let f = "func f() {\nADD y.x, y.x, u.x\nMOV x.xy, y.xx\n}";
        assert_eq!(signature(&format!("{f}\n{MAIN}")), "y -> x y");
        // what nobody reads does not
        assert_eq!(signature(&format!("func f() {{\nMOV y.x, u.x\n}}\n{MAIN}")), " -> ");
    }

    #[test]
    fn loops_and_calls() {
        let f =
            "func g() {\nMOV x.x, u.x\n}\nfunc f() {\nLOOP\nMOV x.y, u.x\nCAL g\nBRK\nENDLOOP\nADD o.x, o.x, u.x\n}";
        assert_eq!(signature(&format!("{f}\n{MAIN}")), "o x -> o x");
    }
}
