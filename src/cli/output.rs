//! Writes results: to standard output, or whole to a file (a temporary name beside it, then a
//! rename), so that a failure or a kill leaves no half file.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Writes `bytes` to the file, or to standard output when there is none.
///
/// # Errors
/// What the system says, with the file's name.
pub fn write(path: Option<&Path>, bytes: &[u8]) -> Result<(), String> {
    match path {
        None => stdout(bytes),
        Some(path) => file(path, bytes).map_err(|e| format!("cannot write {}: {e}", path.display())),
    }
}

/// A reader that went away (`| head`) is no error.
fn stdout(bytes: &[u8]) -> Result<(), String> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(format!("cannot write to standard output: {e}")),
        _ => Ok(()),
    }
}

fn file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // Devices and pipes cannot be replaced by a rename.
    if fs::metadata(path).is_ok_and(|m| !m.is_file()) {
        return fs::write(path, bytes);
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let temporary = path.with_file_name(name);
    let written = fs::write(&temporary, bytes).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// A line to standard error; a closed one is no reason to stop.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}
