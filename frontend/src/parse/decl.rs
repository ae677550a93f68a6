//! Declarations: variables, structs, functions, types, qualifiers.

use super::Parser;
use crate::ast::*;
use crate::lexer::{Kw, Tok};
use ir::diag::{Diagnostic, Span};

impl<'a> Parser<'a, '_> {
    /// One declaration of the outermost level; `None` for a lone `;`.
    pub(super) fn item(&mut self) -> Option<Item<'a>> {
        let start = self.peek().span;
        if self.at(Tok::Semi) {
            let token = self.bump();
            self.diags.push(Diagnostic::warning("empty-declaration", token.span, "a lone `;`"));
            return None;
        }
        let kind = match self.decl_or_header() {
            Some(DeclKind::Prototype(header)) if self.at(Tok::LBrace) => self.function(header),
            Some(kind) => {
                self.end_of_decl(&kind);
                let span = self.span_from(start);
                ItemKind::Decl(self.bump.alloc(Decl { kind, span }))
            }
            None => ItemKind::Error,
        };
        Some(Item { kind, span: self.span_from(start) })
    }

    fn end_of_decl(&mut self, kind: &DeclKind<'a>) {
        let context = match kind {
            DeclKind::Prototype(_) => "after the prototype, or `{`",
            _ => "after the declaration",
        };
        self.semicolon(context);
    }

    fn function(&mut self, header: FunctionHeader<'a>) -> ItemKind<'a> {
        let mark = self.open_scope();
        for name in header.params.iter().filter_map(|p| p.name) {
            self.declare(name, false);
        }
        let body = self.block();
        self.close_scope(mark);
        ItemKind::Function(self.bump.alloc(Function { header, body }))
    }

    /// A declaration inside a block, with its semicolon.
    pub(super) fn local_decl(&mut self) -> Option<&'a Decl<'a>> {
        let start = self.peek().span;
        let kind = self.decl_or_header()?;
        if matches!(kind, DeclKind::Prototype(_)) && self.at(Tok::LBrace) {
            self.error("nested-function", self.peek().span, "a function cannot be defined inside another");
            self.lost = true;
        }
        self.end_of_decl(&kind);
        let span = self.span_from(start);
        Some(self.bump.alloc(Decl { kind, span }))
    }

    /// Whether a declaration begins here rather than an expression.
    pub(super) fn starts_decl(&self) -> bool {
        match self.tok() {
            Tok::Kw(
                Kw::Attribute | Kw::Const | Kw::Uniform | Kw::Varying | Kw::Centroid | Kw::Invariant | Kw::Precision,
            ) => true,
            Tok::Kw(Kw::Lowp | Kw::Mediump | Kw::Highp | Kw::Struct | Kw::In | Kw::Out | Kw::InOut) => true,
            Tok::Type(_) => !self.constructs(),
            // Two names in a row can only be a type and a variable.
            Tok::Ident if self.tok_at(1) == Tok::Ident => true,
            Tok::Ident => self.is_type_name(self.peek().text) && !self.constructs(),
            // A reserved type such as `double` or a reserved qualifier.
            Tok::Reserved => matches!(self.tok_at(1), Tok::Ident | Tok::Type(_)),
            _ => false,
        }
    }

    /// Whether the type here is called: `vec2(` or `float[2](`.
    fn constructs(&self) -> bool {
        let mut at = 1;
        if self.tok_at(at) == Tok::LBracket {
            let mut open = 0usize;
            loop {
                match self.tok_at(at) {
                    Tok::LBracket => open += 1,
                    Tok::RBracket => open -= 1,
                    Tok::Semi | Tok::LBrace | Tok::RBrace | Tok::Eof => return false,
                    _ => {}
                }
                at += 1;
                if open == 0 {
                    break;
                }
            }
        }
        self.tok_at(at) == Tok::LParen
    }

    fn decl_or_header(&mut self) -> Option<DeclKind<'a>> {
        if self.at(Tok::Kw(Kw::Precision)) {
            return self.precision_decl();
        }
        if self.at(Tok::Kw(Kw::Invariant)) && self.tok_at(1) == Tok::Ident {
            return self.invariant_decl();
        }
        let start = self.peek().span;
        let qualifiers = self.qualifiers();
        let ty = self.type_spec()?;
        if self.at(Tok::Semi) {
            return Some(DeclKind::Vars(VarsDecl { qualifiers, ty, vars: &[] }));
        }
        if matches!(self.tok(), Tok::Ident | Tok::Reserved) && self.tok_at(1) == Tok::LParen {
            return self.header(qualifiers, ty, start).map(DeclKind::Prototype);
        }
        let mut vars = Vec::new();
        loop {
            let name = self.name("a name after the type")?;
            vars.push(self.declarator(name));
            if self.lost || self.eat(Tok::Comma).is_none() {
                break;
            }
        }
        Some(DeclKind::Vars(VarsDecl { qualifiers, ty, vars: self.bump.alloc_slice_copy(&vars) }))
    }

    /// A variable after its name.
    pub(super) fn declarator(&mut self, name: Name<'a>) -> Declarator<'a> {
        let array = self.array_spec();
        // The name is known in its own initializer only as what it was before.
        let init = self.eat(Tok::Assign).map(|_| {
            if self.at(Tok::LBrace) {
                self.error("syntax-error", self.peek().span, "initializers in braces are not part of this language");
                self.lost = true;
            }
            self.assignment_expr()
        });
        self.declare(name, false);
        Declarator { name, array, init, span: self.span_from(name.span) }
    }

    fn precision_decl(&mut self) -> Option<DeclKind<'a>> {
        self.bump();
        let precision = self.precision();
        let Some(precision) = precision else {
            self.unexpected("`lowp`, `mediump` or `highp`");
            return None;
        };
        let ty = self.type_spec()?;
        Some(DeclKind::Precision { precision, ty })
    }

    fn invariant_decl(&mut self) -> Option<DeclKind<'a>> {
        self.bump();
        let mut names = Vec::new();
        loop {
            names.push(self.name("the name of a varying")?);
            if self.eat(Tok::Comma).is_none() {
                break;
            }
        }
        Some(DeclKind::Invariant(self.bump.alloc_slice_copy(&names)))
    }

    fn precision(&mut self) -> Option<Precision> {
        let precision = match self.tok() {
            Tok::Kw(Kw::Lowp) => Precision::Low,
            Tok::Kw(Kw::Mediump) => Precision::Medium,
            Tok::Kw(Kw::Highp) => Precision::High,
            _ => return None,
        };
        self.bump();
        Some(precision)
    }

    /// `invariant centroid varying` and the like, in this order.
    pub(super) fn qualifiers(&mut self) -> Qualifiers {
        let mut found = Qualifiers::default();
        loop {
            let token = self.peek();
            let storage = match token.tok {
                Tok::Kw(Kw::Const) => Storage::Const,
                Tok::Kw(Kw::Attribute) => Storage::Attribute,
                Tok::Kw(Kw::Uniform) => Storage::Uniform,
                Tok::Kw(Kw::Varying) => Storage::Varying,
                Tok::Kw(keyword @ (Kw::Invariant | Kw::Centroid)) => {
                    let slot = if keyword == Kw::Invariant { &mut found.invariant } else { &mut found.centroid };
                    let doubled = slot.replace(token.span).is_some();
                    let late = found.storage.is_some() || (keyword == Kw::Invariant && found.centroid.is_some());
                    if doubled {
                        self.error("doubled-qualifier", token.span, format!("`{}` twice", token.text));
                    } else if late {
                        let message = format!("`{}` must stand before the other qualifiers", token.text);
                        self.error("qualifier-order", token.span, message);
                    }
                    self.bump();
                    continue;
                }
                Tok::Kw(Kw::In | Kw::Out | Kw::InOut) => {
                    let message = format!("`{}` is for parameters only", token.text);
                    self.error("bad-qualifier", token.span, message);
                    self.bump();
                    continue;
                }
                _ => break,
            };
            if let Some((first, _)) = found.storage {
                let message = format!("`{}` after `{}`: only one of them is possible", token.text, first.keyword());
                self.error("doubled-qualifier", token.span, message);
            }
            found.storage = Some((storage, token.span));
            self.bump();
        }
        let varying = matches!(found.storage, Some((Storage::Varying, _)));
        if let Some(span) = found.invariant.or(found.centroid).filter(|_| !varying) {
            let which = if found.invariant.is_some() { "invariant" } else { "centroid" };
            self.error("bad-qualifier", span, format!("`{which}` is for `varying` only"));
        }
        found
    }

    /// A type, with precision and array size if written.
    pub(super) fn type_spec(&mut self) -> Option<TypeSpec<'a>> {
        let start = self.peek().span;
        let precision = self.precision();
        let token = self.peek();
        let base = match token.tok {
            Tok::Type(ty) => {
                self.bump();
                TypeName::Builtin(ty)
            }
            Tok::Kw(Kw::Struct) => TypeName::Struct(self.struct_def()?),
            Tok::Ident => {
                self.bump();
                TypeName::Named(Name { text: token.text, span: token.span })
            }
            Tok::Reserved if matches!(self.tok_at(1), Tok::Ident | Tok::Type(_) | Tok::Kw(_)) => {
                let message = format!("`{}` is reserved and not a type of this version", token.text);
                self.error("reserved-word", token.span, message);
                self.lost = true;
                return None;
            }
            _ => {
                self.unexpected("a type");
                return None;
            }
        };
        let array = self.array_spec();
        match array {
            Some(array) if self.version == Version::Glsl110 => {
                let message = "an array size after the type needs `#version 120`";
                self.error("not-in-version", array.span, message);
            }
            // Not in the grammar of ES 1.00 either, but its compilers and tests take it.
            Some(array) if self.version.is_es() && !self.lost => {
                let message = "an array size after the type is not in GLSL ES 1.00";
                self.diags.push(Diagnostic::warning("not-in-version", array.span, message));
            }
            _ => {}
        }
        Some(TypeSpec { precision, base, array, span: self.span_from(start) })
    }

    /// `[n]` or `[]`, if there.
    fn array_spec(&mut self) -> Option<ArraySpec<'a>> {
        let open = self.eat(Tok::LBracket)?;
        let size = (!self.at(Tok::RBracket)).then(|| self.assignment_expr());
        self.expect(Tok::RBracket, "after the array size");
        if self.at(Tok::LBracket) && !self.lost {
            self.error("array-of-arrays", self.peek().span, "arrays of arrays are not part of this language");
            while self.eat(Tok::LBracket).is_some() && !self.lost {
                if !self.at(Tok::RBracket) {
                    self.assignment_expr();
                }
                self.expect(Tok::RBracket, "after the array size");
            }
        }
        Some(ArraySpec { size, span: self.span_from(open.span) })
    }

    fn struct_def(&mut self) -> Option<&'a StructDef<'a>> {
        if !self.enter() {
            return None;
        }
        let start = self.bump().span;
        let name = match self.tok() {
            Tok::LBrace => None,
            _ => Some(self.name("a struct's name or `{`")).flatten(),
        };
        let mut fields = Vec::new();
        if self.expect(Tok::LBrace, "to begin the struct's members") {
            while !matches!(self.tok(), Tok::RBrace | Tok::Eof) && !self.lost {
                if let Some(field) = self.field_decl() {
                    fields.push(field);
                }
                if self.lost {
                    self.recover_stmt();
                }
            }
            self.expect(Tok::RBrace, "after the struct's members");
        }
        self.leave();
        if fields.is_empty() && !self.lost {
            self.error("empty-struct", self.span_from(start), "a struct needs at least one member");
        }
        if let Some(name) = name {
            self.declare(name, true);
        }
        let fields = self.bump.alloc_slice_copy(&fields);
        Some(self.bump.alloc(StructDef { name, fields, span: self.span_from(start) }))
    }

    fn field_decl(&mut self) -> Option<FieldDecl<'a>> {
        let start = self.peek().span;
        if let Tok::Kw(Kw::Const | Kw::Attribute | Kw::Uniform | Kw::Varying | Kw::Centroid | Kw::Invariant) =
            self.tok()
        {
            let message = format!("a struct's member cannot be `{}`", self.peek().text);
            self.error("bad-qualifier", start, message);
            self.bump();
        }
        let ty = self.type_spec()?;
        let mut names = Vec::new();
        loop {
            let name = self.name("a member's name")?;
            let array = self.array_spec();
            if self.at(Tok::Assign) {
                self.error("syntax-error", self.peek().span, "a struct's member cannot have an initializer");
                self.bump();
                self.assignment_expr();
            }
            names.push(Declarator { name, array, init: None, span: self.span_from(name.span) });
            if self.lost || self.eat(Tok::Comma).is_none() {
                break;
            }
        }
        self.semicolon("after the struct's member");
        Some(FieldDecl { ty, names: self.bump.alloc_slice_copy(&names), span: self.span_from(start) })
    }

    /// A function's name and parameters, after its result type.
    fn header(&mut self, qualifiers: Qualifiers, result: TypeSpec<'a>, start: Span) -> Option<FunctionHeader<'a>> {
        let name = self.name("a function's name")?;
        self.no_struct(&result, "result");
        self.declare(name, false);
        self.expect(Tok::LParen, "before the parameters");
        let mut params = Vec::new();
        let no_params = self.at(Tok::Type(BuiltinType::Void)) && self.tok_at(1) == Tok::RParen;
        if no_params {
            self.bump();
        }
        if self.eat(Tok::RParen).is_none() {
            loop {
                params.push(self.param()?);
                if self.lost || self.eat(Tok::Comma).is_none() {
                    break;
                }
            }
            self.expect(Tok::RParen, "after the parameters");
        }
        let params = self.bump.alloc_slice_copy(&params);
        Some(FunctionHeader { qualifiers, result, name, params, span: self.span_from(start) })
    }

    fn no_struct(&mut self, ty: &TypeSpec<'a>, what: &str) {
        if let TypeName::Struct(def) = ty.base {
            let message = format!("a struct cannot be declared in the type of a {what}");
            self.error("struct-in-header", def.span, message);
        }
    }

    fn param(&mut self) -> Option<Param<'a>> {
        let start = self.peek().span;
        let is_const = self.eat(Tok::Kw(Kw::Const)).map(|t| t.span);
        let direction = match self.tok() {
            Tok::Kw(Kw::In) => Some(Direction::In),
            Tok::Kw(Kw::Out) => Some(Direction::Out),
            Tok::Kw(Kw::InOut) => Some(Direction::InOut),
            _ => None,
        };
        if direction.is_some() {
            self.bump();
        }
        let direction = direction.unwrap_or(Direction::In);
        while let Tok::Kw(
            Kw::Const
            | Kw::In
            | Kw::Out
            | Kw::InOut
            | Kw::Attribute
            | Kw::Uniform
            | Kw::Varying
            | Kw::Centroid
            | Kw::Invariant,
        ) = self.tok()
        {
            let message = format!("`{}` cannot stand here before a parameter", self.peek().text);
            self.error("bad-qualifier", self.peek().span, message);
            self.bump();
        }
        if let Some(span) = is_const.filter(|_| direction != Direction::In) {
            self.error("bad-qualifier", span, "a `const` parameter cannot be written, so it is `in` only");
        }
        let ty = self.type_spec()?;
        self.no_struct(&ty, "parameter");
        let name = match self.tok() {
            Tok::Comma | Tok::RParen | Tok::LBracket => None,
            _ => Some(self.name("a parameter's name, `,` or `)`")?),
        };
        let array = self.array_spec();
        Some(Param { is_const, direction, ty, name, array, span: self.span_from(start) })
    }
}
