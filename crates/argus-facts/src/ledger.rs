//! What was captured and what was lost, in numbers that add up.

/// One capture ring's account. `entries + lost_entries` is everything that was recorded into it, and so for
/// bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingLedger {
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

/// The account of a capture, ring by ring.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    pub rings: Vec<RingLedger>,
}

impl Ledger {
    /// All rings together.
    pub fn total(&self) -> RingLedger {
        self.rings.iter().fold(RingLedger::default(), |sum, ring| RingLedger {
            entries: sum.entries + ring.entries,
            arguments: sum.arguments + ring.arguments,
            payload_bytes: sum.payload_bytes + ring.payload_bytes,
            waits: sum.waits + ring.waits,
            wait_ns: sum.wait_ns + ring.wait_ns,
            lost_entries: sum.lost_entries + ring.lost_entries,
            lost_bytes: sum.lost_bytes + ring.lost_bytes,
        })
    }

    /// Whether everything that was recorded has reached the sink.
    pub fn is_complete(&self) -> bool {
        let total = self.total();
        total.lost_entries == 0 && total.lost_bytes == 0
    }
}
