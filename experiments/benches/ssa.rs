//! Three-address code to SSA: inlining, then construction.

#![allow(missing_docs)] // the function that the macro makes

mod common;

use bumpalo::Bump;
use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;

fn bench(c: &mut Criterion) {
    let mut group = c.benchmark_group("inline");
    for kernel in common::chosen() {
        let program = common::tac(&kernel);
        group.bench_function(&kernel.name, |b| {
            b.iter(|| black_box(ir::tac::inline::inline(&program, ir::tac::inline::MAX_INLINED_INSTS)));
        });
    }
    group.finish();
    let mut group = c.benchmark_group("build-ssa");
    for kernel in common::chosen() {
        let program = common::inlined(&kernel);
        group.bench_function(&kernel.name, |b| {
            b.iter(|| {
                let arena = Bump::new();
                black_box(ir::ssa::build(&program, &arena).map(|f| f.inst_count()).ok())
            });
        });
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
