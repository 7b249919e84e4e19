//! `argus trace`: a task instruction by instruction, or a run task by task.
//!
//! | file | subject |
//! |---|---|
//! | `task` | from a replayed task to its timeline and its files |
//! | `text` | the summary for people |
//! | `run_timeline` | from the times of a run to a file for Perfetto |

pub mod run_timeline;
mod task;
mod text;

use argus_scene::Registry;
use std::path::Path;
use std::process::ExitCode;

use anyhow::anyhow;
use argus_runs::capture::Wanted;
use serde_json::json;

use crate::cli::{TaskArgs, TraceArgs};
use crate::failure::Failure;
use crate::input;
use crate::marks::GOOD;
use crate::output::{self, counted};
use crate::schema;

pub fn trace(args: &TraceArgs, registry: &Registry) -> Result<ExitCode, Failure> {
    if let Some(directory) = &args.check {
        return check(directory, args.json);
    }
    if names_a_task(args) {
        // A file that Perfetto opens is of the run: the task is drawn in it, beside its real times.
        let path = args.what.as_deref().map(Path::new);
        let in_run = args.output.as_deref().is_some_and(run_timeline::is_target)
            && args.task.arg_spec.is_none()
            && path.is_none_or(|path| path.exists() && !argus_replay::Capsule::is_one(path));
        if in_run {
            let capture = input::capture(path, Wanted::All)?;
            let (output, task) = (args.output.as_deref(), Some((args, registry)));
            return run_timeline::of_capture(&capture, output, args.force, args.json, task);
        }
        return task::trace(args, registry);
    }
    if let Some(flag) = flag_of_a_task(args) {
        return Err(Failure::usage(anyhow!("{flag} is about one task, and none is named"))
            .hint("name a task with --task ID, --kernel NAME or --func-id N".to_owned()));
    }
    let capture = input::capture(args.what.as_deref().map(Path::new), Wanted::WithoutDump)?;
    run_timeline::of_capture(&capture, args.output.as_deref(), args.force, args.json, None)
}

/// A scene and a capsule mean a task even if none is named: they are not the dump of a run.
fn names_a_task(args: &TraceArgs) -> bool {
    let TaskArgs { task, kernel, func_id, arg_spec, .. } = &args.task;
    let selected = task.is_some() || kernel.is_some() || !func_id.is_empty() || arg_spec.is_some();
    let path = args.what.as_deref().map(Path::new);
    selected || path.is_some_and(|path| !path.exists() || argus_replay::Capsule::is_one(path))
}

/// A flag that was given and means nothing for a whole run.
fn flag_of_a_task(args: &TraceArgs) -> Option<&'static str> {
    let TaskArgs { nth, scene, case, runtime, platform, set_arg, timeout, .. } = &args.task;
    let given = [
        ("--timing", args.timing.is_some()),
        ("--max-instructions", args.max_instructions.is_some()),
        ("--nth", *nth > 0),
        ("--scene", scene.is_some()),
        ("--case", case.is_some()),
        ("--runtime", runtime.is_some()),
        ("--platform", platform.is_some()),
        ("--set-arg", !set_arg.is_empty()),
        ("--timeout", timeout.is_some()),
    ];
    given.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
}

fn check(directory: &Path, json: bool) -> Result<ExitCode, Failure> {
    let report = argus_trace::check(directory).map_err(|error| match error {
        argus_trace::CheckError::Read { .. } => Failure::usage(error)
            .hint("name the directory that `argus trace -o DIR` wrote, or DIR/simulator".to_owned()),
        argus_trace::CheckError::Invalid { .. } => Failure::failed(error),
    })?;
    if json {
        output::print_json(&json!({
            "schema": schema::CHECK,
            "verdict": "valid",
            "cores": report.cores,
            "tracks": report.tracks,
            "slices": report.slices,
            "flows": report.flows,
            "unpaired_flags": report.unpaired_flags,
            "addresses": report.addresses,
            "sources": report.sources,
            "trace_blocks": report.trace_blocks,
            "perfetto_slices": report.native_slices,
        }))?;
    } else {
        output::print(&format!(
            "{GOOD}VALID{GOOD:#}  {}, {}, {}, {}, {}, {}; {} without a wait\n",
            counted(report.cores.len() as u64, "core"),
            counted(report.tracks as u64, "track"),
            counted(report.slices as u64, "slice"),
            counted(report.flows as u64, "flow"),
            counted(report.addresses as u64, "address"),
            counted(report.sources as u64, "source file"),
            counted(report.unpaired_flags as u64, "flag"),
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}
