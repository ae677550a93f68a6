//! Kernels and examples as ARB programs: Mesa accepts them and draws what it draws from the GLSL.

use eggshade::Options;
use eggshade::backend::{Pipeline, Target};
use eggshade::ir::diag::SourceMap;
use eggshade_lab::judge::arb::Arb;
use eggshade_lab::judge::{Ending, Judgement, judge_pair, partner};
use eggshade_lab::oracle::{Driver, Mesa, open_or_skip};
use std::collections::BTreeMap;
use std::path::Path;

fn sources() -> BTreeMap<String, String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = [here.join("data/kernels"), here.join("../examples")];
    let files = eggshade_lab::files::collect(&folders).unwrap();
    let name = |p: &Path| p.file_name().unwrap().to_string_lossy().into_owned();
    files.iter().map(|f| (name(&f.path), std::fs::read_to_string(&f.path).unwrap())).collect()
}

fn options(pipeline: &str) -> Options {
    Options::new(Target::builtin("arbvp1").unwrap(), Pipeline::builtin(pipeline).unwrap())
}

/// The pairs to try for a shader: with the file of the same name, if any, and with a partner made for it.
fn pairs_of(name: &str, source: &str, all: &BTreeMap<String, String>) -> Vec<[(String, String); 2]> {
    let (stem, ending) = name.rsplit_once('.').unwrap();
    let vertex = ending == "vert";
    let other = format!("{stem}.{}", if vertex { "frag" } else { "vert" });
    let mut map = SourceMap::new();
    let file = map.add(name, source);
    let (tac, _) = eggshade::to_tac(name, file, &mut map, &options(Pipeline::DEFAULT)).unwrap();
    let texts = all.get(&other).cloned().into_iter().chain(partner::partner(&tac));
    let pair = |text| {
        let (own, other) = ((name.to_owned(), source.to_owned()), (other.clone(), text));
        if vertex { [own, other] } else { [other, own] }
    };
    texts.map(pair).collect()
}

/// The judgement of the first pair that is one program.
fn judgement(mesa: &Mesa, pairs: &[[(String, String); 2]], options: &Options) -> Option<Judgement> {
    let judged = |pair: &[(String, String); 2]| {
        let [vertex, fragment] = pair.each_ref().map(|(n, s)| (n.as_str(), s.as_str()));
        judge_pair(mesa, [&[vertex], &[fragment]], options, &Arb)
    };
    pairs.iter().map(judged).find(|j| j.ending != Ending::Rejected)
}

#[test]
#[allow(clippy::print_stderr)] // the figures are what the test is for
fn mesa_draws_the_same_from_our_programs() {
    let Some(mesa) = open_or_skip(Driver::Softpipe) else { return };
    let all = sources();
    assert!(all.len() >= 19);
    let (mut compared, mut unstable, mut wrong) = (0, 0, Vec::new());
    for pipeline in ["none", "paper", Pipeline::DEFAULT] {
        let options = options(pipeline);
        for (name, source) in &all {
            match judgement(&mesa, &pairs_of(name, source, &all), &options) {
                Some(Judgement { ending: Ending::Equal, figures, .. }) => {
                    (compared, unstable) = (compared + figures.compared, unstable + figures.unstable);
                }
                other => wrong.push(format!("{name}, {pipeline}: {other:?}")),
            }
        }
    }
    eprintln!("{compared} lanes compared, {unstable} left out as unstable");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared > 20 * unstable && compared > 10_000, "{compared} compared, {unstable} left out");
}
