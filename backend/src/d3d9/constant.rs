//! Entries of the constant table: which uniform or sampler is in which registers.

use super::declare::SamplerKind;

/// The registers that an entry of the constant table is in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum RegisterSet {
    /// `b`
    Bool,
    /// `i`
    Int,
    /// `c`
    Float,
    /// `s`
    Sampler,
}

impl RegisterSet {
    /// All of them, by number.
    pub const ALL: &'static [RegisterSet] =
        &[RegisterSet::Bool, RegisterSet::Int, RegisterSet::Float, RegisterSet::Sampler];

    /// The letter of its registers.
    pub const fn letter(self) -> char {
        match self {
            RegisterSet::Bool => 'b',
            RegisterSet::Int => 'i',
            RegisterSet::Float => 'c',
            RegisterSet::Sampler => 's',
        }
    }
}

/// The shape of an entry of the constant table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Class {
    /// One lane.
    Scalar,
    /// Up to four lanes.
    Vector,
    /// A register a row.
    RowMatrix,
    /// A register a column.
    ColumnMatrix,
    /// A sampler or the like.
    Object,
    /// A structure.
    Struct,
}

impl Class {
    /// All of them, by number.
    pub const ALL: &'static [Class] =
        &[Class::Scalar, Class::Vector, Class::RowMatrix, Class::ColumnMatrix, Class::Object, Class::Struct];
}

/// What a lane of an entry of the constant table is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum ScalarKind {
    /// Nothing (structures).
    Void,
    /// `bool`
    Bool,
    /// `int`
    Int,
    /// `float`
    Float,
    /// A sampler of unknown shape.
    Sampler,
    /// `sampler1D`
    Sampler1D,
    /// `sampler2D`
    Sampler2D,
    /// `sampler3D`
    Sampler3D,
    /// `samplerCUBE`
    SamplerCube,
}

impl ScalarKind {
    /// All of them.
    pub const ALL: &'static [ScalarKind] = &[
        ScalarKind::Void,
        ScalarKind::Bool,
        ScalarKind::Int,
        ScalarKind::Float,
        ScalarKind::Sampler,
        ScalarKind::Sampler1D,
        ScalarKind::Sampler2D,
        ScalarKind::Sampler3D,
        ScalarKind::SamplerCube,
    ];
}

/// An entry of the constant table: a uniform or sampler and its registers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Constant {
    /// The name in the source.
    pub name: String,
    /// Which registers.
    pub set: RegisterSet,
    /// The first one.
    pub index: u16,
    /// How many.
    pub count: u16,
    /// Shape of an element.
    pub class: Class,
    /// Lanes of an element.
    pub kind: ScalarKind,
    /// Rows of an element; 1 but for matrices.
    pub rows: u16,
    /// Lanes of a row.
    pub columns: u16,
    /// Elements of an array, 1 for what is none.
    pub elements: u16,
}

impl Constant {
    /// `elements` vectors of `lanes` floats from register `index` on.
    pub fn vectors(name: &str, index: u16, lanes: u16, elements: u16) -> Constant {
        let class = if lanes == 1 { Class::Scalar } else { Class::Vector };
        Constant {
            name: name.to_owned(),
            set: RegisterSet::Float,
            index,
            count: elements,
            class,
            kind: ScalarKind::Float,
            rows: 1,
            columns: lanes,
            elements,
        }
    }

    /// `elements` matrices, each column a register.
    pub fn matrices(name: &str, index: u16, [rows, columns]: [u16; 2], elements: u16) -> Constant {
        let count = columns.saturating_mul(elements);
        Constant { class: Class::ColumnMatrix, rows, columns, count, ..Constant::vectors(name, index, rows, elements) }
    }

    /// A sampler.
    pub fn sampler(name: &str, index: u16, kind: SamplerKind) -> Constant {
        let kind = match kind {
            SamplerKind::D1 => ScalarKind::Sampler1D,
            SamplerKind::D2 => ScalarKind::Sampler2D,
            SamplerKind::Cube => ScalarKind::SamplerCube,
            SamplerKind::Volume => ScalarKind::Sampler3D,
        };
        let set = RegisterSet::Sampler;
        Constant { class: Class::Object, kind, set, ..Constant::vectors(name, index, 1, 1) }
    }

    /// Gives registers the shape of a GLSL type (`vec3`, `mat4[2]`), where they hold whole elements of
    /// it; else they stay vectors of four lanes.
    pub fn set_type(&mut self, type_name: &str) {
        let name = type_name.split('[').next().unwrap_or(type_name);
        let Some((kind, rows, columns)) = shape(name) else { return };
        let registers = if columns > 1 { columns } else { 1 };
        if self.set != RegisterSet::Float || !self.count.is_multiple_of(registers) {
            return;
        }
        let elements = self.count / registers;
        let typed = match columns {
            1 => Constant::vectors(&self.name, self.index, rows, elements),
            _ => Constant::matrices(&self.name, self.index, [rows, columns], elements),
        };
        *self = Constant { kind, ..typed };
    }
}

/// Lanes, rows and columns of a GLSL type that is no array.
fn shape(name: &str) -> Option<(ScalarKind, u16, u16)> {
    let size = |digits: &str| digits.parse::<u16>().ok().filter(|n| (2..=4).contains(n));
    let scalars = [("float", ScalarKind::Float), ("int", ScalarKind::Int), ("bool", ScalarKind::Bool)];
    if let Some(&(_, kind)) = scalars.iter().find(|s| s.0 == name) {
        return Some((kind, 1, 1));
    }
    if let Some(digits) = name.strip_prefix("mat") {
        // GLSL counts columns first
        let (columns, rows) = digits.split_once('x').unwrap_or((digits, digits));
        return Some((ScalarKind::Float, size(rows)?, size(columns)?));
    }
    let vectors = [("vec", ScalarKind::Float), ("ivec", ScalarKind::Int), ("bvec", ScalarKind::Bool)];
    vectors.iter().find_map(|(prefix, kind)| Some((*kind, size(name.strip_prefix(prefix)?)?, 1)))
}
