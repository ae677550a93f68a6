//! The e-graph stage as a row of a pipeline.

use crate::error::Error;
use crate::pipeline::EgraphOptions;
use egraph_rules::dump::Dump;
use egraph_rules::plan::Method;
use egraph_rules::rules::Group;
use egraph_rules::rules::pack::{PackMode, PackOptions};
use egraph_rules::{Options, optimize};
use ir::Function;
use ir::diag::FileId;
use ir::pass::{FunctionPass, PassCtx, PassError};
use std::cell::RefCell;

pub use egraph_rules::{Report, check_rules};

/// Checks the names in the options.
pub fn check(options: &EgraphOptions) -> Result<(), Error> {
    if let Some(group) = options.groups.iter().find(|g| Group::parse(g).is_none()) {
        let known: Vec<&str> = Group::ALL.iter().map(|g| g.name()).collect();
        return Err(Error::Pipeline(format!("egraph.groups: no group `{group}`; there are {}", known.join(", "))));
    }
    match options.extract.as_str() {
        "tree" | "dag-greedy" | "exact" => Ok(()),
        other => Err(Error::Pipeline(format!("egraph.extract = \"{other}\": tree, dag-greedy or exact"))),
    }
}

/// Checks that this build has what the options ask for.
pub fn check_built(options: &EgraphOptions) -> Result<(), Error> {
    method(options).map(|_| ())
}

fn method(options: &EgraphOptions) -> Result<Method, Error> {
    match options.extract.as_str() {
        "tree" => Ok(Method::Tree),
        "dag-greedy" => Ok(Method::GreedyDag),
        _ => {
            let text = "egraph.extract = \"exact\" needs a build with feature `exact`, which this is not";
            Err(Error::Pipeline(text.to_owned()))
        }
    }
}

/// The dump of a name: `egraph`, `egraph-json` or `chosen`.
fn dump(name: &str) -> Option<Dump> {
    match name {
        "egraph" => Some(Dump::EGraph),
        "egraph-json" => Some(Dump::EGraphJson),
        "chosen" => Some(Dump::Chosen),
        _ => None,
    }
}

/// The texts that a run wrote down, with their names.
pub fn dumps(report: &Report) -> impl Iterator<Item = (String, String)> + '_ {
    report.dumps.iter().map(|(what, text)| {
        let name = match what {
            Dump::EGraph => "egraph",
            Dump::EGraphJson => "egraph-json",
            Dump::Chosen => "chosen",
        };
        (name.to_owned(), text.clone())
    })
}

/// One row `egraph`, with what it found.
pub(crate) struct EgraphPass {
    options: Options,
    report: RefCell<Option<Report>>,
}

impl EgraphPass {
    pub fn new(
        options: &EgraphOptions,
        extra_rules: Option<(FileId, String)>,
        dumps: &[String],
    ) -> Result<EgraphPass, Error> {
        let extract = method(options)?;
        let mut own = Options {
            groups: options.groups.iter().filter_map(|g| Group::parse(g)).collect(),
            extract,
            saturate: options.saturate,
            improve: options.improve,
            pack: PackOptions {
                mode: if options.seeds { PackMode::Seeds } else { PackMode::Demand },
                ..PackOptions::default()
            },
            extra_rules,
            dumps: dumps.iter().filter_map(|d| dump(d)).collect(),
            ..Options::default()
        };
        if let Some(nodes) = options.max_nodes {
            own.limits.nodes = nodes;
            own.limits.saturate_nodes = nodes;
        }
        if let Some(n) = options.arrangements {
            own.limits.arrangements = n;
        }
        Ok(EgraphPass { options: own, report: RefCell::new(None) })
    }

    pub fn into_report(self) -> Option<Report> {
        self.report.into_inner()
    }
}

impl FunctionPass for EgraphPass {
    fn name(&self) -> &str {
        "egraph"
    }

    fn run(&self, func: &mut Function<'_>, ctx: &PassCtx) -> Result<bool, PassError> {
        let options = Options { level: ctx.fp, eval: ctx.eval, ..self.options.clone() };
        let report = optimize(func, &ctx.costs, &options).map_err(|e| match e {
            egraph_rules::Error::Rules(_) => PassError::Unsupported { message: e.to_string(), line: 0 },
            _ => PassError::Invalid { pass: "egraph".to_owned(), errors: e.to_string() },
        })?;
        // placement rebuilds the pure part, whatever was chosen
        let changed = report.kept.is_none();
        *self.report.borrow_mut() = Some(report);
        Ok(changed)
    }
}
