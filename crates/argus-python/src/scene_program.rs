//! An orchestration and its kernels out of compiled objects, ready to run.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use argus_abi::{ArgDirection, FuncId};
use argus_facts::{OriginFile, SceneOrigin, with_causes};
use argus_loaded::{Level, LoadedKernel, LoadedOrchestration, Log, Observer};
use argus_runtime::{KernelEntry, KernelTable, Program, SourceFile};
use pyo3::prelude::*;

use crate::compile::core_type;
use crate::errors::{self, Class};
use crate::journal::Journal;

/// What a scene test registers: an orchestration and the kernels it submits.
#[pyclass(frozen, module = "argus._native")]
pub struct SceneProgram {
    pub(crate) program: Program,
    pub(crate) runtime: &'static str,
    pub(crate) origin: Option<Arc<SceneOrigin>>,
    /// Hears what the orchestration asks for while a run wants to know.
    pub(crate) journal: Arc<Journal>,
}

/// A kernel: number, name, kind of core, what it does with its arguments, its object, its sources.
type Kernel = (u32, String, String, Vec<u8>, PathBuf, Vec<(String, String)>);
/// Where the code came from: the path of the scene's file, all files with their names and texts, the commands.
type Origin = (String, Vec<(String, String)>, Vec<String>);

#[pymethods]
impl SceneProgram {
    /// Opens the objects. Messages of the orchestration that are at least as urgent as `log_level` (0 errors, 1
    /// warnings, 2 timing, 3 all but the noise, 4 all) go to stderr.
    #[new]
    #[pyo3(signature = (orchestration, entry, config, kernels, origin=None, log_level=1))]
    fn new(
        py: Python<'_>,
        orchestration: PathBuf,
        entry: &str,
        config: &str,
        kernels: Vec<Kernel>,
        origin: Option<Origin>,
        log_level: u8,
    ) -> PyResult<SceneProgram> {
        let refused = |what: &str, error: &(dyn std::error::Error + 'static)| {
            errors::raise_text(py, Class::Run, &format!("{what}: {}", with_causes(error)), None)
        };
        let loaded = LoadedOrchestration::open(&orchestration, Some(entry), Some(config), log(log_level))
            .map_err(|error| refused("the orchestration cannot be loaded", &error))?;
        let journal = Arc::new(Journal::default());
        let loaded = loaded.observed(Arc::clone(&journal) as Arc<dyn Observer>);
        let runtime = loaded.runtime().name();
        let mut entries = Vec::with_capacity(kernels.len());
        for (func_id, name, core, signature, object, sources) in kernels {
            let kernel = LoadedKernel::open(&object)
                .map_err(|error| refused(&format!("kernel {func_id} ({name}) cannot be loaded"), &error))?;
            let signature =
                signature.iter().map(|&raw| direction(py, raw)).collect::<PyResult<Vec<ArgDirection>>>()?;
            let sources: Vec<SourceFile> = (sources.into_iter())
                .map(|(path, text)| SourceFile { path: Cow::Owned(path), text: Cow::Owned(text) })
                .collect();
            let entry = KernelEntry::new(FuncId(func_id), &name, core_type(py, &core)?, &signature, kernel);
            entries.push(entry.with_sources(&sources));
        }
        let kernels = KernelTable::new(entries)
            .map_err(|error| refused("the kernels do not make up a program", &error))?;
        let origin = origin.map(|(path, files, commands)| {
            let files = files.into_iter().map(|(name, text)| OriginFile { name, text }).collect();
            Arc::new(SceneOrigin { path, files, commands })
        });
        Ok(SceneProgram {
            program: Program { orchestration: loaded.into_orchestration(), kernels },
            runtime,
            origin,
            journal,
        })
    }

    /// The runtime that the orchestration was compiled for.
    #[getter]
    fn runtime(&self) -> &'static str {
        self.runtime
    }
}

fn direction(py: Python<'_>, raw: u8) -> PyResult<ArgDirection> {
    ArgDirection::from_raw(raw).ok_or_else(|| {
        let message = format!("{raw} is no direction of an argument");
        errors::raise_text(py, Class::Usage, &message, None)
    })
}

/// Messages go to the process's stderr as they come: a run that ends badly must not take them with it.
fn log(threshold: u8) -> Log {
    Arc::new(move |level: Level, function: &str, text: &str| {
        let (number, word) = match level {
            Level::Error => (0, "ERROR"),
            Level::Warn => (1, "WARN"),
            Level::Timing => (2, "TIMING"),
            Level::Info => (3, "INFO"),
            Level::Debug => (4, "DEBUG"),
        };
        if number <= threshold {
            use std::io::Write;
            // A closed stderr is no reason to end a run.
            let _ = writeln!(std::io::stderr(), "[{word}] {function}: {text}");
        }
    })
}
