//! TAC to text.

use super::is_plain_name;
use crate::entity::Var;
use crate::tac::{Addr, Dst, Index, Inst, Program, Src, TacOp, VarDecl, VarKind};
use crate::types::{Literal, Scalar, TexDim};
use std::fmt::Write;

/// Prints a program so that [`super::parse`] reads the same one back.
pub fn print(program: &Program) -> String {
    let mut out = String::new();
    out.push_str(&format!("stage {}\nversion {}\n", program.stage, program.version));
    let entry = program.funcs.get(program.main).map_or("main", |f| &f.name);
    out.push_str(&format!("entry {}\n\n", name_text(entry)));
    for decl in program.vars.values() {
        push_line(&mut out, &decl_text(decl), decl.line);
    }
    for func in program.funcs.values() {
        let params: Vec<String> = func.params.iter().map(|&v| var_text(program, v)).collect();
        out.push('\n');
        push_line(&mut out, &format!("func {}({}) {{", name_text(&func.name), params.join(", ")), func.line);
        let mut depth = 1usize;
        for inst in &func.body {
            if matches!(inst.op, TacOp::Else | TacOp::EndIf | TacOp::EndLoop) {
                depth = depth.saturating_sub(1);
            }
            let indent = "  ".repeat(depth.min(32));
            push_line(&mut out, &format!("{indent}{}", inst_text(program, inst)), inst.line);
            if matches!(inst.op, TacOp::If | TacOp::Else | TacOp::Loop) {
                depth += 1;
            }
        }
        out.push_str("}\n");
    }
    out
}

/// Column at which `; line N` stands when there is room.
const LINE_COLUMN: usize = 56;

fn push_line(out: &mut String, text: &str, line: u32) {
    out.push_str(text);
    if line != 0 {
        for _ in text.chars().count()..LINE_COLUMN {
            out.push(' ');
        }
        let _ = write!(out, " ; line {line}");
    }
    out.push('\n');
}

pub(super) fn name_text(name: &str) -> String {
    if is_plain_name(name) {
        return name.to_string();
    }
    let mut out = String::from("\"");
    for c in name.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

pub(super) fn var_text(program: &Program, var: Var) -> String {
    program.vars.get(var).map_or_else(|| format!("\"?{var}\""), |d| name_text(&d.name))
}

/// `1D`, `2D`, ... or with `SHADOW` in front.
pub(super) fn shape_text(dim: TexDim, shadow: bool) -> String {
    format!("{}{dim}", if shadow { "SHADOW" } else { "" })
}

fn decl_text(decl: &VarDecl) -> String {
    let mut out = match decl.kind {
        VarKind::Attribute => "attribute".to_string(),
        VarKind::Uniform => "uniform".to_string(),
        VarKind::Varying => "varying".to_string(),
        VarKind::Output => "output".to_string(),
        VarKind::Sampler { dim, shadow } => format!("sampler {}", shape_text(dim, shadow)),
        VarKind::Local => "local".to_string(),
        VarKind::Temp => "temp".to_string(),
    };
    let _ = write!(out, " {} {}", decl.ty, name_text(&decl.name));
    if decl.elems != 1 {
        let _ = write!(out, "[{}]", decl.elems);
    }
    if decl.cols != 1 {
        let _ = write!(out, " cols {}", decl.cols);
    }
    if decl.type_name != decl.ty.to_string() {
        let _ = write!(out, " as {}", quoted(&decl.type_name));
    }
    if decl.invariant {
        out.push_str(" invariant");
    }
    if decl.centroid {
        out.push_str(" centroid");
    }
    if let Some(precision) = decl.precision {
        let _ = write!(out, " {}", precision.keyword());
    }
    if let Some(location) = decl.location {
        let _ = write!(out, " at {location}");
    }
    if !decl.init.is_empty() {
        let init: Vec<String> = decl.init.iter().map(literal_text).collect();
        let _ = write!(out, " = {}", init.join(", "));
    }
    out
}

fn quoted(text: &str) -> String {
    let name = name_text(text);
    if name.starts_with('"') { name } else { format!("\"{name}\"") }
}

pub(super) fn literal_text(literal: &Literal) -> String {
    let lanes: Vec<String> = literal.lanes().map(|v| lane_text(literal.ty.scalar, v)).collect();
    format!("{}({})", literal.ty, lanes.join(", "))
}

/// A lane's shortest text that reads back to the same bits.
fn lane_text(scalar: Scalar, value: f32) -> String {
    let plain_zero = value.to_bits() == 0;
    match scalar {
        _ if !value.is_finite() => format!("{:#010x}", value.to_bits()),
        Scalar::Bool if plain_zero => "false".to_string(),
        Scalar::Bool if value == 1.0 => "true".to_string(),
        Scalar::Int if plain_zero || (value != 0.0 && value.trunc() == value && value.abs() < 1e9) => {
            format!("{value:.0}")
        }
        _ => format!("{value:?}"),
    }
}

fn index_text(program: &Program, elems: u32, index: Index) -> String {
    match index.rel {
        Some((rel, lane)) => {
            let lane = crate::types::LANE_NAMES[(lane & 3) as usize];
            format!("[{}.{lane} + {}]", var_text(program, rel), index.offset)
        }
        None if elems == 1 && index.offset == 0 => String::new(),
        None => format!("[{}]", index.offset),
    }
}

fn elems(program: &Program, var: Var) -> u32 {
    program.vars.get(var).map_or(0, |d| d.elems)
}

pub(super) fn src_text(program: &Program, src: &Src) -> String {
    match src.addr {
        Addr::Var(var, index) => {
            format!("{}{}.{}", var_text(program, var), index_text(program, elems(program, var), index), src.swz)
        }
        Addr::Lit(literal) if src.swz.is_identity(literal.ty.lanes) => literal_text(&literal),
        Addr::Lit(literal) => format!("{}.{}", literal_text(&literal), src.swz),
    }
}

pub(super) fn dst_text(program: &Program, dst: &Dst) -> String {
    let elems = elems(program, dst.var);
    format!("{}{}.{}", var_text(program, dst.var), index_text(program, elems, dst.index), dst.mask)
}

/// The word in front of an instruction.
pub(super) fn mnemonic(op: TacOp) -> String {
    match op {
        TacOp::Op(op) | TacOp::Tex(op, _) => op.mnemonic().to_ascii_uppercase(),
        TacOp::If => "IF".into(),
        TacOp::Else => "ELSE".into(),
        TacOp::EndIf => "ENDIF".into(),
        TacOp::Loop => "LOOP".into(),
        TacOp::EndLoop => "ENDLOOP".into(),
        TacOp::Brk => "BRK".into(),
        TacOp::Cont => "CONT".into(),
        TacOp::Call(_) => "CAL".into(),
        TacOp::Ret => "RET".into(),
    }
}

/// The operands after the sources: sampler and shape, or the function called.
pub(super) fn extra_text(program: &Program, op: TacOp) -> Vec<String> {
    match op {
        TacOp::Tex(_, tex) => {
            let index = index_text(program, elems(program, tex.sampler), tex.index);
            vec![format!("{}{index}", var_text(program, tex.sampler)), shape_text(tex.dim, tex.shadow)]
        }
        TacOp::Call(func) => {
            vec![program.funcs.get(func).map_or_else(|| format!("\"?{func}\""), |f| name_text(&f.name))]
        }
        _ => Vec::new(),
    }
}

fn inst_text(program: &Program, inst: &Inst) -> String {
    let mut operands = Vec::new();
    operands.extend(inst.dst.iter().map(|d| dst_text(program, d)));
    operands.extend(inst.srcs.iter().map(|s| src_text(program, s)));
    operands.extend(extra_text(program, inst.op));
    let mnemonic = mnemonic(inst.op);
    if operands.is_empty() { mnemonic } else { format!("{mnemonic} {}", operands.join(", ")) }
}
