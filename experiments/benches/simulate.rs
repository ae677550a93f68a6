//! The simulator: one quad of four invocations.

#![allow(missing_docs)] // the function that the macro makes

mod common;

use backend::sim::machine::{Lanes, Lookup, Outside, run};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;

/// The same everywhere.
struct Plain;

impl Outside for Plain {
    fn input(&self, pixel: usize, _: &str, elem: u32) -> Lanes {
        [0.25, 0.5, 0.75, 1.0].map(|v| v + pixel as f32 * 0.125 + elem as f32)
    }

    fn uniform(&self, _: &str, elem: u32) -> Lanes {
        [0.5, 0.25, 0.125, 1.0].map(|v| v + elem as f32)
    }

    fn texture(&self, _: &Lookup<'_>) -> Lanes {
        [0.5; 4]
    }
}

fn bench(c: &mut Criterion) {
    let cfg = common::target().eval();
    let mut group = c.benchmark_group("simulate-quad");
    for kernel in common::chosen() {
        let program = common::compiled(&kernel).program;
        group.throughput(Throughput::Elements(4 * program.insts.len() as u64));
        group.bench_function(&kernel.name, |b| {
            b.iter(|| black_box(run(&program, &Plain, [true; 4], cfg, Default::default()).is_ok()));
        });
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
