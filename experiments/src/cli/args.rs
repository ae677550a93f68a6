//! The command line, as `clap` reads it.

use crate::judge::Consumer;
use clap::{Args, Parser, Subcommand, ValueEnum};
use eggshade::ir::tac::inline::Inline;
use eggshade::ir::types::FpLevel;
use eggshade::limits::Setting;
use std::path::PathBuf;

/// eggshade-lab: experiments with the eggshade compiler.
#[derive(Parser, Debug)]
#[command(name = "eggshade-lab", version, about)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Compile shaders for targets by pipelines into a table, one row a compile.
    Run(RunArgs),
    /// Compare two tables: ratio, helped, hurt, unchanged, lost and gained, by name.
    Compare(CompareArgs),
    /// What each part of a pipeline is worth: leave one out at a time.
    Ablate(AblateArgs),
    /// Hold a corpus of shaders against what reference compilers say of them.
    Corpus(CorpusArgs),
    /// Hold what our code draws on a real instruction set against what Mesa draws from the GLSL.
    Judge(JudgeArgs),
    /// Compile time beside another compiler's, on the same files in the same run.
    Peers(PeersArgs),
    /// Instructions on several targets, each beside another compiler's for the same instruction set.
    Counts(CountsArgs),
    /// Run piglit's .shader_test files on the simulator, or as ARB programs in Mesa.
    ShaderTest(ShaderTestArgs),
    /// Compile piglit's compiler tests (shaders that tell in a comment whether they must compile).
    CompilerTest(TestArgs),
    /// Write the seeds of the fuzz targets, a folder a target.
    FuzzSeeds(FuzzSeedsArgs),
    /// Answer jobs on standard input (how the other commands compile).
    #[command(hide = true)]
    Worker,
    /// The same for `judge`.
    #[command(hide = true)]
    JudgeWorker,
}

/// How the worker processes run.
#[derive(Args, Debug)]
pub struct PoolArgs {
    /// Worker processes at once; all cores by default.
    #[arg(long, short)]
    pub jobs: Option<u8>,
    /// Seconds that one compile (with its repeats) may take.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    pub timeout: u32,
    /// Memory of a worker in MiB.
    #[arg(long, default_value_t = 2048, value_parser = clap::value_parser!(u64).range(64..=1 << 30))]
    pub memory: u64,
}

/// `run`
#[derive(Args, Debug)]
pub struct RunArgs {
    /// Shader files, and folders with shaders below them.
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
    /// Targets: built-in names or TOML files.
    #[arg(long, short, default_value = "vec4", value_delimiter = ',')]
    pub target: Vec<String>,
    /// Pipelines: built-in names or TOML files.
    #[arg(long, short, default_value = "egraph", value_delimiter = ',')]
    pub pipeline: Vec<String>,
    /// Leave these passes, rule groups or features out of every pipeline.
    #[arg(long, value_name = "ROW", value_delimiter = ',')]
    pub without: Vec<String>,
    /// Also run each pipeline with each of its parts left out.
    #[arg(long)]
    pub leave_one_out: bool,
    /// Compile so many times and report the least time.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repeat: u32,
    /// The table, as CSV.
    #[arg(long, short)]
    pub out: PathBuf,
    /// How the workers run.
    #[command(flatten)]
    pub pool: PoolArgs,
}

/// `compare`
#[derive(Args, Debug)]
pub struct CompareArgs {
    /// The table before.
    pub before: PathBuf,
    /// The table after.
    pub after: PathBuf,
    /// The column.
    #[arg(long, default_value = "instructions")]
    pub metric: String,
    /// Exit with 1 when the geometric mean of after over before is above this, or a shader is lost.
    #[arg(long, value_name = "RATIO")]
    pub fail_above: Option<f64>,
    /// List the unchanged shaders too.
    #[arg(long)]
    pub unchanged: bool,
}

/// `ablate`
#[derive(Args, Debug)]
pub struct AblateArgs {
    /// Shader files, and folders with shaders below them.
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
    /// Target.
    #[arg(long, short, default_value = "vec4")]
    pub target: String,
    /// Pipeline.
    #[arg(long, short, default_value = "egraph")]
    pub pipeline: String,
    /// Other pipelines, as further lines.
    #[arg(long, default_value = "none,paper,egraph-saturate", value_delimiter = ',')]
    pub beside: Vec<String>,
    /// Write the table here: Markdown, or CSV by the ending.
    #[arg(long, short)]
    pub out: Option<PathBuf>,
    /// Write the row of each compile here, as CSV.
    #[arg(long)]
    pub rows: Option<PathBuf>,
    /// How the workers run.
    #[command(flatten)]
    pub pool: PoolArgs,
}

/// `corpus`
#[derive(Args, Debug)]
pub struct CorpusArgs {
    /// Where the corpus is (`shaders/ID.vert` or `.frag` below it).
    pub folder: PathBuf,
    /// What it holds: one JSON object a line.
    #[arg(long)]
    pub manifest: PathBuf,
    /// Target.
    #[arg(long, short, default_value = "vec4")]
    pub target: String,
    /// Pipeline.
    #[arg(long, short, default_value = "egraph")]
    pub pipeline: String,
    /// Only these families.
    #[arg(long, value_delimiter = ',')]
    pub only: Vec<String>,
    /// Names to print with each kind of failure.
    #[arg(long, default_value_t = 4)]
    pub examples: u8,
    /// Exit with 1 when a smaller share of the accepted shaders compiles.
    #[arg(long, default_value_t = 0.0)]
    pub require: f64,
    /// What is known to go otherwise than the reference says, one a line: the name, a colon, the
    /// reason. A listed one that agrees is a failure, as is another one that does not.
    #[arg(long, value_name = "LIST")]
    pub known: Option<PathBuf>,
    /// Write the rows here, as CSV.
    #[arg(long, short)]
    pub out: Option<PathBuf>,
    /// How the workers run.
    #[command(flatten)]
    pub pool: PoolArgs,
}

/// `judge`
#[derive(Args, Debug)]
pub struct JudgeArgs {
    /// What runs our code.
    #[arg(value_enum)]
    pub consumer: Consumer,
    /// Where the corpus is (`shaders/ID.vert` or `.frag` below it).
    pub folder: PathBuf,
    /// What it holds: one JSON object a line.
    #[arg(long)]
    pub manifest: PathBuf,
    /// A profile of the consumer's targets, such as `strict`.
    #[arg(long, value_name = "PART")]
    pub target_part: Option<String>,
    /// Pipeline: a built-in name or a TOML file.
    #[arg(long, short, default_value = "egraph")]
    pub pipeline: String,
    /// Only these families.
    #[arg(long, value_delimiter = ',')]
    pub only: Vec<String>,
    /// Names to print with each reason.
    #[arg(long, default_value_t = 4)]
    pub examples: u8,
    /// Exit with 1 when a smaller share of those that fit is equal.
    #[arg(long, default_value_t = 0.0, value_name = "SHARE")]
    pub require: f64,
    /// Shaders that are known not to be equal, one a line: the name, a colon, the reason. A listed
    /// one that is equal is a failure, as is another one that is not.
    #[arg(long, value_name = "LIST")]
    pub known: Option<PathBuf>,
    /// How results are printed: the tables, or one object a shader.
    #[arg(long, value_enum, default_value = "human")]
    pub message_format: MessageFormat,
    /// How the workers run.
    #[command(flatten)]
    pub pool: PoolArgs,
}

/// The compilers that `peers` knows how to ask.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Peer {
    /// NVIDIA's Cg compiler.
    Cgc,
}

/// `peers`
#[derive(Args, Debug)]
pub struct PeersArgs {
    /// Shader files, and folders with shaders below them.
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
    /// The other compiler.
    #[arg(long, value_enum, default_value = "cgc")]
    pub peer: Peer,
    /// The script that asks it: prints one JSON object a file.
    #[arg(long)]
    pub script: PathBuf,
    /// Its profiles.
    #[arg(long, default_value = "arbvp1/arbfp1", value_name = "VERTEX/FRAGMENT")]
    pub cgc_target: String,
    /// Our target.
    #[arg(long, short, default_value = "vec4")]
    pub target: String,
    /// Our pipeline.
    #[arg(long, short, default_value = "egraph")]
    pub pipeline: String,
    /// Compile so many times and take the least time, as the peer does.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repeat: u32,
    /// Write the report here.
    #[arg(long, short)]
    pub out: Option<PathBuf>,
    /// How the workers run.
    #[command(flatten)]
    pub pool: PoolArgs,
}

/// `counts`
#[derive(Args, Debug)]
pub struct CountsArgs {
    /// Shader files, and folders with shaders below them.
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
    /// Pairs of targets; `-` where a stage has none.
    #[arg(
        long,
        short,
        value_name = "VERTEX/FRAGMENT",
        default_value = "vec4,arbvp1/arbfp1,vs_1_1/-,vs_2_0/ps_2_0,vs_3_0/ps_3_0",
        value_delimiter = ','
    )]
    pub target: Vec<String>,
    /// The script that asks NVIDIA's compiler: prints one JSON object a file. Without it only ours.
    #[arg(long)]
    pub script: Option<PathBuf>,
    /// Our pipeline.
    #[arg(long, short, default_value = "egraph")]
    pub pipeline: String,
    /// Write the table here.
    #[arg(long, short)]
    pub out: Option<PathBuf>,
    /// How the workers run.
    #[command(flatten)]
    pub pool: PoolArgs,
}

/// How results are printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum MessageFormat {
    /// A line for each test that did not pass.
    Human,
    /// One object a line: file, result, reason.
    Json,
}

/// How tests run and what is told of them: shared by `shader-test` and `compiler-test`.
#[derive(Args, Debug)]
pub struct TestArgs {
    /// The tests.
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Target: a built-in name or a TOML file.
    #[arg(long, short, default_value = "vec4")]
    pub target: String,
    /// Pipeline: a built-in name or a TOML file.
    #[arg(long, short, default_value = "egraph")]
    pub pipeline: String,
    /// What rewrites may assume about floats: strict, glsl, fast. Overrides the pipeline's level.
    #[arg(long, value_parser = level)]
    pub fp: Option<FpLevel>,
    /// Change a bound of the compiler; `eggshade limits` lists them.
    #[arg(long, value_name = "NAME=N", value_parser = Setting::parse)]
    pub limit: Vec<Setting>,
    /// Which calls are inlined: all, auto (all unless the shader gets too large), never. Overrides the
    /// pipeline's choice.
    #[arg(long, value_parser = inline)]
    pub inline: Option<Inline>,
    /// How results are printed.
    #[arg(long, value_enum, default_value = "human")]
    pub message_format: MessageFormat,
    /// Tests that are known not to pass, one a line: the end of the file's path, a colon, the
    /// reason. A listed test that passes is a failure, as is another one that does not.
    #[arg(long, value_name = "LIST")]
    pub known: Option<PathBuf>,
    /// Tests at once; all cores by default.
    #[arg(long, short)]
    pub jobs: Option<u8>,
}

/// `shader-test`
#[derive(Args, Debug)]
pub struct ShaderTestArgs {
    /// The tests, and how they run.
    #[command(flatten)]
    pub tests: TestArgs,
    /// Run the ARB programs in Mesa (a target such as `arbvp1`); what the target has no room or no words
    /// for is skipped.
    #[arg(long)]
    pub mesa: bool,
    /// Exit with 1 when a smaller share of the tests that were not skipped passes.
    #[arg(long, default_value_t = 0.0, value_name = "SHARE")]
    pub require: f64,
}

/// `fuzz-seeds`
#[derive(Args, Debug)]
pub struct FuzzSeedsArgs {
    /// Where to write; `fuzz/corpus` is where cargo-fuzz looks.
    pub out: PathBuf,
    /// The checkout whose shaders and test files the seeds are made of.
    #[arg(long, default_value = ".")]
    pub checkout: PathBuf,
}

fn inline(text: &str) -> Result<Inline, String> {
    Inline::parse(text).ok_or_else(|| "all, auto or never".to_owned())
}

fn level(text: &str) -> Result<FpLevel, String> {
    FpLevel::parse(text).ok_or_else(|| "strict, glsl or fast".to_owned())
}
