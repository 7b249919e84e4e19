//! One task alone, from its captured bytes.
//!
//! What comes in: a dump and a choice of one of its tasks, or a capsule, or an argument list in JSON; and the
//! kernels of the program. What goes out: the task run again with the same views, bytes, scalars and contexts,
//! and a verdict on each output, bit by bit.
//!
//! ```text
//! dump ──► select ──► task ──► rebuild ──► run ──► compare
//! capsule ─────────────┘  ▲       memory    device   with what was captured
//! argument spec ──────────┘
//! ```
//!
//! ```
//! use argus_chip::DEFAULT_CHIP;
//! use argus_dump::read::Dump;
//! use argus_replay::{CapturedTask, Code, Listing, Options, TaskChoice, replay};
//! # use argus_record::{Names, RecordRequest, record};
//! # use argus_runtime::{Device, RunConfig};
//! # let (case, runtime) = argus_scenes::scene("vector_example")?.case(None, None)?;
//! # let mut prepared = case.prepare(runtime, DEFAULT_CHIP)?;
//! # let program = prepared.program;
//! # let (config, request, names) = (RunConfig::default(), RecordRequest::default(), Names::default());
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path();
//! # record(&mut Device::new(DEFAULT_CHIP), &program, &mut prepared.args, &config, &request, &names, path).result?;
//!
//! let dump = Dump::open(path)?;
//! let code = Code::from_program(&program);
//! let wanted = TaskChoice { task: Some(dump.record(0).task_id.into()), ..TaskChoice::default() };
//! let listed = Listing::from_dump(&dump).select(&wanted)?;
//! let task = CapturedTask::from_dump(&dump, &listed, &code, None)?;
//! let proof = replay(&task, &code.kernels, DEFAULT_CHIP, &Options::default(), 1)?;
//! assert!(proof.passed(), "its outputs are those of the run, bit by bit");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What holds
//!
//! - The task is dispatched by the runtime's own scheduler, with the payload every task gets. What was equal in
//!   the run is equal here: overlapping arguments share memory, strides and offsets are those of the views.
//! - Bytes that were not captured carry a pattern. The task runs under two patterns, so that what it did not
//!   write and what depends on bytes that are not there are both found, not guessed.
//! - Nothing from a file is believed before it was checked; a wrong file is an error that says where.
//!
//! # What it never does
//!
//! Change a dump, guess a missing value, or call a run equal that was not compared.
//!
//! | module | subject |
//! |---|---|
//! | [`choose`] | which task |
//! | [`task`] | a task and its arguments, as plain values |
//! | `from_dump`, `members` | how a dump tells of a task; and where its kernels ran |
//! | [`code`] | the kernels of a program |
//! | [`spec`] | arguments from a JSON list |
//! | [`substitute`] | values for what is missing |
//! | [`rebuild`] | arguments in a fresh global memory |
//! | [`execute`] | one execution |
//! | [`observe`] | looking into the kernel while it runs |
//! | [`compare`] | the verdict |
//! | [`capsule`] | a task in one portable file |

pub mod capsule;
pub mod choose;
pub mod code;
pub mod compare;
pub mod error;
pub mod execute;
mod from_dump;
mod hint;
mod members;
pub mod observe;
pub mod rebuild;
pub mod spec;
pub mod substitute;
pub mod task;

pub use capsule::{Capsule, CapsuleDamage, CapsuleError};
pub use choose::{Listed, Listing, SelectError, TaskChoice};
pub use code::Code;
pub use compare::{Difference, Judgement, Proof, Verdict, replay};
pub use error::{ArgumentError, ReplayError};
pub use execute::{Buffer, Options, Outcome, run};
pub use hint::Hint;
pub use observe::{LookError, Observation, Probe, Sighting, Watch};
pub use rebuild::{Poison, Rebuilt};
pub use spec::SpecError;
pub use substitute::{Substitute, SubstituteError, Value};
pub use task::{Argument, CapturedTask, Content, Identity, MemberKernel, TensorArgument, What};
