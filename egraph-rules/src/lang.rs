//! The e-node type, derived from the opcode table, and the smart constructors.
//!
//! In: opcodes, immediates and classes. Out: nodes, or the class that a node would only repeat.
//! Invariant: whatever enters through [`make`] is in normal form:
//! - a node whose operands are all known is a [`Head::Lit`];
//! - a `Swz` is neither the identity nor over another `Swz`, but for one form: a splat (one lane,
//!   repeated) is over a value of one lane, so that `splat s` has one shape whatever `s` was;
//! - `Cat` has no `Cat` among its parts, neighbouring lanes of one value are one part, and lanes of
//!   a single value are a `Swz`;
//! - the operands of commutative operations are sorted (matching tries both orders);
//! - there is no `Neg` of `Neg`, no `Abs` of `Neg` or `Abs`, no `Sat` of `Sat`.
//!
//! So no rule spends nodes on what another rule undoes (design notes, section 2).

use crate::analysis::Shader;
use egg::{FromOp, Id, Language};
use ir::eval;
use ir::op::{Form, Shape};
use ir::types::{Literal, Scalar, Swizzle, TexDim};
use ir::{Op, Value, Var};
use smallvec::SmallVec;
use std::fmt;

/// The e-graph of a function.
pub type EGraph = egg::EGraph<Node, Shader>;

/// Operands of a node.
pub type Args = SmallVec<[Id; 4]>;

/// A node without operands that is not a literal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Leaf {
    /// An SSA value that stays outside: block parameter, pinned result, load.
    Value {
        /// The value.
        value: Value,
        /// Its width.
        lanes: u8,
    },
    /// An input's or uniform's element; equal reads are one node.
    Elem {
        /// `Input` or `Uniform`.
        op: Op,
        /// The variable.
        var: Var,
        /// Its element.
        elem: u32,
        /// Its width.
        lanes: u8,
    },
}

impl Leaf {
    /// Number of lanes.
    pub fn lanes(self) -> u8 {
        match self {
            Leaf::Value { lanes, .. } | Leaf::Elem { lanes, .. } => lanes,
        }
    }
}

/// What a node does, with its immediates.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Head {
    /// An operation without immediate.
    Op(Op),
    /// A literal, always of float kind.
    Lit(Literal),
    /// Picks lanes.
    Swz(Swizzle),
    /// A leaf.
    Leaf(Leaf),
    /// `InputAt` or `UniformAt`: one operand, the index.
    At {
        /// Which of the two.
        op: Op,
        /// The variable.
        var: Var,
        /// Constant part of the index.
        elem: u32,
        /// Width of an element.
        lanes: u8,
    },
    /// A texture lookup at an explicit level: coordinates, level, index if `indexed`.
    Txl {
        /// The sampler variable.
        sampler: Var,
        /// Constant part of the index into an array of samplers.
        elem: u32,
        /// Whether a dynamic part is the last operand.
        indexed: bool,
        /// Texture shape.
        dim: TexDim,
        /// Compares with a reference value.
        shadow: bool,
    },
}

/// An e-node.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Node {
    /// What it does.
    pub head: Head,
    /// Operands.
    pub args: Args,
}

impl Node {
    /// A node; nothing is simplified, so rules use [`make`].
    pub fn new(head: Head, args: &[Id]) -> Node {
        Node { head, args: Args::from_slice(args) }
    }

    /// A leaf.
    pub fn leaf(leaf: Leaf) -> Node {
        Node::new(Head::Leaf(leaf), &[])
    }

    /// A literal node. The kind is dropped and NaN made one.
    pub fn lit(literal: Literal) -> Node {
        Node::new(Head::Lit(canonical(literal)), &[])
    }

    /// The opcode; none for an SSA value from outside.
    pub fn op(&self) -> Option<Op> {
        match self.head {
            Head::Op(op) | Head::At { op, .. } | Head::Leaf(Leaf::Elem { op, .. }) => Some(op),
            Head::Lit(_) => Some(Op::Const),
            Head::Swz(_) => Some(Op::Swz),
            Head::Txl { .. } => Some(Op::Txl),
            Head::Leaf(Leaf::Value { .. }) => None,
        }
    }

    /// The number of lanes, from those of the operands.
    pub fn width(&self, mut width: impl FnMut(Id) -> u8) -> u8 {
        match self.head {
            Head::Lit(literal) => literal.ty.lanes,
            Head::Swz(swizzle) => swizzle.len(),
            Head::Leaf(leaf) => leaf.lanes(),
            Head::At { lanes, .. } => lanes,
            Head::Txl { .. } => 4,
            Head::Op(Op::Cat) => self.args.iter().map(|&a| width(a)).sum(),
            Head::Op(op) if op.shape() == Shape::Reduce => 1,
            Head::Op(_) => self.args.first().map_or(1, |&a| width(a)),
        }
    }

    /// The swizzle, if it is one.
    pub fn swizzle(&self) -> Option<(Swizzle, Id)> {
        match self.head {
            Head::Swz(swizzle) => Some((swizzle, self.args[0])),
            _ => None,
        }
    }
}

impl Language for Node {
    type Discriminant = Option<Op>;

    fn discriminant(&self) -> Option<Op> {
        self.op()
    }

    fn matches(&self, other: &Node) -> bool {
        self.head == other.head && self.args.len() == other.args.len()
    }

    fn children(&self) -> &[Id] {
        &self.args
    }

    fn children_mut(&mut self) -> &mut [Id] {
        &mut self.args
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.head {
            Head::Op(op) => write!(f, "{op}"),
            Head::Lit(literal) => {
                for (i, lane) in literal.lanes().enumerate() {
                    write!(f, "{}{lane:?}", if i == 0 { "" } else { "," })?;
                }
                Ok(())
            }
            Head::Swz(swizzle) => write!(f, "swz.{swizzle}"),
            Head::Leaf(Leaf::Value { value, lanes }) => write!(f, "{value}:{lanes}"),
            Head::Leaf(Leaf::Elem { op, var, elem, lanes }) | Head::At { op, var, elem, lanes } => {
                write!(f, "{op}:{var}:{elem}:{lanes}")
            }
            Head::Txl { sampler, elem, indexed, dim, shadow } => {
                write!(f, "txl:{sampler}:{elem}:{}:{dim}:{}", u8::from(indexed), u8::from(shadow))
            }
        }
    }
}

impl FromOp for Node {
    type Error = String;

    /// Reads what [`fmt::Display`] writes; so patterns and terms have a text form.
    fn from_op(text: &str, args: Vec<Id>) -> Result<Node, String> {
        let wrong = || format!("`{text}` with {} operands is no node", args.len());
        let head = parse_head(text).ok_or_else(wrong)?;
        let arity = match head {
            Head::Op(op) => op.arity(),
            Head::Swz(_) | Head::At { .. } => Some(1),
            Head::Txl { indexed, .. } => Some(2 + usize::from(indexed)),
            Head::Lit(_) | Head::Leaf(_) => Some(0),
        };
        match arity {
            Some(n) if n != args.len() => Err(wrong()),
            None if !(2..=4).contains(&args.len()) => Err(wrong()),
            _ => Ok(Node::new(head, &args)),
        }
    }
}

fn parse_head(text: &str) -> Option<Head> {
    if let Some(op) = Op::parse(text) {
        let plain = op.form() == Form::Core && op.is_pure() && !matches!(op.shape(), Shape::Leaf | Shape::Texture);
        return (plain && op != Op::Swz).then_some(Head::Op(op));
    }
    if let Some(lanes) = text.strip_prefix("swz.") {
        return Swizzle::parse(lanes).map(Head::Swz);
    }
    let parts: Vec<&str> = text.split(':').collect();
    let number = |part: &str, prefix: &str| part.strip_prefix(prefix)?.parse::<u32>().ok();
    let width = |part: &str| part.parse::<u8>().ok().filter(|l| (1..=4).contains(l));
    match parts[..] {
        [value, lanes] => {
            Some(Head::Leaf(Leaf::Value { value: Value::from_u32(number(value, "v")?), lanes: width(lanes)? }))
        }
        [op, var, elem, lanes] => {
            let (op, var) = (Op::parse(op)?, Var::from_u32(number(var, "var")?));
            let (elem, lanes) = (elem.parse().ok()?, width(lanes)?);
            match op {
                Op::Input | Op::Uniform => Some(Head::Leaf(Leaf::Elem { op, var, elem, lanes })),
                Op::InputAt | Op::UniformAt => Some(Head::At { op, var, elem, lanes }),
                _ => None,
            }
        }
        ["txl", sampler, elem, indexed, dim, shadow] => {
            let all = [TexDim::D1, TexDim::D2, TexDim::D3, TexDim::Cube, TexDim::Rect];
            Some(Head::Txl {
                sampler: Var::from_u32(number(sampler, "var")?),
                elem: elem.parse().ok()?,
                indexed: indexed == "1",
                dim: all.into_iter().find(|d| d.to_string() == dim)?,
                shadow: shadow == "1",
            })
        }
        _ => {
            let lanes: Vec<f32> = text.split(',').map(|l| l.parse().ok()).collect::<Option<_>>()?;
            (1..=4).contains(&lanes.len()).then(|| Head::Lit(canonical(Literal::new(Scalar::Float, &lanes))))
        }
    }
}

/// Float kind, one NaN.
fn canonical(literal: Literal) -> Literal {
    let lanes: SmallVec<[f32; 4]> = literal.lanes().map(|l| if l.is_nan() { f32::NAN } else { l }).collect();
    Literal::new(Scalar::Float, &lanes)
}

/// The number of lanes of a class.
pub fn width(egraph: &EGraph, id: Id) -> u8 {
    egraph[id].data.width
}

/// The literal that a class is known to be.
pub fn literal(egraph: &EGraph, id: Id) -> Option<Literal> {
    egraph[id].data.literal()
}

/// Adds a literal, and its scalar when all lanes agree, so that rules find it as a splat.
pub fn make_lit(egraph: &mut EGraph, literal: Literal) -> Id {
    let literal = canonical(literal);
    if literal.ty.lanes > 1 && literal.lanes().all(|l| l.to_bits() == literal.bits[0]) {
        egraph.add(Node::lit(Literal::float(literal.lane(0))));
    }
    egraph.add(Node::lit(literal))
}

/// Adds a float in every lane.
pub fn make_splat_lit(egraph: &mut EGraph, value: f32, lanes: u8) -> Id {
    make_lit(egraph, Literal::new(Scalar::Float, &[value; 4][..lanes as usize]))
}

/// Adds a leaf.
pub fn make_leaf(egraph: &mut EGraph, leaf: Leaf) -> Id {
    egraph.add(Node::leaf(leaf))
}

/// A lane of a class as its normal form sees it: the lane of a literal, or of another value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LaneOf {
    /// A known lane's bits.
    Known(u32),
    /// A lane of a class.
    Of(Id, u8),
}

/// Where lane `lane` of a class comes from, looking through literals, `Cat` and `Swz` nodes.
pub fn lane_source(egraph: &EGraph, id: Id, lane: u8) -> LaneOf {
    let (mut id, mut lane) = (egraph.find(id), lane);
    // Rules may make a class a swizzle of itself; the bound keeps such circles finite.
    for _ in 0..8 {
        let class = &egraph[id];
        if let Some(bits) = class.data.lanes[lane as usize] {
            return LaneOf::Known(bits);
        }
        let mut next = None;
        for node in &class.nodes {
            match node.head {
                Head::Op(Op::Cat) => {
                    let mut at = lane;
                    for &part in &node.args {
                        let lanes = width(egraph, part);
                        if at < lanes {
                            next = Some((part, at));
                            break;
                        }
                        at -= lanes;
                    }
                    break;
                }
                Head::Swz(swizzle) if next.is_none() => next = Some((node.args[0], swizzle.lanes()[lane as usize])),
                _ => {}
            }
        }
        match next {
            // A source that lives deeper than the class itself could not be chosen where the class can.
            Some((to, at)) if egraph.find(to) != id && egraph[to].data.home.depth <= class.data.home.depth => {
                (id, lane) = (egraph.find(to), at);
            }
            _ => break,
        }
    }
    LaneOf::Of(id, lane)
}

/// Picks lanes of a class.
pub fn make_swz(egraph: &mut EGraph, swizzle: Swizzle, id: Id) -> Id {
    let id = egraph.find(id);
    if swizzle.is_identity(width(egraph, id)) {
        return id;
    }
    let sources: SmallVec<[LaneOf; 4]> = swizzle.lanes().iter().map(|&l| lane_source(egraph, id, l)).collect();
    if let Some(done) = lanes_of_one(egraph, &sources) {
        return done;
    }
    add_swz(egraph, swizzle, id)
}

/// A `Swz` node with splats over one lane.
fn add_swz(egraph: &mut EGraph, swizzle: Swizzle, id: Id) -> Id {
    let lanes = swizzle.lanes();
    if swizzle.is_identity(width(egraph, id)) {
        return id;
    }
    if lanes.len() > 1 && width(egraph, id) > 1 && lanes.iter().all(|&l| l == lanes[0]) {
        let scalar = egraph.add(Node::new(Head::Swz(Swizzle::new(&lanes[..1])), &[id]));
        return egraph.add(Node::new(Head::Swz(Swizzle::splat(0, lanes.len() as u8)), &[scalar]));
    }
    egraph.add(Node::new(Head::Swz(swizzle), &[id]))
}

/// The class of lanes that are all known or all of one value.
fn lanes_of_one(egraph: &mut EGraph, lanes: &[LaneOf]) -> Option<Id> {
    let known: Option<SmallVec<[f32; 4]>> = lanes
        .iter()
        .map(|l| match *l {
            LaneOf::Known(bits) => Some(f32::from_bits(bits)),
            LaneOf::Of(..) => None,
        })
        .collect();
    if let Some(known) = known {
        return Some(make_lit(egraph, Literal::new(Scalar::Float, &known)));
    }
    let LaneOf::Of(source, _) = lanes[0] else { return None };
    let picks: Option<SmallVec<[u8; 4]>> = lanes
        .iter()
        .map(|l| match *l {
            LaneOf::Of(of, lane) if of == source => Some(lane),
            _ => None,
        })
        .collect();
    Some(add_swz(egraph, Swizzle::new(&picks?), source))
}

/// The lanes of several classes one after the other; at most four lanes in all.
pub fn make_cat(egraph: &mut EGraph, parts: &[Id]) -> Id {
    let mut lanes: SmallVec<[LaneOf; 4]> = SmallVec::new();
    for &part in parts {
        for lane in 0..width(egraph, part) {
            lanes.push(lane_source(egraph, part, lane));
        }
    }
    make_lanes(egraph, &lanes)
}

/// The class with the given lanes (1 to 4).
pub fn make_lanes(egraph: &mut EGraph, lanes: &[LaneOf]) -> Id {
    if let Some(done) = lanes_of_one(egraph, lanes) {
        return done;
    }
    let same = |a: LaneOf, b: LaneOf| match (a, b) {
        (LaneOf::Known(_), LaneOf::Known(_)) => true,
        (LaneOf::Of(a, _), LaneOf::Of(b, _)) => a == b,
        _ => false,
    };
    let mut parts = Args::new();
    let mut from = 0;
    while from < lanes.len() {
        let mut to = from + 1;
        while to < lanes.len() && same(lanes[from], lanes[to]) {
            to += 1;
        }
        // A run of one source is a literal or a swizzle by construction.
        parts.extend(lanes_of_one(egraph, &lanes[from..to]));
        from = to;
    }
    egraph.add(Node::new(Head::Op(Op::Cat), &parts))
}

/// The class that a class is the negation of, if a node says so.
pub fn operand_of(egraph: &EGraph, id: Id, op: Op) -> Option<Id> {
    egraph[id].nodes.iter().find(|n| n.head == Head::Op(op)).map(|n| n.args[0])
}

/// Negates.
pub fn make_neg(egraph: &mut EGraph, id: Id) -> Id {
    make(egraph, Op::Neg, &[id])
}

/// Whether the first two operands may change places, bit for bit.
pub fn commutes(op: Op) -> bool {
    op.is_commutative() || op == Op::Mad
}

/// A node without immediate, in normal form.
///
/// # Panics
/// For an opcode with an immediate (leaves, `Swz`, textures) or of source form.
pub fn make(egraph: &mut EGraph, op: Op, args: &[Id]) -> Id {
    debug_assert!(op.form() == Form::Core && op.is_pure(), "{op} is no e-node");
    if op == Op::Cat {
        return make_cat(egraph, args);
    }
    if let Some(folded) = fold(egraph, op, args) {
        return make_lit(egraph, folded);
    }
    match op {
        Op::Neg => {
            if let Some(inner) = operand_of(egraph, args[0], Op::Neg) {
                return inner;
            }
        }
        Op::Abs => {
            if operand_of(egraph, args[0], Op::Abs).is_some() {
                return args[0];
            }
            // Of a value and its negation, which may each be a node of the other, the first stands for both.
            if let Some(inner) = operand_of(egraph, args[0], Op::Neg) {
                let first = egraph.find(inner).min(egraph.find(args[0]));
                return egraph.add(Node::new(Head::Op(op), &[first]));
            }
        }
        Op::Sat if operand_of(egraph, args[0], Op::Sat).is_some() => return args[0],
        _ => {}
    }
    let mut args: Args = args.iter().map(|&a| egraph.find(a)).collect();
    if commutes(op) && args[1] < args[0] {
        args.swap(0, 1);
    }
    egraph.add(Node::new(Head::Op(op), &args))
}

/// A node with any head, in normal form.
pub fn make_node(egraph: &mut EGraph, node: Node) -> Id {
    match node.head {
        Head::Op(op) => make(egraph, op, &node.args),
        Head::Swz(swizzle) => make_swz(egraph, swizzle, node.args[0]),
        Head::Lit(literal) => make_lit(egraph, literal),
        _ => egraph.add(node),
    }
}

/// The value of an operation on known operands.
pub fn fold(egraph: &EGraph, op: Op, args: &[Id]) -> Option<Literal> {
    let mut lits: SmallVec<[Literal; 4]> = SmallVec::new();
    for &arg in args {
        lits.push(literal(egraph, arg)?);
    }
    let lanes: SmallVec<[SmallVec<[f32; 4]>; 3]> = lits.iter().map(|l| l.lanes().collect()).collect();
    let lanes: SmallVec<[&[f32]; 3]> = lanes.iter().map(|l| l.as_slice()).collect();
    let width = if op.shape() == Shape::Reduce { 1 } else { lits.first()?.ty.lanes };
    let out = eval::eval(op, &lanes, width, egraph.analysis.eval)?;
    Some(canonical(Literal::new(Scalar::Float, &out[..width as usize])))
}
