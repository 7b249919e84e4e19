//! Arguments of the commands that compare.

use std::path::PathBuf;

use clap::Args;

use super::{OUTPUT, RankArgs, ShardArgs};

/// What counts as agreement.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = "Tolerance")]
pub struct LimitArgs {
    /// Allowed error relative to the expected value [default: by dtype]
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    pub rtol: Option<f64>,

    /// Allowed absolute error [default: by dtype]
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    pub atol: Option<f64>,

    /// Fraction of a tensor's elements that may be out of tolerance
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    pub outliers: Option<f64>,
}

/// A scene that knows what a dump does not say.
#[derive(Debug, Default, Args)]
pub struct SceneArgs {
    /// Scene of the dump, if the dump does not name it
    #[arg(long, value_name = "NAME")]
    pub scene: Option<String>,

    /// Case of that scene
    #[arg(long, value_name = "NAME", requires = "scene")]
    pub case: Option<String>,

    /// Runtime of that scene: hbg, abg or trb [default: the one that fits]
    #[arg(long, value_name = "NAME", requires = "scene")]
    pub runtime: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = FIND_EXAMPLES)]
pub struct FindArgs {
    /// Dump to search [default: the newest under outputs/]
    pub dump: Option<PathBuf>,

    /// A second dump belongs to an option; see [`crate::find`].
    #[arg(hide = true)]
    pub second: Option<PathBuf>,

    /// Compare with another dump
    #[arg(long, value_name = "DUMP", conflicts_with_all = ["golden", "isolated", "runs"])]
    pub against: Option<PathBuf>,

    /// Compare with .npy, .npz and .safetensors files named by task and argument
    #[arg(long, value_name = "DIR", conflicts_with_all = ["isolated", "runs"])]
    pub golden: Option<PathBuf>,

    /// Compare each task with its kernel's reference on the captured inputs [default]
    #[arg(long, conflicts_with = "runs")]
    pub isolated: bool,

    /// Compare dumps of the same program and inputs: where they diverge, and which tasks race
    #[arg(long, value_name = "DUMP", num_args = 1.., conflicts_with = "dump")]
    pub runs: Vec<PathBuf>,

    /// Compare the ranks of a run with each other and name the first rank and task that diverge
    #[arg(long, conflicts_with_all = ["against", "golden", "isolated", "runs", "html"])]
    pub across: bool,

    #[command(flatten)]
    pub ranks: RankArgs,

    #[command(flatten)]
    pub shard: ShardArgs,

    #[command(flatten)]
    pub scene: SceneArgs,

    #[command(flatten)]
    pub limits: LimitArgs,

    /// Compute every metric for every pair, not only for those that differ
    #[arg(help_heading = OUTPUT, long)]
    pub full: bool,

    /// Write a page with graph, error maps and histograms
    #[arg(help_heading = OUTPUT, long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// Replace an existing page
    #[arg(help_heading = OUTPUT, long, requires = "html")]
    pub force: bool,

    /// Print one JSON object
    #[arg(help_heading = OUTPUT, long)]
    pub json: bool,
}

const FIND_EXAMPLES: &str = "\
Examples:
  argus find
  argus find bad --against good
  argus find bad --golden expected/ --rtol 1e-2
  argus find june_dump --isolated --scene paged_attention --case CaseSmall1
  argus find --runs run1 run2 run3
  argus find bad --against good --html report.html
  argus find RUN_OF_MANY_RANKS --across
  argus find RUN_OF_MANY_RANKS --against GOOD_RUN --rank 0..7

Exit codes: 0 all agree, 1 differences found, 2 could not judge.";

#[derive(Debug, Args)]
#[command(after_help = DIFF_EXAMPLES)]
pub struct DiffArgs {
    /// Dump to compare
    pub actual: PathBuf,

    /// Dump to compare it with
    pub expected: PathBuf,

    #[command(flatten)]
    pub ranks: RankArgs,

    #[command(flatten)]
    pub limits: LimitArgs,

    /// Also show records that agree bit for bit
    #[arg(help_heading = OUTPUT, long)]
    pub all: bool,

    /// Compute every metric for every pair, not only for those that differ
    #[arg(help_heading = OUTPUT, long)]
    pub full: bool,

    /// Print one JSON object
    #[arg(help_heading = OUTPUT, long)]
    pub json: bool,
}

const DIFF_EXAMPLES: &str = "\
Examples:
  argus diff outputs/run_a outputs/run_b
  argus diff a b --all --json

Exit codes: 0 all agree, 1 differences found, 2 could not judge.";
