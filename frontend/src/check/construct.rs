//! Constructors (GLSL 1.10 section 5.4, 1.20 section 5.4).

use super::Checker;
use crate::ast::{self, TypeSpec};
use crate::spec;
use crate::typed::{Expr, ExprKind, Ty};
use ir::diag::Span;

impl<'a> Checker<'a> {
    /// `type(args)`
    pub(super) fn construct(&mut self, spec: &TypeSpec<'a>, args: &'a [ast::Expr<'a>], span: Span) -> &'a Expr<'a> {
        // A constructor asks for no precision, so the rule about missing ones must not see it.
        self.float_precision.push(Some(ast::Precision::High));
        let ty = self.type_spec(spec);
        self.float_precision.pop();
        let args: Vec<&'a Expr<'a>> = args.iter().map(|a| self.expr(a)).collect();
        if ty.is_error() || args.iter().any(|a| a.ty.is_error()) {
            return self.wrong(span);
        }
        match ty {
            Ty::Struct(s) => {
                let types: Vec<Ty<'a>> = s.fields.iter().map(|f| f.ty).collect();
                self.construct_all(ty, &types, args, span)
            }
            Ty::Array(elem, len) => {
                if !self.array_values() {
                    self.error(
                        "needs-version-120",
                        span,
                        "array constructors exist from GLSL 1.20 on",
                        spec::ARRAY_CONSTRUCTORS,
                    );
                    return self.wrong(span);
                }
                let len = if len == 0 { args.len() as u32 } else { len };
                if len == 0 {
                    self.error("bad-constructor", span, "an array needs an element", spec::ARRAY_CONSTRUCTORS);
                    return self.wrong(span);
                }
                let ty = Ty::Array(elem, len);
                if !self.is_within_bounds(ty, "array", span) {
                    return self.wrong(span);
                }
                let types = vec![*elem; len as usize];
                self.construct_all(ty, &types, args, span)
            }
            Ty::Vec(_) | Ty::Mat { .. } => self.construct_lanes(ty, args, span),
            _ => {
                self.error("bad-constructor", span, format!("{ty} has no constructor"), spec::CONSTRUCTORS);
                self.wrong(span)
            }
        }
    }

    /// Structs and arrays: one argument a part.
    fn construct_all(&mut self, ty: Ty<'a>, parts: &[Ty<'a>], args: Vec<&'a Expr<'a>>, span: Span) -> &'a Expr<'a> {
        if parts.len() != args.len() {
            let message = format!("the constructor of {ty} takes {} arguments, not {}", parts.len(), args.len());
            self.error("bad-constructor", span, message, spec::STRUCT_CONSTRUCTORS);
            return self.wrong(span);
        }
        let mut converted = Vec::new();
        for (&part, arg) in parts.iter().zip(args) {
            let arg = self.convert_or_report(arg, part, arg.span, "constructor's argument");
            if arg.ty.is_error() {
                return self.wrong(span);
            }
            converted.push(arg);
        }
        if ty.has_sampler() {
            self.error("sampler-misuse", span, "a struct with a sampler cannot be made", spec::SAMPLERS);
            return self.wrong(span);
        }
        let kind = ExprKind::Construct(self.arena.alloc_slice_copy(&converted));
        self.fold(kind, ty, span)
    }

    /// Scalars, vectors, matrices: lanes from left to right.
    fn construct_lanes(&mut self, ty: Ty<'a>, args: Vec<&'a Expr<'a>>, span: Span) -> &'a Expr<'a> {
        let note = spec::VECTOR_CONSTRUCTORS;
        let needed = ty.lanes();
        if let Some(arg) = args.iter().find(|a| a.ty.scalar().is_none()) {
            let message = format!("the constructor of {ty} cannot take {}", arg.ty);
            self.error("bad-constructor", arg.span, message, note);
            return self.wrong(span);
        }
        let wrong = if args.is_empty() {
            Some(format!("the constructor of {ty} needs an argument"))
        } else if let ([arg], Ty::Mat { .. }) = (&args[..], ty)
            && matches!(arg.ty, Ty::Mat { .. })
        {
            (!self.array_values()).then(|| "a matrix from a matrix exists from GLSL 1.20 on".to_string())
        } else if matches!(ty, Ty::Mat { .. }) && args.iter().any(|a| matches!(a.ty, Ty::Mat { .. })) {
            Some("a matrix beside other arguments in a matrix constructor".to_string())
        } else if let [arg] = args[..]
            && (arg.ty.is_scalar() || ty.is_scalar())
        {
            None
        } else {
            let mut have = 0;
            let mut unused = false;
            for arg in &args {
                unused |= have >= needed;
                have += arg.ty.lanes();
            }
            if have < needed {
                Some(format!("the constructor of {ty} needs {needed} components, the arguments have {have}"))
            } else if unused {
                Some(format!("the constructor of {ty} has an argument too many"))
            } else {
                // The last argument may be wider than needed.
                None
            }
        };
        if let Some(message) = wrong {
            self.error("bad-constructor", span, message, note);
            return self.wrong(span);
        }
        if let [arg] = args[..]
            && arg.ty == ty
        {
            // A copy; it must not stay a place.
            if let Some(lanes) = arg.constant() {
                return self.constant(lanes, ty, span);
            }
        }
        let kind = ExprKind::Construct(self.arena.alloc_slice_copy(&args));
        self.fold(kind, ty, span)
    }
}
