//! Which file is what, by its content; names only say where to look first.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{Artefacts, Contradiction, Found, Kind, Problem};
use crate::counters::Counters;
use crate::deps::Deps;
use crate::identity::{DispatchIdentity, parse_program};
use crate::log::RunLog;
use crate::names::{NameLevel, Names};
use crate::scopes::ScopeStats;
use crate::times::Times;
use crate::{ArtefactError, host_phases};

/// Largest file that is read: the times of tens of millions of kernel calls.
const LARGEST: u64 = 4 << 30;
/// Files of a directory that are looked at.
const MOST_FILES: usize = 1000;
/// Directories above a capture in which a front end's kernels or a host's log may lie.
const LEVELS_UP: usize = 5;

/// Keys that tell what a JSON file is.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Keys {
    edges: Option<IgnoredAny>,
    aicore_tasks: Option<IgnoredAny>,
    tasks: Option<IgnoredAny>,
    callable_id_to_name: Option<IgnoredAny>,
    orchestrator_name: Option<IgnoredAny>,
    callable_digest: Option<IgnoredAny>,
    program: Option<IgnoredAny>,
    #[serde(rename = "traceEvents")]
    trace_events: Option<IgnoredAny>,
    schema: Option<IgnoredAny>,
}

/// What a name promises.
fn by_name(name: &str) -> Option<Kind> {
    let swimlane = ["chip_swimlane_records", "l2_swimlane_records", "l2_perf_records", "perf_swimlane_"];
    match name {
        "deps.json" => Some(Kind::Graph),
        "dispatch_identity.json" => Some(Kind::Identity),
        "dispatch_program.json" => Some(Kind::Program),
        "pmu.csv" => Some(Kind::Counters),
        "scope_stats.jsonl" => Some(Kind::Scopes),
        "host_phase_records.jsonl" => Some(Kind::HostPhases),
        _ if swimlane.iter().any(|start| name.starts_with(start)) && name.ends_with(".json") => {
            Some(Kind::Times)
        }
        _ if name.starts_with("name_map") && name.ends_with(".json") => Some(Kind::Names),
        _ if name.ends_with(".log") => Some(Kind::Log),
        _ => None,
    }
}

/// What a text is. `None`: none of the files that this crate knows.
fn by_content(name: &str, text: &[u8]) -> Option<Kind> {
    let ending = Path::new(name).extension().and_then(OsStr::to_str).unwrap_or("");
    match ending {
        "json" => {
            let keys: Keys = serde_json::from_slice(text).ok()?;
            // Chrome traces and our own files.
            if keys.trace_events.is_some() || keys.schema.is_some() {
                return None;
            }
            if keys.edges.is_some() {
                Some(Kind::Graph)
            } else if keys.aicore_tasks.is_some() || keys.tasks.is_some() {
                Some(Kind::Times)
            } else if keys.callable_digest.is_some() {
                Some(Kind::Identity)
            } else if keys.callable_id_to_name.is_some() || keys.orchestrator_name.is_some() {
                Some(Kind::Names)
            } else {
                keys.program.is_some().then_some(Kind::Program)
            }
        }
        "jsonl" => {
            let first = text.split(|&byte| byte == b'\n').next().unwrap_or(text);
            let first: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(first).ok()?;
            if first.contains_key("task_window_max") {
                Some(Kind::Scopes)
            } else {
                (first.contains_key("inv") && first.contains_key("records")).then_some(Kind::HostPhases)
            }
        }
        "csv" => text.starts_with(b"thread_id,").then_some(Kind::Counters),
        // Users keep the log under a name of their own.
        _ if LOG_ENDINGS.contains(&ending) => is_log(text).then_some(Kind::Log),
        _ => None,
    }
}

/// Endings under which users keep what a run wrote to its error stream.
const LOG_ENDINGS: [&str; 3] = ["txt", "err", "out"];

/// Whether a text has lines that only a run writes.
fn is_log(text: &[u8]) -> bool {
    let marks: [&[u8]; 4] = [b"[STRACE] ", b"sched_error_code=", b"[STALL ", b"[CLOCK_ANCHOR] "];
    marks.iter().any(|mark| text.windows(mark.len()).any(|window| window == *mark))
}

pub(super) fn read(directory: &Path, kinds: &[Kind]) -> Artefacts {
    let mut artefacts = Artefacts { directory: directory.to_path_buf(), ..Artefacts::default() };
    let mut files = all_files(directory);
    // A file under its own name comes before one that only looks like it.
    files.sort_by_key(|path| by_name(&name_of(path)).is_none());
    artefacts.drop_times_of_april(&mut files, kinds);
    for path in files {
        if by_name(&name_of(&path)).is_none_or(|kind| kinds.contains(&kind)) {
            artefacts.take(&path, kinds);
        }
    }
    artefacts.look_above(kinds);
    artefacts
}

pub(super) fn listed(directory: &Path) -> Vec<Found> {
    let files = all_files(directory).into_iter();
    files.filter_map(|path| Some(Found { kind: by_name(&name_of(&path))?, path })).collect()
}

fn all_files(directory: &Path) -> Vec<PathBuf> {
    let mut files = files_of(directory);
    files.extend(files_of(&directory.join("scope_stats")));
    // Logs of the device itself, on hardware.
    let entries = fs::read_dir(directory).into_iter().flatten().flatten().take(MOST_FILES);
    let mut devices: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    devices.retain(|path| name_of(path).starts_with("device-") && path.is_dir());
    devices.sort();
    let logs = devices.iter().flat_map(|device| files_of(device));
    files.extend(logs.filter(|path| by_name(&name_of(path)) == Some(Kind::Log)));
    files
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Files that may be ours to read, by name.
fn files_of(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten().take(MOST_FILES);
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| wanted(path)).collect();
    files.sort();
    files
}

fn wanted(path: &Path) -> bool {
    let name = name_of(path);
    // What the reference's converters make of these files can be a hundred times as long.
    let made = ["merged_swimlane", "l3_swimlane", "CPM_", "args_dump", "tensor_dump", "deps_viewer"];
    let ending = path.extension().and_then(OsStr::to_str).unwrap_or("");
    let known_ending = ["json", "jsonl", "csv", "log"].contains(&ending) || LOG_ENDINGS.contains(&ending);
    known_ending && !name.starts_with('.') && !made.iter().any(|start| name.starts_with(start))
}

impl Artefacts {
    /// In April the times of all runs lay in one directory, beside the directories of their dumps. Where there are several
    /// of either, nothing says which belong together.
    fn drop_times_of_april(&mut self, files: &mut Vec<PathBuf>, kinds: &[Kind]) {
        let is_old = |path: &PathBuf| name_of(path).starts_with("perf_swimlane_");
        let entries = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let dumps = entries.filter(|entry| {
            entry.file_name().to_string_lossy().starts_with("tensor_dump_") && entry.path().is_dir()
        });
        let old = files.iter().filter(|path| is_old(path)).count();
        if old == 0 || old == 1 && dumps.count() <= 1 {
            return;
        }
        files.retain(|path| !is_old(path));
        if kinds.contains(&Kind::Times) {
            let path = self.directory.join("perf_swimlane_*.json");
            self.problems.push(Problem { kind: Kind::Times, path, error: ArtefactError::OtherRuns });
        }
    }

    fn take(&mut self, path: &Path, kinds: &[Kind]) {
        let name = name_of(path);
        let promised = by_name(&name);
        let text = match argus_files::read(path, LARGEST) {
            Ok(text) => text,
            Err(error) => {
                if let Some(kind) = promised {
                    self.problems.push(Problem { kind, path: path.to_path_buf(), error: error.into() });
                }
                return;
            }
        };
        // A name that is kept saves a look at the whole text.
        let mut failed = None;
        if let Some(kind) = promised {
            match self.understand(kind, path, &text) {
                Ok(()) => return,
                Err(error) => failed = Some((kind, error)),
            }
        }
        let kind = by_content(&name, &text).filter(|kind| Some(*kind) != promised);
        if let Some(kind) = kind.filter(|kind| kinds.contains(kind)) {
            failed = self.understand(kind, path, &text).err().map(|error| (kind, error));
        }
        if let Some((kind, error)) = failed {
            self.problems.push(Problem { kind, path: path.to_path_buf(), error });
        }
    }

    /// Reads a text as a kind of file and keeps what it says.
    fn understand(&mut self, kind: Kind, path: &Path, text: &[u8]) -> Result<(), ArtefactError> {
        let taken = self.found.iter().any(|found| found.kind == kind);
        match kind {
            Kind::Names => return self.take_names(path, Names::parse(text)?),
            Kind::Log => {
                let log = RunLog::parse(text)?;
                match &mut self.log {
                    Some(known) => known.join(log),
                    None => self.log = Some(log),
                }
            }
            Kind::Graph if !taken => self.deps = Some(Deps::parse(text)?),
            Kind::Times if !taken => self.times = Some(Times::parse(text)?),
            Kind::Scopes if !taken => self.scopes = Some(ScopeStats::parse(text)?),
            Kind::Counters if !taken => self.counters = Some(Counters::parse(text)?),
            Kind::HostPhases if !taken => self.host_phases = host_phases::parse(text)?,
            Kind::Identity if !taken => self.identity = Some(DispatchIdentity::parse(text)?),
            Kind::Program if !taken => self.program = Some(parse_program(text)?),
            _ => return Err(ArtefactError::Second),
        }
        self.found.push(Found { kind, path: path.to_path_buf() });
        Ok(())
    }

    fn take_names(&mut self, path: &Path, names: Names) -> Result<(), ArtefactError> {
        if names.level == NameLevel::Callables {
            self.callables = Some(names);
            return Ok(());
        }
        self.found.push(Found { kind: Kind::Names, path: path.to_path_buf() });
        for (id, ours, theirs) in self.names.join(&names) {
            self.contradictions.push(Contradiction {
                kind: Kind::Names,
                path: path.to_path_buf(),
                how: format!(
                    "it calls kernel {id} '{theirs}', and another file calls it '{ours}': it is shown by number"
                ),
            });
        }
        Ok(())
    }

    /// What lies above a capture: the kernels of a front end's program, and the log of the process that ran it.
    fn look_above(&mut self, kinds: &[Kind]) {
        // A relative path ends where the user stands, not at the root.
        let directory = fs::canonicalize(&self.directory).unwrap_or_else(|_| self.directory.clone());
        for above in directory.ancestors().skip(1).take(LEVELS_UP) {
            if let Some(pid) = self.identity.as_ref().and_then(|identity| identity.host_pid) {
                let path = above.join(format!("host.{pid}.log"));
                if kinds.contains(&Kind::Log) && path.is_file() {
                    self.take(&path, kinds);
                }
            }
            // Func ids count from 0 in each program: kernels of another program would be wrong names.
            let config = match &self.program {
                Some(program) => above.join("next_levels").join(program).join("kernel_config.py"),
                None if directory.file_name() == Some(OsStr::new("dfx_outputs")) => {
                    above.join("kernel_config.py")
                }
                None => continue,
            };
            if !config.is_file() {
                continue;
            }
            let read = argus_files::read(&config, argus_files::LARGEST_TEXT).map_err(ArtefactError::from);
            let taken = read.and_then(|text| Names::parse_kernel_config(&text));
            if let Err(error) = taken.and_then(|names| self.take_names(&config, names)) {
                self.problems.push(Problem { kind: Kind::Names, path: config, error });
            }
            break;
        }
    }
}
