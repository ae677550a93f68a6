//! Text to machine code by the number of lines, for shaders that repeat a few statements. Times per
//! line that stay the same say that compile time grows with the program and no faster.

#![allow(missing_docs)] // the function that the macro makes

mod common;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use eggshade_lab::straight::Shape;
use std::hint::black_box;

fn bench(c: &mut Criterion) {
    let options = common::options("egraph");
    for shape in Shape::ALL {
        let mut group = c.benchmark_group(format!("scaling/{}", shape.name()));
        group.sample_size(10);
        for lines in [250, 500, 1000, 2000] {
            let source = shape.shader(lines);
            group.throughput(Throughput::Elements(lines as u64));
            group.bench_with_input(BenchmarkId::from_parameter(lines), &source, |b, source| {
                b.iter(|| black_box(eggshade::compile("a.frag", source, &options).is_ok()));
            });
        }
        group.finish();
    }
}

criterion_group!(benches, bench);
criterion_main!(benches);
