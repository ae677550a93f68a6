//! Syntax tree to typed tree, and typed tree to three-address code.

#![allow(missing_docs)] // the function that the macro makes

mod common;

use bumpalo::Bump;
use criterion::{Criterion, criterion_group, criterion_main};
use ir::diag::SourceMap;
use std::hint::black_box;

fn bench(c: &mut Criterion) {
    let options = frontend::Options::default();
    let mut group = c.benchmark_group("check");
    for kernel in common::chosen() {
        let mut sources = SourceMap::new();
        let file = sources.add(kernel.name.as_str(), kernel.source.as_str());
        let tree = Bump::new();
        let parsed = frontend::parse(&tree, &mut sources, file, &options);
        group.bench_function(&kernel.name, |b| {
            b.iter(|| {
                let (shader, _) = frontend::check::check(&tree, &parsed.unit, kernel.stage, &options.limits);
                black_box(shader.is_some())
            });
        });
    }
    group.finish();
    let mut group = c.benchmark_group("lower");
    for kernel in common::chosen() {
        let mut sources = SourceMap::new();
        let file = sources.add(kernel.name.as_str(), kernel.source.as_str());
        let arena = Bump::new();
        let shader = frontend::analyze(&arena, &mut sources, file, kernel.stage, &options).shader;
        let shader = shader.expect("the kernels are legal");
        group.bench_function(&kernel.name, |b| {
            b.iter(|| black_box(frontend::lower::lower(&shader, &sources, &Default::default())))
        });
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
