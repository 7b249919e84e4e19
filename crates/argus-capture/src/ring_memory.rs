//! A ring's memory: control block, entry ring, payload ring, in one region of its own.
//!
//! This is the only place in the crate that touches raw memory. It lends exactly the bytes that
//! [`argus_sync::ring`] says belong to the side that asks; positions are wrapped and cut at the ring's end
//! here, so no counter, however wrong, leads outside the rings. The region is not device memory: no address
//! that a kernel may use leads into it, so what is lent here is lent to nothing else. Any region will do that is
//! large enough and aligned, also one that another process has mapped too.
#![allow(unsafe_code)]

use core::ptr::NonNull;
use core::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use argus_abi::capture::ENTRY_BYTES;
use argus_gm::Region;
use argus_sync::ring::{
    self, ConsumerCursor, ProducerCursor, RING_MAGIC, RING_VERSION, RingControl, RingShape,
};

use crate::transport::{CopyError, CopyFrom};

/// One entry, uninterpreted, aligned as entries are.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct EntryBytes(pub [u8; ENTRY_BYTES]);

/// The payload ring begins on a page of its own.
const PAYLOAD_ALIGN: u64 = 4096;

/// Where things are in a ring's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingLayout {
    pub entry_capacity: u64,
    pub payload_capacity: u64,
}

impl RingLayout {
    pub const ENTRIES_AT: u64 = size_of::<RingControl>() as u64;

    pub fn payload_at(&self) -> u64 {
        (Self::ENTRIES_AT + self.entry_capacity * ENTRY_BYTES as u64).next_multiple_of(PAYLOAD_ALIGN)
    }

    pub fn total_bytes(&self) -> u64 {
        self.payload_at() + self.payload_capacity
    }

    /// What the control block of a ring says about itself.
    pub fn shape(&self, ring: u16) -> RingShape {
        RingShape {
            magic: RING_MAGIC,
            version: RING_VERSION,
            ring,
            entry_bytes: ENTRY_BYTES as u64,
            entry_capacity: self.entry_capacity,
            payload_capacity: self.payload_capacity,
        }
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

/// A ring's memory. Keeps its region alive.
#[derive(Clone, Debug)]
pub struct RingMap {
    region: Arc<Region>,
    layout: RingLayout,
}

/// The handles of one ring.
pub type Handles = (ProducerHalf, ConsumerHalf, RingMap);

/// Makes a fresh ring in `region`: its two halves, one each, and a map for those who only look at the
/// control block. `None` if the region is too small, not aligned, or already in another owner's hands.
pub fn create(mut region: Arc<Region>, layout: RingLayout, ring: u16) -> Option<Handles> {
    // Nothing else has a ring in it.
    Arc::get_mut(&mut region)?;
    let map = RingMap::over(region, layout)?;
    let control = RingControl::new(layout.shape(ring));
    // SAFETY: `over` checked that the region has room and alignment for a control block, and it is ours alone.
    unsafe { map.region.base().cast::<RingControl>().write(control) };
    let cursor = ProducerCursor::new(layout.entry_capacity, layout.payload_capacity);
    let producer = ProducerHalf { map: map.clone(), cursor };
    let consumer = ConsumerHalf { map: map.clone(), cursor: ConsumerCursor::default() };
    Some((producer, consumer, map))
}

impl RingMap {
    fn over(region: Arc<Region>, layout: RingLayout) -> Option<RingMap> {
        let fits = region.bytes() >= layout.total_bytes();
        let aligned = region.base().cast::<RingControl>().is_aligned();
        let sane = layout.entry_capacity > 0 && layout.payload_capacity > 0;
        (fits && aligned && sane).then_some(RingMap { region, layout })
    }

    pub fn control(&self) -> &RingControl {
        // SAFETY: `over` checked room and alignment, the region keeps the memory alive, and the side that maps it
        // writes the words of a control block atomically and its shape never again after `create`. Every bit
        // pattern is a control block.
        unsafe { self.region.base().cast::<RingControl>().as_ref() }
    }

    pub fn layout(&self) -> RingLayout {
        self.layout
    }

    #[cfg(test)]
    pub fn region(&self) -> &Arc<Region> {
        &self.region
    }

    fn at(&self, offset: u64) -> NonNull<u8> {
        debug_assert!(offset <= self.layout.total_bytes());
        // SAFETY: callers pass offsets inside the layout, which `over` checked to lie in the region.
        unsafe { self.region.base().add(offset as usize) }
    }

    fn entry(&self, count: u64) -> NonNull<EntryBytes> {
        let slot = count % self.layout.entry_capacity;
        self.at(RingLayout::ENTRIES_AT + slot * ENTRY_BYTES as u64).cast()
    }

    fn payload(&self, offset: u64) -> NonNull<u8> {
        self.at(self.layout.payload_at() + offset)
    }
}

/// The producing half. There is one per ring.
#[derive(Debug)]
pub struct ProducerHalf {
    map: RingMap,
    pub cursor: ProducerCursor,
}

impl ProducerHalf {
    pub fn layout(&self) -> RingLayout {
        self.map.layout()
    }

    /// Splits into the cursor and the control block it works on.
    pub fn parts(&mut self) -> (&mut ProducerCursor, &RingControl) {
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
                // SAFETY: the range lies in the payload ring and is initialised, as all memory of a region is;
                // since there is room it belongs to the producer, of which there is one, until it is published.
                fill(unsafe { slice::from_raw_parts_mut(start.as_ptr(), len as usize) });
            }
        }
        let (cursor, control) = self.parts();
        cursor.publish_payload(control, len);
    }
}

/// The consuming half of a mapped ring. There is one per ring.
#[derive(Debug)]
pub struct ConsumerHalf {
    map: RingMap,
    pub cursor: ConsumerCursor,
}

impl ConsumerHalf {
    pub fn control(&self) -> &RingControl {
        self.map.control()
    }

    pub fn layout(&self) -> RingLayout {
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

/// The consuming side of a ring whose host shares no memory with the device: it can copy and acknowledge,
/// nothing else. There is one at a time, instead of a [`ConsumerHalf`].
#[derive(Debug)]
pub struct RingCopies(RingMap);

impl RingCopies {
    pub fn new(ring: RingMap) -> RingCopies {
        RingCopies(ring)
    }

    /// The word at an offset of the control block; `None` if there is none.
    fn word(&self, offset: u64) -> Option<&AtomicU64> {
        if offset >= RingLayout::ENTRIES_AT || !offset.is_multiple_of(8) {
            return None;
        }
        // SAFETY: inside the control block and aligned. The words of a control block are written atomically,
        // except for its shape, which is written once before another thread knows it.
        Some(unsafe { AtomicU64::from_ptr(self.0.at(offset).cast().as_ptr()) })
    }
}

impl CopyFrom for RingCopies {
    fn copy_from(&self, offset: u64, into: &mut [u8]) -> Result<(), CopyError> {
        let len = into.len() as u64;
        let outside = CopyError { offset, len };
        if offset < RingLayout::ENTRIES_AT {
            for (index, bytes) in into.chunks_mut(8).enumerate() {
                let word = self.word(offset + 8 * index as u64).ok_or(outside)?.load(Ordering::Relaxed);
                bytes.copy_from_slice(&word.to_ne_bytes()[..bytes.len()]);
            }
        } else {
            let end = offset.checked_add(len).ok_or(outside)?;
            if end > self.0.layout.total_bytes() {
                return Err(outside);
            }
            // SAFETY: the range lies in the rings. It was published and not yet acknowledged, because the one
            // consumer asks for nothing else: the producer leaves it alone.
            let from = unsafe { slice::from_raw_parts(self.0.at(offset).as_ptr(), into.len()) };
            into.copy_from_slice(from);
        }
        ring::after_copy();
        Ok(())
    }

    fn acknowledge(&self, offset: u64, value: u64) -> Result<(), CopyError> {
        let word = self.word(offset).ok_or(CopyError { offset, len: 8 })?;
        ring::before_acknowledgement();
        word.store(value, Ordering::Relaxed);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use argus_gm::GlobalMemory;
    use memmap2::MmapMut;

    use super::*;
    use crate::transport::{Copied, RingSource};

    const LAYOUT: RingLayout = RingLayout { entry_capacity: 4, payload_capacity: 64 };

    #[test]
    fn a_lane_needs_a_region_of_its_own_that_is_large_enough() {
        let region = |bytes| Arc::new(Region::fresh(bytes).unwrap());
        assert!(create(region(LAYOUT.total_bytes()), LAYOUT, 0).is_some());
        assert!(create(region(LAYOUT.total_bytes() - 1), LAYOUT, 0).is_none());
        let shared = region(LAYOUT.total_bytes());
        assert!(create(Arc::clone(&shared), LAYOUT, 0).is_none(), "another ring has it");
        let nothing = RingLayout { entry_capacity: 0, ..LAYOUT };
        assert!(create(shared, nothing, 0).is_none());
    }

    #[test]
    fn no_device_address_leads_into_a_lane() {
        let memory = GlobalMemory::new();
        let region = Region::fresh(LAYOUT.total_bytes()).unwrap();
        let (start, bytes) = (region.base().as_ptr() as usize as u64, region.bytes());
        let _lane = create(Arc::new(region), LAYOUT, 0).unwrap();
        for addr in [start, start + RingLayout::ENTRIES_AT, start + LAYOUT.payload_at(), start + bytes - 1] {
            assert!(memory.window(addr, 1).is_err());
            assert!(memory.read(addr, &mut [0]).is_err());
            assert!(memory.write(addr, &[1]).is_err());
        }
    }

    /// One side writes through one map of a file, the other reads through another, as two processes would.
    #[test]
    fn a_lane_works_between_two_maps_of_the_same_memory() {
        let file = rustix::fs::memfd_create(c"argus-ring", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        let file = File::from(file);
        file.set_len(LAYOUT.total_bytes()).unwrap();
        // SAFETY: nothing but this test has the file, and it touches these bytes as rings do.
        let map = || Region::over(unsafe { MmapMut::map_mut(&file) }.unwrap()).unwrap();

        let (mut producer, ..) = create(Arc::new(map()), LAYOUT, 3).unwrap();
        producer.push_payload(5, |piece| piece.copy_from_slice(&[1, 2, 3, 4, 5]));
        producer.push_entry(&[9; ENTRY_BYTES]);
        let (cursor, control) = producer.parts();
        cursor.close(control);

        let there = RingMap::over(Arc::new(map()), LAYOUT).unwrap();
        let copies = RingCopies::new(there);
        let outside = CopyError { offset: LAYOUT.total_bytes() - 1, len: 2 };
        assert_eq!(copies.copy_from(outside.offset, &mut [0; 2]), Err(outside));
        let mut source = Copied::new(3, copies, LAYOUT, Arc::default()).unwrap();
        source.refresh(true).unwrap();
        assert_eq!(source.next_entry().unwrap().unwrap().0, [9; ENTRY_BYTES]);
        assert_eq!(source.payload(64).unwrap(), [1, 2, 3, 4, 5]);
        source.release(5).unwrap();
        assert!(source.is_finished());
        let (cursor, control) = producer.parts();
        assert_eq!(cursor.payload_room(control, 64), 64, "what was read may be written again");
    }
}
