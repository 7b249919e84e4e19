//! Sources of a scene test to objects, with the machine's compiler and the tool's cache.

use std::fs;
use std::path::PathBuf;

use argus_abi::{CoreType, RuntimeKind};
use argus_chip::Chip;
use argus_compile::{CompileError, Compiler, Generation, Object, Role, Unit};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{self, Class};

/// An object that was compiled or found in the cache.
#[pyclass(frozen, module = "argus._native")]
pub struct CompiledObject {
    object: Object,
}

#[pymethods]
impl CompiledObject {
    /// Where it lies. Its name is a checksum of what it was made from.
    #[getter]
    fn path(&self) -> PathBuf {
        self.object.path.clone()
    }

    /// What the compiler said.
    #[getter]
    fn said(&self) -> &str {
        &self.object.said
    }

    /// The command that made it.
    #[getter]
    fn command(&self) -> &str {
        &self.object.command
    }

    /// The files of its author's that it was made from, the source first: names and texts.
    #[getter]
    fn sources(&self) -> Vec<(String, String)> {
        let sources = self.object.sources.iter();
        sources.map(|source| (source.path.to_string_lossy().into_owned(), source.text.clone())).collect()
    }

    /// Its bytes.
    fn read<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &fs::read(&self.object.path)?))
    }
}

/// One source and what it is compiled for: `orchestration`, `aic` or `aiv`.
type Source = (PathBuf, String, Vec<PathBuf>);

/// The machine's compiler with the tool's headers and cache. Asking it who it is takes a process, so it is kept.
#[pyclass(frozen, module = "argus._native")]
pub struct SceneCompiler {
    compiler: Compiler,
}

#[pymethods]
impl SceneCompiler {
    #[new]
    fn new(py: Python<'_>) -> PyResult<SceneCompiler> {
        let found = py.detach(|| Compiler::find(None));
        Ok(SceneCompiler { compiler: found.map_err(|error| refused(py, &error))? })
    }

    /// The directory of our headers.
    #[getter]
    fn headers(&self) -> PathBuf {
        self.compiler.headers().to_owned()
    }

    /// Compiles sources for a platform, a runtime and a generation of the interface, several at a time.
    #[pyo3(signature = (sources, platform, runtime, generation, root=None))]
    fn compile(
        &self,
        py: Python<'_>,
        sources: Vec<Source>,
        platform: &str,
        runtime: &str,
        generation: &str,
        root: Option<PathBuf>,
    ) -> PyResult<Vec<CompiledObject>> {
        let chip = chip(py, platform)?;
        let runtime = runtime_kind(py, runtime)?;
        let generation = generation_named(py, generation)?;
        let mut units = Vec::with_capacity(sources.len());
        for (source, role, include_dirs) in sources {
            let role = match &role[..] {
                "orchestration" => Role::Orchestration,
                core => Role::Kernel(core_type(py, core)?),
            };
            let (root, defines, debug) = (root.clone(), Vec::new(), false);
            units.push(Unit { source, role, generation, chip, runtime, include_dirs, defines, root, debug });
        }
        let compiled = py.detach(|| self.compiler.compile(&units));
        let objects = compiled.map_err(|error| refused(py, &error))?;
        Ok(objects.into_iter().map(|object| CompiledObject { object }).collect())
    }
}

/// The generation of the interface that these sources of one scene are written for.
#[pyfunction]
pub fn detect_generation(texts: Vec<String>) -> &'static str {
    Generation::detect(texts.iter().map(String::as_str)).name()
}

fn refused(py: Python<'_>, error: &CompileError) -> PyErr {
    let hint = error.hint().map(errors::compiler_help);
    errors::raise(py, Class::Run, error, hint)
}

pub(crate) fn chip(py: Python<'_>, name: &str) -> PyResult<&'static Chip> {
    argus_chip::CHIPS.into_iter().find(|chip| chip.name == name).ok_or_else(|| {
        let known = argus_chip::CHIPS.map(|chip| chip.name).join(", ");
        let message = format!("there is no platform '{name}' here; there are {known}");
        errors::raise_text(py, Class::Usage, &message, None)
    })
}

pub(crate) fn runtime_kind(py: Python<'_>, name: &str) -> PyResult<RuntimeKind> {
    RuntimeKind::by_name(name).ok_or_else(|| {
        let message = format!("there is no runtime '{name}'");
        errors::raise_text(py, Class::Usage, &message, None)
    })
}

fn generation_named(py: Python<'_>, name: &str) -> PyResult<Generation> {
    Generation::by_name(name).ok_or_else(|| {
        let message = format!("there is no generation '{name}'; there are april, june and august");
        errors::raise_text(py, Class::Usage, &message, None)
    })
}

pub(crate) fn core_type(py: Python<'_>, name: &str) -> PyResult<CoreType> {
    match name {
        "aic" => Ok(CoreType::Aic),
        "aiv" => Ok(CoreType::Aiv),
        _ => {
            let message = format!("a kernel runs on 'aic' or 'aiv', not on '{name}'");
            Err(errors::raise_text(py, Class::Usage, &message, None))
        }
    }
}
