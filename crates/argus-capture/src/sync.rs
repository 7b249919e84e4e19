//! The one shim through which the two halves of a lane reach their atomics, so that loom can see them.

#[cfg(not(loom))]
pub use core::sync::atomic;
#[cfg(loom)]
pub use loom::sync::atomic;
