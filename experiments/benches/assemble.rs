//! Machine code as text and as binary, both ways.

#![allow(missing_docs)] // the function that the macro makes

mod common;

use backend::emit::{vec4_bits, vec4_parse, vec4_text};
use criterion::{Criterion, criterion_group, criterion_main};
use ir::diag::FileId;
use std::hint::black_box;

fn bench(c: &mut Criterion) {
    for kernel in common::chosen() {
        let program = common::compiled(&kernel).program;
        let text = vec4_text::print(&program);
        let bytes = vec4_bits::encode(&program).expect("the kernels have a binary");
        let mut group = c.benchmark_group(format!("assembly/{}", kernel.name));
        group.bench_function("print", |b| b.iter(|| black_box(vec4_text::print(&program).len())));
        group.bench_function("parse", |b| b.iter(|| black_box(vec4_parse::parse(FileId(0), &text).is_ok())));
        group.bench_function("encode", |b| b.iter(|| black_box(vec4_bits::encode(&program).is_ok())));
        group.bench_function("decode", |b| b.iter(|| black_box(vec4_bits::decode(&bytes).is_ok())));
        group.finish();
    }
}

criterion_group!(benches, bench);
criterion_main!(benches);
