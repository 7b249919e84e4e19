//! Everything that can be said about a payload in one number each.
//!
//! What goes in: a payload in logical order and its element type. What goes out: a [`Summary`]. Blocks of a
//! fixed size are counted by as many threads as there are and joined along a fixed tree, so that the same bytes
//! give the same bits on every machine and with every number of threads.

use std::fmt;

use argus_abi::DType;

use crate::tally::Tally;
use argus_facts::number::Number;

/// Bytes that one thread counts at a time; a multiple of every element's size.
const BLOCK: usize = 1 << 20;
/// Different values that are told apart.
pub const DISTINCT_LIMIT: usize = 16;

/// What a payload's elements have in common.
///
/// Minimum, maximum and absolute maximum are over everything but NaN, so that infinities show; mean and
/// standard deviation are over finite values. A minus zero counts as zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Elements that were there.
    pub count: u64,
    /// `None` if every element is NaN, or there is none.
    pub min: Option<Number>,
    pub max: Option<Number>,
    /// An unsigned number for integers.
    pub abs_max: Option<Number>,
    /// `None` if no element is finite.
    pub mean: Option<f64>,
    /// Of the elements themselves, not an estimate for a larger population.
    pub std: Option<f64>,
    pub zero: u64,
    pub nan: u64,
    /// Those of `nan` that hold the pattern of fresh memory, see [`argus_facts::number::is_unwritten`].
    pub unwritten: u64,
    pub positive_inf: u64,
    pub negative_inf: u64,
    /// Floats that are not zero and have the smallest exponent, so that they lack precision.
    pub subnormal: u64,
    pub distinct: Distinct,
}

/// How many different elements there are. Different is what differs in bits: two NaN may, and so do both zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distinct {
    /// Exactly so many; 0 of an empty payload.
    Few(u8),
    /// More than [`DISTINCT_LIMIT`].
    Many,
}

impl fmt::Display for Distinct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Distinct::Few(0) => f.pad("none"),
            Distinct::Few(1) => f.pad("constant"),
            Distinct::Few(count) => f.pad(&format!("{count} values")),
            Distinct::Many => f.pad("many"),
        }
    }
}

impl Summary {
    /// NaN that an instruction wrote.
    pub fn written_nan(&self) -> u64 {
        self.nan - self.unwritten
    }

    /// Infinities of either sign.
    pub fn inf(&self) -> u64 {
        self.positive_inf + self.negative_inf
    }
}

/// Of the first `elements` elements of `bytes`, or of as many as are there.
pub fn summarise(dtype: DType, elements: u64, bytes: &[u8]) -> Summary {
    let needed = dtype.packed_bytes(elements).and_then(|needed| usize::try_from(needed).ok());
    let bytes = &bytes[..needed.unwrap_or(usize::MAX).min(bytes.len())];
    let bytes = &bytes[..bytes.len() - bytes.len() % dtype.size()];
    let mut tally = count(dtype, bytes);
    tally.leave_padding_out(elements, bytes.len() as u64, bytes.last().copied());
    tally.finish()
}

/// Counts `bytes` along a tree that depends on their number only.
fn count(dtype: DType, bytes: &[u8]) -> Tally {
    let blocks = bytes.len().div_ceil(BLOCK);
    if blocks <= 1 {
        let mut tally = Tally::new(dtype, true);
        tally.take(bytes);
        return tally;
    }
    let (left, right) = bytes.split_at(blocks / 2 * BLOCK);
    let (mut left, right) = rayon::join(|| count(dtype, left), || count(dtype, right));
    left.merge(&right);
    left
}
