//! Who looks at tasks beside the scheduler: the capture, the injector and the clock.
//!
//! Where both look, the injector comes first at the end of a task: what it changed is what the capture records
//! and what consumers read.

use argus_abi::{EdgeReason, TaskId};
use argus_capture::Recorder;

use crate::inject::{Injector, Next};
use crate::kernel_table::KernelTable;
use crate::schedule::capture::Capture;
use crate::schedule::clock::Clock;
use crate::schedule::task::Task;

pub struct Hooks {
    pub capture: Option<Capture>,
    pub injector: Option<Injector>,
    pub clock: Option<Clock>,
}

impl Hooks {
    /// A task was added to the graph and waits for `producers`. Called in the order of submission.
    pub fn submitted(&self, task: &Task, producers: &[(TaskId, EdgeReason)]) {
        if let Some(injector) = &self.injector {
            injector.submitted(task);
        }
        self.waits_for(task.id, producers);
    }

    /// A task waits for `producers`: those it was submitted with, or those that were declared later.
    pub fn waits_for(&self, consumer: TaskId, producers: &[(TaskId, EdgeReason)]) {
        if let Some(capture) = &self.capture {
            capture.edges(consumer, producers);
        }
        if let Some(clock) = &self.clock {
            clock.edges(consumer, producers);
        }
    }

    /// Whether edges are written down, also those to producers that have long completed.
    pub fn wants_edges(&self) -> bool {
        self.capture.is_some() || self.clock.is_some()
    }

    /// Once per task, before its first token is written.
    pub fn before_dispatch(&self, recorder: Option<&mut Recorder>, kernels: &KernelTable, task: &Task) {
        if let Some(injector) = &self.injector {
            injector.before(task);
        }
        match (&self.capture, recorder) {
            (Some(capture), Some(recorder)) => capture.before_dispatch(recorder, kernels, task),
            // The time is not read; only that there is one.
            _ => task.trace.dispatched(0, 0),
        }
    }

    /// When the last part of a task has finished, before any consumer is released.
    pub fn after_completion(
        &self,
        recorder: Option<&mut Recorder>,
        kernels: &KernelTable,
        task: &Task,
    ) -> Next {
        if task.is_skipped() {
            if let (Some(capture), Some(recorder)) = (&self.capture, recorder) {
                capture.skipped(recorder, task);
            }
            return Next::Complete;
        }
        let next = self.injector.as_ref().map_or(Next::Complete, |injector| injector.after(task));
        if let (Next::Complete, Some(capture), Some(recorder)) = (next, &self.capture, recorder) {
            capture.after_completion(recorder, kernels, task);
        }
        next
    }
}
