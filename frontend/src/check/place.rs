//! What may stand on the left of an assignment (GLSL 1.10 section 5.8).

use super::Checker;
use crate::ast::Direction;
use crate::spec;
use crate::typed::{Expr, ExprKind, Role, Ty};
use ir::types::Stage;

impl<'a> Checker<'a> {
    /// Whether the expression may be written; reports when not. `what` ends the sentence.
    pub(super) fn check_place(&mut self, e: &'a Expr<'a>, what: &str) -> bool {
        let note = spec::ASSIGNMENTS;
        if e.ty.is_error() {
            return false;
        }
        if e.ty.has_sampler() {
            self.error("sampler-misuse", e.span, format!("a sampler cannot be {what}"), spec::SAMPLERS);
            return false;
        }
        let mut at = e;
        let mut swizzled = false;
        loop {
            match at.kind {
                ExprKind::Field(a, _) => at = a,
                ExprKind::Index(a, _) => at = a,
                ExprKind::Swizzle(a, swz) => {
                    let lanes = swz.lanes();
                    if (1..lanes.len()).any(|i| lanes[..i].contains(&lanes[i])) {
                        let message = format!("`.{swz}` names a component twice and so cannot be {what}");
                        self.error("duplicate-swizzle", at.span, message, spec::VECTOR_COMPONENTS);
                        return false;
                    }
                    swizzled = true;
                    at = a;
                }
                ExprKind::Var(id) => {
                    self.check_index_write(id, e);
                    let var = *self.var(id);
                    let why = match var.role {
                        Role::Attribute => "an attribute",
                        Role::Uniform => "a uniform",
                        Role::Input => "an input",
                        Role::Const => "a constant",
                        Role::Varying if self.features.stage == Stage::Fragment => "a varying in a fragment shader",
                        Role::Param { direction: Direction::In, is_const: true } => "a constant parameter",
                        _ => {
                            self.note_color_write(var.name, var.builtin, e);
                            return true;
                        }
                    };
                    let message = format!("`{}` is {why} and cannot be {what}", var.name);
                    self.error("read-only", e.span, message, note);
                    return false;
                }
                ExprKind::Const(_) if !swizzled && matches!(at.ty, Ty::Error) => return false,
                _ => {
                    self.error("not-assignable", e.span, format!("this expression cannot be {what}"), note);
                    return false;
                }
            }
        }
    }

    fn note_color_write(&mut self, name: &str, builtin: bool, e: &Expr<'a>) {
        match name {
            "gl_FragColor" if builtin => self.wrote_color = self.wrote_color.or(Some(e.span)),
            "gl_FragData" if builtin => self.wrote_data = self.wrote_data.or(Some(e.span)),
            _ => {}
        }
    }
}
