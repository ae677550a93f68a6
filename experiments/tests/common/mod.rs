//! Kernels and examples in an executor of real code, held against Mesa's picture of the GLSL.

use eggshade::Options;
use eggshade::backend::{Pipeline, Target};
use eggshade::ir::diag::SourceMap;
use eggshade_lab::judge::{Ending, Executor, Judgement, judge_pair, partner};
use eggshade_lab::oracle::Mesa;
use std::collections::BTreeMap;
use std::path::Path;

fn sources() -> BTreeMap<String, String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = [here.join("data/kernels"), here.join("../examples")];
    let files = eggshade_lab::files::collect(&folders).unwrap();
    let name = |p: &Path| p.file_name().unwrap().to_string_lossy().into_owned();
    files.iter().map(|f| (name(&f.path), std::fs::read_to_string(&f.path).unwrap())).collect()
}

fn options(target: &str, pipeline: &str) -> Options {
    Options::new(Target::builtin(target).unwrap(), Pipeline::builtin(pipeline).unwrap())
}

/// The pairs to try for a shader: with the file of the same name, if any, and with a partner made for it,
/// which looks at the position as a varying where pictures do not show depths.
fn pairs_of(
    name: &str,
    source: &str,
    all: &BTreeMap<String, String>,
    options: &Options,
    depth: bool,
) -> Vec<[(String, String); 2]> {
    let (stem, ending) = name.rsplit_once('.').unwrap();
    let vertex = ending == "vert";
    let other = format!("{stem}.{}", if vertex { "frag" } else { "vert" });
    let alone = if vertex && !depth { partner::position_as_varying(source, false) } else { source.to_owned() };
    let mut map = SourceMap::new();
    let file = map.add(name, alone.as_str());
    let (tac, _) = eggshade::to_tac(name, file, &mut map, options).unwrap();
    let given = all.get(&other).map(|text| (source.to_owned(), text.clone()));
    let made = partner::partner(&tac, depth).ok().map(|text| (alone, text));
    let pair = |(own, text)| {
        let (own, other) = ((name.to_owned(), own), (other.clone(), text));
        if vertex { [own, other] } else { [other, own] }
    };
    given.into_iter().chain(made).map(pair).collect()
}

/// The judgement of the first pair that is one program.
fn judgement(
    mesa: &Mesa,
    executor: &dyn Executor,
    pairs: &[[(String, String); 2]],
    options: &Options,
) -> Option<Judgement> {
    let judged = |pair: &[(String, String); 2]| {
        let [vertex, fragment] = pair.each_ref().map(|(n, s)| (n.as_str(), s.as_str()));
        judge_pair(mesa, [&[vertex], &[fragment]], options, executor)
    };
    pairs.iter().map(judged).find(|j| j.ending != Ending::Rejected)
}

/// Judges every shader with three pipelines. All must be equal but those whose reasons start with one
/// of `known` behind the name of the file.
///
/// # Panics
/// With the others, or when too little was compared.
#[allow(clippy::print_stderr)] // the figures are what the test is for
pub fn all_are_equal(mesa: &Mesa, executor: &dyn Executor, target: &str, known: &[(&str, &str)]) {
    let all = sources();
    assert!(all.len() >= 19);
    let (mut compared, mut unstable, mut wrong) = (0, 0, Vec::new());
    for pipeline in ["none", "paper", Pipeline::DEFAULT] {
        let options = options(target, pipeline);
        for (name, source) in &all {
            let expected = |reason: &str| known.iter().any(|(n, r)| name == n && reason.starts_with(r));
            match judgement(mesa, executor, &pairs_of(name, source, &all, &options, executor.shows_depth()), &options) {
                Some(Judgement { ending: Ending::Equal, figures, .. }) => {
                    (compared, unstable) = (compared + figures.compared, unstable + figures.unstable);
                }
                Some(j) if expected(&j.reason) => {}
                other => wrong.push(format!("{name}, {pipeline}: {other:?}")),
            }
        }
    }
    eprintln!("{target}: {compared} lanes compared, {unstable} left out as unstable");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared > 20 * unstable && compared > 10_000, "{compared} compared, {unstable} left out");
}
