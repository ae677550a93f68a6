//! The kernels through every built-in pipeline: the machine runs the decoded binary, and what it
//! computes is what the interpreter of three-address code says, bit for bit at `strict` and within
//! the bound at `glsl`.

use eggshade::backend::d3d9::tokens;
use eggshade::backend::emit::d3d9::lower;
use eggshade::backend::emit::vec4_bits::{decode, encode};
use eggshade::backend::emit::vec4_text::print;
use eggshade::backend::mach::{File, Program};
use eggshade::backend::sim::bridge;
use eggshade::backend::{Pipeline, Target};
use eggshade::ir::env::{Env, Outputs};
use eggshade::ir::eval::same_bits;
use eggshade::ir::tac;
use eggshade::ir::tac::interp::InterpOptions;
use eggshade::ir::testing::gen_env::GenEnv;
use eggshade::ir::types::FpLevel;
use eggshade::{Built, Options};
use std::path::Path;

/// Inputs a kernel.
const SEEDS: u64 = 12;

/// The kernels, name and text.
fn kernels() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/kernels");
    let files = eggshade_lab::files::collect(&[folder]).unwrap();
    let name = |p: &Path| p.file_name().unwrap().to_string_lossy().into_owned();
    files.iter().map(|f| (name(&f.path), std::fs::read_to_string(&f.path).unwrap())).collect()
}

fn options(pipeline: &str, fp: FpLevel) -> Options {
    options_for("vec4", pipeline, fp)
}

fn options_for(target: &str, pipeline: &str, fp: FpLevel) -> Options {
    let pipeline = Pipeline { fp, ..Pipeline::builtin(pipeline).unwrap() };
    let mut options = Options::new(Target::builtin(target).unwrap(), pipeline);
    options.back.check = true;
    options
}

/// The built-in pipelines that this build can run: `egraph-exact` needs a feature.
fn pipelines() -> Vec<&'static str> {
    let source = "void main() { gl_Position = gl_Vertex; }";
    let runs = |name: &&str| match eggshade::compile("a.vert", source, &options(name, FpLevel::Glsl)) {
        Ok(_) => true,
        Err(e) => {
            let text = format!("{:?}", e.diagnostics);
            assert!(text.contains("feature"), "{name}: {text}");
            false
        }
    };
    Pipeline::names().filter(runs).collect()
}

/// Runs a machine program on a quad; outputs by the variables of `source`.
fn simulate(program: &Program, source: &tac::Program, envs: [&dyn Env; 4]) -> [Outputs; 4] {
    bridge::run_quad(program, source, envs, Target::builtin("vec4").unwrap().eval()).unwrap()
}

/// The inputs of one run: bone numbers are what the array has, and exponents what `pow` is defined for
/// wherever its base is 0.
fn quad(seed: u64, program: &tac::Program) -> [GenEnv; 4] {
    let mut env = GenEnv::new(seed, program, true);
    for (var, decl) in program.vars.iter().filter(|(_, d)| d.name == "bone_index") {
        assert!(decl.is_input(program.stage));
        env.values.insert((var, 0), [(seed % 20) as f32, ((seed * 7 + 3) % 19) as f32, 0.0, 0.0]);
    }
    for (var, _) in program.vars.iter().filter(|(_, d)| d.name == "shininess") {
        env.values.insert((var, 0), [1.0 + (seed % 9) as f32; 4]);
    }
    [0, 1, 2, 3].map(|p| env.neighbour(program, p))
}

fn through_the_binary(built: &Built) -> Program {
    let bytes = encode(&built.compiled.program).unwrap();
    let program = decode(&bytes).unwrap();
    assert_eq!(encode(&program).unwrap(), bytes, "the binary does not come back");
    program
}

#[test]
fn machine_code_computes_what_the_source_says_bit_for_bit_at_strict() {
    for pipeline in pipelines() {
        for (name, source) in kernels() {
            let built = eggshade::compile(&name, &source, &options(pipeline, FpLevel::Strict))
                .unwrap_or_else(|e| panic!("{name}, {pipeline}: {:?}", e.diagnostics));
            let program = through_the_binary(&built);
            for seed in 0..SEEDS {
                let envs = quad(seed, &built.tac);
                let envs = envs.each_ref().map(|e| e as &dyn Env);
                let expected = tac::interp::run_quad(&built.tac, envs, InterpOptions::default()).unwrap();
                let got = simulate(&program, &built.tac, envs);
                for (expected, got) in expected.iter().zip(&got) {
                    if let Some(difference) = expected.first_difference(got, same_bits) {
                        panic!("{name}, {pipeline}, seed {seed}: {difference}\n{program}");
                    }
                }
            }
        }
    }
}

fn tolerance(reference: f32) -> f32 {
    1e-4 * reference.abs().max(1.0)
}

/// Compares one invocation's lanes: (compared, left out because rounding alone changes them).
fn compare(expected: &Outputs, jittered: &[&Outputs], got: &Outputs) -> Result<(u32, u32), String> {
    let (mut compared, mut unstable) = (0, 0);
    if jittered.iter().any(|j| j.discarded != expected.discarded) {
        return Ok((0, 1));
    }
    if expected.discarded != got.discarded {
        return Err(format!("discarded: {} and {}", expected.discarded, got.discarded));
    }
    for (&(var, elem), lanes) in &expected.lanes {
        for (i, want) in lanes.iter().enumerate() {
            let Some(want) = *want else { continue };
            let close = |x: f32, bound: f32| (x - want).abs() <= bound || same_bits(x, want);
            let stable = |j: &&Outputs| j.get(var, elem, i as u8).is_some_and(|x| close(x, tolerance(want) / 4.0));
            if !jittered.iter().all(stable) {
                unstable += 1;
                continue;
            }
            compared += 1;
            match got.get(var, elem, i as u8) {
                Some(x) if close(x, tolerance(want)) => {}
                x => return Err(format!("{var}[{elem}] lane {i}: {want:?} and {x:?}")),
            }
        }
    }
    Ok((compared, unstable))
}

/// Runs the program on many inputs and compares: (compared, left out).
fn judge(what: &str, built: &Built, program: &Program) -> (u32, u32) {
    let (mut compared, mut unstable) = (0, 0);
    for seed in 0..SEEDS {
        let envs = quad(seed, &built.tac);
        let envs = envs.each_ref().map(|e| e as &dyn Env);
        let reference = |jitter| {
            let options = InterpOptions { jitter, ..InterpOptions::default() };
            tac::interp::run_quad(&built.tac, envs, options).unwrap()
        };
        let expected = reference(None);
        let jittered = [1, 2, 3].map(|j| reference(Some(j)));
        let got = simulate(program, &built.tac, envs);
        for (p, got) in got.iter().enumerate() {
            let jittered: Vec<&Outputs> = jittered.iter().map(|j| &j[p]).collect();
            match compare(&expected[p], &jittered, got) {
                Ok((c, u)) => (compared, unstable) = (compared + c, unstable + u),
                Err(e) => panic!("{what}, seed {seed}, pixel {p}: {e}\n{program}"),
            }
        }
    }
    (compared, unstable)
}

#[test]
fn machine_code_stays_within_the_bound_at_glsl() {
    let (mut compared, mut unstable) = (0, 0);
    for pipeline in pipelines() {
        for (name, source) in kernels() {
            let built = eggshade::compile(&name, &source, &options(pipeline, FpLevel::Glsl))
                .unwrap_or_else(|e| panic!("{name}, {pipeline}: {:?}", e.diagnostics));
            let (c, u) = judge(&format!("{name}, {pipeline}"), &built, &through_the_binary(&built));
            (compared, unstable) = (compared + c, unstable + u);
        }
    }
    assert!(unstable * 20 < compared, "{unstable} of {} lanes say nothing", compared + unstable);
}

/// Direct3D targets, and the kernels that do not fit.
const DIRECT3D: [(&str, &[&str]); 6] = [
    ("vs_1_0", &["13_skin.vert"]),
    ("vs_1_1", &[]),
    ("vs_2_0", &[]),
    ("vs_3_0", &[]),
    ("ps_2_0", &[]),
    ("ps_3_0", &[]),
];

#[test]
fn direct3d_code_computes_the_same_within_its_ports() {
    let (mut compared, mut unstable) = (0, 0);
    for (target, unfit) in DIRECT3D {
        let stage = if target.starts_with('v') { ".vert" } else { ".frag" };
        for pipeline in ["none", "paper", Pipeline::DEFAULT] {
            for (name, source) in kernels().into_iter().filter(|(n, _)| n.ends_with(stage)) {
                let what = format!("{name}, {target}, {pipeline}");
                let result = eggshade::compile(&name, &source, &options_for(target, pipeline, FpLevel::Glsl));
                if unfit.contains(&name.as_str()) {
                    let found = result.err().map(|e| e.diagnostics).unwrap_or_default();
                    assert!(found.iter().any(|d| d.code == "does-not-fit"), "{what}: {found:?}");
                    continue;
                }
                let built = result.unwrap_or_else(|e| panic!("{what}: {:?}", e.diagnostics));
                let program = &built.compiled.program;
                let target = Target::builtin(target).unwrap();
                ports_hold(program, &target, &what);
                let shader = lower(program, &target).unwrap_or_else(|e| panic!("{what}: {e}"));
                assert_eq!(tokens::read(&tokens::write(&shader).unwrap()).unwrap(), shader, "{what}");
                let (c, u) = judge(&what, &built, program);
                (compared, unstable) = (compared + c, unstable + u);
            }
        }
    }
    assert!(unstable * 20 < compared, "{unstable} of {} lanes say nothing", compared + unstable);
}

/// No instruction reads two constants or two inputs; where references count, none reads one twice.
fn ports_hold(program: &Program, target: &Target, what: &str) {
    for inst in &program.insts {
        for file in [File::Const, File::Input] {
            let mut read: Vec<_> = inst.srcs.iter().filter(|s| s.reg.file == file).map(|s| (s.reg, s.rel)).collect();
            if !target.file(file).count_references {
                read.sort_unstable();
                read.dedup();
            }
            assert!(read.len() <= 1, "{what}: {inst}\n{program}");
        }
    }
}

#[test]
fn the_default_pipeline_reaches_the_sum() {
    let options = options(Pipeline::DEFAULT, FpLevel::Glsl);
    let mut sum = 0;
    let mut table = String::new();
    let kernels = kernels();
    assert_eq!(kernels.len(), 16);
    for (name, source) in kernels {
        let built = eggshade::compile(&name, &source, &options).unwrap();
        let count = built.compiled.statistics.counts.instructions;
        sum += count;
        table += &format!("{name} {count}\n");
    }
    assert!(sum <= 232, "{sum} instructions\n{table}");
}

#[test]
fn two_compiles_give_the_same_bytes() {
    for pipeline in pipelines() {
        for (name, source) in kernels() {
            let options = options(pipeline, FpLevel::Glsl);
            let [a, b] = [0, 1].map(|_| {
                let built = eggshade::compile(&name, &source, &options).unwrap();
                let text = print(&built.compiled.program);
                (encode(&built.compiled.program).unwrap(), text, built.compiled.reflection)
            });
            assert!(a == b, "{name}, {pipeline}: two compiles differ");
        }
    }
}
