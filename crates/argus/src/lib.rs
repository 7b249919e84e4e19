//! The command-line tool, as a library: `main` is all of it, and a binary of any crate can be it.
//!
//! Each command is a function from its arguments to what it has to say; printing and exit codes are decided
//! here and in `output`, once for all commands.
//!
//! | module | subject |
//! |---|---|
//! | `cli` | the arguments, as typed |
//! | `list` | `argus list` |
//! | `run` | `argus run`: from arguments to a played case |
//! | `new` | `argus new`: a small project to start from |
//! | `capture` | `argus run --dump-...`: from the flags to a recorded run |
//! | `lookup` | from what was typed to the scene of a dump, and to a task with its code |
//! | `scene_files` | scenes from files: which compiler, where messages go, what helps |
//! | `interrupt` | Ctrl-C ends a run in order |
//! | `progress` | progress of a long run, on a terminal only |
//! | `input` | from what was typed to an open dump and some of its records |
//! | `view` | `argus view`: records as a table, tensors as text |
//! | `tui` | `argus tui`: a dump on the full screen |
//! | `open` | `argus open`: dumps in a web browser |
//! | `stats`, `verify` | `argus stats`, `argus verify` |
//! | `export` | `argus export`, `argus convert` |
//! | `find` | `argus find`, `argus diff` |
//! | `ranks` | commands on a run of many ranks |
//! | `merge` | `argus merge`: reports of shards joined |
//! | `replay` | `argus replay` |
//! | `trace` | `argus trace`, and the timeline of a run |
//! | `pytest` | `argus pytest`: scene tests in Python |
//! | `dumps` | `argus dumps`: runs listed and removed |
//! | `doctor` | `argus doctor`: what this machine has |
//! | `shell` | `argus completions`, `argus man` |
//! | `settings` | defaults from the environment and a file |
//! | `schema` | names and versions of JSON objects |
//! | `bar` | progress of other long work |
//! | `report` | what `argus run` tells, as text and as JSON |
//! | `table` | tables without lines |
//! | `long_table` | the same, of any length |
//! | `threads` | the threads of loops that run on every processor |
//! | `failure` | why a command failed, with a hint and an exit code |
//! | [`prelude`] | what a scene in Rust is written with |
//! | `output` | the only place that writes to stdout and stderr |
#![forbid(unsafe_code)]

mod bar;
mod capture;
mod cli;
mod doctor;
mod dumps;
mod export;
mod failure;
mod find;
mod input;
mod interrupt;
mod list;
mod long_table;
mod lookup;
mod marks;
mod merge;
mod new;
mod open;
mod output;
pub mod prelude;
mod progress;
mod pytest;
mod ranks;
mod replay;
mod report;
mod run;
mod scene_files;
mod schema;
mod settings;
mod shell;
mod stats;
mod table;
mod threads;
mod trace;
mod tui;
mod verify;
mod view;

use std::process::ExitCode;
use std::sync::Arc;

use argus_scene::{Registry, Scene};
use clap::Parser;

use crate::cli::{Cli, Command};
use crate::failure::Failure;

/// Runs the command that was typed, and says how it ended.
///
/// These are the scenes that commands know by name. A crate with scenes of its own makes its own tool:
///
/// ```no_run
/// # fn my_scene() -> argus_scene::Scene { argus_scene::Scene::new("mine", "a scene of this crate") }
/// fn main() -> std::process::ExitCode {
///     argus::main([my_scene()])
/// }
/// ```
pub fn main(scenes: impl IntoIterator<Item = Scene>) -> ExitCode {
    argus_signals::install();
    argus_runtime::silence_panics_of_kernels();
    threads::start();
    let mut registry = match Registry::new(scenes) {
        Ok(registry) => registry,
        Err(error) => return output::failed(&Failure::usage(error), false),
    };
    let parsed = Cli::try_parse_from(pytest::mark(std::env::args_os()));
    let cxx = parsed.as_ref().ok().and_then(|cli| cli.cxx.as_deref());
    if let Err(failure) = scene_files::add(&mut registry, cxx) {
        return output::failed(&failure, false);
    }
    // A shell that asks for completions knows nothing of our arguments.
    shell::answer(&registry);
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => return output::not_understood(&error),
    };
    let json = cli.command.json();
    let registry = Arc::new(registry);
    let ended = settings::set(&cli.common).and_then(|()| command(&cli.command, &registry));
    ended.unwrap_or_else(|failure| output::failed(&failure, json))
}

fn command(command: &Command, registry: &Arc<Registry>) -> Result<ExitCode, Failure> {
    match command {
        Command::List(args) => list::list(args, registry),
        Command::New(args) => new::new(args),
        Command::Run(args) => run_scene(args, registry),
        Command::View(args) => view::view(args),
        Command::Tui(args) => tui::tui(args),
        Command::Open(args) => open::open(args, registry),
        Command::Stats(args) => stats::stats(args),
        Command::Verify(args) => verify::verify(args),
        Command::Export(args) => export::export(args),
        Command::Convert(args) => export::convert(args),
        Command::Find(args) => find::find(args, registry),
        Command::Diff(args) => find::diff(args),
        Command::Merge(args) => merge::merge(args),
        Command::Replay(args) => replay::replay(args, registry),
        Command::Trace(args) => trace::trace(args, registry),
        Command::Pytest(args) => pytest::pytest(args),
        Command::Dumps(args) => dumps::dumps(args),
        Command::Doctor(args) => doctor::doctor(args, registry),
        Command::Completions(args) => shell::completions(args),
        Command::Man(args) => shell::man(args),
    }
}

fn run_scene(args: &cli::RunArgs, registry: &Registry) -> Result<ExitCode, Failure> {
    let summary = run::run(args, registry)?;
    report::keep_verdicts(&summary);
    if args.json {
        output::print_json(&report::json(&summary))?;
    } else {
        output::print(&report::text(&summary))?;
    }
    Ok(if summary.played.passed() { ExitCode::SUCCESS } else { ExitCode::from(failure::FAILED) })
}
