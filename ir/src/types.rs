//! Types, lane selections and literals: the small words that every stage speaks.
//!
//! A *value* has 1 to 4 lanes of one scalar kind. On the machine every lane is a 32-bit float: an
//! int is a whole float (exact to 2^24), a bool is 0.0 or 1.0. The kinds are kept as types until
//! `passes::lower_types` has turned the operations that differ into float operations.

use std::fmt;

/// What one lane holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Scalar {
    /// IEEE single.
    Float,
    /// A whole number kept in a float.
    Int,
    /// 0.0 or 1.0.
    Bool,
}

/// A scalar kind and a number of lanes (1 to 4).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Type {
    /// What each lane holds.
    pub scalar: Scalar,
    /// 1 to 4.
    pub lanes: u8,
}

impl Type {
    /// One float.
    pub const FLOAT: Type = Type::float(1);
    /// Four floats.
    pub const VEC4: Type = Type::float(4);
    /// One int.
    pub const INT: Type = Type { scalar: Scalar::Int, lanes: 1 };
    /// One bool.
    pub const BOOL: Type = Type { scalar: Scalar::Bool, lanes: 1 };

    /// `lanes` floats.
    pub const fn float(lanes: u8) -> Type {
        Type { scalar: Scalar::Float, lanes }
    }

    /// The same scalar kind with another number of lanes.
    pub const fn with_lanes(self, lanes: u8) -> Type {
        Type { scalar: self.scalar, lanes }
    }

    /// Parses the text form: `float`, `vec3`, `ivec2`, `bool`, ...
    pub fn parse(text: &str) -> Option<Type> {
        let all = [Scalar::Float, Scalar::Int, Scalar::Bool];
        all.into_iter()
            .flat_map(|scalar| (1..=4).map(move |lanes| Type { scalar, lanes }))
            .find(|t| t.to_string() == text)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scalar, vector) = match self.scalar {
            Scalar::Float => ("float", "vec"),
            Scalar::Int => ("int", "ivec"),
            Scalar::Bool => ("bool", "bvec"),
        };
        if self.lanes == 1 { f.write_str(scalar) } else { write!(f, "{vector}{}", self.lanes) }
    }
}

impl fmt::Debug for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The four lane names in order.
pub const LANE_NAMES: [char; 4] = ['x', 'y', 'z', 'w'];

/// Picks 1 to 4 lanes of one value, with repetition: `.xxyw`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Swizzle {
    lanes: [u8; 4],
    len: u8,
}

impl Swizzle {
    /// A swizzle of the given lanes (each 0 to 3).
    ///
    /// # Panics
    /// When `lanes` is empty, longer than four, or names a lane above 3.
    pub fn new(lanes: &[u8]) -> Swizzle {
        assert!((1..=4).contains(&lanes.len()) && lanes.iter().all(|&l| l < 4), "bad swizzle {lanes:?}");
        let mut all = [0; 4];
        all[..lanes.len()].copy_from_slice(lanes);
        Swizzle { lanes: all, len: lanes.len() as u8 }
    }

    /// The first `len` lanes in order.
    pub fn identity(len: u8) -> Swizzle {
        Swizzle::new(&[0, 1, 2, 3][..len as usize])
    }

    /// One lane, `len` times.
    pub fn splat(lane: u8, len: u8) -> Swizzle {
        Swizzle::new(&[lane; 4][..len as usize])
    }

    /// The lanes picked, in order.
    pub fn lanes(&self) -> &[u8] {
        &self.lanes[..self.len as usize]
    }

    /// How many lanes it picks.
    #[allow(clippy::len_without_is_empty)] // a swizzle is never empty
    pub fn len(&self) -> u8 {
        self.len
    }

    /// `first` then `self`: lane `i` of the result is `first[self[i]]`.
    ///
    /// # Panics
    /// When `self` picks a lane that `first` does not have.
    pub fn after(&self, first: &Swizzle) -> Swizzle {
        let mut lanes = [0; 4];
        for (to, &from) in lanes.iter_mut().zip(self.lanes()) {
            *to = first.lanes()[from as usize];
        }
        Swizzle { lanes, len: self.len }
    }

    /// Whether it leaves a value of `width` lanes as it is.
    pub fn is_identity(&self, width: u8) -> bool {
        self.len == width && self.lanes().iter().enumerate().all(|(i, &l)| i == l as usize)
    }

    /// Parses `xyzw`, `rgba` or `stpq` letters (one family), without the dot.
    pub fn parse(text: &str) -> Option<Swizzle> {
        let family = ["xyzw", "rgba", "stpq"].into_iter().find(|f| f.contains(text.chars().next().unwrap_or(' ')))?;
        let lanes: Option<Vec<u8>> = text.chars().map(|c| family.find(c).map(|i| i as u8)).collect();
        let lanes = lanes?;
        (1..=4).contains(&lanes.len()).then(|| Swizzle::new(&lanes))
    }
}

impl fmt::Display for Swizzle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lanes().iter().try_for_each(|&l| write!(f, "{}", LANE_NAMES[l as usize]))
    }
}

impl fmt::Debug for Swizzle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ".{self}")
    }
}

/// The set of lanes that an instruction writes; bit 0 is x.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WriteMask(pub u8);

impl WriteMask {
    /// x, y, z and w.
    pub const ALL: WriteMask = WriteMask(0xf);

    /// The first `lanes` lanes.
    pub const fn first(lanes: u8) -> WriteMask {
        WriteMask(((1u16 << lanes) - 1) as u8)
    }

    /// One lane.
    pub const fn lane(lane: u8) -> WriteMask {
        WriteMask(1 << lane)
    }

    /// How many lanes are written.
    pub const fn count(self) -> u8 {
        self.0.count_ones() as u8
    }

    /// Whether `lane` is written.
    pub const fn has(self, lane: u8) -> bool {
        self.0 >> lane & 1 == 1
    }

    /// The written lanes, lowest first.
    pub fn lanes(self) -> impl Iterator<Item = u8> {
        (0..4).filter(move |&l| self.has(l))
    }
}

impl fmt::Display for WriteMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lanes().try_for_each(|l| write!(f, "{}", LANE_NAMES[l as usize]))
    }
}

impl fmt::Debug for WriteMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ".{self}")
    }
}

/// A typed constant of 1 to 4 lanes, kept as bits so that -0 differs from 0 and NaN equals itself.
/// Lanes past the type's width are zero bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Literal {
    /// Kind and width.
    pub ty: Type,
    /// The lanes' float bits.
    pub bits: [u32; 4],
}

impl Literal {
    /// A literal from lane values.
    ///
    /// # Panics
    /// When `lanes` is empty or longer than four.
    pub fn new(scalar: Scalar, lanes: &[f32]) -> Literal {
        assert!((1..=4).contains(&lanes.len()));
        let mut bits = [0; 4];
        for (b, v) in bits.iter_mut().zip(lanes) {
            *b = v.to_bits();
        }
        Literal { ty: Type { scalar, lanes: lanes.len() as u8 }, bits }
    }

    /// One float.
    pub fn float(value: f32) -> Literal {
        Literal::new(Scalar::Float, &[value])
    }

    /// `lanes` equal lanes of type `ty.scalar`.
    pub fn splat(ty: Type, value: f32) -> Literal {
        Literal::new(ty.scalar, &[value; 4][..ty.lanes as usize])
    }

    /// The lane values.
    pub fn lanes(&self) -> impl Iterator<Item = f32> + '_ {
        self.bits[..self.ty.lanes as usize].iter().map(|&b| f32::from_bits(b))
    }

    /// One lane.
    pub fn lane(&self, lane: u8) -> f32 {
        f32::from_bits(self.bits[lane as usize])
    }

    /// The lanes that `swizzle` picks.
    pub fn swizzled(&self, swizzle: Swizzle) -> Literal {
        let lanes: Vec<f32> = swizzle.lanes().iter().map(|&l| self.lane(l)).collect();
        Literal::new(self.ty.scalar, &lanes)
    }
}

impl fmt::Debug for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{:?}", self.ty, self.lanes().collect::<Vec<_>>())
    }
}

/// Which part of the pipeline a shader runs in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Stage {
    /// One run a vertex.
    Vertex,
    /// One run a fragment.
    Fragment,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stage::Vertex => "vert",
            Stage::Fragment => "frag",
        })
    }
}

/// The shape of a texture.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum TexDim {
    /// 1D
    D1,
    /// 2D
    D2,
    /// 3D
    D3,
    /// Cube map
    Cube,
    /// Rectangle (unnormalized coordinates)
    Rect,
}

impl TexDim {
    /// How many coordinate lanes a lookup reads, without the shadow reference.
    pub fn coords(self) -> u8 {
        match self {
            TexDim::D1 => 1,
            TexDim::D2 | TexDim::Rect => 2,
            TexDim::D3 | TexDim::Cube => 3,
        }
    }
}

impl fmt::Display for TexDim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TexDim::D1 => "1D",
            TexDim::D2 => "2D",
            TexDim::D3 => "3D",
            TexDim::Cube => "CUBE",
            TexDim::Rect => "RECT",
        })
    }
}

/// What a rewrite may assume about floats (design section 5). Ordered: each level allows what the
/// one before it allows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Default)]
pub enum FpLevel {
    /// Equal bit for bit, NaN and infinity included.
    Strict,
    /// What GLSL 1.10 leaves open, within a documented error bound.
    #[default]
    Glsl,
    /// Approximations that a rule names with its bound.
    Fast,
}

impl FpLevel {
    /// Parses `strict`, `glsl` or `fast`.
    pub fn parse(text: &str) -> Option<FpLevel> {
        [FpLevel::Strict, FpLevel::Glsl, FpLevel::Fast].into_iter().find(|l| l.to_string() == text)
    }
}

impl fmt::Display for FpLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FpLevel::Strict => "strict",
            FpLevel::Glsl => "glsl",
            FpLevel::Fast => "fast",
        })
    }
}
