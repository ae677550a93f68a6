//! The whole road from three-address code to an allocated program.

use crate::alloc::{self, AllocOptions};
use crate::egraph_stage::{self, EgraphPass};
use crate::error::{Error, Resource};
use crate::isa::Target;
use crate::mach::Program;
use crate::pipeline::Pipeline;
use crate::reflect::{self, Reflection};
use crate::select::{self, SelectOptions};
use crate::{cost, estimate, legalize, schedule};
use bumpalo::Bump;
use ir::diag::FileId;
use ir::limits::Limits;
use ir::pass::{Driver, FunctionPass, Observer, PassCtx, PassError, PassReport};
use ir::ssa::SsaError;
use ir::tac;
use regalloc::Method;
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
    /// The same over virtual registers.
    pub unallocated: Program,
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
    let mut clock = Clock { times: Vec::new(), start: Instant::now() };
    let mut dumps = Vec::new();
    let wants = |name: &str| options.dump_after.iter().any(|d| d == name || d == "*");

    // three-address code: verified and inlined
    let inlined = tac::inline::inline_within(source, &options.limits).map_err(inline_error)?;
    if wants("inline") {
        dumps.push(("inline".to_owned(), tac::text::print(&inlined)));
    }
    clock.lap("inline");

    // SSA, and the rows of the pipeline
    let arena = Bump::new();
    let mut func = ir::ssa::build_within(&inlined, &arena, &options.limits).map_err(ssa_error)?;
    if wants("ssa") {
        dumps.push(("ssa".to_owned(), ir::text::print(&func)));
    }
    clock.lap("ssa");
    let ctx = context(target, pipeline, &options.limits);
    let rows = pipeline.ssa_rows();
    let egraph: Vec<EgraphPass> = rows
        .iter()
        .filter(|r| **r == "egraph")
        .map(|_| EgraphPass::new(&pipeline.egraph, options.extra_rules.clone(), &options.dump_egraph))
        .collect::<Result<_, _>>()?;
    let mut next_egraph = egraph.iter();
    let mut passes: Vec<&dyn FunctionPass> = Vec::new();
    for row in rows {
        match (row, ir::passes::find(row)) {
            ("egraph", _) => passes.extend(next_egraph.next().map(|p| p as &dyn FunctionPass)),
            (_, Some(pass)) => passes.push(pass),
            (name, None) => return Err(Error::Pipeline(format!("no pass has the name `{name}`"))),
        }
    }
    let mut driver = Driver { verify: options.check, dump_after: options.dump_after.clone(), observer };
    let mut report = driver.run(&mut func, &passes, &ctx).map_err(pass_error)?;
    // No target takes a sampler from a register, so this is part of every pipeline.
    if ir::passes::needs_expand_sampler_indices(&func)
        && let Some(pass) = ir::passes::find("expand-sampler-indices")
    {
        let more = driver.run(&mut func, &[pass], &ctx).map_err(pass_error)?;
        report.runs.extend(more.runs);
        report.dumps.extend(more.dumps);
    }
    dumps.append(&mut report.dumps);
    let egraph: Vec<egraph_stage::Report> = egraph.into_iter().filter_map(EgraphPass::into_report).collect();
    for stage in &egraph {
        dumps.extend(egraph_stage::dumps(stage));
    }
    clock.lap("passes");

    // machine code over virtual registers
    let fusing = target.patterns.iter().filter(|p| p.fuses).map(|p| p.name.clone());
    let exact_fusion = pipeline.fp > ir::types::FpLevel::Strict || !target.arithmetic.fused_mad;
    let fuse = pipeline.has("fuse-patterns") && exact_fusion;
    let how = SelectOptions {
        without: if fuse { Vec::new() } else { fusing.collect() },
        keep_lanes_apart: !pipeline.has("merge-lanes"),
    };
    let mut machine = select::select(&func, target, &how)?;
    clock.lap("select");
    legalize::legalize(&mut machine, target)?;
    clock.lap("legalize");
    if pipeline.has("schedule") {
        schedule::schedule(&mut machine, target);
    }
    clock.lap("schedule");

    // registers
    let unallocated = machine.clone();
    let how = AllocOptions {
        method: Method::parse(&pipeline.regalloc.method).unwrap_or_default(),
        coalesce: pipeline.regalloc.coalesce,
        reuse: options.reuse_registers,
        check: options.check,
    };
    let allocated = alloc::allocate(&mut machine, target, &how)?;
    clock.lap("alloc");

    let counts = estimate::count(&machine, target);
    fits(&counts, target)?;
    let reflection = reflect::reflect(&machine, source.vars.values());
    clock.lap("reflect");
    Ok(Compiled {
        program: machine,
        unallocated,
        reflection,
        statistics: Statistics {
            counts,
            temps_bound: u32::from(allocated.bound),
            moves_removed: allocated.moves_removed,
            webs: allocated.webs,
        },
        passes: report,
        times: clock.times,
        dumps,
        egraph,
    })
}

fn context(target: &Target, pipeline: &Pipeline, limits: &Limits) -> PassCtx {
    let (costs, eval) = (cost::cost_table(target), target.eval());
    let mut ctx = PassCtx { costs, fp: pipeline.fp, eval, limits: *limits, ..PassCtx::default() };
    let options = &mut ctx.options;
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
fn fits(counts: &estimate::Counts, target: &Target) -> Result<(), Error> {
    let limits = &target.limits;
    let rows = [
        (Resource::Constants, counts.constants, Some(target.registers.constant.count)),
        (Resource::Slots, counts.slots, limits.slots),
        (Resource::AluInstructions, counts.alu, limits.alu),
        (Resource::TexInstructions, counts.tex, limits.tex),
    ];
    for (what, need, limit) in rows {
        if let Some(limit) = limit.filter(|&l| need > l) {
            return Err(Error::DoesNotFit { what, need, limit, line: 0, detail: String::new() });
        }
    }
    Ok(())
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

fn pass_error(error: PassError) -> Error {
    match error {
        PassError::Unsupported { message, line } => Error::Unsupported { what: message, line },
        PassError::UnknownPass(name) => Error::Pipeline(format!("no pass has the name `{name}`")),
        PassError::Limit(bound) => Error::Bound(bound),
        other => Error::Internal(other.to_string()),
    }
}
