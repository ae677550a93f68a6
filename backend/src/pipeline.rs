//! Pipelines are data: a named list of passes with options (design section 7).
//!
//! A row of the list is a pass over SSA by its name in `ir::passes`, the e-graph stage (`egraph`),
//! or one of the back end's own steps, which run after all of those and in a fixed order whatever
//! their place in the list: `fuse-patterns` (selection may use patterns that fuse operations),
//! `merge-lanes` (machine instructions that write lanes of one register become one), `schedule`
//! (order for fewer registers). `inline` runs on three-address code and is always there; the key
//! `inline` says which calls it takes: `all`, `never`, or `auto` (all unless the shader would get too
//! large; the default). Taking a
//! row away, or a rule group of the e-graph stage, is an ablation.

use crate::error::Error;
use ir::limits::Bound;
use ir::tac::inline::Inline;
use ir::types::FpLevel;
use regalloc::Method;
use serde::Deserialize;

/// Rows that are steps of the back end.
pub const BACKEND_ROWS: [&str; 3] = ["fuse-patterns", "merge-lanes", "schedule"];

/// The bounds that a pipeline may set by itself. Meeting one is no error: a loop stays a loop, and
/// rewriting stops with what it found.
pub const BOUNDS: &[Bound] = &[
    Bound {
        name: "unroll-turns",
        default: 256,
        max: 65_536,
        unit: "turns",
        code: "",
        doc: " Most turns of a loop that is unrolled.",
    },
    Bound {
        name: "unroll-instructions",
        default: 4_096,
        max: 1_000_000,
        unit: "instructions",
        code: "",
        doc: " Most instructions that one unrolled loop may become.",
    },
    Bound {
        name: "egraph-nodes",
        default: 2_000,
        max: 1_000_000,
        unit: "nodes",
        code: "",
        doc: " Most nodes that rewriting may grow the e-graph to (50000 where the pipeline saturates).",
    },
];

/// Options of the e-graph stage.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct EgraphOptions {
    /// Rule groups.
    pub groups: Vec<String>,
    /// `tree`, `dag-greedy` or `exact`.
    pub extract: String,
    /// All groups in one phase, run to saturation.
    pub saturate: bool,
    /// The choice is improved under the price of the whole plan.
    pub improve: bool,
    /// Independent narrow work is packed by search.
    pub seeds: bool,
    /// Most nodes of the algebra phase, or of the one phase.
    pub max_nodes: Option<usize>,
    /// Arrangements of a chain of sums or products.
    pub arrangements: Option<usize>,
}

impl Default for EgraphOptions {
    fn default() -> EgraphOptions {
        let all = ["arith", "mad", "dot", "swizzle", "pack", "select", "math"];
        EgraphOptions {
            groups: all.map(str::to_owned).to_vec(),
            extract: "dag-greedy".to_owned(),
            saturate: false,
            improve: true,
            seeds: true,
            max_nodes: None,
            arrangements: None,
        }
    }
}

/// Options of register allocation.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RegallocOptions {
    /// `color` or `scan`.
    pub method: String,
    /// Whether copies are merged away.
    pub coalesce: bool,
}

impl Default for RegallocOptions {
    fn default() -> RegallocOptions {
        RegallocOptions { method: "color".to_owned(), coalesce: true }
    }
}

/// Options of loop unrolling.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize, Default)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct UnrollOptions {
    /// Most turns.
    pub max_trips: Option<u32>,
    /// Most instructions that a loop may become.
    pub max_insts: Option<usize>,
}

/// Options of branch flattening.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize, Default)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct FlattenOptions {
    /// Most slots of both sides together.
    pub max_slots: Option<u32>,
}

/// Options of MAD fusion.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize, Default)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct FuseOptions {
    /// Fuse even when the product stays.
    pub kept_products: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct PipelineFile {
    name: String,
    passes: Vec<String>,
    #[serde(default)]
    fp: Option<String>,
    #[serde(default)]
    inline: Option<String>,
    #[serde(default)]
    egraph: EgraphOptions,
    #[serde(default)]
    regalloc: RegallocOptions,
    #[serde(default)]
    unroll: UnrollOptions,
    #[serde(default)]
    flatten_ifs: FlattenOptions,
    #[serde(default)]
    fuse_mad: FuseOptions,
}

/// A pipeline.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pipeline {
    /// Its name, with what was left out (`egraph-pack`).
    pub name: String,
    /// The rows in order.
    pub passes: Vec<String>,
    /// What rewrites may assume about floats.
    pub fp: FpLevel,
    /// Which calls are inlined, on targets that have calls; on others all are.
    pub inline: Inline,
    /// The e-graph stage's options.
    pub egraph: EgraphOptions,
    /// Register allocation's.
    pub regalloc: RegallocOptions,
    /// `unroll`'s.
    pub unroll: UnrollOptions,
    /// `flatten-ifs`'s.
    pub flatten_ifs: FlattenOptions,
    /// `fuse-mad`'s.
    pub fuse_mad: FuseOptions,
}

const EMBEDDED: &[(&str, &str)] = &[
    ("none", include_str!("../pipelines/none.toml")),
    ("paper", include_str!("../pipelines/paper.toml")),
    ("egraph", include_str!("../pipelines/egraph.toml")),
    ("egraph-saturate", include_str!("../pipelines/egraph-saturate.toml")),
    ("egraph-exact", include_str!("../pipelines/egraph-exact.toml")),
];

impl Pipeline {
    /// The names of the pipelines that are built in.
    pub fn names() -> impl Iterator<Item = &'static str> {
        EMBEDDED.iter().map(|(name, _)| *name)
    }

    /// The pipeline that is used when none is named.
    pub const DEFAULT: &'static str = "egraph";

    /// A pipeline that is built in.
    pub fn builtin(name: &str) -> Result<Pipeline, Error> {
        match EMBEDDED.iter().find(|(n, _)| *n == name) {
            Some((_, text)) => Pipeline::from_toml(text),
            None => {
                let known: Vec<&str> = Pipeline::names().collect();
                Err(Error::Pipeline(format!("no pipeline `{name}`; built in: {}", known.join(", "))))
            }
        }
    }

    /// Reads and checks a pipeline file.
    pub fn from_toml(text: &str) -> Result<Pipeline, Error> {
        let file: PipelineFile = toml::from_str(text).map_err(|e| Error::Pipeline(e.to_string()))?;
        let fp = match &file.fp {
            None => FpLevel::default(),
            Some(word) => {
                FpLevel::parse(word).ok_or_else(|| Error::Pipeline(format!("fp = \"{word}\": strict, glsl or fast")))?
            }
        };
        let inline = match &file.inline {
            None => Inline::default(),
            Some(word) => Inline::parse(word)
                .ok_or_else(|| Error::Pipeline(format!("inline = \"{word}\": all, auto or never")))?,
        };
        let pipeline = Pipeline {
            name: file.name,
            passes: file.passes,
            fp,
            inline,
            egraph: file.egraph,
            regalloc: file.regalloc,
            unroll: file.unroll,
            flatten_ifs: file.flatten_ifs,
            fuse_mad: file.fuse_mad,
        };
        pipeline.check()?;
        Ok(pipeline)
    }

    fn check(&self) -> Result<(), Error> {
        for row in &self.passes {
            let known = row == "inline"
                || row == "egraph"
                || BACKEND_ROWS.contains(&row.as_str())
                || ir::passes::find(row).is_some();
            if !known {
                return Err(Error::Pipeline(format!("`{}`: no pass has the name `{row}`", self.name)));
            }
        }
        if self.passes.iter().filter(|p| *p == "egraph").count() > 4 {
            return Err(Error::Pipeline(format!("`{}`: more than 4 rows `egraph`", self.name)));
        }
        if self.passes.len() > 200 {
            return Err(Error::Pipeline(format!("`{}`: more than 200 rows", self.name)));
        }
        if Method::parse(&self.regalloc.method).is_none() {
            return Err(Error::Pipeline(format!("regalloc.method = \"{}\": color or scan", self.regalloc.method)));
        }
        crate::egraph_stage::check(&self.egraph)
    }

    /// Whether this build can run it.
    ///
    /// # Errors
    /// The feature that the build lacks.
    pub fn check_built(&self) -> Result<(), Error> {
        if self.has("egraph") { crate::egraph_stage::check_built(&self.egraph) } else { Ok(()) }
    }

    /// Sets one of [`BOUNDS`]; false when it is none of them.
    pub fn set_bound(&mut self, name: &str, value: usize) -> bool {
        match name {
            "unroll-turns" => self.unroll.max_trips = Some(u32::try_from(value).unwrap_or(u32::MAX)),
            "unroll-instructions" => self.unroll.max_insts = Some(value),
            "egraph-nodes" => self.egraph.max_nodes = Some(value),
            _ => return false,
        }
        true
    }

    /// Whether a row is in the list.
    pub fn has(&self, row: &str) -> bool {
        self.passes.iter().any(|p| p == row)
    }

    /// The same pipeline without one row, rule group, or one of the switches `extract` (falls back
    /// to the tree extractor), `improve`, `seeds` and `coalesce`.
    pub fn without(&self, what: &str) -> Result<Pipeline, Error> {
        let mut out = self.clone();
        out.passes.retain(|p| p != what || p == "inline" || p == "lower-types");
        out.egraph.groups.retain(|g| g != what);
        match what {
            "coalesce" => out.regalloc.coalesce = false,
            "extract" => out.egraph.extract = "tree".to_owned(),
            "improve" => out.egraph.improve = false,
            "seeds" => out.egraph.seeds = false,
            _ => {}
        }
        if out == *self {
            return Err(Error::Pipeline(format!("`{}` has no row or rule group `{what}` to leave out", self.name)));
        }
        out.name = format!("{}-{what}", self.name);
        Ok(out)
    }

    /// Everything that [`Pipeline::without`] can take away, in order.
    pub fn parts(&self) -> Vec<String> {
        let mut parts: Vec<String> = Vec::new();
        let mut add = |p: &str| {
            if !parts.iter().any(|x| x == p) {
                parts.push(p.to_owned());
            }
        };
        self.passes.iter().filter(|p| *p != "inline" && *p != "lower-types").for_each(|p| add(p));
        if self.has("egraph") {
            self.egraph.groups.iter().for_each(|g| add(g));
            let switches = [
                ("extract", self.egraph.extract != "tree"),
                ("improve", self.egraph.improve),
                ("seeds", self.egraph.seeds),
            ];
            switches.iter().filter(|s| s.1).for_each(|s| add(s.0));
        }
        if self.regalloc.coalesce {
            add("coalesce");
        }
        parts
    }

    /// The SSA rows in order, with `lower-types` put where the core operations are first needed.
    pub fn ssa_rows(&self) -> Vec<&str> {
        let is_ssa = |p: &&String| *p != "inline" && !BACKEND_ROWS.contains(&p.as_str());
        let mut rows: Vec<&str> = self.passes.iter().filter(is_ssa).map(String::as_str).collect();
        let egraph = rows.iter().position(|r| *r == "egraph").unwrap_or(rows.len());
        if !rows[..egraph].contains(&"lower-types") {
            rows.insert(egraph, "lower-types");
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_pipeline_loads_under_its_name() {
        for name in Pipeline::names() {
            assert_eq!(Pipeline::builtin(name).unwrap().name, name);
        }
        assert!(Pipeline::names().any(|n| n == Pipeline::DEFAULT));
        assert!(Pipeline::builtin("best").unwrap_err().to_string().contains("egraph-exact"));
    }

    #[test]
    fn each_part_can_be_left_out() {
        let full = Pipeline::builtin("egraph").unwrap();
        let parts = full.parts();
        for part in ["sccp", "egraph", "pack", "mad", "extract", "seeds", "coalesce", "schedule"] {
            assert!(parts.iter().any(|p| p == part), "{part} not in {parts:?}");
        }
        for part in &parts {
            let less = full.without(part).unwrap();
            assert_eq!(less.name, format!("egraph-{part}"));
            assert_ne!(less, full);
            assert!(less.without(part).is_err(), "{part} twice");
        }
        assert!(full.without("lower-types").is_err());
    }

    #[test]
    fn types_are_lowered_before_the_e_graph_stage_and_before_selection() {
        let p = |passes: &str| Pipeline::from_toml(&format!("name = \"p\"\npasses = [{passes}]")).unwrap();
        assert_eq!(p("\"inline\", \"merge-lanes\"").ssa_rows(), ["lower-types"]);
        assert_eq!(p("\"sccp\", \"egraph\", \"lower-types\"").ssa_rows()[..3], ["sccp", "lower-types", "egraph"]);
        assert_eq!(p("\"lower-types\", \"sccp\"").ssa_rows(), ["lower-types", "sccp"]);
    }

    #[test]
    fn bounds_tell_the_defaults() {
        let (unroll, egraph) = (ir::pass::UnrollOptions::default(), egraph_rules::Options::default().limits);
        let defaults = [unroll.max_trips as usize, unroll.max_insts, egraph.nodes];
        assert_eq!(BOUNDS.iter().map(|b| b.default).collect::<Vec<_>>(), defaults);
        assert_eq!(egraph.saturate_nodes, 50_000);
    }

    #[test]
    fn mistakes_are_named() {
        let error = |text: &str| Pipeline::from_toml(text).unwrap_err().to_string();
        assert!(error("name = \"p\"\npasses = [\"inlin\"]").contains("inlin"));
        assert!(error("name = \"p\"\npasses = []\nfp = \"fats\"").contains("fats"));
        assert!(error("name = \"p\"\npasses = []\n[egraph]\ngroups = [\"mda\"]").contains("mda"));
        assert!(error("name = \"p\"\npasses = []\n[egraph]\nextract = \"best\"").contains("best"));
        assert!(error("name = \"p\"\npasses = []\n[regalloc]\nmethod = \"best\"").contains("best"));
        assert!(error("name = \"p\"\npasses = []\ncolour = 1").contains("colour"));
    }
}
