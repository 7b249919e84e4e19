//! A run as a whole: a dump joined with what lies beside it, trees of ranks, times summed up.
//!
//! What comes in: a path that a user typed, to a run of any format version. What goes out: a [`Capture`], whose dump
//! knows the graph and the names that lie beside it, or a [`RunTree`] of captures, or an error that says what the
//! directory holds and what was lost.
//!
//! Guarantees:
//! - A file that is missing or broken costs what it would have told; the dump is read without it.
//! - A file that contradicts the dump is put aside, and the dump's notes say so.
//! - Files that several chips wrote one over the other are refused.
//!
//! What it never does: judge values, compare the clocks of two devices.
//!
//! | module | subject |
//! |---|---|
//! | [`capture`] | one capture: its dump and the files beside it |
//! | [`holdings`] | what a directory holds whose run did not finish |
//! | [`tree`] | captures of many ranks: a table, a choice, pairs and groups |
//! | [`write`](mod@write) | files of the reference written beside a dump of ours |
//! | [`timeline`] | when what ran where, as tracks |
//! | [`timing`] | times by kernel and core, the critical path, what to shorten first |
#![forbid(unsafe_code)]

pub mod capture;
mod error;
pub mod holdings;
pub mod timeline;
pub mod timing;
pub mod tree;
pub mod write;

pub use capture::Capture;
pub use error::RunError;
pub use holdings::Holdings;
pub use tree::RunTree;
