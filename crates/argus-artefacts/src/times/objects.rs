//! The old form: task objects in microseconds, zero at the smallest of the file.

use argus_abi::{CoreType, MAX_CORES, TaskId};
use serde::Deserialize;

use super::{Part, Phase, Stream, Submit, Times, TimesForm};
use crate::ArtefactError;
use crate::json::{self, Wide};

/// Ticks are nanoseconds: times have three decimals.
const CLOCK_HZ: u64 = 1_000_000_000;
/// Microseconds that a double still holds with three decimals.
const LATEST_US: f64 = 4e12;

#[derive(Deserialize)]
pub(super) struct Objects {
    l2_swimlane_level: Option<u32>,
    l2_perf_level: Option<u32>,
    version: Option<u32>,
    tasks: Vec<TaskObject>,
    #[serde(default)]
    aicpu_scheduler_phases: Vec<Vec<PhaseObject>>,
    #[serde(default)]
    aicpu_orchestrator_phases: Vec<Vec<SubmitObject>>,
    #[serde(default)]
    core_to_thread: Vec<i64>,
}

#[derive(Deserialize)]
struct TaskObject {
    task_id: Wide,
    func_id: Option<i64>,
    core_id: u32,
    core_type: Option<String>,
    start_time_us: f64,
    end_time_us: f64,
    #[serde(default)]
    dispatch_time_us: f64,
    #[serde(default)]
    finish_time_us: f64,
    #[serde(default)]
    fanout: Vec<Wide>,
}

#[derive(Deserialize)]
struct PhaseObject {
    start_time_us: f64,
    end_time_us: f64,
    phase: String,
    #[serde(default)]
    loop_iter: u64,
    #[serde(default)]
    tasks_processed: u64,
    pop_hit: Option<u64>,
    pop_miss: Option<u64>,
}

#[derive(Deserialize)]
struct SubmitObject {
    start_time_us: f64,
    end_time_us: f64,
    #[serde(default)]
    submit_idx: u64,
    task_id: Option<Wide>,
    phase: Option<String>,
}

/// The phase that is a whole submission; others are steps of one.
const WHOLE_SUBMIT: &str = "orch_submit";

/// Nanoseconds of a time in microseconds.
fn ticks(what: &'static str, index: usize, field: &'static str, us: f64) -> Result<u64, ArtefactError> {
    match us.is_finite() && (0.0..=LATEST_US).contains(&us) {
        true => Ok((us * 1000.0).round() as u64),
        false => Err(ArtefactError::value(what, index, field, us, "microseconds from 0 to 4*10^12")),
    }
}

impl Objects {
    pub(super) fn times(self) -> Result<Times, ArtefactError> {
        let mut times = Times {
            form: TimesForm::Objects,
            level: self.level(),
            clock_hz: CLOCK_HZ,
            core_threads: threads(&self.core_to_thread),
            ..Times::default()
        };
        // Below level 2 the scheduler saw nothing, and both of its times are zero.
        let seen = self.tasks.iter().any(|task| task.finish_time_us > 0.0);
        let mut types: Vec<Option<CoreType>> = Vec::new();
        for (index, task) in self.tasks.iter().enumerate() {
            let at = |field, us| ticks("task", index, field, us);
            let core = task.core_id as usize;
            if core >= MAX_CORES {
                return Err(ArtefactError::value("task", index, "core_id", core, "the number of a core"));
            }
            if let Some(name) = &task.core_type {
                let core_type = CoreType::from_name(name).ok_or_else(|| {
                    let found = json::quoted(name);
                    ArtefactError::value("task", index, "core_type", found, "\"aic\" or \"aiv\"")
                })?;
                types.resize(types.len().max(core + 1), None);
                types[core] = Some(core_type);
            }
            times.parts.push(Part {
                core: task.core_id,
                task: TaskId::from_raw(task.task_id.0),
                func: task.func_id.filter(|&id| id >= 0).and_then(|id| i32::try_from(id).ok()),
                token: None,
                dispatch: seen.then(|| at("dispatch_time_us", task.dispatch_time_us)).transpose()?,
                receive: None,
                start: at("start_time_us", task.start_time_us)?,
                end: at("end_time_us", task.end_time_us)?,
                finish: seen.then(|| at("finish_time_us", task.finish_time_us)).transpose()?,
                epoch: None,
            });
            let from = TaskId::from_raw(task.task_id.0);
            times.fanout.extend(task.fanout.iter().map(|to| (from, TaskId::from_raw(to.0))));
        }
        // Each part of a task repeats the consumers of the task.
        times.fanout.sort_unstable();
        times.fanout.dedup();
        // Cores that ran nothing have no row that says what they are.
        if let Some(last) = types.iter().rposition(Option::is_some) {
            let fill =
                |core: usize| types[core].or_else(|| types[core..=last].iter().flatten().next().copied());
            times.core_types = (0..=last).map(|core| fill(core).unwrap_or(CoreType::Aiv)).collect();
        }
        for (number, phases) in self.aicpu_scheduler_phases.iter().enumerate() {
            let mut stream = Stream { id: number as u32, ..Stream::default() };
            for (index, phase) in phases.iter().enumerate() {
                stream.phases.push(Phase {
                    kind: times.kind_number(&phase.phase)?,
                    start: ticks("scheduler record", index, "start_time_us", phase.start_time_us)?,
                    end: ticks("scheduler record", index, "end_time_us", phase.end_time_us)?,
                    loop_iter: phase.loop_iter,
                    tasks: phase.tasks_processed,
                    task: None,
                    pops: phase.pop_hit.zip(phase.pop_miss).map(|(hit, miss)| [hit, miss]),
                    ready: None,
                    epoch: None,
                });
            }
            times.streams.push(stream);
        }
        for (index, submit) in self.aicpu_orchestrator_phases.iter().flatten().enumerate() {
            let step = submit.phase.as_deref().filter(|phase| *phase != WHOLE_SUBMIT);
            let step = step.map(|step| times.kind_number(step)).transpose()?;
            times.submits.push(Submit {
                index: submit.submit_idx,
                task: submit.task_id.map(|id| TaskId::from_raw(id.0)),
                start: ticks("submission", index, "start_time_us", submit.start_time_us)?,
                end: ticks("submission", index, "end_time_us", submit.end_time_us)?,
                step,
                epoch: None,
            });
        }
        Ok(times)
    }

    /// How much was recorded. `version` was the level for some weeks; before that 2 meant that phases are there, which
    /// level 2 does not have.
    fn level(&self) -> Option<u32> {
        let told = self.l2_swimlane_level.or(self.l2_perf_level);
        let phases = !self.aicpu_scheduler_phases.is_empty() || !self.aicpu_orchestrator_phases.is_empty();
        told.or(match self.version {
            Some(2) if phases => Some(if self.aicpu_orchestrator_phases.is_empty() { 3 } else { 4 }),
            other => other,
        })
    }
}

/// The control thread of each core.
pub(super) fn threads(core_to_thread: &[i64]) -> Vec<Option<u32>> {
    core_to_thread.iter().map(|&thread| u32::try_from(thread).ok()).collect()
}
