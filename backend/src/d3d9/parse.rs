//! The assembler: text as [`super::text`] prints it, and as the graphics reference writes it, to a
//! shader.
//!
//! Comments start with `//` or `;`. Words may be in any case; swizzles and masks may name colours
//! (`rgba`); `vs.1.1` is an old spelling of `vs_1_1`; an address may be `c[a0.x + 5]`, `c[5 + a0.x]`
//! or `c5[a0.x]`. What the token stream has no place for is an error at its line; whether a target has
//! so many registers or slots is asked by a limit check, not here. The constant table is not part of
//! the text.

use super::tokens;
use super::{
    Dcl, DclKind, Def, Dst, Inst, Modifier, Opcode, Predicate, Reg, RegType, Rel, SamplerKind, Shader, Src, Usage,
    Version,
};
use crate::limits::Limits;
use crate::line::{self, Line, Parse};
use ir::diag::{Diagnostic, FileId};
use ir::types::{Swizzle, WriteMask};

/// Register numbers are below this.
const MAX_NUMBER: u32 = 8192;

/// Reads a shader.
///
/// # Errors
/// What is wrong, with places in `file`.
pub fn parse(file: FileId, text: &str) -> Result<Shader, Vec<Diagnostic>> {
    parse_within(file, text, &Limits::default())
}

/// [`parse`] with other bounds.
///
/// # Errors
/// What is wrong, with places in `file`.
pub fn parse_within(file: FileId, text: &str, limits: &Limits) -> Result<Shader, Vec<Diagnostic>> {
    let mut shader: Option<Shader> = None;
    let (mut errors, last) = line::for_each(file, text, &["//", ";"], limits, |line| match &mut shader {
        None => match version(line) {
            Ok(found) => {
                shader = Some(Shader::new(found));
                (0, Ok(()))
            }
            // without a version nothing else can be read
            Err(error) => (usize::MAX, Err(error)),
        },
        Some(shader) => {
            let result = Reader { line, version: shader.version }.statement(shader);
            (shader.dcls.len() + shader.defs.len() + shader.insts.len(), result)
        }
    });
    match shader {
        Some(shader) if errors.is_empty() => Ok(shader),
        Some(_) => Err(errors),
        None => {
            errors.truncate(1);
            if errors.is_empty() {
                errors.push(Diagnostic::error("assembly", last, "expected a version, such as vs_2_0"));
            }
            Err(errors)
        }
    }
}

/// Whether a text starts with a version: the first word that is in no comment.
pub fn starts_shader(text: &str) -> bool {
    let code = |line: &str| line.split("//").next().and_then(|l| l.split(';').next()).map(|l| l.trim().to_owned());
    let first = text.lines().filter_map(code).find(|l| !l.is_empty());
    first.is_some_and(|l| version_of(&l).is_some())
}

fn version_of(text: &str) -> Option<Version> {
    let text = text.to_ascii_lowercase().replace('.', "_");
    Version::ALL.iter().copied().find(|v| v.to_string() == text)
}

fn version(line: &mut Line<'_>) -> Parse<Version> {
    line.skip();
    let from = line.at;
    let word = line.until("");
    match version_of(word) {
        Some(version) => line.end().map(|()| version),
        None => line.error(from, "expected a version, such as vs_2_0"),
    }
}

/// What the words behind an opcode say of its result.
const SUFFIXES: &[&str] = &["_sat", "_pp", "_centroid", "_x2", "_x4", "_x8", "_d2", "_d4", "_d8"];

fn apply_suffix(dst: &mut Dst, suffix: &str) {
    match suffix {
        "_sat" => dst.saturate = true,
        "_pp" => dst.partial = true,
        "_centroid" => dst.centroid = true,
        "_x2" => dst.shift = 1,
        "_x4" => dst.shift = 2,
        "_x8" => dst.shift = 3,
        "_d2" => dst.shift = -1,
        "_d4" => dst.shift = -2,
        _ => dst.shift = -3,
    }
}

struct Reader<'l, 'a> {
    line: &'l mut Line<'a>,
    version: Version,
}

impl Reader<'_, '_> {
    fn error<T>(&self, from: usize, message: impl Into<String>) -> Parse<T> {
        self.line.error(from, message)
    }

    fn statement(&mut self, shader: &mut Shader) -> Parse<()> {
        self.line.skip();
        let start = self.line.at;
        let coissue = self.line.eat("+");
        let predicate = self.predicate()?;
        self.line.skip();
        let from = self.line.at;
        let word = self.line.word().to_ascii_lowercase();
        let plain = !coissue && predicate.is_none();
        let declares = word.starts_with("dcl") || word.starts_with("def");
        if declares && (!plain || !shader.insts.is_empty()) {
            let message = "a declaration stands before the first instruction, without predicate and `+`";
            return self.error(from, message);
        }
        let checked = if word.starts_with("dcl") {
            let dcl = self.dcl(from, &word)?;
            shader.dcls.push(dcl);
            tokens::check_dcl(&dcl, self.version)
        } else if word.starts_with("def") {
            let def = self.def(from, &word)?;
            shader.defs.push(def);
            tokens::check_def(&def, self.version)
        } else {
            let inst = Inst { coissue, predicate, ..self.instruction(from, &word)? };
            let checked = tokens::check_inst(&inst, self.version);
            shader.insts.push(inst);
            checked
        };
        self.line.end()?;
        checked.or_else(|message| self.error(start, message))
    }

    /// The word without what it says of the result, and that.
    fn suffixes<'w>(&self, from: usize, word: &'w str) -> Parse<(&'w str, Dst)> {
        let (mut word, mut dst) = (word, Dst::new(Reg::new(RegType::Temp, 0), WriteMask::ALL));
        let mut seen: Vec<&str> = Vec::new();
        while let Some((rest, suffix)) = SUFFIXES.iter().find_map(|s| Some((word.strip_suffix(s)?, *s))) {
            let kind = |s: &str| s.len() == 3 && s != "_pp";
            if seen.iter().any(|s| *s == suffix || (kind(s) && kind(suffix))) {
                return self.error(from, format!("`{suffix}` beside another of its kind"));
            }
            seen.push(suffix);
            apply_suffix(&mut dst, suffix);
            word = rest;
        }
        Ok((word, dst))
    }

    fn instruction(&mut self, from: usize, word: &str) -> Parse<Inst> {
        let (name, result) = self.suffixes(from, word)?;
        let version = self.version;
        let named = |op: Opcode| op.controls().into_iter().find(|&c| op.mnemonic(c, version) == name);
        let found = Opcode::ALL.iter().find_map(|&op| named(op).map(|control| (op, control)));
        let Some((op, control)) = found else { return self.error(from, format!("unknown opcode `{word}`")) };
        let wanted = op.operands(version);
        let mut inst = Inst { control, ..Inst::flow(op, &[]) };
        let mut comma = false;
        if wanted.dst {
            inst.dst = Some(self.destination(result)?);
            comma = true;
        } else if name != word {
            return self.error(from, "modifiers without a result");
        }
        for _ in 0..wanted.srcs {
            if comma {
                self.line.expect(",")?;
            }
            inst.srcs.push(self.source()?);
            comma = true;
        }
        Ok(inst)
    }

    fn dcl(&mut self, from: usize, word: &str) -> Parse<Dcl> {
        let (name, result) = self.suffixes(from, word)?;
        let kind = match name.strip_prefix("dcl").unwrap_or_default() {
            "" => Some(DclKind::Plain),
            rest => rest.strip_prefix('_').and_then(declared),
        };
        let Some(kind) = kind else { return self.error(from, format!("unknown declaration `{word}`")) };
        Ok(Dcl { kind, dst: self.destination(result)? })
    }

    fn def(&mut self, from: usize, word: &str) -> Parse<Def> {
        let kind = match word {
            "def" => RegType::Const,
            "defi" => RegType::ConstInt,
            "defb" => RegType::ConstBool,
            _ => return self.error(from, format!("unknown definition `{word}`")),
        };
        self.line.skip();
        let at = self.line.at;
        let (reg, rel) = self.register()?;
        if reg.kind != kind || rel.is_some() {
            return self.error(at, format!("expected a register {}", kind.prefix()));
        }
        let index = reg.index;
        if kind == RegType::ConstBool {
            return Ok(Def::Bool { index, value: self.lane(boolean)? });
        }
        let mut bits = [0; 4];
        for lane in &mut bits {
            *lane = self.lane(if kind == RegType::Const { float_bits } else { integer_bits })?;
        }
        Ok(match kind {
            RegType::Const => Def::Float { index, bits },
            _ => Def::Int { index, lanes: bits.map(u32::cast_signed) },
        })
    }

    /// A comma and what stands behind it.
    fn lane<T>(&mut self, read: fn(&str) -> Result<T, &'static str>) -> Parse<T> {
        self.line.expect(",")?;
        self.line.skip();
        let from = self.line.at;
        let word = self.line.until(",");
        read(word).or_else(|message| self.error(from, message))
    }

    fn predicate(&mut self) -> Parse<Option<Predicate>> {
        if !self.line.eat("(") {
            return Ok(None);
        }
        let from = self.line.at;
        let src = self.source()?;
        self.line.expect(")")?;
        let not = match src.modifier {
            Modifier::None => false,
            Modifier::Not => true,
            _ => return self.error(from, "expected `p0` or `!p0`"),
        };
        Ok(Some(Predicate { reg: src.reg, swizzle: src.swizzle, not }))
    }

    /// A register and its address, up to the modifier behind it.
    fn register(&mut self) -> Parse<(Reg, Option<Rel>)> {
        self.line.skip();
        let from = self.line.at;
        let rest = self.line.rest();
        let length = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let word = &rest[..length];
        self.line.at += length;
        if let Some(reg) = named(word) {
            return Ok((reg, None));
        }
        let letters = word.trim_end_matches(|c: char| c.is_ascii_digit());
        let kind = RegType::ALL.iter().find(|k| !letters.is_empty() && k.prefix().eq_ignore_ascii_case(letters));
        let Some(&kind) = kind else { return self.error(from, "expected a register") };
        let digits = &word[letters.len()..];
        let indexed = self.line.rest().starts_with('[');
        let number = match digits.parse::<u32>() {
            _ if digits.is_empty() && indexed => 0,
            Ok(n) if n < MAX_NUMBER => n,
            _ => return self.error(from, format!("expected a number below {MAX_NUMBER} behind `{letters}`")),
        };
        if !indexed {
            return Ok((Reg::new(kind, number), None));
        }
        let (more, rel) = self.index()?;
        match number + more {
            n if n < MAX_NUMBER => Ok((Reg::new(kind, n), rel)),
            _ => self.error(from, format!("expected a number below {MAX_NUMBER}")),
        }
    }

    /// `[a0.x + 5]`
    fn index(&mut self) -> Parse<(u32, Option<Rel>)> {
        self.line.expect("[")?;
        let (mut number, mut rel) = (0, None);
        loop {
            self.line.skip();
            let from = self.line.at;
            if self.line.rest().starts_with(|c: char| c.is_ascii_digit()) {
                number += self.line.integer(MAX_NUMBER)?;
                if number >= MAX_NUMBER {
                    return self.error(from, format!("expected a number below {MAX_NUMBER}"));
                }
            } else {
                let (reg, indexed) = self.register()?;
                let address = matches!(reg.kind, RegType::Address | RegType::Loop);
                if !address || indexed.is_some() || rel.is_some() {
                    return self.error(from, "expected one of a0 and aL, once");
                }
                let lane = self.swizzle()?.map_or(0, |s| s[0]);
                rel = Some(Rel { reg, lane: if reg.kind == RegType::Loop { 0 } else { lane } });
            }
            if !self.line.eat("+") {
                break;
            }
        }
        self.line.expect("]")?;
        Ok((number, rel))
    }

    /// Up to four lanes behind a dot; the last one fills the rest.
    fn swizzle(&mut self) -> Parse<Option<[u8; 4]>> {
        if !self.line.eat(".") {
            return Ok(None);
        }
        let from = self.line.at;
        match Swizzle::parse(&self.line.word().to_ascii_lowercase()) {
            Some(s) => {
                let lanes = s.lanes();
                Ok(Some([0, 1, 2, 3].map(|n| lanes[n.min(lanes.len() - 1)])))
            }
            None => self.error(from, "expected one to four of x, y, z, w"),
        }
    }

    fn destination(&mut self, result: Dst) -> Parse<Dst> {
        let (reg, rel) = self.register()?;
        let mut mask = WriteMask::ALL;
        if self.line.eat(".") {
            let from = self.line.at;
            let word = self.line.word().to_ascii_lowercase();
            let lanes = Swizzle::parse(&word);
            let ordered = lanes.filter(|s| s.lanes().is_sorted_by(|a, b| a < b));
            let Some(lanes) = ordered else {
                return self.error(from, "expected some of x, y, z, w in order, each once");
            };
            mask = WriteMask(lanes.lanes().iter().fold(0, |m, l| m | 1 << l));
        }
        Ok(Dst { reg, rel, mask, ..result })
    }

    fn source(&mut self) -> Parse<Src> {
        self.line.skip();
        let from = self.line.at;
        let before = if self.line.eat("1") {
            self.line.expect("-")?;
            "1-"
        } else {
            ["-", "!"].into_iter().find(|sign| self.line.eat(sign)).unwrap_or_default()
        };
        let (reg, rel) = self.register()?;
        let behind =
            if self.line.rest().starts_with('_') { self.line.word().to_ascii_lowercase() } else { String::new() };
        // `_db` and `_da` are older names
        let behind = match behind.as_str() {
            "_db" => "_dz",
            "_da" => "_dw",
            other => other,
        };
        let Some(&modifier) = Modifier::ALL.iter().find(|m| m.around() == (before, behind)) else {
            return self.error(from, format!("unknown modifier `{before}{behind}`"));
        };
        let swizzle = self.swizzle()?.unwrap_or([0, 1, 2, 3]);
        Ok(Src { reg, rel, swizzle, modifier })
    }
}

/// A register that has a name.
fn named(word: &str) -> Option<Reg> {
    RegType::ALL.iter().find_map(|&kind| {
        let at = kind.names().iter().position(|n| n.eq_ignore_ascii_case(word))?;
        Some(Reg::new(kind, at as u32))
    })
}

/// What stands behind `dcl_`.
fn declared(word: &str) -> Option<DclKind> {
    if let Some(&kind) = SamplerKind::ALL.iter().find(|k| k.word() == word) {
        return Some(DclKind::Sampler(kind));
    }
    let name = word.trim_end_matches(|c: char| c.is_ascii_digit());
    let usage = Usage::ALL.iter().find(|u| u.word() == name)?;
    let digits = &word[name.len()..];
    let index = if digits.is_empty() { 0 } else { digits.parse().ok()? };
    Some(DclKind::Usage(*usage, index))
}

fn float_bits(text: &str) -> Result<u32, &'static str> {
    if let Some(hex) = text.strip_prefix("0x") {
        return u32::from_str_radix(hex, 16).map_err(|_| "expected at most eight digits behind 0x");
    }
    let number = text.strip_suffix(['f', 'F']).unwrap_or(text);
    let value = number.parse::<f32>().ok().filter(|v| v.is_finite());
    value.map(f32::to_bits).ok_or("expected a finite number, or 0x and the bits of a float")
}

fn integer_bits(text: &str) -> Result<u32, &'static str> {
    text.parse::<i32>().map(i32::cast_unsigned).map_err(|_| "expected a whole number of 32 bits")
}

fn boolean(text: &str) -> Result<bool, &'static str> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err("expected true or false"),
    }
}
