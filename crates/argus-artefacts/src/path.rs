//! The critical path of a capture: the longest chain of durations, and the chain that was really observed.

use argus_abi::TaskId;
use argus_facts::Graph;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::times::Times;

/// Why a task began when it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Nothing came before it.
    Start,
    /// The task before it on the path is one that it waits for.
    Dependency,
    /// The task before it on the path had the core.
    Core,
}

impl Cause {
    pub const fn name(self) -> &'static str {
        match self {
            Cause::Start => "start",
            Cause::Dependency => "dependency",
            Cause::Core => "core",
        }
    }
}

/// A task on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    pub task: TaskId,
    pub start: u64,
    pub end: u64,
    /// Ticks between the end of the step before and the start of this one.
    pub gap: u64,
    pub cause: Cause,
}

/// When a task began on its first core and ended on its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskSpan {
    pub start: u64,
    pub end: u64,
}

/// Start and end of every task that ran.
pub fn spans(times: &Times) -> FxHashMap<TaskId, TaskSpan> {
    let mut spans: FxHashMap<TaskId, TaskSpan> = FxHashMap::default();
    for part in &times.parts {
        let span = spans.entry(part.task).or_insert(TaskSpan { start: part.start, end: part.end });
        span.start = span.start.min(part.start);
        span.end = span.end.max(part.end);
    }
    spans
}

/// The chain of dependencies with the largest sum of durations; empty if nothing ran. Waiting does not count: it is how
/// short the run could be with any number of cores.
pub fn longest(times: &Times, graph: &Graph) -> Vec<Step> {
    let spans = spans(times);
    let ticks =
        |position: usize| spans.get(&graph.tasks[position].id).map_or(0, |span| span.end - span.start);
    let mut best: Vec<Option<(u64, Option<u32>)>> = vec![None; graph.tasks.len()];
    for position in graph.dependencies_first() {
        let before = graph.predecessors(position).iter();
        let before = before.filter_map(|&at| best[at as usize].map(|(sum, _)| (sum, at)));
        let (sum, from) = before.max_by_key(|&(sum, at)| (sum, std::cmp::Reverse(at))).unzip();
        best[position] = Some((sum.unwrap_or(0).saturating_add(ticks(position)), from));
    }
    let last = (0..best.len()).filter(|&at| best[at].is_some());
    let mut at = last.max_by_key(|&at| (best[at].map(|(sum, _)| sum), std::cmp::Reverse(at)));
    let mut steps = Vec::new();
    while let Some(position) = at {
        let task = graph.tasks[position].id;
        if let Some(span) = spans.get(&task) {
            steps.push(Step { task, start: span.start, end: span.end, gap: 0, cause: Cause::Dependency });
        }
        at = best[position].and_then(|(_, from)| from).map(|from| from as usize);
    }
    finish(&mut steps);
    steps
}

/// The chain that ends with the task that ended last: before each task stands what ended last of the tasks that it waits
/// for and of the one that had its core.
pub fn observed(times: &Times, graph: Option<&Graph>) -> Vec<Step> {
    let spans = spans(times);
    // What ran on the core before the first part of a task.
    let mut on_core: FxHashMap<TaskId, TaskId> = FxHashMap::default();
    for pair in times.parts.windows(2) {
        let [before, part] = pair else { continue };
        let first = spans.get(&part.task).is_some_and(|span| span.start == part.start);
        if before.core == part.core && before.task != part.task && first {
            on_core.insert(part.task, before.task);
        }
    }
    let ended = spans.iter().map(|(task, span)| (span.end, std::cmp::Reverse(*task)));
    let mut at = ended.max().map(|(_, task)| task.0);
    let mut steps: Vec<Step> = Vec::new();
    // Tasks of the same instant and without length can each stand before the other.
    let mut taken = FxHashSet::default();
    while let Some(task) = at {
        let Some(span) = spans.get(&task) else { break };
        taken.insert(task);
        let before = |candidate: TaskId, cause: Cause| {
            let end = spans.get(&candidate)?.end;
            // A task that ended later did not hold this one up, whatever the graph says.
            (end <= span.start && !taken.contains(&candidate)).then_some((
                end,
                cause == Cause::Dependency,
                std::cmp::Reverse(candidate),
                cause,
            ))
        };
        let dependencies = graph.into_iter().flat_map(|graph| timed_before(graph, task, &spans));
        let dependencies = dependencies.filter_map(|id| before(id, Cause::Dependency));
        let core = on_core.get(&task).and_then(|id| before(*id, Cause::Core));
        let chosen = dependencies.chain(core).max_by_key(|&(end, is_edge, id, _)| (end, is_edge, id));
        let cause = chosen.map_or(Cause::Start, |(.., cause)| cause);
        steps.push(Step { task, start: span.start, end: span.end, gap: 0, cause });
        at = chosen.map(|(_, _, id, _)| id.0);
    }
    finish(&mut steps);
    steps
}

/// Tasks that ran and that a task waits for, also through tasks that run nothing.
fn timed_before(graph: &Graph, task: TaskId, spans: &FxHashMap<TaskId, TaskSpan>) -> Vec<TaskId> {
    let mut found = Vec::new();
    let mut seen = FxHashSet::default();
    let mut open: Vec<u32> = graph.position(task).map_or_else(Vec::new, |at| graph.predecessors(at).to_vec());
    while let Some(at) = open.pop() {
        if !seen.insert(at) {
            continue;
        }
        let id = graph.tasks[at as usize].id;
        match spans.contains_key(&id) {
            true => found.push(id),
            false => open.extend(graph.predecessors(at as usize)),
        }
    }
    found
}

/// Turns a path found from its end into one from its start, with the gaps between its steps.
fn finish(steps: &mut [Step]) {
    steps.reverse();
    let mut end = None;
    for step in steps {
        step.gap = end.map_or(0, |end: u64| step.start.saturating_sub(end));
        if end.is_none() {
            step.cause = Cause::Start;
        }
        end = Some(step.end);
    }
}
