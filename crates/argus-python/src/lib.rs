//! The native module of the Python package, `argus._native`. The package itself is in `python/argus`.
//!
//! A face beside the command line: from Python's values to the libraries and back. What is only about Python objects
//! (NumPy's types, data frames, pages for notebooks) is written in Python and called from here.
//!
//! | file | subject |
//! |---|---|
//! | `dump` | `argus.open`: a dump and its records, filtered like `argus view` |
//! | `record` | one record: its facts, its statistics, its bytes as an array |
//! | `task` | one task of a dump |
//! | `scenes` | the scenes that ship, and those in files |
//! | `run` | `argus.run`: a scene played, captured or not |
//! | `find` | `argus.find`: the first wrong task |
//! | `goldens` | what a function in Python says that outputs should hold |
//! | `replay`, `trace` | `argus.replay`, `argus.trace`: one task alone, and its instructions |
//! | `long` | long calls: without the lock, ended by Ctrl-C, with progress |
//! | `compile` | sources of a scene test to objects |
//! | `scene_program` | objects to a program that can run |
//! | `simulated_device` | runs of such programs, captured or not |
//! | `journal` | what an orchestration asked for, in a file |
//! | `artefacts` | files in the reference's layouts out of a dump |
//! | `errors` | from errors of the libraries to exceptions of `argus.errors` |
#![forbid(unsafe_code)]

mod artefacts;
mod compile;
mod dump;
mod errors;
mod find;
mod goldens;
mod journal;
mod long;
mod record;
mod replay;
mod run;
mod scene_program;
mod scenes;
mod simulated_device;
mod task;
mod trace;

#[pyo3::pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(_module: &Bound<'_, PyModule>) -> PyResult<()> {
        argus_runtime::silence_panics_of_kernels();
        Ok(())
    }

    #[pymodule_export]
    use crate::artefacts::convert_dump;
    #[pymodule_export]
    use crate::compile::{CompiledObject, SceneCompiler, detect_generation};
    #[pymodule_export]
    use crate::dump::{Dump, RecordIterator, Records, open};
    #[pymodule_export]
    use crate::find::{Report, find};
    #[pymodule_export]
    use crate::record::{Payload, Record, Statistics};
    #[pymodule_export]
    use crate::replay::replay_task;
    #[pymodule_export]
    use crate::run::run_scene;
    #[pymodule_export]
    use crate::scene_program::SceneProgram;
    #[pymodule_export]
    use crate::scenes::list_scenes;
    #[pymodule_export]
    use crate::simulated_device::SimulatedDevice;
    #[pymodule_export]
    use crate::task::Task;
    #[pymodule_export]
    use crate::trace::{TaskTrace, trace_task};
}
