//! How the host reads a ring: in place, or by copies.
//!
//! The collector is the same code over both; the layouts are the same types on both.

mod copied;
mod mapped;

pub use copied::{Copied, CopyError, CopyFrom};
pub(crate) use copied::{copy, word};
pub use mapped::Mapped;

use argus_sync::ring::{ConsumerCursor, RING_MAGIC, RING_VERSION, RingShape};

use crate::error::{CaptureError, RingError};
use crate::ring_memory::{EntryBytes, RingLayout};

/// The consuming side of one ring.
pub trait RingSource: Send {
    fn number(&self) -> u16;

    /// Learns what the device has published. A transport for which a look has a price may leave it out
    /// unless it is `urgent`.
    fn refresh(&mut self, urgent: bool) -> Result<(), CaptureError>;

    /// Entries that the last look found and that were not taken yet.
    fn entries_ready(&self) -> u64;

    /// Takes the next entry.
    fn next_entry(&mut self) -> Result<Option<EntryBytes>, CaptureError>;

    /// The next payload bytes that the last look found, at most `max`; empty if there are none.
    fn payload(&mut self, max: u64) -> Result<&[u8], CaptureError>;

    /// The next `bytes` payload bytes are done with.
    fn release(&mut self, bytes: u64) -> Result<(), CaptureError>;

    /// Tells the device about everything taken so far.
    fn settle(&mut self) -> Result<(), CaptureError>;

    /// Throws away everything that the last look found; whether there was anything.
    fn discard(&mut self) -> Result<bool, CaptureError>;

    /// Whether the device said that nothing will follow.
    fn is_closed(&self) -> bool;

    /// Whether nothing will follow and everything was taken.
    fn is_finished(&self) -> bool;

    /// Tells the device that nothing reads any more. Must not panic.
    fn abandon(&mut self);
}

/// Refuses a ring that the other side did not make as we expect it.
fn check_shape(shape: &RingShape, ring: u16, layout: RingLayout) -> Result<(), CaptureError> {
    let broken = |source| Err(CaptureError::BrokenRing { ring, source });
    if shape.magic != RING_MAGIC {
        return broken(RingError::Magic { found: shape.magic });
    }
    if shape.version != RING_VERSION {
        return broken(RingError::Version { found: shape.version });
    }
    let expected = layout.shape(ring);
    if *shape != expected {
        return broken(RingError::Shape { found: format!("{shape:?}"), expected: format!("{expected:?}") });
    }
    Ok(())
}

/// Refuses counters that cannot be: more in a ring than it holds, or less than was already read.
fn check_counters(cursor: &ConsumerCursor, ring: u16, layout: RingLayout) -> Result<(), CaptureError> {
    let sane = |published: u64, read: u64, capacity: u64| {
        published.checked_sub(read).is_some_and(|unread| unread <= capacity)
    };
    if sane(cursor.entries_published, cursor.entries, layout.entry_capacity)
        && sane(cursor.payload_published, cursor.payload, layout.payload_capacity)
    {
        return Ok(());
    }
    let source = RingError::Counters { cursor: format!("{cursor:?}"), layout: format!("{layout:?}") };
    Err(CaptureError::BrokenRing { ring, source })
}
