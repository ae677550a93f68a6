//! Text to syntax tree (the tokens are part of it: see the bench `lex`).

#![allow(missing_docs)] // the function that the macro makes

mod common;

use bumpalo::Bump;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ir::diag::SourceMap;
use std::hint::black_box;

fn bench(c: &mut Criterion) {
    let mut group = c.benchmark_group("parse");
    let options = frontend::Options::default();
    for kernel in common::chosen() {
        group.throughput(Throughput::Bytes(kernel.source.len() as u64));
        let mut sources = SourceMap::new();
        let file = sources.add(kernel.name.as_str(), kernel.source.as_str());
        group.bench_function(&kernel.name, |b| {
            b.iter(|| {
                let arena = Bump::new();
                black_box(frontend::parse(&arena, &mut sources, file, &options).unit.items.len())
            });
        });
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
