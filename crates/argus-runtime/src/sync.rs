//! The one shim through which hand-offs between threads reach their primitives, so that loom can see them.

#[cfg(loom)]
pub use loom::sync::{Condvar, Mutex, MutexGuard, atomic};
#[cfg(not(loom))]
pub use std::sync::{Condvar, Mutex, MutexGuard, atomic};

use std::sync::LockResult;

/// The guard of a lock whose holders do not panic while they hold it; if one did, its state is still
/// consistent enough to end the run, which is all that follows a panic.
pub fn relock<T>(result: LockResult<T>) -> T {
    result.unwrap_or_else(std::sync::PoisonError::into_inner)
}
