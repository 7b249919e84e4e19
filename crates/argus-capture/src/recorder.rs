//! The device half: turns what a control thread reports into entries and payload bytes of its ring.
//!
//! Knows no operating system: time passes in a [`Backoff`], memory is read through windows. An entry that
//! has room costs two stores to lines of its own and no look at the other side.

use std::mem;
use std::sync::atomic::Ordering;

use argus_abi::capture::{
    ArgumentEntry, EDGES_PER_ENTRY, ENTRY_BYTES, ENTRY_MAGIC, ENTRY_VERSION, EdgesEntry, EntryHeader,
    SkipEntry, TaskEntry, TaskFields, argument_flags, skip_reason, what,
};
use argus_abi::{EdgeReason, TaskId, Tensor};
use argus_gm::view::{Gather, MoveError};
use argus_gm::{GlobalMemory, RecentWindows};
use argus_sync::ring::Backoff;
use zerocopy::{Immutable, IntoBytes};

use crate::ring_memory::ProducerHalf;

/// What a recorder does when its ring is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// Waits until the collector has made room, or is gone.
    Wait,
    /// Counts what does not fit and continues: nothing reads before the run has ended.
    Lose,
}

/// What became of something that was to be recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a skip or a loss may matter to the run"]
pub enum Recorded {
    /// It is in the ring.
    Whole,
    /// It cannot be read; the ring says so in an entry with this [`skip_reason`].
    Skipped(u8),
    /// It is counted as lost.
    Lost,
}

/// The producing side of one ring. Dropping it closes the ring.
#[derive(Debug)]
pub struct RingRecorder<B: Backoff> {
    number: u8,
    recent: RecentWindows,
    ring: ProducerHalf,
    backoff: B,
    when_full: WhenFull,
    /// Nothing reads any more; never wait again.
    gone: bool,
    /// Another process has the same recorder, and ends the ring.
    left: bool,
}

impl<B: Backoff> RingRecorder<B> {
    /// A payload of up to a quarter of the ring is published at once, a larger one streams in pieces of this
    /// part of the ring: small enough that both sides work at the same time.
    const PIECES: u64 = 4;
    /// No piece needs to be larger than what a core's own cache holds.
    const LARGEST_PIECE: u64 = 256 * 1024;

    pub(crate) fn new(number: u8, ring: ProducerHalf, backoff: B, when_full: WhenFull) -> RingRecorder<B> {
        let recent = RecentWindows::default();
        RingRecorder { number, recent, ring, backoff, when_full, gone: false, left: false }
    }

    /// The number of the ring, as in its entries.
    pub fn number(&self) -> u8 {
        self.number
    }

    /// Whether the collector takes entries during the run.
    pub fn is_read_meanwhile(&self) -> bool {
        self.when_full == WhenFull::Wait
    }

    /// How long the ring has waited for room so far.
    pub fn waited_ns(&mut self) -> u64 {
        // Relaxed: only this side adds to it.
        self.ring.parts().1.ledger.wait_ns.load(Ordering::Relaxed)
    }

    /// Records one argument. Its payload is the content of `view` now, in logical order, unless the flags
    /// say that there is none. Header and `payload_bytes` of the entry are filled in here.
    pub fn argument(
        &mut self,
        entry: ArgumentEntry,
        view: Option<&Tensor>,
        memory: &GlobalMemory,
    ) -> Recorded {
        // Taken out while the payload is read through one of its windows.
        let mut recent = mem::take(&mut self.recent);
        let wanted = view.filter(|_| entry.flags & argument_flags::NO_PAYLOAD == 0);
        let gather =
            wanted.map_or_else(|| Ok(Gather::nothing()), |view| Gather::new(view, memory, &mut recent));
        let recorded = self.gathered(entry, gather);
        self.recent = recent;
        recorded
    }

    fn gathered(&mut self, mut entry: ArgumentEntry, gather: Result<Gather<'_>, MoveError>) -> Recorded {
        let mut gather = match gather {
            Ok(gather) => gather,
            Err(MoveError::Memory(_)) => return self.skip_argument(&entry, skip_reason::UNREADABLE),
            Err(_) => return self.skip_argument(&entry, skip_reason::METADATA_MISMATCH),
        };
        entry.payload_bytes = gather.left();
        entry.header = self.header(what::ARGUMENT);
        let piece = self.piece_bytes();
        if self.when_full == WhenFull::Wait && gather.left() > piece {
            self.stream(&entry, &mut gather, piece)
        } else {
            self.push(entry.as_bytes(), &mut gather)
        }
    }

    /// Records what is known of a task that has ended.
    pub fn task(&mut self, task: TaskFields) -> Recorded {
        let entry = TaskEntry { header: self.header(what::TASK), task, reserved: [0; 16] };
        self.push_plain(&entry)
    }

    /// Records the tasks that `consumer` waits for, each with its reason, in as many entries as that takes.
    pub fn edges(&mut self, consumer: TaskId, producers: &[(TaskId, EdgeReason)]) -> Recorded {
        let mut outcome = Recorded::Whole;
        for part in producers.chunks(EDGES_PER_ENTRY) {
            let mut entry = EdgesEntry {
                header: self.header(what::EDGES),
                consumer: consumer.raw(),
                count: part.len() as u8,
                reserved: [0; 7],
                reasons: [0; 16],
                producers: [0; EDGES_PER_ENTRY],
            };
            for (index, &(producer, reason)) in part.iter().enumerate() {
                entry.producers[index] = producer.raw();
                entry.reasons[index] = reason as u8;
            }
            if self.push_plain(&entry) == Recorded::Lost {
                outcome = Recorded::Lost;
            }
        }
        outcome
    }

    /// Records that something is missing, and why.
    pub fn skip(&mut self, mut entry: SkipEntry) -> Recorded {
        entry.header = self.header(what::SKIP);
        self.push_plain(&entry)
    }

    /// Ends the ring; what was recorded stays for the collector.
    pub fn close(self) {}

    /// A child process has a copy of this recorder and is the one to use it: the ring stays open.
    pub fn leave_to_child(mut self) {
        self.left = true;
    }

    fn skip_argument(&mut self, entry: &ArgumentEntry, reason: u8) -> Recorded {
        debug_assert!(matches!(reason, skip_reason::UNREADABLE | skip_reason::METADATA_MISMATCH));
        let skip = SkipEntry {
            header: entry.header,
            task_id: entry.task_id,
            func_id: -1,
            arg_index: entry.arg_index,
            stage: entry.stage,
            reason,
            reserved: [0; 96],
        };
        match self.skip(skip) {
            Recorded::Lost => Recorded::Lost,
            _ => Recorded::Skipped(reason),
        }
    }

    /// The sequence counts what is in the ring: a loss leaves no gap, it is counted elsewhere.
    fn header(&self, what: u8) -> EntryHeader {
        EntryHeader {
            magic: ENTRY_MAGIC,
            version: ENTRY_VERSION,
            what,
            ring: self.number,
            sequence: self.ring.cursor.entries(),
        }
    }

    fn piece_bytes(&self) -> u64 {
        (self.ring.layout().payload_capacity / Self::PIECES).clamp(1, Self::LARGEST_PIECE)
    }

    fn push_plain(&mut self, entry: &(impl IntoBytes + Immutable)) -> Recorded {
        self.push(entry.as_bytes(), &mut Gather::nothing())
    }

    /// An entry whose payload goes into the ring as a whole: bytes first, so that the side that sees the entry
    /// finds them.
    fn push(&mut self, entry: &[u8], gather: &mut Gather<'_>) -> Recorded {
        if !self.reserve(1, gather.left()) {
            self.lose(1, gather.left());
            return Recorded::Lost;
        }
        // In pieces, so that the monitor sees that a large one makes progress.
        while gather.left() > 0 {
            let len = gather.left().min(Self::LARGEST_PIECE);
            self.ring.push_payload(len, |piece| gather.fill(piece));
        }
        self.push_entry(entry);
        Recorded::Whole
    }

    /// An entry whose payload is larger: entry first, then its bytes as room comes.
    fn stream(&mut self, entry: &ArgumentEntry, gather: &mut Gather<'_>, piece: u64) -> Recorded {
        if !self.reserve(1, 0) {
            self.lose(1, gather.left());
            return Recorded::Lost;
        }
        self.push_entry(entry.as_bytes());
        while gather.left() > 0 {
            let len = gather.left().min(piece);
            if !self.reserve(0, len) {
                // The entry itself is in the ring and counts as lost because nothing will take it out.
                self.lose(0, gather.left());
                return Recorded::Lost;
            }
            self.ring.push_payload(len, |piece| gather.fill(piece));
        }
        Recorded::Whole
    }

    fn push_entry(&mut self, entry: &[u8]) {
        let entry: &[u8; ENTRY_BYTES] = entry.try_into().expect("every entry has the same size");
        self.ring.push_entry(entry);
    }

    /// Makes sure that there is room; `false` if there will not be.
    fn reserve(&mut self, entries: u64, bytes: u64) -> bool {
        let (cursor, control) = self.ring.parts();
        if cursor.has_room(control, entries, bytes) {
            return true;
        }
        if self.when_full == WhenFull::Lose || self.gone {
            return false;
        }
        self.gone = cursor.wait(control, &mut self.backoff, entries, bytes).is_err();
        !self.gone
    }

    fn lose(&mut self, entries: u64, bytes: u64) {
        let (cursor, control) = self.ring.parts();
        cursor.lose(control, entries, bytes);
    }
}

impl<B: Backoff> Drop for RingRecorder<B> {
    fn drop(&mut self) {
        if self.left {
            return;
        }
        let (cursor, control) = self.ring.parts();
        cursor.close(control);
    }
}
