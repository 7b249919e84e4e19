//! What lies beside a dump of the reference: graph, names, times, counters, host spans and stall reports.
//!
//! What comes in: the directory of one capture, written on hardware or by the reference's simulator at any point of its
//! history. What goes out: one typed value for each kind of file, and [`Artefacts`], which says what a directory holds,
//! what could not be read, and where two files contradict each other. The kinds of file that we also write have their
//! writer beside their reader.
//!
//! ```
//! use argus_artefacts::deps::{Deps, EdgeSource};
//!
//! let text = br#"{"tasks":[{"task_id":"4294967296","scope":"auto","kernel_ids":[-1,2,-1],"args":[]},
//!                          {"task_id":"4611686018427387905","scope":"auto","kernel_ids":[0,-1,-1],"args":[]}],
//!                 "tensors":[],
//!                 "edges":[{"pred":"4294967296","succ":"4611686018427387905","arg":-1,"source":"explicit"}]}"#;
//! let deps = Deps::parse(text)?;
//! assert_eq!(deps.edges[0].source, EdgeSource::Explicit);
//! // Ids have 64 bits, also where JavaScript would round them.
//! assert_eq!(deps.tasks[1].id.raw(), (1 << 62) + 1);
//! // What was read can be written, and read again.
//! assert_eq!(Deps::parse(deps.text().as_bytes())?, deps);
//! # Ok::<(), argus_artefacts::ArtefactError>(())
//! ```
//!
//! Guarantees:
//! - A file is recognised by its content; a name only says where to look.
//! - No number is believed before it was checked: ids, lengths, clocks, cores and times that run backwards are refused
//!   with their place.
//! - A file that is missing, broken or of another run costs what it would have told, and nothing else.
//!
//! What it never does: open a dump, judge values, use the clock of one device for another.
//!
//! | module | subject |
//! |---|---|
//! | [`directory`] | what the directory of a capture holds, lacks and contradicts |
//! | [`deps`] | `deps.json`: tasks, tensors, edges |
//! | [`from_run`] | graph and times of a run of this project, for the writers |
//! | [`names`] | `name_map*.json`, `kernel_config.py`: kernels by number |
//! | [`times`] | swimlane records under their three names |
//! | [`path`] | the critical path, static and observed |
//! | [`scopes`] | `scope_stats.jsonl` |
//! | [`counters`] | `pmu.csv` |
//! | [`host_phases`] | `host_phase_records.jsonl` |
//! | [`log`] | the run log: host spans and the stall report |
//! | [`identity`] | `dispatch_identity.json`, `dispatch_program.json` |
//! | [`ranks`] | trees of captures: `rank*/d*` |
//! | [`task_name`] | task ids as the reference lays them out and shows them |
#![forbid(unsafe_code)]

pub mod counters;
pub mod deps;
pub mod directory;
mod error;
pub mod from_run;
pub mod host_phases;
pub mod identity;
mod json;
pub mod log;
pub mod names;
pub mod path;
pub mod ranks;
pub mod scopes;
pub mod task_name;
pub mod times;

pub use directory::Artefacts;
pub use error::ArtefactError;
