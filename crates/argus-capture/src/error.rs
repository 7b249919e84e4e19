//! Why a capture failed.

use argus_gm::MemoryError;
use thiserror::Error;

use crate::transport::CopyError;

#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CaptureError {
    #[error("capture cannot be set up: {0}")]
    Config(&'static str),
    #[error("capture has no memory for its lanes: {0}")]
    Memory(#[from] MemoryError),
    #[error("a lane cannot be copied: {0}")]
    Copy(#[from] CopyError),
    #[error("the collector thread cannot be started: {0}")]
    Spawn(#[source] std::io::Error),
    #[error("lane {lane} does not look like a lane: {what}")]
    BrokenLane { lane: u16, what: String },
    #[error("entry {sequence} of lane {lane} is broken: {what}")]
    BrokenEntry { lane: u16, sequence: u64, what: String },
    #[error("lane {lane} ended inside the payload of entry {sequence}; {missing} bytes never came")]
    Torn { lane: u16, sequence: u64, missing: u64 },
    #[error("lane {lane} was still being written when the capture was finished")]
    StillOpen { lane: u16 },
    #[error("what was captured cannot be stored: {0}")]
    Sink(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("the collector panicked: {0}")]
    Panicked(String),
    #[error(
        "{entries} entries with {bytes} payload bytes did not fit into the capture memory; \
         give it more, or collect while the run goes on"
    )]
    DidNotFit { entries: u64, bytes: u64 },
}
