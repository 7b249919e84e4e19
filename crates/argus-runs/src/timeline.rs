//! The times of a run as tracks: which core ran which task when, and what waited.
//!
//! | file | subject |
//! |---|---|
//! | this one | the times of a dump of ours |
//! | `recorded` | swimlane records beside a dump of the reference |

mod recorded;

use std::collections::BTreeMap;
use std::sync::Arc;

use argus_abi::{Member, Stage, TaskId};
use argus_dump::read::TimesError;
use argus_facts::{CaptureWait, CoreTimes, Edge, RunTimes};
use argus_trace::{RunTask, RunTimeline, RunTrack, RunWait};

use crate::Capture;

pub use recorded::timeline as of_recorded;

/// The timeline of a capture: by the times of its dump, or by those that lie beside it. `None` if there are neither.
pub fn of_capture(capture: &Capture) -> Result<Option<RunTimeline>, TimesError> {
    let dump = &capture.dump;
    let Some(times) = dump.times()? else {
        return Ok(capture.artefacts.times.as_ref().map(|beside| of_recorded(capture, beside)));
    };
    let edges = dump.graph().map_or(&[][..], |graph| &graph.edges);
    Ok(Some(of_times(&times, edges, &|func| dump.kernel_name(func as i32).map(str::to_owned))))
}

/// Everything that was written down, as tracks. `name` knows the kernels.
pub fn of_times(times: &RunTimes, edges: &[Edge], name: &dyn Fn(u32) -> Option<String>) -> RunTimeline {
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
        let drawn = of_times(&times, &[edge], &|func| (func == 0).then(|| "ADD".to_owned()));
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
