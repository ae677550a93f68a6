//! The law of SSA: what every pass may rely on and must leave behind. Each invariant has a number;
//! each number has a test that breaks it.
//!
//! Bookkeeping ([`ssa`])
//! 1. The layout is not empty; its first block has no parameters and no predecessors.
//! 2. Each block stands in the layout at most once and has a terminator; every entity named by a
//!    block of the layout exists, and jumps name blocks of the layout.
//! 3. An instruction stands in one place. It and its result name each other; a parameter names its
//!    block and its position.
//! 4. A jump gives one argument of equal type for each parameter of its target.
//! 5. Every use is dominated by its definition.
//!
//! Structure ([`ssa`], by the walk of [`crate::structure`])
//! 6. Every block is reachable. (The block after a loop counts as reached from the header, since a
//!    loop may be endless.)
//! 7. A jump goes to the header or to the merge of the innermost loop, to the merge of the innermost
//!    branch whose side this is, or to a block that nothing else goes to. So a loop is entered at
//!    its header only, and left to its merge only; a branch is left to its merge only.
//! 8. A block is the merge of at most one branch or loop. A branch names a merge exactly when one of
//!    its sides reaches one.
//! 9. The layout is the order of the walk: a branch, its first side, its second side, its merge; a
//!    loop's header, its body, its merge.
//! 10. There is one `Return`, outside of branches and loops, and all `StoreOutput` stand in its
//!     block.
//!
//! Types ([`types`])
//! 11. The number of operands is the opcode's.
//! 12. The immediate is of the opcode's kind; a swizzle picks lanes that the operand has.
//! 13. A variable is of the kind that the opcode reads or writes, the element lies inside it, and a
//!     sampler's shape is the lookup's.
//! 14. Widths follow the opcode's shape.
//! 15. Scalar kinds: operands and result agree, except where the opcode is a comparison (result bool
//!     or float), a selection (the condition is free) or `Mov`. What is read from or written to a
//!     variable has its kind or is float (types are lowered).
//! 16. An instruction has a result exactly when its opcode is not an effect.
//! 17. A branch's condition has one lane.
//! 18. Derivatives and `Kil` are of the fragment stage.
//!
//! Calls ([`calls`])
//! 19. Signatures name elements that exist. A `Call` names a callee and has one operand as wide as
//!     the variable for each of its arguments; a `Result` stands behind a `Call` of its block, and
//!     the last one leaves that element.

pub mod calls;
pub mod ssa;
pub mod types;

use crate::analysis::Cfg;
use crate::entity::{Block, Inst};
use crate::func::Function;
use std::fmt;

/// A broken invariant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifyError {
    /// Which one; see the module's list.
    pub rule: u32,
    /// In which block.
    pub block: Option<Block>,
    /// At which instruction.
    pub inst: Option<Inst>,
    /// The instruction's text, when it can be printed.
    pub text: String,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] {}", self.rule, self.message)?;
        if let Some(block) = self.block {
            write!(f, " in {block}")?;
        }
        if !self.text.is_empty() {
            write!(f, ": `{}`", self.text)?;
        }
        Ok(())
    }
}

/// Collects findings; stops collecting at a bound so that a broken function gives a short list.
pub(crate) struct Findings {
    pub(crate) errors: Vec<VerifyError>,
}

impl Findings {
    const MOST: usize = 50;

    pub(crate) fn block(&mut self, rule: u32, block: Option<Block>, message: impl Into<String>) {
        if self.errors.len() < Self::MOST {
            self.errors.push(VerifyError { rule, block, inst: None, text: String::new(), message: message.into() });
        }
    }

    pub(crate) fn inst(
        &mut self,
        rule: u32,
        func: &Function<'_>,
        block: Block,
        inst: Inst,
        message: impl Into<String>,
    ) {
        if self.errors.len() < Self::MOST {
            let text = crate::text::inst_text(func, inst);
            let message = message.into();
            self.errors.push(VerifyError { rule, block: Some(block), inst: Some(inst), text, message });
        }
    }
}

/// All invariants; the list of those broken, at most 50.
pub fn verify(func: &Function<'_>) -> Result<(), Vec<VerifyError>> {
    let mut found = Findings { errors: Vec::new() };
    ssa::check_bookkeeping(func, &mut found);
    if found.errors.is_empty() {
        let cfg = Cfg::new(func);
        ssa::check_structure(func, &cfg, &mut found);
        ssa::check_dominance(func, &cfg, &mut found);
        types::check(func, &mut found);
        calls::check(func, &mut found);
    }
    if found.errors.is_empty() { Ok(()) } else { Err(found.errors) }
}

#[cfg(test)]
mod tests {
    //! What text cannot say; the other invariants have file tests.

    use super::*;
    use crate::types::{Stage, Type};
    use crate::{Op, Value};
    use bumpalo::Bump;

    fn rules(func: &Function<'_>) -> Vec<u32> {
        verify(func).err().unwrap_or_default().iter().map(|e| e.rule).collect()
    }

    fn sample(arena: &Bump) -> Function<'_> {
        let text =
            "function frag { block0: v0: float = undef v1: float = neg v0 jump block1(v1) block1(v2: float): return }";
        let func = crate::text::parse(arena, text, Default::default()).unwrap();
        assert_eq!(rules(&func), []);
        func
    }

    #[test]
    fn no_blocks() {
        let arena = Bump::new();
        assert_eq!(rules(&Function::new(&arena, Stage::Vertex, Default::default())), [1]);
    }

    #[test]
    fn things_that_do_not_exist_or_stand_twice() {
        let arena = Bump::new();
        let mut func = sample(&arena);
        func.layout.push(Block::from_u32(7));
        assert_eq!(rules(&func), [2]);
        let mut func = sample(&arena);
        func.layout.push(func.layout[1]);
        assert_eq!(rules(&func), [2]);
        let mut func = sample(&arena);
        func.layout.pop();
        assert_eq!(rules(&func), [2]);
        let mut func = sample(&arena);
        let inst = func.blocks[func.layout[0]].insts[1];
        func.set_args(inst, &[Value::from_u32(99)]);
        assert_eq!(rules(&func), [2]);
    }

    #[test]
    fn definitions_name_each_other() {
        let arena = Bump::new();
        let mut func = sample(&arena);
        let (b0, b1) = (func.layout[0], func.layout[1]);
        let inst = func.blocks[b0].insts[1];
        func.blocks[b1].insts.push(inst);
        assert!(rules(&func).contains(&3));
        let mut func = sample(&arena);
        func.insts[inst].result = Value::from_u32(0).into();
        assert!(rules(&func).contains(&3));
        let mut func = sample(&arena);
        let param = func.add_param(b1, Type::FLOAT);
        func.blocks[b1].params.swap(0, 1);
        let call = func.call(b1, &[param, param]);
        func.blocks[b0].term = crate::func::Terminator::Jump(call);
        assert!(rules(&func).contains(&3));
    }

    #[test]
    fn a_width_of_five_is_refused() {
        let arena = Bump::new();
        let mut func = sample(&arena);
        let b1 = func.layout[1];
        func.append(b1, Op::Undef, crate::func::Imm::None, &[], Some(Type::float(5)), 0);
        assert_eq!(rules(&func), [14]);
    }
}
