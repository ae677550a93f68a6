//! Extractors on random graphs: every selection passes its check, none beats the exhaustive
//! optimum, sharing is never priced worse than the tree, and the same graph gives the same choice.

use cranelift_entity::SecondaryMap;
use egraph_rules::cost::{SLOT, node_cost};
use egraph_rules::extract::chaos::{Chaos, Random};
use egraph_rules::extract::graph::{ClassId, Graph, Outside, Root, UseKind};
use egraph_rules::extract::greedy_dag::GreedyDag;
use egraph_rules::extract::improve::{Effort, improve};
use egraph_rules::extract::tree::Tree;
use egraph_rules::extract::{Choice, Extractor, Selection, SelectionError, check, topological};
use egraph_rules::lang::{Head, Leaf};
use egraph_rules::price::price;
use ir::cost::CostTable;
use ir::types::{Literal, Swizzle};
use ir::{Block, Op, Var};

/// A graph of one-lane classes; each class has 1 to 3 nodes, the first over earlier classes only, so
/// that every class has a term; the others may make circles.
fn random_graph(seed: u64, classes: usize) -> Graph {
    let mut random = Random::new(seed);
    let mut graph = Graph::default();
    let ids: Vec<ClassId> = (0..classes).map(|_| graph.add_class(1)).collect();
    for (i, &class) in ids.iter().enumerate() {
        let nodes = 1 + random.below(3);
        for n in 0..nodes {
            let below = if n == 0 { i } else { classes };
            if below == 0 || random.below(6) == 0 {
                let head = match random.below(2) {
                    0 => Head::Lit(Literal::float(i as f32)),
                    _ => Head::Leaf(Leaf::Elem { op: Op::Input, var: Var::from_u32(0), elem: i as u32, lanes: 1 }),
                };
                graph.add_node(class, head, [].into_iter().collect(), Outside::Register);
                continue;
            }
            let ops =
                [(Op::Add, 2), (Op::Mul, 2), (Op::Mad, 3), (Op::Rcp, 1), (Op::Neg, 1), (Op::Sin, 1), (Op::Sat, 1)];
            let (op, arity) = ops[random.below(ops.len())];
            let kids = (0..arity).map(|_| ids[random.below(below)]).filter(|&k| k != class).collect::<Vec<_>>();
            if kids.len() == arity {
                graph.add_node(class, Head::Op(op), kids.into_iter().collect(), Outside::Register);
            }
        }
        if graph.classes[class].nodes.is_empty() {
            let head = Head::Lit(Literal::float(-1.0));
            graph.add_node(class, head, [].into_iter().collect(), Outside::Register);
        }
    }
    for _ in 0..2 {
        let point = egraph_rules::blocks::Point { block: Block::from_u32(0), pos: 0 };
        let class = ids[classes - 1 - random.below(classes.div_ceil(3))];
        graph.roots.push(Root { class, point, kind: UseKind::Operand });
    }
    graph
}

/// The least cost over all choices, by trying them all. None when there are too many.
fn exhaustive(graph: &Graph, costs: &CostTable) -> Option<u64> {
    let classes: Vec<ClassId> = graph.classes.keys().collect();
    let count: u64 = classes.iter().map(|&c| graph.classes[c].nodes.len() as u64).product();
    if count > 60_000 {
        return None;
    }
    let mut best = u64::MAX;
    for mut number in 0..count {
        let mut choice: Choice = SecondaryMap::new();
        for &class in &classes {
            let nodes = &graph.classes[class].nodes;
            choice[class] = nodes[(number % nodes.len() as u64) as usize].into();
            number /= nodes.len() as u64;
        }
        if let Some(order) = topological(graph, &choice) {
            let cost =
                order.iter().map(|&c| node_cost(graph, costs, choice[c].expand().unwrap(), &choice)).sum::<u64>();
            best = best.min(cost);
        }
    }
    Some(best)
}

#[test]
fn nothing_beats_the_exhaustive_optimum() {
    let costs = CostTable::default();
    let mut compared = 0;
    let mut met = 0;
    for seed in 0..300 {
        let graph = random_graph(seed, 9);
        let tree = Tree.extract(&graph, &costs);
        let dag = GreedyDag.extract(&graph, &costs);
        assert!(dag.dag_cost <= tree.dag_cost, "seed {seed}");
        for selection in [&tree, &dag] {
            check(&graph, &costs, selection).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        }
        if let Some(optimum) = exhaustive(&graph, &costs) {
            compared += 1;
            met += u32::from(dag.dag_cost == optimum);
            assert!(dag.dag_cost >= optimum && tree.dag_cost >= optimum, "seed {seed}");
        }
    }
    assert!(compared > 100, "the exhaustive search must be tried: {compared}");
    assert!(met * 10 >= compared * 8, "greedy meets the optimum in {met} of {compared}");
}

#[test]
fn large_graphs_pass_the_check_and_repeat() {
    let costs = CostTable::default();
    for seed in 1000..1020 {
        let graph = random_graph(seed, 300);
        let extractors: [&dyn Extractor; 4] = [&Tree, &GreedyDag, &Chaos { seed }, &Chaos { seed: seed + 1 }];
        for extractor in extractors {
            let selection = extractor.extract(&graph, &costs);
            check(&graph, &costs, &selection).unwrap_or_else(|e| panic!("{} {seed}: {e}", extractor.name()));
            let again = extractor.extract(&graph, &costs);
            assert!(graph.classes.keys().all(|c| again.choice[c] == selection.choice[c]), "{seed}");
        }
    }
}

#[test]
fn improvement_only_lowers_the_price() {
    let costs = CostTable::default();
    let mut better = 0;
    for seed in 0..60 {
        let graph = random_graph(seed, 40);
        let mut choice = Chaos { seed }.extract(&graph, &costs).choice;
        let before = price(&graph, &costs, &choice).unwrap();
        let after = improve(&graph, &costs, &mut choice, &mut Effort::default()).unwrap();
        assert!(after.cost() <= before.cost(), "seed {seed}");
        assert_eq!(price(&graph, &costs, &choice), Some(after), "seed {seed}");
        better += u32::from(after.slots < before.slots);
        check(&graph, &costs, &Selection::new(&graph, &costs, choice)).unwrap();
    }
    assert!(better > 10, "a random choice leaves room: {better}");
}

#[test]
fn the_check_finds_every_kind_of_mistake() {
    let costs = CostTable::default();
    let mut graph = Graph::default();
    let (a, b) = (graph.add_class(1), graph.add_class(1));
    let lit = graph.add_node(a, Head::Lit(Literal::float(2.0)), [].into_iter().collect(), Outside::Register);
    let up = graph.add_node(b, Head::Op(Op::Rcp), [a].into_iter().collect(), Outside::Register);
    let down = graph.add_node(a, Head::Op(Op::Rcp), [b].into_iter().collect(), Outside::Register);
    let point = egraph_rules::blocks::Point { block: Block::from_u32(0), pos: 0 };
    graph.roots.push(Root { class: b, point, kind: UseKind::Operand });
    let make = |nodes: &[(ClassId, egraph_rules::extract::graph::NodeId)], dag_cost| {
        let mut choice: Choice = SecondaryMap::new();
        for &(class, node) in nodes {
            choice[class] = node.into();
        }
        Selection { choice, dag_cost }
    };
    let good = GreedyDag.extract(&graph, &costs).dag_cost;
    assert_eq!(check(&graph, &costs, &make(&[(a, lit), (b, up)], good)), Ok(()));
    assert_eq!(check(&graph, &costs, &make(&[(b, up)], good)), Err(SelectionError::Incomplete(a)));
    assert_eq!(check(&graph, &costs, &make(&[(a, up), (b, up)], good)), Err(SelectionError::Foreign(a)));
    assert!(matches!(check(&graph, &costs, &make(&[(a, down), (b, up)], good)), Err(SelectionError::Cyclic(_))));
    let wrong = make(&[(a, lit), (b, up)], good + 1);
    assert_eq!(check(&graph, &costs, &wrong), Err(SelectionError::Cost { given: good + 1, counted: good }));
}

#[test]
fn a_chain_of_doublings_cannot_overflow_into_a_circle() {
    let costs = CostTable::default();
    let mut graph = Graph::default();
    let mut last = graph.add_class(1);
    graph.add_node(last, Head::Lit(Literal::float(2.0)), [].into_iter().collect(), Outside::Register);
    for _ in 0..300 {
        let next = graph.add_class(1);
        graph.add_node(next, Head::Op(Op::Mul), [last, last].into_iter().collect(), Outside::Register);
        graph.add_node(last, Head::Op(Op::Rsq), [next].into_iter().collect(), Outside::Register);
        last = next;
    }
    let point = egraph_rules::blocks::Point { block: Block::from_u32(0), pos: 0 };
    graph.roots.push(Root { class: last, point, kind: UseKind::Operand });
    for extractor in [&Tree as &dyn Extractor, &GreedyDag] {
        let selection = extractor.extract(&graph, &costs);
        assert_eq!(check(&graph, &costs, &selection), Ok(()), "{}", extractor.name());
    }
}

/// A little builder for plans with one node a class.
struct Plan {
    graph: Graph,
}

impl Plan {
    fn new() -> Plan {
        Plan { graph: Graph::default() }
    }

    fn node(&mut self, width: u8, head: Head, kids: &[ClassId]) -> ClassId {
        let class = self.graph.add_class(width);
        self.graph.add_node(class, head, kids.iter().copied().collect(), Outside::Register);
        class
    }

    fn elem(&mut self, op: Op, elem: u32, lanes: u8) -> ClassId {
        self.node(lanes, Head::Leaf(Leaf::Elem { op, var: Var::from_u32(0), elem, lanes }), &[])
    }

    fn op(&mut self, op: Op, width: u8, kids: &[ClassId]) -> ClassId {
        self.node(width, Head::Op(op), kids)
    }

    fn swz(&mut self, lanes: &[u8], kid: ClassId) -> ClassId {
        self.node(lanes.len() as u8, Head::Swz(Swizzle::new(lanes)), &[kid])
    }

    fn slots(mut self, root: ClassId, kind: UseKind) -> (u64, u64) {
        let point = egraph_rules::blocks::Point { block: Block::from_u32(0), pos: 0 };
        self.graph.roots.push(Root { class: root, point, kind });
        let costs = CostTable::default();
        let choice = Tree.extract(&self.graph, &costs).choice;
        let price = price(&self.graph, &costs, &choice).unwrap();
        assert_eq!(price.cost() / SLOT, price.slots);
        (price.slots, price.moves)
    }
}

const ALL: UseKind = UseKind::Store(ir::types::WriteMask::ALL);

#[test]
fn dot_products_write_the_lanes_of_one_register() {
    let mut p = Plan::new();
    let v = p.elem(Op::Input, 0, 4);
    let rows: Vec<ClassId> = (0..4).map(|i| p.elem(Op::Uniform, i, 4)).collect();
    let dots: Vec<ClassId> = rows.iter().map(|&r| p.op(Op::Dp4, 1, &[r, v])).collect();
    let cat = p.op(Op::Cat, 4, &dots);
    assert_eq!(p.slots(cat, ALL), (4, 0));
}

#[test]
fn a_literal_lane_and_a_uniform_lane_cost_a_copy_each() {
    let mut p = Plan::new();
    let (a, b) = (p.elem(Op::Input, 0, 2), p.elem(Op::Uniform, 0, 1));
    let sum = p.op(Op::Add, 2, &[a, a]);
    let one = p.node(1, Head::Lit(Literal::float(1.0)), &[]);
    let cat = p.op(Op::Cat, 4, &[sum, b, one]);
    assert_eq!(p.slots(cat, ALL), (3, 2));
}

#[test]
fn an_output_cannot_be_read_back() {
    let mut p = Plan::new();
    let a = p.elem(Op::Input, 0, 1);
    let x = p.op(Op::Add, 1, &[a, a]);
    let y = p.op(Op::Mul, 1, &[x, x]);
    let cat = p.op(Op::Cat, 2, &[x, y]);
    // ADD r.x; MUL o.y, r.x, r.x; MOV o.x, r.x
    assert_eq!(p.slots(cat, UseKind::Store(ir::types::WriteMask::first(2))), (3, 1));
}

#[test]
fn a_part_wanted_in_two_places_is_copied_for_one() {
    let mut p = Plan::new();
    let a = p.elem(Op::Input, 0, 1);
    let x = p.op(Op::Add, 1, &[a, a]);
    let y = p.op(Op::Mul, 1, &[a, a]);
    let z = p.op(Op::Max, 1, &[a, a]);
    let xy = p.op(Op::Cat, 2, &[x, y]);
    let yx = p.op(Op::Cat, 2, &[y, x]);
    let zx = p.op(Op::Cat, 2, &[z, x]);
    let first = p.op(Op::Min, 2, &[xy, yx]);
    let all = p.op(Op::Add, 2, &[first, zx]);
    // The reversed gather is a swizzle of the first; only the third must fetch x.
    assert_eq!(p.slots(all, UseKind::Operand), (3 + 2 + 1, 1));
}

#[test]
fn saturation_rides_on_the_instruction_that_nothing_else_reads() {
    for (shared, slots) in [(false, 1), (true, 4)] {
        let mut p = Plan::new();
        let a = p.elem(Op::Input, 0, 4);
        let x = p.op(Op::Add, 4, &[a, a]);
        let sat = p.op(Op::Sat, 4, &[x]);
        let neg = p.op(Op::Neg, 4, &[x]);
        let root = if shared { p.op(Op::Mul, 4, &[sat, neg]) } else { sat };
        // Shared: ADD, MOV_SAT, MUL; the product goes straight to the output.
        assert_eq!(p.slots(root, ALL).0, if shared { 3 } else { slots }, "{shared}");
    }
}

#[test]
fn scalar_units_issue_once_a_distinct_lane() {
    let mut p = Plan::new();
    let a = p.elem(Op::Input, 0, 4);
    let xxx = p.swz(&[0, 0, 0, 0], a);
    let xy = p.swz(&[0, 1], a);
    let one = p.op(Op::Rcp, 4, &[xxx]);
    let two = p.op(Op::Rcp, 2, &[xy]);
    let two = p.swz(&[0, 1, 0, 1], two);
    let product = p.op(Op::Mul, 4, &[one, two]);
    assert_eq!(p.slots(product, ALL), (1 + 2 + 1, 0));
}

#[test]
fn modifiers_ride_on_operands_but_not_on_outputs() {
    let mut p = Plan::new();
    let a = p.elem(Op::Input, 0, 4);
    let neg = p.op(Op::Neg, 4, &[a]);
    let abs = p.op(Op::Abs, 4, &[a]);
    let sum = p.op(Op::Add, 4, &[neg, abs]);
    assert_eq!(p.slots(sum, ALL), (1, 0));
    let mut p = Plan::new();
    let a = p.elem(Op::Input, 0, 4);
    let neg = p.op(Op::Neg, 4, &[a]);
    assert_eq!(p.slots(neg, ALL), (1, 1));
}
