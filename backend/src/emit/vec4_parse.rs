//! The assembler: text of [`super::vec4_text`] to a machine program.
//!
//! Every error is a [`Diagnostic`] at its place. Bounds: instructions and errors
//! ([`Limits`]), register numbers below [`MAX_REG`]. Whether a target has so many registers is
//! asked by the limit check, not here.

use crate::limits::Limits;
use crate::line::{self, Line, Parse};
use crate::mach::{Binding, Constant, Dst, File, Inst, Kind, Opcode, Program, Reg, Rel, SamplerBinding, Src, TexInfo};
use ir::diag::{Diagnostic, FileId};
use ir::types::{LANE_NAMES, Stage, TexDim, WriteMask};
use smallvec::SmallVec;

/// Jump targets are below this.
const MAX_TARGET: u32 = 65_536;
/// Register numbers are below this: the binary form has eight bits for them.
pub const MAX_REG: u32 = 256;

/// Reads a program.
///
/// # Errors
/// What is wrong, with places in `file`.
pub fn parse(file: FileId, text: &str) -> Result<Program, Vec<Diagnostic>> {
    parse_within(file, text, &Limits::default())
}

/// [`parse`] with other bounds.
///
/// # Errors
/// What is wrong, with places in `file`.
pub fn parse_within(file: FileId, text: &str, limits: &Limits) -> Result<Program, Vec<Diagnostic>> {
    let mut program = Program::new(Stage::Vertex, "vec4");
    let (mut errors, last) = line::for_each(file, text, &["#"], limits, |line| {
        let result = line.statement(&mut program);
        (program.insts.len(), result)
    });
    if errors.is_empty()
        && let Err(message) = super::vec4_bits::check_structure(&program)
    {
        errors.push(Diagnostic::error("bad-structure", last, message));
    }
    if errors.is_empty() { Ok(program) } else { Err(errors) }
}

impl Line<'_> {
    /// A quoted name with the escapes that Rust's `Debug` writes.
    fn name(&mut self) -> Parse<String> {
        self.expect("\"")?;
        let from = self.at - 1;
        let mut escaped = false;
        for (at, c) in self.rest().char_indices() {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => {
                    self.at += at + 1;
                    return match ir::text::unescape(&self.text[from..self.at]) {
                        Some(name) => Ok(name),
                        None => self.error(from, "a name with an escape that is none"),
                    };
                }
                _ => {}
            }
        }
        self.error(from + 1, "unterminated name")
    }

    fn statement(&mut self, program: &mut Program) -> Parse<()> {
        self.skip();
        if self.eat(".") {
            self.directive(program)?;
        } else {
            let inst = self.instruction()?;
            program.insts.push(inst);
        }
        self.end()
    }

    fn directive(&mut self, program: &mut Program) -> Parse<()> {
        let from = self.at;
        match self.word() {
            "target" => {
                program.target = self.until("").to_owned();
                let from = self.at;
                program.stage = match self.word() {
                    "vert" => Stage::Vertex,
                    "frag" => Stage::Fragment,
                    _ => return self.error(from, "expected vert or frag"),
                };
            }
            "temps" => program.temps = self.integer(MAX_REG + 1)?,
            "input" => program.inputs.push(self.binding("v")?),
            "output" => program.outputs.push(self.binding("o")?),
            "uniform" => {
                self.constant_number(program)?;
                let (name, elem) = (self.name()?, self.integer(u32::MAX)?);
                program.constants.push(Constant::Uniform { name, elem });
            }
            "literal" => {
                self.constant_number(program)?;
                program.constants.push(self.literal()?);
            }
            "sampler" => {
                self.expect("s")?;
                let reg = self.integer(MAX_REG)?;
                let (name, elem) = (self.name()?, self.integer(u32::MAX)?);
                let (dim, shadow) = self.dim()?;
                program.samplers.push(SamplerBinding { reg, name, elem, dim, shadow });
            }
            _ => return self.error(from, "unknown directive"),
        }
        Ok(())
    }

    fn constant_number(&mut self, program: &Program) -> Parse<()> {
        self.expect("c")?;
        let from = self.at;
        let number = self.integer(MAX_REG)?;
        if number as usize == program.constants.len() {
            Ok(())
        } else {
            self.error(from, format!("constants are declared in order: expected c{}", program.constants.len()))
        }
    }

    fn literal(&mut self) -> Parse<Constant> {
        let mut bits = [0; 4];
        let mut used = 0u8;
        loop {
            self.skip();
            if self.rest().is_empty() {
                break;
            }
            let from = self.at;
            let text = self.until("");
            let value = match text.strip_prefix("0x") {
                Some(hex) => u32::from_str_radix(hex, 16).ok(),
                None => text.parse::<f32>().ok().map(f32::to_bits),
            };
            let Some(value) = value else { return self.error(from, "expected a number or 0x and eight digits") };
            if used == 4 {
                return self.error(from, "a literal has at most four lanes");
            }
            bits[used as usize] = value;
            used += 1;
        }
        if used == 0 {
            return self.error(self.at, "expected a number");
        }
        Ok(Constant::Literal { bits, used })
    }

    fn binding(&mut self, letter: &str) -> Parse<Binding> {
        self.expect(letter)?;
        let reg = self.integer(MAX_REG)?;
        let (name, elem) = (self.name()?, self.integer(u32::MAX)?);
        let lanes = self.integer(5)? as u8;
        let semantic = self.until("").to_owned();
        if semantic.is_empty() {
            return self.error(self.at, "expected a semantic");
        }
        Ok(Binding { reg, name, elem, lanes, semantic })
    }

    fn dim(&mut self) -> Parse<(TexDim, bool)> {
        self.skip();
        let from = self.at;
        let shadow = self.eat("SHADOW");
        let word = self.word();
        let all = [TexDim::D1, TexDim::D2, TexDim::D3, TexDim::Cube, TexDim::Rect];
        match all.into_iter().find(|d| d.to_string() == word) {
            Some(dim) => Ok((dim, shadow)),
            None => self.error(from, "expected 1D, 2D, 3D, CUBE or RECT"),
        }
    }

    fn instruction(&mut self) -> Parse<Inst> {
        let from = self.at;
        let word = self.word();
        let (mnemonic, saturate) = word.strip_suffix("_SAT").map_or((word, false), |m| (m, true));
        let Some(op) = Opcode::parse(mnemonic) else { return self.error(from, format!("unknown opcode `{word}`")) };
        let mut inst = Inst { op, dst: None, srcs: SmallVec::new(), tex: None, target: None, line: 0 };
        if op.kind() != Kind::Flow {
            inst.dst = Some(self.destination(op, saturate)?);
        } else if saturate {
            return self.error(from, "nothing to saturate");
        }
        for i in 0..op.srcs() {
            if i > 0 || inst.dst.is_some() {
                self.expect(",")?;
            }
            inst.srcs.push(self.source()?);
        }
        if op.is_texture() {
            self.expect(",")?;
            self.expect("s")?;
            let sampler = self.integer(16)?;
            self.expect(",")?;
            let (dim, shadow) = self.dim()?;
            inst.tex = Some(TexInfo { sampler, dim, shadow });
        }
        if op == Opcode::Cal {
            inst.target = Some(self.integer(MAX_TARGET)?);
        }
        inst.normalize();
        Ok(inst)
    }

    /// A register of one of the files, or `letter[a0.x + n]`.
    fn register(&mut self, files: &[File]) -> Parse<(Reg, Option<Rel>)> {
        self.skip();
        let from = self.at;
        let Some(&file) = files.iter().find(|f| self.rest().starts_with(f.letter())) else {
            return self.error(from, "expected a register");
        };
        self.at += file.letter().len();
        if !self.eat("[") {
            return Ok((Reg::new(file, self.integer(MAX_REG)?), None));
        }
        if file == File::Addr {
            return self.error(from, "the address register is not indexed");
        }
        self.expect("a0.")?;
        let lane = self.lane()?;
        let index = if self.eat("+") { self.integer(MAX_REG)? } else { 0 };
        self.expect("]")?;
        Ok((Reg::new(file, index), Some(Rel { lane })))
    }

    fn lane(&mut self) -> Parse<u8> {
        let found = self.rest().chars().next().and_then(|c| LANE_NAMES.iter().position(|&l| l == c));
        match found {
            Some(lane) => {
                self.at += 1;
                Ok(lane as u8)
            }
            None => self.error(self.at, "expected x, y, z or w"),
        }
    }

    fn destination(&mut self, op: Opcode, saturate: bool) -> Parse<Dst> {
        let files: &[File] = if op.kind() == Kind::Address { &[File::Addr] } else { &[File::Temp, File::Output] };
        let from = self.at;
        let (reg, rel) = self.register(files)?;
        if reg.file == File::Addr && (saturate || reg.index != 0) {
            return self.error(from, "the address register is a0, without saturation");
        }
        let mut mask = WriteMask::ALL;
        if self.eat(".") {
            let from = self.at;
            let mut bits = 0u8;
            while self.rest().starts_with(LANE_NAMES) {
                let lane = self.lane()?;
                if bits >> lane != 0 {
                    return self.error(from, "lanes of a mask stand in order, each once");
                }
                bits |= 1 << lane;
            }
            if bits == 0 {
                return self.error(from, "expected a mask");
            }
            mask = WriteMask(bits);
        }
        Ok(Dst { reg, rel, mask, saturate })
    }

    fn source(&mut self) -> Parse<Src> {
        let neg = self.eat("-");
        let abs = self.eat("|");
        let (reg, rel) = self.register(&[File::Temp, File::Input, File::Const])?;
        let mut swizzle = [0, 1, 2, 3];
        if self.eat(".") {
            let from = self.at;
            let mut lanes = Vec::new();
            while lanes.len() < 4 && self.rest().starts_with(LANE_NAMES) {
                lanes.push(self.lane()?);
            }
            let Some(&last) = lanes.last() else { return self.error(from, "expected a swizzle") };
            for (i, place) in swizzle.iter_mut().enumerate() {
                *place = lanes.get(i).copied().unwrap_or(last);
            }
        }
        if abs {
            self.expect("|")?;
        }
        Ok(Src { reg, rel, swizzle, neg, abs })
    }
}
