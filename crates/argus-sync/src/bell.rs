//! How idle host threads sleep and are woken.
//!
//! A thread takes a [`Ticket`], looks for work, and if it found none sleeps with that ticket. Every change
//! that enables work rings the bell. A ring after the ticket was taken makes the sleep return at once, so no
//! wake-up is lost; and because the ringer claims the sleeper it wakes, a burst of rings wakes each sleeper
//! once instead of paying a system call per ring.

use std::time::Duration;

use crate::order::order;
use crate::primitives::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use crate::primitives::{Condvar, Mutex, relock, wait};

/// The low 16 bits of the state count sleepers, the rest is an epoch that every ring advances.
const SLEEPERS: u64 = 0xFFFF;
const EPOCH: u64 = SLEEPERS + 1;

/// The state of the bell when a thread began to look for work.
#[derive(Clone, Copy, Debug)]
pub struct Ticket(u64);

/// Everything that changes `state` is a read-modify-write, so a release by one ring reaches the thread that acquires
/// any later value. What a sleeper and a ringer owe each other beyond that is under the lock of `granted`.
#[derive(Debug)]
pub struct Bell {
    state: AtomicU64,
    /// Sleepers that no ring for news may pass over: a ring for work wakes any one sleeper, which need not be
    /// them.
    expectant: AtomicUsize,
    /// Wake-ups granted to claimed sleepers and not yet taken.
    granted: Mutex<usize>,
    wake: Condvar,
}

impl Default for Bell {
    fn default() -> Bell {
        Bell {
            state: AtomicU64::new(0),
            expectant: AtomicUsize::new(0),
            granted: Mutex::new(0),
            wake: Condvar::new(),
        }
    }
}

impl Bell {
    #[inline]
    pub fn ticket(&self) -> Ticket {
        // SYNC POINT: pairs with the release in `advance`; what was done before a seen ring is visible.
        Ticket(self.state.load(order!("bell.ticket", Acquire)) / EPOCH)
    }

    /// Announces a change that enables work; wakes one sleeper if there is one.
    #[inline]
    pub fn ring(&self) {
        let seen = self.advance();
        self.wake_one(seen);
    }

    /// Wakes every thread: the run has ended.
    pub fn ring_all(&self) {
        let seen = self.advance();
        self.wake_all(seen);
    }

    /// Announces news, which may enable work as well: wakes every thread if a thread sleeps until there is news,
    /// otherwise one.
    #[inline]
    pub fn ring_news(&self) {
        let seen = self.advance();
        // After the epoch: a sleeper that this look misses registers after it and finds the new epoch.
        if self.expectant.load(Relaxed) > 0 { self.wake_all(seen) } else { self.wake_one(seen) }
    }

    /// Sleeps until the bell rings, unless it rang since `ticket` was taken; at most `limit`.
    pub fn sleep(&self, ticket: Ticket, limit: Duration) {
        if !self.register(ticket) {
            return;
        }
        let mut granted = relock(self.granted.lock());
        let mut timed_out = false;
        loop {
            if *granted > 0 {
                *granted -= 1;
                return;
            }
            // A sleeper that came later may have taken the grant meant for this one, who must not sleep on:
            // it may wait for a condition of its own that only this ring announced.
            if (timed_out || self.rang_since(ticket)) && self.withdraw() {
                return;
            }
            (granted, timed_out) = wait(&self.wake, granted, limit);
        }
    }

    /// Sleeps as [`Bell::sleep`] does, and no [`Bell::ring_news`] passes it over.
    pub fn sleep_until_news(&self, ticket: Ticket, limit: Duration) {
        // Relaxed: handed over by the registration that follows.
        self.expectant.fetch_add(1, Relaxed);
        self.sleep(ticket, limit);
        // Relaxed: the thread that still counts it wakes more than it must.
        self.expectant.fetch_sub(1, Relaxed);
    }

    /// The next epoch; the state it begins with.
    #[inline]
    fn advance(&self) -> u64 {
        // SYNC POINT: both this and the registration of a sleeper are read-modify-writes of one word, so
        // one comes first: either the sleeper sees the new epoch, or we see the sleeper and what it expects.
        self.state.fetch_add(EPOCH, order!("bell.advance", AcqRel)) + EPOCH
    }

    /// Counts the caller as a sleeper, unless the bell rang since the ticket was taken.
    fn register(&self, ticket: Ticket) -> bool {
        let mut seen = self.state.load(Relaxed);
        loop {
            if seen / EPOCH != ticket.0 {
                return false;
            }
            // SYNC POINT: pairs with the acquire in `advance`: who sees this sleeper sees what it expects.
            match self.state.compare_exchange_weak(seen, seen + 1, order!("bell.register", Release), Relaxed)
            {
                Ok(_) => return true,
                Err(now) => seen = now,
            }
        }
    }

    /// Claims one sleeper, if there is one, and wakes it. Relaxed: the lock orders the rest.
    #[inline]
    fn wake_one(&self, mut seen: u64) {
        while seen & SLEEPERS != 0 {
            match self.state.compare_exchange_weak(seen, seen - 1, Relaxed, Relaxed) {
                Ok(_) => {
                    *relock(self.granted.lock()) += 1;
                    self.wake.notify_one();
                    return;
                }
                Err(now) => seen = now,
            }
        }
    }

    fn wake_all(&self, mut seen: u64) {
        loop {
            let sleepers = seen & SLEEPERS;
            match self.state.compare_exchange_weak(seen, seen - sleepers, Relaxed, Relaxed) {
                Ok(_) => {
                    *relock(self.granted.lock()) += sleepers as usize;
                    self.wake.notify_all();
                    return;
                }
                Err(now) => seen = now,
            }
        }
    }

    /// Whether the bell rang since the ticket was taken. Relaxed: the next ticket acquires.
    fn rang_since(&self, ticket: Ticket) -> bool {
        self.state.load(Relaxed) / EPOCH != ticket.0
    }

    /// Takes back the registration of a sleeper that is not claimed.
    fn withdraw(&self) -> bool {
        self.state.fetch_update(Relaxed, Relaxed, |state| (state & SLEEPERS != 0).then(|| state - 1)).is_ok()
    }
}
