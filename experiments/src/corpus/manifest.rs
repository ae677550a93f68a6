//! The corpus' manifest (one JSON object a line) to what there is to compile.
//!
//! A row is a shader, one of several sources of a stage (`units`: `ID`, `ID-1`, `ID-2` ... are attached
//! together), or a part without `main` (`nomain`). Sources and parts are checked one by one, as the
//! reference judged them. Sources of a stage are also linked; parts of a program are offered to its
//! shaders of the same stage, which may call what the parts define. A text without `#version` that
//! the reference also judged as GLSL ES is compiled as that, too.

use crate::job::Job;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What a reference compiler says, by dialect; nothing where it was not asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
struct Verdict {
    gl: Option<bool>,
    es: Option<bool>,
}

#[derive(Clone, Debug, Deserialize)]
struct ManifestRow {
    id: String,
    family: String,
    stage: String,
    #[serde(default)]
    version: String,
    #[serde(default)]
    mesa: Verdict,
    #[serde(default)]
    glslang: Verdict,
    #[serde(default)]
    dup: Option<String>,
    #[serde(default)]
    nomain: bool,
    #[serde(default)]
    units: u32,
    #[serde(default)]
    forcees: u32,
    #[serde(default)]
    test: u32,
    #[serde(default)]
    expect: String,
}

impl ManifestRow {
    /// Whether some compiler accepts it as desktop GLSL; nothing when none was asked.
    fn gl(&self) -> Option<bool> {
        either(self.mesa.gl, self.glslang.gl)
    }

    fn es(&self) -> Option<bool> {
        either(self.mesa.es, self.glslang.es)
    }

    /// The text by which the row is told from others.
    fn text(&self) -> &str {
        self.dup.as_deref().unwrap_or(&self.id)
    }

    /// Whether it may be linked into other shaders of its program. A test is complete by itself.
    fn is_library(&self) -> bool {
        self.nomain && self.units == 0 && self.test == 0 && self.expect.is_empty() && self.gl() == Some(true)
    }
}

fn either(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    if a.is_none() && b.is_none() { None } else { Some(a == Some(true) || b == Some(true)) }
}

/// What an entry stands for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// A whole shader.
    Shader,
    /// A text without `main`, or one of several of its stage: checked, not compiled to code.
    Part,
    /// The texts of a stage of several, linked.
    Linked,
    /// A shader again, as GLSL ES.
    Es,
}

/// Something to compile.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Its name in the manifest; with `/es` or `/linked` behind it for [`Kind::Es`] and [`Kind::Linked`].
    pub id: String,
    /// What it stands for.
    pub kind: Kind,
    /// The program that it belongs to.
    pub family: String,
    /// `vert` or `frag`.
    pub stage: String,
    /// Whether some reference compiler accepts it (all its sources); nothing when none was asked.
    pub accepted: Option<bool>,
    /// Whether a text without `#version` is GLSL ES.
    pub es: bool,
    /// Ids of its sources; the first one names the entry.
    pub sources: Vec<String>,
    /// Ids of the parts that may be linked in.
    pub library: Vec<String>,
}

/// What the manifest lists.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Manifest {
    /// All that there is to compile, by family, kind and id.
    pub entries: Vec<Entry>,
    /// Rows left out: the same text as another.
    pub duplicates: usize,
    /// Rows left out: files for inclusion.
    pub included: usize,
}

/// Reads the manifest's text; `only` keeps these families when it names any.
///
/// # Errors
/// The first line that is no manifest row.
pub fn read_manifest(text: &str, only: &[String]) -> Result<Manifest, String> {
    let mut rows = Vec::new();
    for (i, line) in text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty()) {
        let row: ManifestRow = serde_json::from_str(line).map_err(|e| format!("line {}: {e}", i + 1))?;
        if only.is_empty() || only.contains(&row.family) {
            rows.push(row);
        }
    }
    let mut libraries: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for row in rows.iter().filter(|r| r.is_library()) {
        libraries.entry((&row.family, &row.stage)).or_default().push(row.id.clone());
    }
    let units: BTreeMap<&str, &ManifestRow> = rows.iter().filter(|r| r.units > 0).map(|r| (r.id.as_str(), r)).collect();
    let mut manifest = Manifest::default();
    let mut programs = BTreeSet::new();
    for row in &rows {
        // Stages of other texts may be new though each of their texts is another's.
        if let Some(sources) = sources_of(row, &units)
            && programs.insert(sources.iter().map(|r| r.text()).collect::<Vec<_>>())
        {
            manifest.entries.push(linked(&sources));
        }
        if row.stage == "include" {
            manifest.included += 1;
        } else if row.dup.is_some() {
            manifest.duplicates += 1;
        } else {
            let library = libraries.get(&(row.family.as_str(), row.stage.as_str()));
            manifest.entries.extend(entries(row, library.map_or(&[], Vec::as_slice)));
        }
    }
    manifest.entries.sort_by(|a, b| (&a.family, a.kind, &a.id).cmp(&(&b.family, b.kind, &b.id)));
    Ok(manifest)
}

/// All sources of a row's stage, if there are several and the row is the first one: only that one is
/// followed by the others' names.
fn sources_of<'r>(row: &'r ManifestRow, units: &BTreeMap<&str, &'r ManifestRow>) -> Option<Vec<&'r ManifestRow>> {
    if row.units == 0 {
        return None;
    }
    let others = (1..row.units).map(|i| units.get(format!("{}-{i}", row.id).as_str()).copied());
    std::iter::once(Some(row)).chain(others).collect()
}

/// The stage of several sources; accepted when the reference accepts each.
fn linked(sources: &[&ManifestRow]) -> Entry {
    let row = sources[0];
    Entry {
        id: format!("{}/linked", row.id),
        kind: Kind::Linked,
        family: row.family.clone(),
        stage: row.stage.clone(),
        accepted: Some(sources.iter().all(|r| r.gl() == Some(true) || r.es() == Some(true))),
        es: sources.iter().all(|r| r.gl() != Some(true)),
        sources: sources.iter().map(|r| r.id.clone()).collect(),
        library: Vec::new(),
    }
}

/// A row's entry, and the same as GLSL ES when the reference judged that beside desktop GLSL.
fn entries(row: &ManifestRow, library: &[String]) -> Vec<Entry> {
    let (gl, es) = (row.gl(), row.es());
    let part = row.nomain || row.units > 0;
    let first = Entry {
        id: row.id.clone(),
        kind: if part { Kind::Part } else { Kind::Shader },
        family: row.family.clone(),
        stage: row.stage.clone(),
        accepted: either(gl, es),
        es: gl != Some(true) && (es == Some(true) || row.forcees > 0),
        sources: vec![row.id.clone()],
        library: if part { Vec::new() } else { library.to_vec() },
    };
    let also = Entry { id: format!("{}/es", row.id), kind: Kind::Es, accepted: es, es: true, ..first.clone() };
    let both = row.version == "none" && !part && !first.es && es.is_some();
    std::iter::once(first).chain(both.then_some(also)).collect()
}

/// The entries' jobs, in their order.
pub fn jobs(entries: &[Entry], folder: &Path, target: &str, pipeline: &str) -> Vec<Job> {
    let job = |e: &Entry| {
        let path = |id: &String| folder.join(format!("{id}.{}", e.stage)).display().to_string();
        Job {
            path: path(&e.sources[0]),
            name: e.id.clone(),
            stage: e.stage.clone(),
            target: target.to_owned(),
            pipeline: pipeline.to_owned(),
            repeat: 1,
            es: e.es,
            units: e.sources[1..].iter().map(path).collect(),
            library: e.library.iter().map(path).collect(),
            part: e.kind == Kind::Part,
            ..Job::default()
        }
    };
    entries.iter().map(job).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = r#"{"id":"a-1","family":"a","stage":"vert","mesa":{"gl":true,"es":false},"glslang":{"gl":true}}
{"id":"a-2","family":"a","stage":"frag","version":"none","mesa":{"gl":false,"es":true},"glslang":{}}
{"id":"a-3","family":"a","stage":"frag","mesa":{"gl":false},"glslang":{"gl":false}}
{"id":"a-4","family":"a","stage":"frag","mesa":{},"glslang":{},"dup":"a-3"}
{"id":"a-5","family":"a","stage":"include"}
{"id":"a-6","family":"a","stage":"frag","mesa":{"gl":true},"nomain":true}
{"id":"a-7","family":"a","stage":"frag","mesa":{"gl":false},"nomain":true}
{"id":"a-8","family":"a","stage":"frag","mesa":{},"forcees":1,"test":1}
{"id":"a-9","family":"a","stage":"frag","version":"none","mesa":{"gl":true,"es":false},"glslang":{"es":true}}
{"id":"b-1","family":"b","stage":"frag","mesa":{"gl":true},"glslang":{},"units":2,"nomain":true}
{"id":"b-1-1","family":"b","stage":"frag","mesa":{"gl":true},"units":2,"dup":"b-9"}
{"id":"b-2","family":"b","stage":"frag","mesa":{"gl":true},"units":2,"dup":"b-1"}
{"id":"b-2-1","family":"b","stage":"frag","mesa":{"gl":true},"units":2,"dup":"b-9"}
{"id":"b-3","family":"b","stage":"frag","mesa":{"gl":true},"units":2,"dup":"b-1"}
{"id":"b-3-1","family":"b","stage":"frag","mesa":{"gl":false},"units":2}
"#;

    #[test]
    fn the_manifest_tells_what_counts() {
        let manifest = read_manifest(MANIFEST, &[]).unwrap();
        let got: Vec<_> = manifest.entries.iter().map(|e| (e.id.as_str(), e.kind, e.accepted, e.es)).collect();
        assert_eq!(
            got,
            [
                ("a-1", Kind::Shader, Some(true), false),
                ("a-2", Kind::Shader, Some(true), true),
                ("a-3", Kind::Shader, Some(false), false),
                ("a-8", Kind::Shader, None, true),
                ("a-9", Kind::Shader, Some(true), false),
                ("a-6", Kind::Part, Some(true), false),
                ("a-7", Kind::Part, Some(false), false),
                ("a-9/es", Kind::Es, Some(true), true),
                ("b-1", Kind::Part, Some(true), false),
                ("b-3-1", Kind::Part, Some(false), false),
                ("b-1/linked", Kind::Linked, Some(true), false),
                ("b-3/linked", Kind::Linked, Some(false), false),
            ]
        );
        assert_eq!((manifest.duplicates, manifest.included), (5, 1));
        assert!(read_manifest("{", &[]).unwrap_err().contains("line 1"));
        assert_eq!(read_manifest(MANIFEST, &["b".into()]).unwrap().entries.len(), 4);
        assert!(read_manifest(MANIFEST, &["c".into()]).unwrap().entries.is_empty());
    }

    #[test]
    fn sources_and_parts_are_files_of_the_job() {
        let manifest = read_manifest(MANIFEST, &[]).unwrap();
        let jobs = jobs(&manifest.entries, Path::new("s"), "vec4", "egraph");
        let job = |name: &str| jobs.iter().find(|j| j.name == name).unwrap();
        assert_eq!(
            (job("b-1/linked").path.as_str(), job("b-1/linked").units.as_slice()),
            ("s/b-1.frag", &["s/b-1-1.frag".into()][..])
        );
        assert_eq!(job("a-9/es").path, "s/a-9.frag");
        // Of the same stage, and only what the reference accepts.
        assert_eq!(job("a-3").library, ["s/a-6.frag"]);
        assert!(job("a-1").library.is_empty() && job("a-6").library.is_empty() && job("a-6").part);
    }
}
