//! Writes down when what ran where, for the timeline of a run.
//!
//! Each core notes its own kernels and each control thread its own captures, under locks that they hold anyway.

use std::sync::Mutex;
use std::time::Instant;

use argus_abi::Stage;
use argus_capture::Recorder;
use argus_capture::times::CaptureTime;

use crate::schedule::task::Task;
use crate::sync::relock;

/// The clock of a run.
pub struct Clock {
    started: Instant,
    /// Producer and consumer.
    edges: Mutex<Vec<[u64; 2]>>,
}

impl Clock {
    pub fn new(started: Instant) -> Clock {
        Clock { started, edges: Mutex::default() }
    }

    pub fn now(&self) -> u64 {
        self.started.elapsed().as_nanos() as u64
    }

    /// The producers of a task.
    pub fn edges(&self, consumer: u64, producers: &[(u64, u8)]) {
        if !producers.is_empty() {
            let edges = producers.iter().map(|&(producer, _)| [producer, consumer]);
            relock(self.edges.lock()).extend(edges);
        }
    }

    pub fn take_edges(&self) -> Vec<[u64; 2]> {
        std::mem::take(&mut *relock(self.edges.lock()))
    }
}

/// How long a control thread captures.
pub struct CaptureWatch {
    started_ns: u64,
    waited_ns: u64,
}

impl CaptureWatch {
    /// None if nobody wants to know, or nothing is captured.
    pub fn start(clock: Option<&Clock>, recorder: Option<&mut Recorder>) -> Option<CaptureWatch> {
        Some(CaptureWatch { started_ns: clock?.now(), waited_ns: recorder?.waited_ns() })
    }

    pub fn stop(
        self,
        clock: Option<&Clock>,
        recorder: Option<&mut Recorder>,
        task: &Task,
        stage: Stage,
    ) -> Option<CaptureTime> {
        Some(CaptureTime {
            task: task.id,
            stage,
            started_ns: self.started_ns,
            ended_ns: clock?.now(),
            waited_ns: recorder?.waited_ns().saturating_sub(self.waited_ns),
        })
    }
}
