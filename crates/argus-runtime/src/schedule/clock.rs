//! Writes down when what ran where, for the timeline of a run.
//!
//! Each core notes its own kernels and each control thread its own waits, under locks that they hold anyway.

use std::sync::Mutex;
use std::time::Instant;

use argus_abi::{EdgeReason, Stage, TaskId};
use argus_capture::Recorder;
use argus_facts::{CaptureWait, Edge};
use argus_sync::relock;

use crate::schedule::task::Task;

/// The clock of a run.
pub struct Clock {
    started: Instant,
    /// None if they are not wanted.
    edges: Option<Mutex<Vec<Edge>>>,
}

impl Clock {
    pub fn new(started: Instant, keeps_edges: bool) -> Clock {
        Clock { started, edges: keeps_edges.then(Mutex::default) }
    }

    /// Out of line, so that runs that are not timed pay for the branch around it only.
    #[cold]
    #[inline(never)]
    pub fn now(&self) -> u64 {
        self.started.elapsed().as_nanos() as u64
    }

    /// The producers of a task.
    pub fn edges(&self, to: TaskId, producers: &[(TaskId, EdgeReason)]) {
        if let Some(known) = self.edges.as_ref().filter(|_| !producers.is_empty()) {
            let edges = producers.iter().map(|&(from, reason)| Edge { from, to, reason });
            relock(known.lock()).extend(edges);
        }
    }

    pub fn take_edges(&self) -> Vec<Edge> {
        self.edges.as_ref().map_or_else(Vec::new, |known| std::mem::take(&mut *relock(known.lock())))
    }
}

/// Notices whether a capture has to wait. A clock is read only if it had to.
pub struct CaptureWatch {
    waited_ns: u64,
}

impl CaptureWatch {
    /// None if times are not wanted, or nothing is captured.
    pub fn start(clock: Option<&Clock>, recorder: Option<&mut Recorder>) -> Option<CaptureWatch> {
        clock?;
        Some(CaptureWatch { waited_ns: recorder?.waited_ns() })
    }

    pub fn stop(
        self,
        clock: Option<&Clock>,
        recorder: Option<&mut Recorder>,
        task: &Task,
        stage: Stage,
    ) -> Option<CaptureWait> {
        let waited_ns = recorder?.waited_ns().saturating_sub(self.waited_ns);
        if waited_ns == 0 {
            return None;
        }
        let ended_ns = clock?.now();
        // Of several waits in a row the sum, as if they had been one at the end.
        Some(CaptureWait { task: task.id, stage, started_ns: ended_ns.saturating_sub(waited_ns), ended_ns })
    }
}
