//! From a legal graph to a plan: extract, check, improve, seed.
//!
//! In: the graph of a saturated e-graph. Out: a checked choice (the graph may gain the nodes of seed
//! packs) and a report. Each step keeps the better of what it was given and what it found, so a
//! later step never undoes an earlier one.

use crate::blocks::{Blocks, Point, definition_points};
use crate::extract::amortized::reselect;
use crate::extract::carry::carry;
use crate::extract::chaos::Chaos;
use crate::extract::graph::{ClassId, Graph};
use crate::extract::greedy_dag::GreedyDag;
use crate::extract::improve::{Effort, improve};
use crate::extract::seeds::{Seeds, seed};
use crate::extract::share::share_gathers;
use crate::extract::tree::Tree;
use crate::extract::{Choice, Extractor, Selection, SelectionError, check, topological};
use crate::lang::{Head, Leaf};
use crate::price::{Price, price};
use cranelift_entity::SecondaryMap;
use ir::cost::CostTable;
use ir::types::FpLevel;
use ir::{Function, Value};

/// Which extractor.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Method {
    /// [`Tree`].
    Tree,
    /// [`GreedyDag`].
    #[default]
    GreedyDag,
    /// [`Chaos`], with its seed.
    Chaos(u64),
}

impl Method {
    /// Parses the name in pipelines: `tree` or `dag-greedy`.
    pub fn parse(text: &str) -> Option<Method> {
        [Method::Tree, Method::GreedyDag].into_iter().find(|m| m.extractor().name() == text)
    }

    /// The extractor.
    pub fn extractor(self) -> Box<dyn Extractor> {
        match self {
            Method::Tree => Box::new(Tree),
            Method::GreedyDag => Box::new(GreedyDag),
            Method::Chaos(seed) => Box::new(Chaos { seed }),
        }
    }
}

/// What to do between extraction and placement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlanOptions {
    /// How to choose.
    pub method: Method,
    /// Local improvement; none switches it off.
    pub improve: Option<Effort>,
    /// Seed packs; none switches them off.
    pub seeds: Option<Effort>,
    /// Rounds of improvement and seeds.
    pub rounds: u32,
    /// What rewrites may assume.
    pub level: FpLevel,
}

impl Default for PlanOptions {
    fn default() -> PlanOptions {
        PlanOptions {
            method: Method::GreedyDag,
            improve: Some(Effort::default()),
            seeds: Some(Effort::default()),
            rounds: 4,
            level: FpLevel::Glsl,
        }
    }
}

/// What extraction did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PlanReport {
    /// Classes that the roots reach.
    pub classes: usize,
    /// Legal nodes in them.
    pub nodes: usize,
    /// How often a node was looked at to find where it can be known.
    pub visits: u64,
    /// The extractor's cost, shared values once.
    pub dag_cost: u64,
    /// The price of the extractor's choice.
    pub extracted: Price,
    /// The price of the plan.
    pub planned: Price,
    /// Seed packs taken.
    pub seeds: u32,
    /// Gathers that became swizzles of others.
    pub shared: u32,
}

/// Whether each value of a plan is known wherever it is used (design notes, section 1).
pub fn homes_legal(graph: &Graph, choice: &Choice, blocks: &Blocks, defs: &SecondaryMap<Value, Point>) -> bool {
    let Some(order) = topological(graph, choice) else { return false };
    let mut homes: SecondaryMap<ClassId, Point> = SecondaryMap::with_default(blocks.start());
    for class in order {
        let Some(node) = choice[class].expand() else { return false };
        let node = &graph.nodes[node];
        let mut home = match node.head {
            Head::Leaf(Leaf::Value { value, .. }) => defs[value],
            _ => blocks.start(),
        };
        for &kid in &node.kids {
            if blocks.dominates(home, homes[kid]) {
                home = homes[kid];
            } else if !blocks.dominates(homes[kid], home) {
                return false;
            }
        }
        homes[class] = home;
    }
    graph.roots.iter().all(|root| blocks.dominates(homes[root.class], root.point))
}

/// Chooses a node for every class that the roots reach. `start` is a plan of a smaller graph of the
/// same function: the plan will not be worse, seed packs aside.
pub fn choose(
    graph: &mut Graph,
    func: &Function,
    blocks: &Blocks,
    costs: &CostTable,
    options: &PlanOptions,
    start: Option<(&Graph, &Choice)>,
) -> Result<(Choice, PlanReport), SelectionError> {
    let selection = options.method.extractor().extract(graph, costs);
    check(graph, costs, &selection)?;
    let mut report = PlanReport {
        classes: graph.classes.len(),
        nodes: graph.nodes.len(),
        visits: graph.visits,
        dag_cost: selection.dag_cost,
        ..PlanReport::default()
    };
    let mut choice = selection.choice;
    let mut best = price(graph, costs, &choice).unwrap_or_default();
    report.extracted = best;
    let defs = definition_points(func);
    let places = Some((blocks, &defs));
    let carried = start.and_then(|(small, plan)| carry(small, plan, graph, &choice));
    let (mut improving, mut seeding) = (options.improve, options.seeds);
    let mut work = |graph: &mut Graph, choice: &mut Choice, best: &mut Price| {
        if options.improve.is_some() {
            *best = reselect(graph, costs, choice).unwrap_or(*best);
        }
        for _ in 0..options.rounds {
            let (before, safe) = (*best, choice.clone());
            if let Some(effort) = &mut improving {
                *best = improve(graph, costs, choice, effort).unwrap_or(*best);
            }
            // Nodes of seed packs are legal for the plan that they were made for, and improvement may
            // have changed that plan.
            if !homes_legal(graph, choice, blocks, &defs) {
                (*choice, *best) = (safe, before);
                break;
            }
            let (improved, safe) = (*best, choice.clone());
            if let Some(effort) = &mut seeding {
                let seeds = Seeds { costs, level: options.level, places };
                if let Some((new, packs)) = seed(graph, choice, &seeds, effort) {
                    *best = new;
                    report.seeds += packs;
                }
            }
            if !homes_legal(graph, choice, blocks, &defs) {
                (*choice, *best) = (safe, improved);
                break;
            }
            if *best == before {
                break;
            }
        }
    };
    // Each start works on a graph of its own: packs drop nodes that are known too late for them.
    let carried = carried.map(|plan| (graph.clone(), plan));
    work(graph, &mut choice, &mut best);
    if let Some((mut own, mut other)) = carried
        && let Some(mut cost) = price(&own, costs, &other)
    {
        work(&mut own, &mut other, &mut cost);
        if cost.cost() < best.cost() && homes_legal(&own, &other, blocks, &defs) {
            *graph = own;
            (choice, best) = (other, cost);
        }
    }
    if options.improve.is_some() {
        let safe = choice.clone();
        report.shared = share_gathers(graph, &mut choice, costs, places).unwrap_or(0);
        if !homes_legal(graph, &choice, blocks, &defs) {
            (choice, report.shared) = (safe, 0);
        }
        best = price(graph, costs, &choice).unwrap_or(best);
    }
    report.planned = best;
    let planned = Selection::new(graph, costs, choice);
    check(graph, costs, &planned)?;
    Ok((planned.choice, report))
}
