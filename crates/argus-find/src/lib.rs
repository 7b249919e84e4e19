//! Two dumps, or a dump and its references, compared: metrics, alignment, the first wrong task.
//!
//! What comes in: a dump as `argus-dump` reads it, ours or the reference's, and what its values should be:
//! another dump, a folder of arrays, or a caller that knows what a kernel makes of its inputs
//! ([`argus_facts::References`]). What goes out: for each task whether it is clean, introduced an error, inherited
//! one, or cannot be judged and why; the tasks where errors begin; and what they look like.
//!
//! What it never does: run a kernel, write a file, or call something right that was not compared.
//!
//! ```
//! use argus_dump::read::Dump;
//! use argus_find::align::Side;
//! use argus_find::report::{Overall, report};
//! use argus_find::search::{Expectation, Options, search};
//! use argus_find::tasks::Tasks;
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../argus-dump/tests/it/data/june");
//! # let other = path;
//! let (dump, good) = (Dump::open(path.as_ref())?, Dump::open(other.as_ref())?);
//! let (tasks, good_tasks) = (Tasks::new(&dump, None), Tasks::new(&good, None));
//! let subject = Side { dump: &dump, tasks: &tasks };
//! let expected = Expectation::Against(Side { dump: &good, tasks: &good_tasks });
//!
//! let findings = search(subject, &expected, Options::default(), |_task| {});
//! let report = report(subject, &expected, findings);
//! assert_eq!(report.verdict, Overall::Agree);
//! assert!(report.first_wrong.is_empty(), "no task introduced an error");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | subject |
//! |---|---|
//! | [`metrics`] | how far one payload is from another |
//! | [`pattern`] | what an error looks like |
//! | [`detail`] | where in a tensor it is |
//! | [`tasks`], `indices` | the tasks of a dump, each with its records, in an order in which they can have run |
//! | [`align`], [`arguments`] | which task, and which argument, is which of another dump |
//! | [`golden`] | folders of expected arrays |
//! | [`compare`], [`search`] | every record with what it should be |
//! | [`flow`], `intervals` | what is known of the bytes that a task reads |
//! | [`verdict`] | clean, introduced, inherited, here or upstream, damaged or unknown; and which come first |
//! | [`across`] | captures of many ranks: which leaves the pack, and where |
//! | [`runs`], [`races`] | several runs of one program, and tasks that nothing orders |
//! | [`report`] | all of it in one value |
#![forbid(unsafe_code)]

pub mod across;
pub mod align;
pub mod arguments;
pub mod compare;
pub mod detail;
pub mod flow;
pub mod golden;
mod indices;
mod intervals;
pub mod metrics;
pub mod pattern;
pub mod races;
pub mod report;
pub mod runs;
pub mod search;
pub mod tasks;
pub mod verdict;
