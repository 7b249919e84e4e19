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
//! # What is promised
//!
//! * **Nothing is cut, nothing is overwritten.** A payload of any size passes through a ring of any size in
//!   pieces and reaches the sink whole. A full ring makes its recorder wait; waiting is counted and visible
//!   ([`CaptureStatus::is_waiting`]), so that nobody takes it for a stuck run.
//! * **Every loss is counted.** What a recorder was given and a sink did not take is in the [`argus_facts::Ledger`], as
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
//! | `collector`, [`argus_facts::Sink`] | host half |
//! | `session` | one capture from start to finish |

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
mod session;
#[cfg(not(loom_capture))]
mod status;
#[cfg(not(loom_capture))]
mod transport;
#[cfg(not(loom_capture))]
mod wait;

#[cfg(not(loom_capture))]
pub use {
    error::{CaptureError, ConfigError, EntryError, LaneError},
    ledger::Account,
    recorder::{LaneRecorder, Recorded, WhenFull},
    session::{CaptureConfig, Recorder, Session, TransportKind},
    status::{CaptureStatus, Progress},
    transport::{CopyFrom, DeviceCopies},
    wait::HostBackoff,
};
