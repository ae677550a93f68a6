//! Places: a variable, narrowed by fields, indices and components; loading and storing.
//!
//! A dynamic index is a source. Each leaf has its own stride under an array of structs, so the
//! address of a leaf is made when the leaf is touched.

use super::emit::{lane, splat, spread};
use super::layout::{layout, leaf_elems};
use super::{Lowerer, R, Val};
use crate::typed::{Expr, ExprKind, Ty};
use ir::entity::Var;
use ir::op::Op;
use ir::tac::{Addr, Dst, Index, Src, VarKind};
use ir::types::{Literal, Scalar, Swizzle, Type, WriteMask};

#[derive(Clone, Copy, PartialEq, Debug)]
enum At {
    Const(u32),
    Dynamic(Src),
}

#[derive(Clone, Copy, PartialEq, Debug)]
struct Step<'a> {
    at: At,
    /// The type of one element and the first leaf of the array.
    elem: Ty<'a>,
    leaf: usize,
}

/// Which components of a vector.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Comps {
    All,
    Pick(Swizzle),
    /// One, chosen at run time from these.
    Dynamic(Swizzle, Src),
}

/// What may be read or written.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Place<'a> {
    storage: usize,
    leaf: usize,
    /// Without the components.
    ty: Ty<'a>,
    steps: Vec<Step<'a>>,
    comps: Comps,
}

impl<'a> Place<'a> {
    /// A whole storage.
    pub(super) fn whole(storage: usize, ty: Ty<'a>) -> Place<'a> {
        Place { storage, leaf: 0, ty, steps: Vec::new(), comps: Comps::All }
    }

    /// The type of what it holds.
    pub(super) fn value_type(&self) -> Ty<'a> {
        match (self.comps, self.ty) {
            (Comps::Pick(swz), Ty::Vec(t)) => Ty::Vec(t.with_lanes(swz.len())),
            (Comps::Dynamic(..), Ty::Vec(t)) => Ty::Vec(t.with_lanes(1)),
            (_, ty) => ty,
        }
    }
}

/// Whether the expression is a place: a variable under fields, indices and components.
pub(super) fn is_place(e: &Expr<'_>) -> bool {
    let mut at = e;
    loop {
        match at.kind {
            ExprKind::Var(_) => return true,
            ExprKind::Field(a, _) | ExprKind::Index(a, _) | ExprKind::Swizzle(a, _) => at = a,
            _ => return false,
        }
    }
}

impl<'a> Lowerer<'_, 'a> {
    /// The place that an expression names; a value that is no place is put into one. With `stable`
    /// its indices are copied, so that what happens next cannot move the place.
    pub(super) fn place(&mut self, e: &'a Expr<'a>, stable: bool) -> R<Place<'a>> {
        match e.kind {
            ExprKind::Var(id) => {
                if let Some(place) = self.aliases.get(&id) {
                    return Ok(place.clone());
                }
                let storage = self.storage_of(id);
                Ok(Place::whole(storage, self.storages[storage].ty))
            }
            ExprKind::Field(a, i) => {
                let mut place = self.place(a, stable)?;
                if let Ty::Struct(s) = place.ty {
                    let field = s.fields[i as usize];
                    place.leaf += field.first_leaf;
                    place.ty = field.ty;
                }
                Ok(place)
            }
            ExprKind::Swizzle(a, swz) => {
                let mut place = self.place(a, stable)?;
                place.comps = match place.comps {
                    Comps::Pick(first) => Comps::Pick(swz.after(&first)),
                    _ => Comps::Pick(swz),
                };
                Ok(place)
            }
            ExprKind::Index(a, i) => self.place_index(a, i, stable),
            ExprKind::Const(lanes) if matches!(e.ty, Ty::Array(..)) => self.const_array(lanes, e.ty),
            _ => {
                let val = self.expr(e)?;
                let storage = self.new_storage("t", e.ty, VarKind::Temp);
                let mut place = Place::whole(storage, e.ty);
                self.store(&mut place, val)?;
                Ok(place)
            }
        }
    }

    fn place_index(&mut self, a: &'a Expr<'a>, i: &'a Expr<'a>, stable: bool) -> R<Place<'a>> {
        let mut place = self.place(a, stable || i.effects)?;
        let at = match i.const_int() {
            Some(v) => At::Const(v.max(0) as u32),
            None => {
                let val = self.expr(i)?;
                let src = self.one(&val);
                At::Dynamic(if stable { self.stable(src)? } else { src })
            }
        };
        match (place.ty, at) {
            (Ty::Vec(t), _) => {
                let from = match place.comps {
                    Comps::Pick(swz) => swz,
                    _ => Swizzle::identity(t.lanes),
                };
                place.comps = match at {
                    At::Const(c) => Comps::Pick(Swizzle::new(&[from.lanes()[c as usize]])),
                    At::Dynamic(src) => Comps::Dynamic(from, src),
                };
            }
            (Ty::Mat { rows, .. }, _) => {
                let elem = Ty::float(rows);
                place.steps.push(Step { at, elem, leaf: place.leaf });
                place.ty = elem;
            }
            (Ty::Array(elem, _), _) => {
                place.steps.push(Step { at, elem: *elem, leaf: place.leaf });
                place.ty = *elem;
            }
            _ => {}
        }
        Ok(place)
    }

    /// A constant array that is indexed by a variable: filled once, where `main` starts.
    fn const_array(&mut self, lanes: &'a [crate::typed::Lane], ty: Ty<'a>) -> R<Place<'a>> {
        let key = (lanes.as_ptr() as usize, lanes.len());
        if let Some(&storage) = self.const_arrays.get(&key) {
            return Ok(Place::whole(storage, ty));
        }
        // A temporary is not changed again, so reading it is stable.
        let storage = self.new_storage("table", ty, VarKind::Temp);
        self.const_arrays.insert(key, storage);
        let regs = super::layout::literals(ty, lanes).into_iter().map(Src::lit).collect();
        let body = std::mem::take(&mut self.body);
        let mut place = Place::whole(storage, ty);
        let stored = self.store(&mut place, Val { ty, regs });
        let code = std::mem::replace(&mut self.body, body);
        self.prologue.extend(code);
        stored?;
        Ok(place)
    }

    /// The address of a leaf of the place.
    fn leaf_index(&mut self, place: &Place<'a>, leaf: usize) -> R<Index> {
        let mut offset = 0;
        let mut sum: Option<Src> = None;
        for step in &place.steps {
            let stride = leaf_elems(step.elem, leaf - step.leaf);
            match step.at {
                At::Const(c) => offset += c * stride,
                At::Dynamic(src) => {
                    let scaled = match stride {
                        1 => src,
                        _ => self.emit(Op::Mul, Type::INT, &[src, splat(Type::INT, stride as f32)])?,
                    };
                    sum = Some(match sum {
                        None => scaled,
                        Some(sum) => self.emit(Op::Add, Type::INT, &[sum, scaled])?,
                    });
                }
            }
        }
        let Some(sum) = sum else { return Ok(Index { offset, rel: None }) };
        let rel = match sum.addr {
            Addr::Var(var, Index { offset: 0, rel: None })
                if self.vars[var].elems == 1 && !self.vars[var].is_output(self.shader.stage) =>
            {
                (var, sum.swz.lanes()[0])
            }
            Addr::Lit(literal) => {
                // An index that became known only here.
                let at = offset as f32 + literal.lane(sum.swz.lanes()[0]);
                let top = leaf_elems(self.storages[place.storage].ty, leaf).saturating_sub(1);
                return Ok(Index { offset: (at.max(0.0) as u32).min(top), rel: None });
            }
            _ => {
                let copy = self.emit(Op::Mov, Type::INT, &[sum])?;
                match copy.addr {
                    Addr::Var(var, _) => (var, 0),
                    Addr::Lit(_) => return Ok(Index { offset, rel: None }),
                }
            }
        };
        Ok(Index { offset, rel: Some(rel) })
    }

    /// The variable and element of each register of the place.
    fn registers(&mut self, place: &Place<'a>) -> R<Vec<(Var, Index)>> {
        let mut known: Vec<Option<(Var, Index)>> = vec![None; place.ty.leaves()];
        let mut out = Vec::new();
        for (l, elem) in layout(place.ty) {
            let (var, index) = match known[l] {
                Some(known) => known,
                None => {
                    let leaf = place.leaf + l;
                    let var = self.leaf_var(place.storage, leaf)?;
                    let index = self.leaf_index(place, leaf)?;
                    *known[l].insert((var, index))
                }
            };
            out.push((var, Index { offset: index.offset + elem, ..index }));
        }
        Ok(out)
    }

    /// A sampler's variable and element.
    pub(super) fn sampler(&mut self, e: &'a Expr<'a>) -> R<(Var, Index)> {
        let place = self.place(e, false)?;
        let registers = self.registers(&place)?;
        match registers.first() {
            Some(&one) => Ok(one),
            None => self.stop("program-too-large", "a sampler has no register".to_string()),
        }
    }

    /// Reads a place.
    pub(super) fn load(&mut self, place: &Place<'a>) -> R<Val<'a>> {
        let registers = self.registers(place)?;
        let src =
            |&(var, index): &(Var, Index), lanes| Src { addr: Addr::Var(var, index), swz: Swizzle::identity(lanes) };
        let regs: Vec<Src> = registers.iter().map(|r| src(r, self.vars[r.0].ty.lanes)).collect();
        let ty = place.value_type();
        match place.comps {
            Comps::All => Ok(Val { ty, regs }),
            Comps::Pick(swz) => Ok(Val { ty, regs: regs.iter().map(|r| r.swizzled(swz)).collect() }),
            Comps::Dynamic(from, index) => {
                let vector = regs[0].swizzled(from);
                let src = self.dynamic_component(vector, index)?;
                Ok(self.val(ty, src))
            }
        }
    }

    /// Which lane an index means, as one bool a lane.
    fn lane_test(&mut self, index: Src, lanes: u8) -> R<Src> {
        let numbers = Src::lit(Literal::new(Scalar::Int, &[0.0, 1.0, 2.0, 3.0][..lanes.into()]));
        self.emit(Op::Seq, Type { scalar: Scalar::Bool, lanes }, &[spread(index, lanes), numbers])
    }

    /// The lane of a vector that an index chooses; outside of the vector lane x.
    pub(super) fn dynamic_component(&mut self, vector: Src, index: Src) -> R<Src> {
        let ty = self.src_type(vector);
        let test = self.lane_test(index, ty.lanes)?;
        let mut out = lane(vector, 0);
        for i in 1..ty.lanes {
            out = self.emit(Op::Select, ty.with_lanes(1), &[lane(test, i), lane(vector, i), out])?;
        }
        Ok(out)
    }

    /// Writes a place.
    pub(super) fn store(&mut self, place: &mut Place<'a>, val: Val<'a>) -> R<()> {
        let registers = self.registers(place)?;
        match place.comps {
            Comps::All => {
                let overlap = registers.len() > 1;
                let val = if overlap { self.untangle(&registers, val)? } else { val };
                let last = val.regs.len().saturating_sub(1);
                for (i, (&(var, index), &src)) in registers.iter().zip(&val.regs).enumerate() {
                    let dst = Dst { var, index, mask: WriteMask::first(self.vars[var].ty.lanes) };
                    // Only the last instruction can write the place itself, and only when no other
                    // register reads the same temporary.
                    if i == last && val.regs[..last].iter().all(|r| r.addr != src.addr) {
                        self.mov(dst, src)?;
                    } else {
                        self.emit_to(dst, Op::Mov, &[src])?;
                    }
                }
            }
            Comps::Pick(swz) => {
                let (var, index) = registers[0];
                let mask = WriteMask(swz.lanes().iter().fold(0, |m, &l| m | 1 << l));
                let order: Vec<u8> =
                    mask.lanes().map(|l| swz.lanes().iter().position(|&s| s == l).unwrap_or(0) as u8).collect();
                let src = self.one(&val);
                let order = Swizzle::new(&order);
                let src = if order.is_identity(swz.len()) { src } else { src.swizzled(order) };
                self.mov(Dst { var, index, mask }, src)?;
            }
            Comps::Dynamic(from, at) => {
                let (var, index) = registers[0];
                let ty = self.vars[var].ty;
                let test = self.lane_test(at, from.len())?;
                let old = Src { addr: Addr::Var(var, index), swz: from };
                let new = spread(self.one(&val), from.len());
                let value = self.emit(Op::Select, ty.with_lanes(from.len()), &[test, new, old])?;
                place.comps = Comps::Pick(from);
                let whole = self.val(Ty::Vec(ty.with_lanes(from.len())), value);
                self.store(place, whole)?;
                place.comps = Comps::Dynamic(from, at);
            }
        }
        Ok(())
    }

    /// A value of several registers whose sources read what the store writes is copied first.
    fn untangle(&mut self, registers: &[(Var, Index)], val: Val<'a>) -> R<Val<'a>> {
        let mut vars: Vec<Var> = registers.iter().map(|r| r.0).collect();
        vars.sort();
        vars.dedup();
        let written = |src: &Src| match src.addr {
            Addr::Var(var, index) => {
                vars.binary_search(&var).is_ok() || index.rel.is_some_and(|(rel, _)| vars.binary_search(&rel).is_ok())
            }
            Addr::Lit(_) => false,
        };
        // The same place is stored to itself: nothing is read late.
        let same = registers.iter().zip(&val.regs).all(|(r, s)| s.addr == Addr::Var(r.0, r.1));
        if same || !val.regs.iter().any(written) {
            return Ok(val);
        }
        let regs = val
            .regs
            .into_iter()
            .map(|s| {
                let ty = self.src_type(s);
                if written(&s) { self.emit(Op::Mov, ty, &[s]) } else { Ok(s) }
            })
            .collect::<R<Vec<Src>>>()?;
        Ok(Val { ty: val.ty, regs })
    }
}
