//! The numeric judge of rules (design notes, section 9.1): both sides are evaluated with
//! [`ir::eval`] and compared.
//!
//! In: a rule. Out: nothing, or a [`Counterexample`]. At `strict` every lane must have the same bits
//! (NaNs count as equal) for all values of an 8-bit float type up to three variables, for special
//! values and for random ones, under each arithmetic that the rule allows. Above `strict`, where the
//! left side is finite on inputs of normal size, the right side must be finite and within the rule's
//! bound, measured against the largest number met on the way (a rounding error there is no error of
//! the rule).
//!
//! A text rule is tested as patterns. A rule of code runs on its examples, and then *every* node of
//! every class must have the value of its class.

use crate::analysis::Shader;
use crate::lang::{EGraph, Head, Leaf, Node};
use crate::rules::pattern::Pat;
use crate::rules::view::View;
use crate::rules::{Applier, Body, Rule, TextRule};
use egg::{Id, Language, RecExpr};
use ir::Op;
use ir::eval::{self, EvalCfg, same_bits};
use ir::op::Shape;
use ir::types::FpLevel;
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Lanes of a value.
pub type Lanes = SmallVec<[f32; 4]>;

/// Why a rule is wrong.
#[derive(Clone, PartialEq, Debug)]
pub struct Counterexample {
    /// The rule.
    pub rule: String,
    /// What happened, with the values.
    pub what: String,
}

impl std::fmt::Display for Counterexample {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "rule {}: {}", self.rule, self.what)
    }
}

/// A small generator (SplitMix64); seeds are fixed, so every run tests the same values.
#[derive(Clone, Debug)]
pub struct Draw(u64);

impl Draw {
    /// From a seed.
    pub fn new(seed: u64) -> Draw {
        Draw(seed)
    }

    /// The next number.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n.max(1) as u64) as usize
    }

    /// From 0 to 1.
    pub fn unit(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1u64 << 24) as f32
    }

    /// Any float, special values often.
    pub fn any(&mut self) -> f32 {
        match self.below(4) {
            0 => SPECIAL[self.below(SPECIAL.len())],
            1 => f32::from_bits(self.bits() as u32),
            2 => (self.below(17) as f32 - 8.0) * 0.5,
            _ => self.normal(),
        }
    }

    /// A float of normal size.
    pub fn normal(&mut self) -> f32 {
        let sign = if self.below(2) == 0 { 1.0 } else { -1.0 };
        match self.below(4) {
            0 => sign * self.below(9) as f32 * 0.5,
            1 => sign * self.unit(),
            2 => sign * self.unit() * 16.0,
            _ => sign * (self.unit() * 16.0 - 8.0).exp2(),
        }
    }
}

const SPECIAL: [f32; 24] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    2.0,
    -2.0,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    f32::MAX,
    f32::MIN,
    f32::MIN_POSITIVE,
    -f32::MIN_POSITIVE,
    1e-45,
    -1e-45,
    1e-42,
    16_777_216.0,
    16_777_217.0,
    0.999_999_94,
    1.000_000_1,
    -0.999_999_94,
    1e30,
];

/// All values of a float type of 8 bits (4 of exponent, 3 of fraction) as f32; one NaN.
pub fn small_floats() -> Vec<f32> {
    let mut out = vec![f32::NAN];
    for bits in 0..=255u32 {
        let (sign, exponent, fraction) = (bits >> 7, (bits >> 3) & 15, bits & 7);
        let size = match exponent {
            0 => fraction as f32 / 8.0 * (-6f32).exp2(),
            15 if fraction == 0 => f32::INFINITY,
            15 => continue,
            e => (1.0 + fraction as f32 / 8.0) * (e as f32 - 7.0).exp2(),
        };
        out.push(if sign == 1 { -size } else { size });
    }
    out
}

const ARITHMETICS: [EvalCfg; 4] = [
    EvalCfg { zero_wins: false, fused_mad: false },
    EvalCfg { zero_wins: true, fused_mad: false },
    EvalCfg { zero_wins: false, fused_mad: true },
    EvalCfg { zero_wins: true, fused_mad: true },
];

/// How much to test.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Random draws for each arithmetic and width.
    pub draws: usize,
    /// Most variables that are tried with all values of the 8-bit type.
    pub exhaustive: usize,
}

impl Default for Effort {
    fn default() -> Effort {
        Effort { draws: 4_000, exhaustive: 3 }
    }
}

/// Tests a rule.
pub fn check_rule(rule: &Rule, effort: Effort) -> Result<(), Counterexample> {
    let failed = |what: String| Counterexample { rule: rule.name.clone(), what };
    match &rule.body {
        Body::Text(text) => check_text(rule, text, effort).map_err(failed),
        Body::Code(code) => check_code(rule, code, effort).map_err(failed),
    }
}

/// What a side came to, and the sizes of the numbers on the way.
struct Value {
    lanes: Lanes,
    size: Size,
}

/// The largest number on the way, and whether a denormal was met: these have no relative precision.
#[derive(Clone, Copy, Default)]
struct Size {
    most: f32,
    denormal: bool,
}

fn eval_op(op: Op, args: &[&[f32]], width: u8, cfg: EvalCfg) -> Option<Lanes> {
    eval::eval(op, args, width, cfg).map(|out| Lanes::from_slice(&out[..width as usize]))
}

fn grow(size: &mut Size, lanes: &[f32]) {
    for lane in lanes {
        if lane.is_finite() {
            size.most = size.most.max(lane.abs());
            size.denormal |= *lane != 0.0 && lane.abs() < f32::MIN_POSITIVE;
        }
    }
}

/// The value of a pattern of one lane without lane operations, quickly.
fn eval_scalar(pat: &Pat, vars: &[f32], cfg: EvalCfg) -> Option<f32> {
    match pat {
        Pat::Var(v) => Some(vars[*v as usize]),
        Pat::Lit(value) => Some(*value),
        Pat::Op(op, args) if args.len() <= 3 => {
            let mut lanes = [0.0; 3];
            for (lane, arg) in lanes.iter_mut().zip(args) {
                *lane = eval_scalar(arg, vars, cfg)?;
            }
            eval::lane(*op, &lanes[..args.len()], cfg)
        }
        _ => None,
    }
}

/// The value of a pattern that is `width` lanes wide.
fn eval_pat(pat: &Pat, width: u8, vars: &[Lanes], widths: &[u8], cfg: EvalCfg, size: &mut Size) -> Option<Lanes> {
    let out = match pat {
        Pat::Var(v) => vars[*v as usize].clone(),
        Pat::Lit(value) => Lanes::from_elem(*value, width as usize),
        Pat::Splat(arg) => {
            let scalar = eval_pat(arg, 1, vars, widths, cfg, size)?;
            Lanes::from_elem(scalar[0], width as usize)
        }
        Pat::Swz(swizzle, arg) => {
            let inner = eval_pat(arg, pat_width(arg, widths).unwrap_or(4), vars, widths, cfg, size)?;
            swizzle.lanes().iter().map(|&l| inner.get(l as usize).copied()).collect::<Option<Lanes>>()?
        }
        Pat::Op(Op::Cat, args) => {
            let mut all = Lanes::new();
            for arg in args {
                all.extend(eval_pat(arg, pat_width(arg, widths).unwrap_or(1), vars, widths, cfg, size)?);
            }
            all
        }
        Pat::Op(op, args) => {
            let inner = op.reduce_width().unwrap_or(width);
            let mut lanes: SmallVec<[Lanes; 3]> = SmallVec::new();
            for arg in args {
                lanes.push(eval_pat(arg, inner, vars, widths, cfg, size)?);
            }
            let lanes: SmallVec<[&[f32]; 3]> = lanes.iter().map(|l| l.as_slice()).collect();
            if op.reduce_width().is_some() {
                // The products count as met on the way.
                for (a, b) in lanes[0].iter().zip(lanes[1]) {
                    grow(size, &[a * b]);
                }
            }
            eval_op(*op, &lanes, width, cfg)?
        }
    };
    grow(size, &out);
    Some(out)
}

fn pat_width(pat: &Pat, widths: &[u8]) -> Option<u8> {
    match pat {
        Pat::Var(v) => Some(widths[*v as usize]).filter(|&w| w > 0),
        Pat::Lit(_) | Pat::Splat(_) => None,
        Pat::Swz(swizzle, _) => Some(swizzle.len()),
        Pat::Op(op, _) if op.shape() == Shape::Reduce => Some(1),
        Pat::Op(Op::Cat, args) => args.iter().map(|a| pat_width(a, widths)).sum(),
        Pat::Op(_, args) => args.iter().find_map(|a| pat_width(a, widths)),
    }
}

/// Gives each variable a width so that the pattern is `width` lanes wide; `false` if it cannot be.
fn infer(pat: &Pat, width: u8, widths: &mut [u8]) -> bool {
    match pat {
        Pat::Var(v) => {
            let at = &mut widths[*v as usize];
            if *at == 0 {
                *at = width;
            }
            *at == width
        }
        Pat::Lit(_) => true,
        Pat::Splat(arg) => width > 1 && infer(arg, 1, widths),
        Pat::Swz(swizzle, arg) => {
            let needed = swizzle.lanes().iter().max().map_or(1, |l| l + 1);
            let inner = pat_width(arg, widths).unwrap_or(needed.max(2));
            swizzle.len() == width && inner >= needed && infer(arg, inner, widths)
        }
        Pat::Op(Op::Cat, args) => args.len() == width as usize && args.iter().all(|a| infer(a, 1, widths)),
        Pat::Op(op, args) => match op.reduce_width() {
            Some(inner) => width == 1 && args.iter().all(|a| infer(a, inner, widths)),
            None => args.iter().all(|a| infer(a, width, widths)),
        },
    }
}

fn check_text(rule: &Rule, text: &TextRule, effort: Effort) -> Result<(), String> {
    let strict = rule.level == FpLevel::Strict;
    let mut tested = false;
    for cfg in ARITHMETICS.into_iter().filter(|&cfg| rule.fits(cfg)) {
        for width in 1..=4 {
            let mut widths = vec![0; text.vars];
            if !infer(&text.lhs, width, &mut widths) || !infer(&text.rhs, width, &mut widths) {
                continue;
            }
            let admits =
                |var: usize, x: f32| text.conds.iter().all(|&(c, v)| c.of_target() || v as usize != var || c.holds(x));
            let plain = cfg == EvalCfg::default();
            if strict && plain && width == 1 && text.vars <= effort.exhaustive && widths.iter().all(|&w| w == 1) {
                let pools: Vec<Vec<f32>> =
                    (0..text.vars).map(|v| small_floats().into_iter().filter(|&x| admits(v, x)).collect()).collect();
                let mut at = vec![0usize; text.vars];
                let mut vars: Vec<f32> = pools.iter().map(|p| p.first().copied().unwrap_or(0.0)).collect();
                'all: while pools.iter().all(|p| !p.is_empty()) {
                    let sides = [&text.lhs, &text.rhs].map(|p| eval_scalar(p, &vars, cfg));
                    if !matches!(sides, [Some(l), Some(r)] if same_bits(l, r)) {
                        return Err(format!("{sides:?} for {vars:?}"));
                    }
                    for v in 0..=text.vars {
                        if v == text.vars {
                            break 'all;
                        }
                        at[v] = (at[v] + 1) % pools[v].len();
                        vars[v] = pools[v][at[v]];
                        if at[v] != 0 {
                            break;
                        }
                    }
                }
                tested = true;
            }
            let mut draw = Draw::new(0x5eed + u64::from(width));
            let mut done = 0;
            for _ in 0..effort.draws * 50 {
                if done == effort.draws {
                    break;
                }
                let mut vars: Vec<Lanes> = Vec::with_capacity(text.vars);
                for (v, &w) in widths.iter().enumerate() {
                    let mut lanes = Lanes::new();
                    for _ in 0..w {
                        // Equal lanes and values near the conditions' edges come from the retries.
                        let x = (0..40).map(|_| if strict { draw.any() } else { draw.normal() });
                        lanes.extend(x.chain([0.0, 1.0]).find(|&x| admits(v, x)));
                    }
                    vars.push(lanes);
                }
                if vars.iter().zip(&widths).any(|(v, &w)| v.len() != w as usize) {
                    continue;
                }
                compare(rule, text, width, &vars, &widths, cfg)?;
                done += 1;
            }
            tested |= done > 0;
        }
    }
    if tested { Ok(()) } else { Err("no width or no values on which it could be tested".into()) }
}

fn compare(rule: &Rule, text: &TextRule, width: u8, vars: &[Lanes], widths: &[u8], cfg: EvalCfg) -> Result<(), String> {
    let side = |pat: &Pat| {
        let mut size = Size::default();
        let lanes = eval_pat(pat, width, vars, widths, cfg, &mut size)?;
        Some(Value { lanes, size })
    };
    let left = side(&text.lhs).ok_or("the left side has no value")?;
    let right = side(&text.rhs).ok_or("the right side has no value")?;
    if agree(&left, &right, rule.level, rule.bound) {
        return Ok(());
    }
    Err(format!("{:?} is not {:?} for {vars:?} ({cfg:?})", left.lanes, right.lanes))
}

fn agree(left: &Value, right: &Value, level: FpLevel, bound: f32) -> bool {
    if left.lanes.len() != right.lanes.len() {
        return false;
    }
    let size = left.size.most.max(right.size.most);
    let denormal = left.size.denormal || right.size.denormal;
    left.lanes.iter().zip(&right.lanes).all(|(&l, &r)| match level {
        FpLevel::Strict => same_bits(l, r),
        _ if !l.is_finite() => true,
        _ => r.is_finite() && (denormal || (l - r).abs() <= bound * size),
    })
}

fn check_code(rule: &Rule, code: &Applier, effort: Effort) -> Result<(), String> {
    for example in code.examples {
        let term: RecExpr<Node> = example.parse().map_err(|e| format!("example {example}: {e:?}"))?;
        for cfg in ARITHMETICS.into_iter().filter(|&cfg| rule.fits(cfg)) {
            let mut egraph = EGraph::new(Shader { eval: cfg, level: rule.level, ..Shader::default() });
            let root = egraph.add_expr(&term);
            egraph.rebuild();
            let mut changed = false;
            let view = View::new(&egraph, None);
            for found in rule.search(&egraph, &view, false, usize::MAX) {
                changed |= rule.apply(&mut egraph, &found);
            }
            egraph.rebuild();
            if !changed {
                return Err(format!("it does nothing to its example {example}"));
            }
            let strict = rule.level == FpLevel::Strict;
            let mut draw = Draw::new(0xc0de);
            for _ in 0..effort.draws.div_ceil(8) {
                let mut leaves = BTreeMap::new();
                let next = |_: Leaf| if strict { draw.any() } else { draw.normal() };
                let first = graph_values(&egraph, &term, root, cfg, &mut leaves, next);
                check_graph(&egraph, &first, cfg, rule.level, rule.bound)
                    .map_err(|what| format!("{example}: {what}"))?;
            }
        }
    }
    Ok(())
}

/// The value of each class that a term of the graph reaches, from that term; other classes follow
/// from these. Leaves get values from `next`, equal leaves the same.
fn graph_values(
    egraph: &EGraph,
    term: &RecExpr<Node>,
    root: Id,
    cfg: EvalCfg,
    leaves: &mut BTreeMap<Node, Lanes>,
    mut next: impl FnMut(Leaf) -> f32,
) -> BTreeMap<Id, Lanes> {
    let mut values: Vec<Lanes> = Vec::new();
    let mut by_class = BTreeMap::new();
    for node in term.as_ref() {
        let value = eval_node(node, |id| Some(values[usize::from(id)].clone()), cfg).unwrap_or_else(|| {
            let Head::Leaf(leaf) = node.head else { return Lanes::from_elem(f32::NAN, 4) };
            let new = || (0..leaf.lanes()).map(|_| next(leaf)).collect();
            leaves.entry(node.clone()).or_insert_with(new).clone()
        });
        let looked = node.clone().map_children(|id| egraph.lookup_expr(&sub_term(term, id)).unwrap_or(root));
        if let Some(id) = egraph.lookup(looked) {
            by_class.entry(egraph.find(id)).or_insert_with(|| value.clone());
        }
        values.push(value);
    }
    if let Some(last) = values.last() {
        by_class.entry(egraph.find(root)).or_insert_with(|| last.clone());
    }
    by_class
}

fn sub_term(term: &RecExpr<Node>, id: Id) -> RecExpr<Node> {
    term.as_ref()[..=usize::from(id)].iter().cloned().collect()
}

/// The value of a node from those of its operands; `None` for leaves and unknown operands.
pub fn eval_node(node: &Node, value: impl Fn(Id) -> Option<Lanes>, cfg: EvalCfg) -> Option<Lanes> {
    let args: Option<SmallVec<[Lanes; 4]>> = node.args.iter().map(|&a| value(a)).collect();
    let args = args?;
    match node.head {
        Head::Lit(literal) => Some(literal.lanes().collect()),
        Head::Swz(swizzle) => swizzle.lanes().iter().map(|&l| args[0].get(l as usize).copied()).collect(),
        Head::Op(Op::Cat) => Some(args.iter().flatten().copied().collect()),
        Head::Op(op) => {
            let width = if op.shape() == Shape::Reduce { 1 } else { args.first()?.len() as u8 };
            let lanes: SmallVec<[&[f32]; 4]> = args.iter().map(|a| a.as_slice()).collect();
            eval_op(op, &lanes, width, cfg)
        }
        Head::Leaf(_) | Head::At { .. } | Head::Txl { .. } => None,
    }
}

/// Checks that every node of every class has the value of its class, given the values of some
/// classes (at least of all leaves).
pub fn check_graph(
    egraph: &EGraph,
    known: &BTreeMap<Id, Lanes>,
    cfg: EvalCfg,
    level: FpLevel,
    bound: f32,
) -> Result<(), String> {
    let mut values = known.clone();
    let mut ids: Vec<Id> = egraph.classes().map(|c| c.id).collect();
    ids.sort_unstable();
    let mut size = Size { most: 1.0, denormal: false };
    let mut more = true;
    while more {
        more = false;
        for &id in &ids {
            if values.contains_key(&id) {
                continue;
            }
            let node = egraph[id].nodes.iter();
            let mut all = node.filter_map(|n| eval_node(n, |a| values.get(&egraph.find(a)).cloned(), cfg));
            if let Some(value) = all.next() {
                grow(&mut size, &value);
                values.insert(id, value);
                more = true;
            }
        }
    }
    for value in values.values() {
        grow(&mut size, value);
    }
    for &id in &ids {
        let Some(value) = values.get(&id) else { continue };
        for node in &egraph[id].nodes {
            let Some(other) = eval_node(node, |a| values.get(&egraph.find(a)).cloned(), cfg) else { continue };
            let (left, right) = (Value { lanes: value.clone(), size }, Value { lanes: other, size });
            if !agree(&left, &right, level, bound) {
                return Err(format!("class {id} is {:?}, but its node {node} gives {:?}", left.lanes, right.lanes));
            }
        }
    }
    Ok(())
}
