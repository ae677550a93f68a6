//! SSA to machine instructions: the matching loop over the pattern table, then legalizing and
//! scheduling.

#![allow(missing_docs)] // the function that the macro makes

mod common;

use backend::select::{SelectOptions, select_module};
use backend::{legalize, schedule};
use bumpalo::Bump;
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use ir::func::Module;
use std::hint::black_box;

fn bench(c: &mut Criterion) {
    let target = common::target();
    let how = SelectOptions { without: Vec::new(), keep_lanes_apart: false };
    for kernel in common::chosen() {
        let [_, text] = common::ssa_texts(&kernel);
        let arena = Bump::new();
        let module = Module { funcs: vec![common::ssa(&arena, &text)] };
        let mut group = c.benchmark_group(format!("selection/{}", kernel.name));
        let selected = || {
            let mut programs = select_module(&module, &target, &how).expect("the kernels are selected");
            programs.swap_remove(0)
        };
        group.bench_function("select", |b| b.iter(|| black_box(selected().insts.len())));
        group.bench_function("legalize", |b| {
            b.iter_batched(
                selected,
                |mut program| {
                    legalize::legalize(&mut program, &target, legalize::Sharing::Block).expect("the kernels are legal");
                    program
                },
                BatchSize::SmallInput,
            );
        });
        group.bench_function("schedule", |b| {
            b.iter_batched(
                selected,
                |mut program| {
                    schedule::schedule(&mut program, &target);
                    program
                },
                BatchSize::SmallInput,
            );
        });
        group.finish();
    }
}

criterion_group!(benches, bench);
criterion_main!(benches);
