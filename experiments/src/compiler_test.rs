//! piglit's tests of compilers (`glslparsertest`): a shader whose leading comment says whether it must
//! compile.
//!
//! ```text
//! text -> Config -> compile as a shader object (with `check_link`: as a program) -> pass, fail or skip
//! ```
//!
//! The comment holds lines `key: value` between `[config]` and `[end config]`: `expect_result`,
//! `glsl_version`, `require_extensions` and `check_link`. A text without `check_link` may lack what
//! another text of its stage can have (`main`, bodies of functions). A text that must be rejected and
//! meets a fault or a limit of the target instead does not pass.

use crate::shader_test::require::has_extension;
use crate::verdict::{Outcome, Verdict, first_error};
use eggshade::frontend::ast::Version;
use eggshade::ir::diag::Severity;
use eggshade::record::Status;
use eggshade::{Failure, Options};
use std::path::Path;

/// What the comment says.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Config {
    /// Whether the shader must compile.
    pub accepted: bool,
    /// A text without `#version` is GLSL ES 1.00.
    pub embedded: bool,
    /// The version of the language that the test is about, times 100.
    pub version: u32,
    /// Whether it must also link.
    pub link: bool,
    /// Extensions that must be there, and with `!` that must not.
    pub extensions: Vec<String>,
}

impl Config {
    /// Reads the comment.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Config, String> {
        let mut config = Config::default();
        let mut seen = Vec::new();
        let mut lines = text.lines().enumerate().skip_while(|(_, l)| bare(l) != "[config]").skip(1);
        loop {
            let Some((i, line)) = lines.next() else {
                return Err("the file has no comment with [config] and [end config]".to_owned());
            };
            let line = bare(line);
            if line == "[end config]" {
                break;
            }
            if line.is_empty() {
                continue;
            }
            let told = |what: String| format!("line {}: {what}", i + 1);
            let (key, value) = line.split_once(':').ok_or_else(|| told("`key: value` is wanted".to_owned()))?;
            let (key, value) = (key.trim(), value.trim());
            if seen.contains(&key) {
                return Err(told(format!("{key} is there twice")));
            }
            seen.push(key);
            config.set(key, value).map_err(told)?;
        }
        match ["expect_result", "glsl_version"].iter().find(|key| !seen.contains(key)) {
            Some(key) => Err(format!("[config] has no {key}")),
            None => Ok(config),
        }
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let bad = || format!("`{value}` is no value of {key}");
        match key {
            "expect_result" => self.accepted = flag(value, ["fail", "pass"]).ok_or_else(bad)?,
            "check_link" => self.link = flag(value, ["false", "true"]).ok_or_else(bad)?,
            "require_extensions" => self.extensions = value.split_whitespace().map(str::to_owned).collect(),
            "glsl_version" => {
                let number = value.strip_suffix("es").unwrap_or(value).trim_end();
                let (major, minor) = number.split_once('.').filter(|(_, m)| m.len() == 2).ok_or_else(bad)?;
                let part = |word: &str| word.parse::<u8>().map(u32::from).map_err(|_| bad());
                self.version = part(major)? * 100 + part(minor)?;
                self.embedded = number != value || self.version == 100;
            }
            _ => return Err(format!("there is no key {key}")),
        }
        Ok(())
    }
}

fn flag(value: &str, [no, yes]: [&str; 2]) -> Option<bool> {
    (value == yes || value == no).then_some(value == yes)
}

/// A line without the marks of a comment.
fn bare(line: &str) -> &str {
    let line = line.trim();
    let line = line.strip_prefix("//").or_else(|| line.strip_prefix("/*")).unwrap_or(line);
    line.trim_start_matches('*').trim()
}

/// Judges a test's text; the name's ending tells the stage.
pub fn run_text(name: &Path, text: &str, options: &Options) -> Outcome {
    let config = match Config::parse(text) {
        Ok(config) => config,
        Err(reason) => return Outcome::new(Verdict::Fail, reason),
    };
    let name = name.display().to_string();
    if options.stage.is_none() && eggshade::stage_of(&name).is_none() {
        return Outcome::new(Verdict::Skip, "the ending tells neither a vertex nor a fragment shader".to_owned());
    }
    for extension in &config.extensions {
        let (wanted, bare) = extension.strip_prefix('!').map_or((true, extension.as_str()), |e| (false, e));
        if has_extension(bare) != wanted {
            return Outcome::new(Verdict::Skip, format!("requires the extension `{extension}`"));
        }
    }
    let mut options = options.clone();
    if config.embedded {
        options.default_version = Version::Es100;
    }
    judge(&config, compile(&config, &name, text, &options))
}

/// Compiles as far as the test asks: what is a whole stage goes through the back end, too.
fn compile(config: &Config, name: &str, text: &str, options: &Options) -> Result<(), Failure> {
    if !config.link && !eggshade::check_unit(name, text, options)?.complete {
        return Ok(());
    }
    match eggshade::compile(name, text, options) {
        // OpenGL tells at linking that a program does not fit.
        Err(failure) if failure.status == Status::DoesNotFit && !config.link => Ok(()),
        result => result.map(|_| ()),
    }
}

fn judge(config: &Config, result: Result<(), Failure>) -> Outcome {
    let failure = match result {
        Ok(()) if config.accepted => return Outcome::pass(),
        Ok(()) => return Outcome::new(Verdict::Fail, "it compiles, but must not".to_owned()),
        Err(failure) => failure,
    };
    let first = failure.diagnostics.iter().find(|d| d.severity == Severity::Error);
    let version_is_ours = Version::from_number(config.version).is_some();
    match failure.status {
        Status::Rejected if !version_is_ours && first.is_some_and(|d| d.code == "unsupported-version") => {
            Outcome::new(Verdict::Skip, first_error(&failure))
        }
        Status::Rejected if !config.accepted => Outcome::pass(),
        _ => Outcome::new(Verdict::Fail, first_error(&failure)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &str) -> (Verdict, String) {
        let target = eggshade::resolve_target("vec4").unwrap();
        let options = Options::new(target, eggshade::resolve_pipeline("none").unwrap());
        let outcome = run_text(Path::new("a.frag"), text, &options);
        (outcome.result, outcome.reason)
    }

    fn test(config: &str, body: &str) -> (Verdict, String) {
        run(&format!("/* [config]\n{config} * [end config]\n */\n{body}\n"))
    }

    #[test]
    fn the_comment_is_read_in_each_of_its_forms() {
        let wanted = Config { accepted: true, version: 110, ..Config::default() };
        for text in [
            "// [config]\n// expect_result: pass\n// glsl_version: 1.10\n// [end config]\n",
            "#version 110\n/* [config]\n * expect_result: pass\n *\n * glsl_version: 1.10\n * [end config]\n */",
            "/*\n[config]\nexpect_result: pass\nglsl_version: 1.10\ncheck_link: false\n[end config]\n*/",
        ] {
            assert_eq!(Config::parse(text), Ok(wanted.clone()), "{text}");
        }
        let config = |lines: &str| Config::parse(&format!("[config]\nexpect_result: fail\n{lines}\n[end config]"));
        let es = config("glsl_version: 3.00 es\ncheck_link: true\nrequire_extensions: A !B").unwrap();
        assert_eq!((es.accepted, es.embedded, es.version, es.link), (false, true, 300, true));
        assert_eq!(es.extensions, ["A", "!B"]);
        assert!(config("glsl_version: 1.00").unwrap().embedded);
        for (lines, why) in [
            ("", "no glsl_version"),
            ("glsl_version: 1.1", "no value"),
            ("glsl_version: 999.00", "no value"),
            ("check_link: yes", "line 3: `yes`"),
            ("mood: good", "no key mood"),
            ("expect_result: pass", "twice"),
            ("what", "key: value"),
        ] {
            let error = config(lines).unwrap_err();
            assert!(error.contains(why), "{lines}: {error}");
        }
        assert!(Config::parse("[config]\nexpect_result: fail\n").unwrap_err().contains("[end config]"));
        assert!(Config::parse("").is_err());
    }

    #[test]
    fn both_ways_of_being_wrong_fail() {
        const FAIL: &str = " * expect_result: fail\n * glsl_version: 1.10\n";
        const PASS: &str = " * expect_result: pass\n * glsl_version: 1.10\n";
        assert_eq!(test(PASS, "void main() {}"), (Verdict::Pass, String::new()));
        assert_eq!(test(FAIL, "void main() { x; }"), (Verdict::Pass, String::new()));
        assert_eq!(test(FAIL, "void main() {}").0, Verdict::Fail);
        let (verdict, reason) = test(PASS, "void main() { x; }");
        assert!(verdict == Verdict::Fail && reason.contains("a.frag:6: undeclared-name"), "{reason}");
        assert_eq!(run("void main() {}").0, Verdict::Fail);
    }

    #[test]
    fn only_linking_asks_for_main() {
        const PASS: &str = " * expect_result: pass\n * glsl_version: 1.10\n";
        let part = "float f(); float g() { return f(); }";
        assert_eq!(test(PASS, part).0, Verdict::Pass);
        assert_eq!(test(&format!("{PASS} * check_link: true\n"), part).0, Verdict::Fail);
        let big = "uniform vec4 u[1000]; uniform int i; void main() { gl_FragColor = u[i]; }";
        assert_eq!(test(PASS, big).0, Verdict::Pass);
        assert_eq!(test(&format!("{PASS} * check_link: true\n"), big).0, Verdict::Fail);
    }

    #[test]
    fn the_dialect_is_the_tests() {
        let undefined_precision = "varying float f; void main() {}";
        assert_eq!(test(" * expect_result: fail\n * glsl_version: 1.00\n", undefined_precision).0, Verdict::Pass);
        assert_eq!(test(" * expect_result: pass\n * glsl_version: 1.10\n", undefined_precision).0, Verdict::Pass);
        let newer = " * expect_result: fail\n * glsl_version: 1.30\n";
        assert_eq!(test(newer, "#version 130\nvoid main() {}").0, Verdict::Skip);
        assert_eq!(test(newer, "void main() { x; }").0, Verdict::Pass);
        let strange = " * expect_result: fail\n * glsl_version: 1.10\n";
        assert_eq!(test(strange, "#version 7\nvoid main() {}").0, Verdict::Pass);
        let needs =
            |e: &str| test(&format!(" * expect_result: pass\n * glsl_version: 1.10\n * require_extensions: {e}\n"), "");
        assert_eq!(needs("GL_ARB_draw_buffers").0, Verdict::Pass);
        assert_eq!(needs("!GL_ARB_draw_buffers").0, Verdict::Skip);
        assert_eq!(needs("GL_NV_nothing").0, Verdict::Skip);
    }
}
