//! Swimlane records: when what ran where, under all three names of the file.
//!
//! | file | subject |
//! |---|---|
//! | this one | the types |
//! | `read` | from text to values: which form it is, and what all forms share |
//! | `objects` | the old form: task objects in microseconds |
//! | `cycles` | the raw form: rows of numbers in cycles, with and without epochs |
//! | `align` | host and device on one axis |
//! | `write` | the raw form, written |

mod align;
mod cycles;
mod objects;
mod read;
mod write;

use argus_abi::{CoreType, RuntimeKind, TaskId};

pub use align::{Alignment, Anchor};

/// How a file spells its times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimesForm {
    /// Task objects in microseconds.
    Objects,
    /// Rows in cycles.
    #[default]
    Cycles,
    /// Rows in cycles with the number of the run.
    Epochs,
}

/// The times of a capture. They are ticks of one device's clock and mean nothing beside those of another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Times {
    pub form: TimesForm,
    /// How much was recorded: 1 cores, 2 dispatch, 3 scheduler, 4 orchestrator.
    pub level: Option<u32>,
    pub runtime: Option<RuntimeKind>,
    /// The host orchestrated: task ids are those of host-built graphs.
    pub host_orchestrated: bool,
    /// Ticks in a second. The old form has microseconds with three decimals: ticks are nanoseconds.
    pub clock_hz: u64,
    /// By number of the core; empty if the file does not say.
    pub core_types: Vec<CoreType>,
    /// The control thread of each core; empty if the file does not say.
    pub core_threads: Vec<Option<u32>>,
    /// By core, then by time.
    pub parts: Vec<Part>,
    /// Rows of cores that never began.
    pub without_start: usize,
    /// Rows of the scheduler that no core has.
    pub without_partner: usize,
    pub streams: Vec<Stream>,
    /// How each control thread came up and went down, where the file says it.
    pub lifecycle: Vec<Stream>,
    /// What kinds of phases are called.
    pub kinds: Vec<String>,
    /// Submissions on the device, in the order of the file.
    pub submits: Vec<Submit>,
    /// Producers and consumers that task objects name. Edges to tasks that were submitted after the producer had ended
    /// are missing, so this is no graph to judge values by.
    pub fanout: Vec<(TaskId, TaskId)>,
    pub host: Option<HostTimes>,
}

/// One kernel call: a member of a block of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub core: u32,
    pub task: TaskId,
    /// Known in the old form only; later it follows from the graph.
    pub func: Option<i32>,
    /// Counts what a core was given.
    pub token: Option<u64>,
    /// When the scheduler gave it to the core.
    pub dispatch: Option<u64>,
    /// When the core saw it.
    pub receive: Option<u64>,
    pub start: u64,
    pub end: u64,
    /// When the scheduler saw that it had ended.
    pub finish: Option<u64>,
    pub epoch: Option<u64>,
}

impl Part {
    pub fn ticks(&self) -> u64 {
        self.end - self.start
    }
}

/// What one control thread did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stream {
    pub id: u32,
    /// Records that the capture lost.
    pub dropped: u64,
    /// The capture ended before the thread did.
    pub truncated: bool,
    pub phases: Vec<Phase>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase {
    /// Its place in [`Times::kinds`].
    pub kind: u16,
    pub start: u64,
    pub end: u64,
    pub loop_iter: u64,
    pub tasks: u64,
    pub task: Option<TaskId>,
    /// Ready tasks that were found and not found.
    pub pops: Option<[u64; 2]>,
    /// Ready tasks for matrix cores, vector cores and mixes, at start and end.
    pub ready: Option<[[u32; 3]; 2]>,
    pub epoch: Option<u64>,
}

/// A task or an allocation was submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Submit {
    pub index: u64,
    /// `None`: a step that is of no task, such as the end of a scope.
    pub task: Option<TaskId>,
    pub start: u64,
    pub end: u64,
    /// A step of the submission, its place in [`Times::kinds`]; `None`: the whole submission.
    pub step: Option<u16>,
    pub epoch: Option<u64>,
}

impl Submit {
    /// A whole submission of a task.
    pub fn new(index: u64, task: TaskId, start: u64, end: u64) -> Submit {
        Submit { index, task: Some(task), start, end, step: None, epoch: None }
    }
}

/// What the host did for a host-built graph, in nanoseconds of its own clock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostTimes {
    pub submits: Vec<Submit>,
    pub uploads: Vec<Upload>,
    /// `complete`, `dropped` or `incomplete`.
    pub capture: Option<String>,
    pub dropped: u64,
    pub alignment: Option<Alignment>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    pub phase: String,
    pub start_ns: u64,
    pub end_ns: u64,
    pub bytes: u64,
}

impl Times {
    /// Nanoseconds in some ticks.
    pub fn ns(&self, ticks: u64) -> u64 {
        let ns = u128::from(ticks) * 1_000_000_000 / u128::from(self.clock_hz.max(1));
        u64::try_from(ns).unwrap_or(u64::MAX)
    }

    /// The first moment of the device; times are shown from there.
    pub fn origin(&self) -> u64 {
        let parts = self.parts.iter().map(|part| part.dispatch.unwrap_or(part.start).min(part.start));
        let phases = self.streams.iter().flat_map(|stream| &stream.phases).map(|phase| phase.start);
        let submits = self.submits.iter().map(|submit| submit.start);
        parts.chain(phases).chain(submits).min().unwrap_or(0)
    }

    pub fn kind(&self, phase: &Phase) -> &str {
        self.kinds.get(usize::from(phase.kind)).map_or("phase", String::as_str)
    }

    /// What a step of a submission is called; `submit` for the whole of it.
    pub fn step(&self, submit: &Submit) -> &str {
        let step = submit.step.and_then(|step| self.kinds.get(usize::from(step)));
        step.map_or("submit", |name| name.strip_prefix("orch_").unwrap_or(name))
    }

    /// The runs of the process that rows are of, ascending; empty if the file does not tell them apart.
    pub fn epochs(&self) -> Vec<u64> {
        let mut epochs: Vec<u64> = self.parts.iter().filter_map(|part| part.epoch).collect();
        epochs.sort_unstable();
        epochs.dedup();
        epochs
    }

    /// Leaves what is of one run, or of no run in particular; returns how many rows were of others.
    pub(crate) fn keep_epoch(&mut self, epoch: u64) -> usize {
        let ours = |found: Option<u64>| found.is_none_or(|found| found == epoch);
        let count = |times: &Times| {
            let phases: usize = times.streams.iter().map(|stream| stream.phases.len()).sum();
            times.parts.len() + phases + times.submits.len()
        };
        let before = count(self);
        self.parts.retain(|part| ours(part.epoch));
        self.submits.retain(|submit| ours(submit.epoch));
        for stream in &mut self.streams {
            stream.phases.retain(|phase| ours(phase.epoch));
        }
        before - count(self)
    }

    /// Whether the core is a matrix or a vector core.
    pub fn core_type(&self, core: u32) -> Option<CoreType> {
        self.core_types.get(core as usize).copied()
    }
}
