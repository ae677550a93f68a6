//! Calls of the user's functions: copy in, call, copy out (GLSL 1.10 section 6.1.1).

use super::place::Place;
use super::{Instance, Lowerer, R, Val};
use crate::ast::Direction;
use crate::typed::{Expr, FuncId, Role, Ty, VarId};
use ir::tac::{FuncDecl, TacOp, VarKind};

enum Arg<'a> {
    In(Val<'a>),
    Out(Place<'a>, Option<Val<'a>>),
    Alias,
}

impl<'a> Lowerer<'_, 'a> {
    /// The body of a function for the given aliases; made and queued when it is new.
    pub(super) fn instance(&mut self, func: FuncId, aliases: Vec<(VarId, Place<'a>)>) -> R<usize> {
        // Places hold float literals, which have no hash; their text tells them apart as well.
        let key = (func, if aliases.is_empty() { String::new() } else { format!("{aliases:?}") });
        if let Some(&known) = self.by_func.get(&key) {
            return Ok(known);
        }
        let info = *self.shader.func(func);
        let line = self.line_of(info.span);
        let mut name = info.name.to_string();
        if self.overloaded.contains(info.name) {
            let types: Vec<String> = info.params.iter().map(|&p| self.shader.var(p).ty.to_string()).collect();
            name = format!("{name}({})", types.join(", "));
        }
        let name = self.func_names.fresh(&name);
        // A body that is made again and again must meet a bound even when it is empty.
        self.insts += 1;
        let mut params = Vec::new();
        let mut vars = Vec::new();
        for &param in info.params {
            if aliases.iter().any(|a| a.0 == param) {
                continue;
            }
            let var = *self.shader.var(param);
            let wish = format!("{}.{}", info.name, if var.name.is_empty() { "unnamed" } else { var.name });
            let storage = self.new_storage(&wish, var.ty, VarKind::Local);
            for leaf in 0..var.ty.leaves() {
                vars.push(self.leaf_var(storage, leaf)?);
            }
            params.push((param, storage));
        }
        let mut result = None;
        if info.result != Ty::Void {
            let storage = self.new_storage(&format!("{}.return", info.name), info.result, VarKind::Local);
            for leaf in 0..info.result.leaves() {
                vars.push(self.leaf_var(storage, leaf)?);
            }
            result = Some(storage);
        }
        let tac = self.funcs.push(FuncDecl { name, params: vars, body: Vec::new(), line });
        self.instances.push(Instance { func, tac, aliases, params, result });
        let index = self.instances.len() - 1;
        self.by_func.insert(key, index);
        Ok(index)
    }

    /// `f(args)`
    pub(super) fn call(&mut self, func: FuncId, args: &[&'a Expr<'a>]) -> R<Val<'a>> {
        let info = *self.shader.func(func);
        let mut aliases = Vec::new();
        let mut values = Vec::new();
        for (i, (&param, arg)) in info.params.iter().zip(args).enumerate() {
            let var = *self.shader.var(param);
            let later = args[i + 1..].iter().any(|a| a.effects);
            let direction = match var.role {
                Role::Param { direction, .. } => direction,
                _ => Direction::In,
            };
            values.push(if var.ty.has_sampler() {
                aliases.push((param, self.place(arg, true)?));
                Arg::Alias
            } else if direction == Direction::In {
                let val = self.expr(arg)?;
                Arg::In(if later { self.stable_val(val)? } else { val })
            } else {
                let place = self.place(arg, true)?;
                let val = match direction {
                    Direction::InOut => {
                        let val = self.load(&place)?;
                        Some(if later { self.stable_val(val)? } else { val })
                    }
                    _ => None,
                };
                Arg::Out(place, val)
            });
        }
        let index = self.instance(func, aliases)?;
        let storages = self.instances[index].params.clone();
        let storage = |param: VarId| storages.iter().find(|s| s.0 == param).map(|s| s.1);
        let mut outs = Vec::new();
        for (&param, value) in info.params.iter().zip(values) {
            let Some(storage) = storage(param) else { continue };
            let inside = Place::whole(storage, self.shader.var(param).ty);
            let val = match value {
                Arg::In(val) => Some(val),
                Arg::Out(place, val) => {
                    outs.push((place, inside.clone()));
                    val
                }
                Arg::Alias => None,
            };
            if let Some(val) = val {
                self.store(&mut inside.clone(), val)?;
            }
        }
        let Instance { tac, result, .. } = self.instances[index];
        self.flow(TacOp::Call(tac), vec![])?;
        // The next call overwrites the result, so it is copied at once.
        let value = match result {
            Some(storage) => {
                let val = self.load(&Place::whole(storage, info.result))?;
                self.stable_val(val)?
            }
            None => Val { ty: info.result, regs: Vec::new() },
        };
        for (mut place, inside) in outs {
            let val = self.load(&inside)?;
            let to = place.value_type();
            let val = if to == val.ty { val } else { self.construct(to, vec![val])? };
            self.store(&mut place, val)?;
        }
        Ok(value)
    }
}
