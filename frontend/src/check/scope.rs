//! Scopes and what a name means in them.
//!
//! In 1.10 functions live beside variables (a function and a variable of one name do not disturb
//! each other); in 1.20 and ES 1.00 a scope has one meaning for a name.

use crate::typed::{StructTy, VarId};
use ir::diag::Span;
use rustc_hash::FxHashMap;

/// What a name means in one scope.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Meaning<'a> {
    /// A variable.
    pub var: Option<VarId>,
    /// A struct.
    pub ty: Option<&'a StructTy<'a>>,
    /// Functions (they are kept by the checker).
    pub func: bool,
    /// Where it is declared.
    pub span: Span,
}

struct Scope<'a> {
    names: FxHashMap<&'a str, Meaning<'a>>,
    path: String,
    children: u32,
}

/// A stack of scopes; the first is the global one.
pub(super) struct Scopes<'a> {
    stack: Vec<Scope<'a>>,
}

impl<'a> Scopes<'a> {
    pub fn new() -> Scopes<'a> {
        Scopes { stack: vec![Scope { names: FxHashMap::default(), path: "global".into(), children: 0 }] }
    }

    /// Opens the scope of a function.
    pub fn push_function(&mut self, name: &str) {
        self.stack.push(Scope { names: FxHashMap::default(), path: name.to_string(), children: 0 });
    }

    /// Opens a nested scope.
    pub fn push(&mut self) {
        let path = match self.stack.last_mut() {
            Some(top) => {
                top.children += 1;
                // Long paths of deep nesting would cost a square of memory.
                if self.stack.len() > 12 { "...".to_string() } else { self.child_path() }
            }
            None => String::new(),
        };
        self.stack.push(Scope { names: FxHashMap::default(), path, children: 0 });
    }

    fn child_path(&self) -> String {
        self.stack.last().map_or(String::new(), |top| format!("{}/{}", top.path, top.children))
    }

    pub fn pop(&mut self) {
        self.stack.pop();
    }

    pub fn is_global(&self) -> bool {
        self.stack.len() == 1
    }

    /// The name of the innermost scope.
    pub fn path(&self) -> String {
        self.stack.last().map_or(String::new(), |s| s.path.clone())
    }

    /// What the name means in the innermost scope.
    pub fn here(&mut self, name: &'a str) -> &mut Meaning<'a> {
        let top = self.stack.len() - 1;
        self.stack[top].names.entry(name).or_default()
    }

    /// What the name means in the global scope.
    pub fn global(&mut self, name: &'a str) -> &mut Meaning<'a> {
        self.stack[0].names.entry(name).or_default()
    }

    /// The innermost variable of the name. A struct of the name in between hides it.
    pub fn find_var(&self, name: &str) -> Option<VarId> {
        for scope in self.stack.iter().rev() {
            match scope.names.get(name) {
                Some(Meaning { var: Some(var), .. }) => return Some(*var),
                Some(Meaning { ty: Some(_), .. }) => return None,
                _ => {}
            }
        }
        None
    }

    /// The innermost struct of the name. A variable of the name in between hides it.
    pub fn find_struct(&self, name: &str) -> Option<&'a StructTy<'a>> {
        for scope in self.stack.iter().rev() {
            match scope.names.get(name) {
                Some(Meaning { ty: Some(ty), .. }) => return Some(ty),
                Some(Meaning { var: Some(_), .. }) => return None,
                _ => {}
            }
        }
        None
    }

    /// Whether a variable or struct hides functions of the name.
    pub fn hides_function(&self, name: &str) -> Option<Span> {
        for scope in self.stack.iter().rev() {
            match scope.names.get(name) {
                Some(m) if m.func => return None,
                Some(m) if m.var.is_some() || m.ty.is_some() => return Some(m.span),
                _ => {}
            }
        }
        None
    }

    /// The names of all structs that can be seen.
    pub fn visible_structs(&self) -> impl Iterator<Item = &'a str> {
        self.stack.iter().flat_map(|s| s.names.iter().filter(|(_, m)| m.ty.is_some()).map(|(&n, _)| n))
    }

    /// The names of all variables that can be seen.
    pub fn visible_vars(&self) -> impl Iterator<Item = &'a str> {
        self.stack.iter().flat_map(|s| s.names.iter().filter(|(_, m)| m.var.is_some()).map(|(&n, _)| n))
    }
}
