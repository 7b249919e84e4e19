//! The arguments, as typed. Whether they make sense together is decided by the commands.
//!
//! Numbers may start with a minus sign here: that they are negative is then said in words about the number.

mod chips;
mod common;
mod dumps;
mod find;
mod replay;
mod trace;
mod workspace;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};

pub use common::{Color, CommonArgs, CompletionsArgs, DoctorArgs, ManArgs, PytestArgs};
pub use dumps::{
    ConvertArgs, DumpsArgs, ExportArgs, ExportFormat, FilterArgs, Layout, MergeArgs, OpenArgs, RankArgs,
    ShardArgs, StatsArgs, TuiArgs, VerifyArgs, ViewArgs,
};
pub use find::{DiffArgs, FindArgs, LimitArgs, SceneArgs};
pub use replay::{Debugger, ReplayArgs, TaskArgs};
pub use trace::TraceArgs;

/// Runs task graphs of NPU tile kernels on simulated chips.
#[derive(Debug, Parser)]
#[command(version, after_help = chips::examples(EXAMPLES), arg_required_else_help = true)]
pub struct Cli {
    /// C++ compiler for scenes from files [default: $CXX, g++ or clang++]
    #[arg(long, value_name = "COMPILER", global = true)]
    pub cxx: Option<OsString>,

    #[command(flatten)]
    pub common: CommonArgs,

    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "\
Examples:
  argus list
  argus run vector_example
  argus run paged_attention --case CaseSmall1 -p {chip}

Exit codes: 0 success, 1 outputs differ or the run failed, 2 usage error or nothing could be judged, 130 interrupted.";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Lists the scenes, their cases and the runtimes they are written for
    List(ListArgs),
    /// Writes a small working project: kernels, orchestration, inputs, expected outputs and a planted bug
    New(NewArgs),
    /// Runs a case of a scene and compares its outputs with an independent reference
    Run(Box<RunArgs>),
    /// Lists the records of a dump or shows their values
    View(Box<ViewArgs>),
    /// Browses a dump full-screen in the terminal: tasks, arguments, values, heat maps
    Tui(TuiArgs),
    /// Shows dumps in a web browser, locally or over SSH: graph, tasks, tensors, timeline, runs in progress
    Open(OpenArgs),
    /// Prints statistics of the values of a dump
    Stats(Box<StatsArgs>),
    /// Checks whether a dump is complete and intact: SOUND, INCOMPLETE or DEFECTIVE
    Verify(VerifyArgs),
    /// Exports a dump to text, NumPy, safetensors, Parquet or CSV
    Export(Box<ExportArgs>),
    /// Writes a dump in our layout or in the reference's June or August layout
    Convert(ConvertArgs),
    /// Finds the first wrong task and reports whether it introduced or inherited the error
    Find(Box<FindArgs>),
    /// Compares two dumps, record by record
    Diff(DiffArgs),
    /// Merges the reports of `--shard` runs of one command into one
    Merge(MergeArgs),
    /// Runs one task alone with its captured bytes and compares its outputs bit by bit
    Replay(Box<ReplayArgs>),
    /// Shows a task instruction by instruction, or a run task by task, for MindStudio Insight and Perfetto
    Trace(Box<TraceArgs>),
    /// Runs Python scene tests unchanged and names the first wrong task of each one that fails
    Pytest(PytestArgs),
    /// Lists runs with size, age and verdict; removes old ones
    Dumps(DumpsArgs),
    /// Checks what this machine has: compilers, Python, disk, limits
    Doctor(DoctorArgs),
    /// Prints a shell completion script for commands, scenes, cases and kernels
    Completions(CompletionsArgs),
    /// Writes manual pages
    #[command(hide = true)]
    Man(ManArgs),
}

impl Command {
    /// Whether the answer is to be a JSON object.
    pub fn json(&self) -> bool {
        match self {
            Command::List(args) => args.json,
            Command::Run(args) => args.json,
            Command::View(args) => args.json,
            Command::Stats(args) => args.json,
            Command::Verify(args) => args.json,
            Command::Export(args) => args.json,
            Command::Convert(args) => args.json,
            Command::Find(args) => args.json,
            Command::Diff(args) => args.json,
            Command::Merge(args) => args.json,
            Command::Replay(args) => args.json,
            Command::Trace(args) => args.json,
            Command::Dumps(args) => args.json,
            Command::Doctor(args) => args.json,
            Command::New(_)
            | Command::Tui(_)
            | Command::Open(_)
            | Command::Pytest(_)
            | Command::Completions(_)
            | Command::Man(_) => false,
        }
    }
}

#[derive(Debug, Args)]
pub struct NewArgs {
    /// Name of the project and of the directory created for it
    pub name: String,

    /// Write kernels and orchestration in C++, described by a scene.toml [default]
    #[arg(long, conflicts_with = "rust")]
    pub cpp: bool,

    /// Write a crate of your own whose binary is this tool with a scene in Rust
    #[arg(long)]
    pub rust: bool,

    /// Sources of Argus that the crate depends on [default: those this tool was built from]
    #[arg(long, value_name = "DIR", requires = "rust")]
    pub argus: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ListArgs {
    /// Scene, scene file, or directory with a scene.toml [default: the built-in scenes]
    pub path: Option<String>,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// What follows a group of options: what is shown and written.
const OUTPUT: &str = "Output";
/// Groups of options of `argus run`.
const MACHINE: &str = "Machine";
const COMPARISON: &str = "Comparison";

#[derive(Debug, Args)]
#[command(after_help = chips::examples(RUN_EXAMPLES))]
#[command(group(ArgGroup::new("outputs").args(["timeline", "output"]).multiple(true)))]
pub struct RunArgs {
    /// Name of a scene (see `argus list`), scene file, or directory with a scene.toml
    #[arg(index = 1)]
    pub scene: String,

    /// A word that belongs to nothing; taken here so that the answer can say what was probably meant
    #[arg(index = 2, hide = true)]
    pub stray: Option<String>,

    /// Case, by name or alias [default: the scene's first]
    #[arg(long, value_name = "NAME")]
    pub case: Option<String>,

    #[arg(short, long, value_name = "NAME", help = chips::platform_of_run())]
    pub platform: Option<String>,

    /// Runtime: hbg, abg, trb or a long name [default: the case's first]
    #[arg(long, value_name = "NAME")]
    pub runtime: Option<String>,

    /// Clusters to use [default: the case's, else all]
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = MACHINE)]
    pub block_dim: Option<u32>,

    /// Control threads to use [default: the case's, else all]
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = MACHINE)]
    pub aicpu_threads: Option<u32>,

    /// Run the case N times; each round is compared
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
    pub rounds: u32,

    /// Do not compute or compare the expected outputs
    #[arg(long, help_heading = COMPARISON)]
    pub skip_golden: bool,

    /// Give up after this long without progress [default: 10]
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true, help_heading = MACHINE)]
    pub timeout: Option<f64>,

    /// Allowed error relative to the expected value [default: the case's]
    #[arg(long, value_name = "X", allow_hyphen_values = true, help_heading = COMPARISON)]
    pub rtol: Option<f64>,

    /// Allowed absolute error [default: the case's]
    #[arg(long, value_name = "X", allow_hyphen_values = true, help_heading = COMPARISON)]
    pub atol: Option<f64>,

    /// Fill fresh memory with zeros instead of a pattern that shows up in results
    #[arg(long, help_heading = MACHINE)]
    pub no_poison: bool,

    /// Which hazards between tasks become dependencies
    #[arg(long, value_enum, default_value_t = Deps::Complete, help_heading = MACHINE)]
    pub deps: Deps,

    /// Task slots of each ring, a power of 2 [default: 16384]
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = MACHINE)]
    pub ring_window: Option<u32>,

    /// Heap of each ring: 65536, 64k, 256MiB [default: 256MiB]
    #[arg(long, value_name = "SIZE", help_heading = MACHINE)]
    pub ring_heap: Option<String>,

    /// Run C++ in this process, for an attached debugger; a crash then ends the command
    #[arg(long, help_heading = MACHINE)]
    pub in_process: bool,

    /// Inject a fault, TASK:KIND; TASK is one task (`SF:1`, `5`, `0x200000001`) or a kernel, for its first task; may be
    /// repeated. Kinds: scale, bitflip, nan, zero-row, shift-row, skip-write, stale-read
    #[arg(long, value_name = "FAULT")]
    pub inject: Vec<String>,

    /// Write which core ran which task and when, for Perfetto: FILE.pftrace or FILE.json
    #[arg(long, value_name = "FILE")]
    pub timeline: Option<PathBuf>,

    /// Replace an existing run or timeline
    #[arg(long, requires = "outputs")]
    pub force: bool,

    #[command(flatten)]
    pub dump: DumpArgs,

    /// Print one JSON object, also on failure
    #[arg(help_heading = OUTPUT, long)]
    pub json: bool,
}

/// What to capture of the run.
#[derive(Debug, Args)]
#[command(next_help_heading = "Capture")]
pub struct DumpArgs {
    /// Capture the arguments of every task: full (default), partial (only marked ones) or hybrid (metadata
    /// of all, payloads of marked ones)
    #[arg(
        long,
        value_name = "LEVEL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "full"
    )]
    pub dump_tensor: Option<String>,

    /// Capture only what matches key=value[,key=value]; repeat for "or". Keys: task, kernel, func-id, stage,
    /// role, arg, kind, dtype, min-size, max-size
    #[arg(long, value_name = "SELECTOR")]
    pub dump_select: Vec<String>,

    /// Record statistics of each payload, in addition to it or instead of it
    #[arg(long, value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "beside")]
    pub dump_stats: Option<Stats>,

    /// Capture the orchestration's own arguments
    #[arg(long, value_name = "", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub dump_args: Option<String>,

    /// Write graph, times and names next to the dump as the reference does: deps.json, chip_swimlane_records.json,
    /// name_map_*.json
    #[arg(long, requires = "dump_tensor")]
    pub artefacts: bool,

    /// Store equal payloads every time
    #[arg(long)]
    pub no_dedupe: bool,

    /// When to collect captured data from the device
    #[arg(long, value_enum, default_value_t = When::Streaming)]
    pub collect: When,

    /// Device memory per control thread for --collect after-sync [default: 256MiB]
    #[arg(long, value_name = "SIZE")]
    pub capture_memory: Option<String>,

    /// Directory of the run [default: outputs/SCENE_CASE_TIME]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Stats {
    Beside,
    Instead,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// During the run
    Streaming,
    /// After the run; fails if the memory is too small
    AfterSync,
}

const RUN_EXAMPLES: &str = "\
Examples:
  argus run vector_example --runtime hbg
  argus run paged_attention --case CaseSmall1 --rounds 20
  argus run paged_attention --case CaseSmall2 --rtol 1e-3 --atol 1e-3
  argus run mixed_example -p {chip} --block-dim 8 --json
  argus run paged_attention --case CaseSmall1 --dump-tensor
  argus run paged_attention --dump-tensor --dump-select kernel=SF,stage=after --dump-stats
  argus run paged_attention --dump-tensor --inject PV:1:zero-row
  argus run paged_attention --timeline run.pftrace

Exit codes: 0 outputs agree, 1 outputs differ or the run failed, 2 usage error.";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Deps {
    /// All of them: every order that overlapping bytes require
    Complete,
    /// Those that the reference runtime tracks: no write-after-read order
    Reference,
}
