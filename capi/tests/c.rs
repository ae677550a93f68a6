//! The C interface from C: the header is what the crate says, the example runs, and misuse, errors and
//! threads lose no memory under the address sanitizer.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_header_is_what_the_crate_says() {
    let config = cbindgen::Config::from_file(folder().join("cbindgen.toml")).unwrap();
    let built = cbindgen::Builder::new().with_crate(folder()).with_config(config).generate();
    let mut header = Vec::new();
    built.unwrap().write(&mut header);
    expect_test::expect_file!["../include/eggshade.h"].assert_eq(&String::from_utf8(header).unwrap());
}

/// The folder with the shared library, beside or above the test program's.
fn library() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    let name = format!("{}eggshade_c{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let found = program.ancestors().skip(1).take(2).find(|dir| dir.join(&name).is_file());
    found.unwrap_or_else(|| panic!("no {name} beside {}", program.display())).to_owned()
}

fn compiler() -> String {
    std::env::var("CC").unwrap_or_else(|_| "cc".to_owned())
}

/// Compiles a C file against the library; none when the compiler does not take the options.
fn build(source: &str, name: &str, options: &[&str]) -> Result<PathBuf, String> {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let library = library();
    let mut command = Command::new(compiler());
    command.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-g"]).args(options);
    command.arg("-I").arg(folder().join("include")).arg(folder().join(source)).arg("-o").arg(&program);
    command.arg("-L").arg(&library).args(["-leggshade_c", "-pthread"]);
    command.arg(format!("-Wl,-rpath,{}", library.display()));
    let output = command.output().map_err(|e| format!("{}: {e}", compiler()))?;
    if output.status.success() { Ok(program) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

fn run(program: &Path, arguments: &[&Path]) -> Output {
    let mut command = Command::new(program);
    command.args(arguments).env("ASAN_OPTIONS", "detect_leaks=1").output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn the_example_links_a_pair() {
    let program = build("examples/link.c", "link", &[]).unwrap();
    let shaders = folder().parent().unwrap().join("examples");
    let pair = [shaders.join("phong.vert"), shaders.join("phong.frag")];
    let output = run(&program, &[&pair[0], &pair[1]]);
    let out = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(
        out.contains("attribute ") && out.contains("uniform ") && out.matches("instructions").count() == 2,
        "{out}"
    );
    let arb = text(&run(&program, &[&pair[0], &pair[1], Path::new("arbvp1")]).stdout);
    assert!(arb.contains("!!ARBvp1.0") && arb.contains("!!ARBfp1.0"), "{arb}");
    // a fragment shader in the place of the vertex shader
    let wrong = run(&program, &[&pair[1], &pair[1]]);
    assert_eq!(wrong.status.code(), Some(1));
    assert!(text(&wrong.stderr).contains("error"), "{}", text(&wrong.stderr));
}

#[test]
fn misuse_errors_and_threads() {
    let program = build("tests/stress.c", "stress", &[]).unwrap();
    let output = run(&program, &[]);
    assert_eq!((text(&output.stdout).as_str(), text(&output.stderr).as_str()), ("ok\n", ""));
}

#[test]
#[allow(clippy::print_stderr)] // which judge is missing
fn nothing_is_lost_under_the_sanitizer() {
    let options = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    match build("tests/stress.c", "stress-sanitized", &options) {
        Ok(program) => {
            let output = run(&program, &[]);
            assert_eq!(text(&output.stdout), "ok\n", "{}", text(&output.stderr));
            assert!(output.status.success(), "{}", text(&output.stderr));
        }
        Err(why) if std::env::var("EGGSHADE_REQUIRE_JUDGES").is_ok_and(|v| v == "1") => panic!("{why}"),
        Err(_) => eprintln!("left out: address sanitizer (the C compiler has none)"),
    }
}
