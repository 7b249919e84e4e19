//! The host holds no pointer to device memory; it copies what is new and says how far it has read.

use std::mem::{offset_of, size_of};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use argus_abi::capture::ENTRY_BYTES;
use argus_sync::ring::{ConsumerCursor, ConsumerLine, ProducerLine, RingControl, RingShape};
use thiserror::Error;

use super::{RingSource, check_counters, check_shape};
use crate::error::CaptureError;
use crate::ring_memory::{EntryBytes, RingLayout, Span};

/// What was to be copied is not the ring's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{len} bytes at offset {offset} are not its own")]
pub struct CopyError {
    pub offset: u64,
    pub len: u64,
}

/// The only two things a host can do to a ring whose memory it does not share. Offsets count from the ring's
/// beginning, wherever that is on the other side.
///
/// Operations take effect in the order of the calls: a copy sees everything the device had published when an
/// earlier copy saw its count, and an acknowledgement is seen only after earlier copies were made.
pub trait CopyFrom: Send {
    /// Copies bytes of the ring out.
    fn copy_from(&self, offset: u64, into: &mut [u8]) -> Result<(), CopyError>;

    /// Writes one word: how far the host has read.
    fn acknowledge(&self, offset: u64, value: u64) -> Result<(), CopyError>;
}

/// The part of a control block's producer line that is looked at: one cache line.
const LOOK_BYTES: usize = 64;
/// Entries fetched at once, and payload bytes: what stays in a core's own cache until it is used.
const ENTRIES_AT_ONCE: u64 = 256;
const BYTES_AT_ONCE: u64 = 256 * 1024;
/// Looks may cost this part of the bytes they led to...
const LOOK_SHARE: u64 = 16;
/// ...or come this seldom, whichever allows one first.
const LOOK_GAP: Duration = Duration::from_micros(200);

/// A ring that is read by copies.
#[derive(Debug)]
pub struct Copied<C> {
    number: u16,
    device: C,
    layout: RingLayout,
    /// What was copied out of the device.
    cursor: ConsumerCursor,
    /// Copied and not yet taken.
    entries: Unread,
    payload: Unread,
    looked: u64,
    last_look: Instant,
    /// All bytes copied, for every thread to see.
    copied: Arc<AtomicU64>,
}

/// A host buffer whose first bytes were already taken.
#[derive(Debug, Default)]
struct Unread {
    bytes: Vec<u8>,
    taken: usize,
}

impl Unread {
    fn rest(&self) -> &[u8] {
        &self.bytes[self.taken..]
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.taken = 0;
    }

    /// Room for `len` fresh bytes, in memory that is used again and again.
    fn renew(&mut self, len: u64) -> &mut [u8] {
        self.taken = 0;
        self.bytes.resize(len as usize, 0);
        &mut self.bytes
    }
}

impl<C: CopyFrom> Copied<C> {
    pub(crate) fn new(
        number: u16,
        device: C,
        layout: RingLayout,
        copied: Arc<AtomicU64>,
    ) -> Result<Copied<C>, CaptureError> {
        let source = Copied {
            number,
            device,
            layout,
            cursor: ConsumerCursor::default(),
            entries: Unread::default(),
            payload: Unread::default(),
            looked: 0,
            last_look: Instant::now(),
            copied,
        };
        let mut shape = [0; size_of::<RingShape>()];
        source.copy(offset_of!(RingControl, shape) as u64, &mut shape)?;
        let word = |at| word(&shape, at);
        // Magic, version and ring share the first word.
        let first = word(0).to_ne_bytes();
        let shape = RingShape {
            magic: u32::from_ne_bytes([first[0], first[1], first[2], first[3]]),
            version: u16::from_ne_bytes([first[4], first[5]]),
            ring: u16::from_ne_bytes([first[6], first[7]]),
            entry_bytes: word(offset_of!(RingShape, entry_bytes)),
            entry_capacity: word(offset_of!(RingShape, entry_capacity)),
            payload_capacity: word(offset_of!(RingShape, payload_capacity)),
        };
        check_shape(&shape, number, layout)?;
        Ok(source)
    }

    fn copy(&self, offset: u64, into: &mut [u8]) -> Result<(), CaptureError> {
        copy(&self.device, offset, into, &self.copied)
    }

    fn acknowledge(&self, word: usize, value: u64) -> Result<(), CaptureError> {
        let at = offset_of!(RingControl, consumer) + word;
        Ok(self.device.acknowledge(at as u64, value)?)
    }

    /// One copy of the producer's line.
    fn look(&mut self) -> Result<(), CaptureError> {
        let mut line = [0; LOOK_BYTES];
        self.copy(offset_of!(RingControl, producer) as u64, &mut line)?;
        self.looked += LOOK_BYTES as u64;
        self.cursor.entries_published = word(&line, offset_of!(ProducerLine, entries_published));
        self.cursor.payload_published = word(&line, offset_of!(ProducerLine, payload_published));
        self.cursor.closed = word(&line, offset_of!(ProducerLine, closed)) != 0;
        Ok(())
    }

    /// Whether another look would keep its price in proportion.
    fn may_look(&self) -> bool {
        let led_to = self.cursor.entries * ENTRY_BYTES as u64 + self.cursor.payload;
        (self.looked + LOOK_BYTES as u64) * LOOK_SHARE <= led_to || self.last_look.elapsed() >= LOOK_GAP
    }
}

/// Copies and counts.
pub(crate) fn copy(
    device: &impl CopyFrom,
    offset: u64,
    into: &mut [u8],
    copied: &AtomicU64,
) -> Result<(), CaptureError> {
    device.copy_from(offset, into)?;
    copied.fetch_add(into.len() as u64, Ordering::Relaxed);
    Ok(())
}

/// The word at a byte offset of a copied line.
pub(crate) fn word(line: &[u8], at: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&line[at..at + 8]);
    u64::from_ne_bytes(bytes)
}

impl<C: CopyFrom> RingSource for Copied<C> {
    fn number(&self) -> u16 {
        self.number
    }

    fn refresh(&mut self, urgent: bool) -> Result<(), CaptureError> {
        if self.cursor.closed || !(urgent || self.may_look()) {
            return Ok(());
        }
        self.look()?;
        if self.cursor.closed {
            // The words of one copy come in no order: only a look after the one that saw the end surely
            // sees the last counts.
            self.look()?;
        }
        self.last_look = Instant::now();
        check_counters(&self.cursor, self.number, self.layout)
    }

    fn entries_ready(&self) -> u64 {
        (self.entries.rest().len() / ENTRY_BYTES) as u64 + self.cursor.entries_ready()
    }

    fn next_entry(&mut self) -> Result<Option<EntryBytes>, CaptureError> {
        if self.entries.rest().is_empty() {
            let ready = self.cursor.entries_ready().min(ENTRIES_AT_ONCE);
            if ready == 0 {
                return Ok(None);
            }
            let span = Span::new(self.cursor.entries, ready, self.layout.entry_capacity);
            let offset = RingLayout::ENTRIES_AT + span.at * ENTRY_BYTES as u64;
            copy(&self.device, offset, self.entries.renew(span.first * ENTRY_BYTES as u64), &self.copied)?;
            self.cursor.entries += span.first;
            self.acknowledge(offset_of!(ConsumerLine, entries_consumed), self.cursor.entries)?;
        }
        let mut entry = EntryBytes([0; ENTRY_BYTES]);
        entry.0.copy_from_slice(&self.entries.rest()[..ENTRY_BYTES]);
        self.entries.taken += ENTRY_BYTES;
        Ok(Some(entry))
    }

    fn payload(&mut self, max: u64) -> Result<&[u8], CaptureError> {
        let ready = self.cursor.payload_ready().min(BYTES_AT_ONCE);
        if self.payload.rest().is_empty() && ready > 0 {
            let span = Span::new(self.cursor.payload, ready, self.layout.payload_capacity);
            let offset = self.layout.payload_at() + span.at;
            copy(&self.device, offset, self.payload.renew(span.first), &self.copied)?;
            self.cursor.payload += span.first;
            // The device's room is free as soon as the copy is made, whatever the sink still does with it.
            self.acknowledge(offset_of!(ConsumerLine, payload_consumed), self.cursor.payload)?;
        }
        let rest = self.payload.rest();
        Ok(&rest[..rest.len().min(usize::try_from(max).unwrap_or(usize::MAX))])
    }

    fn release(&mut self, bytes: u64) -> Result<(), CaptureError> {
        self.payload.taken += bytes as usize;
        Ok(())
    }

    /// Everything was acknowledged when it was copied.
    fn settle(&mut self) -> Result<(), CaptureError> {
        Ok(())
    }

    fn discard(&mut self) -> Result<bool, CaptureError> {
        let any = self.cursor.entries_ready() + self.cursor.payload_ready() > 0
            || !(self.entries.rest().is_empty() && self.payload.rest().is_empty());
        self.entries.clear();
        self.payload.clear();
        self.cursor.entries = self.cursor.entries_published;
        self.cursor.payload = self.cursor.payload_published;
        self.acknowledge(offset_of!(ConsumerLine, entries_consumed), self.cursor.entries)?;
        self.acknowledge(offset_of!(ConsumerLine, payload_consumed), self.cursor.payload)?;
        Ok(any)
    }

    fn is_closed(&self) -> bool {
        self.cursor.closed
    }

    fn is_finished(&self) -> bool {
        self.cursor.is_finished() && self.entries.rest().is_empty() && self.payload.rest().is_empty()
    }

    fn abandon(&mut self) {
        // If even this fails there is no device left that could wait.
        let _ = self.acknowledge(offset_of!(ConsumerLine, gone), 1);
    }
}
