//! What a TAC program must fulfil. Programs from callers go through [`verify`] first; everything
//! behind it (text, interpreter, inliner, SSA) relies on these invariants.
//!
//! 1. `main` and every function and variable that is named exist.
//! 2. Declarations: 1 to 4 lanes, 1 to [`MAX_ELEMS`] elements (together bounded
//!    by [`Limits::elems`]), `cols` divides the elements, names are unique, initial values belong to
//!    uniforms and are one literal of the variable's lanes an element, attributes belong to the
//!    vertex stage. Only attributes and varyings have locations, below [`MAX_ELEMS`], and no two of
//!    a kind share one.
//! 3. A constant index is below the number of elements.
//! 4. A relative index is one lane of an int variable of one element.
//! 5. Operand counts and widths fit the opcode (see [`crate::tac`]); swizzles and masks stay inside
//!    the variable's lanes, and a mask is not empty.
//! 6. Destinations are locals, temporaries or outputs of the stage; sources are not samplers.
//! 7. Kinds: conditions and logic take bools; arithmetic takes one kind, not bools; a float becomes a
//!    bool by a comparison, never by `mov`.
//! 8. `If Else EndIf` and `Loop EndLoop` nest properly, at most [`Limits::nesting`] deep; `Brk` and `Cont`
//!    stand in a loop.
//! 9. Calls form no cycle.
//! 10. Texture lookups name a sampler of their shape and have its coordinates' width: the shape's
//!     lanes, one more with a shadow reference (three for 1D shadow), four for `txp`, one bias or level.
//! 11. Only operations of the source language and core computations stand in TAC, not the leaves,
//!     lane operations and memory operations of SSA; exactly the ones with a result have a destination.
//! 12. `kil`, `ddx`, `ddy` belong to the fragment stage.
//! 13. At most [`Limits::insts`] instructions in all.

use crate::entity::{FuncId, Var};
use crate::limits::{Exceeded, Limits};
use crate::op::{Op, Shape};
use crate::tac::{Addr, Dst, Index, Inst, Program, Src, TacOp, TexRef, VarDecl, VarKind};
use crate::types::{Scalar, Stage, Type};
use rustc_hash::FxHashSet;
use std::fmt;

/// Most elements of one variable.
pub const MAX_ELEMS: u32 = 1 << 16;
/// After that many errors the verifier stops.
pub const MAX_ERRORS: usize = 100;

/// A broken invariant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TacError {
    /// Its number in the module's list.
    pub rule: u32,
    /// The function, unless it is about the program or a declaration.
    pub func: Option<FuncId>,
    /// The instruction's index in the function.
    pub inst: Option<usize>,
    /// Source line, 0 when none.
    pub line: u32,
    /// What is wrong.
    pub message: String,
    /// The bound that was met, when it is about one.
    pub bound: Option<Exceeded>,
}

impl fmt::Display for TacError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TAC invariant {}", self.rule)?;
        if let Some(func) = self.func {
            write!(f, ", {func}")?;
        }
        if let Some(inst) = self.inst {
            write!(f, ", instruction {inst}")?;
        }
        if self.line != 0 {
            write!(f, ", line {}", self.line)?;
        }
        write!(f, ": {}", self.message)?;
        self.bound.map_or(Ok(()), |bound| write!(f, "; {bound}"))
    }
}

impl std::error::Error for TacError {}

/// Checks all invariants; an empty list means the program is legal.
pub fn verify(program: &Program) -> Vec<TacError> {
    verify_within(program, &Limits::default())
}

/// [`verify`] with other bounds.
pub fn verify_within(program: &Program, limits: &Limits) -> Vec<TacError> {
    let mut check = Checker { program, limits, errors: Vec::new(), func: None, inst: None, line: 0 };
    check.declarations();
    check.functions();
    if check.errors.is_empty()
        && let Err(func) = call_order(program)
    {
        check.func = Some(func);
        check.inst = None;
        check.line = program.funcs[func].line;
        check.error(9, format!("function `{}` calls itself, directly or through others", program.funcs[func].name));
    }
    check.errors
}

/// The functions that `main` reaches, callees before callers; or a function that is part of a cycle
/// of calls. Every call's target must exist.
pub fn call_order(program: &Program) -> Result<Vec<FuncId>, FuncId> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut states = vec![State::New; program.funcs.len()];
    let callees = |f: FuncId| -> Vec<FuncId> {
        let mut all: Vec<FuncId> = program.funcs[f].body.iter().filter_map(call_target).collect();
        all.dedup();
        all
    };
    let mut order = Vec::new();
    let mut stack = vec![(program.main, callees(program.main), 0)];
    states[program.main.as_u32() as usize] = State::Open;
    while let Some((func, calls, next)) = stack.last_mut() {
        let Some(&callee) = calls.get(*next) else {
            states[func.as_u32() as usize] = State::Done;
            order.push(*func);
            stack.pop();
            continue;
        };
        *next += 1;
        let state = &mut states[callee.as_u32() as usize];
        match *state {
            State::New => {
                *state = State::Open;
                stack.push((callee, callees(callee), 0));
            }
            State::Open => return Err(callee),
            State::Done => {}
        }
    }
    Ok(order)
}

fn call_target(inst: &Inst) -> Option<FuncId> {
    match inst.op {
        TacOp::Call(func) => Some(func),
        _ => None,
    }
}

struct Checker<'a> {
    program: &'a Program,
    limits: &'a Limits,
    errors: Vec<TacError>,
    func: Option<FuncId>,
    inst: Option<usize>,
    line: u32,
}

impl<'a> Checker<'a> {
    fn error(&mut self, rule: u32, message: impl Into<String>) {
        if self.errors.len() < MAX_ERRORS {
            let (message, bound) = (message.into(), None);
            self.errors.push(TacError { rule, func: self.func, inst: self.inst, line: self.line, message, bound });
        }
    }

    fn too_much(&mut self, rule: u32, bound: &str, message: String) {
        let before = self.errors.len();
        self.error(rule, message);
        if let Some(error) = self.errors.get_mut(before) {
            error.bound = Some(self.limits.exceeded(bound));
        }
    }

    fn declarations(&mut self) {
        let program = self.program;
        let mut names = FxHashSet::default();
        let mut total = 0u64;
        for (var, decl) in program.vars.iter() {
            self.line = decl.line;
            if !(1..=4).contains(&decl.ty.lanes) {
                self.error(2, format!("{var} has {} lanes", decl.ty.lanes));
            }
            if decl.elems == 0 || decl.elems > MAX_ELEMS {
                self.error(2, format!("`{}` has {} elements; the bounds are 1 and {MAX_ELEMS}", decl.name, decl.elems));
            }
            if decl.cols == 0 || decl.elems % decl.cols != 0 {
                self.error(2, format!("`{}`: {} columns in {} elements", decl.name, decl.cols, decl.elems));
            }
            total += u64::from(decl.elems);
            if !names.insert(decl.name.as_str()) {
                self.error(2, format!("two variables are called `{}`", decl.name));
            }
            if decl.kind == VarKind::Attribute && program.stage != Stage::Vertex {
                self.error(2, format!("attribute `{}` in the fragment stage", decl.name));
            }
            let fits = decl.init.len() == decl.elems as usize && decl.init.iter().all(|l| l.ty.lanes == decl.ty.lanes);
            let legal = decl.init.is_empty() || (decl.kind == VarKind::Uniform && fits);
            if !legal {
                self.error(2, format!("initial values of `{}` do not fit it", decl.name));
            }
        }
        self.locations();
        self.line = 0;
        if total > self.limits.elems as u64 {
            self.too_much(2, "program-registers", format!("all variables together have {total} elements"));
        }
        if program.funcs.get(program.main).is_none() {
            self.error(1, format!("the entry {} does not exist", program.main));
        }
    }

    fn locations(&mut self) {
        let located = self.program.vars.values().filter_map(|d| d.location.map(|first| (first, d)));
        let mut ranges: Vec<(u32, u32, &VarDecl)> = Vec::new();
        for (first, decl) in located {
            self.line = decl.line;
            let end = first.saturating_add(decl.elems);
            if end > MAX_ELEMS {
                self.error(2, format!("`{}` has location {first}, the bound is {MAX_ELEMS}", decl.name));
            } else if !matches!(decl.kind, VarKind::Attribute | VarKind::Varying) {
                self.error(2, format!("`{}` has a location, but is no attribute or varying", decl.name));
            } else {
                ranges.push((first, end, decl));
            }
        }
        // attributes and varyings count apart
        ranges.sort_by_key(|r| (r.2.kind, r.0, r.1));
        for pair in ranges.windows(2).filter(|w| w[1].2.kind == w[0].2.kind && w[1].0 < w[0].1) {
            self.line = pair[1].2.line;
            self.error(2, format!("`{}` and `{}` share location {}", pair[0].2.name, pair[1].2.name, pair[1].0));
        }
    }

    fn functions(&mut self) {
        let mut names = FxHashSet::default();
        let total: usize = self.program.funcs.values().map(|f| f.body.len()).sum();
        if total > self.limits.insts {
            self.too_much(13, "instructions", format!("{total} instructions"));
            return;
        }
        for (id, func) in self.program.funcs.iter() {
            (self.func, self.inst, self.line) = (Some(id), None, func.line);
            if !names.insert(func.name.as_str()) {
                self.error(1, format!("two functions are called `{}`", func.name));
            }
            for &param in &func.params {
                if self.program.vars.get(param).is_none() {
                    self.error(1, format!("parameter {param} does not exist"));
                }
            }
            let mut open: Vec<TacOp> = Vec::new();
            let mut loops = 0usize;
            for (index, inst) in func.body.iter().enumerate() {
                if self.errors.len() >= MAX_ERRORS {
                    return;
                }
                (self.inst, self.line) = (Some(index), inst.line);
                self.structure(inst.op, &mut open, &mut loops);
                self.instruction(inst);
            }
            if let Some(op) = open.last() {
                (self.inst, self.line) = (None, func.line);
                self.error(8, format!("{op:?} is not closed at the end of `{}`", func.name));
            }
        }
        (self.func, self.inst, self.line) = (None, None, 0);
    }

    fn structure(&mut self, op: TacOp, open: &mut Vec<TacOp>, loops: &mut usize) {
        match op {
            TacOp::If | TacOp::Loop => {
                *loops += usize::from(op == TacOp::Loop);
                open.push(op);
                if open.len() == self.limits.nesting + 1 {
                    self.too_much(8, "flow-nesting", format!("nesting is deeper than {}", self.limits.nesting));
                }
            }
            TacOp::Else => match open.last_mut() {
                Some(top @ TacOp::If) => *top = TacOp::Else,
                _ => self.error(8, "`Else` without `If`"),
            },
            TacOp::EndIf => match open.pop() {
                Some(TacOp::If | TacOp::Else) => {}
                other => {
                    open.extend(other);
                    self.error(8, "`EndIf` without `If`");
                }
            },
            TacOp::EndLoop => match open.pop() {
                Some(TacOp::Loop) => *loops -= 1,
                other => {
                    open.extend(other);
                    self.error(8, "`EndLoop` without `Loop`");
                }
            },
            TacOp::Brk | TacOp::Cont if *loops == 0 => self.error(8, format!("{op:?} outside a loop")),
            _ => {}
        }
    }

    fn instruction(&mut self, inst: &Inst) {
        let program = self.program;
        match inst.op {
            TacOp::Op(op) => {
                if inst.dst.is_none() != (op == Op::Kil) || !stands_in_tac(op) {
                    self.error(11, format!("`{op}` cannot stand here like this"));
                    return;
                }
                if program.stage != Stage::Fragment && matches!(op, Op::Kil | Op::Ddx | Op::Ddy) {
                    self.error(12, format!("`{op}` in the vertex stage"));
                }
                let dst = inst.dst.as_ref().map(|d| self.dst(d));
                let srcs: Vec<Option<Type>> = inst.srcs.iter().map(|s| self.src(s)).collect();
                if srcs.len() != op.arity().unwrap_or(usize::MAX) {
                    self.error(5, format!("`{op}` with {} operands", srcs.len()));
                    return;
                }
                let Some(srcs) = srcs.into_iter().collect::<Option<Vec<Type>>>() else { return };
                match dst {
                    Some(Some(dst)) => self.operation(op, dst, &srcs),
                    Some(None) => {}
                    None => {
                        if srcs[0].scalar != Scalar::Float {
                            self.error(7, "`kil` takes floats");
                        }
                    }
                }
            }
            TacOp::Tex(op, tex) => {
                let Some(dst) = &inst.dst else {
                    self.error(11, "a texture lookup without a destination");
                    return;
                };
                self.texture(op, tex, dst, &inst.srcs);
            }
            TacOp::If => {
                self.no_dst(inst, 1);
                if let Some(src) = inst.srcs.first()
                    && let Some(ty) = self.src(src)
                    && ty != Type::BOOL
                {
                    self.error(7, format!("`If` on {ty} instead of one bool"));
                }
            }
            TacOp::Call(func) => {
                self.no_dst(inst, 0);
                if program.funcs.get(func).is_none() {
                    self.error(1, format!("the called {func} does not exist"));
                }
            }
            _ => self.no_dst(inst, 0),
        }
    }

    fn no_dst(&mut self, inst: &Inst, srcs: usize) {
        if inst.dst.is_some() || inst.srcs.len() != srcs {
            self.error(11, format!("{:?} with a destination or {} operands", inst.op, inst.srcs.len()));
        }
    }

    fn decl(&mut self, var: Var) -> Option<&'a VarDecl> {
        let decl = self.program.vars.get(var);
        if decl.is_none() {
            self.error(1, format!("{var} does not exist"));
        }
        decl
    }

    fn index(&mut self, decl: &VarDecl, index: Index) {
        match index.rel {
            None if index.offset >= decl.elems => {
                self.error(3, format!("element {} of `{}`, which has {}", index.offset, decl.name, decl.elems));
            }
            None => {}
            Some((rel, lane)) => {
                let Some(rel_decl) = self.decl(rel) else { return };
                let fits = rel_decl.ty.scalar == Scalar::Int && rel_decl.elems == 1 && lane < rel_decl.ty.lanes;
                if !fits || rel_decl.is_sampler() {
                    self.error(4, format!("lane {lane} of `{}` is no index", rel_decl.name));
                }
            }
        }
    }

    /// The type that a source yields, or none when it is broken.
    fn src(&mut self, src: &Src) -> Option<Type> {
        let ty = match src.addr {
            Addr::Lit(literal) => literal.ty,
            Addr::Var(var, index) => {
                let decl = self.decl(var)?;
                if decl.is_sampler() {
                    self.error(6, format!("sampler `{}` is read like a variable", decl.name));
                }
                self.index(decl, index);
                decl.ty
            }
        };
        if src.swz.lanes().iter().any(|&l| l >= ty.lanes) {
            self.error(5, format!("swizzle {:?} of a {ty}", src.swz));
            return None;
        }
        Some(ty.with_lanes(src.swz.len()))
    }

    /// The type of what a destination takes, or none when it is broken.
    fn dst(&mut self, dst: &Dst) -> Option<Type> {
        let decl = self.decl(dst.var)?;
        if !decl.is_local() && !decl.is_output(self.program.stage) {
            self.error(6, format!("`{}` is written", decl.name));
        }
        self.index(decl, dst.index);
        if dst.mask.0 == 0 || u32::from(dst.mask.0) >> decl.ty.lanes != 0 {
            self.error(5, format!("mask {:#b} on a {}", dst.mask.0, decl.ty));
            return None;
        }
        Some(decl.ty.with_lanes(dst.mask.count()))
    }

    fn operation(&mut self, op: Op, dst: Type, srcs: &[Type]) {
        let (dst_width, src_width) = match op.reduce_width() {
            Some(width) => (1, width),
            None => (dst.lanes, dst.lanes),
        };
        let mut widths_fit = dst.lanes == dst_width;
        for (i, src) in srcs.iter().enumerate() {
            let may_be_one = op == Op::Select && i == 0;
            widths_fit &= src.lanes == src_width || (may_be_one && src.lanes == 1);
        }
        if !widths_fit {
            self.error(5, format!("`{op}` from {srcs:?} to {dst}"));
        }
        if !kinds_fit(op, dst.scalar, &srcs.iter().map(|t| t.scalar).collect::<Vec<_>>()) {
            self.error(7, format!("`{op}` from {srcs:?} to {dst}"));
        }
    }

    fn texture(&mut self, op: Op, tex: TexRef, dst: &Dst, srcs: &[Src]) {
        let dst = self.dst(dst);
        if dst.is_some_and(|d| d.scalar != Scalar::Float) {
            self.error(7, "a texture lookup gives floats");
        }
        let srcs: Vec<Option<Type>> = srcs.iter().map(|s| self.src(s)).collect();
        if let Some(decl) = self.decl(tex.sampler) {
            if decl.kind != (VarKind::Sampler { dim: tex.dim, shadow: tex.shadow }) {
                self.error(10, format!("`{}` is no sampler of the lookup's shape", decl.name));
            }
            self.index(decl, tex.index);
        }
        let Some(srcs) = srcs.into_iter().collect::<Option<Vec<Type>>>() else { return };
        let coords = match op {
            Op::Txp => 4,
            _ => tex_coords(tex),
        };
        let extra = usize::from(matches!(op, Op::Txb | Op::Txl));
        let fits = op.shape() == Shape::Texture
            && srcs.len() == 1 + extra
            && srcs.iter().all(|t| t.scalar == Scalar::Float)
            && srcs.first().is_some_and(|t| t.lanes == coords)
            && srcs.get(1).is_none_or(|t| t.lanes == 1);
        if !fits {
            self.error(10, format!("`{op}` on {srcs:?}; coordinates need {coords} lanes"));
        }
    }
}

/// How many coordinate lanes a lookup other than `Txp` takes, its shadow reference included.
pub fn tex_coords(tex: TexRef) -> u8 {
    let lanes = tex.dim.coords();
    if tex.shadow { (lanes + 1).clamp(3, 4) } else { lanes }
}

/// Whether an opcode may stand in TAC as a value operation (or `Kil`).
fn stands_in_tac(op: Op) -> bool {
    matches!(op.shape(), Shape::Lanewise | Shape::ScalarUnit | Shape::Reduce | Shape::Normalize) || op == Op::Kil
}

/// Invariant 7.
fn kinds_fit(op: Op, dst: Scalar, srcs: &[Scalar]) -> bool {
    use Scalar::{Bool, Float, Int};
    let all = |kind: Scalar| srcs.iter().all(|&s| s == kind);
    match op {
        Op::Mov => dst != Bool || all(Bool),
        Op::Add | Op::Sub | Op::Mul | Op::Mad | Op::Min | Op::Max | Op::Neg | Op::Abs | Op::Sign => {
            dst != Bool && all(dst)
        }
        Op::Idiv => dst == Int && all(Int),
        Op::Trunc | Op::Flr | Op::Ceil => dst != Bool && all(Float),
        Op::Slt | Op::Sge => all(Float) || all(Int),
        Op::Seq | Op::Sne => all(srcs[0]),
        Op::Not | Op::And | Op::Or | Op::Xor => dst == Bool && all(Bool),
        Op::Select => srcs[0] == Bool && srcs[1] == dst && srcs[2] == dst,
        Op::Cmp => srcs[0] != Bool && srcs[1] == dst && srcs[2] == dst,
        _ => dst == Float && all(Float),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::FileId;
    use crate::tac::text;

    /// The invariants that a program of these lines breaks.
    fn broken(text: &str) -> Vec<u32> {
        let program = text::parse(FileId::default(), text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let mut rules: Vec<u32> = verify(&program).iter().map(|e| e.rule).collect();
        rules.dedup();
        rules
    }

    /// A fragment shader with these lines in `main`.
    fn in_main(lines: &str) -> String {
        format!(
            "stage frag\nuniform vec4 u[4] cols 4\nuniform int n\nuniform bool b\nsampler SHADOW1D float s1\n\
             sampler 2D float s2\noutput vec4 o\nlocal vec4 a[3]\ntemp vec3 t\ntemp int i\n\
             func main() {{\n{lines}\n}}\n"
        )
    }

    #[test]
    fn legal_programs_pass() {
        let lines = "MOV t.xz, u[1].wy\nDP3 o.y, t.xyz, a[n.x + 1].xyz\nTEX o.xyzw, t.xyz, s1, SHADOW1D\n\
            TXB t.xy, t.xy, t.z, s2, 2D\nSELECT t.xyz, b.x, t.xyz, vec3(1, 2, 3)\nKIL t.xyz\n\
            LOOP\nIF b.x\nBRK\nELSE\nCONT\nENDIF\nENDLOOP\nRET";
        assert_eq!(broken(&in_main(lines)), []);
    }

    #[test]
    fn every_invariant_is_checked() {
        let cases = [
            (3, "MOV t.xyz, a[3].xyz"),
            (4, "MOV t.xyz, a[t.x + 0].xyz"),
            (4, "MOV t.xyz, a[n.y + 0].xyz"),
            (5, "MOV t.xyz, u[0].xy"),
            (5, "MOV t.x, t.w"),
            (5, "MOV t.w, t.x"),
            (5, "DP3 t.xy, t.xyz, t.xyz"),
            (6, "MOV u[0].x, t.x"),
            (6, "MOV t.x, s2.x"),
            (7, "IF t.x\nENDIF"),
            (7, "AND i.x, i.x, i.x"),
            (7, "ADD t.x, t.x, n.x"),
            (8, "IF b.x"),
            (8, "ENDLOOP"),
            (8, "IF b.x\nELSE\nELSE\nENDIF"),
            (8, "BRK"),
            (10, "TEX o.xyzw, t.xy, s1, SHADOW1D"),
            (10, "TEX o.xyzw, t.xy, t, 2D"),
            (10, "TXP o.xyzw, t.xyz, s2, 2D"),
        ];
        for (rule, lines) in cases {
            assert_eq!(broken(&in_main(lines)), [rule], "{lines}");
        }
        let declared = |decls: &str| broken(&format!("stage vert\n{decls}\nfunc main() {{\n}}\n"));
        assert_eq!(declared("attribute vec4 a[2] at 3\nattribute vec4 b at 5\nvarying vec4 c at 3"), []);
        assert_eq!(declared("attribute vec4 a[2] at 3\nattribute vec4 b at 4"), [2]);
        assert_eq!(declared("attribute vec4 a[2] at 65535"), [2]);
        assert_eq!(declared("uniform vec4 a at 3"), [2]);
        assert_eq!(broken("stage frag\nattribute vec4 a\nfunc main() {\n}"), [2]);
        assert_eq!(broken("stage frag\nuniform vec4 a = float(1)\nfunc main() {\n}"), [2]);
        assert_eq!(broken("stage vert\ntemp float t\nfunc main() {\nDDX t.x, t.x\nKIL t.x\n}"), [12]);
        assert_eq!(broken("stage vert\nfunc f() {\nCAL g\n}\nfunc g() {\nCAL f\n}\nfunc main() {\nCAL f\n}"), [9]);
        let deep = "LOOP\n".repeat(900) + &"ENDLOOP\n".repeat(900);
        assert_eq!(broken(&in_main(&deep)), [8]);
    }

    #[test]
    fn programs_built_by_hand_are_checked_too() {
        let mut program = text::parse(FileId::default(), &in_main("MOV t.x, t.y")).unwrap();
        let main = program.main;
        program.funcs[main].body[0].op = TacOp::Op(Op::Const);
        program.funcs[main].body.push(Inst::flow(TacOp::Call(FuncId::from_u32(77)), Vec::new(), 0));
        program.funcs[main].body.push(Inst::op(Op::Mov, Dst::var(Var::from_u32(99), 0, 1), Vec::new(), 0));
        let rules: Vec<u32> = verify(&program).iter().map(|e| e.rule).collect();
        assert_eq!(rules, [11, 1, 1, 5]);
        program.main = FuncId::from_u32(5);
        assert!(verify(&program).iter().any(|e| e.rule == 1));
    }
}
