//! What others may see of a core while it runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed};

use crate::opcode::Opcode;

/// No instruction yet.
const IDLE: u8 = u8::MAX;

/// A core's progress, and the flag that stops it.
///
/// Only the core writes the counters, so a plain load and store suffices where others would need an atomic
/// addition; everything is a hint to watchers, so relaxed order suffices too.
#[derive(Debug)]
pub struct CoreStatus {
    stop: Arc<AtomicBool>,
    instructions: AtomicU64,
    opcode: AtomicU8,
}

impl CoreStatus {
    /// `stop` may be shared by many cores: setting it ends their kernels at the next instruction.
    pub fn new(stop: Arc<AtomicBool>) -> CoreStatus {
        CoreStatus { stop, instructions: AtomicU64::new(0), opcode: AtomicU8::new(IDLE) }
    }

    /// Instructions that the running kernel has started.
    pub fn instructions(&self) -> u64 {
        self.instructions.load(Relaxed)
    }

    /// The instruction that was started last.
    pub fn last_opcode(&self) -> Option<Opcode> {
        Opcode::from_raw(self.opcode.load(Relaxed))
    }

    /// Whether the core was told to stop.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }

    pub(crate) fn begin_kernel(&self) {
        self.instructions.store(0, Relaxed);
        self.opcode.store(IDLE, Relaxed);
    }

    /// Counts one instruction; its number in the kernel, from 1.
    pub(crate) fn begin_instruction(&self, opcode: Opcode) -> u64 {
        let index = self.instructions.load(Relaxed) + 1;
        self.instructions.store(index, Relaxed);
        self.opcode.store(opcode as u8, Relaxed);
        index
    }
}
