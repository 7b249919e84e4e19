//! One capture from start to finish: what the runtime holds.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle, Thread};

use argus_facts::{Ledger, RingLedger, Sink};
use argus_gm::{MemoryError, Region};

use crate::collector::{Collector, Tally};
use crate::error::{CaptureError, ConfigError};
use crate::ledger::{Account, settle};
use crate::recorder::{RingRecorder, WhenFull};
use crate::ring_memory::{self, ConsumerHalf, ProducerHalf, RingCopies, RingLayout, RingMap};
use crate::status::CaptureStatus;
use crate::transport::{Copied, Mapped, RingSource};
use crate::wait::HostBackoff;

/// A recorder as it runs on this host.
pub type Recorder = RingRecorder<HostBackoff>;

/// How the host comes by what the device has recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportKind {
    /// The rings are mapped and read in place during the run.
    Mapped,
    /// What is new is copied during the run.
    Copied,
    /// Everything is copied when the run has ended; what did not fit by then is lost, and counted.
    AfterSync,
}

/// The size of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaptureConfig {
    /// One per control thread; at most 256, as entries say their ring in a byte.
    pub rings: usize,
    pub entries_per_ring: usize,
    /// Rounded up to whole cache lines.
    pub payload_bytes_per_ring: usize,
    pub transport: TransportKind,
}

impl CaptureConfig {
    /// A payload ring that stays in the processor's cache beside the collector's work.
    pub const RING_BYTES: usize = 4 << 20;
    /// Entries for some tens of microseconds at the fastest rate they can come.
    pub const RING_ENTRIES: usize = 4096;
    /// Memory per ring of [`TransportKind::AfterSync`] by default.
    pub const AFTER_SYNC_BYTES: usize = 256 << 20;

    /// Rings of the usual size, collected during the run.
    pub fn streaming(rings: usize, transport: TransportKind) -> CaptureConfig {
        CaptureConfig {
            rings,
            entries_per_ring: Self::RING_ENTRIES,
            payload_bytes_per_ring: Self::RING_BYTES,
            transport,
        }
    }

    /// Everything stays on the device until the run has ended, in `memory_per_ring` bytes: an eighth of them
    /// for entries, the rest for payload.
    pub fn after_sync(rings: usize, memory_per_ring: usize) -> CaptureConfig {
        let entries = (memory_per_ring / 8 / argus_abi::capture::ENTRY_BYTES).max(1);
        let payload = memory_per_ring - memory_per_ring / 8;
        CaptureConfig {
            rings,
            entries_per_ring: entries,
            payload_bytes_per_ring: payload.max(1),
            transport: TransportKind::AfterSync,
        }
    }

    fn layout(&self) -> Result<RingLayout, CaptureError> {
        if self.rings == 0 || self.rings > 256 {
            return Err(ConfigError::Rings { rings: self.rings }.into());
        }
        if self.entries_per_ring == 0 || self.payload_bytes_per_ring == 0 {
            return Err(ConfigError::NoRoom.into());
        }
        // Far beyond any memory there is, and small enough that no sum of sizes overflows.
        const LIMIT: usize = 1 << 46;
        if self.entries_per_ring > LIMIT / argus_abi::capture::ENTRY_BYTES
            || self.payload_bytes_per_ring > LIMIT
        {
            return Err(ConfigError::TooLarge.into());
        }
        Ok(RingLayout {
            entry_capacity: self.entries_per_ring as u64,
            payload_capacity: (self.payload_bytes_per_ring as u64).next_multiple_of(64),
        })
    }
}

type Ended<S> = (S, Option<CaptureError>);
/// Drains the rings into the sink, on whatever thread it is run.
type Work<S> = Box<dyn FnOnce() -> Ended<S> + Send>;

enum Collecting<S> {
    /// During the run.
    Now(JoinHandle<Ended<S>>),
    /// When it has ended.
    Later(Work<S>),
    Done,
}

/// A capture in progress. Dropping it without [`Session::finish`] abandons it: recorders go on and lose what
/// they record.
pub struct Session<S: Sink> {
    collecting: Collecting<S>,
    stop: Arc<AtomicBool>,
    tallies: Arc<[Tally]>,
    copied: Arc<AtomicU64>,
    status: Arc<CaptureStatus>,
    rings: Vec<RingMap>,
    transport: TransportKind,
}

impl<S: Sink + 'static> Session<S> {
    /// Makes the rings and starts to collect. One recorder per ring, in the order of their numbers.
    pub fn start(config: CaptureConfig, sink: S) -> Result<(Session<S>, Vec<Recorder>), CaptureError> {
        Session::start_in(config, sink, Region::fresh)
    }

    /// As [`Session::start`], with recorders that a child process can use. This process then leaves them to it.
    pub fn start_for_child(
        config: CaptureConfig,
        sink: S,
    ) -> Result<(Session<S>, Vec<Recorder>), CaptureError> {
        Session::start_in(config, sink, Region::shared)
    }

    fn start_in(
        config: CaptureConfig,
        sink: S,
        region: fn(u64) -> Result<Region, MemoryError>,
    ) -> Result<(Session<S>, Vec<Recorder>), CaptureError> {
        let layout = config.layout()?;
        let (mut producers, mut consumers, mut rings) = (Vec::new(), Vec::new(), Vec::new());
        for number in 0..config.rings {
            // Memory of its own, which no kernel can address.
            let region = Arc::new(region(layout.total_bytes())?);
            let handles = ring_memory::create(region, layout, number as u16);
            let (producer, consumer, map) = handles.ok_or(CaptureError::Config(ConfigError::Unaligned))?;
            producers.push(producer);
            consumers.push(consumer);
            rings.push(map);
        }

        let stop = Arc::new(AtomicBool::new(false));
        let tallies: Arc<[Tally]> = (0..config.rings).map(|_| Tally::default()).collect();
        let copied = Arc::new(AtomicU64::new(0));
        let shared = (Arc::clone(&tallies), Arc::clone(&stop));
        let work = match config.transport {
            TransportKind::Mapped => work(mapped(consumers)?, sink, shared),
            TransportKind::Copied | TransportKind::AfterSync => {
                // The host side of a copied ring reads nothing in place.
                drop(consumers);
                work(copies(&rings, &copied)?, sink, shared)
            }
        };
        let collecting = match config.transport {
            TransportKind::AfterSync => Collecting::Later(work),
            TransportKind::Mapped | TransportKind::Copied => Collecting::Now(spawn(work)?),
        };
        let (when_full, wake) = match &collecting {
            Collecting::Now(thread) => (WhenFull::Wait, Some(thread.thread().clone())),
            Collecting::Later(_) | Collecting::Done => (WhenFull::Lose, None),
        };
        let recorders = recorders(producers, when_full, wake);
        let status = Arc::new(CaptureStatus::new(rings.clone()));
        let transport = config.transport;
        Ok((Session { collecting, stop, tallies, copied, status, rings, transport }, recorders))
    }

    /// What watchers may look at, during the capture and after.
    pub fn status(&self) -> Arc<CaptureStatus> {
        Arc::clone(&self.status)
    }

    /// Collects what is left and gives back the sink, unless the collector panicked, and the account.
    ///
    /// All recorders must have been closed or dropped. If one was not, what it has recorded so far is
    /// collected, the rest is lost, and the ledger says so.
    pub fn finish(mut self) -> (Option<S>, Account) {
        let (sink, mut failure) = match self.end() {
            Ok((sink, failure)) => (Some(sink), failure),
            Err(error) => (None, Some(error)),
        };
        let by_copy = self.transport != TransportKind::Mapped;
        // The account of mapped rings is read in the same way, but not counted as copied.
        let uncounted = AtomicU64::new(0);
        let copied = if by_copy { &*self.copied } else { &uncounted };
        let mut ledgers = Vec::with_capacity(self.rings.len());
        for (ring, tally) in self.rings.iter().zip(self.tallies.iter()) {
            match settle(&RingCopies::new(ring.clone()), tally, copied) {
                Ok(ledger) => ledgers.push(ledger),
                Err(error) => {
                    failure.get_or_insert(error);
                    ledgers.push(RingLedger::default());
                }
            }
        }
        let ledger = Ledger { rings: ledgers };
        let RingLedger { lost_entries: entries, lost_bytes: bytes, .. } = ledger.total();
        if self.transport == TransportKind::AfterSync && failure.is_none() && entries > 0 {
            failure = Some(CaptureError::DidNotFit { entries, bytes });
        }
        (sink, Account { ledger, bytes_copied: self.copied.load(Ordering::Relaxed), failure })
    }
}

impl<S: Sink> Session<S> {
    /// Ends the collector, wherever it runs.
    fn end(&mut self) -> Result<Ended<S>, CaptureError>
    where
        S: 'static,
    {
        self.stop.store(true, Ordering::Release);
        let thread = match std::mem::replace(&mut self.collecting, Collecting::Done) {
            Collecting::Now(thread) => thread,
            Collecting::Later(work) => spawn(work)?,
            Collecting::Done => return Err(CaptureError::Finished),
        };
        thread.thread().unpark();
        thread.join().map_err(|panic| CaptureError::Panicked(text_of(&*panic)))
    }
}

impl<S: Sink> Drop for Session<S> {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Collecting::Now(thread) = std::mem::replace(&mut self.collecting, Collecting::Done) {
            thread.thread().unpark();
            // Joined so that nothing of an abandoned capture continues. Its outcome is of no interest to
            // a caller that abandons it.
            let _ = thread.join();
        }
    }
}

fn mapped(consumers: Vec<ConsumerHalf>) -> Result<Vec<Mapped>, CaptureError> {
    consumers.into_iter().enumerate().map(|(number, ring)| Mapped::new(number as u16, ring)).collect()
}

fn copies(rings: &[RingMap], copied: &Arc<AtomicU64>) -> Result<Vec<Copied<RingCopies>>, CaptureError> {
    let ring = |(number, map): (usize, &RingMap)| {
        Copied::new(number as u16, RingCopies::new(map.clone()), map.layout(), Arc::clone(copied))
    };
    rings.iter().enumerate().map(ring).collect()
}

fn work<L: RingSource + 'static, S: Sink + 'static>(
    sources: Vec<L>,
    sink: S,
    (tallies, stop): (Arc<[Tally]>, Arc<AtomicBool>),
) -> Work<S> {
    let collector = Collector::new(sources, sink, tallies, stop);
    Box::new(move || collector.run())
}

fn spawn<S: Send + 'static>(work: Work<S>) -> Result<JoinHandle<Ended<S>>, CaptureError> {
    thread::Builder::new().name("argus-collector".into()).spawn(work).map_err(CaptureError::Spawn)
}

fn recorders(producers: Vec<ProducerHalf>, when_full: WhenFull, wake: Option<Thread>) -> Vec<Recorder> {
    let recorder =
        |(number, ring)| RingRecorder::new(number as u8, ring, HostBackoff::new(wake.clone()), when_full);
    producers.into_iter().enumerate().map(recorder).collect()
}

fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("without a message").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collector::tests::Bytes;

    /// The memory of a ring lives as long as a thread may look at it, and no longer.
    #[test]
    fn lane_memory_is_freed_with_its_last_handle() {
        for transport in [TransportKind::Mapped, TransportKind::Copied, TransportKind::AfterSync] {
            let config =
                CaptureConfig { rings: 2, entries_per_ring: 4, payload_bytes_per_ring: 64, transport };
            let (session, recorders) = Session::start(config, Bytes::default()).unwrap();
            let regions: Vec<_> = session.rings.iter().map(|ring| Arc::downgrade(ring.region())).collect();
            let status = session.status();
            drop(recorders);
            let (_, ledger) = session.finish();
            assert!(ledger.is_complete());
            assert!(!status.is_waiting());
            drop(status);
            assert!(regions.iter().all(|region| region.strong_count() == 0));
        }
    }
}
