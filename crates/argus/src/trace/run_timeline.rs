//! From the times of a run to a file for Perfetto: which core ran which task when, and what waited.
//!
//! | file | subject |
//! |---|---|
//! | this one | times of a dump of ours |
//! | `recorded` | swimlane records of the reference |
//! | `model` | the model of one task, beside the real times |

mod model;
mod recorded;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::anyhow;
use argus_artefacts::directory::Kind;
use argus_dump::read::{Ending, FormatVersion};
use argus_runs::Capture;
use argus_runs::timeline::{of_recorded, of_times};
use argus_scene::Registry;
use argus_trace::{RunModel, RunTimeline};
use serde_json::json;

use self::model::Modelled;
use crate::cli::TraceArgs;
use crate::failure::Failure;
use crate::marks::NOTE;
use crate::output;
use crate::schema;

/// A file that a timeline goes to; its name was checked.
#[derive(Clone, Debug)]
pub struct Target {
    path: PathBuf,
    native: bool,
}

impl Target {
    /// What exists is replaced if `force` says so; whether the file can be written is found now.
    pub fn new(path: &Path, force: bool) -> Result<Target, Failure> {
        let native = match path.extension().and_then(|ending| ending.to_str()) {
            Some("pftrace") => true,
            Some("json") => false,
            _ => {
                let path = path.display();
                return Err(Failure::usage(anyhow!("'{path}' is not a name for the timeline of a run"))
                    .hint("name it FILE.pftrace, Perfetto's own format, or FILE.json, Chrome's".to_owned()));
            }
        };
        output::check_file(path, force)?;
        Ok(Target { path: path.to_owned(), native })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn write(&self, timeline: &RunTimeline, models: &[RunModel<'_>]) -> Result<(), Failure> {
        let written = match self.native {
            true => timeline.write_pftrace(&self.path, models),
            false => timeline.write_json(&self.path, models),
        };
        written.map_err(Failure::failed)
    }
}

/// Whether a path is named as the timeline of a run is, and not as the directory of a task's trace.
pub fn is_target(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "pftrace" || ending == "json")
}

/// Draws the run that a capture is of: the times of its dump, or those that lie beside it. A task that was traced is
/// drawn below the run, from the moment at which it began.
pub fn of_capture(
    capture: &Capture,
    output: Option<&Path>,
    force: bool,
    json: bool,
    task: Option<(&TraceArgs, &Registry)>,
) -> Result<ExitCode, Failure> {
    let target = Target::new(output.unwrap_or(Path::new("run.pftrace")), force)?;
    let dump = &capture.dump;
    let times = dump.times().map_err(Failure::usage)?;
    if let (None, Some(beside)) = (&times, &capture.artefacts.times) {
        let timeline = of_recorded(capture, beside);
        let model = model::write(&target, &timeline, task)?;
        return recorded::tell(beside, &timeline, &target, json, model.as_ref());
    }
    let times = times.ok_or_else(|| {
        let directory = dump.directory().display();
        Failure::usage(anyhow!("{directory} does not tell when its tasks ran: {}", why_not(capture)))
            .hint(format!("for one task: argus trace {directory} --task ID"))
    })?;
    let edges = dump.graph().map_or(&[][..], |graph| &graph.edges);
    let timeline = of_times(&times, edges, &|func| dump.kernel_name(func as i32).map(str::to_owned));
    let model = model::write(&target, &timeline, task)?;
    let cores = times.cores.len();
    let parts: usize = times.cores.iter().map(|core| core.parts.len()).sum();
    let waits: usize = times.control_threads.iter().map(Vec::len).sum();
    if json {
        output::print_json(&json!({
            "schema": schema::TIMELINE,
            "file": target.path.display().to_string(),
            "cores": cores,
            "kernel_calls": parts,
            "capture_waits": waits,
            "dependencies": timeline.edges.len(),
            "model": model.as_ref().map(Modelled::object),
        }))?;
    } else {
        output::print(&format!(
            "{parts} kernel calls on {cores} cores, {waits} waits of the capture, {} dependencies; times of the machine that \
             simulated\n{}{NOTE}written:{NOTE:#} {} (Perfetto opens it)\n",
            timeline.edges.len(),
            model.as_ref().map(Modelled::text).unwrap_or_default(),
            target.path.display(),
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn why_not(capture: &Capture) -> String {
    if let Some(sentence) = capture.artefacts.not_used(Kind::Times) {
        return sentence;
    }
    match (capture.dump.format_version(), capture.dump.ending()) {
        (FormatVersion::Argus, Ending::Unfinished { .. }) => "its run did not come to an end",
        (FormatVersion::Argus, _) => "it was made out of another dump, or without a clock",
        _ => "no swimlane records lie beside the dump",
    }
    .to_owned()
}
