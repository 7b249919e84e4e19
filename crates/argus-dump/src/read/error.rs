//! Why a dump, or a payload of it, cannot be read.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use thiserror::Error;

use super::locate::{APRIL_PREFIX, AUGUST_DIRECTORY, AUGUST_MANIFEST};
use crate::journal::JournalError;
use crate::timeline_file::TimelineError;
use crate::{DUMP_DIRECTORY, JOURNAL_FILE, MANIFEST_FILE};

/// Why a dump cannot be read at all.
#[derive(Debug, Error)]
pub enum OpenError {
    #[error("cannot read {}", path.display())]
    Io { path: PathBuf, source: io::Error },

    #[error("{} holds no dump: {lack}", path.display())]
    NotADump { path: PathBuf, lack: Lack },

    #[error("{} holds {} rounds; name one of them: {}", path.display(), rounds.len(), listed(rounds))]
    Rounds { path: PathBuf, rounds: Vec<PathBuf> },

    #[error("{} holds several dumps; name one of them: {}", path.display(), listed(dumps))]
    Several { path: PathBuf, dumps: Vec<PathBuf> },

    #[error("{}", path.display())]
    Journal { path: PathBuf, source: JournalError },

    /// An entry of a journal that says what cannot be.
    #[error("{}, entry {entry}: {field} is {found}; allowed is {allowed}", path.display())]
    Entry { path: PathBuf, entry: usize, field: &'static str, found: String, allowed: &'static str },

    /// A manifest that is not JSON, or says what cannot be.
    #[error("{}{}: {problem}", path.display(), place(*record, field))]
    Manifest { path: PathBuf, record: Option<usize>, field: &'static str, problem: String },
}

impl OpenError {
    pub(super) fn io(path: &Path, source: io::Error) -> OpenError {
        OpenError::Io { path: path.to_path_buf(), source }
    }
}

/// What a place lacks that would make it a dump.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Lack {
    /// A directory of runs, none of which was captured.
    #[error("none of the directories in it has one")]
    Runs,
    /// A directory with none of the files that dumps have.
    #[error(
        "neither {JOURNAL_FILE}, {MANIFEST_FILE}, {AUGUST_MANIFEST} nor {APRIL_PREFIX}*.json is in it, \
         nor in {DUMP_DIRECTORY} or {AUGUST_DIRECTORY} below it{}",
        below(newest.as_deref())
    )]
    Files { newest: Option<PathBuf> },
    /// A file that has no part in a dump.
    #[error("it is neither a journal nor a manifest, and there is none beside it")]
    Part,
    #[error("it has neither a journal nor a manifest")]
    Records,
}

fn below(newest: Option<&Path>) -> String {
    newest.map_or_else(String::new, |newest| format!("; the newest dump below it is {}", newest.display()))
}

/// Why the times of a run cannot be read.
#[derive(Debug, Error)]
pub enum TimesError {
    #[error("cannot read {}", path.display())]
    Io { path: PathBuf, source: io::Error },

    #[error("{}", path.display())]
    Content { path: PathBuf, source: TimelineError },
}

/// `, record 3, field shape`, as far as it is known.
fn place(record: Option<usize>, field: &str) -> String {
    let mut text = record.map_or_else(String::new, |record| format!(", record {record}"));
    if !field.is_empty() {
        text.push_str(", field ");
        text.push_str(field);
    }
    text
}

/// At most ten of them.
fn listed(paths: &[PathBuf]) -> String {
    let shown: Vec<_> = paths.iter().take(10).map(|path| path.display().to_string()).collect();
    let mut text = shown.join(", ");
    if paths.len() > 10 {
        text.push_str(&format!(" and {} more", paths.len() - 10));
    }
    text
}

/// Why there are no payload bytes for a record.
#[derive(Debug, Error)]
pub enum PayloadError {
    #[error("record {record} is a scalar; its value is in the record, not in a payload file")]
    Scalar { record: usize },

    #[error("record {record} was captured without its payload")]
    NotKept { record: usize },

    #[error(
        "the payload of record {record} was overwritten on the device, or given up by the host, before it could be collected"
    )]
    Overwritten { record: usize },

    #[error("record {record} has its payload in {}, which cannot be read", path.display())]
    Missing { record: usize, path: PathBuf, source: Arc<io::Error> },

    #[error(
        "record {record} has its payload in bytes {offset}..{} of {}, which has only {len} bytes",
        u128::from(*offset) + u128::from(*size), path.display()
    )]
    PastEnd { record: usize, path: PathBuf, offset: u64, size: u64, len: u64 },

    #[error(
        "the payload of record {record}, bytes {offset}..{} of {}, is damaged: its checksum is {found:032x}, that of \
         the captured bytes is {expected:032x}",
        u128::from(*offset) + u128::from(*size), path.display()
    )]
    Damaged { record: usize, path: PathBuf, offset: u64, size: u64, expected: u128, found: u128 },
}

impl PayloadError {
    /// Whether the dump once had the bytes and does not have them any more.
    pub fn is_damage(&self) -> bool {
        match self {
            PayloadError::Missing { .. } | PayloadError::PastEnd { .. } | PayloadError::Damaged { .. } => {
                true
            }
            PayloadError::Scalar { .. } | PayloadError::NotKept { .. } | PayloadError::Overwritten { .. } => {
                false
            }
        }
    }
}
