//! The e-graph stage: pure values of a function enter one e-graph, rules rewrite it, an extractor
//! chooses under the target's costs, and the choice goes back to SSA.
//!
//! [`optimize`] is the whole road. Phases, limits and the reasons for both are in the design notes,
//! section 4; what a rule may assume about floats is its level.

pub mod analysis;
pub mod blocks;
pub mod cost;
pub mod dump;
pub mod extract;
pub mod from_egraph;
pub mod lang;
pub mod numeric;
pub mod plan;
pub mod price;
pub mod rules;
pub mod saturate;
pub mod to_egraph;
mod transfer;

use blocks::Blocks;
use cranelift_entity::SecondaryMap;
use dump::Dump;
use egg::Id;
use extract::graph::{Graph, GraphError};
use extract::improve::Effort;
use extract::tree::Tree;
use extract::{Choice, Extractor, SelectionError};
use ir::cost::CostTable;
use ir::diag::{Diagnostic, FileId};
use ir::eval::EvalCfg;
use ir::types::FpLevel;
use ir::{Function, Value};
use lang::EGraph;
use plan::{Method, PlanOptions, PlanReport};
use rules::pack::{self, PackMode, PackOptions, PackStats};
use rules::{Group, Phase, Registry, Rule};
use saturate::{Budget, Limits, PhaseReport, RuleSet, RuleStats, Stop};
use std::fmt;
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use to_egraph::EnterError;

/// What to do.
#[derive(Clone, Debug)]
pub struct Options {
    /// The rule groups in use.
    pub groups: Vec<Group>,
    /// What rules may assume.
    pub level: FpLevel,
    /// The target's arithmetic.
    pub eval: EvalCfg,
    /// How to choose one node a class ([`Method::Chaos`] is for tests: any choice must be correct).
    pub extract: Method,
    /// Whether the choice is improved under the price of the whole plan.
    pub improve: bool,
    /// What is packed (group `pack` must be on).
    pub pack: PackOptions,
    /// All groups in one phase, to saturation.
    pub saturate: bool,
    /// Counts at which rewriting stops.
    pub limits: Limits,
    /// Further rules: a file of the caller's source map and its text.
    pub extra_rules: Option<(FileId, String)>,
    /// What to write down on the way.
    pub dumps: Vec<Dump>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            groups: Group::ALL.to_vec(),
            level: FpLevel::default(),
            eval: EvalCfg::default(),
            extract: Method::default(),
            improve: true,
            pack: PackOptions::default(),
            saturate: false,
            limits: Limits::default(),
            extra_rules: None,
            dumps: Vec::new(),
        }
    }
}

/// What happened.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Nodes at the end of rewriting.
    pub nodes: usize,
    /// Classes at the end of rewriting.
    pub classes: usize,
    /// Phases in order.
    pub phases: Vec<PhaseReport>,
    /// What each rule did.
    pub rules: Vec<RuleStats>,
    /// What the packer did between the algebra and the polish phase.
    pub pack: PackStats,
    /// Cost of the tree extractor's choice, shared values counted once.
    pub tree_cost: u64,
    /// How often facts were joined before the polish phase.
    pub merges: u64,
    /// Time of each part, in order. No decision depends on it.
    pub times: Vec<(&'static str, Duration)>,
    /// What extraction did, without rewriting and with it.
    pub plan: [PlanReport; 2],
    /// Why the function was left as it was, if it was.
    pub kept: Option<GraphError>,
    /// What was asked for, in that order.
    pub dumps: Vec<(Dump, String)>,
}

impl Report {
    /// Turns of all phases.
    pub fn turns(&self) -> usize {
        self.phases.iter().map(|p| p.turns).sum()
    }

    /// Why rewriting ended: the first reason that is not saturation.
    pub fn stop(&self) -> Stop {
        self.phases.iter().map(|p| p.stop).find(|&s| s != Stop::Saturated).unwrap_or(Stop::Saturated)
    }

    /// Whether a limit or a resting rule kept some equality from being found.
    pub fn cut(&self) -> bool {
        self.phases.iter().any(|p| p.cut || p.stop != Stop::Saturated)
    }
}

/// Why a function could not be optimized.
#[derive(Clone, Debug)]
pub enum Error {
    /// It breaks what the stage expects.
    Enter(EnterError),
    /// The caller's rules have errors.
    Rules(Vec<Diagnostic>),
    /// An extractor chose what its check refuses.
    Selection(SelectionError),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Enter(error) => write!(f, "{error}"),
            Error::Rules(list) => {
                write!(f, "{} errors in the rules", list.len())?;
                list.first().map_or(Ok(()), |first| write!(f, ", first: {}", first.message))
            }
            Error::Selection(error) => write!(f, "extraction: {error}"),
        }
    }
}

impl std::error::Error for Error {}

/// The rules of this crate, read once.
pub fn built_in_rules() -> &'static Registry {
    static RULES: OnceLock<Registry> = OnceLock::new();
    RULES.get_or_init(Registry::built_in)
}

/// Reads rules as `--rules FILE` does, without running them.
pub fn check_rules(text: &str, file: FileId) -> Result<usize, Vec<Diagnostic>> {
    let mut registry = Registry::built_in();
    let before = registry.rules().len();
    registry.add_text(text, file, Group::Arith)?;
    Ok(registry.rules().len() - before)
}

/// Optimizes the pure values of a function in place.
pub fn optimize(func: &mut Function<'_>, costs: &CostTable, options: &Options) -> Result<Report, Error> {
    let mut own = None;
    if let Some((file, text)) = &options.extra_rules {
        let mut registry = built_in_rules().clone();
        registry.add_text(text, *file, Group::Arith).map_err(Error::Rules)?;
        own = Some(registry);
    }
    let registry = own.as_ref().unwrap_or_else(|| built_in_rules());
    let chosen: Vec<&Rule> = registry
        .rules()
        .iter()
        .filter(|r| r.level <= options.level && options.groups.contains(&r.group) && r.fits(options.eval))
        .collect();
    let mut clock = Clock { start: Instant::now(), times: Vec::new() };
    let entered = to_egraph::enter(func, options.eval, options.level, options.limits.arrangements);
    let to_egraph::Entered { mut egraph, class_of } = entered.map_err(Error::Enter)?;
    let blocks = Blocks::new(func);
    let mut report = Report::default();
    clock.lap("enter");

    let mode = if options.groups.contains(&Group::Pack) { options.pack.mode } else { PackMode::Off };
    let pack = PackOptions { mode, ..options.pack };
    let plan = PlanOptions {
        method: options.extract,
        improve: options.improve.then(Effort::default).filter(|_| !matches!(options.extract, Method::Chaos(_))),
        seeds: (pack.mode == PackMode::Seeds)
            .then(Effort::default)
            .filter(|_| !matches!(options.extract, Method::Chaos(_))),
        level: options.level,
        ..PlanOptions::default()
    };
    let mut road = Road { func, blocks: &blocks, costs, plan, pack, class_of: &class_of, best: None, kept: None };
    let chaos = matches!(options.extract, Method::Chaos(_));
    if !chaos {
        // What the stage must never be worse than: the function as it came.
        let plain = PlanOptions { improve: None, seeds: None, method: Method::GreedyDag, ..plan };
        road.consider(egraph.clone(), PackStats::default(), plain)?;
        report.plan[0] = road.best.as_ref().map(|b| b.report).unwrap_or_default();
    }
    clock.lap("plan-plain");

    let mut rules = RuleSet::new(chosen);
    let limits = &options.limits;
    let nodes = egraph.total_size();
    let cap = (nodes * limits.growth).max(limits.floor).min(limits.nodes).max(nodes * 2);
    let budget = |turns, cap| {
        let (turns, matches) = limits.for_size(turns, nodes);
        Budget { turns, nodes: cap, matches, rest: limits.rest }
    };
    if options.saturate {
        let budget = budget(limits.saturate_turns, limits.saturate_nodes);
        report.phases.push(rules.run(&mut egraph, "saturate", None, budget));
        clock.lap("saturate");
        report.merges = egraph.analysis.merges;
        report.phases.extend(road.consider_packed(egraph, &mut rules, None)?);
    } else {
        let polish = Some(budget(limits.polish, cap));
        report.phases.push(rules.run(&mut egraph, "simplify", Some(Phase::Simplify), budget(limits.simplify, cap)));
        clock.lap("simplify");
        report.phases.push(rules.run(&mut egraph, "algebra", Some(Phase::Algebra), budget(limits.algebra, cap)));
        clock.lap("algebra");
        report.merges = egraph.analysis.merges;
        report.phases.extend(road.consider_packed(egraph, &mut rules, polish)?);
    }
    clock.lap("pack-polish-plan");
    report.rules = rules.into_stats();
    let Road { best, kept, .. } = road;
    let Some(best) = best else {
        report.kept = kept;
        report.times = clock.times;
        return Ok(report);
    };
    report.nodes = best.egraph.total_number_of_nodes();
    report.classes = best.egraph.number_of_classes();
    report.pack = best.pack;
    report.plan[1] = best.report;
    report.tree_cost = Tree.extract(&best.graph, costs).dag_cost;
    for &dump in &options.dumps {
        report.dumps.push((dump, dump.write(&best.egraph, func, &best.graph, &best.choice)));
    }
    from_egraph::place(func, &blocks, &best.graph, &best.choice);
    clock.lap("place");
    report.times = clock.times;
    Ok(report)
}

/// Times the parts for the report.
struct Clock {
    start: Instant,
    times: Vec<(&'static str, Duration)>,
}

impl Clock {
    fn lap(&mut self, name: &'static str) {
        let now = Instant::now();
        self.times.push((name, now - std::mem::replace(&mut self.start, now)));
    }
}

/// A plan and where it comes from.
struct Candidate {
    egraph: EGraph,
    graph: Graph,
    choice: Choice,
    report: PlanReport,
    pack: PackStats,
}

/// The best plan so far.
struct Road<'r, 'f> {
    func: &'r Function<'f>,
    blocks: &'r Blocks,
    costs: &'r CostTable,
    plan: PlanOptions,
    pack: PackOptions,
    class_of: &'r SecondaryMap<Value, Option<Id>>,
    best: Option<Candidate>,
    kept: Option<GraphError>,
}

impl Road<'_, '_> {
    /// Packs, polishes, and plans a graph.
    fn consider_packed(
        &mut self,
        mut egraph: EGraph,
        rules: &mut RuleSet<'_>,
        polish: Option<Budget>,
    ) -> Result<Option<PhaseReport>, Error> {
        let pack = pack::demand(&mut egraph, &self.pack);
        let mut phase = None;
        if let Some(budget) = polish.filter(|_| pack.packed > 0) {
            let nodes = egraph.total_size() + budget.nodes;
            phase = Some(rules.run(&mut egraph, "polish", Some(Phase::Polish), Budget { nodes, ..budget }));
        }
        self.consider(egraph, pack, self.plan)?;
        Ok(phase)
    }

    /// Plans a graph; keeps the plan if it is the cheapest.
    fn consider(&mut self, egraph: EGraph, pack: PackStats, plan: PlanOptions) -> Result<(), Error> {
        let mut graph = match Graph::build(&egraph, self.func, self.blocks, |v| self.class_of[v]) {
            Ok(graph) => graph,
            Err(error) => {
                self.kept = Some(error);
                return Ok(());
            }
        };
        let start = self.best.as_ref().map(|b| (&b.graph, &b.choice));
        let (choice, report) =
            plan::choose(&mut graph, self.func, self.blocks, self.costs, &plan, start).map_err(Error::Selection)?;
        if self.best.as_ref().is_none_or(|b| report.planned.cost() < b.report.planned.cost()) {
            self.best = Some(Candidate { egraph, graph, choice, report, pack });
        }
        Ok(())
    }
}
