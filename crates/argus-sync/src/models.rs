//! Every hand-off in all interleavings that loom explores.
//!
//! loom's cells stand for what is handed over (device memory, slots of a ring) and report any access that the
//! hand-off does not order; a lost wake-up is a deadlock, which loom reports as well. Run with
//! `cargo xtask loom`.
//!
//! loom treats a sequentially consistent access as acquire and release, so nothing here may need more.
#![allow(unsafe_code, reason = "loom's cells hand out raw pointers; loom itself checks every access")]
#![allow(clippy::undocumented_unsafe_blocks, reason = "as above")]

mod account;
mod bell;
mod bits;
mod counts;
mod free_threads;
mod mailbox;
mod ready;
mod ring;
mod weakened;

use loom::cell::UnsafeCell;

/// Memory that a thread writes and another thread may read only after a hand-off.
struct Memory(UnsafeCell<u64>);

impl Memory {
    fn new() -> Memory {
        Memory(UnsafeCell::new(0))
    }

    fn write(&self, value: u64) {
        self.0.with_mut(|memory| unsafe { *memory = value });
    }

    fn read(&self) -> u64 {
        self.0.with(|memory| unsafe { *memory })
    }
}

/// For models that take minutes without a bound: at most this many preemptions.
fn bounded(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}
