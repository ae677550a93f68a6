//! What a target must say: one TOML file of data, checked when it is loaded.
//!
//! In: the text of a target file. Out: a [`Target`]. Holds afterwards: every opcode named exists,
//! patterns are well formed and use only opcodes of the target, `MOV` and `END` exist, register
//! files are not empty, and `IF`/`LOOP` exist when the target has control flow. Nothing outside
//! `targets/` names a target.
//!
//! A table may extend one that is built in (`extends = "NAME"`): its keys replace the other's.
//!
//! A table may have named parts, `[profiles.NAME]`: what stands there replaces the same keys of the
//! table when `TARGET:NAME` is asked for.

pub mod operands;
pub mod pattern;

use crate::error::Error;
use crate::issue::Issue;
use crate::mach::{File, Opcode};
use ir::eval::EvalCfg;
use ir::types::Stage;
pub use operands::{AddressRule, Masks, Operands, OutputRule, SwizzleRule, TexSources};
use pattern::{Pattern, PatternSpec};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Cost of an opcode.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpSpec {
    /// Issue slots.
    pub slots: u32,
    /// Cycles until the result can be read.
    pub latency: u32,
    /// Issue slots of a lookup in a cube map, when it takes others.
    #[serde(default)]
    pub cube_slots: Option<u32>,
    /// The masks that the destination may have; any when none is given.
    #[serde(default)]
    pub masks: Masks,
}

/// A register file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileSpec {
    /// Number of registers.
    pub count: u32,
    /// Most different registers of it that one instruction may read.
    #[serde(default = "three")]
    pub ports: u32,
    /// Whether ports count every reference, so that two to one register take two.
    #[serde(default)]
    pub count_references: bool,
    /// Most references to one register of it in one instruction.
    #[serde(default = "three")]
    pub reads: u32,
    /// Whether it can be indexed by `a0`.
    #[serde(default)]
    pub relative: bool,
}

fn three() -> u32 {
    3
}

/// All register files.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Registers {
    /// Temporaries.
    pub temp: FileSpec,
    /// Inputs.
    pub input: FileSpec,
    /// Outputs.
    pub output: FileSpec,
    /// Uniforms and literals.
    pub constant: FileSpec,
    /// Samplers.
    pub sampler: FileSpec,
    /// Lanes of the address register, 0 to 4.
    pub address_lanes: u8,
}

/// The text form of a target's programs (see `emit`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Assembly {
    /// Ours.
    #[default]
    Vec4,
    /// ARB_vertex_program and ARB_fragment_program.
    ArbProgram,
    /// Direct3D 9 shader assembly and tokens, of the table's `shader_model`.
    #[serde(rename = "d3d9")]
    D3d9,
}

/// Facts about arithmetic (see [`EvalCfg`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Arithmetic {
    /// `0 * x` is 0 for every x.
    pub zero_wins: bool,
    /// MAD rounds once.
    pub fused_mad: bool,
}

/// Limits on a whole program; none means as many as there is memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Issue slots.
    pub slots: Option<u32>,
    /// Arithmetic instructions.
    pub alu: Option<u32>,
    /// Texture instructions.
    pub tex: Option<u32>,
    /// Texture indirections: lookups in a row, each with coordinates from the one before.
    pub indirections: Option<u32>,
    /// Order of dependence of a lookup: 1 when its coordinates are in a temporary or its result takes
    /// the place of another value, one more than that of the lookup whose result either comes from.
    pub dependence: Option<u32>,
    /// Sets of texture coordinates, where varyings are those.
    pub coordinates: Option<u32>,
    /// Nested `IF` and `LOOP`.
    pub nesting: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TargetFile {
    name: String,
    #[serde(default)]
    summary: String,
    stages: Vec<String>,
    flow: bool,
    direct_outputs: bool,
    #[serde(default)]
    assembly: Assembly,
    #[serde(default)]
    shader_model: [u8; 2],
    #[serde(default)]
    partner: Option<String>,
    #[serde(default)]
    #[allow(dead_code)] // a known key; `with_profile` reads it from the table
    profiles: BTreeMap<String, toml::Table>,
    #[serde(default)]
    arithmetic: Arithmetic,
    #[serde(default)]
    limits: Limits,
    registers: Registers,
    operands: Operands,
    opcodes: BTreeMap<String, OpSpec>,
    #[serde(default)]
    issue: Vec<Issue>,
    patterns: Vec<PatternSpec>,
}

/// A target.
#[derive(Clone, Debug)]
pub struct Target {
    /// Its name.
    pub name: String,
    /// One line for people.
    pub summary: String,
    /// Which stages it runs.
    pub stages: Vec<Stage>,
    /// Whether `IF` and `LOOP` exist.
    pub flow: bool,
    /// Whether any instruction may write an output, in part and more than once.
    pub direct_outputs: bool,
    /// Form of the program's text.
    pub assembly: Assembly,
    /// Version of the form, major and minor, where it has versions.
    pub shader_model: [u8; 2],
    /// The target of the other stage in a link, when this one runs only one.
    pub partner: Option<String>,
    /// Facts about arithmetic.
    pub arithmetic: Arithmetic,
    /// Program limits.
    pub limits: Limits,
    /// Register files.
    pub registers: Registers,
    /// Modifiers.
    pub operands: Operands,
    /// Ways in which parts issue, when the table knows any; the last is what the scheduler aims at.
    pub issue: Vec<Issue>,
    /// Selection patterns, longest first.
    pub patterns: Vec<Pattern>,
    ops: Vec<Option<OpSpec>>,
}

const EMBEDDED: &[(&str, &str)] = &[
    ("vec4", include_str!("../../targets/vec4.toml")),
    ("arbvp1", include_str!("../../targets/arbvp1.toml")),
    ("arbfp1", include_str!("../../targets/arbfp1.toml")),
    ("vs_1_0", include_str!("../../targets/vs_1_0.toml")),
    ("vs_1_1", include_str!("../../targets/vs_1_1.toml")),
    ("vs_2_0", include_str!("../../targets/vs_2_0.toml")),
    ("vs_3_0", include_str!("../../targets/vs_3_0.toml")),
    ("ps_2_0", include_str!("../../targets/ps_2_0.toml")),
    ("ps_3_0", include_str!("../../targets/ps_3_0.toml")),
];

/// A table extends another, which extends another, no further than this.
const MAX_EXTENSIONS: usize = 8;

fn parse_table(text: &str) -> Result<toml::Table, Error> {
    toml::from_str(text).map_err(|e| Error::Target(e.to_string()))
}

/// The list of words under `key`, taken out of a table.
fn take_words(table: &mut toml::Table, key: &str) -> Result<Vec<String>, Error> {
    let Some(list) = table.remove(key) else { return Ok(Vec::new()) };
    list.try_into().map_err(|e: toml::de::Error| Error::Target(format!("`{key}`: {e}")))
}

/// A table that `extends` a built-in one becomes whole: its keys replace the other's, its patterns come
/// first, `lacks` names opcodes that go, and `without` patterns; so does every pattern that needs an
/// opcode which went.
fn extended(mut table: toml::Table, depth: usize) -> Result<toml::Table, Error> {
    let Some(base) = table.remove("extends") else { return Ok(table) };
    let name = base.as_str().unwrap_or_default();
    if depth >= MAX_EXTENSIONS {
        return Err(Error::Target(format!("`{name}` is extended through more than {MAX_EXTENSIONS} tables")));
    }
    let mut whole = extended(parse_table(Target::text(name)?)?, depth + 1)?;
    whole.remove("profiles");
    let (lacks, without) = (take_words(&mut table, "lacks")?, take_words(&mut table, "without")?);
    let own = table.remove("patterns");
    replace(&mut whole, table);
    if let Some(toml::Value::Table(opcodes)) = whole.get_mut("opcodes") {
        lacks.iter().for_each(|word| drop(opcodes.remove(word)));
    }
    let inherited = whole.remove("patterns");
    let rows = |list: Option<toml::Value>| match list {
        Some(toml::Value::Array(rows)) => rows,
        _ => Vec::new(),
    };
    let keep = |row: &mut toml::Value| -> bool {
        let named = row.get("name").and_then(toml::Value::as_str).is_some_and(|n| without.iter().any(|w| w == n));
        if let Some(toml::Value::Table(ops)) = row.get_mut("ops") {
            ops.retain(|_, opcode| opcode.as_str().is_none_or(|o| !lacks.iter().any(|l| l == o)));
            return !named && !ops.is_empty();
        }
        let needs = |line: &toml::Value| {
            let word = line.as_str().and_then(|l| l.split_whitespace().next()).unwrap_or_default();
            lacks.iter().any(|l| l == word.trim_end_matches("_SAT"))
        };
        !named && !row.get("emit").and_then(toml::Value::as_array).is_some_and(|lines| lines.iter().any(needs))
    };
    let mut all = rows(own);
    all.extend(rows(inherited).into_iter().filter_map(|mut row| keep(&mut row).then_some(row)));
    whole.insert("patterns".to_owned(), toml::Value::Array(all));
    Ok(whole)
}

/// Puts what stands in `part` in place of what stands under the same keys, tables key by key.
fn replace(table: &mut toml::Table, part: toml::Table) {
    for (key, new) in part {
        match (table.get_mut(&key), new) {
            (Some(toml::Value::Table(old)), toml::Value::Table(new)) => replace(old, new),
            (_, new) => {
                table.insert(key, new);
            }
        }
    }
}

impl Target {
    /// The names of the targets that are built in.
    pub fn names() -> impl Iterator<Item = &'static str> {
        EMBEDDED.iter().map(|(name, _)| *name)
    }

    /// The table of a target that is built in.
    pub fn text(name: &str) -> Result<&'static str, Error> {
        EMBEDDED.iter().find(|(n, _)| *n == name).map(|(_, text)| *text).ok_or_else(|| {
            let known: Vec<&str> = Target::names().collect();
            Error::Target(format!("no target `{name}`; built in: {}", known.join(", ")))
        })
    }

    /// A target that is built in: `NAME`, or `NAME:PART` for one of its profiles.
    pub fn builtin(name: &str) -> Result<Target, Error> {
        match name.split_once(':') {
            Some((name, part)) => Target::with_profile(Target::text(name)?, part),
            None => Target::from_toml(Target::text(name)?),
        }
    }

    /// The names of a table's profiles.
    pub fn profiles(text: &str) -> Result<Vec<String>, Error> {
        let table = parse_table(text)?;
        let profiles = table.get("profiles").and_then(toml::Value::as_table);
        Ok(profiles.map_or(Vec::new(), |p| p.keys().cloned().collect()))
    }

    /// Reads and checks a target file with one of its profiles.
    pub fn with_profile(text: &str, part: &str) -> Result<Target, Error> {
        let known = Target::profiles(text)?;
        let mut table = extended(parse_table(text)?, 0)?;
        let profiles = table.remove("profiles");
        let Some(toml::Value::Table(changes)) = profiles.as_ref().and_then(|p| p.get(part)) else {
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            let name = table.get("name").and_then(toml::Value::as_str).unwrap_or_default();
            return Err(Error::Target(format!("`{name}` has no profile `{part}`; it has: {known}")));
        };
        replace(&mut table, changes.clone());
        let fail = |e: toml::de::Error| Error::Target(format!("profile `{part}`: {e}"));
        let mut target = Target::from_file(table.try_into().map_err(fail)?)?;
        target.name = format!("{}:{part}", target.name);
        target.partner = target.partner.map(|partner| format!("{partner}:{part}"));
        Ok(target)
    }

    /// Reads and checks a target file.
    pub fn from_toml(text: &str) -> Result<Target, Error> {
        let table = parse_table(text)?;
        let fail = |e: toml::de::Error| Error::Target(e.to_string());
        let file = if table.contains_key("extends") {
            extended(table, 0)?.try_into().map_err(fail)?
        } else {
            toml::from_str(text).map_err(fail)? // says where in the text a mistake is
        };
        Target::from_file(file)
    }

    fn from_file(file: TargetFile) -> Result<Target, Error> {
        let fail = |what: String| Err(Error::Target(format!("`{}`: {what}", file.name)));
        let mut ops = vec![None; Opcode::ALL.len()];
        for (word, spec) in &file.opcodes {
            match Opcode::parse(word) {
                Some(op) if spec.slots <= 1000 && spec.latency <= 10_000 => ops[op as usize] = Some(*spec),
                Some(_) => return fail(format!("opcode `{word}`: slots above 1000 or latency above 10000")),
                None => return fail(format!("unknown opcode `{word}`")),
            }
        }
        if let Some(fault) = file.issue.iter().find_map(Issue::fault) {
            return fail(fault);
        }
        let has = |op: Opcode| ops[op as usize].is_some();
        let mut needed = vec![Opcode::Mov, Opcode::End];
        if file.flow {
            needed.extend([
                Opcode::If,
                Opcode::Else,
                Opcode::EndIf,
                Opcode::Loop,
                Opcode::EndLoop,
                Opcode::Brk,
                Opcode::Cont,
            ]);
        }
        if file.registers.address_lanes > 0 {
            needed.push(Opcode::Arl);
        }
        if let Some(op) = needed.into_iter().find(|&op| !has(op)) {
            return fail(format!("opcode `{}` is missing", op.mnemonic()));
        }
        if file.registers.address_lanes > 4 {
            return fail("address_lanes above 4".into());
        }
        let r = &file.registers;
        for (name, spec) in [("temp", r.temp), ("input", r.input), ("output", r.output), ("constant", r.constant)] {
            if spec.count == 0 || spec.count > 4096 || spec.ports == 0 {
                return fail(format!("registers.{name}: count must be 1 to 4096 and ports at least 1"));
            }
        }
        let mut stages = Vec::new();
        for word in &file.stages {
            match [Stage::Vertex, Stage::Fragment].into_iter().find(|s| s.to_string() == *word) {
                Some(stage) => stages.push(stage),
                None => return fail(format!("unknown stage `{word}`")),
            }
        }
        let patterns =
            pattern::compile(&file.patterns, has).map_err(|e| Error::Target(format!("`{}`: {e}", file.name)))?;
        Ok(Target {
            name: file.name,
            summary: file.summary,
            stages,
            flow: file.flow,
            direct_outputs: file.direct_outputs,
            assembly: file.assembly,
            shader_model: file.shader_model,
            partner: file.partner,
            arithmetic: file.arithmetic,
            limits: file.limits,
            registers: file.registers,
            operands: file.operands,
            issue: file.issue,
            patterns,
            ops,
        })
    }

    /// Costs of an opcode, if the target has it.
    pub fn op(&self, op: Opcode) -> Option<OpSpec> {
        self.ops[op as usize]
    }

    /// The facts that `ir::eval` needs.
    pub fn eval(&self) -> EvalCfg {
        EvalCfg { zero_wins: self.arithmetic.zero_wins, fused_mad: self.arithmetic.fused_mad }
    }

    /// Whether registers of a file can be picked by the address register.
    pub fn indexes(&self, file: File) -> bool {
        self.registers.address_lanes > 0 && self.file(file).relative
    }

    /// A register file's row; temporaries for the files before allocation.
    pub fn file(&self, file: File) -> FileSpec {
        match file {
            File::Temp | File::Virtual | File::Local => self.registers.temp,
            File::Input => self.registers.input,
            File::Output => self.registers.output,
            File::Const => self.registers.constant,
            File::Sampler => self.registers.sampler,
            File::Addr => FileSpec {
                count: u32::from(self.registers.address_lanes > 0),
                ports: 1,
                count_references: false,
                reads: 3,
                relative: false,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ir::op::{Form, Op, Shape};

    const VEC4: &str = include_str!("../../targets/vec4.toml");

    fn error(from: &str, to: &str) -> String {
        assert!(VEC4.contains(from), "{from}");
        Target::from_toml(&VEC4.replacen(from, to, 1)).unwrap_err().to_string()
    }

    #[test]
    fn every_embedded_target_loads_under_its_name() {
        for name in Target::names() {
            assert_eq!(Target::builtin(name).unwrap().name, name);
            for part in Target::profiles(Target::text(name).unwrap()).unwrap() {
                let name = format!("{name}:{part}");
                assert_eq!(Target::builtin(&name).unwrap().name, name);
            }
        }
        assert!(Target::builtin("nope").is_err());
    }

    #[test]
    fn a_profile_replaces_what_it_names() {
        let text = format!("{VEC4}\n[profiles.small.registers.temp]\ncount = 5\n");
        let (whole, small) = (Target::from_toml(&text).unwrap(), Target::with_profile(&text, "small").unwrap());
        assert_eq!((whole.registers.temp.count, small.registers.temp.count), (32, 5));
        assert_eq!(small.registers.temp.ports, 3);
        assert_eq!(small.name, "vec4:small");
        let unknown = Target::with_profile(&text, "tiny").unwrap_err().to_string();
        assert!(unknown.contains("tiny") && unknown.contains("small"), "{unknown}");
        let wrong = Target::with_profile(&text.replace("count = 5", "cuont = 5"), "small").unwrap_err().to_string();
        assert!(wrong.contains("cuont"), "{wrong}");
        assert!(Target::builtin("vec4:strict").unwrap_err().to_string().contains("none"));
    }

    #[test]
    fn vec4_has_a_pattern_for_every_core_operation_that_computes() {
        let target = Target::builtin("vec4").unwrap();
        for &op in Op::ALL {
            let computes = matches!(op.shape(), Shape::Lanewise | Shape::ScalarUnit | Shape::Reduce);
            if op.form() == Form::Core && computes {
                assert!(target.patterns.iter().any(|p| p.root() == op && p.len == 1), "{op}");
            }
        }
        assert!(target.patterns.windows(2).all(|w| w[0].len >= w[1].len));
    }

    #[test]
    fn mistakes_are_named() {
        assert!(error("MOV = {", "MOVE = {").contains("MOVE"));
        assert!(error("END = { slots = 0, latency = 0 }", "").contains("END"));
        assert!(error("temp = { count = 32", "temp = { count = 0").contains("registers.temp"));
        assert!(error("flow = true", "flow = true\nflew = 1").contains("flew"));
        assert!(error("\"vert\", \"frag\"", "\"geom\"").contains("geom"));
        assert!(error("MAD @ ?a ?b ?c", "MAD @ ?a.q ?b ?c").contains("?a.q"));
        assert!(error("MAD @ ?a ?b ?c", "MAD @ ?a ?b").contains("3 sources"));
        assert!(error("(add (mul ?a ?b) ?c)", "(add (mol ?a ?b) ?c)").contains("mol"));
        assert!(error("MAD @ ?a ?b ?c", "MAD @ ?a ?b ?d").contains("?d"));
        assert!(error("MAD @ ?a ?b ?c", "MAD !t ?a ?b ?c").contains('@'));
        assert!(error("SIN = { slots = 4, latency = 8 }", "").contains("SIN"));
    }
}
