//! Arguments of `argus trace`.

use std::path::PathBuf;

use clap::Args;

use super::{OUTPUT, TaskArgs, chips};

#[derive(Debug, Args)]
#[command(after_help = chips::examples(EXAMPLES))]
pub struct TraceArgs {
    /// Dump, capsule, or scene whose task is captured first [default: the newest dump under outputs/]
    #[arg(value_name = "DUMP|CAPSULE|SCENE", conflicts_with = "check")]
    pub what: Option<String>,

    #[command(flatten)]
    pub task: TaskArgs,

    /// Directory for the files of a task, or file for a whole run: FILE.pftrace or FILE.json
    /// [default: trace_KERNEL_TASK, or run.pftrace]
    #[arg(help_heading = OUTPUT, short, long, value_name = "DIR|FILE", conflicts_with = "check")]
    pub output: Option<PathBuf>,

    /// Replace an existing trace
    #[arg(help_heading = OUTPUT, long, conflicts_with = "check")]
    pub force: bool,

    /// Change numbers of the timing model: JSON with the same keys as the chip's own set
    #[arg(help_heading = OUTPUT, long, value_name = "FILE", conflicts_with = "check")]
    pub timing: Option<PathBuf>,

    /// Stop the task after this many tile instructions, an equal share for each core, and show what ran
    /// [default: 1000000]
    #[arg(help_heading = OUTPUT, long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), conflicts_with = "check")]
    pub max_instructions: Option<u64>,

    /// Read back a trace and check it against the rules of the programs that read it
    #[arg(help_heading = OUTPUT, long, value_name = "DIR")]
    pub check: Option<PathBuf>,

    /// Print one JSON object
    #[arg(help_heading = OUTPUT, long)]
    pub json: bool,
}

const EXAMPLES: &str = "\
Examples:
  argus trace outputs/run --task 0x200000001
  argus trace outputs/run --kernel SF --nth 2 -o sf
  argus trace pipe_mix --kernel matmul_push -p {chip}
  argus trace outputs/run --kernel QK --timing faster-loads.json --json
  argus trace --check sf
  argus trace outputs/run -o run.pftrace

With a task: the instructions of its cores on a model of the chip, in DIR/simulator, for MindStudio Insight \
(trace.json, visualize_data.bin) and Perfetto (perfetto.pftrace, perfetto.json).
Without one: which core ran which task and when, as measured in the run, for Perfetto.

Exit codes: 0 written, 1 the task failed, deadlocks, has hazards or was cut short, or a check found a fault, 2 usage error.";
