//! Looking over a core's shoulder: an observer that is told of every instruction when it is complete.

use core::fmt;

use crate::core::Core;
use crate::fault::Fault;
use crate::kernel::KernelResult;
use crate::log::LogEntry;

/// An observer that looks at a core after each of its instructions.
///
/// It sees the core's memories through [`Core::peek`]. It issues no instructions of its own.
pub trait Observer: fmt::Debug + Send {
    /// Instruction number `index` of the kernel, counted from 1, is complete. A fault ends the kernel at this
    /// instruction.
    fn after(&mut self, core: &mut Core, index: u64, entry: &LogEntry) -> KernelResult;
}

impl Core {
    /// From now on `observer` is told of every instruction.
    pub fn observe(&mut self, observer: Box<dyn Observer>) {
        self.observer = Some(observer);
    }

    /// Removes the observer and returns it.
    pub fn take_observer(&mut self) -> Option<Box<dyn Observer>> {
        self.observer.take()
    }

    /// Writes an instruction down and tells the observer.
    #[cold]
    pub(crate) fn tell(&mut self, index: u64, entry: LogEntry) -> KernelResult {
        let (opcode, site) = (entry.opcode, entry.location);
        let mut told = Ok(());
        if let Some(mut observer) = self.observer.take() {
            told = observer.after(self, index, &entry);
            self.observer = Some(observer);
        }
        if let Some(log) = &mut self.log {
            if log.entries.len() >= self.log_limit {
                return Err(Fault::log_full(self.log_limit).issued(opcode, index, site));
            }
            log.entries.push(entry);
        }
        told.map_err(|fault| fault.issued(opcode, index, site))
    }
}
