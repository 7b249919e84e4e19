//! What was captured and what was lost, in numbers that add up.

use std::mem::{offset_of, size_of};
use std::sync::atomic::{AtomicU64, Ordering};

use argus_sync::lane::{LaneControl, LedgerLine, ProducerLine};

use crate::collector::Tally;
use crate::error::CaptureError;
use crate::transport::{CopyFrom, copy, word};

/// One lane's account. `entries + lost_entries` is everything that was recorded into it, and so for bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneLedger {
    /// Entries that the sink has taken whole.
    pub entries: u64,
    /// Of these, arguments.
    pub arguments: u64,
    /// Payload bytes of those arguments.
    pub payload_bytes: u64,
    /// Times the recorder found no room and waited.
    pub waits: u64,
    /// Time it spent waiting, in nanoseconds.
    pub wait_ns: u64,
    /// Entries that the sink did not take, wherever they were lost.
    pub lost_entries: u64,
    /// Payload bytes that the sink did not take whole.
    pub lost_bytes: u64,
}

/// The account of a capture.
#[derive(Debug)]
#[must_use = "a capture may have failed or lost something"]
pub struct Ledger {
    pub lanes: Vec<LaneLedger>,
    /// Bytes that crossed from device to host by copies; 0 if the lanes were mapped.
    pub bytes_copied: u64,
    /// The first thing that went wrong.
    pub failure: Option<CaptureError>,
}

impl Ledger {
    /// Whether everything that was recorded has reached the sink.
    pub fn is_complete(&self) -> bool {
        let total = self.total();
        self.failure.is_none() && total.lost_entries == 0 && total.lost_bytes == 0
    }

    /// All lanes together.
    pub fn total(&self) -> LaneLedger {
        self.lanes.iter().fold(LaneLedger::default(), |sum, lane| LaneLedger {
            entries: sum.entries + lane.entries,
            arguments: sum.arguments + lane.arguments,
            payload_bytes: sum.payload_bytes + lane.payload_bytes,
            waits: sum.waits + lane.waits,
            wait_ns: sum.wait_ns + lane.wait_ns,
            lost_entries: sum.lost_entries + lane.lost_entries,
            lost_bytes: sum.lost_bytes + lane.lost_bytes,
        })
    }
}

impl LaneLedger {
    /// Settles one lane after its end: a loss is the difference between what was recorded and what the sink
    /// took, so no way of losing can be forgotten.
    pub(crate) fn settle(
        device: &impl CopyFrom,
        tally: &Tally,
        copied: &AtomicU64,
    ) -> Result<LaneLedger, CaptureError> {
        const LEDGER: usize = offset_of!(LaneControl, ledger);
        const PRODUCER: usize = offset_of!(LaneControl, producer);
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
        Ok(LaneLedger {
            entries,
            arguments: tally.arguments.load(Ordering::Relaxed),
            payload_bytes,
            waits: word(&ledger, offset_of!(LedgerLine, waits)),
            wait_ns: word(&ledger, offset_of!(LedgerLine, wait_ns)),
            lost_entries: recorded_entries.saturating_sub(entries),
            lost_bytes: recorded_bytes.saturating_sub(payload_bytes),
        })
    }
}
