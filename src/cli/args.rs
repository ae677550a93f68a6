//! The command line, as `clap` reads it.

use clap::{Args, Parser, Subcommand, ValueEnum};
use eggshade::limits::Setting;
use ir::tac::inline::Inline;
use ir::types::{FpLevel, Stage};
use std::path::PathBuf;

/// eggshade: an optimizing GLSL compiler for vec4 machines.
#[derive(Parser, Debug)]
#[command(name = "eggshade", version, about)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Compile shaders, or print one of the stages on the way.
    Compile(CompileArgs),
    /// Compile a vertex and a fragment shader as one program.
    Link(LinkArgs),
    /// Compile a shader, run the machine code once and print its outputs.
    Run(RunArgs),
    /// Draw a mesh through a vertex and a fragment shader into a PNG file.
    Render(RenderArgs),
    /// Assemble machine code text into a binary, or check a text.
    Asm(AsmArgs),
    /// Print the machine code of a binary.
    Dis(DisArgs),
    /// List the targets, or print one as TOML.
    Targets {
        /// Print this target's table.
        name: Option<String>,
    },
    /// List the bounds that `--limit` changes: default, greatest value, unit, error.
    Limits,
    /// Show what each stage did to a shader, with counts.
    Explain(ExplainArgs),
}

/// What `--emit` can print.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Emit {
    /// The lexer's tokens: line, kind, value.
    Tokens,
    /// The table of names.
    Names,
    /// The syntax tree.
    Ast,
    /// The typed tree.
    Typed,
    /// Three-address code.
    Tac,
    /// Three-address code as a tree.
    TacTree,
    /// SSA as it leaves the front of the pipeline.
    Ssa,
    /// The saturated e-graph as text.
    Egraph,
    /// The saturated e-graph in egraph-serialize form.
    EgraphJson,
    /// The terms that extraction chose.
    Chosen,
    /// Machine code before register allocation.
    Mach,
    /// Live ranges and registers.
    Alloc,
    /// The link tree.
    Link,
    /// Assembly text.
    Asm,
    /// The binary.
    Bin,
    /// One JSON object a file: counts and assembly.
    Json,
    /// What a caller must bind, as JSON.
    Reflection,
    /// The vertex declaration of a Direct3D vertex shader, as C.
    Declaration,
}

/// How diagnostics look.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum MessageFormat {
    /// For people.
    Human,
    /// One JSON object a line.
    Json,
}

fn stage(text: &str) -> Result<Stage, String> {
    match text {
        "vert" => Ok(Stage::Vertex),
        "frag" => Ok(Stage::Fragment),
        _ => Err("expected vert or frag".into()),
    }
}

fn level(text: &str) -> Result<FpLevel, String> {
    FpLevel::parse(text).ok_or_else(|| "expected strict, glsl or fast".into())
}

fn inline(text: &str) -> Result<Inline, String> {
    Inline::parse(text).ok_or_else(|| "expected all, auto or never".into())
}

/// How to compile: shared by all commands that do.
#[derive(Args, Debug, Clone)]
pub struct BuildArgs {
    /// Target: a built-in name or a TOML file; `:PART` behind it picks a profile (arbfp1:strict).
    #[arg(long, short, default_value = "vec4")]
    pub target: String,
    /// Pipeline: a built-in name (none, paper, egraph, egraph-saturate, egraph-exact) or a TOML file.
    #[arg(long, short, default_value = "egraph")]
    pub pipeline: String,
    /// Leave out a pass, a rule group, or a feature (extract, improve, seeds, coalesce) of the pipeline.
    #[arg(long, value_name = "ROW", value_delimiter = ',')]
    pub without: Vec<String>,
    /// What rewrites may assume about floats: strict, glsl, fast. Overrides the pipeline's level.
    #[arg(long, value_parser = level)]
    pub fp: Option<FpLevel>,
    /// Which calls are inlined: all, auto (all unless the shader gets too large), never. Overrides the
    /// pipeline's choice.
    #[arg(long, value_parser = inline)]
    pub inline: Option<Inline>,
    /// More rewrite rules from a file.
    #[arg(long, value_name = "FILE")]
    pub rules: Vec<PathBuf>,
    /// Predefine a macro.
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    pub define: Vec<String>,
    /// Search `#include` files here.
    #[arg(short = 'I', value_name = "DIR")]
    pub include: Vec<PathBuf>,
    /// Give every value a register of its own, to show what reuse saves.
    #[arg(long)]
    pub no_reuse: bool,
    /// Check the register allocation symbolically and the IR after every pass.
    #[arg(long)]
    pub check: bool,
    /// Change a bound of the compiler; `eggshade limits` lists them.
    #[arg(long, value_name = "NAME=N", value_parser = Setting::parse)]
    pub limit: Vec<Setting>,
    /// Form of diagnostics.
    #[arg(long, value_enum, default_value = "human")]
    pub message_format: MessageFormat,
}

/// `compile`
#[derive(Args, Debug)]
pub struct CompileArgs {
    /// Shader files; the ending tells the stage (.vert .vs .vsh .frag .fs .fsh). A .tac file holds
    /// three-address code.
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Stage of files whose ending does not tell.
    #[arg(long, value_parser = stage)]
    pub stage: Option<Stage>,
    /// Check each file as one of several of its stage, like glCompileShader: `main` and bodies of
    /// functions may be missing. Such a file gives no code.
    #[arg(long)]
    pub unit: bool,
    /// How to compile.
    #[command(flatten)]
    pub build: BuildArgs,
    /// What to print.
    #[arg(long, value_enum, default_value = "asm")]
    pub emit: Emit,
    /// Also print the code after this pass (to standard error); `all` prints after each.
    #[arg(long, value_name = "PASS")]
    pub dump_after: Option<String>,
    /// Print the time of each pass to standard error.
    #[arg(long)]
    pub time_passes: bool,
    /// With `--emit json`: compile so many times and report the least time.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repeat: u32,
    /// Write here instead of standard output.
    #[arg(short)]
    pub output: Option<PathBuf>,
}

/// `--pack-varyings`
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum PackVaryings {
    /// When the target has too few registers without.
    Auto,
    /// Wherever they can.
    Always,
    /// Never.
    Never,
}

/// `NAME=LOCATION`.
fn location(text: &str) -> Result<(String, u32), String> {
    let parts = text.split_once('=').and_then(|(name, n)| Some((name.to_owned(), n.parse().ok()?)));
    parts.filter(|(name, _)| !name.is_empty()).ok_or_else(|| "not of the form NAME=LOCATION".to_owned())
}

/// `link`
#[derive(Args, Debug)]
pub struct LinkArgs {
    /// Shader files, several of one stage if need be; the ending tells the stage (.vert .vs .vsh .frag
    /// .fs .fsh).
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// How to compile.
    #[command(flatten)]
    pub build: BuildArgs,
    /// When varyings of fewer than four lanes share registers; auto: when the target has too few.
    #[arg(long, value_enum, default_value = "auto")]
    pub pack_varyings: PackVaryings,
    /// Bind an attribute to a location, as glBindAttribLocation does.
    #[arg(long, value_name = "NAME=LOCATION", value_parser = location)]
    pub bind_attribute: Vec<(String, u32)>,
    /// asm, tac, tac-tree, link, or json (also reflection): one object for the program.
    #[arg(long, value_enum, default_value = "asm")]
    pub emit: Emit,
    /// Write here instead of standard output.
    #[arg(short)]
    pub output: Option<PathBuf>,
}

/// `run`
#[derive(Args, Debug)]
pub struct RunArgs {
    /// The shader.
    pub file: PathBuf,
    /// Its stage, when the ending does not tell.
    #[arg(long, value_parser = stage)]
    pub stage: Option<Stage>,
    /// How to compile.
    #[command(flatten)]
    pub build: BuildArgs,
    /// An input or uniform: `name=1,2,3` or `name[2]=...`; a matrix is its columns one after the
    /// other. What is not set is 0; `gl_` state has OpenGL's initial values.
    #[arg(long = "set", short = 's', value_name = "NAME=V,...")]
    pub set: Vec<String>,
    /// A texture: `sampler=FILE.png`, or `sampler=checker`, `sampler=gradient`.
    #[arg(long, value_name = "NAME=PNG")]
    pub texture: Vec<String>,
    /// Run the interpreter of the three-address code instead of the machine code.
    #[arg(long)]
    pub interpret: bool,
}

/// `render`
#[derive(Args, Debug)]
pub struct RenderArgs {
    /// The vertex shader.
    pub vertex: PathBuf,
    /// The fragment shader.
    pub fragment: PathBuf,
    /// How to compile.
    #[command(flatten)]
    pub build: BuildArgs,
    /// sphere, cube, plane or quad.
    #[arg(long, default_value = "sphere")]
    pub mesh: String,
    /// WIDTHxHEIGHT, at most 4096 each.
    #[arg(long, default_value = "256x256")]
    pub size: String,
    /// Turn of the mesh about x and y in degrees.
    #[arg(long, default_value = "20,30", allow_hyphen_values = true)]
    pub turn: String,
    /// A uniform: `name=1,2,3`.
    #[arg(long = "set", short = 's', value_name = "NAME=V,...")]
    pub set: Vec<String>,
    /// A texture: `sampler=FILE.png`, or `sampler=checker`, `sampler=gradient`.
    #[arg(long, value_name = "NAME=PNG")]
    pub texture: Vec<String>,
    /// The PNG file to write.
    #[arg(short)]
    pub output: PathBuf,
}

/// `asm`
#[derive(Args, Debug)]
pub struct AsmArgs {
    /// The text.
    pub file: PathBuf,
    /// Only count and check it against the limits of `--target`.
    #[arg(long)]
    pub check: bool,
    /// With `--check`: a built-in name or a TOML file, `:PART` behind it for a profile.
    #[arg(long, short, requires = "check", default_value = "arbvp1")]
    pub target: String,
    /// Change a bound of the assembler; `eggshade limits` lists them.
    #[arg(long, value_name = "NAME=N", value_parser = Setting::parse)]
    pub limit: Vec<Setting>,
    /// Write here instead of standard output.
    #[arg(short)]
    pub output: Option<PathBuf>,
}

/// `dis`
#[derive(Args, Debug)]
pub struct DisArgs {
    /// The input.
    pub file: PathBuf,
    /// Write here instead of standard output.
    #[arg(short)]
    pub output: Option<PathBuf>,
}

/// `explain`
#[derive(Args, Debug)]
pub struct ExplainArgs {
    /// The shader.
    pub file: PathBuf,
    /// Its stage, when the ending does not tell.
    #[arg(long, value_parser = stage)]
    pub stage: Option<Stage>,
    /// How to compile.
    #[command(flatten)]
    pub build: BuildArgs,
}
