//! Rewriting until nothing new is found or a count is reached.
//!
//! In: an e-graph and the rules of a phase. Out: the grown e-graph and what happened, rule by rule.
//! Invariant: limits are counts, never time; rules, classes and matches go in a fixed order; so the
//! same input gives the same graph everywhere. The backoff follows Willsey et al., "egg: Fast and
//! Extensible Equality Saturation" (POPL 2021): a rule with too many matches rests for a while, and
//! both its limit and its rest double each time.

use crate::lang::EGraph;
use crate::rules::view::View;
use crate::rules::{Body, Group, Phase, Rule};

/// Counts at which rewriting stops.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Phase B may grow the graph to this many times its nodes, ...
    pub growth: usize,
    /// ... but not above this (twice the nodes at the start if these are more than half of it).
    pub nodes: usize,
    /// Small graphs may grow to this many nodes anyway.
    pub floor: usize,
    /// Turns of phase A.
    pub simplify: usize,
    /// Turns of phase B.
    pub algebra: usize,
    /// Turns of phase D.
    pub polish: usize,
    /// Matches of one rule in one turn before it rests.
    pub matches: usize,
    /// Turns of the first rest.
    pub rest: usize,
    /// Graphs of more nodes than this get fewer turns ([`Limits::for_size`]).
    pub large: usize,
    /// Arrangements of a chain (0 to 5).
    pub arrangements: usize,
    /// Nodes at which `saturate` mode gives up.
    pub saturate_nodes: usize,
    /// Turns at which `saturate` mode gives up.
    pub saturate_turns: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            growth: 10,
            nodes: 2_000,
            floor: 300,
            simplify: 12,
            algebra: 20,
            polish: 4,
            matches: 1_000,
            rest: 5,
            large: 4_000,
            arrangements: 5,
            saturate_nodes: 50_000,
            saturate_turns: 200,
        }
    }
}

impl Limits {
    /// Turns of a phase and matches of a rule in a turn for a graph that starts with so many nodes.
    ///
    /// A turn looks at the whole graph, so that the work of all turns would grow with the square of a
    /// large program's size when turns end a phase and matches send most rules to rest. Above `large`
    /// nodes there are fewer turns, and each takes a share of the graph's matches instead.
    pub fn for_size(&self, turns: usize, nodes: usize) -> (usize, usize) {
        if nodes <= self.large {
            return (turns, self.matches);
        }
        ((turns * self.large / nodes).max(2), self.matches.max(nodes / 4))
    }
}

/// Why a phase ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// No rule finds anything new.
    Saturated,
    /// The number of turns was reached.
    Turns,
    /// The number of nodes was reached.
    Nodes,
}

impl Stop {
    /// The word in reports.
    pub fn name(self) -> &'static str {
        match self {
            Stop::Saturated => "saturated",
            Stop::Turns => "turns",
            Stop::Nodes => "nodes",
        }
    }
}

/// What a rule did in all phases.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuleStats {
    /// Its name.
    pub name: String,
    /// Its group.
    pub group: Group,
    /// Places where it matched, counted again when something near them changed.
    pub matches: u64,
    /// Times it made classes equal that were not.
    pub applications: u64,
    /// Nodes that it added.
    pub nodes: u64,
}

/// What happened in a phase.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PhaseReport {
    /// `simplify`, `algebra`, `pack`, `polish` or `saturate`.
    pub name: &'static str,
    /// Turns taken.
    pub turns: usize,
    /// Why it ended.
    pub stop: Stop,
    /// Whether a rule was resting at the end, so that the graph is not saturated for it.
    pub cut: bool,
    /// Nodes before and after.
    pub nodes: [usize; 2],
}

/// The rules of a run with their statistics.
#[derive(Clone, Debug)]
pub struct RuleSet<'r> {
    rules: Vec<&'r Rule>,
    stats: Vec<RuleStats>,
    /// The graph at the last turn.
    view: Option<View>,
    /// The turn, of all phases, in which a rule last looked at all places that were new to it.
    looked: Vec<Option<usize>>,
    /// Turns of all phases.
    turns: usize,
}

/// What one phase may do.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Turns.
    pub turns: usize,
    /// Nodes.
    pub nodes: usize,
    /// Matches of one rule before it rests.
    pub matches: usize,
    /// Turns of the first rest.
    pub rest: usize,
}

/// Turns in which chains are rearranged: once at the start, and after other rules have had their say.
const CHAIN_TURNS: [usize; 3] = [0, 3, 7];

#[derive(Clone, Copy, Default)]
struct Backoff {
    times: u32,
    until: usize,
}

impl<'r> RuleSet<'r> {
    /// The given rules, with no statistics yet.
    pub fn new(rules: Vec<&'r Rule>) -> RuleSet<'r> {
        let stats = rules
            .iter()
            .map(|r| RuleStats { name: r.name.clone(), group: r.group, matches: 0, applications: 0, nodes: 0 })
            .collect();
        let looked = vec![None; rules.len()];
        RuleSet { rules, stats, view: None, looked, turns: 0 }
    }

    /// Statistics in the order of the rules.
    pub fn into_stats(self) -> Vec<RuleStats> {
        self.stats
    }

    /// Runs the rules of a phase (all rules if none is given). All phases of a set run on one graph,
    /// which may change in between.
    pub fn run(
        &mut self,
        egraph: &mut EGraph,
        name: &'static str,
        phase: Option<Phase>,
        budget: Budget,
    ) -> PhaseReport {
        let chosen: Vec<usize> =
            (0..self.rules.len()).filter(|&i| phase.is_none_or(|p| self.rules[i].phases.has(p))).collect();
        let is_chain = |rule: &Rule| matches!(rule.body, Body::Code(code) if code.seldom);
        let has_chains = chosen.iter().any(|&i| is_chain(self.rules[i]));
        let before = egraph.total_number_of_nodes();
        let mut report = PhaseReport { name, turns: 0, stop: Stop::Turns, cut: false, nodes: [before, before] };
        let mut backoff = vec![Backoff::default(); self.rules.len()];
        'turns: for turn in 0..budget.turns {
            report.turns = turn + 1;
            let mut resting = false;
            let mut found = Vec::with_capacity(chosen.len());
            let now = View::new(egraph, self.view.as_ref());
            self.turns += 1;
            for &i in &chosen {
                let rule = self.rules[i];
                if is_chain(rule) && !CHAIN_TURNS.contains(&turn) {
                    continue;
                }
                if backoff[i].until > turn {
                    resting = true;
                    continue;
                }
                let limit = budget.matches << backoff[i].times.min(16);
                let changes_only = self.looked[i] == Some(self.turns - 1);
                let matches = rule.search(egraph, &now, changes_only, limit + 1);
                if matches.len() > limit {
                    backoff[i].until = turn + 1 + (budget.rest << backoff[i].times.min(16));
                    backoff[i].times += 1;
                    resting = true;
                    continue;
                }
                self.looked[i] = Some(self.turns);
                found.push((i, matches));
            }
            self.view = Some(now);
            let mut changed = false;
            for (i, matches) in found {
                let nodes = egraph.total_size();
                self.stats[i].matches += matches.len() as u64;
                for one in &matches {
                    if self.rules[i].apply(egraph, one) {
                        self.stats[i].applications += 1;
                        changed = true;
                    }
                    if egraph.total_size() > budget.nodes {
                        self.stats[i].nodes += (egraph.total_size() - nodes) as u64;
                        egraph.rebuild();
                        // The other matches of this turn are lost, so every rule looks everywhere again.
                        self.looked.fill(None);
                        report.stop = Stop::Nodes;
                        report.cut = resting;
                        break 'turns;
                    }
                }
                self.stats[i].nodes += egraph.total_size().saturating_sub(nodes) as u64;
            }
            egraph.rebuild();
            report.cut = resting;
            if !changed {
                let chains_left = CHAIN_TURNS.iter().any(|&t| t > turn) && turn < CHAIN_TURNS[1];
                if resting {
                    // Nothing else to do: wake the rule that rests the shortest.
                    if let Some(first) = backoff.iter().map(|b| b.until).filter(|&u| u > turn + 1).min() {
                        let skip = first - (turn + 1);
                        for b in &mut backoff {
                            b.until = b.until.saturating_sub(skip);
                        }
                    }
                    continue;
                }
                if chains_left && turn > 0 && has_chains {
                    continue;
                }
                report.stop = Stop::Saturated;
                break;
            }
        }
        report.nodes[1] = egraph.total_number_of_nodes();
        report
    }
}
