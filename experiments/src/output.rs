//! Where results go: standard output, or a file that is written whole (a temporary name beside it,
//! then a rename), so that a kill leaves no half table.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Prints to standard output. A reader that went away (`| head`) is no error.
///
/// # Errors
/// What the system says.
pub fn print(text: &str) -> Result<(), String> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(format!("cannot write to standard output: {e}")),
        _ => Ok(()),
    }
}

/// A line to standard error; a closed one is no reason to stop.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Writes a file whole.
///
/// # Errors
/// What the system says, with the file's name.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let told = |e: io::Error| format!("cannot write {}: {e}", path.display());
    // Devices and pipes cannot be replaced by a rename.
    if fs::metadata(path).is_ok_and(|m| !m.is_file()) {
        return fs::write(path, bytes).map_err(told);
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let temporary = path.with_file_name(name);
    let written = fs::write(&temporary, bytes).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&temporary);
    }
    written.map_err(told)
}
