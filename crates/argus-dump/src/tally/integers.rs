//! Integers of 16 bits and more. UINT64 is kept as an i64 with the same order.

use argus_abi::DType;
use multiversion::multiversion;

use super::BATCH;
use super::distinct::DistinctValues;
use super::moments::{Moments, between, deviation};
use crate::summary::{Distinct, Summary};
use argus_facts::number::Number;

/// Independent sums, as in `floats`.
const LANES: usize = 8;
/// What is subtracted from a UINT64 to fit it into an i64 without changing the order.
const UNSIGNED_BIAS: i128 = 1 << 63;

pub(crate) struct Integers {
    dtype: DType,
    min: i64,
    max: i64,
    /// Exact, so that means of large numbers can be told apart.
    sum: i128,
    squares: f64,
    count: u64,
    zero: u64,
    seen: DistinctValues,
}

/// What one look at a batch of one type tells.
struct Batch {
    min: i64,
    max: i64,
    sum: i128,
    squares: f64,
    count: u64,
    zero: u64,
}

impl Integers {
    pub(super) fn new(dtype: DType, distinct: bool) -> Integers {
        Integers {
            dtype,
            min: i64::MAX,
            max: i64::MIN,
            sum: 0,
            squares: 0.0,
            count: 0,
            zero: 0,
            seen: DistinctValues::new(distinct),
        }
    }

    pub(super) fn take(&mut self, bytes: &[u8]) {
        let width = self.dtype.size();
        for batch in bytes.chunks(BATCH * width) {
            let found = match self.dtype {
                DType::I16 => narrow(batch.as_chunks().0, i16::from_le_bytes),
                DType::U16 => narrow(batch.as_chunks().0, u16::from_le_bytes),
                DType::I32 => narrow(batch.as_chunks().0, i32::from_le_bytes),
                DType::U32 => narrow(batch.as_chunks().0, u32::from_le_bytes),
                DType::U64 => {
                    wide(batch.as_chunks().0, |raw| (u64::from_le_bytes(raw) ^ 1 << 63) as i64, i64::MIN)
                }
                _ => wide(batch.as_chunks().0, i64::from_le_bytes, 0),
            };
            self.add(&found);
            self.seen.take(batch, width);
        }
    }

    fn add(&mut self, other: &Batch) {
        if self.count > 0 && other.count > 0 {
            let apart = apart((self.sum, self.count), (other.sum, other.count));
            self.squares += between(self.count, other.count, apart);
        }
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.sum += other.sum;
        self.squares += other.squares;
        self.count += other.count;
        self.zero += other.zero;
    }

    pub(super) fn merge(&mut self, other: &Integers) {
        let Integers { min, max, sum, squares, count, zero, .. } = *other;
        self.add(&Batch { min, max, sum, squares, count, zero });
        self.seen.merge(&other.seen);
    }

    pub(super) fn finish(&self) -> Summary {
        let some = self.count > 0;
        let unsigned = self.dtype == DType::U64;
        let extreme = |value: i64| {
            if unsigned { Number::Unsigned(value as u64 ^ 1 << 63) } else { Number::Signed(value) }
        };
        let magnitude = match unsigned {
            true => self.max as u64 ^ 1 << 63,
            false => self.min.unsigned_abs().max(self.max.unsigned_abs()),
        };
        let sum = if unsigned { self.sum + UNSIGNED_BIAS * i128::from(self.count) } else { self.sum };
        let distinct = self.seen.distinct();
        let constant = distinct == Distinct::Few(1);
        Summary {
            count: self.count,
            min: some.then(|| extreme(self.min)),
            max: some.then(|| extreme(self.max)),
            abs_max: some.then_some(Number::Unsigned(magnitude)),
            mean: some.then(|| sum as f64 / self.count as f64),
            std: if constant { Some(0.0) } else { deviation(self.squares, self.count) },
            zero: self.zero,
            nan: 0,
            unwritten: 0,
            positive_inf: 0,
            negative_inf: 0,
            subnormal: 0,
            distinct,
        }
    }
}

/// How far two means lie from each other; whole parts are subtracted before anything is rounded.
fn apart(left: (i128, u64), right: (i128, u64)) -> f64 {
    let split = |(sum, count): (i128, u64)| {
        let count = i128::from(count);
        (sum.div_euclid(count), sum.rem_euclid(count) as f64 / count as f64)
    };
    let ((left, left_part), (right, right_part)) = (split(left), split(right));
    (right - left) as f64 + (right_part - left_part)
}

/// Types of up to 32 bits, whose distances and their sums over a batch an f64 holds exactly.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn narrow<const WIDTH: usize, T, F>(raw: &[[u8; WIDTH]], read: F) -> Batch
where
    T: Copy + Ord + Into<f64> + Into<i64>,
    F: Fn([u8; WIDTH]) -> T,
{
    let Some(first) = raw.first().map(|&raw| read(raw)) else {
        return Batch { min: i64::MAX, max: i64::MIN, sum: 0, squares: 0.0, count: 0, zero: 0 };
    };
    let origin: f64 = first.into();
    let (mut min, mut max, mut zero) = ([first; LANES], [first; LANES], [0u32; LANES]);
    let (mut distances, mut squares) = ([0f64; LANES], [0f64; LANES]);
    let (rows, rest) = raw.as_chunks::<LANES>();
    let mut one = |lane: usize, raw: [u8; WIDTH]| {
        let value = read(raw);
        min[lane] = min[lane].min(value);
        max[lane] = max[lane].max(value);
        zero[lane] += u32::from(raw == [0; WIDTH]);
        let value: f64 = value.into();
        let distance = value - origin;
        distances[lane] += distance;
        squares[lane] += distance * distance;
    };
    for row in rows {
        for (lane, &raw) in row.iter().enumerate() {
            one(lane, raw);
        }
    }
    for (lane, &raw) in rest.iter().enumerate() {
        one(lane, raw);
    }
    let count = raw.len() as u64;
    let moments = Moments::around(origin, count, distances.iter().sum(), squares.iter().sum());
    Batch {
        min: min.into_iter().min().unwrap_or(first).into(),
        max: max.into_iter().max().unwrap_or(first).into(),
        sum: moments.sum as i128,
        squares: moments.squares,
        count,
        zero: zero.into_iter().map(u64::from).sum(),
    }
}

/// Types of 64 bits.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn wide<F: Fn([u8; 8]) -> i64>(raw: &[[u8; 8]], read: F, zero_is: i64) -> Batch {
    let (mut min, mut max, mut sum, mut zero) = (i64::MAX, i64::MIN, 0i128, 0u64);
    for &raw in raw {
        let value = read(raw);
        min = min.min(value);
        max = max.max(value);
        sum += i128::from(value);
        zero += u64::from(value == zero_is);
    }
    let count = raw.len() as u64;
    let origin = raw.first().map_or(0, |&raw| read(raw));
    // Distances are exact integers unless the batch spans more than an i64.
    let close = max.checked_sub(min).is_some();
    let (mut distances, mut squares) = ([0f64; LANES], [0f64; LANES]);
    for row in raw.chunks(LANES) {
        for (lane, &raw) in row.iter().enumerate() {
            let value = read(raw);
            let distance =
                if close { value.wrapping_sub(origin) as f64 } else { value as f64 - origin as f64 };
            distances[lane] += distance;
            squares[lane] += distance * distance;
        }
    }
    let moments = Moments::around(0.0, count, distances.iter().sum(), squares.iter().sum());
    Batch { min, max, sum, squares: moments.squares, count, zero }
}
