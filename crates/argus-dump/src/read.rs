//! A dump that is being read: ours, or the reference's of any format version.
//!
//! What goes in: a directory that another process wrote. Every byte of it may be wrong; nothing here panics,
//! allocates by a size that was not checked, or believes a range that the files do not have.
//!
//! A structure that is broken makes a dump unreadable, and so does an entry that cannot be represented, such as
//! one with two hundred dimensions; the message names it. What can be represented is, even if it cannot be right,
//! and [`crate::verify`] has something to say about it.
//!
//! | file | subject |
//! |---|---|
//! | `locate` | from what a user typed to the files of a dump |
//! | `glance` | a dump at a glance: who wrote it and how much it holds, without reading its records
//! | `dump` | the dump: records, payloads, how it ended, what it lost |
//! | `checked` | checksums of payloads, compared when they are read |
//! | `record` | one captured argument, whatever wrote it down |
//! | `from_journal` | a journal as a table of records |
//! | `from_manifest` | a manifest as a table of records: April, June, August, and ours without its journal |
//! | `head` | what a manifest says about itself |
//! | `entry`, `statistics` | one entry of a manifest; and its statistics |
//! | `row` | the entries of a manifest in memory |
//! | `split` | a manifest read by several threads |
//! | `json` | values that cannot be trusted |
//! | `graph_file` | tasks, kernels and edges of graph.json |
//! | `run_facts` | what run.json says |
//! | `error` | why a dump, or a payload of it, cannot be read |

mod checked;
mod dump;
mod entry;
mod error;
mod from_journal;
mod from_manifest;
mod glance;
mod graph_file;
mod head;
mod json;
mod locate;
pub(crate) use locate::dumps_in;
mod record;
mod row;
mod run_facts;
mod split;
mod statistics;

pub(crate) use dump::Records;
pub use dump::{Dump, Ending, FormatVersion, Losses, Skip, Supplied};
pub(crate) use entry::is_row_major;
pub use error::{Lack, OpenError, PayloadError, TimesError};
pub(crate) use from_journal::Table;
pub(crate) use from_manifest::walk as walk_manifest;
pub use glance::Glance;
pub(crate) use graph_file::{GraphItem, parse as parse_graph, walk as walk_graph};
pub(crate) use head::Claims;
pub use locate::Holds;
pub use record::{Record, Scalar};
pub(crate) use row::{Rows, flag};
pub use run_facts::RunFacts;
