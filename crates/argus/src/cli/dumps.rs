//! Arguments of the commands that read dumps.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::OUTPUT;

/// How a task is named, in every command that takes one.
pub const TASK_HELP: &str = "Task: its id (0x200000001), the start of an id (0x2*), its index in id order (5) or \
                             among the tasks of a kernel (SF:1), counted from 0, or a range (0x1..0x4, 3..7)";

/// Which records: all conditions must hold.
#[derive(Debug, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "Filters (all must match)")]
pub struct FilterArgs {
    #[arg(long, value_name = "TASK", help = TASK_HELP)]
    pub task: Option<String>,

    /// Name of a kernel, case-insensitive
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,

    /// Number of a kernel
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub func_id: Option<String>,

    /// before or after
    #[arg(long, value_name = "STAGE")]
    pub stage: Option<String>,

    /// input, output or inout
    #[arg(long, value_name = "ROLE")]
    pub role: Option<String>,

    /// Argument index, or a range: 0..2
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub arg: Option<String>,

    /// tensor or scalar
    #[arg(long, value_name = "KIND")]
    pub kind: Option<String>,

    /// FLOAT32 or f32, BFLOAT16 or bf16, ...
    #[arg(long, value_name = "NAME")]
    pub dtype: Option<String>,

    /// Only records that contain NaN or infinities
    #[arg(long)]
    pub nan: bool,

    /// Record number in the INDEX column, or a range: 10..20
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub index: Option<String>,

    /// At least this many bytes: 512, 1k, 2MiB
    #[arg(long, value_name = "SIZE")]
    pub min_size: Option<String>,

    /// At most this many bytes: 512, 1k, 2MiB
    #[arg(long, value_name = "SIZE")]
    pub max_size: Option<String>,
}

const DUMP_HELP: &str = "Dump directory, run directory or manifest [default: the newest under outputs/]";

/// Which captures of a run of many ranks.
#[derive(Debug, Default, Args)]
pub struct RankArgs {
    /// Only these ranks of a run: `3`, `0,2,5`, `4..7` or `all` [default: all]
    #[arg(long, value_name = "RANKS")]
    pub rank: Option<String>,
}

/// A part of the work, for a launcher that spreads it over machines.
#[derive(Debug, Default, Args)]
pub struct ShardArgs {
    /// Do part I of N of the work, counted from 1; `argus merge` merges the --json reports
    #[arg(long, value_name = "I/N", requires = "json")]
    pub shard: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = VIEW_EXAMPLES)]
pub struct ViewArgs {
    #[arg(help = DUMP_HELP)]
    pub dump: Option<PathBuf>,

    #[command(flatten)]
    pub filter: FilterArgs,

    #[command(flatten)]
    pub ranks: RankArgs,

    /// Show the values of the records with statistics and a histogram, and the times, counters and scopes of their
    /// tasks from files next to the dump
    #[arg(help_heading = OUTPUT, long)]
    pub show: bool,

    /// Show the graph: tasks, kernels, and edges with their source
    #[arg(help_heading = OUTPUT, long, conflicts_with_all = ["show", "slice", "csv", "orchestration"])]
    pub graph: bool,

    /// Show the arguments of the orchestration itself, captured by `argus run --dump-args`
    #[arg(help_heading = OUTPUT, long, conflicts_with_all = ["show", "slice", "csv"])]
    pub orchestration: bool,

    /// Show a slice of each tensor: 0,3:5,::2
    #[arg(help_heading = OUTPUT, long, value_name = "SLICE", allow_hyphen_values = true)]
    pub slice: Option<String>,

    /// Show at most this many records [default: 1000 on a terminal, else all]
    #[arg(help_heading = OUTPUT, long, value_name = "N")]
    pub limit: Option<usize>,

    /// Print one JSON object
    #[arg(help_heading = OUTPUT, long, conflicts_with = "csv")]
    pub json: bool,

    /// Print comma-separated values
    #[arg(help_heading = OUTPUT, long, conflicts_with_all = ["show", "slice"])]
    pub csv: bool,
}

const VIEW_EXAMPLES: &str = "\
Examples:
  argus view
  argus view outputs/paged_attention_CaseSmall1_20260101_120000 --kernel SF --stage after
  argus view --nan
  argus view --task 0x0000000200000001 --arg 2 --show --slice 0,:8
  argus view --csv > records.csv
  argus view RUN --graph
  argus view RUN_OF_MANY_RANKS
  argus view RUN_OF_MANY_RANKS --rank 3 --kernel SF

A run of many ranks is shown as a table of its ranks; of a failed run, what is left is shown.

Exit codes: 0 shown, 1 shown but the dump lacks payloads, 2 usage error, nothing matched, or the dump \
cannot be read.";

#[derive(Debug, Args)]
#[command(after_help = TUI_EXAMPLES)]
pub struct TuiArgs {
    #[arg(help = DUMP_HELP)]
    pub dump: Option<PathBuf>,
}

const TUI_EXAMPLES: &str = "\
Examples:
  argus tui
  argus tui outputs/paged_attention_CaseSmall1_20260101_120000

Press `?` to show all keys, `q` to quit.";

#[derive(Debug, Args)]
#[command(after_help = OPEN_EXAMPLES)]
pub struct OpenArgs {
    /// Dumps or run directories [default: the newest dump under outputs/]
    #[arg(value_name = "DUMP")]
    pub dumps: Vec<PathBuf>,

    /// Loopback port to listen on [default: a free one]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    pub port: u16,

    /// Listen on a Unix socket that only you can use, instead of a port
    #[arg(long, value_name = "PATH", conflicts_with = "port")]
    pub socket: Option<PathBuf>,

    /// Only print the address
    #[arg(long)]
    pub no_browser: bool,

    /// Stop after this many minutes without a request [default: never]
    #[arg(long, value_name = "MINUTES", allow_negative_numbers = true)]
    pub idle: Option<f64>,
}

const OPEN_EXAMPLES: &str = "\
Examples:
  argus open
  argus open good_run bad_run --port 8000
  argus open --socket ~/argus.sock --no-browser

The address contains a secret: anyone who has it can read the dumps as long as the command runs. Ctrl-C stops it.";

#[derive(Debug, Args)]
#[command(after_help = STATS_EXAMPLES)]
pub struct StatsArgs {
    #[arg(help = DUMP_HELP)]
    pub dump: Option<PathBuf>,

    #[command(flatten)]
    pub filter: FilterArgs,

    #[command(flatten)]
    pub ranks: RankArgs,

    /// Print one line per kernel and argument instead of one per record
    #[arg(help_heading = OUTPUT, long)]
    pub by_kernel: bool,

    /// Print times of kernels and cores instead of values, with the critical path and what to shorten first
    #[arg(help_heading = OUTPUT, long, conflicts_with_all = ["by_kernel", "parquet"])]
    pub times: bool,

    /// Print one JSON object
    #[arg(help_heading = OUTPUT, long, conflicts_with = "parquet")]
    pub json: bool,

    /// Write a Parquet file with one row per record
    #[arg(help_heading = OUTPUT, long, value_name = "FILE", conflicts_with = "by_kernel")]
    pub parquet: Option<PathBuf>,

    /// Replace an existing file
    #[arg(help_heading = OUTPUT, long, requires = "parquet")]
    pub force: bool,
}

const STATS_EXAMPLES: &str = "\
Examples:
  argus stats
  argus stats --by-kernel
  argus stats --kernel SF --json
  argus stats --parquet statistics.parquet
  argus stats RUN --times

Exit codes: as for `argus view`.";

#[derive(Debug, Args)]
#[command(after_help = VERIFY_EXAMPLES)]
pub struct VerifyArgs {
    #[arg(help = DUMP_HELP)]
    pub dump: Option<PathBuf>,

    #[command(flatten)]
    pub ranks: RankArgs,

    #[command(flatten)]
    pub shard: ShardArgs,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

const VERIFY_EXAMPLES: &str = "\
Examples:
  argus verify
  argus verify outputs/vector_example_default_20260101_120000 --json
  argus verify RUN_OF_MANY_RANKS --rank 0..15
  argus verify RUN_OF_MANY_RANKS --shard 1/4 --json > part1.json

Exit codes: 0 SOUND, 1 INCOMPLETE or DEFECTIVE, 2 the dump cannot be read.";

#[derive(Debug, Args)]
#[command(after_help = EXPORT_EXAMPLES)]
pub struct ExportArgs {
    #[arg(help = DUMP_HELP)]
    pub dump: Option<PathBuf>,

    /// Format to write
    #[arg(long, value_enum)]
    pub format: ExportFormat,

    /// Directory to write to; created if it does not exist
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,

    #[command(flatten)]
    pub filter: FilterArgs,

    #[command(flatten)]
    pub ranks: RankArgs,

    /// Include payloads in the Parquet file, as binary
    #[arg(help_heading = OUTPUT, long)]
    pub payload: bool,

    /// Replace existing files
    #[arg(help_heading = OUTPUT, long)]
    pub force: bool,

    /// Print one JSON object
    #[arg(help_heading = OUTPUT, long)]
    pub json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// Text files with the reference's names and layout
    Txt,
    /// One NumPy file per record, and an index
    Npy,
    /// One NumPy archive, and an index
    Npz,
    /// One safetensors file
    Safetensors,
    /// One row per record with metadata and statistics
    Parquet,
    /// The same, as comma-separated values
    Csv,
}

const EXPORT_EXAMPLES: &str = "\
Examples:
  argus export --format npy -o arrays
  argus export DUMP --format safetensors -o out --kernel SF --stage after
  argus export --format parquet -o out --payload

Exit codes: 0 written, 1 could not be written or the dump lacks payloads, 2 usage error, nothing matched, files \
exist, or the dump cannot be read.";

#[derive(Debug, Args)]
#[command(after_help = CONVERT_EXAMPLES)]
pub struct ConvertArgs {
    #[arg(help = DUMP_HELP)]
    pub dump: Option<PathBuf>,

    /// Layout to write
    #[arg(long, value_enum)]
    pub to: Layout,

    /// Directory to write to; created if it does not exist
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,

    /// Replace an existing dump
    #[arg(long)]
    pub force: bool,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Layout {
    /// Journal, manifest and graph, as `argus run` writes them
    Argus,
    /// tensor_dump.json and tensor_dump.bin
    June,
    /// args_dump.json and args.bin
    August,
}

const CONVERT_EXAMPLES: &str = "\
Examples:
  argus convert hardware/args_dump --to argus -o converted
  argus convert --to august -o for_the_reference

Exit codes: as for `argus export`.";

#[derive(Debug, Args)]
#[command(after_help = DUMPS_EXAMPLES)]
pub struct DumpsArgs {
    /// Directory of runs [default: outputs]
    #[arg(value_name = "DIR")]
    pub directory: Option<PathBuf>,

    /// Remove runs instead of listing them
    #[arg(long)]
    pub remove: bool,

    /// Remove runs last written longer ago than this: 30s, 15m, 6h, 7d, 2w
    #[arg(long, value_name = "AGE", requires = "remove")]
    pub older_than: Option<String>,

    /// Remove all but the newest N runs
    #[arg(long, value_name = "N", requires = "remove")]
    pub keep: Option<usize>,

    /// Remove without asking
    #[arg(long, requires = "remove")]
    pub yes: bool,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

const DUMPS_EXAMPLES: &str = "\
Examples:
  argus dumps
  argus dumps --remove --older-than 7d
  argus dumps --remove --keep 5 --yes

Only directories that contain nothing but what `argus run` writes are removed.

Exit codes: 0 listed or removed, 1 a run was not removed, 2 usage error.";

#[derive(Debug, Args)]
#[command(after_help = MERGE_EXAMPLES)]
pub struct MergeArgs {
    /// Reports of all shards of one command
    #[arg(required = true)]
    pub reports: Vec<PathBuf>,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

const MERGE_EXAMPLES: &str = "\
Examples:
  argus find RUN --across --shard 1/2 --json > 1.json
  argus find RUN --across --shard 2/2 --json > 2.json
  argus merge 1.json 2.json

Exit codes: those of the command that wrote the reports; 2 if they do not belong together or one is missing.";
