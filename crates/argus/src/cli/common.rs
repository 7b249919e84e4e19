//! Options of every command, and commands that are about the tool itself.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Global options")]
pub struct CommonArgs {
    /// When to use colors [default: auto]
    #[arg(long, global = true, value_enum, value_name = "WHEN")]
    pub color: Option<Color>,

    /// Print only the result: no progress, no notes
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,

    /// Also report which files and defaults are used
    #[arg(short, long, global = true)]
    pub verbose: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    Always,
    Never,
}

#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

const PYTEST_EXAMPLES: &str = "\
Examples:
  argus pytest test_x.py --platform {chip}
  argus pytest tests --platform {chip} -n 4 --manual include --dump-args 2";

#[derive(Debug, Args)]
#[command(after_help = super::chips::examples(PYTEST_EXAMPLES))]
pub struct PytestArgs {
    /// Files, directories and options for pytest
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    pub arguments: Vec<OsString>,
}

#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub struct CompletionsArgs {
    /// Shell that will run the script
    #[arg(value_enum)]
    pub shell: Shell,
}

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  source <(argus completions bash)
  argus completions fish > ~/.config/fish/completions/argus.fish";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    Bash,
    Zsh,
    Fish,
    Elvish,
    Powershell,
}

impl Shell {
    pub fn name(self) -> &'static str {
        match self {
            Shell::Bash => "bash",
            Shell::Zsh => "zsh",
            Shell::Fish => "fish",
            Shell::Elvish => "elvish",
            Shell::Powershell => "powershell",
        }
    }
}

#[derive(Debug, Args)]
pub struct ManArgs {
    /// Directory to write to
    pub directory: PathBuf,

    /// Replace existing pages
    #[arg(long)]
    pub force: bool,
}
