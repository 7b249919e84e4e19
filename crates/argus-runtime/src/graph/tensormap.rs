//! Who wrote and who reads which bytes: from this the edges between tasks follow.
//!
//! Only the orchestrator uses it. Views are grouped by the allocation they lie in, and compared in bytes.
//! Entries of completed tasks mean nothing any more and are swept when the map grows.

use std::sync::Arc;

use argus_abi::{Overlap, Tensor};
use rustc_hash::FxHashMap;

use crate::schedule::task::Task;

/// Why one task waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The orchestration said so.
    Explicit,
    /// It created a tensor that is used.
    Creator,
    /// It wrote bytes that are read or written.
    Overlap,
    /// It reads bytes that are overwritten.
    WriteAfterRead,
}

#[derive(Debug)]
struct Entry {
    view: Tensor,
    task: Arc<Task>,
}

#[derive(Debug, Default)]
struct Allocation {
    writers: Vec<Entry>,
    readers: Vec<Entry>,
}

/// Tracked views of all allocations.
#[derive(Debug, Default)]
pub struct TensorMap {
    allocations: FxHashMap<u64, Allocation>,
    entries: usize,
    /// Sweep when this many entries are there: twice what the last sweep left.
    sweep_at: usize,
}

const FIRST_SWEEP: usize = 256;

impl TensorMap {
    pub fn new() -> TensorMap {
        TensorMap { sweep_at: FIRST_SWEEP, ..TensorMap::default() }
    }

    /// Entries of tasks that may still matter, after a sweep if the map has grown to `limit`.
    pub fn live_entries(&mut self, limit: usize) -> usize {
        if self.entries >= limit {
            self.sweep();
        }
        self.entries
    }

    /// Writers whose bytes `view` touches.
    pub fn writers(&self, allocation: u64, view: &Tensor, mut found: impl FnMut(&Arc<Task>)) {
        self.matching(allocation, view, |at| &at.writers, &mut found);
    }

    /// Readers whose bytes `view` touches.
    pub fn readers(&self, allocation: u64, view: &Tensor, mut found: impl FnMut(&Arc<Task>)) {
        self.matching(allocation, view, |at| &at.readers, &mut found);
    }

    fn matching(
        &self,
        allocation: u64,
        view: &Tensor,
        list: impl Fn(&Allocation) -> &Vec<Entry>,
        found: &mut impl FnMut(&Arc<Task>),
    ) {
        let Some(at) = self.allocations.get(&allocation) else { return };
        for entry in list(at) {
            if !entry.task.is_complete() && view.overlap(&entry.view) != Overlap::None {
                found(&entry.task);
            }
        }
    }

    pub fn add_reader(&mut self, allocation: u64, view: &Tensor, task: &Arc<Task>) {
        self.sweep_if_grown();
        self.entries += 1;
        let entry = Entry { view: *view, task: Arc::clone(task) };
        self.allocations.entry(allocation).or_default().readers.push(entry);
    }

    /// Records a writer. With `replace`, views that it covers are dropped: whoever comes later and would
    /// have waited for them waits for this task, which waits for them.
    pub fn add_writer(&mut self, allocation: u64, view: &Tensor, task: &Arc<Task>, replace: bool) {
        self.sweep_if_grown();
        let at = self.allocations.entry(allocation).or_default();
        let before = at.writers.len() + at.readers.len();
        if replace {
            let keep = |entry: &Entry| {
                view.overlap(&entry.view) != Overlap::Covers || Arc::ptr_eq(&entry.task, task)
            };
            at.writers.retain(keep);
            at.readers.retain(keep);
        }
        at.writers.push(Entry { view: *view, task: Arc::clone(task) });
        self.entries = self.entries + at.writers.len() + at.readers.len() - before;
    }

    fn sweep_if_grown(&mut self) {
        if self.entries >= self.sweep_at {
            self.sweep();
            self.sweep_at = (2 * self.entries).max(FIRST_SWEEP);
        }
    }

    fn sweep(&mut self) {
        self.entries = 0;
        self.allocations.retain(|_, at| {
            at.writers.retain(|entry| !entry.task.is_complete());
            at.readers.retain(|entry| !entry.task.is_complete());
            let left = at.writers.len() + at.readers.len();
            self.entries += left;
            left > 0
        });
    }
}
