//! The numbers that a judged pair gets: fixed by names, so that both sides get the same.

use crate::oracle::{Attribute, OracleTexture};
use eggshade::backend::mach;
use eggshade::ir::tac::{Program, VarDecl, VarKind};
use eggshade::ir::types::Scalar;
use eggshade::render::mesh::Vertex;

/// A number in 0.1..0.9 (FNV-1a of the name and the place).
fn number(name: &str, elem: u32, lane: u32) -> f32 {
    let bytes = name.bytes().chain(elem.to_le_bytes()).chain(lane.to_le_bytes());
    let hash = bytes.fold(0x811c_9dc5u32, |h, b| (h ^ u32::from(b)).wrapping_mul(0x0100_0193));
    0.1 + 0.8 * ((hash >> 8) as f32 / (1u32 << 24) as f32)
}

/// One lane of a uniform. Matrices are near the identity, so that what they move stays in view.
fn lane(decl: &VarDecl, elem: u32, lane: u32) -> f32 {
    if let Some(init) = decl.init.get(elem as usize) {
        return init.lane(lane as u8);
    }
    let n = number(&decl.name, elem, lane);
    match decl.ty.scalar {
        Scalar::Bool => f32::from(n > 0.5),
        Scalar::Int => (n * 4.0).floor(),
        Scalar::Float if decl.cols > 1 => f32::from(elem % decl.cols == lane) + 0.125 * (n - 0.5),
        Scalar::Float => n,
    }
}

/// The uniforms of both stages; `ulps` away from what the programs get.
pub fn uniforms(stages: [&Program; 2], ulps: u32) -> Vec<(String, Vec<f32>)> {
    let mut out: Vec<(String, Vec<f32>)> = Vec::new();
    for decl in stages.iter().flat_map(|p| p.vars.values()).filter(|d| d.kind == VarKind::Uniform) {
        if out.iter().any(|(name, _)| *name == decl.name) {
            continue;
        }
        let move_by = |v: f32| match decl.ty.scalar {
            Scalar::Float if v != 0.0 => f32::from_bits(v.to_bits() + ulps),
            _ => v,
        };
        let lanes = u32::from(decl.ty.lanes);
        let all = (0..decl.elems).flat_map(|e| (0..lanes).map(move |l| (e, l)));
        out.push((decl.name.clone(), all.map(|(e, l)| move_by(lane(decl, e, l))).collect()));
    }
    out
}

/// One register of a uniform.
pub fn register(program: &Program, name: &str, elem: u32) -> Option<[f32; 4]> {
    let decl = program.vars.values().find(|d| d.name == name)?;
    Some([0, 1, 2, 3].map(|l| if l < u32::from(decl.ty.lanes) { lane(decl, elem, l) } else { 0.0 }))
}

/// Generic attributes of a vertex program: linear over the mesh.
pub fn attributes(program: &mach::Program, mesh: &[Vertex]) -> Vec<Attribute> {
    let mut out: Vec<Attribute> = Vec::new();
    for binding in &program.inputs {
        let Some(at) = binding.semantic.strip_prefix("generic").and_then(|n| n.parse::<u32>().ok()) else { continue };
        let value = |v: &Vertex| -> [f32; 4] {
            if at == 0 {
                return [v.position[0], v.position[1], v.position[2], 1.0];
            }
            [0, 1, 2, 3].map(|l| {
                let n = |k: u32| number(&binding.name, binding.elem, l + 4 * k);
                0.5 + 0.4 * (n(1) - 0.5) * v.position[0] + 0.4 * (n(2) - 0.5) * v.position[1]
            })
        };
        let values: Vec<[f32; 4]> = mesh.iter().map(value).collect();
        let location = at.saturating_sub(binding.elem);
        match out.iter_mut().find(|a| a.name == binding.name) {
            Some(attribute) => attribute.values.push(values),
            None => out.push(Attribute { name: binding.name.clone(), location, values: vec![values] }),
        }
    }
    out
}

/// A smooth pattern for every sampler: what is read moves as little as the coordinates.
pub fn textures(stages: [&Program; 2]) -> Vec<OracleTexture> {
    const SIDE: u32 = 16;
    let samplers = stages.iter().flat_map(|p| p.vars.values()).filter(|d| matches!(d.kind, VarKind::Sampler { .. }));
    let texels = |name: &str| -> Vec<[f32; 4]> {
        let at = |x: u32, y: u32| {
            let wave = |n: u32| (std::f32::consts::TAU * n as f32 / SIDE as f32).sin();
            [0, 1, 2, 3].map(|l| 0.5 + 0.2 * number(name, 0, l) * wave(x) + 0.2 * number(name, 1, l) * wave(y))
        };
        (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| at(x, y))).collect()
    };
    samplers.map(|d| OracleTexture { name: d.name.clone(), size: [SIDE; 2], texels: texels(&d.name) }).collect()
}
