//! A dump at rest.
//!
//! What comes in: the entries and payload bytes that a collector drains, through
//! [`argus_facts::Sink`]. What goes out: one directory. The other way round, [`read::Dump`] opens a directory
//! that this crate wrote, or the reference at any point of its history, and gives records and payloads.
//!
//! ```text
//! tensor_dump.bin      payloads, one after the other, equal ones once
//! tensor_dump.journal  fixed-size checksummed entries, appended as they come
//! tensor_dump.json     the manifest, written at the end, by rename
//! timeline.json        when what ran where, written at the end, by rename
//! graph.json           kernels, tasks, edges and scopes, written at the end, by rename
//! run.json             who ran what, written at the start and again at the end, by rename
//! ```
//!
//! ```
//! use argus_dump::read::Dump;
//! use argus_dump::summary::summarise;
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/data/june");
//! let dump = Dump::open(path.as_ref())?;
//! for record in dump.records() {
//!     println!("task {:#x}, argument {}: {:?}", record.task_id, record.arg_index, record.shape());
//! }
//! let record = dump.record(0);
//! let (Some(dtype), Some(elements)) = (record.dtype, record.numel()) else { panic!("no tensor") };
//! let summary = summarise(dtype, elements, dump.payload(&record)?);
//! assert_eq!((summary.count, summary.nan), (elements, 0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Guarantees:
//! - A journal entry never names payload bytes that are not in the payload file yet, so a process killed at
//!   any moment leaves a journal of which every whole entry can be believed.
//! - A payload is stored whole or its record does not exist.
//! - The first write that fails ends the dump; the error says what is saved, counted from the files.
//!
//! - Whatever a file says is checked before it is believed. A dump of a million records opens without being
//!   parsed; one that was killed opens as far as it came.
//!
//! What it never does: talk to devices, drop entries, write a file that it did not create, or panic because of
//! what a file holds.
//!
//! | module | subject |
//! |---|---|
//! | [`directory`] | where a run's files go |
//! | [`journal`] | the journal: its format, its writer, its reader |
//! | [`writer`] | the sink |
//! | [`read`] | a dump that is being read, whatever wrote it |
//! | [`origin_file`] | the sources that a run's code came from |
//! | [`filter`] | which records are meant |
//! | [`verify`] | whether a dump is true |
//! | [`runs`] | the runs in a directory, and how one is removed |
//! | [`verdict_file`] | what a command last said of a dump |
//! | [`stats`] | statistics of payloads in passing |
//! | [`summary`] | all statistics of a payload that is there |

mod atomic;
mod block;
pub mod directory;
mod error;
pub mod filter;
mod graph_file;
mod info;
pub mod journal;
mod kept;
mod known;
mod manifest;
mod map;
pub mod origin_file;
mod payload;
pub mod read;
mod run_file;
pub mod runs;
mod sorted;
mod spool;
pub mod stats;
mod stream;
pub mod summary;
mod tally;
mod text;
mod timeline_file;
pub mod verdict_file;
pub mod verify;
pub mod writer;

/// What [`DumpWriter`] is: code that writes a dump needs these calls.
pub use argus_facts::Sink;
pub use directory::RunDirectory;
pub use error::{DumpError, Saved};
pub use info::{
    DumpInfo, DumpOptions, DumpSummary, OrchestrationArg, RunEnd, RunStatus, StatsMode, new_run_id,
};
pub use journal::{Journal, JournalError};
pub use timeline_file::TimelineError;
/// For tests that make up files; [`read::Dump::times`] reads those of a dump.
#[doc(hidden)]
pub use timeline_file::parse as parse_timeline;
pub use verdict_file::LastVerdict;
pub use writer::DumpWriter;

/// Name of the directory that holds a dump's files.
pub const DUMP_DIRECTORY: &str = "tensor_dump";
/// Name of the payload file.
pub const PAYLOAD_FILE: &str = "tensor_dump.bin";
/// Name of the journal.
pub const JOURNAL_FILE: &str = "tensor_dump.journal";
/// Name of the manifest.
pub const MANIFEST_FILE: &str = "tensor_dump.json";
/// Name of the graph.
pub const GRAPH_FILE: &str = "graph.json";
/// Name of the times of the run.
pub const TIMELINE_FILE: &str = "timeline.json";
/// Name of a large graph's layout, which lies beside the dump's directory.
pub const LAYOUT_FILE: &str = "layout.bin";
/// Name of the description of the run.
pub const RUN_FILE: &str = "run.json";
