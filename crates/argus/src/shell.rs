//! What shells need: completions that know scenes, cases and kernels, and manual pages.
//!
//! A shell asks the tool itself what may come next, through the variable `COMPLETE`; the script that `argus
//! completions` prints tells it so.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use argus_dump::read::{Dump, Holds};
use argus_scene::{Registry, Scene};
use clap::{Command, CommandFactory};
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::Shells;

use crate::cli::{Cli, CompletionsArgs, ManArgs};
use crate::failure::Failure;
use crate::output;
use crate::settings::settings;

/// The variable by which a shell asks.
const ASKED: &str = "COMPLETE";

/// Answers a shell that asks what may come next; then the process is done.
pub fn answer(registry: &Registry) {
    if std::env::var_os(ASKED).is_none() {
        return;
    }
    let scenes = registry.scenes().to_vec();
    CompleteEnv::with_factory(move || with_candidates(Cli::command(), &scenes)).var(ASKED).complete();
}

/// The command line with what its arguments may be.
fn with_candidates(mut command: Command, scenes: &[Arc<Scene>]) -> Command {
    let names = scenes.iter().map(|scene| (scene.name.clone(), scene.about.clone()));
    let names: Vec<(String, String)> = names.collect();
    let cases: Vec<(String, String)> = scenes
        .iter()
        .flat_map(|scene| scene.cases.iter().map(|case| (case.name.clone(), scene.name.clone())))
        .collect();
    let subcommands: Vec<String> =
        command.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    for subcommand in subcommands {
        let (names, cases) = (names.clone(), cases.clone());
        command = command.mut_subcommand(subcommand, move |command| {
            let known: Vec<String> = command.get_arguments().map(|arg| arg.get_id().to_string()).collect();
            known.iter().fold(command, |command, id| match id.as_str() {
                "scene" => command.mut_arg(id, |arg| arg.add(ArgValueCandidates::new(listed(names.clone())))),
                "case" => {
                    command.mut_arg(id, |arg| arg.add(ArgValueCandidates::new(of_scene(cases.clone()))))
                }
                "kernel" => command.mut_arg(id, |arg| arg.add(ArgValueCandidates::new(kernels))),
                _ => command,
            })
        });
    }
    command
}

fn listed(all: Vec<(String, String)>) -> impl Fn() -> Vec<CompletionCandidate> + Send + Sync + 'static {
    move || all.iter().map(|(name, about)| candidate(name, about)).collect()
}

/// The cases of the scene on the line; those of every scene where none is there.
fn of_scene(all: Vec<(String, String)>) -> impl Fn() -> Vec<CompletionCandidate> + Send + Sync + 'static {
    move || {
        let words: Vec<String> = std::env::args().collect();
        let named = |scene: &String| words.contains(scene);
        let any = all.iter().any(|(_, scene)| named(scene));
        let fitting = all.iter().filter(|(_, scene)| !any || named(scene));
        fitting.map(|(case, scene)| candidate(case, scene)).collect()
    }
}

/// The kernels of the dump on the line, or of the newest.
fn kernels() -> Vec<CompletionCandidate> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let named =
        words.iter().rev().map(Path::new).filter(|path| path.is_dir()).find_map(|path| Dump::open(path).ok());
    let newest = || Dump::open(&Dump::newest(&settings().outputs, Holds::Records).ok()?).ok();
    let Some(dump) = named.or_else(newest) else { return Vec::new() };
    let Some(graph) = dump.graph() else { return Vec::new() };
    graph.kernels.iter().map(|kernel| CompletionCandidate::new(kernel.name.clone())).collect()
}

fn candidate(name: &str, about: &str) -> CompletionCandidate {
    CompletionCandidate::new(name).help(Some(about.to_owned().into()))
}

/// `argus completions SHELL`: the script that makes a shell ask.
pub fn completions(args: &CompletionsArgs) -> Result<ExitCode, Failure> {
    let shells = Shells::builtins();
    let shell = shells.completer(args.shell.name()).expect("each shell of the list is built in");
    let mut script = Vec::new();
    shell.write_registration(ASKED, "argus", "argus", "argus", &mut script).map_err(Failure::failed)?;
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

/// `argus man DIR`: one page for the tool and one for each command.
pub fn man(args: &ManArgs) -> Result<ExitCode, Failure> {
    let directory = &args.directory;
    std::fs::create_dir_all(directory).map_err(Failure::failed)?;
    let mut command = Cli::command();
    command.build();
    let mut pages = vec![("argus.1".to_owned(), command.clone())];
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help") {
        let name = format!("argus-{}", sub.get_name());
        pages.push((format!("{name}.1"), sub.clone()));
    }
    for (file, _) in &pages {
        output::check_file(&directory.join(file), args.force)?;
    }
    for (file, command) in &pages {
        let mut page = Vec::new();
        clap_mangen::Man::new(command.clone()).render(&mut page).map_err(Failure::failed)?;
        argus_files::write(&directory.join(file), &page, false).map_err(Failure::failed)?;
    }
    output::print(&format!("{} in {}\n", output::counted(pages.len() as u64, "page"), directory.display()))?;
    Ok(ExitCode::SUCCESS)
}
