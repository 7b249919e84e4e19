//! The account of a run: how many tasks there are, how many are done, and whether anything can still change.

use crate::order::order;
use crate::primitives::atomic::{AtomicU64, Ordering::Relaxed};

/// Set in the count of completed tasks once the graph is whole. In the same word, so that of the last
/// completion and the end of the orchestration the later one sees the other.
const WHOLE: u64 = 1 << 63;

#[derive(Debug)]
pub struct TaskAccount {
    /// Written by the orchestration alone.
    submitted: AtomicU64,
    /// Completed tasks, and [`WHOLE`].
    completed: AtomicU64,
    /// Tasks that are ready or running, or whose completion is being worked off. At zero nothing can change
    /// unless the orchestration continues.
    in_flight: AtomicU64,
}

impl Default for TaskAccount {
    fn default() -> TaskAccount {
        let zero = || AtomicU64::new(0);
        TaskAccount { submitted: zero(), completed: zero(), in_flight: zero() }
    }
}

impl TaskAccount {
    /// The orchestration has one more task. Relaxed: it is handed over with the task itself, and at the end
    /// with [`TaskAccount::end_orchestration`].
    #[inline]
    pub fn submit(&self) {
        self.submitted.fetch_add(1, Relaxed);
    }

    /// A task has become ready. Relaxed: the thread that makes it so is the orchestration, which sees its own count,
    /// or completes another task, which stays in flight until after this.
    #[inline]
    pub fn enter_flight(&self) {
        self.in_flight.fetch_add(1, Relaxed);
    }

    /// Everything that follows from a task's completion has happened. True if that was the last task of a
    /// whole graph; the caller then sees what every task did.
    #[inline]
    #[must_use]
    pub fn complete(&self) -> bool {
        // SYNC POINT: releases what the task did to the thread that sees it counted; acquires, for the last one, what
        // the others did and how many there are.
        let before = self.completed.fetch_add(1, order!("account.complete", AcqRel));
        // SYNC POINT: after the count, so that in silence every completion is counted.
        self.in_flight.fetch_sub(1, order!("account.leave_flight", Release));
        self.is_all(before + 1)
    }

    /// No task will follow. True if all of them are complete already; the caller then sees what they did.
    #[must_use]
    pub fn end_orchestration(&self) -> bool {
        // SYNC POINT: releases the number of tasks to the last completion, or acquires what all of them did.
        let before = self.completed.fetch_or(WHOLE, order!("account.end_orchestration", AcqRel));
        self.is_all(before | WHOLE)
    }

    fn is_all(&self, completed: u64) -> bool {
        // Relaxed: final once the graph is whole, and seen by the thread that acquired that.
        completed == self.submitted.load(Relaxed) | WHOLE
    }

    /// Tasks of the graph so far. Relaxed: at least as many as any thread has seen completed.
    pub fn submitted(&self) -> u64 {
        self.submitted.load(Relaxed)
    }

    /// Completed tasks; what they did is visible.
    pub fn completed(&self) -> u64 {
        // SYNC POINT: pairs with the release in `complete`.
        self.completed.load(order!("account.completed", Acquire)) & !WHOLE
    }

    /// Whether the graph is whole: the number of its tasks is final.
    pub fn is_whole(&self) -> bool {
        // SYNC POINT: pairs with the release in `end_orchestration`.
        self.completed.load(order!("account.is_whole", Acquire)) & WHOLE != 0
    }

    /// Tasks that are ready, running or being completed, for people. Relaxed: it decides nothing.
    pub fn in_flight(&self) -> u64 {
        self.in_flight.load(Relaxed)
    }

    /// Whether nothing is ready, running or being completed. In silence all completions are visible.
    pub fn is_quiet(&self) -> bool {
        // SYNC POINT: pairs with the release in `complete`.
        self.in_flight.load(order!("account.is_quiet", Acquire)) == 0
    }
}
