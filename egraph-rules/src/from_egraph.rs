//! The selection back to SSA.
//!
//! In: the function that entered the e-graph and a checked selection. Out: the same blocks and the
//! same pinned instructions in the same order, with the chosen values in place of the pure
//! instructions. Invariant: every operand dominates its use, because each value goes to a block
//! that its operands' blocks dominate and that dominates its users' blocks, and inside a block
//! stands behind its operands.
//!
//! Placement after Click, "Global Code Motion / Global Value Numbering" (PLDI 1995): the earliest
//! block by operands, the latest by users, and between them the latest of the shallowest loop. So a
//! value used on one side of a branch is computed there, and what does not change in a loop leaves
//! it. Literals, uniforms and inputs are operands on the machine and stand at their use.

use crate::blocks::{Blocks, definition_points};
use crate::extract::graph::{ClassId, Graph, GraphNode, is_pinned};
use crate::extract::{Choice, topological};
use crate::lang::{Head, Leaf};
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use ir::func::{BlockCall, Imm, Terminator};
use ir::types::Type;
use ir::{Block, Function, Inst, Op, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Puts a selection in place of the pure instructions of a function.
///
/// # Panics
/// When the selection has not passed its check, or is of another function.
pub fn place(func: &mut Function, blocks: &Blocks, graph: &Graph, choice: &Choice) {
    let order = topological(graph, choice).expect("a checked selection");
    let homes = place_blocks(func, blocks, graph, choice, &order);
    let mut by_block: SecondaryMap<Block, Vec<ClassId>> = SecondaryMap::new();
    for &class in &order {
        if let Some(block) = homes[class].expand() {
            by_block[block].push(class);
        }
    }
    let mut writer =
        Writer { graph, choice, values: SecondaryMap::new(), here: FxHashMap::default(), insts: Vec::new() };
    for block in func.layout.clone() {
        writer.here.clear();
        let old: Vec<Inst> = func.blocks[block].insts.iter().copied().collect();
        for inst in old {
            if is_pinned(func.insts[inst].op) {
                let args = writer.operands(func, func.insts[inst].args);
                func.set_args(inst, &args);
                writer.insts.push(inst);
            }
        }
        // What only later blocks read.
        for &class in &by_block[block] {
            writer.value(func, class);
        }
        let term = writer.terminator(func, func.blocks[block].term);
        let list = &mut func.blocks[block].insts;
        list.clear();
        list.extend(writer.insts.drain(..));
        func.blocks[block].term = term;
    }
}

/// Whether the value stands at each use instead of in one block.
fn is_operand_leaf(head: Head) -> bool {
    matches!(head, Head::Lit(_) | Head::Leaf(Leaf::Elem { .. }))
}

/// The block of each chosen value that becomes one instruction.
fn place_blocks(
    func: &Function,
    blocks: &Blocks,
    graph: &Graph,
    choice: &Choice,
    order: &[ClassId],
) -> SecondaryMap<ClassId, PackedOption<Block>> {
    let defs = definition_points(func);
    let node = |class: ClassId| &graph.nodes[choice[class].expand().expect("classes of the order are chosen")];
    // Operands first: the deepest of their earliest blocks, which lie on one path.
    let mut earliest: SecondaryMap<ClassId, Block> = SecondaryMap::with_default(func.entry());
    for &class in order {
        let data = node(class);
        let mut at = func.entry();
        if let Head::Leaf(Leaf::Value { value, .. }) = data.head {
            at = defs[value].block;
        }
        for &kid in &data.kids {
            if blocks.block_dominates(at, earliest[kid]) {
                at = earliest[kid];
            }
        }
        earliest[class] = at;
    }
    let mut latest: SecondaryMap<ClassId, PackedOption<Block>> = SecondaryMap::new();
    let used_in = |latest: &mut SecondaryMap<ClassId, PackedOption<Block>>, class: ClassId, block: Block| {
        let both = latest[class].expand().map_or(block, |old| blocks.common_block(old, block));
        latest[class] = both.into();
    };
    for root in &graph.roots {
        used_in(&mut latest, root.class, root.point.block);
    }
    let mut homes: SecondaryMap<ClassId, PackedOption<Block>> = SecondaryMap::new();
    for &class in order.iter().rev() {
        let Some(last) = latest[class].expand() else { continue };
        let data = node(class);
        if matches!(data.head, Head::Leaf(_) | Head::Lit(_)) {
            continue;
        }
        let (mut best, mut at) = (last, last);
        // From each loop straight to the block before its header.
        while let Some(up) = blocks.before_loop(at).filter(|&up| blocks.block_dominates(earliest[class], up)) {
            at = up;
            if blocks.loop_depth(at) < blocks.loop_depth(best) {
                best = at;
            }
        }
        homes[class] = best.into();
        for &kid in &data.kids {
            used_in(&mut latest, kid, best);
        }
    }
    homes
}

/// Writes one block after the other.
struct Writer<'g> {
    graph: &'g Graph,
    choice: &'g Choice,
    /// Values of classes that have one place.
    values: SecondaryMap<ClassId, PackedOption<Value>>,
    /// Values of leaves that stand at their use, in this block.
    here: FxHashMap<ClassId, Value>,
    /// The block's new list.
    insts: Vec<Inst>,
}

impl Writer<'_> {
    fn operands(&mut self, func: &mut Function, args: &[Value]) -> SmallVec<[Value; 4]> {
        args.iter().map(|arg| self.value(func, self.graph.class_of[arg])).collect()
    }

    fn known(&self, class: ClassId) -> Option<Value> {
        self.values[class].expand().or_else(|| self.here.get(&class).copied())
    }

    /// The value of a class, written here with all its operands if it is not known yet.
    fn value(&mut self, func: &mut Function, class: ClassId) -> Value {
        let graph = self.graph;
        let mut stack = vec![class];
        while let Some(&top) = stack.last() {
            if self.known(top).is_some() {
                stack.pop();
                continue;
            }
            let node: &GraphNode = &graph.nodes[self.choice[top].expand().expect("a checked selection")];
            let before = stack.len();
            stack.extend(node.kids.iter().copied().filter(|&k| self.known(k).is_none()));
            if stack.len() == before {
                self.write(func, top, node);
                stack.pop();
            }
        }
        self.known(class).expect("just written")
    }

    fn write(&mut self, func: &mut Function, class: ClassId, node: &GraphNode) {
        let data = &self.graph.classes[class];
        if let Head::Leaf(Leaf::Value { value, .. }) = node.head {
            self.values[class] = value.into();
            return;
        }
        let args: SmallVec<[Value; 4]> = node.kids.iter().filter_map(|&k| self.known(k)).collect();
        let (op, imm) = instruction(node.head);
        let inst = func.make_inst(op, imm, &args, Some(Type::float(data.width)), data.line);
        self.insts.push(inst);
        let result = func.insts[inst].result;
        if is_operand_leaf(node.head) {
            self.here.extend(result.expand().map(|value| (class, value)));
        } else {
            self.values[class] = result;
        }
    }

    fn terminator<'a>(&mut self, func: &mut Function<'a>, term: Terminator<'a>) -> Terminator<'a> {
        let mut call = |func: &mut Function<'a>, call: BlockCall<'a>| {
            let args = self.operands(func, call.args);
            func.call(call.block, &args)
        };
        match term {
            Terminator::None | Terminator::Return => term,
            Terminator::Jump(to) => Terminator::Jump(call(func, to)),
            Terminator::Branch { cond, then_call, else_call, merge } => {
                let (then_call, else_call) = (call(func, then_call), call(func, else_call));
                let cond = self.value(func, self.graph.class_of[&cond]);
                Terminator::Branch { cond, then_call, else_call, merge }
            }
        }
    }
}

/// Opcode and immediate of a node that is not a value from outside.
fn instruction(head: Head) -> (Op, Imm) {
    match head {
        Head::Op(op) => (op, Imm::None),
        Head::Lit(literal) => (Op::Const, Imm::Lit(literal)),
        Head::Swz(swizzle) => (Op::Swz, Imm::Swz(swizzle)),
        Head::Leaf(Leaf::Elem { op, var, elem, .. }) | Head::At { op, var, elem, .. } => (op, Imm::Elem { var, elem }),
        Head::Txl { sampler, elem, indexed, dim, shadow } => {
            (Op::Txl, Imm::Tex { sampler, elem, indexed, dim, shadow })
        }
        Head::Leaf(Leaf::Value { .. }) => (Op::Mov, Imm::None),
    }
}
