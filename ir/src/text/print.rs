//! Writes the text form.

use crate::entity::{Block, Inst, Value, Var};
use crate::func::{BlockCall, Function, Imm, Signature, Terminator};
use crate::op::Op;
use crate::tac::{VarDecl, VarKind};
use crate::types::Literal;
use std::fmt::Write;

/// The whole function.
pub fn print(func: &Function<'_>) -> String {
    let mut out = String::new();
    let _ = match func.name.as_str() {
        "main" => writeln!(out, "function {} {{", func.stage),
        name => writeln!(out, "function {} {name:?} {{", func.stage),
    };
    for (var, decl) in &func.vars {
        let _ = writeln!(out, "  {var} = {}", decl_text(decl));
    }
    if let Some(signature) = &func.signature {
        let _ = writeln!(out, "  takes{}", signature_text(signature));
    }
    for (index, callee) in func.callees.iter().enumerate() {
        let _ = writeln!(out, "  callee{index} = function {}{}", callee.func, signature_text(&callee.signature));
    }
    for &block in &func.layout {
        out.push('\n');
        block_text(func, block, &mut out);
    }
    out.push_str("}\n");
    out
}

/// `(var1[0], var2[0]) gives (var1[0])`.
fn signature_text(signature: &Signature) -> String {
    let elements = |all: &[(Var, u32)]| {
        let texts: Vec<String> = all.iter().map(|(var, elem)| format!("{var}[{elem}]")).collect();
        texts.join(", ")
    };
    format!(" ({}) gives ({})", elements(&signature.args), elements(&signature.results))
}

fn block_text(func: &Function<'_>, block: Block, out: &mut String) {
    let data = &func.blocks[block];
    let _ = write!(out, "{block}");
    if !data.params.is_empty() {
        let params: Vec<String> = data.params.iter().map(|&p| format!("{p}: {}", func.ty(p))).collect();
        let _ = write!(out, "({})", params.join(", "));
    }
    if let Some(merge) = data.loop_merge {
        let _ = write!(out, " loop {merge}");
    }
    out.push_str(":\n");
    for &inst in &data.insts {
        let _ = writeln!(out, "  {}", inst_text(func, inst));
    }
    let _ = match data.term {
        Terminator::None => writeln!(out, "  unfinished"),
        Terminator::Return => writeln!(out, "  return"),
        Terminator::Jump(call) => writeln!(out, "  jump {}", call_text(call)),
        Terminator::Branch { cond, then_call, else_call, merge } => {
            let merge = merge.map(|m| format!(", merge {m}")).unwrap_or_default();
            writeln!(out, "  branch {cond}, {}, {}{merge}", call_text(then_call), call_text(else_call))
        }
    };
}

fn call_text(call: BlockCall<'_>) -> String {
    if call.args.is_empty() { call.block.to_string() } else { format!("{}({})", call.block, list(call.args)) }
}

fn list(values: &[Value]) -> String {
    let texts: Vec<String> = values.iter().map(ToString::to_string).collect();
    texts.join(", ")
}

/// One instruction, without indentation.
pub fn inst_text(func: &Function<'_>, inst: Inst) -> String {
    let data = &func.insts[inst];
    let mut out = String::new();
    if let Some(result) = data.result.expand() {
        let _ = write!(out, "{result}: {} = ", func.ty(result));
    }
    out.push_str(data.op.mnemonic());
    let args = list(data.args);
    let imm = match data.imm {
        Imm::None => String::new(),
        Imm::Lit(literal) => literal_text(&literal),
        Imm::Swz(swz) if data.op == Op::Swz => {
            let _ = write!(out, " {args}.{swz}");
            return with_line(out, data.line);
        }
        Imm::Swz(swz) => format!(".{swz}"),
        Imm::Elem { var, elem } => format!("{var}[{elem}]"),
        Imm::Callee(index) => format!("callee{index}"),
        Imm::Out { var, elem, mask } => format!("{var}[{elem}].{mask}"),
        Imm::Tex { sampler, elem, indexed, dim, shadow } => {
            let shadow = if shadow { " shadow" } else { "" };
            let indexed = if indexed { " indexed" } else { "" };
            format!("{sampler}[{elem}] {dim}{shadow}{indexed}")
        }
    };
    match (imm.is_empty(), args.is_empty()) {
        (true, true) => {}
        (false, false) => {
            let _ = write!(out, " {imm}, {args}");
        }
        _ => {
            let _ = write!(out, " {imm}{args}");
        }
    }
    with_line(out, data.line)
}

fn with_line(mut out: String, line: u32) -> String {
    if line != 0 {
        let _ = write!(out, " @{line}");
    }
    out
}

/// `vec2(1.0, 0x7fc00001)`: decimal where that keeps every bit, else the bits.
pub fn literal_text(literal: &Literal) -> String {
    let lanes: Vec<String> = literal.lanes().map(float_text).collect();
    format!("{}({})", literal.ty, lanes.join(", "))
}

fn float_text(value: f32) -> String {
    if value.to_bits() == f32::NAN.to_bits() {
        "nan".to_string()
    } else if value.is_nan() {
        format!("{:#010x}", value.to_bits())
    } else {
        format!("{value:?}")
    }
}

fn decl_text(decl: &VarDecl) -> String {
    let kind = match decl.kind {
        VarKind::Attribute => "attribute".to_string(),
        VarKind::Uniform => "uniform".to_string(),
        VarKind::Varying => "varying".to_string(),
        VarKind::Output => "output".to_string(),
        VarKind::Local => "local".to_string(),
        VarKind::Temp => "temp".to_string(),
        VarKind::Sampler { dim, shadow } => format!("sampler {dim}{}", if shadow { " shadow" } else { "" }),
    };
    let mut out = format!("{kind} {}", decl.ty);
    if decl.elems != 1 {
        let _ = write!(out, "[{}]", decl.elems);
    }
    let _ = write!(out, " {:?}", decl.name);
    if decl.cols != 1 {
        let _ = write!(out, " cols {}", decl.cols);
    }
    if decl.type_name != decl.ty.to_string() {
        let _ = write!(out, " type {:?}", decl.type_name);
    }
    if decl.invariant {
        out.push_str(" invariant");
    }
    if let Some(location) = decl.location {
        let _ = write!(out, " at {location}");
    }
    if !decl.init.is_empty() {
        let values: Vec<String> = decl.init.iter().map(literal_text).collect();
        let _ = write!(out, " init {}", values.join(", "));
    }
    with_line(out, decl.line)
}
