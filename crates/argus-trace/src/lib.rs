//! From the instructions of a task to its timeline, for MindStudio Insight and Perfetto.
//!
//! What comes in: the instruction logs of the cores that ran one task ([`TaskLog`]) and a set of timing
//! parameters ([`Params`]). What goes out: a [`Timeline`] with the times of every machine instruction and the
//! hazards of the kernel, its [`Summary`], and a directory of files ([`write`](crate::write())). [`check`](crate::check()) reads such a
//! directory back. [`RunTimeline`] draws a whole run instead of a task.
//!
//! ```text
//! log ──► lower ──► schedule ──► hazard ──► Timeline ──► write ──► DIR/simulator ──► check
//!        machine     times       order                 perfetto
//!      instructions
//! ```
//!
//! ```
//! use std::sync::{Arc, atomic::AtomicBool};
//!
//! use argus_abi::{CoreType, DType, Member};
//! use argus_chip::DEFAULT_CHIP;
//! use argus_gm::{Fill, GlobalMemory};
//! use argus_tile::{ClusterPipes, Core, CoreConfig, CoreLog, CoreStatus, Tile};
//! use argus_trace::{Params, Sources, Stamp, TaskLog, Timeline, check, write};
//!
//! let config = CoreConfig { sizes: DEFAULT_CHIP.core_sizes, core_type: CoreType::Aiv, fill: Fill::Zero };
//! let status = Arc::new(CoreStatus::new(Arc::new(AtomicBool::new(false))));
//! let memory = Arc::new(GlobalMemory::new());
//! let mut core = Core::new(config, memory, Arc::new(ClusterPipes::new()), status);
//! core.start_log();
//! let tile = Tile::vec(DType::F32, 8, 64).at(0);
//! core.tadds(&tile, &tile, 1.0)?;
//! core.tmuls(&tile, &tile, 2.0)?;
//!
//! let log = core.take_log().expect("it was started");
//! let cores = vec![CoreLog { member: Member::Aiv0, block: 0, log }];
//! let task = TaskLog { name: "twice".into(), chip: DEFAULT_CHIP, cores, buffers: Vec::new(), cut: false };
//! let params = Params::for_chip(DEFAULT_CHIP)?;
//! let timeline = Timeline::new(&task, &params)?;
//! assert!(timeline.cycles > 0);
//!
//! let directory = tempfile::tempdir()?;
//! let written = write(&timeline, directory.path(), &Sources::default(), &Stamp::now())?;
//! assert_eq!(check(directory.path())?.slices, written.slices);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What holds
//!
//! - The times are a model with open parameters, and every output says so. `docs/timing.md` has its rules.
//! - One log and one set of parameters give the same timeline and the same files, byte for byte, whatever the
//!   addresses of the run were.
//! - Instructions of one track never overlap and keep the order of the program.
//! - Hazards do not depend on the times: two instructions are ordered by flags and barriers, or they are not.
//! - Files appear whole or not at all.
//! - Files that are read are not trusted: sizes are limits for reading, never for allocating.
//!
//! # What it never does
//!
//! Run a kernel, read a dump, know the runtime, or print.
//!
//! | module | subject |
//! |---|---|
//! | `input`, `params` | the logs of a task; the numbers of the model |
//! | `machine`, `lower` | machine instructions, and how tile instructions become some |
//! | `schedule` | times, flags, channels between cores, deadlocks |
//! | `footprint`, `hazard` | the bytes of an operand; accesses that nothing orders |
//! | `site` | addresses and source lines |
//! | `timeline`, `summary` | the results |
//! | `detail`, `text` | operand texts, numbers as text |
//! | `write` | the files of MindStudio Insight, and the directory |
//! | `perfetto`, `run_timeline` | both formats of Perfetto; a run for it |
//! | `check` | all of it read back by strangers |

mod check;
mod detail;
#[cfg(test)]
mod every_opcode;
mod footprint;
mod hazard;
mod input;
mod lower;
mod machine;
mod params;
mod perfetto;
mod run_timeline;
mod schedule;
mod site;
mod summary;
mod text;
mod timeline;
mod write;

pub use crate::check::{Broken, CheckError, CheckReport, FilePlace, check};
pub use crate::input::{GlobalBuffer, TaskLog};
pub use crate::machine::{At, Instr, Mnemonic, Path, Role, Track};
pub use crate::params::{Params, ParamsError};
pub use crate::run_timeline::{RunModel, RunTask, RunTimeline, RunTrack, RunWait};
pub use crate::schedule::Pair;
pub use crate::site::Site;
pub use crate::summary::{
    BytesRow, ChainStep, ChainTrack, CoreSummary, CriticalChain, STATEMENT, Summary, TopRow, TrackSummary,
};
pub use crate::timeline::{CoreTimeline, Hazard, HazardSide, ModelError, StuckWait, Timeline};
pub use crate::write::{Sources, Stamp, WriteError, Written, write};
