//! The command as a person or a script meets it: exit codes, what stands on which stream, and that
//! no input ends in a crash. Each test is the smallest input that once went wrong, or a promise of
//! the command line's description.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const GOOD: &str = "uniform vec4 tint;\nuniform sampler2D map;\nvarying vec2 uv;\n\
    void main() { vec4 c = texture2D(map, uv); gl_FragColor = c * tint; }\n";
const BAD: &str = "void main()\n{\n  foo = 1.0;\n  vec3 a = vec2(1.0);\n}\n";

/// A folder of its own, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("eggshade-cli-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.0.join(name), text).unwrap();
    }

    fn has(&self, name: &str) -> bool {
        self.0.join(name).exists()
    }

    fn run(&self, arguments: &[&str]) -> Run {
        Run::of(command(&self.0).args(arguments).output().unwrap())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left in the temporary folder harms nobody.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_eggshade"));
    command.current_dir(folder).stdin(Stdio::null());
    command
}

struct Run {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Run {
    fn of(output: Output) -> Run {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Run { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }

    #[track_caller]
    fn ends(self, code: i32, in_err: &str) -> Run {
        assert_eq!(self.code, Some(code), "{}", self.err);
        assert!(self.err.contains(in_err), "no `{in_err}` in:\n{}", self.err);
        self
    }
}

fn pair() -> Folder {
    let name = std::thread::current().name().unwrap_or("test").replace("::", "-");
    let folder = Folder::new(&name);
    folder.write("good.frag", GOOD);
    folder.write("bad.frag", BAD);
    folder
}

#[test]
fn several_errors_with_place_source_line_and_caret_and_no_output() {
    let folder = pair();
    for emit in ["asm", "bin", "tac", "typed", "names", "egraph", "reflection"] {
        let run = folder.run(&["compile", "bad.frag", "--emit", emit, "-o", "out"]).ends(1, "bad.frag:3:3");
        assert!(run.err.contains("  foo = 1.0;") && run.err.contains("^^^"), "{}", run.err);
        assert!(run.err.contains("bad.frag:4:12"), "one error only: {}", run.err);
        assert!(run.out.is_empty() && !folder.has("out"));
    }
}

#[test]
fn wrong_command_lines_end_with_2() {
    let folder = pair();
    let cases: &[(&[&str], &str)] = &[
        (&["compile"], "required"),
        (&["compile", "good.frag", "-t", "vec5"], "no target `vec5`"),
        (&["compile", "good.frag", "-p", "best"], "no pipeline `best`"),
        (&["compile", "good.frag", "-p", "egraph-exact"], "feature `exact`"),
        (&["compile", "good.frag", "--without", "luck"], "`luck`"),
        (&["compile", "good.frag", "--fp", "loose"], "expected strict, glsl or fast"),
        (&["compile", "good.frag", "-D", "1=2"], "no macro name"),
        (&["compile", "good.frag", "--dump-after", "luck"], "the pipeline has"),
        (&["compile", "good.frag", "--emit", "tac", "--time-passes"], "runs the passes"),
        (&["compile", "good.frag", "-p", "none", "--emit", "egraph"], "no stage that makes `egraph`"),
        (&["compile", "good.frag", "bad.frag", "-o", "out"], "several files"),
        (&["run", "good.frag", "--set", "luck=1"], "no such input"),
        (&["run", "good.frag", "--set", "c=1"], "no such input"),
        (&["run", "good.frag", "--set", "gl_FragColor=1"], "no such input"),
        (&["run", "good.frag", "--set", "map=1"], "sampler"),
        (&["run", "good.frag", "--set", "uv=1,2,3"], "3 numbers for 2 lanes"),
        (&["link"], "required"),
        (&["link", "good.frag"], "no vertex shader"),
        (&["link", "good.frag", "good.vert", "--bind-attribute", "a"], "NAME=LOCATION"),
        (&["targets", "vec5"], "no target"),
    ];
    for (arguments, text) in cases {
        let run = folder.run(arguments).ends(2, text);
        assert!(run.out.is_empty(), "{arguments:?}");
    }
}

#[test]
fn exact_extraction_is_not_asked_for_without_the_stage() {
    let folder = pair();
    folder.run(&["compile", "good.frag", "-p", "egraph-exact", "--without", "egraph"]).ends(0, "");
    folder.run(&["compile", "good.frag", "-p", "egraph-exact", "--without", "extract"]).ends(0, "");
}

#[test]
fn json_is_a_line_a_file_and_goes_on_after_a_failure() {
    let folder = pair();
    std::fs::create_dir(folder.0.join("folder.frag")).unwrap();
    let files = ["bad.frag", "absent.frag", "folder.frag", "good.frag"];
    let run = folder.run(&[&["compile", "--emit", "json"], &files[..]].concat()).ends(1, "");
    let rows: Vec<Value> = run.out.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let fields = "file status stage target pipeline instructions slots alu tex flow cycles temps temps_bound \
                  constants inputs outputs uniforms samplers micros diagnostics";
    for (row, file) in rows.iter().zip(files) {
        for field in fields.split_whitespace() {
            assert!(!row[field].is_null(), "{field} of {file}");
        }
        let status = if file == "good.frag" { "ok" } else { "rejected" };
        assert_eq!((row["file"].as_str(), row["status"].as_str()), (Some(file), Some(status)));
        assert_eq!(row["diagnostics"].as_array().unwrap().is_empty(), file == "good.frag");
    }
    assert_eq!(rows.len(), 4);
    assert!(rows[3]["assembly"].as_str().unwrap().contains("TEX"));
    assert_eq!(rows[0]["diagnostics"][0]["labels"][0]["line"], 3);
}

#[test]
fn a_unit_needs_no_main_and_is_checked_all_the_same() {
    let folder = pair();
    folder.write("part.frag", "vec4 b();\nvec4 a() { return b(); }\n");
    folder.run(&["compile", "part.frag"]).ends(1, "missing-main");
    let run = folder.run(&["compile", "--unit", "part.frag", "-o", "part.asm"]).ends(0, "");
    assert!(run.out.is_empty() && run.err.is_empty() && !folder.has("part.asm"));
    let run = folder.run(&["compile", "--unit", "--emit", "ast", "part.frag"]).ends(0, "");
    assert!(run.out.contains("return"));
    folder.run(&["compile", "--unit", "bad.frag", "part.frag"]).ends(1, "foo");
    let whole = folder.run(&["compile", "good.frag"]).out;
    assert_eq!(folder.run(&["compile", "--unit", "good.frag"]).ends(0, "").out, whole);
    let run = folder.run(&["compile", "--unit", "--emit", "json", "part.frag", "bad.frag", "good.frag"]).ends(1, "");
    let rows: Vec<Value> = run.out.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let got: Vec<_> =
        rows.iter().map(|r| (r["status"].as_str().unwrap(), r["instructions"].as_u64().unwrap())).collect();
    assert_eq!(got, [("ok", 0), ("rejected", 0), ("ok", 2)]);
}

#[test]
fn messages_for_tools_are_json_whatever_went_wrong() {
    let folder = pair();
    let cases = [["compile", "bad.frag"], ["compile", "absent.frag"], ["compile", "good.frag"], ["run", "bad.frag"]];
    for (case, extra) in cases.iter().zip([&[][..], &[], &["-p", "best"], &[]]) {
        let run = folder.run(&[&case[..], extra, &["--message-format", "json"]].concat());
        assert!(matches!(run.code, Some(1 | 2)));
        for line in run.err.lines() {
            let message: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{case:?}: {e}: {line}"));
            assert_eq!(message["severity"], "error");
        }
        assert!(!run.err.is_empty());
    }
}

#[test]
fn errors_of_both_stages_are_shown_when_linking() {
    let folder = pair();
    folder.write("bad.vert", "void main() { gl_Position = 1; }\n");
    let run = folder.run(&["link", "bad.vert", "bad.frag", "-o", "out"]).ends(1, "bad.vert:1:");
    assert!(run.err.contains("bad.frag:3:3") && !folder.has("out"));
}

#[test]
fn errors_of_a_rule_file_are_shown_in_it() {
    let folder = pair();
    folder.write("good.rules", "");
    folder.write("bad.rules", "\nmine: sometimes (add ?a ?b) => (add ?b ?a)\nother\n");
    let arguments = ["compile", "good.frag", "--rules", "good.rules", "--rules", "bad.rules"];
    let run = folder.run(&arguments).ends(1, "bad.rules:2:");
    assert!(run.err.contains("bad.rules:3:") && !run.err.contains("good.frag"), "{}", run.err);
}

#[test]
fn three_address_code_compiles_to_the_same_machine_code() {
    let folder = pair();
    folder.run(&["compile", "good.frag", "--emit", "tac", "-o", "good.tac"]).ends(0, "");
    let [source, tac, again] = ["good.frag", "good.tac", "good.frag"].map(|f| folder.run(&["compile", f]).out);
    assert!(source.contains("TEX"));
    assert_eq!(source, tac);
    assert_eq!(source, again);
}

#[test]
fn binaries_come_back_from_their_text_and_broken_ones_are_refused() {
    let folder = pair();
    folder.run(&["compile", "good.frag", "--emit", "bin", "-o", "a.bin"]).ends(0, "");
    folder.run(&["dis", "a.bin", "-o", "a.asm"]).ends(0, "");
    folder.run(&["asm", "a.asm", "-o", "b.bin"]).ends(0, "");
    let bytes = std::fs::read(folder.0.join("a.bin")).unwrap();
    assert_eq!(bytes, std::fs::read(folder.0.join("b.bin")).unwrap());
    // Whatever the disassembler takes, the assembler takes back.
    for at in 0..bytes.len() {
        let mut broken = bytes.clone();
        broken[at] ^= 0x89;
        folder.write("c.bin", &broken);
        let run = folder.run(&["dis", "c.bin", "-o", "c.asm"]);
        if run.code == Some(0) {
            folder.run(&["asm", "c.asm", "-o", "d.bin"]).ends(0, "");
        } else {
            run.ends(1, "c.bin");
        }
    }
}

#[test]
fn direct3d_shaders_are_told_by_their_version() {
    let folder = pair();
    let text = "vs_2_0\ndcl_position v0\nmov oPos, v0\n";
    folder.write("a.asm", text.as_bytes());
    folder.run(&["asm", "a.asm", "-o", "a.bin"]).ends(0, "");
    assert_eq!(folder.run(&["dis", "a.bin"]).ends(0, "").out, text);
    let mut bytes = std::fs::read(folder.0.join("a.bin")).unwrap();
    assert_eq!(bytes[..4], [0, 2, 0xfe, 0xff]);
    let shader = "uniform mat4 m;\nuniform vec3 c[2];\nvoid main() {\n  gl_Position = m * gl_Vertex + vec4(c[0] + c[1], 1.0);\n}\n";
    folder.write("c.vert", shader);
    folder.run(&["compile", "c.vert", "--target", "vs_2_0", "--emit", "bin", "-o", "c.bin"]).ends(0, "");
    let printed = folder.run(&["dis", "c.bin"]).ends(0, "").out;
    assert!(printed.contains("float4x4 m\n") && printed.contains("float3 c[2]\n"), "{printed}");
    bytes[16] ^= 0x7f;
    folder.write("b.bin", &bytes);
    folder.run(&["dis", "b.bin"]).ends(1, "b.bin: word 4: 126 is no opcode");
    folder.write("b.asm", b"; second line\nps_2_0\nmov r0, q0\n");
    let run = folder.run(&["asm", "b.asm"]).ends(1, "expected a register");
    assert!(run.err.contains("b.asm:3:9"), "{}", run.err);
}

#[test]
fn a_target_without_an_opcode_refuses_what_needs_it() {
    let folder = pair();
    let table = folder.run(&["targets", "vec4"]).ends(0, "").out;
    folder.write(
        "discard.frag",
        "varying float a;\nvoid main() {\n  if (a > 0.5) discard;\n  gl_FragColor = vec4(a);\n}\n",
    );
    folder.write("slow.frag", "varying float a;\nvoid main() {\n  gl_FragColor = vec4(sin(a));\n}\n");
    for (opcode, file, place) in
        [("KIL", "discard.frag", "3:1"), ("SIN", "slow.frag", "3:1"), ("TEX", "good.frag", "4:1")]
    {
        let kept: Vec<&str> = table.lines().filter(|l| !l.starts_with(&format!("{opcode} = "))).collect();
        let text = kept.join("\n").replace(&format!(", sin = \"{opcode}\""), "");
        folder.write("less.toml", &text);
        folder.run(&["compile", file]).ends(0, "");
        let run = folder.run(&["compile", file, "-t", "less.toml", "-o", "out"]).ends(1, "unsupported");
        assert!(run.err.contains(&format!("{file}:{place}")) && !folder.has("out"), "{}", run.err);
    }
}

#[test]
fn odd_texts_are_refused_without_harm() {
    let folder = pair();
    let deep = |open: &str, close: &str| {
        format!("void main(){{gl_FragColor=vec4({}1.0{});}}", open.repeat(50_000), close.repeat(50_000))
    };
    let doubling: String = (0..40).map(|i| format!("#define M{i} M{} M{}\n", i + 1, i + 1)).collect();
    let twice: String =
        (1..60).map(|i| format!("float f{i}(float x){{return f{0}(x)+f{0}(x*2.0);}}\n", i - 1)).collect();
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("empty.frag", Vec::new(), "no function `main`"),
        ("nul.frag", b"void main(){\0}".to_vec(), "unexpected character"),
        ("mark.frag", b"\xef\xbb\xbfvoid main(){x=1.0;}\r\n".to_vec(), "`x` is not declared"),
        ("deep.frag", deep("(", ")").into_bytes(), "256"),
        ("not.frag", deep("- ", "").into_bytes(), "500"),
        ("macro.frag", format!("{doubling}void main(){{float a = M0;}}").into_bytes(), "1000000 tokens"),
        ("array.frag", b"void main(){float a[2147483647];a[3]=1.0;}".to_vec(), "65536"),
        ("self.frag", b"float f(float x){return f(x);} void main(){float a=f(1.0);}".to_vec(), "calls itself"),
        (
            "twice.frag",
            format!(
                "float f0(float x){{return x+1.0;}}\n{twice}uniform float u;void main(){{gl_FragColor=vec4(f59(u));}}"
            )
            .into_bytes(),
            "the bound `inlined-instructions` is 200000",
        ),
    ];
    for (name, text, message) in cases {
        folder.write(name, text);
        let run = folder.run(&["compile", name, "-o", "out"]).ends(1, message);
        assert!(run.err.contains(name) && !folder.has("out"));
    }
    folder.write("loop.frag", "void main(){float a=0.0; for(;;) a+=1.0; gl_FragColor=vec4(a);}");
    folder.run(&["run", "loop.frag"]).ends(1, "instructions");
    folder.run(&["run", "loop.frag", "--interpret"]).ends(1, "steps");
}

#[test]
fn control_characters_of_a_shader_do_not_reach_the_terminal() {
    let folder = pair();
    folder.write("escape.frag", "void main() { \x1b[2J }\n");
    let run = folder.run(&["compile", "escape.frag"]).ends(1, "escape.frag:1:15");
    assert!(!run.err.contains('\x1b'));
}

#[test]
fn a_long_chain_of_calls_is_inlined_in_linear_time() {
    let folder = pair();
    let chain: String = (1..4000).map(|i| format!("float f{i}(float x){{return f{}(x);}}\n", i - 1)).collect();
    folder.write(
        "chain.frag",
        format!(
            "float f0(float x){{return x+1.0;}}\n{chain}uniform float u;void main(){{gl_FragColor=vec4(f3999(u));}}"
        ),
    );
    let run = folder.run(&["compile", "chain.frag", "--emit", "json"]).ends(0, "");
    let row: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(row["instructions"], 1);
}

#[test]
fn a_closed_standard_output_is_no_error() {
    let folder = pair();
    let mut child =
        command(&folder.0).args(["targets", "vec4"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    Run::of(child.wait_with_output().unwrap()).ends(0, "");
}
