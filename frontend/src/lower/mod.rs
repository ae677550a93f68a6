//! The lowering: typed tree to three-address code.
//!
//! In comes a checked [`Shader`], out comes an [`ir::tac::Program`] that fulfils the invariants of
//! `ir::tac::verify`. Each file has one theme: where variables live (`layout`, `place`), emitting
//! (`emit`), expressions, arithmetic and matrices, constructors, calls, statements, built-in
//! functions, texture reads.
//!
//! - A variable is split into its *leaves*: one TAC variable for each field that is no struct, with
//!   all elements and columns as its registers. Interface variables are declared in the order of the
//!   text, built-ins and locals when they are first used.
//! - A value is a list of sources, one a register, in the order of [`crate::typed::Ty`].
//! - Operands are evaluated from left to right; one that a later operand may change is copied first.
//! - A function is lowered once and called; its parameters are variables. One with sampler
//!   parameters is lowered once for each set of samplers, because a texture read names its sampler.
//! - A matrix product is vector multiplies and adds by columns, as in the paper.
//!
//! Bounds: instructions (error `program-too-large`) and registers of all variables and temporaries
//! (error `too-many-registers`), see [`ir::limits`]. Recursion follows the tree, whose height the parser
//! bounds.

mod arith;
mod builtin;
mod call;
mod construct;
mod emit;
mod expr;
mod geometric;
mod layout;
mod place;
mod stmt;
mod texture;
mod trig;

use crate::typed::{self, Expr, Role, Shader, Ty, VarId};
use cranelift_entity::PrimaryMap;
use ir::diag::{Diagnostic, SourceMap, Span, line_starts};
use ir::entity::{FuncId, Var};
use ir::limits::Limits;
use ir::tac::{FuncDecl, Inst, Program, Src, TacOp, VarDecl, VarKind};
use ir::types::{Stage, TexDim};
use layout::Storage;
use place::Place;
use rustc_hash::{FxHashMap, FxHashSet};

/// A bound was met; the lowerer holds the error.
struct Stop;

type R<T> = Result<T, Stop>;

/// A value: one source a register.
#[derive(Clone)]
struct Val<'a> {
    ty: Ty<'a>,
    regs: Vec<Src>,
}

/// A loop around what is being lowered: what `continue` must do first.
#[derive(Clone, Copy)]
struct LoopCtx<'a> {
    step: Option<&'a Expr<'a>>,
    test: Option<&'a Expr<'a>>,
}

/// One body to be lowered: a function for one set of samplers.
struct Instance<'a> {
    func: typed::FuncId,
    tac: FuncId,
    /// Parameters that stand for the caller's place.
    aliases: Vec<(VarId, Place<'a>)>,
    /// The storage of each other parameter.
    params: Vec<(VarId, usize)>,
    result: Option<usize>,
}

/// Names that differ: `x`, `x.2`, `x.3`.
#[derive(Default)]
struct Names {
    taken: FxHashSet<String>,
    /// The last number behind a name, so that the next one is found at once.
    numbers: FxHashMap<String, u32>,
}

impl Names {
    /// The wish, or the wish with a number.
    fn fresh(&mut self, wish: &str) -> String {
        if self.taken.insert(wish.to_owned()) {
            return wish.to_owned();
        }
        let n = self.numbers.entry(wish.to_owned()).or_insert(1);
        loop {
            *n += 1;
            let name = format!("{wish}.{n}");
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}

struct Lowerer<'s, 'a> {
    shader: &'s Shader<'a>,
    limits: Limits,
    vars: PrimaryMap<Var, VarDecl>,
    funcs: PrimaryMap<FuncId, FuncDecl>,
    names: Names,
    func_names: Names,
    /// Names of several functions.
    overloaded: FxHashSet<&'a str>,
    temps: u32,
    /// Numbers that a temporary's name must not have, because the text has a variable of it.
    taken: Vec<u32>,
    storages: Vec<Storage<'a>>,
    globals: FxHashMap<VarId, usize>,
    locals: FxHashMap<VarId, usize>,
    aliases: FxHashMap<VarId, Place<'a>>,
    /// Constant arrays that are indexed by variables, by the address of their lanes.
    const_arrays: FxHashMap<(usize, usize), usize>,
    prologue: Vec<Inst>,
    body: Vec<Inst>,
    loops: Vec<LoopCtx<'a>>,
    result: Option<usize>,
    instances: Vec<Instance<'a>>,
    /// The instance of a function with the text of its aliases.
    by_func: FxHashMap<(typed::FuncId, String), usize>,
    line: u32,
    span: Span,
    line_starts: Vec<Vec<u32>>,
    insts: usize,
    elems: u64,
    error: Option<Diagnostic>,
}

/// Lowers a checked shader. The error is about a bound.
pub fn lower(shader: &Shader<'_>, sources: &SourceMap, limits: &Limits) -> Result<Program, Diagnostic> {
    let mut lowerer = Lowerer::new(shader, sources, limits);
    match lowerer.program() {
        Ok(program) => Ok(program),
        Err(Stop) => Err(lowerer
            .error
            .unwrap_or_else(|| Diagnostic::error("program-too-large", Span::default(), "the program exceeds a bound"))),
    }
}

impl<'s, 'a> Lowerer<'s, 'a> {
    fn new(shader: &'s Shader<'a>, sources: &SourceMap, limits: &Limits) -> Lowerer<'s, 'a> {
        let number = |name: &str| name.strip_prefix('t')?.parse::<u32>().ok();
        let mut taken: Vec<u32> = shader.vars.iter().filter_map(|v| number(v.name)).collect();
        taken.sort_unstable();
        let mut seen = FxHashSet::default();
        let overloaded = shader.funcs.iter().map(|f| f.name).filter(|&name| !seen.insert(name)).collect();
        Lowerer {
            shader,
            limits: *limits,
            vars: PrimaryMap::new(),
            funcs: PrimaryMap::new(),
            names: Names::default(),
            func_names: Names::default(),
            overloaded,
            temps: 0,
            taken,
            storages: Vec::new(),
            globals: FxHashMap::default(),
            locals: FxHashMap::default(),
            aliases: FxHashMap::default(),
            const_arrays: FxHashMap::default(),
            prologue: Vec::new(),
            body: Vec::new(),
            loops: Vec::new(),
            result: None,
            instances: Vec::new(),
            by_func: FxHashMap::default(),
            line: 0,
            span: Span::default(),
            line_starts: sources.files().iter().map(|f| line_starts(&f.text)).collect(),
            insts: 0,
            elems: 0,
            error: None,
        }
    }

    /// Ends the lowering at a bound.
    fn too_much<T>(&mut self, bound: &str, message: String) -> R<T> {
        let error = self.limits.error(bound, self.span, message);
        self.error.get_or_insert(error);
        Err(Stop)
    }

    fn stop<T>(&mut self, code: &'static str, message: String) -> R<T> {
        self.error.get_or_insert(Diagnostic::error(code, self.span, message));
        Err(Stop)
    }

    /// The line of a span's start.
    fn line_of(&self, span: Span) -> u32 {
        self.line_starts.get(span.file.0 as usize).map_or(0, |s| s.partition_point(|&start| start <= span.lo) as u32)
    }

    /// Sets the place that instructions and errors carry; gives the one before.
    fn enter(&mut self, span: Span) -> (u32, Span) {
        let before = (self.line, self.span);
        if span != Span::default() {
            (self.line, self.span) = (self.line_of(span), span);
        }
        before
    }

    fn leave(&mut self, before: (u32, Span)) {
        (self.line, self.span) = before;
    }

    fn program(&mut self) -> R<Program> {
        self.interface()?;
        let main = self.instance(self.shader.main, Vec::new())?;
        let inits = self.shader.inits.clone();
        for (var, init) in inits {
            let before = self.enter(init.span);
            self.initialize(var, init)?;
            self.leave(before);
        }
        let init_code = std::mem::take(&mut self.body);
        let mut next = 0;
        let mut main_body = Vec::new();
        while next < self.instances.len() {
            let body = self.instance_body(next)?;
            let tac = self.instances[next].tac;
            if next == main {
                main_body = body;
            } else {
                self.funcs[tac].body = body;
            }
            next += 1;
        }
        let main = self.instances[main].tac;
        let mut code = std::mem::take(&mut self.prologue);
        code.extend(init_code);
        code.extend(main_body);
        self.funcs[main].body = code;
        Ok(Program {
            stage: self.shader.stage,
            version: self.shader.version,
            vars: std::mem::take(&mut self.vars),
            funcs: std::mem::take(&mut self.funcs),
            main,
        })
    }

    /// Declares what the user declares between stages and to the outside, in order, so that these
    /// keep their names and numbers.
    fn interface(&mut self) -> R<()> {
        for (i, var) in self.shader.vars.iter().enumerate() {
            if !var.builtin && matches!(var.role, Role::Attribute | Role::Uniform | Role::Varying) {
                let storage = self.global_storage(VarId(i as u32));
                for leaf in 0..var.ty.leaves() {
                    self.leaf_var(storage, leaf)?;
                }
            }
        }
        Ok(())
    }

    fn instance_body(&mut self, index: usize) -> R<Vec<Inst>> {
        let Instance { func, aliases, params, result, .. } = &self.instances[index];
        self.aliases = aliases.iter().cloned().collect();
        self.locals = params.iter().copied().collect();
        self.result = *result;
        let func = *self.shader.func(*func);
        let before = self.enter(func.span);
        if let Some(body) = func.body {
            self.block(&body)?;
        }
        self.leave(before);
        Ok(std::mem::take(&mut self.body))
    }

    /// The kind of a variable's TAC variables.
    fn var_kind(&self, role: Role) -> VarKind {
        match role {
            Role::Attribute => VarKind::Attribute,
            Role::Uniform => VarKind::Uniform,
            Role::Varying | Role::Input => VarKind::Varying,
            Role::Output => VarKind::Output,
            _ => VarKind::Local,
        }
    }

    /// A name that no other variable has.
    fn unique_name(&mut self, wish: &str) -> String {
        let wish = if wish.is_empty() { "unnamed" } else { wish };
        self.names.fresh(wish)
    }

    fn is_fragment(&self) -> bool {
        self.shader.stage == Stage::Fragment
    }

    fn flow(&mut self, op: TacOp, srcs: Vec<Src>) -> R<()> {
        let line = self.line;
        self.push(Inst::flow(op, srcs, line))
    }
}

/// The shape that a sampler type reads, and whether it compares.
fn sampler_shape(kind: crate::ast::SamplerKind) -> (TexDim, bool) {
    use crate::ast::SamplerKind::*;
    match kind {
        D1 => (TexDim::D1, false),
        D2 => (TexDim::D2, false),
        D3 => (TexDim::D3, false),
        Cube => (TexDim::Cube, false),
        D1Shadow => (TexDim::D1, true),
        D2Shadow => (TexDim::D2, true),
        Rect => (TexDim::Rect, false),
        RectShadow => (TexDim::Rect, true),
    }
}
