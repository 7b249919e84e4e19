//! Who wrote and who reads which bytes: from this the edges between tasks follow.
//!
//! Only the orchestrator uses it. Views are grouped by the allocation they lie in, and compared in bytes.
//! Entries of completed tasks order nobody any more and are swept when the map grows. A captured run keeps
//! them by id, so that the graph it records is the same however fast its tasks were.

use std::sync::Arc;

use argus_abi::{Overlap, TaskId, Tensor};
use rustc_hash::FxHashMap;

use crate::schedule::task::Task;

/// A task that was found, and whether there is still something to wait for.
#[derive(Clone, Debug)]
pub enum Found {
    Pending(Arc<Task>),
    Completed(TaskId),
}

impl Found {
    pub fn id(&self) -> TaskId {
        match self {
            Found::Pending(task) => task.id,
            Found::Completed(id) => *id,
        }
    }

    /// The task as it is now.
    pub fn now(task: &Arc<Task>) -> Found {
        if task.is_complete() { Found::Completed(task.id) } else { Found::Pending(Arc::clone(task)) }
    }
}

/// Whom a task that writes waits for, among those whose bytes it touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitsFor {
    Nobody,
    Writers,
    WritersAndReaders,
}

#[derive(Debug)]
struct Entry {
    view: Tensor,
    task: Found,
}

impl Entry {
    /// Forgets all but the id of a task that has completed.
    fn settle(&mut self) {
        if let Found::Pending(task) = &self.task {
            self.task = Found::now(task);
        }
    }

    fn is_pending(&self) -> bool {
        matches!(&self.task, Found::Pending(_))
    }
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
    /// Entries that were pending when last looked at.
    entries: usize,
    /// Sweep when this many entries are there: twice what the last sweep left.
    sweep_at: usize,
    /// Keep what completed tasks touched, by id.
    keeps_history: bool,
    /// Entries of completed tasks that the last sweep left.
    kept: usize,
}

const FIRST_SWEEP: usize = 256;

impl TensorMap {
    pub fn new(keeps_history: bool) -> TensorMap {
        TensorMap { sweep_at: FIRST_SWEEP, keeps_history, ..TensorMap::default() }
    }

    /// Entries of tasks that may still matter, after a sweep if the map has grown to `limit`.
    pub fn live_entries(&mut self, limit: usize) -> usize {
        if self.entries >= limit {
            self.sweep();
        }
        self.entries
    }

    /// A buffer was allocated here: what was tracked at this address belonged to another one.
    pub fn forget(&mut self, allocation: u64) {
        if let Some(at) = self.allocations.remove(&allocation) {
            self.entries -= at.writers.iter().chain(&at.readers).filter(|entry| entry.is_pending()).count();
        }
    }

    /// Writers whose bytes `view` touches.
    pub fn writers(&self, allocation: u64, view: &Tensor, mut found: impl FnMut(Found)) {
        self.matching(allocation, view, |at| &at.writers, &mut found);
    }

    /// Readers whose bytes `view` touches.
    pub fn readers(&self, allocation: u64, view: &Tensor, mut found: impl FnMut(Found)) {
        self.matching(allocation, view, |at| &at.readers, &mut found);
    }

    fn matching(
        &self,
        allocation: u64,
        view: &Tensor,
        list: impl Fn(&Allocation) -> &Vec<Entry>,
        found: &mut impl FnMut(Found),
    ) {
        let Some(at) = self.allocations.get(&allocation) else { return };
        for entry in list(at) {
            let task = match &entry.task {
                Found::Pending(task) => Found::now(task),
                done @ Found::Completed(_) => done.clone(),
            };
            let matters = self.keeps_history || matches!(task, Found::Pending(_));
            if matters && view.overlap(&entry.view) != Overlap::None {
                found(task);
            }
        }
    }

    pub fn add_reader(&mut self, allocation: u64, view: &Tensor, task: &Arc<Task>) {
        self.sweep_if_grown();
        self.entries += 1;
        let entry = Entry { view: *view, task: Found::Pending(Arc::clone(task)) };
        self.allocations.entry(allocation).or_default().readers.push(entry);
    }

    /// Records a writer. Views that it covers and waits for are dropped: whoever comes later and would have
    /// waited for them waits for this task. What it does not wait for stays, or it would be hidden.
    pub fn add_writer(&mut self, allocation: u64, view: &Tensor, task: &Arc<Task>, waits: WaitsFor) {
        self.sweep_if_grown();
        let at = self.allocations.entry(allocation).or_default();
        let mut dropped = 0;
        let mut keep = |entry: &Entry| {
            let keep = view.overlap(&entry.view) != Overlap::Covers || entry.task.id() == task.id;
            dropped += usize::from(!keep && entry.is_pending());
            keep
        };
        if waits != WaitsFor::Nobody {
            at.writers.retain(&mut keep);
        }
        if waits == WaitsFor::WritersAndReaders {
            at.readers.retain(&mut keep);
        }
        self.entries -= dropped;
        at.writers.push(Entry { view: *view, task: Found::Pending(Arc::clone(task)) });
        self.entries += 1;
    }

    fn sweep_if_grown(&mut self) {
        if self.entries >= self.sweep_at {
            self.sweep();
            // History is looked through by every sweep, so the more there is the rarer they are.
            self.sweep_at = (2 * self.entries).max(FIRST_SWEEP).max(self.entries + self.kept / 2);
        }
    }

    fn sweep(&mut self) {
        self.entries = 0;
        self.kept = 0;
        let keeps_history = self.keeps_history;
        self.allocations.retain(|_, at| {
            for list in [&mut at.writers, &mut at.readers] {
                list.iter_mut().for_each(Entry::settle);
                list.retain(|entry| keeps_history || entry.is_pending());
                let pending = list.iter().filter(|entry| entry.is_pending()).count();
                self.entries += pending;
                self.kept += list.len() - pending;
            }
            !(at.writers.is_empty() && at.readers.is_empty())
        });
    }
}
