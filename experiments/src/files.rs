//! Which shaders the given paths mean: files as they are, folders with all shaders below them.

use crate::job::stage_of;
use std::fs;
use std::path::{Path, PathBuf};

/// Deepest nesting of folders that is searched.
const MAX_DEPTH: usize = 64;

/// A shader file and its stage.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ShaderFile {
    /// As given, or as found below a given folder.
    pub path: PathBuf,
    /// `vert` or `frag`.
    pub stage: &'static str,
}

/// Collects the shaders: sorted by path, each once.
///
/// # Errors
/// A path that is not there, a file whose ending does not tell its stage, no shader at all.
pub fn collect(paths: &[PathBuf]) -> Result<Vec<ShaderFile>, String> {
    let mut found = Vec::new();
    for path in paths {
        let kind = fs::metadata(path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
        if kind.is_dir() {
            search(path, 0, &mut |path| found.extend(stage_of(&path).map(|stage| ShaderFile { path, stage })))?;
        } else {
            let stage = stage_of(path).ok_or_else(|| {
                format!("{}: the ending does not tell the stage (.vert .vs .vsh .frag .fs .fsh)", path.display())
            })?;
            found.push(ShaderFile { path: path.clone(), stage });
        }
    }
    found.sort();
    found.dedup();
    if found.is_empty() { Err("no shader files below the given paths".to_owned()) } else { Ok(found) }
}

/// All files below a folder with an ending, sorted.
///
/// # Errors
/// When a folder cannot be read.
pub fn below(folder: &Path, ending: &str) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    search(folder, 0, &mut |path| found.extend(Some(path).filter(|p| p.extension().is_some_and(|e| e == ending))))?;
    found.sort();
    Ok(found)
}

fn search(folder: &Path, depth: usize, found: &mut dyn FnMut(PathBuf)) -> Result<(), String> {
    let told = |e: std::io::Error| format!("cannot read {}: {e}", folder.display());
    if depth > MAX_DEPTH {
        return Err(format!("{}: folders are nested deeper than {MAX_DEPTH}", folder.display()));
    }
    for entry in fs::read_dir(folder).map_err(told)? {
        let entry = entry.map_err(told)?;
        // A linked folder could lead back here.
        if entry.file_type().map_err(told)?.is_dir() {
            search(&entry.path(), depth + 1, found)?;
        } else {
            found(entry.path());
        }
    }
    Ok(())
}
