//! The command `eggshade`. Exit code 0: fine, 1: the input is wrong, 2: the command line is wrong.

mod cli;

use clap::Parser;
use std::process::ExitCode;

/// Later stages recurse over trees whose height the front end bounds; this much is ample for the
/// largest bound in a debug build.
const STACK: usize = 256 << 20;

fn main() -> ExitCode {
    let arguments = match cli::args::Cli::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // clap prints help to standard output, errors to standard error; a closed one is fine.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    std::panic::set_hook(Box::new(|panic| cli::output::note(&format!("internal error: {panic}"))));
    let worker = std::thread::Builder::new().stack_size(STACK).spawn(move || cli::run(arguments));
    let code = match worker {
        Ok(worker) => worker.join().unwrap_or(cli::Exit::Input),
        Err(error) => {
            cli::output::note(&format!("cannot start a thread: {error}"));
            cli::Exit::Input
        }
    };
    ExitCode::from(code as u8)
}
