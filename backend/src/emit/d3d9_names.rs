//! Registers and declarations of a Direct3D 9 shader's inputs and outputs.
//!
//! In: a program's bindings with the outside's words for them. Out: for each a register, and what its
//! declaration says. Varyings are texture coordinates, as `gl_TexCoord` is; the fog coordinate is the last
//! of them before model 3, because a pixel shader cannot read `oFog`. Attributes that have no meaning of
//! their own take the texture coordinate of their number, or the lowest that is left.

use crate::d3d9::{Reg, RegType, Usage};
use crate::error::{Error, Resource};
use crate::isa::Target;
use crate::mach::{Binding, Program};
use ir::types::Stage;
use std::collections::{BTreeMap, BTreeSet};

/// Largest usage index of a declaration.
const MAX_INDEX: u32 = 15;

/// Where a binding is, and what its declaration names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Port {
    /// The register.
    pub reg: Reg,
    /// Its usage and index, where the declaration has one.
    pub usage: Option<(Usage, u8)>,
}

/// The ports of all bindings, by register number of the program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ports {
    /// Inputs.
    pub inputs: BTreeMap<u32, Port>,
    /// Outputs.
    pub outputs: BTreeMap<u32, Port>,
}

fn numbered(word: &str, prefix: &str) -> Option<u32> {
    word.strip_prefix(prefix)?.parse().ok()
}

/// The set of texture coordinates that carries it between the stages.
fn coordinate(word: &str, target: &Target) -> Option<u32> {
    match word {
        "fogcoord" if target.shader_model[0] < 3 => target.limits.coordinates.map(|n| n.saturating_sub(1)),
        _ => numbered(word, "texcoord").or_else(|| numbered(word, "varying")),
    }
}

fn usage(kind: Usage, index: u32) -> Option<(Usage, u8)> {
    u8::try_from(index).ok().filter(|&i| u32::from(i) <= MAX_INDEX).map(|index| (kind, index))
}

/// The usage of what is interpolated, in model 3.
fn interpolated(word: &str, target: &Target) -> Option<(Usage, u8)> {
    match word {
        "position" => usage(Usage::Position, 0),
        "pointsize" => usage(Usage::PointSize, 0),
        "fogcoord" => usage(Usage::Fog, 0),
        _ => match (numbered(word, "color"), coordinate(word, target)) {
            (Some(n), _) => usage(Usage::Color, n),
            (_, Some(n)) => usage(Usage::TexCoord, n),
            _ => None,
        },
    }
}

/// What an attribute is declared as; `free` is the lowest texture coordinate that nobody has.
fn attribute(word: &str, taken: &mut BTreeSet<u32>) -> Option<(Usage, u8)> {
    match word {
        "position" => usage(Usage::Position, 0),
        "normal" => usage(Usage::Normal, 0),
        "fogcoord" => usage(Usage::Fog, 0),
        _ => match (numbered(word, "color"), numbered(word, "texcoord"), numbered(word, "generic")) {
            (Some(n), ..) => usage(Usage::Color, n),
            (_, Some(n), _) => usage(Usage::TexCoord, n),
            (_, _, Some(n)) => {
                let index = if taken.contains(&n) { (0..).find(|i| !taken.contains(i))? } else { n };
                taken.insert(index);
                usage(Usage::TexCoord, index)
            }
            _ => None,
        },
    }
}

/// A coordinate's register, if there are so many.
fn coordinate_register(kind: RegType, b: &Binding, target: &Target) -> Result<Option<Port>, Error> {
    let Some(n) = coordinate(&b.semantic, target) else { return Ok(None) };
    match target.limits.coordinates {
        Some(limit) if n >= limit => {
            let detail = format!("`{}` is the first that finds no room", b.name);
            Err(Error::DoesNotFit { what: Resource::Coordinates, need: n + 1, limit, line: 0, detail })
        }
        _ => Ok(Some(Port { reg: Reg::new(kind, n), usage: None })),
    }
}

fn input(b: &Binding, stage: Stage, target: &Target, next: &mut u32) -> Result<Option<Port>, Error> {
    let color = numbered(&b.semantic, "color");
    let interpolates = stage == Stage::Fragment && target.shader_model[0] >= 3;
    match (stage, color) {
        (Stage::Fragment, _) if interpolates => {
            let reg = Reg::new(RegType::Input, *next);
            let known = interpolated(&b.semantic, target).filter(|u| u.0 != Usage::Position);
            *next += u32::from(known.is_some());
            Ok(known.map(|usage| Port { reg, usage: Some(usage) }))
        }
        (Stage::Fragment, Some(n)) => Ok(Some(Port { reg: Reg::new(RegType::Input, n), usage: None })),
        _ => coordinate_register(RegType::Texture, b, target),
    }
}

fn output(b: &Binding, stage: Stage, target: &Target) -> Result<Option<Port>, Error> {
    let port = |reg| Ok(Some(Port { reg, usage: None }));
    let color = numbered(&b.semantic, "color");
    match (stage, b.semantic.as_str(), color) {
        (Stage::Fragment, "depth", _) => port(Reg::DEPTH),
        (Stage::Fragment, _, Some(n)) => port(Reg::new(RegType::Target, n)),
        (Stage::Fragment, ..) => Ok(None),
        _ if target.shader_model[0] >= 3 => {
            let reg = Reg::new(RegType::Output, b.reg);
            Ok(interpolated(&b.semantic, target).map(|usage| Port { reg, usage: Some(usage) }))
        }
        (_, "position", _) => port(Reg::POSITION),
        (_, "pointsize", _) => port(Reg::POINT_SIZE),
        (_, _, Some(n)) => port(Reg::new(RegType::ColorOut, n)),
        _ => coordinate_register(RegType::TexCoordOut, b, target),
    }
}

/// The ports of a program.
///
/// # Errors
/// When a binding has no register in this version, or shares it with another.
pub fn ports(program: &Program, target: &Target) -> Result<Ports, Error> {
    let mut ports = Ports::default();
    let unsupported = |what: String| Err(Error::Unsupported { what: format!("{what} on {}", target.name), line: 0 });
    let mut taken: BTreeSet<u32> = program.inputs.iter().filter_map(|b| numbered(&b.semantic, "texcoord")).collect();
    let mut next = 0;
    for b in &program.inputs {
        let port = match program.stage {
            Stage::Vertex => attribute(&b.semantic, &mut taken)
                .map(|usage| Port { reg: Reg::new(RegType::Input, b.reg), usage: Some(usage) }),
            stage => input(b, stage, target, &mut next)?,
        };
        let Some(port) = port else { return unsupported(format!("`{}`", b.name)) };
        ports.inputs.insert(b.reg, port);
    }
    for b in &program.outputs {
        let Some(port) = output(b, program.stage, target)? else { return unsupported(format!("`{}`", b.name)) };
        ports.outputs.insert(b.reg, port);
    }
    for (bindings, ports) in [(&program.inputs, &ports.inputs), (&program.outputs, &ports.outputs)] {
        // model 3 tells them apart by usage, all others by register
        let key = |port: &Port| (port.usage.is_none().then_some(port.reg), port.usage);
        let mut owners = BTreeMap::new();
        for b in bindings {
            if let Some(other) = owners.insert(key(&ports[&b.reg]), &b.name) {
                return unsupported(format!("`{other}` and `{}` in one register", b.name));
            }
        }
    }
    Ok(ports)
}
