//! What others may ask about a capture during the run.

use std::sync::atomic::Ordering;

use crate::ring_memory::RingMap;

/// The state of all rings, seen from outside. Looks at counters only; costs the rings nothing.
#[derive(Debug)]
pub struct CaptureStatus {
    rings: Vec<RingMap>,
}

/// How far a capture is, all rings together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    pub entries: u64,
    pub payload_bytes: u64,
    /// Entries that the collector has taken.
    pub collected: u64,
    /// Payload bytes that the collector has taken.
    pub collected_bytes: u64,
    /// Entries that recorders could not keep.
    pub lost_entries: u64,
}

impl CaptureStatus {
    pub(crate) fn new(rings: Vec<RingMap>) -> CaptureStatus {
        CaptureStatus { rings }
    }

    /// Whether some recorder waits for room right now. A run in which one does is not stuck.
    pub fn is_waiting(&self) -> bool {
        self.rings.iter().any(|ring| ring.control().producer.waiting.load(Ordering::Relaxed) != 0)
    }

    /// How far it is. A run during which this changes is not stuck either, even if nothing happens to wait at
    /// the moments of asking.
    pub fn progress(&self) -> Progress {
        let mut sum = Progress::default();
        for ring in &self.rings {
            let control = ring.control();
            sum.entries += control.producer.entries_published.load(Ordering::Relaxed);
            sum.payload_bytes += control.producer.payload_published.load(Ordering::Relaxed);
            sum.collected += control.consumer.entries_consumed.load(Ordering::Relaxed);
            sum.collected_bytes += control.consumer.payload_consumed.load(Ordering::Relaxed);
            sum.lost_entries += control.ledger.lost_entries.load(Ordering::Relaxed);
        }
        sum
    }
}
