//! The command: tables, exit codes, and rows for shaders that cannot be compiled.

use eggshade_lab::row::{Outcome, read_csv};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn lab(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_eggshade-lab")).args(args).output().unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| panic!("{output:?}"))
}

/// A folder of its own for one test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

const KERNELS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/kernels");

#[test]
fn a_table_has_a_row_for_each_compile_in_the_same_order() {
    let folder = folder("lab-run");
    std::fs::create_dir(folder.join("b")).unwrap();
    std::fs::write(folder.join("b/good.vert"), "void main() { gl_Position = gl_Vertex; }").unwrap();
    std::fs::write(folder.join("a.frag"), "void main() {\n  gl_FragColor = 1;\n}").unwrap();
    std::fs::write(folder.join("latin.frag"), b"// caf\xe9\nvoid main() { gl_FragColor = vec4(0.5); }").unwrap();
    std::fs::write(folder.join("notes.txt"), "no shader").unwrap();
    let out = folder.join("rows.csv");
    let args = ["run", path(&folder), "--pipeline", "none,egraph", "--out", path(&out), "--jobs", "2"];
    let output = lab(&args);
    assert_eq!(code(&output), 0, "{output:?}");
    let rows = read_csv(&out).unwrap();
    let got: Vec<_> =
        rows.iter().map(|r| (r.file.rsplit('/').next().unwrap(), r.pipeline.as_str(), r.status)).collect();
    assert_eq!(
        got,
        [
            ("a.frag", "none", Outcome::Rejected),
            ("a.frag", "egraph", Outcome::Rejected),
            ("good.vert", "none", Outcome::Ok),
            ("good.vert", "egraph", Outcome::Ok),
            ("latin.frag", "none", Outcome::Ok),
            ("latin.frag", "egraph", Outcome::Ok),
        ]
    );
    assert!(!rows[0].reason.is_empty() && rows[2].instructions == 1);
    // Everything but the times is the same the second time.
    lab(&args);
    let again = read_csv(&out).unwrap();
    assert!(rows.iter().zip(&again).all(|(a, b)| a.instructions == b.instructions && a.reason == b.reason));
}

#[test]
fn thresholds_decide_the_exit_code() {
    let folder = folder("lab-compare");
    let (none, egraph) = (folder.join("none.csv"), folder.join("egraph.csv"));
    for (pipeline, out) in [("none", &none), ("egraph", &egraph)] {
        let output = lab(&["run", KERNELS, "--pipeline", pipeline, "--out", path(out)]);
        assert_eq!(code(&output), 0, "{output:?}");
    }
    let better = lab(&["compare", path(&none), path(&egraph), "--fail-above", "1.0"]);
    assert_eq!(code(&better), 0, "{better:?}");
    let text = String::from_utf8(better.stdout).unwrap();
    assert!(text.contains("instructions in 16 shaders") && text.contains("helped"), "{text}");
    assert_eq!(code(&lab(&["compare", path(&egraph), path(&none), "--fail-above", "1.0"])), 1);
    assert_eq!(code(&lab(&["compare", path(&egraph), path(&none)])), 0);
}

#[test]
fn wrong_command_lines_and_wrong_inputs_are_told_apart() {
    let folder = folder("lab-codes");
    let out = folder.join("x.csv");
    let out = path(&out);
    for usage in [
        &["run", KERNELS][..],
        &["run", KERNELS, "--pipeline", "nothing", "--out", out],
        &["run", KERNELS, "--target", "nothing", "--out", out],
        &["run", KERNELS, "--without", "nothing", "--out", out],
        &["compare", out, out, "--metric", "beauty"],
        &["nothing"],
    ] {
        assert_eq!(code(&lab(usage)), 2, "{usage:?}");
    }
    for input in [
        &["run", "/nowhere/at/all", "--out", out][..],
        &["run", path(&folder), "--out", out],
        &["compare", out, out],
        &["corpus", path(&folder), "--manifest", out],
    ] {
        assert_eq!(code(&lab(input)), 1, "{input:?}");
    }
    assert!(!Path::new(out).exists(), "a failed command leaves no table");
}

#[test]
fn ablation_has_a_line_for_every_part() {
    let folder = folder("lab-ablate");
    let (out, kernel) = (folder.join("t.csv"), format!("{KERNELS}/06_scalar_pack.frag"));
    let output = lab(&["ablate", &kernel, "--out", path(&out)]);
    assert_eq!(code(&output), 0, "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    for part in ["egraph, full", "without arith", "without mad", "packing", "tree cost", "coalescing", "pipeline paper"]
    {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    assert_eq!(std::fs::read_to_string(&out).unwrap().lines().count(), text.lines().count() - 1);
}

#[test]
fn a_dead_or_slow_worker_becomes_a_row() {
    use eggshade_lab::files::ShaderFile;
    use eggshade_lab::pool::{PoolOptions, run};
    use eggshade_lab::run::{Variant, jobs};
    use std::time::Duration;
    let folder = folder("lab-dead");
    let pool = |program: &str| PoolOptions {
        program: program.into(),
        workers: 2,
        timeout: Duration::from_millis(300),
        memory: 2048,
        progress: false,
    };
    let file = |name: &str| ShaderFile { path: folder.join(name), stage: "vert" };
    let variant = [Variant { pipeline: "none".into(), without: vec![] }];
    let list = jobs(&[file("a.vert"), file("b.vert"), file("c.vert")], &["vec4".into()], &variant, 1);
    // `false worker` dies at once; a script that sleeps does not answer.
    let dead = run(&pool("/bin/false"), &list).unwrap();
    assert!(dead.len() == 3 && dead.iter().all(|r| r.status == Outcome::Crash), "{dead:?}");
    let script = folder.join("sleeper");
    std::fs::write(&script, "#!/bin/sh\nexec sleep 60\n").unwrap();
    Command::new("chmod").arg("+x").arg(&script).status().unwrap();
    let slow = run(&pool(path(&script)), &list).unwrap();
    assert!(slow.len() == 3 && slow.iter().all(|r| r.status == Outcome::Timeout), "{slow:?}");
    // The real worker, on a file that is not there.
    let real = PoolOptions { timeout: Duration::from_secs(60), ..pool(env!("CARGO_BIN_EXE_eggshade-lab")) };
    let rows = run(&real, &list).unwrap();
    assert!(rows.iter().all(|r| r.status == Outcome::Unreadable), "{rows:?}");
}
