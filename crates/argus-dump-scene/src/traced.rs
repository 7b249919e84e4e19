//! A task run once more with its instructions written down, and what its timeline is made of.

use argus_chip::Chip;
use argus_facts::with_causes;
use argus_replay::{Buffer, CapturedTask, Options, Outcome, Proof, ReplayError};
use argus_trace::{GlobalBuffer, ModelError, Params, Sources, TaskLog, Timeline};
use thiserror::Error;

use crate::source::Source;

/// Tile instructions of a trace, unless the user says otherwise. MindStudio Insight shows a million machine instructions.
pub const MAX_INSTRUCTIONS: u64 = 1_000_000;

/// Why there is no timeline of a task that could be run.
#[derive(Debug, Error)]
pub enum TraceError {
    /// The task failed, and where the model knows more than the machine, what it says.
    #[error("the task failed, so there is no timeline of it: {why}")]
    Task { why: String, model: Option<ModelError> },
    #[error(transparent)]
    Model(ModelError),
}

/// A task that was run once more.
#[derive(Debug)]
pub struct Traced {
    /// Its logs are in `log`.
    pub proof: Proof,
    pub log: TaskLog,
}

impl Traced {
    /// Runs a task and keeps its instructions, `limit` of them in all.
    pub fn run(source: &Source, options: &Options, limit: u64) -> Result<Traced, ReplayError> {
        let options = Options { log_limit: Some(limit), ..options.clone() };
        let kernels = &source.code.kernels;
        let mut proof = argus_replay::replay(&source.task, kernels, source.chip, &options, 1)?;
        let log = task_log(&source.task, source.chip, &mut proof.outcome);
        Ok(Traced { proof, log })
    }

    /// The timeline of the task, by these parameters. A task that failed has none, unless its log was full before.
    pub fn timeline<'a>(&'a self, params: &'a Params) -> Result<Timeline<'a>, TraceError> {
        let timeline = Timeline::new(&self.log, params);
        match &self.proof.outcome.result {
            Err(error) if !self.log.cut => {
                let model = timeline.err().filter(|error| matches!(error, ModelError::Deadlock { .. }));
                Err(TraceError::Task { why: with_causes(error), model })
            }
            _ => timeline.map_err(TraceError::Model),
        }
    }

    /// Whether the task is known to have done what it did in the run, in one word.
    pub fn replay_word(&self) -> &'static str {
        match (self.log.cut, self.proof.passed(), self.proof.compared()) {
            (true, ..) => "cut",
            (false, false, _) => "differs",
            (false, true, true) => "bit-equal",
            (false, true, false) => "not-compared",
        }
    }
}

impl Source {
    /// The texts that the kernels were compiled from, as far as a timeline names them.
    pub fn sources(&self, timeline: &Timeline<'_>) -> Sources {
        let mut sources = Sources::default();
        for file in self.code.kernels.iter().flat_map(|entry| entry.sources.iter()) {
            if timeline.files.iter().any(|name| **name == *file.path) {
                sources.add(&file.path, &file.text);
            }
        }
        sources
    }
}

/// The logs of an outcome as the model takes them; they are moved, because they may be large.
fn task_log(task: &CapturedTask, chip: &'static Chip, outcome: &mut Outcome) -> TaskLog {
    let cores = std::mem::take(&mut outcome.logs);
    let buffers = outcome.buffers.iter().map(|Buffer { slots, addr, bytes }| {
        let names: Vec<String> = slots.iter().map(|slot| format!("arg{slot}")).collect();
        GlobalBuffer { name: names.join("+"), addr: *addr, bytes: *bytes }
    });
    TaskLog {
        name: task.identity.kernel_names(),
        chip,
        cores,
        buffers: buffers.collect(),
        cut: outcome.log_full,
    }
}
