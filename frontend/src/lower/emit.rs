//! Emitting instructions, and the small things every other file needs: broadcasts, gathers,
//! conversions.

use super::{Lowerer, R, Val};
use crate::typed::Ty;
use ir::op::Op;
use ir::tac::{Addr, Dst, Inst, Src, TacOp, VarKind};
use ir::types::{Literal, Scalar, Swizzle, Type, WriteMask};

/// A source of `lanes` lanes from one of as many or of one.
pub(super) fn spread(src: Src, lanes: u8) -> Src {
    if src.swz.len() == lanes { src } else { src.swizzled(Swizzle::splat(0, lanes)) }
}

/// One lane of a source.
pub(super) fn lane(src: Src, index: u8) -> Src {
    src.swizzled(Swizzle::new(&[index]))
}

/// A float literal.
pub(super) fn float(value: f32) -> Src {
    Src::lit(Literal::float(value))
}

/// A literal of equal lanes.
pub(super) fn splat(ty: Type, value: f32) -> Src {
    Src::lit(Literal::splat(ty, value))
}

impl<'a> Lowerer<'_, 'a> {
    /// Appends an instruction, under the bound.
    pub(super) fn push(&mut self, inst: Inst) -> R<()> {
        self.insts += 1;
        if self.insts > self.limits.insts {
            let message = format!("the program has more than {} instructions", self.limits.insts);
            return self.too_much("instructions", message);
        }
        self.body.push(inst);
        Ok(())
    }

    /// Computes into a fresh temporary.
    pub(super) fn emit(&mut self, op: Op, ty: Type, srcs: &[Src]) -> R<Src> {
        let var = self.temp(ty)?;
        self.emit_to(Dst::var(var, 0, ty.lanes), op, srcs)?;
        Ok(Src::var(var, 0, ty.lanes))
    }

    /// Computes into a place.
    pub(super) fn emit_to(&mut self, dst: Dst, op: Op, srcs: &[Src]) -> R<()> {
        let line = self.line;
        self.push(Inst::op(op, dst, srcs.to_vec(), line))
    }

    /// The type of a source.
    pub(super) fn src_type(&self, src: Src) -> Type {
        let scalar = match src.addr {
            Addr::Var(var, _) => self.scalar_of(var),
            Addr::Lit(literal) => literal.ty.scalar,
        };
        Type { scalar, lanes: src.swz.len() }
    }

    /// Whether nothing that happens later can change what the source reads.
    pub(super) fn is_stable(&self, src: Src) -> bool {
        match src.addr {
            Addr::Lit(_) => true,
            Addr::Var(var, index) => {
                let fixed = |v| match self.vars[v].kind {
                    VarKind::Temp | VarKind::Attribute | VarKind::Uniform => true,
                    VarKind::Varying => self.is_fragment(),
                    _ => false,
                };
                fixed(var) && index.rel.is_none_or(|(rel, _)| fixed(rel))
            }
        }
    }

    /// A copy that later changes of variables leave alone.
    pub(super) fn stable(&mut self, src: Src) -> R<Src> {
        if self.is_stable(src) {
            return Ok(src);
        }
        let ty = self.src_type(src);
        self.emit(Op::Mov, ty, &[src])
    }

    /// The same for a whole value.
    pub(super) fn stable_val(&mut self, val: Val<'a>) -> R<Val<'a>> {
        let regs = val.regs.into_iter().map(|s| self.stable(s)).collect::<R<Vec<Src>>>()?;
        Ok(Val { ty: val.ty, regs })
    }

    /// Moves a source to a place. When the source is what the last instruction just made, that
    /// instruction writes the place itself.
    pub(super) fn mov(&mut self, dst: Dst, src: Src) -> R<()> {
        if let Addr::Var(var, index) = src.addr
            && self.vars[var].kind == VarKind::Temp
            && index == ir::tac::Index::default()
            && src.swz.is_identity(self.vars[var].ty.lanes)
            && let Some(last) = self.body.last_mut()
            && last.dst == Some(Dst::var(var, 0, src.swz.len()))
            && (!matches!(last.op, TacOp::Tex(..)) || dst.mask == WriteMask::ALL)
            && self.vars[var].ty.scalar == self.vars[dst.var].ty.scalar
            && dst.index.rel.is_none_or(|(rel, _)| rel != var)
        {
            last.dst = Some(dst);
            return Ok(());
        }
        self.emit_to(dst, Op::Mov, &[src])
    }

    /// The lanes of several sources one after the other, at most four.
    pub(super) fn gather(&mut self, scalar: Scalar, parts: &[Src]) -> R<Src> {
        let mut lanes: Vec<(Addr, u8)> = Vec::with_capacity(4);
        for part in parts {
            lanes.extend(part.swz.lanes().iter().map(|&l| (part.addr, l)));
        }
        lanes.truncate(4);
        let n = lanes.len() as u8;
        let ty = Type { scalar, lanes: n };
        let picks: Vec<u8> = lanes.iter().map(|l| l.1).collect();
        if lanes.iter().all(|l| l.0 == lanes[0].0) {
            return Ok(Src { addr: lanes[0].0, swz: Swizzle::new(&picks) });
        }
        let value = |&(addr, l): &(Addr, u8)| match addr {
            Addr::Lit(literal) => Some(literal.lane(l)),
            Addr::Var(..) => None,
        };
        let values: Vec<Option<f32>> = lanes.iter().map(value).collect();
        if let Some(all) = values.iter().copied().collect::<Option<Vec<f32>>>() {
            return Ok(Src::lit(Literal::new(scalar, &all)));
        }
        let var = self.temp(ty)?;
        let mut done = [false; 4];
        for i in 0..lanes.len() {
            if done[i] {
                continue;
            }
            let same = |j: usize| match values[i] {
                Some(_) => values[j].is_some(),
                None => values[j].is_none() && lanes[j].0 == lanes[i].0,
            };
            let group: Vec<usize> = (i..lanes.len()).filter(|&j| !done[j] && same(j)).collect();
            group.iter().for_each(|&j| done[j] = true);
            let mask = WriteMask(group.iter().fold(0, |m, &j| m | 1 << j));
            let src = match values[i] {
                Some(_) => {
                    let picked: Vec<f32> = group.iter().filter_map(|&j| values[j]).collect();
                    Src::lit(Literal::new(scalar, &picked))
                }
                None => {
                    let picked: Vec<u8> = group.iter().map(|&j| lanes[j].1).collect();
                    Src { addr: lanes[i].0, swz: Swizzle::new(&picked) }
                }
            };
            let index = ir::tac::Index::default();
            self.emit_to(Dst { var, index, mask }, Op::Mov, &[src])?;
        }
        Ok(Src::var(var, 0, n))
    }

    /// The source's lanes as another kind, as constructors convert.
    pub(super) fn convert(&mut self, src: Src, to: Scalar) -> R<Src> {
        let from = self.src_type(src);
        if from.scalar == to {
            return Ok(src);
        }
        if let Addr::Lit(literal) = src.addr {
            let lanes: Vec<f32> = literal
                .swizzled(src.swz)
                .lanes()
                .map(|v| match to {
                    Scalar::Float => v,
                    Scalar::Int => v.trunc(),
                    Scalar::Bool => f32::from(u8::from(v != 0.0)),
                })
                .collect();
            return Ok(Src::lit(Literal::new(to, &lanes)));
        }
        let ty = Type { scalar: to, lanes: from.lanes };
        match (from.scalar, to) {
            (Scalar::Float, Scalar::Int) => self.emit(Op::Trunc, ty, &[src]),
            (_, Scalar::Bool) => {
                let zero = splat(from, 0.0);
                self.emit(Op::Sne, ty, &[src, zero])
            }
            _ => self.emit(Op::Mov, ty, &[src]),
        }
    }

    /// Whether all (or any) lanes of bools are true, as one bool.
    pub(super) fn reduce_bools(&mut self, op: Op, bools: &[Src]) -> R<Src> {
        let mut lanes: Vec<Src> = Vec::new();
        for &src in bools {
            match src.swz.len() {
                4 => {
                    let (low, high) = (src.swizzled(Swizzle::new(&[0, 1])), src.swizzled(Swizzle::new(&[2, 3])));
                    let two = self.emit(op, Type { scalar: Scalar::Bool, lanes: 2 }, &[low, high])?;
                    lanes.extend([lane(two, 0), lane(two, 1)]);
                }
                n => lanes.extend((0..n).map(|i| lane(src, i))),
            }
        }
        let mut sum = lanes[0];
        for &next in &lanes[1..] {
            sum = self.emit(op, Type::BOOL, &[sum, next])?;
        }
        Ok(sum)
    }

    /// The one register of a scalar or vector.
    pub(super) fn one(&self, val: &Val<'a>) -> Src {
        val.regs.first().copied().unwrap_or(float(0.0))
    }

    /// A value of one register.
    pub(super) fn val(&self, ty: Ty<'a>, src: Src) -> Val<'a> {
        Val { ty, regs: vec![src] }
    }
}
