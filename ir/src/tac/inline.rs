//! Inlines calls and gives every body one exit. In comes any legal program, out comes one without
//! `Ret` that computes the same outputs bit for bit: with the single function `main`, or with the
//! functions that the [`Inline`] policy keeps called (which those are: [`keep`]).
//!
//! Variables are shared between the copies of a body: calls form no cycle and SSA tells values apart,
//! so a renamed copy would gain nothing, and a variable that keeps its value between two calls (a
//! global that one function uses) stays right.
//!
//! `Ret` in nested flow: what follows an `If` of which one side returns moves into the other side;
//! where both may or may not return, and behind loops, a flag guards it. Inside a loop, `Ret` sets
//! the flag and leaves the loop; loops around it are left in turn.
//!
//! ```text
//!   if a { x; ret }  y         if a { x } else { y }
//!   loop { if b { ret } z } y  loop { if b { f = true; brk } z }  if f { } else { y }
//! ```

use crate::entity::{FuncId, Var};
use crate::limits::{Exceeded, Limits};
use crate::op::Op;
use crate::tac::verify::{TacError, call_order, verify_within};
use crate::tac::{Dst, FuncDecl, Inst, Program, Src, TacOp, VarDecl, VarKind};
use crate::types::{Literal, Type};
use cranelift_entity::PrimaryMap;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::fmt;

mod keep;

/// Default bound on the instructions of the inlined program.
pub const MAX_INLINED_INSTS: usize = 200_000;

/// Why a program cannot be inlined.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum InlineError {
    /// The program breaks an invariant (recursion is number 9).
    Invalid(TacError),
    /// Too many instructions.
    TooLarge {
        /// What it would have, at least.
        size: usize,
        /// The bound.
        bound: Exceeded,
    },
    /// Too deep nesting.
    TooDeep {
        /// The bound.
        bound: Exceeded,
    },
}

impl fmt::Display for InlineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InlineError::Invalid(error) => error.fmt(f),
            InlineError::TooLarge { size: usize::MAX, bound } => {
                write!(f, "after inlining the shader has more instructions than can be counted; {bound}")
            }
            InlineError::TooLarge { size, bound } => {
                write!(f, "after inlining the shader has {size} instructions; {bound}")
            }
            InlineError::TooDeep { bound } => write!(f, "after inlining the nesting is too deep; {bound}"),
        }
    }
}

impl std::error::Error for InlineError {}

/// Which calls are inlined.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Inline {
    /// All of them; too many instructions are an error.
    All,
    /// All of them, unless that exceeds the bound on instructions: then functions that are called
    /// from several places stay, those that are little more than a call aside.
    #[default]
    Auto,
    /// None of a function that can stay called.
    Never,
}

impl Inline {
    /// The policy of a word.
    pub fn parse(text: &str) -> Option<Inline> {
        match text {
            "all" => Some(Inline::All),
            "auto" => Some(Inline::Auto),
            "never" => Some(Inline::Never),
            _ => None,
        }
    }
}

/// Inlines everything into `main`; `max_insts` bounds the result (default [`MAX_INLINED_INSTS`]).
pub fn inline(program: &Program, max_insts: usize) -> Result<Program, InlineError> {
    inline_by(program, Inline::All, &Limits { inlined: max_insts, ..Limits::default() })
}

/// Inlines what `policy` does not keep; the bound on instructions is one on all functions together.
pub fn inline_by(program: &Program, policy: Inline, limits: &Limits) -> Result<Program, InlineError> {
    if let Some(error) = verify_within(program, limits).into_iter().next() {
        return Err(InlineError::Invalid(error));
    }
    let order = call_order(program).map_err(|func| {
        let message = format!("function `{}` is recursive", program.funcs[func].name);
        InlineError::Invalid(TacError { rule: 9, func: Some(func), inst: None, line: 0, message, bound: None })
    })?;

    let mut vars = program.vars.clone();
    let mut names = FlagNames { taken: vars.values().map(|d| d.name.clone()).collect() };
    let mut bodies: Vec<Vec<Inst>> = vec![Vec::new(); program.funcs.len()];
    for &func in &order {
        bodies[index(func)] = lower_returns(&program.funcs[func], &mut vars, &mut names, limits)?;
    }

    let calls = Calls { program, order: &order, bodies: &bodies, limits };
    let mut kept = keep::choose(&calls, policy);
    loop {
        let inlined = inline_but(&calls, &vars, &kept)?;
        let wide = keep::too_wide(&inlined);
        if wide.is_empty() {
            return Ok(inlined);
        }
        // each round keeps fewer, so this ends
        kept.retain(|f| !wide.contains(program.funcs[*f].name.as_str()));
    }
}

/// A program whose bodies have one exit each.
pub(crate) struct Calls<'p> {
    program: &'p Program,
    /// Callees before callers.
    order: &'p [FuncId],
    bodies: &'p [Vec<Inst>],
    limits: &'p Limits,
}

impl Calls<'_> {
    /// Instructions that each function has when all calls but those of `kept` are inlined.
    fn sizes(&self, kept: &FxHashSet<FuncId>) -> Vec<usize> {
        let mut sizes = vec![0usize; self.bodies.len()];
        for &func in self.order {
            for inst in &self.bodies[index(func)] {
                let part = match inst.op {
                    TacOp::Call(callee) if !kept.contains(&callee) => sizes[index(callee)],
                    _ => 1,
                };
                sizes[index(func)] = sizes[index(func)].saturating_add(part);
            }
        }
        sizes
    }
}

/// Everything inlined but calls of `kept`.
fn inline_but(
    calls: &Calls<'_>,
    vars: &PrimaryMap<Var, VarDecl>,
    kept: &FxHashSet<FuncId>,
) -> Result<Program, InlineError> {
    let program = calls.program;
    // Sizes first, so that nothing is copied in vain. Every body alive later is part of one that stays.
    let sizes = calls.sizes(kept);
    let stays = |func: &FuncId| *func == program.main || kept.contains(func);
    let size = calls.order.iter().filter(|f| stays(f)).fold(0usize, |sum, f| sum.saturating_add(sizes[index(*f)]));
    if size > calls.limits.inlined {
        return Err(InlineError::TooLarge { size, bound: calls.limits.exceeded("inlined-instructions") });
    }
    let mut call_sites = vec![0usize; program.funcs.len()];
    for &func in calls.order {
        for inst in &calls.bodies[index(func)] {
            if let TacOp::Call(callee) = inst.op {
                call_sites[index(callee)] += 1;
            }
        }
    }
    let mut funcs = PrimaryMap::new();
    let mut ids: FxHashMap<FuncId, FuncId> = FxHashMap::default();
    let mut flats: Vec<VecDeque<Inst>> = vec![VecDeque::new(); program.funcs.len()];
    for &func in calls.order {
        let mut flat = VecDeque::new();
        for inst in &calls.bodies[index(func)] {
            let TacOp::Call(callee) = inst.op else {
                flat.push_back(inst.clone());
                continue;
            };
            if let Some(&id) = ids.get(&callee) {
                flat.push_back(Inst { op: TacOp::Call(id), ..inst.clone() });
                continue;
            }
            let callee = index(callee);
            call_sites[callee] -= 1;
            if call_sites[callee] == 0 {
                append(&mut flat, std::mem::take(&mut flats[callee]));
            } else {
                flat.extend(flats[callee].iter().cloned());
            }
        }
        if stays(&func) {
            let old = &program.funcs[func];
            let body = Vec::from(flat);
            check_nesting(&body, calls.limits)?;
            let decl = FuncDecl { name: old.name.clone(), params: old.params.clone(), body, line: old.line };
            ids.insert(func, funcs.push(decl));
        } else {
            flats[index(func)] = flat;
        }
    }
    let main = ids.get(&program.main).copied().unwrap_or(program.main);
    Ok(Program { stage: program.stage, version: program.version, vars: vars.clone(), funcs, main })
}

/// `tail` behind `list`. The shorter one moves, so that a long chain of calls costs no square of its
/// length.
fn append(list: &mut VecDeque<Inst>, mut tail: VecDeque<Inst>) {
    if list.len() < tail.len() {
        while let Some(inst) = list.pop_back() {
            tail.push_front(inst);
        }
        std::mem::swap(list, &mut tail);
    } else {
        list.append(&mut tail);
    }
}

fn index(func: FuncId) -> usize {
    func.as_u32() as usize
}

fn check_nesting(body: &[Inst], limits: &Limits) -> Result<(), InlineError> {
    let mut depth = 0usize;
    for inst in body {
        match inst.op {
            TacOp::If | TacOp::Loop => depth += 1,
            TacOp::EndIf | TacOp::EndLoop => depth -= 1,
            _ => {}
        }
        if depth > limits.nesting {
            return Err(InlineError::TooDeep { bound: limits.exceeded("flow-nesting") });
        }
    }
    Ok(())
}

/// Makes unique names for the flags.
struct FlagNames {
    taken: FxHashSet<String>,
}

impl FlagNames {
    fn fresh(&mut self, func: &str) -> String {
        let mut name = format!("{func}.returned");
        while !self.taken.insert(name.clone()) {
            name.push('\'');
        }
        name
    }
}

/// Structured code as a tree. `returns`: contains a `Ret`.
enum Node {
    Inst(Inst),
    If {
        head: Inst,
        then: Vec<Node>,
        other: Vec<Node>,
        returns: bool,
    },
    Loop {
        head: Inst,
        body: Vec<Node>,
        returns: bool,
    },
    /// The flag becomes true.
    SetFlag(u32),
    /// Runs when the flag is not set.
    Guard(Vec<Node>),
    /// Leaves the loop when the flag is set.
    Leave,
}

/// Whether a list returns on its way.
#[derive(Clone, Copy, PartialEq)]
enum Outcome {
    Never,
    Maybe,
    Always,
}

struct Lowering<'l> {
    limits: &'l Limits,
    /// Whether anything reads the flag.
    needs_flag: bool,
}

/// The body with one exit at its end and no `Ret`.
fn lower_returns(
    func: &FuncDecl,
    vars: &mut PrimaryMap<Var, VarDecl>,
    names: &mut FlagNames,
    limits: &Limits,
) -> Result<Vec<Inst>, InlineError> {
    let Some(first) = func.body.iter().position(|i| i.op == TacOp::Ret) else { return Ok(func.body.clone()) };
    if first + 1 == func.body.len() {
        return Ok(func.body[..first].to_vec());
    }
    let mut lowering = Lowering { limits, needs_flag: false };
    let (nodes, _) = lowering.list(build_tree(&func.body), false, 0)?;
    let flag = lowering.needs_flag.then(|| vars.push(VarDecl::new(names.fresh(&func.name), VarKind::Temp, Type::BOOL)));
    let mut out = Vec::with_capacity(func.body.len() + 8);
    out.extend(flag.map(|flag| set_flag(flag, false, func.line)));
    emit(&nodes, flag, &mut out);
    Ok(out)
}

fn set_flag(flag: Var, value: bool, line: u32) -> Inst {
    let literal = Literal::splat(Type::BOOL, if value { 1.0 } else { 0.0 });
    Inst::op(Op::Mov, Dst::var(flag, 0, 1), vec![Src::lit(literal)], line)
}

/// Without recursion, since nesting is the input's.
fn build_tree(body: &[Inst]) -> Vec<Node> {
    /// An open structure: its head, the finished first side of an `If`, the list being filled.
    struct Open {
        head: Inst,
        then: Option<Vec<Node>>,
        list: Vec<Node>,
        returns: bool,
    }
    let mut stack: Vec<Open> = Vec::new();
    let mut list: Vec<Node> = Vec::new();
    let mut returns = false;
    for inst in body {
        match inst.op {
            TacOp::If | TacOp::Loop => {
                let outer = std::mem::take(&mut list);
                stack.push(Open { head: inst.clone(), then: None, list: outer, returns });
                returns = false;
            }
            TacOp::Else => {
                if let Some(open) = stack.last_mut() {
                    open.then = Some(std::mem::take(&mut list));
                }
            }
            TacOp::EndIf | TacOp::EndLoop => {
                let Some(open) = stack.pop() else { continue };
                let inner = std::mem::replace(&mut list, open.list);
                list.push(match (open.head.op, open.then) {
                    (TacOp::Loop, _) => Node::Loop { head: open.head, body: inner, returns },
                    (_, Some(then)) => Node::If { head: open.head, then, other: inner, returns },
                    (_, None) => Node::If { head: open.head, then: inner, other: Vec::new(), returns },
                });
                returns |= open.returns;
            }
            _ => {
                returns |= inst.op == TacOp::Ret;
                list.push(Node::Inst(inst.clone()));
            }
        }
    }
    list
}

impl Lowering<'_> {
    fn list(&mut self, nodes: Vec<Node>, in_loop: bool, depth: usize) -> Result<(Vec<Node>, Outcome), InlineError> {
        if depth > self.limits.nesting {
            return Err(InlineError::TooDeep { bound: self.limits.exceeded("flow-nesting") });
        }
        let mut out = Vec::with_capacity(nodes.len());
        let mut nodes = nodes.into_iter();
        while let Some(node) = nodes.next() {
            match node {
                Node::Inst(inst) if inst.op == TacOp::Ret => {
                    out.push(Node::SetFlag(inst.line));
                    if in_loop {
                        out.push(Node::Inst(Inst::flow(TacOp::Brk, Vec::new(), inst.line)));
                    }
                    return Ok((out, Outcome::Always));
                }
                Node::If { head, then, other, returns: true } => {
                    let (mut then, then_outcome) = self.list(then, in_loop, depth + 1)?;
                    let (mut other, other_outcome) = self.list(other, in_loop, depth + 1)?;
                    if in_loop {
                        out.push(Node::If { head, then, other, returns: true });
                        continue;
                    }
                    let both = (then_outcome, other_outcome);
                    if both == (Outcome::Always, Outcome::Always) {
                        out.push(Node::If { head, then, other, returns: true });
                        return Ok((out, Outcome::Always));
                    }
                    let rest: Vec<Node> = nodes.collect();
                    if rest.is_empty() {
                        out.push(Node::If { head, then, other, returns: true });
                        return Ok((out, Outcome::Maybe));
                    }
                    let (rest, rest_outcome) = self.list(rest, false, depth + 1)?;
                    match both {
                        (Outcome::Always, Outcome::Never) => other.extend(rest),
                        (Outcome::Never, Outcome::Always) => then.extend(rest),
                        (Outcome::Always, _) => other.push(self.guard(rest)),
                        (_, Outcome::Always) => then.push(self.guard(rest)),
                        _ => {
                            out.push(Node::If { head, then, other, returns: true });
                            out.push(self.guard(rest));
                            return Ok((out, rest_outcome.at_least_maybe()));
                        }
                    }
                    out.push(Node::If { head, then, other, returns: true });
                    return Ok((out, rest_outcome.at_least_maybe()));
                }
                Node::Loop { head, body, returns: true } => {
                    let (body, _) = self.list(body, true, depth + 1)?;
                    out.push(Node::Loop { head, body, returns: true });
                    if in_loop {
                        self.needs_flag = true;
                        out.push(Node::Leave);
                        continue;
                    }
                    let rest: Vec<Node> = nodes.collect();
                    if rest.is_empty() {
                        return Ok((out, Outcome::Maybe));
                    }
                    let (rest, rest_outcome) = self.list(rest, false, depth + 1)?;
                    out.push(self.guard(rest));
                    return Ok((out, rest_outcome.at_least_maybe()));
                }
                node => out.push(node),
            }
        }
        Ok((out, Outcome::Never))
    }

    fn guard(&mut self, rest: Vec<Node>) -> Node {
        self.needs_flag = true;
        Node::Guard(rest)
    }
}

impl Outcome {
    /// Of a list in which something before may have returned.
    fn at_least_maybe(self) -> Outcome {
        if self == Outcome::Always { Outcome::Always } else { Outcome::Maybe }
    }
}

/// The tree as a list again; its depth was bounded when it was made.
fn emit(nodes: &[Node], flag: Option<Var>, out: &mut Vec<Inst>) {
    let flow = |op: TacOp| Inst::flow(op, Vec::new(), 0);
    let read_flag = |flag: Var| Inst::flow(TacOp::If, vec![Src::var(flag, 0, 1)], 0);
    for node in nodes {
        match node {
            Node::Inst(inst) => out.push(inst.clone()),
            Node::If { head, then, other, .. } => {
                out.push(head.clone());
                emit(then, flag, out);
                if !other.is_empty() {
                    out.push(flow(TacOp::Else));
                    emit(other, flag, out);
                }
                out.push(flow(TacOp::EndIf));
            }
            Node::Loop { head, body, .. } => {
                out.push(head.clone());
                emit(body, flag, out);
                out.push(flow(TacOp::EndLoop));
            }
            Node::SetFlag(line) => out.extend(flag.map(|f| set_flag(f, true, *line))),
            Node::Guard(rest) => {
                out.extend(flag.map(read_flag));
                out.push(flow(TacOp::Else));
                emit(rest, flag, out);
                out.push(flow(TacOp::EndIf));
            }
            Node::Leave => {
                out.extend(flag.map(read_flag));
                out.push(flow(TacOp::Brk));
                out.push(flow(TacOp::EndIf));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::FileId;
    use crate::env::{Env, TexRequest};
    use crate::tac::interp::{InterpOptions, run};
    use crate::tac::text;
    use crate::tac::verify::verify;

    /// Uniform number v has the value of digit v of a number.
    struct Digits(u32);

    impl Env for Digits {
        fn input(&self, _: Var, _: u32) -> [f32; 4] {
            [0.0; 4]
        }
        fn uniform(&self, var: Var, _: u32) -> [f32; 4] {
            [(self.0 / 4u32.pow(var.as_u32()) % 4) as f32; 4]
        }
        fn texture(&self, _: &TexRequest) -> [f32; 4] {
            [0.0; 4]
        }
    }

    /// Inlines and compares all inputs of three uniforms from 0 to 3; returns the flag count.
    fn check(functions: &str) -> usize {
        let text = format!(
            "stage frag\nuniform float a\nuniform float b\nuniform float c\noutput vec4 o\nlocal float x\n\
             temp bool p\nlocal float n\n{functions}"
        );
        let program = text::parse(FileId::default(), &text).unwrap();
        let inlined = inline(&program, 1000).unwrap();
        assert_eq!(verify(&inlined), []);
        let body = &inlined.funcs[inlined.main].body;
        assert!(body.iter().all(|i| !matches!(i.op, TacOp::Ret | TacOp::Call(_))));
        for digits in 0..64 {
            let expected = run(&program, &Digits(digits), InterpOptions::default()).unwrap();
            let found = run(&inlined, &Digits(digits), InterpOptions::default()).unwrap();
            assert_eq!(expected, found, "{digits}\n{}", text::print(&inlined));
        }
        inlined.vars.len() - program.vars.len()
    }

    #[test]
    fn tail_ifs_need_no_flag() {
        let f = "func f() {\nSLT p.x, a.x, float(1)\nIF p.x\nADD x.x, x.x, b.x\nRET\nENDIF\nSLT p.x, b.x, float(2)\n\
            IF p.x\nADD x.x, x.x, c.x\nELSE\nMUL x.x, x.x, c.x\nRET\nENDIF\nADD x.x, x.x, float(100)\nRET\n}\n\
            func main() {\nMOV x.x, float(5)\nCAL f\nCAL f\nMOV o.x, x.x\n}\n";
        assert_eq!(check(f), 0);
    }

    #[test]
    fn maybe_returning_sides_are_guarded() {
        let f = "func f() {\nSLT p.x, a.x, float(2)\nIF p.x\nSLT p.x, b.x, float(2)\nIF p.x\nMOV x.x, float(1)\nRET\n\
            ENDIF\nADD x.x, x.x, float(7)\nELSE\nSLT p.x, c.x, float(2)\nIF p.x\nRET\nENDIF\nENDIF\n\
            MUL x.x, x.x, float(3)\n}\nfunc main() {\nMOV x.x, c.x\nCAL f\nMOV o.y, x.x\nCAL f\nMOV o.x, x.x\n}\n";
        assert_eq!(check(f), 1);
    }

    #[test]
    fn returns_leave_all_loops() {
        let f = "func f() {\nMOV n.x, float(0)\nLOOP\nADD n.x, n.x, float(1)\nSLT p.x, float(5), n.x\nIF p.x\nBRK\nENDIF\n\
            LOOP\nADD x.x, x.x, float(1)\nSLT p.x, b.x, x.x\nIF p.x\nSEQ p.x, n.x, c.x\nIF p.x\nRET\nENDIF\nBRK\nENDIF\n\
            ENDLOOP\nADD x.x, x.x, float(0.5)\nSEQ p.x, a.x, n.x\nIF p.x\nCONT\nENDIF\nADD x.x, x.x, float(16)\nENDLOOP\n\
            ADD x.x, x.x, float(1000)\n}\nfunc main() {\nMOV x.x, a.x\nCAL f\nMOV o.x, x.x\n\
            SLT p.x, x.x, float(100)\nIF p.x\nRET\nENDIF\nMOV o.w, float(1)\n}\n";
        assert_eq!(check(f), 1);
    }

    #[test]
    fn bounds_have_errors() {
        let mut text = String::from("stage vert\ntemp float t\nfunc f0() {\nMOV t.x, t.x\n}\n");
        for i in 1..60 {
            text.push_str(&format!("func f{i}() {{\nCAL f{}\nCAL f{}\n}}\n", i - 1, i - 1));
        }
        text.push_str("func main() {\nCAL f59\n}\n");
        let program = text::parse(FileId::default(), &text).unwrap();
        let error = inline(&program, 1000).unwrap_err();
        let bound = Limits { inlined: 1000, ..Limits::default() }.exceeded("inlined-instructions");
        assert_eq!(error, InlineError::TooLarge { size: 1 << 59, bound });
        let returns = "IF p.x\nRET\nENDIF\nMOV p.x, p.x\n".repeat(900);
        let text = format!("stage vert\ntemp bool p\nfunc main() {{\n{returns}}}\n");
        let program = text::parse(FileId::default(), &text).unwrap();
        let bound = Limits::default().exceeded("flow-nesting");
        assert_eq!(inline(&program, 100_000).unwrap_err(), InlineError::TooDeep { bound });
    }
}
