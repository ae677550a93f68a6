//! `run`: one invocation of the machine code (decoded from its binary), or of the three-address code.

use super::args::{MessageFormat, RunArgs};
use super::{Outcome, Stop, build, output, textures};
use eggshade::backend::emit::vec4_bits;
use eggshade::backend::sim::machine::{self, Lanes, Lookup, Outside, SimError};
use eggshade::ir::Var;
use eggshade::ir::diag::Span;
use eggshade::ir::env::{Env, TexRequest};
use eggshade::ir::tac::{self, interp};
use eggshade::ir::types::LANE_NAMES;
use eggshade::world::{Settings, World};
use eggshade::{Built, Options};
use std::fmt::{Display, Write};

/// The world as the machine asks for it.
struct Machine<'a>(&'a World);

impl Outside for Machine<'_> {
    fn input(&self, _: usize, name: &str, elem: u32) -> Lanes {
        self.0.value(name, elem).unwrap_or([0.0; 4])
    }

    fn uniform(&self, name: &str, elem: u32) -> Lanes {
        self.0.uniform(name, elem)
    }

    fn texture(&self, l: &Lookup<'_>) -> Lanes {
        self.0.texture(l.name, l.coords, l.lod)
    }
}

/// The world as the interpreter asks for it.
struct Interpreter<'a>(&'a World, &'a tac::Program);

impl Env for Interpreter<'_> {
    fn input(&self, var: Var, elem: u32) -> Lanes {
        self.0.value(&self.1.vars[var].name, elem).unwrap_or([0.0; 4])
    }

    fn uniform(&self, var: Var, elem: u32) -> Lanes {
        self.0.uniform(&self.1.vars[var].name, elem)
    }

    fn texture(&self, r: &TexRequest) -> Lanes {
        self.0.texture(&self.1.vars[r.sampler].name, r.coords, r.lod)
    }
}

/// Runs the command.
pub fn run(args: &RunArgs) -> Outcome {
    let options = build::options(&args.build, args.stage)?;
    let built = build::compile_file(&args.file, &options, args.build.message_format)?;
    let settings = Settings::parse(&args.set).map_err(Stop::usage)?;
    let mut world = World::default();
    settings.apply(&built.tac, &mut world.values).map_err(Stop::usage)?;
    if let Some(name) = settings.unused() {
        return Err(Stop::usage(format!("--set {name}: the shader has no such input or uniform")));
    }
    textures::load(&args.texture, &[&built.tac], &mut world)?;
    let text = if args.interpret {
        let (cfg, max_steps) = (options.target.eval(), options.machine.steps as u64);
        let how = interp::InterpOptions { cfg, max_steps, ..Default::default() };
        let outputs = interp::run(&built.tac, &Interpreter(&world, &built.tac), how).map_err(|e| {
            let bound = matches!(e, interp::InterpError::StepLimit(_)).then_some("steps");
            stopped(&e, bound, &built, &options, args.build.message_format)
        })?;
        let rows = outputs.lanes.iter().map(|(&(var, elem), lanes)| {
            let decl = &built.tac.vars[var];
            (decl.name.as_str(), elem, decl.elems, *lanes)
        });
        print(outputs.discarded, rows)
    } else {
        let bytes = vec4_bits::encode(&built.compiled.program).map_err(Stop::input)?;
        let program = vec4_bits::decode(&bytes).map_err(Stop::input)?;
        let active = [true, false, false, false];
        let [result, ..] =
            machine::run(&program, &Machine(&world), active, options.target.eval(), options.machine.run()).map_err(
                |e| {
                    let bound = match e {
                        SimError::Steps(_) => Some("steps"),
                        SimError::Calls(_) => Some("calls"),
                        SimError::Malformed(_) => None,
                    };
                    stopped(&e, bound, &built, &options, args.build.message_format)
                },
            )?;
        let rows = program.outputs.iter().map(|b| {
            let elems = program.outputs.iter().filter(|o| o.name == b.name).count() as u32;
            (b.name.as_str(), b.elem, elems, result.outputs[b.reg as usize])
        });
        print(result.discarded, rows)
    };
    output::write(None, text.as_bytes()).map_err(Stop::input)
}

/// Prints why a run stopped: with the bound, if it is one.
fn stopped(error: &dyn Display, bound: Option<&str>, built: &Built, options: &Options, format: MessageFormat) -> Stop {
    let Some(bound) = bound else { return Stop::input(error.to_string()) };
    let error = options.machine.error(bound, Span::default(), error.to_string());
    build::report(&built.sources, &[error], format);
    Stop::input("")
}

/// One output a line: the lanes that were written.
fn print<'a>(discarded: bool, rows: impl Iterator<Item = (&'a str, u32, u32, [Option<f32>; 4])>) -> String {
    if discarded {
        return "discarded\n".to_owned();
    }
    let mut text = String::new();
    for (name, elem, elems, lanes) in rows {
        let index = if elems > 1 { format!("[{elem}]") } else { String::new() };
        let values: Vec<String> =
            lanes.iter().zip(LANE_NAMES).filter_map(|(v, l)| v.map(|v| format!("{l} = {v:?}"))).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name}{index}: {}", values.join(", "));
    }
    text
}
