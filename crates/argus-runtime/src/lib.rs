//! Graphs on a simulated chip.
//!
//! In comes a [`Program`]: an orchestration that describes tasks, and the kernels they run. Out come the
//! results, or an error that names task, kernel, core and instruction.
//!
//! ```text
//! orchestration ─► graph::{hbg, abg, trb} ─► schedule ─► mailbox ─► kernel on a core of argus-tile
//!  (one thread)      edges and memory    control threads token        any thread of the crew
//! ```
//!
//! | module | subject |
//! |---|---|
//! | [`config`], [`program`], [`kernels`] | what a caller chooses and hands over |
//! | [`graph`] | three builders: how a task gets its edges and its memory |
//! | `schedule` | one path from "ready" to "reclaimed" |
//! | [`device`] | one run from arguments to results; `monitor` watches it |
//! | `structure` | the graph of a program, without its data |
//! | [`inject`] | faults on purpose |
//! | [`watch`] | a look at the run that goes on, for whoever shows progress |
//! | [`error`] | how a run fails |
//!
//! What it never does: keep global state, depend on the number of CPUs for progress, fail by a clock while
//! tasks complete, or touch device memory other than through `argus-gm`.

pub mod config;
pub mod device;
pub mod error;
pub mod graph;
pub mod inject;
pub mod kernels;
mod monitor;
pub mod program;
mod schedule;
mod structure;
pub mod watch;

pub use config::{Hazards, RINGS, RingConfig, RunConfig};
pub use device::{Alone, CaptureRequest, Captured, CapturedRun, Collect, Device, Opening, RunReport, Timed};
pub use error::{ConfigError, Fatal, KernelSite, RunError};
pub use graph::abg::Abg;
pub use graph::arg::{Arg, MixedKernels, TaskOutputs, TensorCreateInfo};
pub use graph::frame::ScopeMode;
pub use graph::hbg::{Hbg, SlotInfo};
pub use graph::trb::Trb;
pub use inject::{Injected, Injection, InjectionError, InjectionKind};
pub use kernels::{KernelEntry, KernelTable, SourceFile};
pub use program::{EntryArgs, HostArgs, HostTensor, Orchestration, Program};
pub use schedule::task::{ArgumentDescription, Launch, Shape, TaskArgs};
pub use watch::{Look, Watch};
