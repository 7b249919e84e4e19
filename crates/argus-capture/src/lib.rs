//! A dump in flight: from the moment a control thread says "this argument, now" until a sink has it.
//!
//! ```text
//!   device half (knows no operating system)        │        host half
//!                                                   │
//!   control thread ─► Recorder ─► entry ring   ─────┼─► Mapped (in place)        ─┐
//!                        │        payload ring ─────┼─► Copied (copies)          ─┼─► Collector ─► Sink
//!   device memory ───────┘        one ring per      │                             │   one thread
//!   (gathered in logical order)   control thread    │   ... other rings          ─┘
//! ```
//!
//! ```
//! use std::convert::Infallible;
//! use std::sync::Arc;
//!
//! use argus_abi::capture::{ArgumentEntry, EdgesEntry, SkipEntry, TaskEntry};
//! use argus_abi::{DType, Tensor};
//! use argus_capture::{CaptureConfig, Recorded, Session, TransportKind};
//! use argus_facts::Sink;
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
//! let config = CaptureConfig { rings: 1, entries_per_ring: 4, payload_bytes_per_ring: 256, transport };
//! let (session, mut recorders) = Session::start(config, Bytes::default())?;
//! let entry = ArgumentEntry { task_id: 7, ..ArgumentEntry::new_zeroed() };
//! assert_eq!(recorders[0].argument(entry, Some(&tensor), &memory), Recorded::Whole);
//! drop(recorders);
//!
//! let (sink, account) = session.finish();
//! assert!(account.is_complete());
//! assert_eq!(sink.expect("no call failed").0, [0xFF; 1000]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is promised
//!
//! * **Nothing is cut, nothing is overwritten.** A payload of any size passes through a ring of any size in
//!   pieces and reaches the sink whole. A full ring makes its recorder wait; waiting is counted and visible
//!   ([`CaptureStatus::is_waiting`]), so that nothing takes it for a stuck run.
//! * **Every loss is counted.** What a recorder was given and a sink did not take is in the [`argus_facts::Ledger`], as
//!   the difference of the two: a collector that died, a sink that failed, capture memory that was too
//!   small. No recorder waits for a collector that is gone.
//! * **Order within a ring**, the order of recording. **None across rings**: task ids and times relate them.
//! * **Every entry is checked** before it is believed: magic, version, ring, sequence.
//! * **A payload is whole or absent.** A view that cannot be read becomes a skip entry with its reason.
//!
//! # Where to look
//!
//! | module | subject |
//! |---|---|
//! | [`argus_sync::ring`] | the counters both halves share, and the rules for moving them (checked by loom) |
//! | `ring_memory` | a ring's memory, which no kernel can address; the only unsafe code |
//! | `recorder` | device half |
//! | `transport` | reading a ring in place or by copies |
//! | `collector`, [`argus_facts::Sink`] | host half |
//! | `session` | one capture from start to finish |

mod collector;
mod error;
mod ledger;
mod recorder;
mod ring_memory;
mod session;
mod status;
mod transport;
mod wait;

pub use error::{CaptureError, ConfigError, EntryError, RingError};
pub use ledger::Account;
pub use recorder::{Recorded, RingRecorder, WhenFull};
pub use session::{CaptureConfig, Recorder, Session, TransportKind};
pub use status::{CaptureStatus, Progress};
pub use transport::CopyError;
pub use wait::HostBackoff;
