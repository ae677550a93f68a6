//! What the stage looks like from outside: the e-graph as text or JSON, and the choice.
//!
//! In: an e-graph, the graph that extraction saw, a choice. Out: text. The JSON has the form of the
//! `egraph-serialize` crate, so that extraction-gym and its viewers read it.

use crate::extract::graph::Graph;
use crate::extract::{Choice, topological};
use crate::lang::{EGraph, Head, Leaf};
use egg::Id;
use ir::Function;
use serde_json::{Map, Value as Json, json};
use std::fmt::Write;

/// What to write down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dump {
    /// Classes with facts and nodes.
    EGraph,
    /// The graph that extraction sees, as JSON.
    EGraphJson,
    /// The chosen nodes, operands first.
    Chosen,
}

impl Dump {
    /// The text.
    pub fn write(self, egraph: &EGraph, func: &Function<'_>, graph: &Graph, choice: &Choice) -> String {
        match self {
            Dump::EGraph => egraph_text(egraph),
            Dump::EGraphJson => graph_json(func, graph),
            Dump::Chosen => chosen(func, graph, choice),
        }
    }
}

/// All classes in the order of their numbers.
pub fn egraph_text(egraph: &EGraph) -> String {
    let mut ids: Vec<Id> = egraph.classes().map(|c| c.id).collect();
    ids.sort_unstable();
    let mut out = String::new();
    for id in ids {
        let class = &egraph[id];
        let facts = &class.data;
        let range = facts.range;
        // Writing to a string cannot fail.
        let _ = write!(out, "c{id}: {} lanes, [{}, {}]", facts.width, range.lo, range.hi);
        for (has, word) in [
            (range.nan, "nan?"),
            (range.inf, "inf?"),
            (range.neg_zero, "-0?"),
            (range.whole, "whole"),
            (range.truth(), "truth"),
        ] {
            if has {
                let _ = write!(out, " {word}");
            }
        }
        if facts.home.depth > 0 {
            let _ = write!(out, ", home {}", facts.home.block);
        }
        out.push('\n');
        let mut nodes: Vec<_> = class.nodes.iter().collect();
        nodes.sort();
        for node in nodes {
            let _ = write!(out, "    {node}");
            for &arg in &node.args {
                let _ = write!(out, " c{}", egraph.find(arg));
            }
            out.push('\n');
        }
    }
    out
}

fn head_text(func: &Function<'_>, head: Head) -> String {
    match head {
        Head::Leaf(Leaf::Elem { var, elem, .. }) | Head::At { var, elem, .. } => {
            let op =
                if let Head::Leaf(Leaf::Elem { op, .. }) | Head::At { op, .. } = head { op.mnemonic() } else { "" };
            format!("{op} {}[{elem}]", func.vars[var].name)
        }
        Head::Leaf(Leaf::Value { value, .. }) => value.to_string(),
        Head::Txl { sampler, elem, .. } => format!("txl {}[{elem}]", func.vars[sampler].name),
        Head::Op(op) => op.mnemonic().into(),
        Head::Swz(swizzle) => format!("swz.{swizzle}"),
        Head::Lit(literal) => {
            let lanes: Vec<String> = literal.lanes().map(|l| format!("{l:?}")).collect();
            lanes.join(",")
        }
    }
}

fn graph_json(func: &Function<'_>, graph: &Graph) -> String {
    let mut nodes = Map::new();
    for (id, node) in &graph.nodes {
        // A child is any node of its class.
        let children: Option<Vec<String>> =
            node.kids.iter().map(|&k| graph.classes[k].nodes.first().map(|n| n.to_string())).collect();
        let Some(children) = children else { continue };
        nodes.insert(
            id.to_string(),
            json!({
                "op": head_text(func, node.head),
                "children": children,
                "eclass": node.class.to_string(),
                "cost": 1.0,
            }),
        );
    }
    let mut roots: Vec<_> = graph.roots.iter().map(|r| r.class).collect();
    roots.sort_unstable();
    roots.dedup();
    let roots: Vec<Json> = roots.into_iter().map(|r| json!(r.to_string())).collect();
    let all = json!({ "nodes": nodes, "root_eclasses": roots, "class_data": {} });
    serde_json::to_string_pretty(&all).unwrap_or_default()
}

fn chosen(func: &Function<'_>, graph: &Graph, choice: &Choice) -> String {
    let mut out = String::new();
    for class in topological(graph, choice).unwrap_or_default() {
        let Some(node) = choice[class].expand() else { continue };
        let node = &graph.nodes[node];
        let _ = write!(out, "{class}:{} = {}", graph.classes[class].width, head_text(func, node.head));
        for kid in &node.kids {
            let _ = write!(out, " {kid}");
        }
        out.push('\n');
    }
    for root in &graph.roots {
        let _ = writeln!(out, "root {} at {} {:?}", root.class, root.point.block, root.kind);
    }
    out
}
