//! The interpolators between two linked stages.
//!
//! In comes what [`link`](super::link::link) made; the varyings leave with a location each, the same
//! in both stages. On wish, varyings of fewer than four lanes share registers: tallest first, as GLSL
//! ES 1.00 (appendix A, section 7) packs, here in the first register with room. Holds afterwards: the
//! stages still agree by name, no two varyings share a lane, and built-in varyings, arrays, matrices
//! invariant and centroid varyings are as they were.

use super::link::{Link, Linked};
use super::{Addr, Program, VarDecl, VarKind};
use crate::entity::Var;
use crate::types::{Scalar, Swizzle, Type, WriteMask};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::BTreeSet;

/// When varyings share registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Packing {
    /// Only when the target has too few registers without.
    #[default]
    Auto,
    /// Wherever they can.
    Always,
    /// Never.
    Never,
}

/// A varying's place in a shared register.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// The varying's name.
    pub name: String,
    /// Its first lane.
    pub lane: u8,
    /// How many lanes it has.
    pub lanes: u8,
}

/// A register that several varyings share.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Packed {
    /// The name of the variable that replaces them in both stages.
    pub name: String,
    /// What is in it, by lane.
    pub parts: Vec<Part>,
}

/// Gives every varying of the program its interpolator; `registers` is how many the target has.
/// The result names the registers that are shared.
pub fn lay_out(linked: &mut Linked, packing: Packing, registers: u32) -> Vec<Packed> {
    let needed: u32 = linked.links.iter().map(|l| l.elems).sum();
    let wanted = match packing {
        Packing::Always => true,
        Packing::Auto => needed > registers,
        Packing::Never => false,
    };
    let packed = if wanted { pack(linked) } else { Vec::new() };
    locate(linked);
    packed
}

/// Whether it may share its register.
fn is_packable(decl: &VarDecl) -> bool {
    decl.elems == 1
        && decl.ty.lanes < 4
        && decl.ty.scalar == Scalar::Float
        && !decl.invariant
        && !decl.centroid
        && !decl.name.starts_with("gl_")
}

fn pack(linked: &mut Linked) -> Vec<Packed> {
    let mut order: Vec<usize> = (0..linked.links.len()).collect();
    order.retain(|&i| is_packable(&linked.fragment.vars[linked.links[i].fragment]));
    let lanes = |i: usize| linked.fragment.vars[linked.links[i].fragment].ty.lanes;
    // stable: among equals the order of declaration
    order.sort_by_key(|&i| std::cmp::Reverse(lanes(i)));
    let mut rows: Vec<(u8, Vec<usize>)> = Vec::new();
    for link in order {
        match rows.iter_mut().find(|(used, _)| used + lanes(link) <= 4) {
            Some((used, members)) => {
                *used += lanes(link);
                members.push(link);
            }
            None => rows.push((lanes(link), vec![link])),
        }
    }
    rows.retain(|(_, members)| members.len() > 1);
    let mut gone = BTreeSet::new();
    let mut all = Vec::new();
    for (lanes, members) in rows {
        all.push(share(linked, lanes, &members));
        gone.extend(members);
    }
    let mut at = 0..;
    linked.links.retain(|_| at.next().is_none_or(|i| !gone.contains(&i)));
    all
}

/// Puts some varyings into one new register of both stages.
fn share(linked: &mut Linked, lanes: u8, members: &[usize]) -> Packed {
    let mut parts = Vec::new();
    let mut moves: [FxHashMap<Var, u8>; 2] = Default::default();
    let mut next = 0;
    for &i in members {
        let link = &linked.links[i];
        let decl = &linked.fragment.vars[link.fragment];
        moves[0].insert(link.vertex, next);
        moves[1].insert(link.fragment, next);
        parts.push(Part { name: decl.name.clone(), lane: next, lanes: decl.ty.lanes });
        next += decl.ty.lanes;
    }
    let names: Vec<&str> = parts.iter().map(|p| p.name.as_str()).collect();
    // no GLSL name has a plus sign, so it is unique
    let name = names.join("+");
    let [vertex, fragment] = [(&mut linked.vertex, &moves[0]), (&mut linked.fragment, &moves[1])].map(|(p, moved)| {
        let line = moved.keys().map(|&v| p.vars[v].line).min().unwrap_or(0);
        let decl = VarDecl { line, ..VarDecl::new(name.as_str(), VarKind::Varying, Type::float(lanes)) };
        let var = p.vars.push(decl);
        rename(p, moved, var);
        var
    });
    linked.links.push(Link { vertex, fragment, name: name.clone(), elems: 1 });
    Packed { name, parts }
}

/// Makes every use of the moved variables one of lanes of `shared`.
fn rename(program: &mut Program, moved: &FxHashMap<Var, u8>, shared: Var) {
    for func in program.funcs.values_mut() {
        for inst in &mut func.body {
            if let Some(dst) = &mut inst.dst
                && let Some(&lane) = moved.get(&dst.var)
            {
                dst.var = shared;
                dst.mask = WriteMask(dst.mask.0 << lane);
            }
            for src in &mut inst.srcs {
                if let Addr::Var(var, _) = &mut src.addr
                    && let Some(&lane) = moved.get(var)
                {
                    *var = shared;
                    let lanes: SmallVec<[u8; 4]> = src.swz.lanes().iter().map(|l| l + lane).collect();
                    src.swz = Swizzle::new(&lanes);
                }
            }
        }
    }
    for &var in moved.keys() {
        program.vars[var].kind = VarKind::Local;
    }
}

/// Numbers the user's varyings, around the elements of `gl_TexCoord` that are in use.
fn locate(linked: &mut Linked) {
    let mut taken = BTreeSet::new();
    for link in linked.links.iter().filter(|l| l.name == "gl_TexCoord") {
        taken.extend(elements_used(&linked.fragment, link.fragment));
        taken.extend(elements_used(&linked.vertex, link.vertex));
    }
    for link in linked.links.iter().filter(|l| !l.name.starts_with("gl_")) {
        let first = first_free_run(&taken, link.elems);
        taken.extend(first..first + link.elems);
        linked.vertex.vars[link.vertex].location = Some(first);
        linked.fragment.vars[link.fragment].location = Some(first);
    }
}

/// The lowest number from which `len` numbers are free.
pub fn first_free_run(taken: &BTreeSet<u32>, len: u32) -> u32 {
    let mut first = 0;
    for &number in taken {
        if number >= first && number - first < len {
            first = number + 1;
        }
    }
    first
}

/// The elements of a variable that the code names; all for a computed index.
fn elements_used(program: &Program, var: Var) -> BTreeSet<u32> {
    let mut used = BTreeSet::new();
    let insts = program.funcs.values().flat_map(|f| &f.body);
    let places = insts.flat_map(|i| {
        let sources = i.srcs.iter().filter_map(|s| match s.addr {
            Addr::Var(var, index) => Some((var, index)),
            Addr::Lit(_) => None,
        });
        i.dst.iter().map(|d| (d.var, d.index)).chain(sources).collect::<Vec<_>>()
    });
    for (_, index) in places.filter(|p| p.0 == var) {
        match index.rel {
            Some(_) => used.extend(0..program.vars[var].elems),
            None => used.extend([index.offset]),
        }
    }
    used
}
