//! A look at the current run, for code that shows progress.
//!
//! Looking reads counters and costs the run nothing. A look never outlives the run: while one is taken the run
//! cannot end, so nothing of it is kept alive by a watcher.

use std::fmt;
use std::sync::{Arc, Mutex};

use argus_capture::CaptureStatus;
use argus_child::{SharedPage, Shown};
use argus_sync::relock;

use crate::schedule::Scheduler;

/// Sees the runs of one device, from any thread.
#[derive(Clone, Default)]
pub struct Watch {
    run: Arc<Mutex<Option<Run>>>,
}

/// A run, wherever it is.
enum Run {
    Here(Arc<Scheduler>),
    /// In a child process.
    There(SharedPage, Option<Arc<CaptureStatus>>),
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Tasks that the orchestration has submitted so far.
    pub submitted: u64,
    pub completed: u64,
    /// No more will be submitted.
    pub orchestrated: bool,
    /// How far its capture is, if it is captured.
    pub capture: Option<argus_capture::Progress>,
}

/// The run is seen as long as this lives.
pub(crate) struct ShownRun<'a>(&'a Watch);

impl Watch {
    pub(crate) fn show(&self, scheduler: &Arc<Scheduler>) -> ShownRun<'_> {
        *relock(self.run.lock()) = Some(Run::Here(Arc::clone(scheduler)));
        ShownRun(self)
    }

    pub(crate) fn show_child(&self, page: SharedPage, capture: Option<Arc<CaptureStatus>>) -> ShownRun<'_> {
        *relock(self.run.lock()) = Some(Run::There(page, capture));
        ShownRun(self)
    }

    /// The current run; `None` between runs.
    pub fn look(&self) -> Option<Look> {
        let run = relock(self.run.lock());
        let scheduler = match run.as_ref()? {
            Run::Here(scheduler) => scheduler,
            Run::There(page, capture) => {
                let Shown { submitted, completed, orchestrated } = page.shown();
                let capture = capture.as_ref().map(|status| status.progress());
                return Some(Look { submitted, completed, orchestrated, capture });
            }
        };
        // The order matters: what completed was submitted before.
        let completed = scheduler.completed();
        Some(Look {
            submitted: scheduler.submitted(),
            completed,
            orchestrated: scheduler.is_orchestrated(),
            capture: scheduler.capture().map(|capture| capture.status.progress()),
        })
    }
}

impl Drop for ShownRun<'_> {
    fn drop(&mut self) {
        *relock(self.0.run.lock()) = None;
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("look", &self.look()).finish()
    }
}
