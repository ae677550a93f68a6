//! Operands and expressions of random programs.

use super::{Generator, INT_BOUND, Operand, TAME_BOUND};
use crate::entity::Var;
use crate::op::Op;
use crate::tac::{Addr, Dst, Index, Src};
use crate::types::{Literal, Scalar, Swizzle, Type};

impl Generator {
    // ---- operands

    /// An element of an array of `elems`, dynamic at times.
    pub(super) fn index(&mut self, elems: u32, may_be_dynamic: bool) -> Index {
        if elems > 1 && may_be_dynamic && self.rng.chance(1, 3) {
            let offset = self.rng.below(2);
            let value = self.leaf(Type::INT, true);
            let at = self.clamped(value.src, -(offset as f32), (elems - 1 - offset) as f32);
            if let Addr::Var(var, Index { offset: 0, rel: None }) = at.addr {
                return Index { offset, rel: Some((var, at.swz.lanes()[0])) };
            }
        }
        Index { offset: self.rng.below(elems), rel: None }
    }

    /// A temporary with an int clamped to a range.
    pub(super) fn clamped(&mut self, src: Src, low: f32, high: f32) -> Src {
        let temp = self.temp(Type::INT);
        let (dst, read) = (Dst::var(temp, 0, 1), Src::var(temp, 0, 1));
        let literal = |v: f32| Src::lit(Literal::new(Scalar::Int, &[v]));
        self.push(Op::Max, dst, vec![src, literal(low)]);
        self.push(Op::Min, dst, vec![read, literal(high)]);
        read
    }

    fn swizzle(&mut self, from: u8, to: u8) -> Swizzle {
        if from == to && self.rng.chance(1, 2) {
            return Swizzle::identity(to);
        }
        let lanes: Vec<u8> = (0..to).map(|_| self.rng.below(u32::from(from)) as u8).collect();
        Swizzle::new(&lanes)
    }

    fn literal(&mut self, ty: Type) -> Literal {
        let lanes: Vec<f32> = (0..ty.lanes)
            .map(|_| match ty.scalar {
                Scalar::Float if self.rng.chance(1, 3) => *self.rng.pick(&[0.0, 1.0, -1.0, 2.0, 0.5, -0.0]),
                Scalar::Float => (self.rng.below(64) as f32 - 32.0) / 16.0,
                Scalar::Int => self.rng.below(9) as f32 - 4.0,
                Scalar::Bool => self.rng.below(2) as f32,
            })
            .collect();
        Literal::new(ty.scalar, &lanes)
    }

    /// What exists already. `outside` keeps to literals, uniforms, inputs (exact in every build).
    pub(super) fn leaf(&mut self, ty: Type, outside: bool) -> Operand {
        let bound = match ty.scalar {
            Scalar::Float => TAME_BOUND,
            Scalar::Int => INT_BOUND,
            Scalar::Bool => 1.0,
        };
        let mut pool = self.outside.clone();
        if !outside {
            // Locals twice: most of a program is about its own values.
            pool.extend_from_slice(&self.locals);
            pool.extend_from_slice(&self.locals);
            pool.extend(self.in_main.then_some(&self.outputs).into_iter().flatten());
        }
        let pool: Vec<Var> = pool.into_iter().filter(|&v| self.program.vars[v].ty.scalar == ty.scalar).collect();
        if pool.is_empty() || self.rng.chance(1, 6) {
            return Operand { src: Src::lit(self.literal(ty)), bound };
        }
        let var = *self.rng.pick(&pool);
        let decl = self.program.vars[var].clone();
        let dynamic = !decl.is_local() || self.options.dynamic_arrays;
        // A dynamic index is made of ints again, which ends at variables of one element.
        let index = if outside {
            Index { offset: self.rng.below(decl.elems), rel: None }
        } else {
            self.index(decl.elems, dynamic)
        };
        Operand { src: Src { addr: Addr::Var(var, index), swz: self.swizzle(decl.ty.lanes, ty.lanes) }, bound }
    }

    /// A float that something may depend on: exact in every build when tame.
    pub(super) fn decisive(&mut self, ty: Type) -> Operand {
        if self.options.tame { self.leaf(ty, true) } else { self.expr(ty, 1) }
    }

    /// A new temporary with the operation's result.
    fn make(&mut self, op: Op, ty: Type, args: &[Operand], bound: f32) -> Operand {
        let temp = self.temp(ty);
        let dst = Dst::var(temp, 0, ty.lanes);
        self.push(op, dst, args.iter().map(|a| a.src).collect());
        Operand { src: Src::var(temp, 0, ty.lanes), bound }
    }

    fn constant(&self, ty: Type, value: f32) -> Operand {
        Operand { src: Src::lit(Literal::splat(ty, value)), bound: value.abs() }
    }

    /// A value that a variable may take: ints clamped, tame floats scaled down to their bound.
    pub(super) fn tamed(&mut self, value: Operand, ty: Type) -> Operand {
        match ty.scalar {
            Scalar::Int if value.bound > INT_BOUND => {
                let (low, high) = (self.constant(ty, -INT_BOUND), self.constant(ty, INT_BOUND));
                let value = self.make(Op::Max, ty, &[value, low], value.bound);
                self.make(Op::Min, ty, &[value, high], INT_BOUND)
            }
            Scalar::Float if self.options.tame && value.bound > TAME_BOUND => {
                let mut factor = 1.0;
                while value.bound * factor > TAME_BOUND {
                    factor *= 0.5;
                }
                let factor = self.constant(ty, factor);
                self.make(Op::Mul, ty, &[value, factor], TAME_BOUND)
            }
            _ => value,
        }
    }

    /// `max(|a|, 1/2)`: away from 0.
    fn positive(&mut self, ty: Type, depth: u32) -> Operand {
        let value = self.expr(ty, depth);
        let value = self.tamed(value, ty);
        let value = self.make(Op::Abs, ty, &[value], value.bound);
        let half = self.constant(ty, 0.5);
        self.make(Op::Max, ty, &[value, half], value.bound.max(0.5))
    }

    pub(super) fn expr(&mut self, ty: Type, depth: u32) -> Operand {
        if depth == 0 || self.rng.chance(1, 8) {
            return self.leaf(ty, false);
        }
        match ty.scalar {
            Scalar::Float => self.float_expr(ty, depth - 1),
            Scalar::Int => self.int_expr(ty, depth - 1),
            Scalar::Bool => self.bool_expr(ty, depth - 1),
        }
    }

    fn float_expr(&mut self, ty: Type, depth: u32) -> Operand {
        let wild = !self.options.tame;
        match self.rng.below(26) {
            0..=5 => {
                let (a, b) = (self.expr(ty, depth), self.expr(ty, depth));
                let (a, b) = (self.tamed(a, ty), self.tamed(b, ty));
                match self.rng.below(5) {
                    0 => self.make(Op::Add, ty, &[a, b], a.bound + b.bound),
                    1 => self.make(Op::Sub, ty, &[a, b], a.bound + b.bound),
                    2 => self.make(Op::Min, ty, &[a, b], a.bound.max(b.bound)),
                    3 => self.make(Op::Max, ty, &[a, b], a.bound.max(b.bound)),
                    _ => self.make(Op::Mul, ty, &[a, b], a.bound * b.bound),
                }
            }
            6..=8 => {
                let args = [0; 3].map(|_| {
                    let arg = self.expr(ty, depth);
                    self.tamed(arg, ty)
                });
                let [a, b, c] = args.map(|a| a.bound);
                if self.rng.chance(1, 3) {
                    // As front ends write it.
                    let product = self.make(Op::Mul, ty, &args[..2], a * b);
                    let op = *self.rng.pick(&[Op::Add, Op::Sub]);
                    let flip = self.rng.chance(1, 2);
                    let sum = if flip { [args[2], product] } else { [product, args[2]] };
                    self.make(op, ty, &sum, a * b + c)
                } else if self.rng.chance(1, 2) {
                    self.make(Op::Lrp, ty, &args, a + c * (a + b))
                } else {
                    self.make(Op::Mad, ty, &args, a * b + c)
                }
            }
            9..=10 => {
                let op = *self.rng.pick(&[Op::Neg, Op::Abs]);
                let a = self.expr(ty, depth);
                self.make(op, ty, &[a], a.bound)
            }
            11 => {
                let a = self.expr(ty, depth);
                self.make(Op::Sat, ty, &[a], 1.0)
            }
            12..=14 => {
                let op = *self.rng.pick(&[Op::Dp2, Op::Dp3, Op::Dp4]);
                let width = op.reduce_width().unwrap_or(4);
                let args = [0; 2].map(|_| {
                    let arg = self.expr(ty.with_lanes(width), depth);
                    self.tamed(arg, ty.with_lanes(width))
                });
                let one = self.make(op, ty.with_lanes(1), &args, f32::from(width) * args[0].bound * args[1].bound);
                Operand { src: one.src.swizzled(Swizzle::splat(0, ty.lanes)), ..one }
            }
            15 => {
                let op = *self.rng.pick(&[Op::Sin, Op::Cos]);
                let a = self.expr(ty, depth);
                let a = self.tamed(a, ty);
                self.make(op, ty, &[a], 1.0)
            }
            16 => {
                let op = *self.rng.pick(&[Op::Rcp, Op::Rsq, Op::Sqrt, Op::Lg2]);
                let a = if wild { self.expr(ty, depth) } else { self.positive(ty, depth) };
                self.make(op, ty, &[a], 2.0f32.max(a.bound))
            }
            17 => {
                let a = self.expr(ty, depth);
                let a = self.tamed(a, ty);
                self.make(Op::Ex2, ty, &[a], 16.0)
            }
            18 => {
                let (a, b) = (self.expr(ty, depth), self.positive(ty, depth));
                let a = self.tamed(a, ty);
                self.make(Op::Div, ty, &[a, b], a.bound * 2.0)
            }
            19 => {
                let (a, b) = (self.positive(ty, depth), self.expr(ty, depth));
                let b = self.tamed(b, ty);
                self.make(Op::Pow, ty, &[a, b], 256.0)
            }
            20 => {
                let a = if wild { self.expr(ty, depth) } else { self.positive(ty, depth) };
                self.make(Op::Nrm, ty, &[a], 1.0)
            }
            21 => {
                let op = *self.rng.pick(&[Op::Frc, Op::Flr, Op::Trunc, Op::Ceil, Op::Sign]);
                let a = self.decisive(ty);
                self.make(op, ty, &[a], a.bound + 1.0)
            }
            22 => {
                let op = *self.rng.pick(&[Op::Slt, Op::Sge, Op::Seq, Op::Sne]);
                let (a, b) = (self.decisive(ty), self.decisive(ty));
                self.make(op, ty, &[a, b], 1.0)
            }
            23 => {
                let (c, a, b) = (self.decisive(ty), self.expr(ty, depth), self.expr(ty, depth));
                self.make(Op::Cmp, ty, &[c, a, b], a.bound.max(b.bound))
            }
            24 => self.select(ty, depth),
            _ => {
                let from = Type { scalar: *self.rng.pick(&[Scalar::Int, Scalar::Bool]), ..ty };
                let a = self.expr(from, depth);
                let a = self.make(Op::Mov, ty, &[a], a.bound);
                if self.options.tame { self.tamed(a, ty) } else { a }
            }
        }
    }

    fn select(&mut self, ty: Type, depth: u32) -> Operand {
        let lanes = if self.rng.chance(1, 2) { 1 } else { ty.lanes };
        let cond = self.expr(Type { scalar: Scalar::Bool, lanes }, depth);
        let (a, b) = (self.expr(ty, depth), self.expr(ty, depth));
        self.make(Op::Select, ty, &[cond, a, b], a.bound.max(b.bound))
    }

    fn int_expr(&mut self, ty: Type, depth: u32) -> Operand {
        match self.rng.below(10) {
            0..=4 => {
                let (a, b) = (self.expr(ty, depth), self.expr(ty, depth));
                let (a, b) = (self.tamed(a, ty), self.tamed(b, ty));
                match self.rng.below(5) {
                    0 => self.make(Op::Add, ty, &[a, b], a.bound + b.bound),
                    1 => self.make(Op::Sub, ty, &[a, b], a.bound + b.bound),
                    2 => self.make(Op::Min, ty, &[a, b], a.bound.max(b.bound)),
                    3 => self.make(Op::Max, ty, &[a, b], a.bound.max(b.bound)),
                    _ => self.make(Op::Mul, ty, &[a, b], a.bound * b.bound),
                }
            }
            5 => {
                let (a, b) = (self.expr(ty, depth), self.expr(ty, depth));
                let one = self.constant(ty, 1.0);
                let b = self.make(Op::Abs, ty, &[b], b.bound);
                let b = self.make(Op::Max, ty, &[b, one], b.bound);
                let b = if self.rng.chance(1, 2) { self.make(Op::Neg, ty, &[b], b.bound) } else { b };
                self.make(Op::Idiv, ty, &[a, b], a.bound)
            }
            6 => {
                let op = *self.rng.pick(&[Op::Neg, Op::Abs, Op::Sign]);
                let a = self.expr(ty, depth);
                self.make(op, ty, &[a], a.bound.max(1.0))
            }
            7 => {
                // A float near 0, whole numbers of it.
                let float = Type { scalar: Scalar::Float, ..ty };
                let a = self.decisive(float);
                let (low, high) = (self.constant(float, -8.0), self.constant(float, 8.0));
                let a = self.make(Op::Max, float, &[a, low], 8.0);
                let a = self.make(Op::Min, float, &[a, high], 8.0);
                let op = *self.rng.pick(&[Op::Trunc, Op::Flr, Op::Ceil]);
                self.make(op, ty, &[a], 8.0)
            }
            8 => self.select(ty, depth),
            _ => {
                let a = self.expr(Type { scalar: Scalar::Bool, ..ty }, depth);
                self.make(Op::Mov, ty, &[a], 1.0)
            }
        }
    }

    fn bool_expr(&mut self, ty: Type, depth: u32) -> Operand {
        match self.rng.below(8) {
            0..=1 => {
                let op = *self.rng.pick(&[Op::Slt, Op::Sge, Op::Seq, Op::Sne]);
                let from = Type { scalar: Scalar::Float, ..ty };
                let (a, b) = (self.decisive(from), self.decisive(from));
                self.make(op, ty, &[a, b], 1.0)
            }
            2..=3 => {
                let op = *self.rng.pick(&[Op::Slt, Op::Sge, Op::Seq, Op::Sne]);
                let from = Type { scalar: Scalar::Int, ..ty };
                let (a, b) = (self.expr(from, depth), self.expr(from, depth));
                self.make(op, ty, &[a, b], 1.0)
            }
            4 => {
                let a = self.expr(ty, depth);
                self.make(Op::Not, ty, &[a], 1.0)
            }
            5 => self.select(ty, depth),
            _ => {
                let op = *self.rng.pick(&[Op::And, Op::Or, Op::Xor, Op::Seq, Op::Sne]);
                let (a, b) = (self.expr(ty, depth), self.expr(ty, depth));
                self.make(op, ty, &[a, b], 1.0)
            }
        }
    }
}
