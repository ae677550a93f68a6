//! The fuzz bodies on changed seeds, a second each, and on the smallest input of each old finding.

use eggshade::ir::testing::rng::Rng;
use eggshade_lab::files;
use eggshade_lab::fuzz::{TARGETS, Target, mutate::mutate, seeds::seeds};
use std::panic::catch_unwind;
use std::path::Path;

/// Enough for the front end up to its bounds, as in the command line.
const STACK: usize = 64 << 20;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn in_thread(run: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(run).unwrap();
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

fn judge(target: &Target, what: &str, input: &[u8]) {
    let body = target.body;
    if catch_unwind(|| body(input)).is_err() {
        panic!("{} fails on {what}:\n{}", target.name, String::from_utf8_lossy(input));
    }
}

/// Runs `count` inputs: the seeds, then changed ones. The number is in the message of a failure.
fn run(name: &'static str, count: u64) {
    in_thread(move || {
        let target = TARGETS.iter().find(|t| t.name == name).unwrap();
        let seeds = seeds(target, root()).unwrap();
        assert!(seeds.len() > 5, "{} seeds", seeds.len());
        for (i, seed) in seeds.iter().enumerate() {
            judge(target, &format!("seed {i}"), seed);
        }
        for number in 0..count {
            let mut rng = Rng::new(number);
            let seed = rng.pick(&seeds).clone();
            judge(target, &format!("number {number}"), &mutate(&seed, &seeds, target.is_text, &mut rng));
        }
    });
}

#[test]
fn preprocessor() {
    run("preprocessor", 4_000);
}

#[test]
fn parser() {
    run("parser", 2_000);
}

#[test]
fn compile() {
    run("compile", 300);
}

#[test]
fn tac() {
    run("tac", 300);
}

#[test]
fn ssa() {
    run("ssa", 2_000);
}

#[test]
fn assembler() {
    run("assembler", 4_000);
}

#[test]
fn disassembler() {
    run("disassembler", 10_000);
}

#[test]
fn shader_test() {
    run("shader_test", 100);
}

/// `data/fuzz/TARGET/` holds what once failed.
#[test]
fn old_findings_stay_fixed() {
    in_thread(|| {
        for target in TARGETS {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/fuzz").join(target.name);
            if folder.is_dir() {
                for path in files::below(&folder, "bin").unwrap() {
                    judge(target, &path.display().to_string(), &std::fs::read(&path).unwrap());
                }
            }
        }
    });
}
