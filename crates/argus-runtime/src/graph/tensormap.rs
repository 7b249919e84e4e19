//! Who wrote and who reads which bytes: from this the edges between tasks follow.
//!
//! Only the orchestrator uses it. Views are grouped by the allocation they lie in, and compared in bytes.
//! Entries of completed tasks order nothing any more and are swept when the map grows. A captured or
//! timed run keeps them by id, so that the graph it tells is the same however fast its tasks were.
//!
//! A question costs what its answer is long, however many views the allocation has: see [`views`].
//!
//! | file | subject |
//! |---|---|
//! | [`views`] | the written or the read views of one allocation, and the tasks at each |
//! | [`place`] | where a view lies: boxes that meet wherever views share bytes |
//! | [`id_runs`] | many task ids in little memory |

pub mod id_runs;
#[cfg(test)]
mod naive;
pub mod place;
pub mod views;

use std::sync::Arc;

use argus_abi::{TaskId, Tensor};
use rustc_hash::FxHashMap;

use crate::schedule::task::Task;
use views::Views;

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
    Nothing,
    Writers,
    WritersAndReaders,
}

#[derive(Debug, Default)]
struct Allocation {
    writers: Views,
    readers: Views,
    /// Whether it is listed in [`TensorMap::unsettled`].
    listed: bool,
}

impl Allocation {
    fn pending(&self) -> usize {
        self.writers.pending() + self.readers.pending()
    }
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
    /// Allocations with pending entries: a sweep looks at these alone, however much history there is.
    unsettled: Vec<u64>,
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
            self.entries -= at.pending();
        }
    }

    /// Writers whose bytes `view` touches.
    pub fn writers(&mut self, allocation: u64, view: &Tensor, found: impl FnMut(Found)) {
        if let Some(at) = self.allocations.get_mut(&allocation) {
            at.writers.touched_by(view, self.keeps_history, found);
        }
    }

    /// Readers whose bytes `view` touches.
    pub fn readers(&mut self, allocation: u64, view: &Tensor, found: impl FnMut(Found)) {
        if let Some(at) = self.allocations.get_mut(&allocation) {
            at.readers.touched_by(view, self.keeps_history, found);
        }
    }

    pub fn add_reader(&mut self, allocation: u64, view: &Tensor, task: &Arc<Task>) {
        self.add(allocation, |at| at.readers.add(view, task));
    }

    /// Records a writer. Views that it covers and waits for are dropped: a later task that would have
    /// waited for them waits for this one. What it does not wait for stays, or it would be hidden.
    pub fn add_writer(&mut self, allocation: u64, view: &Tensor, task: &Arc<Task>, waits: WaitsFor) {
        let mut dropped = 0;
        self.add(allocation, |at| {
            if waits != WaitsFor::Nothing {
                dropped += at.writers.drop_covered(view, task.id);
            }
            if waits == WaitsFor::WritersAndReaders {
                dropped += at.readers.drop_covered(view, task.id);
            }
            at.writers.add(view, task);
        });
        self.entries -= dropped;
    }

    fn add(&mut self, allocation: u64, entry: impl FnOnce(&mut Allocation)) {
        // The second: buffers that come and go leave addresses behind.
        if self.entries >= self.sweep_at || self.unsettled.len() >= 2 * self.allocations.len() + FIRST_SWEEP {
            self.sweep();
            self.sweep_at = (2 * self.entries).max(FIRST_SWEEP);
        }
        let at = self.allocations.entry(allocation).or_default();
        if !at.listed {
            at.listed = true;
            self.unsettled.push(allocation);
        }
        entry(at);
        self.entries += 1;
    }

    fn sweep(&mut self) {
        self.entries = 0;
        let keeps_history = self.keeps_history;
        let mut unsettled = std::mem::take(&mut self.unsettled);
        // An address is there twice if a buffer took the place of a forgotten one.
        unsettled.sort_unstable();
        unsettled.dedup();
        unsettled.retain(|allocation| {
            let Some(at) = self.allocations.get_mut(allocation) else { return false };
            at.writers.settle(keeps_history);
            at.readers.settle(keeps_history);
            self.entries += at.pending();
            at.listed = at.pending() > 0;
            if at.writers.is_empty() && at.readers.is_empty() {
                self.allocations.remove(allocation);
                return false;
            }
            at.listed
        });
        self.unsettled = unsettled;
    }
}
