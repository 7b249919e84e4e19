//! What can go wrong while a dump is written.

use std::fmt;
use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// What a dump that could not be finished still holds, counted from its files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    /// Records whose journal entry and payload are on disk.
    pub records: u64,
    /// Bytes of payload that those records name.
    pub payload_bytes: u64,
}

impl fmt::Display for Saved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} records with {} bytes of payload are saved and readable from the journal",
            self.records, self.payload_bytes
        )
    }
}

/// Why a dump could not be written.
#[derive(Debug, Error)]
pub enum DumpError {
    #[error("cannot create {}", path.display())]
    Create { path: PathBuf, source: io::Error },

    #[error("{} holds a dump", path.display())]
    Occupied { path: PathBuf },

    /// A write failed. `written` counts the bytes of that file that did reach it.
    #[error("cannot write {} beyond {written} bytes ({saved})", path.display())]
    Write { path: PathBuf, written: u64, saved: Saved, source: io::Error },

    /// The caller broke the order of calls.
    #[error("the collector delivered out of order: {0}")]
    Order(&'static str),
}
