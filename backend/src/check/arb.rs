//! The rules of ARB_vertex_program and ARB_fragment_program that an accepted text may still break:
//! counts, operands, names, aliases, indirections.
//!
//! The sets of opcodes and the shapes of operands are the specifications' grammars, section by section;
//! the numbers are the target's.

use super::arb_read::{Index, Kind, Operand, Part, Statement, read};
use super::{Finding, Usage};
use crate::isa::Target;
use ir::types::Stage;
use std::collections::{BTreeMap, BTreeSet};

/// What the operands of an opcode are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// So many vectors.
    Vectors(usize),
    /// So many single lanes.
    Scalars(usize),
    /// A lookup: coordinates, unit, target.
    Lookup,
    /// One vector and no destination.
    Kill,
    /// A lane into the address register.
    Address,
    /// A vector with a swizzle of its own kind.
    Swizzle,
}

/// The shape of an opcode, and the one stage that has it.
fn shape(op: &str) -> Option<(Shape, Option<Stage>)> {
    use Stage::{Fragment, Vertex};
    Some(match op {
        "ABS" | "FLR" | "FRC" | "LIT" | "MOV" => (Shape::Vectors(1), None),
        "ADD" | "DP3" | "DP4" | "DPH" | "DST" | "MAX" | "MIN" | "MUL" | "SGE" | "SLT" | "SUB" | "XPD" => {
            (Shape::Vectors(2), None)
        }
        "MAD" => (Shape::Vectors(3), None),
        "EX2" | "LG2" | "RCP" | "RSQ" => (Shape::Scalars(1), None),
        "POW" => (Shape::Scalars(2), None),
        "SWZ" => (Shape::Swizzle, None),
        "ARL" => (Shape::Address, Some(Vertex)),
        "EXP" | "LOG" => (Shape::Scalars(1), Some(Vertex)),
        "CMP" | "LRP" => (Shape::Vectors(3), Some(Fragment)),
        "COS" | "SIN" | "SCS" => (Shape::Scalars(1), Some(Fragment)),
        "KIL" => (Shape::Kill, Some(Fragment)),
        "TEX" | "TXB" | "TXP" => (Shape::Lookup, Some(Fragment)),
        _ => return None,
    })
}

/// What a declared name is.
#[derive(Clone)]
enum Meaning {
    Temporary,
    Address,
    Attribute,
    Result,
    /// A parameter, or an array with its length.
    Parameter(Option<u32>),
}

struct Checker<'t> {
    target: &'t Target,
    stage: Stage,
    names: BTreeMap<String, Meaning>,
    options: BTreeSet<String>,
    /// Each parameter that the program takes room for: a binding, or a literal's declaration.
    parameters: BTreeSet<String>,
    literals: u32,
    attributes: BTreeMap<String, u32>,
    units: BTreeMap<String, String>,
    usage: Usage,
    /// Temporaries read and written since the last indirection started.
    read: BTreeSet<String>,
    written: BTreeSet<String>,
    found: Vec<Finding>,
    line: u32,
}

/// Checks a text.
///
/// # Errors
/// Findings in order of the text, at least one.
pub(super) fn check(text: &str, target: &Target) -> Result<Usage, Vec<Finding>> {
    let text = read(text).map_err(|f| vec![f])?;
    let stage = match text.header.as_str() {
        "!!ARBvp1.0" => Stage::Vertex,
        "!!ARBfp1.0" => Stage::Fragment,
        other => {
            return Err(vec![Finding { line: 1, text: format!("`{other}` is neither !!ARBvp1.0 nor !!ARBfp1.0") }]);
        }
    };
    let mut checker = Checker {
        target,
        stage,
        names: BTreeMap::new(),
        options: BTreeSet::new(),
        parameters: BTreeSet::new(),
        literals: 0,
        attributes: BTreeMap::new(),
        units: BTreeMap::new(),
        usage: Usage::default(),
        read: BTreeSet::new(),
        written: BTreeSet::new(),
        found: Vec::new(),
        line: 1,
    };
    if !target.stages.contains(&stage) {
        checker.say(format!("{} on {}, which runs the other stage", text.header, target.name));
    }
    for statement in &text.statements {
        checker.line = statement.line;
        checker.statement(statement);
    }
    checker.finish()
}

impl Checker<'_> {
    fn say(&mut self, text: impl Into<String>) {
        self.found.push(Finding { line: self.line, text: text.into() });
    }

    fn finish(mut self) -> Result<Usage, Vec<Finding>> {
        self.usage.parameters = self.parameters.len() as u32 + self.literals;
        self.usage.attributes = self.attributes.len() as u32;
        self.line = 0;
        let (usage, limits, registers) = (self.usage, self.target.limits, self.target.registers);
        let rows = [
            ("instructions", usage.instructions, limits.slots),
            ("arithmetic instructions", usage.alu, limits.alu),
            ("texture instructions", usage.tex, limits.tex),
            ("texture indirections", usage.indirections, limits.indirections),
            ("temporaries", usage.temporaries, Some(registers.temp.count)),
            ("parameters", usage.parameters, Some(registers.constant.count)),
            ("attributes", usage.attributes, Some(registers.input.count)),
            ("address registers", usage.addresses, Some(u32::from(registers.address_lanes > 0))),
        ];
        for (what, need, limit) in rows {
            if let Some(limit) = limit.filter(|&l| need > l) {
                self.say(format!("{need} {what}, {} has {limit}", self.target.name));
            }
        }
        if self.found.is_empty() { Ok(self.usage) } else { Err(self.found) }
    }

    fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            Kind::Option(name) => {
                let of_stage = match self.stage {
                    Stage::Vertex => name == "ARB_position_invariant",
                    Stage::Fragment => name != "ARB_position_invariant",
                };
                if !of_stage {
                    self.say(format!("OPTION {name} is not of this stage"));
                }
                self.options.insert(name.clone());
            }
            Kind::Registers { address, names } => {
                for name in names {
                    match address {
                        true => self.usage.addresses += 1,
                        false => self.usage.temporaries += 1,
                    }
                    self.declare(name, if *address { Meaning::Address } else { Meaning::Temporary });
                }
            }
            Kind::Binding { keyword, name, array, values } => self.binding(keyword, name, array.as_ref(), values),
            Kind::Inst { op, saturate, operands } => self.instruction(op, *saturate, operands),
        }
    }

    fn declare(&mut self, name: &str, meaning: Meaning) {
        if self.names.insert(name.to_owned(), meaning).is_some() {
            self.say(format!("`{name}` is declared twice"));
        }
    }

    fn binding(&mut self, keyword: &str, name: &str, array: Option<&Index>, values: &[Operand]) {
        match keyword {
            "ATTRIB" => match self.attribute(&values[0]) {
                Some(_) => self.declare(name, Meaning::Attribute),
                None => self.say(format!("`{}` is no attribute of this stage", values[0].name())),
            },
            "OUTPUT" => match self.result(&values[0]) {
                Some(_) => self.declare(name, Meaning::Result),
                None => self.say(format!("`{}` is no result of this stage", values[0].name())),
            },
            "ALIAS" => match self.names.get(values[0].base()).cloned() {
                Some(meaning) => self.declare(name, meaning),
                None => self.say(format!("`{}` is not declared", values[0].base())),
            },
            _ => {
                let length = values.iter().fold(0u32, |sum, v| sum.saturating_add(self.parameter(v)));
                if let Some(Index::Number(n)) = array
                    && *n != length
                {
                    self.say(format!("`{name}` has {n} elements and {length} values"));
                }
                self.declare(name, Meaning::Parameter(array.map(|_| length)));
            }
        }
    }

    /// Takes room for a parameter; how many registers it is.
    fn parameter(&mut self, value: &Operand) -> u32 {
        if value.literal {
            self.literals += 1;
            return 1;
        }
        let word = |n: usize| match value.parts.get(n) {
            Some(Part::Word(word)) => word.as_str(),
            _ => "",
        };
        let known = value.base() == "state" || (value.base() == "program" && ["local", "env"].contains(&word(1)));
        if !known {
            self.say(format!("`{}` is no parameter", value.name()));
            return 1;
        }
        match value.parts.last() {
            Some(&Part::Index(Index::Range(from, to))) if from <= to && to - from < 1 << 16 => {
                for n in from..=to {
                    let mut one = value.clone();
                    if let Some(last) = one.parts.last_mut() {
                        *last = Part::Index(Index::Number(n));
                    }
                    self.parameter(&one);
                }
                to - from + 1
            }
            Some(Part::Index(Index::Range(..))) => {
                self.say("a range that runs backwards, or is too long");
                1
            }
            last => {
                if let (Some(&Part::Index(Index::Number(n))), "program") = (last, value.base())
                    && n >= self.target.registers.constant.count
                {
                    self.say(format!("`{}`: there are {}", value.name(), self.target.registers.constant.count));
                }
                self.parameters.insert(value.name());
                1
            }
        }
    }

    /// The attribute of a binding, noted as used; aliases are looked for.
    fn attribute(&mut self, value: &Operand) -> Option<String> {
        let expected = if self.stage == Stage::Vertex { "vertex" } else { "fragment" };
        let Some(Part::Word(kind)) = value.parts.get(1) else { return None };
        let mut numbers = value.parts.iter().rev().filter_map(|p| match p {
            Part::Index(Index::Number(n)) => Some(*n),
            _ => None,
        });
        let number = numbers.next().unwrap_or(0);
        let secondary = value.parts.iter().any(|p| *p == Part::Word("secondary".to_owned()));
        let count = self.target.limits.coordinates.unwrap_or(u32::MAX);
        if kind == "texcoord" && number >= count {
            self.say(format!("`{}`: there are {count} sets of texture coordinates", value.name()));
        }
        // the slot that a vertex attribute takes (table X.2), or a number for each interpolated one
        let slot = match (self.stage, kind.as_str()) {
            (Stage::Vertex, "attrib") if number < 16 => number,
            (_, "position") => 0,
            (Stage::Vertex, "weight") => 1,
            (Stage::Vertex, "normal") => 2,
            (_, "color") => 3 + u32::from(secondary),
            (_, "fogcoord") => 5,
            (_, "texcoord") => 8 + number,
            _ => return None,
        };
        if value.base() != expected {
            return None;
        }
        let name = value.name();
        let clash = self.attributes.iter().find(|(other, at)| **at == slot && **other != name);
        if let Some((other, _)) = clash.map(|(o, s)| (o.clone(), *s)) {
            self.say(format!("`{name}` and `{other}` are one attribute"));
        }
        self.attributes.insert(name.clone(), slot);
        Some(name)
    }

    /// The result of a binding.
    fn result(&mut self, value: &Operand) -> Option<String> {
        let Some(Part::Word(kind)) = value.parts.get(1) else { return None };
        let number = match value.parts.get(2) {
            Some(Part::Index(Index::Number(n))) => Some(*n),
            _ => None,
        };
        let allowed = match self.stage {
            Stage::Vertex => ["position", "color", "fogcoord", "pointsize", "texcoord"].contains(&kind.as_str()),
            Stage::Fragment => ["color", "depth"].contains(&kind.as_str()),
        };
        let count = self.target.limits.coordinates.unwrap_or(u32::MAX);
        if kind == "texcoord" && number.unwrap_or(0) >= count {
            self.say(format!("`{}`: there are {count} sets of texture coordinates", value.name()));
        }
        if self.stage == Stage::Fragment && number.is_some() && !self.options.contains("ARB_draw_buffers") {
            self.say(format!("`{}` without OPTION ARB_draw_buffers", value.name()));
        }
        (value.base() == "result" && allowed).then(|| value.name())
    }

    fn instruction(&mut self, op: &str, saturate: bool, operands: &[Operand]) {
        self.usage.instructions += 1;
        let Some((shape, only)) = shape(op) else {
            self.say(format!("no opcode `{op}`"));
            return;
        };
        if only.is_some_and(|stage| stage != self.stage) {
            self.say(format!("{op} is an opcode of the other stage"));
        }
        if saturate && (self.stage == Stage::Vertex || shape == Shape::Kill) {
            self.say(format!("{op} cannot saturate"));
        }
        let is_texture = matches!(shape, Shape::Lookup | Shape::Kill);
        match is_texture {
            true => self.usage.tex += 1,
            false => self.usage.alu += 1,
        }
        let (dst, sources) = match shape {
            Shape::Kill => (None, operands),
            _ => (operands.first(), operands.get(1..).unwrap_or_default()),
        };
        let expected = match shape {
            Shape::Vectors(n) | Shape::Scalars(n) => n,
            Shape::Kill | Shape::Address => 1,
            Shape::Lookup => 3,
            Shape::Swizzle => 5,
        };
        if sources.len() != expected {
            self.say(format!("{op} takes {expected} sources, here are {}", sources.len()));
            return;
        }
        let mut vectors = sources;
        if shape == Shape::Lookup {
            self.unit(&sources[1], &sources[2]);
            vectors = &sources[..1];
        } else if shape == Shape::Swizzle {
            vectors = &sources[..1];
        }
        let scalar = matches!(shape, Shape::Scalars(_) | Shape::Address);
        vectors.iter().for_each(|source| self.source(op, source, scalar));
        let written = dst.and_then(|dst| self.destination(op, dst, shape == Shape::Address));
        let temporaries: Vec<String> = vectors.iter().filter_map(|s| self.temporary(s)).collect();
        if is_texture {
            let late = temporaries.iter().any(|t| self.written.contains(t));
            let clash = written.as_ref().is_some_and(|t| self.read.contains(t) || self.written.contains(t));
            self.usage.indirections = self.usage.indirections.max(1);
            if late || clash {
                self.usage.indirections += 1;
                self.read.clear();
                self.written.clear();
            }
        }
        self.read.extend(temporaries);
        self.written.extend(written);
    }

    fn temporary(&self, operand: &Operand) -> Option<String> {
        matches!(self.names.get(operand.base()), Some(Meaning::Temporary)).then(|| operand.base().to_owned())
    }

    fn unit(&mut self, unit: &Operand, target: &Operand) {
        let number = match unit.parts.as_slice() {
            [Part::Word(word)] if word == "texture" => 0,
            [Part::Word(word), Part::Index(Index::Number(n))] if word == "texture" => *n,
            _ => return self.say(format!("`{}` is no texture unit", unit.name())),
        };
        let count = self.target.registers.sampler.count;
        if number >= count {
            self.say(format!("`{}`: there are {count} units", unit.name()));
        }
        let target = target.name();
        let plain = target.strip_prefix("SHADOW");
        if !["1D", "2D", "3D", "CUBE", "RECT"].contains(&plain.unwrap_or(&target)) {
            self.say(format!("`{target}` is no texture target"));
        }
        if plain.is_some() && !self.options.contains("ARB_fragment_program_shadow") {
            self.say(format!("{target} without OPTION ARB_fragment_program_shadow"));
        }
        let first = self.units.entry(unit.name()).or_insert_with(|| target.clone()).clone();
        if first != target {
            self.say(format!("`{}` is used as {first} and as {target}", unit.name()));
        }
    }

    fn source(&mut self, op: &str, source: &Operand, scalar: bool) {
        let lanes = source.lanes.as_deref();
        if scalar && lanes.is_none_or(|l| l.len() != 1) && !(source.literal && lanes.is_none()) {
            self.say(format!("{op} reads one lane; `{}` names none", source.name()));
        }
        if lanes.is_some_and(|l| l.len() != 1 && l.len() != 4) {
            self.say(format!("`.{}` is neither one lane nor four", lanes.unwrap_or_default()));
        }
        if source.literal {
            self.literals += 1;
            return;
        }
        let index = source.parts.get(1);
        match (source.base(), self.names.get(source.base()).cloned()) {
            (_, Some(Meaning::Temporary | Meaning::Attribute)) if index.is_none() => {}
            (_, Some(Meaning::Parameter(length))) => self.element(source, length, index),
            (_, Some(Meaning::Result)) => self.say(format!("`{}` is a result and cannot be read", source.base())),
            (_, Some(_)) => self.say(format!("`{}` cannot be read like this", source.name())),
            ("vertex" | "fragment", None) => {
                if self.attribute(source).is_none() {
                    self.say(format!("`{}` is no attribute of this stage", source.name()));
                }
            }
            ("program" | "state", None) => {
                self.parameter(source);
            }
            (name, None) => self.say(format!("`{name}` is not declared")),
        }
    }

    fn element(&mut self, source: &Operand, length: Option<u32>, index: Option<&Part>) {
        match (length, index) {
            (None, None) => {}
            (Some(length), Some(&Part::Index(Index::Number(n)))) if n < length => {}
            (Some(_), Some(Part::Index(Index::Relative(register, offset)))) => {
                let (name, lane) = register.split_once('.').unwrap_or((register, ""));
                if !matches!(self.names.get(name), Some(Meaning::Address)) || lane != "x" {
                    self.say(format!("`{register}` is no lane of an address register"));
                }
                if let Some([least, most]) = self.target.operands.relative_offset
                    && !(i64::from(least)..=i64::from(most)).contains(offset)
                {
                    self.say(format!("the offset {offset} is not in {least}..{most}"));
                }
            }
            (Some(length), _) => self.say(format!("`{}`: the array has {length} elements", source.name())),
            (None, Some(_)) => self.say(format!("`{}` is no array", source.base())),
        }
    }

    /// The temporary that is written.
    fn destination(&mut self, op: &str, dst: &Operand, address: bool) -> Option<String> {
        if let Some(mask) = &dst.lanes {
            let order = |set: &str| {
                let places: Option<Vec<usize>> = mask.chars().map(|c| set.find(c)).collect();
                places.is_some_and(|p| p.windows(2).all(|w| w[0] < w[1]))
            };
            if !order("xyzw") && !order("rgba") {
                self.say(format!("`.{mask}` is no write mask"));
            }
        }
        let meaning = self.names.get(dst.base()).cloned();
        let is_address = matches!(meaning, Some(Meaning::Address));
        match meaning {
            _ if address != is_address => self.say(format!("{op} cannot write `{}`", dst.name())),
            Some(Meaning::Address) if dst.lanes.as_deref() != Some("x") => self.say("ARL writes lane x"),
            Some(Meaning::Temporary | Meaning::Result | Meaning::Address) if dst.parts.len() == 1 => {}
            None if dst.base() == "result" => {
                if self.result(dst).is_none() {
                    self.say(format!("`{}` is no result of this stage", dst.name()));
                }
            }
            None => self.say(format!("`{}` is not declared", dst.base())),
            _ => self.say(format!("{op} cannot write `{}`", dst.name())),
        }
        self.temporary(dst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(target: &str, text: &str) -> Vec<String> {
        let target = Target::builtin(target).unwrap();
        match check(text, &target) {
            Ok(_) => Vec::new(),
            Err(found) => found.iter().map(ToString::to_string).collect(),
        }
    }

    fn vertex(body: &str) -> Vec<String> {
        findings("arbvp1:strict", &format!("!!ARBvp1.0\n{DECLARATIONS}{body}\nEND\n"))
    }

    fn fragment(body: &str) -> Vec<String> {
        findings("arbfp1:strict", &format!("!!ARBfp1.0\nTEMP r, s;\nOUTPUT o = result.color;\n{body}\nEND\n"))
    }

    const DECLARATIONS: &str = "ATTRIB v = vertex.position;\nOUTPUT o = result.position;\n\
        PARAM m[4] = { program.local[0..3] };\nPARAM k = { 1.0, -2, .5, 1e-3 };\nADDRESS a;\nTEMP r;\n";

    #[test]
    fn a_legal_program_is_counted() {
        let text = format!(
            "!!ARBvp1.0\n{DECLARATIONS}ARL a.x, v.x; # comment\nMUL r, m[a.x + 1], k.xxyz;\nRSQ o.xw, -r.w;\nEND"
        );
        let usage = check(&text, &Target::builtin("arbvp1:strict").unwrap()).unwrap();
        assert_eq!((usage.instructions, usage.alu, usage.tex), (3, 3, 0));
        assert_eq!((usage.temporaries, usage.parameters, usage.attributes, usage.addresses), (1, 5, 1, 1));
    }

    #[test]
    fn operands_and_names() {
        for (body, says) in [
            ("RCP r, v;", "one lane"),
            ("MOV_SAT r, v;", "saturate"),
            ("CMP r, v, v, v;", "other stage"),
            ("MOV r, o;", "cannot be read"),
            ("MOV r, q;", "not declared"),
            ("MOV r.yx, v;", "write mask"),
            ("MOV r, v.xy;", "neither one lane nor four"),
            ("MOV r, m[4];", "4 elements"),
            ("MOV r, m[a.x + 64];", "-64..63"),
            ("MOV r, m[a.y];", "address register"),
            ("ADD r, v;", "2 sources"),
            ("FOO r, v;", "no opcode"),
            ("ARL r.x, v.x;", "cannot write"),
            ("MOV a.x, v;", "cannot write"),
            ("MOV r, vertex.attrib[0];", "one attribute"),
            ("MOV r, vertex.texcoord[2];", "sets of texture coordinates"),
            ("ADDRESS b;", "2 address registers"),
            ("MOV r, v", "without `;`"),
            ("MOV r, v; ?", "unexpected"),
        ] {
            let found = vertex(body);
            assert!(found.len() == 1 && found[0].contains(says), "{body}: {found:?}");
        }
        assert!(vertex("MOV r, v;").is_empty());
    }

    #[test]
    fn lookups() {
        for (body, says) in [
            ("TEX r, r, texture[0], 2D;\nTEX s, r, texture[0], CUBE;", "as 2D and as CUBE"),
            ("TEX r, r, texture[2], 2D;", "there are 2 units"),
            ("TEX r, r, texture[0], SHADOW2D;", "ARB_fragment_program_shadow"),
            ("MOV result.color[1], r;", "ARB_draw_buffers"),
            ("KIL_SAT r;", "saturate"),
        ] {
            let found = fragment(body);
            assert!(found.len() == 1 && found[0].contains(says), "{body}: {found:?}");
        }
    }

    #[test]
    fn indirections() {
        let chain = |n: usize| "TEX r, r, texture[0], 2D;\n".repeat(n);
        // the first one's result is what it read
        assert!(fragment(&chain(4)).is_empty());
        assert!(fragment(&chain(5))[0].contains("5 texture indirections"));
        // coordinates that arithmetic made, and a result over what was read
        let count = |body: &str| {
            let text = format!("!!ARBfp1.0\nTEMP r, s, t;\n{body}END\n");
            check(&text, &Target::builtin("arbfp1").unwrap()).unwrap().indirections
        };
        assert_eq!(count("TEX r, t, texture, 2D;\nTEX s, t, texture, 2D;\n"), 1);
        assert_eq!(count("MOV r, t;\nTEX s, t, texture, 2D;\n"), 1);
        assert_eq!(count("MOV r, t;\nTEX s, r, texture, 2D;\n"), 2);
        assert_eq!(count("TEX s, t, texture, 2D;\nMOV r, t;\nTEX s, r, texture, 2D;\n"), 2);
        assert_eq!(count("TEX s, t, texture, 2D;\nTEX t, r, texture, 2D;\n"), 2);
    }

    #[test]
    fn limits_are_named() {
        assert!(fragment(&"MOV r, s;\n".repeat(49))[0].contains("49 arithmetic instructions"));
        assert!(vertex(&"MOV r, v;\n".repeat(129))[0].contains("129 instructions"));
        let temps: Vec<String> = (0..13).map(|n| format!("t{n}")).collect();
        assert!(vertex(&format!("TEMP {};", temps.join(", ")))[0].contains("14 temporaries"));
        assert!(vertex("PARAM p[93] = { program.env[0..92] };")[0].contains("98 parameters"));
    }
}
