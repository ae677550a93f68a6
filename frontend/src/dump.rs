//! Text forms of the tokens and of the syntax tree.
//!
//! Out: one line a token, or one line a node, indented by its depth in the tree. The forms are
//! for people and tests; nothing reads them back.

use crate::ast::*;
use crate::lexer::{PaperKind, Tok, Token};
use ir::diag::SourceMap;
use std::fmt::Write;

/// Line, kind and value of each token; with `blanks` also where white space stands.
pub fn dump_tokens(tokens: &[Token<'_>], sources: &SourceMap, blanks: bool) -> String {
    let mut out = String::new();
    for (i, token) in tokens.iter().enumerate() {
        if token.tok == Tok::Eof {
            break;
        }
        let line = sources.line(token.span);
        if blanks && i > 0 && token.space_before {
            let _ = writeln!(out, "{line:<4} {:<10}", PaperKind::Blank.name());
        }
        let _ = writeln!(out, "{line:<4} {:<10} {}", PaperKind::of(token.tok).name(), token.text);
    }
    out.lines().map(str::trim_end).fold(String::with_capacity(out.len()), |text, line| text + line + "\n")
}

/// The tree, with the line of each declaration and statement.
pub fn dump_ast(unit: &TranslationUnit<'_>, sources: &SourceMap) -> String {
    let mut dump = Dump { out: String::new(), depth: 0, sources };
    let es = if unit.version.is_es() { " es" } else { "" };
    dump.line(format_args!("shader {}{es}", unit.version.number()));
    dump.nested(|d| {
        for extension in unit.extensions {
            d.line(format_args!("extension {} {:?}", extension.name.text, extension.behavior));
        }
        for pragma in unit.pragmas {
            d.line(format_args!("pragma {:?}", pragma.kind));
        }
        unit.items.iter().for_each(|item| d.item(item));
    });
    dump.out
}

struct Dump<'s> {
    out: String,
    depth: usize,
    sources: &'s SourceMap,
}

impl Dump<'_> {
    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        for _ in 0..self.depth {
            self.out.push_str("  ");
        }
        let _ = self.out.write_fmt(text);
        self.out.push('\n');
    }

    fn nested(&mut self, body: impl FnOnce(&mut Self)) {
        self.depth += 1;
        body(self);
        self.depth -= 1;
    }

    fn at(&self, span: ir::diag::Span) -> u32 {
        self.sources.line(span)
    }

    fn item(&mut self, item: &Item<'_>) {
        match item.kind {
            ItemKind::Decl(decl) => self.decl(decl),
            ItemKind::Function(function) => {
                self.header("function", &function.header);
                self.nested(|d| d.block(&function.body));
            }
            ItemKind::Error => self.line(format_args!("error @{}", self.at(item.span))),
        }
    }

    fn header(&mut self, what: &str, header: &FunctionHeader<'_>) {
        let ty = type_text(&header.result);
        let qualifiers = qualifier_text(&header.qualifiers);
        self.line(format_args!("{what} {qualifiers}{ty} {} @{}", header.name.text, self.at(header.span)));
        self.nested(|d| {
            for param in header.params {
                let constant = if param.is_const.is_some() { "const " } else { "" };
                let direction = match param.direction {
                    Direction::In => "in",
                    Direction::Out => "out",
                    Direction::InOut => "inout",
                };
                let name = param.name.map_or(String::new(), |n| format!(" {}", n.text));
                d.line(format_args!("param {constant}{direction} {}{name}", type_text(&param.ty)));
                d.nested(|d| {
                    d.array("size", param.ty.array);
                    d.array("size", param.array);
                });
            }
        });
    }

    fn array(&mut self, what: &str, array: Option<ArraySpec<'_>>) {
        match array {
            None => {}
            Some(ArraySpec { size: None, .. }) => self.line(format_args!("{what} unsized")),
            Some(ArraySpec { size: Some(size), .. }) => {
                self.line(format_args!("{what}"));
                self.nested(|d| d.expr(size));
            }
        }
    }

    fn decl(&mut self, decl: &Decl<'_>) {
        let line = self.at(decl.span);
        match &decl.kind {
            DeclKind::Vars(vars) => {
                let text = qualifier_text(&vars.qualifiers);
                self.line(format_args!("declare {text}{} @{line}", type_text(&vars.ty)));
                self.nested(|d| {
                    d.type_parts(&vars.ty);
                    vars.vars.iter().for_each(|var| d.declarator(var));
                });
            }
            DeclKind::Precision { precision, ty } => {
                self.line(format_args!("precision {} {} @{line}", precision.keyword(), type_text(ty)));
            }
            DeclKind::Invariant(names) => {
                let names: Vec<_> = names.iter().map(|n| n.text).collect();
                self.line(format_args!("invariant {} @{line}", names.join(" ")));
            }
            DeclKind::Prototype(header) => self.header("prototype", header),
        }
    }

    /// What does not fit into a type's own text: its array size and its struct.
    fn type_parts(&mut self, ty: &TypeSpec<'_>) {
        self.array("type-size", ty.array);
        if let TypeName::Struct(def) = ty.base {
            for field in def.fields {
                self.line(format_args!("member {}", type_text(&field.ty)));
                self.nested(|d| {
                    d.type_parts(&field.ty);
                    field.names.iter().for_each(|name| d.declarator(name));
                });
            }
        }
    }

    fn declarator(&mut self, var: &Declarator<'_>) {
        self.line(format_args!("name {}", var.name.text));
        self.nested(|d| {
            d.array("size", var.array);
            if let Some(init) = var.init {
                d.line(format_args!("init"));
                d.nested(|d| d.expr(init));
            }
        });
    }

    fn block(&mut self, block: &Block<'_>) {
        self.line(format_args!("block @{}", self.at(block.span)));
        self.nested(|d| block.stmts.iter().for_each(|stmt| d.stmt(stmt)));
    }

    fn part(&mut self, name: &str, expr: &Expr<'_>) {
        self.line(format_args!("{name}"));
        self.nested(|d| d.expr(expr));
    }

    fn condition(&mut self, condition: &Condition<'_>) {
        match condition {
            Condition::Expr(expr) => self.part("condition", expr),
            Condition::Decl { qualifiers, ty, var } => {
                self.line(format_args!("condition {}{}", qualifier_text(qualifiers), type_text(ty)));
                self.nested(|d| d.declarator(var));
            }
        }
    }

    fn stmt(&mut self, stmt: &Stmt<'_>) {
        let line = self.at(stmt.span);
        match &stmt.kind {
            StmtKind::Empty => self.line(format_args!("empty @{line}")),
            StmtKind::Block(block) => self.block(block),
            StmtKind::Decl(decl) => self.decl(decl),
            StmtKind::Expr(expr) => self.part(&format!("expression @{line}"), expr),
            StmtKind::If { cond, then, otherwise } => {
                self.line(format_args!("if @{line}"));
                self.nested(|d| {
                    d.part("condition", cond);
                    d.stmt(then);
                    if let Some(otherwise) = otherwise {
                        d.line(format_args!("else"));
                        d.stmt(otherwise);
                    }
                });
            }
            StmtKind::While { cond, body } => {
                self.line(format_args!("while @{line}"));
                self.nested(|d| {
                    d.condition(cond);
                    d.stmt(body);
                });
            }
            StmtKind::DoWhile { body, cond } => {
                self.line(format_args!("do @{line}"));
                self.nested(|d| {
                    d.stmt(body);
                    d.part("condition", cond);
                });
            }
            StmtKind::For { init, cond, step, body } => {
                self.line(format_args!("for @{line}"));
                self.nested(|d| {
                    d.stmt(init);
                    if let Some(cond) = cond {
                        d.condition(cond);
                    }
                    if let Some(step) = step {
                        d.part("step", step);
                    }
                    d.stmt(body);
                });
            }
            StmtKind::Return(None) => self.line(format_args!("return @{line}")),
            StmtKind::Return(Some(value)) => self.part(&format!("return @{line}"), value),
            StmtKind::Break => self.line(format_args!("break @{line}")),
            StmtKind::Continue => self.line(format_args!("continue @{line}")),
            StmtKind::Discard => self.line(format_args!("discard @{line}")),
            StmtKind::Error => self.line(format_args!("error @{line}")),
        }
    }

    fn expr(&mut self, expr: &Expr<'_>) {
        match &expr.kind {
            ExprKind::Int(value) => self.line(format_args!("int {value}")),
            ExprKind::Float(value) => self.line(format_args!("float {value:?}")),
            ExprKind::Bool(value) => self.line(format_args!("bool {value}")),
            ExprKind::Name(name) => self.line(format_args!("variable {name}")),
            ExprKind::Unary { op, operand } => {
                let place = if op.is_postfix() { "postfix" } else { "prefix" };
                self.part(&format!("{place} {}", op.symbol()), operand);
            }
            ExprKind::Binary { op, lhs, rhs } => self.binary(format_args!("binary {}", op.symbol()), lhs, rhs),
            ExprKind::Assign { op, lhs, rhs } => {
                self.binary(format_args!("assign {}=", op.map_or("", BinaryOp::symbol)), lhs, rhs);
            }
            ExprKind::Comma { lhs, rhs } => self.binary(format_args!("comma"), lhs, rhs),
            ExprKind::Index { object, index } => self.binary(format_args!("index"), object, index),
            ExprKind::Ternary { cond, then, otherwise } => {
                self.line(format_args!("ternary"));
                self.nested(|d| [cond, then, otherwise].into_iter().for_each(|e| d.expr(e)));
            }
            ExprKind::Call { callee, args } => {
                self.line(format_args!("call {}", callee.text));
                self.nested(|d| args.iter().for_each(|arg| d.expr(arg)));
            }
            ExprKind::Construct { ty, args } => {
                self.line(format_args!("construct {}", type_text(ty)));
                self.nested(|d| {
                    d.array("type-size", ty.array);
                    args.iter().for_each(|arg| d.expr(arg));
                });
            }
            ExprKind::Method { object, name, args } => {
                self.line(format_args!("method {}", name.text));
                self.nested(|d| {
                    d.expr(object);
                    args.iter().for_each(|arg| d.expr(arg));
                });
            }
            ExprKind::Field { object, name } => self.part(&format!("field {}", name.text), object),
            ExprKind::Error => self.line(format_args!("error")),
        }
    }

    fn binary(&mut self, what: std::fmt::Arguments<'_>, lhs: &Expr<'_>, rhs: &Expr<'_>) {
        self.line(what);
        self.nested(|d| {
            d.expr(lhs);
            d.expr(rhs);
        });
    }
}

fn type_text(ty: &TypeSpec<'_>) -> String {
    let precision = ty.precision.map_or(String::new(), |p| format!("{} ", p.keyword()));
    let array = match ty.array {
        None => "",
        Some(ArraySpec { size: None, .. }) => "[]",
        Some(_) => "[n]",
    };
    match ty.base {
        TypeName::Builtin(builtin) => format!("{precision}{builtin}{array}"),
        TypeName::Named(name) => format!("{precision}{}{array}", name.text),
        TypeName::Struct(def) => match def.name {
            Some(name) => format!("{precision}struct {}{array}", name.text),
            None => format!("{precision}struct{array}"),
        },
    }
}

fn qualifier_text(qualifiers: &Qualifiers) -> String {
    let mut text = String::new();
    if qualifiers.invariant.is_some() {
        text.push_str("invariant ");
    }
    if qualifiers.centroid.is_some() {
        text.push_str("centroid ");
    }
    if let Some((storage, _)) = qualifiers.storage {
        text.push_str(storage.keyword());
        text.push(' ');
    }
    text
}
