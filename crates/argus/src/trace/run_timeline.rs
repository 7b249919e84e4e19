//! From the times of a run to a file for Perfetto: which core ran which task when, and what waited.
//!
//! | file | subject |
//! |---|---|
//! | this one | times of a dump of ours |
//! | `recorded` | swimlane records of the reference |
//! | `model` | the model of one task, beside the real times |

mod model;
mod recorded;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::anyhow;
use argus_abi::{Member, Stage, TaskId};
use argus_dump::read::Dump;
use argus_facts::{CaptureWait, CoreTimes, Edge, RunTimes};
use argus_runs::Capture;
use argus_scene::Registry;
use argus_trace::{RunModel, RunTask, RunTimeline, RunTrack, RunWait};
use serde_json::json;

use self::model::Modelled;
use crate::cli::TraceArgs;
use crate::failure::Failure;
use crate::output::{self, NOTE};
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
        let timeline = recorded::timeline(capture, beside);
        let model = model::write(&target, &timeline, task)?;
        return recorded::tell(beside, &timeline, &target, json, model.as_ref());
    }
    let times = times.ok_or_else(|| {
        let directory = dump.directory().display();
        Failure::usage(anyhow!("{directory} does not tell when its tasks ran: {}", why_not(dump)))
            .hint(format!("for one task: argus trace {directory} --task ID"))
    })?;
    let edges = dump.graph().map_or(&[][..], |graph| &graph.edges);
    let timeline = timeline(&times, edges, &|func| dump.kernel_name(func as i32).map(str::to_owned));
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

fn why_not(dump: &Dump) -> &'static str {
    match (dump.format_version(), dump.ending()) {
        (argus_dump::read::FormatVersion::Argus, argus_dump::read::Ending::Unfinished { .. }) => {
            "its run did not come to an end"
        }
        (argus_dump::read::FormatVersion::Argus, _) => "it was made out of another dump, or without a clock",
        _ => "no swimlane records lie beside the dump",
    }
}

/// Everything that was written down, as tracks. `name` knows the kernels.
pub fn timeline(times: &RunTimes, edges: &[Edge], name: &dyn Fn(u32) -> Option<String>) -> RunTimeline {
    let kernel = |func: u32| name(func).unwrap_or_else(|| format!("func_id {func}"));
    let mut names: BTreeMap<u32, Arc<str>> = BTreeMap::new();
    let mut of_task: BTreeMap<TaskId, u32> = BTreeMap::new();
    for part in times.cores.iter().flat_map(|core| &core.parts) {
        names.entry(part.func.0).or_insert_with(|| kernel(part.func.0).into());
        of_task.entry(part.task).or_insert(part.func.0);
    }
    let name_of = |task: TaskId| of_task.get(&task).map_or("a task", |func| &*names[func]);
    let threads = (times.control_threads.iter().enumerate()).map(|(number, waits)| RunTrack {
        group: "control threads".into(),
        name: format!("scheduler {number}"),
        tasks: Vec::new(),
        waits: waits.iter().map(|wait| capture_wait(wait, name_of(wait.task))).collect(),
    });
    let mut cores: Vec<&CoreTimes> = times.cores.iter().collect();
    cores.sort_by_key(|core| (core.cluster, core.member));
    let cores = cores.into_iter().map(|core| track(core, &names));
    RunTimeline { tracks: threads.chain(cores).collect(), edges: edges.to_vec() }
}

fn track(core: &CoreTimes, names: &BTreeMap<u32, Arc<str>>) -> RunTrack {
    let member = match core.member {
        Member::Aic => "aic",
        Member::Aiv0 => "aiv0",
        Member::Aiv1 => "aiv1",
    };
    let mut waits = Vec::new();
    let mut free_since = 0;
    let reason: Arc<str> = "waits for a thread".into();
    for part in &core.parts {
        // Given to an idle core and not begun yet; before that the core had nothing to do.
        let start_ns = part.posted_ns.max(free_since);
        if start_ns < part.started_ns {
            waits.push(RunWait { reason: reason.clone(), start_ns, end_ns: part.started_ns });
        }
        free_since = part.ended_ns;
    }
    let tasks = core.parts.iter().map(|part| RunTask {
        name: names[&part.func.0].clone(),
        id: part.task,
        block: Some(part.block),
        start_ns: part.started_ns,
        end_ns: part.ended_ns,
    });
    RunTrack {
        group: format!("cluster {}", core.cluster),
        name: format!("{member} (core {})", core.core),
        tasks: tasks.collect(),
        waits,
    }
}

fn capture_wait(wait: &CaptureWait, name: &str) -> RunWait {
    let what = match wait.stage {
        Stage::BeforeDispatch => "inputs",
        Stage::AfterCompletion => "outputs",
    };
    let reason = format!("no room to capture {what} of {name}").into();
    RunWait { reason, start_ns: wait.started_ns, end_ns: wait.ended_ns }
}

#[cfg(test)]
mod tests {
    use argus_abi::{FuncId, TaskId};
    use argus_facts::PartTime;

    use super::*;

    #[test]
    fn waits_are_drawn_where_they_were() {
        let part = |task, func, posted_ns, started_ns, ended_ns| PartTime {
            task: TaskId::from_raw(task),
            func: FuncId(func),
            block: 0,
            posted_ns,
            started_ns,
            ended_ns,
        };
        // The second was given to the core while the first still ran.
        let parts = vec![part(1, 0, 10, 15, 40), part(2, 9, 20, 50, 60)];
        let wait = CaptureWait {
            task: TaskId::from_raw(1),
            stage: Stage::AfterCompletion,
            started_ns: 41,
            ended_ns: 47,
        };
        let times = RunTimes {
            cores: vec![CoreTimes { core: 4, cluster: 1, member: Member::Aiv1, parts }],
            control_threads: vec![vec![wait]],
        };
        let edge = Edge {
            from: TaskId::from_raw(1),
            to: TaskId::from_raw(2),
            reason: argus_abi::EdgeReason::Overlap,
        };
        let drawn = timeline(&times, &[edge], &|func| (func == 0).then(|| "ADD".to_owned()));
        let [thread, core] = &drawn.tracks[..] else { panic!("{drawn:?}") };
        let told = |wait: &RunWait| (wait.reason.to_string(), wait.start_ns, wait.end_ns);
        let waits = |track: &RunTrack| track.waits.iter().map(told).collect::<Vec<_>>();
        assert_eq!((thread.group.as_str(), thread.name.as_str()), ("control threads", "scheduler 0"));
        assert_eq!(waits(thread), [("no room to capture outputs of ADD".into(), 41, 47)]);
        assert_eq!((core.group.as_str(), core.name.as_str()), ("cluster 1", "aiv1 (core 4)"));
        let idle = "waits for a thread".to_owned();
        assert_eq!(waits(core), [(idle.clone(), 10, 15), (idle, 40, 50)]);
        let tasks: Vec<_> = core.tasks.iter().map(|task| (&*task.name, task.start_ns, task.end_ns)).collect();
        assert_eq!(tasks, [("ADD", 15, 40), ("func_id 9", 50, 60)]);
        assert_eq!(drawn.edges, [edge]);
    }
}
