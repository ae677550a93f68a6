//! Functions: prototypes, definitions, parameters (GLSL 1.10 section 6.1).

use super::Checker;
use crate::ast::{self, Direction, FunctionHeader};
use crate::builtins;
use crate::spec;
use crate::typed::{Block, Func, FuncId, NameEntry, Role, Stmt, StmtKind, Ty, Var, VarId};
use ir::diag::{Diagnostic, Span};
use ir::types::Scalar;

impl<'a> Checker<'a> {
    /// A function without a body.
    pub(super) fn prototype(&mut self, header: &FunctionHeader<'a>) {
        if self.current.is_some() && !self.is_110() {
            let message = format!("`{}` is declared inside a function", header.name.text);
            self.error("local-function", header.span, message, spec::FUNCTIONS);
            return;
        }
        let params = self.param_vars(header);
        let before = self.funcs.len();
        let id = self.declare_function(header, params);
        if self.is_es()
            && let Some(id) = id
            && (id.0 as usize) < before
        {
            let message = format!("`{}` is declared a second time", header.name.text);
            let first = self.funcs[id.0 as usize].span;
            let diagnostic =
                Diagnostic::error("redeclared-name", header.name.span, message).label(first, "declared here first");
            self.report(diagnostic, spec::REDECLARATION);
        }
    }

    /// A function with its body.
    pub(super) fn function(&mut self, function: &ast::Function<'a>) {
        let header = &function.header;
        let params = self.param_vars(header);
        let id = self.declare_function(header, params.clone());
        if let Some(id) = id {
            let func = &mut self.funcs[id.0 as usize];
            if func.body.is_some() {
                let diagnostic = Diagnostic::error(
                    "redefined-function",
                    header.name.span,
                    format!("`{}` already has a body", header.name.text),
                )
                .label(func.span, "here");
                self.report(diagnostic, spec::FUNCTIONS);
                return;
            }
        }
        // Even a function whose header is wrong gets its body checked.
        let id = id.unwrap_or_else(|| {
            let result = Ty::Error;
            self.new_func(Func { name: header.name.text, params: &[], result, body: None, span: header.name.span })
        });
        self.current = Some(id);
        self.scopes.push_function(header.name.text);
        let precision = self.float_precision.last().copied().flatten();
        self.float_precision.push(precision);
        let mut ids = Vec::new();
        for (param, var) in header.params.iter().zip(params) {
            if param.name.is_none() {
                ids.push(self.unnamed(var));
            } else {
                match self.declare(var) {
                    Some(id) => ids.push(id),
                    None => ids.push(self.unnamed(var)),
                }
            }
        }
        // Drivers differ on whether the body opens a scope of its own; in ES it does.
        if self.is_es() {
            self.scopes.push();
        }
        let stmts = self.statements(function.body.stmts);
        if self.is_es() {
            self.scopes.pop();
        }
        self.scopes.pop();
        self.float_precision.pop();
        self.current = None;
        let result = self.funcs[id.0 as usize].result;
        if !matches!(result, Ty::Void | Ty::Error) && !always_leaves(stmts) {
            let message = format!("`{}` may end without returning a value", header.name.text);
            self.warning("missing-return", header.name.span, message, spec::CALLING_CONVENTIONS);
        }
        let func = &mut self.funcs[id.0 as usize];
        func.params = self.arena.alloc_slice_copy(&ids);
        func.body = Some(Block { stmts });
        func.span = header.name.span;
    }

    fn unnamed(&mut self, var: Var<'a>) -> VarId {
        let id = VarId(self.vars.len() as u32);
        self.vars.push(var);
        id
    }

    fn param_vars(&mut self, header: &FunctionHeader<'a>) -> Vec<Var<'a>> {
        let mut out = Vec::new();
        if header.params.len() > self.limits.parameters {
            let message = format!("`{}` has {} parameters", header.name.text, header.params.len());
            self.diags.fatal(self.limits.error("parameters", header.name.span, message));
            return out;
        }
        for param in header.params {
            let base = self.type_spec(&param.ty);
            let mut ty = self.with_array(base, param.array.as_ref());
            let span = param.name.map_or(param.span, |n| n.span);
            if ty == Ty::Void {
                self.error("void-variable", param.span, "a parameter is void", spec::FUNCTIONS);
                ty = Ty::Error;
            }
            if ty.is_unsized() {
                self.error("unsized-array", param.span, "an array parameter needs a size", spec::ARRAYS);
                ty = Ty::Error;
            }
            if param.direction != Direction::In && matches!(ty, Ty::Array(..)) && self.is_110() {
                let message =
                    "an array cannot be written as a whole before GLSL 1.20, so it can only be an `in` parameter";
                self.error("needs-version-120", span, message, spec::ASSIGNMENTS);
            }
            if param.direction != Direction::In && ty.has_sampler() {
                self.error("sampler-misuse", param.span, "a sampler parameter can only be `in`", spec::SAMPLERS);
            }
            let role = Role::Param { direction: param.direction, is_const: param.is_const.is_some() };
            out.push(Var {
                name: param.name.map_or("", |n| n.text),
                ty,
                role,
                builtin: false,
                invariant: false,
                precision: None,
                centroid: false,
                value: None,
                span,
            });
        }
        out
    }

    fn new_func(&mut self, func: Func<'a>) -> FuncId {
        let id = FuncId(self.funcs.len() as u32);
        self.funcs.push(func);
        self.calls.push(Vec::new());
        self.precisions.push(None);
        id
    }

    fn check_result(&mut self, header: &FunctionHeader<'a>) -> Ty<'a> {
        if let Some((_, span)) = header.qualifiers.storage {
            self.error("bad-result", span, "the result of a function takes no qualifier", spec::FUNCTIONS);
        }
        let result = self.type_spec(&header.result);
        let bad = if result.has_sampler() {
            "a function cannot return a sampler"
        } else if result.is_unsized() {
            "a function cannot return an array without a size"
        } else if matches!(result, Ty::Array(..)) && !self.array_values() {
            "a function cannot return an array before GLSL 1.20"
        } else if self.is_es() && result.has_array() {
            "a function cannot return a struct with an array in it"
        } else {
            return result;
        };
        self.error("bad-result", header.result.span, bad, spec::FUNCTIONS);
        Ty::Error
    }

    /// The precision of a result of floats, written or by default.
    fn result_precision(&self, header: &FunctionHeader<'a>, result: Ty<'a>) -> Option<ast::Precision> {
        let default = self.float_precision.last().copied().flatten();
        if result.scalar() == Some(Scalar::Float) { header.result.precision.or(default) } else { None }
    }

    /// Enters the function, or finds its earlier declaration.
    fn declare_function(&mut self, header: &FunctionHeader<'a>, params: Vec<Var<'a>>) -> Option<FuncId> {
        let name = header.name;
        let result = self.check_result(header);
        self.check_name(&name);
        if name.text == "main" {
            if result != Ty::Void && !result.is_error() {
                self.error("bad-main", name.span, "`main` must return void", spec::FUNCTIONS);
            }
            if !params.is_empty() {
                self.error("bad-main", name.span, "`main` takes no parameters", spec::FUNCTIONS);
            }
        }
        if self.is_es()
            && builtins::is_function_name(name.text)
            && !builtins::overloads(name.text, &self.features).is_empty()
        {
            let message = format!("`{}` is a built-in function and cannot be declared again", name.text);
            self.error("redefined-builtin", name.span, message, spec::BUILTIN_FUNCTIONS);
        }
        let functions_apart = self.is_110();
        let meaning = self.scopes.global(name.text);
        if meaning.ty.is_some() || (meaning.var.is_some() && !functions_apart) {
            let before = meaning.span;
            let message = format!("`{}` is already declared in this scope", name.text);
            let diagnostic =
                Diagnostic::error("redeclared-name", name.span, message).label(before, "declared here first");
            self.report(diagnostic, spec::REDECLARATION);
            return None;
        }
        if !meaning.func {
            meaning.func = true;
            if meaning.var.is_none() {
                meaning.span = name.span;
            }
        }
        let known = self.linked_funcs.get(name.text).cloned().unwrap_or_default();
        let is_full = known.len() >= self.limits.overloads;
        for id in known {
            let func = self.funcs[id.0 as usize];
            let same = func.params.len() == params.len()
                && func.params.iter().zip(&params).all(|(&p, q)| self.var(p).ty == q.ty);
            if !same {
                continue;
            }
            let before = func.span;
            if func.result != result && !result.is_error() && !func.result.is_error() {
                let message = format!("`{}` returns {result} here and {} before", name.text, func.result);
                let diagnostic =
                    Diagnostic::error("mismatched-prototype", name.span, message).label(before, "declared here first");
                self.report(diagnostic, spec::FUNCTIONS);
                return None;
            }
            if self.is_es() && self.precisions[id.0 as usize] != self.result_precision(header, result) {
                let message = format!("the result of `{}` has another precision than declared before", name.text);
                let diagnostic =
                    Diagnostic::error("mismatched-prototype", name.span, message).label(before, "declared here first");
                self.report(diagnostic, spec::PRECISION);
                return None;
            }
            let plain = |role| match role {
                Role::Param { direction, .. } => direction,
                _ => Direction::In,
            };
            if func.params.iter().zip(&params).any(|(&p, q)| plain(self.var(p).role) != plain(q.role)) {
                let message = format!("the parameters of `{}` travel otherwise than declared before", name.text);
                let diagnostic =
                    Diagnostic::error("mismatched-prototype", name.span, message).label(before, "declared here first");
                self.report(diagnostic, spec::FUNCTIONS);
                return None;
            }
            // Declared by an earlier text of the stage only: now this one knows it too.
            let here = self.by_name.entry(name.text).or_default();
            if !here.contains(&id) {
                here.push(id);
            }
            return Some(id);
        }
        if is_full {
            let message = format!("more than {} functions are called `{}`", self.limits.overloads, name.text);
            self.diags.fatal(self.limits.error("overloads", name.span, message));
            return None;
        }
        let types: Vec<String> = params.iter().map(|p| format!("{} {}", p.role.word(), p.ty)).collect();
        self.names.push(NameEntry {
            name: name.text,
            kind: "function",
            ty: format!("{result} ({})", types.join(", ")),
            scope: "global".into(),
            span: name.span,
        });
        let ids: Vec<VarId> = params.into_iter().map(|p| self.unnamed(p)).collect();
        let params = self.arena.alloc_slice_copy(&ids);
        let id = self.new_func(Func { name: name.text, params, result, body: None, span: name.span });
        self.precisions[id.0 as usize] = self.result_precision(header, result);
        self.by_name.entry(name.text).or_default().push(id);
        self.linked_funcs.entry(name.text).or_default().push(id);
        Some(id)
    }

    /// Notes a call for the call graph.
    pub(super) fn note_call(&mut self, callee: FuncId, span: Span) {
        if let Some(current) = self.current
            && self.called.insert((current, callee))
        {
            self.calls[current.0 as usize].push((callee, span));
        }
    }
}

/// Whether control cannot reach the end of the statements.
fn always_leaves(stmts: &[Stmt<'_>]) -> bool {
    stmts.iter().any(|s| match s.kind {
        StmtKind::Return(_) | StmtKind::Discard => true,
        StmtKind::Block(b) => always_leaves(b.stmts),
        StmtKind::If { then, otherwise: Some(otherwise), .. } => {
            always_leaves(then.stmts) && always_leaves(otherwise.stmts)
        }
        // Endless, or its end is hard to tell: no warning.
        StmtKind::Loop(l) => l.cond.is_none() || l.cond.is_some_and(|c| c.constant().is_some()),
        _ => false,
    })
}
