//! Chains of random matrices by vectors: reordered, they compute the same within rounding, in as many
//! products as `A * (B * (C * v))` has.

use bumpalo::Bump;
use ir::builder::Builder;
use ir::entity::{Value, Var};
use ir::func::{Function, Imm};
use ir::interp::{InterpOptions, run};
use ir::op::Op;
use ir::pass::{Driver, FunctionPass, PassCtx};
use ir::tac::{FuncDecl, Program};
use ir::testing::gen_env::GenEnv;
use ir::testing::rng::Rng;
use ir::types::{FpLevel, Stage, Swizzle, WriteMask};

/// Text of a function with `matrices` uniforms of `size` columns, and an attribute and output for each
/// of `vectors`.
fn declarations(matrices: usize, size: u8, vectors: usize) -> String {
    let mut text = String::from("function vert {\n");
    let ty = format!("vec{size}");
    for m in 0..matrices {
        text += &format!("  var{m} = uniform {ty}[{size}] \"m{m}\" cols {size}\n");
    }
    for v in 0..vectors {
        text += &format!("  var{} = attribute {ty} \"v{v}\"\n", matrices + 2 * v);
        text += &format!("  var{} = output {ty} \"o{v}\"\n", matrices + 2 * v + 1);
    }
    text + "block0:\n  return\n}\n"
}

/// Columns of one matrix by another, or of a matrix by a vector (one column).
fn product(builder: &mut Builder<'_, '_>, left: &[Value], right: &[Value]) -> Vec<Value> {
    let size = left.len() as u8;
    let column = |builder: &mut Builder<'_, '_>, column: Value| {
        let mut sum = None;
        for (&vector, lane) in left.iter().zip(0..) {
            let factor = builder.swz(column, Swizzle::splat(lane, size));
            let term = builder.op(Op::Mul, &[vector, factor]);
            sum = Some(sum.map_or(term, |sum| builder.op(Op::Add, &[sum, term])));
        }
        sum.expect("a matrix has columns")
    };
    right.iter().map(|&c| column(builder, c)).collect()
}

fn products(func: &Function<'_>) -> usize {
    let insts = func.layout.iter().flat_map(|&b| func.blocks[b].insts.iter());
    insts.filter(|&&i| func.insts[i].op == Op::Mul).count()
}

fn check(seed: u64) {
    let mut rng = Rng::new(seed);
    let (matrices, size, vectors) = (2 + rng.below(3) as usize, 2 + rng.below(3) as u8, 1 + rng.below(2) as usize);
    let arena = Bump::new();
    let text = declarations(matrices, size, vectors);
    let mut func = ir::text::parse(&arena, &text, Default::default()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let block = func.layout[0];
    let mut builder = Builder::at_end(&mut func, block);
    let mut whole: Vec<Value> = Vec::new();
    for m in 0..matrices {
        let columns: Vec<Value> =
            (0..u32::from(size)).map(|c| builder.read(Op::Uniform, Var::from_u32(m as u32), c, None)).collect();
        whole = if m == 0 { columns } else { product(&mut builder, &whole, &columns) };
    }
    for v in 0..vectors {
        let input = Var::from_u32((matrices + 2 * v) as u32);
        let vector = builder.read(Op::Input, input, 0, None);
        let result = product(&mut builder, &whole, &[vector])[0];
        let output = Var::from_u32((matrices + 2 * v + 1) as u32);
        let imm = Imm::Out { var: output, elem: 0, mask: WriteMask::first(size) };
        builder.inst(Op::StoreOutput, imm, &[result], None);
    }
    let mut funcs = cranelift_entity::PrimaryMap::new();
    let main = funcs.push(FuncDecl { name: "main".to_string(), params: Vec::new(), body: Vec::new(), line: 0 });
    let shell = Program { stage: Stage::Vertex, version: 110, vars: func.vars.clone(), funcs, main };
    let env = GenEnv::new(seed, &shell, false);
    let before = run(&func, &env, InterpOptions::default()).unwrap();
    let pass = ir::passes::find("reassociate-products").unwrap();
    let ctx = PassCtx { fp: FpLevel::Glsl, ..PassCtx::default() };
    Driver { verify: true, ..Driver::new() }.run(&mut func, &[pass as &dyn FunctionPass], &ctx).unwrap();
    let after = run(&func, &env, InterpOptions::default()).unwrap();
    let close = |a: f32, b: f32| (a - b).abs() <= 1e-4 * (1.0 + a.abs().max(b.abs())) || !a.is_finite();
    assert_eq!(before.first_difference(&after, close), None, "seed {seed}:\n{}", ir::text::print(&func));
    // one vector takes all matrices one after the other; two share what pays for both
    if vectors == 1 {
        assert_eq!(products(&func), matrices * usize::from(size), "seed {seed}:\n{}", ir::text::print(&func));
    }
}

#[test]
fn chains_of_matrices() {
    (0..200).for_each(check);
}
