//! Statistics of a payload that are recorded with it, computed from its bytes in passing.
//!
//! They are some of those of a [`Summary`] and mean the same.

use argus_abi::DType;

use crate::journal::{ArgumentHead, ArgumentRecord, StatisticsRecord, marks};
use crate::summary::Summary;
use crate::tally::Tally;
use argus_facts::number::Number;

/// What a payload's elements have in common.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Statistics {
    /// `None` if every element is NaN, or there is none.
    pub min: Option<Number>,
    pub max: Option<Number>,
    /// `None` if no element is finite.
    pub mean: Option<f64>,
    pub nan: u64,
    /// Those of `nan` that hold the pattern of fresh memory; 0 in statistics that a run recorded, which do not tell.
    pub unwritten: u64,
    pub inf: u64,
    pub zero: u64,
}

impl Statistics {
    /// Of a record that has them.
    pub fn from_record(record: &ArgumentRecord) -> Option<Statistics> {
        Statistics::from_parts(&record.head, &record.statistics)
    }

    /// Of a record whose parts are kept apart.
    pub(crate) fn from_parts(head: &ArgumentHead, record: &StatisticsRecord) -> Option<Statistics> {
        let dtype = DType::from_raw(head.dtype)?;
        if !head.has(marks::STATISTICS) {
            return None;
        }
        let mean = Some(f64::from_bits(record.mean)).filter(|mean| !mean.is_nan());
        let extreme = |bits: u64| match dtype {
            _ if dtype.is_float() => {
                Some(f64::from_bits(bits)).filter(|value| !value.is_nan()).map(Number::Float)
            }
            _ if mean.is_none() => None,
            DType::U64 => Some(Number::Unsigned(bits)),
            _ => Some(Number::Signed(bits as i64)),
        };
        Some(Statistics {
            min: extreme(record.min),
            max: extreme(record.max),
            mean,
            nan: record.nan,
            unwritten: 0,
            inf: record.inf,
            zero: record.zero,
        })
    }

    /// Writes them into `record`, whose dtype must be the one they were computed for.
    pub fn put(&self, record: &mut ArgumentRecord) {
        let none = f64::NAN.to_bits();
        let bits = |extreme: Option<Number>| match extreme {
            None => none,
            Some(Number::Float(value)) => value.to_bits(),
            Some(Number::Signed(value)) => value as u64,
            Some(Number::Unsigned(value)) => value,
            Some(Number::Bool(value)) => u64::from(value),
        };
        record.statistics = StatisticsRecord {
            min: bits(self.min),
            max: bits(self.max),
            mean: self.mean.map_or(none, f64::to_bits),
            nan: self.nan,
            inf: self.inf,
            zero: self.zero,
        };
        record.head.flags |= marks::STATISTICS;
    }
}

impl From<&Summary> for Statistics {
    fn from(summary: &Summary) -> Statistics {
        Statistics {
            min: summary.min,
            max: summary.max,
            mean: summary.mean,
            nan: summary.nan,
            unwritten: summary.unwritten,
            inf: summary.inf(),
            zero: summary.zero,
        }
    }
}

/// Takes a payload's bytes in pieces of any size.
pub struct Accumulator {
    dtype: DType,
    elements: u64,
    /// Bytes of whole elements that came.
    taken: u64,
    last: Option<u8>,
    carry: [u8; 8],
    carried: usize,
    tally: Tally,
}

impl Accumulator {
    pub fn new(dtype: DType, elements: u64) -> Accumulator {
        Accumulator {
            dtype,
            elements,
            taken: 0,
            last: None,
            carry: [0; 8],
            carried: 0,
            tally: Tally::new(dtype, false),
        }
    }

    pub fn update(&mut self, mut piece: &[u8]) {
        let width = self.dtype.size();
        if self.carried > 0 {
            let (head, rest) = piece.split_at(piece.len().min(width - self.carried));
            self.carry[self.carried..self.carried + head.len()].copy_from_slice(head);
            self.carried += head.len();
            piece = rest;
            if self.carried < width {
                return;
            }
            let carry = self.carry;
            self.whole(&carry[..width]);
        }
        let (whole, tail) = piece.split_at(piece.len() - piece.len() % width);
        self.whole(whole);
        self.carry[..tail.len()].copy_from_slice(tail);
        self.carried = tail.len();
    }

    /// Takes whole elements.
    fn whole(&mut self, bytes: &[u8]) {
        self.tally.take(bytes);
        self.taken += bytes.len() as u64;
        self.last = bytes.last().copied().or(self.last);
    }

    pub fn finish(mut self) -> Statistics {
        self.tally.leave_padding_out(self.elements, self.taken, self.last);
        Statistics::from(&self.tally.finish())
    }
}
