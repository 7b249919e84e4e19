//! Is every argument of every task there, once, and in the order of time?

use argus_abi::args::MAX_ARGS;
use argus_abi::{Kind, Role, Stage, TaskId, TaskState};
use argus_facts::{Graph, TaskInfo};
use rayon::prelude::*;

use super::Checked;
use super::findings::{Findings, Severity};
use crate::read::{Dump, Ending, FormatVersion, Record};

pub(super) fn check(dump: &Dump, checked: &mut Checked, findings: &mut Findings) {
    let mut tasks = ByTask::new(dump).peekable();
    let Some(graph) = dump.own_graph() else {
        tasks.for_each(|records| duplicates(dump, &records, findings));
        return;
    };
    checked.tasks = graph.tasks.len() as u64;
    checked.edges = graph.edges.len() as u64;
    // Rings are emptied one after the other: a run that was killed may lack the end of a task that another waited for.
    times(graph, !matches!(dump.ending(), Ending::Unfinished { .. }), findings);
    let skips = Skips::in_dump(dump);
    let whole = is_whole(dump);
    for task in &graph.tasks {
        while let Some(other) = tasks.next_if(|records| records[0].task_id < task.id) {
            stray(dump, &other, findings);
        }
        let own = tasks.next_if(|records| records[0].task_id == task.id).unwrap_or_default();
        duplicates(dump, &own, findings);
        before_and_after(&own, findings);
        if whole {
            complete(dump, task, &own, &skips, findings);
        }
    }
    for other in tasks {
        stray(dump, &other, findings);
    }
}

/// The records of one task after the other, each sorted by stage and argument.
///
/// Records are in the order of tasks nearly always; a manifest that was changed may have others.
struct ByTask<'a> {
    dump: &'a Dump,
    /// Task and record, where they are not in order.
    sorted: Option<Vec<(TaskId, u32)>>,
    next: usize,
}

impl ByTask<'_> {
    fn new(dump: &Dump) -> ByTask<'_> {
        let ordered = dump.records().map(|record| record.task_id).is_sorted();
        let sorted = (!ordered).then(|| {
            let mut all: Vec<_> =
                (0..).zip(dump.records()).map(|(at, record)| (record.task_id, at)).collect();
            all.par_sort_unstable();
            all
        });
        ByTask { dump, sorted, next: 0 }
    }

    fn record(&self, place: usize) -> Option<Record> {
        let index = match &self.sorted {
            Some(sorted) => sorted.get(place)?.1 as usize,
            None => place,
        };
        (index < self.dump.len()).then(|| self.dump.record(index))
    }
}

impl Iterator for ByTask<'_> {
    type Item = Vec<Record>;

    fn next(&mut self) -> Option<Vec<Record>> {
        let mut records = vec![self.record(self.next)?];
        self.next += 1;
        while let Some(record) = self.record(self.next).filter(|next| next.task_id == records[0].task_id) {
            records.push(record);
            self.next += 1;
        }
        records.sort_by_key(identity);
        Some(records)
    }
}

/// What makes a record of a task one of a kind.
fn identity(record: &Record) -> (Stage, u32, Option<u8>, Kind) {
    (record.stage, record.arg_index, record.subtask, record.kind)
}

fn duplicates(dump: &Dump, records: &[Record], findings: &mut Findings) {
    for group in records.chunk_by(|a, b| identity(a) == identity(b)).filter(|group| group.len() > 1) {
        let Record { task_id, stage, arg_index, index, .. } = group[0];
        let told = format!("argument {arg_index} of task {task_id} is there {} times, {stage}", group.len());
        match dump.format_version() {
            FormatVersion::Argus => findings.defect("arguments recorded more than once", index, || told),
            // Its tasks of several blocks record their arguments once for each.
            _ => findings.warning("arguments recorded more than once", index, || {
                format!("{told}; the reference records tasks of several blocks once for each block")
            }),
        }
    }
}

/// Records of a task that the graph does not have.
fn stray(dump: &Dump, records: &[Record], findings: &mut Findings) {
    duplicates(dump, records, findings);
    // The entry of a task comes after those of its arguments.
    if matches!(dump.ending(), Ending::Complete) {
        let Record { task_id, index, .. } = records[0];
        findings
            .defect("records of unknown tasks", index, || format!("its task {task_id} is not in the graph"));
    }
}

/// The records of one task, sorted by stage and argument.
fn before_and_after(records: &[Record], findings: &mut Findings) {
    let (before, after) =
        records.split_at(records.partition_point(|record| record.stage == Stage::BeforeDispatch));
    for after in after {
        if let Ok(place) = before.binary_search_by_key(&after.arg_index, |before| before.arg_index)
            && let (Some(earlier), Some(later)) = (before[place].time_ns, after.time_ns)
            && earlier > later
        {
            findings.defect("records out of the order of time", after.index, || {
                format!("it was captured after completion at {later} ns, before dispatch at {earlier} ns")
            });
        }
    }
}

fn times(graph: &Graph, ended: bool, findings: &mut Findings) {
    let ran = |task: &TaskInfo| task.state == TaskState::Completed && task.dispatch_order.is_some();
    for task in graph.tasks.iter().filter(|task| ran(task)) {
        if task.dispatched_ns > task.finished_ns {
            findings.defect("tasks out of the order of time", None, || {
                format!(
                    "task {} was finished at {} ns and dispatched at {} ns",
                    task.id, task.finished_ns, task.dispatched_ns
                )
            });
        }
    }
    for edge in &graph.edges {
        let (Some(from), Some(to)) = (graph.task(edge.from), graph.task(edge.to)) else { continue };
        if to.dispatch_order.is_some()
            && (ended || from.state.is_done())
            && (!from.state.is_done() || from.finished_ns > to.dispatched_ns)
        {
            findings.defect("tasks that did not wait", None, || {
                format!(
                    "task {} was dispatched at {} ns, before task {} that it waits for was \
                     finished at {} ns",
                    to.id, to.dispatched_ns, from.id, from.finished_ns
                )
            });
        }
    }
}

/// Whether the run was asked to capture every argument.
fn is_whole(dump: &Dump) -> bool {
    dump.run()
        .is_some_and(|run| matches!(run.level.as_str(), "full" | "hybrid") && run.selectors().is_empty())
}

/// Tasks and arguments for which the dump says why they are missing.
struct Skips(Vec<(TaskId, Option<u32>)>);

impl Skips {
    fn in_dump(dump: &Dump) -> Skips {
        let mut skips: Vec<_> =
            dump.losses().skipped.iter().map(|skip| (skip.task_id, skip.arg_index)).collect();
        skips.sort_unstable();
        Skips(skips)
    }

    fn explains(&self, task: TaskId, arg: u32) -> bool {
        self.0.binary_search(&(task, None)).is_ok() || self.0.binary_search(&(task, Some(arg))).is_ok()
    }
}

/// Every argument of the task at every stage at which its role is captured.
fn complete(dump: &Dump, task: &TaskInfo, records: &[Record], skips: &Skips, findings: &mut Findings) {
    // A task without kernels moves no data; one that never ran has nothing to show.
    if task.func_ids.is_empty() || matches!(task.state, TaskState::Waiting | TaskState::Skipped) {
        return;
    }
    // What was lost on the way is counted, not named.
    let severity = match dump.ending() {
        Ending::Complete | Ending::Failed { .. } if dump.losses().dropped_records == 0 => Severity::Defect,
        _ => Severity::Warning,
    };
    let arguments = usize::from(task.tensors) + usize::from(task.scalars);
    if arguments > MAX_ARGS {
        findings.defect("tasks with too many arguments", None, || {
            format!("task {} says that it has {arguments} arguments", task.id)
        });
        return;
    }
    // Of each argument its role and the stages at which it is there.
    let mut seen = [(None::<Role>, [false; 2]); MAX_ARGS];
    for record in records {
        match seen[..arguments].get_mut(record.arg_index as usize) {
            Some((role, stages)) => {
                *role = Some(record.role);
                stages[record.stage as usize] = true;
            }
            None => findings.defect("arguments that a task does not have", record.index, || {
                format!("task {} has {arguments} arguments, not {}", task.id, record.arg_index)
            }),
        }
    }
    for (arg, (role, there)) in (0u32..).zip(&seen[..arguments]) {
        for stage in [Stage::BeforeDispatch, Stage::AfterCompletion] {
            // Without a record its role is not known; one stage is enough to say so.
            let due = role.map_or(stage == Stage::BeforeDispatch, |role| role.captured_at(stage));
            if !due || there[stage as usize] || skips.explains(task.id, arg) {
                continue;
            }
            // What a task that was interrupted had written is taken as far as possible.
            let severity = match (task.state, role) {
                (TaskState::Completed, _) | (_, Some(Role::Input)) => severity,
                _ => Severity::Warning,
            };
            findings.add(severity, "missing arguments", None, || {
                format!("argument {arg} of task {} is missing, {stage}", task.id)
            });
        }
    }
}
