//! Where things stand in a function: dominators, loop depth and program points.
//!
//! In: a function. Out: facts for homes (design notes, section 1) and placement, on top of the
//! middle's own dominator tree and loop nest.

use cranelift_entity::SecondaryMap;
use ir::analysis::{Cfg, DomTree, Loops};
use ir::{Block, Function, Value};

/// A place in a function: before the instruction number `pos` of the block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct Point {
    /// The block.
    pub block: Block,
    /// Instruction number in the block as it came in; [`Point::END`] is behind all.
    pub pos: u32,
}

impl Point {
    /// Behind a block's last instruction.
    pub const END: u32 = u32::MAX;
}

/// Dominator tree and loop nest of a function.
#[derive(Debug)]
pub struct Blocks {
    entry: Block,
    doms: DomTree,
    loops: Loops,
}

impl Blocks {
    /// Computes the facts.
    pub fn new(func: &Function) -> Blocks {
        let cfg = Cfg::new(func);
        Blocks { entry: func.entry(), doms: DomTree::new(func, &cfg), loops: Loops::new(func) }
    }

    /// The block above the header of the innermost loop that the block is in; none outside loops.
    pub fn before_loop(&self, block: Block) -> Option<Block> {
        self.loops.innermost(block).and_then(|header| self.doms.idom(header))
    }

    /// How many loops the block is in.
    pub fn loop_depth(&self, block: Block) -> u32 {
        self.loops.depth(block)
    }

    /// Whether every way to `b` passes `a` (`a` itself included).
    pub fn block_dominates(&self, a: Block, b: Block) -> bool {
        self.doms.dominates(a, b)
    }

    /// Whether what is defined at `a` may be used at `b`.
    pub fn dominates(&self, a: Point, b: Point) -> bool {
        if a.block == b.block { a.pos <= b.pos } else { self.block_dominates(a.block, b.block) }
    }

    /// A key of a point: what dominates has the smaller one.
    pub fn place(&self, point: Point) -> (u32, u32) {
        (self.doms.preorder_number(point.block), point.pos)
    }

    /// The deepest block that dominates both.
    pub fn common_block(&self, a: Block, b: Block) -> Block {
        self.doms.common(a, b)
    }

    /// The latest point that dominates both.
    pub fn common(&self, a: Point, b: Point) -> Point {
        let block = self.common_block(a.block, b.block);
        let pos = |p: Point| if p.block == block { p.pos } else { Point::END };
        Point { block, pos: pos(a).min(pos(b)) }
    }

    /// The point of an empty operand list: everything may use it.
    pub fn start(&self) -> Point {
        Point { block: self.entry, pos: 0 }
    }
}

/// Where each value that stays outside the e-graph becomes known.
pub fn definition_points(func: &Function) -> SecondaryMap<Value, Point> {
    let entry = Point { block: func.entry(), pos: 0 };
    let mut points = SecondaryMap::with_default(entry);
    for &block in &func.layout {
        for &param in &func.blocks[block].params {
            points[param] = Point { block, pos: 0 };
        }
        for (i, &inst) in func.blocks[block].insts.iter().enumerate() {
            if let Some(result) = func.insts[inst].result.expand() {
                points[result] = Point { block, pos: i as u32 + 1 };
            }
        }
    }
    points
}
