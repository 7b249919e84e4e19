//! The rings are mapped into the host, which reads them in place during the run.

use super::{RingSource, check_counters, check_shape};
use crate::error::CaptureError;
use crate::ring_memory::{ConsumerHalf, EntryBytes};

/// A ring that is read where it lies.
#[derive(Debug)]
pub struct Mapped {
    number: u16,
    ring: ConsumerHalf,
    /// Entries and payload bytes taken at the last acknowledgement.
    settled: (u64, u64),
}

impl Mapped {
    pub(crate) fn new(number: u16, ring: ConsumerHalf) -> Result<Mapped, CaptureError> {
        check_shape(&ring.control().shape, number, ring.layout())?;
        Ok(Mapped { number, ring, settled: (0, 0) })
    }
}

impl RingSource for Mapped {
    fn number(&self) -> u16 {
        self.number
    }

    fn refresh(&mut self, _urgent: bool) -> Result<(), CaptureError> {
        self.ring.refresh();
        check_counters(&self.ring.cursor, self.number, self.ring.layout())
    }

    fn entries_ready(&self) -> u64 {
        self.ring.cursor.entries_ready()
    }

    fn next_entry(&mut self) -> Result<Option<EntryBytes>, CaptureError> {
        let entry = self.ring.pop_entry();
        // Often enough that a producer seldom finds the ring full, rarely enough that its line is not
        // fought over.
        if self.ring.cursor.entries - self.settled.0 > self.ring.layout().entry_capacity / 4 {
            self.settle()?;
        }
        Ok(entry)
    }

    fn payload(&mut self, max: u64) -> Result<&[u8], CaptureError> {
        Ok(self.ring.payload(max))
    }

    fn release(&mut self, bytes: u64) -> Result<(), CaptureError> {
        self.ring.cursor.payload += bytes;
        // As with entries; a payload that is larger than the ring has its producer wait for each piece.
        match self.ring.cursor.payload - self.settled.1 > self.ring.layout().payload_capacity / 8 {
            true => self.settle(),
            false => Ok(()),
        }
    }

    fn settle(&mut self) -> Result<(), CaptureError> {
        self.settled = (self.ring.cursor.entries, self.ring.cursor.payload);
        self.ring.cursor.acknowledge(self.ring.control());
        Ok(())
    }

    fn discard(&mut self) -> Result<bool, CaptureError> {
        let cursor = &mut self.ring.cursor;
        let any = cursor.entries_ready() + cursor.payload_ready() > 0;
        cursor.entries = cursor.entries_published;
        cursor.payload = cursor.payload_published;
        self.settle()?;
        Ok(any)
    }

    fn is_closed(&self) -> bool {
        self.ring.cursor.closed
    }

    fn is_finished(&self) -> bool {
        self.ring.cursor.is_finished()
    }

    fn abandon(&mut self) {
        self.ring.control().abandon();
    }
}
