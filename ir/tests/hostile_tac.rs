//! Programs at the bounds: nothing overflows the stack, hangs or panics, whatever comes out.

use bumpalo::Bump;
use ir::diag::FileId;
use ir::pass::{Driver, FunctionPass, PassCtx};
use ir::tac::inline::{MAX_INLINED_INSTS, inline};
use ir::tac::{self, Program};
use ir::testing::rng::Rng;

const HEAD: &str = "stage frag\nuniform bool b\nuniform int n\nuniform vec4 u\noutput vec4 gl_FragColor\nlocal vec4 x\n\
    local vec4 y\nlocal int i\nlocal float a[4]\ntemp bool p\n";

fn parse(body: &str) -> Program {
    let text = format!("{HEAD}func main() {{\n{body}}}\n");
    tac::text::parse(FileId::default(), &text).unwrap_or_else(|e| panic!("{e}"))
}

/// Through everything; errors are fine.
fn all_stages(program: &Program, seconds: u64) {
    let start = std::time::Instant::now();
    assert!(!tac::text::print(program).is_empty());
    assert!(!tac::text::print_tree(program).is_empty());
    let Ok(inlined) = inline(program, MAX_INLINED_INSTS) else { return };
    let arena = Bump::new();
    let Ok(mut func) = ir::ssa::build(&inlined, &arena) else { return };
    for pass in ir::passes::ALL {
        let list = [pass as &dyn FunctionPass];
        let mut driver = Driver { verify: true, ..Driver::new() };
        if let Err(error) = driver.run(&mut func, &list, &PassCtx::default()) {
            assert!(matches!(error, ir::pass::PassError::Limit(_)), "{error}");
            return;
        }
    }
    assert!(start.elapsed().as_secs() < seconds, "{:?}", start.elapsed());
}

#[test]
fn deepest_nesting() {
    let ifs = "IF b.x\nADD x.x, x.x, y.y\n".repeat(ir::limits::Limits::default().nesting);
    all_stages(
        &parse(&format!("{ifs}{}MOV gl_FragColor.x, x.x\n", "ENDIF\n".repeat(ir::limits::Limits::default().nesting))),
        60,
    );
    let loops = "LOOP\nIF b.x\nBRK\nENDIF\nADD x.x, x.x, y.y\n".repeat(300);
    all_stages(&parse(&format!("{loops}{}MOV gl_FragColor.x, x.x\n", "ENDLOOP\n".repeat(300))), 60);
}

#[test]
fn long_code() {
    let ifs = "IF b.x\nADD x.xyz, x.xyz, y.yyy\nELSE\nMUL y.x, x.x, y.y\nENDIF\n".repeat(3000);
    all_stages(&parse(&format!("{ifs}MOV gl_FragColor.x, x.x\n")), 60);
    let sums = "ADD x.xyz, x.xyz, y.yyy\nMUL a[1].x, x.w, a[0].x\nMOV y.w, a[1].x\n".repeat(10_000);
    all_stages(&parse(&format!("{sums}MOV gl_FragColor.xy, x.xw\n")), 60);
    let loops = "MOV i.x, int(0)\nLOOP\nSLT p.x, i.x, int(3)\nIF p.x\nELSE\nBRK\nENDIF\nADD x.x, x.x, a[i.x + 0].x\n\
        ADD i.x, i.x, int(1)\nENDLOOP\n"
        .repeat(1500);
    all_stages(&parse(&format!("{loops}MOV gl_FragColor.x, x.x\n")), 60);
}

/// Lines of a legal program in any order: mostly illegal, never fatal.
#[test]
fn shuffled_lines() {
    let lines = [
        "IF b.x",
        "ELSE",
        "ENDIF",
        "LOOP",
        "ENDLOOP",
        "BRK",
        "CONT",
        "RET",
        "CAL main",
        "KIL x.xy",
        "ADD x.xy, x.yx, u.ww",
        "MOV a[i.x + 7].x, x.x",
        "MOV i.x, int(-3)",
        "MOV gl_FragColor.xyzw, x.xyzw",
        "SLT p.x, x.x, a[i.x + 1].x",
        "NRM x.xyz, y.xyz",
    ];
    let mut legal = 0;
    for seed in 0..3000 {
        let mut rng = Rng::new(seed);
        let count = 1 + rng.below(14);
        let body: String = (0..count).map(|_| format!("{}\n", rng.pick(&lines))).collect();
        let program = parse(&body);
        let errors = tac::verify::verify(&program);
        let run = tac::interp::run(&program, &ir::testing::gen_env::GenEnv::default(), Default::default());
        assert!(errors.is_empty() || inline(&program, 1000).is_err(), "seed {seed}");
        if errors.is_empty() {
            legal += 1;
            let step_limit = matches!(run, Err(tac::interp::InterpError::StepLimit(_)));
            assert!(run.is_ok() || step_limit, "seed {seed}: {run:?}");
            all_stages(&program, 60);
        }
    }
    assert!(legal > 100, "{legal}");
}
