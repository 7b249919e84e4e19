//! Arguments of `argus replay`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::chips;
use super::dumps::TASK_HELP;
use super::workspace::WorkspaceArgs;

/// Which task, and what stands in for what a dump does not say. Shared by all commands about one task.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Task")]
pub struct TaskArgs {
    #[arg(long, value_name = "TASK", help = TASK_HELP)]
    pub task: Option<String>,

    /// Name of a kernel of the task, case-insensitive
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,

    /// Numbers of all kernels of the task
    #[arg(long, value_name = "N[,N,N]", value_delimiter = ',', allow_hyphen_values = true)]
    pub func_id: Vec<i32>,

    /// Which of the matching tasks, in id order, counted from 0
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    pub nth: usize,

    /// Scene whose kernels the dump ran, if the dump does not say
    #[arg(long, value_name = "NAME")]
    pub scene: Option<String>,

    /// Case of the scene
    #[arg(long, value_name = "NAME")]
    pub case: Option<String>,

    /// Runtime of the case: hbg, abg or trb [default: the dump's, else the case's first]
    #[arg(long, value_name = "NAME")]
    pub runtime: Option<String>,

    #[arg(short, long, value_name = "NAME", help = chips::platform_of_task())]
    pub platform: Option<String>,

    /// Give an argument another value: a number (0x... for raw bits), random, random:SEED, zero or FILE.npy;
    /// may be repeated
    #[arg(long, value_name = "SLOT=VALUE")]
    pub set_arg: Vec<String>,

    /// Take all arguments from a JSON list
    #[arg(long, value_name = "FILE")]
    pub arg_spec: Option<PathBuf>,

    /// Give up after this long without progress [default: 10]
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true)]
    pub timeout: Option<f64>,
}

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(group = clap::ArgGroup::new("written").args(["workspace", "capsule"]).multiple(true))]
pub struct ReplayArgs {
    /// Dump, capsule, or scene whose task is captured first [default: the newest dump under outputs/]
    #[arg(value_name = "DUMP|CAPSULE|SCENE")]
    pub what: Option<String>,

    /// Run the task N times and report whether the results stay the same
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
    pub times: u32,

    /// Report when an element of an argument changes: `2[17]`, `2[1,3]`; may be repeated
    #[arg(long, value_name = "SLOT[INDEX]")]
    pub watch: Vec<String>,

    /// Show an operand of an instruction: dst@12, dst@TMATMUL, src@TSTORE#2, *@3; may be repeated
    #[arg(long, value_name = "TILE@INSTR")]
    pub probe: Vec<String>,

    /// Stop at the first instruction that writes this kind of value
    #[arg(long, value_enum, value_name = "WHAT")]
    pub break_on: Option<BreakOn>,

    /// Write the task to one file that can be replayed anywhere
    #[arg(long, value_name = "FILE")]
    pub capsule: Option<PathBuf>,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub task: TaskArgs,

    #[command(flatten)]
    pub debugger: DebuggerArgs,

    #[command(flatten)]
    pub workspace: WorkspaceArgs,
}

/// Whether and how a person follows the task's kernels line by line.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Debugger")]
pub struct DebuggerArgs {
    /// Compile the task's C++ kernels with -O0 -g and start gdb, stopped at the first line of kernel_entry
    #[arg(long, conflicts_with_all = ["lldb", "debug_build", "workspace", "json", "capsule"])]
    pub gdb: bool,

    /// The same, with lldb
    #[arg(long, conflicts_with_all = ["debug_build", "workspace", "json", "capsule"])]
    pub lldb: bool,

    /// Compile the task's C++ kernels with -O0 -g and replay it, for your own debugger
    #[arg(long, conflicts_with = "workspace")]
    pub debug_build: bool,
}

/// A debugger that the tool can start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Debugger {
    Gdb,
    Lldb,
}

impl DebuggerArgs {
    pub fn chosen(&self) -> Option<Debugger> {
        match (self.gdb, self.lldb) {
            (true, _) => Some(Debugger::Gdb),
            (false, true) => Some(Debugger::Lldb),
            (false, false) => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BreakOn {
    /// Not a number
    Nan,
}

const EXAMPLES: &str = "\
Examples:
  argus replay outputs/run --task 0x200000001
  argus replay outputs/run --kernel SF --nth 2 --times 20
  argus replay paged_attention --case CaseSmall1 --kernel QK
  argus replay outputs/run --kernel PV --set-arg 1=random --probe dst@TMATMUL
  argus replay outputs/run --task 3 --capsule task3.capsule
  argus replay task3.capsule --break-on nan
  argus replay outputs/run --task SF:2 --gdb
  argus replay outputs/run --kernel SF --workspace sf --kernel-source softmax.cpp
  argus replay --arg-spec args.json --workspace qk --kernel-source kernels/aic/qk.cpp --collect

Exit codes: 0 bit-equal, or the workspace was written; 1 results differ, or the task or --collect failed;
2 nothing can be replayed or written.";
