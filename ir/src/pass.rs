//! The pass list: what a pass is, what it may know, and the driver that verifies, times and dumps
//! around each one.
//!
//! A pass is a row `{ name, run, keeps }` in [`crate::passes::ALL`], or any [`FunctionPass`] that
//! another crate supplies (the e-graph stage). Every pass works alone and in any order. It returns
//! whether it changed anything; where the driver verifies it also compares a claim of no change with
//! the text form. The [`Observer`] sees the function before and after each pass, so that a judge can
//! run both.

use crate::cost::CostTable;
use crate::eval::EvalCfg;
use crate::func::Function;
use crate::limits::{Exceeded, Limits};
use crate::types::FpLevel;
use std::fmt;
use std::time::{Duration, Instant};

/// What every pass may ask about the target and the wishes of the caller.
#[derive(Clone, Debug, Default)]
pub struct PassCtx {
    /// What operations cost on the target.
    pub costs: CostTable,
    /// What a rewrite may assume about floats.
    pub fp: FpLevel,
    /// The target's arithmetic, for folding.
    pub eval: EvalCfg,
    /// Bounds that hold for all passes.
    pub limits: Limits,
    /// Options of single passes.
    pub options: PassOptions,
}

/// Options of single passes, by the pass's name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PassOptions {
    /// `unroll`.
    pub unroll: UnrollOptions,
    /// `flatten-ifs`.
    pub flatten_ifs: FlattenIfsOptions,
    /// `fuse-mad`.
    pub fuse_mad: FuseMadOptions,
}

/// How far loops are unrolled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnrollOptions {
    /// Most turns.
    pub max_trips: u32,
    /// Most instructions that one loop may become.
    pub max_insts: usize,
    /// Whether a turn may end the loop at a place that is reached or not. The turns then stand in a
    /// loop without a way back, which `flatten-exits` resolves.
    pub exits: bool,
}

impl Default for UnrollOptions {
    fn default() -> UnrollOptions {
        UnrollOptions { max_trips: 256, max_insts: 4096, exits: false }
    }
}

/// When a branch becomes selects.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FlattenIfsOptions {
    /// Most slots that the two sides may cost together; `None` weighs them against the branch under
    /// the target's costs. A target without branches flattens all.
    pub max_slots: Option<u32>,
}

/// When a product and a sum become one instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FuseMadOptions {
    /// Fuse even when the product has other uses and so stays.
    pub kept_products: bool,
}

/// Facts that stay true over a pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Keeps {
    /// Blocks, edges and structure: dominators and loops stay valid.
    pub control_flow: bool,
}

impl Keeps {
    /// Nothing.
    pub const NOTHING: Keeps = Keeps { control_flow: false };
    /// The control flow graph.
    pub const CONTROL_FLOW: Keeps = Keeps { control_flow: true };
}

/// Why a pass stopped.
#[derive(Clone, PartialEq, Debug)]
pub enum PassError {
    /// A bound was exceeded.
    Limit(Exceeded),
    /// The program asks for something that cannot be done on this target.
    Unsupported {
        /// One sentence without a full stop.
        message: String,
        /// Source line, 0 when none.
        line: u32,
    },
    /// No pass has that name.
    UnknownPass(String),
    /// An invariant is broken before the first pass or after the named one.
    Invalid {
        /// The pass; empty before the first.
        pass: String,
        /// The verifier's findings, one a line.
        errors: String,
    },
    /// The observer refused the result of a pass.
    Refused {
        /// The pass.
        pass: String,
        /// Its reason.
        reason: String,
    },
}

impl fmt::Display for PassError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PassError::Limit(bound) => write!(f, "the shader grows too large; {bound}"),
            PassError::Unsupported { message, line: 0 } => f.write_str(message),
            PassError::Unsupported { message, line } => write!(f, "line {line}: {message}"),
            PassError::UnknownPass(name) => write!(f, "no pass has the name `{name}`"),
            PassError::Invalid { pass, errors } if pass.is_empty() => {
                write!(f, "invalid before the first pass:\n{errors}")
            }
            PassError::Invalid { pass, errors } => write!(f, "invalid after `{pass}`:\n{errors}"),
            PassError::Refused { pass, reason } => write!(f, "after `{pass}`: {reason}"),
        }
    }
}

impl std::error::Error for PassError {}

/// A row of the pass list.
#[derive(Clone, Copy)]
pub struct Pass {
    /// Verb and noun; the file's name with dashes.
    pub name: &'static str,
    /// Does it; returns whether anything changed.
    pub run: fn(&mut Function<'_>, &PassCtx) -> Result<bool, PassError>,
    /// What stays valid.
    pub keeps: Keeps,
}

/// Anything that the driver can run. State of its own (a report) goes into a cell.
pub trait FunctionPass {
    /// The name in pipelines and dumps.
    fn name(&self) -> &str;

    /// Changes the function; returns whether anything changed.
    fn run(&self, func: &mut Function<'_>, ctx: &PassCtx) -> Result<bool, PassError>;

    /// What stays valid.
    fn keeps(&self) -> Keeps {
        Keeps::NOTHING
    }
}

impl FunctionPass for Pass {
    fn name(&self) -> &str {
        self.name
    }

    fn run(&self, func: &mut Function<'_>, ctx: &PassCtx) -> Result<bool, PassError> {
        (self.run)(func, ctx)
    }

    fn keeps(&self) -> Keeps {
        self.keeps
    }
}

/// Sees the function around each pass.
pub trait Observer {
    /// Before pass number `index`.
    fn before(&mut self, index: usize, pass: &str, func: &Function<'_>) {
        let _ = (index, pass, func);
    }

    /// After it; an error stops the driver.
    fn after(&mut self, index: usize, pass: &str, func: &Function<'_>, changed: bool) -> Result<(), String> {
        let _ = (index, pass, func, changed);
        Ok(())
    }
}

/// What one pass did.
#[derive(Clone, PartialEq, Debug)]
pub struct PassRun {
    /// Its name.
    pub name: String,
    /// Whether it changed anything, as it says.
    pub changed: bool,
    /// How long it took, verification aside.
    pub time: Duration,
    /// Instructions before.
    pub insts_before: usize,
    /// Instructions after.
    pub insts_after: usize,
    /// Blocks after.
    pub blocks_after: usize,
}

/// What the driver gives back.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PassReport {
    /// One row a pass, in order.
    pub runs: Vec<PassRun>,
    /// The text form after each pass in [`Driver::dump_after`].
    pub dumps: Vec<(String, String)>,
}

/// Runs a list of passes.
#[derive(Default)]
pub struct Driver<'d> {
    /// Verify before the first and after every pass; see [`Driver::new`] for the default.
    pub verify: bool,
    /// Names of passes whose result is dumped; `*` means all.
    pub dump_after: Vec<String>,
    /// Who looks on.
    pub observer: Option<&'d mut dyn Observer>,
}

impl<'d> Driver<'d> {
    /// Verifies in debug builds and tests.
    pub fn new() -> Driver<'d> {
        Driver { verify: cfg!(debug_assertions), dump_after: Vec::new(), observer: None }
    }

    /// Always verifies and reports to `observer`.
    pub fn judged(observer: &'d mut dyn Observer) -> Driver<'d> {
        Driver { verify: true, dump_after: Vec::new(), observer: Some(observer) }
    }

    /// Runs the passes in order.
    pub fn run(
        &mut self,
        func: &mut Function<'_>,
        passes: &[&dyn FunctionPass],
        ctx: &PassCtx,
    ) -> Result<PassReport, PassError> {
        let mut report = PassReport::default();
        self.check(func, "")?;
        for (index, pass) in passes.iter().enumerate() {
            let name = pass.name();
            if let Some(observer) = &mut self.observer {
                observer.before(index, name, func);
            }
            let insts_before = func.inst_count();
            let text_before = if self.verify { crate::text::print(func) } else { String::new() };
            let start = Instant::now();
            let changed = pass.run(func, ctx)?;
            let time = start.elapsed();
            let insts_after = func.inst_count();
            report.runs.push(PassRun {
                name: name.to_string(),
                changed,
                time,
                insts_before,
                insts_after,
                blocks_after: func.layout.len(),
            });
            self.check(func, name)?;
            if self.verify && !changed && text_before != crate::text::print(func) {
                let errors = "it says that nothing changed, but something did".to_string();
                return Err(PassError::Invalid { pass: name.to_string(), errors });
            }
            if self.dump_after.iter().any(|d| d == name || d == "*") {
                report.dumps.push((name.to_string(), crate::text::print(func)));
            }
            if let Some(observer) = &mut self.observer {
                observer
                    .after(index, name, func, changed)
                    .map_err(|reason| PassError::Refused { pass: name.to_string(), reason })?;
            }
            if insts_after > ctx.limits.ssa {
                return Err(PassError::Limit(ctx.limits.exceeded("ssa-instructions")));
            }
        }
        Ok(report)
    }

    fn check(&self, func: &Function<'_>, pass: &str) -> Result<(), PassError> {
        if !self.verify {
            return Ok(());
        }
        crate::verify::verify(func).map_err(|errors| {
            let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
            PassError::Invalid { pass: pass.to_string(), errors: lines.join("\n") }
        })
    }
}

/// Looks names up in [`crate::passes::ALL`].
pub fn passes_by_name<'n>(
    names: impl IntoIterator<Item = &'n str>,
) -> Result<Vec<&'static dyn FunctionPass>, PassError> {
    names
        .into_iter()
        .map(|name| {
            let pass = crate::passes::find(name).ok_or_else(|| PassError::UnknownPass(name.to_string()))?;
            Ok(pass as &dyn FunctionPass)
        })
        .collect()
}
