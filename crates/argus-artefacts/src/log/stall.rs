//! The report of a run that stood still or failed.

use argus_abi::TaskId;
use argus_facts::{Stall, StallClass};

use super::{RunLog, codes, fields};

/// What a scheduler said when it gave up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StallReport {
    /// `None`: the log is of a time, or of a runtime, that gives up without saying why.
    pub stall: Option<Stall>,
    /// Turns without progress, where the device's own line is in the log.
    pub idle_iterations: Option<u64>,
    pub thread: Option<u32>,
    /// What the device said of single tasks of that moment; the lists are cut by the device.
    pub tasks: Vec<StalledTask>,
    /// What each cluster did at that moment, as the device wrote it; at most eight for each thread.
    pub clusters: Vec<String>,
    /// Counts of all tasks, as the device wrote them.
    pub summary: Option<String>,
}

impl StallReport {
    /// The class, or that there is none.
    pub fn class_name(&self) -> &'static str {
        self.stall.map_or("no class told", |stall| stall.class.name())
    }

    /// What the class means, and where to look.
    pub fn meaning(&self) -> &'static str {
        self.stall.map_or(
            "a control thread gave up because nothing moved; this log does not say what the tasks waited for",
            |stall| stall.class.meaning(),
        )
    }
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

impl RunFailure {
    /// The code that says why, its name, and what it means.
    ///
    /// At most one of the two codes is set. A log that has neither has a status: the code with its sign turned, or a number
    /// of the driver.
    pub fn reason(&self) -> String {
        if let Some(detail) = &self.detail {
            return detail.clone();
        }
        let code = [self.orchestrator_code, self.scheduler_code, self.status.wrapping_neg()]
            .into_iter()
            .find(|&code| code != 0);
        let Some(code) = code else { return "it does not say why".to_owned() };
        if let Some((name, meaning)) = codes::explained(code) {
            return format!("code {code} {name}: {meaning}");
        }
        let status = if code == self.status.wrapping_neg() { self.status } else { code };
        match codes::of_driver(status.unsigned_abs()) {
            Some(meaning) => format!("status {status}: {meaning}"),
            None => format!("status {status}"),
        }
    }
}

/// Takes what a line says about a failure.
pub(super) fn take(line: &str, log: &mut RunLog) {
    if let Some(at) = line.find("orch_error_code=").filter(|_| line.contains("sched_error_code=")) {
        let number = |wanted: &str| number(&line[at..], wanted);
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
    // What Python says at the end; the lines of the runtime, where there are some, say more.
    if let Some((_, behind)) = line.split_once("failed with code ")
        && let Some(status) = leading_number(behind)
        && log.failure.is_none()
    {
        log.failure = Some(RunFailure { status, ..RunFailure::default() });
    }
    if let (Some((_, detail)), Some(failure)) = (line.split_once("error detail: "), &mut log.failure) {
        failure.detail.get_or_insert_with(|| detail.trim().to_owned());
    }
    if let (Some((_, hint)), Some(failure)) = (line.split_once("error hint: "), &mut log.failure) {
        failure.hint.get_or_insert_with(|| hint.trim().to_owned());
    }
    // `none` is what the host writes where no timeout was recorded.
    let classed =
        line.contains("sub_class=") && line.contains("completed=") && !line.contains("sub_class=none");
    if classed || line.contains("] TIMEOUT_EXIT ") {
        match report(line, classed) {
            // Only the first thread's verdict counts, and the host repeats it; a class is more than none.
            Some(report) => match &mut log.stall {
                Some(known) if known.stall.is_some() || report.stall.is_none() => {}
                Some(known) => known.stall = report.stall,
                None => log.stall = Some(report),
            },
            None => log.unreadable += 1,
        }
    }
    if let (Some(report), Some(at)) = (&mut log.stall, line.find("[STALL")) {
        let behind = line[at..].split_once("] ").map_or("", |(_, behind)| behind);
        if let Some(cluster) = behind.strip_prefix("CLUSTER ") {
            // The same cluster may be told at several moments: the last counts.
            let same = |known: &String| known.split(' ').next() == cluster.split(' ').next();
            report.clusters.retain(|known| !same(known));
            report.clusters.push(cluster.trim().to_owned());
        } else if let Some(summary) = behind.strip_prefix("SUMMARY ") {
            report.summary = Some(summary.trim().to_owned());
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

/// The number behind `key=`, whatever follows it on a line that two processes wrote to.
fn number(text: &str, key: &str) -> Option<i64> {
    fields(text).find(|(known, _)| *known == key).and_then(|(_, value)| leading_number(value))
}

fn leading_number(text: &str) -> Option<i64> {
    let sign = usize::from(text.starts_with('-'));
    let digits = text[sign..].find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len() - sign);
    text[..sign + digits].parse().ok()
}

fn report(line: &str, classed: bool) -> Option<StallReport> {
    let bracket = line.find("[STALL").map(|at| &line[at + 1..]);
    let in_bracket = |wanted: &str| {
        let inside = bracket?.split(']').next()?;
        fields(inside).find(|(key, _)| *key == wanted)?.1.parse::<u64>().ok()
    };
    Some(StallReport {
        stall: if classed { Some(stall(line)?) } else { None },
        idle_iterations: in_bracket("idle_iterations"),
        thread: in_bracket("thread").and_then(|thread| u32::try_from(thread).ok()),
        tasks: Vec::new(),
        clusters: Vec::new(),
        summary: None,
    })
}

fn stall(line: &str) -> Option<Stall> {
    let at = line.find("sub_class=")?;
    let find = |wanted: &str| fields(&line[at..]).find(|(key, _)| *key == wanted).map(|(_, value)| value);
    let class = StallClass::from_name(find("sub_class")?)?;
    let (completed, submitted) = find("completed")?.split_once('/')?;
    let task = find("stuck_task_id")?;
    // Ids of Graph tasks since September do not fit a signed number.
    let task = task.parse::<u64>().ok().or_else(|| task.parse::<i64>().ok().map(|id| id as u64))?;
    let core = leading_number(find("stuck_core")?)?;
    Some(Stall {
        class,
        completed: completed.parse().ok()?,
        submitted: submitted.parse().ok()?,
        running: find("running")?.parse().ok()?,
        ready: find("ready")?.parse().ok()?,
        waiting: find("waiting")?.parse().ok()?,
        orchestrator_done: find("orch_done")? == "1",
        task: (task != u64::MAX).then(|| TaskId::from_raw(task)),
        core: u32::try_from(core).ok(),
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
