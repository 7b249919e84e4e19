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

/// A format that records can be exported to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// One text file per record, as the reference's viewer writes it.
    Txt,
    /// One NumPy file per record, and `index.json`.
    Npy,
    /// One NumPy archive, `tensors.npz`, and `index.json`.
    Npz,
    /// One file, `tensors.safetensors`.
    Safetensors,
    /// One row per record with metadata and statistics, `records.parquet`.
    Parquet,
    /// The same as text, `records.csv`.
    Csv,
}

impl Format {
    pub const ALL: [Format; 6] =
        [Format::Txt, Format::Npy, Format::Npz, Format::Safetensors, Format::Parquet, Format::Csv];

    pub const fn name(self) -> &'static str {
        match self {
            Format::Txt => "txt",
            Format::Npy => "npy",
            Format::Npz => "npz",
            Format::Safetensors => "safetensors",
            Format::Parquet => "parquet",
            Format::Csv => "csv",
        }
    }

    pub fn from_name(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }
}

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
