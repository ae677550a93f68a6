//! ARB programs, which Mesa itself runs.

use super::compare::Picture;
use super::inputs::sampler_name;
use super::pair::Scene;
use super::{Ending, Executor, Stop};
use crate::oracle::{ArbPair, Mesa, OracleError};
use eggshade::backend::emit;
use eggshade::backend::mach::Constant;
use eggshade::{Built, Linked, Options};

/// Mesa's `ARB_vertex_program` and `ARB_fragment_program`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arb;

impl Executor for Arb {
    fn draw(&self, mesa: &Mesa, linked: &Linked, options: &Options, scenes: &[Scene]) -> Result<Vec<Picture>, Stop> {
        let text = |built: &Built| {
            let target = &options.for_stage(built.tac.stage).target;
            emit::text(&built.compiled.program, target).map_err(|e| Stop::new(Ending::Unsupported, e.to_string()))
        };
        let [vertex, fragment] = &linked.stages;
        let texts = [text(vertex)?, text(fragment)?];
        let units = units(fragment);
        let picture = |scene: &Scene| {
            let locals = [locals(vertex, scene), locals(fragment, scene)];
            let pair = ArbPair { texts: [&texts[0], &texts[1]], locals: [&locals[0], &locals[1]], units: &units };
            mesa.draw_arb(&pair, &scene.job()).map_err(|e| match e {
                OracleError::Refused(message) => Stop::new(Ending::Refused, message),
                OracleError::Missing(what) => Stop::new(Ending::Fault, what),
            })
        };
        scenes.iter().map(picture).collect()
    }
}

/// `program.local` of a stage.
pub(super) fn locals(built: &Built, scene: &Scene) -> Vec<(u32, [f32; 4])> {
    let register = |(n, c): (u32, &Constant)| match c {
        Constant::Uniform { name, elem } => Some((n, scene.register(&built.tac, name, *elem)?)),
        Constant::Literal { .. } => None,
    };
    (0..).zip(&built.compiled.program.constants).filter_map(register).collect()
}

/// The units of a stage's samplers, with their names in GLSL.
pub(super) fn units(built: &Built) -> Vec<(u32, String)> {
    let name = |name: &str, elem| {
        let decl = built.tac.vars.values().find(|d| d.name == name);
        decl.map_or_else(|| name.to_owned(), |d| sampler_name(d, elem))
    };
    built.compiled.program.samplers.iter().map(|s| (s.reg, name(&s.name, s.elem))).collect()
}
