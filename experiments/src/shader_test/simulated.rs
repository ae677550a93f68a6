//! The screen of the simulator.

use super::command::Mode;
use super::draw::{self, Attributes, Linked, World};
use super::screen::{Executor, Screen};
use eggshade::backend::emit::vec4_bits;
use eggshade::backend::mach::Program;
use eggshade::backend::sim::machine::{Lanes, Limits, SimError};
use eggshade::backend::sim::raster::Frame;
use eggshade::{Built, Options};

/// Runs programs of a target on the simulator.
#[derive(Clone, Debug)]
pub struct Simulator<'o> {
    /// For what was compiled.
    pub options: &'o Options,
    /// Instructions of a quad that may be executed for one file.
    pub steps: u64,
}

impl Executor for Simulator<'_> {
    fn open<'a>(&'a self, built: &'a [Built; 2], size: [u32; 2]) -> Result<Box<dyn Screen + 'a>, String> {
        let [vertex, fragment] = built;
        let target = &self.options.target;
        let program = |b: &Built| {
            if target.name == "vec4" { decoded(&b.compiled.program) } else { Ok(b.compiled.program.clone()) }
        };
        let linked = Linked { vertex: program(vertex)?, fragment: program(fragment)?, cfg: target.eval() };
        let [width, height] = size;
        Ok(Box::new(Simulated {
            linked,
            frame: Frame::new(width, height, [0.0; 4]),
            limits: Limits { steps: self.steps, ..Limits::default() },
            steps: self.steps,
        }))
    }
}

/// The program as it comes back from its binary, so that what runs is what is emitted.
fn decoded(program: &Program) -> Result<Program, String> {
    let bytes = vec4_bits::encode(program).map_err(|e| format!("cannot encode: {e}"))?;
    vec4_bits::decode(&bytes).map_err(|e| format!("cannot decode: {e}"))
}

struct Simulated {
    linked: Linked,
    frame: Frame,
    limits: Limits,
    steps: u64,
}

impl Simulated {
    /// Looking at all pixels is work, too.
    fn charge(&mut self) -> Result<(), String> {
        draw::charge(&mut self.limits, draw::quads(&self.frame) / 4).map_err(|e| told(&e, self.steps))
    }
}

impl Screen for Simulated {
    fn size(&self) -> [u32; 2] {
        [self.frame.width, self.frame.height]
    }

    fn clear(&mut self, color: Option<Lanes>, depth: Option<f32>) -> Result<(), String> {
        self.charge()?;
        if let Some(color) = color {
            self.frame.color.fill(color);
        }
        if let Some(depth) = depth {
            self.frame.depth.fill(depth);
        }
        Ok(())
    }

    fn draw(&mut self, world: &World, mode: Mode, vertices: &[Attributes]) -> Result<(), String> {
        draw::draw(&mut self.frame, &self.linked, world, mode, vertices, &mut self.limits)
            .map_err(|e| told(&e, self.steps))
    }

    fn colors(&mut self) -> Result<&[Lanes], String> {
        self.charge()?;
        Ok(&self.frame.color)
    }

    fn depths(&mut self) -> Result<&[f32], String> {
        Ok(&self.frame.depth)
    }
}

/// A file's bound is what it started with, not what was left for the last draw.
fn told(error: &SimError, steps: u64) -> String {
    match error {
        SimError::Steps(_) => format!("the commands of this file take more than {steps} instructions"),
        other => other.to_string(),
    }
}
