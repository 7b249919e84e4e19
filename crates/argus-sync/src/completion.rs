//! Something that completes once, and those who wait for it.

use smallvec::SmallVec;

use crate::order::order;
use crate::primitives::atomic::AtomicBool;
use crate::primitives::{Mutex, relock};

/// Usually few wait for the same.
pub type Waiters<T> = SmallVec<[T; 4]>;

#[derive(Debug)]
struct Links<T> {
    completed: bool,
    waiters: Waiters<T>,
}

/// Linking a waiter and completing both happen under one lock, so a waiter that comes while the completion
/// happens is either told or sees that it is over.
#[derive(Debug)]
pub struct Completion<T> {
    completed: AtomicBool,
    links: Mutex<Links<T>>,
}

impl<T> Default for Completion<T> {
    fn default() -> Completion<T> {
        let links = Links { completed: false, waiters: SmallVec::new() };
        Completion { completed: AtomicBool::new(false), links: Mutex::new(links) }
    }
}

impl<T> Completion<T> {
    /// Adds the waiter that `make` makes, unless it is too late.
    pub fn link(&self, make: impl FnOnce() -> T) {
        let mut links = relock(self.links.lock());
        if !links.completed {
            links.waiters.push(make());
        }
    }

    /// Completes; the caller tells those who waited.
    #[must_use]
    pub fn complete(&self) -> Waiters<T> {
        let waiters = {
            let mut links = relock(self.links.lock());
            links.completed = true;
            std::mem::take(&mut links.waiters)
        };
        // SYNC POINT: pairs with the acquire in `is_complete`.
        self.completed.store(true, order!("completion.complete", Release));
        waiters
    }

    /// The thread that sees that it is complete sees what was done before it completed.
    #[inline]
    pub fn is_complete(&self) -> bool {
        // SYNC POINT: pairs with the release in `complete`.
        self.completed.load(order!("completion.is_complete", Acquire))
    }

    /// Forgets those who wait: it will never complete.
    pub fn unlink(&self) {
        let waiters = std::mem::take(&mut relock(self.links.lock()).waiters);
        drop(waiters);
    }
}
