//! Elements of eight bits and less: how often each byte came tells everything.

use argus_abi::DType;

use super::moments::deviation;
use crate::summary::{DISTINCT_LIMIT, Distinct, Summary};
use argus_facts::number::{Number, is_subnormal, number};

/// Fewer bytes than this are not worth several tables.
const FEW: usize = 2048;

pub(crate) struct Bytes {
    dtype: DType,
    counts: [u64; 256],
    /// Of FP4: high halves that are no elements, by value.
    empty_halves: [u64; 16],
}

impl Bytes {
    pub(super) fn new(dtype: DType) -> Bytes {
        Bytes { dtype, counts: [0; 256], empty_halves: [0; 16] }
    }

    pub(super) fn take(&mut self, bytes: &[u8]) {
        if bytes.len() < FEW {
            bytes.iter().for_each(|&byte| self.counts[usize::from(byte)] += 1);
            return;
        }
        // Equal bytes in a row would wait for each other in one table.
        for part in bytes.chunks(1 << 30) {
            let mut tables = [[0u32; 256]; 4];
            let (rows, rest) = part.as_chunks::<4>();
            for row in rows {
                for (table, &byte) in tables.iter_mut().zip(row) {
                    table[usize::from(byte)] += 1;
                }
            }
            rest.iter().for_each(|&byte| tables[0][usize::from(byte)] += 1);
            for table in &tables {
                for (sum, &count) in self.counts.iter_mut().zip(table) {
                    *sum += u64::from(count);
                }
            }
        }
    }

    pub(super) fn merge(&mut self, other: &Bytes) {
        let pairs = self.counts.iter_mut().zip(&other.counts);
        pairs.chain(self.empty_halves.iter_mut().zip(&other.empty_halves)).for_each(|(sum, n)| *sum += n);
    }

    pub(super) fn leave_high_half_out(&mut self, byte: u8) {
        if self.dtype == DType::Fp4E2M1 {
            self.empty_halves[usize::from(byte >> 4)] += 1;
        }
    }

    /// How often each element's bits came.
    fn elements(&self) -> [u64; 256] {
        if self.dtype != DType::Fp4E2M1 {
            return self.counts;
        }
        let mut halves = [0; 256];
        for (byte, &count) in self.counts.iter().enumerate() {
            halves[byte & 15] += count;
            halves[byte >> 4] += count;
        }
        for (half, &empty) in halves.iter_mut().zip(&self.empty_halves) {
            *half -= empty;
        }
        halves
    }

    pub(super) fn finish(&self) -> Summary {
        let elements = self.elements();
        let present = || elements.iter().zip(0u64..).filter(|&(&count, _)| count > 0);
        let value_of = |bits| number(self.dtype, bits).as_f64();
        let known = || present().map(|(&count, bits)| (count, value_of(bits))).filter(|(_, v)| !v.is_nan());
        let total = |each: &mut dyn Iterator<Item = u64>| each.sum::<u64>();
        let count = total(&mut present().map(|(&count, _)| count));
        // None of these types has infinities.
        let finite = total(&mut known().map(|(count, _)| count));
        let zero = total(&mut known().filter(|&(_, value)| value == 0.0).map(|(count, _)| count));
        let subnormal = present().filter(|&(_, bits)| is_subnormal(self.dtype, bits));
        let subnormal = total(&mut subnormal.map(|(&count, _)| count));
        let min = known().map(|(_, value)| value).reduce(f64::min);
        let max = known().map(|(_, value)| value).reduce(f64::max);
        let mean = (finite > 0)
            .then(|| known().map(|(count, value)| value * count as f64).sum::<f64>() / finite as f64);
        let distinct = match present().count() {
            few if few <= DISTINCT_LIMIT => Distinct::Few(few as u8),
            _ => Distinct::Many,
        };
        // A mean that was rounded would make a deviation of nothing.
        let mean = if distinct == Distinct::Few(1) { min } else { mean };
        let squares = mean.map_or(0.0, |mean| {
            known().map(|(count, value)| (value - mean) * (value - mean) * count as f64).sum()
        });
        let float = self.dtype.is_float();
        let extreme = |value: f64| {
            // Adding zero takes the sign from a minus zero.
            if float { Number::Float(value + 0.0) } else { Number::Signed(value as i64) }
        };
        let magnitude =
            |value: f64| if float { Number::Float(value) } else { Number::Unsigned(value as u64) };
        Summary {
            count,
            min: min.map(extreme),
            max: max.map(extreme),
            abs_max: min.zip(max).map(|(min, max)| magnitude(min.abs().max(max.abs()))),
            mean,
            std: deviation(squares, finite),
            zero,
            nan: count - finite,
            unwritten: 0,
            positive_inf: 0,
            negative_inf: 0,
            subnormal,
            distinct,
        }
    }
}
