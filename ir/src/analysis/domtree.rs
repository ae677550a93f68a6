//! The dominator tree, after Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001).

use super::Cfg;
use crate::entity::{Block, Value};
use crate::func::{Function, ValueDef};
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;

#[derive(Clone, Copy, Default, Debug)]
struct Node {
    idom: PackedOption<Block>,
    /// Position in reverse postorder, from 1; 0 when unreachable.
    order: u32,
    /// Preorder number and the largest in the subtree: `a` dominates `b` exactly when `b`'s number
    /// lies in `a`'s range.
    pre: u32,
    last: u32,
    depth: u32,
    /// A dominator further up: whoever climbs by these where they do not lead too far, and by `idom`
    /// where they do, takes logarithmically many steps (Myers, "An Applicative Random-Access Stack",
    /// 1983).
    jump: PackedOption<Block>,
}

/// Who dominates whom.
#[derive(Debug)]
pub struct DomTree {
    nodes: SecondaryMap<Block, Node>,
    preorder: Vec<Block>,
}

impl DomTree {
    /// Of the reachable blocks.
    pub fn new(func: &Function<'_>, cfg: &Cfg) -> DomTree {
        let mut nodes: SecondaryMap<Block, Node> = SecondaryMap::with_capacity(func.blocks.len());
        let order: Vec<Block> = cfg.postorder().iter().rev().copied().collect();
        for (i, &block) in order.iter().enumerate() {
            nodes[block].order = i as u32 + 1;
        }
        // An endless loop's merge has no jump to it; the header stands in as its predecessor.
        let mut header_of: SecondaryMap<Block, PackedOption<Block>> = SecondaryMap::new();
        for &block in &order {
            if let Some(merge) = func.blocks[block].loop_merge {
                header_of[merge] = block.into();
            }
        }
        let mut changed = true;
        while changed {
            changed = false;
            for &block in order.iter().skip(1) {
                let mut idom: Option<Block> = None;
                let virtual_pred = if cfg.preds(block).is_empty() { header_of[block].expand() } else { None };
                for pred in cfg.preds(block).iter().copied().chain(virtual_pred) {
                    let known = pred == order[0] || nodes[pred].idom.is_some();
                    if known {
                        idom = Some(idom.map_or(pred, |other| intersect(&nodes, pred, other)));
                    }
                }
                if idom.is_some() && nodes[block].idom.expand() != idom {
                    nodes[block].idom = idom.into();
                    changed = true;
                }
            }
        }
        let mut tree = DomTree { nodes, preorder: Vec::with_capacity(order.len()) };
        tree.number(&order);
        tree
    }

    /// Preorder numbers; children in reverse postorder, which follows the layout.
    fn number(&mut self, order: &[Block]) {
        let mut children: SecondaryMap<Block, Vec<Block>> = SecondaryMap::new();
        for &block in order.iter().skip(1) {
            if let Some(idom) = self.nodes[block].idom.expand() {
                children[idom].push(block);
            }
        }
        let Some(&entry) = order.first() else { return };
        let mut stack = vec![(entry, 0)];
        self.enter(entry, 0);
        while let Some((block, next)) = stack.last_mut() {
            if let Some(&child) = children[*block].get(*next) {
                *next += 1;
                let depth = self.nodes[*block].depth + 1;
                self.enter(child, depth);
                stack.push((child, 0));
            } else {
                self.nodes[*block].last = self.preorder.len() as u32;
                stack.pop();
            }
        }
    }

    fn enter(&mut self, block: Block, depth: u32) {
        self.preorder.push(block);
        let jump = self.nodes[block].idom.expand().map(|up| {
            let (near, far) = (self.jump(up), self.jump(self.jump(up)));
            let even = self.depth(up) - self.depth(near) == self.depth(near) - self.depth(far);
            if even { far } else { up }
        });
        let node = &mut self.nodes[block];
        node.pre = self.preorder.len() as u32;
        (node.depth, node.jump) = (depth, jump.into());
    }

    /// A dominator further up; the entry's is itself.
    fn jump(&self, block: Block) -> Block {
        self.nodes[block].jump.expand().unwrap_or(block)
    }

    /// A number of each reachable block, from 1: dominators have smaller ones than what they
    /// dominate.
    pub fn preorder_number(&self, block: Block) -> u32 {
        self.nodes.get(block).map_or(0, |n| n.pre)
    }

    /// The closest strict dominator; none for the entry.
    pub fn idom(&self, block: Block) -> Option<Block> {
        self.nodes.get(block).and_then(|n| n.idom.expand())
    }

    /// Distance to the entry in the tree.
    pub fn depth(&self, block: Block) -> u32 {
        self.nodes.get(block).map_or(0, |n| n.depth)
    }

    /// Whether every way to `b` goes through `a`; a block dominates itself. False for unreachable
    /// blocks.
    pub fn dominates(&self, a: Block, b: Block) -> bool {
        let (Some(a), Some(b)) = (self.nodes.get(a), self.nodes.get(b)) else { return false };
        a.pre != 0 && b.pre != 0 && a.pre <= b.pre && b.pre <= a.last
    }

    /// Reachable blocks, dominators before what they dominate, subtrees together.
    pub fn preorder(&self) -> &[Block] {
        &self.preorder
    }

    /// The closest block that dominates both; `b` if one of them is unreachable.
    pub fn common(&self, a: Block, b: Block) -> Block {
        if self.dominates(b, a) {
            return b;
        }
        let mut at = a;
        while !self.dominates(at, b) {
            let far = self.jump(at);
            let Some(up) = self.idom(at) else { return b };
            at = if self.dominates(far, b) { up } else { far };
        }
        at
    }
}

fn intersect(nodes: &SecondaryMap<Block, Node>, mut a: Block, mut b: Block) -> Block {
    while a != b {
        if nodes[a].order > nodes[b].order {
            a = nodes[a].idom.expand().unwrap_or(b);
        } else {
            b = nodes[b].idom.expand().unwrap_or(a);
        }
    }
    a
}

/// The block that defines each value; none when its instruction is in no block.
pub fn def_blocks(func: &Function<'_>) -> SecondaryMap<Value, PackedOption<Block>> {
    let mut blocks = SecondaryMap::with_capacity(func.values.len());
    for &block in &func.layout {
        for &param in &func.blocks[block].params {
            blocks[param] = block.into();
        }
        for &inst in &func.blocks[block].insts {
            if let Some(result) = func.insts[inst].result.expand() {
                debug_assert_eq!(func.values[result].def, ValueDef::Inst(inst));
                blocks[result] = block.into();
            }
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;
    use bumpalo::Bump;

    /// Dominance by its definition: remove `a`, see whether the entry still reaches `b`.
    fn dominates_slowly(func: &Function<'_>, a: Block, b: Block) -> bool {
        let mut seen = vec![];
        let mut todo = vec![func.entry()];
        while let Some(block) = todo.pop() {
            if block == a || seen.contains(&block) {
                continue;
            }
            seen.push(block);
            todo.extend(func.successors(block).map(|c| c.block));
        }
        a == b || !seen.contains(&b)
    }

    #[test]
    fn agrees_with_the_definition() {
        let text = "function frag {
            block0:
              v0: bool = const bool(1.0)
              jump block1
            block1 loop block7:
              branch v0, block2, block3, merge block4
            block2:
              jump block4
            block3:
              branch v0, block5, block6, merge block8
            block5:
              jump block7
            block6:
              jump block8
            block8:
              jump block4
            block4:
              jump block1
            block7:
              return
            }";
        let arena = Bump::new();
        let func = crate::text::parse(&arena, text, Default::default()).unwrap();
        crate::verify::verify(&func).unwrap();
        let cfg = Cfg::new(&func);
        let tree = DomTree::new(&func, &cfg);
        let mut pairs = 0;
        for &a in &func.layout {
            for &b in &func.layout {
                assert_eq!(tree.dominates(a, b), dominates_slowly(&func, a, b), "{a} {b}");
                pairs += usize::from(a != b && tree.dominates(a, b));
            }
        }
        assert!(pairs > 10);
        assert_eq!(tree.preorder()[0], func.entry());
        assert_eq!(tree.preorder().len(), func.layout.len());
    }
}
