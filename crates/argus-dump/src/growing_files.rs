//! Payload and journal while they grow: what goes into them, and in which order it goes out.

use argus_abi::capture::TaskFields;
use rustc_hash::FxHashMap;

use crate::journal::{JournalFile, TaskRecord, kind};
use crate::payload::PayloadFile;
use crate::spool::{Failure, Spool};

/// The two files that grow during the run.
pub(crate) struct GrowingFiles {
    pub(crate) payload: PayloadFile,
    pub(crate) journal: JournalFile,
    pub(crate) spool: Spool,
    /// Tasks that have started, by id, until the journal goes out: most have ended by then, and need no entry that
    /// says they run.
    pub(crate) started: FxHashMap<u64, TaskFields>,
}

impl GrowingFiles {
    /// Appends an entry that names nothing beyond what the payload file has been given.
    pub(crate) fn append<T>(&mut self, kind: u8, body: &T) -> Result<(), Failure>
    where
        T: zerocopy::IntoBytes + zerocopy::Immutable,
    {
        self.spool.check()?;
        if self.journal.nearly_full(1) {
            self.payload.stream().hand_over(&mut self.spool)?;
        }
        self.journal.append(&mut self.spool, kind, body)
    }

    /// Whether tasks that have started must be written now, so that they go out with the block that is filled.
    pub(crate) fn is_time_for_started(&self) -> bool {
        !self.started.is_empty() && self.journal.nearly_full(self.started.len() + 1)
    }

    /// Appends the tasks that have started and not ended, in the order in which they started.
    pub(crate) fn append_started(
        &mut self,
        mut keep: impl FnMut(&TaskFields) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut started: Vec<TaskFields> = self.started.drain().map(|(_, task)| task).collect();
        started.sort_unstable_by_key(|task| task.dispatch_order);
        started.iter().try_for_each(|task| {
            self.append(kind::TASK, &TaskRecord::from(task))?;
            keep(task)
        })
    }

    /// Whether everything is handed over already.
    pub(crate) fn clean(&mut self) -> bool {
        self.payload.stream().clean() && self.journal.stream().clean() && self.started.is_empty()
    }

    /// Hands over everything: first the payload, then the entries that name it.
    pub(crate) fn hand_over(&mut self) -> Result<(), Failure> {
        self.spool.check()?;
        self.payload.stream().hand_over(&mut self.spool)?;
        self.journal.stream().hand_over(&mut self.spool)
    }
}

impl Drop for GrowingFiles {
    /// A run that panics or gives up leaves what it had, like one that is killed, only later.
    fn drop(&mut self) {
        let _ = self.append_started(|_| Ok(())).and_then(|()| self.hand_over());
    }
}
