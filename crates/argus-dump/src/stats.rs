//! Statistics of a payload, computed from its bytes in passing.
//!
//! Minimum and maximum are over everything but NaN, so that infinities show; the mean is over finite values.
//! A minus zero counts as zero.

use argus_abi::DType;
use half::f16;
use half::slice::HalfFloatSliceExt;

use crate::journal::{ArgumentRecord, marks};
use crate::numbers::{Number, number};

/// Elements that are converted at a time; they stay in the first-level cache.
const BATCH: usize = 1024;
/// Independent sums per batch, so that the compiler can use vector registers.
const LANES: usize = 8;
/// What is subtracted from a UINT64 to fit it into an i64 without changing the order.
const UNSIGNED_BIAS: i128 = 1 << 63;

/// What a payload's elements have in common.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Statistics {
    /// `None` if every element is NaN, or there is none.
    pub min: Option<Number>,
    pub max: Option<Number>,
    /// `None` if no element is finite.
    pub mean: Option<f64>,
    pub nan: u64,
    pub inf: u64,
    pub zero: u64,
}

impl Statistics {
    /// Of a record that has them.
    pub fn of(record: &ArgumentRecord) -> Option<Statistics> {
        let dtype = DType::from_raw(record.dtype)?;
        if !record.has(marks::STATISTICS) {
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
        record.min = bits(self.min);
        record.max = bits(self.max);
        record.mean = self.mean.map_or(none, f64::to_bits);
        record.nan = self.nan;
        record.inf = self.inf;
        record.zero = self.zero;
        record.flags |= marks::STATISTICS;
    }
}

/// Takes a payload's bytes in pieces of any size.
pub struct Accumulator {
    dtype: DType,
    /// Elements still to come: the last byte of an odd number of FP4 has an empty half.
    left: u64,
    carry: [u8; 8],
    carried: usize,
    sums: Sums,
}

enum Sums {
    /// One-byte types: how often each byte came; FP4: how often each nibble.
    Counts(Box<[u64; 256]>),
    Floats(Floats),
    Integers(Integers),
}

impl Accumulator {
    pub fn new(dtype: DType, elements: u64) -> Accumulator {
        let sums = match dtype {
            _ if dtype.bits() <= 8 => Sums::Counts(Box::new([0; 256])),
            _ if dtype.is_float() => Sums::Floats(Floats::default()),
            _ => Sums::Integers(Integers::default()),
        };
        Accumulator { dtype, left: elements, carry: [0; 8], carried: 0, sums }
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
        match &mut self.sums {
            Sums::Counts(counts) if self.dtype == DType::Fp4E2M1 => {
                for &byte in bytes {
                    for nibble in [byte & 15, byte >> 4] {
                        counts[usize::from(nibble)] += u64::from(self.left > 0);
                        self.left = self.left.saturating_sub(1);
                    }
                }
            }
            Sums::Counts(counts) => bytes.iter().for_each(|&byte| counts[usize::from(byte)] += 1),
            Sums::Floats(floats) => floats.take(self.dtype, bytes),
            Sums::Integers(integers) => integers.take(self.dtype, bytes),
        }
    }

    pub fn finish(self) -> Statistics {
        match self.sums {
            Sums::Counts(counts) => from_counts(self.dtype, &counts),
            Sums::Floats(floats) => floats.finish(),
            Sums::Integers(integers) => integers.finish(self.dtype),
        }
    }
}

/// Sums over f32, f16 and bf16, all of which an f32 holds exactly.
struct Floats {
    min: f32,
    max: f32,
    sum: f64,
    count: u64,
    nan: u64,
    inf: u64,
    zero: u64,
}

impl Default for Floats {
    fn default() -> Floats {
        Floats { min: f32::INFINITY, max: f32::NEG_INFINITY, sum: 0.0, count: 0, nan: 0, inf: 0, zero: 0 }
    }
}

impl Floats {
    fn take(&mut self, dtype: DType, bytes: &[u8]) {
        let mut values = [0f32; BATCH];
        let mut halves = [f16::ZERO; BATCH];
        for batch in bytes.chunks(BATCH * dtype.size()) {
            let count = batch.len() / dtype.size();
            let values = &mut values[..count];
            match dtype {
                DType::F32 => {
                    for (value, raw) in values.iter_mut().zip(batch.as_chunks::<4>().0) {
                        *value = f32::from_le_bytes(*raw);
                    }
                }
                DType::F16 => {
                    let halves = &mut halves[..count];
                    for (half, raw) in halves.iter_mut().zip(batch.as_chunks::<2>().0) {
                        *half = f16::from_le_bytes(*raw);
                    }
                    halves.convert_to_f32_slice(values);
                }
                _ => {
                    for (value, raw) in values.iter_mut().zip(batch.as_chunks::<2>().0) {
                        *value = f32::from_bits(u32::from(u16::from_le_bytes(*raw)) << 16);
                    }
                }
            }
            self.batch(values);
        }
    }

    fn batch(&mut self, values: &[f32]) {
        let mut min = [f32::INFINITY; LANES];
        let mut max = [f32::NEG_INFINITY; LANES];
        let mut sum = [0f64; LANES];
        let (mut nan, mut inf, mut zero) = ([0u32; LANES], [0u32; LANES], [0u32; LANES]);
        let mut lane = |lane: usize, value: f32| {
            let magnitude = value.abs();
            nan[lane] += u32::from(value.is_nan());
            inf[lane] += u32::from(magnitude == f32::INFINITY);
            zero[lane] += u32::from(value == 0.0);
            // NaN compares false, so it never gets into either.
            min[lane] = if value < min[lane] { value } else { min[lane] };
            max[lane] = if value > max[lane] { value } else { max[lane] };
            sum[lane] += f64::from(if magnitude < f32::INFINITY { value } else { 0.0 });
        };
        let (rows, rest) = values.as_chunks::<LANES>();
        for row in rows {
            for (index, &value) in row.iter().enumerate() {
                lane(index, value);
            }
        }
        for (index, &value) in rest.iter().enumerate() {
            lane(index, value);
        }
        self.min = min.iter().fold(self.min, |a, &b| a.min(b));
        self.max = max.iter().fold(self.max, |a, &b| a.max(b));
        self.sum += sum.iter().sum::<f64>();
        self.count += values.len() as u64;
        self.nan += nan.iter().map(|&count| u64::from(count)).sum::<u64>();
        self.inf += inf.iter().map(|&count| u64::from(count)).sum::<u64>();
        self.zero += zero.iter().map(|&count| u64::from(count)).sum::<u64>();
    }

    fn finish(self) -> Statistics {
        let some = self.count > self.nan;
        let finite = self.count - self.nan - self.inf;
        Statistics {
            min: some.then_some(Number::Float(f64::from(self.min))),
            max: some.then_some(Number::Float(f64::from(self.max))),
            mean: (finite > 0).then(|| self.sum / finite as f64),
            nan: self.nan,
            inf: self.inf,
            zero: self.zero,
        }
    }
}

/// Sums over integers of 16 bits and more; UINT64 shifted down by [`UNSIGNED_BIAS`].
#[derive(Default)]
struct Integers {
    min: i64,
    max: i64,
    sum: i128,
    count: u64,
    zero: u64,
}

impl Integers {
    fn take(&mut self, dtype: DType, bytes: &[u8]) {
        match dtype {
            DType::I16 => self.fold::<2>(bytes, 0, |raw| i64::from(i16::from_le_bytes(raw))),
            DType::U16 => self.fold::<2>(bytes, 0, |raw| i64::from(u16::from_le_bytes(raw))),
            DType::I32 => self.fold::<4>(bytes, 0, |raw| i64::from(i32::from_le_bytes(raw))),
            DType::U32 => self.fold::<4>(bytes, 0, |raw| i64::from(u32::from_le_bytes(raw))),
            DType::U64 => self.fold::<8>(bytes, i64::MIN, |raw| (u64::from_le_bytes(raw) ^ 1 << 63) as i64),
            _ => self.fold::<8>(bytes, 0, i64::from_le_bytes),
        }
    }

    fn fold<const WIDTH: usize>(&mut self, bytes: &[u8], zero_is: i64, decode: impl Fn([u8; WIDTH]) -> i64) {
        for batch in bytes.as_chunks::<WIDTH>().0.chunks(BATCH) {
            let (mut min, mut max, mut zero) = (i64::MAX, i64::MIN, 0u64);
            let mut sum = 0i64;
            for &raw in batch {
                let value = decode(raw);
                min = min.min(value);
                max = max.max(value);
                zero += u64::from(value == zero_is);
                // A thousand 32-bit numbers fit; wider ones take the slower way.
                if WIDTH < 8 {
                    sum += value;
                } else {
                    self.sum += i128::from(value);
                }
            }
            self.min = if self.count == 0 { min } else { self.min.min(min) };
            self.max = if self.count == 0 { max } else { self.max.max(max) };
            self.sum += i128::from(sum);
            self.zero += zero;
            self.count += batch.len() as u64;
        }
    }

    fn finish(self, dtype: DType) -> Statistics {
        let some = self.count > 0;
        let unsigned = dtype == DType::U64;
        let extreme = |value: i64| {
            if unsigned { Number::Unsigned(value as u64 ^ 1 << 63) } else { Number::Signed(value) }
        };
        let sum = if unsigned { self.sum + UNSIGNED_BIAS * i128::from(self.count) } else { self.sum };
        Statistics {
            min: some.then(|| extreme(self.min)),
            max: some.then(|| extreme(self.max)),
            mean: some.then(|| sum as f64 / self.count as f64),
            nan: 0,
            inf: 0,
            zero: self.zero,
        }
    }
}

/// From how often each of at most 256 values came.
fn from_counts(dtype: DType, counts: &[u64; 256]) -> Statistics {
    let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
    let (mut sum, mut finite, mut nan, mut zero) = (0.0, 0u64, 0, 0);
    for (bits, &count) in counts.iter().enumerate().filter(|&(_, &count)| count > 0) {
        let value = number(dtype, bits as u64).as_f64();
        if value.is_nan() {
            nan += count;
            continue;
        }
        min = min.min(value);
        max = max.max(value);
        sum += value * count as f64;
        finite += count;
        zero += if value == 0.0 { count } else { 0 };
    }
    let extreme =
        |value: f64| if dtype.is_float() { Number::Float(value) } else { Number::Signed(value as i64) };
    let some = finite > 0;
    Statistics {
        min: some.then(|| extreme(min)),
        max: some.then(|| extreme(max)),
        mean: some.then(|| sum / finite as f64),
        nan,
        inf: 0,
        zero,
    }
}
