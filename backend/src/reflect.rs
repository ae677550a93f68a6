//! What a caller must bind to run a program: made to be written as JSON.

use crate::mach::{Constant, File, Program};
use ir::tac::{VarDecl, VarKind};
use serde::Serialize;
use std::collections::BTreeMap;

/// An input or output register.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Slot {
    /// The variable's name.
    pub name: String,
    /// Element of it.
    pub element: u32,
    /// Its GLSL type.
    pub r#type: String,
    /// Register, such as `v0`.
    pub register: String,
    /// The name in the target's own text, when it is not the register.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub binding: Option<String>,
    /// Lanes that the variable has.
    pub lanes: u8,
    /// The outside's word for it, or `generic`.
    pub semantic: String,
    /// Whether it is interpolated within the covered part of a pixel (`centroid`).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub centroid: bool,
}

/// One register of a uniform.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct UniformRegister {
    /// Element (array element or matrix column).
    pub element: u32,
    /// Register, such as `c4`.
    pub register: String,
    /// The name in the target's own text, when it is not the register.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub binding: Option<String>,
}

/// A uniform.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Uniform {
    /// Its name; struct fields with dots.
    pub name: String,
    /// Its GLSL type.
    pub r#type: String,
    /// Registers that one array element takes.
    pub columns: u32,
    /// The registers in use.
    pub registers: Vec<UniformRegister>,
    /// Initial values, one list of lanes an element; empty when none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub initial: Vec<Vec<f32>>,
}

/// A sampler.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Sampler {
    /// Its name.
    pub name: String,
    /// Element of it.
    pub element: u32,
    /// Register, such as `s0`.
    pub register: String,
    /// The name in the target's own text, when it is not the register.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub binding: Option<String>,
    /// Texture shape.
    pub dim: String,
    /// Compares.
    pub shadow: bool,
}

/// A register that holds literals.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LiteralRegister {
    /// Register, such as `c7`.
    pub register: String,
    /// Its lanes in use; text, as JSON has no infinity.
    pub values: Vec<String>,
    /// The same as bits.
    pub bits: Vec<u32>,
}

/// All of it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Reflection {
    /// The target's name.
    pub target: String,
    /// `vert` or `frag`.
    pub stage: String,
    /// Inputs by register.
    pub inputs: Vec<Slot>,
    /// Outputs by register.
    pub outputs: Vec<Slot>,
    /// Uniforms by first register.
    pub uniforms: Vec<Uniform>,
    /// Samplers by register.
    pub samplers: Vec<Sampler>,
    /// Literals by register.
    pub literals: Vec<LiteralRegister>,
}

/// Describes a program; `vars` are the declarations that it was made from.
pub fn reflect<'v>(program: &Program, vars: impl Iterator<Item = &'v VarDecl>) -> Reflection {
    let decls: BTreeMap<&str, &VarDecl> =
        vars.filter(|v| !matches!(v.kind, VarKind::Local | VarKind::Temp)).map(|v| (v.name.as_str(), v)).collect();
    let type_name = |name: &str| decls.get(name).map_or(String::new(), |d| d.type_name.clone());
    let slots = |bindings: &[crate::mach::Binding], file: File| {
        let slot = |b: &crate::mach::Binding| Slot {
            name: b.name.clone(),
            element: b.elem,
            r#type: type_name(&b.name),
            register: format!("{}{}", file.letter(), b.reg),
            binding: None,
            lanes: b.lanes,
            semantic: b.semantic.clone(),
            centroid: decls.get(b.name.as_str()).is_some_and(|d| d.centroid),
        };
        bindings.iter().map(slot).collect()
    };
    let mut uniforms: Vec<Uniform> = Vec::new();
    let mut literals = Vec::new();
    for (i, constant) in program.constants.iter().enumerate() {
        let register = format!("{}{i}", File::Const.letter());
        match constant {
            Constant::Uniform { name, elem } => {
                let register = UniformRegister { element: *elem, register, binding: None };
                match uniforms.iter_mut().rev().find(|u| u.name == *name) {
                    Some(uniform) => uniform.registers.push(register),
                    None => uniforms.push(Uniform {
                        name: name.clone(),
                        r#type: type_name(name),
                        columns: decls.get(name.as_str()).map_or(1, |d| d.cols),
                        registers: vec![register],
                        initial: decls
                            .get(name.as_str())
                            .map_or(Vec::new(), |d| d.init.iter().map(|l| l.lanes().collect()).collect()),
                    }),
                }
            }
            Constant::Literal { bits, used } => {
                let bits = bits[..*used as usize].to_vec();
                let values = bits.iter().map(|&b| format!("{:?}", f32::from_bits(b))).collect();
                literals.push(LiteralRegister { register, values, bits });
            }
        }
    }
    Reflection {
        target: program.target.clone(),
        stage: program.stage.to_string(),
        inputs: slots(&program.inputs, File::Input),
        outputs: slots(&program.outputs, File::Output),
        uniforms,
        samplers: program
            .samplers
            .iter()
            .map(|s| Sampler {
                name: s.name.clone(),
                element: s.elem,
                register: format!("{}{}", File::Sampler.letter(), s.reg),
                binding: None,
                dim: s.dim.to_string(),
                shadow: s.shadow,
            })
            .collect(),
        literals,
    }
}
