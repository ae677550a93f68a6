//! What a whole plan costs on the machine: the count that improvement, seeds and reports go by.
//!
//! In: a graph and a choice. Out: a [`Price`]. Unlike the sum of node costs it looks at all uses of
//! a value, because the machine does (design notes, section 5):
//! - swizzle, negation and absolute value ride on a source operand;
//! - saturation rides on the instruction that computes the value, when nothing else reads it;
//! - a gather is free where its parts are lanes of one register, or are computed straight into its
//!   lanes; each part can be so placed in one register only. What cannot be placed costs one copy
//!   for each register that it must be fetched from, literals together one;
//! - an output cannot be read back, so what is placed there must have no other use.
//!
//! Gathers choose their parts widest first, then in order; so the price is what that order reaches,
//! an upper bound of what allocation with its own search may reach.

use crate::cost::{LATENCY, SLOT};
use crate::extract::graph::{ClassId, Graph, GraphNode, Outside, UseKind};
use crate::extract::{Choice, Walk, topological};
use crate::lang::{Head, Leaf};
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use ir::Op;
use ir::cost::CostTable;
use ir::op::Shape;
use smallvec::SmallVec;

/// What a plan costs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Price {
    /// Issue slots, without pinned instructions and flow.
    pub slots: u64,
    /// How many of them only move lanes.
    pub moves: u64,
    /// Cycles on the longest way through the values.
    pub latency: u64,
    /// Instructions: the guess at register pressure.
    pub values: u64,
}

impl Price {
    /// All in one number.
    pub fn cost(&self) -> u64 {
        self.slots * SLOT + self.latency.min(500) * LATENCY + self.values.min(63)
    }
}

/// A lane of a base value with modifiers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Lane {
    pub(crate) base: ClassId,
    pub(crate) lane: u8,
    pub(crate) neg: bool,
    pub(crate) abs: bool,
}

/// A value as an operand: up to 4 lanes. Copied around in the innermost loops of the search, so it
/// is plain words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Lanes {
    all: [Lane; 4],
    len: u8,
}

impl Lanes {
    const NONE: Lanes = Lanes { all: [Lane { base: ClassId::NONE, lane: 0, neg: false, abs: false }; 4], len: 0 };

    fn push(&mut self, lane: Lane) {
        self.all[self.len as usize] = lane;
        self.len += 1;
    }

    fn map(mut self, change: impl Fn(Lane) -> Lane) -> Lanes {
        for lane in &mut self.all {
            *lane = change(*lane);
        }
        self
    }
}

impl std::ops::Deref for Lanes {
    type Target = [Lane];

    fn deref(&self) -> &[Lane] {
        &self.all[..self.len as usize]
    }
}

impl FromIterator<Lane> for Lanes {
    fn from_iter<I: IntoIterator<Item = Lane>>(lanes: I) -> Lanes {
        let mut out = Lanes::NONE;
        lanes.into_iter().for_each(|lane| out.push(lane));
        out
    }
}

/// What a base value is to those who read it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Literal,
    /// Read where it is: uniform, input, block parameter.
    Fixed,
    /// A texture result.
    Texture,
    /// Computed by an instruction that can write any lanes.
    Alu,
    /// `Sat` of the base of its only operand lane.
    Sat(ClassId),
    /// Lanes of several bases.
    Gather,
}

/// A register: the base value or gather that owns it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Register(ClassId);

/// Room for prices, used again from one to the next: a search asks for thousands, and each looks at
/// few of the graph's classes.
#[derive(Debug, Default)]
pub struct Scratch {
    maps: Option<Maps>,
    walk: Walk,
}

#[derive(Debug)]
struct Maps {
    lanes: SecondaryMap<ClassId, Lanes>,
    kind: SecondaryMap<ClassId, Option<Kind>>,
    uses: SecondaryMap<ClassId, u32>,
    place: SecondaryMap<ClassId, PackedOption<ClassId>>,
    depth: SecondaryMap<ClassId, u64>,
}

struct Pricer<'a> {
    graph: &'a Graph,
    costs: &'a CostTable,
    choice: &'a Choice,
    lanes: SecondaryMap<ClassId, Lanes>,
    kind: SecondaryMap<ClassId, Option<Kind>>,
    uses: SecondaryMap<ClassId, u32>,
    /// The register that a placed value lies in.
    place: SecondaryMap<ClassId, PackedOption<ClassId>>,
    depth: SecondaryMap<ClassId, u64>,
    price: Price,
}

/// Every class of a plan as an operand: its lanes, and what its base values are.
pub(crate) struct Resolved {
    /// Operands first.
    pub(crate) order: Vec<ClassId>,
    pub(crate) lanes: SecondaryMap<ClassId, Lanes>,
    pub(crate) kind: SecondaryMap<ClassId, Option<Kind>>,
}

/// Resolves the operands of a plan; `None` when it is incomplete or needs itself.
pub(crate) fn resolve(graph: &Graph, costs: &CostTable, choice: &Choice) -> Option<Resolved> {
    let order = topological(graph, choice)?;
    let mut pricer = Pricer::new(graph, costs, choice, &mut Scratch::default());
    for &class in &order {
        pricer.resolve(class);
    }
    Some(Resolved { order, lanes: pricer.lanes, kind: pricer.kind })
}

/// The price of a choice; `None` when it is incomplete or needs itself.
pub fn price(graph: &Graph, costs: &CostTable, choice: &Choice) -> Option<Price> {
    price_in(&mut Scratch::default(), graph, costs, choice)
}

/// The same with room from the prices before.
pub fn price_in(scratch: &mut Scratch, graph: &Graph, costs: &CostTable, choice: &Choice) -> Option<Price> {
    price_below(scratch, graph, costs, choice, u64::MAX)
}

/// The same, or `None` when it has more than so many slots.
pub(crate) fn price_below(
    scratch: &mut Scratch,
    graph: &Graph,
    costs: &CostTable,
    choice: &Choice,
    slots: u64,
) -> Option<Price> {
    scratch.walk.run(graph, choice)?;
    let order = std::mem::take(&mut scratch.walk.order);
    let mut pricer = Pricer::new(graph, costs, choice, scratch);
    pricer.run(&order, slots);
    let Pricer { lanes, kind, uses, place, depth, price, .. } = pricer;
    scratch.maps = Some(Maps { lanes, kind, uses, place, depth });
    scratch.walk.order = order;
    (price.slots <= slots).then_some(price)
}

impl<'a> Pricer<'a> {
    fn run(&mut self, order: &[ClassId], slots: u64) {
        for &class in order {
            (self.uses[class], self.place[class]) = (0, PackedOption::default());
            self.resolve(class);
        }
        for &class in order {
            self.count_uses(class);
        }
        for root in &self.graph.roots {
            let used = match root.kind {
                UseKind::Store(mask) => self.stored(root.class, mask),
                _ => self.lanes[root.class],
            };
            self.add_uses(&used);
        }
        // Gathers add their uses only if something reads them, so users come first.
        for &class in order.iter().rev() {
            if self.kind[class] == Some(Kind::Gather) && self.uses[class] > 0 {
                let lanes = self.gather_lanes(class);
                self.add_uses(&lanes);
            }
        }
        // Slots are only added from here on.
        self.instructions(order);
        if self.price.slots > slots {
            return;
        }
        self.gathers(order);
        self.roots();
    }

    fn new(graph: &'a Graph, costs: &'a CostTable, choice: &'a Choice, scratch: &mut Scratch) -> Pricer<'a> {
        let maps = scratch.maps.take().unwrap_or_else(|| Maps {
            lanes: SecondaryMap::with_default(Lanes::NONE),
            kind: SecondaryMap::new(),
            uses: SecondaryMap::new(),
            place: SecondaryMap::new(),
            depth: SecondaryMap::new(),
        });
        let Maps { mut lanes, mut kind, mut uses, mut place, mut depth } = maps;
        let size = graph.classes.len();
        lanes.resize(size);
        kind.resize(size);
        uses.resize(size);
        place.resize(size);
        depth.resize(size);
        Pricer { graph, costs, choice, lanes, kind, uses, place, depth, price: Price::default() }
    }

    fn node(&self, class: ClassId) -> &'a GraphNode {
        let node = self.choice[class].expand().expect("topological order has chosen classes only");
        &self.graph.nodes[node]
    }

    fn own_lanes(&self, class: ClassId) -> Lanes {
        (0..self.graph.classes[class].width).map(|lane| Lane { base: class, lane, neg: false, abs: false }).collect()
    }

    /// What the class is as an operand.
    fn resolve(&mut self, class: ClassId) {
        let node = self.node(class);
        let kid = |i: usize| self.lanes[node.kids[i]];
        let mut depth = node.kids.iter().map(|&k| self.depth[k]).max().unwrap_or(0);
        let base = |kind: Kind| (Some(kind), self.own_lanes(class));
        let (kind, lanes) = match node.head {
            Head::Lit(_) => base(Kind::Literal),
            Head::Leaf(Leaf::Elem { .. }) | Head::At { .. } => base(Kind::Fixed),
            Head::Leaf(Leaf::Value { .. }) => match node.outside {
                Outside::Register => base(Kind::Fixed),
                Outside::Texture => base(Kind::Texture),
                Outside::Alu => base(Kind::Alu),
            },
            Head::Txl { .. } => base(Kind::Texture),
            Head::Swz(swizzle) if self.costs.free_swizzle => {
                let from = kid(0);
                (None, swizzle.lanes().iter().map(|&l| from[l as usize]).collect())
            }
            Head::Op(Op::Neg) if self.costs.free_neg => (None, kid(0).map(|l| Lane { neg: !l.neg, ..l })),
            Head::Op(Op::Abs) if self.costs.free_abs => (None, kid(0).map(|l| Lane { neg: false, abs: true, ..l })),
            Head::Op(Op::Sat) if self.costs.free_sat => {
                let from = kid(0);
                let first = from[0];
                let plain = from.iter().all(|l| l.base == first.base && !l.neg && !l.abs);
                match self.kind[first.base] {
                    Some(Kind::Alu | Kind::Texture) if plain => base(Kind::Sat(first.base)),
                    _ => base(Kind::Alu),
                }
            }
            Head::Op(Op::Cat) => {
                let all: Lanes = node.kids.iter().flat_map(|&k| self.lanes[k].iter().copied()).collect();
                let first = all[0];
                if all.iter().all(|l| (l.base, l.neg, l.abs) == (first.base, first.neg, first.abs)) {
                    (None, all)
                } else {
                    base(Kind::Gather)
                }
            }
            _ => base(Kind::Alu),
        };
        if let Some(Kind::Alu | Kind::Texture) = kind {
            depth += node.op().and_then(|op| self.costs.op(op)).map_or(0, |c| u64::from(c.latency));
        }
        self.depth[class] = depth;
        self.kind[class] = kind;
        self.lanes[class] = lanes;
    }

    fn add_uses(&mut self, lanes: &[Lane]) {
        let mut seen: SmallVec<[ClassId; 4]> = SmallVec::new();
        for lane in lanes {
            if !seen.contains(&lane.base) {
                seen.push(lane.base);
                self.uses[lane.base] += 1;
            }
        }
    }

    /// Uses by the instructions of the plan. A gather's own uses come later.
    fn count_uses(&mut self, class: ClassId) {
        if matches!(self.kind[class], Some(Kind::Alu | Kind::Texture | Kind::Fixed | Kind::Sat(_))) {
            for &kid in &self.node(class).kids {
                let lanes = self.lanes[kid];
                self.add_uses(&lanes);
            }
        }
    }

    /// The lanes of a gather with gathers among its parts opened.
    fn gather_lanes(&self, class: ClassId) -> Lanes {
        let mut out = Lanes::NONE;
        for &kid in &self.node(class).kids {
            for &lane in self.lanes[kid].iter() {
                if self.kind[lane.base] == Some(Kind::Gather) {
                    let inner = self.gather_lanes(lane.base)[lane.lane as usize];
                    let abs = lane.abs || inner.abs;
                    let neg = if lane.abs { lane.neg } else { lane.neg != inner.neg };
                    out.push(Lane { neg, abs, ..inner });
                } else {
                    out.push(lane);
                }
            }
        }
        out
    }

    /// Whether the saturation rides on the instruction below.
    fn folds(&self, base: ClassId) -> bool {
        self.uses[base] == 1
    }

    fn copies(&mut self, n: u64) {
        let slots = u64::from(self.costs.slots(Op::Mov));
        self.price.slots += n * slots;
        self.price.moves += n * slots;
        self.price.values += n;
    }

    fn instructions(&mut self, order: &[ClassId]) {
        let mut addresses: SmallVec<[ClassId; 4]> = SmallVec::new();
        let mut copied: SmallVec<[ClassId; 8]> = SmallVec::new();
        for &class in order {
            let node = self.node(class);
            match (self.kind[class], node.head) {
                (Some(Kind::Alu | Kind::Texture), Head::Leaf(_)) => {} // pinned, paid by the skeleton
                (Some(Kind::Alu | Kind::Texture), _) => {
                    let op = node.op().unwrap_or(Op::Mov);
                    let op = if matches!(op, Op::Neg | Op::Abs | Op::Sat | Op::Swz) { Op::Mov } else { op };
                    let issues = if op.shape() == Shape::ScalarUnit { self.distinct_lanes(node.kids[0]) } else { 1 };
                    self.price.slots += u64::from(self.costs.slots(op)) * issues;
                    self.price.values += 1;
                    self.price.latency = self.price.latency.max(self.depth[class]);
                    self.operands(node, &mut copied);
                }
                (Some(Kind::Sat(base)), _) if !self.folds(base) => self.copies(1),
                (Some(Kind::Fixed), Head::At { op, .. }) => {
                    // One address register's worth for each value that indices are taken from.
                    for &lane in self.lanes[node.kids[0]].iter() {
                        if !addresses.contains(&lane.base) {
                            addresses.push(lane.base);
                            self.price.slots += u64::from(self.costs.slots(op));
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn distinct_lanes(&self, class: ClassId) -> u64 {
        let mut seen: SmallVec<[Lane; 4]> = SmallVec::new();
        for &lane in self.lanes[class].iter() {
            if !seen.contains(&lane) {
                seen.push(lane);
            }
        }
        seen.len() as u64
    }

    /// Copies for operands that an instruction cannot read as they are. Its literals stand in one register,
    /// and what is copied once serves all who read it.
    fn operands(&mut self, node: &GraphNode, copied: &mut SmallVec<[ClassId; 8]>) {
        let mut uniforms: SmallVec<[ClassId; 4]> = SmallVec::new();
        let mut inputs: SmallVec<[ClassId; 4]> = SmallVec::new();
        let mut literal = None;
        for (i, &kid) in node.kids.iter().enumerate() {
            let lane = self.lanes[kid][0];
            if node.use_kind(i) == UseKind::Coord {
                self.coordinate(kid);
            }
            let file = match (self.kind[lane.base], self.node(lane.base).head) {
                (Some(Kind::Literal), _) => {
                    literal = literal.or(Some(lane.base));
                    continue;
                }
                (_, Head::Leaf(Leaf::Elem { op: Op::Input, .. }) | Head::At { op: Op::InputAt, .. }) => &mut inputs,
                (_, Head::Leaf(Leaf::Elem { .. }) | Head::At { .. }) => &mut uniforms,
                _ => continue,
            };
            if !file.contains(&lane.base) {
                file.push(lane.base);
            }
        }
        uniforms.extend(literal);
        for (file, ports) in [(uniforms, self.costs.const_ports), (inputs, self.costs.input_ports)] {
            let ports = ports.max(1) as usize;
            if file.len() > ports {
                let left: SmallVec<[ClassId; 4]> = file.into_iter().filter(|c| !copied.contains(c)).collect();
                let more = left.len().saturating_sub(ports);
                copied.extend(left.into_iter().rev().take(more));
                self.copies(more as u64);
            }
        }
    }

    fn coordinate(&mut self, class: ClassId) {
        let lanes = &self.lanes[class];
        let modified = lanes.iter().any(|l| l.neg || l.abs);
        let moved = lanes.iter().enumerate().any(|(i, l)| l.lane as usize != i);
        let retarget =
            matches!(self.kind[lanes[0].base], Some(Kind::Alu | Kind::Gather)) && self.uses[lanes[0].base] == 1;
        if modified || (moved && !self.costs.free_tex_swizzle && !retarget) {
            self.copies(1);
        }
    }

    /// Whether its instruction can write the value into lanes of another's choice.
    fn can_place(&self, lane: Lane, at: u8) -> bool {
        if lane.neg || lane.abs || self.place[lane.base].is_some() {
            return false;
        }
        match self.kind[lane.base] {
            Some(Kind::Alu) => true,
            Some(Kind::Texture) => lane.lane == at,
            Some(Kind::Sat(base)) => {
                // A copy that saturates goes anywhere; folded, it is the instruction below.
                !self.folds(base) || self.kind[base] == Some(Kind::Alu) || lane.lane == at
            }
            _ => false,
        }
    }

    /// The register that a lane is read from.
    fn register(&self, lane: Lane) -> Register {
        Register(self.place[lane.base].expand().unwrap_or(lane.base))
    }

    fn gathers(&mut self, order: &[ClassId]) {
        let mut stored: SmallVec<[ClassId; 4]> = SmallVec::new();
        for root in &self.graph.roots {
            if let UseKind::Store(mask) = root.kind {
                let lanes = self.stored(root.class, mask);
                let base = lanes.first().map(|l| l.base);
                if let Some(base) = base.filter(|&b| self.kind[b] == Some(Kind::Gather) && self.uses[b] == 1) {
                    stored.push(base);
                }
            }
        }
        let mut gathers: Vec<ClassId> = order
            .iter()
            .copied()
            .filter(|&c| self.kind[c] == Some(Kind::Gather) && self.uses[c] > 0 && !stored.contains(&c))
            .collect();
        gathers.sort_by_key(|&c| std::cmp::Reverse(self.graph.classes[c].width));
        for class in gathers {
            let moves = self.gather(class);
            self.copies(moves);
        }
    }

    /// Places the parts of a gather that is read as an operand, and counts the copies for the rest.
    fn gather(&mut self, class: ClassId) -> u64 {
        let mut lanes = Lanes::NONE;
        for &lane in self.gather_lanes(class).iter() {
            if !lanes.contains(&lane) {
                lanes.push(lane);
            }
        }
        let (first, register) = (lanes[0], self.register(lanes[0]));
        let literal = lanes.iter().any(|&l| self.kind[l.base] == Some(Kind::Literal));
        let alike = |l: &Lane| (l.neg, l.abs) == (first.neg, first.abs) && self.register(*l) == register;
        if !literal && lanes.iter().all(alike) {
            return 0; // a swizzle of what another gather has brought together
        }
        let mut room = 4u32;
        let mut placed: SmallVec<[ClassId; 4]> = SmallVec::new();
        let mut fetched: SmallVec<[Lane; 4]> = SmallVec::new();
        for (at, &lane) in lanes.iter().enumerate() {
            if placed.contains(&lane.base) && !lane.neg && !lane.abs {
                continue;
            }
            let width = u32::from(self.graph.classes[lane.base].width);
            // Lanes still to come need room too, one each.
            let later = lanes[at + 1..].iter().filter(|l| l.base != lane.base && !placed.contains(&l.base)).count();
            if self.can_place(lane, at as u8) && width + later as u32 <= room {
                placed.push(lane.base);
                room -= width;
            } else {
                fetched.push(lane);
                room = room.saturating_sub(1);
            }
        }
        let moves = self.fetches(&fetched);
        for base in placed {
            self.place[base] = class.into();
        }
        moves
    }

    /// One copy for each register and set of modifiers, one for all literals.
    fn fetches(&self, lanes: &[Lane]) -> u64 {
        let mut sources: SmallVec<[(Option<Register>, bool, bool); 4]> = SmallVec::new();
        for &lane in lanes {
            let key = match self.kind[lane.base] {
                Some(Kind::Literal) => (None, false, false),
                _ => (Some(self.register(lane)), lane.neg, lane.abs),
            };
            if !sources.contains(&key) {
                sources.push(key);
            }
        }
        sources.len() as u64
    }

    fn stored(&self, class: ClassId, mask: ir::types::WriteMask) -> Lanes {
        let lanes = &self.lanes[class];
        mask.lanes().filter_map(|l| lanes.get(l as usize).copied()).collect()
    }

    /// What the uses from outside add: outputs are written directly where nothing else reads the
    /// value, registers of their own take a copy of what is only read where it is.
    fn roots(&mut self) {
        for root in &self.graph.roots {
            let moves = match root.kind {
                UseKind::Operand | UseKind::Address => 0,
                UseKind::Coord => {
                    self.coordinate(root.class);
                    0
                }
                UseKind::Register => {
                    let lane = self.lanes[root.class][0];
                    let computed = matches!(self.kind[lane.base], Some(Kind::Alu | Kind::Gather | Kind::Sat(_)));
                    u64::from(!computed || lane.neg || lane.abs)
                }
                UseKind::Store(mask) => self.store(root.class, mask),
            };
            self.copies(moves);
        }
    }

    fn store(&mut self, class: ClassId, mask: ir::types::WriteMask) -> u64 {
        let lanes = self.stored(class, mask);
        let Some(&first) = lanes.first() else { return 0 };
        let whole = lanes.iter().all(|l| l.base == first.base);
        let gather = whole && self.kind[first.base] == Some(Kind::Gather);
        if gather && (self.uses[first.base] != 1 || first.neg || first.abs) {
            return 1; // gathered elsewhere, copied here
        }
        let parts = if gather {
            let inner = self.gather_lanes(first.base);
            lanes.iter().map(|l| inner[l.lane as usize]).collect()
        } else {
            lanes
        };
        let positions: SmallVec<[u8; 4]> = mask.lanes().collect();
        let mut placed: Lanes = Lanes::NONE;
        let mut fetched = Lanes::NONE;
        for (i, &lane) in parts.iter().enumerate() {
            let at = positions.get(i).copied().unwrap_or(0);
            if self.uses[lane.base] == 1 && self.can_place(lane, at) && !placed.contains(&lane) {
                placed.push(lane);
            } else {
                fetched.push(lane);
            }
        }
        let direct = self.fetches(&fetched);
        if gather && direct > 1 { direct.min(1 + self.gather(first.base)) } else { direct }
    }
}
