//! From what was typed to an open dump, to some of its records, and to whether their payloads are there.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use argus_dump::filter::{Filter, FilterError};
use argus_dump::read::{Dump, Holds, Lack, OpenError, PayloadError};
use argus_facts::task_selector::TASK_FORMS;
use argus_facts::{TaskSelector, with_causes};
use argus_runs::capture::Wanted;
use argus_runs::{Capture, RunError, RunTree};
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::cli::FilterArgs;
use crate::failure::{Failure, did_you_mean};
use crate::output;
use crate::settings::settings;

/// Opens the dump that was named, or else the newest below the directory of runs. It knows the graph and the names that
/// lie beside it.
///
/// What cannot be read is blamed on the command line: exit code 2, so that scripts can tell it from a finding.
pub fn open(path: Option<&Path>) -> Result<Dump, Failure> {
    capture(path, Wanted::Graph).map(|capture| capture.dump)
}

/// The same with the files beside the dump.
pub fn capture(path: Option<&Path>, wanted: Wanted) -> Result<Capture, Failure> {
    let path = path_or_newest(path)?;
    Capture::open(&path, wanted).map_err(|error| no_capture(&path, error))
}

pub fn path_or_newest(path: Option<&Path>) -> Result<PathBuf, Failure> {
    match path {
        Some(path) => Ok(path.to_path_buf()),
        None => newest(Holds::Records),
    }
}

/// The newest dump below the directory of runs.
pub fn newest(what: Holds) -> Result<PathBuf, Failure> {
    let outputs = &settings().outputs;
    let newest = Dump::newest(outputs, what).map_err(|error| no_runs(outputs, error))?;
    output::detail(&format!("no dump is named; the newest is {}", newest.display()));
    Ok(newest)
}

/// What a path means: one capture, or some of a tree of them.
pub enum Target {
    One(Box<Capture>),
    Tree { tree: RunTree, chosen: Vec<usize> },
}

/// Finds out what a path and a choice of ranks mean. One rank with one capture is that capture.
pub fn target(path: Option<&Path>, ranks: Option<&str>, wanted: Wanted) -> Result<Target, Failure> {
    let path = path_or_newest(path)?;
    match Capture::open(&path, wanted) {
        Ok(_) if ranks.is_some() => {
            let error = anyhow!("{} is one capture: it has no ranks to choose from", path.display());
            Err(Failure::usage(error)
                .hint("leave --rank out, or name the directory of the whole run".to_owned()))
        }
        Ok(capture) => Ok(Target::One(Box::new(capture))),
        Err(error @ RunError::Ranks { .. }) => {
            let tree = RunTree::read(&path).ok_or_else(|| no_capture(&path, error))?;
            let chosen = tree.choose(ranks).map_err(Failure::usage)?;
            if let [only] = chosen[..] {
                return capture(Some(&tree.capture(only).directory), wanted)
                    .map(|one| Target::One(Box::new(one)));
            }
            Ok(Target::Tree { tree, chosen })
        }
        Err(error) => Err(no_capture(&path, error)),
    }
}

fn no_capture(path: &Path, error: RunError) -> Failure {
    match error {
        RunError::Open(error) => cannot_read(path, error),
        RunError::Ranks { ref labels, .. } => {
            let first = labels.first().map_or("", String::as_str);
            let hint =
                format!("name one: {}/{first}, or choose with --rank where a command has it", path.display());
            Failure::usage(error).hint(hint).next(format!("argus view {}", output::shell_word(path)))
        }
        RunError::NoRecords { .. } => {
            let next = format!("argus view {}", output::shell_word(path));
            Failure::usage(error).next(next)
        }
        RunError::Overwritten { .. } => {
            let hint = "run each chip into a directory of its own (rank*/d*), or name the manifest file itself to see what \
                        is left"
                .to_owned();
            Failure::usage(error).hint(hint)
        }
        other => Failure::usage(other),
    }
}

/// A directory of runs that is not there, or holds no run.
fn no_runs(outputs: &Path, error: OpenError) -> Failure {
    let error = match error {
        OpenError::Io { source, .. } if source.kind() == ErrorKind::NotFound => {
            anyhow!(
                "no dump was named, and there is no directory {} here to take the newest from",
                outputs.display()
            )
        }
        other => other.into(),
    };
    Failure::usage(error).hint("name a dump, or make one: argus run vector_example --dump-tensor".to_owned())
}

fn cannot_read(path: &Path, error: OpenError) -> Failure {
    let hint = match &error {
        OpenError::NotADump { lack: Lack::Files { newest: Some(newest) }, .. } => {
            Some(format!("`argus view {}` lists its records", output::shell_word(newest)))
        }
        OpenError::NotADump { .. } => Some(format!(
            "a dump is a directory with tensor_dump.journal, tensor_dump.json or args_dump.json, or its parent; \
             `ls {}` shows what is there",
            path.display()
        )),
        _ => None,
    };
    Failure::usage(error).hint(hint)
}

/// A task as typed.
pub fn task(text: &str) -> Result<TaskSelector, Failure> {
    TaskSelector::parse(text)
        .ok_or_else(|| Failure::usage(anyhow!("'{text}' does not name a task: {TASK_FORMS}")))
}

/// The records that a filter means, by index. One that means none is wrong usage.
pub fn select(dump: &Dump, typed: &FilterArgs) -> Result<Vec<usize>, Failure> {
    let mut filter = Filter::default();
    let nan = typed.nan.then(|| "true".to_owned());
    for (key, value) in [
        ("task", &typed.task),
        ("kernel", &typed.kernel),
        ("func-id", &typed.func_id),
        ("stage", &typed.stage),
        ("role", &typed.role),
        ("arg", &typed.arg),
        ("kind", &typed.kind),
        ("dtype", &typed.dtype),
        ("nan", &nan),
        ("index", &typed.index),
        ("min-size", &typed.min_size),
        ("max-size", &typed.max_size),
    ] {
        if let Some(value) = value {
            filter.add(key, value).map_err(Failure::usage)?;
        }
    }
    filter.select(dump).map_err(|error| {
        let kernel = match &error {
            FilterError::Nothing { condition, .. } => condition.strip_prefix("kernel="),
            _ => None,
        };
        let meant = kernel.and_then(|typed| did_you_mean(typed, kernels(dump)));
        Failure::usage(error).hint(meant)
    })
}

/// The names of the kernels that ran, each once.
fn kernels(dump: &Dump) -> BTreeSet<String> {
    let ids: BTreeSet<i32> = dump.records().flat_map(|record| record.func_ids.to_vec()).collect();
    ids.into_iter().filter_map(|id| dump.kernel_name(id)).map(str::to_owned).collect()
}

/// Payloads that a dump promises and does not have: its payload file is gone, ends too early, or holds other bytes
/// than were captured.
///
/// What was never captured, or was overwritten on the device, the dump says itself; that is no damage.
pub struct Unreadable {
    records: usize,
    /// What is wrong with the first one.
    first: String,
    directory: PathBuf,
}

impl Unreadable {
    /// Reads the payloads of the selected records.
    pub fn among(dump: &Dump, selected: &[usize]) -> Option<Unreadable> {
        let damage = |&index: &usize| dump.payload(&dump.record(index)).err().filter(PayloadError::is_damage);
        let records = selected.par_iter().filter(|&index| damage(index).is_some()).count();
        let first = (records > 0).then(|| selected.iter().find_map(damage)).flatten()?;
        Some(Unreadable { records, first: with_causes(&first), directory: dump.directory().to_path_buf() })
    }

    pub fn failure(&self) -> Failure {
        let more = match self.records - 1 {
            0 => String::new(),
            1 => " (and 1 more record is like it)".to_owned(),
            more => format!(" (and {more} more records are like it)"),
        };
        Failure::failed(anyhow!("{}{more}", self.first)).hint(format!(
            "`argus verify {}` lists every defect; filters choose records that are whole",
            self.directory.display()
        ))
    }

    pub fn object(&self) -> Value {
        json!({ "records": self.records, "first": self.first })
    }
}
