//! The model of one task beside the times at which it really ran.

use std::path::Path;

use anyhow::anyhow;
use argus_abi::TaskId;
use argus_scene::Registry;
use argus_trace::{RunModel, RunTimeline, Timeline};
use serde_json::{Value, json};

use super::Target;
use crate::cli::TraceArgs;
use crate::failure::Failure;
use crate::trace::task;

/// How long a task took, really and in the model. The two are of different clocks and are not compared further.
pub struct Modelled {
    task: TaskId,
    kernel: String,
    cycles: u64,
    model_ns: f64,
    /// From the start of its first part to the end of its last.
    measured_ns: u64,
    /// How the replay that was modelled compares with what was captured.
    replay: &'static str,
}

impl Modelled {
    pub fn object(&self) -> Value {
        json!({
            "task_id": self.task.to_string(),
            "kernel": self.kernel,
            "cycles": self.cycles,
            "model_ns": self.model_ns,
            "measured_ns": self.measured_ns,
            "replay": self.replay,
        })
    }

    pub fn text(&self) -> String {
        format!(
            "{} {}: {:.3} us in the model ({} cycles), {:.3} us measured; the model is drawn below the run, from the moment \
             at which the task began (its replay: {})\n",
            self.kernel,
            self.task,
            self.model_ns / 1000.0,
            self.cycles,
            self.measured_ns as f64 / 1000.0,
            self.replay,
        )
    }
}

/// Writes the timeline, with the model of the task that the arguments name.
pub fn write(
    target: &Target,
    timeline: &RunTimeline,
    named: Option<(&TraceArgs, &Registry)>,
) -> Result<Option<Modelled>, Failure> {
    let Some((args, registry)) = named else {
        target.write(timeline, &[])?;
        return Ok(None);
    };
    task::with_timeline(args, registry, |source, traced, model: &Timeline<'_>| {
        let (task, kernel) = (source.task.id, source.task.identity.kernel_names());
        let parts = || timeline.tracks.iter().flat_map(|track| &track.tasks).filter(|part| part.id == task);
        let (Some(start_ns), Some(end_ns)) =
            (parts().map(|part| part.start_ns).min(), parts().map(|part| part.end_ns).max())
        else {
            let error =
                anyhow!("the times of this run do not have task {task}, so its model has no place in them");
            return Err(Failure::usage(error).hint(hint(args)));
        };
        let name = format!("model of {kernel} {task}");
        target.write(timeline, &[RunModel { timeline: model, name: &name, start_ns }])?;
        let summary = argus_trace::Summary::new(model);
        Ok(Some(Modelled {
            task,
            kernel,
            cycles: summary.cycles,
            model_ns: summary.time_us * 1000.0,
            measured_ns: end_ns.saturating_sub(start_ns),
            replay: traced.replay_word(),
        }))
    })
}

/// The task alone goes to a directory.
fn hint(args: &TraceArgs) -> String {
    let stem =
        args.output.as_deref().and_then(Path::file_stem).map(|stem| stem.to_string_lossy().into_owned());
    format!("for the task alone name a directory: -o {}", stem.unwrap_or_else(|| "trace".to_owned()))
}
