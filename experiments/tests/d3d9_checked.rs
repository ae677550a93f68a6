//! What is emitted for Direct3D targets passes the checker of their texts, which shares no code with
//! the emitter: all kernels and examples, on every target that has them fit.

use eggshade::Options;
use eggshade::backend::{Pipeline, Target, check, emit};
use eggshade::record::Status;
use std::path::Path;

#[test]
fn every_text_passes_the_checker() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = [root.join("data/kernels"), root.join("../examples")];
    let files = eggshade_lab::files::collect(&folders).unwrap();
    for (targets, least) in [
        (["vs_1_0", "vs_1_0"], 9),
        (["vs_1_1", "vs_1_1"], 10),
        (["vs_1_1:nv20", "vs_1_1:nv20"], 10),
        (["vs_2_0", "ps_2_0"], 17),
        (["vs_3_0", "ps_3_0"], 17),
    ] {
        let mut checked = 0;
        for file in &files {
            let target = Target::builtin(targets[usize::from(file.stage == "frag")]).unwrap();
            if !target.stages.iter().any(|s| s.to_string() == file.stage) {
                continue;
            }
            let name = file.path.display().to_string();
            let source = std::fs::read_to_string(&file.path).unwrap();
            let options = Options::new(target, Pipeline::builtin("egraph").unwrap());
            let built = match eggshade::compile(&name, &source, &options) {
                Ok(built) => built,
                Err(f) if matches!(f.status, Status::DoesNotFit | Status::Unsupported) => continue,
                Err(f) => panic!("{name}: {:?}", f.diagnostics),
            };
            let text = emit::text(&built.compiled.program, &options.target).unwrap();
            if let Err(found) = check::check(&text, &options.target).unwrap() {
                let found: Vec<String> = found.iter().map(ToString::to_string).collect();
                panic!("{name} on {}: {}\n{text}", options.target.name, found.join("\n"));
            }
            checked += 1;
        }
        assert!(checked >= least, "{checked} texts on {}", targets.join("/"));
    }
}
