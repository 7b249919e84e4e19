//! What an export did, and what it could not do.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use argus_dump::read::Record;
use argus_facts::with_causes;

use crate::content::NoArray;

/// Records that share a remark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    pub reason: String,
    /// Their numbers in the dump; empty if it is about the dump as a whole.
    pub records: Vec<usize>,
}

/// What an export did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Where the files are.
    pub directory: PathBuf,
    pub files: u64,
    /// Bytes of all files.
    pub bytes: u64,
    pub records: u64,
    /// Of a format with a file for each record: about how long the file system takes to make so many, measured with a few
    /// empty ones.
    pub file_system: Option<Duration>,
    /// Records of which only the metadata could be exported.
    pub without_payload: Vec<Group>,
    /// Records that are not exactly as in the dump, and what the format has no place for.
    pub remarks: Vec<Group>,
}

/// Collects remarks by reason.
#[derive(Default)]
pub(crate) struct Remarks(BTreeMap<String, Vec<usize>>);

impl Remarks {
    pub(crate) fn add(&mut self, record: usize, reason: impl Into<String>) {
        self.0.entry(reason.into()).or_default().push(record);
    }

    /// There is nothing of the record to export.
    pub(crate) fn without(&mut self, record: usize, why: &NoArray) {
        self.add(record, with_causes(why));
    }

    /// If there is something to say.
    pub(crate) fn take(&mut self, record: usize, reason: Option<String>) {
        if let Some(reason) = reason {
            self.add(record, reason);
        }
    }

    /// About the dump as a whole.
    pub(crate) fn general(&mut self, reason: impl Into<String>) {
        self.0.entry(reason.into()).or_default();
    }

    pub(crate) fn groups(self) -> Vec<Group> {
        let groups = self.0.into_iter().map(|(reason, mut records)| {
            records.sort_unstable();
            Group { reason, records }
        });
        groups.collect()
    }
}

/// What a record counts in the progress.
pub(crate) fn weight(record: &Record) -> u64 {
    record.bin_size.max(1)
}

/// Tells the caller how far the work is.
pub(crate) struct Progress<'a> {
    done: AtomicU64,
    total: u64,
    tell: &'a (dyn Fn(u64, u64) + Sync),
}

impl<'a> Progress<'a> {
    /// Work on `records`. Sizes are what the dump says, which may be anything.
    pub(crate) fn new(
        records: impl Iterator<Item = Record>,
        tell: &'a (dyn Fn(u64, u64) + Sync),
    ) -> Progress<'a> {
        let total = records.fold(0u64, |total, record| total.saturating_add(weight(&record)));
        tell(0, total);
        Progress { done: AtomicU64::new(0), total, tell }
    }

    pub(crate) fn add(&self, record: &Record) {
        let weight = weight(record);
        let before = self.done.fetch_add(weight, Ordering::Relaxed);
        let done = before.saturating_add(weight).min(self.total);
        // A listener that draws is told a thousand times, not once for each of a million records.
        let steps = |bytes: u64| u128::from(bytes) * 1000 / u128::from(self.total.max(1));
        if steps(done) != steps(before.min(self.total)) {
            (self.tell)(done, self.total);
        }
    }
}
