//! What is wrong with a capture, and what would help.

use std::sync::Arc;

use argus_capture::{Account, CaptureError};
use argus_dump::{DumpError, DumpSummary};
use argus_facts::kernel_info::is_called;
use argus_facts::{Level, Selection, SelectorError};
use argus_runtime::KernelTable;
use thiserror::Error;

use crate::request::RecordRequest;

/// Why a capture is not what was asked for.
#[derive(Clone, Debug, Error)]
pub enum RecordProblem {
    #[error(transparent)]
    Selector(#[from] SelectorError),
    #[error(
        "selector '{selector}' names the kernel '{kernel}', which the program does not have; it has {known}"
    )]
    UnknownKernel { selector: String, kernel: String, known: String },
    #[error("selector '{selector}' matched no argument of any task; the kernels are {known}")]
    SelectedNothing { selector: String, known: String },
    #[error(
        "nothing was captured: level {level} takes what the orchestration marks with dump(), and it marks nothing"
    )]
    NothingMarked { level: &'static str },
    #[error("nothing was captured: no task of the run has an argument")]
    Nothing,
    /// Without a cause the capture memory was too small.
    #[error("the capture is incomplete: {entries} entries and {bytes} bytes of payload were lost")]
    Lost { entries: u64, bytes: u64, source: Option<Arc<CaptureError>> },
    #[error("the collector failed")]
    Collector(#[source] Arc<CaptureError>),
    #[error(transparent)]
    Dump(Arc<DumpError>),
    #[error("{count} arguments or tasks could not be captured; the manifest gives each with its reason")]
    Skipped { count: u64 },
}

/// What would give a complete capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// Capture everything, or select from outside.
    CaptureUnmarked,
    /// More memory for what is collected after the run, or collect during the run.
    MoreMemory,
}

impl RecordProblem {
    pub fn hint(&self) -> Option<Hint> {
        match self {
            RecordProblem::NothingMarked { .. } => Some(Hint::CaptureUnmarked),
            RecordProblem::Lost { source: None, .. } => Some(Hint::MoreMemory),
            _ => None,
        }
    }

    pub(crate) fn unknown_kernel(selection: &Selection, kernels: &KernelTable) -> Option<RecordProblem> {
        selection.selectors.iter().find_map(|selector| {
            let kernel =
                selector.kernels().find(|name| kernels.iter().all(|entry| !is_called(&entry.name, name)))?;
            Some(RecordProblem::UnknownKernel {
                selector: selector.text().into(),
                kernel: kernel.into(),
                known: names(kernels),
            })
        })
    }

    pub(crate) fn of_account(account: Account) -> Option<RecordProblem> {
        let total = account.ledger.total();
        match (account.failure, total.lost_entries, total.lost_bytes) {
            (None, 0, 0) => None,
            (Some(failure), 0, 0) => Some(RecordProblem::Collector(Arc::new(failure))),
            (failure, entries, bytes) => {
                // It would only say the numbers again.
                let failure = failure.filter(|failure| !matches!(failure, CaptureError::DidNotFit { .. }));
                Some(RecordProblem::Lost { entries, bytes, source: failure.map(Arc::new) })
            }
        }
    }

    /// Selectors that never matched.
    pub(crate) fn of_selection(
        selection: &Selection,
        kernels: &KernelTable,
    ) -> impl Iterator<Item = RecordProblem> {
        let known = names(kernels);
        selection.selectors.iter().filter(|selector| selector.hits() == 0).map(move |selector| {
            RecordProblem::SelectedNothing { selector: selector.text().into(), known: known.clone() }
        })
    }

    /// A dump that holds nothing, or not everything.
    pub(crate) fn of_summary(request: &RecordRequest, summary: &DumpSummary) -> Vec<RecordProblem> {
        let mut problems = Vec::new();
        match request.level {
            Some(level @ Level::Partial) if summary.records == 0 => {
                problems.push(RecordProblem::NothingMarked { level: level.name() });
            }
            Some(_) if summary.records == 0 && summary.skipped == 0 && request.selectors.is_empty() => {
                problems.push(RecordProblem::Nothing);
            }
            _ => {}
        }
        if summary.skipped > 0 {
            problems.push(RecordProblem::Skipped { count: summary.skipped });
        }
        problems
    }
}

fn names(kernels: &KernelTable) -> String {
    kernels.iter().map(|entry| &*entry.name).collect::<Vec<_>>().join(", ")
}
