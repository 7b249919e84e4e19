//! Two dumps, or a dump and its references, compared: metrics, alignment, the first wrong task.
//!
//! What comes in: a dump as `argus-dump` reads it, ours or the reference's, and what its values should be:
//! another dump, a folder of arrays, or somebody who knows what a kernel makes of its inputs
//! ([`search::References`]). What goes out: for each task whether it is clean, introduced an error, inherited
//! one, or cannot be judged and why; the tasks where errors begin; and what they look like.
//!
//! What it never does: run a kernel, write a file, or call something right that was not compared.
//!
//! | module | subject |
//! |---|---|
//! | [`metrics`] | how far one payload is from another |
//! | [`pattern`] | what an error looks like |
//! | [`detail`] | where in a tensor it is |
//! | [`tasks`] | the tasks of a dump in an order in which they can have run |
//! | [`align`], [`arguments`] | which task, and which argument, is which of another dump |
//! | [`golden`] | folders of expected arrays |
//! | [`compare`], [`search`] | every record with what it should be |
//! | [`flow`] | who reads bytes that a wrong task wrote |
//! | [`verdict`] | clean, introduced, inherited or unknown; and which come first |
//! | [`runs`], [`races`] | several runs of one program, and tasks that nothing orders |
//! | [`report`] | all of it in one value |
#![forbid(unsafe_code)]

pub mod align;
pub mod arguments;
pub mod compare;
pub mod detail;
pub mod flow;
pub mod golden;
pub mod metrics;
pub mod pattern;
pub mod races;
pub mod report;
pub mod runs;
pub mod search;
pub mod tasks;
pub mod verdict;
