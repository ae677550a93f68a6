//! A compiled program as C sees it: code, counts, and what must be bound to run it. Everything that a
//! query hands out belongs to the program and is valid until it is freed.

use crate::context::{Status, stage_of};
use crate::text::c_string;
use eggshade::backend::emit;
use eggshade::backend::reflect::{LiteralRegister, Reflection, Sampler, Slot, Uniform};
use eggshade::ir::diag::{Diagnostic, Span};
use eggshade::ir::types::Stage;
use eggshade::link_reflection::{self, ProgramReflection, Shared};
use eggshade::{Built, Failure, Linked, Options, record};
use std::ffi::{CString, c_char};

/// What the code of a stage is asked for as.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// The target's assembly text, with a NUL behind it.
    Assembly = 0,
    /// The target's binary.
    Binary = 1,
    /// The description of all that must be bound, as JSON, with a NUL behind it. For a linked program
    /// it is that of the whole, whichever stage is asked for.
    Reflection = 2,
}

/// What a variable is.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A vertex input.
    Attribute = 0,
    /// Set by the caller before a draw.
    Uniform = 1,
    /// A texture unit's number.
    Sampler = 2,
    /// A result of the last stage.
    Output = 3,
}

/// An active variable.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Variable {
    /// What it is.
    pub kind: Kind,
    /// Its name in the source; fields of structs with dots.
    pub name: *const c_char,
    /// Its GLSL type.
    pub type_name: *const c_char,
    /// Registers of all stages together.
    pub registers: usize,
}

/// A register of a variable, or one that holds literals.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Register {
    /// The stage, an `EggshadeStage`.
    pub stage: u32,
    /// Element of the variable: array element or matrix column.
    pub element: u32,
    /// Such as `c4`.
    pub name: *const c_char,
    /// The name in the target's own text; the same as `name` when it is not another.
    pub binding: *const c_char,
    /// Lanes in use.
    pub lanes: u32,
    /// What it must hold at first: literals, or the initial value of a uniform; 0 when none.
    pub values: [f32; 4],
}

/// Counts of a stage.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Instructions as the target's assembler counts them.
    pub instructions: u32,
    /// Issue slots.
    pub slots: u32,
    /// Lookups.
    pub textures: u32,
    /// Temporaries.
    pub temporaries: u32,
    /// Cycles, estimated.
    pub cycles: u32,
}

struct OwnedRegister {
    stage: Stage,
    element: u32,
    name: CString,
    binding: CString,
    lanes: u32,
    values: [f32; 4],
}

struct OwnedVariable {
    kind: Kind,
    name: CString,
    type_name: CString,
    registers: Vec<OwnedRegister>,
}

struct Code {
    stage: Stage,
    assembly: CString,
    binary: Vec<u8>,
    reflection: CString,
    counts: Counts,
    literals: Vec<OwnedRegister>,
}

/// A compiled stage, or two linked ones.
pub struct Program {
    stages: Vec<Code>,
    variables: Vec<OwnedVariable>,
}

impl Program {
    /// Of one stage.
    pub(crate) fn of_stage(built: &Built, options: &Options) -> Result<Program, Failure> {
        let reflection = &built.compiled.reflection;
        let code = Code::new(built, options, &json(reflection))?;
        Ok(Program { variables: variables_of_stage(reflection, code.stage), stages: vec![code] })
    }

    /// Of two stages.
    pub(crate) fn of_link(linked: &Linked, options: &Options) -> Result<Program, Failure> {
        let reflection = link_reflection::reflect(linked);
        let json = json(&reflection);
        let stages = linked.stages.iter().map(|built| Code::new(built, &options.for_stage(built.tac.stage), &json));
        Ok(Program { stages: stages.collect::<Result<_, _>>()?, variables: variables_of_link(&reflection) })
    }

    fn code(&self, stage: u32) -> Option<&Code> {
        let stage = stage_of(stage)?;
        self.stages.iter().find(|c| c.stage == stage)
    }
}

fn json(reflection: &impl serde::Serialize) -> String {
    serde_json::to_string(reflection).unwrap_or_default()
}

impl Code {
    fn new(built: &Built, options: &Options, reflection: &str) -> Result<Code, Failure> {
        let program = &built.compiled.program;
        let fail = |message: String| Failure {
            status: record::Status::Unsupported,
            sources: built.sources.clone(),
            diagnostics: vec![Diagnostic::error("unsupported", Span::default(), message)],
        };
        let assembly = emit::text(program, &options.target).map_err(|e| fail(e.to_string()))?;
        let counts = &built.compiled.statistics.counts;
        let stage = built.tac.stage;
        Ok(Code {
            stage,
            assembly: c_string(&assembly),
            binary: emit::binary(program, &options.target, &built.compiled.reflection).map_err(fail)?,
            reflection: c_string(reflection),
            counts: Counts {
                instructions: counts.instructions,
                slots: counts.slots,
                textures: counts.tex,
                temporaries: counts.temps,
                cycles: counts.cycles,
            },
            literals: built.compiled.reflection.literals.iter().map(|l| literal(l, stage)).collect(),
        })
    }
}

fn register(stage: Stage, element: u32, name: &str, binding: Option<&String>) -> OwnedRegister {
    let binding = c_string(binding.map_or(name, String::as_str));
    OwnedRegister { stage, element, name: c_string(name), binding, lanes: 4, values: [0.0; 4] }
}

fn literal(literal: &LiteralRegister, stage: Stage) -> OwnedRegister {
    let mut out = register(stage, 0, &literal.register, None);
    out.lanes = literal.bits.len() as u32;
    for (value, bits) in out.values.iter_mut().zip(&literal.bits) {
        *value = f32::from_bits(*bits);
    }
    out
}

fn variable(kind: Kind, name: &str, type_name: &str, registers: Vec<OwnedRegister>) -> OwnedVariable {
    OwnedVariable { kind, name: c_string(name), type_name: c_string(type_name), registers }
}

/// Inputs or outputs, all elements of a variable together.
fn slots(kind: Kind, slots: &[Slot], stage: Stage, out: &mut Vec<OwnedVariable>) {
    for slot in slots {
        let mut one = register(stage, slot.element, &slot.register, slot.binding.as_ref());
        one.lanes = u32::from(slot.lanes);
        match out.last_mut().filter(|v| v.kind == kind && v.name.to_bytes() == slot.name.as_bytes()) {
            Some(last) => last.registers.push(one),
            None => out.push(variable(kind, &slot.name, &slot.r#type, vec![one])),
        }
    }
}

fn uniform_registers(uniform: &Uniform, stage: Stage) -> Vec<OwnedRegister> {
    let one = |r: &eggshade::backend::reflect::UniformRegister| {
        let mut out = register(stage, r.element, &r.register, r.binding.as_ref());
        if let Some(initial) = uniform.initial.get(r.element as usize) {
            out.values.iter_mut().zip(initial).for_each(|(to, from)| *to = *from);
        }
        out
    };
    uniform.registers.iter().map(one).collect()
}

fn sampler_register(sampler: &Sampler, stage: Stage) -> OwnedRegister {
    OwnedRegister { lanes: 1, ..register(stage, sampler.element, &sampler.register, sampler.binding.as_ref()) }
}

fn sampler_type(sampler: &Sampler) -> String {
    let shadow = if sampler.shadow { "Shadow" } else { "" };
    format!("sampler{}{shadow}", sampler.dim)
}

fn variables_of_stage(reflection: &Reflection, stage: Stage) -> Vec<OwnedVariable> {
    let mut out = Vec::new();
    slots(Kind::Attribute, &reflection.inputs, stage, &mut out);
    for uniform in &reflection.uniforms {
        out.push(variable(Kind::Uniform, &uniform.name, &uniform.r#type, uniform_registers(uniform, stage)));
    }
    for sampler in &reflection.samplers {
        let registers = vec![sampler_register(sampler, stage)];
        out.push(variable(Kind::Sampler, &sampler.name, &sampler_type(sampler), registers));
    }
    slots(Kind::Output, &reflection.outputs, stage, &mut out);
    out
}

/// Both stages' places of what they share.
fn both<T, R>(shared: &Shared<T>, each: impl Fn(&T, Stage) -> R) -> Vec<R> {
    let of = |list: &[T], stage| list.iter().map(|t| each(t, stage)).collect::<Vec<R>>();
    let mut all = of(&shared.vertex, Stage::Vertex);
    all.extend(of(&shared.fragment, Stage::Fragment));
    all
}

fn variables_of_link(reflection: &ProgramReflection) -> Vec<OwnedVariable> {
    let mut out = Vec::new();
    slots(Kind::Attribute, &reflection.attributes, Stage::Vertex, &mut out);
    for uniform in &reflection.uniforms {
        let type_name = uniform.vertex.iter().chain(&uniform.fragment).next().map_or("", |u| u.r#type.as_str());
        let registers = both(uniform, uniform_registers).into_iter().flatten().collect();
        out.push(variable(Kind::Uniform, &uniform.name, type_name, registers));
    }
    for sampler in &reflection.samplers {
        let type_name = sampler.vertex.iter().chain(&sampler.fragment).next().map_or(String::new(), sampler_type);
        out.push(variable(Kind::Sampler, &sampler.name, &type_name, both(sampler, sampler_register)));
    }
    slots(Kind::Output, &reflection.outputs, Stage::Fragment, &mut out);
    out
}

impl OwnedRegister {
    fn view(&self) -> Register {
        Register {
            stage: self.stage as u32,
            element: self.element,
            name: self.name.as_ptr(),
            binding: self.binding.as_ptr(),
            lanes: self.lanes,
            values: self.values,
        }
    }
}

/// Frees a program. Null is allowed.
///
/// # Safety
/// `program` came from `eggshade_compile` or `eggshade_link` and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eggshade_program_free(program: *mut Program) {
    if !program.is_null() {
        // SAFETY: the caller says so.
        drop(unsafe { Box::from_raw(program) });
    }
}

/// The code of a stage and its length in bytes (without the NUL of a text). Null when the program has no
/// such stage or form. `stage` is an `EggshadeStage`, `form` an `EggshadeForm`.
///
/// # Safety
/// Pointers are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eggshade_code(
    program: *const Program,
    stage: u32,
    form: u32,
    length: *mut usize,
) -> *const c_char {
    // SAFETY: the caller says so.
    let code = unsafe { program.as_ref() }.and_then(|p| p.code(stage));
    let found = code.and_then(|code| match form {
        f if f == Form::Assembly as u32 => Some((code.assembly.as_ptr(), code.assembly.as_bytes().len())),
        f if f == Form::Binary as u32 => Some((code.binary.as_ptr().cast(), code.binary.len())),
        f if f == Form::Reflection as u32 => Some((code.reflection.as_ptr(), code.reflection.as_bytes().len())),
        _ => None,
    });
    let (start, bytes) = found.unwrap_or((std::ptr::null(), 0));
    if !length.is_null() {
        // SAFETY: the caller says so.
        unsafe { length.write(bytes) };
    }
    start
}

/// Writes to `out`, when the value is there and the pointer is not null.
///
/// # Safety
/// `out` is null or valid.
unsafe fn give<T>(value: Option<T>, out: *mut T) -> Status {
    match value {
        Some(value) if !out.is_null() => {
            // SAFETY: the caller says so.
            unsafe { out.write(value) };
            Status::Ok
        }
        _ => Status::BadArgument,
    }
}

/// Counts of a stage's code.
///
/// # Safety
/// Pointers are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eggshade_counts(program: *const Program, stage: u32, out: *mut Counts) -> Status {
    // SAFETY: the caller says so.
    unsafe { give(program.as_ref().and_then(|p| p.code(stage)).map(|c| c.counts), out) }
}

/// How many active variables there are.
///
/// # Safety
/// `program` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eggshade_variable_count(program: *const Program) -> usize {
    // SAFETY: the caller says so.
    unsafe { program.as_ref() }.map_or(0, |p| p.variables.len())
}

/// Variable number `index`, from 0.
///
/// # Safety
/// Pointers are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eggshade_variable(program: *const Program, index: usize, out: *mut Variable) -> Status {
    let view = |v: &OwnedVariable| Variable {
        kind: v.kind,
        name: v.name.as_ptr(),
        type_name: v.type_name.as_ptr(),
        registers: v.registers.len(),
    };
    // SAFETY: the caller says so.
    unsafe { give(program.as_ref().and_then(|p| p.variables.get(index)).map(view), out) }
}

/// Register number `index` of a variable, from 0.
///
/// # Safety
/// Pointers are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eggshade_variable_register(
    program: *const Program,
    variable: usize,
    index: usize,
    out: *mut Register,
) -> Status {
    // SAFETY: the caller says so.
    let variable = unsafe { program.as_ref() }.and_then(|p| p.variables.get(variable));
    // SAFETY: the caller says so.
    unsafe { give(variable.and_then(|v| v.registers.get(index)).map(OwnedRegister::view), out) }
}

/// How many registers of literals the caller must load for a stage.
///
/// # Safety
/// `program` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eggshade_literal_count(program: *const Program, stage: u32) -> usize {
    // SAFETY: the caller says so.
    unsafe { program.as_ref() }.and_then(|p| p.code(stage)).map_or(0, |c| c.literals.len())
}

/// Register of literals number `index` of a stage, from 0.
///
/// # Safety
/// Pointers are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eggshade_literal(
    program: *const Program,
    stage: u32,
    index: usize,
    out: *mut Register,
) -> Status {
    // SAFETY: the caller says so.
    let code = unsafe { program.as_ref() }.and_then(|p| p.code(stage));
    // SAFETY: the caller says so.
    unsafe { give(code.and_then(|c| c.literals.get(index)).map(OwnedRegister::view), out) }
}
