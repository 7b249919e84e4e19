//! How a run ends: decided once, by the thread that comes first.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use argus_sync::relock;
use argus_tile::{CoreStatus, Fault};

use crate::error::{Fatal, RunError};

#[derive(Default)]
struct Decision {
    ended: bool,
    error: Option<RunError>,
    /// Cores whose kernel obeyed the stop flag, and where it stood.
    stopped: Vec<(usize, String)>,
}

pub struct Outcome {
    ended: AtomicBool,
    decision: Mutex<Decision>,
    changed: Condvar,
    /// Seen by every running kernel at its next tile instruction.
    stop: Arc<AtomicBool>,
}

impl Outcome {
    pub fn new(stop: Arc<AtomicBool>) -> Outcome {
        Outcome { ended: AtomicBool::new(false), decision: Mutex::default(), changed: Condvar::new(), stop }
    }

    pub fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// Decides the outcome if it is not decided. An error also tells running kernels to stop.
    pub fn decide(&self, error: Option<RunError>) {
        let mut decision = relock(self.decision.lock());
        if decision.ended {
            return;
        }
        decision.ended = true;
        if error.is_some() {
            self.stop.store(true, Ordering::Release);
        }
        decision.error = error;
        self.ended.store(true, Ordering::Release);
        drop(decision);
        self.changed.notify_all();
    }

    /// The fatal error that was latched, if the run ended with one.
    pub fn fatal(&self) -> Option<Fatal> {
        match &relock(self.decision.lock()).error {
            Some(RunError::Fatal(fatal)) => Some(fatal.clone()),
            _ => None,
        }
    }

    /// Waits for the decision, at most `limit`. True once there is one.
    pub fn wait(&self, limit: Duration) -> bool {
        let decision = relock(self.decision.lock());
        let (decision, _) =
            relock(self.changed.wait_timeout_while(decision, limit, |decision| !decision.ended));
        decision.ended
    }

    /// Takes the error out, for the caller of the run.
    pub fn take_error(&self) -> Option<RunError> {
        relock(self.decision.lock()).error.take()
    }

    /// A kernel ended because it was told to stop.
    pub fn note_stopped(&self, core: usize, fault: &Fault) {
        relock(self.decision.lock()).stopped.push((core, fault.to_string()));
    }

    /// Where the kernel of a core stood when it obeyed the stop flag.
    pub fn stopped_at(&self, core: usize) -> Option<String> {
        let decision = relock(self.decision.lock());
        decision.stopped.iter().find(|(stopped, _)| *stopped == core).map(|(_, at)| at.clone())
    }
}

/// " after N tile instructions, the last of them TADD", or nothing if there was none.
pub fn last_instruction(status: &CoreStatus) -> String {
    match status.last_opcode() {
        Some(opcode) => {
            let count = status.instructions();
            let noun = if count == 1 { "instruction" } else { "instructions" };
            format!(" after {count} tile {noun}, the last one {}", opcode.name())
        }
        None => " before its first tile instruction".into(),
    }
}
