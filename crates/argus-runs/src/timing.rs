//! Times by kernel and core, the critical path, and what to shorten first.

use std::collections::BTreeMap;

use argus_abi::{CoreType, EdgeReason, TaskId};
use argus_artefacts::path::{self, Cause};
use argus_artefacts::times::{Part, Times};
use argus_facts::{Edge, FuncIds, Graph, TaskInfo};
use rustc_hash::FxHashMap;

use crate::Capture;

/// The times of a capture, summed up. All times are nanoseconds of the device's own clock.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timing {
    /// From the first moment of the device to its last.
    pub wall_ns: u64,
    pub kernels: Vec<KernelTime>,
    pub cores: Vec<CoreTime>,
    /// Tasks that a control thread spent time on, by what it did.
    pub phases: Vec<PhaseTime>,
    /// The chain of dependencies with the largest sum of durations; empty without a graph.
    pub longest: Vec<PathStep>,
    /// What really held up the end of the run.
    pub observed: Vec<PathStep>,
    /// Kernels on the observed path, the largest share first.
    pub shorten: Vec<Shorten>,
    /// What a reader should know before believing a number.
    pub remarks: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelTime {
    pub kernel: String,
    pub core_type: Option<CoreType>,
    pub calls: u64,
    pub total_ns: u64,
    pub min_ns: u64,
    pub max_ns: u64,
    /// From the control thread's dispatch to the kernel's first cycle, summed up; `None` where it was not recorded.
    pub way_ns: Option<u64>,
    /// From the kernel's end until the control thread saw it, summed up.
    pub seen_ns: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoreTime {
    pub core: u32,
    pub core_type: Option<CoreType>,
    pub calls: u64,
    pub busy_ns: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseTime {
    pub thread: u32,
    pub kind: String,
    pub count: u64,
    pub total_ns: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathStep {
    pub task: TaskId,
    pub kernel: String,
    /// From the first moment of the device.
    pub start_ns: u64,
    pub duration_ns: u64,
    /// Since the end of the step before.
    pub gap_ns: u64,
    pub cause: Cause,
}

/// What a kernel, or waiting, takes of the observed path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shorten {
    /// `None`: time between the steps of the path.
    pub kernel: Option<String>,
    pub tasks: u64,
    pub total_ns: u64,
}

/// Sums up the times of a capture; `None` if it has none.
pub fn timing(capture: &Capture) -> Option<Timing> {
    let times = capture.artefacts.times.as_ref()?;
    // Kernels out of the times alone make tasks, and no graph.
    let told = capture.artefacts.deps.is_some() || capture.dump.own_graph().is_some();
    let graph = capture.dump.graph().filter(|_| told);
    let names = Names::new(capture, times);
    let origin = times.origin();
    let last = times.parts.iter().map(|part| part.finish.unwrap_or(part.end).max(part.end)).max();
    let mut timing = Timing {
        wall_ns: times.ns(last.unwrap_or(origin).saturating_sub(origin)),
        kernels: kernels(times, &names),
        cores: cores(times),
        phases: phases(times),
        ..Timing::default()
    };
    let steps = |steps: Vec<path::Step>| -> Vec<PathStep> {
        let step = |step: path::Step| PathStep {
            task: step.task,
            kernel: names.task(step.task),
            start_ns: times.ns(step.start.saturating_sub(origin)),
            duration_ns: times.ns(step.end - step.start),
            gap_ns: times.ns(step.gap),
            cause: step.cause,
        };
        steps.into_iter().map(step).collect()
    };
    let fanout = uses_fanout(capture, times).then(|| fanout_graph(times));
    let graph = graph.or(fanout.as_ref());
    if let Some(graph) = graph {
        timing.longest = steps(path::longest(times, graph));
    }
    timing.observed = steps(path::observed(times, graph));
    timing.shorten = shorten(&timing.observed);
    timing.remarks = remarks(capture, times, graph);
    Some(timing)
}

/// Whether the only dependencies that are known are those in the times themselves.
pub fn uses_fanout(capture: &Capture, times: &Times) -> bool {
    let told = capture.artefacts.deps.is_some() || capture.dump.own_graph().is_some();
    !told && !times.fanout.is_empty()
}

/// Dependencies out of the times. They are good for paths and arrows and not for verdicts: some may be missing.
pub fn fanout_graph(times: &Times) -> Graph {
    let mut ids: Vec<TaskId> = times.parts.iter().map(|part| part.task).collect();
    ids.extend(times.fanout.iter().flat_map(|(from, to)| [*from, *to]));
    ids.sort_unstable();
    ids.dedup();
    let edge = |&(from, to): &(TaskId, TaskId)| Edge { from, to, reason: EdgeReason::Overlap };
    Graph::new(
        Vec::new(),
        ids.into_iter().map(TaskInfo::new).collect(),
        times.fanout.iter().map(edge).collect(),
    )
}

/// The kernel of a part: by the graph and the type of its core, since the times do not know it.
pub struct Names<'a> {
    capture: &'a Capture,
    times: &'a Times,
    of_task: FxHashMap<TaskId, [i32; 3]>,
    /// Kernels as the records of the dump say them, where there is no graph.
    dumped: FxHashMap<TaskId, FuncIds>,
}

impl<'a> Names<'a> {
    pub fn new(capture: &'a Capture, times: &'a Times) -> Names<'a> {
        let tasks = capture.artefacts.deps.iter().flat_map(|deps| &deps.tasks);
        let of_task = tasks.filter_map(|task| Some((task.id, task.kernel_ids?))).collect();
        let mut dumped = FxHashMap::default();
        if capture.dump.graph().is_none() {
            let records = capture.dump.records().filter(|record| !record.func_ids.is_empty());
            dumped.extend(records.map(|record| (record.task_id, record.func_ids)));
        }
        Names { capture, times, of_task, dumped }
    }

    fn func_ids(&self, task: TaskId) -> FuncIds {
        self.dumped.get(&task).copied().unwrap_or_else(|| self.capture.func_ids(task))
    }

    /// The number of the kernel that a part ran, where the files tell.
    pub fn func(&self, part: &Part) -> Option<i32> {
        if let Some(func) = part.func.filter(|&func| func >= 0) {
            return Some(func);
        }
        if let Some(ids) = self.of_task.get(&part.task) {
            // Two vector kernels of a task cannot be told apart by the times alone: the first names both.
            let member = match self.times.core_type(part.core) {
                Some(CoreType::Aic) => Some(ids[0]),
                Some(CoreType::Aiv) => ids[1..].iter().copied().find(|&id| id >= 0),
                None => None,
            };
            return member.filter(|&id| id >= 0);
        }
        match self.func_ids(part.task)[..] {
            [only] => Some(only),
            _ => None,
        }
    }

    /// How a part is called.
    pub fn part(&self, part: &Part) -> String {
        match self.func(part) {
            Some(func) => self.kernel(func),
            None => self.task(part.task),
        }
    }

    fn kernel(&self, func: i32) -> String {
        self.capture.dump.kernel_name(func).map_or_else(|| format!("func_{func}"), str::to_owned)
    }

    /// How a task is called: its kernels, else nothing but that it is a task.
    pub fn task(&self, task: TaskId) -> String {
        let ids = self.func_ids(task);
        if ids.is_empty() {
            return "task".to_owned();
        }
        let mut names: Vec<String> = ids.iter().map(|&id| self.kernel(id)).collect();
        names.dedup();
        names.join("+")
    }
}

fn kernels(times: &Times, names: &Names<'_>) -> Vec<KernelTime> {
    let mut found: BTreeMap<(String, Option<CoreType>), KernelTime> = BTreeMap::new();
    for part in &times.parts {
        let (kernel, core_type) = (names.part(part), times.core_type(part.core));
        let entry = found.entry((kernel.clone(), core_type)).or_insert_with(|| KernelTime {
            kernel,
            core_type,
            calls: 0,
            total_ns: 0,
            min_ns: u64::MAX,
            max_ns: 0,
            way_ns: Some(0),
            seen_ns: Some(0),
        });
        let ns = times.ns(part.ticks());
        entry.calls += 1;
        entry.total_ns = entry.total_ns.saturating_add(ns);
        entry.min_ns = entry.min_ns.min(ns);
        entry.max_ns = entry.max_ns.max(ns);
        let add = |sum: Option<u64>, ticks: Option<u64>| {
            sum.zip(ticks).map(|(sum, ticks)| sum.saturating_add(times.ns(ticks)))
        };
        entry.way_ns = add(entry.way_ns, part.dispatch.map(|dispatch| part.start.saturating_sub(dispatch)));
        entry.seen_ns = add(entry.seen_ns, part.finish.map(|finish| finish.saturating_sub(part.end)));
    }
    let mut kernels: Vec<KernelTime> = found.into_values().collect();
    kernels.sort_by(|a, b| (b.total_ns, &a.kernel).cmp(&(a.total_ns, &b.kernel)));
    kernels
}

fn cores(times: &Times) -> Vec<CoreTime> {
    let mut found: BTreeMap<u32, CoreTime> = BTreeMap::new();
    for part in &times.parts {
        let core_type = times.core_type(part.core);
        let entry =
            found.entry(part.core).or_insert(CoreTime { core: part.core, core_type, calls: 0, busy_ns: 0 });
        entry.calls += 1;
        entry.busy_ns = entry.busy_ns.saturating_add(times.ns(part.ticks()));
    }
    found.into_values().collect()
}

fn phases(times: &Times) -> Vec<PhaseTime> {
    let mut found: BTreeMap<(u32, u16), (u64, u64)> = BTreeMap::new();
    for stream in &times.streams {
        for phase in &stream.phases {
            let (count, total) = found.entry((stream.id, phase.kind)).or_default();
            *count += 1;
            *total = total.saturating_add(times.ns(phase.end - phase.start));
        }
    }
    let kind = |kind: u16| times.kinds.get(usize::from(kind)).cloned().unwrap_or_default();
    found
        .into_iter()
        .map(|((thread, number), (count, total_ns))| PhaseTime {
            thread,
            kind: kind(number),
            count,
            total_ns,
        })
        .collect()
}

fn shorten(observed: &[PathStep]) -> Vec<Shorten> {
    let mut by_kernel: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for step in observed {
        let (tasks, total) = by_kernel.entry(&step.kernel).or_default();
        *tasks += 1;
        *total = total.saturating_add(step.duration_ns);
    }
    let gaps = observed.iter().fold(0, |sum: u64, step| sum.saturating_add(step.gap_ns));
    let waits = observed.iter().filter(|step| step.gap_ns > 0).count() as u64;
    let mut list: Vec<Shorten> = by_kernel
        .into_iter()
        .map(|(kernel, (tasks, total_ns))| Shorten { kernel: Some(kernel.to_owned()), tasks, total_ns })
        .collect();
    if gaps > 0 {
        list.push(Shorten { kernel: None, tasks: waits, total_ns: gaps });
    }
    list.sort_by(|a, b| (b.total_ns, &a.kernel).cmp(&(a.total_ns, &b.kernel)));
    list
}

fn remarks(capture: &Capture, times: &Times, graph: Option<&Graph>) -> Vec<String> {
    let mut remarks = Vec::new();
    if graph.is_none() && !uses_fanout(capture, times) {
        remarks.push(
            "there is no graph: the path follows the cores alone, and no static path is known".to_owned(),
        );
    }
    if let Some(path) = crate::capture::neighbour(&capture.artefacts) {
        remarks.push(format!("the capture beside it, of the same program, has a graph: {}", path.display()));
    }
    let layout = capture.artefacts.layout();
    if graph.is_some() && times.parts.iter().any(|part| layout.outer(part.task).is_some()) {
        remarks.push(
            "no file has edges inside a Graph: its tasks are taken to wait for what the Graph waits for, so the chains \
             through them may be longer than both paths"
                .to_owned(),
        );
    }
    if !capture.dump.is_empty() {
        remarks.push(
            "a dump was captured together with these times: it stretches the time until a control thread sees the end \
             of a kernel"
                .to_owned(),
        );
    }
    if times.without_start > 0 {
        remarks.push(format!("{} rows of cores have no start and are left out", times.without_start));
    }
    if times.without_partner > 0 {
        remarks.push(format!(
            "{} rows of control threads belong to no core and are left out",
            times.without_partner
        ));
    }
    let dropped = times.streams.iter().fold(0, |sum: u64, stream| sum.saturating_add(stream.dropped));
    if dropped > 0 {
        remarks.push(format!("{dropped} records of control threads were lost during the run"));
    }
    for stream in times.streams.iter().filter(|stream| stream.truncated) {
        remarks.push(format!("the records of control thread {} end before the thread did", stream.id));
    }
    if let Some(host) =
        times.host.as_ref().filter(|host| host.capture.as_deref().is_some_and(|how| how != "complete"))
    {
        let (how, dropped) = (host.capture.as_deref().unwrap_or_default(), host.dropped);
        remarks.push(format!("the host's records are '{how}': {dropped} of them were lost"));
    }
    if uses_fanout(capture, times) {
        remarks.push(
            "there is no deps.json: dependencies are those that the times name, which lack those of tasks that were submitted \
             after their producer had ended"
                .to_owned(),
        );
    }
    remarks
}
