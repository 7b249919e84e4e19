//! Why a dump, or a payload of it, cannot be read.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::journal::JournalError;

/// Why a dump cannot be read at all.
#[derive(Debug, Error)]
pub enum OpenError {
    #[error("cannot read {}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },

    #[error("{} holds no dump: {}", path.display(), why)]
    NotADump { path: PathBuf, why: String },

    #[error("{} holds {} rounds; name one of them: {}", path.display(), rounds.len(), listed(rounds))]
    Rounds { path: PathBuf, rounds: Vec<PathBuf> },

    #[error("{} holds several dumps; name one of them: {}", path.display(), listed(dumps))]
    Several { path: PathBuf, dumps: Vec<PathBuf> },

    #[error("{}: {source}", path.display())]
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

    #[error("the payload of record {record} was overwritten on the device before it could be collected")]
    Overwritten { record: usize },

    #[error("record {record} has its payload in {}, which cannot be read: {why}", path.display())]
    Missing { record: usize, path: PathBuf, why: String },

    #[error(
        "record {record} has its payload in bytes {offset}..{} of {}, which has only {len} bytes",
        u128::from(*offset) + u128::from(*size), path.display()
    )]
    PastEnd { record: usize, path: PathBuf, offset: u64, size: u64, len: u64 },
}
