//! loom's cells stand for the slots of the rings and report any access that the counters do not order.

use std::sync::Arc;

use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use super::bounded;
use crate::ring::{
    Backoff, ConsumerCursor, Gone, ProducerCursor, RING_MAGIC, RING_VERSION, RingControl, RingShape,
    after_copy, before_acknowledgement,
};

/// A ring whose slots and bytes are cells.
struct Ring {
    control: RingControl,
    entries: Vec<UnsafeCell<u64>>,
    payload: Vec<UnsafeCell<u8>>,
}

impl Ring {
    fn new(entries: u64, payload: u64) -> Arc<Ring> {
        Arc::new(Ring {
            control: RingControl::new(RingShape {
                magic: RING_MAGIC,
                version: RING_VERSION,
                ring: 0,
                entry_bytes: 8,
                entry_capacity: entries,
                payload_capacity: payload,
            }),
            entries: (0..entries).map(|_| UnsafeCell::new(0)).collect(),
            payload: (0..payload).map(|_| UnsafeCell::new(0)).collect(),
        })
    }

    fn producer(&self) -> ProducerCursor {
        ProducerCursor::new(self.entries.len() as u64, self.payload.len() as u64)
    }

    /// What `ProducerHalf::push_entry` does to its slot.
    fn push_entry(&self, cursor: &mut ProducerCursor, value: u64) {
        let slot = cursor.entries() as usize % self.entries.len();
        self.entries[slot].with_mut(|slot| unsafe { *slot = value });
        cursor.publish_entry(&self.control);
    }

    /// What `ProducerHalf::push_payload` does to its bytes.
    fn push_payload(&self, cursor: &mut ProducerCursor, bytes: &[u8]) {
        for (index, &byte) in bytes.iter().enumerate() {
            let at = (cursor.payload() as usize + index) % self.payload.len();
            self.payload[at].with_mut(|slot| unsafe { *slot = byte });
        }
        cursor.publish_payload(&self.control, bytes.len() as u64);
    }

    fn pop_entry(&self, cursor: &mut ConsumerCursor) -> Option<u64> {
        if cursor.entries_ready() == 0 {
            return None;
        }
        let slot = cursor.entries as usize % self.entries.len();
        cursor.entries += 1;
        Some(self.entries[slot].with(|slot| unsafe { *slot }))
    }

    fn pop_byte(&self, cursor: &mut ConsumerCursor) -> Option<u8> {
        if cursor.payload_ready() == 0 {
            return None;
        }
        let at = cursor.payload as usize % self.payload.len();
        cursor.payload += 1;
        Some(self.payload[at].with(|slot| unsafe { *slot }))
    }
}

/// A wait that lets the other threads of the model run.
#[derive(Default)]
struct Yielding {
    waits: usize,
}

impl Backoff for Yielding {
    fn begin(&mut self) {
        self.waits += 1;
    }
    fn pause(&mut self, _round: u32) {
        thread::yield_now();
    }
    fn end(&mut self) -> u64 {
        1
    }
}

/// An entry that is seen has its small payload with it.
#[test]
fn an_entry_comes_with_the_payload_published_before_it() {
    loom::model(|| {
        let ring = Ring::new(2, 4);
        let device = {
            let ring = Arc::clone(&ring);
            thread::spawn(move || {
                let mut cursor = ring.producer();
                assert!(cursor.has_room(&ring.control, 1, 2));
                ring.push_payload(&mut cursor, &[7, 8]);
                ring.push_entry(&mut cursor, 41);
            })
        };
        let mut cursor = ConsumerCursor::default();
        cursor.refresh(&ring.control);
        if let Some(entry) = ring.pop_entry(&mut cursor) {
            assert_eq!(entry, 41);
            assert_eq!(ring.pop_byte(&mut cursor), Some(7));
            assert_eq!(ring.pop_byte(&mut cursor), Some(8));
        }
        device.join().unwrap();
    });
}

/// Three entries through one slot: the producer waits for each reuse, the consumer sees each value once and
/// then the end.
#[test]
fn a_full_ring_waits_wraps_and_ends() {
    bounded(3, || {
        let ring = Ring::new(1, 1);
        let device = {
            let ring = Arc::clone(&ring);
            thread::spawn(move || {
                let mut cursor = ring.producer();
                let mut backoff = Yielding::default();
                for value in 1..=3 {
                    cursor.wait(&ring.control, &mut backoff, 1, 0).unwrap();
                    ring.push_entry(&mut cursor, value);
                }
                cursor.close(&ring.control);
            })
        };
        let mut cursor = ConsumerCursor::default();
        let mut seen = Vec::new();
        loop {
            cursor.refresh(&ring.control);
            match ring.pop_entry(&mut cursor) {
                Some(value) => {
                    seen.push(value);
                    cursor.acknowledge(&ring.control);
                }
                None if cursor.is_finished() => break,
                None => thread::yield_now(),
            }
        }
        assert_eq!(seen, [1, 2, 3]);
        device.join().unwrap();
    });
}

/// A payload larger than the ring, entry first, in pieces that wrap; it comes out whole.
#[test]
fn a_payload_streams_through_a_smaller_ring() {
    bounded(3, || {
        let ring = Ring::new(1, 2);
        let device = {
            let ring = Arc::clone(&ring);
            thread::spawn(move || {
                let mut cursor = ring.producer();
                let mut backoff = Yielding::default();
                cursor.wait(&ring.control, &mut backoff, 1, 0).unwrap();
                ring.push_entry(&mut cursor, 5);
                for piece in [&[1u8, 2][..], &[3]] {
                    cursor.wait(&ring.control, &mut backoff, 0, piece.len() as u64).unwrap();
                    ring.push_payload(&mut cursor, piece);
                }
                cursor.close(&ring.control);
            })
        };
        let mut cursor = ConsumerCursor::default();
        let (mut entries, mut bytes) = (Vec::new(), Vec::new());
        while !cursor.is_finished() {
            cursor.refresh(&ring.control);
            let before = (entries.len(), bytes.len());
            entries.extend(ring.pop_entry(&mut cursor));
            while let Some(byte) = ring.pop_byte(&mut cursor) {
                bytes.push(byte);
            }
            cursor.acknowledge(&ring.control);
            if before == (entries.len(), bytes.len()) {
                thread::yield_now();
            }
        }
        assert_eq!((entries, bytes), (vec![5], vec![1, 2, 3]));
        device.join().unwrap();
    });
}

/// A consumer that sees the end has, after the same look, everything that came before it.
#[test]
fn the_end_is_never_seen_before_what_precedes_it() {
    loom::model(|| {
        let ring = Ring::new(2, 2);
        let device = {
            let ring = Arc::clone(&ring);
            thread::spawn(move || {
                let mut cursor = ring.producer();
                ring.push_payload(&mut cursor, &[1]);
                ring.push_entry(&mut cursor, 9);
                cursor.close(&ring.control);
            })
        };
        let mut cursor = ConsumerCursor::default();
        cursor.refresh(&ring.control);
        if cursor.closed {
            assert_eq!(ring.pop_entry(&mut cursor), Some(9));
            assert_eq!(ring.pop_byte(&mut cursor), Some(1));
            assert!(cursor.is_finished());
        }
        device.join().unwrap();
    });
}

/// A collector that goes away while the ring is full: the producer stops waiting, and the wait is counted.
#[test]
fn a_waiting_producer_sees_that_the_collector_is_gone() {
    loom::model(|| {
        let ring = Ring::new(1, 1);
        let device = {
            let ring = Arc::clone(&ring);
            thread::spawn(move || {
                let mut cursor = ring.producer();
                let mut backoff = Yielding::default();
                ring.push_entry(&mut cursor, 1);
                let outcome = cursor.wait(&ring.control, &mut backoff, 1, 0);
                assert_eq!(outcome, Err(Gone));
                assert_eq!(backoff.waits, 1);
                cursor.lose(&ring.control, 1, 10);
                cursor.close(&ring.control);
            })
        };
        ring.control.abandon();
        device.join().unwrap();
        assert_eq!(ring.control.ledger.waits.load(Ordering::Relaxed), 1);
        assert_eq!(ring.control.ledger.lost_entries.load(Ordering::Relaxed), 1);
        assert_eq!(ring.control.ledger.lost_bytes.load(Ordering::Relaxed), 10);
        assert_eq!(ring.control.producer.waiting.load(Ordering::Relaxed), 0);
    });
}

/// A collector that makes room and dies at once: the producer gets either the room or the news, and never
/// waits on.
#[test]
fn room_and_death_at_once_do_not_hang() {
    loom::model(|| {
        let ring = Ring::new(1, 1);
        let (got_room, saw_death) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let mut cursor = ring.producer();
        ring.push_entry(&mut cursor, 1);
        let device = {
            let (ring, got_room, saw_death) =
                (Arc::clone(&ring), Arc::clone(&got_room), Arc::clone(&saw_death));
            thread::spawn(move || match cursor.wait(&ring.control, &mut Yielding::default(), 1, 0) {
                Ok(()) => {
                    ring.push_entry(&mut cursor, 2);
                    got_room.fetch_add(1, Ordering::Relaxed);
                }
                Err(Gone) => {
                    saw_death.fetch_add(1, Ordering::Relaxed);
                }
            })
        };
        let mut cursor = ConsumerCursor::default();
        cursor.refresh(&ring.control);
        assert_eq!(ring.pop_entry(&mut cursor), Some(1));
        cursor.acknowledge(&ring.control);
        ring.control.abandon();
        device.join().unwrap();
        assert_eq!(got_room.load(Ordering::Relaxed) + saw_death.load(Ordering::Relaxed), 1);
    });
}

/// The copied transport reads and writes the same words relaxed, with a fence after each copy and one before
/// each acknowledgement: as good as the acquires and releases of the mapped one.
#[test]
fn relaxed_copies_with_fences_keep_the_same_order() {
    loom::model(|| {
        let ring = Ring::new(1, 1);
        let device = {
            let ring = Arc::clone(&ring);
            thread::spawn(move || {
                let mut cursor = ring.producer();
                let mut backoff = Yielding::default();
                for value in 1..=2 {
                    cursor.wait(&ring.control, &mut backoff, 1, 0).unwrap();
                    ring.push_entry(&mut cursor, value);
                }
            })
        };
        let mut cursor = ConsumerCursor::default();
        let mut seen = Vec::new();
        while seen.len() < 2 {
            cursor.entries_published = ring.control.producer.entries_published.load(Ordering::Relaxed);
            after_copy();
            match ring.pop_entry(&mut cursor) {
                Some(value) => {
                    seen.push(value);
                    before_acknowledgement();
                    ring.control.consumer.entries_consumed.store(cursor.entries, Ordering::Relaxed);
                }
                None => thread::yield_now(),
            }
        }
        assert_eq!(seen, [1, 2]);
        device.join().unwrap();
    });
}
