//! A linked program as one JSON object: what `glGetActiveAttrib`, `glGetActiveUniform` and a driver's
//! state tracker ask of it.
//!
//! In: two compiled stages. Out: attributes and fragment outputs with their registers, varyings with
//! the register of each stage, every uniform and sampler once with its place in each stage that uses
//! it, the literals of each stage.

use crate::link::Linked;
use backend::reflect::{LiteralRegister, Reflection, Sampler, Slot, Uniform};
use serde::Serialize;
use std::collections::BTreeMap;

/// A register that goes from stage to stage.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Varying {
    /// The variable's name; of a shared register, the names of all in it with plus signs.
    pub name: String,
    /// Element of it.
    pub element: u32,
    /// Its GLSL type.
    pub r#type: String,
    /// The outside's word for it: `varying3`, `texcoord0`, `color0`.
    pub semantic: String,
    /// Where the vertex stage writes it; none when it never does.
    pub vertex: Option<String>,
    /// Where the fragment stage reads it.
    pub fragment: String,
    /// The varyings in it, when it is shared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
}

/// A varying's lanes in a shared register.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Part {
    /// The varying's name.
    pub name: String,
    /// Its lanes, such as `zw`.
    pub lanes: String,
}

/// A uniform or sampler of the program, with its place in each stage that uses it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Shared<T> {
    /// Its name.
    pub name: String,
    /// In the vertex stage; empty when that does not use it.
    pub vertex: Vec<T>,
    /// In the fragment stage.
    pub fragment: Vec<T>,
}

/// All of it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ProgramReflection {
    /// The target's name.
    pub target: String,
    /// The vertex stage's inputs.
    pub attributes: Vec<Slot>,
    /// What goes between the stages.
    pub varyings: Vec<Varying>,
    /// Vertex outputs that the machine itself takes: position, point size, ...
    pub vertex_outputs: Vec<Slot>,
    /// Fragment inputs that the machine itself makes: window position, facing, ...
    pub fragment_inputs: Vec<Slot>,
    /// Colours and depth.
    pub outputs: Vec<Slot>,
    /// Uniforms by name.
    pub uniforms: Vec<Shared<Uniform>>,
    /// Samplers by name.
    pub samplers: Vec<Shared<Sampler>>,
    /// Literals that the caller loads for the vertex stage.
    pub vertex_literals: Vec<LiteralRegister>,
    /// The same for the fragment stage.
    pub fragment_literals: Vec<LiteralRegister>,
}

/// Fragment inputs that no vertex output feeds.
const MADE_BY_MACHINE: [&str; 3] = ["position", "facing", "pointcoord"];

/// Describes a linked program.
pub fn reflect(linked: &Linked) -> ProgramReflection {
    let [vertex, fragment] = linked.stages.each_ref().map(|b| &b.compiled.reflection);
    let varyings: Vec<Varying> = fragment
        .inputs
        .iter()
        .filter(|i| !MADE_BY_MACHINE.contains(&i.semantic.as_str()))
        .map(|input| varying(input, vertex, linked))
        .collect();
    let crosses = |slot: &Slot| varyings.iter().any(|v| v.vertex.as_ref() == Some(&slot.register));
    ProgramReflection {
        target: vertex.target.clone(),
        attributes: vertex.inputs.clone(),
        vertex_outputs: vertex.outputs.iter().filter(|o| !crosses(o)).cloned().collect(),
        fragment_inputs: fragment
            .inputs
            .iter()
            .filter(|i| MADE_BY_MACHINE.contains(&i.semantic.as_str()))
            .cloned()
            .collect(),
        varyings,
        outputs: fragment.outputs.clone(),
        uniforms: by_name(&vertex.uniforms, &fragment.uniforms, |u| &u.name),
        samplers: by_name(&vertex.samplers, &fragment.samplers, |s| &s.name),
        vertex_literals: vertex.literals.clone(),
        fragment_literals: fragment.literals.clone(),
    }
}

fn varying(input: &Slot, vertex: &Reflection, linked: &Linked) -> Varying {
    let output = vertex.outputs.iter().find(|o| o.semantic == input.semantic);
    let shared = linked.packed.iter().find(|p| p.name == input.name);
    let part = |p: &ir::tac::interface::Part| Part {
        name: p.name.clone(),
        lanes: "xyzw"[usize::from(p.lane)..usize::from(p.lane + p.lanes)].to_owned(),
    };
    Varying {
        name: input.name.clone(),
        element: input.element,
        r#type: input.r#type.clone(),
        semantic: input.semantic.clone(),
        vertex: output.map(|o| o.register.clone()),
        fragment: input.register.clone(),
        parts: shared.map_or(Vec::new(), |p| p.parts.iter().map(part).collect()),
    }
}

fn by_name<T: Clone>(vertex: &[T], fragment: &[T], name: impl Fn(&T) -> &String) -> Vec<Shared<T>> {
    let mut all: BTreeMap<String, Shared<T>> = BTreeMap::new();
    for (list, in_fragment) in [(vertex, false), (fragment, true)] {
        for item in list {
            let name = name(item);
            let entry = all.entry(name.clone()).or_insert_with(|| Shared {
                name: name.clone(),
                vertex: Vec::new(),
                fragment: Vec::new(),
            });
            if in_fragment { &mut entry.fragment } else { &mut entry.vertex }.push(item.clone());
        }
    }
    all.into_values().collect()
}
