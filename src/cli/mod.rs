//! The command line: one file a subcommand.

pub mod args;
mod asm;
mod build;
mod compile;
mod explain;
mod link;
pub mod output;
mod render;
mod run;
mod targets;
mod textures;

use args::{Cli, Command, MessageFormat};

/// Exit codes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// All went well.
    Fine = 0,
    /// The input is wrong, or cannot be read or written.
    Input = 1,
    /// The command line is wrong.
    Usage = 2,
}

/// Why a command stopped; the message is already complete.
#[derive(Debug)]
pub struct Stop {
    /// How the process ends.
    pub exit: Exit,
    /// For standard error; empty when diagnostics were printed.
    pub message: String,
}

impl Stop {
    /// The input is wrong.
    pub fn input(message: impl Into<String>) -> Stop {
        Stop { exit: Exit::Input, message: message.into() }
    }

    /// The command line is wrong.
    pub fn usage(message: impl Into<String>) -> Stop {
        Stop { exit: Exit::Usage, message: message.into() }
    }
}

/// What a command gives.
pub type Outcome = Result<(), Stop>;

/// Runs a command.
pub fn run(cli: Cli) -> Exit {
    let format = match &cli.command {
        Command::Compile(a) => a.build.message_format,
        Command::Link(a) => a.build.message_format,
        Command::Run(a) => a.build.message_format,
        Command::Render(a) => a.build.message_format,
        Command::Explain(a) => a.build.message_format,
        Command::Asm(_) | Command::Dis(_) | Command::Targets { .. } | Command::Limits => MessageFormat::Human,
    };
    let outcome = match cli.command {
        Command::Compile(a) => compile::run(&a),
        Command::Link(a) => link::run(&a),
        Command::Run(a) => run::run(&a),
        Command::Render(a) => render::run(&a),
        Command::Asm(a) => asm::assemble(&a),
        Command::Dis(a) => asm::disassemble(&a),
        Command::Targets { name } => targets::run(name.as_deref()),
        Command::Limits => output::write(None, eggshade::limits::print().as_bytes()).map_err(Stop::input),
        Command::Explain(a) => explain::run(&a),
    };
    match outcome {
        Ok(()) => Exit::Fine,
        Err(stop) => {
            build::say(&stop, format);
            stop.exit
        }
    }
}
