//! `link`: vertex and fragment shaders as one program.

use super::args::{Emit, LinkArgs, PackVaryings};
use super::{Outcome, Stop, build, output};
use eggshade::backend::emit;
use eggshade::ir::tac;
use eggshade::ir::tac::interface::Packing;
use eggshade::{Built, LinkOptions, link_reflection};
use std::path::Path;

/// Runs the command.
pub fn run(args: &LinkArgs) -> Outcome {
    let mut options = build::options(&args.build, None)?;
    let packing = match args.pack_varyings {
        PackVaryings::Auto => Packing::Auto,
        PackVaryings::Always => Packing::Always,
        PackVaryings::Never => Packing::Never,
    };
    options.link = LinkOptions { packing, attributes: args.bind_attribute.clone() };
    let files: Vec<&Path> = args.files.iter().map(|f| f.as_path()).collect();
    let linked = build::link_files(&files, &options, args.build.message_format)?;
    let stages = &linked.stages;
    let text = match args.emit {
        Emit::Asm => {
            let text = |b: &Built| emit::text(&b.compiled.program, &options.for_stage(b.tac.stage).target);
            let texts: Result<Vec<String>, _> = stages.iter().map(text).collect();
            texts.map_err(|e| Stop::input(e.to_string()))?.join("\n")
        }
        Emit::Link => stages.iter().map(|b| tac::link::print_link_tree(&b.tac)).collect(),
        Emit::TacTree => stages.iter().map(|b| tac::text::print_tree(&b.tac)).collect(),
        Emit::Tac => stages.iter().map(|b| tac::text::print(&b.tac)).collect::<Vec<_>>().join("\n"),
        Emit::Json | Emit::Reflection => {
            let value = link_reflection::reflect(&linked);
            serde_json::to_string_pretty(&value).map_err(|e| Stop::input(e.to_string()))? + "\n"
        }
        _ => return Err(Stop::usage("link --emit takes asm, tac, tac-tree, link, json or reflection")),
    };
    output::write(args.output.as_deref(), text.as_bytes()).map_err(Stop::input)
}
