//! The e-graph stage: entering, saturation (algebra phase), extraction, and the whole stage.

#![allow(missing_docs)] // the function that the macro makes

mod common;

use bumpalo::Bump;
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use egraph_rules::blocks::Blocks;
use egraph_rules::extract::graph::Graph;
use egraph_rules::plan::Method;
use egraph_rules::rules::Phase;
use egraph_rules::saturate::{Budget, Limits, RuleSet};
use egraph_rules::{Options, built_in_rules, optimize, to_egraph};
use ir::types::FpLevel;
use std::hint::black_box;
use std::time::{Duration, Instant};

fn bench(c: &mut Criterion) {
    let eval = common::target().eval();
    let context = common::context();
    let limits = Limits::default();
    let level = FpLevel::Glsl;
    let rules = || RuleSet::new(built_in_rules().rules().iter().filter(|r| r.level <= level && r.fits(eval)).collect());
    let budget = Budget { turns: limits.algebra, nodes: limits.nodes, matches: limits.matches, rest: limits.rest };
    for kernel in common::chosen() {
        let [text, _] = common::ssa_texts(&kernel);
        let arena = Bump::new();
        let func = common::ssa(&arena, &text);
        let enter = || to_egraph::enter(&func, eval, level, limits.arrangements).expect("the kernels enter");
        let mut group = c.benchmark_group(format!("egraph/{}", kernel.name));
        group.bench_function("enter", |b| b.iter(|| black_box(enter().egraph.total_size())));
        group.bench_function("saturate", |b| {
            b.iter_batched(
                || (rules(), enter().egraph),
                |(mut rules, mut egraph)| {
                    let report = rules.run(&mut egraph, "algebra", Some(Phase::Algebra), budget);
                    (report, egraph)
                },
                BatchSize::SmallInput,
            );
        });
        let to_egraph::Entered { mut egraph, class_of } = enter();
        rules().run(&mut egraph, "algebra", Some(Phase::Algebra), budget);
        let blocks = Blocks::new(&func);
        let build = || Graph::build(&egraph, &func, &blocks, |v| class_of[v]).expect("a legal graph");
        group.bench_function("extract/graph", |b| b.iter(|| black_box(build().nodes.len())));
        let graph = build();
        for (name, method) in [("extract/tree", Method::Tree), ("extract/dag-greedy", Method::GreedyDag)] {
            let extractor = method.extractor();
            group.bench_function(name, |b| b.iter(|| black_box(extractor.extract(&graph, &context.costs).dag_cost)));
        }
        let options = Options { eval, level, ..Options::default() };
        group.bench_function("stage", |b| {
            b.iter_custom(|n| {
                let mut total = Duration::ZERO;
                for _ in 0..n {
                    let arena = Bump::new();
                    let mut func = common::ssa(&arena, &text);
                    let start = Instant::now();
                    black_box(optimize(&mut func, &context.costs, &options).map(|r| r.nodes).ok());
                    total += start.elapsed();
                }
                total
            });
        });
        group.finish();
    }
}

criterion_group!(benches, bench);
criterion_main!(benches);
