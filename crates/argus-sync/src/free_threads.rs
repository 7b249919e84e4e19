//! How many threads are free to run whatever comes, so that a kernel that waits for a partner finds one.

use crate::order::order;
use crate::primitives::atomic::{AtomicIsize, AtomicUsize, Ordering::Relaxed};

#[derive(Debug)]
pub struct FreeThreads {
    /// Threads that look for work or will soon: neither in a kernel that may wait nor orchestrating.
    free: AtomicIsize,
    /// Threads in a kernel that may wait for a partner.
    waiting: AtomicUsize,
}

impl Default for FreeThreads {
    fn default() -> FreeThreads {
        FreeThreads { free: AtomicIsize::new(0), waiting: AtomicUsize::new(0) }
    }
}

impl FreeThreads {
    /// A thread begins to look for work. Relaxed: a kernel that counts one thread too few is merely careful.
    pub fn join(&self) {
        self.free.fetch_add(1, Relaxed);
    }

    /// A thread stops looking for work while no kernel can count on it: before the first task, or when the
    /// run has ended. Relaxed: no thread decides anything by it.
    pub fn leave(&self) {
        self.free.fetch_sub(1, Relaxed);
    }

    /// A thread enters a kernel that may wait for a partner. True if no thread is left to run that partner: the
    /// caller must hire a thread.
    #[must_use]
    pub fn enter_waiting(&self) -> bool {
        self.waiting.fetch_add(1, Relaxed);
        // SYNC POINT: both this and `stop_helping` change one word, so one comes first; if this one does, the
        // release makes the other see that a thread waits.
        self.free.fetch_sub(1, order!("free_threads.enter_waiting", Release)) <= 1
    }

    /// That kernel has ended. Relaxed: the thread that still takes it for waiting hires one thread too many.
    pub fn leave_waiting(&self) {
        self.free.fetch_add(1, Relaxed);
        self.waiting.fetch_sub(1, Relaxed);
    }

    /// A thread that helped for a while stops looking for work. True if a kernel that entered meanwhile may
    /// have counted on it and no other thread is free: the caller must hire a thread.
    #[must_use]
    pub fn stop_helping(&self) -> bool {
        // SYNC POINT: pairs with the release in `enter_waiting`.
        self.free.fetch_sub(1, order!("free_threads.stop_helping", Acquire)) <= 1
            && self.waiting.load(Relaxed) > 0
    }
}
