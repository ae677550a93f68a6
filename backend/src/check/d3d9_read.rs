//! Reader of Direct3D 9 assembly text, shader models 1 to 3: statements with their lines. Knows how an
//! operand is written and not what it may be.

use super::Finding;

/// Most statements of a text, and most operands of one.
const MAX_STATEMENTS: usize = 1 << 20;
const MAX_OPERANDS: usize = 16;

/// `a0.x + 3` or `aL` in brackets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Relative {
    /// `a` or `aL`.
    pub reg: String,
    /// Its number.
    pub number: u32,
    /// Its lane, `x` when none is written.
    pub lane: char,
}

/// A register as an operand.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Operand {
    /// With a minus.
    pub neg: bool,
    /// `1-r0`.
    pub complement: bool,
    /// `!p0`.
    pub not: bool,
    /// The name without its number: `r`, `oPos`, `c`.
    pub reg: String,
    /// The number, 0 when none is written; in brackets or behind the name.
    pub number: u32,
    /// The relative part of the number.
    pub relative: Option<Relative>,
    /// `abs`, `bx2`, `dz` and so on, without the underscore; empty when none.
    pub modifier: String,
    /// `xyz`, as written.
    pub lanes: Option<String>,
}

impl Operand {
    /// Name and number, as people write them.
    pub fn name(&self) -> String {
        let single = ["oPos", "oFog", "oPts", "oDepth", "aL", "vPos", "vFace"].contains(&self.reg.as_str());
        match &self.relative {
            Some(r) => format!("{}[{}{}.{} + {}]", self.reg, r.reg, r.number, r.lane, self.number),
            None if single => self.reg.clone(),
            None => format!("{}{}", self.reg, self.number),
        }
    }

    /// The lane that each of the four places reads; the last one written is repeated.
    ///
    /// # Errors
    /// When the lanes are no swizzle.
    pub fn swizzle(&self) -> Result<[u8; 4], String> {
        let Some(lanes) = &self.lanes else { return Ok([0, 1, 2, 3]) };
        let wrong = || format!("`.{lanes}` is no choice of lanes");
        let picks: Vec<u8> = lanes.chars().map(lane).collect::<Option<_>>().ok_or_else(wrong)?;
        let Some(&last) = picks.last().filter(|_| picks.len() <= 4) else { return Err(wrong()) };
        let mut all = [last; 4];
        all[..picks.len()].copy_from_slice(&picks);
        Ok(all)
    }

    /// The lanes of a destination as bits.
    ///
    /// # Errors
    /// When they are not in the order x, y, z, w.
    pub fn mask(&self) -> Result<u8, String> {
        let Some(lanes) = &self.lanes else { return Ok(15) };
        let wrong = || format!("`.{lanes}` is no write mask");
        let picks: Vec<u8> = lanes.chars().map(lane).collect::<Option<_>>().ok_or_else(wrong)?;
        match picks.is_sorted_by(|a, b| a < b) && !picks.is_empty() {
            true => Ok(picks.iter().fold(0, |m, l| m | 1 << l)),
            false => Err(wrong()),
        }
    }
}

fn lane(c: char) -> Option<u8> {
    ["xr", "yg", "zb", "wa"].iter().position(|both| both.contains(c)).map(|l| l as u8)
}

/// What stands behind an opcode.
#[derive(Clone, PartialEq, Debug)]
pub enum Arg {
    /// A register.
    Reg(Operand),
    /// A number, or a truth value as 0 or 1.
    Number(f64),
}

/// A statement.
#[derive(Clone, PartialEq, Debug)]
pub struct Statement {
    /// Its line, from 1.
    pub line: u32,
    /// Issued together with the one before.
    pub paired: bool,
    /// `(p0.x)`
    pub predicate: Option<Operand>,
    /// The opcode, without what an underscore adds.
    pub op: String,
    /// The words behind underscores: `sat`, `pp`, `lt`, `texcoord0`.
    pub suffixes: Vec<String>,
    /// Destination and sources.
    pub args: Vec<Arg>,
}

/// A text.
#[derive(Clone, PartialEq, Debug)]
pub struct Text {
    /// `vs_2_0` and its line.
    pub version: (u32, String),
    /// All that follows.
    pub statements: Vec<Statement>,
}

/// Reads a whole text.
///
/// # Errors
/// The first line that has no shape of the grammar.
pub fn read(text: &str) -> Result<Text, Finding> {
    let mut lines = text.lines().zip(1u32..).filter_map(|(line, n)| {
        let code = line.split("//").next().unwrap_or_default().split(';').next().unwrap_or_default().trim();
        (!code.is_empty()).then_some((n, code))
    });
    let Some((line, version)) = lines.next() else { return Err(finding(1, "an empty text")) };
    let version = (line, version.to_owned());
    let mut statements = Vec::new();
    for (line, code) in lines {
        if statements.len() >= MAX_STATEMENTS {
            return Err(finding(line, format!("more than {MAX_STATEMENTS} statements")));
        }
        statements.push(statement(line, code)?);
    }
    Ok(Text { version, statements })
}

fn finding(line: u32, text: impl Into<String>) -> Finding {
    Finding { line, text: text.into() }
}

fn statement(line: u32, code: &str) -> Result<Statement, Finding> {
    let (paired, code) = match code.strip_prefix('+') {
        Some(rest) => (true, rest.trim_start()),
        None => (false, code),
    };
    let (predicate, code) = match code.strip_prefix('(') {
        Some(rest) => {
            let (inside, rest) = rest.split_once(')').ok_or_else(|| finding(line, "`(` without `)`"))?;
            (Some(operand(line, &squeeze(inside))?), rest.trim_start())
        }
        None => (None, code),
    };
    let end = code.find(char::is_whitespace).unwrap_or(code.len());
    let (word, rest) = code.split_at(end);
    let mut words = word.split('_').map(str::to_owned);
    let op = words.next().unwrap_or_default();
    if op.is_empty() || !op.chars().all(|c| c.is_ascii_alphanumeric()) {
        return Err(finding(line, format!("`{word}` is no opcode")));
    }
    let mut args = Vec::new();
    if !rest.trim().is_empty() {
        for part in rest.split(',') {
            if args.len() >= MAX_OPERANDS {
                return Err(finding(line, format!("more than {MAX_OPERANDS} operands")));
            }
            args.push(argument(line, &squeeze(part))?);
        }
    }
    Ok(Statement { line, paired, predicate, op, suffixes: words.collect(), args })
}

/// Without white space: `c[a0.x + 5]` and `- r0` may have it.
fn squeeze(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

fn argument(line: u32, text: &str) -> Result<Arg, Finding> {
    match text {
        "true" | "TRUE" => return Ok(Arg::Number(1.0)),
        "false" | "FALSE" => return Ok(Arg::Number(0.0)),
        _ => {}
    }
    let digits = text.trim_start_matches(['-', '+']);
    let numeric = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    if numeric && !text.starts_with("1-") {
        let value = text.parse::<f64>().map_err(|_| finding(line, format!("`{text}` is no number")))?;
        return Ok(Arg::Number(value));
    }
    operand(line, text).map(Arg::Reg)
}

fn operand(line: u32, text: &str) -> Result<Operand, Finding> {
    let wrong = || finding(line, format!("`{text}` is no operand"));
    let mut out = Operand::default();
    let mut rest = text;
    if let Some(r) = rest.strip_prefix("1-") {
        (out.complement, rest) = (true, r);
    } else if let Some(r) = rest.strip_prefix('-') {
        (out.neg, rest) = (true, r);
    } else if let Some(r) = rest.strip_prefix('!') {
        (out.not, rest) = (true, r);
    }
    let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
    if letters == 0 {
        return Err(wrong());
    }
    let (name, r) = rest.split_at(letters);
    (out.reg, rest) = (name.to_owned(), r);
    (out.number, rest) = number(rest).ok_or_else(wrong)?;
    if let Some(r) = rest.strip_prefix('[') {
        let (inside, r) = r.split_once(']').ok_or_else(wrong)?;
        rest = r;
        for part in inside.split('+') {
            if part.starts_with(|c: char| c.is_ascii_digit()) {
                let value: u32 = part.parse().map_err(|_| wrong())?;
                out.number = out.number.checked_add(value).ok_or_else(wrong)?;
            } else if out.relative.is_none() {
                out.relative = Some(relative(part).ok_or_else(wrong)?);
            } else {
                return Err(wrong());
            }
        }
    }
    let (before, lanes) = match rest.split_once('.') {
        Some((before, lanes)) => (before, Some(lanes.to_owned())),
        None => (rest, None),
    };
    out.lanes = lanes;
    match before.strip_prefix('_') {
        Some(modifier) if !modifier.is_empty() => out.modifier = modifier.to_owned(),
        None if before.is_empty() => {}
        _ => return Err(wrong()),
    }
    Ok(out)
}

/// Digits at the start, 0 when there are none, and what follows.
fn number(text: &str) -> Option<(u32, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let value = if digits.is_empty() { 0 } else { digits.parse().ok()? };
    Some((value, rest))
}

fn relative(text: &str) -> Option<Relative> {
    let (name, lane) = text.split_once('.').unwrap_or((text, "x"));
    let mut lanes = lane.chars();
    let lane = lanes.next().filter(|_| lanes.next().is_none())?;
    let letters = name.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(name.len());
    let (reg, rest) = name.split_at(letters);
    let (number, rest) = number(rest)?;
    (["a", "aL"].contains(&reg) && rest.is_empty()).then(|| Relative { reg: reg.to_owned(), number, lane })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(code: &str) -> Statement {
        read(&format!("vs_3_0\n{code}\n")).unwrap().statements.remove(0)
    }

    fn reg(code: &str) -> Operand {
        match one(&format!("mov {code}")).args.remove(0) {
            Arg::Reg(operand) => operand,
            Arg::Number(n) => panic!("{n}"),
        }
    }

    #[test]
    fn operands() {
        assert_eq!(reg("-r3_abs.xy").name(), "r3");
        assert_eq!(reg("-r3_abs.xy").modifier, "abs");
        assert!(reg("-r3_abs.xy").neg && reg("1 - r0").complement && reg("!p0").not);
        assert_eq!(reg("oPos").name(), "oPos");
        assert_eq!((reg("c[12]").number, reg("c12").number), (12, 12));
        let indexed = reg("c[a0.y + 5].z");
        assert_eq!((indexed.number, indexed.relative.unwrap().lane, indexed.lanes.unwrap().as_str()), (5, 'y', "z"));
        assert_eq!(reg("c3[5 + aL]").number, 8);
        assert_eq!(reg("r0.rgba").mask(), Ok(15));
        assert_eq!(reg("r0.xz").mask(), Ok(5));
        assert!(reg("r0.zx").mask().is_err() && reg("r0.xq").swizzle().is_err());
        assert_eq!(reg("r0.yx").swizzle(), Ok([1, 0, 0, 0]));
    }

    #[test]
    fn statements() {
        let inst = one("  (!p0.x) mul_sat_pp r0.xyz, v0, -c1 // comment");
        assert_eq!((inst.op.as_str(), inst.suffixes.len(), inst.args.len(), inst.line), ("mul", 2, 3, 2));
        assert!(inst.predicate.unwrap().not);
        assert!(one("+ mov r0.a, c0").paired);
        assert_eq!(one("def c5, 0, -1.5, 1e-3, .5").args[2], Arg::Number(-1.5));
        for bad in ["mov r0, 5x", "mov r0,", "(p0 mov r0, r1", "mov r0, c[a0.x", "mov r0, c[b]", "@", "mov r0, r1_.x"] {
            assert!(read(&format!("vs_2_0\n{bad}")).is_err(), "{bad}");
        }
        assert!(read("").is_err() && read("// nothing\n").is_err());
    }
}
