//! Counts that end something when they reach zero, exactly once.

use crate::order::order;
use crate::primitives::atomic::{AtomicU32, Ordering::Relaxed};

/// Counts down to the moment when everything that was waited for is done.
#[derive(Debug)]
pub struct Countdown(AtomicU32);

impl Countdown {
    pub fn new(count: u32) -> Countdown {
        Countdown(AtomicU32::new(count))
    }

    /// One more to wait for. Relaxed: the caller is one of those waited for, so zero is not near.
    #[inline]
    pub fn add_one(&self) {
        self.0.fetch_add(1, Relaxed);
    }

    /// One less to wait for. True for the caller that was the last, who sees what all others did before.
    #[inline]
    #[must_use]
    pub fn finish_one(&self) -> bool {
        // SYNC POINT: the last one has acquired what each of the others released.
        self.0.fetch_sub(1, order!("countdown.finish_one", AcqRel)) == 1
    }

    /// Starts over. Only for the thread that got `true` from [`Countdown::finish_one`], and no other thread counts yet.
    pub fn restart(&self, count: u32) {
        self.0.store(count, Relaxed);
    }
}

/// Counts what keeps something in use.
#[derive(Debug)]
pub struct Holds(AtomicU32);

impl Holds {
    pub fn new(count: u32) -> Holds {
        Holds(AtomicU32::new(count))
    }

    /// One more hold; false if there was none left, which is final. Relaxed: what is held was handed to the
    /// caller by other means, and the thread that frees it synchronises with the end of this hold.
    #[inline]
    #[must_use]
    pub fn retain(&self) -> bool {
        self.0.fetch_update(Relaxed, Relaxed, |holds| (holds > 0).then_some(holds + 1)).is_ok()
    }

    /// One hold is gone. True for the caller that removed the last one, who sees what all others did before.
    #[inline]
    #[must_use]
    pub fn let_go(&self) -> bool {
        // SYNC POINT: the thread that frees has seen every holder's last access.
        self.0.fetch_sub(1, order!("holds.let_go", AcqRel)) == 1
    }

    /// Whether no thread holds it any more. The thread that sees that sees what all holders did before.
    #[inline]
    pub fn is_free(&self) -> bool {
        // SYNC POINT: pairs with the release in `let_go`.
        self.0.load(order!("holds.is_free", Acquire)) == 0
    }
}
