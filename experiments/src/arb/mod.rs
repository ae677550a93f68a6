//! ARB programs in Mesa: a pair of shaders is compiled for the ARB targets, and what Mesa draws with
//! the two programs is held against what it draws with the GLSL that they came from.
//!
//! In: texts of a vertex and a fragment shader; [`partner`] makes the other stage of a single one.
//! Uniforms and attributes get fixed numbers made from their names, textures a fixed pattern. Pixels
//! at edges are left out, and so is what the reference itself moves by more than a quarter of the
//! tolerance when its uniforms change by one ulp.

pub mod partner;
mod values;

use crate::oracle::{ArbPair, Job, Mesa, OracleError};
use eggshade::backend::emit;
use eggshade::backend::mach::Constant;
use eggshade::backend::{Pipeline, Target};
use eggshade::ir::diag::Severity;
use eggshade::record::Status;
use eggshade::render::View;
use eggshade::render::mesh::Mesh;
use eggshade::{Failure, Options};

/// Width and height.
const SIZE: u32 = 16;
/// Background: a colour that no shader draws.
const CLEAR: [f32; 4] = [-4096.5; 4];
/// |d| at most this times max(1, |reference|).
const TOLERANCE: f32 = 1e-4;

/// How a pair fared.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// Not compiled: status and first message.
    NotCompiled(Status, String),
    /// Mesa refuses the GLSL: nothing to compare with.
    NoReference(String),
    /// Mesa refuses our text.
    Refused(String),
    /// Drawn by both.
    Drawn(Comparison),
}

/// Two pictures beside each other.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Comparison {
    /// Lanes of pixels compared.
    pub compared: u32,
    /// Lanes left out because the reference is not stable.
    pub unstable: u32,
    /// Lanes that differ by more than the tolerance.
    pub different: u32,
    /// Largest difference as a multiple of the tolerance.
    pub worst: f32,
}

impl Comparison {
    /// Whether nothing differs, and something was compared.
    pub fn is_equal(&self) -> bool {
        self.different == 0 && self.compared + self.unstable > 0
    }
}

/// The options that compile a pair for the ARB targets (or one of their profiles).
///
/// # Errors
/// When there is no such target or pipeline.
pub fn options(profile: Option<&str>, pipeline: &str) -> Result<Options, String> {
    let name = profile.map_or("arbvp1".to_owned(), |part| format!("arbvp1:{part}"));
    let target = Target::builtin(&name).map_err(|e| e.to_string())?;
    let pipeline = Pipeline::builtin(pipeline).map_err(|e| e.to_string())?;
    Ok(Options::new(target, pipeline))
}

fn not_compiled(failure: &Failure) -> Outcome {
    let error = failure.diagnostics.iter().rfind(|d| d.severity == Severity::Error);
    Outcome::NotCompiled(failure.status, error.map_or(String::new(), |d| d.message.clone()))
}

/// Compiles, draws and compares.
///
/// # Errors
/// When Mesa fails for reasons of its own.
pub fn judge(mesa: &Mesa, sources: [(&str, &str); 2], options: &Options) -> Result<Outcome, OracleError> {
    let linked = match eggshade::link(sources, options) {
        Ok(linked) => linked,
        Err(failure) => return Ok(not_compiled(&failure)),
    };
    let view = View { mesh: Mesh::Quad, width: SIZE, height: SIZE, turn: [0.0; 2] };
    let (mesh, mut state) = (Mesh::Quad.triangles(), view.state());
    // Mesa takes the alpha of `sceneColor` from the diffuse material, GLSL's formula from emission and
    // ambience: here both are 1.
    state.materials.iter_mut().for_each(|m| m.emission[3] = 0.0);
    let tacs = linked.stages.each_ref().map(|b| &b.tac);
    let attributes = values::attributes(&linked.stages[0].compiled.program, &mesh);
    let uniforms = values::uniforms(tacs, 0);
    let moved = values::uniforms(tacs, 1);
    let textures = values::textures(tacs);
    let job = Job {
        vertex: sources[0].1,
        fragment: sources[1].1,
        mesh: &mesh,
        state: &state,
        attributes: &attributes,
        uniforms: &uniforms,
        textures: &textures,
        size: [SIZE; 2],
        clear: CLEAR,
    };
    let reference = match mesa.draw(&job) {
        Ok(pixels) => pixels,
        Err(OracleError::Refused(log)) => return Ok(Outcome::NoReference(log)),
        Err(e) => return Err(e),
    };
    let jittered = mesa.draw(&Job { uniforms: &moved, ..job.clone() })?;
    let mut texts = Vec::new();
    let mut locals = Vec::new();
    for built in &linked.stages {
        let program = &built.compiled.program;
        let target = &options.for_stage(built.tac.stage).target;
        match emit::text(program, target) {
            Ok(text) => texts.push(text),
            Err(e) => return Ok(Outcome::NotCompiled(Status::Unsupported, e.to_string())),
        }
        let register = |(n, c): (usize, &Constant)| match c {
            Constant::Uniform { name, elem } => {
                let own = values::register(&built.tac, name, *elem);
                Some((n as u32, state.uniform(name, *elem).or(own)?))
            }
            Constant::Literal { .. } => None,
        };
        locals.push(program.constants.iter().enumerate().filter_map(register).collect::<Vec<_>>());
    }
    let samplers = &linked.stages[1].compiled.program.samplers;
    let units: Vec<(u32, String)> = samplers.iter().map(|s| (s.reg, s.name.clone())).collect();
    let pair = ArbPair { texts: [&texts[0], &texts[1]], locals: [&locals[0], &locals[1]], units: &units };
    Ok(match mesa.draw_arb(&pair, &job) {
        Ok(ours) => Outcome::Drawn(compare(&reference, &jittered, &ours)),
        Err(OracleError::Refused(message)) => Outcome::Refused(message),
        Err(e) => return Err(e),
    })
}

/// Whether all pixels around one are drawn, or all are background, in all pictures alike.
fn is_inside(covered: &[Vec<bool>; 3], x: u32, y: u32) -> bool {
    let near = |c: u32| c.saturating_sub(1)..=(c + 1).min(SIZE - 1);
    let at = |x: u32, y: u32| (y * SIZE + x) as usize;
    let here = covered[0][at(x, y)];
    near(y).all(|v| near(x).all(|u| covered.iter().all(|c| c[at(u, v)] == here)))
}

fn compare(reference: &[[f32; 4]], jittered: &[[f32; 4]], ours: &[[f32; 4]]) -> Comparison {
    let drawn = |p: &[[f32; 4]]| p.iter().map(|p| *p != CLEAR).collect::<Vec<bool>>();
    let covered = [drawn(reference), drawn(jittered), drawn(ours)];
    let mut out = Comparison::default();
    for (x, y) in (0..SIZE).flat_map(|y| (0..SIZE).map(move |x| (x, y))) {
        let at = (y * SIZE + x) as usize;
        // discards look like edges, so a wrong one is caught by how much is covered
        if covered[0][at] != covered[2][at] {
            out.different += u32::from(covered[0][at] == covered[1][at]);
        }
        if !covered[0][at] || !is_inside(&covered, x, y) {
            continue;
        }
        for lane in 0..4 {
            let (want, moved, got) = (reference[at][lane], jittered[at][lane], ours[at][lane]);
            let bound = TOLERANCE * want.abs().max(1.0);
            if !want.is_finite() || (moved - want).abs() > bound / 4.0 || moved.is_nan() {
                out.unstable += 1;
                continue;
            }
            out.compared += 1;
            let off = if got.is_finite() { (got - want).abs() / bound } else { f32::INFINITY };
            out.worst = out.worst.max(off);
            out.different += u32::from(off > 1.0);
        }
    }
    out
}
