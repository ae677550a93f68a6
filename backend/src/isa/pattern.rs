//! Selection patterns: parsed from a target's table, checked once at load.
//!
//! In: a tree of IR operations with variables and literals, and lines of machine code over those
//! variables. Out: [`Pattern`]s, longest first. Holds: every variable that an emitted line reads is bound by the
//! tree, every temporary is written before it is read, the last line writes the result, and every
//! opcode exists on the target with that number of sources.

use crate::mach::Opcode;
use ir::op::{Op, Shape};
use ir::types::LANE_NAMES;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A pattern as the table writes it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PatternSpec {
    /// For reports, and to switch it off.
    pub name: String,
    /// One row for many operations: `$` in `match` and in `emit`.
    #[serde(default)]
    pub ops: BTreeMap<String, String>,
    /// The tree.
    #[serde(rename = "match")]
    pub tree: String,
    /// The machine code.
    pub emit: Vec<String>,
    /// Whether a pipeline may leave it out.
    #[serde(default)]
    pub fuses: bool,
    /// Whether it computes what `ir::eval` says bit for bit; a row that does not is for the levels
    /// above `strict`.
    #[serde(default = "yes")]
    pub exact: bool,
    /// Variables that must be known to be finite: a row that multiplies by 0 what it does not choose
    /// would make a NaN of an infinity.
    #[serde(default)]
    pub finite: Vec<String>,
}

fn yes() -> bool {
    true
}

/// A tree to match.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Tree {
    /// Any operand, bound to this variable; where it stands again, the same operand.
    Var(usize),
    /// A literal that has these bits in every lane.
    Literal(u32),
    /// An operation over subtrees.
    Op(Op, Vec<Tree>),
}

/// Where an emitted line writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EmitDst {
    /// The matched root's value.
    Result,
    /// A temporary of the pattern, as wide as the result.
    Temp(usize),
}

/// What an emitted line reads.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum EmitArg {
    /// A variable of the tree.
    Var(usize),
    /// A temporary.
    Temp(usize),
    /// A literal in every lane.
    Literal(f32),
}

/// A source with modifiers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EmitSrc {
    /// What.
    pub arg: EmitArg,
    /// Negated, after `abs`.
    pub neg: bool,
    /// Absolute value.
    pub abs: bool,
    /// This lane of it in every place.
    pub lane: Option<u8>,
}

/// One emitted line.
#[derive(Clone, PartialEq, Debug)]
pub struct EmitLine {
    /// Opcode.
    pub op: Opcode,
    /// With saturation.
    pub saturate: bool,
    /// Destination.
    pub dst: EmitDst,
    /// Sources.
    pub srcs: Vec<EmitSrc>,
}

/// A checked pattern.
#[derive(Clone, PartialEq, Debug)]
pub struct Pattern {
    /// The row's name.
    pub name: String,
    /// What to match; always an operation.
    pub tree: Tree,
    /// Number of operations in the tree.
    pub len: usize,
    /// Number of variables.
    pub vars: usize,
    /// Number of temporaries.
    pub temps: usize,
    /// What to emit.
    pub emit: Vec<EmitLine>,
    /// Whether a pipeline may leave it out.
    pub fuses: bool,
    /// Whether `strict` may use it.
    pub exact: bool,
    /// Variables that must be known to be finite.
    pub finite: Vec<usize>,
    /// Whether it is one operation on any operands.
    pub general: bool,
}

impl Pattern {
    /// The operation at the root.
    pub fn root(&self) -> Op {
        match self.tree {
            Tree::Op(op, _) => op,
            Tree::Var(_) | Tree::Literal(_) => Op::Undef, // excluded at load
        }
    }
}

/// Trees nest no deeper than this.
const MAX_DEPTH: usize = 8;

struct Names(Vec<String>);

impl Names {
    fn get(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|n| n == name)
    }

    fn add(&mut self, name: &str) -> usize {
        self.get(name).unwrap_or_else(|| {
            self.0.push(name.to_owned());
            self.0.len() - 1
        })
    }
}

fn parse_tree(tokens: &mut Vec<&str>, vars: &mut Names, own: Option<Op>, depth: usize) -> Result<Tree, String> {
    if depth > MAX_DEPTH {
        return Err(format!("tree nests deeper than {MAX_DEPTH}"));
    }
    match tokens.pop() {
        Some("(") => {
            let word = tokens.pop().ok_or("tree ends after `(`")?;
            let op = match (word, own) {
                ("$", Some(op)) => op,
                ("$", None) => return Err("`$` without `ops`".into()),
                (word, _) => Op::parse(word).ok_or_else(|| format!("unknown operation `{word}`"))?,
            };
            let mut args = Vec::new();
            while tokens.last() != Some(&")") {
                args.push(parse_tree(tokens, vars, own, depth + 1)?);
            }
            tokens.pop();
            let computes =
                !matches!(op.shape(), Shape::Leaf | Shape::Effect | Shape::Texture | Shape::Swizzle | Shape::Concat);
            if !computes || op.arity() != Some(args.len()) {
                return Err(format!("`{op}` with {} operands cannot be matched", args.len()));
            }
            Ok(Tree::Op(op, args))
        }
        Some(name) if name.starts_with('?') => Ok(Tree::Var(vars.add(name))),
        Some(number) if number.parse::<f32>().is_ok() => {
            Ok(Tree::Literal(number.parse::<f32>().unwrap_or_default().to_bits()))
        }
        other => Err(format!("unexpected `{}` in the tree", other.unwrap_or("end"))),
    }
}

fn tree_ops(tree: &Tree) -> usize {
    match tree {
        Tree::Var(_) | Tree::Literal(_) => 0,
        Tree::Op(_, args) => 1 + args.iter().map(tree_ops).sum::<usize>(),
    }
}

fn parse_src(text: &str, vars: &Names, temps: &Names) -> Result<EmitSrc, String> {
    if let Ok(value) = text.parse::<f32>() {
        return Ok(EmitSrc { arg: EmitArg::Literal(value), neg: false, abs: false, lane: None });
    }
    let (neg, rest) = text.strip_prefix('-').map_or((false, text), |r| (true, r));
    let (abs, name) = match rest.strip_prefix('|').and_then(|r| r.strip_suffix('|')) {
        Some(inner) => (true, inner),
        None => (false, rest),
    };
    let (name, lane) = match name.split_once('.') {
        Some((name, lane)) => {
            let at = LANE_NAMES.iter().position(|&l| lane.len() == 1 && lane.starts_with(l));
            (name, Some(at.ok_or_else(|| format!("`{text}` names no lane"))? as u8))
        }
        None => (name, None),
    };
    let arg = if name.starts_with('!') {
        EmitArg::Temp(temps.get(name).ok_or_else(|| format!("`{name}` is read before it is written"))?)
    } else {
        EmitArg::Var(vars.get(name).ok_or_else(|| format!("`{name}` is not in the tree"))?)
    };
    Ok(EmitSrc { arg, neg, abs, lane })
}

fn parse_line(text: &str, own: Option<Opcode>, vars: &Names, temps: &mut Names) -> Result<EmitLine, String> {
    let mut words = text.split_whitespace();
    let word = words.next().ok_or("empty line")?;
    let (name, saturate) = word.strip_suffix("_SAT").map_or((word, false), |n| (n, true));
    let op = match (name, own) {
        ("$", Some(op)) => op,
        (name, _) => Opcode::parse(name).ok_or_else(|| format!("unknown opcode `{name}`"))?,
    };
    if op.is_flow() || op.is_texture() || matches!(op, Opcode::Arl | Opcode::Kil) {
        return Err(format!("`{name}` cannot stand in a pattern"));
    }
    let dst = words.next().ok_or("no destination")?;
    let srcs = words.map(|w| parse_src(w, vars, temps)).collect::<Result<Vec<_>, _>>()?;
    let dst = match dst {
        "@" => EmitDst::Result,
        name if name.starts_with('!') => EmitDst::Temp(temps.add(name)),
        other => return Err(format!("bad destination `{other}`")),
    };
    if srcs.len() != op.srcs() {
        return Err(format!("`{}` takes {} sources", op.mnemonic(), op.srcs()));
    }
    Ok(EmitLine { op, saturate, dst, srcs })
}

fn compile_one(spec: &PatternSpec, own: Option<(Op, Opcode)>) -> Result<Pattern, String> {
    let spaced = spec.tree.replace('(', " ( ").replace(')', " ) ");
    let mut tokens: Vec<&str> = spaced.split_whitespace().rev().collect();
    let mut vars = Names(Vec::new());
    // `$` may stand at any depth: every level sees the row's own operation
    let tree = parse_rows(&mut tokens, &mut vars, own.map(|o| o.0))?;
    let mut temps = Names(Vec::new());
    let mut emit = Vec::new();
    for line in &spec.emit {
        emit.push(parse_line(line, own.map(|o| o.1), &vars, &mut temps)?);
    }
    if emit.last().is_none_or(|l| l.dst != EmitDst::Result)
        || emit.iter().rev().skip(1).any(|l| l.dst == EmitDst::Result)
    {
        return Err("exactly the last line must write `@`".into());
    }
    let len = tree_ops(&tree);
    let finite = spec.finite.iter().map(|name| vars.get(name).ok_or_else(|| format!("`{name}` is not in the tree")));
    let finite = finite.collect::<Result<Vec<usize>, String>>()?;
    let general = match &tree {
        Tree::Op(_, args) => len == 1 && args.iter().enumerate().all(|(n, arg)| *arg == Tree::Var(n)),
        _ => false,
    };
    Ok(Pattern {
        name: spec.name.clone(),
        tree,
        len,
        vars: vars.0.len(),
        temps: temps.0.len(),
        emit,
        fuses: spec.fuses,
        exact: spec.exact,
        finite,
        general,
    })
}

fn parse_rows(tokens: &mut Vec<&str>, vars: &mut Names, own: Option<Op>) -> Result<Tree, String> {
    let tree = parse_tree(tokens, vars, own, 0)?;
    match (&tree, tokens.last()) {
        (_, Some(rest)) => Err(format!("`{rest}` after the tree")),
        (Tree::Var(_) | Tree::Literal(_), _) => Err("a pattern must match an operation".into()),
        _ => Ok(tree),
    }
}

/// All patterns of a table, longest first, then in the table's order.
pub fn compile(specs: &[PatternSpec], has: impl Fn(Opcode) -> bool) -> Result<Vec<Pattern>, String> {
    let mut all = Vec::new();
    for spec in specs {
        let at = |e: String| format!("pattern `{}`: {e}", spec.name);
        if spec.ops.is_empty() {
            all.push(compile_one(spec, None).map_err(at)?);
        }
        for (op, opcode) in &spec.ops {
            let op = Op::parse(op).ok_or_else(|| at(format!("unknown operation `{op}`")))?;
            let opcode = Opcode::parse(opcode).ok_or_else(|| at(format!("unknown opcode `{opcode}`")))?;
            all.push(compile_one(spec, Some((op, opcode))).map_err(at)?);
        }
    }
    for pattern in &all {
        if let Some(line) = pattern.emit.iter().find(|l| !has(l.op)) {
            return Err(format!("pattern `{}`: the target has no `{}`", pattern.name, line.op.mnemonic()));
        }
    }
    all.sort_by_key(|p: &Pattern| std::cmp::Reverse(p.len));
    Ok(all)
}
