//! `argus.trace`: a task instruction by instruction.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use argus_dump_scene::{MAX_INSTRUCTIONS, Source, Traced};
use argus_trace::{Params, Stamp, Summary};
use pyo3::prelude::*;
use serde_json::json;

use crate::errors::{Class, Refusal};
use crate::long;
use crate::replay::{Wanted, from, source};

/// A task that was run with its instructions written down. Its timeline is made of them whenever it is asked for: the
/// same instructions and parameters give the same times.
#[pyclass(frozen, module = "argus._native")]
pub struct TaskTrace {
    source: Source,
    traced: Traced,
    params: Params,
    notes: Vec<String>,
    summary: Summary,
}

/// Rows of a timeline, as columns: core, track, instruction, first and last cycle, source line.
type Slices = (Vec<String>, Vec<&'static str>, Vec<&'static str>, Vec<u64>, Vec<u64>, Vec<String>);

#[pymethods]
impl TaskTrace {
    /// What `argus trace --json` tells, as JSON.
    fn told(&self) -> String {
        let task = &self.source.task;
        json!({
            "task_id": task.id.to_string(),
            "kernel": task.identity.kernel_names(),
            "platform": self.source.chip.name,
            "replay": self.traced.replay_word(),
            "notes": self.notes,
            "summary": self.summary,
        })
        .to_string()
    }

    /// Every machine instruction.
    fn slices(&self, py: Python<'_>) -> PyResult<Slices> {
        let made = py.detach(|| -> Result<Slices, Refusal> {
            let timeline = self.traced.timeline(&self.params)?;
            let mut slices = Slices::default();
            for core in &timeline.cores {
                for instr in &core.instrs {
                    slices.0.push(core.name.clone());
                    slices.1.push(instr.track.name());
                    slices.2.push(instr.mnemonic.name());
                    slices.3.push(instr.start);
                    slices.4.push(instr.end);
                    slices.5.push(timeline.source(instr));
                }
            }
            Ok(slices)
        });
        made.map_err(|refusal| refusal.raise(py))
    }

    /// Writes the files for MindStudio Insight and Perfetto; gives the directory and the number of slices.
    fn write(&self, py: Python<'_>, directory: PathBuf) -> PyResult<(PathBuf, u64)> {
        let written = py.detach(|| -> Result<_, Refusal> {
            let timeline = self.traced.timeline(&self.params)?;
            let sources = self.source.sources(&timeline);
            let written = argus_trace::write(&timeline, &directory, &sources, &Stamp::now());
            written.map_err(|error| Refusal::new(Class::Run, &error))
        });
        let written = written.map_err(|refusal| refusal.raise(py))?;
        Ok((written.directory, written.slices))
    }
}

/// Runs one task alone and keeps its instructions.
#[pyfunction]
#[pyo3(signature = (what, wanted, timing=None, max_instructions=None))]
pub fn trace_task(
    py: Python<'_>,
    what: &Bound<'_, PyAny>,
    wanted: Wanted,
    timing: Option<PathBuf>,
    max_instructions: Option<u64>,
) -> PyResult<TaskTrace> {
    let interrupt = Arc::new(AtomicBool::new(false));
    let (named, options) = wanted.parse(py, &interrupt)?;
    let from = from(py, what)?;
    let limit = max_instructions.unwrap_or(MAX_INSTRUCTIONS);
    let ended = long::attended(
        py,
        || interrupt.store(true, Relaxed),
        || Some("tracing the task".to_owned()),
        || -> Result<_, Refusal> {
            let (source, notes) = source(&from, &named)?;
            let params = match &timing {
                Some(path) => Params::from_file(source.chip, path),
                None => Params::for_chip(source.chip),
            };
            let params = params.map_err(|error| Refusal::new(Class::Usage, &error))?;
            let traced = Traced::run(&source, &options, limit)?;
            let summary = Summary::new(&traced.timeline(&params)?);
            Ok(TaskTrace { source, traced, params, notes, summary })
        },
    )?;
    ended.map_err(|refusal| refusal.raise(py))
}
