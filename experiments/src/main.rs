//! `eggshade-lab`: see [`eggshade_lab::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    eggshade_lab::cli::main()
}
