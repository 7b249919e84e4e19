//! Values in rows and columns: how wide a cell is, how many fit, what is written into them.

use argus_abi::DType;
use argus_facts::number::{Number, is_unwritten};
use ratatui::layout::Rect;

use crate::tensor::Tensor;

/// How the values of a tensor fit into an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Width of the numbers of rows.
    pub label: u16,
    pub cell: u16,
    /// Visible rows and columns.
    pub rows: u64,
    pub columns: u64,
}

impl Grid {
    pub fn new(tensor: &Tensor<'_>, area: Rect) -> Grid {
        let cell = width(tensor.dtype, tensor.is_difference());
        let label = digits(row_label(tensor, tensor.plane.rows.saturating_sub(1)));
        let columns = area.width.saturating_sub(label) / (cell + 1);
        // The first line has the numbers of the columns.
        Grid { label, cell, rows: area.height.saturating_sub(1).into(), columns: columns.into() }
    }
}

/// What stands before a row: its number, or in a folded vector that of its first element.
pub fn row_label(tensor: &Tensor<'_>, row: u64) -> u64 {
    if tensor.shape.len() == 1 { row.saturating_mul(tensor.plane.columns) } else { row }
}

/// Enough for every value of a type as [`cell`] writes it.
fn width(dtype: DType, difference: bool) -> u16 {
    match dtype {
        _ if difference && !dtype.is_float() => 20,
        DType::F32 => 11,
        DType::F16 | DType::Bf16 => 9,
        DType::Fp8E4M3Fn | DType::Fp8E8M0 => 8,
        DType::Fp4E2M1 => 5,
        DType::I8 => 4,
        DType::U8 => 3,
        DType::I16 => 6,
        DType::U16 => 5,
        DType::I32 => 11,
        DType::U32 => 10,
        DType::I64 | DType::U64 => 20,
        DType::Bool => 5,
    }
}

/// A value in at most so many characters; of the payload's missing end a question mark.
pub fn cell(dtype: DType, value: Option<Number>, width: u16) -> String {
    let Some(value) = value else { return "?".to_owned() };
    let text = argus_text::number(dtype, value);
    if text.len() <= usize::from(width) {
        return text;
    }
    if text == argus_text::UNWRITTEN {
        return text[..usize::from(width)].to_owned();
    }
    let value = value.as_f64();
    (0..=4)
        .rev()
        .map(|digits| format!("{value:.digits$e}"))
        .find(|text| text.len() <= usize::from(width))
        .unwrap_or(text)
}

/// A value with all its digits.
pub fn exact(dtype: DType, value: Number) -> String {
    match value {
        _ if is_unwritten(dtype, value) => argus_text::UNWRITTEN.to_owned(),
        Number::Float(value) if dtype == DType::F32 && !value.is_nan() => format!("{:?}", value as f32),
        Number::Float(value) if value.is_nan() => "NaN".to_owned(),
        Number::Float(value) => format!("{value:?}"),
        other => argus_text::number(dtype, other),
    }
}

fn digits(number: u64) -> u16 {
    number.checked_ilog10().map_or(1, |log| log as u16 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_fits_into_its_cell() {
        for dtype in DType::ALL {
            let width = width(dtype, false);
            let bits: Vec<u64> = match dtype.bits() {
                bits @ 0..=16 => (0..1 << bits).collect(),
                _ => (0..64).flat_map(|bit| [1 << bit, u64::MAX << bit, !(u64::MAX << bit)]).collect(),
            };
            for bits in bits {
                let text = cell(dtype, Some(argus_facts::number::number(dtype, bits)), width);
                assert!(text.len() <= usize::from(width), "{dtype} {text}");
            }
        }
        assert_eq!(cell(DType::F32, Some(Number::Float(-123_456_789_012_345.0)), 11), "-1.2346e14");
        assert_eq!(cell(DType::F32, None, 11), "?");
    }

    #[test]
    fn exact_values_read_back() {
        assert_eq!(exact(DType::F32, Number::Float(f64::from(0.1f32))), "0.1");
        assert_eq!(exact(DType::Bf16, Number::Float(0.100_097_656_25)), "0.10009765625");
        assert_eq!(exact(DType::F32, Number::Float(f64::NAN)), "NaN");
        assert_eq!(exact(DType::F32, Number::Float(f64::INFINITY)), "inf");
        assert_eq!(exact(DType::I8, Number::Signed(-3)), "-3");
    }
}
