//! The scenes that this package knows: those that ship, and `scene.toml` files behind paths.

use std::sync::{Arc, LazyLock};

use argus_dump_scene::Lookup;
use argus_loaded::{Level, Log};
use argus_scene::{Registry, SceneError};
use argus_scene_file::SceneFiles;
use pyo3::prelude::*;

use crate::errors::Refusal;

/// Made when it is asked for first.
static REGISTRY: LazyLock<Result<Registry, SceneError>> = LazyLock::new(|| {
    let mut registry = Registry::new(argus_scenes::scenes::all())?;
    SceneFiles::add_to(&mut registry, None, log())?;
    Ok(registry)
});

/// The registry of this process.
pub fn registry() -> Result<&'static Registry, Refusal> {
    REGISTRY.as_ref().map_err(|error| Refusal::new(crate::errors::Class::Run, error))
}

/// Looks for scenes; `changed` hears which of their files have changed since a dump was made.
pub fn lookup<'a>(changed: &'a dyn Fn(&[&str])) -> Result<Lookup<'a>, Refusal> {
    Ok(Lookup { registry: registry()?, changed })
}

/// Warnings and errors of an orchestration go to stderr, as those of the package do.
fn log() -> Log {
    Arc::new(|level: Level, function: &str, text: &str| {
        if level <= Level::Warn {
            use std::io::Write;
            // A closed stderr is no reason to end a run.
            let _ = writeln!(std::io::stderr(), "{function}: {text}");
        }
    })
}

/// One case: its name and the runtimes it is written for.
type Case = (String, Vec<&'static str>);

/// Every scene: its name, a sentence about it, its cases.
#[pyfunction]
pub fn list_scenes(py: Python<'_>) -> PyResult<Vec<(String, String, Vec<Case>)>> {
    let registry = registry().map_err(|refusal| refusal.raise(py))?;
    let scenes = registry.scenes().iter().map(|scene| {
        let cases = scene
            .cases
            .iter()
            .map(|case| (case.name.clone(), case.runtimes.iter().map(|runtime| runtime.short()).collect()));
        (scene.name.clone(), scene.about.clone(), cases.collect())
    });
    Ok(scenes.collect())
}
