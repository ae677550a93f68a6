//! The driver of passes: what it reports, what it refuses, and that passes stand big shaders.

use bumpalo::Bump;
use ir::func::{Function, Imm};
use ir::limits::Limits;
use ir::pass::{Driver, FunctionPass, Observer, Pass, PassCtx, PassError, passes_by_name};
use ir::types::Type;
use ir::{Op, Value};
use std::cell::Cell;
use std::fmt::Write;

const SMALL: &str = "function frag {
    var0 = output float \"o\"
    block0:
      v0: float = const float(1.0)
      v1: float = add v0, v0
      v2: float = add v0, v0
      store_output var0[0].x, v1
      return
    }";

fn parse<'a>(arena: &'a Bump, text: &str) -> Function<'a> {
    ir::text::parse(arena, text, Default::default()).unwrap_or_else(|d| panic!("{}: {text}", d.message))
}

#[test]
fn reports_and_dumps() {
    let arena = Bump::new();
    let mut func = parse(&arena, SMALL);
    let passes = passes_by_name(["eliminate-dead-code", "propagate-copies"]).unwrap();
    let mut driver = Driver { verify: true, dump_after: vec!["eliminate-dead-code".to_string()], observer: None };
    let report = driver.run(&mut func, &passes, &PassCtx::default()).unwrap();
    let rows: Vec<_> =
        report.runs.iter().map(|r| (r.name.as_str(), r.changed, r.insts_before, r.insts_after)).collect();
    assert_eq!(rows, [("eliminate-dead-code", true, 4, 3), ("propagate-copies", false, 3, 3)]);
    assert_eq!(report.dumps, [("eliminate-dead-code".to_string(), ir::text::print(&func))]);
    let unknown = passes_by_name(["no-such-pass"]).err();
    assert_eq!(unknown, Some(PassError::UnknownPass("no-such-pass".to_string())));
}

/// A pass of another crate, with a report of its own.
struct Counting(Cell<usize>);

impl FunctionPass for Counting {
    fn name(&self) -> &str {
        "counting"
    }

    fn run(&self, func: &mut Function<'_>, _: &PassCtx) -> Result<bool, PassError> {
        self.0.set(func.inst_count());
        Ok(false)
    }
}

#[test]
fn passes_from_outside() {
    let arena = Bump::new();
    let mut func = parse(&arena, SMALL);
    let counting = Counting(Cell::new(0));
    Driver::new().run(&mut func, &[&counting], &PassCtx::default()).unwrap();
    assert_eq!(counting.0.get(), 4);
}

fn breaks(func: &mut Function<'_>, _: &PassCtx) -> Result<bool, PassError> {
    let inst = func.blocks[func.layout[0]].insts[1];
    func.set_args(inst, &[Value::from_u32(2), Value::from_u32(0)]);
    Ok(true)
}

fn denies(func: &mut Function<'_>, _: &PassCtx) -> Result<bool, PassError> {
    let block = func.layout[0];
    func.append(block, Op::Undef, Imm::None, &[], Some(Type::FLOAT), 0);
    Ok(false)
}

fn grows(func: &mut Function<'_>, _: &PassCtx) -> Result<bool, PassError> {
    denies(func, &PassCtx::default())?;
    Ok(true)
}

#[test]
fn broken_passes_are_named() {
    let run = |run: fn(&mut Function<'_>, &PassCtx) -> Result<bool, PassError>, max_insts| {
        let arena = Bump::new();
        let mut func = parse(&arena, SMALL);
        let pass = Pass { name: "guilty", run, keeps: Default::default() };
        let ctx = PassCtx { limits: Limits { ssa: max_insts, ..Limits::default() }, ..PassCtx::default() };
        let mut driver = Driver { verify: true, ..Driver::new() };
        driver.run(&mut func, &[&pass], &ctx).unwrap_err()
    };
    let error = run(breaks, 100).to_string();
    assert!(error.starts_with("invalid after `guilty`:\n[5] v2 is not defined"), "{error}");
    let error = run(denies, 100).to_string();
    assert!(error.contains("says that nothing changed"), "{error}");
    assert_eq!(run(grows, 4), PassError::Limit(Limits { ssa: 4, ..Limits::default() }.exceeded("ssa-instructions")));
}

struct Refuses;

impl Observer for Refuses {
    fn after(&mut self, index: usize, pass: &str, _: &Function<'_>, changed: bool) -> Result<(), String> {
        if changed { Err(format!("{pass} {index}")) } else { Ok(()) }
    }
}

#[test]
fn an_observer_may_refuse() {
    let arena = Bump::new();
    let mut func = parse(&arena, SMALL);
    let passes = passes_by_name(["propagate-copies", "eliminate-dead-code"]).unwrap();
    let error = Driver::judged(&mut Refuses).run(&mut func, &passes, &PassCtx::default());
    let (pass, reason) = ("eliminate-dead-code".to_string(), "eliminate-dead-code 1".to_string());
    assert_eq!(error, Err(PassError::Refused { pass, reason }));
}

/// All passes on a shader, with the verifier; none may take long or overflow the stack.
fn stress(text: &str) {
    let arena = Bump::new();
    let mut func = parse(&arena, text);
    let passes: Vec<&dyn FunctionPass> = ir::passes::ALL.iter().map(|p| p as &dyn FunctionPass).collect();
    let mut driver = Driver { verify: true, ..Driver::new() };
    for _ in 0..2 {
        driver.run(&mut func, &passes, &PassCtx::default()).unwrap();
    }
}

#[test]
fn a_long_block() {
    let mut text = String::from("function frag {\n var0 = output float \"o\"\n block0:\n v0: float = undef\n");
    for i in 1..40_000 {
        let _ = writeln!(text, "v{i}: float = add v{}, v{}\n kil v0", i - 1, i / 2);
    }
    text.push_str("store_output var0[0].x, v39999\n return }");
    stress(&text);
}

#[test]
fn many_parameters() {
    let n = 4_000;
    let list = |from: usize, ty: &str| (from..from + n).map(|i| format!("v{i}{ty}")).collect::<Vec<_>>().join(", ");
    let mut text = String::from("function frag {\n var0 = output float \"o\"\n var1 = uniform bool \"b\"\n block0:\n");
    for i in 0..n {
        let _ = writeln!(text, "v{i}: float = const float({}.0)", i % 7);
    }
    let _ = writeln!(text, "v{}: bool = uniform var1[0]\n jump block1({})", 4 * n, list(0, ""));
    let _ = writeln!(text, "block1({}) loop block4:", list(n, ": float"));
    for i in 2 * n..3 * n {
        let _ = writeln!(text, "v{i}: float = neg v{}", i - n);
    }
    let _ = writeln!(text, "branch v{}, block2, block3", 4 * n);
    let _ = writeln!(text, "block2: jump block1({})", list(2 * n, ""));
    let _ = writeln!(text, "block3: jump block4({})\n block4({}):", list(n, ""), list(3 * n, ": float"));
    let _ = writeln!(text, "store_output var0[0].x, v{}\n return }}", 4 * n - 1);
    stress(&text);
}

#[test]
fn deep_branches_and_loops() {
    let depth = 2_000;
    let mut head = String::from("function frag {\n var0 = uniform bool \"b\"\n block0:\n v0: bool = uniform var0[0]\n");
    let mut tail = String::new();
    // Level i: block 4i branches to 4i+1 (deeper) and 4i+2; they meet in 4i+3. Odd levels are loops.
    for i in 0..depth {
        let (side, other, merge, next) = (4 * i + 1, 4 * i + 2, 4 * i + 3, 4 * i + 4);
        if i % 2 == 0 {
            let _ = writeln!(
                head,
                "branch v0, block{side}, block{other}, merge block{merge}\nblock{side}: jump block{next}\nblock{next}:"
            );
            tail.insert_str(0, &format!("jump block{merge}\nblock{other}: jump block{merge}\nblock{merge}:\n"));
        } else {
            let _ = writeln!(
                head,
                "jump block{side}\nblock{side} loop block{merge}:\nbranch v0, block{other}, block{next}\nblock{other}: jump block{merge}\nblock{next}:"
            );
            tail.insert_str(0, &format!("jump block{side}\nblock{merge}:\n"));
        }
    }
    stress(&format!("{head}{tail}return }}"));
}

#[test]
fn many_branches_in_a_row() {
    let mut text = String::from("function frag {\n var0 = uniform bool \"b\"\n block0:\n v0: bool = uniform var0[0]\n");
    for i in 0..5_000 {
        let (a, b, m) = (3 * i + 1, 3 * i + 2, 3 * i + 3);
        let _ = writeln!(
            text,
            "branch v0, block{a}, block{b}, merge block{m}\nblock{a}: jump block{m}\nblock{b}: jump block{m}\nblock{m}:"
        );
    }
    text.push_str("return }");
    stress(&text);
}
