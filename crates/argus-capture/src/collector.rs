//! The host half: drains the lanes in turn, checks every entry and hands it to the sink.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use argus_abi::capture::{
    ArgumentEntry, ENTRY_MAGIC, ENTRY_VERSION, EdgesEntry, EntryHeader, SkipEntry, TaskEntry, what,
};
use zerocopy::FromBytes;

use crate::error::CaptureError;
use crate::ring::EntryBytes;
use crate::sink::Sink;
use crate::transport::LaneSource;
use crate::wait::Idle;

/// What came so far becomes readable by others at least this often.
const FLUSH_EVERY: Duration = Duration::from_millis(50);
/// The clock is read after this many entries; payload counts as well, see [`Collector::tick`].
const ENTRIES_PER_TICK: u64 = 16;
const BYTES_PER_TICK: u64 = 1 << 20;
/// Longest pause inside a payload, whose next bytes are on their way.
const PAYLOAD_NAP: Duration = Duration::from_micros(50);

/// What the sink has taken whole, lane by lane. Shared, so that it survives a collector that panics.
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

/// The lanes of a collector. However the collector ends, no producer waits for it any longer.
struct Lanes<L: LaneSource>(Vec<Lane<L>>);

struct Lane<L> {
    source: L,
    /// Sequence of the next entry.
    sequence: u64,
    /// Its entries make no sense any more.
    broken: bool,
}

impl<L: LaneSource> Drop for Lanes<L> {
    fn drop(&mut self) {
        for lane in &mut self.0 {
            lane.source.abandon();
        }
    }
}

/// Why an entry was not delivered, and what that means for what follows.
enum Trouble {
    /// This lane cannot be read any further; the sink is between two entries and fine.
    Lane(CaptureError),
    /// The sink cannot be used any more.
    Sink(CaptureError),
}

impl From<CaptureError> for Trouble {
    fn from(error: CaptureError) -> Trouble {
        Trouble::Lane(error)
    }
}

fn sink_error(error: impl Error + Send + Sync + 'static) -> Trouble {
    Trouble::Sink(CaptureError::Sink(Box::new(error)))
}

pub struct Collector<L: LaneSource, S: Sink> {
    lanes: Lanes<L>,
    sink: S,
    sink_usable: bool,
    failure: Option<CaptureError>,
    tallies: Arc<[Tally]>,
    /// Set when nobody will record any more.
    stop: Arc<AtomicBool>,
    unflushed: bool,
    last_flush: Instant,
    ticks: u64,
}

impl<L: LaneSource, S: Sink> Collector<L, S> {
    pub fn new(sources: Vec<L>, sink: S, tallies: Arc<[Tally]>, stop: Arc<AtomicBool>) -> Collector<L, S> {
        let lanes = sources.into_iter().map(|source| Lane { source, sequence: 0, broken: false });
        Collector {
            lanes: Lanes(lanes.collect()),
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

    /// Works until every lane was closed and drained, or until it was told to stop and nothing more comes.
    /// Gives back the sink and the first thing that went wrong.
    pub fn run(mut self) -> (S, Option<CaptureError>) {
        let mut idle = Idle::default();
        let mut rung = false;
        loop {
            let stopping = self.stop.load(Ordering::Acquire);
            let mut moved = false;
            for lane in 0..self.lanes.0.len() {
                moved |= self.visit(lane, rung || stopping);
            }
            if self.lanes.0.iter().all(|lane| lane.source.is_finished()) {
                break;
            }
            if moved {
                idle.reset();
                rung = false;
                continue;
            }
            if stopping {
                let open = self.lanes.0.iter().find(|lane| !lane.source.is_closed());
                if let Some(lane) = open.map(|lane| lane.source.lane()) {
                    self.fail(CaptureError::StillOpen { lane });
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

    /// Takes everything from one lane that is there now. Whether there was anything.
    fn visit(&mut self, index: usize, urgent: bool) -> bool {
        let lane = &mut self.lanes.0[index];
        if lane.source.is_finished() {
            return false;
        }
        let outcome = match lane.source.refresh(urgent) {
            Ok(()) if lane.broken || !self.sink_usable => lane.source.discard().map_err(Trouble::Lane),
            Ok(()) => self.drain(index),
            Err(error) => Err(Trouble::Lane(error)),
        };
        match outcome {
            Ok(moved) => moved,
            Err(Trouble::Lane(error)) => {
                self.lanes.0[index].broken = true;
                self.fail(error);
                // A lane whose memory or counters cannot be trusted is not waited for, nor does it wait.
                let source = &mut self.lanes.0[index].source;
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
        // No more than the last look found, so that one busy lane does not keep the others waiting.
        let ready = self.lanes.0[index].source.entries_ready();
        for _ in 0..ready {
            let Some(entry) = self.lanes.0[index].source.next_entry()? else { break };
            self.deliver(index, &entry)?;
        }
        self.lanes.0[index].source.settle()?;
        Ok(ready > 0)
    }

    /// Checks one entry and hands it to the sink, payload and all.
    fn deliver(&mut self, index: usize, entry: &EntryBytes) -> Result<(), Trouble> {
        let header = self.check(index, entry)?;
        let tally = Arc::clone(&self.tallies);
        let tally = &tally[index];
        let mut bytes = 0;
        match header.what {
            what::ARGUMENT => {
                let argument: ArgumentEntry = decode(entry);
                bytes = argument.payload_bytes;
                self.sink.begin_argument(&argument).map_err(sink_error)?;
                self.payload(index, header.sequence, bytes)?;
                self.sink.end_argument().map_err(sink_error)?;
                add(&tally.arguments, 1);
                add(&tally.payload_bytes, bytes);
            }
            what::TASK => self.sink.task(&decode::<TaskEntry>(entry)).map_err(sink_error)?,
            what::EDGES => self.sink.edges(&decode::<EdgesEntry>(entry)).map_err(sink_error)?,
            what::SKIP => self.sink.skip(&decode::<SkipEntry>(entry)).map_err(sink_error)?,
            other => return Err(self.broken(index, format!("nothing has the number {other}"))),
        }
        add(&tally.entries, 1);
        self.lanes.0[index].sequence += 1;
        self.tick(bytes);
        Ok(())
    }

    /// Passes a payload through, piece by piece. Stays with this lane until it is whole: its bytes are
    /// already on their way, and a sink takes one argument at a time.
    fn payload(&mut self, index: usize, sequence: u64, bytes: u64) -> Result<(), Trouble> {
        let Collector { lanes, sink, .. } = self;
        let source = &mut lanes.0[index].source;
        let torn = |error| Trouble::Sink(error);
        let mut idle = Idle::default();
        let mut left = bytes;
        while left > 0 {
            let piece = source.payload(left).map_err(torn)?;
            if piece.is_empty() {
                let (lane, closed) = (source.lane(), source.is_closed());
                if closed {
                    return Err(torn(CaptureError::Torn { lane, sequence, missing: left }));
                }
                if self.stop.load(Ordering::Acquire) && idle.is_long() {
                    return Err(torn(CaptureError::StillOpen { lane }));
                }
                source.settle().map_err(torn)?;
                let rung = idle.pause(PAYLOAD_NAP);
                source.refresh(rung).map_err(torn)?;
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
    fn check(&self, index: usize, entry: &EntryBytes) -> Result<EntryHeader, Trouble> {
        let header: EntryHeader = decode(entry);
        let lane = &self.lanes.0[index];
        let wrong = |what: String| Err(self.broken(index, what));
        if header.magic != ENTRY_MAGIC {
            return wrong(format!("its magic is {:#010x}, not {ENTRY_MAGIC:#010x}", header.magic));
        }
        if header.version != ENTRY_VERSION {
            return wrong(format!("its version is {}, not {ENTRY_VERSION}", header.version));
        }
        if u16::from(header.lane) != lane.source.lane() {
            return wrong(format!("it says that it belongs to lane {}", header.lane));
        }
        if header.sequence != lane.sequence {
            return wrong(format!("it says that it is entry {}", header.sequence));
        }
        Ok(header)
    }

    fn broken(&self, index: usize, what: String) -> Trouble {
        let lane = &self.lanes.0[index];
        Trouble::Lane(CaptureError::BrokenEntry { lane: lane.source.lane(), sequence: lane.sequence, what })
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

fn decode<T: FromBytes>(entry: &EntryBytes) -> T {
    T::read_from_prefix(&entry.0).expect("no kind of entry is larger than an entry").0
}
