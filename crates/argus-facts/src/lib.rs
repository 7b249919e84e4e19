//! What is known of a run, in types that every crate on the way of the data shares.
//!
//! `argus-abi` has the layouts that cross a boundary as bytes. This crate has the same things as values with
//! names and lists: who captures, writes, reads, judges and replays a run speaks of one `Graph`, one `Call`,
//! one `Ledger`.
//!
//! ```
//! use argus_abi::{EdgeReason, TaskId};
//! use argus_facts::{Edge, FuncIds, Graph, TaskInfo};
//!
//! let (first, second) = (TaskId::new(0, 0), TaskId::new(0, 1));
//! let task = |id, func| TaskInfo { func_ids: FuncIds::from_iter([func]), ..TaskInfo::new(id) };
//! let edge = Edge { from: first, to: second, reason: EdgeReason::Overlap };
//! let graph = Graph::new(Vec::new(), vec![task(second, 7), task(first, 3)], vec![edge]);
//!
//! // Tasks are in the order of their ids, whatever order they came in.
//! assert_eq!(graph.tasks[0].id, first);
//! assert_eq!(graph.predecessors(1), [0]);
//! assert_eq!(graph.kernel_names(&graph.tasks[1].func_ids), "7");
//! ```
//!
//! | module | subject |
//! |---|---|
//! | [`kernel_info`] | a kernel of the program, and the kernels of a task |
//! | [`task`] | a task as the run left it |
//! | [`graph`] | tasks, kernels and edges, with quick ways from a task to its neighbours |
//! | [`neighbours`] | those ways, for anything that is numbered, and the order in which dependencies come first |
//! | [`call`] | one task as a reference sees it: arguments in, expected outputs out |
//! | [`origin`] | where the code of a run came from |
//! | [`number`] | raw bits of every element type as numbers |
//! | [`select`] | what of a run is captured: a level and selectors |
//! | [`task_selector`] | tasks as people name them |
//! | [`sink`] | where captured entries go |
//! | [`ledger`] | what was captured and what was lost |
//! | [`times`] | when what ran where |
//! | [`stall`] | why a run stands still |
//! | [`cause`] | an error with its causes, as people read it |
//!
//! What it never does: read or write files, touch device memory, start threads.

pub mod call;
pub mod cause;
pub mod graph;
pub mod kernel_info;
pub mod ledger;
pub mod neighbours;
pub mod number;
pub mod origin;
pub mod select;
pub mod sink;
pub mod stall;
pub mod task;
pub mod task_selector;
pub mod times;

pub use call::{Argument, Call, Expected, NoReference, References};
pub use cause::with_causes;
pub use graph::{Edge, Graph};
pub use kernel_info::{FuncIds, KernelInfo};
pub use ledger::{Ledger, RingLedger};
pub use neighbours::{Neighbours, Order};
pub use origin::{OriginFile, SceneOrigin};
pub use select::{Candidate, Condition, Decision, Level, Selection, Selector, SelectorError, Subject};
pub use sink::Sink;
pub use stall::{Stall, StallClass};
pub use task::TaskInfo;
pub use task_selector::TaskSelector;
pub use times::{CaptureWait, CoreTimes, PartTime, RunTimes};
