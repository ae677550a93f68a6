//! Types as written to types as meant: names, struct declarations, array sizes.

use super::Checker;
use crate::ast::{self, ArraySpec, BuiltinType, Precision, StructDef, TypeName, TypeSpec};
use crate::builtins::variables::{self, BuiltinVar};
use crate::spec;
use crate::suggest;
use crate::typed::{Lane, NameEntry, StructTy, Ty, Var, VarId};
use ir::diag::{Diagnostic, Span};
use ir::types::Scalar;
use rustc_hash::FxHashSet;

impl<'a> Checker<'a> {
    /// The type of a keyword.
    pub(super) fn builtin_type(&mut self, ty: BuiltinType, span: Span) -> Ty<'a> {
        match ty {
            BuiltinType::Void => Ty::Void,
            BuiltinType::Vector(t) => Ty::Vec(t),
            BuiltinType::Matrix { cols, rows } => {
                if cols != rows && !self.array_values() {
                    self.error("needs-version-120", span, format!("`{ty}` exists from GLSL 1.20 on"), spec::MATRICES);
                }
                Ty::Mat { cols, rows }
            }
            BuiltinType::Sampler(kind) => Ty::Sampler(kind),
        }
    }

    fn unknown_type(&mut self, name: ast::Name<'a>) {
        let mut diagnostic = Diagnostic::error("undeclared-type", name.span, format!("`{}` is not a type", name.text));
        if let Some(extension) = crate::builtins::belongs_to(name.text) {
            diagnostic = diagnostic.note(super::expr::unsupported(name.text, extension));
        } else {
            let mut names: Vec<String> = self.scopes.visible_structs().map(str::to_string).collect();
            names.extend(BuiltinType::names(self.features.version).map(|ty| ty.to_string()));
            names.sort();
            diagnostic = suggest::add(diagnostic, name.text, &names, "");
        }
        self.report(diagnostic, spec::SCOPING);
    }

    /// A written type, with the array size written after it.
    pub(super) fn type_spec(&mut self, spec: &TypeSpec<'a>) -> Ty<'a> {
        let base = match spec.base {
            TypeName::Builtin(ty) => self.builtin_type(ty, spec.span),
            TypeName::Named(name) => match self.scopes.find_struct(name.text) {
                Some(s) => Ty::Struct(s),
                None => {
                    self.unknown_type(name);
                    Ty::Error
                }
            },
            TypeName::Struct(def) => self.struct_def(def),
        };
        self.check_precision(spec, base);
        match spec.array {
            Some(array) => {
                // The grammar of ES 1.00 has it for parameters; drivers take it everywhere.
                if self.is_110() {
                    let message = "an array size after the type exists from GLSL 1.20 on";
                    self.error("needs-version-120", array.span, message, spec::ARRAYS);
                }
                self.array_of(base, &array)
            }
            None => base,
        }
    }

    /// ES fragment shaders must give floats a precision (ES 1.00 section 4.5.3).
    fn check_precision(&mut self, spec: &TypeSpec<'a>, base: Ty<'a>) {
        if spec.precision.is_some() {
            let takes = matches!(base.scalar(), Some(Scalar::Float | Scalar::Int))
                || matches!(base, Ty::Sampler(_) | Ty::Error);
            if !takes {
                let message = format!("`{base}` takes no precision");
                self.error("bad-precision", spec.span, message, spec::PRECISION);
            }
        } else if base.scalar() == Some(Scalar::Float) && self.float_precision.last().copied().flatten().is_none() {
            let message = format!("no precision for `{base}`: the fragment language has no default for float");
            self.error("missing-precision", spec.span, message, spec::DEFAULT_PRECISION);
        }
    }

    /// `precision mediump float;`
    pub(super) fn default_precision(&mut self, precision: Precision, spec: &TypeSpec<'a>) {
        let ok = match spec.base {
            TypeName::Builtin(BuiltinType::Vector(t)) => t.lanes == 1 && t.scalar != Scalar::Bool,
            TypeName::Builtin(BuiltinType::Sampler(_)) => true,
            _ => false,
        };
        if !ok || spec.array.is_some() {
            let message = "a default precision is for float, int or a sampler type";
            self.error("bad-precision", spec.span, message, spec::DEFAULT_PRECISION);
        } else if matches!(spec.base, TypeName::Builtin(BuiltinType::Vector(t)) if t.scalar == Scalar::Float)
            && let Some(top) = self.float_precision.last_mut()
        {
            *top = Some(precision);
        }
    }

    /// The type with an array size written after a name.
    pub(super) fn with_array(&mut self, base: Ty<'a>, array: Option<&ArraySpec<'a>>) -> Ty<'a> {
        match array {
            Some(array) => self.array_of(base, array),
            None => base,
        }
    }

    fn array_of(&mut self, elem: Ty<'a>, array: &ArraySpec<'a>) -> Ty<'a> {
        let len = match array.size {
            Some(size) => match self.array_size(size) {
                Some(len) => len,
                None => return Ty::Error,
            },
            None => 0,
        };
        match elem {
            Ty::Error => return Ty::Error,
            Ty::Void => {
                self.error("void-variable", array.span, "an array of `void`", spec::VOID);
                return Ty::Error;
            }
            Ty::Array(..) => {
                self.error("array-of-arrays", array.span, "arrays of arrays do not exist", spec::ARRAYS);
                return Ty::Error;
            }
            _ => {}
        }
        let ty = Ty::Array(self.arena.alloc(elem), len);
        if self.is_within_bounds(ty, "array", array.span) { ty } else { Ty::Error }
    }

    /// Whether a type is within the bounds. What follows from one that is not would only be noise.
    pub(super) fn is_within_bounds(&mut self, ty: Ty<'a>, what: &str, span: Span) -> bool {
        let (depth, regs) = (self.limits.type_depth, self.limits.type_regs);
        if ty.depth() > depth {
            let message = format!("the {what} nests deeper than {depth} levels");
            self.diags.fatal(self.limits.error("type-nesting", span, message));
        } else if ty.regs() > regs as u64 {
            let message = format!("the {what} needs {} registers, the bound is {regs}", ty.regs());
            self.diags.fatal(self.limits.error("array-registers", span, message));
        }
        !self.diags.stopped()
    }

    fn array_size(&mut self, size: &'a ast::Expr<'a>) -> Option<u32> {
        let expr = self.expr(size);
        if expr.ty.is_error() {
            return None;
        }
        let note = spec::ARRAYS;
        match expr.const_int() {
            Some(len) if len > 0 => Some(len as u32),
            Some(len) => {
                self.error("bad-array-size", size.span, format!("an array of {len} elements"), note);
                None
            }
            None => {
                let what =
                    if expr.ty == Ty::INT { "the array size is not constant" } else { "the array size is not an int" };
                self.error("bad-array-size", size.span, what, note);
                None
            }
        }
    }

    /// Declares a struct.
    fn struct_def(&mut self, def: &StructDef<'a>) -> Ty<'a> {
        let mut fields: Vec<(&'a str, Ty<'a>)> = Vec::new();
        let mut names = FxHashSet::default();
        for line in def.fields {
            if matches!(line.ty.base, TypeName::Struct(_)) {
                let version = self.features.version;
                if version != ast::Version::Glsl110 {
                    let message = "a struct cannot be declared inside another one";
                    self.error("nested-struct", line.ty.span, message, spec::STRUCTURES);
                }
            }
            let base = self.type_spec(&line.ty);
            for name in line.names {
                let mut ty = self.with_array(base, name.array.as_ref());
                if ty == Ty::Void {
                    self.error("void-variable", name.span, format!("field `{}` is void", name.name.text), spec::VOID);
                    ty = Ty::Error;
                }
                if ty.is_unsized() {
                    let message = format!("the array `{}` in a struct needs a size", name.name.text);
                    self.error("unsized-array", name.span, message, spec::STRUCTURES);
                    ty = Ty::Error;
                }
                if !names.insert(name.name.text) {
                    let message = format!("the struct already has a field `{}`", name.name.text);
                    self.error("redeclared-name", name.name.span, message, spec::STRUCTURES);
                }
                self.check_name(&name.name);
                fields.push((name.name.text, ty));
            }
        }
        if fields.is_empty() {
            self.error("empty-struct", def.span, "a struct needs a field", spec::STRUCTURES);
            return Ty::Error;
        }
        let ty = self.linked_struct(def.name.map_or("", |n| n.text), &fields);
        if !self.is_within_bounds(Ty::Struct(ty), "struct", def.span) {
            return Ty::Error;
        }
        if let Some(name) = def.name {
            self.check_name(&name);
            let version_110 = self.is_110();
            let meaning = self.scopes.here(name.text);
            if meaning.ty.is_some() || meaning.var.is_some() || (meaning.func && !version_110) {
                let before = meaning.span;
                let diagnostic = Diagnostic::error(
                    "redeclared-name",
                    name.span,
                    format!("`{}` is already declared in this scope", name.text),
                )
                .label(before, "declared here first");
                self.report(diagnostic, spec::REDECLARATION);
                return Ty::Error;
            }
            meaning.ty = Some(ty);
            meaning.span = name.span;
            let scope = self.scopes.path();
            let fields: Vec<String> = ty.fields.iter().map(|f| format!("{} {}", f.ty, f.name)).collect();
            let text = format!("{{ {} }}", fields.join("; "));
            self.names.push(NameEntry { name: name.text, kind: "struct", ty: text, scope, span: name.span });
        }
        if ty.fields.iter().any(|f| f.ty.is_error()) {
            return Ty::Error;
        }
        Ty::Struct(ty)
    }

    fn new_struct(&mut self, name: &'a str, fields: &[(&'a str, Ty<'a>)]) -> &'a StructTy<'a> {
        let id = self.structs;
        self.structs += 1;
        self.arena.alloc(StructTy::new(self.arena, id, name, fields))
    }

    /// The struct that an earlier text of the stage declares with the same name and fields, or a new
    /// one: so both texts mean the same type.
    fn linked_struct(&mut self, name: &'a str, fields: &[(&'a str, Ty<'a>)]) -> &'a StructTy<'a> {
        let global = self.scopes.is_global() && !name.is_empty();
        if global
            && self.scopes.here(name).ty.is_none()
            && let Some(known) = self.linked_structs.get(name)
            && known.fields.len() == fields.len()
            && known.fields.iter().zip(fields).all(|(a, b)| (a.name, a.ty) == *b)
        {
            return known;
        }
        let ty = self.new_struct(name, fields);
        if global {
            self.linked_structs.insert(name, ty);
        }
        ty
    }

    pub(super) fn declare_builtin_structs(&mut self) {
        for &(name, place, fields) in variables::STRUCTS {
            if !place.is_here(&self.features) {
                continue;
            }
            let fields: Vec<_> = fields.iter().map(|&(ty, name)| (name, self.builtin_named(ty))).collect();
            let ty = self.new_struct(name, &fields);
            self.builtin_structs.push(ty);
            self.scopes.here(name).ty = Some(ty);
        }
    }

    fn builtin_named(&self, name: &str) -> Ty<'a> {
        match BuiltinType::from_keyword(name) {
            Some(BuiltinType::Vector(t)) => Ty::Vec(t),
            Some(BuiltinType::Matrix { cols, rows }) => Ty::Mat { cols, rows },
            _ => self.builtin_structs.iter().find(|s| s.name == name).map_or(Ty::Error, |s| Ty::Struct(s)),
        }
    }

    /// The built-in variable or constant of that name, made when it is first asked for.
    pub(super) fn builtin_var(&mut self, name: &str) -> Option<VarId> {
        if let Some(&id) = self.builtin_vars.get(name) {
            return Some(id);
        }
        let (key, var) = if let Some(found) = variables::find(name, &self.features) {
            (found.name, self.make_builtin(found))
        } else {
            let value = variables::constant(name, &self.features)?;
            let key = variables::CONSTANTS.iter().find(|c| c.0 == name)?.0;
            let lanes: &'a [Lane] = self.arena.alloc_slice_copy(&[Lane::Int(value as i32)]);
            let var = Var {
                name: key,
                ty: Ty::INT,
                role: crate::typed::Role::Const,
                builtin: true,
                invariant: false,
                precision: None,
                centroid: false,
                value: Some(lanes),
                span: Span::default(),
            };
            (key, var)
        };
        let id = VarId(self.vars.len() as u32);
        self.vars.push(var);
        self.builtin_vars.insert(key, id);
        Some(id)
    }

    fn make_builtin(&self, found: &'static BuiltinVar) -> Var<'a> {
        let elem = self.builtin_named(found.ty);
        let ty = match found.array {
            Some(len) => Ty::Array(self.arena.alloc(elem), len),
            None => elem,
        };
        // The extension's output is the one that desktop GLSL has, and ES has no other.
        let name = if found.name == "gl_FragDepthEXT" { "gl_FragDepth" } else { found.name };
        Var {
            name,
            ty,
            role: found.role,
            builtin: true,
            invariant: false,
            precision: None,
            centroid: false,
            value: None,
            span: Span::default(),
        }
    }
}
