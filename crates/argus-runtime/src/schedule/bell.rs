//! How idle host threads sleep and are woken.
//!
//! A thread takes a [`Ticket`], looks for work, and if it found none sleeps with that ticket. Every change
//! that enables work rings the bell. A ring after the ticket was taken makes the sleep return at once, so no
//! wake-up is lost; and because the ringer claims the sleeper it wakes, a burst of rings wakes each sleeper
//! once instead of paying a system call per ring.

use std::time::Duration;

use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Condvar, Mutex, relock};

/// The low 16 bits of the state count sleepers, the rest is an epoch that every ring advances.
const SLEEPERS: u64 = 0xFFFF;
const EPOCH: u64 = SLEEPERS + 1;

/// The state of the bell when a thread began to look for work.
#[derive(Clone, Copy, Debug)]
pub struct Ticket(u64);

#[derive(Debug)]
pub struct Bell {
    state: AtomicU64,
    /// Wake-ups granted to claimed sleepers and not yet taken.
    granted: Mutex<usize>,
    wake: Condvar,
}

impl Default for Bell {
    fn default() -> Bell {
        Bell { state: AtomicU64::new(0), granted: Mutex::new(0), wake: Condvar::new() }
    }
}

impl Bell {
    pub fn ticket(&self) -> Ticket {
        // SYNC POINT: pairs with the release in `ring`; what was done before a seen ring is visible.
        Ticket(self.state.load(Ordering::Acquire) / EPOCH)
    }

    /// Whether the bell rang since the ticket was taken.
    pub fn rang_since(&self, ticket: Ticket) -> bool {
        self.state.load(Ordering::Acquire) / EPOCH != ticket.0
    }

    /// Announces a change that enables work; wakes one sleeper if there is one.
    pub fn ring(&self) {
        // SYNC POINT: both this and the registration of a sleeper are read-modify-writes of one word, so
        // one comes first: either the sleeper sees the new epoch, or we see the sleeper.
        let mut seen = self.state.fetch_add(EPOCH, Ordering::AcqRel) + EPOCH;
        while seen & SLEEPERS != 0 {
            match self.state.compare_exchange_weak(seen, seen - 1, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => {
                    *relock(self.granted.lock()) += 1;
                    self.wake.notify_one();
                    return;
                }
                Err(now) => seen = now,
            }
        }
    }

    /// Wakes everybody: the run has ended.
    pub fn ring_all(&self) {
        let mut seen = self.state.fetch_add(EPOCH, Ordering::AcqRel) + EPOCH;
        loop {
            let sleepers = seen & SLEEPERS;
            match self.state.compare_exchange_weak(seen, seen - sleepers, Ordering::AcqRel, Ordering::Acquire)
            {
                Ok(_) => {
                    *relock(self.granted.lock()) += sleepers as usize;
                    self.wake.notify_all();
                    return;
                }
                Err(now) => seen = now,
            }
        }
    }

    /// Sleeps until the bell rings, unless it rang since `ticket` was taken; at most `limit`.
    pub fn sleep(&self, ticket: Ticket, limit: Duration) {
        let mut seen = self.state.load(Ordering::Acquire);
        loop {
            if seen / EPOCH != ticket.0 {
                return;
            }
            match self.state.compare_exchange_weak(seen, seen + 1, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => break,
                Err(now) => seen = now,
            }
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

    /// Takes back the registration of a sleeper that nobody has claimed.
    fn withdraw(&self) -> bool {
        let mut seen = self.state.load(Ordering::Acquire);
        while seen & SLEEPERS != 0 {
            match self.state.compare_exchange_weak(seen, seen - 1, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return true,
                Err(now) => seen = now,
            }
        }
        false
    }
}

#[cfg(not(loom))]
fn wait<'a>(
    wake: &Condvar,
    guard: crate::sync::MutexGuard<'a, usize>,
    limit: Duration,
) -> (crate::sync::MutexGuard<'a, usize>, bool) {
    let (guard, result) = relock(wake.wait_timeout(guard, limit));
    (guard, result.timed_out())
}

/// loom has no clock: there a sleeper waits until it is woken, which is what the model is to prove.
#[cfg(loom)]
fn wait<'a>(
    wake: &Condvar,
    guard: crate::sync::MutexGuard<'a, usize>,
    _limit: Duration,
) -> (crate::sync::MutexGuard<'a, usize>, bool) {
    (relock(wake.wait(guard)), false)
}
