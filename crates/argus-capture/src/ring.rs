//! A lane's memory: control block, entry ring, payload ring, in one allocation of the device.
//!
//! This is the only place in the crate that follows a device address. It hands out slices of exactly the
//! bytes that [`crate::control`] says belong to the side that asks; positions are wrapped and cut at the
//! ring's end here, so no counter, however wrong, leads outside the rings.
#![allow(unsafe_code)]

use core::ptr::NonNull;
use core::slice;

use argus_abi::capture::ENTRY_BYTES;
use argus_gm::Window;

use crate::control::{ConsumerCursor, LaneControl, ProducerCursor};

/// One entry, uninterpreted, aligned as entries are.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct EntryBytes(pub [u8; ENTRY_BYTES]);

/// The payload ring begins on a page of its own.
const PAYLOAD_ALIGN: u64 = 4096;

/// Where things are in a lane's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneLayout {
    pub entry_capacity: u64,
    pub payload_capacity: u64,
}

impl LaneLayout {
    pub const ENTRIES_AT: u64 = size_of::<LaneControl>() as u64;

    pub fn payload_at(&self) -> u64 {
        (Self::ENTRIES_AT + self.entry_capacity * ENTRY_BYTES as u64).next_multiple_of(PAYLOAD_ALIGN)
    }

    pub fn total_bytes(&self) -> u64 {
        self.payload_at() + self.payload_capacity
    }
}

/// A part of a ring that may wrap: offset and length of the first piece; the second starts at 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub at: u64,
    pub first: u64,
}

impl Span {
    /// The `len` items from `count` on in a ring of `capacity` items.
    pub fn new(count: u64, len: u64, capacity: u64) -> Span {
        let at = count % capacity;
        Span { at, first: len.min(capacity - at) }
    }
}

/// A lane's memory, mapped. Keeps its allocation alive.
#[derive(Debug)]
pub struct LaneMap {
    base: NonNull<u8>,
    layout: LaneLayout,
    _window: Window,
}

// SAFETY: a map is an address and a window that keeps it valid, both free to move; what may be touched
// through it is decided by the counters, which are atomics.
unsafe impl Send for LaneMap {}
// SAFETY: through a shared map only the atomic words of the control block can be reached.
unsafe impl Sync for LaneMap {}

/// The handles of one lane.
pub type Lane = (ProducerHalf, ConsumerHalf, LaneMap);

/// Makes a fresh lane in `window`: its two halves, one each, and a map for those who only look at the
/// control block. `None` if the window is too small or not aligned.
pub fn create(window: Window, layout: LaneLayout, lane: u16) -> Option<Lane> {
    let map = LaneMap::over(window, layout)?;
    let control = LaneControl::new(lane, layout.entry_capacity, layout.payload_capacity);
    // SAFETY: `over` checked that the window has room and alignment for a control block; nobody else knows
    // the address yet.
    unsafe { map.base.cast::<LaneControl>().write(control) };
    let cursor = ProducerCursor::new(layout.entry_capacity, layout.payload_capacity);
    let producer = ProducerHalf { map: map.share(), cursor };
    let consumer = ConsumerHalf { map: map.share(), cursor: ConsumerCursor::default() };
    Some((producer, consumer, map))
}

impl LaneMap {
    fn share(&self) -> LaneMap {
        LaneMap { base: self.base, layout: self.layout, _window: self._window.clone() }
    }

    fn over(window: Window, layout: LaneLayout) -> Option<LaneMap> {
        let base = NonNull::new(window.start() as usize as *mut u8)?;
        let fits = window.end() - window.start() >= layout.total_bytes();
        let aligned = base.cast::<LaneControl>().is_aligned();
        let sane = layout.entry_capacity > 0 && layout.payload_capacity > 0;
        (fits && aligned && sane).then_some(LaneMap { base, layout, _window: window })
    }

    pub fn control(&self) -> &LaneControl {
        // SAFETY: `create` put a control block here; the window keeps it alive; its words are atomics and
        // its shape is never written again.
        unsafe { self.base.cast::<LaneControl>().as_ref() }
    }

    pub fn layout(&self) -> LaneLayout {
        self.layout
    }

    fn at(&self, offset: u64) -> NonNull<u8> {
        debug_assert!(offset <= self.layout.total_bytes());
        // SAFETY: callers pass offsets inside the layout, which `over` checked to lie in the window.
        unsafe { self.base.add(offset as usize) }
    }

    fn entry(&self, count: u64) -> NonNull<EntryBytes> {
        let slot = count % self.layout.entry_capacity;
        self.at(LaneLayout::ENTRIES_AT + slot * ENTRY_BYTES as u64).cast()
    }

    fn payload(&self, offset: u64) -> NonNull<u8> {
        self.at(self.layout.payload_at() + offset)
    }
}

/// The producing half. There is one per lane.
#[derive(Debug)]
pub struct ProducerHalf {
    map: LaneMap,
    pub cursor: ProducerCursor,
}

impl ProducerHalf {
    pub fn layout(&self) -> LaneLayout {
        self.map.layout()
    }

    /// Splits into the cursor and the control block it works on.
    pub fn parts(&mut self) -> (&mut ProducerCursor, &LaneControl) {
        (&mut self.cursor, self.map.control())
    }

    /// Writes the next entry and publishes it. There must be room.
    pub fn push_entry(&mut self, entry: &[u8; ENTRY_BYTES]) {
        let slot = self.map.entry(self.cursor.entries());
        // SAFETY: the slot lies in the entry ring and, since there is room, belongs to the producer, of
        // which there is one.
        unsafe { slot.write(EntryBytes(*entry)) };
        let (cursor, control) = self.parts();
        cursor.publish_entry(control);
    }

    /// Lets `fill` write the next `len` payload bytes, in at most two pieces, and publishes them. There
    /// must be room.
    pub fn push_payload(&mut self, len: u64, mut fill: impl FnMut(&mut [u8])) {
        let capacity = self.map.layout.payload_capacity;
        debug_assert!(len <= capacity);
        let span = Span::new(self.cursor.payload(), len, capacity);
        for (at, len) in [(span.at, span.first), (0, len - span.first)] {
            if len > 0 {
                let start = self.map.payload(at);
                // SAFETY: the range lies in the payload ring and is initialised, being mapped memory; since
                // there is room it belongs to the producer, of which there is one, until it is published.
                fill(unsafe { slice::from_raw_parts_mut(start.as_ptr(), len as usize) });
            }
        }
        let (cursor, control) = self.parts();
        cursor.publish_payload(control, len);
    }
}

/// The consuming half of a mapped lane. There is one per lane.
#[derive(Debug)]
pub struct ConsumerHalf {
    map: LaneMap,
    pub cursor: ConsumerCursor,
}

impl ConsumerHalf {
    pub fn control(&self) -> &LaneControl {
        self.map.control()
    }

    pub fn layout(&self) -> LaneLayout {
        self.map.layout()
    }

    /// Learns how far the producer is.
    pub fn refresh(&mut self) {
        self.cursor.refresh(self.map.control());
    }

    /// Takes the next entry, if one was seen published.
    pub fn pop_entry(&mut self) -> Option<EntryBytes> {
        if self.cursor.entries_ready() == 0 {
            return None;
        }
        let slot = self.map.entry(self.cursor.entries);
        // SAFETY: the slot lies in the entry ring and was published and not yet acknowledged: the producer
        // leaves it alone. Every bit pattern is a valid `EntryBytes`.
        let entry = unsafe { slot.read() };
        self.cursor.entries += 1;
        Some(entry)
    }

    /// The next payload bytes in place, at most `max` and not across the ring's end; empty if none were seen
    /// published. They stay the consumer's until the cursor has moved past them and was acknowledged.
    pub fn payload(&mut self, max: u64) -> &[u8] {
        let capacity = self.map.layout.payload_capacity;
        let len = self.cursor.payload_ready().min(max).min(capacity);
        let span = Span::new(self.cursor.payload, len, capacity);
        let start = self.map.payload(span.at);
        // SAFETY: the range lies in the payload ring and is initialised; it was published and not yet
        // acknowledged, so the producer leaves it alone. The borrow of `self` keeps the cursor from moving.
        unsafe { slice::from_raw_parts(start.as_ptr(), span.first as usize) }
    }
}
