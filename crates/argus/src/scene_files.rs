//! Scenes from files: which compiler, where messages go, what helps when they cannot be had.

use std::ffi::OsStr;
use std::sync::Arc;

use argus_compile::error::Hint;
use argus_loaded::{Level, Log};
use argus_scene::{PrepareError, Registry};
use argus_scene_file::{SceneFileError, SceneFiles};

use crate::failure::Failure;
use crate::output;

/// Scenes in C++, compiled by the compiler that was named: those that ship get their names, others are found behind
/// paths.
pub fn add(registry: &mut Registry, cxx: Option<&OsStr>) -> Result<(), Failure> {
    SceneFiles::add_to(registry, cxx.map(OsStr::to_owned), log()).map_err(Failure::usage)
}

/// Messages of an orchestration go where ours go; those that only tell how it gets along are left out.
fn log() -> Log {
    Arc::new(|level: Level, function: &str, text: &str| {
        if level <= Level::Warn {
            // A closed stderr is no reason to end a run.
            let _ = output::remark(&format!("{function}: {text}\n"));
        }
    })
}

/// What would help to get a case ready, in flags of this command line.
pub fn hint(error: &PrepareError) -> Option<String> {
    let SceneFileError::Compile(error) = error.0.downcast_ref()? else { return None };
    Some(match error.hint()? {
        Hint::InstallCompiler => "install g++ 12 or newer, or name a compiler with --cxx".to_owned(),
        Hint::NameCompiler => "--cxx names another compiler; so does the variable CXX".to_owned(),
        Hint::ChooseGeneration => "say generation = \"june\" or \"august\" in the scene file".to_owned(),
    })
}
