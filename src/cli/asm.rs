//! `asm` and `dis`: text to binary and back, and the checker of texts.

use super::args::{AsmArgs, DisArgs, MessageFormat};
use super::{Outcome, Stop, build, output};
use eggshade::backend::emit::{vec4_bits, vec4_parse, vec4_text};
use eggshade::backend::limits::Limits;
use eggshade::backend::{check, d3d9};
use eggshade::ir::diag::{Diagnostic, SourceMap};

/// Text to binary: a Direct3D shader, which starts with its version, or the vec4 machine's text.
pub fn assemble(args: &AsmArgs) -> Outcome {
    if args.check {
        return check_text(args);
    }
    let mut sources = SourceMap::new();
    let text = build::read(&args.file)?;
    let file = sources.add(args.file.display().to_string(), text.as_str());
    let limits = limits(args)?;
    let bytes = if d3d9::parse::starts_shader(&text) {
        let shader = d3d9::parse::parse_within(file, &text, &limits).map_err(|e| reported(&sources, &e))?;
        d3d9::tokens::write(&shader).map(|words| d3d9::tokens::to_bytes(&words))
    } else {
        let program = vec4_parse::parse_within(file, &text, &limits).map_err(|e| reported(&sources, &e))?;
        vec4_bits::encode(&program)
    };
    let bytes = bytes.map_err(|e| Stop::input(format!("{}: {e}", args.file.display())))?;
    output::write(args.output.as_deref(), &bytes).map_err(Stop::input)
}

fn reported(sources: &SourceMap, errors: &[Diagnostic]) -> Stop {
    build::report(sources, errors, MessageFormat::Human);
    Stop::input("")
}

fn limits(args: &AsmArgs) -> Result<Limits, Stop> {
    let mut limits = Limits::default();
    for setting in &args.limit {
        if !limits.set(setting.name, setting.value) {
            return Err(Stop::usage(format!("--limit {}: not a bound of the assembler", setting.name)));
        }
    }
    Ok(limits)
}

/// Binary to text: a Direct3D token stream, which starts with its version, or the vec4 machine's form.
pub fn disassemble(args: &DisArgs) -> Outcome {
    let bytes = build::read_bytes(&args.file)?;
    let text = if d3d9::tokens::starts_shader(&bytes) {
        let words = d3d9::tokens::from_bytes(&bytes);
        let shader = words.and_then(|words| d3d9::tokens::read(&words));
        shader.map(|shader| d3d9::text::print(&shader)).map_err(|e| e.to_string())
    } else {
        vec4_bits::decode(&bytes).map(|program| vec4_text::print(&program))
    };
    let text = text.map_err(|e| Stop::input(format!("{}: {e}", args.file.display())))?;
    output::write(args.output.as_deref(), text.as_bytes()).map_err(Stop::input)
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
