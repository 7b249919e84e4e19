//! What a cell of a tile says of the elements it stands for, and how cells are made: from elements, or from smaller cells.

use std::ops::Range;

use argus_abi::DType;
use argus_facts::number::{Number, element, is_unwritten, number};

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

    #[inline]
    pub fn add(&mut self, value: f64, unwritten: bool) {
        if value.is_finite() {
            // The nearest f32; one that is out of its range is as far as it goes.
            let near = (value as f32).clamp(f32::MIN, f32::MAX);
            self.min = self.min.min(near);
            self.max = self.max.max(near);
            self.sum += value;
            self.finite += 1;
        } else if unwritten {
            self.unwritten += 1;
        } else {
            self.alarming += 1;
        }
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

    /// Calls `each` with the numbers of some elements, until they end.
    fn row(&self, elements: Range<u64>, each: impl FnMut(u64, f64, bool)) {
        // The common types with their decoding unrolled; all through the one that there is.
        match (self.dtype, self.minus) {
            (DType::F32, None) => walk::<4>(DType::F32, self.payload, elements, each),
            (DType::F16, None) => walk::<2>(DType::F16, self.payload, elements, each),
            (DType::Bf16, None) => walk::<2>(DType::Bf16, self.payload, elements, each),
            (DType::I32, None) => walk::<4>(DType::I32, self.payload, elements, each),
            (DType::I8, None) => walk::<1>(DType::I8, self.payload, elements, each),
            _ => self.look_up(elements, each),
        }
    }

    fn look_up(&self, elements: Range<u64>, mut each: impl FnMut(u64, f64, bool)) {
        for index in elements {
            let Some((value, unwritten)) = self.get(index) else { return };
            each(index, value, unwritten);
        }
    }

    /// Adds the elements of a row to the cells they belong to; `size` elements make a cell.
    pub fn add_row(&self, elements: Range<u64>, size: u64, cells: &mut [Cell]) {
        let start = elements.start;
        let shift = size.trailing_zeros();
        self.row(elements, |index, value, unwritten| {
            if let Some(cell) = cells.get_mut(((index - start) >> shift) as usize) {
                cell.add(value, unwritten);
            }
        });
    }
}

/// Elements of a type whose size is known when this is compiled.
#[inline(always)]
fn walk<const SIZE: usize>(
    dtype: DType,
    payload: &[u8],
    elements: Range<u64>,
    mut each: impl FnMut(u64, f64, bool),
) {
    let byte =
        |index: u64| usize::try_from(index).unwrap_or(usize::MAX).saturating_mul(SIZE).min(payload.len());
    let bytes = &payload[byte(elements.start)..byte(elements.end)];
    for (index, raw) in elements.zip(bytes.chunks_exact(SIZE)) {
        let mut bits = [0; 8];
        bits[..SIZE].copy_from_slice(raw);
        let value = number(dtype, u64::from_le_bytes(bits));
        each(index, value.as_f64(), is_unwritten(dtype, value));
    }
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
