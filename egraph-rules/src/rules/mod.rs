//! The registry of rules: what each is called, which group it belongs to, from which level on it
//! may run, in which phases, and how it is tested.
//!
//! In: the embedded rule texts, the appliers of this crate, and texts loaded at run time. Out: the
//! rules of a run. Invariant: a rule cannot register without a way to test it (a text rule is its
//! own test; an applier brings examples), names are unique.

pub mod chain;
pub mod cond;
pub mod dot;
pub mod lanes;
pub mod pack;
pub mod parse;
pub mod pattern;
pub mod program;
pub mod view;

use crate::lang::{self, EGraph, Node};
use cond::Cond;
use egg::Id;
use ir::Op;
use ir::diag::{Diagnostic, FileId};
use ir::eval::EvalCfg;
use ir::types::FpLevel;
use pattern::Pat;
use program::Program;
use view::View;

/// A set of rules that can be switched off.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Group {
    /// Sums, products, source modifiers.
    Arith,
    /// Multiply-add and interpolation.
    Mad,
    /// Dot products.
    Dot,
    /// Lanes.
    Swizzle,
    /// Narrow work into vectors.
    Pack,
    /// Comparison, choice, minimum, maximum, saturation.
    Select,
    /// Reciprocals, roots, powers, trigonometry, whole parts.
    Math,
}

impl Group {
    /// All groups.
    pub const ALL: [Group; 7] =
        [Group::Arith, Group::Mad, Group::Dot, Group::Swizzle, Group::Pack, Group::Select, Group::Math];

    /// The name in pipelines.
    pub fn name(self) -> &'static str {
        match self {
            Group::Arith => "arith",
            Group::Mad => "mad",
            Group::Dot => "dot",
            Group::Swizzle => "swizzle",
            Group::Pack => "pack",
            Group::Select => "select",
            Group::Math => "math",
        }
    }

    /// The group of a name.
    pub fn parse(name: &str) -> Option<Group> {
        Group::ALL.into_iter().find(|g| g.name() == name)
    }
}

/// A phase of rewriting (design notes, section 4). Packing has its own module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Identities that only make things smaller.
    Simplify,
    /// Forms of equal cost that lead to better ones.
    Algebra,
    /// After packing.
    Polish,
}

/// The phases of a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Phases(u8);

impl Phases {
    /// Reads letters `A`, `B`, `D`.
    pub fn parse(text: &str) -> Option<Phases> {
        let mut bits = 0;
        for letter in text.chars() {
            bits |= match letter {
                'A' => 1,
                'B' => 2,
                'D' => 4,
                _ => return None,
            };
        }
        (bits != 0).then_some(Phases(bits))
    }

    /// Whether a rule runs in a phase.
    pub fn has(self, phase: Phase) -> bool {
        let bit = match phase {
            Phase::Simplify => 1,
            Phase::Algebra => 2,
            Phase::Polish => 4,
        };
        self.0 & bit != 0
    }
}

/// A rule given as text.
#[derive(Clone, Debug)]
pub struct TextRule {
    /// What to match.
    pub lhs: Pat,
    /// What is equal to it.
    pub rhs: Pat,
    /// Conditions on variables (the number is 0 for those of the target).
    pub conds: Vec<(Cond, u8)>,
    /// Number of variables.
    pub vars: usize,
    /// The left side with its conditions, ready to match.
    pub program: Program,
}

/// A rule given as code: for a node of a class, other classes that are equal to it.
#[derive(Clone, Copy)]
pub struct Applier {
    /// The opcodes of the nodes to look at.
    pub ops: &'static [Op],
    /// Adds what is equal to the node; the caller makes them one class.
    pub apply: fn(&mut EGraph, Id, &Node) -> Vec<Id>,
    /// Whether it looks at whole chains and so runs in a few turns only.
    pub seldom: bool,
    /// Terms that it must change, in the text form of nodes (`v1:3` is a leaf of three lanes).
    pub examples: &'static [&'static str],
}

impl std::fmt::Debug for Applier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Applier").field("ops", &self.ops).finish_non_exhaustive()
    }
}

/// What a rule does.
#[derive(Clone, Debug)]
pub enum Body {
    /// Two patterns.
    Text(TextRule),
    /// Code.
    Code(Applier),
}

/// A rule.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Unique name.
    pub name: String,
    /// Its group.
    pub group: Group,
    /// The first level that allows it.
    pub level: FpLevel,
    /// When it runs.
    pub phases: Phases,
    /// Largest relative error above `strict`.
    pub bound: f32,
    /// What it does.
    pub body: Body,
}

/// A place where a rule applies.
#[derive(Clone, Debug)]
pub enum Match {
    /// A class and the classes of the variables.
    Text(Id, pattern::Subst),
    /// A class and one of its nodes.
    Code(Id, Node),
}

impl Rule {
    /// Makes a rule of code.
    pub fn code(name: &str, group: Group, level: FpLevel, phases: &str, applier: Applier) -> Rule {
        let phases = Phases::parse(phases).unwrap_or(Phases(1));
        Rule { name: name.into(), group, level, phases, bound: parse::DEFAULT_BOUND, body: Body::Code(applier) }
    }

    /// Whether the target's arithmetic allows it.
    pub fn fits(&self, cfg: EvalCfg) -> bool {
        match &self.body {
            Body::Text(text) => text.conds.iter().all(|(c, _)| c.holds_for(cfg)),
            Body::Code(_) => true,
        }
    }

    /// Where it applies, at most `limit` places, in the order of the classes' numbers. With
    /// `changes_only`, where it may apply in another way than in the turn before.
    pub fn search(&self, egraph: &EGraph, view: &View, changes_only: bool, limit: usize) -> Vec<Match> {
        let mut out = Vec::new();
        match &self.body {
            Body::Text(text) => {
                let Some(op) = text.lhs.root_op() else { return out };
                let reach = if changes_only { text.program.reach() } else { u8::MAX };
                let mut found = Vec::new();
                for &id in view.with_op(op).iter().filter(|&&id| view.changed(id, reach)) {
                    text.program.matches(view, id, &mut found);
                    out.extend(found.drain(..).map(|subst| Match::Text(Id::from(id as usize), subst)));
                    if out.len() >= limit {
                        break;
                    }
                }
            }
            Body::Code(code) => {
                let reach = if changes_only { CODE_REACH } else { u8::MAX };
                let mut ids: Vec<u32> = code.ops.iter().flat_map(|&op| view.with_op(op)).copied().collect();
                ids.retain(|&id| view.changed(id, reach));
                ids.sort_unstable();
                ids.dedup();
                for id in ids {
                    let id = Id::from(id as usize);
                    let nodes = egraph[id].nodes.iter();
                    let nodes = nodes.filter(|n| n.op().is_some_and(|op| code.ops.contains(&op)));
                    out.extend(nodes.map(|n| Match::Code(id, n.clone())));
                    if out.len() >= limit {
                        break;
                    }
                }
            }
        }
        out.truncate(limit);
        out
    }

    /// Applies it at one place; says whether anything became equal that was not.
    pub fn apply(&self, egraph: &mut EGraph, found: &Match) -> bool {
        match (&self.body, found) {
            (Body::Text(text), Match::Text(id, subst)) => {
                let lanes = lang::width(egraph, *id);
                let other = pattern::build(egraph, &text.rhs, subst, lanes);
                other.is_some_and(|other| self.unite(egraph, *id, other))
            }
            (Body::Code(code), Match::Code(id, node)) => {
                let mut changed = false;
                for other in (code.apply)(egraph, *id, node) {
                    changed |= self.unite(egraph, *id, other);
                }
                changed
            }
            _ => false,
        }
    }

    fn unite(&self, egraph: &mut EGraph, id: Id, other: Id) -> bool {
        if lang::width(egraph, other) != lang::width(egraph, id) || egraph.find(other) == egraph.find(id) {
            return false;
        }
        if egraph.are_explanations_enabled() {
            egraph.union_trusted(id, other, self.name.as_str())
        } else {
            egraph.union(id, other)
        }
    }
}

/// How far below its node a rule of code is taken to look.
const CODE_REACH: u8 = 3;

const TEXTS: [(&str, Group, &str); 7] = [
    ("arith.rules", Group::Arith, include_str!("../../rules/arith.rules")),
    ("source_mod.rules", Group::Arith, include_str!("../../rules/source_mod.rules")),
    ("mad.rules", Group::Mad, include_str!("../../rules/mad.rules")),
    ("dot.rules", Group::Dot, include_str!("../../rules/dot.rules")),
    ("swizzle.rules", Group::Swizzle, include_str!("../../rules/swizzle.rules")),
    ("select.rules", Group::Select, include_str!("../../rules/select.rules")),
    ("math.rules", Group::Math, include_str!("../../rules/math.rules")),
];

/// All rules of a run.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    rules: Vec<Rule>,
}

impl Registry {
    /// No rules.
    pub fn new() -> Registry {
        Registry::default()
    }

    /// The rules of this crate.
    ///
    /// # Panics
    /// When an embedded text has an error; a test reads them all.
    pub fn built_in() -> Registry {
        let mut registry = Registry::new();
        for (name, group, text) in TEXTS {
            if let Err(errors) = registry.add_text(text, FileId(0), group) {
                panic!("{name}: {}", errors.iter().map(|e| e.message.as_str()).collect::<Vec<_>>().join("; "));
            }
        }
        for rule in lanes::rules().into_iter().chain(dot::rules()).chain(chain::rules()) {
            if let Err(message) = registry.add(rule) {
                panic!("{message}");
            }
        }
        registry
    }

    /// Adds the rules of a text, all or none.
    pub fn add_text(&mut self, text: &str, file: FileId, group: Group) -> Result<(), Vec<Diagnostic>> {
        let (rules, mut errors) = parse::parse_rules(text, file, group);
        let before = self.rules.len();
        for rule in rules {
            if let Err(message) = self.add(rule) {
                errors.push(Diagnostic::error("bad-rule", ir::diag::Span::new(file, 0, 0), message));
            }
        }
        if errors.is_empty() {
            return Ok(());
        }
        self.rules.truncate(before);
        Err(errors)
    }

    /// Adds a rule; refused when the name is taken or nothing could test it.
    pub fn add(&mut self, rule: Rule) -> Result<(), String> {
        if self.rules.iter().any(|r| r.name == rule.name) {
            return Err(format!("two rules are named `{}`", rule.name));
        }
        if matches!(&rule.body, Body::Code(code) if code.examples.is_empty()) {
            return Err(format!("rule `{}` has no examples to test it with", rule.name));
        }
        self.rules.push(rule);
        Ok(())
    }

    /// The rules in order.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }
}
