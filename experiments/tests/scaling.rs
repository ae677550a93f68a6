//! The work for a long shader grows with its length, not with its square. Counted, not timed: a
//! stage that loops over its input once too often shows in its counts on any machine.

use eggshade::backend::egraph_stage::Report;
use eggshade::backend::{Pipeline, Target};
use eggshade::{Built, Options};
use eggshade_lab::straight::Shape;

fn compile(shape: Shape, lines: usize) -> Built {
    let mut options = Options::new(Target::builtin("vec4").unwrap(), Pipeline::builtin("egraph").unwrap());
    options.back.check = false;
    let name = format!("{}.frag", shape.name());
    match eggshade::compile(&name, &shape.shader(lines), &options) {
        Ok(built) => built,
        Err(failure) => panic!("{} of {lines} lines: {:?}", shape.name(), failure.diagnostics),
    }
}

/// Counts of work, by name.
fn work(report: &Report) -> [(&'static str, u64); 5] {
    [
        ("turns", report.turns() as u64),
        ("nodes", report.nodes as u64),
        ("matches", report.rules.iter().map(|r| r.matches).sum()),
        ("merged facts", report.merges),
        ("visits for legal places", report.plan.iter().map(|p| p.visits).sum()),
    ]
}

/// Four times the lines may take this many times the work; the square would be 16. It is not exactly
/// 4, because the limits on rewriting cut short and long shaders in different turns.
const MOST: u64 = 6;

#[test]
fn four_times_the_lines_take_four_times_the_work() {
    let mut counted = [0; 5];
    for shape in Shape::ALL {
        let (small, large) = (compile(shape, 500), compile(shape, 2000));
        for (sum, (_, few)) in counted.iter_mut().zip(work(&small.compiled.egraph[0])) {
            *sum += few;
        }
        for ((what, few), (_, many)) in work(&small.compiled.egraph[0]).into_iter().zip(work(&large.compiled.egraph[0]))
        {
            assert!(many <= MOST * few, "{}: {what} grow from {few} to {many}", shape.name());
        }
        let (few, many) = (small.compiled.statistics.counts.slots, large.compiled.statistics.counts.slots);
        assert!(many >= 3 * few, "{}: {few} slots for 500 lines, {many} for 2,000: lines were lost", shape.name());
    }
    assert!(counted.iter().all(|&n| n > 0), "something was not counted: {counted:?}");
}
