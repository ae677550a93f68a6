//! The text form of the typed tree (`--emit typed`): every expression with its type.

use super::{Block, Expr, ExprKind, FuncId, Shader, Stmt, StmtKind, VarId};
use std::fmt::Write;

/// The whole shader.
pub fn dump(shader: &Shader<'_>) -> String {
    let mut d = Dump { shader, out: String::new(), depth: 0 };
    for (i, var) in shader.vars.iter().enumerate() {
        use super::Role::{Const, Local, Param};
        let inner = matches!(var.role, Local | Param { .. });
        if !inner && (var.role != Const || !var.builtin) {
            let mut text = format!("{} {} {}", var.role.word(), var.ty, d.var_name(VarId(i as u32)));
            if let Some(value) = var.value {
                let lanes: Vec<String> = value.iter().map(|l| l.to_string()).collect();
                let _ = write!(text, " = {{{}}}", lanes.join(", "));
            }
            d.line(&text);
        }
    }
    for &(var, init) in &shader.inits {
        let text = format!("init {}", d.var_name(var));
        d.line(&text);
        d.nested(|d| d.expr(init));
    }
    for (i, func) in shader.funcs.iter().enumerate() {
        let Some(body) = func.body else { continue };
        let params: Vec<String> = func
            .params
            .iter()
            .map(|&p| format!("{} {} {}", shader.var(p).role.word(), shader.var(p).ty, d.var_name(p)))
            .collect();
        let text = format!("function {} {}({})", func.result, d.func_name(FuncId(i as u32)), params.join(", "));
        d.line(&text);
        d.block(&body);
    }
    d.out
}

struct Dump<'s, 'a> {
    shader: &'s Shader<'a>,
    out: String,
    depth: usize,
}

impl<'a> Dump<'_, 'a> {
    fn line(&mut self, text: &str) {
        for _ in 0..self.depth {
            self.out.push_str("  ");
        }
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn nested(&mut self, f: impl FnOnce(&mut Self)) {
        self.depth += 1;
        f(self);
        self.depth -= 1;
    }

    /// Names may repeat in other scopes, so plain variables carry their number.
    fn var_name(&self, id: VarId) -> String {
        let var = self.shader.var(id);
        if var.builtin { var.name.to_string() } else { format!("{}#{}", var.name, id.0) }
    }

    fn func_name(&self, id: FuncId) -> String {
        self.shader.func(id).name.to_string()
    }

    fn block(&mut self, block: &Block<'a>) {
        self.nested(|d| block.stmts.iter().for_each(|s| d.stmt(s)));
    }

    fn stmt(&mut self, stmt: &Stmt<'a>) {
        match stmt.kind {
            StmtKind::Block(b) => {
                self.line("block");
                self.block(&b);
            }
            StmtKind::Declare(var, init) => {
                let text = format!("declare {} {}", self.shader.var(var).ty, self.var_name(var));
                self.line(&text);
                if let Some(init) = init {
                    self.nested(|d| d.expr(init));
                }
            }
            StmtKind::Expr(e) => self.expr(e),
            StmtKind::If { cond, then, otherwise } => {
                self.line("if");
                self.nested(|d| d.expr(cond));
                self.line("then");
                self.block(&then);
                if let Some(otherwise) = otherwise {
                    self.line("else");
                    self.block(&otherwise);
                }
            }
            StmtKind::Loop(l) => {
                self.line("loop");
                self.nested(|d| {
                    l.init.iter().for_each(|s| d.stmt(s));
                    if let Some(cond) = l.cond {
                        let text = match l.cond_var {
                            Some(var) => format!("while {}", d.var_name(var)),
                            None => "while".to_string(),
                        };
                        d.line(if l.test_last { "until not" } else { &text });
                        d.nested(|d| d.expr(cond));
                    }
                    if let Some(step) = l.step {
                        d.line("step");
                        d.nested(|d| d.expr(step));
                    }
                    d.line("body");
                    d.block(&l.body);
                });
            }
            StmtKind::Return(value) => {
                self.line("return");
                if let Some(value) = value {
                    self.nested(|d| d.expr(value));
                }
            }
            StmtKind::Break => self.line("break"),
            StmtKind::Continue => self.line("continue"),
            StmtKind::Discard => self.line("discard"),
        }
    }

    fn expr(&mut self, e: &Expr<'a>) {
        let (head, parts): (String, Vec<&Expr<'a>>) = match e.kind {
            ExprKind::Const(lanes) => {
                let lanes: Vec<String> = lanes.iter().map(|l| l.to_string()).collect();
                (format!("const {}", lanes.join(" ")), vec![])
            }
            ExprKind::Var(id) => (self.var_name(id), vec![]),
            ExprKind::Field(a, i) => {
                let name = match a.ty {
                    super::Ty::Struct(s) => s.fields[i as usize].name,
                    _ => "?",
                };
                (format!(".{name}"), vec![a])
            }
            ExprKind::Swizzle(a, swz) => (format!("swizzle {swz}"), vec![a]),
            ExprKind::Index(a, b) => ("index".into(), vec![a, b]),
            ExprKind::Neg(a) => ("-".into(), vec![a]),
            ExprKind::Not(a) => ("!".into(), vec![a]),
            ExprKind::Step { place, up, post } => {
                (format!("{}{}", if post { "post" } else { "pre" }, if up { "++" } else { "--" }), vec![place])
            }
            ExprKind::Binary(op, a, b) => (op.symbol().into(), vec![a, b]),
            ExprKind::Assign(op, a, b) => (format!("{}=", op.map_or("", |o| o.symbol())), vec![a, b]),
            ExprKind::Ternary(a, b, c) => ("?:".into(), vec![a, b, c]),
            ExprKind::Comma(a, b) => (",".into(), vec![a, b]),
            ExprKind::Call(f, args) => (format!("call {}", self.func_name(f)), args.to_vec()),
            ExprKind::Builtin(f, args) => (format!("builtin {f}"), args.to_vec()),
            ExprKind::Construct(args) => (format!("construct {}", e.ty), args.to_vec()),
        };
        self.line(&format!("{head} : {}", e.ty));
        self.nested(|d| parts.into_iter().for_each(|p| d.expr(p)));
    }
}
