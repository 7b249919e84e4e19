//! Why a capture failed.

use argus_abi::capture::{ENTRY_MAGIC, ENTRY_VERSION};
use argus_gm::MemoryError;
use thiserror::Error;

use argus_sync::ring::{RING_MAGIC, RING_VERSION};

use crate::transport::CopyError;

#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CaptureError {
    #[error("capture cannot be set up")]
    Config(#[from] ConfigError),
    #[error("capture has no memory for its rings")]
    Memory(#[from] MemoryError),
    #[error("a ring cannot be copied")]
    Copy(#[from] CopyError),
    #[error("the collector thread cannot be started")]
    Spawn(#[source] std::io::Error),
    #[error("the capture is already finished")]
    Finished,
    #[error("ring {ring} does not look like a ring")]
    BrokenRing { ring: u16, source: RingError },
    #[error("entry {sequence} of ring {ring} is broken")]
    BrokenEntry { ring: u16, sequence: u64, source: EntryError },
    #[error("ring {ring} ended inside the payload of entry {sequence}; {missing} bytes never came")]
    Torn { ring: u16, sequence: u64, missing: u64 },
    #[error("ring {ring} was still being written when the capture was finished")]
    StillOpen { ring: u16 },
    #[error("what was captured cannot be stored")]
    Sink(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("the collector panicked: {0}")]
    Panicked(String),
    #[error(
        "{entries} entries with {bytes} payload bytes did not fit into the capture memory; \
         give it more, or collect during the run"
    )]
    DidNotFit { entries: u64, bytes: u64 },
}

/// What is wrong with how a capture should be set up.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ConfigError {
    #[error("there must be 1 to 256 rings, not {rings}")]
    Rings { rings: usize },
    #[error("a ring needs room for at least one entry and one byte")]
    NoRoom,
    #[error("a ring cannot be that large")]
    TooLarge,
    #[error("ring memory is not aligned")]
    Unaligned,
}

/// What makes memory not be a ring.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RingError {
    #[error("its magic is {found:#010x}, not {RING_MAGIC:#010x}")]
    Magic { found: u32 },
    #[error("its version is {found}, not {RING_VERSION}")]
    Version { found: u16 },
    #[error("it says {found}, not {expected}")]
    Shape { found: String, expected: String },
    /// More in a ring than it holds, or less than was already read.
    #[error("its counters cannot be: {cursor} in rings of {layout}")]
    Counters { cursor: String, layout: String },
}

/// What makes an entry not be the one that is expected.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EntryError {
    #[error("its magic is {found:#010x}, not {ENTRY_MAGIC:#010x}")]
    Magic { found: u32 },
    #[error("its version is {found}, not {ENTRY_VERSION}")]
    Version { found: u16 },
    #[error("it says that it belongs to ring {found}")]
    Ring { found: u16 },
    #[error("it says that it is entry {found}")]
    Sequence { found: u64 },
    #[error("nothing has the number {found}")]
    What { found: u8 },
}
