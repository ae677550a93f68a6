//! Which functions stay called.
//!
//! A function can stay called when no variable that it touches is an array with a computed index
//! (those live in one place of the shader's registers, which is `main`'s), when calls do not nest
//! deeper than [`MAX_CALLS`], and when its arguments and results are few enough for the registers
//! that they travel in.

use super::{Calls, Inline, index};
use crate::entity::{FuncId, Var};
use crate::tac::calls::summaries;
use crate::tac::{Addr, Inst, Program, TacOp};
use rustc_hash::{FxHashMap, FxHashSet};

/// Most calls of kept functions in each other.
pub const MAX_CALLS: u32 = 60;
/// Most elements of variables that a kept function may be given, and may give back.
const MAX_ELEMENTS: usize = 16;
/// A function of so few instructions is inlined when the policy has the choice: a call with its
/// copies costs as much.
const SMALL: usize = 8;
/// What a call of a kept function, with its copies, counts as.
const CALL: usize = 4;

/// The functions to keep, before their signatures are known.
pub(super) fn choose(calls: &Calls<'_>, policy: Inline) -> FxHashSet<FuncId> {
    let mut kept = FxHashSet::default();
    let main = calls.program.main;
    if policy == Inline::All || (policy == Inline::Auto && calls.sizes(&kept)[index(main)] <= calls.limits.inlined) {
        return kept;
    }
    let mut sites: FxHashMap<FuncId, u32> = FxHashMap::default();
    for &func in calls.order {
        for inst in &calls.bodies[index(func)] {
            if let TacOp::Call(callee) = inst.op {
                *sites.entry(callee).or_default() += 1;
            }
        }
    }
    let dynamic = dynamic_variables(calls);
    let mut states: FxHashMap<FuncId, State> = FxHashMap::default();
    // callees first, so that what is inlined into a function is known
    for &func in calls.order {
        let mut state = State::default();
        for inst in &calls.bodies[index(func)] {
            let TacOp::Call(callee) = inst.op else {
                state.size = state.size.saturating_add(1);
                state.touches_dynamic |= variables(inst).any(|v| dynamic.contains(&v));
                continue;
            };
            let inner = states[&callee];
            if kept.contains(&callee) {
                state.size = state.size.saturating_add(CALL);
                state.height = state.height.max(inner.height + 1);
            } else {
                state.size = state.size.saturating_add(inner.size);
                state.height = state.height.max(inner.height);
                state.touches_dynamic |= inner.touches_dynamic;
            }
        }
        states.insert(func, state);
        let possible = func != main && !state.touches_dynamic && state.height < MAX_CALLS;
        let wanted = policy == Inline::Never || (sites.get(&func).is_some_and(|&n| n > 1) && state.size > SMALL);
        if possible && wanted {
            kept.insert(func);
        }
    }
    kept
}

/// Of a function with what is inlined into it.
#[derive(Clone, Copy, Default)]
struct State {
    size: usize,
    /// Kept functions that it calls, in each other.
    height: u32,
    touches_dynamic: bool,
}

/// Names of the functions whose signature is too long.
pub(super) fn too_wide(program: &Program) -> FxHashSet<&str> {
    if program.funcs.len() == 1 {
        return FxHashSet::default();
    }
    let all = summaries(program);
    let wide = |f: &FuncId| {
        let signature = &all[*f].signature;
        *f != program.main && signature.args.len().max(signature.results.len()) > MAX_ELEMENTS
    };
    program.funcs.keys().filter(wide).map(|f| program.funcs[f].name.as_str()).collect()
}

/// Variables of the shader's own that are indexed by a computed number anywhere.
fn dynamic_variables(calls: &Calls<'_>) -> FxHashSet<Var> {
    let program = calls.program;
    let mut all = FxHashSet::default();
    for inst in calls.order.iter().flat_map(|f| &calls.bodies[index(*f)]) {
        let sources = inst.srcs.iter().filter_map(|s| match s.addr {
            Addr::Var(var, index) => Some((var, index)),
            Addr::Lit(_) => None,
        });
        let places = sources.chain(inst.dst.map(|d| (d.var, d.index)));
        all.extend(places.filter(|(_, index)| index.rel.is_some()).map(|(var, _)| var));
    }
    all.retain(|&v| {
        // flags that `lower_returns` made are not in the program, and are no arrays
        program.vars.get(v).is_some_and(|d| d.is_local() || d.is_output(program.stage))
    });
    all
}

fn variables(inst: &Inst) -> impl Iterator<Item = Var> + '_ {
    let sources = inst.srcs.iter().filter_map(|s| match s.addr {
        Addr::Var(var, _) => Some(var),
        Addr::Lit(_) => None,
    });
    sources.chain(inst.dst.map(|d| d.var))
}

#[cfg(test)]
mod tests {
    use super::super::{inline, inline_by};
    use super::*;
    use crate::diag::FileId;
    use crate::limits::Limits;
    use crate::tac::text;

    fn kept(functions: &str, policy: Inline, limit: usize) -> Vec<String> {
        let text = format!(
            "stage frag\nuniform float u\noutput vec4 o\nlocal float a[4]\nlocal float x\nlocal int i\n{functions}"
        );
        let program = text::parse(FileId::default(), &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let inlined = inline_by(&program, policy, &Limits { inlined: limit, ..Limits::default() }).unwrap();
        assert_eq!(crate::tac::verify::verify(&inlined), []);
        let names = inlined.funcs.values().map(|f| f.name.clone());
        names.filter(|n| n != "main").collect()
    }

    #[test]
    fn arrays_with_a_computed_index_stay_in_main() {
        let text = "func f() {\nMOV a[1].x, u.x\n}\nfunc g() {\nADD x.x, x.x, u.x\n}\nfunc h() {\nCAL f\nCAL g\n}\n\
            func main() {\nMOV x.x, u.x\nMOV i.x, int(2)\nCAL h\nMOV o.x, a[i.x].x\nMOV o.y, x.x\n}\n";
        assert_eq!(kept(text, Inline::Never, 1000), ["g"]);
        let still = text.replace("a[i.x]", "a[2]");
        assert_eq!(kept(&still, Inline::Never, 1000), ["f", "g", "h"]);
        assert_eq!(kept(&still, Inline::Auto, 1000), [""; 0]);
    }

    #[test]
    fn an_explosion_keeps_what_is_called_twice() {
        let mut text = String::from("func f0() {\nADD x.x, x.x, u.x\n}\n");
        for i in 1..64 {
            text.push_str(&format!("func f{i}() {{\nCAL f{}\nCAL f{}\n}}\n", i - 1, i - 1));
        }
        text.push_str("func main() {\nMOV x.x, u.x\nCAL f63\nMOV o.x, x.x\n}\n");
        let names = kept(&text, Inline::Auto, 1000);
        assert!((10..60).contains(&names.len()), "{names:?}");
        assert!(!names.iter().any(|n| n == "f0" || n == "f2"), "{names:?}");
        let program = format!("stage frag\nuniform float u\noutput vec4 o\nlocal float x\n{text}");
        let program = text::parse(FileId::default(), &program).unwrap();
        assert!(inline(&program, 1000).is_err());
    }
}
