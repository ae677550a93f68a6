//! `asm` and `dis`: text to binary and back.

use super::args::{AsmArgs, MessageFormat};
use super::{Outcome, Stop, build, output};
use eggshade::backend::emit::{vec4_bits, vec4_parse, vec4_text};
use eggshade::backend::limits::Limits;
use eggshade::ir::diag::SourceMap;

/// Text to binary.
pub fn assemble(args: &AsmArgs) -> Outcome {
    let mut sources = SourceMap::new();
    let text = build::read(&args.file)?;
    let file = sources.add(args.file.display().to_string(), text.as_str());
    let mut limits = Limits::default();
    for setting in &args.limit {
        if !limits.set(setting.name, setting.value) {
            return Err(Stop::usage(format!("--limit {}: not a bound of the assembler", setting.name)));
        }
    }
    let program = vec4_parse::parse_within(file, &text, &limits).map_err(|errors| {
        build::report(&sources, &errors, MessageFormat::Human);
        Stop::input("")
    })?;
    let bytes = vec4_bits::encode(&program).map_err(|e| Stop::input(format!("{}: {e}", args.file.display())))?;
    output::write(args.output.as_deref(), &bytes).map_err(Stop::input)
}

/// Binary to text.
pub fn disassemble(args: &AsmArgs) -> Outcome {
    let bytes = build::read_bytes(&args.file)?;
    let program = vec4_bits::decode(&bytes).map_err(|e| Stop::input(format!("{}: {e}", args.file.display())))?;
    output::write(args.output.as_deref(), vec4_text::print(&program).as_bytes()).map_err(Stop::input)
}
