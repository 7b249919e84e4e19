//! What was captured and what was lost, in numbers that add up.

use std::mem::{offset_of, size_of};
use std::sync::atomic::{AtomicU64, Ordering};

use argus_facts::{Ledger, RingLedger};
use argus_sync::ring::{LedgerLine, ProducerLine, RingControl};

use crate::collector::Tally;
use crate::error::CaptureError;
use crate::transport::{CopyFrom, copy, word};

/// How a capture ended.
#[derive(Debug)]
#[must_use = "a capture may have failed or lost something"]
pub struct Account {
    pub ledger: Ledger,
    /// Bytes that crossed from device to host by copies; 0 if the rings were mapped.
    pub bytes_copied: u64,
    /// The first thing that went wrong.
    pub failure: Option<CaptureError>,
}

impl Account {
    /// Whether everything that was recorded has reached the sink.
    pub fn is_complete(&self) -> bool {
        self.failure.is_none() && self.ledger.is_complete()
    }
}

/// Settles one ring after its end: a loss is the difference between what was recorded and what the sink
/// took, so no way of losing can be forgotten.
pub(crate) fn settle(
    device: &impl CopyFrom,
    tally: &Tally,
    copied: &AtomicU64,
) -> Result<RingLedger, CaptureError> {
    const LEDGER: usize = offset_of!(RingControl, ledger);
    const PRODUCER: usize = offset_of!(RingControl, producer);
    let mut ledger = [0; size_of::<LedgerLine>()];
    copy(device, LEDGER as u64, &mut ledger, copied)?;
    let mut producer = [0; 64];
    copy(device, PRODUCER as u64, &mut producer, copied)?;

    let entries = tally.entries.load(Ordering::Relaxed);
    let payload_bytes = tally.payload_bytes.load(Ordering::Relaxed);
    let recorded_entries = word(&producer, offset_of!(ProducerLine, entries_published))
        .saturating_add(word(&ledger, offset_of!(LedgerLine, lost_entries)));
    let recorded_bytes = word(&producer, offset_of!(ProducerLine, payload_published))
        .saturating_add(word(&ledger, offset_of!(LedgerLine, lost_bytes)));
    Ok(RingLedger {
        entries,
        arguments: tally.arguments.load(Ordering::Relaxed),
        payload_bytes,
        waits: word(&ledger, offset_of!(LedgerLine, waits)),
        wait_ns: word(&ledger, offset_of!(LedgerLine, wait_ns)),
        lost_entries: recorded_entries.saturating_sub(entries),
        lost_bytes: recorded_bytes.saturating_sub(payload_bytes),
    })
}
