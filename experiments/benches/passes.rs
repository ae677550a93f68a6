//! The classic passes: each one by its time in the pipeline `paper` on all kernels, and all of them.

#![allow(missing_docs)] // the function that the macro makes

mod common;

use bumpalo::Bump;
use criterion::{Criterion, criterion_group, criterion_main};
use ir::pass::{Driver, FunctionPass};
use std::time::Duration;

fn bench(c: &mut Criterion) {
    let pipeline = common::pipeline("paper");
    let rows: Vec<&'static dyn FunctionPass> =
        pipeline.ssa_rows().into_iter().filter_map(ir::passes::find).map(|p| p as &dyn FunctionPass).collect();
    let programs: Vec<_> = common::kernels().iter().map(common::inlined).collect();
    let context = common::context();
    // The time of the rows with this name, or of all, on every kernel.
    let time = |name: Option<&str>| {
        let mut total = Duration::ZERO;
        for program in &programs {
            let arena = Bump::new();
            let mut func = ir::ssa::build(program, &arena).expect("the kernels become SSA");
            let mut driver = Driver { verify: false, ..Driver::new() };
            let report = driver.run(&mut func, &rows, &context).expect("the passes run");
            total += report.runs.iter().filter(|r| name.is_none_or(|n| n == r.name)).map(|r| r.time).sum::<Duration>();
        }
        total
    };
    let mut group = c.benchmark_group("passes-16-kernels");
    let mut names: Vec<&str> = rows.iter().map(|r| r.name()).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        group.bench_function(name, |b| b.iter_custom(|n| (0..n).map(|_| time(Some(name))).sum()));
    }
    group.bench_function("all", |b| b.iter_custom(|n| (0..n).map(|_| time(None)).sum()));
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
