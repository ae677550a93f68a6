//! Reader of ARB_vertex_program and ARB_fragment_program text: statements with their lines. Knows the
//! grammar's shapes and not what names mean.

use super::Finding;

/// Most statements of a text, and most names in one statement.
const MAX_STATEMENTS: usize = 1 << 20;
const MAX_PARTS: usize = 8192;

/// An index in brackets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Index {
    /// `[3]`
    Number(u32),
    /// `[1..4]`
    Range(u32, u32),
    /// `[a0.x + 3]`: the address register and the offset.
    Relative(String, i64),
    /// `[]`
    Empty,
}

/// A part of a name: `.word` or `[index]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Part {
    /// A word.
    Word(String),
    /// Brackets.
    Index(Index),
}

/// An operand: a dotted name, or literals in braces.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operand {
    /// With a minus.
    pub neg: bool,
    /// The name, without the lanes at its end.
    pub parts: Vec<Part>,
    /// `xyz`, as written.
    pub lanes: Option<String>,
    /// Literals instead of a name.
    pub literal: bool,
}

impl Operand {
    /// The first word.
    pub fn base(&self) -> &str {
        match self.parts.first() {
            Some(Part::Word(word)) => word,
            _ => "",
        }
    }

    /// The name as text.
    pub fn name(&self) -> String {
        let mut name = String::new();
        for part in &self.parts {
            match part {
                Part::Word(word) if name.is_empty() => name.push_str(word),
                Part::Word(word) => name += &format!(".{word}"),
                Part::Index(Index::Number(n)) => name += &format!("[{n}]"),
                Part::Index(Index::Range(a, b)) => name += &format!("[{a}..{b}]"),
                Part::Index(Index::Relative(reg, offset)) => name += &format!("[{reg}+{offset}]"),
                Part::Index(Index::Empty) => name += "[]",
            }
        }
        name
    }
}

/// What a statement is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// `OPTION name;`
    Option(String),
    /// `TEMP a, b;` or `ADDRESS a;`
    Registers {
        /// Address registers.
        address: bool,
        /// The names.
        names: Vec<String>,
    },
    /// `ATTRIB`, `OUTPUT`, `PARAM` or `ALIAS name = ...;`
    Binding {
        /// The keyword.
        keyword: String,
        /// The name.
        name: String,
        /// `[n]` or `[]` behind the name.
        array: Option<Index>,
        /// What stands right of `=`.
        values: Vec<Operand>,
    },
    /// An instruction.
    Inst {
        /// Opcode without `_SAT`.
        op: String,
        /// With `_SAT`.
        saturate: bool,
        /// Destination and sources, the texture unit and its target last.
        operands: Vec<Operand>,
    },
}

/// A statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Statement {
    /// Its first line.
    pub line: u32,
    /// What it is.
    pub kind: Kind,
}

/// A text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Text {
    /// The first line.
    pub header: String,
    /// All statements before `END`.
    pub statements: Vec<Statement>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Token {
    Word(String),
    Number(String),
    Sign(char),
    /// `..`
    Range,
}

/// Reads a whole text.
///
/// # Errors
/// The first statement that has no shape of the grammar.
pub fn read(text: &str) -> Result<Text, Finding> {
    let mut lines = text.lines();
    let header = lines.next().unwrap_or_default().trim().to_owned();
    let mut tokens: Vec<(u32, Token)> = Vec::new();
    for (n, line) in lines.enumerate() {
        tokenize(line.split('#').next().unwrap_or_default(), n as u32 + 2, &mut tokens)?;
    }
    let last = tokens.last().map_or(1, |t| t.0);
    match tokens.iter().position(|(_, t)| *t == Token::Word("END".to_owned())) {
        Some(end) => tokens.truncate(end),
        None => return Err(finding(last, "the text does not end with END")),
    }
    let mut statements = Vec::new();
    let mut rest = tokens.as_slice();
    while let Some(&(line, _)) = rest.first() {
        let Some(end) = rest.iter().position(|(_, t)| *t == Token::Sign(';')) else {
            return Err(finding(line, "a statement without `;`"));
        };
        if statements.len() >= MAX_STATEMENTS {
            return Err(finding(line, format!("more than {MAX_STATEMENTS} statements")));
        }
        let mut cursor = Cursor { tokens: &rest[..end], line };
        statements.push(Statement { line, kind: cursor.statement()? });
        rest = &rest[end + 1..];
    }
    Ok(Text { header, statements })
}

fn finding(line: u32, text: impl Into<String>) -> Finding {
    Finding { line, text: text.into() }
}

fn tokenize(line: &str, number: u32, out: &mut Vec<(u32, Token)>) -> Result<(), Finding> {
    let chars: Vec<char> = line.chars().collect();
    let mut i = 0;
    while i < chars.len() {
        let start = i;
        let c = chars[i];
        if c.is_whitespace() {
            i += 1;
        } else if c.is_ascii_alphabetic() || c == '_' || c == '$' {
            while i < chars.len() && (chars[i].is_ascii_alphanumeric() || matches!(chars[i], '_' | '$')) {
                i += 1;
            }
            out.push((number, Token::Word(chars[start..i].iter().collect())));
        } else if chars[i..].starts_with(&['.', '.']) {
            i += 2;
            out.push((number, Token::Range));
        } else if c.is_ascii_digit() || (c == '.' && chars.get(i + 1).is_some_and(char::is_ascii_digit)) {
            i = number_end(&chars, i);
            out.push((number, Token::Number(chars[start..i].iter().collect())));
        } else if ".,;=[]{}+-".contains(c) {
            i += 1;
            out.push((number, Token::Sign(c)));
        } else {
            return Err(finding(number, format!("unexpected `{c}`")));
        }
    }
    Ok(())
}

/// Where a number ends; `1..4` is two numbers, and texture targets begin with a digit (`2D`).
fn number_end(chars: &[char], start: usize) -> usize {
    let digits = |mut i: usize| {
        while chars.get(i).is_some_and(char::is_ascii_digit) {
            i += 1;
        }
        i
    };
    let mut i = digits(start);
    if chars.get(i) == Some(&'D') {
        return i + 1;
    }
    if chars.get(i) == Some(&'.') && chars.get(i + 1) != Some(&'.') {
        i = digits(i + 1);
    }
    if matches!(chars.get(i), Some('e' | 'E')) {
        let sign = usize::from(matches!(chars.get(i + 1), Some('+' | '-')));
        if chars.get(i + 1 + sign).is_some_and(char::is_ascii_digit) {
            i = digits(i + 1 + sign);
        }
    }
    i
}

struct Cursor<'t> {
    tokens: &'t [(u32, Token)],
    line: u32,
}

impl Cursor<'_> {
    fn fail<T>(&self, text: impl Into<String>) -> Result<T, Finding> {
        Err(finding(self.line, text))
    }

    fn next(&mut self) -> Option<&Token> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        self.line = first.0;
        Some(&first.1)
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.first().map(|t| &t.1)
    }

    fn eat(&mut self, sign: char) -> bool {
        let found = self.peek() == Some(&Token::Sign(sign));
        if found {
            self.next();
        }
        found
    }

    fn expect(&mut self, sign: char) -> Result<(), Finding> {
        if self.eat(sign) { Ok(()) } else { self.fail(format!("expected `{sign}`")) }
    }

    fn word(&mut self) -> Result<String, Finding> {
        match self.next() {
            Some(Token::Word(word)) => Ok(word.clone()),
            _ => self.fail("expected a name"),
        }
    }

    fn integer(&mut self) -> Result<u32, Finding> {
        match self.next() {
            Some(Token::Number(n)) => n.parse().or_else(|_| self.fail("expected a whole number")),
            _ => self.fail("expected a number"),
        }
    }

    fn statement(&mut self) -> Result<Kind, Finding> {
        let keyword = self.word()?;
        let kind = match keyword.as_str() {
            "OPTION" => Kind::Option(self.word()?),
            "TEMP" | "ADDRESS" => {
                let mut names = vec![self.word()?];
                while self.eat(',') {
                    names.push(self.word()?);
                }
                Kind::Registers { address: keyword == "ADDRESS", names }
            }
            "ATTRIB" | "OUTPUT" | "PARAM" | "ALIAS" => {
                let name = self.word()?;
                let array = if self.peek() == Some(&Token::Sign('[')) { Some(self.index()?) } else { None };
                self.expect('=')?;
                let values = if array.is_some() { self.list()? } else { vec![self.operand()?] };
                Kind::Binding { keyword, name, array, values }
            }
            _ => {
                let (op, saturate) = keyword.strip_suffix("_SAT").map_or((keyword.as_str(), false), |op| (op, true));
                let mut operands = vec![self.operand()?];
                while self.eat(',') {
                    operands.push(self.operand()?);
                }
                Kind::Inst { op: op.to_owned(), saturate, operands }
            }
        };
        if self.peek().is_some() { self.fail("more than the statement needs") } else { Ok(kind) }
    }

    /// `{ a, b, ... }` of an array.
    fn list(&mut self) -> Result<Vec<Operand>, Finding> {
        self.expect('{')?;
        let mut values = vec![self.operand()?];
        while self.eat(',') {
            values.push(self.operand()?);
            if values.len() > MAX_PARTS {
                return self.fail(format!("more than {MAX_PARTS} elements"));
            }
        }
        self.expect('}')?;
        Ok(values)
    }

    fn literal(&mut self, neg: bool) -> Result<Operand, Finding> {
        let braces = self.eat('{');
        let mut count = 0;
        loop {
            while self.eat('-') || self.eat('+') {}
            match self.next() {
                Some(Token::Number(n)) if n.parse::<f32>().is_ok() => count += 1,
                _ => return self.fail("expected a number"),
            }
            if !(braces && self.eat(',')) {
                break;
            }
        }
        if braces {
            self.expect('}')?;
        }
        if count > 4 {
            return self.fail("a literal of more than four lanes");
        }
        let lanes = if self.eat('.') { Some(self.word()?) } else { None };
        Ok(Operand { neg, parts: Vec::new(), lanes, literal: true })
    }

    fn operand(&mut self) -> Result<Operand, Finding> {
        let neg = self.eat('-');
        if !neg {
            self.eat('+');
        }
        // a texture target such as `2D` begins with a digit
        if let Some(Token::Number(n)) = self.peek()
            && n.ends_with('D')
        {
            let parts = vec![Part::Word(n.clone())];
            self.next();
            return Ok(Operand { neg, parts, lanes: None, literal: false });
        }
        if matches!(self.peek(), Some(Token::Number(_) | Token::Sign('{'))) {
            return self.literal(neg);
        }
        let mut parts = vec![Part::Word(self.word()?)];
        loop {
            if self.eat('.') {
                parts.push(Part::Word(self.word()?));
            } else if self.peek() == Some(&Token::Sign('[')) {
                parts.push(Part::Index(self.index()?));
            } else {
                break;
            }
            if parts.len() > MAX_PARTS {
                return self.fail("a name of too many parts");
            }
        }
        let lanes = match parts.last() {
            Some(Part::Word(word)) if parts.len() > 1 && is_lanes(word) => Some(word.clone()),
            _ => None,
        };
        if lanes.is_some() {
            parts.pop();
        }
        Ok(Operand { neg, parts, lanes, literal: false })
    }

    fn index(&mut self) -> Result<Index, Finding> {
        self.expect('[')?;
        if self.eat(']') {
            return Ok(Index::Empty);
        }
        let index = match self.peek() {
            Some(Token::Word(_)) => {
                let register = self.word()?;
                self.expect('.')?;
                let lane = self.word()?;
                let sign = if self.eat('-') { Some(-1) } else { self.eat('+').then_some(1) };
                let offset = match sign {
                    Some(sign) => sign * i64::from(self.integer()?),
                    None => 0,
                };
                Index::Relative(format!("{register}.{lane}"), offset)
            }
            _ => {
                let from = self.integer()?;
                if self.peek() == Some(&Token::Range) {
                    self.next();
                    Index::Range(from, self.integer()?)
                } else {
                    Index::Number(from)
                }
            }
        };
        self.expect(']')?;
        Ok(index)
    }
}

/// Whether a word at the end of a name is lanes: one to four of xyzw, or of rgba.
fn is_lanes(word: &str) -> bool {
    word.len() <= 4 && (word.chars().all(|c| "xyzw".contains(c)) || word.chars().all(|c| "rgba".contains(c)))
}
