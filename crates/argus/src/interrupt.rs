//! Ctrl-C ends a run in order: kernels stop at their next instruction and what was captured is kept; programs
//! that were started are ended. A second Ctrl-C ends the process at once.
//!
//! `timeout` signals its child and then the group that the child is in: what comes twice at the same moment is meant once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use argus_runtime::Device;

use crate::failure::INTERRUPTED;

/// Signals within this time are one.
const ONE_SIGNAL: Duration = Duration::from_millis(250);

/// The flags that Ctrl-C sets.
#[derive(Default)]
pub struct Interrupt {
    flags: Arc<Mutex<Vec<Arc<AtomicBool>>>>,
}

impl Interrupt {
    /// From now on Ctrl-C ends runs of this device.
    pub fn reaches(&self, device: &Device) {
        self.sets(device.interrupt_flag());
    }

    /// From now on Ctrl-C sets this flag.
    pub fn sets(&self, flag: Arc<AtomicBool>) {
        let mut flags = self.flags.lock().unwrap_or_else(PoisonError::into_inner);
        if flags.iter().any(|known| Arc::ptr_eq(known, &flag)) {
            return;
        }
        flags.push(flag);
        drop(flags);
        let flags = Arc::clone(&self.flags);
        let first: Mutex<Option<Instant>> = Mutex::default();
        // `nohup` and shells in the background start programs that shall not be ended so.
        let ignored = argus_signals::Ignored::now();
        // A second handler is refused; the first one already looks at the same list.
        let _ = ctrlc::set_handler(move || {
            let flags = flags.lock().unwrap_or_else(PoisonError::into_inner);
            let began =
                *first.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(Instant::now);
            if began.elapsed() > ONE_SIGNAL {
                std::process::exit(INTERRUPTED.into());
            }
            flags.iter().for_each(|flag| flag.store(true, Ordering::Relaxed));
        });
        ignored.restore();
    }
}
