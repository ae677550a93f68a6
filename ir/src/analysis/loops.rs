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
    /// Position in the layout, from 1.
    place: SecondaryMap<Block, u32>,
    /// Position of a header's merge: the first behind the loop.
    end: SecondaryMap<Block, u32>,
}

impl Loops {
    /// Of a function whose structure is valid.
    pub fn new(func: &Function<'_>) -> Loops {
        let mut loops = Loops {
            innermost: SecondaryMap::with_capacity(func.blocks.len()),
            parent: SecondaryMap::new(),
            depth: SecondaryMap::with_capacity(func.blocks.len()),
            headers: Vec::new(),
            place: SecondaryMap::with_capacity(func.blocks.len()),
            end: SecondaryMap::new(),
        };
        let mut open: Vec<(Block, Block)> = Vec::new();
        for (at, &block) in func.layout.iter().enumerate() {
            loops.place[block] = at as u32 + 1;
            while let Some(&(header, merge)) = open.last()
                && merge == block
            {
                loops.end[header] = at as u32 + 1;
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

    /// Whether `block` stands in the loop of `header`, at any depth. False for blocks that were not
    /// in the layout when this was computed.
    pub fn contains(&self, header: Block, block: Block) -> bool {
        let (start, end) = (self.place[header], self.end[header]);
        start != 0 && (start..end).contains(&self.place[block])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bumpalo::Bump;

    #[test]
    fn a_loop_in_a_branch_in_a_loop() {
        let text = "function frag {
            block0: v0: bool = undef jump block1
            block1 loop block9: branch v0, block2, block3, merge block8
            block2: jump block4
            block4 loop block6: branch v0, block4, block5
            block5: jump block6
            block6: jump block8
            block3: jump block8
            block8: branch v0, block1, block9
            block9: return }";
        let arena = Bump::new();
        let func = crate::text::parse(&arena, text, Default::default()).unwrap();
        crate::verify::verify(&func).unwrap();
        let loops = Loops::new(&func);
        let block = Block::from_u32;
        assert_eq!(loops.headers(), [block(1), block(4)]);
        let depths: Vec<u32> = (0..10).map(|b| loops.depth(block(b))).collect();
        assert_eq!(depths, [0, 1, 1, 1, 2, 2, 1, 0, 1, 0]);
        assert_eq!((loops.parent(block(4)), loops.parent(block(1))), (Some(block(1)), None));
        let inside = |header| (0..12).filter(|&b| loops.contains(block(header), block(b))).collect::<Vec<_>>();
        assert_eq!(inside(1), [1, 2, 3, 4, 5, 6, 8]);
        assert_eq!(inside(4), [4, 5]);
        assert_eq!(inside(2), []);
    }
}
