//! Register allocation: colouring with and without coalescing, and linear scan.

#![allow(missing_docs)] // the function that the macro makes

mod common;

use backend::alloc::{AllocOptions, allocate};
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use regalloc::Method;

fn bench(c: &mut Criterion) {
    let target = common::target();
    let arms = [("color", "color", true), ("color-without-coalescing", "color", false), ("scan", "scan", true)];
    for kernel in common::chosen() {
        let program = common::compiled(&kernel).unallocated;
        let mut group = c.benchmark_group(format!("registers/{}", kernel.name));
        for (name, method, coalesce) in arms {
            let method = Method::parse(method).expect("a method");
            let how = AllocOptions { method, coalesce, reuse: true, check: false };
            group.bench_function(name, |b| {
                b.iter_batched(
                    || program.clone(),
                    |mut program| {
                        let stats = allocate(&mut program, &target, &how);
                        (program, stats.is_ok())
                    },
                    BatchSize::SmallInput,
                );
            });
        }
        group.finish();
    }
}

criterion_group!(benches, bench);
criterion_main!(benches);
