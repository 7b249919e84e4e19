//! Where collected entries go.

use argus_abi::capture::{ArgumentEntry, EdgesEntry, SkipEntry, TaskEntry};

/// Receives what the collector drains, one thing at a time, each ring's entries in their order.
///
/// After an error the collector calls nothing of it any more; it keeps draining, so that the device
/// does not wait for a sink that is gone, and counts what is lost.
pub trait Sink: Send {
    type Error: std::error::Error + Send + Sync + 'static;

    /// An argument begins. Exactly `entry.payload_bytes` bytes follow through [`Sink::payload`], in one or
    /// more pieces, then [`Sink::end_argument`].
    fn begin_argument(&mut self, entry: &ArgumentEntry) -> Result<(), Self::Error>;

    /// The next piece of the payload. `piece` lies in a capture ring and is gone after the call.
    fn payload(&mut self, piece: &[u8]) -> Result<(), Self::Error>;

    /// The argument is whole.
    fn end_argument(&mut self) -> Result<(), Self::Error>;

    fn task(&mut self, entry: &TaskEntry) -> Result<(), Self::Error>;

    fn edges(&mut self, entry: &EdgesEntry) -> Result<(), Self::Error>;

    fn skip(&mut self, entry: &SkipEntry) -> Result<(), Self::Error>;

    /// Called when all rings are drained and at least every 50 ms: what came so far becomes readable by
    /// others, even if this process is killed.
    fn flush(&mut self) -> Result<(), Self::Error>;
}
