//! SSA to e-classes: one e-graph for the pure values of a function.
//!
//! In: a function of core opcodes. Out: the e-graph and the class of each value. Block parameters
//! and results of pinned instructions are leaves, so the graph has no circles at the start. Values
//! that nothing pinned needs stay out. Invariant: smart constructors run as values enter, so equal
//! computations in any two blocks are one class.

use crate::analysis::{Home, Range, Shader, from_outside};
use crate::extract::graph::{is_pinned, uses_from_outside};
use crate::lang::{self, Args, EGraph, Head, Leaf, Node};
use cranelift_entity::SecondaryMap;
use egg::Id;
use ir::analysis::{Cfg, DomTree};
use ir::eval::EvalCfg;
use ir::func::{Imm, InstData, ValueDef};
use ir::op::{Form, Shape};
use ir::types::{FpLevel, Literal, Scalar, Type};
use ir::{Block, Function, Op, Value};

/// A function in an e-graph.
#[derive(Debug)]
pub struct Entered {
    /// The graph.
    pub egraph: EGraph,
    /// The class of each value that pinned instructions reach.
    pub class_of: SecondaryMap<Value, Option<Id>>,
}

/// Why a function cannot enter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EnterError {
    /// An operation that `lower-types` should have expanded.
    SourceForm(Op, Value),
    /// An operand that no instruction before it defines.
    Undefined(Value),
    /// Operands whose widths do not fit the operation.
    Widths(Op, Value),
}

impl std::fmt::Display for EnterError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            EnterError::SourceForm(op, value) => write!(f, "{value}: `{op}` must be lowered before the e-graph stage"),
            EnterError::Undefined(value) => write!(f, "{value} is used before its definition"),
            EnterError::Widths(op, value) => write!(f, "{value}: the widths of `{op}`'s operands do not fit"),
        }
    }
}

impl std::error::Error for EnterError {}

/// Builds the e-graph of a function.
pub fn enter(func: &Function<'_>, eval: EvalCfg, level: FpLevel, arrangements: usize) -> Result<Entered, EnterError> {
    let live = live_values(func);
    let shader = Shader { eval, level, arrangements, ..Shader::default() };
    let mut entered = Entered { egraph: EGraph::new(shader), class_of: SecondaryMap::new() };
    let homes = homes(func, &mut entered.egraph.analysis);
    for (var, decl) in &func.vars {
        entered.egraph.analysis.vars[var] = range_of_type(decl.ty);
    }
    for &block in &func.layout {
        for &param in &func.blocks[block].params {
            leaf(func, &mut entered, param, None, homes[block]);
        }
        for &inst in &func.blocks[block].insts {
            let inst = &func.insts[inst];
            let Some(result) = inst.result.expand() else { continue };
            if is_core_pure(inst.op) {
                if live[result] {
                    let id = node(func, &mut entered, inst, result)?;
                    entered.class_of[result] = Some(id);
                }
            } else if inst.op.form() == Form::Source {
                return Err(EnterError::SourceForm(inst.op, result));
            } else {
                leaf(func, &mut entered, result, Some(inst.op), homes[block]);
            }
        }
    }
    entered.egraph.rebuild();
    Ok(entered)
}

fn is_core_pure(op: Op) -> bool {
    !is_pinned(op)
}

/// The home of each block, and the dominator tree for the analysis.
fn homes(func: &Function<'_>, shader: &mut Shader) -> SecondaryMap<Block, Home> {
    let doms = DomTree::new(func, &Cfg::new(func));
    let home = |block: Block| match doms.depth(block) {
        0 => Home::entry(),
        depth => Home { depth, block },
    };
    let mut homes = SecondaryMap::with_default(Home::entry());
    for &block in &func.layout {
        homes[block] = home(block);
        shader.doms[block] = doms.idom(block).map(home);
    }
    homes
}

/// Values that pinned instructions and block ends reach.
fn live_values(func: &Function<'_>) -> SecondaryMap<Value, bool> {
    let mut live = SecondaryMap::with_default(false);
    let mut work: Vec<Value> = uses_from_outside(func).into_iter().map(|(value, ..)| value).collect();
    while let Some(value) = work.pop() {
        if std::mem::replace(&mut live[value], true) {
            continue;
        }
        if let ValueDef::Inst(inst) = func.values[value].def {
            let inst = &func.insts[inst];
            if is_core_pure(inst.op) {
                work.extend(inst.args);
            }
        }
    }
    live
}

/// What the source type of a lane says of the float that holds it.
fn range_of_type(ty: Type) -> Option<Range> {
    match ty.scalar {
        Scalar::Float => None,
        Scalar::Int => Some(Range { whole: true, nan: false, inf: false, neg_zero: false, ..Range::ANY }),
        Scalar::Bool => Some(Range::TRUTH),
    }
}

fn leaf(func: &Function<'_>, entered: &mut Entered, value: Value, op: Option<Op>, home: Home) {
    let ty = func.ty(value);
    let mut range = range_of_type(ty).unwrap_or(Range::ANY);
    if op.is_some_and(|op| op.shape() == Shape::Texture || matches!(op, Op::Ddx | Op::Ddy)) {
        range = range.meet(from_outside(entered.egraph.analysis.level));
    }
    entered.egraph.analysis.seeds.insert(value, (range, home));
    let id = lang::make_leaf(&mut entered.egraph, Leaf::Value { value, lanes: ty.lanes });
    entered.class_of[value] = Some(id);
}

fn node(func: &Function<'_>, entered: &mut Entered, inst: &InstData<'_>, result: Value) -> Result<Id, EnterError> {
    let lanes = func.ty(result).lanes;
    let mut args = Args::new();
    for &arg in inst.args {
        args.push(entered.class_of[arg].ok_or(EnterError::Undefined(arg))?);
    }
    let egraph = &mut entered.egraph;
    let head = match (inst.op, inst.imm) {
        (Op::Const, Imm::Lit(literal)) => Head::Lit(literal),
        // Any value will do; 0 folds best.
        (Op::Undef, _) => Head::Lit(Literal::new(Scalar::Float, &[0.0; 4][..lanes as usize])),
        (Op::Swz, Imm::Swz(swizzle)) => {
            let width = args.first().map_or(0, |&a| lang::width(egraph, a));
            if swizzle.lanes().iter().any(|&l| l >= width) {
                return Err(EnterError::Widths(inst.op, result));
            }
            Head::Swz(swizzle)
        }
        (op @ (Op::Input | Op::Uniform), Imm::Elem { var, elem }) => Head::Leaf(Leaf::Elem { op, var, elem, lanes }),
        (op @ (Op::InputAt | Op::UniformAt), Imm::Elem { var, elem }) => Head::At { op, var, elem, lanes },
        (Op::Txl, Imm::Tex { sampler, elem, indexed, dim, shadow }) => {
            Head::Txl { sampler, elem, indexed, dim, shadow }
        }
        (op, _) => Head::Op(op),
    };
    let node = Node::new(head, &args);
    // A scalar beside wider operands is spread, as `ir::eval` has it.
    let node = spread(egraph, node, lanes);
    let fits = node.width(|id| lang::width(egraph, id)) == lanes
        && match head {
            Head::Op(op) if op.shape() == Shape::Reduce => {
                node.args.iter().all(|&a| Some(lang::width(egraph, a)) == op.reduce_width())
            }
            Head::Op(Op::Cat) => true,
            Head::Op(_) => node.args.iter().all(|&a| lang::width(egraph, a) == lanes),
            _ => true,
        };
    if !fits {
        return Err(EnterError::Widths(inst.op, result));
    }
    Ok(lang::make_node(egraph, node))
}

fn spread(egraph: &mut EGraph, mut node: Node, lanes: u8) -> Node {
    let Head::Op(op) = node.head else { return node };
    if matches!(op.shape(), Shape::Lanewise | Shape::ScalarUnit) {
        for arg in &mut node.args {
            if lang::width(egraph, *arg) == 1 && lanes > 1 {
                *arg = lang::make_swz(egraph, ir::types::Swizzle::splat(0, lanes), *arg);
            }
        }
    }
    node
}
