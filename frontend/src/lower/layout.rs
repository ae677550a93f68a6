//! Where variables live: leaves, their registers, and the TAC variables that hold them.

use super::{Lowerer, R, sampler_shape};
use crate::typed::{Lane, Role, Ty, VarId};
use ir::entity::Var;
use ir::tac::{Precision, VarDecl, VarKind};
use ir::types::{Literal, Scalar, Type};

/// A variable of the source, or a place for a value.
pub(super) struct Storage<'a> {
    name: String,
    pub ty: Ty<'a>,
    kind: VarKind,
    invariant: bool,
    centroid: bool,
    precision: Option<Precision>,
    line: u32,
    /// Initial values of a uniform: one literal a register of each leaf.
    init: Vec<Vec<Literal>>,
    /// The TAC variable of each leaf, once it is used.
    leaves: Vec<Option<Var>>,
}

/// What a leaf is.
struct Leaf<'a> {
    /// With its leading dots.
    path: String,
    /// Without arrays.
    ty: Ty<'a>,
    /// How many of them.
    count: u32,
}

fn leaf<'a>(ty: Ty<'a>, index: usize) -> Leaf<'a> {
    match ty {
        Ty::Array(elem, n) => {
            let inner = leaf(*elem, index);
            Leaf { count: inner.count * n, ..inner }
        }
        Ty::Struct(s) => match s.field_of_leaf(index) {
            Some((field, index)) => {
                let inner = leaf(field.ty, index);
                Leaf { path: format!(".{}{}", field.name, inner.path), ..inner }
            }
            None => Leaf { path: String::new(), ty, count: 0 },
        },
        _ => Leaf { path: String::new(), ty, count: 1 },
    }
}

/// How many registers one leaf has.
pub(super) fn leaf_elems(ty: Ty<'_>, index: usize) -> u32 {
    match ty {
        Ty::Array(elem, n) => n * leaf_elems(*elem, index),
        Ty::Struct(s) => s.field_of_leaf(index).map_or(0, |(field, index)| leaf_elems(field.ty, index)),
        other => other.regs() as u32,
    }
}

/// The leaf and element of each register in order.
pub(super) fn layout(ty: Ty<'_>) -> Vec<(usize, u32)> {
    match ty {
        Ty::Error | Ty::Void => Vec::new(),
        Ty::Vec(_) | Ty::Sampler(_) => vec![(0, 0)],
        Ty::Mat { cols, .. } => (0..u32::from(cols)).map(|c| (0, c)).collect(),
        Ty::Struct(s) => {
            let mut out = Vec::new();
            for field in s.fields {
                out.extend(layout(field.ty).into_iter().map(|(l, e)| (l + field.first_leaf, e)));
            }
            out
        }
        Ty::Array(elem, n) => {
            let inner = layout(*elem);
            let strides: Vec<u32> = (0..elem.leaves()).map(|l| leaf_elems(*elem, l)).collect();
            (0..n).flat_map(|i| inner.iter().map(|&(l, e)| (l, e + i * strides[l])).collect::<Vec<_>>()).collect()
        }
    }
}

/// Constant lanes as one literal a register, in order.
pub(super) fn literals(ty: Ty<'_>, lanes: &[Lane]) -> Vec<Literal> {
    let mut types = Vec::new();
    ty.push_regs(&mut types);
    let mut rest = lanes;
    let mut out = Vec::with_capacity(types.len());
    for t in types {
        let (now, later) = rest.split_at(usize::from(t.lanes).min(rest.len()));
        rest = later;
        let mut values = [0.0; 4];
        for (value, lane) in values.iter_mut().zip(now) {
            *value = lane.as_f32();
        }
        out.push(Literal::new(t.scalar, &values[..t.lanes.into()]));
    }
    out
}

impl<'a> Lowerer<'_, 'a> {
    /// A place for a value of the type.
    pub(super) fn new_storage(&mut self, name: &str, ty: Ty<'a>, kind: VarKind) -> usize {
        self.storages.push(Storage {
            name: name.to_string(),
            ty,
            kind,
            invariant: false,
            centroid: false,
            precision: None,
            line: self.line,
            init: Vec::new(),
            leaves: vec![None; ty.leaves()],
        });
        self.storages.len() - 1
    }

    /// Where a variable lives.
    pub(super) fn storage_of(&mut self, id: VarId) -> usize {
        match self.shader.var(id).role {
            Role::Local | Role::Param { .. } | Role::Const => match self.locals.get(&id) {
                Some(&storage) => storage,
                None => {
                    let var = *self.shader.var(id);
                    let storage = self.new_storage(var.name, var.ty, VarKind::Local);
                    self.locals.insert(id, storage);
                    self.storages[storage].line = self.line_of(var.span);
                    storage
                }
            },
            _ => self.global_storage(id),
        }
    }

    /// Where a variable outside functions lives.
    pub(super) fn global_storage(&mut self, id: VarId) -> usize {
        if let Some(&storage) = self.globals.get(&id) {
            return storage;
        }
        let var = *self.shader.var(id);
        let kind = self.var_kind(var.role);
        let storage = self.new_storage(var.name, var.ty, kind);
        let line = if var.builtin { 0 } else { self.line_of(var.span) };
        let at = &mut self.storages[storage];
        at.line = line;
        let output = matches!(kind, VarKind::Varying | VarKind::Output);
        at.invariant = var.invariant || (self.shader.invariant_all && output);
        at.centroid = var.centroid;
        at.precision = if var.role == Role::Uniform { var.precision } else { None };
        if let (Role::Uniform, Some(lanes)) = (var.role, var.value) {
            at.init = vec![Vec::new(); var.ty.leaves()];
            for ((leaf, _), literal) in layout(var.ty).into_iter().zip(literals(var.ty, lanes)) {
                at.init[leaf].push(literal);
            }
        }
        self.globals.insert(id, storage);
        storage
    }

    /// The TAC variable of a leaf.
    pub(super) fn leaf_var(&mut self, storage: usize, index: usize) -> R<Var> {
        if let Some(var) = self.storages[storage].leaves[index] {
            return Ok(var);
        }
        let at = &self.storages[storage];
        let found = leaf(at.ty, index);
        let elems = leaf_elems(at.ty, index);
        let (ty, cols, kind) = match found.ty {
            Ty::Vec(t) => (t, 1, at.kind),
            Ty::Mat { cols, rows } => (Type::float(rows), u32::from(cols), at.kind),
            Ty::Sampler(sampler) => {
                let (dim, shadow) = sampler_shape(sampler);
                (Type::FLOAT, 1, VarKind::Sampler { dim, shadow })
            }
            _ => return self.stop("program-too-large", "a variable has no layout".to_string()),
        };
        let is_array = at.ty.has_array() && (found.count > 1 || matches!(at.ty, Ty::Array(..)));
        let type_name = if is_array { format!("{}[{}]", found.ty, found.count) } else { found.ty.to_string() };
        let init = at.init.get(index).cloned().unwrap_or_default();
        let wish = format!("{}{}", at.name, found.path);
        let (invariant, centroid, precision, line) = (at.invariant, at.centroid, at.precision, at.line);
        let name = self.unique_name(&wish);
        let decl = VarDecl {
            elems,
            cols,
            type_name,
            invariant,
            centroid,
            precision,
            init,
            line,
            ..VarDecl::new(name, kind, ty)
        };
        let var = self.declare(decl)?;
        self.storages[storage].leaves[index] = Some(var);
        Ok(var)
    }

    /// Adds a TAC variable.
    pub(super) fn declare(&mut self, decl: VarDecl) -> R<Var> {
        self.elems += u64::from(decl.elems);
        if self.elems > self.limits.elems as u64 {
            let message = format!("the program needs more than {} registers", self.limits.elems);
            return self.too_much("program-registers", message);
        }
        Ok(self.vars.push(decl))
    }

    /// A fresh temporary of one register.
    pub(super) fn temp(&mut self, ty: Type) -> R<Var> {
        self.temps += 1;
        while self.taken.binary_search(&self.temps).is_ok() {
            self.temps += 1;
        }
        self.declare(VarDecl::new(format!("t{}", self.temps), VarKind::Temp, ty))
    }

    /// The kind of one lane of a variable.
    pub(super) fn scalar_of(&self, var: Var) -> Scalar {
        self.vars[var].ty.scalar
    }
}
