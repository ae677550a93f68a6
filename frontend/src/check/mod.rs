//! The checker: syntax tree to typed tree.
//!
//! In comes what the parser made, out comes a [`Shader`] or, when something is wrong, only
//! diagnostics. Each file of this folder has one theme: names ([`scope`]), types and declarations
//! (`types`, `decl`), statements, expressions, calls, constructors, constant evaluation. After an
//! error the guilty expression gets [`Ty::Error`], which fits everywhere, so one mistake gives one
//! message.
//!
//! Follows the OpenGL Shading Language 1.10.59, 1.20.8 and ES 1.00.17; where drivers are known to
//! take more, the comment says so.

mod builtin_eval;
mod call;
mod const_eval;
mod construct;
mod decl;
mod es_limits;
mod expr;
mod function;
mod operator;
mod place;
mod scope;
mod stmt;
mod types;

use crate::Limits;
use crate::ast::{self, PragmaKind, TranslationUnit, Version};
use crate::builtins::{self, Features};
use crate::codes;
use crate::diags::Diags;
use crate::spec::{self, Section};
use crate::typed::{Expr, ExprKind, Func, FuncId, Lane, NameEntry, Shader, Ty, Var, VarId};
use bumpalo::Bump;
use ir::diag::{Diagnostic, Span};
use ir::types::Stage;
use rustc_hash::{FxHashMap, FxHashSet};
use scope::Scopes;
use std::cell::Cell;

/// The codes of what is wrong between texts, not in one: a text whose errors are all of these is a
/// legal shader object of OpenGL, which only cannot be linked by itself.
pub const LINK_ERRORS: &[&str] = &["missing-main", "undefined-function", "link-mismatch", "version-mismatch"];

/// Checks a shader. The shader is `None` exactly when the list holds an error.
pub fn check<'a>(
    arena: &'a Bump,
    unit: &TranslationUnit<'a>,
    stage: Stage,
    limits: &Limits,
) -> (Option<Shader<'a>>, Vec<Diagnostic>) {
    let checked = check_units(arena, std::slice::from_ref(unit), stage, limits);
    (checked.shader, checked.diagnostics)
}

/// What [`check_units`] makes.
#[derive(Debug)]
pub struct Checked<'a> {
    /// `None` exactly when there is an error.
    pub shader: Option<Shader<'a>>,
    /// Findings.
    pub diagnostics: Vec<Diagnostic>,
    /// Names of the functions that `main` reaches and that have no body, each an `undefined-function`
    /// among the findings; another text may define them.
    pub undefined: Vec<&'a str>,
}

/// Checks the texts of one stage together, as OpenGL links several shader objects: each has its own
/// names, but functions of one signature and variables of one name outside functions are the same.
pub fn check_units<'a>(arena: &'a Bump, units: &[TranslationUnit<'a>], stage: Stage, limits: &Limits) -> Checked<'a> {
    let Some(first) = units.first() else {
        let mut nothing = Diagnostic::error("missing-main", Span::default(), "the stage has no text");
        codes::complete(&mut nothing, Version::Glsl110);
        return Checked { shader: None, diagnostics: vec![nothing], undefined: Vec::new() };
    };
    let mut checker = Checker::new(arena, first, stage, limits);
    checker.unit(first);
    for unit in &units[1..] {
        checker.next_unit(unit);
        checker.unit(unit);
    }
    checker.finish(units)
}

/// ES fragment shaders have no default precision for float (ES 1.00 section 4.5.3).
fn default_precision(version: Version, stage: Stage) -> Option<ast::Precision> {
    (!version.is_es() || stage == Stage::Vertex).then_some(ast::Precision::High)
}

/// The state of one run.
struct Checker<'a> {
    arena: &'a Bump,
    limits: Limits,
    features: Features,
    diags: Diags,
    vars: Vec<Var<'a>>,
    funcs: Vec<Func<'a>>,
    /// The precision of each function's result as written.
    precisions: Vec<Option<ast::Precision>>,
    /// Which functions each function calls, with the place of the first call.
    calls: Vec<Vec<(FuncId, Span)>>,
    /// The pairs of `calls`.
    called: FxHashSet<(FuncId, FuncId)>,
    /// The functions that this text declares, and those of all texts.
    by_name: FxHashMap<&'a str, Vec<FuncId>>,
    linked_funcs: FxHashMap<&'a str, Vec<FuncId>>,
    /// Variables outside functions of all texts, and named structs.
    linked_vars: FxHashMap<&'a str, VarId>,
    linked_consts: FxHashMap<&'a str, VarId>,
    linked_structs: FxHashMap<&'a str, &'a crate::typed::StructTy<'a>>,
    scopes: Scopes<'a>,
    builtin_vars: FxHashMap<&'static str, VarId>,
    builtin_structs: Vec<&'a crate::typed::StructTy<'a>>,
    structs: u32,
    /// Highest constant index into an array of open size.
    max_index: FxHashMap<VarId, u32>,
    inits: Vec<(VarId, &'a Expr<'a>)>,
    initialized: FxHashMap<VarId, &'a Expr<'a>>,
    names: Vec<NameEntry<'a>>,
    current: Option<FuncId>,
    loops: usize,
    /// Indices of the open loops that ES mandates, and names that this text has used.
    loop_indices: Vec<VarId>,
    used: FxHashSet<VarId>,
    registers: u64,
    wrote_color: Option<Span>,
    wrote_data: Option<Span>,
    /// The default precision of float in each scope.
    float_precision: Vec<Option<ast::Precision>>,
    /// Lanes of all folded constants together.
    const_lanes: Cell<u64>,
    /// Where they became too many.
    const_overflow: Cell<Option<Span>>,
}

impl<'a> Checker<'a> {
    fn new(arena: &'a Bump, unit: &TranslationUnit<'a>, stage: Stage, limits: &Limits) -> Checker<'a> {
        let features = Features::new(unit.version, stage, unit.extensions);
        let mut checker = Checker {
            arena,
            limits: *limits,
            features,
            diags: Diags::new(limits),
            vars: Vec::new(),
            funcs: Vec::new(),
            precisions: Vec::new(),
            calls: Vec::new(),
            called: FxHashSet::default(),
            by_name: FxHashMap::default(),
            linked_funcs: FxHashMap::default(),
            linked_vars: FxHashMap::default(),
            linked_consts: FxHashMap::default(),
            linked_structs: FxHashMap::default(),
            scopes: Scopes::new(),
            builtin_vars: FxHashMap::default(),
            builtin_structs: Vec::new(),
            structs: 0,
            max_index: FxHashMap::default(),
            inits: Vec::new(),
            initialized: FxHashMap::default(),
            names: Vec::new(),
            current: None,
            loops: 0,
            loop_indices: Vec::new(),
            used: FxHashSet::default(),
            registers: 0,
            wrote_color: None,
            wrote_data: None,
            float_precision: vec![default_precision(unit.version, stage)],
            const_lanes: Cell::new(0),
            const_overflow: Cell::new(None),
        };
        checker.declare_builtin_structs();
        checker
    }

    fn is_es(&self) -> bool {
        self.features.version.is_es()
    }

    fn is_110(&self) -> bool {
        self.features.version == Version::Glsl110
    }

    /// Whether arrays are values: constructors, assignment, comparison, results (1.20).
    fn array_values(&self) -> bool {
        self.features.version == Version::Glsl120
    }

    fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>, rule: impl Into<Option<Section>>) {
        self.report(Diagnostic::error(code, span, message), rule);
    }

    fn warning(
        &mut self,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
        rule: impl Into<Option<Section>>,
    ) {
        self.report(Diagnostic::warning(code, span, message), rule);
    }

    /// Reports a finding with the section of its rule; without one it gets that of its code.
    fn report(&mut self, diagnostic: Diagnostic, rule: impl Into<Option<Section>>) {
        let version = self.features.version;
        self.diags.push(match rule.into() {
            Some(section) => diagnostic.note(section.note(version)),
            None => diagnostic,
        });
    }

    fn alloc(&self, kind: ExprKind<'a>, ty: Ty<'a>, span: Span) -> &'a Expr<'a> {
        self.arena.alloc(Expr::new(kind, ty, span))
    }

    fn constant(&self, lanes: &[Lane], ty: Ty<'a>, span: Span) -> &'a Expr<'a> {
        self.alloc(ExprKind::Const(self.arena.alloc_slice_copy(lanes)), ty, span)
    }

    /// What stands for an expression about which an error was reported.
    fn wrong(&self, span: Span) -> &'a Expr<'a> {
        self.alloc(ExprKind::Const(&[]), Ty::Error, span)
    }

    fn var(&self, id: VarId) -> &Var<'a> {
        &self.vars[id.0 as usize]
    }

    /// Forgets the names of the text before.
    fn next_unit(&mut self, unit: &TranslationUnit<'a>) {
        // 1.10 and 1.20 may be mixed (1.20 section 3.3), ES only goes with ES.
        if unit.version.is_es() != self.is_es() {
            let span = unit.items.first().map(|i| i.span).unwrap_or_default();
            let message = format!(
                "the texts of one stage have versions {} and {}",
                self.features.version.number(),
                unit.version.number()
            );
            self.error("version-mismatch", span, message, spec::PREPROCESSOR);
        }
        self.features = Features::new(unit.version, self.features.stage, unit.extensions);
        self.scopes = Scopes::new();
        self.by_name = FxHashMap::default();
        self.used = FxHashSet::default();
        self.float_precision = vec![default_precision(self.features.version, self.features.stage)];
        for ty in self.builtin_structs.clone() {
            self.scopes.here(ty.name).ty = Some(ty);
        }
    }

    fn unit(&mut self, unit: &TranslationUnit<'a>) {
        for item in unit.items {
            if self.diags.stopped() {
                return;
            }
            match item.kind {
                ast::ItemKind::Decl(decl) => {
                    let mut none = Vec::new();
                    self.declaration(decl, &mut none);
                }
                ast::ItemKind::Function(function) => self.function(function),
                ast::ItemKind::Error => {}
            }
            if let Some(span) = self.const_overflow.get() {
                let message = format!("all constants together have more than {} lanes", self.limits.constant_lanes);
                self.diags.fatal(self.limits.error("constant-lanes", span, message));
            }
        }
    }

    fn finish(mut self, units: &[TranslationUnit<'a>]) -> Checked<'a> {
        self.size_open_arrays();
        let main = self.find_main(units);
        self.check_recursion();
        let undefined = main.map_or(Vec::new(), |main| self.check_bodies(main));
        if let (Some(color), Some(data)) = (self.wrote_color, self.wrote_data) {
            let diagnostic =
                Diagnostic::error("both-color-outputs", data, "`gl_FragColor` and `gl_FragData` are both written")
                    .label(color, "`gl_FragColor` is written here");
            self.report(diagnostic, spec::FRAGMENT_OUTPUTS);
        }
        let version = self.features.version;
        let main = match main {
            Some(main) if !self.diags.has_errors() => main,
            _ => return Checked { shader: None, diagnostics: self.diags.into_vec(version), undefined },
        };
        let shader = Shader {
            stage: self.features.stage,
            version: units.iter().map(|u| u.version.number()).max().unwrap_or(version.number()),
            vars: self.vars,
            funcs: self.funcs,
            inits: self.inits,
            main,
            names: self.names,
            invariant_all: units.iter().flat_map(|u| u.pragmas).any(|p| p.kind == PragmaKind::InvariantAll),
        };
        Checked { shader: Some(shader), diagnostics: self.diags.into_vec(version), undefined }
    }

    /// Arrays without a size get the one that their largest index needs (1.10 section 4.1.9).
    fn size_open_arrays(&mut self) {
        for i in 0..self.vars.len() {
            if let Ty::Array(elem, 0) = self.vars[i].ty {
                let len = self.max_index.get(&VarId(i as u32)).map_or(1, |m| m + 1);
                self.vars[i].ty = Ty::Array(elem, len);
                self.registers += self.vars[i].ty.regs();
                if self.registers > self.limits.registers as u64 {
                    let span = self.vars[i].span;
                    self.too_many_registers(span);
                    return;
                }
            }
        }
    }

    fn too_many_registers(&mut self, span: Span) {
        let message = format!("the variables need more than {} registers", self.limits.registers);
        self.diags.fatal(self.limits.error("variable-registers", span, message));
    }

    fn find_main(&mut self, units: &[TranslationUnit<'a>]) -> Option<FuncId> {
        let main = self.linked_funcs.get("main").and_then(|ids| ids.first()).copied();
        let defined = main.filter(|id| self.funcs[id.0 as usize].body.is_some());
        if defined.is_none() && !self.diags.has_errors() {
            let span = units.last().and_then(|u| u.items.last()).map(|i| i.span).unwrap_or_default();
            self.error("missing-main", span, "the shader has no function `main`", spec::FUNCTIONS);
        }
        defined
    }

    fn check_recursion(&mut self) {
        let count = self.funcs.len();
        let mut state = vec![0u8; count]; // 0 new, 1 on the path, 2 done
        for start in 0..count {
            let mut stack = if state[start] == 0 { vec![(start, 0)] } else { continue };
            state[start] = 1;
            while let Some((func, next)) = stack.last_mut() {
                let Some(&(callee, span)) = self.calls[*func].get(*next) else {
                    state[*func] = 2;
                    stack.pop();
                    continue;
                };
                *next += 1;
                let callee = callee.0 as usize;
                match state[callee] {
                    0 => {
                        state[callee] = 1;
                        stack.push((callee, 0));
                    }
                    1 => {
                        let message =
                            format!("`{}` calls itself, directly or through other functions", self.funcs[callee].name);
                        self.error("recursion", span, message, spec::FUNCTIONS);
                    }
                    _ => {}
                }
            }
        }
    }

    /// Reaching a function without a body is an error.
    fn check_bodies(&mut self, main: FuncId) -> Vec<&'a str> {
        let mut undefined = Vec::new();
        let mut reached = vec![false; self.funcs.len()];
        let mut work = vec![main.0 as usize];
        reached[main.0 as usize] = true;
        while let Some(func) = work.pop() {
            for (callee, span) in self.calls[func].clone() {
                let at = callee.0 as usize;
                if std::mem::replace(&mut reached[at], true) {
                    continue;
                }
                if self.funcs[at].body.is_none() {
                    let message = format!("`{}` is called but has no body", self.funcs[at].name);
                    let diagnostic = Diagnostic::error("undefined-function", span, message)
                        .label(self.funcs[at].span, "declared here");
                    self.report(diagnostic, spec::FUNCTIONS);
                    undefined.push(self.funcs[at].name);
                }
                work.push(at);
            }
        }
        undefined
    }

    /// All names that may stand where a variable is expected.
    fn visible_names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.scopes.visible_vars().map(str::to_string).collect();
        names.extend(builtins::variables::names(&self.features).map(str::to_string));
        names.sort();
        names.dedup();
        names
    }
}
