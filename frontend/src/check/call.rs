//! Calls: which function a name and its arguments mean (GLSL 1.10 section 6.1, 1.20 section 6.1).

use super::Checker;
use crate::ast::{self, Direction, Name};
use crate::builtins::{self, Signature};
use crate::spec;
use crate::suggest;
use crate::typed::{Expr, ExprKind, FuncId, Role, Ty};
use ir::diag::{Diagnostic, Span};

/// How many candidates an error lists.
const LISTED: usize = 8;

#[derive(Clone)]
enum Candidate {
    User(FuncId),
    Builtin(Signature),
}

/// What an argument must fit.
#[derive(Clone, Copy)]
struct Slot<'a> {
    ty: Ty<'a>,
    direction: Direction,
}

impl<'a> Checker<'a> {
    /// `f(args)` where `f` is no type.
    pub(super) fn call(&mut self, callee: Name<'a>, args: &'a [ast::Expr<'a>], span: Span) -> &'a Expr<'a> {
        let args: Vec<&'a Expr<'a>> = args.iter().map(|a| self.expr(a)).collect();
        if args.iter().any(|a| a.ty.is_error()) {
            return self.wrong(span);
        }
        if !self.is_110()
            && let Some(before) = self.scopes.hides_function(callee.text)
        {
            let diagnostic =
                Diagnostic::error("not-a-function", callee.span, format!("`{}` is not a function here", callee.text))
                    .label(before, "declared here");
            self.report(diagnostic, spec::SCOPING);
            return self.wrong(span);
        }
        let candidates = self.candidates(callee.text);
        if candidates.is_empty() {
            self.unknown_function(callee);
            return self.wrong(span);
        }
        let Some(found) = self.choose(callee, &candidates, &args, span) else { return self.wrong(span) };
        self.finish_call(found, args, span)
    }

    fn candidates(&self, name: &str) -> Vec<Candidate> {
        let users = self.by_name.get(name).cloned().unwrap_or_default();
        let mut out: Vec<Candidate> = users.iter().map(|&id| Candidate::User(id)).collect();
        for sig in builtins::overloads(name, &self.features) {
            let replaced = users.iter().any(|&id| {
                let params = self.funcs[id.0 as usize].params;
                params.len() == sig.params.len() && params.iter().zip(&sig.params).all(|(&p, &q)| self.var(p).ty == q)
            });
            if !replaced {
                out.push(Candidate::Builtin(sig));
            }
        }
        out
    }

    fn slots(&self, candidate: &Candidate) -> Vec<Slot<'a>> {
        match candidate {
            Candidate::User(id) => {
                let params = self.funcs[id.0 as usize].params.iter();
                params
                    .map(|&p| {
                        let var = self.var(p);
                        let direction = match var.role {
                            Role::Param { direction, .. } => direction,
                            _ => Direction::In,
                        };
                        Slot { ty: var.ty, direction }
                    })
                    .collect()
            }
            Candidate::Builtin(sig) => sig.params.iter().map(|&ty| Slot { ty, direction: Direction::In }).collect(),
        }
    }

    /// Whether the arguments fit without and with conversions.
    fn fits(&self, slots: &[Slot<'a>], args: &[&'a Expr<'a>], convert: bool) -> bool {
        let one = |slot: &Slot<'a>, arg: &Expr<'a>| {
            slot.ty == arg.ty
                || slot.ty.is_error()
                || (convert
                    && match slot.direction {
                        Direction::In => arg.ty.converts_to(slot.ty),
                        Direction::Out => slot.ty.converts_to(arg.ty),
                        Direction::InOut => false,
                    })
        };
        slots.len() == args.len() && slots.iter().zip(args).all(|(s, a)| one(s, a))
    }

    fn choose(
        &mut self,
        callee: Name<'a>,
        candidates: &[Candidate],
        args: &[&'a Expr<'a>],
        span: Span,
    ) -> Option<Candidate> {
        let slots: Vec<Vec<Slot<'a>>> = candidates.iter().map(|c| self.slots(c)).collect();
        if let Some(i) = slots.iter().position(|s| self.fits(s, args, false)) {
            return Some(candidates[i].clone());
        }
        let fitting: Vec<usize> = match self.features.conversions() {
            true => (0..slots.len()).filter(|&i| self.fits(&slots[i], args, true)).collect(),
            false => Vec::new(),
        };
        if let [one] = fitting[..] {
            return Some(candidates[one].clone());
        }
        let types: Vec<String> = args.iter().map(|a| a.ty.to_string()).collect();
        let call = format!("{}({})", callee.text, types.join(", "));
        let mut diagnostic = match fitting.is_empty() {
            true => Diagnostic::error("no-matching-overload", span, format!("no overload fits `{call}`")),
            false => Diagnostic::error("ambiguous-call", span, format!("several overloads fit `{call}`")),
        };
        let listed: Vec<usize> = if fitting.is_empty() { (0..slots.len()).collect() } else { fitting };
        for &i in listed.iter().take(LISTED) {
            let params: Vec<String> = slots[i].iter().map(|s| s.ty.to_string()).collect();
            let why = self.why_not(&slots[i], args);
            diagnostic = diagnostic.note(format!("candidate `{}({})`{why}", callee.text, params.join(", ")));
        }
        if listed.len() > LISTED {
            diagnostic = diagnostic.note(format!("and {} more", listed.len() - LISTED));
        }
        self.report(diagnostic, spec::FUNCTIONS);
        None
    }

    fn why_not(&self, slots: &[Slot<'a>], args: &[&'a Expr<'a>]) -> String {
        if slots.len() != args.len() {
            return format!(": takes {} arguments, not {}", slots.len(), args.len());
        }
        for (i, (slot, arg)) in slots.iter().zip(args).enumerate() {
            if !self.fits(&[*slot], &[arg], self.features.conversions()) {
                return format!(": argument {} is {}, not {}", i + 1, arg.ty, slot.ty);
            }
        }
        String::new()
    }

    fn unknown_function(&mut self, callee: Name<'a>) {
        let name = callee.text;
        let mut diagnostic =
            Diagnostic::error("undeclared-function", callee.span, format!("there is no function `{name}`"));
        if let Some(why) = self.why_missing(name) {
            diagnostic = diagnostic.note(why);
        } else {
            let mut names: Vec<String> = self.by_name.keys().map(|n| n.to_string()).collect();
            names.extend(builtins::function_names(&self.features));
            names.sort();
            diagnostic = suggest::add(diagnostic, name, &names, "");
        }
        self.report(diagnostic, spec::CALLS);
    }

    /// Where a built-in function that is not here exists.
    fn why_missing(&self, name: &str) -> Option<String> {
        use crate::ast::Version;
        use ir::types::Stage;
        if let Some(extension) = builtins::belongs_to(name) {
            return Some(super::expr::unsupported(name, extension));
        }
        if !builtins::is_function_name(name) {
            return self.scopes.find_var(name).map(|_| format!("`{name}` is a variable"));
        }
        let mut f = self.features;
        f.stage = match f.stage {
            Stage::Vertex => Stage::Fragment,
            Stage::Fragment => Stage::Vertex,
        };
        if !builtins::overloads(name, &f).is_empty() {
            return Some(format!("`{name}` exists in the other stage only"));
        }
        f = self.features;
        (f.rectangle, f.texture_lod, f.derivatives) = (true, true, true);
        if !builtins::overloads(name, &f).is_empty() {
            let ext = match name {
                "dFdx" | "dFdy" | "fwidth" => "GL_OES_standard_derivatives",
                _ if name.contains("Rect") => "GL_ARB_texture_rectangle",
                _ if name.ends_with("EXT") => "GL_EXT_shader_texture_lod",
                _ => "GL_ARB_shader_texture_lod",
            };
            return Some(format!("`{name}` needs `#extension {ext} : enable`"));
        }
        for version in [Version::Glsl110, Version::Glsl120, Version::Es100] {
            let f = builtins::Features { version, ..f };
            if !builtins::overloads(name, &f).is_empty() {
                return Some(format!("`{name}` exists in version {} only", version.number()));
            }
        }
        None
    }

    fn finish_call(&mut self, found: Candidate, args: Vec<&'a Expr<'a>>, span: Span) -> &'a Expr<'a> {
        let slots = self.slots(&found);
        let mut converted = Vec::new();
        for (slot, arg) in slots.iter().zip(args) {
            if slot.direction != Direction::In {
                if !self.check_place(arg, "passed to an out parameter") {
                    return self.wrong(span);
                }
                converted.push(arg);
            } else if arg.ty.is_unsized() {
                self.error("unsized-array", arg.span, "an array without a size cannot be an argument", spec::ARRAYS);
                return self.wrong(span);
            } else {
                converted.push(self.convert(arg, slot.ty));
            }
        }
        let args: &'a [&'a Expr<'a>] = self.arena.alloc_slice_copy(&converted);
        match found {
            Candidate::User(id) => {
                self.note_call(id, span);
                let result = self.funcs[id.0 as usize].result;
                self.alloc(ExprKind::Call(id, args), result, span)
            }
            Candidate::Builtin(sig) if sig.func == builtins::BuiltinFn::Ftransform => self.ftransform(span),
            Candidate::Builtin(sig) => self.fold(ExprKind::Builtin(sig.func, args), sig.result, span),
        }
    }

    /// `gl_ModelViewProjectionMatrix * gl_Vertex`, with an invariant position.
    fn ftransform(&mut self, span: Span) -> &'a Expr<'a> {
        if let Some(position) = self.builtin_var("gl_Position") {
            self.vars[position.0 as usize].invariant = true;
        }
        let (Some(matrix), Some(vertex)) =
            (self.builtin_var("gl_ModelViewProjectionMatrix"), self.builtin_var("gl_Vertex"))
        else {
            return self.wrong(span);
        };
        let matrix = self.alloc(ExprKind::Var(matrix), Ty::Mat { cols: 4, rows: 4 }, span);
        let vertex = self.alloc(ExprKind::Var(vertex), Ty::float(4), span);
        self.alloc(ExprKind::Binary(ast::BinaryOp::Mul, matrix, vertex), Ty::float(4), span)
    }
}
