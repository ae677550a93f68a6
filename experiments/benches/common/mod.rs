//! What the benches share: the kernels, and each stage's input made by the stages before it.

#![allow(dead_code)] // each bench uses a part

use backend::{CompileOptions, Compiled, Pipeline, Target, cost};
use eggshade::Options;
use ir::Function;
use ir::diag::{FileId, SourceMap};
use ir::pass::{Observer, PassCtx};
use ir::tac::Program;
use ir::types::Stage;
use std::path::Path;

/// A shader.
pub struct Kernel {
    pub name: String,
    pub source: String,
    pub stage: Stage,
}

/// All kernels, smallest text first.
pub fn kernels() -> Vec<Kernel> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/kernels");
    let files = eggshade_lab::files::collect(&[folder]).expect("the kernels are part of the crate");
    let kernel = |f: &eggshade_lab::files::ShaderFile| Kernel {
        name: f.path.file_name().expect("a file").to_string_lossy().into_owned(),
        source: std::fs::read_to_string(&f.path).expect("the kernels are text"),
        stage: if f.stage == "vert" { Stage::Vertex } else { Stage::Fragment },
    };
    let mut kernels: Vec<Kernel> = files.iter().map(kernel).collect();
    kernels.sort_by_key(|k| k.source.len());
    kernels
}

/// The kernels that stand for small, scalar, long and branching code.
pub fn chosen() -> Vec<Kernel> {
    let names = ["01_transform.vert", "04_phong_vertex.vert", "06_scalar_pack.frag", "09_select.vert", "12_blur9.frag"];
    kernels().into_iter().filter(|k| names.contains(&k.name.as_str())).collect()
}

pub fn target() -> Target {
    Target::builtin("vec4").expect("a built-in target")
}

pub fn pipeline(name: &str) -> Pipeline {
    Pipeline::builtin(name).expect("a built-in pipeline")
}

/// How the command line compiles, without the checks of debug builds.
pub fn options(name: &str) -> Options {
    let mut options = Options::new(target(), pipeline(name));
    options.back.check = false;
    options
}

/// A kernel as three-address code.
pub fn tac(kernel: &Kernel) -> Program {
    let mut sources = SourceMap::new();
    let file = sources.add(kernel.name.as_str(), kernel.source.as_str());
    let built = eggshade::to_tac(&kernel.name, file, &mut sources, &options("egraph"));
    built.expect("the kernels are legal").0
}

/// The same inlined.
pub fn inlined(kernel: &Kernel) -> Program {
    ir::tac::inline::inline(&tac(kernel), ir::tac::inline::MAX_INLINED_INSTS).expect("the kernels are small")
}

/// What passes may ask, for the target.
pub fn context() -> PassCtx {
    PassCtx { costs: cost::cost_table(&target()), eval: target().eval(), ..PassCtx::default() }
}

/// Keeps the function's text before a row of the pipeline and after the last one.
struct Recorder {
    row: &'static str,
    before: String,
    last: String,
}

impl Observer for Recorder {
    fn before(&mut self, _: usize, pass: &str, func: &Function<'_>) {
        if pass == self.row {
            self.before = ir::text::print(func);
        }
    }

    fn after(&mut self, _: usize, _: &str, func: &Function<'_>, _: bool) -> Result<(), String> {
        self.last = ir::text::print(func);
        Ok(())
    }
}

/// The default pipeline's function as text, before its row `egraph` and after all rows.
pub fn ssa_texts(kernel: &Kernel) -> [String; 2] {
    let mut recorder = Recorder { row: "egraph", before: String::new(), last: String::new() };
    let how = CompileOptions { check: false, ..CompileOptions::default() };
    backend::compile_observed(&tac(kernel), &target(), &pipeline("egraph"), &how, &mut recorder)
        .expect("the kernels compile");
    [recorder.before, recorder.last]
}

/// Reads such a text.
pub fn ssa<'a>(arena: &'a bumpalo::Bump, text: &str) -> Function<'a> {
    ir::text::parse(arena, text, FileId(0)).expect("the printer's text parses")
}

/// Compiled by the default pipeline.
pub fn compiled(kernel: &Kernel) -> Compiled {
    let how = CompileOptions { check: false, ..CompileOptions::default() };
    backend::compile(&tac(kernel), &target(), &pipeline("egraph"), &how).expect("the kernels compile")
}
