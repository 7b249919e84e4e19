//! From errors of the libraries to exceptions of `argus.errors`, with hints in the words of this package.
//!
//! The classes are written in Python, where a user looks for them; this file only raises them.

use std::error::Error;

use argus_chip::ChipError;
use argus_dump::filter::FilterError;
use argus_dump::read::{OpenError, PayloadError};
use argus_dump_scene::{Better, LookupError, TraceError};
use argus_facts::with_causes;
use argus_replay::{Hint, ReplayError};
use argus_runtime::RunError;
use argus_scene::play::PlayError;
use argus_scene::{PrepareError, SceneError};
use argus_scene_file::SceneFileError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Which class of `argus.errors` is raised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// What was asked for does not exist or is not valid.
    Usage,
    /// A dump that cannot be read.
    Dump,
    /// A record without the bytes that were asked for.
    Payload,
    /// A run that failed, or could not start.
    Run,
}

impl Class {
    fn name(self) -> &'static str {
        match self {
            Class::Usage => "UsageError",
            Class::Dump => "DumpError",
            Class::Payload => "PayloadError",
            Class::Run => "RunError",
        }
    }
}

/// An exception to be, made where there is no interpreter.
#[derive(Clone, Debug)]
pub struct Refusal {
    class: Class,
    message: String,
    hint: Option<String>,
}

impl Refusal {
    /// The message of an error, its causes joined.
    pub fn new(class: Class, error: &(dyn Error + 'static)) -> Refusal {
        Refusal::text(class, with_causes(error))
    }

    pub fn text(class: Class, message: impl Into<String>) -> Refusal {
        Refusal { class, message: message.into(), hint: None }
    }

    pub fn hint(self, hint: impl Into<Option<String>>) -> Refusal {
        Refusal { hint: hint.into(), ..self }
    }

    pub fn raise(&self, py: Python<'_>) -> PyErr {
        raise_text(py, self.class, &self.message, self.hint.as_deref())
    }
}

/// The exception with this message, its causes joined, and what would help.
pub fn raise(py: Python<'_>, class: Class, error: &(dyn Error + 'static), hint: Option<&str>) -> PyErr {
    raise_text(py, class, &with_causes(error), hint)
}

/// The exception with this message and what would help.
pub fn raise_text(py: Python<'_>, class: Class, message: &str, hint: Option<&str>) -> PyErr {
    let made = || -> PyResult<Bound<'_, PyAny>> {
        let facts = PyDict::new(py);
        facts.set_item("hint", hint)?;
        py.import("argus.errors")?.getattr(class.name())?.call((message,), Some(&facts))
    };
    match made() {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// A dump that cannot be opened.
pub fn open(py: Python<'_>, error: &OpenError) -> PyErr {
    let hint = match error {
        OpenError::NotADump { .. } => Some(
            "a dump is a directory with tensor_dump.journal, tensor_dump.json or args_dump.json, or its parent",
        ),
        _ => None,
    };
    raise(py, Class::Dump, error, hint)
}

/// A filter that cannot be used, or means no record.
pub fn filter(py: Python<'_>, error: &FilterError) -> PyErr {
    raise(py, Class::Usage, error, None)
}

/// A payload that is not there or is damaged.
pub fn payload(py: Python<'_>, error: &PayloadError) -> PyErr {
    let hint = error.is_damage().then_some("`argus verify` on the dump lists every defect");
    raise(py, Class::Payload, error, hint)
}

impl From<ChipError> for Refusal {
    fn from(error: ChipError) -> Refusal {
        let hint = match &error {
            ChipError::Hardware { twin, .. } => Some(format!("platform=\"{twin}\" is its simulated twin")),
            ChipError::Unknown { .. } => None,
        };
        Refusal::new(Class::Usage, &error).hint(hint)
    }
}

impl From<SceneError> for Refusal {
    fn from(error: SceneError) -> Refusal {
        match &error {
            SceneError::Source { source, .. } => {
                let hint = compiler_hint(source);
                Refusal::new(Class::Usage, &error).hint(hint)
            }
            SceneError::Scene { .. } => Refusal::new(Class::Usage, &error)
                .hint("argus.scenes() lists the scenes; a path to a scene.toml is one too".to_owned()),
            _ => Refusal::new(Class::Usage, &error),
        }
    }
}

impl From<PrepareError> for Refusal {
    fn from(error: PrepareError) -> Refusal {
        let hint = compiler_hint(&error);
        Refusal::new(Class::Run, &error).hint(hint)
    }
}

/// What would help a source to compile.
fn compiler_hint(error: &PrepareError) -> Option<String> {
    let SceneFileError::Compile(error) = error.0.downcast_ref()? else { return None };
    error.hint().map(|hint| compiler_help(hint).to_owned())
}

/// What helps to get a compiler that works.
pub fn compiler_help(hint: argus_compile::error::Hint) -> &'static str {
    use argus_compile::error::Hint;
    match hint {
        Hint::InstallCompiler => "install g++ or clang++, or name one in the variable CXX",
        Hint::NameCompiler => "name a compiler that knows C++20 in the variable CXX",
        Hint::ChooseGeneration => {
            "name another generation in the variable ARGUS_GENERATION, or in the scene file"
        }
    }
}

impl From<PlayError> for Refusal {
    fn from(error: PlayError) -> Refusal {
        match error {
            PlayError::Prepare(error) => error.into(),
            PlayError::Run(error) => error.into(),
            PlayError::Output(_) => Refusal::new(Class::Run, &error),
        }
    }
}

impl From<RunError> for Refusal {
    fn from(error: RunError) -> Refusal {
        let hint = match &error {
            RunError::Config(_) | RunError::Injection(_) => return Refusal::new(Class::Usage, &error),
            RunError::Stuck { .. } | RunError::NotNotified { .. } | RunError::OrchestrationStuck { .. } => {
                Some("timeout=SECONDS allows more time without progress".to_owned())
            }
            _ => None,
        };
        Refusal::new(Class::Run, &error).hint(hint)
    }
}

impl From<ReplayError> for Refusal {
    fn from(error: ReplayError) -> Refusal {
        let class = match &error {
            ReplayError::Damaged { .. } => Class::Payload,
            _ => Class::Usage,
        };
        let hint = error.hint().map(|hint| match hint {
            Hint::NameTask => "name a task: task=\"0x1\", kernel=\"NAME\"".to_owned(),
            Hint::NameTaskAndKernel => "name the task and its scene: task=, scene=, case=".to_owned(),
            Hint::NameScene => "name the scene and case that it came from: scene=, case=".to_owned(),
            Hint::SmallerNumber => "give a smaller nth=".to_owned(),
            Hint::GiveArgument { slot } => {
                format!(
                    "capture it with level \"full\" or \"hybrid\", or set a scalar: set={{{slot}: VALUE}}"
                )
            }
            Hint::GivePayload { slot } => {
                format!("give it one: set={{{slot}: \"random\"}}, \"zero\" or a number")
            }
        });
        Refusal::new(class, &error).hint(hint)
    }
}

impl From<LookupError> for Refusal {
    fn from(error: LookupError) -> Refusal {
        match error {
            LookupError::Chip(error) => error.into(),
            LookupError::Scene(error) => error.into(),
            LookupError::Prepare(error) => error.into(),
            LookupError::Run(error) => (*error).into(),
            LookupError::Replay(error) | LookupError::Incomplete { error, .. } => (*error).into(),
            LookupError::Select { error, .. } => ReplayError::from(*error).into(),
            LookupError::UnknownCode | LookupError::Recorded(_) => Refusal::new(Class::Usage, &error)
                .hint("name the scene and case that made it: scene=, case=".to_owned()),
            LookupError::Foreign { better: Some(ref options), .. }
            | LookupError::Misfit { better: Some(ref options), .. } => {
                let hint = better(options);
                Refusal::new(Class::Usage, &error).hint(hint)
            }
            LookupError::KernelWanted { ref known } | LookupError::TaskWanted { ref known } => {
                let hint = format!("name it with kernel=; the scene has {known}");
                Refusal::new(Class::Usage, &error).hint(hint)
            }
            LookupError::Runtime(_)
            | LookupError::Case { .. }
            | LookupError::Capture(_)
            | LookupError::NoCase { .. }
            | LookupError::NotCompiled { .. }
            | LookupError::Foreign { better: None, .. }
            | LookupError::Misfit { better: None, .. } => Refusal::new(Class::Usage, &error),
            LookupError::Open(_) | LookupError::Origin(_) => Refusal::new(Class::Dump, &error),
            LookupError::Output(_) | LookupError::Temporary { .. } | LookupError::NoTasks { .. } => {
                Refusal::new(Class::Run, &error)
            }
        }
    }
}

/// What would fit better, as keyword arguments.
pub fn better(better: &Better) -> String {
    let case = better.case.as_ref().map(|case| format!("case=\"{case}\""));
    let runtime = better.runtime.map(|runtime| format!("runtime=\"{}\"", runtime.short()));
    let options: Vec<String> = case.into_iter().chain(runtime).collect();
    format!("{} fits all tasks of the dump", options.join(", "))
}

impl From<TraceError> for Refusal {
    fn from(error: TraceError) -> Refusal {
        let hint = match &error {
            TraceError::Task { model, .. } => model.as_ref().map(|model| with_causes(model)),
            TraceError::Model(_) => None,
        };
        Refusal::new(Class::Run, &error).hint(hint)
    }
}
