//! Text to machine code, by shader from the smallest to the largest and by pipeline.

#![allow(missing_docs)] // the function that the macro makes

mod common;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;

fn bench(c: &mut Criterion) {
    for pipeline in ["none", "paper", "egraph"] {
        let options = common::options(pipeline);
        let mut group = c.benchmark_group(format!("compile/{pipeline}"));
        for kernel in common::kernels() {
            group.throughput(Throughput::Bytes(kernel.source.len() as u64));
            let id = BenchmarkId::new(&kernel.name, kernel.source.len());
            group.bench_with_input(id, &kernel, |b, kernel| {
                b.iter(|| black_box(eggshade::compile(&kernel.name, &kernel.source, &options).is_ok()));
            });
        }
        group.finish();
    }
}

criterion_group!(benches, bench);
criterion_main!(benches);
