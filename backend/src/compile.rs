//! The whole road from three-address code to an allocated program.

use crate::alloc::{self, AllocOptions};
use crate::calls::Frame;
use crate::egraph_stage::{self, EgraphPass};
use crate::error::{Error, Resource};
use crate::isa::pattern::Pattern;
use crate::isa::{Assembly, Target};
use crate::legalize::Sharing;
use crate::mach::{Opcode, Program};
use crate::pipeline::Pipeline;
use crate::reflect::{self, Reflection};
use crate::select::{self, SelectOptions};
use crate::{calls, check, cost, emit, estimate, legalize, phases, schedule, straighten};
use bumpalo::Bump;
use ir::diag::FileId;
use ir::func::Module;
use ir::limits::Limits;
use ir::pass::{Driver, FunctionPass, Observer, PassCtx, PassError, PassReport};
use ir::ssa::SsaError;
use ir::tac;
use ir::tac::inline::Inline;
use regalloc::Method;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// What the caller may wish beside target and pipeline.
#[derive(Clone, Debug)]
pub struct CompileOptions {
    /// Whether a temporary is used again after its value's last use.
    pub reuse_registers: bool,
    /// Runs the verifier after each pass and the checker after allocation.
    pub check: bool,
    /// Names of passes whose result is kept as text; `*` means all, `ssa` the function before the
    /// first pass, `tac` the inlined code.
    pub dump_after: Vec<String>,
    /// More rules for the e-graph stage: a file of the caller's source map and its text.
    pub extra_rules: Option<(FileId, String)>,
    /// Whether the e-graph stage writes down its graph (`egraph`), the same as JSON
    /// (`egraph-json`) and the choice (`chosen`).
    pub dump_egraph: Vec<String>,
    /// Bounds of three-address code and of SSA.
    pub limits: Limits,
}

impl Default for CompileOptions {
    fn default() -> CompileOptions {
        CompileOptions {
            reuse_registers: true,
            check: cfg!(debug_assertions),
            dump_after: Vec::new(),
            extra_rules: None,
            dump_egraph: Vec::new(),
            limits: Limits::default(),
        }
    }
}

/// Numbers about a compile.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Of the finished program.
    pub counts: estimate::Counts,
    /// No allocation of the same code can use fewer temporaries.
    pub temps_bound: u32,
    /// Copies that the allocator merged away.
    pub moves_removed: u32,
    /// Values that were coloured.
    pub webs: u32,
}

/// What comes out.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The program over temporaries.
    pub program: Program,
    /// `main` over virtual registers.
    pub unallocated: Program,
    /// The functions that stay called, over virtual registers.
    pub kept: Vec<Program>,
    /// What a caller must bind.
    pub reflection: Reflection,
    /// Numbers.
    pub statistics: Statistics,
    /// What each row of the pipeline did.
    pub passes: PassReport,
    /// Time of each stage, in order.
    pub times: Vec<(&'static str, Duration)>,
    /// Texts that were asked for, in order.
    pub dumps: Vec<(String, String)>,
    /// What the e-graph stage did, once for each of its rows.
    pub egraph: Vec<egraph_stage::Report>,
}

/// Compiles one stage.
pub fn compile(
    program: &tac::Program,
    target: &Target,
    pipeline: &Pipeline,
    options: &CompileOptions,
) -> Result<Compiled, Error> {
    run(program, target, pipeline, options, None)
}

/// Compiles one stage while `observer` sees the function around each row of the pipeline.
pub fn compile_observed(
    program: &tac::Program,
    target: &Target,
    pipeline: &Pipeline,
    options: &CompileOptions,
    observer: &mut dyn Observer,
) -> Result<Compiled, Error> {
    run(program, target, pipeline, options, Some(observer))
}

struct Clock {
    times: Vec<(&'static str, Duration)>,
    start: Instant,
}

impl Clock {
    fn new() -> Clock {
        Clock { times: Vec::new(), start: Instant::now() }
    }

    fn lap(&mut self, name: &'static str) {
        self.times.push((name, self.start.elapsed()));
        self.start = Instant::now();
    }
}

fn run(
    source: &tac::Program,
    target: &Target,
    pipeline: &Pipeline,
    options: &CompileOptions,
    observer: Option<&mut dyn Observer>,
) -> Result<Compiled, Error> {
    let mut clock = Clock::new();
    let mut dumps = Vec::new();
    let wants = |name: &str| options.dump_after.iter().any(|d| d == name || d == "*");

    // three-address code: verified and inlined
    let policy = policy(pipeline, target);
    let inlined = tac::inline::inline_by(source, policy, &options.limits).map_err(inline_error)?;
    if wants("inline") {
        dumps.push(("inline".to_owned(), tac::text::print(&inlined)));
    }
    clock.lap("inline");

    // SSA, and the rows of the pipeline
    let arena = Bump::new();
    let mut module = ir::ssa::build_module(&inlined, &arena, &options.limits).map_err(ssa_error)?;
    if wants("ssa") {
        dumps.extend(module.funcs.iter().map(|f| ("ssa".to_owned(), ir::text::print(f))));
    }
    clock.lap("ssa");
    let Passed { report, egraph } = pass(&mut module, target, pipeline, options, observer, &mut dumps)?;
    clock.lap("passes");

    // machine code over virtual registers
    let strict = pipeline.fp == ir::types::FpLevel::Strict;
    let fuse = pipeline.has("fuse-patterns") && !(strict && target.arithmetic.fused_mad);
    let out = |p: &&Pattern| (p.fuses && !fuse) || (strict && !p.exact);
    let how = SelectOptions {
        without: target.patterns.iter().filter(out).map(|p| p.name.clone()).collect(),
        keep_lanes_apart: !pipeline.has("merge-lanes"),
    };
    let mut functions = select::select_module(&module, target, &how)?;
    // the link tree lists the same functions in the same order
    for (function, node) in functions.iter_mut().zip(tac::link::link_tree(&inlined)) {
        function.loops = node.loops;
    }
    clock.lap("select");

    // encodable operands, order, registers
    let how = AllocOptions {
        method: Method::parse(&pipeline.regalloc.method).unwrap_or_default(),
        coalesce: pipeline.regalloc.coalesce,
        reuse: options.reuse_registers,
        check: options.check,
    };
    let scheduled = pipeline.has("schedule");
    let (Allocated { machine, unallocated, kept, stats }, counts) =
        first_that_fits(functions, target, scheduled, &how, &mut clock)?;
    clock.lap("alloc");

    match target.assembly {
        Assembly::Vec4 => {} // its text form has words for all
        Assembly::ArbProgram if options.check => judged_text(&machine, target)?,
        _ => drop(emit::text(&machine, target)?),
    }
    let mut reflection = reflect::reflect(&machine, source.vars.values());
    emit::name_bindings(&mut reflection, &machine, target);
    clock.lap("reflect");
    Ok(Compiled {
        program: machine,
        unallocated,
        reflection,
        statistics: Statistics {
            counts,
            temps_bound: u32::from(stats.bound),
            moves_removed: stats.moves_removed,
            webs: stats.webs,
        },
        kept,
        passes: report,
        times: clock.times,
        dumps,
        egraph,
    })
}

/// Calls are inlined wherever there is no instruction for them.
fn policy(pipeline: &Pipeline, target: &Target) -> Inline {
    let can_call = target.op(Opcode::Cal).is_some() && target.op(Opcode::Ret).is_some();
    if can_call { pipeline.inline } else { Inline::All }
}

/// What the rows of the pipeline did, to all functions.
struct Passed {
    report: PassReport,
    egraph: Vec<egraph_stage::Report>,
}

/// Runs the rows of the pipeline over each function.
fn pass(
    module: &mut Module<'_>,
    target: &Target,
    pipeline: &Pipeline,
    options: &CompileOptions,
    mut observer: Option<&mut dyn Observer>,
    dumps: &mut Vec<(String, String)>,
) -> Result<Passed, Error> {
    let ctx = context(target, pipeline, &options.limits);
    let rows = pipeline.ssa_rows();
    let mut passed = Passed { report: PassReport::default(), egraph: Vec::new() };
    for func in &mut module.funcs {
        let egraph: Vec<EgraphPass> = rows
            .iter()
            .filter(|r| **r == "egraph")
            .map(|_| EgraphPass::new(&pipeline.egraph, options.extra_rules.clone(), &options.dump_egraph))
            .collect::<Result<_, _>>()?;
        let mut next_egraph = egraph.iter();
        let mut passes: Vec<&dyn FunctionPass> = Vec::new();
        for &row in &rows {
            match (row, ir::passes::find(row)) {
                ("egraph", _) => passes.extend(next_egraph.next().map(|p| p as &dyn FunctionPass)),
                (_, Some(pass)) => passes.push(pass),
                (name, None) => return Err(Error::Pipeline(format!("no pass has the name `{name}`"))),
            }
        }
        let observer = observer.as_mut().map(|o| &mut **o as &mut dyn Observer);
        let mut driver = Driver { verify: options.check, dump_after: options.dump_after.clone(), observer };
        let mut report = straighten::straighten(func, target, &mut driver, &ctx)?;
        let of_rows = driver.run(func, &passes, &ctx).map_err(pass_error)?;
        report.runs.extend(of_rows.runs);
        report.dumps.extend(of_rows.dumps);
        // No target takes a sampler from a register, so this is part of every pipeline.
        if ir::passes::needs_expand_sampler_indices(func)
            && let Some(pass) = ir::passes::find("expand-sampler-indices")
        {
            let more = driver.run(func, &[pass], &ctx).map_err(pass_error)?;
            report.runs.extend(more.runs);
            report.dumps.extend(more.dumps);
        }
        dumps.append(&mut report.dumps);
        passed.report.runs.append(&mut report.runs);
        passed.egraph.extend(egraph.into_iter().filter_map(EgraphPass::into_report));
    }
    for stage in &passed.egraph {
        dumps.extend(egraph_stage::dumps(stage));
    }
    Ok(passed)
}

/// The linked program, with what it was made from.
struct Allocated {
    machine: Program,
    unallocated: Program,
    kept: Vec<Program>,
    /// Of all functions together.
    stats: regalloc::Stats,
}

/// Finds registers for all functions, callees first, and puts them behind each other.
fn allocate(mut functions: Vec<Program>, target: &Target, how: &AllocOptions) -> Result<Allocated, Error> {
    let mut before: Vec<Program> = Vec::with_capacity(functions.len());
    let mut frames: Vec<Frame> = vec![Frame::default(); functions.len()];
    let mut stats = regalloc::Stats::default();
    for at in (0..functions.len()).rev() {
        let function = &mut functions[at];
        for site in &mut function.calls {
            site.frame = frames[site.callee as usize].clone();
        }
        before.push(function.clone());
        let (own, frame) = alloc::allocate(function, target, how)?;
        frames[at] = frame;
        stats.temps = stats.temps.max(own.temps);
        stats.bound = stats.bound.max(own.bound);
        stats.webs += own.webs;
        stats.moves_removed += own.moves_removed;
    }
    before.reverse();
    let sites: Vec<Frame> = functions.iter().flat_map(|f| f.calls.iter().map(|s| s.frame.clone())).collect();
    let machine = calls::link(functions);
    if how.check {
        calls::check(&machine, &sites)?;
    }
    let kept = before.split_off(before.len().min(1));
    let unallocated = before.pop().unwrap_or_else(|| machine.clone());
    Ok(Allocated { machine, unallocated, kept, stats })
}

/// One way from what selection made to a program: how long copies for ports live, and whether
/// lookups are grouped.
type Way = (Sharing, bool);

/// Tries the ways to a program that fits, the one with the fewest instructions first. When none does,
/// the error is the first one's.
fn first_that_fits(
    functions: Vec<Program>,
    target: &Target,
    scheduled: bool,
    how: &AllocOptions,
    clock: &mut Clock,
) -> Result<(Allocated, estimate::Counts), Error> {
    let finish = |functions, way, clock: &mut Clock| {
        let functions = encodable(functions, target, way, scheduled, clock)?;
        let allocated = allocate(functions, target, how)?;
        let counts = estimate::count(&allocated.machine, target);
        fits(&counts, &allocated.machine, target)?;
        Ok((allocated, counts))
    };
    let mut others: Vec<Way> = Vec::new();
    let copies = legalize::copies_for_ports(target);
    if copies {
        others.push((Sharing::Instruction, false));
    }
    if target.limits.dependence.or(target.limits.indirections).is_some() {
        others.push((Sharing::Block, true));
        others.extend(copies.then_some((Sharing::Instruction, true)));
    }
    let again = (!others.is_empty()).then(|| functions.clone());
    let first = finish(functions, (Sharing::Block, false), clock);
    let depends = [Resource::Temps, Resource::Dependence, Resource::Indirections];
    match (&first, again) {
        (Err(Error::DoesNotFit { what, .. }), Some(functions)) if depends.contains(what) => {
            let way = |way| finish(functions.clone(), way, &mut Clock::new()).ok();
            others.into_iter().find_map(way).map_or(first, Ok)
        }
        _ => first,
    }
}

/// What selection made, with operands that the target can encode, in a good order.
fn encodable(
    mut functions: Vec<Program>,
    target: &Target,
    (sharing, grouped): Way,
    scheduled: bool,
    clock: &mut Clock,
) -> Result<Vec<Program>, Error> {
    for function in &mut functions {
        legalize::legalize(function, target, sharing)?;
    }
    clock.lap("legalize");
    if scheduled {
        functions.iter_mut().for_each(|f| schedule::schedule(f, target));
    }
    if grouped {
        functions.iter_mut().for_each(phases::group_lookups);
    }
    clock.lap("schedule");
    Ok(functions)
}

fn context(target: &Target, pipeline: &Pipeline, limits: &Limits) -> PassCtx {
    let (costs, eval) = (cost::cost_table(target), target.eval());
    let mut ctx = PassCtx { costs, fp: pipeline.fp, eval, limits: *limits, ..PassCtx::default() };
    let options = &mut ctx.options;
    if !target.flow {
        options.unroll = straighten::UNROLL;
    }
    if let Some(n) = pipeline.unroll.max_trips {
        options.unroll.max_trips = n;
    }
    if let Some(n) = pipeline.unroll.max_insts {
        options.unroll.max_insts = n;
    }
    options.flatten_ifs.max_slots = pipeline.flatten_ifs.max_slots;
    options.fuse_mad.kept_products = pipeline.fuse_mad.kept_products;
    ctx
}

/// The limits on a whole program.
fn fits(counts: &estimate::Counts, program: &Program, target: &Target) -> Result<(), Error> {
    let limits = &target.limits;
    let rows = [
        (Resource::Constants, counts.constants, Some(target.registers.constant.count)),
        (Resource::Slots, counts.slots, limits.slots),
        (Resource::AluInstructions, counts.alu, limits.alu),
        (Resource::TexInstructions, counts.tex + counts.kills, limits.tex),
        (Resource::Indirections, counts.indirections, limits.indirections),
        (Resource::Dependence, counts.dependence, limits.dependence),
    ];
    for (what, need, limit) in rows {
        if let Some(limit) = limit.filter(|&l| need > l) {
            let is_code = matches!(what, Resource::Slots | Resource::AluInstructions | Resource::TexInstructions);
            let (line, detail) = if is_code { costliest(program, target) } else { (0, String::new()) };
            return Err(Error::DoesNotFit { what, need, limit, line, detail });
        }
    }
    Ok(())
}

/// The source line whose code takes most slots, and how many.
fn costliest(program: &Program, target: &Target) -> (u32, String) {
    let mut lines: BTreeMap<u32, u32> = BTreeMap::new();
    for inst in program.insts.iter().filter(|i| i.line > 0) {
        *lines.entry(inst.line).or_default() += estimate::slots(inst, target);
    }
    let most = lines.into_iter().min_by_key(|&(line, slots)| (std::cmp::Reverse(slots), line));
    most.map_or((0, String::new()), |(line, slots)| (line, format!("line {line} takes most of them, {slots} slots")))
}

/// The text of a program that fits is one that the checker of texts accepts.
fn judged_text(machine: &Program, target: &Target) -> Result<(), Error> {
    let text = emit::text(machine, target)?;
    check::check(&text, target)?.map(drop).map_err(|found| {
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        Error::Internal(format!("the checker of texts: {}\n{text}", found.join("; ")))
    })
}

fn inline_error(error: tac::inline::InlineError) -> Error {
    use tac::inline::InlineError;
    match error {
        InlineError::TooLarge { bound, .. } | InlineError::TooDeep { bound } => Error::Bound(bound),
        InlineError::Invalid(error) => tac_error(&error),
    }
}

fn ssa_error(error: SsaError) -> Error {
    match error {
        SsaError::Limit(bound) => Error::Bound(bound),
        SsaError::Invalid(error) => tac_error(&error),
        SsaError::NotInlined => Error::Internal(error.to_string()),
    }
}

fn tac_error(error: &tac::verify::TacError) -> Error {
    error.bound.map_or_else(|| Error::InvalidTac(error.to_string()), Error::Bound)
}

pub(crate) fn pass_error(error: PassError) -> Error {
    match error {
        PassError::Unsupported { message, line } => Error::Unsupported { what: message, line },
        PassError::UnknownPass(name) => Error::Pipeline(format!("no pass has the name `{name}`")),
        PassError::Limit(bound) => Error::Bound(bound),
        other => Error::Internal(other.to_string()),
    }
}
