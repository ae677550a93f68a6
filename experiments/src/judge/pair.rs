//! A pair of stages, compiled, run by an executor, and held against Mesa's picture of the GLSL.

use super::Ending;
use super::compare::{Comparison, Picture, TOLERANCE, compare};
use super::inputs::{self, COORDINATES, Numbers, SETS};
use crate::oracle::{Attribute, Corner, Job, Mesa, OracleError, OracleTexture};
use eggshade::backend::mach::Program;
use eggshade::frontend::ast::Version;
use eggshade::ir::diag::Severity;
use eggshade::ir::tac;
use eggshade::record::Status;
use eggshade::render::state::GlState;
use eggshade::{Failure, Linked, Options};

/// Width and height.
const SIZE: u32 = 16;
/// Background: a colour that no shader draws.
const CLEAR: [f32; 4] = [-4096.5; 4];
/// Runs of the reference with moved numbers, for each set.
const MOVED_RUNS: u32 = 4;

/// Names and texts of the vertex and of the fragment stage.
pub type Texts<'a> = [&'a [(&'a str, &'a str)]; 2];

/// Why there is no picture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stop {
    /// How far it came.
    pub ending: Ending,
    /// Why no further.
    pub reason: String,
}

impl Stop {
    /// With its reason.
    pub fn new(ending: Ending, reason: impl Into<String>) -> Stop {
        Stop { ending, reason: reason.into() }
    }
}

/// A consumer of our code: what accepts and runs it.
pub trait Executor {
    /// The pictures that a compiled pair draws, one for each scene.
    ///
    /// # Errors
    /// Why it cannot be drawn.
    fn draw(&self, mesa: &Mesa, linked: &Linked, options: &Options, scenes: &[Scene]) -> Result<Vec<Picture>, Stop>;

    /// Whether its fragment shaders can read `gl_FragCoord`, so that a picture shows depths.
    fn shows_depth(&self) -> bool {
        true
    }
}

/// Everything that a pair is drawn with.
#[derive(Clone, Debug)]
pub struct Scene {
    numbers: Numbers,
    mesh: Vec<Corner>,
    /// Fixed-function state.
    pub state: GlState,
    attributes: Vec<Attribute>,
    uniforms: Vec<(String, Vec<f32>)>,
    textures: Vec<OracleTexture>,
}

impl Scene {
    fn new(numbers: Numbers, vertex: &Program, stages: [&tac::Program; 2]) -> Scene {
        let mesh = numbers.mesh();
        Scene {
            numbers,
            state: numbers.state(),
            attributes: numbers.attributes(vertex, &mesh),
            uniforms: numbers.uniforms(stages),
            textures: numbers.textures(stages),
            mesh,
        }
    }

    /// As Mesa draws it.
    pub fn job(&self) -> Job<'_> {
        Job {
            mesh: &self.mesh,
            state: &self.state,
            attributes: &self.attributes,
            uniforms: &self.uniforms,
            textures: &self.textures,
            size: [SIZE; 2],
            clear: CLEAR,
        }
    }

    /// One register of a uniform of a stage, or of state.
    pub fn register(&self, stage: &tac::Program, name: &str, elem: u32) -> Option<[f32; 4]> {
        self.state.uniform(name, elem).or_else(|| self.numbers.register(stage, name, elem))
    }
}

/// How a pair fared.
#[derive(Clone, PartialEq, Debug)]
pub struct Judgement {
    /// How far it came.
    pub ending: Ending,
    /// Why no further.
    pub reason: String,
    /// What was compared.
    pub figures: Comparison,
}

impl From<Stop> for Judgement {
    fn from(stop: Stop) -> Judgement {
        Judgement { ending: stop.ending, reason: stop.reason, figures: Comparison::default() }
    }
}

/// A compile that failed.
pub fn not_compiled(failure: &Failure) -> Stop {
    let error = failure.diagnostics.iter().rfind(|d| d.severity == Severity::Error);
    let ending = match failure.status {
        Status::DoesNotFit => Ending::DoesNotFit,
        Status::Unsupported => Ending::Unsupported,
        Status::Rejected => Ending::Rejected,
        Status::Ok | Status::Internal => Ending::Fault,
    };
    Stop::new(ending, error.map_or("", |d| d.message.as_str()))
}

/// Compiles, draws and compares.
pub fn judge_pair(mesa: &Mesa, texts: Texts<'_>, options: &Options, executor: &dyn Executor) -> Judgement {
    compared(mesa, texts, options, executor).map_or_else(Judgement::from, |figures| {
        let (ending, reason) = match figures {
            Comparison { different: different @ 1.., compared, worst, .. } => {
                let worst = worst * TOLERANCE;
                (Ending::Unequal, format!("{different} of {compared} lanes differ, by up to {worst:.2e}"))
            }
            Comparison { compared: 0, unstable: 0, not_finite: 0, .. } => {
                (Ending::NothingCompared, "nothing is drawn".to_owned())
            }
            Comparison { compared: 0, .. } => {
                (Ending::NothingCompared, "the reference is nowhere stable and finite".to_owned())
            }
            _ => (Ending::Equal, String::new()),
        };
        Judgement { ending, reason, figures }
    })
}

fn compared(mesa: &Mesa, texts: Texts<'_>, options: &Options, executor: &dyn Executor) -> Result<Comparison, Stop> {
    let linked = eggshade::link_units(texts, options).map_err(|failure| not_compiled(&failure))?;
    let scene = |set, run| {
        let [vertex, fragment] = &linked.stages;
        let divides = inputs::divides(&vertex.tac) || inputs::divides(&fragment.tac);
        Scene::new(Numbers { set, run, divides }, &vertex.compiled.program, [&vertex.tac, &fragment.tac])
    };
    let runs = 1 + MOVED_RUNS;
    let all: Vec<Scene> =
        (0..SETS).flat_map(|set| (0..runs).map(move |run| (set, run))).map(|(s, r)| scene(s, r)).collect();
    let jobs: Vec<Job<'_>> = all.iter().map(Scene::job).collect();
    let given = texts.map(|units| units.iter().map(|(_, text)| for_mesa(text, options)).collect::<Vec<String>>());
    let given = given.each_ref().map(|units| units.iter().map(String::as_str).collect::<Vec<&str>>());
    let theirs = mesa.draw([&given[0], &given[1]], &jobs).map_err(|e| match e {
        OracleError::Refused(log) => Stop::new(Ending::NoReference, log),
        OracleError::Missing(what) => Stop::new(Ending::Fault, what),
    })?;
    let scenes: Vec<Scene> = all.iter().step_by(runs as usize).cloned().collect();
    let ours = executor.draw(mesa, &linked, options, &scenes)?;
    let mut figures = Comparison::default();
    for (pictures, ours) in theirs.chunks(runs as usize).zip(&ours) {
        let (reference, jittered) = pictures.split_first().ok_or_else(|| Stop::new(Ending::Fault, "no picture"))?;
        figures.add(&compare(reference, jittered, ours, CLEAR));
    }
    Ok(figures)
}

/// The text with the language that the options give it when it names none, and with window coordinates
/// that can be moved.
fn for_mesa(text: &str, options: &Options) -> String {
    let names_none =
        !text.lines().any(|l| l.trim_start().strip_prefix('#').is_some_and(|l| l.trim_start().starts_with("version")));
    let es = options.default_version == Version::Es100;
    let text = with_moved_coordinates(text);
    if es && names_none { format!("#version 100\n{text}") } else { text }
}

/// Nothing but directives may stand before `#extension`, so a text with one stays as it is.
fn with_moved_coordinates(text: &str) -> String {
    if !text.contains("gl_FragCoord") || text.contains("#extension") {
        return text.to_owned();
    }
    let starts = |l: &str| l.trim_start().starts_with("#version");
    let head = text.lines().position(starts).map_or(0, |n| n + 1);
    let mut lines: Vec<&str> = text.lines().collect();
    let define = format!("#define gl_FragCoord (gl_FragCoord + {COORDINATES})");
    let declare =
        format!("#ifdef GL_ES\nuniform highp vec4 {COORDINATES};\n#else\nuniform vec4 {COORDINATES};\n#endif");
    lines.splice(head..head, [declare.as_str(), define.as_str()]);
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_moved_behind_the_version() {
        let moved = with_moved_coordinates("// a\n#version 120\nvec4 f() { return gl_FragCoord; }");
        assert!(moved.starts_with("// a\n#version 120\n#ifdef GL_ES\n"), "{moved}");
        assert!(moved.ends_with("vec4 f() { return gl_FragCoord; }\n"));
        let text = "#extension all : warn\nvec4 f() { return gl_FragCoord; }";
        assert_eq!(with_moved_coordinates(text), text);
    }
}
