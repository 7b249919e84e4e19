//! `argus replay`: one task alone, with its captured bytes.
//!
//! | file | subject |
//! |---|---|
//! | `text` | the report for people |
//! | `json` | the report for programs |
//! | `debugger` | the task under gdb or lldb, instead of a replay |
//! | `hints` | what would help, in flags |
//! | `workspace` | the task as a C++ project, instead of a replay |

mod debugger;
mod hints;
mod json;
mod text;
mod workspace;

pub use hints::cannot_replay;
pub use text::facts;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::anyhow;
use argus_dump_scene::Source;
use argus_replay::{Capsule, Options, Probe, Proof, Watch};
use argus_scene::Registry;

use crate::cli::{ReplayArgs, TaskArgs};
use crate::failure::{FAILED, Failure};
use crate::{lookup, output};

/// How long a task may stand still whose kernels were compiled for a debugger: as long as a person thinks.
const PATIENCE: Duration = Duration::from_secs(7 * 24 * 3600);

/// What a replay has to tell.
pub struct Report<'a> {
    pub source: &'a Source,
    pub proof: &'a Proof,
    pub capsule: Option<&'a std::path::Path>,
    /// The options that a command on the same task needs again.
    pub repeat: &'a str,
}

/// The task may run code that crashes: that is then said with its place, like any other failure of a kernel.
pub fn guard() -> Result<(), Failure> {
    argus_child::guard().map_err(|error| Failure::failed(anyhow!(error).context("cannot watch for crashes")))
}

pub fn replay(args: &ReplayArgs, registry: &Registry) -> Result<ExitCode, Failure> {
    if let Some(directory) = &args.workspace.workspace {
        return workspace::workspace(args, directory, registry);
    }
    if args.times == 0 {
        return Err(Failure::usage(anyhow!("--times is 0; at least 1 is needed")));
    }
    if let Some(debugger) = args.debugger.chosen() {
        return debugger::start(debugger, args, registry);
    }
    let options = options(args)?;
    if let Some(path) = &args.capsule {
        output::check_file(path, args.workspace.force)?;
    }
    let what = args.what.as_deref();
    let source = match args.debugger.debug_build {
        // The debugger is the one to meet a crash.
        true => lookup::open_for_debugger(what, &args.task, registry)?,
        false => {
            guard()?;
            lookup::open(what, &args.task, registry)?
        }
    };
    if let Some(path) = &args.capsule {
        let capsule = Capsule::new(source.task.clone()).map_err(cannot_replay)?;
        capsule.save(path).map_err(Failure::failed)?;
    }
    let kernels = &source.code.kernels;
    let proof = argus_replay::replay(&source.task, kernels, source.chip, &options, args.times)
        .map_err(cannot_replay)?;
    if !proof.outcome.silent.is_empty() {
        let silent: Vec<String> = proof.outcome.silent.iter().map(ToString::to_string).collect();
        return Err(Failure::usage(anyhow!("{}", silent.join("; "))));
    }
    let repeat = repeat(&args.task);
    let report = Report { source: &source, proof: &proof, capsule: args.capsule.as_deref(), repeat: &repeat };
    if args.json {
        output::print_json(&json::object(&report))?;
    } else {
        output::print(&text::text(&report))?;
    }
    Ok(if proof.passed() { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}

/// What was typed beside the task itself.
fn repeat(args: &TaskArgs) -> String {
    let options = [
        ("scene", args.scene.clone()),
        ("case", args.case.clone()),
        ("runtime", args.runtime.clone()),
        ("platform", args.platform.clone()),
        ("arg-spec", args.arg_spec.as_ref().map(|path| path.display().to_string())),
    ];
    let given =
        options.into_iter().filter_map(|(name, value)| value.map(|value| format!(" --{name} {value}")));
    given.chain(args.set_arg.iter().map(|set| format!(" --set-arg {set}"))).collect()
}

fn options(args: &ReplayArgs) -> Result<Options, Failure> {
    let mut options = Options {
        watches: args
            .watch
            .iter()
            .map(|text| Watch::parse(text))
            .collect::<Result<_, _>>()
            .map_err(cannot_replay)?,
        probes: args
            .probe
            .iter()
            .map(|text| Probe::parse(text))
            .collect::<Result<_, _>>()
            .map_err(cannot_replay)?,
        break_on_nan: args.break_on.is_some(),
        ..Options::default()
    };
    if let Some(seconds) = args.task.timeout {
        options.timeout = crate::run::timeout(seconds)?;
    } else if args.debugger.debug_build {
        options.timeout = PATIENCE;
    }
    Ok(options)
}
