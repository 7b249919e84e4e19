//! The report of a run that stood still or failed.

use argus_abi::TaskId;
use argus_facts::{Stall, StallClass};

use super::{RunLog, fields};

/// What a scheduler said when it gave up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StallReport {
    pub stall: Stall,
    /// Turns without progress, where the device's own line is in the log.
    pub idle_iterations: Option<u64>,
    pub thread: Option<u32>,
    /// What the device said of single tasks of that moment; the lists are cut by the device.
    pub tasks: Vec<StalledTask>,
}

/// One task in the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StalledTask {
    pub id: TaskId,
    /// `RUNNING`, `READY` or `WAIT`.
    pub state: String,
    pub missing: Option<u64>,
    /// Where it runs, as the device wrote it.
    pub running_on: Option<String>,
}

/// How the run ended, in the words of the host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFailure {
    pub orchestrator_code: i64,
    pub scheduler_code: i64,
    pub status: i64,
    /// The code's name and sentence.
    pub detail: Option<String>,
    pub hint: Option<String>,
}

/// Takes what a line says about a failure.
pub(super) fn take(line: &str, log: &mut RunLog) {
    if let Some(at) = line.find("orch_error_code=").filter(|_| line.contains("sched_error_code=")) {
        let number = |wanted: &str| fields(&line[at..]).find(|(key, _)| *key == wanted)?.1.parse().ok();
        if let (Some(orchestrator_code), Some(scheduler_code), Some(status)) =
            (number("orch_error_code"), number("sched_error_code"), number("runtime_status"))
        {
            let failure = log.failure.get_or_insert_default();
            (failure.orchestrator_code, failure.scheduler_code, failure.status) =
                (orchestrator_code, scheduler_code, status);
        } else {
            log.unreadable += 1;
        }
    }
    if let (Some((_, detail)), Some(failure)) = (line.split_once("error detail: "), &mut log.failure) {
        failure.detail.get_or_insert_with(|| detail.trim().to_owned());
    }
    if let (Some((_, hint)), Some(failure)) = (line.split_once("error hint: "), &mut log.failure) {
        failure.hint.get_or_insert_with(|| hint.trim().to_owned());
    }
    if line.contains("sub_class=") && (line.contains("completed=")) {
        match stall(line) {
            // Only the first thread's verdict counts; the host repeats it.
            Some(report) if log.stall.is_none() => log.stall = Some(report),
            Some(_) => {}
            None => log.unreadable += 1,
        }
    }
    if line.contains("[STALL") && line.contains("] TASK ") {
        // Lines of earlier looks at the same run are older than its end: the last of each task counts.
        match (task(line), &mut log.stall) {
            (Some(task), Some(report)) => {
                report.tasks.retain(|known| known.id != task.id);
                report.tasks.push(task);
            }
            (Some(_), None) => {}
            (None, _) => log.unreadable += 1,
        }
    }
}

fn stall(line: &str) -> Option<StallReport> {
    let at = line.find("sub_class=")?;
    let find = |wanted: &str| fields(&line[at..]).find(|(key, _)| *key == wanted).map(|(_, value)| value);
    let class = StallClass::from_name(find("sub_class")?)?;
    let (completed, submitted) = find("completed")?.split_once('/')?;
    let task: i64 = find("stuck_task_id")?.parse().ok().or_else(|| {
        // Ids of Graph tasks since September do not fit a signed number.
        find("stuck_task_id")?.parse::<u64>().ok().map(|id| id as i64)
    })?;
    let core: i64 = find("stuck_core")?.parse().ok()?;
    let bracket = line.find("[STALL").map(|at| &line[at + 1..]);
    let in_bracket = |wanted: &str| {
        let inside = bracket?.split(']').next()?;
        fields(inside).find(|(key, _)| *key == wanted)?.1.parse::<u64>().ok()
    };
    Some(StallReport {
        stall: Stall {
            class,
            completed: completed.parse().ok()?,
            submitted: submitted.parse().ok()?,
            running: find("running")?.parse().ok()?,
            ready: find("ready")?.parse().ok()?,
            waiting: find("waiting")?.parse().ok()?,
            orchestrator_done: find("orch_done")? == "1",
            task: (task != -1).then(|| TaskId::from_raw(task as u64)),
            core: u32::try_from(core).ok(),
        },
        idle_iterations: in_bracket("idle_iterations"),
        thread: in_bracket("thread").and_then(|thread| u32::try_from(thread).ok()),
        tasks: Vec::new(),
    })
}

fn task(line: &str) -> Option<StalledTask> {
    let (_, behind) = line.split_once("] TASK ")?;
    let find = |wanted: &str| fields(behind).find(|(key, _)| *key == wanted).map(|(_, value)| value);
    let running =
        behind.split_once("running_on=[").map(|(_, inside)| inside.trim_end_matches(']').to_owned());
    Some(StalledTask {
        id: TaskId::from_raw(find("task_id")?.parse().ok()?),
        state: find("state")?.to_owned(),
        missing: find("missing_deps").and_then(|number| number.parse().ok()),
        running_on: running,
    })
}
