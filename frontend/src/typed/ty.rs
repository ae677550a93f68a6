//! Types of the source language, after names and sizes are resolved.
//!
//! A type is laid out in *registers*: a scalar or vector takes one, a matrix one a column, a struct
//! the registers of its fields in order, an array those of its elements in order. Every stage that
//! flattens a value uses this order.
//!
//! Structs that hold two of each other grow exponentially with a text's length, so what a type measures is
//! computed once a struct from what its fields measure, saturating, and no walk opens a struct to count.

use crate::ast::SamplerKind;
use bumpalo::Bump;
use ir::types::{Scalar, Type};
use std::fmt;

/// A type. Structs are equal when they are the same declaration.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ty<'a> {
    /// Something wrong was reported; fits everywhere so that one error gives one message.
    Error,
    /// No value.
    Void,
    /// A scalar or vector.
    Vec(Type),
    /// A matrix of floats.
    Mat {
        /// Columns.
        cols: u8,
        /// Rows: the lanes of a column.
        rows: u8,
    },
    /// A sampler.
    Sampler(SamplerKind),
    /// A struct.
    Struct(&'a StructTy<'a>),
    /// An array; length 0 while its size is not known.
    Array(&'a Ty<'a>, u32),
}

/// A struct declaration.
#[derive(Debug)]
pub struct StructTy<'a> {
    /// Tells declarations apart.
    pub id: u32,
    /// Its name; empty when it has none.
    pub name: &'a str,
    /// Its fields in order.
    pub fields: &'a [FieldTy<'a>],
    extent: Extent,
}

/// What a type measures. Counts saturate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Extent {
    lanes: u64,
    regs: u64,
    leaves: usize,
    depth: usize,
    has_sampler: bool,
    has_array: bool,
}

impl Extent {
    /// Both, one after the other.
    fn beside(self, other: Extent) -> Extent {
        Extent {
            lanes: self.lanes.saturating_add(other.lanes),
            regs: self.regs.saturating_add(other.regs),
            leaves: self.leaves.saturating_add(other.leaves),
            depth: self.depth.max(other.depth),
            has_sampler: self.has_sampler || other.has_sampler,
            has_array: self.has_array || other.has_array,
        }
    }
}

/// A field of a struct.
#[derive(Clone, Copy, Debug)]
pub struct FieldTy<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its type.
    pub ty: Ty<'a>,
    /// How many leaves the fields before it have.
    pub first_leaf: usize,
}

impl<'a> StructTy<'a> {
    /// A struct of these fields, each a name and a type.
    pub fn new(arena: &'a Bump, id: u32, name: &'a str, fields: &[(&'a str, Ty<'a>)]) -> StructTy<'a> {
        let mut extent = Extent::default();
        let fields = arena.alloc_slice_fill_iter(fields.iter().map(|&(name, ty)| {
            let field = FieldTy { name, ty, first_leaf: extent.leaves };
            extent = extent.beside(ty.extent());
            field
        }));
        extent.depth += 1;
        StructTy { id, name, fields, extent }
    }

    /// The field that holds a leaf, and the leaf's number in it.
    pub fn field_of_leaf(&self, leaf: usize) -> Option<(&FieldTy<'a>, usize)> {
        // Of fields without leaves the last one starts where the next field does.
        let after = self.fields.partition_point(|f| f.first_leaf <= leaf);
        let field = &self.fields[after.checked_sub(1)?];
        let inside = leaf - field.first_leaf;
        (inside < field.ty.leaves()).then_some((field, inside))
    }
}

impl PartialEq for StructTy<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for StructTy<'_> {}

impl std::hash::Hash for StructTy<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

impl<'a> Ty<'a> {
    /// `float`
    pub const FLOAT: Ty<'static> = Ty::Vec(Type::FLOAT);
    /// `int`
    pub const INT: Ty<'static> = Ty::Vec(Type::INT);
    /// `bool`
    pub const BOOL: Ty<'static> = Ty::Vec(Type::BOOL);

    /// A scalar or vector of floats.
    pub const fn float(lanes: u8) -> Ty<'a> {
        Ty::Vec(Type::float(lanes))
    }

    /// A scalar or vector.
    pub const fn vec(scalar: Scalar, lanes: u8) -> Ty<'a> {
        Ty::Vec(Type { scalar, lanes })
    }

    /// Whether an error was reported for it.
    pub fn is_error(self) -> bool {
        self == Ty::Error
    }

    /// What a lane holds, of scalars, vectors and matrices.
    pub fn scalar(self) -> Option<Scalar> {
        match self {
            Ty::Vec(t) => Some(t.scalar),
            Ty::Mat { .. } => Some(Scalar::Float),
            _ => None,
        }
    }

    /// Whether it has one lane.
    pub fn is_scalar(self) -> bool {
        matches!(self, Ty::Vec(t) if t.lanes == 1)
    }

    /// Whether it is a vector of 2 to 4 lanes.
    pub fn is_vector(self) -> bool {
        matches!(self, Ty::Vec(t) if t.lanes > 1)
    }

    /// The same shape with another scalar kind (of scalars and vectors).
    pub fn with_scalar(self, scalar: Scalar) -> Ty<'a> {
        match self {
            Ty::Vec(t) => Ty::vec(scalar, t.lanes),
            other => other,
        }
    }

    /// The type of one column, of matrices.
    pub fn column(self) -> Option<Ty<'a>> {
        match self {
            Ty::Mat { rows, .. } => Some(Ty::float(rows)),
            _ => None,
        }
    }

    fn extent(self) -> Extent {
        let one =
            |lanes: u8, regs: u8| Extent { lanes: lanes.into(), regs: regs.into(), leaves: 1, ..Extent::default() };
        match self {
            Ty::Error | Ty::Void => Extent::default(),
            Ty::Vec(t) => one(t.lanes, 1),
            Ty::Mat { cols, rows } => one(cols * rows, cols),
            Ty::Sampler(_) => Extent { has_sampler: true, ..one(0, 1) },
            Ty::Struct(s) => s.extent,
            Ty::Array(elem, n) => {
                let elem = elem.extent();
                Extent {
                    lanes: elem.lanes.saturating_mul(n.into()),
                    regs: elem.regs.saturating_mul(n.into()),
                    depth: elem.depth + 1,
                    has_array: true,
                    ..elem
                }
            }
        }
    }

    /// How many lanes all its registers have together.
    pub fn lanes(self) -> u64 {
        self.extent().lanes
    }

    /// How many registers it takes. A sampler counts as one.
    pub fn regs(self) -> u64 {
        self.extent().regs
    }

    /// How many variables of one register type it splits into: its fields that are no structs.
    pub fn leaves(self) -> usize {
        self.extent().leaves
    }

    /// The type of each register, appended in order.
    pub fn push_regs(self, out: &mut Vec<Type>) {
        match self {
            Ty::Error | Ty::Void => {}
            Ty::Vec(t) => out.push(t),
            Ty::Sampler(_) => out.push(Type::FLOAT),
            Ty::Mat { cols, rows } => out.extend(std::iter::repeat_n(Type::float(rows), cols.into())),
            Ty::Struct(s) => s.fields.iter().for_each(|f| f.ty.push_regs(out)),
            Ty::Array(elem, n) => {
                let start = out.len();
                elem.push_regs(out);
                let one = out[start..].to_vec();
                (1..n).for_each(|_| out.extend_from_slice(&one));
            }
        }
    }

    /// Whether a sampler is in it.
    pub fn has_sampler(self) -> bool {
        self.extent().has_sampler
    }

    /// Whether an array is in it.
    pub fn has_array(self) -> bool {
        self.extent().has_array
    }

    /// Whether its size is still open.
    pub fn is_unsized(self) -> bool {
        matches!(self, Ty::Array(_, 0))
    }

    /// How deep structs and arrays nest in it.
    pub fn depth(self) -> usize {
        self.extent().depth
    }

    /// The type without its array part.
    pub fn without_array(self) -> Ty<'a> {
        match self {
            Ty::Array(elem, _) => *elem,
            other => other,
        }
    }

    /// Whether a value of it may become `to` without being asked (GLSL 1.20 section 4.1.10).
    pub fn converts_to(self, to: Ty<'_>) -> bool {
        match (self, to) {
            (Ty::Vec(a), Ty::Vec(b)) => a.scalar == Scalar::Int && b.scalar == Scalar::Float && a.lanes == b.lanes,
            _ => false,
        }
    }
}

impl fmt::Display for Ty<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ty::Error => f.write_str("?"),
            Ty::Void => f.write_str("void"),
            Ty::Vec(t) => t.fmt(f),
            Ty::Mat { cols, rows } if cols == rows => write!(f, "mat{cols}"),
            Ty::Mat { cols, rows } => write!(f, "mat{cols}x{rows}"),
            Ty::Sampler(kind) => f.write_str(kind.keyword()),
            Ty::Struct(s) if s.name.is_empty() => f.write_str("struct"),
            Ty::Struct(s) => f.write_str(s.name),
            Ty::Array(elem, 0) => write!(f, "{elem}[]"),
            Ty::Array(elem, n) => write!(f, "{elem}[{n}]"),
        }
    }
}

impl fmt::Debug for Ty<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// One lane of a constant.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Lane {
    /// Of a float.
    Float(f32),
    /// Of an int.
    Int(i32),
    /// Of a bool.
    Bool(bool),
}

impl Lane {
    /// As a float: what a constructor makes of it, and how a register holds it.
    pub fn as_f32(self) -> f32 {
        match self {
            Lane::Float(v) => v,
            Lane::Int(v) => v as f32,
            Lane::Bool(v) => f32::from(u8::from(v)),
        }
    }

    /// As an int; floats lose their fraction.
    pub fn as_i32(self) -> i32 {
        match self {
            Lane::Float(v) => v as i32,
            Lane::Int(v) => v,
            Lane::Bool(v) => v.into(),
        }
    }

    /// As a bool: whether it is not 0.
    pub fn as_bool(self) -> bool {
        match self {
            Lane::Float(v) => v != 0.0,
            Lane::Int(v) => v != 0,
            Lane::Bool(v) => v,
        }
    }

    /// Converted as a constructor does.
    pub fn to(self, scalar: Scalar) -> Lane {
        match scalar {
            Scalar::Float => Lane::Float(self.as_f32()),
            Scalar::Int => Lane::Int(self.as_i32()),
            Scalar::Bool => Lane::Bool(self.as_bool()),
        }
    }
}

impl fmt::Display for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lane::Float(v) => write!(f, "{v:?}"),
            Lane::Int(v) => v.fmt(f),
            Lane::Bool(v) => v.fmt(f),
        }
    }
}
