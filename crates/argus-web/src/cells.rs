//! What a cell of a tile says of the elements it stands for, and how cells are made: from elements, or from smaller cells.

use std::ops::Range;

use argus_abi::DType;
use argus_facts::number::{Number, element, is_unwritten, number};

/// Elements that are decoded before they are summed up; a power of two, as sizes of cells are.
const BLOCK: u64 = 512;
/// Elements that are summed up at once.
const LANES: usize = 8;

/// Some elements, summed up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// Of finite values; `min > max` if there is none.
    pub min: f32,
    pub max: f32,
    /// Sum of finite values, and how many they are.
    pub sum: f64,
    pub finite: u32,
    /// NaN and infinities that were written.
    pub alarming: u32,
    pub unwritten: u32,
}

impl Cell {
    pub const EMPTY: Cell =
        Cell { min: f32::INFINITY, max: f32::NEG_INFINITY, sum: 0.0, finite: 0, alarming: 0, unwritten: 0 };

    /// Adds those that are finite, and tells how many they are. Without a branch, and with sums of their own for
    /// elements next to each other, so that several are added at once.
    fn add_finite(&mut self, values: &[f64]) -> usize {
        let (mut min, mut max) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
        let (mut sum, mut count) = ([0.0; LANES], [0.0; LANES]);
        let mut add = |lane: usize, value: f64| {
            let finite = value.abs() <= f64::MAX;
            let or = |other: f64| if finite { value } else { other };
            let (low, high) = (or(f64::INFINITY), or(f64::NEG_INFINITY));
            min[lane] = if low < min[lane] { low } else { min[lane] };
            max[lane] = if high > max[lane] { high } else { max[lane] };
            sum[lane] += or(0.0);
            count[lane] += if finite { 1.0 } else { 0.0 };
        };
        let (groups, rest) = values.as_chunks::<LANES>();
        for group in groups {
            (0..LANES).for_each(|lane| add(lane, group[lane]));
        }
        rest.iter().enumerate().for_each(|(lane, value)| add(lane, *value));
        let finite: f64 = count.iter().sum();
        if finite > 0.0 {
            // The nearest f32; one that is out of its range is as far as it goes.
            let near = |value: f64| (value as f32).clamp(f32::MIN, f32::MAX);
            self.min = self.min.min(near(min.into_iter().fold(f64::INFINITY, f64::min)));
            self.max = self.max.max(near(max.into_iter().fold(f64::NEG_INFINITY, f64::max)));
            self.sum += sum.iter().sum::<f64>();
            self.finite = self.finite.saturating_add(finite as u32);
        }
        finite as usize
    }

    /// Counts an element that is not finite.
    fn add_other(&mut self, unwritten: bool) {
        let count = if unwritten { &mut self.unwritten } else { &mut self.alarming };
        *count = count.saturating_add(1);
    }

    pub fn join(&mut self, other: &Cell) {
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.sum += other.sum;
        self.finite = self.finite.saturating_add(other.finite);
        self.alarming = self.alarming.saturating_add(other.alarming);
        self.unwritten = self.unwritten.saturating_add(other.unwritten);
    }

    pub fn mean(&self) -> f32 {
        (self.sum / f64::from(self.finite)) as f32
    }

    /// Written NaN and infinities in the low half, elements that were never written in the high half; each as far as 16
    /// bits go.
    pub fn counts(&self) -> u32 {
        self.alarming.min(0xffff) | self.unwritten.min(0xffff) << 16
    }
}

/// The elements that cells are made of.
#[derive(Clone, Copy)]
pub struct Elements<'a> {
    pub dtype: DType,
    /// In logical order; may end early.
    pub payload: &'a [u8],
    /// What is taken away from each element, of the same dtype.
    pub minus: Option<&'a [u8]>,
}

impl Elements<'_> {
    /// The number of an element and whether nothing has written it; `None` behind the end.
    pub fn get(&self, index: u64) -> Option<(f64, bool)> {
        let value = element(self.dtype, self.payload, index)?;
        let unwritten = is_unwritten(self.dtype, value);
        let Some(minus) = self.minus else { return Some((value.as_f64(), unwritten)) };
        let other = element(self.dtype, minus, index)?;
        Some((difference(value, other), unwritten))
    }

    /// The numbers of some elements, into the beginning of `into`; fewer behind the end.
    fn decode<'b>(&self, elements: Range<u64>, into: &'b mut [f64]) -> &'b [f64] {
        // The common types with their decoding unrolled; all through the one that there is.
        let count = match (self.dtype, self.minus) {
            (DType::F32, None) => unrolled::<4>(DType::F32, self.payload, elements, into),
            (DType::F16, None) => unrolled::<2>(DType::F16, self.payload, elements, into),
            (DType::Bf16, None) => unrolled::<2>(DType::Bf16, self.payload, elements, into),
            (DType::I32, None) => unrolled::<4>(DType::I32, self.payload, elements, into),
            (DType::I8, None) => unrolled::<1>(DType::I8, self.payload, elements, into),
            _ => {
                let known = elements.map_while(|index| self.get(index));
                into.iter_mut().zip(known).map(|(into, (value, _))| *into = value).count()
            }
        };
        &into[..count]
    }

    /// Adds the elements of a row to the cells they belong to; `size` elements make a cell.
    pub fn add_row(&self, elements: Range<u64>, size: u64, cells: &mut [Cell]) {
        let mut block = [0.0; BLOCK as usize];
        // A block is decoded at once: part of a large cell, or some small ones.
        for start in elements.clone().step_by(BLOCK as usize) {
            let known = self.decode(start..elements.end.min(start + BLOCK), &mut block);
            let mut at = start;
            for part in known.chunks(size.min(BLOCK) as usize) {
                let Some(cell) = cells.get_mut(((at - elements.start) / size) as usize) else { return };
                let finite = cell.add_finite(part);
                if finite < part.len() {
                    let all = (at..at + part.len() as u64).filter_map(|index| self.get(index));
                    all.filter(|(value, _)| !value.is_finite())
                        .for_each(|(_, unwritten)| cell.add_other(unwritten));
                }
                at += part.len() as u64;
            }
        }
    }
}

/// Decodes elements of a type whose size is known when this is compiled; how many there were.
#[inline(always)]
fn unrolled<const SIZE: usize>(
    dtype: DType,
    payload: &[u8],
    elements: Range<u64>,
    into: &mut [f64],
) -> usize {
    let byte =
        |index: u64| usize::try_from(index).unwrap_or(usize::MAX).saturating_mul(SIZE).min(payload.len());
    let (raw, _) = payload[byte(elements.start)..byte(elements.end)].as_chunks::<SIZE>();
    for (into, raw) in into.iter_mut().zip(raw) {
        let mut bits = [0; 8];
        bits[..SIZE].copy_from_slice(raw);
        *into = number(dtype, u64::from_le_bytes(bits)).as_f64();
    }
    raw.len()
}

/// How far one number is from another. Equal ones differ by nothing, also if they are not finite.
fn difference(value: Number, other: Number) -> f64 {
    match (value, other) {
        (Number::Signed(a), Number::Signed(b)) => (i128::from(a) - i128::from(b)) as f64,
        (Number::Unsigned(a), Number::Unsigned(b)) => (i128::from(a) - i128::from(b)) as f64,
        (a, b) => {
            let (a, b) = (a.as_f64(), b.as_f64());
            if a == b || a.is_nan() && b.is_nan() { 0.0 } else { a - b }
        }
    }
}
