//! Where the browser takes records from: a dump, or in tests something that counts how often it is asked.

use argus_abi::{TaskId, TaskState};
use argus_dump::LastVerdict;
use argus_dump::read::{Dump, Ending, PayloadError, Record};

use crate::verdicts::Verdicts;

/// Something with records and payloads that several threads may read.
pub trait Source: Send + Sync {
    /// Number of records.
    fn len(&self) -> usize;

    /// Record `index`, which is less than [`Source::len`].
    fn record(&self, index: usize) -> Record;

    /// The bytes of a tensor in logical order; of a truncated one as many as there are.
    fn payload(&self, record: &Record) -> Result<&[u8], PayloadError>;

    /// Names of the task's kernels; empty if unknown.
    fn kernels(&self, record: &Record) -> String;

    /// What became of a task; `None` if the dump does not say. The first question may take a while.
    fn state(&self, task: TaskId) -> Option<TaskState>;

    fn about(&self) -> About;
}

/// What stands above everything else.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// Which dump this is.
    pub title: String,
    /// How the run ended, in one word; empty if it is not known.
    pub ending: &'static str,
    /// What a command last said of the dump.
    pub verdict: Option<String>,
    /// What a search last said of its tasks.
    pub verdicts: Option<Verdicts>,
    /// What must be known before anything is believed.
    pub notes: Vec<String>,
}

impl Source for Dump {
    fn len(&self) -> usize {
        Dump::len(self)
    }

    fn record(&self, index: usize) -> Record {
        Dump::record(self, index)
    }

    fn payload(&self, record: &Record) -> Result<&[u8], PayloadError> {
        Dump::payload(self, record)
    }

    fn kernels(&self, record: &Record) -> String {
        self.kernel_names(record)
    }

    fn state(&self, task: TaskId) -> Option<TaskState> {
        Some(self.graph()?.task(task)?.state)
    }

    fn about(&self) -> About {
        let mut title = self.directory().display().to_string();
        if let Some(run) = self.run() {
            for fact in [&run.scene, &run.case, &run.platform, &run.runtime] {
                if !fact.is_empty() {
                    title.push_str("  ");
                    title.push_str(fact);
                }
            }
        } else {
            title.push_str("  ");
            title.push_str(self.format_version().name());
        }
        let ending = match self.ending() {
            Ending::Complete => "complete",
            Ending::Failed { .. } => "failed",
            Ending::Unfinished { .. } => "unfinished",
            Ending::Unknown => "",
        };
        let mut notes = self.notes().to_vec();
        let losses = self.losses();
        for (count, what) in [
            (losses.dropped_records, "records were dropped"),
            (losses.overwritten, "payloads were overwritten on the device"),
            (losses.truncated, "payloads are truncated"),
            (losses.skipped.len() as u64, "captures were skipped"),
        ] {
            if count > 0 {
                notes.push(format!("{count} {what}"));
            }
        }
        let last = LastVerdict::read(self.directory());
        let verdict = last.as_ref().map(ToString::to_string);
        let verdicts = last.as_ref().and_then(Verdicts::new);
        About { title, ending, verdict, verdicts, notes }
    }
}
