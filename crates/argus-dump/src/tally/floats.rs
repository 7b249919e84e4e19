//! f32, f16 and bf16, all of which an f32 holds exactly.

use argus_abi::DType;
use half::f16;
use half::slice::HalfFloatSliceExt;
use multiversion::multiversion;
use zerocopy::IntoBytes;

use super::BATCH;
use super::distinct::DistinctValues;
use super::moments::{Moments, deviation};
use crate::summary::{Distinct, Summary};
use argus_facts::number::Number;

/// Independent sums, so that the compiler can use vector registers and no sum waits for another.
const LANES: usize = 16;
const INFINITE: u32 = 0x7f80_0000;
/// Bits of the largest subnormal.
const SUBNORMAL: u32 = 0x007f_ffff;

/// An f32 as it lies in a payload, which need not be aligned.
type Raw = [u8; 4];

pub(crate) struct Floats {
    dtype: DType,
    min: f32,
    max: f32,
    count: u64,
    nan: u64,
    unwritten: u64,
    positive_inf: u64,
    negative_inf: u64,
    zero: u64,
    subnormal: u64,
    /// Of finite values.
    moments: Moments,
    seen: DistinctValues,
}

impl Floats {
    pub(super) fn new(dtype: DType, distinct: bool) -> Floats {
        Floats {
            dtype,
            min: f32::INFINITY,
            max: f32::NEG_INFINITY,
            count: 0,
            nan: 0,
            unwritten: 0,
            positive_inf: 0,
            negative_inf: 0,
            zero: 0,
            subnormal: 0,
            moments: Moments::default(),
            seen: DistinctValues::new(distinct),
        }
    }

    pub(super) fn take(&mut self, bytes: &[u8]) {
        let width = self.dtype.size();
        let mut values = [0f32; BATCH];
        let mut halves = [f16::ZERO; BATCH];
        for batch in bytes.chunks(BATCH * width) {
            let values = &mut values[..batch.len() / width];
            let before = self.nan;
            match self.dtype {
                // Straight from the payload, so that fetching the next bytes continues meanwhile.
                DType::F32 => self.batch(batch.as_chunks().0),
                DType::F16 => {
                    let halves = &mut halves[..values.len()];
                    for (half, raw) in halves.iter_mut().zip(batch.as_chunks().0) {
                        *half = f16::from_le_bytes(*raw);
                    }
                    halves.convert_to_f32_slice(values);
                    // As f32 they are normal.
                    self.subnormal += subnormal_halves(halves);
                    self.batch(values.as_bytes().as_chunks().0);
                }
                _ => {
                    for (value, raw) in values.iter_mut().zip(batch.as_chunks().0) {
                        *value = f32::from_bits(u32::from(u16::from_le_bytes(*raw)) << 16);
                    }
                    self.batch(values.as_bytes().as_chunks().0);
                }
            }
            // Nearly every batch is without NaN, and pays nothing for this.
            if self.nan > before {
                let fresh = batch.chunks_exact(width).filter(|raw| raw.iter().all(|&byte| byte == 0xff));
                self.unwritten += fresh.count() as u64;
            }
            self.seen.take(batch, width);
        }
    }

    fn batch(&mut self, values: &[Raw]) {
        let found = extremes(values);
        self.min = self.min.min(found.min);
        self.max = self.max.max(found.max);
        self.count += values.len() as u64;
        self.zero += found.zero;
        if found.smallest < SUBNORMAL && self.dtype != DType::F16 {
            self.subnormal += subnormal(values);
        }
        // Most batches are finite: nothing more needs to be told apart.
        if found.largest < INFINITE {
            if let Some(&origin) = values.first() {
                self.moments.merge(&moments::<false>(values, origin, values.len() as u64));
            }
            return;
        }
        let [nan, positive, negative] = specials(values);
        self.nan += nan;
        self.positive_inf += positive;
        self.negative_inf += negative;
        if let Some(&origin) = values.iter().find(|raw| f32::from_le_bytes(**raw).is_finite()) {
            let finite = values.len() as u64 - nan - positive - negative;
            self.moments.merge(&moments::<true>(values, origin, finite));
        }
    }

    pub(super) fn merge(&mut self, other: &Floats) {
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.count += other.count;
        self.nan += other.nan;
        self.unwritten += other.unwritten;
        self.positive_inf += other.positive_inf;
        self.negative_inf += other.negative_inf;
        self.zero += other.zero;
        self.subnormal += other.subnormal;
        self.moments.merge(&other.moments);
        self.seen.merge(&other.seen);
    }

    pub(super) fn finish(&self) -> Summary {
        let some = self.count > self.nan;
        // Adding zero takes the sign from a minus zero.
        let extreme = |value: f32| some.then(|| Number::Float(f64::from(value + 0.0)));
        let distinct = self.seen.distinct();
        let finite = self.moments.count;
        // A sum that was rounded would make a deviation of nothing.
        let constant = distinct == Distinct::Few(1) && finite > 0;
        Summary {
            count: self.count,
            min: extreme(self.min),
            max: extreme(self.max),
            abs_max: extreme(self.min.abs().max(self.max.abs())),
            mean: if constant { Some(f64::from(self.min)) } else { self.moments.mean() },
            std: if constant { Some(0.0) } else { deviation(self.moments.squares, finite) },
            zero: self.zero,
            nan: self.nan,
            unwritten: self.unwritten,
            positive_inf: self.positive_inf,
            negative_inf: self.negative_inf,
            subnormal: self.subnormal,
            distinct,
        }
    }
}

/// What one look at a batch tells.
struct Extremes {
    min: f32,
    max: f32,
    zero: u64,
    /// Bits of the largest magnitude: infinite or NaN from [`INFINITE`] on.
    largest: u32,
    /// One less than the bits of the smallest magnitude that is not zero.
    smallest: u32,
}

#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn extremes(values: &[Raw]) -> Extremes {
    let mut min = [f32::INFINITY; LANES];
    let mut max = [f32::NEG_INFINITY; LANES];
    let mut zero = [0u32; LANES];
    let mut largest = [0u32; LANES];
    let mut smallest = [u32::MAX; LANES];
    let (rows, rest) = values.as_chunks::<LANES>();
    let mut padded = [Raw::default(); LANES];
    padded[..rest.len()].copy_from_slice(rest);
    let mut row = |row: &[Raw; LANES], len: usize| {
        for lane in 0..len {
            let value = f32::from_le_bytes(row[lane]);
            let magnitude = value.to_bits() & 0x7fff_ffff;
            // NaN compares false, so it never gets into either.
            min[lane] = if value < min[lane] { value } else { min[lane] };
            max[lane] = if value > max[lane] { value } else { max[lane] };
            zero[lane] += u32::from(magnitude == 0);
            largest[lane] = largest[lane].max(magnitude);
            smallest[lane] = smallest[lane].min(magnitude.wrapping_sub(1));
        }
    };
    rows.iter().for_each(|values| row(values, LANES));
    row(&padded, rest.len());
    Extremes {
        min: min.into_iter().fold(f32::INFINITY, f32::min),
        max: max.into_iter().fold(f32::NEG_INFINITY, f32::max),
        zero: zero.into_iter().map(u64::from).sum(),
        largest: largest.into_iter().fold(0, u32::max),
        smallest: smallest.into_iter().fold(u32::MAX, u32::min),
    }
}

/// Sums around `origin`, an element; with `MASK` only finite values count, of which there are `count`.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn moments<const MASK: bool>(values: &[Raw], origin: Raw, count: u64) -> Moments {
    let start = f32::from_le_bytes(origin);
    let around = f64::from(start);
    let mut distances = [0f64; LANES];
    let mut squares = [0f64; LANES];
    let (rows, rest) = values.as_chunks::<LANES>();
    // Elements equal to the origin add nothing.
    let mut padded = [origin; LANES];
    padded[..rest.len()].copy_from_slice(rest);
    for row in rows.iter().chain([&padded]) {
        for lane in 0..LANES {
            let value = f32::from_le_bytes(row[lane]);
            let value = if MASK && !value.is_finite() { start } else { value };
            let distance = f64::from(value) - around;
            distances[lane] += distance;
            squares[lane] += distance * distance;
        }
    }
    Moments::around(around, count, distances.iter().sum(), squares.iter().sum())
}

/// Counts of NaN, of positive and of negative infinities.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn specials(values: &[Raw]) -> [u64; 3] {
    let (mut nan, mut positive, mut negative) = (0u32, 0u32, 0u32);
    for &raw in values {
        let value = f32::from_le_bytes(raw);
        nan += u32::from(value.is_nan());
        positive += u32::from(value == f32::INFINITY);
        negative += u32::from(value == f32::NEG_INFINITY);
    }
    [nan.into(), positive.into(), negative.into()]
}

#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn subnormal(values: &[Raw]) -> u64 {
    let count: u32 = values
        .iter()
        .map(|&raw| u32::from((u32::from_le_bytes(raw) & 0x7fff_ffff).wrapping_sub(1) < SUBNORMAL))
        .sum();
    count.into()
}

#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn subnormal_halves(values: &[f16]) -> u64 {
    // A batch has fewer elements than a u16 counts.
    let count: u16 =
        values.iter().map(|value| u16::from((value.to_bits() & 0x7fff).wrapping_sub(1) < 0x3ff)).sum();
    count.into()
}
