//! Seed packs: independent narrow operations that no gather joins, computed in one instruction.
//!
//! In: a graph and a plan. Out: the graph with added nodes and a plan that costs no more. Greedy
//! extraction cannot find these, since the gain appears only when both lanes take the pack (design
//! notes, section 5), so here whole plans are compared: the pair of best gain is forced, then the
//! next, wide pairs too, so that quads come in a second round.
//!
//! A pack of `x = op(a, b)` and `y = op(c, d)` is `p = op(Cat(a, c), Cat(b, d))` with `x = p.x`,
//! `y = p.y`. Sums, products and multiply-adds may mix: `a + b = a * 1 + b`, `a - b = b * -1 + a`,
//! `a * b = a * b + 0`. A pack whose parts need each other is a circle, which the price refuses; so
//! narrow twins of the classes are not needed here.

use super::Choice;
use super::graph::{ClassId, Graph, GraphNode, Kids, NodeId, Outside};
use super::improve::Effort;
use crate::blocks::{Blocks, Point};
use crate::lang::{Head, Leaf};
use crate::price::{Kind, Lane, Lanes, Price, Resolved, Scratch, price_below, price_in, resolve};
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::ReservedValue;
use ir::cost::CostTable;
use ir::op::Shape;
use ir::types::{FpLevel, Literal, Scalar, Swizzle};
use ir::{Block, Op, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Operations that pack: lane-wise and one issue for all lanes.
const PACKED: [Op; 12] =
    [Op::Add, Op::Mul, Op::Mad, Op::Min, Op::Max, Op::Slt, Op::Sge, Op::Seq, Op::Sne, Op::Frc, Op::Flr, Op::Cmp];

/// Pairs tried in a round, best guess first.
const MAX_TRIALS: usize = 48;

/// Operations looked at in a round; pairs are the square of it.
const MAX_OPERATIONS: usize = 160;

/// Forms of one operation.
const MAX_FORMS: usize = 6;

/// A lane of an operand: known or of a base value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Source {
    Known(u32),
    Of(Lane),
}

type Column = SmallVec<[Source; 4]>;

/// One way to compute a class.
#[derive(Clone, Debug)]
struct Form {
    op: Op,
    columns: SmallVec<[Column; 3]>,
}

/// A pack to try.
struct Pair {
    x: ClassId,
    y: ClassId,
    op: Op,
    columns: SmallVec<[Column; 3]>,
    guess: u32,
}

/// Where blocks and the values from outside stand; none for graphs without a function.
pub type Places<'a> = Option<(&'a Blocks, &'a SecondaryMap<Value, Point>)>;

/// Where each value of a plan is known, so that steps which give a value new operands stay legal.
pub(crate) struct Homes<'a> {
    places: Places<'a>,
    homes: SecondaryMap<ClassId, Option<Point>>,
}

impl<'a> Homes<'a> {
    /// Of a plan.
    pub(crate) fn new(graph: &Graph, choice: &Choice, plan: &Resolved, places: Places<'a>) -> Homes<'a> {
        let mut homes: SecondaryMap<ClassId, Option<Point>> = SecondaryMap::new();
        if let Some((blocks, defs)) = places {
            for &class in &plan.order {
                let Some(node) = choice[class].expand().map(|n| &graph.nodes[n]) else { continue };
                let own = match node.head {
                    Head::Leaf(Leaf::Value { value, .. }) => Some(defs[value]),
                    _ => None,
                };
                let all = node.kids.iter().filter_map(|&k| homes[k]).chain(own);
                homes[class] = all.reduce(|a, b| if blocks.dominates(a, b) { b } else { a });
            }
        }
        Homes { places, homes }
    }

    /// Whether both are needed in one block and each is known where the other is needed.
    fn may_join(&self, graph: &Graph, x: ClassId, y: ClassId) -> bool {
        if self.places.is_none() {
            return true;
        }
        let (Some(need_x), Some(need_y)) = (graph.classes[x].need, graph.classes[y].need) else { return false };
        need_x.block == need_y.block && self.may_replace(graph, x, y) && self.may_replace(graph, y, x)
    }

    /// Whether `by` is known where `class` is needed.
    pub(crate) fn may_replace(&self, graph: &Graph, by: ClassId, class: ClassId) -> bool {
        let Some((blocks, _)) = self.places else { return true };
        let Some(need) = graph.classes[class].need else { return false };
        self.homes[by].is_none_or(|home| blocks.dominates(home, need))
    }
}

/// What the seeds may use.
pub struct Seeds<'a> {
    /// The target's costs.
    pub costs: &'a CostTable,
    /// Decides the zero of a product's padding.
    pub level: FpLevel,
    /// Where blocks and leaves stand.
    pub places: Places<'a>,
}

/// Classes made for packs, by their only node. Kept over all trials, so that a pack tried again adds
/// nothing.
type Memo = FxHashMap<(Head, Kids), ClassId>;

/// The point of two in one block that comes first.
fn earlier(a: Option<Point>, b: Option<Point>) -> Option<Point> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// A pack is needed where the first of its lanes is, and so are its operands: lowers their needs, and
/// drops the nodes that are not known there.
fn needed_earlier(
    graph: &mut Graph,
    seeds: &Seeds,
    choice: &Choice,
    blocks: &Blocks,
    lanes: &[(ClassId, NodeId); 2],
    need: Point,
) {
    let Some(plan) = resolve(graph, seeds.costs, choice) else { return };
    let homes = Homes::new(graph, choice, &plan, seeds.places);
    let mut known: SecondaryMap<ClassId, bool> = SecondaryMap::new();
    plan.order.iter().for_each(|&class| known[class] = true);
    let mut work: Vec<ClassId> = lanes.iter().flat_map(|(_, node)| graph.nodes[*node].kids.iter().copied()).collect();
    let mut seen: SecondaryMap<ClassId, bool> = SecondaryMap::new();
    while let Some(class) = work.pop() {
        let Some(old) = graph.classes[class].need else { continue };
        if old.block == Block::reserved_value() || std::mem::replace(&mut seen[class], true) {
            continue;
        }
        let new = blocks.common(old, need);
        let chosen = choice[class].expand();
        if new != old {
            let mut nodes = std::mem::take(&mut graph.classes[class].nodes);
            let legal = |kid: &ClassId| known[*kid] && homes.homes[*kid].is_none_or(|h| blocks.dominates(h, new));
            nodes.retain(|&n| Some(n) == chosen || graph.nodes[n].kids.iter().all(legal));
            graph.classes[class].nodes = nodes;
            graph.classes[class].need = Some(new);
        }
        work.extend(chosen.iter().flat_map(|&n| graph.nodes[n].kids.iter().copied()));
    }
}

/// Finds packs and takes those that lower the price. Returns the new price and how many packs.
pub fn seed(graph: &mut Graph, choice: &mut Choice, seeds: &Seeds, effort: &mut Effort) -> Option<(Price, u32)> {
    let mut scratch = Scratch::default();
    let mut best = price_in(&mut scratch, graph, seeds.costs, choice)?;
    let mut packs = 0;
    let mut memo = Memo::default();
    loop {
        let plan = resolve(graph, seeds.costs, choice)?;
        let mut winner: Option<(Price, [(ClassId, NodeId); 2])> = None;
        for pair in seeds.pairs(graph, choice, &plan) {
            if !effort.take(plan.order.len()) {
                break;
            }
            let old = [choice[pair.x], choice[pair.y]];
            let need = earlier(graph.classes[pair.x].need, graph.classes[pair.y].need);
            let lanes = Maker { graph, choice, memo: &mut memo, need }.force(&pair);
            let new = price_below(&mut scratch, graph, seeds.costs, choice, best.slots);
            (choice[pair.x], choice[pair.y]) = (old[0], old[1]);
            let Some(new) = new else { continue };
            if new.slots < best.slots && winner.as_ref().is_none_or(|(old, _)| new.cost() < old.cost()) {
                winner = Some((new, lanes));
            }
        }
        let Some((new, lanes)) = winner else { break };
        let need = earlier(graph.classes[lanes[0].0].need, graph.classes[lanes[1].0].need);
        for (class, node) in lanes {
            graph.classes[class].nodes.push(node);
            choice[class] = node.into();
        }
        if let (Some(need), Some((blocks, _))) = (need, seeds.places) {
            needed_earlier(graph, seeds, choice, blocks, &lanes, need);
        }
        best = new;
        packs += 1;
    }
    Some((best, packs))
}

impl Seeds<'_> {
    /// The pairs worth a trial, best guess first, in a fixed order.
    fn pairs(&self, graph: &Graph, choice: &Choice, plan: &Resolved) -> Vec<Pair> {
        let mut in_plan: SecondaryMap<ClassId, bool> = SecondaryMap::new();
        for &class in &plan.order {
            in_plan[class] = true;
        }
        let homes = Homes::new(graph, choice, plan, self.places);
        let mut operations: Vec<(ClassId, Vec<Form>)> = Vec::new();
        for &class in &plan.order {
            let chosen = choice[class].expand().map(|n| &graph.nodes[n]);
            let packs = chosen.and_then(|n| n.op()).is_some_and(|op| PACKED.contains(&op));
            if packs && graph.classes[class].width < 4 && operations.len() < MAX_OPERATIONS {
                operations.push((class, self.forms(graph, plan, &in_plan, class)));
            }
        }
        let mut pairs = Vec::new();
        for (i, (x, x_forms)) in operations.iter().enumerate() {
            for (y, y_forms) in &operations[i + 1..] {
                let width = graph.classes[*x].width + graph.classes[*y].width;
                if width > 4 || !homes.may_join(graph, *x, *y) {
                    continue;
                }
                pairs.extend(best_pair(plan, (*x, x_forms), (*y, y_forms)));
            }
        }
        pairs.sort_by_key(|p| (p.guess, p.x, p.y));
        pairs.truncate(MAX_TRIALS);
        pairs
    }

    /// The ways to compute a class from values that the plan has anyway.
    fn forms(
        &self,
        graph: &Graph,
        plan: &Resolved,
        in_plan: &SecondaryMap<ClassId, bool>,
        class: ClassId,
    ) -> Vec<Form> {
        let mut forms: Vec<Form> = Vec::new();
        for &node in &graph.classes[class].nodes {
            let node = &graph.nodes[node];
            let Some(op) = node.op().filter(|op| PACKED.contains(op) && op.shape() == Shape::Lanewise) else {
                continue;
            };
            if !node.kids.iter().all(|&k| in_plan[k]) {
                continue;
            }
            let columns: SmallVec<[Column; 3]> = node.kids.iter().map(|&k| column(graph, plan, k)).collect();
            let width = graph.classes[class].width as usize;
            let zero = if self.level == FpLevel::Strict { -0.0f32 } else { 0.0 };
            let splat = |value: f32| Column::from_elem(Source::Known(value.to_bits()), width);
            let mut push = |op, columns: &[&Column]| {
                forms.push(Form { op, columns: columns.iter().map(|&c| c.clone()).collect() });
            };
            match op {
                Op::Add => {
                    for (a, b) in [(0, 1), (1, 0)] {
                        push(Op::Mad, &[&columns[a], &splat(1.0), &columns[b]]);
                        if let Some(positive) = negated(&columns[a]) {
                            push(Op::Mad, &[&positive, &splat(-1.0), &columns[b]]);
                        }
                    }
                }
                Op::Mul => push(Op::Mad, &[&columns[0], &columns[1], &splat(zero)]),
                _ => {}
            }
            forms.push(Form { op, columns });
        }
        // Forms as they stand before padded ones.
        forms.sort_by_key(|f| f.op == Op::Mad);
        forms.truncate(MAX_FORMS);
        forms
    }
}

/// The column without its negation, when every lane is negated.
fn negated(column: &Column) -> Option<Column> {
    column
        .iter()
        .map(|&s| match s {
            Source::Of(lane) if lane.neg => Some(Source::Of(Lane { neg: false, ..lane })),
            _ => None,
        })
        .collect()
}

fn column(graph: &Graph, plan: &Resolved, class: ClassId) -> Column {
    let known = |lane: Lane| {
        let nodes = &graph.classes[lane.base].nodes;
        nodes.iter().find_map(|&n| match graph.nodes[n].head {
            Head::Lit(literal) => {
                let value = literal.lane(lane.lane);
                let value = if lane.abs { value.abs() } else { value };
                Some(if lane.neg { -value } else { value }.to_bits())
            }
            _ => None,
        })
    };
    let source = |&lane: &Lane| match known(lane) {
        Some(bits) if plan.kind[lane.base] == Some(Kind::Literal) => Source::Known(bits),
        _ => Source::Of(lane),
    };
    plan.lanes[class].iter().map(source).collect()
}

/// The cheapest way to pack two operations, unless the gathers are known to cost what it saves.
fn best_pair(plan: &Resolved, x: (ClassId, &[Form]), y: (ClassId, &[Form])) -> Option<Pair> {
    let mut best: Option<Pair> = None;
    for a in x.1 {
        for b in y.1.iter().filter(|b| b.op == a.op) {
            let swaps = if a.op.is_commutative() || a.op == Op::Mad { 2 } else { 1 };
            for swap in 0..swaps {
                let mut other: SmallVec<[&Column; 3]> = b.columns.iter().collect();
                if swap == 1 {
                    other.swap(0, 1);
                }
                let mut columns: SmallVec<[Column; 3]> = SmallVec::new();
                let mut strangers = 0;
                for (p, q) in a.columns.iter().zip(other) {
                    let column: Column = p.iter().chain(q.iter()).copied().collect();
                    let (moves, more) = gather_guess(plan, &column);
                    if moves > 0 {
                        break; // the pack saves one slot, and the gather costs as much
                    }
                    strangers += more;
                    columns.push(column);
                }
                if columns.len() < a.columns.len() {
                    continue;
                }
                let padded = u32::from(a.op == Op::Mad);
                let guess = strangers * 2 + padded;
                if best.as_ref().is_none_or(|old| guess < old.guess) {
                    best = Some(Pair { x: x.0, y: y.0, op: a.op, columns, guess });
                }
            }
        }
    }
    best
}

/// Copies that a gather surely needs, and computed values that it must bring together.
fn gather_guess(plan: &Resolved, column: &Column) -> (u32, u32) {
    let mut known = false;
    let mut fixed: SmallVec<[(ClassId, bool, bool); 4]> = SmallVec::new();
    let mut computed: SmallVec<[(ClassId, bool, bool); 4]> = SmallVec::new();
    for source in column {
        match source {
            Source::Known(_) => known = true,
            Source::Of(lane) => {
                let key = (lane.base, lane.neg, lane.abs);
                let free = matches!(plan.kind[lane.base], Some(Kind::Alu | Kind::Sat(_) | Kind::Gather));
                let list = if free && !lane.neg && !lane.abs { &mut computed } else { &mut fixed };
                if !list.contains(&key) {
                    list.push(key);
                }
            }
        }
    }
    if !known && fixed.len() + computed.len() == 1 || fixed.is_empty() && computed.is_empty() {
        return (0, 0);
    }
    (u32::from(known) + fixed.len() as u32, computed.len() as u32)
}

struct Maker<'g> {
    graph: &'g mut Graph,
    choice: &'g mut Choice,
    memo: &'g mut Memo,
    /// Where the pack is needed.
    need: Option<Point>,
}

impl Maker<'_> {
    /// Adds the pack to the graph and chooses both classes as lanes of it. The two lane nodes are
    /// not listed in their classes yet, so that packs that do not win are no alternatives for later
    /// steps to look at.
    fn force(&mut self, pair: &Pair) -> [(ClassId, NodeId); 2] {
        let kids: Kids = pair.columns.iter().map(|c| self.column(c)).collect();
        let widths = [self.graph.classes[pair.x].width, self.graph.classes[pair.y].width];
        let pack = self.class(widths[0] + widths[1], Head::Op(pair.op), kids);
        let line = self.graph.classes[pair.x].line;
        self.graph.classes[pack].line = self.graph.classes[pack].line.max(line);
        [(pair.x, 0, widths[0]), (pair.y, widths[0], widths[1])].map(|(class, from, width)| {
            let lanes: SmallVec<[u8; 4]> = (from..from + width).collect();
            let node = self.graph.nodes.push(GraphNode {
                head: Head::Swz(Swizzle::new(&lanes)),
                kids: [pack].into_iter().collect(),
                class,
                outside: Outside::Register,
            });
            self.choice[class] = node.into();
            (class, node)
        })
    }

    /// A class of one new node, needed where the pack is.
    fn class(&mut self, width: u8, head: Head, kids: Kids) -> ClassId {
        if let Some(&class) = self.memo.get(&(head, kids.clone())) {
            let need = &mut self.graph.classes[class].need;
            *need = match (*need, self.need) {
                // The same for uses in other blocks: no block of its own, so it joins no pack.
                (Some(a), Some(b)) if a.block != b.block => Some(Point { block: Block::reserved_value(), pos: 0 }),
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
            return class;
        }
        let class = self.graph.add_class(width);
        self.graph.classes[class].need = self.need;
        let node = self.graph.add_node(class, head, kids.clone(), Outside::Register);
        self.choice[class] = node.into();
        self.memo.insert((head, kids), class);
        class
    }

    /// The class of a column: literals, lanes of one value with modifiers, or a gather of such.
    fn column(&mut self, column: &Column) -> ClassId {
        let alike = |a: &Source, b: &Source| match (a, b) {
            (Source::Known(_), Source::Known(_)) => true,
            (Source::Of(a), Source::Of(b)) => (a.base, a.neg, a.abs) == (b.base, b.neg, b.abs),
            _ => false,
        };
        let parts: Kids = column.chunk_by(alike).map(|run| self.run(run)).collect();
        if parts.len() == 1 { parts[0] } else { self.class(column.len() as u8, Head::Op(Op::Cat), parts) }
    }

    fn run(&mut self, run: &[Source]) -> ClassId {
        let width = run.len() as u8;
        let lanes: Lanes = run
            .iter()
            .filter_map(|s| match s {
                Source::Of(lane) => Some(*lane),
                Source::Known(_) => None,
            })
            .collect();
        let Some(&first) = lanes.first() else {
            let values: SmallVec<[f32; 4]> = run
                .iter()
                .filter_map(|s| match s {
                    Source::Known(bits) => Some(f32::from_bits(*bits)),
                    Source::Of(_) => None,
                })
                .collect();
            return self.class(width, Head::Lit(Literal::new(Scalar::Float, &values)), Kids::new());
        };
        let picks: SmallVec<[u8; 4]> = lanes.iter().map(|l| l.lane).collect();
        let swizzle = Swizzle::new(&picks);
        let mut class = first.base;
        if !swizzle.is_identity(self.graph.classes[class].width) {
            class = self.class(width, Head::Swz(swizzle), [class].into_iter().collect());
        }
        for (wanted, op) in [(first.abs, Op::Abs), (first.neg, Op::Neg)] {
            if wanted {
                class = self.class(width, Head::Op(op), [class].into_iter().collect());
            }
        }
        class
    }
}
