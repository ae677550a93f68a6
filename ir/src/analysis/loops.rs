//! The loop nest, read off the structure: a loop is its header and all blocks of the layout between
//! the header and its merge (invariant 9).

use crate::entity::Block;
use crate::func::Function;
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;

/// Which blocks stand in which loop.
#[derive(Debug)]
pub struct Loops {
    innermost: SecondaryMap<Block, PackedOption<Block>>,
    parent: SecondaryMap<Block, PackedOption<Block>>,
    depth: SecondaryMap<Block, u32>,
    headers: Vec<Block>,
}

impl Loops {
    /// Of a function whose structure is valid.
    pub fn new(func: &Function<'_>) -> Loops {
        let mut loops = Loops {
            innermost: SecondaryMap::with_capacity(func.blocks.len()),
            parent: SecondaryMap::new(),
            depth: SecondaryMap::with_capacity(func.blocks.len()),
            headers: Vec::new(),
        };
        let mut open: Vec<(Block, Block)> = Vec::new();
        for &block in &func.layout {
            while open.last().is_some_and(|&(_, merge)| merge == block) {
                open.pop();
            }
            if let Some(merge) = func.blocks[block].loop_merge {
                loops.parent[block] = open.last().map(|&(header, _)| header).into();
                loops.headers.push(block);
                open.push((block, merge));
            }
            loops.innermost[block] = open.last().map(|&(header, _)| header).into();
            loops.depth[block] = open.len() as u32;
        }
        loops
    }

    /// The header of the innermost loop around a block; a header is in its own loop.
    pub fn innermost(&self, block: Block) -> Option<Block> {
        self.innermost[block].expand()
    }

    /// The header of the loop around a loop.
    pub fn parent(&self, header: Block) -> Option<Block> {
        self.parent[header].expand()
    }

    /// How many loops are around a block.
    pub fn depth(&self, block: Block) -> u32 {
        self.depth[block]
    }

    /// All headers, outer loops first.
    pub fn headers(&self) -> &[Block] {
        &self.headers
    }

    /// Whether `block` stands in the loop of `header`, at any depth.
    pub fn contains(&self, header: Block, block: Block) -> bool {
        let mut around = self.innermost(block);
        while let Some(h) = around {
            if h == header {
                return true;
            }
            around = self.parent(h);
        }
        false
    }
}
