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

/// Files with what is in them, in a folder of its own.
fn files(name: &str, texts: &[(&str, &str)]) -> PathBuf {
    let folder = folder(name);
    for (file, text) in texts {
        std::fs::write(folder.join(file), text).unwrap();
    }
    folder
}

const CORPUS: &str = r#"{"id":"good","family":"p","stage":"frag","mesa":{"gl":true}}
{"id":"calls","family":"p","stage":"frag","mesa":{"gl":true}}
{"id":"part","family":"p","stage":"frag","mesa":{"gl":true},"nomain":true}
{"id":"deep","family":"p","stage":"frag","mesa":{"gl":true},"nomain":true}
{"id":"pair","family":"t","stage":"frag","mesa":{"gl":true},"units":2}
{"id":"pair-1","family":"t","stage":"frag","mesa":{"gl":true},"units":2,"nomain":true}
{"id":"wrong","family":"t","stage":"frag","mesa":{"gl":false},"glslang":{"gl":false}}
{"id":"loose","family":"t","stage":"frag","mesa":{"gl":false}}
{"id":"dialect","family":"t","stage":"frag","version":"none","mesa":{"gl":true,"es":false}}
{"id":"unasked","family":"t","stage":"frag","mesa":{},"glslang":{},"forcees":1}
"#;

fn corpus(name: &str) -> PathBuf {
    files(
        name,
        &[
            ("manifest.jsonl", CORPUS),
            ("good.frag", "void main() { gl_FragColor = vec4(1.0); }"),
            ("calls.frag", "float part(); void main() { gl_FragColor = vec4(part()); }"),
            ("part.frag", "float deep(); float part() { return deep(); }"),
            ("deep.frag", "uniform float u; float deep() { return u; }"),
            ("pair.frag", "float other(); void main() { gl_FragColor = vec4(other()); }"),
            ("pair-1.frag", "float other() { return 0.5; }"),
            ("wrong.frag", "void main() { gl_FragColor = 1; }"),
            ("loose.frag", "void main() { gl_FragColor = vec4(0.0); }"),
            ("dialect.frag", "varying float f; void main() { gl_FragColor = vec4(f); }"),
            ("unasked.frag", "void main() { nothing; }"),
        ],
    )
}

#[test]
fn a_corpus_is_held_against_the_reference() {
    let folder = corpus("lab-corpus");
    let (manifest, out) = (folder.join("manifest.jsonl"), folder.join("rows.csv"));
    let output = lab(&["corpus", path(&folder), "--manifest", path(&manifest), "--out", path(&out)]);
    assert_eq!(code(&output), 0, "{output:?}");
    let table = std::fs::read_to_string(&out).unwrap();
    let mut lines = table.lines().map(|l| l.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let column = |name: &str| header.iter().position(|h| *h == name).unwrap();
    let got: Vec<_> = lines.map(|l| [l[column("id")], l[column("accepted")], l[column("status")]].join(" ")).collect();
    assert_eq!(
        got,
        [
            "calls true ok",
            "good true ok",
            "deep true ok",
            "part true ok",
            "dialect true ok",
            "loose false ok",
            "unasked  rejected",
            "wrong false rejected",
            "pair true ok",
            "pair-1 true ok",
            "pair/linked true ok",
            "dialect/es false rejected",
        ]
    );
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("6 shaders, 1 of them without a verdict") && text.contains("compile: loose"), "{text}");
}

#[test]
fn the_list_of_known_differences_must_be_right() {
    let folder = corpus("lab-known");
    let (manifest, list) = (folder.join("manifest.jsonl"), folder.join("known.txt"));
    let run = |text: &str| {
        std::fs::write(&list, text).unwrap();
        lab(&["corpus", path(&folder), "--manifest", path(&manifest), "--known", path(&list)])
    };
    let told = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(code(&run("# what differs\nloose: it is legal\n")), 0);
    let unlisted = run("");
    assert!(code(&unlisted) == 1 && told(&unlisted).contains("loose does not pass"), "{unlisted:?}");
    let stale = run("loose: it is legal\ngood: it is not\n");
    assert!(code(&stale) == 1 && told(&stale).contains("good passes, but"), "{stale:?}");
    let broken = run("loose\n");
    assert!(code(&broken) == 1 && told(&broken).contains("line 1"), "{broken:?}");
}

#[test]
fn compiler_tests_say_in_a_comment_what_they_want() {
    let config =
        |result: &str| format!("// [config]\n// expect_result: {result}\n// glsl_version: 1.10\n// [end config]\n");
    let text = |result: &str, body: &str| config(result) + body;
    let folder = files(
        "lab-compiler-test",
        &[
            ("right.vert", &text("pass", "float f();\n")),
            ("rejected.vert", &text("fail", "void main() { x; }\n")),
            ("lenient.frag", &text("fail", "void main() { }\n")),
            ("known.txt", "lenient.frag: it is legal\n"),
        ],
    );
    let file = |name: &str| folder.join(name).display().to_string();
    let (right, rejected, lenient) = (file("right.vert"), file("rejected.vert"), file("lenient.frag"));
    assert_eq!(code(&lab(&["compiler-test", &right, &rejected])), 0);
    let output = lab(&["compiler-test", &right, &rejected, &lenient, "--message-format", "json"]);
    assert_eq!(code(&output), 1);
    let reports: Vec<serde_json::Value> =
        output.stdout.split(|b| *b == b'\n').filter_map(|l| serde_json::from_slice(l).ok()).collect();
    let results: Vec<_> = reports.iter().map(|r| r["result"].as_str().unwrap()).collect();
    assert_eq!(results, ["pass", "pass", "fail"]);
    assert_eq!(
        (&reports[2]["file"], &reports[2]["reason"]),
        (&lenient.as_str().into(), &"it compiles, but must not".into())
    );
    assert!(String::from_utf8_lossy(&output.stderr).contains("3 tests: 2 pass, 1 fail, 0 skip"));
    assert_eq!(code(&lab(&["compiler-test", &lenient, "--known", &file("known.txt")])), 0);
    assert_eq!(code(&lab(&["compiler-test", &lenient, "--known", &file("absent.txt")])), 1);
    assert_eq!(code(&lab(&["compiler-test", &file("absent.frag")])), 1);
    assert_eq!(code(&lab(&["compiler-test"])), 2);
}

/// The lists that are checked in can be read, name each file once, and every test that they except is
/// one that runs.
#[test]
fn checked_in_lists_are_well_formed() {
    use eggshade_lab::known::parse;
    let read =
        |name: &str| std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name)).unwrap();
    for (known, tests) in
        [("shader_test_failures.txt", "shader_tests.txt"), ("compiler_test_failures.txt", "compiler_tests.txt")]
    {
        let tests = read(tests);
        let tests: Vec<&str> = tests.lines().filter(|l| !l.starts_with('#')).collect();
        assert!(tests.windows(2).all(|w| w[0] < w[1]), "sorted, and each once");
        for entry in parse(&read(known)).unwrap() {
            let runs = tests.iter().filter(|t| t.ends_with(&format!("/{}", entry.file))).count();
            assert_eq!(runs, 1, "{}", entry.file);
        }
    }
    assert!(!parse(&read("corpus_failures.txt")).unwrap().is_empty());
}
