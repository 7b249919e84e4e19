//! The words through which the two halves of a ring talk, and the rules for moving them.
//!
//! Every counter only grows: it counts entries or bytes since the ring began, never positions. A position
//! is a count modulo the capacity, so "full" and "empty" cannot be mistaken for each other and nothing needs
//! a spare slot. The thread that owns a counter is its only writer:
//!
//! ```text
//!              consumed                published            consumed + capacity
//!  ───────────────┼───────────────────────┼──────────────────────────┼──────────►  count
//!   may be reused │ belongs to the reader │ belongs to the writer    │
//! ```
//!
//! The bytes themselves are not here: this module knows counts only, which is what lets loom check it with
//! cells of its own in place of the rings. The words lie in the ring's memory, at the same place for both
//! sides, wherever that memory is mapped.

use crate::order::order;
use crate::primitives::atomic::{self, AtomicU64, Ordering::Relaxed};

/// First word of a ring: "ARGL" in memory order.
pub const RING_MAGIC: u32 = u32::from_le_bytes(*b"ARGL");
/// Changes whenever the layout of [`RingControl`] or the order of the rings behind it does.
pub const RING_VERSION: u16 = 1;

/// What never changes after the ring was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct RingShape {
    pub magic: u32,
    pub version: u16,
    pub ring: u16,
    /// Bytes of an entry, so that the sides cannot disagree about it silently.
    pub entry_bytes: u64,
    pub entry_capacity: u64,
    pub payload_capacity: u64,
}

/// What the device counts besides its progress. Touched only when something went unusually.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct LedgerLine {
    /// Times the producer found no room.
    pub waits: AtomicU64,
    pub wait_ns: AtomicU64,
    /// Entries that never reached the ring.
    pub lost_entries: AtomicU64,
    /// Payload bytes that never reached the ring.
    pub lost_bytes: AtomicU64,
}

/// Written by the producer alone.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct ProducerLine {
    pub entries_published: AtomicU64,
    pub payload_published: AtomicU64,
    /// 1: nothing will follow.
    pub closed: AtomicU64,
    /// 1: the producer waits for room right now.
    pub waiting: AtomicU64,
}

/// Written by the consumer alone.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct ConsumerLine {
    pub entries_consumed: AtomicU64,
    pub payload_consumed: AtomicU64,
    /// 1: no thread reads any more, so no thread must wait.
    pub gone: AtomicU64,
}

/// Start of a ring's memory. Producer and consumer words are two cache lines apart, because processors
/// fetch neighbouring lines in pairs.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct RingControl {
    pub shape: RingShape,
    pub ledger: LedgerLine,
    pub producer: ProducerLine,
    pub consumer: ConsumerLine,
}

// loom's atomics have another size and are never mapped.
#[cfg(not(loom))]
const _: () = {
    use core::mem::{offset_of, size_of};
    assert!(size_of::<RingShape>() == 32);
    assert!(size_of::<RingControl>() == 384);
    assert!(offset_of!(RingControl, ledger) == 64);
    assert!(offset_of!(RingControl, producer) == 128);
    assert!(offset_of!(RingControl, consumer) == 256);
};

impl RingControl {
    pub fn new(shape: RingShape) -> RingControl {
        let zero = || AtomicU64::new(0);
        RingControl {
            shape,
            ledger: LedgerLine { waits: zero(), wait_ns: zero(), lost_entries: zero(), lost_bytes: zero() },
            producer: ProducerLine {
                entries_published: zero(),
                payload_published: zero(),
                closed: zero(),
                waiting: zero(),
            },
            consumer: ConsumerLine { entries_consumed: zero(), payload_consumed: zero(), gone: zero() },
        }
    }

    /// Tells the producer that nothing reads any more.
    pub fn abandon(&self) {
        // Relaxed: nothing is handed over; a producer that waits looks again and again.
        self.consumer.gone.store(1, Relaxed);
    }
}

/// How a producer passes the time until there is room. Behind a trait because the recorder itself knows no
/// operating system and no clock.
pub trait Backoff {
    /// The wait begins.
    fn begin(&mut self);
    /// Room was looked for `round` times in vain; rounds count from 0.
    fn pause(&mut self, round: u32);
    /// The wait is over; how long it took, in nanoseconds.
    fn end(&mut self) -> u64;
}

/// Nothing reads the ring any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone;

/// What the producer knows about its ring.
///
/// It keeps what it last saw of the consumer's counters and looks again only when that does not suffice, so
/// that an entry normally costs no access to a line the other side writes.
#[derive(Debug)]
pub struct ProducerCursor {
    entry_capacity: u64,
    payload_capacity: u64,
    entries: u64,
    payload: u64,
    entries_consumed: u64,
    payload_consumed: u64,
}

impl ProducerCursor {
    pub fn new(entry_capacity: u64, payload_capacity: u64) -> ProducerCursor {
        ProducerCursor {
            entry_capacity,
            payload_capacity,
            entries: 0,
            payload: 0,
            entries_consumed: 0,
            payload_consumed: 0,
        }
    }

    /// Entries published so far: also the position, not yet wrapped, of the next one.
    #[inline]
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// Payload bytes published so far: also the position, not yet wrapped, of the next one.
    #[inline]
    pub fn payload(&self) -> u64 {
        self.payload
    }

    /// Whether one more entry and `bytes` more payload bytes fit now.
    #[inline]
    pub fn has_room(&mut self, control: &RingControl, entries: u64, bytes: u64) -> bool {
        let mut fits = self.entries - self.entries_consumed + entries <= self.entry_capacity;
        if !fits {
            // SYNC POINT: pairs with the release in `ConsumerCursor::acknowledge`; the consumer has
            // finished with every slot that is counted here before we write to it again.
            self.entries_consumed =
                control.consumer.entries_consumed.load(order!("ring.entries_consumed", Acquire));
            fits = self.entries - self.entries_consumed + entries <= self.entry_capacity;
        }
        fits && self.payload_room(control, bytes) >= bytes
    }

    /// Payload bytes that may be written now. Looks at the consumer again only if fewer than `enough`.
    #[inline]
    pub fn payload_room(&mut self, control: &RingControl, enough: u64) -> u64 {
        let room = self.payload_capacity - (self.payload - self.payload_consumed);
        if room >= enough {
            return room;
        }
        // SYNC POINT: pairs with the release in `ConsumerCursor::acknowledge`, as above.
        self.payload_consumed =
            control.consumer.payload_consumed.load(order!("ring.payload_consumed", Acquire));
        self.payload_capacity - (self.payload - self.payload_consumed)
    }

    /// Hands the next `bytes` payload bytes to the consumer.
    #[inline]
    pub fn publish_payload(&mut self, control: &RingControl, bytes: u64) {
        self.payload += bytes;
        // SYNC POINT: pairs with the acquire in `ConsumerCursor::refresh`; the bytes come before the count.
        control.producer.payload_published.store(self.payload, order!("ring.publish_payload", Release));
    }

    /// Hands the next entry to the consumer, and with it any payload published before.
    #[inline]
    pub fn publish_entry(&mut self, control: &RingControl) {
        self.entries += 1;
        // SYNC POINT: pairs with the acquire in `ConsumerCursor::refresh`; the entry comes before the count.
        control.producer.entries_published.store(self.entries, order!("ring.publish_entry", Release));
    }

    /// Nothing will follow.
    pub fn close(&mut self, control: &RingControl) {
        // SYNC POINT: pairs with the acquire in `ConsumerCursor::refresh`; everything published comes first.
        control.producer.closed.store(1, order!("ring.close", Release));
    }

    /// Waits for room for `entries` entries and `bytes` payload bytes, neither more than the capacity.
    pub fn wait(
        &mut self,
        control: &RingControl,
        backoff: &mut impl Backoff,
        entries: u64,
        bytes: u64,
    ) -> Result<(), Gone> {
        if self.has_room(control, entries, bytes) {
            return Ok(());
        }
        // Relaxed: the word is a sign for watchers and hands nothing over.
        control.producer.waiting.store(1, Relaxed);
        backoff.begin();
        let mut round = 0;
        let outcome = loop {
            // Relaxed: see `RingControl::abandon`.
            if control.consumer.gone.load(Relaxed) != 0 {
                break Err(Gone);
            }
            if self.has_room(control, entries, bytes) {
                break Ok(());
            }
            backoff.pause(round);
            round = round.saturating_add(1);
        };
        let ledger = &control.ledger;
        add(&ledger.waits, 1);
        add(&ledger.wait_ns, backoff.end());
        control.producer.waiting.store(0, Relaxed);
        outcome
    }

    /// Counts what will never reach the ring.
    pub fn lose(&mut self, control: &RingControl, entries: u64, bytes: u64) {
        add(&control.ledger.lost_entries, entries);
        add(&control.ledger.lost_bytes, bytes);
    }
}

/// Adds to a word that only this thread writes.
fn add(word: &AtomicU64, amount: u64) {
    word.store(word.load(Relaxed) + amount, Relaxed);
}

/// What the consumer knows about its ring.
#[derive(Debug, Default)]
pub struct ConsumerCursor {
    /// Read so far.
    pub entries: u64,
    pub payload: u64,
    /// Seen published.
    pub entries_published: u64,
    pub payload_published: u64,
    pub closed: bool,
}

impl ConsumerCursor {
    /// Learns how far the producer is.
    #[inline]
    pub fn refresh(&mut self, control: &RingControl) {
        // `closed` first: what is counted after it was seen is all there will ever be.
        // SYNC POINT: pairs with the release in `ProducerCursor::close`.
        self.closed = control.producer.closed.load(order!("ring.closed", Acquire)) != 0;
        // SYNC POINT: pair with the releases in `ProducerCursor::publish_*`. Entries before payload: a small
        // payload is published before its entry, so an entry that is seen has its bytes seen as well.
        self.entries_published =
            control.producer.entries_published.load(order!("ring.entries_published", Acquire));
        self.payload_published =
            control.producer.payload_published.load(order!("ring.payload_published", Acquire));
    }

    /// Entries that may be read.
    #[inline]
    pub fn entries_ready(&self) -> u64 {
        self.entries_published.saturating_sub(self.entries)
    }

    /// Payload bytes that may be read.
    #[inline]
    pub fn payload_ready(&self) -> u64 {
        self.payload_published.saturating_sub(self.payload)
    }

    /// Gives back everything read so far.
    #[inline]
    pub fn acknowledge(&self, control: &RingControl) {
        // SYNC POINT: pair with the acquires in `ProducerCursor`; our reads come before the reuse.
        control.consumer.entries_consumed.store(self.entries, order!("ring.acknowledge_entries", Release));
        control.consumer.payload_consumed.store(self.payload, order!("ring.acknowledge_payload", Release));
    }

    /// Whether the producer has closed the ring and everything in it was read.
    #[inline]
    pub fn is_finished(&self) -> bool {
        self.closed && self.entries_ready() == 0 && self.payload_ready() == 0
    }
}

/// For a consumer that copies the words and bytes of a ring out with relaxed loads: after each copy.
#[inline]
pub fn after_copy() {
    // SYNC POINT: makes a counter among the copied words pair with the releases in `ProducerCursor`, so that
    // the next copy sees what it counts.
    fence(order!("ring.after_copy", Acquire));
}

/// For a consumer that writes its counts with relaxed stores: before each of them.
#[inline]
pub fn before_acknowledgement() {
    // SYNC POINT: makes the word pair with the acquires in `ProducerCursor`, so that our copies come before
    // the reuse of what they copied.
    fence(order!("ring.before_acknowledgement", Release));
}

/// A fence; none at all where the ordering was taken away.
#[inline]
fn fence(ordering: atomic::Ordering) {
    if ordering != Relaxed {
        atomic::fence(ordering);
    }
}
