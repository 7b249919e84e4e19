//! Payload checksums, compared when a payload is read for the first time.
//!
//! Every command that reads values goes through [`super::Dump::payload`], and so through here. Small payloads are
//! hashed each time, because that costs no more than looking up whether it was done; the checksum of a large one
//! is kept, so that a tensor that a thousand tasks read is hashed once.

use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_128;

/// Payloads from this size on are hashed once.
const LARGE: usize = 4 << 10;
const SHARDS: usize = 16;

/// Checksums of large payloads, by their place in the payload file.
#[derive(Default)]
pub(super) struct Checksums([Mutex<FxHashMap<(u64, u64), u128>>; SHARDS]);

impl Checksums {
    /// The checksum of `bytes`, which lie at `offset`.
    pub(super) fn of(&self, offset: u64, bytes: &[u8]) -> u128 {
        if bytes.len() < LARGE {
            return xxh3_128(bytes);
        }
        let key = (offset, bytes.len() as u64);
        let shard = &self.0[(offset >> 12) as usize % SHARDS];
        let known = || shard.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&checksum) = known().get(&key) {
            return checksum;
        }
        // Without the lock: two threads may both hash it, and get the same.
        let checksum = xxh3_128(bytes);
        known().insert(key, checksum);
        checksum
    }
}
