//! Reads the text form. Stops at the first mistake and says where and what was expected. Checks
//! grammar and names; the rest is the verifier's.
//!
//! Bounds: the text's length, and entity numbers, since the maps are dense ([`Limits`]).

use super::lex::{Kind, Lexer, Token, unescape};
use crate::diag::{Diagnostic, FileId, Span};
use crate::entity::{Block, Value, Var};
use crate::func::{BlockCall, Callee, Function, Imm, Signature, Terminator, ValueData, ValueDef};
use crate::limits::Limits;
use crate::op::{Op, Shape};
use crate::tac::{VarDecl, VarKind};
use crate::types::{Literal, Stage, Swizzle, TexDim, Type, WriteMask};
use bumpalo::Bump;
use cranelift_entity::{EntityRef, EntitySet, PrimaryMap};

/// Reads one function; lists are allocated in `arena`.
pub fn parse<'a>(arena: &'a Bump, text: &str, file: FileId) -> Result<Function<'a>, Diagnostic> {
    parse_within(arena, text, file, &Limits::default())
}

/// [`parse`] with other bounds.
pub fn parse_within<'a>(
    arena: &'a Bump,
    text: &str,
    file: FileId,
    limits: &Limits,
) -> Result<Function<'a>, Diagnostic> {
    limits.check_text(text, file)?;
    let mut lexer = Lexer::new(text, file);
    let token = lexer.next()?;
    let func = Function::new(arena, Stage::Fragment, PrimaryMap::new());
    let mut parser = Parser {
        limits: *limits,
        lexer,
        token,
        func,
        defined: EntitySet::new(),
        used: Vec::new(),
        placed: EntitySet::new(),
        named: Vec::new(),
    };
    parser.function()?;
    Ok(parser.func)
}

struct Parser<'t, 'a> {
    limits: Limits,
    lexer: Lexer<'t>,
    token: Token<'t>,
    func: Function<'a>,
    defined: EntitySet<Value>,
    used: Vec<(Value, Span)>,
    placed: EntitySet<Block>,
    named: Vec<(Block, Span)>,
}

type Parsed<T> = Result<T, Diagnostic>;

impl<'t, 'a> Parser<'t, 'a> {
    // Tokens.

    fn error<T>(&self, message: impl Into<String>) -> Parsed<T> {
        Err(Diagnostic::error("ssa-text", self.token.span, message))
    }

    fn expected<T>(&self, what: &str) -> Parsed<T> {
        let found = if self.token.kind == Kind::End { "the end" } else { self.token.text };
        self.error(format!("expected {what}, found `{found}`"))
    }

    fn advance(&mut self) -> Parsed<Token<'t>> {
        let next = self.lexer.next()?;
        Ok(std::mem::replace(&mut self.token, next))
    }

    fn is_word(&self, word: &str) -> bool {
        self.token.kind == Kind::Word && self.token.text == word
    }

    fn eat_word(&mut self, word: &str) -> Parsed<bool> {
        let found = self.is_word(word);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn eat(&mut self, mark: char) -> Parsed<bool> {
        let found = self.token.kind == Kind::Mark(mark);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn expect(&mut self, mark: char) -> Parsed<()> {
        if self.eat(mark)? { Ok(()) } else { self.expected(&format!("`{mark}`")) }
    }

    fn word(&mut self, what: &str) -> Parsed<&'t str> {
        if self.token.kind == Kind::Word { Ok(self.advance()?.text) } else { self.expected(what) }
    }

    fn number(&mut self, what: &str) -> Parsed<u32> {
        match self.token.text.parse::<u32>() {
            Ok(n) if self.token.kind == Kind::Number => {
                self.advance()?;
                Ok(n)
            }
            _ => self.expected(what),
        }
    }

    fn string(&mut self, what: &str) -> Parsed<String> {
        match unescape(self.token.text) {
            Some(text) if self.token.kind == Kind::String => {
                self.advance()?;
                Ok(text)
            }
            _ => self.expected(what),
        }
    }

    /// `prefix` and a number.
    fn entity(&mut self, prefix: &str, what: &str) -> Parsed<u32> {
        let digits = self.token.text.strip_prefix(prefix).filter(|d| d.bytes().all(|b| b.is_ascii_digit()));
        match digits.map(str::parse::<u32>) {
            Some(Ok(n)) if n as usize <= self.limits.numbers => {
                self.advance()?;
                Ok(n)
            }
            Some(Ok(_)) => {
                let message = format!("entity numbers go up to {}", self.limits.numbers);
                Err(self.limits.error("ssa-numbers", self.token.span, message))
            }
            _ => self.expected(what),
        }
    }

    // Entities.

    fn value_number(&mut self) -> Parsed<Value> {
        let n = self.entity("v", "a value")?;
        while self.func.values.len() <= n as usize {
            // A number that nothing defines stays a value that nothing uses.
            let def = ValueDef::Param(Block::from_u32(0), u32::MAX);
            self.func.values.push(ValueData { ty: Type::FLOAT, def });
        }
        Ok(Value::new(n as usize))
    }

    fn value(&mut self) -> Parsed<Value> {
        let span = self.token.span;
        let value = self.value_number()?;
        self.used.push((value, span));
        Ok(value)
    }

    fn define(&mut self) -> Parsed<Value> {
        let span = self.token.span;
        let value = self.value_number()?;
        if !self.defined.insert(value) {
            return Err(Diagnostic::error("ssa-text", span, format!("{value} is defined twice")));
        }
        Ok(value)
    }

    fn block_number(&mut self) -> Parsed<Block> {
        let n = self.entity("block", "a block")?;
        while self.func.blocks.len() <= n as usize {
            self.func.make_block();
        }
        Ok(Block::new(n as usize))
    }

    fn block_name(&mut self) -> Parsed<Block> {
        let span = self.token.span;
        let block = self.block_number()?;
        self.named.push((block, span));
        Ok(block)
    }

    fn var(&mut self) -> Parsed<Var> {
        let span = self.token.span;
        let n = self.entity("var", "a variable")?;
        if n as usize >= self.func.vars.len() {
            return Err(Diagnostic::error("ssa-text", span, format!("var{n} is not declared")));
        }
        Ok(Var::new(n as usize))
    }

    fn ty(&mut self) -> Parsed<Type> {
        match Type::parse(self.token.text) {
            Some(ty) => {
                self.advance()?;
                Ok(ty)
            }
            None => self.expected("a type"),
        }
    }

    // Grammar.

    fn function(&mut self) -> Parsed<()> {
        if !self.eat_word("function")? {
            return self.expected("`function`");
        }
        self.func.stage = match self.word("`vert` or `frag`")? {
            "vert" => Stage::Vertex,
            "frag" => Stage::Fragment,
            other => return self.error(format!("`{other}` is neither `vert` nor `frag`")),
        };
        if self.token.kind == Kind::String {
            self.func.name = self.string("the function's name in quotes")?;
        }
        self.expect('{')?;
        while self.token.kind == Kind::Word && self.token.text.starts_with("var") {
            self.declaration()?;
        }
        if self.eat_word("takes")? {
            self.func.signature = Some(self.signature()?);
        }
        while self.token.kind == Kind::Word && self.token.text.starts_with("callee") {
            self.callee()?;
        }
        while self.token.kind != Kind::Mark('}') {
            self.block()?;
        }
        self.advance()?;
        if self.token.kind != Kind::End {
            return self.expected("the end of the text");
        }
        for &(value, span) in &self.used {
            if !self.defined.contains(value) {
                return Err(Diagnostic::error("ssa-text", span, format!("{value} is not defined")));
            }
        }
        for &(block, span) in &self.named {
            if !self.placed.contains(block) {
                return Err(Diagnostic::error("ssa-text", span, format!("{block} is not defined")));
            }
        }
        Ok(())
    }

    fn declaration(&mut self) -> Parsed<()> {
        let n = self.entity("var", "a variable")?;
        if n as usize != self.func.vars.len() {
            return self.error(format!("variables are declared in order: expected var{}", self.func.vars.len()));
        }
        self.expect('=')?;
        let kind = match self.word("a kind of variable")? {
            "attribute" => VarKind::Attribute,
            "uniform" => VarKind::Uniform,
            "varying" => VarKind::Varying,
            "output" => VarKind::Output,
            "local" => VarKind::Local,
            "temp" => VarKind::Temp,
            "sampler" => {
                let dim = self.dim()?;
                VarKind::Sampler { dim, shadow: self.eat_word("shadow")? }
            }
            other => return self.error(format!("`{other}` is no kind of variable")),
        };
        let ty = self.ty()?;
        let mut decl = VarDecl::new("", kind, ty);
        if self.eat('[')? {
            decl.elems = self.number("a number of elements")?;
            self.expect(']')?;
        }
        decl.name = self.string("the variable's name in quotes")?;
        if self.eat_word("cols")? {
            decl.cols = self.number("a number of columns")?;
        }
        if self.eat_word("type")? {
            decl.type_name = self.string("a type name in quotes")?;
        }
        decl.invariant = self.eat_word("invariant")?;
        if self.eat_word("at")? {
            decl.location = Some(self.number("a location")?);
        }
        if self.eat_word("init")? {
            decl.init.push(self.literal()?);
            while self.eat(',')? {
                decl.init.push(self.literal()?);
            }
        }
        decl.line = self.line()?;
        self.func.vars.push(decl);
        Ok(())
    }

    /// `callee0 = function 2 (var1[0]) gives (var3[0])`.
    fn callee(&mut self) -> Parsed<()> {
        let n = self.entity("callee", "a callee")?;
        if n as usize != self.func.callees.len() {
            return self.error(format!("callees are declared in order: expected callee{}", self.func.callees.len()));
        }
        self.expect('=')?;
        if !self.eat_word("function")? {
            return self.expected("`function`");
        }
        let func = self.number("a function's number")?;
        let signature = self.signature()?;
        self.func.callees.push(Callee { func, signature });
        Ok(())
    }

    fn signature(&mut self) -> Parsed<Signature> {
        let args = self.elements()?;
        if !self.eat_word("gives")? {
            return self.expected("`gives`");
        }
        Ok(Signature { args, results: self.elements()? })
    }

    fn elements(&mut self) -> Parsed<Vec<(Var, u32)>> {
        let mut all = Vec::new();
        self.expect('(')?;
        while self.token.kind != Kind::Mark(')') {
            all.push(self.place()?);
            if !self.eat(',')? {
                break;
            }
        }
        self.expect(')')?;
        Ok(all)
    }

    fn line(&mut self) -> Parsed<u32> {
        if self.eat('@')? { self.number("a line") } else { Ok(0) }
    }

    fn dim(&mut self) -> Parsed<TexDim> {
        let all = [TexDim::D1, TexDim::D2, TexDim::D3, TexDim::Cube, TexDim::Rect];
        match all.into_iter().find(|d| d.to_string() == self.token.text) {
            Some(dim) => {
                self.advance()?;
                Ok(dim)
            }
            None => self.expected("a texture shape"),
        }
    }

    fn literal(&mut self) -> Parsed<Literal> {
        let ty = self.ty()?;
        self.expect('(')?;
        let mut lanes = [0.0; 4];
        for (i, lane) in lanes.iter_mut().take(ty.lanes as usize).enumerate() {
            if i > 0 {
                self.expect(',')?;
            }
            *lane = self.float()?;
        }
        self.expect(')')?;
        Ok(Literal::new(ty.scalar, &lanes[..ty.lanes as usize]))
    }

    fn float(&mut self) -> Parsed<f32> {
        let text = self.token.text;
        let value = if let Some(hex) = text.strip_prefix("0x") {
            u32::from_str_radix(hex, 16).ok().map(f32::from_bits)
        } else if text == "nan" {
            Some(f32::NAN)
        } else {
            text.parse::<f32>().ok().filter(|v| !v.is_nan())
        };
        match value {
            Some(value) if matches!(self.token.kind, Kind::Number | Kind::Word) => {
                self.advance()?;
                Ok(value)
            }
            _ => self.expected("a number"),
        }
    }

    fn block(&mut self) -> Parsed<()> {
        let block = self.block_number()?;
        if !self.placed.insert(block) {
            return self.error(format!("{block} is defined twice"));
        }
        self.func.layout.push(block);
        if self.eat('(')? {
            loop {
                let value = self.define()?;
                self.expect(':')?;
                let ty = self.ty()?;
                let index = self.func.blocks[block].params.len() as u32;
                self.func.values[value] = ValueData { ty, def: ValueDef::Param(block, index) };
                self.func.blocks[block].params.push(value);
                if !self.eat(',')? {
                    break;
                }
            }
            self.expect(')')?;
        }
        if self.eat_word("loop")? {
            self.func.blocks[block].loop_merge = Some(self.block_name()?);
        }
        self.expect(':')?;
        loop {
            if let Some(term) = self.terminator()? {
                self.func.blocks[block].term = term;
                return Ok(());
            }
            self.inst(block)?;
        }
    }

    fn terminator(&mut self) -> Parsed<Option<Terminator<'a>>> {
        if self.token.kind != Kind::Word {
            return Ok(None);
        }
        Ok(Some(match self.token.text {
            "unfinished" => {
                self.advance()?;
                Terminator::None
            }
            "return" => {
                self.advance()?;
                Terminator::Return
            }
            "jump" => {
                self.advance()?;
                Terminator::Jump(self.call()?)
            }
            "branch" => {
                self.advance()?;
                let cond = self.value()?;
                self.expect(',')?;
                let then_call = self.call()?;
                self.expect(',')?;
                let else_call = self.call()?;
                let merge = if self.eat(',')? {
                    if !self.eat_word("merge")? {
                        return self.expected("`merge`");
                    }
                    Some(self.block_name()?)
                } else {
                    None
                };
                Terminator::Branch { cond, then_call, else_call, merge }
            }
            _ => return Ok(None),
        }))
    }

    fn call(&mut self) -> Parsed<BlockCall<'a>> {
        let block = self.block_name()?;
        let mut args = Vec::new();
        if self.eat('(')? {
            args.push(self.value()?);
            while self.eat(',')? {
                args.push(self.value()?);
            }
            self.expect(')')?;
        }
        Ok(self.func.call(block, &args))
    }

    fn inst(&mut self, block: Block) -> Parsed<()> {
        let is_value = self.token.text.strip_prefix('v').is_some_and(|r| r.bytes().all(|b| b.is_ascii_digit()));
        let result = if is_value && self.token.kind == Kind::Word {
            let value = self.define()?;
            self.expect(':')?;
            let ty = self.ty()?;
            self.expect('=')?;
            Some((value, ty))
        } else {
            None
        };
        let Some(op) = Op::parse(self.token.text) else { return self.expected("an opcode or a terminator") };
        self.advance()?;
        let mut args = Vec::new();
        let imm = self.imm(op, &mut args)?;
        let mut more = if imm == Imm::None || op == Op::Swz {
            self.token.kind == Kind::Word && op != Op::Swz && self.token.text.starts_with('v') && op_takes_args(op)
        } else {
            self.eat(',')?
        };
        while more {
            args.push(self.value()?);
            more = self.eat(',')?;
        }
        let line = self.line()?;
        let inst = self.func.make_inst(op, imm, &args, None, line);
        if let Some((value, ty)) = result {
            self.func.values[value] = ValueData { ty, def: ValueDef::Inst(inst) };
            self.func.insts[inst].result = value.into();
        }
        self.func.blocks[block].insts.push(inst);
        Ok(())
    }

    fn imm(&mut self, op: Op, args: &mut Vec<Value>) -> Parsed<Imm> {
        Ok(match op {
            Op::Const => Imm::Lit(self.literal()?),
            Op::Swz => {
                args.push(self.value()?);
                Imm::Swz(self.swizzle()?)
            }
            Op::Call => Imm::Callee(self.entity("callee", "a callee")?),
            Op::Input | Op::Uniform | Op::InputAt | Op::UniformAt | Op::Load | Op::Store | Op::Result => {
                let (var, elem) = self.place()?;
                Imm::Elem { var, elem }
            }
            Op::StoreOutput => {
                let (var, elem) = self.place()?;
                let swz = self.swizzle()?;
                let mask = swz.lanes().iter().fold(0, |m, &l| m | 1 << l);
                if !swz.lanes().is_sorted_by(|a, b| a < b) {
                    return self.error("the lanes of a mask stand in order, each once");
                }
                Imm::Out { var, elem, mask: WriteMask(mask) }
            }
            _ if op.shape() == Shape::Texture => {
                let (sampler, elem) = self.place()?;
                let dim = self.dim()?;
                let shadow = self.eat_word("shadow")?;
                let indexed = self.eat_word("indexed")?;
                Imm::Tex { sampler, elem, indexed, dim, shadow }
            }
            _ => Imm::None,
        })
    }

    fn place(&mut self) -> Parsed<(Var, u32)> {
        let var = self.var()?;
        self.expect('[')?;
        let elem = self.number("an element number")?;
        self.expect(']')?;
        Ok((var, elem))
    }

    fn swizzle(&mut self) -> Parsed<Swizzle> {
        self.expect('.')?;
        match Swizzle::parse(self.token.text) {
            Some(swz) if self.token.kind == Kind::Word => {
                self.advance()?;
                Ok(swz)
            }
            _ => self.expected("lanes such as `xyz`"),
        }
    }
}

/// Whether a word after the opcode can only be an operand. The next instruction starts with `v3:`
/// too, so opcodes without operands must not look for one.
fn op_takes_args(op: Op) -> bool {
    op.arity() != Some(0)
}
