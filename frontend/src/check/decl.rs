//! Declarations of variables: qualifiers, initializers, redeclaration (GLSL 1.10 chapter 4).

use super::Checker;
use crate::ast::{self, DeclKind, Declarator, Name, Qualifiers, Storage, VarsDecl};
use crate::spec;
use crate::typed::{Expr, NameEntry, Role, Stmt, StmtKind, Ty, Var, VarId};
use ir::diag::{Diagnostic, Span};
use ir::types::{Scalar, Stage};

impl<'a> Checker<'a> {
    /// A declaration, outside or inside functions; what must run is appended to `out`.
    pub(super) fn declaration(&mut self, decl: &ast::Decl<'a>, out: &mut Vec<Stmt<'a>>) {
        match &decl.kind {
            DeclKind::Vars(vars) => self.variables(vars, decl.span, out),
            DeclKind::Precision { precision, ty } => self.default_precision(*precision, ty),
            DeclKind::Invariant(names) => self.invariant_names(names, decl.span),
            DeclKind::Prototype(header) => self.prototype(header),
        }
    }

    fn variables(&mut self, decl: &VarsDecl<'a>, span: Span, out: &mut Vec<Stmt<'a>>) {
        // `invariant varying vec3 a;` has a type; `invariant gl_Position;` is another kind.
        let base = self.type_spec(&decl.ty);
        let precision = self.precision_of(base, decl.ty.precision);
        if decl.vars.is_empty() {
            if !matches!(decl.ty.base, ast::TypeName::Struct(_)) {
                self.warning("empty-declaration", span, "the declaration declares nothing", None);
            }
            return;
        }
        for var in decl.vars {
            if self.diags.stopped() {
                return;
            }
            if let Some((id, init)) = self.variable(&decl.qualifiers, (base, precision), var) {
                if self.current.is_some() {
                    if self.var(id).role != Role::Const {
                        out.push(Stmt { kind: StmtKind::Declare(id, init), span: var.span });
                    }
                } else if let Some(init) = init {
                    self.global_initializer(id, init);
                }
            }
        }
    }

    /// Keeps the initializer of a global variable. When several texts of the stage have one for the
    /// same variable, each must be constant, with the same value.
    fn global_initializer(&mut self, id: VarId, init: &'a Expr<'a>) {
        let Some(&before) = self.initialized.get(&id) else {
            self.initialized.insert(id, init);
            self.inits.push((id, init));
            return;
        };
        if before.constant().is_none() || before.constant() != init.constant() {
            let message = format!("`{}` has another initializer in another text of the stage", self.var(id).name);
            let diagnostic =
                Diagnostic::error("link-mismatch", init.span, message).label(before.span, "initialized here");
            self.report(diagnostic, spec::QUALIFIERS);
        }
    }

    /// The precision of a declared variable: as written, or the default for floats.
    fn precision_of(&self, base: Ty<'a>, written: Option<ast::Precision>) -> Option<ast::Precision> {
        let default = self.float_precision.last().copied().flatten();
        let default = default.filter(|_| self.is_es() && base.scalar() == Some(Scalar::Float));
        written.or(default)
    }

    /// One variable, of a type without what its name adds and a precision. Gives it with the initializer that must run.
    pub(super) fn variable(
        &mut self,
        qualifiers: &Qualifiers,
        (base, precision): (Ty<'a>, Option<ast::Precision>),
        decl: &Declarator<'a>,
    ) -> Option<(VarId, Option<&'a Expr<'a>>)> {
        let mut ty = self.with_array(base, decl.array.as_ref());
        let name = decl.name;
        if ty == Ty::Void {
            self.error("void-variable", name.span, format!("`{}` is declared void", name.text), spec::VOID);
            ty = Ty::Error;
        }
        let role = self.role_of(qualifiers, name);
        self.check_qualified_type(qualifiers, role, ty, name);
        if self.is_es() && ty.is_unsized() {
            self.error("unsized-array", name.span, format!("the array `{}` needs a size", name.text), spec::ARRAYS);
            ty = Ty::Error;
        }
        // The initializer is seen before the name: `int x = x;` reads the outer one.
        let init = decl.init.map(|e| self.initializer(e, &mut ty, role, name));
        if let Some(id) = self.redeclares(qualifiers, role, ty, name) {
            return Some((id, None));
        }
        let mut var = Var {
            name: name.text,
            ty,
            role,
            builtin: false,
            invariant: qualifiers.invariant.is_some(),
            precision,
            centroid: qualifiers.centroid.is_some(),
            value: None,
            span: name.span,
        };
        let mut run = None;
        match (role, init) {
            (Role::Const, None) => {
                let message = format!("the constant `{}` has no initializer", name.text);
                self.error("uninitialized-const", name.span, message, spec::CONST);
                var.ty = Ty::Error;
            }
            (Role::Const, Some(init)) => match init.constant() {
                Some(lanes) if !init.ty.is_error() => var.value = Some(lanes),
                _ if init.ty.is_error() => var.ty = Ty::Error,
                _ => {
                    let message = format!("the initializer of the constant `{}` is not constant", name.text);
                    self.error("initializer-not-constant", init.span, message, spec::CONSTANT_EXPRESSIONS);
                    var.ty = Ty::Error;
                }
            },
            (Role::Uniform, Some(init)) => match init.constant() {
                Some(lanes) if !init.ty.is_error() => var.value = Some(lanes),
                _ if init.ty.is_error() => {}
                _ => {
                    let message = format!("the initializer of the uniform `{}` is not constant", name.text);
                    self.error("initializer-not-constant", init.span, message, spec::UNIFORM);
                }
            },
            (_, Some(init)) => {
                if self.is_es() && self.current.is_none() && init.constant().is_none() && !init.ty.is_error() {
                    let message = format!("the initializer of the global `{}` is not constant", name.text);
                    self.error("initializer-not-constant", init.span, message, spec::QUALIFIERS);
                }
                run = Some(init);
            }
            _ => {}
        }
        let id = self.declare(var)?;
        Some((id, run))
    }

    fn initializer(&mut self, e: &'a ast::Expr<'a>, ty: &mut Ty<'a>, role: Role, name: Name<'a>) -> &'a Expr<'a> {
        let init = self.expr(e);
        let note = spec::QUALIFIERS;
        match role {
            Role::Attribute | Role::Varying | Role::Input | Role::Output => {
                let message = format!("{} `{}` cannot have an initializer", role.word(), name.text);
                self.error("initializer-not-allowed", e.span, message, note);
                return self.wrong(e.span);
            }
            Role::Uniform if !self.array_values() => {
                let message = format!("uniform `{}` has an initializer, which exists from GLSL 1.20 on", name.text);
                self.error("initializer-not-allowed", e.span, message, spec::UNIFORM);
                return self.wrong(e.span);
            }
            _ => {}
        }
        if ty.has_sampler() {
            self.error("sampler-misuse", e.span, "a sampler cannot be initialized", spec::SAMPLERS);
            return self.wrong(e.span);
        }
        if matches!(ty, Ty::Array(..)) && !self.array_values() {
            let message = "an array cannot have an initializer before GLSL 1.20";
            self.error("needs-version-120", e.span, message, spec::ARRAYS);
            return self.wrong(e.span);
        }
        if let (Ty::Array(elem, 0), Ty::Array(from, len)) = (*ty, init.ty)
            && elem == from
        {
            *ty = Ty::Array(elem, len);
        }
        self.convert_or_report(init, *ty, e.span, "initializer")
    }

    fn role_of(&mut self, qualifiers: &Qualifiers, name: Name<'a>) -> Role {
        let global = self.current.is_none();
        match qualifiers.storage {
            None if global => Role::Global,
            None => Role::Local,
            Some((Storage::Const, _)) => Role::Const,
            Some((storage, span)) => {
                if !global {
                    let message = format!("`{}` is declared {} inside a function", name.text, storage.keyword());
                    self.error("qualifier-not-global", span, message, spec::QUALIFIERS);
                }
                match storage {
                    Storage::Attribute => Role::Attribute,
                    Storage::Uniform => Role::Uniform,
                    _ => Role::Varying,
                }
            }
        }
    }

    fn check_qualified_type(&mut self, qualifiers: &Qualifiers, role: Role, ty: Ty<'a>, name: Name<'a>) {
        let is_float = matches!(ty.without_array().scalar(), Some(Scalar::Float));
        let word = role.word();
        match role {
            Role::Attribute => {
                if self.features.stage != Stage::Vertex {
                    let message = format!("attribute `{}` in a fragment shader", name.text);
                    self.error("attribute-in-fragment", name.span, message, spec::ATTRIBUTE);
                }
                if !ty.is_error() && (!is_float || matches!(ty, Ty::Array(..))) {
                    let message = format!(
                        "attribute `{}` has type {ty}; it must be a float, vector or matrix of floats",
                        name.text
                    );
                    self.error("bad-attribute-type", name.span, message, spec::ATTRIBUTE);
                }
            }
            Role::Varying if !ty.is_error() && !is_float => {
                let message = format!("varying `{}` has type {ty}; it must be of floats", name.text);
                self.error("bad-varying-type", name.span, message, spec::VARYING);
            }
            _ => {}
        }
        if ty.has_sampler() && role != Role::Uniform {
            let message = format!("`{}` has a sampler in it and so must be a uniform or a parameter", name.text);
            self.error("sampler-misuse", name.span, message, spec::SAMPLERS);
        }
        if let Some(span) = qualifiers.invariant
            && role != Role::Varying
        {
            self.error("bad-invariant", span, format!("{word} `{}` cannot be invariant", name.text), spec::INVARIANT);
        }
        if role == Role::Const && matches!(ty, Ty::Array(..)) && !self.array_values() {
            let message = format!("the constant `{}` is an array, which exists from GLSL 1.20 on", name.text);
            self.error("needs-version-120", name.span, message, spec::CONST);
        }
    }

    /// A second declaration that only adds a size or a qualifier.
    fn redeclares(&mut self, qualifiers: &Qualifiers, role: Role, ty: Ty<'a>, name: Name<'a>) -> Option<VarId> {
        let id = if name.text.starts_with("gl_") && self.current.is_none() {
            self.builtin_var(name.text)?
        } else {
            self.scopes.here(name.text).var?
        };
        let before = *self.var(id);
        let sizes = matches!((before.ty, ty), (Ty::Array(a, 0), Ty::Array(b, _)) if a == b);
        let requalifies = before.builtin
            && before.ty == ty
            && (qualifiers.invariant.is_some()
                || qualifiers.centroid.is_some()
                || before.ty.has_array()
                || before.role == Role::Varying);
        if !(sizes || requalifies) || before.role != role {
            if before.builtin {
                let message =
                    format!("`{}` is declared by the language as {} {}", name.text, before.role.word(), before.ty);
                self.error("reserved-name", name.span, message, spec::BUILTIN_VARIABLES);
                return Some(id);
            }
            return None;
        }
        if let Ty::Array(_, len) = ty {
            let max = self.max_index.get(&id).copied();
            if len > 0 && max.is_some_and(|m| m >= len) {
                let message =
                    format!("`{}` gets {len} elements, but element {} is used before", name.text, max.unwrap_or(0));
                self.error("bad-array-size", name.span, message, spec::ARRAYS);
            }
            if before.builtin && len > 8 && name.text == "gl_TexCoord" {
                let message = format!("`gl_TexCoord` gets {len} elements, gl_MaxTextureCoords is 8");
                self.error("bad-array-size", name.span, message, spec::BUILTIN_VARYINGS);
            }
            if len > 0 {
                self.registers += ty.regs();
            }
        }
        if qualifiers.invariant.is_some() && self.used.contains(&id) {
            self.late_invariant(&name);
        }
        let var = &mut self.vars[id.0 as usize];
        if sizes && !matches!(ty, Ty::Array(_, 0)) {
            var.ty = ty;
        }
        var.invariant |= qualifiers.invariant.is_some();
        var.centroid |= qualifiers.centroid.is_some();
        Some(id)
    }

    /// Whether a user may declare the name; reports when not.
    pub(super) fn check_name(&mut self, name: &Name<'a>) {
        if name.text.starts_with("gl_") {
            let message = format!("`{}`: names that start with gl_ are reserved", name.text);
            self.error("reserved-name", name.span, message, spec::IDENTIFIERS);
        } else if name.text.contains("__") {
            let message = format!("`{}`: names with two underscores in a row are reserved", name.text);
            self.warning("reserved-name", name.span, message, spec::IDENTIFIERS);
        }
    }

    /// Puts a variable into the innermost scope.
    pub(super) fn declare(&mut self, var: Var<'a>) -> Option<VarId> {
        let name = Name { text: var.name, span: var.span };
        self.check_name(&name);
        let functions_apart = self.is_110();
        let scope = self.scopes.path();
        let meaning = self.scopes.here(name.text);
        if meaning.var.is_some() || meaning.ty.is_some() || (meaning.func && !functions_apart) {
            let before = meaning.span;
            let message = format!("`{}` is already declared in this scope", name.text);
            let diagnostic =
                Diagnostic::error("redeclared-name", name.span, message).label(before, "declared here first");
            self.report(diagnostic, spec::REDECLARATION);
            return None;
        }
        let linked = self.current.is_none() && var.role != Role::Const;
        let known = if linked { self.linked_vars.get(name.text).copied() } else { None };
        let id = known.unwrap_or(VarId(self.vars.len() as u32));
        meaning.var = Some(id);
        meaning.span = name.span;
        if known.is_some() {
            return self.link_var(id, &var);
        }
        if linked {
            self.linked_vars.insert(name.text, id);
        } else if self.current.is_none() {
            self.link_const(&var, id);
        }
        if !matches!(var.role, Role::Const) && !var.ty.is_unsized() {
            self.registers += var.ty.regs();
        }
        self.names.push(NameEntry {
            name: var.name,
            kind: var.role.word(),
            ty: var.ty.to_string(),
            scope,
            span: var.span,
        });
        self.vars.push(var);
        if self.registers > self.limits.registers as u64 {
            self.too_many_registers(name.span);
        }
        Some(id)
    }

    /// A global constant: in each text of the stage that has it with the same value.
    fn link_const(&mut self, var: &Var<'a>, id: VarId) {
        let Some(&before) = self.linked_consts.get(var.name) else {
            self.linked_consts.insert(var.name, id);
            return;
        };
        let before = *self.var(before);
        let differ = before.ty != var.ty || before.value != var.value;
        if differ && !before.ty.is_error() && !var.ty.is_error() {
            let message = format!("the constant `{}` has another value in another text of the stage", var.name);
            let diagnostic = Diagnostic::error("link-mismatch", var.span, message).label(before.span, "declared here");
            self.report(diagnostic, spec::QUALIFIERS);
        }
    }

    /// A variable that an earlier text of the stage declares too.
    fn link_var(&mut self, id: VarId, var: &Var<'a>) -> Option<VarId> {
        let before = *self.var(id);
        let ty = match (before.ty, var.ty) {
            (Ty::Array(a, 0), Ty::Array(b, _)) if a == b => var.ty,
            (Ty::Array(a, _), Ty::Array(b, 0)) if a == b => before.ty,
            (a, b) if a == b => a,
            _ => Ty::Error,
        };
        let values = before.value.is_none() || var.value.is_none() || before.value == var.value;
        if ty.is_error() || before.role != var.role || !values {
            let message = format!(
                "`{}` is {} {} here and {} {} in another text of the stage{}",
                var.name,
                var.role.word(),
                var.ty,
                before.role.word(),
                before.ty,
                if values { "" } else { ", with other values" }
            );
            let diagnostic = Diagnostic::error("link-mismatch", var.span, message).label(before.span, "declared here");
            self.report(diagnostic, spec::QUALIFIERS);
            return None;
        }
        let at = &mut self.vars[id.0 as usize];
        at.ty = ty;
        at.value = at.value.or(var.value);
        at.invariant |= var.invariant;
        at.centroid |= var.centroid;
        Some(id)
    }

    fn late_invariant(&mut self, name: &Name<'a>) {
        let message = format!("`{}` is used before it is declared invariant", name.text);
        self.error("bad-invariant", name.span, message, spec::INVARIANT);
    }

    /// `invariant a, b;`
    fn invariant_names(&mut self, names: &[Name<'a>], span: Span) {
        let note = spec::INVARIANT;
        if !self.scopes.is_global() {
            self.error("bad-invariant", span, "`invariant` stands outside all functions", note);
            return;
        }
        for name in names {
            let id = self.scopes.find_var(name.text).or_else(|| self.builtin_var(name.text));
            match id {
                None => self.unknown_variable(name.text, name.span),
                Some(id) => {
                    let var = self.var(id);
                    let fits = match self.features.stage {
                        Stage::Vertex => matches!(var.role, Role::Varying | Role::Output),
                        Stage::Fragment => matches!(var.role, Role::Varying | Role::Input | Role::Output),
                    };
                    if fits && self.used.contains(&id) {
                        self.late_invariant(name);
                    } else if fits {
                        self.vars[id.0 as usize].invariant = true;
                    } else {
                        let message = format!("{} `{}` cannot be invariant", var.role.word(), name.text);
                        self.error("bad-invariant", name.span, message, note);
                    }
                }
            }
        }
    }
}
