//! Text to TAC. The grammar is one item a line, so nothing here recurses; memory stays proportional
//! to the text, except for element counts, which are bounded by [`MAX_ELEMS`].

use crate::diag::{Diagnostic, FileId, Span};
use crate::entity::{FuncId, Var};
use crate::limits::Limits;
use crate::op::{Op, Shape};
use crate::tac::verify::MAX_ELEMS;
use crate::tac::{Addr, Dst, FuncDecl, Index, Inst, Precision, Program, Src, TacOp, TexRef, VarDecl, VarKind};
use crate::types::{LANE_NAMES, Literal, Stage, Swizzle, TexDim, Type, WriteMask};
use cranelift_entity::{EntityRef, PrimaryMap};
use rustc_hash::FxHashMap;

/// Reads a program. The result is well-formed as text only; [`crate::tac::verify::verify`] tells
/// whether it is a legal program.
pub fn parse(file: FileId, text: &str) -> Result<Program, Diagnostic> {
    parse_within(file, text, &Limits::default())
}

/// [`parse`] with other bounds.
pub fn parse_within(file: FileId, text: &str, limits: &Limits) -> Result<Program, Diagnostic> {
    limits.check_text(text, file)?;
    let mut parser = Parser::new(file);
    parser.collect_functions(text)?;
    let mut offset = 0;
    for line in text.split('\n') {
        parser.line(line, offset)?;
        offset += line.len() + 1;
    }
    parser.finish(text.len())
}

/// A word, quoted name, number or sign, with its place in the line.
#[derive(Clone, PartialEq, Debug)]
enum Token {
    Word(String),
    Quoted(String),
    Number(String),
    Sign(char),
}

type Result<T, E = Diagnostic> = std::result::Result<T, E>;

/// The tokens of one line and a cursor.
struct Line {
    tokens: Vec<(Token, usize, usize)>,
    next: usize,
    file: FileId,
    end: usize,
    source_line: u32,
}

impl Line {
    fn lex(file: FileId, text: &str, offset: usize) -> Result<Line> {
        let mut line = Line { tokens: Vec::new(), next: 0, file, end: offset + text.len(), source_line: 0 };
        let mut chars = text.char_indices().peekable();
        while let Some((start, c)) = chars.next() {
            let token = match c {
                _ if c.is_whitespace() => continue,
                ';' => {
                    let words: Vec<&str> = text[start + 1..].split_whitespace().collect();
                    if let ["line", number] = words[..] {
                        line.source_line = number.parse().unwrap_or(0);
                    }
                    break;
                }
                '"' => {
                    let mut name = String::new();
                    loop {
                        match chars.next() {
                            Some((_, '"')) => break Token::Quoted(name),
                            Some((_, '\\')) => match chars.next() {
                                Some((_, 'n')) => name.push('\n'),
                                Some((_, 'r')) => name.push('\r'),
                                Some((_, c)) => name.push(c),
                                None => {}
                            },
                            Some((_, c)) => name.push(c),
                            None => {
                                let span = Span::new(file, offset + start, offset + text.len());
                                return Err(Diagnostic::error("tac-syntax", span, "the quoted name does not end"));
                            }
                        }
                    }
                }
                c if c.is_ascii_alphabetic() || c == '_' => {
                    let mut word = String::from(c);
                    while let Some(&(_, c)) = chars.peek()
                        && (c.is_ascii_alphanumeric() || c == '_' || c == '.')
                    {
                        word.push(c);
                        chars.next();
                    }
                    Token::Word(word)
                }
                c if c.is_ascii_digit() || c == '-' => {
                    let mut number = String::from(c);
                    while let Some(&(_, c)) = chars.peek() {
                        let exponent_sign =
                            matches!(c, '-' | '+') && number.ends_with(['e', 'E']) && !number.starts_with("0x");
                        if !(c.is_ascii_alphanumeric() || c == '.' || exponent_sign) {
                            break;
                        }
                        number.push(c);
                        chars.next();
                    }
                    Token::Number(number)
                }
                c => Token::Sign(c),
            };
            let end = chars.peek().map_or(text.len(), |&(i, _)| i);
            line.tokens.push((token, offset + start, offset + end));
        }
        Ok(line)
    }

    fn span(&self) -> Span {
        match self.tokens.get(self.next) {
            Some(&(_, lo, hi)) => Span::new(self.file, lo, hi),
            None => Span::new(self.file, self.end, self.end),
        }
    }

    fn error<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(Diagnostic::error("tac-syntax", self.span(), message))
    }

    fn at_end(&self) -> bool {
        self.next == self.tokens.len()
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next).map(|(t, ..)| t)
    }

    fn take_sign(&mut self, sign: char) -> bool {
        let found = self.peek() == Some(&Token::Sign(sign));
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, sign: char) -> Result<()> {
        if self.take_sign(sign) { Ok(()) } else { self.error(format!("expected `{sign}`")) }
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Word(w)) if w == word);
        self.next += usize::from(found);
        found
    }

    fn word(&mut self, what: &str) -> Result<String> {
        match self.peek() {
            Some(Token::Word(w)) => {
                let word = w.clone();
                self.next += 1;
                Ok(word)
            }
            _ => self.error(format!("expected {what}")),
        }
    }

    /// A plain or quoted name.
    fn name(&mut self) -> Result<String> {
        match self.peek() {
            Some(Token::Word(name) | Token::Quoted(name)) => {
                let name = name.clone();
                self.next += 1;
                Ok(name)
            }
            _ => self.error("expected a name"),
        }
    }

    fn integer(&mut self) -> Result<u32> {
        match self.peek() {
            Some(Token::Number(n)) => match n.parse() {
                Ok(value) => {
                    self.next += 1;
                    Ok(value)
                }
                Err(_) => self.error("expected a whole number"),
            },
            _ => self.error("expected a whole number"),
        }
    }

    fn ty(&mut self) -> Result<Type> {
        match self.peek() {
            Some(Token::Word(w)) if Type::parse(w).is_some() => {
                let ty = Type::parse(w);
                self.next += 1;
                ty.map_or_else(|| self.error("expected a type"), Ok)
            }
            _ => self.error("expected a type"),
        }
    }

    /// One lane of a literal.
    fn lane(&mut self) -> Result<f32> {
        let value = match self.peek() {
            Some(Token::Word(w)) if w == "true" => Some(1.0),
            Some(Token::Word(w)) if w == "false" => Some(0.0),
            Some(Token::Number(n)) => match n.strip_prefix("0x") {
                Some(hex) => u32::from_str_radix(hex, 16).ok().map(f32::from_bits),
                None => n.parse().ok(),
            },
            _ => None,
        };
        let Some(value) = value else { return self.error("expected a number") };
        self.next += 1;
        Ok(value)
    }

    fn literal(&mut self) -> Result<Literal> {
        let ty = self.ty()?;
        self.expect('(')?;
        let mut lanes = vec![self.lane()?];
        while self.take_sign(',') {
            lanes.push(self.lane()?);
        }
        if lanes.len() != ty.lanes as usize {
            return self.error(format!("{ty} has {} lanes, {} are given", ty.lanes, lanes.len()));
        }
        self.expect(')')?;
        Ok(Literal::new(ty.scalar, &lanes))
    }

    fn shape(&mut self) -> Result<(TexDim, bool)> {
        let text = match self.peek() {
            Some(Token::Word(w) | Token::Number(w)) => w.clone(),
            _ => return self.error("expected a texture shape"),
        };
        let (dim, shadow) = match text.strip_prefix("SHADOW") {
            Some(rest) => (rest, true),
            None => (text.as_str(), false),
        };
        let all = [TexDim::D1, TexDim::D2, TexDim::D3, TexDim::Cube, TexDim::Rect];
        match all.into_iter().find(|d| d.to_string() == dim) {
            Some(dim) => {
                self.next += 1;
                Ok((dim, shadow))
            }
            None => self.error("expected a texture shape such as 2D or SHADOW2D"),
        }
    }

    fn done(&self) -> Result<()> {
        if self.at_end() { Ok(()) } else { self.error("nothing more was expected on this line") }
    }
}

/// State over the lines.
struct Parser {
    file: FileId,
    stage: Option<Stage>,
    version: u32,
    entry: Option<(String, Span)>,
    vars: PrimaryMap<Var, VarDecl>,
    var_names: FxHashMap<String, Var>,
    funcs: PrimaryMap<FuncId, FuncDecl>,
    func_names: FxHashMap<String, FuncId>,
    /// Number of functions whose head was read, and whether the last one is still open.
    heads: usize,
    open: bool,
}

impl Parser {
    fn new(file: FileId) -> Parser {
        Parser {
            file,
            stage: None,
            version: 110,
            entry: None,
            vars: PrimaryMap::new(),
            var_names: FxHashMap::default(),
            funcs: PrimaryMap::new(),
            func_names: FxHashMap::default(),
            heads: 0,
            open: false,
        }
    }

    /// Functions may call later ones, so their names are read first.
    fn collect_functions(&mut self, text: &str) -> Result<()> {
        let mut offset = 0;
        for line_text in text.split('\n') {
            let rest = line_text.trim_start().strip_prefix("func");
            let is_head = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.');
            if rest.is_some_and(is_head) {
                let mut line = Line::lex(self.file, line_text, offset)?;
                line.next = 1;
                let span = line.span();
                let name = line.name()?;
                let decl =
                    FuncDecl { name: name.clone(), params: Vec::new(), body: Vec::new(), line: line.source_line };
                let id = self.funcs.push(decl);
                if self.func_names.insert(name, id).is_some() {
                    return Err(Diagnostic::error("tac-name", span, "a function of this name exists already"));
                }
            }
            offset += line_text.len() + 1;
        }
        Ok(())
    }

    fn line(&mut self, text: &str, offset: usize) -> Result<()> {
        let mut line = Line::lex(self.file, text, offset)?;
        if line.at_end() {
            return Ok(());
        }
        if self.open {
            if line.take_sign('}') {
                self.open = false;
            } else {
                let inst = self.inst(&mut line)?;
                let func = FuncId::new(self.heads - 1);
                self.funcs[func].body.push(inst);
            }
            return line.done();
        }
        let span = line.span();
        let word = line.word("a declaration or function")?;
        match word.as_str() {
            "stage" => {
                self.stage = Some(match line.word("`vert` or `frag`")?.as_str() {
                    "vert" => Stage::Vertex,
                    "frag" => Stage::Fragment,
                    _ => return Err(Diagnostic::error("tac-syntax", span, "the stage is `vert` or `frag`")),
                });
            }
            "version" => self.version = line.integer()?,
            "entry" => self.entry = Some((line.name()?, span)),
            "func" => {
                line.name()?;
                line.expect('(')?;
                let mut params = Vec::new();
                while !line.take_sign(')') {
                    if !params.is_empty() {
                        line.expect(',')?;
                    }
                    let name_span = line.span();
                    let name = line.name()?;
                    params.push(self.var(&name, name_span)?);
                }
                line.expect('{')?;
                self.funcs[FuncId::new(self.heads)].params = params;
                self.heads += 1;
                self.open = true;
            }
            _ => self.decl(&word, span, &mut line)?,
        }
        line.done()
    }

    fn decl(&mut self, word: &str, span: Span, line: &mut Line) -> Result<()> {
        let kind = match word {
            "attribute" => VarKind::Attribute,
            "uniform" => VarKind::Uniform,
            "varying" => VarKind::Varying,
            "output" => VarKind::Output,
            "local" => VarKind::Local,
            "temp" => VarKind::Temp,
            "sampler" => {
                let (dim, shadow) = line.shape()?;
                VarKind::Sampler { dim, shadow }
            }
            _ => return Err(Diagnostic::error("tac-syntax", span, format!("`{word}` starts no item"))),
        };
        let ty = line.ty()?;
        let name_span = line.span();
        let name = line.name()?;
        let mut decl = VarDecl::new(name.clone(), kind, ty);
        decl.line = line.source_line;
        if line.take_sign('[') {
            let count_span = line.span();
            decl.elems = line.integer()?;
            if decl.elems == 0 || decl.elems > MAX_ELEMS {
                let message = format!("{} elements; the bounds are 1 and {MAX_ELEMS}", decl.elems);
                return Err(Diagnostic::error("tac-too-many-elements", count_span, message));
            }
            line.expect(']')?;
        }
        if line.take_word("cols") {
            decl.cols = line.integer()?;
        }
        if line.take_word("as") {
            decl.type_name = line.name()?;
        }
        decl.invariant = line.take_word("invariant");
        decl.centroid = line.take_word("centroid");
        decl.precision = Precision::ALL.into_iter().find(|p| line.take_word(p.keyword()));
        if line.take_word("at") {
            decl.location = Some(line.integer()?);
        }
        if line.take_sign('=') {
            decl.init.push(line.literal()?);
            while line.take_sign(',') {
                decl.init.push(line.literal()?);
            }
        }
        let var = self.vars.push(decl);
        if self.var_names.insert(name, var).is_some() {
            return Err(Diagnostic::error("tac-name", name_span, "a variable of this name exists already"));
        }
        Ok(())
    }

    fn var(&self, name: &str, span: Span) -> Result<Var> {
        match self.var_names.get(name) {
            Some(&var) => Ok(var),
            None => Err(Diagnostic::error("tac-name", span, format!("no variable is called `{name}`"))),
        }
    }

    /// A variable, then an optional index, then (if `swizzled`) a dot and lanes.
    fn place(&self, line: &mut Line, swizzled: bool) -> Result<(Var, Index, String)> {
        let span = line.span();
        let quoted = matches!(line.peek(), Some(Token::Quoted(_)));
        let mut name = line.name()?;
        let mut lanes = String::new();
        let indexed = line.peek() == Some(&Token::Sign('['));
        if swizzled && !quoted && !indexed {
            let Some((head, tail)) = name.rsplit_once('.') else {
                return Err(Diagnostic::error("tac-syntax", span, "expected a swizzle after the name"));
            };
            (name, lanes) = (head.to_string(), tail.to_string());
        }
        let var = self.var(&name, span)?;
        let mut index = Index::default();
        if line.take_sign('[') {
            if matches!(line.peek(), Some(Token::Number(_))) {
                index.offset = line.integer()?;
            } else {
                let span = line.span();
                let (rel, _, lane) = self.rel(line)?;
                let lane = LANE_NAMES.iter().position(|&n| lane.chars().eq([n]));
                let Some(lane) = lane else {
                    return Err(Diagnostic::error("tac-syntax", span, "an index uses one lane"));
                };
                index.rel = Some((rel, lane as u8));
                if line.take_sign('+') {
                    index.offset = line.integer()?;
                }
            }
            line.expect(']')?;
        }
        if swizzled && (quoted || indexed) {
            line.expect('.')?;
            lanes = line.word("a swizzle")?;
        }
        Ok((var, index, lanes))
    }

    /// The variable and lane inside brackets; itself without an index, so this does not recurse.
    fn rel(&self, line: &mut Line) -> Result<(Var, Index, String)> {
        let span = line.span();
        if matches!(line.peek(), Some(Token::Quoted(_))) {
            let name = line.name()?;
            line.expect('.')?;
            let lane = line.word("a lane")?;
            return Ok((self.var(&name, span)?, Index::default(), lane));
        }
        let name = line.name()?;
        match name.rsplit_once('.') {
            Some((head, tail)) => Ok((self.var(head, span)?, Index::default(), tail.to_string())),
            None => Err(Diagnostic::error("tac-syntax", span, "expected a lane of a variable")),
        }
    }

    fn swizzle(&self, text: &str, span: Span) -> Result<Swizzle> {
        match Swizzle::parse(text) {
            Some(swz) => Ok(swz),
            None => Err(Diagnostic::error("tac-syntax", span, format!("`{text}` is no swizzle"))),
        }
    }

    fn src(&self, line: &mut Line) -> Result<Src> {
        let span = line.span();
        if matches!(line.peek(), Some(Token::Word(w)) if Type::parse(w).is_some()) {
            let literal = line.literal()?;
            let mut src = Src::lit(literal);
            if line.take_sign('.') {
                let span = line.span();
                src.swz = self.swizzle(&line.word("a swizzle")?, span)?;
            }
            return Ok(src);
        }
        let (var, index, lanes) = self.place(line, true)?;
        Ok(Src { addr: Addr::Var(var, index), swz: self.swizzle(&lanes, span)? })
    }

    fn dst(&self, line: &mut Line) -> Result<Dst> {
        let span = line.span();
        let (var, index, lanes) = self.place(line, true)?;
        let swz = self.swizzle(&lanes, span)?;
        if !swz.lanes().is_sorted_by(|a, b| a < b) {
            return Err(Diagnostic::error("tac-syntax", span, "a write mask names each lane once, in order"));
        }
        let mask = WriteMask(swz.lanes().iter().fold(0, |m, &l| m | 1 << l));
        Ok(Dst { var, index, mask })
    }

    fn inst(&self, line: &mut Line) -> Result<Inst> {
        let span = line.span();
        let word = line.word("an instruction")?;
        let source_line = line.source_line;
        let flow = match word.as_str() {
            "IF" => Some(TacOp::If),
            "ELSE" => Some(TacOp::Else),
            "ENDIF" => Some(TacOp::EndIf),
            "LOOP" => Some(TacOp::Loop),
            "ENDLOOP" => Some(TacOp::EndLoop),
            "BRK" => Some(TacOp::Brk),
            "CONT" => Some(TacOp::Cont),
            "RET" => Some(TacOp::Ret),
            "CAL" => {
                let span = line.span();
                let name = line.name()?;
                let Some(&func) = self.func_names.get(&name) else {
                    return Err(Diagnostic::error("tac-name", span, format!("no function is called `{name}`")));
                };
                Some(TacOp::Call(func))
            }
            _ => None,
        };
        if let Some(op) = flow {
            let srcs = if op == TacOp::If { vec![self.src(line)?] } else { Vec::new() };
            return Ok(Inst::flow(op, srcs, source_line));
        }
        let op =
            if word.chars().any(|c| c.is_ascii_lowercase()) { None } else { Op::parse(&word.to_ascii_lowercase()) };
        let Some(op) = op else {
            return Err(Diagnostic::error("tac-syntax", span, format!("no instruction is called `{word}`")));
        };
        let dst = if op.shape() == Shape::Effect { None } else { Some(self.dst(line)?) };
        let is_tex = op.shape() == Shape::Texture;
        let count = match op {
            Op::Tex | Op::Txp => 1,
            Op::Txb | Op::Txl => 2,
            _ => match op.arity() {
                Some(count) => count,
                None => return Err(Diagnostic::error("tac-syntax", span, format!("`{word}` stands in SSA only"))),
            },
        };
        let mut srcs = Vec::with_capacity(count);
        for i in 0..count {
            if dst.is_some() || i > 0 {
                line.expect(',')?;
            }
            srcs.push(self.src(line)?);
        }
        let mut tac_op = TacOp::Op(op);
        if is_tex {
            line.expect(',')?;
            let (sampler, index, _) = self.place(line, false)?;
            line.expect(',')?;
            let (dim, shadow) = line.shape()?;
            tac_op = TacOp::Tex(op, TexRef { sampler, index, dim, shadow });
        }
        Ok(Inst { op: tac_op, dst, srcs, line: source_line })
    }

    fn finish(self, end: usize) -> Result<Program> {
        let at_end = Span::new(self.file, end, end);
        if self.open {
            return Err(Diagnostic::error("tac-syntax", at_end, "expected `}` at the end of the function"));
        }
        let Some(stage) = self.stage else {
            return Err(Diagnostic::error("tac-syntax", at_end, "the line `stage vert` or `stage frag` is missing"));
        };
        let (entry, span) = self.entry.unwrap_or(("main".to_string(), at_end));
        let Some(&main) = self.func_names.get(&entry) else {
            return Err(Diagnostic::error("tac-name", span, format!("no function is called `{entry}`")));
        };
        Ok(Program { stage, version: self.version, vars: self.vars, funcs: self.funcs, main })
    }
}
