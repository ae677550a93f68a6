//! The three-address tree: function, structure, operation, operands. Walked depth first, children
//! in front of their parent, it gives the three-address code again: an operation hangs below the
//! one that reads its temporary when it stands directly in front of it and nothing else reads that
//! temporary.

use super::print::{dst_text, extra_text, mnemonic, src_text};
use crate::entity::Var;
use crate::tac::{Addr, Inst, Program, TacOp, VarKind};
use cranelift_entity::SecondaryMap;
use std::fmt::Write;

/// Deepest nesting of operations below each other; deeper ones start a tree of their own.
const MAX_TREE_DEPTH: usize = 64;

/// The lines of one statement, each with its depth below the statement.
struct Node {
    lines: Vec<(usize, String)>,
    height: usize,
    /// The temporary that a parent may take it for.
    temp: Option<Var>,
}

/// Prints the tree of a program.
pub fn print_tree(program: &Program) -> String {
    let (reads, writes) = count_uses(program);
    let mut out = String::new();
    for func in program.funcs.values() {
        let _ = writeln!(out, "function {}", func.name);
        let mut depth = 1;
        let mut pending: Vec<Node> = Vec::new();
        for inst in &func.body {
            let node = match inst.op {
                TacOp::Op(_) | TacOp::Tex(..) | TacOp::If | TacOp::Call(_) => {
                    let takes = |v: Var| reads[v] == 1 && writes[v] == 1 && is_temp(program, v);
                    make_node(program, inst, &mut pending, takes)
                }
                op => leaf(flow_word(op).to_string()),
            };
            match inst.op {
                TacOp::Op(_) | TacOp::Tex(..) | TacOp::Call(_) => pending.push(node),
                TacOp::If => {
                    pending.push(node);
                    flush(&mut out, &mut pending, depth);
                    indent(&mut out, depth, "then");
                    depth += 1;
                }
                TacOp::Else => {
                    flush(&mut out, &mut pending, depth);
                    indent(&mut out, depth - 1, "else");
                }
                TacOp::Loop => {
                    pending.push(node);
                    flush(&mut out, &mut pending, depth);
                    depth += 1;
                }
                TacOp::EndIf | TacOp::EndLoop => {
                    flush(&mut out, &mut pending, depth);
                    depth = depth.saturating_sub(1).max(1);
                }
                TacOp::Brk | TacOp::Cont | TacOp::Ret => pending.push(node),
            }
        }
        flush(&mut out, &mut pending, depth);
    }
    out
}

fn flow_word(op: TacOp) -> &'static str {
    match op {
        TacOp::Loop => "loop",
        TacOp::Brk => "break",
        TacOp::Cont => "continue",
        TacOp::Ret => "return",
        _ => "",
    }
}

fn leaf(text: String) -> Node {
    Node { lines: vec![(0, text)], height: 1, temp: None }
}

fn is_temp(program: &Program, var: Var) -> bool {
    program.vars.get(var).is_some_and(|d| d.kind == VarKind::Temp && d.elems == 1)
}

/// How often each variable is named as source and as destination.
fn count_uses(program: &Program) -> (SecondaryMap<Var, u32>, SecondaryMap<Var, u32>) {
    let (mut reads, mut writes) = (SecondaryMap::new(), SecondaryMap::new());
    for inst in program.funcs.values().flat_map(|f| &f.body) {
        for src in &inst.srcs {
            if let Addr::Var(var, index) = src.addr {
                reads[var] += 1;
                if let Some((rel, _)) = index.rel {
                    reads[rel] += 2; // an index is no operand: never hang its producer here
                }
            }
        }
        if let Some(dst) = &inst.dst {
            writes[dst.var] += 1;
            if let Some((rel, _)) = dst.index.rel {
                reads[rel] += 2;
            }
        }
        if let TacOp::Tex(_, tex) = inst.op
            && let Some((rel, _)) = tex.index.rel
        {
            reads[rel] += 2;
        }
    }
    (reads, writes)
}

/// Makes an operation's node; operands from the last to the first take the statement just before.
fn make_node(program: &Program, inst: &Inst, pending: &mut Vec<Node>, takes: impl Fn(Var) -> bool) -> Node {
    let mut children: Vec<Node> = Vec::new();
    for src in inst.srcs.iter().rev() {
        let text = src_text(program, src);
        let temp = match src.addr {
            Addr::Var(var, _) if takes(var) => Some(var),
            _ => None,
        };
        match pending.pop() {
            Some(mut below) if temp.is_some() && below.temp == temp && below.height < MAX_TREE_DEPTH => {
                if let Some(first) = below.lines.first_mut() {
                    first.1.push_str(&format!(" as {text}"));
                }
                children.push(below);
            }
            other => {
                pending.extend(other);
                children.push(leaf(text));
            }
        }
    }
    children.reverse();
    let mut head = mnemonic(inst.op);
    if let Some(dst) = &inst.dst {
        let _ = write!(head, " -> {}", dst_text(program, dst));
    }
    for extra in extra_text(program, inst.op) {
        let _ = write!(head, " {extra}");
    }
    if inst.line != 0 {
        let _ = write!(head, " ; line {}", inst.line);
    }
    let height = 1 + children.iter().map(|c| c.height).max().unwrap_or(0);
    let mut lines = vec![(0, head)];
    lines.extend(children.into_iter().flat_map(|c| c.lines).map(|(depth, text)| (depth + 1, text)));
    Node { lines, height, temp: inst.dst.map(|d| d.var) }
}

fn indent(out: &mut String, depth: usize, text: &str) {
    let _ = writeln!(out, "{}{text}", "  ".repeat(depth.min(MAX_TREE_DEPTH)));
}

fn flush(out: &mut String, pending: &mut Vec<Node>, depth: usize) {
    for (below, text) in pending.drain(..).flat_map(|n| n.lines) {
        indent(out, depth + below, &text);
    }
}
