//! The host half: drains the rings in turn, checks every entry and hands it to the sink.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use argus_abi::capture::{
    ArgumentEntry, ENTRY_MAGIC, ENTRY_VERSION, EdgesEntry, EntryHeader, SkipEntry, TaskEntry, what,
};
use zerocopy::{FromBytes, Immutable, KnownLayout};

use crate::error::{CaptureError, EntryError};
use crate::ring_memory::EntryBytes;
use crate::transport::RingSource;
use crate::wait::Idle;
use argus_facts::Sink;

/// What came so far becomes readable by others at least this often.
const FLUSH_EVERY: Duration = Duration::from_millis(50);
/// The clock is read after this many entries; payload counts as well, see [`Collector::tick`].
const ENTRIES_PER_TICK: u64 = 16;
const BYTES_PER_TICK: u64 = 1 << 20;
/// Longest pause inside a payload, whose next bytes are on their way.
const PAYLOAD_NAP: Duration = Duration::from_micros(50);

/// What the sink has taken whole, ring by ring. Shared, so that it survives a collector that panics.
#[derive(Debug, Default)]
pub struct Tally {
    pub entries: AtomicU64,
    pub arguments: AtomicU64,
    pub payload_bytes: AtomicU64,
}

/// Adds to a word that only the collector writes.
fn add(word: &AtomicU64, amount: u64) {
    word.store(word.load(Ordering::Relaxed) + amount, Ordering::Relaxed);
}

/// The rings of a collector. However the collector ends, no producer waits for it any longer.
struct Rings<L: RingSource>(Vec<Ring<L>>);

struct Ring<L> {
    source: L,
    /// Sequence of the next entry.
    sequence: u64,
    /// Its entries cannot be understood any more.
    broken: bool,
}

impl<L: RingSource> Drop for Rings<L> {
    fn drop(&mut self) {
        for ring in &mut self.0 {
            ring.source.abandon();
        }
    }
}

/// Why an entry was not delivered, and what that means for what follows.
enum Trouble {
    /// This ring cannot be read any further; the sink is between two entries and fine.
    Ring(CaptureError),
    /// The sink cannot be used any more.
    Sink(CaptureError),
}

impl From<CaptureError> for Trouble {
    fn from(error: CaptureError) -> Trouble {
        Trouble::Ring(error)
    }
}

fn sink_error(error: impl Error + Send + Sync + 'static) -> Trouble {
    Trouble::Sink(CaptureError::Sink(Box::new(error)))
}

pub struct Collector<L: RingSource, S: Sink> {
    rings: Rings<L>,
    sink: S,
    sink_usable: bool,
    failure: Option<CaptureError>,
    tallies: Arc<[Tally]>,
    /// Set when nothing will record any more.
    stop: Arc<AtomicBool>,
    unflushed: bool,
    last_flush: Instant,
    ticks: u64,
}

impl<L: RingSource, S: Sink> Collector<L, S> {
    pub fn new(sources: Vec<L>, sink: S, tallies: Arc<[Tally]>, stop: Arc<AtomicBool>) -> Collector<L, S> {
        let rings = sources.into_iter().map(|source| Ring { source, sequence: 0, broken: false });
        Collector {
            rings: Rings(rings.collect()),
            sink,
            sink_usable: true,
            failure: None,
            tallies,
            stop,
            unflushed: false,
            last_flush: Instant::now(),
            ticks: 0,
        }
    }

    /// Works until every ring was closed and drained, or until it was told to stop and nothing more comes.
    /// Gives back the sink and the first thing that went wrong.
    pub fn run(mut self) -> (S, Option<CaptureError>) {
        let mut idle = Idle::default();
        let mut rung = false;
        loop {
            let stopping = self.stop.load(Ordering::Acquire);
            let mut moved = false;
            for ring in 0..self.rings.0.len() {
                moved |= self.visit(ring, rung || stopping);
            }
            if self.rings.0.iter().all(|ring| ring.source.is_finished()) {
                break;
            }
            if moved {
                idle.reset();
                rung = false;
                continue;
            }
            if stopping {
                let open = self.rings.0.iter().find(|ring| !ring.source.is_closed());
                if let Some(ring) = open.map(|ring| ring.source.number()) {
                    self.fail(CaptureError::StillOpen { ring });
                }
                break;
            }
            if idle.is_long() {
                self.flush();
            }
            rung = idle.pause(Duration::MAX);
        }
        self.flush();
        (self.sink, self.failure)
    }

    /// Takes everything from one ring that is there now. Whether there was anything.
    fn visit(&mut self, index: usize, urgent: bool) -> bool {
        let ring = &mut self.rings.0[index];
        if ring.source.is_finished() {
            return false;
        }
        let outcome = match ring.source.refresh(urgent) {
            Ok(()) if ring.broken || !self.sink_usable => ring.source.discard().map_err(Trouble::Ring),
            Ok(()) => self.drain(index),
            Err(error) => Err(Trouble::Ring(error)),
        };
        match outcome {
            Ok(moved) => moved,
            Err(Trouble::Ring(error)) => {
                self.rings.0[index].broken = true;
                self.fail(error);
                // A ring whose memory or counters cannot be trusted is not waited for, nor does it wait.
                let source = &mut self.rings.0[index].source;
                source.discard().unwrap_or_else(|_| {
                    source.abandon();
                    false
                })
            }
            Err(Trouble::Sink(error)) => {
                self.sink_usable = false;
                self.fail(error);
                true
            }
        }
    }

    fn drain(&mut self, index: usize) -> Result<bool, Trouble> {
        // No more than the last look found, so that one busy ring does not keep the others waiting.
        let ready = self.rings.0[index].source.entries_ready();
        for _ in 0..ready {
            let Some(entry) = self.rings.0[index].source.next_entry()? else { break };
            self.deliver(index, &entry)?;
        }
        self.rings.0[index].source.settle()?;
        Ok(ready > 0)
    }

    /// Checks one entry and hands it to the sink, payload and all.
    fn deliver(&mut self, index: usize, entry: &EntryBytes) -> Result<(), Trouble> {
        let header = *self.check(index, entry)?;
        let mut bytes = 0;
        match header.what {
            what::ARGUMENT => {
                let argument: &ArgumentEntry = decode(entry);
                bytes = argument.payload_bytes;
                self.sink.begin_argument(argument).map_err(sink_error)?;
                self.payload(index, header.sequence, bytes)?;
                self.sink.end_argument().map_err(sink_error)?;
                add(&self.tallies[index].arguments, 1);
                add(&self.tallies[index].payload_bytes, bytes);
            }
            what::TASK => self.sink.task(decode::<TaskEntry>(entry)).map_err(sink_error)?,
            what::EDGES => self.sink.edges(decode::<EdgesEntry>(entry)).map_err(sink_error)?,
            what::SKIP => self.sink.skip(decode::<SkipEntry>(entry)).map_err(sink_error)?,
            other => return Err(self.broken(index, EntryError::What { found: other })),
        }
        add(&self.tallies[index].entries, 1);
        self.rings.0[index].sequence += 1;
        self.tick(bytes);
        Ok(())
    }

    /// Passes a payload through, piece by piece. Stays with this ring until it is whole: its bytes are
    /// already on their way, and a sink takes one argument at a time.
    fn payload(&mut self, index: usize, sequence: u64, bytes: u64) -> Result<(), Trouble> {
        let Collector { rings, sink, .. } = self;
        let source = &mut rings.0[index].source;
        let torn = |error| Trouble::Sink(error);
        let mut idle = Idle::default();
        let mut left = bytes;
        let mut stopping = false;
        while left > 0 {
            let piece = source.payload(left).map_err(torn)?;
            if piece.is_empty() {
                let (ring, closed) = (source.number(), source.is_closed());
                if closed {
                    return Err(torn(CaptureError::Torn { ring, sequence, missing: left }));
                }
                if stopping && idle.is_long() {
                    return Err(torn(CaptureError::StillOpen { ring }));
                }
                source.settle().map_err(torn)?;
                let rung = idle.pause(PAYLOAD_NAP);
                // Everything was published before the stop: a look after it that is not left out tells all.
                stopping = self.stop.load(Ordering::Acquire);
                source.refresh(rung || stopping).map_err(torn)?;
                continue;
            }
            idle.reset();
            sink.payload(piece).map_err(sink_error)?;
            let len = piece.len() as u64;
            source.release(len).map_err(torn)?;
            left -= len;
            if left > 0 {
                source.refresh(false).map_err(torn)?;
            }
        }
        Ok(())
    }

    /// Believes an entry only if it is the one expected.
    fn check<'e>(&self, index: usize, entry: &'e EntryBytes) -> Result<&'e EntryHeader, Trouble> {
        let header: &EntryHeader = decode(entry);
        let ring = &self.rings.0[index];
        let wrong = |source| Err(self.broken(index, source));
        if header.magic != ENTRY_MAGIC {
            return wrong(EntryError::Magic { found: header.magic });
        }
        if header.version != ENTRY_VERSION {
            return wrong(EntryError::Version { found: header.version });
        }
        if u16::from(header.ring) != ring.source.number() {
            return wrong(EntryError::Ring { found: header.ring.into() });
        }
        if header.sequence != ring.sequence {
            return wrong(EntryError::Sequence { found: header.sequence });
        }
        Ok(header)
    }

    fn broken(&self, index: usize, source: EntryError) -> Trouble {
        let ring = &self.rings.0[index];
        Trouble::Ring(CaptureError::BrokenEntry {
            ring: ring.source.number(),
            sequence: ring.sequence,
            source,
        })
    }

    /// Something was delivered; looks at the clock now and then.
    fn tick(&mut self, bytes: u64) {
        self.unflushed = true;
        self.ticks += 1 + bytes.min(BYTES_PER_TICK) * ENTRIES_PER_TICK / BYTES_PER_TICK;
        if self.ticks >= ENTRIES_PER_TICK {
            self.ticks = 0;
            if self.last_flush.elapsed() >= FLUSH_EVERY {
                self.flush();
            }
        }
    }

    fn flush(&mut self) {
        if self.unflushed && self.sink_usable {
            self.unflushed = false;
            if let Err(error) = self.sink.flush() {
                self.sink_usable = false;
                self.fail(CaptureError::Sink(Box::new(error)));
            }
            self.last_flush = Instant::now();
        }
    }

    /// Only the first failure is kept: the others follow from it.
    fn fail(&mut self, error: CaptureError) {
        self.failure.get_or_insert(error);
    }
}

fn decode<T: FromBytes + KnownLayout + Immutable>(entry: &EntryBytes) -> &T {
    T::ref_from_prefix(&entry.0).expect("no kind of entry is larger than an entry, or aligned to more").0
}

#[cfg(test)]
pub(crate) mod tests {
    use argus_abi::capture::ENTRY_BYTES;
    use argus_facts::with_causes;
    use argus_gm::Region;
    use zerocopy::{FromZeros, IntoBytes};

    use super::*;
    use crate::ledger::settle;
    use crate::ring_memory::{self, RingCopies, RingLayout};
    use crate::transport::{Copied, Mapped};

    /// One argument whose payload only an urgent look finds.
    struct Reluctant {
        entry: Option<EntryBytes>,
        looked: bool,
        left: usize,
    }

    impl RingSource for Reluctant {
        fn number(&self) -> u16 {
            0
        }

        fn refresh(&mut self, urgent: bool) -> Result<(), CaptureError> {
            // The first look, for the entry itself, is before its payload came.
            self.looked |= urgent && self.entry.is_none();
            Ok(())
        }

        fn entries_ready(&self) -> u64 {
            self.entry.is_some().into()
        }

        fn next_entry(&mut self) -> Result<Option<EntryBytes>, CaptureError> {
            Ok(self.entry.take())
        }

        fn payload(&mut self, _max: u64) -> Result<&[u8], CaptureError> {
            Ok(if self.looked { &[1, 2, 3, 4][4 - self.left..] } else { &[] })
        }

        fn release(&mut self, bytes: u64) -> Result<(), CaptureError> {
            self.left -= bytes as usize;
            Ok(())
        }

        fn settle(&mut self) -> Result<(), CaptureError> {
            Ok(())
        }

        fn discard(&mut self) -> Result<bool, CaptureError> {
            Ok(self.entry.take().is_some())
        }

        fn is_closed(&self) -> bool {
            self.looked
        }

        fn is_finished(&self) -> bool {
            self.looked && self.left == 0
        }

        fn abandon(&mut self) {}
    }

    /// Keeps payloads, one after the other.
    #[derive(Default)]
    pub(crate) struct Bytes(Vec<u8>);

    impl Sink for Bytes {
        type Error = std::io::Error;

        fn begin_argument(&mut self, _: &ArgumentEntry) -> Result<(), Self::Error> {
            Ok(())
        }

        fn payload(&mut self, piece: &[u8]) -> Result<(), Self::Error> {
            self.0.extend_from_slice(piece);
            Ok(())
        }

        fn end_argument(&mut self) -> Result<(), Self::Error> {
            Ok(())
        }

        fn task(&mut self, _: &TaskEntry) -> Result<(), Self::Error> {
            Ok(())
        }

        fn edges(&mut self, _: &EdgesEntry) -> Result<(), Self::Error> {
            Ok(())
        }

        fn skip(&mut self, _: &SkipEntry) -> Result<(), Self::Error> {
            Ok(())
        }

        fn flush(&mut self) -> Result<(), Self::Error> {
            Ok(())
        }
    }

    /// A run that ends while the collector is inside a payload loses nothing of it, however seldom a transport
    /// looks of its own accord.
    #[test]
    fn the_end_of_a_run_inside_a_payload_is_looked_for() {
        let mut argument = ArgumentEntry::new_zeroed();
        argument.header = EntryHeader {
            magic: ENTRY_MAGIC,
            version: ENTRY_VERSION,
            what: what::ARGUMENT,
            ring: 0,
            sequence: 0,
        };
        argument.payload_bytes = 4;
        let mut entry = EntryBytes([0; ENTRY_BYTES]);
        entry.0.copy_from_slice(argument.as_bytes());
        let source = Reluctant { entry: Some(entry), looked: false, left: 4 };
        let tallies: Arc<[Tally]> = Arc::new([Tally::default()]);
        let stop = Arc::new(AtomicBool::new(true));
        let (sink, failure) =
            Collector::new(vec![source], Bytes::default(), Arc::clone(&tallies), stop).run();
        assert!(failure.is_none(), "{failure:?}");
        assert_eq!(sink.0, [1, 2, 3, 4]);
        assert_eq!(tallies[0].payload_bytes.load(Ordering::Relaxed), 4);
    }

    /// The third of four entries is broken, in a ring that is read in place and in one that is copied: it is
    /// named, and it and what follows count as lost.
    #[test]
    fn a_broken_entry_is_named() {
        for (offset, value, expected) in [
            (0, 0, "its magic is"),
            (4, 99, "its version is 99, not 2"),
            (6, 77, "nothing has the number 77"),
            (7, 200, "it says that it belongs to ring 200"),
            (8, 5, "it says that it is entry 5"),
        ] {
            for in_place in [true, false] {
                let layout = RingLayout { entry_capacity: 4, payload_capacity: 64 };
                let region = Arc::new(Region::fresh(layout.total_bytes()).unwrap());
                let (mut producer, consumer, map) = ring_memory::create(region, layout, 0).unwrap();
                for sequence in 0..4 {
                    let mut task = TaskEntry::new_zeroed();
                    task.header = EntryHeader {
                        magic: ENTRY_MAGIC,
                        version: ENTRY_VERSION,
                        what: what::TASK,
                        ring: 0,
                        sequence,
                    };
                    let mut bytes = [0; ENTRY_BYTES];
                    bytes.copy_from_slice(task.as_bytes());
                    if sequence == 2 {
                        bytes[offset] = value;
                    }
                    producer.push_entry(&bytes);
                }
                let (cursor, control) = producer.parts();
                cursor.close(control);
                let tallies: Arc<[Tally]> = Arc::new([Tally::default()]);
                let failure = if in_place {
                    collect(Mapped::new(0, consumer).unwrap(), &tallies)
                } else {
                    let copies = RingCopies::new(map.clone());
                    collect(Copied::new(0, copies, layout, Arc::default()).unwrap(), &tallies)
                };
                assert!(
                    matches!(failure, CaptureError::BrokenEntry { ring: 0, sequence: 2, .. }),
                    "{failure:?}"
                );
                assert!(with_causes(&failure).contains(expected), "{failure}");
                let copies = RingCopies::new(map);
                let ledger = settle(&copies, &tallies[0], &AtomicU64::new(0)).unwrap();
                assert_eq!((ledger.entries, ledger.lost_entries), (2, 2));
            }
        }
    }

    /// What went wrong in a ring that was already closed.
    fn collect(source: impl RingSource, tallies: &Arc<[Tally]>) -> CaptureError {
        let stop = Arc::new(AtomicBool::new(true));
        let (_, failure) = Collector::new(vec![source], Bytes::default(), Arc::clone(tallies), stop).run();
        failure.expect("an entry is broken")
    }
}
