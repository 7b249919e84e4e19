//! `argus replay`: one task alone, with its captured bytes.
//!
//! | file | subject |
//! |---|---|
//! | `source` | from what was typed to a task and the code it runs |
//! | `text` | the report for people |
//! | `json` | the report for programs |
//! | `hints` | what would help, in flags |
//! | `workspace` | the task as a C++ project, instead of a replay |

mod hints;
mod json;
pub mod source;
mod text;
mod workspace;

pub use hints::cannot_replay;
pub use text::facts;

use std::process::ExitCode;

use anyhow::anyhow;
use argus_replay::{Capsule, Options, Probe, Proof, Watch};
use argus_scene::Registry;

use crate::cli::{ReplayArgs, TaskArgs};
use crate::failure::{FAILED, Failure};
use crate::output;
use source::Source;

/// What a replay has to tell.
pub struct Report<'a> {
    pub source: &'a Source,
    pub proof: &'a Proof,
    pub capsule: Option<&'a std::path::Path>,
    /// The options that a command on the same task needs again.
    pub repeat: &'a str,
}

pub fn replay(args: &ReplayArgs, registry: &Registry) -> Result<ExitCode, Failure> {
    if let Some(directory) = &args.workspace.workspace {
        return workspace::workspace(args, directory, registry);
    }
    if args.times == 0 {
        return Err(Failure::usage(anyhow!("--times is 0; at least 1 is needed")));
    }
    let options = options(args)?;
    if let Some(path) = &args.capsule {
        output::check_file(path, args.workspace.force)?;
    }
    let source = source::open(args.what.as_deref(), &args.task, registry)?;
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
    }
    Ok(options)
}
