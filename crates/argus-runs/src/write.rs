//! The files that lie beside a dump of the reference, written for a dump of ours.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use argus_abi::{CoreType, Kind, Role, RuntimeKind, TaskId, TensorArgType};
use argus_artefacts::from_run::{self, RunArgument};
use argus_artefacts::names::Names;
use argus_dump::read::Dump;
use thiserror::Error;

use crate::capture::prefix;

/// Why the files cannot be written.
#[derive(Debug, Error)]
pub enum WriteError {
    #[error("the dump in {} has no graph of its own, so there is nothing to write", directory.display())]
    NoGraph { directory: PathBuf },

    #[error(transparent)]
    Times(#[from] argus_dump::read::TimesError),

    #[error("cannot write {}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    pub files: Vec<PathBuf>,
    /// Edges that the reference's graph cannot hold: a write that waits for reads or for an earlier write, or between tasks
    /// whose arguments were not captured.
    pub edges_left_out: usize,
}

/// Which files are written; the name map always is.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// `deps.json`, the graph.
    pub deps: bool,
    /// `chip_swimlane_records.json`, when each task ran.
    pub swimlane: bool,
}

impl Wanted {
    pub const ALL: Wanted = Wanted { deps: true, swimlane: true };
}

/// Writes the files that are wanted, and a name map, beside a dump.
pub fn artefacts(dump: &Dump, wanted: Wanted) -> Result<Written, WriteError> {
    let directory = prefix(dump.directory());
    let graph = dump.own_graph().ok_or_else(|| WriteError::NoGraph { directory: directory.clone() })?;
    let facts = dump.run();
    let runtime = facts.and_then(|facts| RuntimeKind::by_name(&facts.runtime));
    // The reference has no name for a third builder in these files.
    let runtime = runtime.filter(|runtime| matches!(runtime, RuntimeKind::Hbg | RuntimeKind::Trb));
    let mut written = Written::default();
    if wanted.deps {
        let (deps, left_out) = from_run::deps(graph, runtime, &arguments(dump));
        written.edges_left_out = left_out;
        written.put(directory.join("deps.json"), &deps.text())?;
    }
    if wanted.swimlane
        && let Some(times) = dump.times()?
    {
        let times = from_run::times(&times, graph, runtime, core_types(dump));
        if !times.parts.is_empty() {
            written.put(directory.join("chip_swimlane_records.json"), &times.text())?;
        }
    }
    let kernels = graph.kernels.iter().map(|kernel| (kernel.func_id as i32, kernel.name.clone()));
    let (scene, case) = facts.map_or(("", ""), |facts| (&facts.scene, &facts.case));
    let names = Names::of_kernels(Some(scene.to_owned()).filter(|scene| !scene.is_empty()), kernels);
    if !names.is_empty() {
        let plain = |text: &str| {
            text.replace(
                |letter: char| !letter.is_ascii_alphanumeric() && !matches!(letter, '.' | '_' | '-'),
                "_",
            )
        };
        let name = format!("name_map_{}_{}.json", plain(scene), plain(case));
        written.put(directory.join(name), &names.text())?;
    }
    Ok(written)
}

impl Written {
    fn put(&mut self, path: PathBuf, text: &str) -> Result<(), WriteError> {
        argus_files::write(&path, text.as_bytes(), false)
            .map_err(|source| WriteError::Io { path: path.clone(), source })?;
        self.files.push(path);
        Ok(())
    }
}

/// The tensors of each task, as they were captured.
fn arguments(dump: &Dump) -> BTreeMap<TaskId, Vec<RunArgument>> {
    let mut arguments: BTreeMap<TaskId, Vec<RunArgument>> = BTreeMap::new();
    for record in dump.records().filter(|record| record.kind == Kind::Tensor) {
        let (Some(address), Some(dtype)) = (record.address, record.dtype) else { continue };
        let list = arguments.entry(record.task_id).or_default();
        let kind = match record.role {
            Role::Input => TensorArgType::Input,
            Role::Inout => TensorArgType::Inout,
            Role::Output if record.created => TensorArgType::Output,
            Role::Output => TensorArgType::OutputExisting,
        };
        if list.iter().any(|known| known.index == record.arg_index) {
            continue;
        }
        list.push(RunArgument {
            index: record.arg_index,
            kind,
            address,
            dtype,
            shape: record.shape().to_vec(),
            strides: record.strides().to_vec(),
            start_offset: record.start_offset,
        });
    }
    for list in arguments.values_mut() {
        list.sort_by_key(|argument| argument.index);
    }
    arguments
}

/// The cores of the device, matrix cores first; those that ran something tell their type themselves.
fn core_types(dump: &Dump) -> Vec<CoreType> {
    let clusters = dump.run().and_then(|run| run.configuration.get("clusters")?.as_u64()).unwrap_or(0);
    // No device has more; the number is out of a file.
    let clusters = clusters.min(argus_abi::MAX_CORES as u64 / 3) as usize;
    let mut types = vec![CoreType::Aic; clusters];
    types.resize(3 * clusters, CoreType::Aiv);
    types
}
