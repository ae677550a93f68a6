//! `link`: a vertex and a fragment shader as one program.

use super::args::{Emit, LinkArgs};
use super::{Outcome, Stop, build, output};
use eggshade::backend::emit::vec4_text;
use eggshade::ir::tac;
use serde_json::json;

/// Runs the command.
pub fn run(args: &LinkArgs) -> Outcome {
    let options = build::options(&args.build, None)?;
    let linked = build::link_files([&args.vertex, &args.fragment], &options, args.build.message_format)?;
    let [vertex, fragment] = &linked;
    let text = match args.emit {
        Emit::Asm => linked.iter().map(|b| vec4_text::print(&b.compiled.program)).collect::<Vec<_>>().join("\n"),
        Emit::Link => linked.iter().map(|b| tac::link::print_link_tree(&b.tac)).collect(),
        Emit::TacTree => linked.iter().map(|b| tac::text::print_tree(&b.tac)).collect(),
        Emit::Tac => linked.iter().map(|b| tac::text::print(&b.tac)).collect::<Vec<_>>().join("\n"),
        Emit::Json | Emit::Reflection => {
            let value = json!({"vertex": vertex.compiled.reflection, "fragment": fragment.compiled.reflection});
            serde_json::to_string_pretty(&value).map_err(|e| Stop::input(e.to_string()))? + "\n"
        }
        _ => return Err(Stop::usage("link --emit takes asm, tac, link, json or reflection")),
    };
    output::write(args.output.as_deref(), text.as_bytes()).map_err(Stop::input)
}
