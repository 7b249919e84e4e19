//! A dump in flight: from the moment a control thread says "this argument, now" until a sink has it.
//!
//! ```text
//!   device half (knows no operating system)        │        host half
//!                                                   │
//!   control thread ─► Recorder ─► entry ring   ─────┼─► Mapped (in place, a2a3)  ─┐
//!                        │        payload ring ─────┼─► Copied (copies, a5)      ─┼─► Collector ─► Sink
//!   device memory ───────┘        one lane per      │                             │   one thread
//!   (gathered in logical order)   control thread    │   ... other lanes          ─┘
//! ```
//!
//! ```
//! use std::convert::Infallible;
//! use std::sync::Arc;
//!
//! use argus_abi::capture::{ArgumentEntry, EdgesEntry, SkipEntry, TaskEntry};
//! use argus_abi::{DType, Tensor};
//! use argus_capture::{CaptureConfig, Recorded, Session, Sink, TransportKind};
//! use argus_gm::{Fill, GlobalMemory};
//! use zerocopy::FromZeros;
//!
//! #[derive(Default)]
//! struct Bytes(Vec<u8>);
//!
//! impl Sink for Bytes {
//!     type Error = Infallible;
//!     fn payload(&mut self, piece: &[u8]) -> Result<(), Infallible> {
//!         Ok(self.0.extend_from_slice(piece))
//!     }
//!     # fn begin_argument(&mut self, _: &ArgumentEntry) -> Result<(), Infallible> { Ok(()) }
//!     # fn end_argument(&mut self) -> Result<(), Infallible> { Ok(()) }
//!     # fn task(&mut self, _: &TaskEntry) -> Result<(), Infallible> { Ok(()) }
//!     # fn edges(&mut self, _: &EdgesEntry) -> Result<(), Infallible> { Ok(()) }
//!     # fn skip(&mut self, _: &SkipEntry) -> Result<(), Infallible> { Ok(()) }
//!     # fn flush(&mut self) -> Result<(), Infallible> { Ok(()) }
//!     // ... and the other calls
//! }
//!
//! let memory = Arc::new(GlobalMemory::new());
//! let buffer = memory.allocate(1000, Fill::Poison)?;
//! let tensor = Tensor::contiguous(buffer.addr, DType::U8, &[1000])?;
//!
//! // A ring of 256 bytes: the payload passes in pieces.
//! let transport = TransportKind::Mapped;
//! let config = CaptureConfig { lanes: 1, entries_per_lane: 4, payload_bytes_per_lane: 256, transport };
//! let (session, mut recorders) = Session::start(&memory, config, Bytes::default())?;
//! let entry = ArgumentEntry { task_id: 7, ..ArgumentEntry::new_zeroed() };
//! assert_eq!(recorders[0].argument(entry, Some(&tensor), &memory), Recorded::Whole);
//! drop(recorders);
//!
//! let (sink, ledger) = session.finish();
//! assert!(ledger.is_complete());
//! assert_eq!(sink.expect("no call failed").0, [0xFF; 1000]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is promised
//!
//! * **Nothing is cut, nothing is overwritten.** A payload of any size passes through a ring of any size in
//!   pieces and reaches the sink whole. A full ring makes its recorder wait; waiting is counted and visible
//!   ([`CaptureStatus::is_waiting`]), so that nobody takes it for a stuck run.
//! * **Every loss is counted.** What a recorder was given and a sink did not take is in the [`Ledger`], as
//!   the difference of the two: a collector that died, a sink that failed, capture memory that was too
//!   small. No recorder waits for a collector that is gone.
//! * **Order within a lane**, the order of recording. **None across lanes**: task ids and times relate them.
//! * **Every entry is checked** before it is believed: magic, version, lane, sequence.
//! * **A payload is whole or absent.** A view that cannot be read becomes a skip entry with its reason.
//!
//! # Where to look
//!
//! | module | subject |
//! |---|---|
//! | [`control`] | the counters both halves share, and the rules for moving them (checked by loom) |
//! | `ring` | a lane's memory; the only unsafe code |
//! | `gather`, `recorder` | device half |
//! | `transport` | reading a lane in place or by copies |
//! | `collector`, [`Sink`] | host half |
//! | `session` | one capture from start to finish |
//! | [`times`] | when what ran where |

pub mod control;
mod sync;

// loom stands in for the control block's atomics only: under it the rest would lie over foreign memory.
#[cfg(not(loom_capture))]
mod collector;
#[cfg(not(loom_capture))]
mod error;
#[cfg(not(loom_capture))]
mod gather;
#[cfg(not(loom_capture))]
mod ledger;
#[cfg(not(loom_capture))]
mod recorder;
#[cfg(not(loom_capture))]
mod ring;
#[cfg(not(loom_capture))]
pub mod select;
#[cfg(not(loom_capture))]
mod session;
mod sink;
#[cfg(not(loom_capture))]
mod status;
#[cfg(not(loom_capture))]
pub mod times;
#[cfg(not(loom_capture))]
mod transport;
#[cfg(not(loom_capture))]
mod wait;

#[cfg(not(loom_capture))]
pub use {
    error::CaptureError,
    ledger::{LaneLedger, Ledger},
    recorder::{LaneRecorder, Recorded, WhenFull},
    select::{Candidate, Decision, Level, Selection, Selector, SelectorError},
    session::{CaptureConfig, Recorder, Session, TransportKind},
    status::{CaptureStatus, Progress},
    transport::{CopyFrom, DeviceCopies},
    wait::HostBackoff,
};

pub use sink::Sink;
