//! Why an export could not be made.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

#[derive(Debug, Error)]
pub enum ExportError {
    #[error("there is no record {index}; the dump has {len}")]
    NoSuchRecord { index: usize, len: usize },

    #[error("{} exists", path.display())]
    Exists { path: PathBuf },

    #[error("{} holds the dump itself; give another directory", path.display())]
    InsideDump { path: PathBuf },

    /// A directory that would have to be replaced holds more than a dump.
    #[error("{} holds {name}, which is not part of a dump; it is not replaced", path.display())]
    NotOnlyADump { path: PathBuf, name: String },

    #[error("cannot create {}", path.display())]
    Create { path: PathBuf, source: io::Error },

    #[error("cannot write {}", path.display())]
    Write { path: PathBuf, source: io::Error },

    /// A library refused; its own words, which tell its causes.
    #[error("cannot write {}: {why}", path.display())]
    Format { path: PathBuf, why: String },

    #[error(transparent)]
    Dump(#[from] argus_dump::DumpError),
}

impl ExportError {
    pub(crate) fn create(path: &Path) -> impl FnOnce(io::Error) -> ExportError {
        let path = path.to_path_buf();
        move |source| ExportError::Create { path, source }
    }

    pub(crate) fn write(path: &Path) -> impl FnOnce(io::Error) -> ExportError {
        let path = path.to_path_buf();
        move |source| ExportError::Write { path, source }
    }
}
