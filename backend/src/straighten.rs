//! What a target without control flow, or without indexable arrays, needs of every pipeline: straight
//! code over named registers.
//!
//! In: SSA as the front of the pipeline gets it. Out: the same, in one block when the target has no
//! flow, and without an index into a file that the target cannot index. A loop that cannot be unrolled
//! is an error that names its line and the reason.

use crate::compile::pass_error;
use crate::error::Error;
use crate::isa::Target;
use crate::mach::File;
use ir::analysis::Loops;
use ir::entity::Block;
use ir::func::{Function, Terminator, ValueDef};
use ir::pass::{Driver, PassCtx, PassReport, UnrollOptions, passes_by_name};

/// Without flow a loop is unrolled or an error, so the bounds are those of the compiler.
pub(crate) const UNROLL: UnrollOptions = UnrollOptions { max_trips: 1024, max_insts: 50_000, exits: true };

/// Rounds of unrolling: a loop's bound may come out of an array that an earlier loop fills.
const ROUNDS: usize = 4;

/// Runs the passes that the target needs.
pub(crate) fn straighten(
    func: &mut Function<'_>,
    target: &Target,
    driver: &mut Driver<'_>,
    ctx: &PassCtx,
) -> Result<PassReport, Error> {
    let mut report = PassReport::default();
    let mut run = |func: &mut Function<'_>, names: &[&str]| -> Result<(), Error> {
        let passes = passes_by_name(names.iter().copied()).map_err(pass_error)?;
        let passes: Vec<_> = passes.into_iter().collect();
        let more = driver.run(func, &passes, ctx).map_err(pass_error)?;
        report.runs.extend(more.runs);
        report.dumps.extend(more.dumps);
        Ok(())
    };
    if !target.flow && func.layout.len() > 1 {
        for _ in 0..ROUNDS {
            run(func, &["sccp", "simplify-branches", "unroll", "scalarize-aggregates"])?;
            if first_loop(func).is_none() {
                break;
            }
        }
        if let Some(header) = first_loop(func) {
            return Err(Error::Unsupported { what: reason(func, target, header), line: line_of(func, header) });
        }
        run(func, &["sccp", "simplify-branches", "flatten-ifs", "flatten-exits"])?;
        if func.layout.len() > 1 {
            run(func, &["simplify-branches"])?;
        }
        if func.layout.len() > 1 {
            let line = func.layout.iter().map(|&b| line_of(func, b)).find(|&l| l > 0).unwrap_or(0);
            return Err(Error::Unsupported { what: format!("a branch on {}", target.name), line });
        }
    }
    if [File::Const, File::Input, File::Local].iter().any(|&file| !target.indexes(file)) {
        run(func, &["scalarize-aggregates", "lower-indexing", "scalarize-aggregates"])?;
    }
    Ok(report)
}

/// The first loop with a way back.
fn first_loop(func: &Function<'_>) -> Option<Block> {
    let loops = Loops::new(func);
    let goes_back = |&header: &Block| {
        let mut inside = func.layout.iter().filter(|&&b| loops.contains(header, b));
        inside.any(|&b| func.successors(b).any(|to| to.block == header))
    };
    loops.headers().iter().copied().find(goes_back)
}

/// Why a loop is still there.
fn reason(func: &Function<'_>, target: &Target, header: Block) -> String {
    let loops = Loops::new(func);
    let exit = func.blocks[header].loop_merge;
    let inside = |b: &&Block| loops.contains(header, **b);
    let ends = func.layout.iter().filter(inside).flat_map(|&b| func.successors(b).map(|c| c.block));
    let exits = ends.filter(|&to| Some(to) == exit).count();
    let why = if exits > 1 {
        "a turn may end it at more than one place".to_owned()
    } else {
        format!("how often it runs is not known, or is more than {}", UNROLL.max_trips)
    };
    format!("a loop that cannot be unrolled, on {} (no control flow): {why}", target.name)
}

/// The first source line of a block, or else of what follows it.
fn line_of(func: &Function<'_>, block: Block) -> u32 {
    let from = func.layout.iter().position(|&b| b == block).unwrap_or(0);
    let insts = func.layout[from..].iter().flat_map(|&b| {
        let own = func.blocks[b].insts.iter().copied();
        let cond = match func.blocks[b].term {
            Terminator::Branch { cond, .. } => match func.values[cond].def {
                ValueDef::Inst(inst) => Some(inst),
                ValueDef::Param(..) => None,
            },
            _ => None,
        };
        own.chain(cond)
    });
    let mut lines = insts.map(|i| func.insts[i].line);
    lines.find(|&l| l > 0).unwrap_or(0)
}
