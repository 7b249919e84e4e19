//! The formats, one file each.

pub(crate) mod csv;
pub(crate) mod npy;
pub(crate) mod npz;
pub(crate) mod parquet;
pub(crate) mod safetensors;
pub(crate) mod txt;

use argus_dump::read::{Dump, Record};

use crate::Options;
use crate::names::Names;
use crate::report::Progress;

/// What is exported, the same for every format.
pub(crate) struct Job<'a> {
    pub(crate) dump: &'a Dump,
    /// Ascending, each once, all of the dump.
    pub(crate) records: &'a [usize],
    pub(crate) names: &'a Names<'a>,
    pub(crate) options: Options,
    pub(crate) progress: &'a Progress<'a>,
}

impl Job<'_> {
    pub(crate) fn file_names(&self, extension: &str) -> impl Iterator<Item = String> {
        self.records().map(move |record| format!("{}.{extension}", self.names.stem(&record)))
    }

    pub(crate) fn records(&self) -> impl Iterator<Item = Record> {
        self.records.iter().map(|&index| self.dump.record(index))
    }
}
