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
//! ```
//! use std::sync::Arc;
//!
//! use argus_abi::{ArgDirection, CoreType, DType, FuncId, KernelArgs};
//! use argus_chip::DEFAULT_CHIP;
//! use argus_runtime::{
//!     Arg, Device, HostArgs, HostTensor, KernelEntry, KernelTable, Orchestration, Program, RunConfig,
//! };
//! use argus_tile::{Core, GlobalShape, Tile};
//!
//! let double = |core: &mut Core, args: &KernelArgs<'_>| {
//!     let tile = Tile::vec(DType::F32, 1, 8).at(0);
//!     let place = core.global_at(args.tensor(0)?, 0, GlobalShape::nd(1, 8))?;
//!     core.tload(&tile, &place)?;
//!     core.tmuls(&tile, &tile, 2.0)?;
//!     core.tstore(&place, &tile)
//! };
//! let double = KernelEntry::new(FuncId(0), "double", CoreType::Aiv, &[ArgDirection::Inout], double);
//! // Three tasks on the same bytes: each waits for the one before it.
//! let orchestration = Orchestration::TensormapAndRingbuffer(Arc::new(|graph, args| {
//!     let x = *args.tensor(0)?;
//!     for _ in 0..3 {
//!         graph.submit_aiv(FuncId(0), Arg::new().inout(&x))?;
//!     }
//!     Ok(())
//! }));
//! let program = Program { kernels: KernelTable::new([double])?, orchestration };
//!
//! let bytes = 1f32.to_le_bytes().repeat(8);
//! let (name, direction) = ("x".into(), ArgDirection::Inout);
//! let x = HostTensor { name, direction, dtype: DType::F32, shape: vec![1, 8], bytes };
//! let mut args = HostArgs { tensors: vec![x], scalars: Vec::new() };
//! let report = Device::new(DEFAULT_CHIP).run(&program, &mut args, &RunConfig::default())?;
//! assert_eq!(report.tasks, 3);
//! assert_eq!(args.tensors[0].bytes, 8f32.to_le_bytes().repeat(8));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | subject |
//! |---|---|
//! | [`config`], [`program`], [`kernel_table`] | what a caller chooses and hands over |
//! | [`graph`] | three builders: how a task gets its edges and its memory |
//! | `schedule` | one path from "ready" to "reclaimed" |
//! | [`device`] | one run from arguments to results, here or in a child process; `monitor` watches it |
//! | `structure` | the graph of a program, without its data |
//! | [`inject`] | faults on purpose |
//! | [`watch`] | a look at the current run, for code that shows progress |
//! | [`error`] | how a run fails |
//!
//! What it never does: keep global state, depend on the number of CPUs for progress, fail by a clock while
//! tasks complete, or touch device memory other than through `argus-gm`.

pub mod config;
pub mod device;
pub mod error;
pub mod graph;
pub mod inject;
pub mod kernel_table;
mod monitor;
pub mod program;
mod schedule;
mod structure;
pub mod watch;

pub use config::{Hazards, RINGS, RingConfig, RunConfig};
pub use device::{Alone, CaptureRequest, Captured, CapturedRun, Collect, Device, Opening, RunReport, Timed};
pub use error::{ConfigError, Crashed, Fatal, KernelSite, RunError, innermost};
pub use graph::abg::Abg;
pub use graph::arg::{Arg, MixedKernels, Predicate, TaskOutputs, TensorCreateInfo};
pub use graph::frame::ScopeMode;
pub use graph::hbg::{Hbg, SlotInfo};
pub use graph::trb::{ScopeUse, Trb};
pub use inject::{Injected, Injection, InjectionError, InjectionKind};
pub use kernel_table::{KernelEntry, KernelTable, SourceFile};
pub use program::{EntryArgs, HostArgs, HostTensor, Orchestration, Program};
pub use schedule::condition::Comparison;
pub use schedule::silence_panics_of_kernels;
pub use schedule::task::{ArgumentDescription, Launch, Shape, TaskArgs};
pub use schedule::task_ring::{Flow, RingUse};
pub use watch::{Look, Watch};
