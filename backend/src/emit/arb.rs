//! Text of ARB_vertex_program and ARB_fragment_program.
//!
//! ```text
//! !!ARBvp1.0
//! # program.local[0] = mvp[0]
//! ATTRIB v0 = vertex.position;
//! OUTPUT o0 = result.position;
//! PARAM c0 = program.local[0];
//! PARAM c1[20] = { program.local[1..20] };
//! PARAM c21 = { 1.0, 0.5, 0.0, 0.0 };
//! ADDRESS a0;
//! TEMP r0;
//! ARL a0.x, v1.x;
//! MUL r0, c1[a0.x + 2], v0;
//! END
//! ```
//!
//! Constant register `n` of a uniform is `program.local[n]`; the caller sets it. Literals stand in the
//! text. An array is declared only where an index is computed, one for each uniform, so that the
//! constant part of an address counts from the array's own start.
//!
//! In: an allocated program without control flow. An input or output that these programs have no name
//! for is an error that says which.

use super::join_level;
use crate::error::{Error, Resource};
use crate::isa::Target;
use crate::mach::{Binding, Constant, Dst, File, Inst, Kind, Opcode, Program, Src};
use crate::reflect::Reflection;
use ir::types::{LANE_NAMES, Stage, WriteMask};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The generic attributes that a conventional one is another name of (ARB_vertex_program, table X.2).
fn generic_alias(word: &str) -> Option<u32> {
    match word {
        "position" => Some(0),
        "normal" => Some(2),
        "color0" => Some(3),
        "color1" => Some(4),
        "fogcoord" => Some(5),
        _ => numbered(word, "texcoord").map(|n| 8 + n),
    }
}

fn numbered(word: &str, prefix: &str) -> Option<u32> {
    word.strip_prefix(prefix)?.parse().ok()
}

/// The name of an input.
fn input_name(word: &str, stage: Stage) -> Option<String> {
    let coordinate = numbered(word, "texcoord").or_else(|| numbered(word, "varying"));
    Some(match (stage, word) {
        (Stage::Vertex, "position") => "vertex.position".to_owned(),
        (Stage::Vertex, "normal") => "vertex.normal".to_owned(),
        (Stage::Vertex, "color0") => "vertex.color.primary".to_owned(),
        (Stage::Vertex, "color1") => "vertex.color.secondary".to_owned(),
        (Stage::Vertex, "fogcoord") => "vertex.fogcoord".to_owned(),
        (Stage::Vertex, _) => match (numbered(word, "texcoord"), numbered(word, "generic")) {
            (Some(n), _) => format!("vertex.texcoord[{n}]"),
            (_, Some(n)) => format!("vertex.attrib[{n}]"),
            _ => return None,
        },
        (Stage::Fragment, "position") => "fragment.position".to_owned(),
        (Stage::Fragment, "color0") => "fragment.color.primary".to_owned(),
        (Stage::Fragment, "color1") => "fragment.color.secondary".to_owned(),
        (Stage::Fragment, "fogcoord") => "fragment.fogcoord".to_owned(),
        (Stage::Fragment, _) => format!("fragment.texcoord[{}]", coordinate?),
    })
}

/// The name of an output; `several` when more than one colour is drawn.
fn output_name(word: &str, stage: Stage, several: bool) -> Option<String> {
    let coordinate = numbered(word, "texcoord").or_else(|| numbered(word, "varying"));
    Some(match (stage, word) {
        (Stage::Vertex, "position") => "result.position".to_owned(),
        (Stage::Vertex, "color0") => "result.color.front.primary".to_owned(),
        (Stage::Vertex, "color1") => "result.color.front.secondary".to_owned(),
        (Stage::Vertex, "backcolor0") => "result.color.back.primary".to_owned(),
        (Stage::Vertex, "backcolor1") => "result.color.back.secondary".to_owned(),
        (Stage::Vertex, "fogcoord") => "result.fogcoord".to_owned(),
        (Stage::Vertex, "pointsize") => "result.pointsize".to_owned(),
        (Stage::Vertex, _) => format!("result.texcoord[{}]", coordinate?),
        (Stage::Fragment, "depth") => "result.depth".to_owned(),
        (Stage::Fragment, _) => match numbered(word, "color")? {
            0 if !several => "result.color".to_owned(),
            n => format!("result.color[{n}]"),
        },
    })
}

/// Of what is drawn: a vertex program's two colours are others.
fn several_colors(program: &Program) -> bool {
    program.stage == Stage::Fragment
        && program.outputs.iter().any(|b| numbered(&b.semantic, "color").is_some_and(|n| n > 0))
}

fn name_of(binding: &Binding, output: bool, program: &Program) -> Option<String> {
    match output {
        true => output_name(&binding.semantic, program.stage, several_colors(program)),
        false => input_name(&binding.semantic, program.stage),
    }
}

/// Adds the names of this form to a description.
pub fn name_bindings(reflection: &mut Reflection, program: &Program) {
    for (slots, bindings, output) in
        [(&mut reflection.inputs, &program.inputs, false), (&mut reflection.outputs, &program.outputs, true)]
    {
        slots.iter_mut().zip(bindings).for_each(|(slot, b)| slot.binding = name_of(b, output, program));
    }
    for register in reflection.uniforms.iter_mut().flat_map(|u| &mut u.registers) {
        register.binding = numbered(&register.register, File::Const.letter()).map(local);
    }
    for sampler in &mut reflection.samplers {
        sampler.binding = numbered(&sampler.register, File::Sampler.letter()).map(|n| format!("texture[{n}]"));
    }
}

fn local(n: u32) -> String {
    format!("program.local[{n}]")
}

/// What the instructions need to know of the declarations.
struct Writer<'p> {
    program: &'p Program,
    target: &'p Target,
    /// First register of each array of constants by the registers that it has.
    arrays: BTreeMap<u32, u32>,
    /// The output that holds its one value in lane z.
    depth: Option<u32>,
}

/// The whole program as text.
///
/// # Errors
/// When an input, output, literal or address has no form here.
pub fn print(program: &Program, target: &Target) -> Result<String, Error> {
    let depth = program.outputs.iter().find(|b| b.semantic == "depth").map(|b| b.reg);
    let writer = Writer { program, target, arrays: arrays(program), depth };
    let mut out = String::from(if program.stage == Stage::Vertex { "!!ARBvp1.0\n" } else { "!!ARBfp1.0\n" });
    writer.declarations(&mut out)?;
    for inst in &program.insts {
        writer.instruction(inst, &mut out)?;
    }
    Ok(out)
}

/// The registers of uniforms that are indexed, each with the first one of its uniform.
fn arrays(program: &Program) -> BTreeMap<u32, u32> {
    let owner = |reg: u32| match program.constants.get(reg as usize) {
        Some(Constant::Uniform { name, .. }) => Some(name.as_str()),
        _ => None,
    };
    let relative = program.insts.iter().flat_map(|i| &i.srcs).filter(|s| s.rel.is_some());
    let names: BTreeSet<&str> = relative.filter_map(|s| owner(s.reg.index)).collect();
    let mut first: BTreeMap<&str, u32> = BTreeMap::new();
    let mut arrays = BTreeMap::new();
    for reg in 0..program.constants.len() as u32 {
        if let Some(name) = owner(reg).filter(|n| names.contains(n)) {
            arrays.insert(reg, *first.entry(name).or_insert(reg));
        }
    }
    arrays
}

fn unsupported<T>(what: String, line: u32) -> Result<T, Error> {
    Err(Error::Unsupported { what, line })
}

/// A lane of a literal. The grammar has no infinity, but a number too large to be one reads as it.
fn number(bits: u32) -> Option<String> {
    let value = f32::from_bits(bits);
    match value {
        v if v.is_nan() => None,
        v if v.is_infinite() => Some(if v > 0.0 { "1.0e39" } else { "-1.0e39" }.to_owned()),
        v => Some(format!("{v:?}")),
    }
}

impl Writer<'_> {
    /// Writing to a string cannot fail, so the results of `write!` are dropped.
    fn declarations(&self, out: &mut String) -> Result<(), Error> {
        let program = self.program;
        if several_colors(program) {
            out.push_str("OPTION ARB_draw_buffers;\n");
        }
        if program.insts.iter().any(|i| i.tex.is_some_and(|t| t.shadow)) {
            out.push_str("OPTION ARB_fragment_program_shadow;\n");
        }
        self.attributes_differ()?;
        for (n, constant) in program.constants.iter().enumerate() {
            if let Constant::Uniform { name, elem } = constant {
                let _ = writeln!(out, "# program.local[{n}] = {name}[{elem}]");
            }
        }
        for sampler in &program.samplers {
            let _ = writeln!(out, "# texture[{}] = {}[{}]", sampler.reg, sampler.name, sampler.elem);
        }
        for (word, output, bindings) in [("ATTRIB", false, &program.inputs), ("OUTPUT", true, &program.outputs)] {
            for b in bindings {
                let Some(name) = name_of(b, output, program) else {
                    return unsupported(format!("`{}` on {}", b.name, self.target.name), 0);
                };
                self.coordinate_exists(b)?;
                let _ = writeln!(out, "{word} {}{} = {name};", if output { 'o' } else { 'v' }, b.reg);
            }
        }
        self.parameters(out)?;
        let uses_address = program.insts.iter().any(|i| i.op == Opcode::Arl);
        if uses_address {
            out.push_str("ADDRESS a0;\n");
        }
        let used: BTreeSet<u32> = program
            .insts
            .iter()
            .flat_map(|i| i.srcs.iter().map(|s| s.reg).chain(i.dst.map(|d| d.reg)))
            .filter(|r| r.file == File::Temp)
            .map(|r| r.index)
            .collect();
        let temps: Vec<String> = used.iter().map(|n| format!("r{n}")).collect();
        for row in temps.chunks(16) {
            let _ = writeln!(out, "TEMP {};", row.join(", "));
        }
        Ok(())
    }

    fn parameters(&self, out: &mut String) -> Result<(), Error> {
        for (n, constant) in self.program.constants.iter().enumerate() {
            let n = n as u32;
            match (constant, self.arrays.get(&n)) {
                (Constant::Uniform { .. }, None) => {
                    let _ = writeln!(out, "PARAM c{n} = {};", local(n));
                }
                (Constant::Uniform { .. }, Some(&first)) if first == n => {
                    let len = self.arrays.values().filter(|&&f| f == first).count() as u32;
                    let _ = writeln!(out, "PARAM c{n}[{len}] = {{ program.local[{n}..{}] }};", n + len - 1);
                }
                (Constant::Uniform { .. }, Some(_)) => {}
                (Constant::Literal { bits, .. }, _) => {
                    let lanes: Option<Vec<String>> = bits.iter().map(|&b| number(b)).collect();
                    let Some(lanes) = lanes else {
                        return unsupported(format!("a literal that is not a number, on {}", self.target.name), 0);
                    };
                    let _ = writeln!(out, "PARAM c{n} = {{ {} }};", lanes.join(", "));
                }
            }
        }
        Ok(())
    }

    /// A generic attribute and the conventional one that is the same are not used together.
    fn attributes_differ(&self) -> Result<(), Error> {
        if self.program.stage == Stage::Fragment {
            return Ok(());
        }
        let mut taken: BTreeMap<u32, &str> = BTreeMap::new();
        for b in &self.program.inputs {
            let slot = generic_alias(&b.semantic).or_else(|| numbered(&b.semantic, "generic"));
            if let Some(other) = slot.and_then(|slot| taken.insert(slot, &b.name)) {
                return unsupported(format!("`{other}` and `{}` in one attribute, on {}", b.name, self.target.name), 0);
            }
        }
        Ok(())
    }

    /// Interpolators are texture coordinates, and there are only so many.
    fn coordinate_exists(&self, b: &Binding) -> Result<(), Error> {
        let n = numbered(&b.semantic, "texcoord").or_else(|| numbered(&b.semantic, "varying"));
        match (n, self.target.limits.coordinates) {
            (Some(n), Some(limit)) if n >= limit => {
                let detail = format!("`{}` is the first that finds no room", b.name);
                Err(Error::DoesNotFit { what: Resource::Coordinates, need: n + 1, limit, line: 0, detail })
            }
            _ => Ok(()),
        }
    }

    fn instruction(&self, inst: &Inst, out: &mut String) -> Result<(), Error> {
        if inst.op.is_flow() && inst.op != Opcode::End {
            return Err(Error::Internal(format!("{} in a program without flow", inst.op.mnemonic())));
        }
        if inst.op == Opcode::End {
            out.push_str("END\n");
            return Ok(());
        }
        let mut inst = inst.clone();
        if let Some(dst) = inst.dst.as_mut().filter(|d| d.reg.file == File::Output && Some(d.reg.index) == self.depth) {
            dst.mask = WriteMask(1 << 2);
            if inst.op.kind() == Kind::Lanewise {
                inst.srcs.iter_mut().for_each(|s| s.swizzle[2] = s.swizzle[0]);
            }
        }
        if inst.op == Opcode::Txb && join_level(&mut inst).is_none() {
            return Err(Error::Internal("the bias of a lookup is not beside its coordinates".into()));
        }
        out.push_str(inst.op.mnemonic());
        let mut comma = " ";
        if let Some(dst) = &inst.dst {
            let _ = write!(out, "{} {}", if dst.saturate { "_SAT" } else { "" }, destination(dst));
            comma = ", ";
        }
        for n in 0..inst.srcs.len() {
            out.push_str(comma);
            self.source(&inst, n, out)?;
            comma = ", ";
        }
        if let Some(tex) = inst.tex {
            let _ = write!(out, ", texture[{}], {}{}", tex.sampler, if tex.shadow { "SHADOW" } else { "" }, tex.dim);
        }
        out.push_str(";\n");
        Ok(())
    }

    fn source(&self, inst: &Inst, n: usize, out: &mut String) -> Result<(), Error> {
        let src = &inst.srcs[n];
        if src.abs {
            return Err(Error::Internal(format!("absolute value of an operand of {}", inst.op.mnemonic())));
        }
        if src.neg {
            out.push('-');
        }
        self.register(inst, src, out)?;
        let scalar = matches!(inst.op.kind(), Kind::Scalar | Kind::Address);
        let read = if inst.op == Opcode::Txb { WriteMask::ALL } else { inst.places_read(n) };
        let first = src.swizzle[read.lanes().next().unwrap_or(0) as usize];
        if scalar || read.lanes().all(|p| src.swizzle[p as usize] == first) {
            let _ = write!(out, ".{}", LANE_NAMES[first as usize & 3]);
        } else if !read.lanes().all(|p| src.swizzle[p as usize] == p) {
            let lanes: String = src.swizzle.iter().map(|&l| LANE_NAMES[l as usize & 3]).collect();
            let _ = write!(out, ".{lanes}");
        }
        Ok(())
    }

    fn register(&self, inst: &Inst, src: &Src, out: &mut String) -> Result<(), Error> {
        let index = src.reg.index;
        let array = self.arrays.get(&index).filter(|_| src.reg.file == File::Const);
        match (src.rel, array) {
            (None, None) => {
                let _ = write!(out, "{}", src.reg);
            }
            (None, Some(first)) => {
                let _ = write!(out, "c{first}[{}]", index - first);
            }
            (Some(_), Some(first)) => {
                let offset = index - first;
                let range = self.target.operands.relative_offset;
                if let Some([least, most]) = range.filter(|&[_, most]| i64::from(offset) > i64::from(most)) {
                    let what =
                        format!("an address {offset} beyond a0 on {} (it has {least}..{most})", self.target.name);
                    return unsupported(what, inst.line);
                }
                let _ = match offset {
                    0 => write!(out, "c{first}[a0.x]"),
                    _ => write!(out, "c{first}[a0.x + {offset}]"),
                };
            }
            (Some(_), None) => {
                return unsupported(format!("an index that leaves its array, on {}", self.target.name), inst.line);
            }
        }
        Ok(())
    }
}

fn destination(dst: &Dst) -> String {
    if dst.mask == WriteMask::ALL { dst.reg.to_string() } else { format!("{}.{}", dst.reg, dst.mask) }
}
