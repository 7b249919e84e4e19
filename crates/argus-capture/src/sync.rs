//! The one shim through which the two halves of a lane reach their atomics, so that loom can see them.

#[cfg(not(loom_capture))]
pub use core::sync::atomic;
#[cfg(loom_capture)]
pub use loom::sync::atomic;
