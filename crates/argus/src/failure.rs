//! Why a command failed: what to say, what might help, and the exit code.

use argus_abi::FatalCode;
use argus_facts::{SelectorError, Stall, select, with_causes};
use argus_runtime::{KernelSite, RunError, innermost};
use argus_scene::PrepareError;
use argus_scene::compare::OutputMismatch;
use argus_scene::play::PlayError;
use serde::Serialize;
use serde_json::{Value, json};

use crate::scene_files;

/// Outputs differ, or the run failed.
pub const FAILED: u8 = 1;
/// The command line asks for something that does not exist or cannot be done.
pub const USAGE: u8 = 2;

/// Ctrl-C, as shells say it.
pub const INTERRUPTED: u8 = 130;

/// Where a kernel failed, for programs.
#[derive(Debug, Default, Serialize)]
pub struct Site {
    pub task_id: Option<String>,
    pub kernel: Option<String>,
    pub core: Option<u32>,
    pub core_type: Option<&'static str>,
    pub block: Option<u32>,
    pub instruction: Option<String>,
    /// File and line of the kernel's source.
    pub source: Option<String>,
    /// The signal of a crash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<&'static str>,
    /// The functions that were active in a crash, the innermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<String>,
}

impl Site {
    /// The place that a run's error names.
    pub fn new(error: &RunError) -> Site {
        let (site, fault, signal) = match error {
            RunError::KernelFault { site, fault } => (Some(site), Some(fault), None),
            RunError::KernelPanic { site, .. }
            | RunError::Stuck { site, .. }
            | RunError::NotNotified { site, .. } => (Some(site), None, None),
            RunError::Crashed(crashed) => (crashed.site.as_ref(), None, crashed.crash.cause.signal_name()),
            _ => (None, None, None),
        };
        let location = fault.and_then(|fault| fault.location).map(|place| (place.file(), place.line()));
        let source = location.or_else(|| innermost(error.frames()));
        Site {
            instruction: fault.and_then(|fault| fault.instruction).map(|opcode| opcode.to_string()),
            source: source.map(|(file, line)| format!("{file}:{line}")),
            signal,
            stack: error.frames().iter().map(ToString::to_string).collect(),
            ..site.map(Site::of_kernel).unwrap_or_default()
        }
    }

    fn of_kernel(site: &KernelSite) -> Site {
        let KernelSite { task, kernel, core, core_type, block } = site;
        Site {
            task_id: Some(task.to_string()),
            kernel: Some(kernel.clone()),
            core: Some(*core),
            core_type: Some(core_type.name()),
            block: Some(*block),
            ..Site::default()
        }
    }
}

/// A failure that ends the command.
#[derive(Debug)]
pub struct Failure {
    pub error: anyhow::Error,
    pub hint: Option<String>,
    /// The command to type next, said last.
    pub next: Option<String>,
    pub exit_code: u8,
}

impl Failure {
    pub fn usage(error: impl Into<anyhow::Error>) -> Failure {
        Failure { error: error.into(), hint: None, next: None, exit_code: USAGE }
    }

    pub fn failed(error: impl Into<anyhow::Error>) -> Failure {
        Failure { error: error.into(), hint: None, next: None, exit_code: FAILED }
    }

    /// A run that failed, or could not start.
    pub fn run(error: impl Into<PlayError>) -> Failure {
        let error = error.into();
        let exit_code = match &error {
            PlayError::Run(error) => run_exit_code(error),
            _ => FAILED,
        };
        Failure { exit_code, ..Failure::failed(error) }
    }

    /// The same failure, blamed on the command line.
    pub fn blamed_on_usage(self) -> Failure {
        Failure { exit_code: USAGE, ..self }
    }

    /// Adds to the hint.
    pub fn also(self, more: String) -> Failure {
        let hint = match &self.hint {
            Some(hint) => format!("{hint}; {more}"),
            None => more,
        };
        self.hint(hint)
    }

    pub fn next(self, command: String) -> Failure {
        Failure { next: Some(command), ..self }
    }

    pub fn hint(self, hint: impl Into<Option<String>>) -> Failure {
        Failure { hint: hint.into(), ..self }
    }

    /// The error and its causes in one line.
    pub fn message(&self) -> String {
        with_causes(self.error.as_ref())
    }

    /// Where a kernel failed, if one did.
    pub fn site(&self) -> Site {
        match self.error.downcast_ref::<PlayError>() {
            Some(PlayError::Run(error)) => Site::new(error),
            _ => Site::default(),
        }
    }

    /// Why the run stood still, if it did.
    pub fn stall(&self) -> Option<&Stall> {
        match self.error.downcast_ref::<PlayError>() {
            Some(PlayError::Run(error)) => error.stall(),
            _ => None,
        }
    }

    /// The reference's error code, where a run failed with one.
    pub fn fatal_code(&self) -> Option<FatalCode> {
        match self.error.downcast_ref::<PlayError>() {
            Some(PlayError::Run(error)) => RunError::fatal_code(error),
            _ => None,
        }
    }
}

impl From<OutputMismatch> for Failure {
    fn from(error: OutputMismatch) -> Failure {
        Failure::failed(PlayError::from(error))
    }
}

impl From<SelectorError> for Failure {
    fn from(error: SelectorError) -> Failure {
        let meant = match &error {
            SelectorError::UnknownKey { key, .. } => did_you_mean(key, select::KEYS),
            _ => None,
        };
        Failure::usage(error).hint(meant)
    }
}

impl From<PrepareError> for Failure {
    fn from(error: PrepareError) -> Failure {
        let hint = scene_files::hint(&error);
        Failure::usage(PlayError::from(error)).hint(hint)
    }
}

/// The exit code of a run that ended with this error.
pub fn run_exit_code(error: &RunError) -> u8 {
    match error {
        RunError::Interrupted => INTERRUPTED,
        _ => FAILED,
    }
}

/// Why a run stands still, for programs.
pub fn stall_object(stall: &Stall) -> Value {
    json!({
        "class": stall.class.name(),
        "detail": stall.class.detail(),
        "meaning": stall.class.meaning(),
        "completed": stall.completed,
        "submitted": stall.submitted,
        "running": stall.running,
        "ready": stall.ready,
        "waiting": stall.waiting,
        "orchestrator_done": stall.orchestrator_done,
        "stuck_task_id": stall.task.map(|task| task.to_string()),
        "stuck_core": stall.core,
    })
}

/// "did you mean ...?", if one of the candidates resembles what was typed.
pub fn did_you_mean<S: AsRef<str>>(typed: &str, candidates: impl IntoIterator<Item = S>) -> Option<String> {
    const RESEMBLES: f64 = 0.8;
    let typed = typed.to_lowercase();
    let rated = candidates
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&typed, &name.as_ref().to_lowercase()), name));
    let (likeness, name) = rated.max_by(|(a, _), (b, _)| a.total_cmp(b))?;
    (likeness >= RESEMBLES).then(|| format!("did you mean '{}'?", name.as_ref()))
}

#[cfg(test)]
mod tests {
    use argus_runtime::Fatal;

    use super::*;

    #[test]
    fn close_names_are_suggested_and_far_ones_are_not() {
        let known = ["paged_attention", "matmul", "vector_example"];
        assert_eq!(did_you_mean("paged_atention", known), Some("did you mean 'paged_attention'?".into()));
        assert_eq!(did_you_mean("MatMul", known), Some("did you mean 'matmul'?".into()));
        assert_eq!(did_you_mean("zzz", known), None);
    }

    #[test]
    fn the_message_joins_what_failed_and_its_causes() {
        let error =
            anyhow::Error::new(std::io::Error::other("no disk")).context("cannot read x").context("run");
        assert_eq!(Failure::failed(error).message(), "run: cannot read x: no disk");
    }

    #[test]
    fn the_fatal_code_of_a_run_is_found() {
        let fatal = Fatal::new(FatalCode::HeapRingDeadlock, "full");
        let failure = Failure::failed(PlayError::from(RunError::from(fatal)));
        assert_eq!(failure.fatal_code(), Some(FatalCode::HeapRingDeadlock));
        assert_eq!(Failure::usage(anyhow::anyhow!("no")).fatal_code(), None);
    }
}
