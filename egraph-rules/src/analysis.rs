//! Facts about each class: width, known lanes, interval, special values, home.
//!
//! In: nodes and the facts of their operands. Out: [`Facts`], used by conditions of rules, smart
//! constructors and extraction. Invariant: facts of a class only ever get stronger, so a condition
//! may ask "is known to be", never "is not known to be" (design notes, section 3).
//!
//! At level `glsl` the graph's leaves are taken as finite, and sums and products of finite values
//! as finite (design, section 5): only reciprocals, logarithms, exponentials and values from
//! outside whose definition is not seen may be infinite or NaN there.

use crate::lang::{EGraph, Head, Leaf, Node, make_lit};
use crate::transfer;
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::ReservedValue;
use egg::{Analysis, DidMerge, Id, Language};
use ir::eval::EvalCfg;
use ir::types::{FpLevel, Literal, Scalar};
use ir::{Block, Op, Value, Var};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A block and its depth in the dominator tree (the entry has 0).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Home {
    /// Depth in the dominator tree.
    pub depth: u32,
    /// The block; the reserved value stands for the entry.
    pub block: Block,
}

impl Home {
    /// Everywhere.
    pub fn entry() -> Home {
        Home { depth: 0, block: Block::reserved_value() }
    }

    /// The deeper of two homes on one path of the dominator tree.
    pub fn deeper(self, other: Home) -> Home {
        if other.depth > self.depth { other } else { self }
    }
}

/// What is known about every lane of a value. NaN lanes are outside the interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Range {
    /// No lane that is a number is below.
    pub lo: f32,
    /// No lane that is a number is above.
    pub hi: f32,
    /// Some lane may be NaN.
    pub nan: bool,
    /// Some lane may be infinite.
    pub inf: bool,
    /// Some lane may be -0.
    pub neg_zero: bool,
    /// Every lane is a whole number (or infinite or NaN, where these may be).
    pub whole: bool,
}

impl Range {
    /// Nothing known.
    pub const ANY: Range =
        Range { lo: f32::NEG_INFINITY, hi: f32::INFINITY, nan: true, inf: true, neg_zero: true, whole: false };
    /// Any number but infinities.
    pub const FINITE: Range = Range { nan: false, inf: false, ..Range::ANY };
    /// 0.0 or 1.0.
    pub const TRUTH: Range = Range { lo: 0.0, hi: 1.0, nan: false, inf: false, neg_zero: false, whole: true };

    /// Of one float.
    pub fn of(x: f32) -> Range {
        if x.is_nan() {
            // An empty interval would make later meets ambiguous.
            return Range { nan: true, inf: false, neg_zero: false, ..Range::ANY };
        }
        let neg_zero = x == 0.0 && x.is_sign_negative();
        Range { lo: x, hi: x, nan: false, inf: x.is_infinite(), neg_zero, whole: x.is_infinite() || x == x.floor() }
    }

    /// What holds of a value that is in one of two ranges.
    pub fn join(self, other: Range) -> Range {
        Range {
            lo: self.lo.min(other.lo),
            hi: self.hi.max(other.hi),
            nan: self.nan || other.nan,
            inf: self.inf || other.inf,
            neg_zero: self.neg_zero || other.neg_zero,
            whole: self.whole && other.whole,
        }
    }

    /// What holds of a value that is in both. Where levels above `strict` have made two values one
    /// that differ by rounding, the intervals may miss each other: then the first one stays.
    pub fn meet(self, other: Range) -> Range {
        let (lo, hi) = (self.lo.max(other.lo), self.hi.min(other.hi));
        let (lo, hi) = if lo <= hi { (lo, hi) } else { (self.lo, self.hi) };
        Range {
            lo,
            hi,
            nan: self.nan && other.nan,
            inf: self.inf && other.inf,
            neg_zero: self.neg_zero && other.neg_zero,
            whole: self.whole || other.whole,
        }
    }

    /// The same without bounds that say little more than `old` does: they stay as they were. Around
    /// a cycle of classes (a value times a number times its reciprocal, say) rounding can move a
    /// bound by one unit in the last place a turn, for millions of turns. A bound that halves the
    /// interval, or that shows a sign or that the value is within 1 of 0, can only come so often.
    fn worth(self, old: Range) -> Range {
        let half = old.hi / 2.0 - old.lo / 2.0;
        let passes = |from: f32, to: f32| [-1.0, 0.0, 1.0].iter().any(|&at| (from < at) != (to < at) || to == at);
        let tells = |from: f32, to: f32| {
            let step = if half.is_finite() { half } else { from.abs() / 2.0 };
            from != to && (from.is_infinite() || (from - to).abs() >= step || passes(from, to))
        };
        let lo = if tells(old.lo, self.lo) { self.lo } else { old.lo };
        let hi = if tells(old.hi, self.hi) { self.hi } else { old.hi };
        Range { lo, hi, ..self }
    }

    /// Known to be a number and not infinite.
    pub fn finite(self) -> bool {
        !self.nan && !self.inf
    }

    /// Known to be 0.0 or 1.0 in every lane.
    pub fn truth(self) -> bool {
        self.whole && !self.nan && !self.neg_zero && self.lo >= 0.0 && self.hi <= 1.0
    }

    /// Known to be a number and at least 0 (-0 counts).
    pub fn nonneg(self) -> bool {
        !self.nan && self.lo >= 0.0
    }

    /// Known to be a number and not 0.
    pub fn nonzero(self) -> bool {
        !self.nan && (self.lo > 0.0 || self.hi < 0.0)
    }
}

/// Where a leaf lives on the machine; bits, because a class may have leaves of several kinds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LeafKinds(pub u8);

impl LeafKinds {
    /// A literal.
    pub const LITERAL: u8 = 1;
    /// A uniform.
    pub const UNIFORM: u8 = 2;
    /// An attribute or varying.
    pub const INPUT: u8 = 4;
    /// A value from outside the graph.
    pub const VALUE: u8 = 8;

    /// Whether the class has a leaf of that kind.
    pub fn has(self, kind: u8) -> bool {
        self.0 & kind != 0
    }
}

/// Depths are counted up to here. Each class that gets shallower makes all above it shallower, so
/// without a bound the work for a long chain would be the square of its length.
pub const MAX_DEPTH: u32 = 128;

/// Facts of a class.
#[derive(Clone, PartialEq, Debug)]
pub struct Facts {
    /// Number of lanes.
    pub width: u8,
    /// The bits of lanes that are known.
    pub lanes: [Option<u32>; 4],
    /// About all lanes.
    pub range: Range,
    /// The shallowest block in which some node of the class can be computed.
    pub home: Home,
    /// Which leaves are in the class.
    pub leaves: LeafKinds,
    /// Whether the vector is no longer than 1, but for rounding.
    pub unit: bool,
    /// Operations on the longest way to a leaf, in the shallowest node, at most [`MAX_DEPTH`].
    pub depth: u32,
}

impl Facts {
    /// Nothing known but the width.
    pub fn any(width: u8) -> Facts {
        Facts {
            width,
            lanes: [None; 4],
            range: Range::ANY,
            home: Home::entry(),
            leaves: LeafKinds::default(),
            unit: false,
            depth: 0,
        }
    }

    /// The literal, if every lane is known.
    pub fn literal(&self) -> Option<Literal> {
        let mut lanes: SmallVec<[f32; 4]> = SmallVec::new();
        for bits in &self.lanes[..self.width as usize] {
            lanes.push(f32::from_bits((*bits)?));
        }
        Some(Literal::new(Scalar::Float, &lanes))
    }

    /// The value of all lanes, if they are known and the same.
    pub fn splat(&self) -> Option<f32> {
        let first = self.lanes[0]?;
        self.lanes[..self.width as usize].iter().all(|&l| l == Some(first)).then(|| f32::from_bits(first))
    }
}

/// The analysis: what belongs to the target, to the level and to the function.
#[derive(Clone, Debug)]
pub struct Shader {
    /// The target's arithmetic.
    pub eval: EvalCfg,
    /// What may be assumed.
    pub level: FpLevel,
    /// Facts of values from outside, as the function's analyses seed them.
    pub seeds: FxHashMap<Value, (Range, Home)>,
    /// What the type of an input or uniform says about it.
    pub vars: SecondaryMap<Var, Option<Range>>,
    /// Immediate dominators and depths, for [`Shader::dominates`].
    pub doms: SecondaryMap<Block, Option<Home>>,
    /// Arrangements of a chain that are tried (0 to 5).
    pub arrangements: usize,
    /// How often facts of two classes, or of a class and one of its nodes, were joined.
    pub merges: u64,
}

impl Default for Shader {
    fn default() -> Shader {
        Shader {
            eval: EvalCfg::default(),
            level: FpLevel::default(),
            seeds: FxHashMap::default(),
            vars: SecondaryMap::new(),
            doms: SecondaryMap::new(),
            arrangements: 5,
            merges: 0,
        }
    }
}

impl Shader {
    /// Whether a value computed in `a` may be used in `b`.
    pub fn dominates(&self, a: Home, b: Home) -> bool {
        let mut at = b;
        while at.depth > a.depth {
            match self.doms[at.block] {
                Some(up) => at = up,
                None => return false,
            }
        }
        at.depth == 0 && a.depth == 0 || at.block == a.block
    }
}

/// The facts of a node from those of its operands.
pub fn facts_of(egraph: &EGraph, node: &Node) -> Facts {
    let data = |id: Id| &egraph[id].data;
    let shader = &egraph.analysis;
    let width = node.width(|id| data(id).width);
    let mut facts = Facts::any(width);
    for &arg in &node.args {
        facts.home = facts.home.deeper(data(arg).home);
        facts.depth = facts.depth.max((data(arg).depth + 1).min(MAX_DEPTH));
    }
    match node.head {
        Head::Lit(literal) => {
            for lane in 0..width as usize {
                facts.lanes[lane] = Some(literal.bits[lane]);
            }
            facts.range = literal.lanes().map(Range::of).reduce(Range::join).unwrap_or(Range::ANY);
            facts.leaves.0 = LeafKinds::LITERAL;
        }
        Head::Leaf(Leaf::Value { value, .. }) => {
            if let Some(&(range, home)) = shader.seeds.get(&value) {
                (facts.range, facts.home) = (range, home);
            }
            facts.leaves.0 = LeafKinds::VALUE;
        }
        Head::Leaf(Leaf::Elem { op, var, .. }) => {
            facts.range = element(shader, var);
            facts.leaves.0 = if op == Op::Uniform { LeafKinds::UNIFORM } else { LeafKinds::INPUT };
        }
        Head::At { var, .. } => facts.range = element(shader, var),
        Head::Txl { .. } => facts.range = from_outside(shader.level),
        Head::Swz(swizzle) => {
            let from = data(node.args[0]);
            for (to, &lane) in facts.lanes.iter_mut().zip(swizzle.lanes()) {
                *to = from.lanes[lane as usize];
            }
            facts.range = from.range;
            let distinct = swizzle.lanes().iter().fold(0u8, |bits, l| bits | 1 << l).count_ones();
            facts.unit = from.unit && distinct == u32::from(swizzle.len());
        }
        Head::Op(Op::Cat) => {
            let mut at = 0;
            let mut range: Option<Range> = None;
            for &part in &node.args {
                let part = data(part);
                for lane in 0..part.width as usize {
                    facts.lanes[at] = part.lanes[lane];
                    at += 1;
                }
                range = Some(range.map_or(part.range, |r| r.join(part.range)));
            }
            facts.range = range.unwrap_or(Range::ANY);
        }
        Head::Op(op) => {
            let args: SmallVec<[Range; 3]> = node.args.iter().map(|&a| data(a).range).collect();
            facts.range = transfer::range(op, &args, node.args.first() == node.args.get(1), shader);
            facts.unit = is_unit(egraph, op, &node.args);
            if op.reduce_width().is_some() && shader.level != FpLevel::Strict && node.args.iter().all(|&a| data(a).unit)
            {
                (facts.range.lo, facts.range.hi) = (facts.range.lo.max(-1.0), facts.range.hi.min(1.0));
            }
            let args: SmallVec<[&Facts; 3]> = node.args.iter().map(|&a| data(a)).collect();
            facts.lanes = transfer::known_lanes(op, &args, width, shader.eval);
        }
    }
    let r = facts.range;
    if r.lo == r.hi && !r.nan && !(r.lo == 0.0 && r.neg_zero) {
        let bits = (r.lo + 0.0).to_bits();
        for lane in &mut facts.lanes[..width as usize] {
            *lane = Some(lane.unwrap_or(bits));
        }
    }
    // A known lane may say more than the operation's transfer did.
    if let Some(literal) = facts.literal() {
        facts.range = literal.lanes().map(Range::of).reduce(Range::join).unwrap_or(facts.range);
    }
    facts
}

/// Whether a node normalizes a vector, or keeps the length of a normalized one.
fn is_unit(egraph: &EGraph, op: Op, args: &[Id]) -> bool {
    match op {
        Op::Neg | Op::Abs => egraph[args[0]].data.unit,
        Op::Mul => {
            let scales = |vector: Id, by: Id| {
                let vector = egraph.find(vector);
                let of_itself = |n: &Node| {
                    let same = n.args.iter().all(|&a| egraph.find(a) == vector);
                    matches!(n.head, Head::Op(Op::Dp2 | Op::Dp3 | Op::Dp4)) && same
                };
                let length = |n: &Node| n.head == Head::Op(Op::Rsq) && egraph[n.args[0]].nodes.iter().any(of_itself);
                egraph[by].nodes.iter().filter_map(Node::swizzle).any(|(_, s)| egraph[s].nodes.iter().any(length))
            };
            scales(args[0], args[1]) || scales(args[1], args[0])
        }
        // A reflection, i - 2 dot(n, i) n, keeps the length.
        Op::Mad => {
            let (incident, incident_class) = (&egraph[args[2]].data, egraph.find(args[2]));
            let mirrors = |normal: Id, by: Id| {
                let pair = |n: &Node| {
                    let (a, b) = (egraph.find(n.args[0]), egraph.find(n.args[1]));
                    let normal = egraph.find(normal);
                    matches!(n.head, Head::Op(Op::Dp2 | Op::Dp3 | Op::Dp4))
                        && ((a, b) == (normal, incident_class) || (b, a) == (normal, incident_class))
                };
                let dot = |id: Id| egraph[id].nodes.iter().any(pair);
                let minus_two = |id: Id| egraph[id].data.splat() == Some(-2.0);
                let factor = |n: &Node| {
                    n.head == Head::Op(Op::Mul)
                        && (minus_two(n.args[0]) && dot(n.args[1]) || minus_two(n.args[1]) && dot(n.args[0]))
                };
                egraph[normal].data.unit
                    && egraph[by]
                        .nodes
                        .iter()
                        .filter_map(Node::swizzle)
                        .any(|(_, s)| egraph[s].nodes.iter().any(factor))
            };
            incident.unit && (mirrors(args[0], args[1]) || mirrors(args[1], args[0]))
        }
        _ => false,
    }
}

fn element(shader: &Shader, var: Var) -> Range {
    let range = from_outside(shader.level);
    shader.vars[var].map_or(range, |known| known.meet(range))
}

/// What is taken for granted about inputs, uniforms and texture lookups.
pub fn from_outside(level: FpLevel) -> Range {
    if level == FpLevel::Strict { Range::ANY } else { Range::FINITE }
}

impl Analysis<Node> for Shader {
    type Data = Facts;

    fn make(egraph: &mut EGraph, node: &Node, _id: Id) -> Facts {
        facts_of(egraph, node)
    }

    fn merge(&mut self, to: &mut Facts, from: Facts) -> DidMerge {
        debug_assert_eq!(to.width, from.width, "a class has one width");
        self.merges += 1;
        let old = to.clone();
        for (a, b) in to.lanes.iter_mut().zip(from.lanes) {
            // Known lanes may differ by rounding above `strict`; the first stays.
            *a = a.or(b);
        }
        to.range = old.range.meet(from.range).worth(old.range);
        if from.home.depth < old.home.depth {
            to.home = from.home;
        }
        to.leaves.0 |= from.leaves.0;
        to.unit |= from.unit;
        to.depth = old.depth.min(from.depth);
        if old.lanes != to.lanes
            && let Some(literal) = to.literal()
        {
            to.range = literal.lanes().map(Range::of).reduce(Range::join).unwrap_or(to.range);
        }
        DidMerge(*to != old, *to != from)
    }

    fn modify(egraph: &mut EGraph, id: Id) {
        let Some(literal) = egraph[id].data.literal() else { return };
        let class = &egraph[id];
        let pruned = class.nodes.iter().all(|n| matches!(n.head, Head::Lit(_)));
        if pruned && !class.nodes.is_empty() {
            return;
        }
        let known = make_lit(egraph, literal);
        egraph.union(id, known);
        let id = egraph.find(id);
        // A known class is its literal: no rule need look at 0 in all its disguises (egg 334).
        if egraph[id].nodes.iter().any(|n| n.is_leaf() && matches!(n.head, Head::Lit(_))) {
            egraph[id].nodes.retain(|n| matches!(n.head, Head::Lit(_)));
        }
    }
}
