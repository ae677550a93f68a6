//! `asm` and `dis`: text to binary and back, and the checker of texts.

use super::args::{AsmArgs, DisArgs, MessageFormat};
use super::{Outcome, Stop, build, output};
use eggshade::backend::check;
use eggshade::backend::emit::{vec4_bits, vec4_parse, vec4_text};
use eggshade::backend::limits::Limits;
use eggshade::ir::diag::SourceMap;

/// Text to binary.
pub fn assemble(args: &AsmArgs) -> Outcome {
    if args.check {
        return check_text(args);
    }
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
pub fn disassemble(args: &DisArgs) -> Outcome {
    let bytes = build::read_bytes(&args.file)?;
    let program = vec4_bits::decode(&bytes).map_err(|e| Stop::input(format!("{}: {e}", args.file.display())))?;
    output::write(args.output.as_deref(), vec4_text::print(&program).as_bytes()).map_err(Stop::input)
}

/// Counts, or every finding with its line.
fn check_text(args: &AsmArgs) -> Outcome {
    let target = eggshade::resolve_target(&args.target).map_err(Stop::usage)?;
    let text = build::read(&args.file)?;
    match check::check(&text, &target).map_err(|e| Stop::usage(e.to_string()))? {
        Ok(usage) => output::write(args.output.as_deref(), format!("{usage}\n").as_bytes()).map_err(Stop::input),
        Err(found) => {
            let name = args.file.display();
            let lines: Vec<String> = found.iter().map(|f| format!("{name}: {f}")).collect();
            Err(Stop::input(lines.join("\n")))
        }
    }
}
