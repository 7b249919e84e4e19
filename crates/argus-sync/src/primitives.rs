//! The one shim through which hand-offs reach their primitives, so that loom can see them.

#[cfg(loom)]
pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard, atomic};
#[cfg(not(loom))]
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard, atomic};

use std::sync::{LockResult, PoisonError};
use std::time::Duration;

/// The guard of a lock whose holders do not panic while they hold it; if one did, its state is still
/// consistent enough to end the run, which is all that follows a panic.
pub fn relock<T>(result: LockResult<T>) -> T {
    result.unwrap_or_else(PoisonError::into_inner)
}

/// Waits to be notified, at most `limit`; whether the time was up.
#[cfg(not(loom))]
pub(crate) fn wait<'a, T>(
    condvar: &Condvar,
    guard: MutexGuard<'a, T>,
    limit: Duration,
) -> (MutexGuard<'a, T>, bool) {
    let (guard, result) = relock(condvar.wait_timeout(guard, limit));
    (guard, result.timed_out())
}

/// loom has no clock: there a sleeper waits until it is woken, which is what the model is to prove.
#[cfg(loom)]
pub(crate) fn wait<'a, T>(
    condvar: &Condvar,
    guard: MutexGuard<'a, T>,
    _limit: Duration,
) -> (MutexGuard<'a, T>, bool) {
    (relock(condvar.wait(guard)), false)
}
