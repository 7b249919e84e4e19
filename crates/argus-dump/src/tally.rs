//! Sums over elements that can be taken in pieces and joined: what statistics are made of.
//!
//! | file | elements |
//! |---|---|
//! | `bytes` | of eight bits and less: how often each came |
//! | `floats` | f32, f16 and bf16 |
//! | `integers` | of 16 bits and more |
//! | `moments` | mean and deviation |
//! | `distinct` | the first few different values |

mod bytes;
mod distinct;
mod floats;
mod integers;
mod moments;

use argus_abi::DType;

use crate::summary::Summary;
use bytes::Bytes;
use floats::Floats;
use integers::Integers;

/// Elements that are looked at together; they stay in the first-level cache.
const BATCH: usize = 2048;

pub(crate) enum Tally {
    Bytes(Box<Bytes>),
    Floats(Floats),
    Integers(Integers),
}

impl Tally {
    /// Nothing counted yet. Telling values apart costs time when there are few of them.
    pub(crate) fn new(dtype: DType, distinct: bool) -> Tally {
        match dtype {
            _ if dtype.bits() <= 8 => Tally::Bytes(Box::new(Bytes::new(dtype))),
            _ if dtype.is_float() => Tally::Floats(Floats::new(dtype, distinct)),
            _ => Tally::Integers(Integers::new(dtype, distinct)),
        }
    }

    /// Counts whole elements.
    pub(crate) fn take(&mut self, whole: &[u8]) {
        match self {
            Tally::Bytes(bytes) => bytes.take(whole),
            Tally::Floats(floats) => floats.take(whole),
            Tally::Integers(integers) => integers.take(whole),
        }
    }

    /// Adds what `other`, of the same dtype, counted.
    pub(crate) fn merge(&mut self, other: &Tally) {
        match (self, other) {
            (Tally::Bytes(bytes), Tally::Bytes(other)) => bytes.merge(other),
            (Tally::Floats(floats), Tally::Floats(other)) => floats.merge(other),
            (Tally::Integers(integers), Tally::Integers(other)) => integers.merge(other),
            _ => debug_assert!(false, "tallies of different types"),
        }
    }

    /// An odd number of FP4 leaves half of the last byte empty: it is no element.
    pub(crate) fn leave_padding_out(&mut self, elements: u64, bytes_taken: u64, last: Option<u8>) {
        if let (Tally::Bytes(bytes), Some(last)) = (self, last)
            && elements % 2 == 1
            && elements / 2 + 1 == bytes_taken
        {
            bytes.leave_high_half_out(last);
        }
    }

    pub(crate) fn finish(&self) -> Summary {
        match self {
            Tally::Bytes(bytes) => bytes.finish(),
            Tally::Floats(floats) => floats.finish(),
            Tally::Integers(integers) => integers.finish(),
        }
    }
}
