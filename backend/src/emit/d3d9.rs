//! A finished program as a Direct3D 9 shader (see [`crate::d3d9`]).
//!
//! In: an allocated program whose operands obey the target's table. Out: declarations, definitions,
//! instructions and the constant table, or an error that names what has no form in this version.
//! Register `n` of a uniform is `c` `n`; literals are definitions.

use super::d3d9_names::{Port, Ports, ports};
use super::join_level;
use crate::d3d9::{
    Constant, Control, Dcl, Def, Dst, Inst, Modifier, Opcode, Reg, RegType, Rel, SamplerKind, Shader, Src, Version,
};
use crate::error::Error;
use crate::isa::{SwizzleRule, Target};
use crate::mach::{self, File, Kind};
use crate::reflect::{Reflection, Uniform};
use ir::types::{Stage, TexDim, WriteMask};

fn unsupported<T>(what: &str, target: &Target, line: u32) -> Result<T, Error> {
    Err(Error::Unsupported { what: format!("{what} on {}", target.name), line })
}

/// The shader.
///
/// # Errors
/// [`Error::Unsupported`] when an input, output, sampler or instruction has no form in the target's
/// version.
pub fn lower(program: &mach::Program, target: &Target) -> Result<Shader, Error> {
    let [major, minor] = target.shader_model;
    let version = Version { stage: program.stage, major, minor };
    let lowering = Lowering { program, target, version, ports: ports(program, target)? };
    lowering.position_is_whole()?;
    let mut shader = Shader::new(version);
    lowering.declarations(&mut shader)?;
    lowering.constants(&mut shader);
    for inst in program.insts.iter().filter(|i| i.op != mach::Opcode::End) {
        shader.insts.push(lowering.instruction(inst)?);
    }
    Ok(shader)
}

/// Gives the entries of the constant table the types of their uniforms.
pub fn name_types(shader: &mut Shader, reflection: &Reflection) {
    for constant in &mut shader.constants {
        let register = format!("{}{}", File::Const.letter(), constant.index);
        let starts = |u: &&Uniform| {
            u.registers.iter().any(|r| r.register == register && r.element.is_multiple_of(u.columns.max(1)))
        };
        if let Some(uniform) = reflection.uniforms.iter().find(starts) {
            constant.set_type(&uniform.r#type);
        }
    }
}

/// Adds the registers of this form to a description.
pub fn name_bindings(reflection: &mut Reflection, program: &mach::Program, target: &Target) {
    let Ok(Ports { inputs, outputs }) = ports(program, target) else { return };
    let name = |port: &Port| match port.usage {
        Some((usage, index)) => format!("{} dcl_{}{index}", port.reg, usage.word()),
        None => port.reg.to_string(),
    };
    for (slots, bindings, ports) in
        [(&mut reflection.inputs, &program.inputs, &inputs), (&mut reflection.outputs, &program.outputs, &outputs)]
    {
        slots.iter_mut().zip(bindings).for_each(|(slot, b)| slot.binding = ports.get(&b.reg).map(name));
    }
}

struct Lowering<'p> {
    program: &'p mach::Program,
    target: &'p Target,
    version: Version,
    ports: Ports,
}

fn sampler_kind(dim: TexDim) -> Option<SamplerKind> {
    match dim {
        // a texture of one row: there are no others
        TexDim::D1 | TexDim::D2 => Some(SamplerKind::D2),
        TexDim::Cube => Some(SamplerKind::Cube),
        TexDim::D3 => Some(SamplerKind::Volume),
        TexDim::Rect => None,
    }
}

/// The opcode and its control.
fn opcode(op: mach::Opcode, version: Version) -> Option<(Opcode, Control)> {
    use mach::Opcode as M;
    let control = match op {
        M::Txp => Control::Project,
        M::Txb => Control::Bias,
        _ => Control::None,
    };
    let op = match op {
        M::Mov => Opcode::Mov,
        M::Add => Opcode::Add,
        M::Mul => Opcode::Mul,
        M::Mad => Opcode::Mad,
        M::Min => Opcode::Min,
        M::Max => Opcode::Max,
        M::Slt => Opcode::Slt,
        M::Sge => Opcode::Sge,
        M::Frc => Opcode::Frc,
        M::Abs => Opcode::Abs,
        M::Cge => Opcode::Cmp,
        M::Dp3 => Opcode::Dp3,
        M::Dp4 => Opcode::Dp4,
        M::Rcp => Opcode::Rcp,
        M::Rsq => Opcode::Rsq,
        M::Ex2 => Opcode::Exp,
        M::Lg2 => Opcode::Log,
        M::Ddx => Opcode::Dsx,
        M::Ddy => Opcode::Dsy,
        M::Arl if version.is_before(2, 0) => Opcode::Mov,
        M::Arl => Opcode::Mova,
        M::Tex | M::Txp | M::Txb => Opcode::Tex,
        M::Txl => Opcode::TexLdl,
        M::Kil => Opcode::TexKill,
        _ => return None,
    };
    Some((op, control))
}

impl Lowering<'_> {
    /// The rasterizer takes all four lanes of the position.
    fn position_is_whole(&self) -> Result<(), Error> {
        if self.version.stage != Stage::Vertex {
            return Ok(());
        }
        let position = self.program.outputs.iter().find(|b| b.semantic == "position").map(|b| b.reg);
        let dsts = self.program.insts.iter().filter_map(|i| i.dst);
        let own = dsts.filter(|d| d.reg.file == File::Output && Some(d.reg.index) == position);
        match own.fold(0, |m, d| m | d.mask.0) {
            15 => Ok(()),
            _ => unsupported("a vertex shader that does not write all of `gl_Position`", self.target, 0),
        }
    }

    fn declarations(&self, shader: &mut Shader) -> Result<(), Error> {
        let declare = |port: &Port| match port.usage {
            Some((usage, index)) => Dcl::usage(usage, index, port.reg),
            None => Dcl::plain(port.reg, WriteMask::ALL),
        };
        shader.dcls.extend(self.ports.inputs.values().map(declare));
        shader.dcls.extend(self.ports.outputs.values().filter(|p| p.usage.is_some()).map(declare));
        for s in &self.program.samplers {
            let Some(kind) = sampler_kind(s.dim).filter(|_| !s.shadow) else {
                let what = if s.shadow { "a shadow lookup" } else { "a rectangle texture" };
                return unsupported(&format!("{what} (`{}`)", s.name), self.target, 0);
            };
            shader.dcls.push(Dcl::sampler(kind, s.reg));
            let name = if s.elem == 0 { s.name.clone() } else { format!("{}[{}]", s.name, s.elem) };
            shader.constants.push(Constant::sampler(&name, s.reg as u16, kind));
        }
        Ok(())
    }

    /// Definitions, and an entry of the constant table for each run of elements of a uniform.
    fn constants(&self, shader: &mut Shader) {
        let mut last: Option<(&str, u32)> = None;
        for (n, constant) in (0u16..).zip(&self.program.constants) {
            match constant {
                mach::Constant::Literal { bits, .. } => {
                    shader.defs.push(Def::float(u32::from(n), *bits));
                    last = None;
                }
                mach::Constant::Uniform { name, elem } => {
                    match shader.constants.last_mut().filter(|_| last == Some((name, elem.wrapping_sub(1)))) {
                        Some(entry) => (entry.count, entry.elements) = (entry.count + 1, entry.elements + 1),
                        None => {
                            let name = if *elem == 0 { name.clone() } else { format!("{name}[{elem}]") };
                            shader.constants.push(Constant::vectors(&name, n, 4, 1));
                        }
                    }
                    last = Some((name, *elem));
                }
            }
        }
    }

    fn register(&self, reg: mach::Reg, line: u32) -> Result<Reg, Error> {
        let port = |ports: &std::collections::BTreeMap<u32, Port>| ports.get(&reg.index).map(|p| p.reg);
        let found = match reg.file {
            File::Temp => Some(Reg::new(RegType::Temp, reg.index)),
            File::Const => Some(Reg::new(RegType::Const, reg.index)),
            File::Addr => Some(Reg::A0),
            File::Input => port(&self.ports.inputs),
            File::Output => port(&self.ports.outputs),
            _ => None,
        };
        found.ok_or_else(|| Error::Internal(format!("line {line}: {reg} has no register of Direct3D")))
    }

    fn source(&self, inst: &mach::Inst, n: usize, read: WriteMask) -> Result<Src, Error> {
        let src = &inst.srcs[n];
        let first = src.swizzle[read.lanes().next().unwrap_or(0) as usize];
        let scalar = match inst.op.kind() {
            Kind::Scalar => true,
            // lane by lane, and several where `a0` has them
            Kind::Address => read.lanes().all(|l| src.swizzle[l as usize] == first),
            _ => false,
        };
        let lookup = inst.op.is_texture();
        let rule = if lookup { self.target.operands.tex_swizzle } else { self.target.operands.swizzle };
        let in_place = SwizzleRule::Identity.completed(src.swizzle, read);
        let swizzle = match in_place.or_else(|| rule.completed(src.swizzle, read)) {
            _ if scalar => [first; 4],
            Some(swizzle) => swizzle,
            None => return Err(Error::Internal(format!("lanes of an operand of `{inst}`"))),
        };
        let modifier = match (src.abs, src.neg) {
            (false, false) => Modifier::None,
            (false, true) => Modifier::Neg,
            (true, false) => Modifier::Abs,
            (true, true) => Modifier::NegAbs,
        };
        let rel = src.rel.map(|r| Rel { reg: Reg::A0, lane: r.lane });
        Ok(Src { reg: self.register(src.reg, inst.line)?, rel, swizzle, modifier })
    }

    fn instruction(&self, inst: &mach::Inst) -> Result<Inst, Error> {
        let Some((op, control)) = opcode(inst.op, self.version) else {
            return unsupported(inst.op.mnemonic(), self.target, inst.line);
        };
        if op == Opcode::TexKill {
            let reg = self.register(inst.srcs[0].reg, inst.line)?;
            return Ok(Inst::new(op, Dst::new(reg, WriteMask::ALL), &[]));
        }
        let mut inst = inst.clone();
        let mut dst = match inst.dst {
            Some(dst) => Dst { saturate: dst.saturate, ..Dst::new(self.register(dst.reg, inst.line)?, dst.mask) },
            None => return Err(Error::Internal(format!("`{inst}` has no destination"))),
        };
        if dst.reg == Reg::DEPTH {
            // one number, in all lanes
            dst.mask = WriteMask::ALL;
            if inst.op.kind() == Kind::Lanewise {
                inst.srcs.iter_mut().for_each(|s| s.swizzle = [s.swizzle[0]; 4]);
            }
            if let Some(d) = &mut inst.dst {
                d.mask = WriteMask::ALL;
            }
        }
        let mut read: Vec<WriteMask> = (0..inst.srcs.len()).map(|n| inst.places_read(n)).collect();
        if matches!(inst.op, mach::Opcode::Txb | mach::Opcode::Txl) {
            if join_level(&mut inst).is_none() {
                return Err(Error::Internal("the level of a lookup is not beside its coordinates".into()));
            }
            read[0].0 |= 1 << 3;
        }
        let sources = (0..inst.srcs.len()).map(|n| self.source(&inst, n, read[n]));
        let mut srcs = sources.collect::<Result<Vec<Src>, Error>>()?;
        if let Some(tex) = inst.tex {
            srcs.push(Src::new(Reg::new(RegType::Sampler, tex.sampler)));
        }
        Ok(Inst::new(op, dst, &srcs).with_control(control))
    }
}
