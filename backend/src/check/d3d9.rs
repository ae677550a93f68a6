//! The rules of Direct3D 9 assembly that no assembler and no open runtime checks wholly: slots, read
//! ports, counts, swizzles, masks, declarations, unwritten registers, dependent reads.
//!
//! Rules are those of the version ([`super::d3d9_rules`]); how many slots, temporaries and constants
//! there are is the target's.

use super::d3d9_read::{Arg, Operand, Statement, read};
use super::d3d9_rules::{Reads, Rule, SAMPLERS, USAGES, Version, access, rule_of};
use super::{Finding, Usage};
use crate::isa::Target;
use ir::types::Stage;
use std::collections::{BTreeMap, BTreeSet};

/// Lookups in a row, each with coordinates from the one before, beyond the first (ps_2_0).
const DEPENDENT_ORDER: u32 = 3;

/// Comparisons of `ifc`, `breakc` and `setp`.
const COMPARISONS: [&str; 6] = ["gt", "eq", "ge", "lt", "ne", "le"];

/// The lane choices of ps_2_0 beside one lane everywhere (register reference, "Source register swizzling").
const PS2_SWIZZLES: [[u8; 4]; 4] = [[0, 1, 2, 3], [1, 2, 0, 3], [2, 0, 1, 3], [3, 2, 1, 0]];

struct Checker<'t> {
    target: &'t Target,
    version: Version,
    /// Counts references instead of different registers.
    references: bool,
    /// Each declared register and its lanes.
    declared: BTreeMap<String, u8>,
    samplers: BTreeMap<String, u8>,
    meanings: BTreeSet<String>,
    defined: BTreeSet<String>,
    constants: BTreeSet<String>,
    /// Lanes written so far of every register that can be.
    written: BTreeMap<String, u8>,
    /// How many dependent lookups a register's contents came through.
    order: BTreeMap<String, u32>,
    /// Open blocks, innermost last.
    open: Vec<&'static str>,
    /// An instruction was seen, after which nothing may be declared.
    started: bool,
    alu_slots: u32,
    tex_slots: u32,
    deepest: u32,
    temporaries: BTreeSet<u32>,
    usage: Usage,
    found: Vec<Finding>,
    line: u32,
}

/// Checks a text.
///
/// # Errors
/// Findings in order of the text, at least one.
pub(super) fn check(text: &str, target: &Target) -> Result<Usage, Vec<Finding>> {
    let text = read(text).map_err(|f| vec![f])?;
    let (line, word) = &text.version;
    let Some(version) = Version::parse(word) else {
        return Err(vec![Finding { line: *line, text: format!("`{word}` is no version that is checked") }]);
    };
    let mut checker = Checker {
        target,
        version,
        references: word == "vs_1_0",
        declared: BTreeMap::new(),
        samplers: BTreeMap::new(),
        meanings: BTreeSet::new(),
        defined: BTreeSet::new(),
        constants: BTreeSet::new(),
        written: BTreeMap::new(),
        order: BTreeMap::new(),
        open: Vec::new(),
        started: false,
        alu_slots: 0,
        tex_slots: 0,
        deepest: 0,
        temporaries: BTreeSet::new(),
        usage: Usage::default(),
        found: Vec::new(),
        line: *line,
    };
    if target.name.split(':').next() != Some(word.as_str()) {
        checker.say(format!("a program for {word} on {}", target.name));
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
        self.line = 0;
        if let Some(open) = self.open.last() {
            self.say(format!("a `{open}` without its end"));
        }
        self.results();
        self.usage.temporaries = self.temporaries.len() as u32;
        self.usage.parameters = self.constants.len() as u32;
        self.usage.attributes = self.declared.keys().filter(|n| n.starts_with(['v', 't'])).count() as u32;
        self.usage.indirections = self.deepest;
        let (limits, registers) = (self.target.limits, self.target.registers);
        let rows = [
            ("slots", self.alu_slots + self.tex_slots, limits.slots),
            ("arithmetic slots", self.alu_slots, limits.alu),
            ("texture slots", self.tex_slots, limits.tex),
            ("temporaries", self.usage.temporaries, Some(registers.temp.count)),
            ("constants", self.usage.parameters, Some(registers.constant.count)),
        ];
        for (what, need, limit) in rows {
            if let Some(limit) = limit.filter(|&l| need > l) {
                self.say(format!("{need} {what}, {} has {limit}: {} too many", self.target.name, need - limit));
            }
        }
        if self.version == Version::Ps2 && self.deepest > DEPENDENT_ORDER {
            self.say(format!("a lookup that is dependent of order {}, at most {DEPENDENT_ORDER}", self.deepest));
        }
        if self.found.is_empty() { Ok(self.usage) } else { Err(self.found) }
    }

    /// What a program must have written when it ends.
    fn results(&mut self) {
        let lanes = |c: &Self, name: &str| c.written.get(name).copied().unwrap_or(0);
        let must = match self.version {
            Version::Vs1 | Version::Vs2 => "oPos".to_owned(),
            Version::Vs3 => match self
                .declared
                .keys()
                .find(|k| k.starts_with("o") && self.meanings.contains(&format!("{k} position0")))
            {
                Some(name) => name.clone(),
                None => return self.say("no output is declared as position"),
            },
            Version::Ps2 => "oC0".to_owned(),
            Version::Ps3 => return,
        };
        if lanes(self, &must) != 15 {
            self.say(format!("`{must}` is not written wholly"));
        }
        for n in 1..4 {
            if self.version == Version::Ps2
                && lanes(self, &format!("oC{n}")) != 0
                && lanes(self, &format!("oC{}", n - 1)) == 0
            {
                self.say(format!("`oC{n}` is written and `oC{}` is not", n - 1));
            }
        }
    }

    fn statement(&mut self, s: &Statement) {
        match s.op.as_str() {
            "dcl" => self.declaration(s),
            "def" | "defi" | "defb" => self.definition(s),
            _ => self.instruction(s),
        }
    }

    fn early(&mut self, op: &str) {
        if self.started {
            self.say(format!("`{op}` behind the first instruction"));
        }
    }

    fn declaration(&mut self, s: &Statement) {
        self.early("dcl");
        let [Arg::Reg(reg)] = s.args.as_slice() else { return self.say("`dcl` declares one register") };
        let name = reg.name();
        let word = s.suffixes.first().map(String::as_str).unwrap_or_default();
        if !["v", "t", "s", "o", "vPos", "vFace"].contains(&reg.reg.as_str()) || !self.exists(reg) {
            return self.say(format!("`{name}` cannot be declared in this version"));
        }
        if let Some((_, lanes)) = SAMPLERS.iter().find(|(kind, _)| *kind == word).filter(|_| reg.reg == "s") {
            if self.samplers.insert(name.clone(), *lanes).is_some() {
                self.say(format!("`{name}` is declared twice"));
            }
            return;
        }
        let usage = word.trim_end_matches(|c: char| c.is_ascii_digit());
        // the inputs of ps_2_0 and the two v of ps_3_0 that are no interpolated registers have no usage
        let bare = self.version == Version::Ps2 || ["vPos", "vFace"].contains(&reg.reg.as_str());
        match (bare, word) {
            (true, "" | "pp" | "centroid") => {}
            (true, _) | (false, "") => self.say(format!("`dcl_{word}` for `{name}`")),
            (false, _) if !USAGES.contains(&usage) => self.say(format!("`{word}` is no usage")),
            (false, _) => {
                let index = if word == usage { "0" } else { &word[usage.len()..] };
                let side = if reg.reg == "o" { &name } else { "v" };
                let meaning = format!("{usage}{index}");
                if side == "v" && !self.meanings.insert(format!("v {meaning}")) {
                    self.say(format!("two registers carry {meaning}"));
                }
                if side != "v" {
                    self.meanings.insert(format!("{name} {meaning}"));
                }
            }
        }
        let mask = self.ok(reg.mask()).unwrap_or(15);
        // an output register of vs_3_0 may be declared in parts
        let before = self.declared.get(&name).copied().unwrap_or(0);
        if before & mask != 0 {
            self.say(format!("`{name}` is declared twice"));
        }
        self.declared.insert(name, before | mask);
    }

    fn definition(&mut self, s: &Statement) {
        self.early(&s.op);
        let (reg, numbers) = match s.op.as_str() {
            "def" => ("c", 4),
            "defi" => ("i", 4),
            _ => ("b", 1),
        };
        match s.args.split_first() {
            Some((Arg::Reg(r), rest)) if r.reg == reg && rest.len() == numbers => {
                if rest.iter().any(|a| !matches!(a, Arg::Number(_))) {
                    self.say(format!("`{}` takes numbers", s.op));
                }
                if !self.exists(r) {
                    self.say(format!("there is no `{}`", r.name()));
                }
                if !self.defined.insert(r.name()) {
                    self.say(format!("`{}` is defined twice", r.name()));
                }
            }
            _ => self.say(format!("`{}` takes a register {reg} and {numbers} numbers", s.op)),
        }
    }

    fn ok<T>(&mut self, result: Result<T, String>) -> Option<T> {
        result.map_err(|e| self.say(e)).ok()
    }

    /// Whether the version and the target have this register.
    fn exists(&self, operand: &Operand) -> bool {
        let registers = self.target.registers;
        access(self.version, &operand.reg).is_some_and(|a| {
            let count =
                a.count.unwrap_or(if operand.reg == "r" { registers.temp.count } else { registers.constant.count });
            operand.number < count
        })
    }

    fn instruction(&mut self, s: &Statement) {
        self.started = true;
        self.usage.instructions += 1;
        if s.paired {
            self.say("two instructions together: only ps_1_x has that");
        }
        let compares = s.suffixes.first().is_some_and(|w| COMPARISONS.contains(&w.as_str()));
        let predicated = matches!(s.args.as_slice(), [Arg::Reg(r)] if r.reg == "p");
        let op = match s.op.as_str() {
            "if" if compares => "ifc",
            "break" if compares => "breakc",
            "break" if predicated => "breakp",
            other => other,
        };
        let Some(rule) = rule_of(op) else { return self.say(format!("no opcode `{}`", s.op)) };
        let Some(mut slots) = rule.slots(self.version) else {
            return self.say(format!("`{op}` is not in this version"));
        };
        let cube = |a: &Arg| matches!(a, Arg::Reg(r) if self.samplers.get(&r.name()) == Some(&3));
        if self.version.is_3() && rule.is_texture() && s.args.iter().any(cube) && op != "texldb" && op != "texldd" {
            slots += if op == "texldp" { 1 } else { 3 };
        }
        let texture = rule.is_texture() && self.version.stage() == Stage::Fragment;
        if texture {
            self.tex_slots += slots;
            self.usage.tex += 1;
        } else {
            self.alu_slots += slots;
            self.usage.alu += u32::from(rule.reads != Reads::Flow);
        }
        self.suffixes(s, rule, compares);
        if let Some(p) = &s.predicate {
            self.predicate(p, rule);
        }
        let sincos_constants = if op == "sincos" && !self.version.is_3() { 2 } else { 0 };
        let want = usize::from(rule.dst) + rule.srcs + sincos_constants;
        let operands: Vec<&Operand> =
            s.args.iter().filter_map(|a| if let Arg::Reg(r) = a { Some(r) } else { None }).collect();
        if operands.len() != s.args.len() || operands.len() != want {
            return self.say(format!("{op} takes {want} registers"));
        }
        if rule.reads == Reads::Flow {
            return self.flow(rule, &operands);
        }
        let (dst, srcs) = operands.split_at(usize::from(rule.dst));
        let mask = dst.first().map_or(Some(15), |d| self.ok(d.mask())).unwrap_or(15);
        let reads = self.reads(rule, mask, srcs);
        for (n, src) in srcs.iter().enumerate() {
            self.source(rule, n, src, reads[n]);
        }
        self.ports(srcs);
        if rule.is_texture() && rule.op != "texkill" {
            self.lookup(rule, dst[0], mask, srcs);
        }
        if let Some(dst) = dst.first() {
            self.destination(s, rule, dst, mask, srcs);
            self.follow(rule, dst, mask, srcs);
        }
    }

    fn suffixes(&mut self, s: &Statement, rule: &Rule, compares: bool) {
        for (n, word) in s.suffixes.iter().enumerate() {
            let saturates = self.version.stage() == Stage::Fragment || self.version == Version::Vs3;
            match word.as_str() {
                "sat" if !saturates => self.say("no result can be saturated in this version"),
                "sat"
                    if rule.is_texture()
                        || rule.reads == Reads::Flow
                        || ["frc", "sincos", "mova"].contains(&rule.op) && self.version.stage() == Stage::Vertex =>
                {
                    self.say(format!("{} cannot saturate", rule.op));
                }
                "sat" => {}
                "pp" if self.version.stage() == Stage::Fragment => {}
                _ if n == 0 && compares && ["ifc", "breakc", "setp"].contains(&rule.op) => {}
                other => self.say(format!("`_{other}` behind {}", rule.op)),
            }
        }
        if ["ifc", "breakc", "setp"].contains(&rule.op) && !compares {
            self.say(format!("{} needs a comparison", rule.op));
        }
    }

    fn predicate(&mut self, p: &Operand, rule: &Rule) {
        let known = p.reg == "p" && self.exists(p);
        if !known || p.neg || rule.reads == Reads::Flow {
            self.say(format!("`{}` as predicate of {}", p.name(), rule.op));
        } else if !self.written.contains_key(&p.name()) {
            self.say("the predicate is not written before");
        }
    }

    /// The lanes that each source needs.
    fn reads(&mut self, rule: &Rule, mask: u8, srcs: &[&Operand]) -> Vec<u8> {
        let mut places = Vec::new();
        for (n, src) in srcs.iter().enumerate() {
            let of = match (rule.reads, rule.op) {
                (Reads::Texture, _) if src.reg == "s" => 0,
                (Reads::Texture, op) => {
                    let sampler = srcs.get(1).and_then(|s| self.samplers.get(&s.name()).copied()).unwrap_or(2);
                    let fourth = ["texldp", "texldb", "texldl"].contains(&op) && n == 0;
                    ((1u8 << sampler) - 1) | if fourth { 8 } else { 0 }
                }
                (_, "dp2add") if n == 2 => 1,
                (_, "dst") if n == 0 => 6,
                (_, "dst") => 10,
                (_, "sgn" | "sincos") if n > 0 => 0,
                (Reads::Matrix(_, lanes), _) if n == 0 => (1u8 << lanes) - 1,
                (Reads::Matrix(..), _) => 15,
                (Reads::Lanes, _) => mask,
                (Reads::Of(lanes), _) => lanes,
                (Reads::Whole3, _) => 7,
                (Reads::One, _) => 1,
                (Reads::Flow, _) => 0,
            };
            let swizzle = self.ok(src.swizzle()).unwrap_or([0, 1, 2, 3]);
            places.push((0..4).filter(|p| of & 1 << p != 0).fold(0u8, |m, p| m | 1 << swizzle[p]));
        }
        places
    }

    fn source(&mut self, rule: &Rule, n: usize, src: &Operand, lanes: u8) {
        let name = src.name();
        let Some(access) = access(self.version, &src.reg) else {
            return self.say(format!("`{name}` is not in this version"));
        };
        let sampler = rule.reads == Reads::Texture && n == 1;
        if sampler != (src.reg == "s") {
            return self.say(format!("{} reads `{name}` as source {}", rule.op, n + 1));
        }
        if !self.exists(src) {
            return self.say(format!("there is no `{name}`"));
        }
        if sampler {
            if !self.samplers.contains_key(&name) {
                self.say(format!("`{name}` is not declared"));
            }
            return;
        }
        if !access.read {
            return self.say(format!("`{name}` cannot be read"));
        }
        self.modifiers(rule, src);
        self.swizzle(rule, n, src);
        if src.relative.is_some() {
            self.relative(src);
        } else if src.reg == "c" {
            let rows = if let (Reads::Matrix(rows, _), 1) = (rule.reads, n) { u32::from(rows) } else { 1 };
            for row in 0..rows {
                let one = Operand { number: src.number + row, ..src.clone() };
                if !self.exists(&one) {
                    self.say(format!("there is no `{}`", one.name()));
                }
                self.constants.insert(one.name());
            }
        }
        match src.reg.as_str() {
            "r" => {
                self.temporaries.insert(src.number);
                let missing = lanes & !self.written.get(&name).copied().unwrap_or(0);
                if missing != 0 {
                    self.say(format!("`{name}.{}` is read and never written", words(missing)));
                }
            }
            "v" | "t" | "vPos" | "vFace" if src.relative.is_none() => match self.declared.get(&name).copied() {
                None => self.say(format!("`{name}` is not declared")),
                Some(mask) if lanes & !mask != 0 && self.version != Version::Vs1 => {
                    self.say(format!("`{name}.{}` is not declared", words(lanes & !mask)));
                }
                Some(_) => {}
            },
            _ => {}
        }
    }

    fn modifiers(&mut self, rule: &Rule, src: &Operand) {
        let abs = src.modifier == "abs";
        let known = src.modifier.is_empty() || abs && self.version.is_3();
        if !known {
            self.say(format!("`_{}` is not in this version", src.modifier));
        }
        if src.complement || src.not {
            self.say(format!("`{}` can only be negated", src.name()));
        }
        if rule.is_texture() && (src.neg || abs) {
            self.say(format!("{} reads `{}` with a sign", rule.op, src.name()));
        }
    }

    fn swizzle(&mut self, rule: &Rule, n: usize, src: &Operand) {
        let Ok(swizzle) = src.swizzle() else { return };
        let whole = swizzle == [0, 1, 2, 3];
        let one = swizzle == [swizzle[0]; 4];
        let written = src.lanes.as_deref().unwrap_or("xyzw");
        let needs_one = rule.reads == Reads::One && n < rule.srcs || rule.op == "dp2add" && n == 2;
        let needs_whole = matches!(rule.reads, Reads::Whole3 | Reads::Matrix(..))
            || rule.is_texture() && self.version == Version::Ps2
            || rule.op == "texkill";
        if needs_one && !one {
            self.say(format!("{} needs one lane of `{}`, not .{written}", rule.op, src.name()));
        } else if needs_whole && !whole {
            self.say(format!("{} reads `{}` with lanes in place only, not .{written}", rule.op, src.name()));
        } else if self.version == Version::Ps2 && !one && !PS2_SWIZZLES.contains(&swizzle) {
            self.say(format!("`{}.{written}` is no swizzle of ps_2_0", src.name()));
        }
    }

    fn relative(&mut self, src: &Operand) {
        let Some(rel) = &src.relative else { return };
        let indexable = match self.version {
            Version::Vs1 | Version::Vs2 => src.reg == "c",
            Version::Vs3 => ["c", "v"].contains(&src.reg.as_str()),
            Version::Ps3 => src.reg == "v" && rel.reg == "aL",
            Version::Ps2 => false,
        };
        if !indexable {
            return self.say(format!("`{}` cannot be indexed here", src.name()));
        }
        if rel.reg == "aL" {
            if self.version == Version::Vs1 || !self.open.contains(&"loop") {
                self.say("`aL` outside a loop");
            }
            return;
        }
        if rel.number != 0 || !"xyzw".contains(rel.lane) || (self.version == Version::Vs1 && rel.lane != 'x') {
            return self.say(format!("`a{}.{}` is no address register of this version", rel.number, rel.lane));
        }
        let bit = 1 << "xyzw".find(rel.lane).unwrap_or(0);
        if self.written.get("a0").copied().unwrap_or(0) & bit == 0 {
            self.say(format!("`a0.{}` is read and never written", rel.lane));
        }
    }

    /// How many different registers of a kind are read.
    fn ports(&mut self, srcs: &[&Operand]) {
        let mut kinds: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for src in srcs.iter().filter(|s| s.reg != "s") {
            kinds.entry(&src.reg).or_default().push(src.name());
        }
        for (kind, names) in kinds {
            let Some(access) = access(self.version, kind).filter(|a| a.read) else { continue };
            let different: BTreeSet<&String> = names.iter().collect();
            let count = if self.references { names.len() } else { different.len() };
            if count as u32 > access.ports {
                let what = if self.references { "references to" } else { "different" };
                self.say(format!("{count} {what} {kind} registers in one instruction, {} allowed", access.ports));
            }
            let twice = matches!(self.version, Version::Vs2 | Version::Ps2);
            if kind == "c" && twice && names.len() > 2 && different.len() == 1 {
                self.say(format!("`{}` is read {} times in one instruction, 2 allowed", names[0], names.len()));
            }
        }
    }

    fn lookup(&mut self, rule: &Rule, dst: &Operand, mask: u8, srcs: &[&Operand]) {
        if dst.reg != "r" || (self.version == Version::Ps2 && mask != 15) {
            self.say(format!("{} writes a whole temporary only", rule.op));
        }
        if self.version != Version::Ps2 {
            return;
        }
        if !["r", "t"].contains(&srcs[0].reg.as_str()) {
            self.say(format!("{} takes its coordinates from r or t", rule.op));
        }
    }

    fn destination(&mut self, s: &Statement, rule: &Rule, dst: &Operand, mask: u8, srcs: &[&Operand]) {
        let name = dst.name();
        let writable = access(self.version, &dst.reg).is_some_and(|a| a.write) && self.exists(dst);
        if !writable || dst.neg || dst.complement || dst.not || !dst.modifier.is_empty() {
            return self.say(format!("{} cannot write `{name}`", rule.op));
        }
        if dst.relative.is_some() && self.version != Version::Vs3 {
            return self.say(format!("`{name}` cannot be indexed here"));
        }
        if dst.reg == "r" {
            self.temporaries.insert(dst.number);
        }
        if dst.reg == "o" && mask & !self.declared.get(&name).copied().unwrap_or(0) != 0 {
            self.say(format!("`{name}` is not declared, or not these lanes"));
        }
        let address = if self.version == Version::Vs1 { "mov" } else { "mova" };
        if (dst.reg == "a") != (rule.op == "mova") && !(dst.reg == "a" && rule.op == address) {
            self.say(format!("{} cannot write `{name}`", rule.op));
        }
        if dst.reg == "a" && self.version == Version::Vs1 && mask != 1 {
            self.say("only `a0.x` is in this version");
        }
        if (dst.reg == "p") != (rule.op == "setp") {
            self.say(format!("{} cannot write `{name}`", rule.op));
        }
        self.result(s, rule, dst, mask, srcs);
        self.own_rules(rule, dst, mask, srcs);
    }

    /// Rules on results of a pixel, and of vs_3_0.
    fn result(&mut self, s: &Statement, rule: &Rule, dst: &Operand, mask: u8, srcs: &[&Operand]) {
        let name = dst.name();
        if dst.reg == "o" && s.suffixes.iter().any(|w| w == "sat") {
            self.say(format!("`{name}` cannot be written saturated"));
        }
        if self.version != Version::Ps2 || !["oC", "oDepth"].contains(&dst.reg.as_str()) {
            return;
        }
        let plain = s.suffixes.is_empty() && srcs.iter().all(|s| !s.neg);
        let lanes = srcs.first().and_then(|s| s.swizzle().ok());
        let fits = match dst.reg.as_str() {
            "oC" => mask == 15 && lanes == Some([0, 1, 2, 3]),
            _ => lanes.is_some_and(|l| l == [l[0]; 4]),
        };
        if rule.op != "mov" || !plain || !fits {
            self.say(format!("`{name}` is written by a plain mov only"));
        }
        if self.written.contains_key(&name) {
            self.say(format!("`{name}` is written twice"));
        }
    }

    /// What single opcodes ask of their destination.
    fn own_rules(&mut self, rule: &Rule, dst: &Operand, mask: u8, srcs: &[&Operand]) {
        let same = |n: usize| srcs.get(n).is_some_and(|s| s.name() == dst.name());
        let masks: &[u8] = match rule.op {
            "frc" if self.version == Version::Vs1 => &[2, 3],
            "crs" => &[1, 2, 3, 4, 5, 6, 7],
            "nrm" => &[7, 15],
            "sincos" => &[1, 2, 3],
            "m4x4" | "m3x4" => &[15],
            "m4x3" | "m3x3" => &[7],
            "m3x2" => &[3],
            _ => &[],
        };
        if !masks.is_empty() && !masks.contains(&mask) {
            self.say(format!("{} cannot write .{}", rule.op, words(mask)));
        }
        let forbidden = match rule.op {
            "crs" => same(0) || same(1),
            "nrm" | "m4x4" | "m4x3" | "m3x4" | "m3x3" | "m3x2" => same(0),
            "sincos" => same(0),
            "sgn" => same(1) || same(2),
            "pow" => same(1),
            _ => false,
        };
        if forbidden {
            self.say(format!("{} cannot write what it reads, `{}`", rule.op, dst.name()));
        }
        let temporary = matches!(rule.op, "sincos" | "pow" | "lrp" | "nrm") && self.version != Version::Vs1;
        if temporary && dst.reg != "r" {
            self.say(format!("{} writes temporaries only", rule.op));
        }
        if rule.op == "sincos"
            && srcs.len() == 3
            && (srcs[1].reg != "c" || srcs[2].reg != "c" || srcs[1].name() == srcs[2].name())
        {
            self.say("sincos takes two different constants behind the angle");
        }
    }

    /// What the destination holds afterwards.
    fn follow(&mut self, rule: &Rule, dst: &Operand, mask: u8, srcs: &[&Operand]) {
        let order_of = |c: &Self, o: &Operand| c.order.get(&o.name()).copied().unwrap_or(0);
        let mut order = srcs.iter().map(|s| order_of(self, s)).max().unwrap_or(0);
        let name = dst.name();
        let before = self.written.get(&name).copied().unwrap_or(0);
        if rule.is_texture() {
            let dependent = srcs[0].reg == "r" || before != 0;
            order = if dependent { 1 + order.max(order_of(self, dst)) } else { 0 };
            self.deepest = self.deepest.max(order);
        } else if before & !mask != 0 {
            order = order.max(order_of(self, dst));
        }
        self.order.insert(name.clone(), order);
        // sincos spoils the lanes beside its result
        self.written.insert(name, before | mask);
    }

    fn flow(&mut self, rule: &Rule, operands: &[&Operand]) {
        let opens = match rule.op {
            "if" | "ifc" => Some("if"),
            "rep" => Some("rep"),
            "loop" => Some("loop"),
            _ => None,
        };
        let closes: &[&str] = match rule.op {
            "else" | "endif" => &["if"],
            "endrep" => &["rep"],
            "endloop" => &["loop"],
            _ => &[],
        };
        if !closes.is_empty() && !self.open.last().is_some_and(|o| closes.contains(o)) {
            self.say(format!("`{}` without `{}`", rule.op, closes[0]));
        } else if !closes.is_empty() && rule.op != "else" {
            self.open.pop();
        }
        if rule.op.starts_with("break") && !self.open.iter().any(|o| *o != "if") {
            self.say("a break outside a loop");
        }
        if let Some(open) = opens {
            self.open.push(open);
            let depth = |kind: &[&str]| self.open.iter().filter(|o| kind.contains(o)).count();
            let (loops, ifs) = (depth(&["rep", "loop"]), depth(&["if"]));
            let most = if self.version.is_3() { (4, 24) } else { (1, 16) };
            if loops > most.0 || ifs > most.1 {
                self.say(format!("{loops} loops and {ifs} ifs in each other, at most {} and {}", most.0, most.1));
            }
        }
        for operand in operands {
            self.flow_operand(rule, operand);
        }
    }

    fn flow_operand(&mut self, rule: &Rule, operand: &Operand) {
        let kinds: &[&str] = match rule.op {
            "if" => &["b", "p"],
            "ifc" | "breakc" => &["r", "v", "c", "t", "vFace", "vPos"],
            "breakp" => &["p"],
            "rep" => &["i"],
            "loop" => &["aL", "i"],
            "callnz" => &["l", "b", "p"],
            _ => &["l"],
        };
        if !kinds.contains(&operand.reg.as_str()) || !self.exists(operand) {
            self.say(format!("{} takes no `{}`", rule.op, operand.name()));
        } else if matches!(rule.op, "ifc" | "breakc") {
            let one = operand.swizzle().is_ok_and(|s| s == [s[0]; 4]);
            if !one && !operand.reg.starts_with("vF") {
                self.say(format!("{} compares one lane of `{}`", rule.op, operand.name()));
            }
            let lane = operand.swizzle().map_or(0, |s| s[0]);
            if operand.reg == "r" && self.written.get(&operand.name()).copied().unwrap_or(0) & 1 << lane == 0 {
                self.say(format!("`{}.{}` is read and never written", operand.name(), words(1 << lane)));
            }
            if operand.reg == "c" && operand.relative.is_none() {
                self.constants.insert(operand.name());
            }
        }
    }
}

fn words(mask: u8) -> String {
    "xyzw".chars().enumerate().filter(|(l, _)| mask & 1 << l != 0).map(|(_, c)| c).collect()
}

#[cfg(test)]
mod tests;
