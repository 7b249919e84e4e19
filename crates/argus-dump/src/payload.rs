//! The payload file: payloads one after the other, equal ones once.

use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use crate::known::Known;
use crate::spool::{Failure, Spool};
use crate::stream::Stream;

/// Large payloads are hashed and copied in steps that stay in cache between the two.
const STEP_BYTES: usize = 256 << 10;

/// Where a payload lies, and what its bytes hash to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) offset: u64,
    pub(crate) size: u64,
    pub(crate) checksum: u128,
    /// An equal payload was there before.
    pub(crate) shared: bool,
}

/// Receives payloads piece by piece.
///
/// Two payloads count as equal when their length and their 128-bit hash are. A payload that comes in one
/// piece is hashed before it is written; one that comes in several is written as it comes and taken back
/// when it turns out to be there already.
pub(crate) struct PayloadFile {
    stream: Stream,
    known: Option<Known>,
    hasher: Box<Xxh3>,
    start: u64,
    expected: u64,
    received: u64,
    store: bool,
    whole: Option<Placed>,
}

impl PayloadFile {
    pub(crate) fn new(stream: Stream, dedupe: bool) -> PayloadFile {
        PayloadFile {
            stream,
            known: dedupe.then(Known::default),
            hasher: Box::new(Xxh3::new()),
            start: 0,
            expected: 0,
            received: 0,
            store: true,
            whole: None,
        }
    }

    pub(crate) fn stream(&mut self) -> &mut Stream {
        &mut self.stream
    }

    /// Bytes in the file once everything is written.
    pub(crate) fn stored_bytes(&self) -> u64 {
        self.stream.position()
    }

    /// A payload of `expected` bytes begins; without `store` it is hashed only.
    pub(crate) fn begin(&mut self, expected: u64, store: bool) {
        self.start = self.stream.position();
        self.expected = expected;
        self.received = 0;
        self.store = store;
        self.whole = None;
    }

    /// Bytes that have not come yet.
    pub(crate) fn missing(&self) -> u64 {
        self.expected - self.received
    }

    pub(crate) fn piece(&mut self, spool: &mut Spool, bytes: &[u8]) -> Result<(), Failure> {
        let first = self.received == 0;
        self.received += bytes.len() as u64;
        let hash_first = self.known.is_some() || bytes.len() <= STEP_BYTES || !self.store;
        if first && self.missing() == 0 && hash_first {
            let checksum = xxh3_128(bytes);
            let placed = self.place(checksum);
            if self.store && !placed.shared {
                self.stream.write(spool, bytes)?;
            }
            self.whole = Some(placed);
            return Ok(());
        }
        if first {
            self.hasher.reset();
        }
        for step in bytes.chunks(STEP_BYTES) {
            self.hasher.update(step);
            if self.store {
                self.stream.write(spool, step)?;
            }
        }
        Ok(())
    }

    /// The payload is whole.
    pub(crate) fn end(&mut self) -> Placed {
        if let Some(placed) = self.whole.take() {
            return placed;
        }
        let checksum = if self.expected == 0 { xxh3_128(&[]) } else { self.hasher.digest128() };
        let placed = self.place(checksum);
        if placed.shared {
            self.stream.rewind(self.start);
        }
        placed
    }

    /// The payload will never be whole: nothing of it stays.
    pub(crate) fn abandon(&mut self) {
        self.stream.rewind(self.start);
    }

    /// Where a payload with this hash goes: to an equal one, or to where it began.
    fn place(&mut self, checksum: u128) -> Placed {
        if !self.store || self.expected == 0 {
            return Placed { offset: 0, size: 0, checksum, shared: false };
        }
        let (start, size) = (self.start, self.expected);
        let offset = self.known.as_mut().map_or(start, |known| known.find_or_add(checksum, start, size));
        Placed { offset, size, checksum, shared: offset != start }
    }
}
