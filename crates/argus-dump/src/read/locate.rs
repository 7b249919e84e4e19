//! From what a user typed to the files of a dump.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::dump::Dump;
use super::error::{Lack, OpenError};
use crate::{DUMP_DIRECTORY, JOURNAL_FILE, MANIFEST_FILE};

/// The manifest of August, and the directory that it lies in.
pub(super) const AUGUST_MANIFEST: &str = "args_dump.json";
pub(super) const AUGUST_DIRECTORY: &str = "args_dump";
/// Where the pypto front end keeps the output of a run.
const FRONT_END: &str = "dfx_outputs";
/// How the names of April's directory and manifest begin; a time follows.
pub(super) const APRIL_PREFIX: &str = "tensor_dump_";

/// The files that say what is in a dump.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DumpFiles {
    pub(super) directory: PathBuf,
    pub(super) journal: Option<String>,
    pub(super) manifest: Option<String>,
}

/// Finds the dump that `path` means: its directory, the directory above, or one of its files.
pub(super) fn locate(path: &Path) -> Result<DumpFiles, OpenError> {
    let metadata = fs::metadata(path).map_err(|source| OpenError::io(path, source))?;
    if metadata.is_dir() { in_directory(path) } else { beside(path) }
}

/// What of a dump a command works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    Records,
    OrchestrationArgs,
}

/// The newest dump below `outputs` that holds something of that kind. One that cannot be read counts: opening it then says
/// why.
pub(super) fn newest(outputs: &Path, what: Holds) -> Result<PathBuf, OpenError> {
    let mut dumps: Vec<(SystemTime, PathBuf)> = Vec::new();
    for run in subdirectories(outputs)? {
        dumps.extend(dumps_of_run(&run)?.into_iter().map(|dump| (written(&dump), dump.directory)));
    }
    dumps.sort();
    let holds = |dump: Dump| match what {
        Holds::Records => !dump.is_empty(),
        Holds::OrchestrationArgs => dump.run().is_some_and(|run| !run.orchestration_args.is_empty()),
    };
    let lack = || OpenError::NotADump { path: outputs.to_path_buf(), lack: Lack::Runs };
    let newest = dumps.into_iter().rev().map(|(_, path)| path);
    newest.into_iter().find(|path| Dump::open(path).map_or(true, holds)).ok_or_else(lack)
}

/// The runs below `outputs` that have dumps, by name, each with its dumps.
pub(crate) fn dumps_in(outputs: &Path) -> Result<Vec<(PathBuf, Vec<PathBuf>)>, OpenError> {
    let mut runs = Vec::new();
    for run in subdirectories(outputs)? {
        let dumps: Vec<PathBuf> = dumps_of_run(&run)?.into_iter().map(|dump| dump.directory).collect();
        if !dumps.is_empty() {
            runs.push((run, dumps));
        }
    }
    Ok(runs)
}

fn in_directory(path: &Path) -> Result<DumpFiles, OpenError> {
    if let Some(place) = direct(path)? {
        return Ok(place);
    }
    let mut dumps = dumps_of_run(path)?;
    if let [_] = dumps[..] {
        return Ok(dumps.remove(0));
    }
    let paths: Vec<_> = dumps.into_iter().map(|dump| dump.directory).collect();
    let is_round = |dump: &PathBuf| dump.parent() != Some(path);
    if !paths.is_empty() {
        let path = path.to_path_buf();
        return Err(if paths.iter().all(is_round) {
            OpenError::Rounds { path, rounds: paths }
        } else {
            OpenError::Several { path, dumps: paths }
        });
    }
    Err(OpenError::NotADump {
        path: path.to_path_buf(),
        lack: Lack::Files { newest: newest(path, Holds::Records).ok() },
    })
}

/// The dump that the file at `path` belongs to.
fn beside(path: &Path) -> Result<DumpFiles, OpenError> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    };
    let named = |file: &str| (directory.join(file).symlink_metadata().is_ok()).then(|| file.to_owned());
    match name.as_str() {
        JOURNAL_FILE | MANIFEST_FILE => {
            let manifest = named(MANIFEST_FILE);
            Ok(DumpFiles { journal: named(JOURNAL_FILE), manifest, directory })
        }
        other if other.ends_with(".journal") => {
            Ok(DumpFiles { directory, journal: Some(name), manifest: None })
        }
        crate::GRAPH_FILE | crate::RUN_FILE | crate::TIMELINE_FILE => in_directory(&directory),
        other if other.ends_with(".json") => Ok(DumpFiles { directory, journal: None, manifest: Some(name) }),
        _ => in_directory(&directory)
            .map_err(|_| OpenError::NotADump { path: path.to_path_buf(), lack: Lack::Part }),
    }
}

/// The dump whose files lie in `directory` itself.
fn direct(directory: &Path) -> Result<Option<DumpFiles>, OpenError> {
    let there = |name: &str| directory.join(name).symlink_metadata().is_ok();
    let place = DumpFiles { directory: directory.to_path_buf(), ..DumpFiles::default() };
    if there(JOURNAL_FILE) || there(MANIFEST_FILE) {
        let found = |name: &str| there(name).then(|| name.to_owned());
        return Ok(Some(DumpFiles { journal: found(JOURNAL_FILE), manifest: found(MANIFEST_FILE), ..place }));
    }
    if there(AUGUST_MANIFEST) {
        return Ok(Some(DumpFiles { manifest: Some(AUGUST_MANIFEST.to_owned()), ..place }));
    }
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).map_err(|source| OpenError::io(directory, source))? {
        let entry = entry.map_err(|source| OpenError::io(directory, source))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(APRIL_PREFIX) && name.ends_with(".json") {
            names.push(name);
        }
    }
    names.sort();
    match names.len() {
        0 => Ok(None),
        1 => Ok(Some(DumpFiles { manifest: names.pop(), ..place })),
        _ => {
            let dumps = names.iter().map(|name| directory.join(name)).collect();
            Err(OpenError::Several { path: directory.to_path_buf(), dumps })
        }
    }
}

/// The dumps in a run's directory: its own, or those of its rounds.
fn dumps_of_run(run: &Path) -> Result<Vec<DumpFiles>, OpenError> {
    let mut places = Vec::new();
    if let Ok(Some(place)) = direct(run) {
        places.push(place);
    }
    let mut below = |directory: PathBuf| {
        if directory.is_dir()
            && let Ok(Some(place)) = direct(&directory)
        {
            places.push(place);
        }
    };
    for name in [DUMP_DIRECTORY, AUGUST_DIRECTORY] {
        below(run.join(name));
        // The pypto front end keeps what a run wrote one level down.
        below(run.join(FRONT_END).join(name));
    }
    for round in subdirectories(run)? {
        if round.file_name().is_some_and(|name| name.to_string_lossy().starts_with("round_")) {
            below(round.join(DUMP_DIRECTORY));
        }
    }
    Ok(places)
}

fn subdirectories(path: &Path) -> Result<Vec<PathBuf>, OpenError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(path).map_err(|source| OpenError::io(path, source))? {
        let entry = entry.map_err(|source| OpenError::io(path, source))?.path();
        if entry.is_dir() {
            found.push(entry);
        }
    }
    found.sort();
    Ok(found)
}

/// When the dump was last written to.
fn written(place: &DumpFiles) -> SystemTime {
    [&place.journal, &place.manifest]
        .into_iter()
        .flatten()
        .filter_map(|name| fs::metadata(place.directory.join(name)).ok()?.modified().ok())
        .max()
        .unwrap_or(SystemTime::UNIX_EPOCH)
}
